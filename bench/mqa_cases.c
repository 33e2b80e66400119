/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which cases: the standard shapes and windows, or a CSV file's. */
#include "bench/mqa.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "study/files.h"

const char *const mqa_window_names[] = {"causal", "cp", "misaligned", "empty", "past_end", "batch_causal", NULL};

static const int64_t lengths[][2] = {
    {1, 1},      {1, 16},      {1, 113},     {17, 76},     {61, 113},     {61, 1024},
    {128, 1024}, {1024, 1024}, {1024, 1560}, {64, 2048},   {64, 8192},    {256, 8192},
    {257, 8192}, {128, 64},    {1024, 1000}, {512, 32768}, {1024, 65536}, {2048, 131072},
};
static const int64_t heads[] = {32, 64, 128}, dims[] = {64, 128}, cleans[] = {0, 1};
enum { SHAPES = sizeof lengths / sizeof *lengths, HEADS = 3, DIMS = 2, CLEANS = 2, WINDOWS = WINDOW_PAST_END + 1 };

/* add.   errors: BAD_SHAPE (its window is not of this shape), LIMIT (no room) */
static cdnagen_status add(mqa_case *out, size_t *count, const mqa_shape *s) {
    TRY(mqa_window_check(s));
    if (*count == MQA_CASES_MAX) return fail(CDNAGEN_LIMIT, "there are more than %d cases", MQA_CASES_MAX);
    mqa_case *const c = &out[*count];
    c->shape = *s;
    snprintf(c->words, sizeof c->words, "seq=%lld seq_kv=%lld heads=%lld dim=%lld clean=%lld window=%s batch=%lld",
             (long long)s->seq, (long long)s->seq_kv, (long long)s->heads, (long long)s->dim, (long long)s->clean,
             mqa_window_names[s->window], (long long)s->batch);
    ++*count;
    return CDNAGEN_OK;
}

size_t mqa_cases_standard(int full, mqa_case *out) {
    size_t count = 0;
    for (int i = 0; i < SHAPES; i++)
        for (int w = 0; w < WINDOWS; w++) {
            mqa_shape s = {.seq = lengths[i][0], .seq_kv = lengths[i][1], .window = w, .batch = 1};
            for (int k = 0; k < (full ? HEADS * DIMS * CLEANS : 1); k++) {
                const size_t turn = full ? (size_t)k : count;
                s.heads = heads[turn % HEADS];
                s.dim = dims[(full ? turn / HEADS : turn / 2) % DIMS];
                s.clean = cleans[(full ? turn / (HEADS * DIMS) : turn / 4) % CLEANS];
                add(out, &count, &s);
            }
        }
    return count;
}

/* ---- CSV ---- */

typedef enum column { SEQ, SEQ_KV, NUM_HEADS, HEAD_DIM, WINDOW, BATCH, CLEAN, COLUMNS } column;
static const char *const column_names[COLUMNS] = {"seq", "seq_kv", "num_heads", "head_dim", "window", "batch", "clean"};

/* layout: what a file's columns are, from its first line. */
typedef struct layout {
    const char *path;
    int line, count;
    column of[16];
} layout;

/* bad: what is wrong with a cell, or with the line (`cell` ""). */
static cdnagen_status bad(const layout *l, const char *cell, const char *what) {
    if (!*cell) return fail(CDNAGEN_BAD_SHAPE, "%s line %d: %s", l->path, l->line, what);
    return fail(CDNAGEN_BAD_SHAPE, "%s line %d: \"%s\": %s", l->path, l->line, cell, what);
}

static int name_index(const char *const *names, int count, const char *cell) {
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], cell)) return i;
    return -1;
}

/* next_cell: cut the next cell off *rest, without its blanks; NULL at the line's end. */
static char *next_cell(char **rest) {
    char *cell = *rest;
    if (!cell) return NULL;
    char *comma = strchr(cell, ',');
    *rest = comma ? comma + 1 : NULL;
    if (comma) *comma = 0;
    cell += strspn(cell, " \t");
    for (size_t n = strlen(cell); n && strchr(" \t\r", cell[n - 1]);) cell[--n] = 0;
    return cell;
}

