/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Job lines written out: comments, lists, ranges. */
#include "study/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 64 };

/* choices: what one word of a line may be: "heads=32", "heads=64", ... */
typedef struct choices {
    const char **words;
    size_t count, capacity, bytes; /* bytes: of all words */
} choices;

/* line_words: a line's, while it is written out; their texts are gone with the line. */
typedef struct line_words {
    arena memory;
    uint64_t bytes;
    size_t count;
    choices word[WORDS_MAX];
} line_words;

/* range: whole numbers from `first` to `last`; the next one is one step further, or twice as large. */
typedef struct range {
    int64_t first, last, step;
    int doubles;
} range;

static cdnagen_status add_job(job_list *l, job j) {
    if (l->count == l->capacity) {
        const size_t capacity = l->capacity ? 2 * l->capacity : 64;
        job *const jobs = mem_realloc(l->jobs, capacity * sizeof *jobs);
        if (!jobs) return fail_no_memory();
        l->jobs = jobs;
        l->capacity = capacity;
    }
    if (!j.words) return fail_no_memory();
    l->jobs[l->count++] = j;
    return CDNAGEN_OK;
}

static cdnagen_status fail_too_long(void) {
    return fail(CDNAGEN_LIMIT, "with this line the jobs have more than %d bytes: cut the ranges", JOBS_BYTES_MAX);
}

/* add_choice: "KEY=VALUE", where the key with its '=' has key_bytes. */
static cdnagen_status add_choice(line_words *l, const char *key, size_t key_bytes, const char *value,
                                 size_t value_bytes) {
    choices *const c = &l->word[l->count];
    l->bytes += key_bytes + value_bytes;
    if (l->bytes > JOBS_BYTES_MAX) return fail_too_long();
    c->bytes += key_bytes + value_bytes;
    if (c->count == JOBS_MAX)
        return fail(CDNAGEN_LIMIT, "'%.40s' means more than %d values, which is what all jobs may be", key, JOBS_MAX);
    if (c->count == c->capacity) {
        const size_t capacity = c->capacity ? 2 * c->capacity : 8;
        const char **const words = mem_realloc(c->words, capacity * sizeof *words);
        if (!words) return fail_no_memory();
        c->words = words;
        c->capacity = capacity;
    }
    c->words[c->count] = arena_format(&l->memory, "%.*s%.*s", (int)key_bytes, key, (int)value_bytes, value);
    return c->words[c->count++] ? CDNAGEN_OK : fail_no_memory();
}

/* read_number: digits at *at, which moves behind them; 0 if there are none or too many. */
static int read_number(const char **at, const char *end, int64_t *out) {
    enum { DIGITS_MAX = 18 };
    const char *const start = *at;
    for (*out = 0; *at < end && **at >= '0' && **at <= '9' && *at - start < DIGITS_MAX; ++*at)
        *out = *out * 10 + (**at - '0');
    return *at > start && (*at == end || **at < '0' || **at > '9');
}

/* read_range: A..B, A..B:STEP or A..B:pow2; 0 if it is none of them. */
static int read_range(const char *at, const char *end, range *r) {
    *r = (range){.step = 1};
    if (!read_number(&at, end, &r->first) || end - at < 2 || memcmp(at, "..", 2) != 0) return 0;
    at += 2;
    if (!read_number(&at, end, &r->last) || r->last < r->first) return 0;
    if (at == end) return 1;
    if (*at++ != ':') return 0;
    r->doubles = end - at == 4 && !memcmp(at, "pow2", 4);
    if (r->doubles) return r->first > 0;
    return read_number(&at, end, &r->step) && r->step > 0 && at == end;
}

/* expand: a word as its choices. A word without '=' is left for the parser of shapes to refuse. */
static cdnagen_status expand(line_words *l, const char *word, size_t size) {
    const char *const end = word + size, *const equals = memchr(word, '=', size);
    if (!equals) return add_choice(l, word, size, "", 0);
    const size_t key_bytes = (size_t)(equals + 1 - word);
    for (const char *item = equals + 1;; item++) {
        const char *comma = memchr(item, ',', (size_t)(end - item));
        if (!comma) comma = end;
        const size_t item_bytes = (size_t)(comma - item);
        range r;
        if (!memmem(item, item_bytes, "..", 2)) {
            TRY(add_choice(l, word, key_bytes, item, item_bytes));
        } else if (!read_range(item, comma, &r)) {
            return fail(CDNAGEN_BAD_SHAPE,
                        "'%.*s' is no range: write A..B, A..B:STEP or A..B:pow2 with whole numbers, A from 1 on for "
                        "pow2 and not above B",
                        (int)(item_bytes < 60 ? item_bytes : 60), item);
        } else {
            for (int64_t v = r.first; v <= r.last; v += r.doubles ? v : r.step) {
                char number[24];
                const int digits = snprintf(number, sizeof number, "%" PRId64, v);
                TRY(add_choice(l, word, key_bytes, number, (size_t)digits));
            }
        }
        if (comma == end) return CDNAGEN_OK;
        item = comma;
    }
}