static cdnagen_status read_heading(layout *l, char *line) {
    unsigned have = 0;
    for (char *cell; (cell = next_cell(&line));) {
        const int k = name_index(column_names, COLUMNS, cell);
        if (k < 0 || l->count == 16)
            return bad(l, cell, "no column; known: seq, seq_kv, num_heads, head_dim, window, batch, clean");
        l->of[l->count++] = (column)k;
        have |= 1u << k;
    }
    return (have & 3) == 3 ? CDNAGEN_OK : bad(l, "seq, seq_kv", "each file has these two columns");
}

/* read_row: the values that a line pins; -1 for what it leaves open. */
static cdnagen_status read_row(const layout *l, char *line, int64_t value[COLUMNS]) {
    for (int k = 0; k < COLUMNS; k++) value[k] = -1;
    for (int i = 0; i < l->count; i++) {
        char *end = NULL, *cell = next_cell(&line);
        if (!cell) return bad(l, "", "a cell is missing");
        if (!*cell) continue;
        int64_t *const to = &value[l->of[i]];
        if (l->of[i] == WINDOW) {
            if ((*to = name_index(mqa_window_names, WINDOW_BATCH_CAUSAL + 1, cell)) < 0)
                return bad(l, cell, "no window; known: causal, cp, misaligned, empty, past_end, batch_causal");
        } else {
            errno = 0;
            *to = strtoll(cell, &end, 10);
            if (*end || *to < 0 || errno) return bad(l, cell, "a number is needed");
        }
    }
    if (value[SEQ] < 0 || value[SEQ_KV] < 0) return bad(l, "", "a row pins seq and seq_kv");
    return line ? bad(l, line, "more cells than columns") : CDNAGEN_OK;
}

/* add_row: the product of what the row leaves open, without windows that its shape does not have. */
static cdnagen_status add_row(const layout *l, const int64_t value[COLUMNS], mqa_case *out, size_t *count) {
    for (int h = 0; h < (value[NUM_HEADS] < 0 ? HEADS : 1); h++)
        for (int d = 0; d < (value[HEAD_DIM] < 0 ? DIMS : 1); d++)
            for (int c = 0; c < (value[CLEAN] < 0 ? CLEANS : 1); c++)
                for (int w = 0; w < (value[WINDOW] < 0 ? WINDOWS : 1); w++) {
                    const cdnagen_status s =
                        add(out, count,
                            &(mqa_shape){.seq = value[SEQ],
                                         .seq_kv = value[SEQ_KV],
                                         .heads = value[NUM_HEADS] < 0 ? heads[h] : value[NUM_HEADS],
                                         .dim = value[HEAD_DIM] < 0 ? dims[d] : value[HEAD_DIM],
                                         .clean = value[CLEAN] < 0 ? cleans[c] : value[CLEAN],
                                         .window = value[WINDOW] < 0 ? w : value[WINDOW],
                                         .batch = value[BATCH] < 1 ? 1 : value[BATCH]});
                    if (s == CDNAGEN_LIMIT || (s && value[WINDOW] >= 0)) return bad(l, "", cdnagen_error());
                }
    return CDNAGEN_OK;
}

cdnagen_status mqa_cases_from_csv(const char *path, mqa_case *out, size_t *count) {
    text file = {0};
    layout l = {.path = path};
    int64_t value[COLUMNS];
    *count = 0;
    cdnagen_status status = read_text_file(path, &file);
    for (char *line = file.data, *end; !status && line && *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = 0;
        l.line++;
        if (!line[strspn(line, " \t\r")] || *line == '#') continue;
        if (!l.count) {
            status = read_heading(&l, line);
            continue;
        }
        status = read_row(&l, line, value);
        if (!status) status = add_row(&l, value, out, count);
    }
    text_free(&file);
    return status;
}