/* combine: one job for every combination of choices. */
static cdnagen_status combine(job_list *l, int line, const line_words *from) {
    const choices *const c = from->word;
    const size_t words = from->count;
    uint64_t size = 0;
    uint64_t total = 1;
    for (size_t w = 0; w < words; w++) total *= c[w].count;
    for (size_t w = 0; w < words; w++) size += total / c[w].count * c[w].bytes + total;
    if (l->bytes + size > JOBS_BYTES_MAX) return fail_too_long();
    l->bytes += size;
    for (uint64_t k = 0; k < total; k++) {
        text j = {0};
        uint64_t every = total, rest = k;
        for (size_t w = 0; w < words; w++) {
            every /= c[w].count;
            text_add(&j, w ? " %s" : "%s", c[w].words[rest / every]);
            rest %= every;
        }
        const char *const kept = j.failed ? NULL : arena_format(&l->memory, "%s", j.data);
        text_free(&j);
        TRY(add_job(l, (job){.line = line, .words = kept}));
    }
    return CDNAGEN_OK;
}

/* parse_line: the jobs of one line without its comment. */
static cdnagen_status parse_line(job_list *l, int number, const char *line, size_t size, line_words *to) {
    static const char blanks[] = " \t\r\v\f";
    uint64_t total = 1;
    for (const char *at = line, *const end = line + size; at < end;) {
        if (strchr(blanks, *at)) {
            at++;
            continue;
        }
        const char *const start = at;
        while (at < end && !strchr(blanks, *at)) at++;
        if (to->count == WORDS_MAX) return fail(CDNAGEN_BAD_SHAPE, "a line has %d words at most", WORDS_MAX);
        const size_t bytes_of = (size_t)(at - start);
        TRY(to->count ? expand(to, start, bytes_of) : add_choice(to, start, bytes_of, "", 0));
        total *= to->word[to->count++].count;
        if (total + l->count > JOBS_MAX)
            return fail(CDNAGEN_LIMIT, "with this line there are more than %d jobs: cut the ranges", JOBS_MAX);
    }
    return to->count ? combine(l, number, to) : CDNAGEN_OK;
}

/* add_line: the jobs of a line, or one with an error. */
static cdnagen_status add_line(job_list *l, int number, const char *line, size_t size, line_words *scratch) {
    const cdnagen_status status = parse_line(l, number, line, size, scratch);
    for (size_t w = 0; w < WORDS_MAX; w++) scratch->word[w].count = scratch->word[w].bytes = 0;
    arena_free(&scratch->memory);
    scratch->memory = (arena){0};
    scratch->bytes = scratch->count = 0;
    if (!status || status == CDNAGEN_NO_MEMORY) return status;
    const char *const words = arena_format(&l->memory, "%.*s", (int)size, line);
    const char *const error = arena_format(&l->memory, "%s", cdnagen_error());
    if (!error) return fail_no_memory();
    return add_job(l, (job){number, words, error, status});
}

/* each_line: add the jobs of every line, the first of which has this number. */
static cdnagen_status each_line(const char *lines, int number, job_list *out) {
    line_words *const scratch = mem_alloc(sizeof *scratch);
    if (!scratch) return fail_no_memory();
    cdnagen_status status = CDNAGEN_OK;
    for (const char *at = lines; *at && !status; number++) {
        status = add_line(out, number, at, strcspn(at, "#\n"), scratch);
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    for (size_t w = 0; w < WORDS_MAX; w++) mem_free(scratch->word[w].words);
    mem_free(scratch);
    return status;
}

cdnagen_status jobs_parse(const char *lines, job_list *out) { return each_line(lines, 1, out); }
cdnagen_status jobs_parse_line(const char *line, int number, job_list *out) { return each_line(line, number, out); }

void jobs_free(job_list *l) {
    arena_free(&l->memory);
    mem_free(l->jobs);
    *l = (job_list){0};
}
