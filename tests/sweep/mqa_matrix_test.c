/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The verify matrix of mqa_logits on one chip: what routes make of the shapes that models bring, by the grading rules
 * of the specification, over poisoned outputs between guards.
 *
 * reduced: every window kind of every shape, with heads, head size, clean and FP8 kinds taken in turn. Tag and split
 * are
 *          those of the whole shape; of a long one that many splits then run on a sixteenth of its rows and columns,
 *          and on the whole width of one of its workgroups.
 * pinned:  every tag of the route tables on one odd shape, with all heads, head sizes and clean that it can serve.
 * routed:  what auto takes around the bounds of the tables' classes at the largest head size.
 *
 * sweep_mqa_matrix CHIP                    the selection of CI; the same at every run
 * sweep_mqa_matrix CHIP PART/PARTS --full  all of it */
#include <stdlib.h>

#include "tests/sweep/mqa_data.h"

enum { REDUCED_CASES = 80, ROUTED_CASES = 15 };

typedef struct lengths {
    int seq, seq_kv;
} lengths;
static const lengths shapes[] = {{1, 1},      {1, 16},      {1, 113},     {17, 76},     {61, 113},     {61, 1024},
                                 {128, 1024}, {1024, 1024}, {1024, 1560}, {64, 2048},   {64, 8192},    {256, 8192},
                                 {257, 8192}, {128, 64},    {1024, 1000}, {512, 32768}, {1024, 65536}, {2048, 131072}};
enum { LONG_SEQ_KV = 32768, LONG_PARTS = 16 };
static const char *const windows[] = {"causal", "cp", "misaligned", "empty", "past_end"};
static const int head_counts[] = {32, 64, 128}, dims[] = {64, 128};

static const lengths pinned_size = {67, 1500};
static const char *const pinned_windows[] = {"causal", "past_end"};
static const int pinned_dims[] = {64, 128, 512};

/* Beside one row, what lies on both sides of each length that a class ends at. */
static const lengths routed_sizes[] = {{1, 1500}, {255, 320}, {256, 257}, {257, 257}, {300, 113}};
enum { ROUTED_DIM = 512 };

typedef struct row {
    const char *chip;
    int64_t heads_max, dim_max, seq_max, seq_kv_max;
    const char *tag;
} row;
#define ANY INT64_MAX
#define ROUTE(chip, heads_max, dim_max, seq_max, seq_kv_max, tag) {chip, heads_max, dim_max, seq_max, seq_kv_max, tag},
static const row rows[] = {
#include "gen/mqa_logits/routes_gfx942.inc"
#include "gen/mqa_logits/routes_gfx950.inc"
};
#undef ROUTE

/* The FP8 kinds of Q and KV that a chip's cases take in turn. */
static const struct {
    const char *chip, *pairs[2];
    int count;
} fp8_pairs[] = {{"gfx950", {""}, 1}, {"gfx942", {"", " q_fp8=e4m3fn"}, 2}};

typedef enum matrix { REDUCED, PINNED, ROUTED, MATRICES } matrix;
enum { CASES_MAX = 4096, TAGS_MAX = 128, NAME_MAX_BYTES = 256 };

typedef struct matrix_case {
    matrix matrix;
    int number; /* in its matrix; cases of one kernel follow each other */
    char tag[SYMBOL_MAX];
    int heads, dim, clean;
    lengths size;
    const char *window, *fp8;
    char *name;
} matrix_case;

static matrix_case cases[CASES_MAX];
static int case_count, counts[MATRICES];
static char tags[TAGS_MAX][SYMBOL_MAX];
static int tag_count, out_of_limits, out_of_registers;

/* ---- which cases ---- */

static void add_case(matrix_case c) {
    char name[SYMBOL_MAX + NAME_MAX_BYTES];
    snprintf(name, sizeof name, "%s seq=%d seq_kv=%d heads=%d dim=%d clean=%d window=%s%s", c.tag, c.size.seq,
             c.size.seq_kv, c.heads, c.dim, c.clean, c.window, c.fp8);
    assert_true(case_count < CASES_MAX);
    c.number = counts[c.matrix]++;
    c.name = mem_strdup(name);
    cases[case_count++] = c;
}

static mqa_shape shape_with(const matrix_case *c, lengths size) {
    char words[NAME_MAX_BYTES];
    snprintf(words, sizeof words, "seq=%d seq_kv=%d heads=%d dim=%d clean=%d window=%s%s", size.seq, size.seq_kv,
             c->heads, c->dim, c->clean, c->window, c->fp8);
    return shape_of(words);
}

static void add_reduced(void) {
    size_t on = 0;
    while (strcmp(fp8_pairs[on].chip, sweep_chip)) on++;
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (size_t w = 0; w < COUNT(windows); w++) {
            const int i = counts[REDUCED];
            const matrix_case c = {.matrix = REDUCED,
                                   .tag = "auto",
                                   .heads = head_counts[i % 3],
                                   .dim = dims[i / 2 % 2],
                                   .clean = i / 4 % 2,
                                   .size = shapes[s],
                                   .window = windows[w],
                                   .fp8 = fp8_pairs[on].pairs[i / 8 % fp8_pairs[on].count]};
            const mqa_shape shape = shape_with(&c, c.size);
            if (mqa_window_check(&shape) == CDNAGEN_OK) add_case(c);
        }
}

static void add_tag(const mqa_variant *v) {
    text tag = {0};
    tag_print(&mqa_logits_family.tag, v, ~0u, &tag);
    assert_false(tag.failed);
    int i = 0;
    while (i < tag_count && strcmp(tags[i], tag.data)) i++;
    assert_true(i < TAGS_MAX);
    if (i == tag_count) snprintf(tags[tag_count++], sizeof tags[0], "%s", tag.data);
    text_free(&tag);
}

/* find_tags: all that auto may mean: its choices for each class of heads, head sizes and lengths. */
static void find_tags(void) {
    const target t = target_of(sweep_chip);
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].chip, sweep_chip)) continue;
        char words[NAME_MAX_BYTES];
        snprintf(words, sizeof words, "heads=%d dim=%d", (int)rows[i].heads_max, (int)rows[i].dim_max);
        mqa_shape s = shape_of(words);
        if (rows[i].seq_max != ANY) s.seq = rows[i].seq_max;
        if (rows[i].seq_kv_max != ANY) s.seq_kv = rows[i].seq_kv_max;
        mqa_variant v;
        for (int rank = 0; mqa_route(&t, &s, rank, &v) == CDNAGEN_OK; rank++) add_tag(&v);
    }
}

/* can_serve: within limits, and its rows in no more than the register file: beyond, there are only spills, and minutes
 * to compile. */
static int can_serve(const char *tag, int heads, int dim) {
    char full[SYMBOL_MAX], words[NAME_MAX_BYTES];
    const target t = target_of(sweep_chip);
    plan p;
    snprintf(full, sizeof full, "mqa_logits:%s", tag);
    snprintf(words, sizeof words, "heads=%d dim=%d", heads, dim);
    const cdnagen_status status = plan_make(full, words, &t, 0, &p);
    if (status && status != CDNAGEN_LIMIT) fail_msg("%s %s: %s", tag, words, cdnagen_error());
    const int is_too_large = variant_of(tag).rows * heads * dim / 256 > 512;
    out_of_limits += status == CDNAGEN_LIMIT;
    out_of_registers += status == CDNAGEN_OK && is_too_large;
    return status == CDNAGEN_OK && !is_too_large;
}

static void add_pinned(void) {
    for (int t = 0; t < tag_count; t++)
        for (size_t h = 0; h < COUNT(head_counts); h++)
            for (size_t d = 0; d < COUNT(pinned_dims); d++) {
                if (!can_serve(tags[t], head_counts[h], pinned_dims[d])) continue;
                matrix_case c = {
                    .matrix = PINNED, .heads = head_counts[h], .dim = pinned_dims[d], .size = pinned_size, .fp8 = ""};
                memcpy(c.tag, tags[t], sizeof c.tag);
                for (size_t w = 0; w < 2 * COUNT(pinned_windows); w++) {
                    c.clean = (int)(w / COUNT(pinned_windows));
                    c.window = pinned_windows[w % COUNT(pinned_windows)];
                    add_case(c);
                }
            }
}

static void add_routed(void) {
    for (size_t s = 0; s < COUNT(routed_sizes); s++)
        for (size_t h = 0; h < COUNT(head_counts); h++)
            add_case((matrix_case){.matrix = ROUTED,
                                   .tag = "auto",
                                   .heads = head_counts[h],
                                   .dim = ROUTED_DIM,
                                   .clean = (int)((s + h) % 2),
                                   .size = routed_sizes[s],
                                   .window = "misaligned",
                                   .fp8 = ""});
}

/* is_in_ci: of the reduced cases those of little work, of the pinned ones some of no large head size, of the routed
 * ones a row and the fewest heads. */
static int is_in_ci(const matrix_case *c) {
    enum { WORK_MOST = 600000000, PINNED_STEP = 17 };
    const int64_t work = (int64_t)c->heads * c->dim * c->size.seq * c->size.seq_kv;
    switch (c->matrix) {
    case REDUCED: return work <= WORK_MOST;
    case PINNED: return c->number % PINNED_STEP == 0 && c->dim <= 128;
    case ROUTED: return c->size.seq == 1 || c->heads == head_counts[0];
    default: return 0;
    }
}

/* part_of: both windows of a kernel are in one part. */
static int part_of(const matrix_case *c, int parts) {
    return c->number / (c->matrix == PINNED ? (int)COUNT(pinned_windows) : 1) % parts;
}

/* By data, so that pinned cases make each of their problems once. */
static int compare_cases(const void *a, const void *b) {
    const matrix_case *const x = a, *const y = b;
    const int by[][2] = {{(int)x->matrix, (int)y->matrix},
                         {x->matrix == PINNED ? x->heads * x->dim : 0, y->matrix == PINNED ? y->heads * y->dim : 0},
                         {x->matrix == PINNED ? x->heads : 0, y->matrix == PINNED ? y->heads : 0},
                         {x->number, y->number}};
    for (size_t i = 0; i < COUNT(by); i++)
        if (by[i][0] != by[i][1]) return by[i][0] < by[i][1] ? -1 : 1;
    return 0;
}

/* ---- running them ---- */

static cdnagen *ctx;
static double rel_worst;

/* slot: a problem of some rows of a whole shape, of its windows and with the reference of those only. */
typedef struct slot {
    char what[2 * NAME_MAX_BYTES];
    mqa_data data;
} slot;
static slot slots[COUNT(pinned_windows)];

static void upload(mqa_data *d) {
    if (mqa_workload.reference(&d->plan, &d->host)) fail_msg("%s", cdnagen_error());
    d->back = mem_alloc(d->host.buffers[MQA_LOGITS].bytes);
    assert_non_null(d->back);
    for (int i = 0; i < MQA_BUFFERS; i++) {
        const problem_buffer *const b = &d->host.buffers[i];
        if (cdnagen_alloc(d->ctx, b->bytes, &d->device[i]) ||
            cdnagen_copy_to_device(d->ctx, d->device[i], b->data, b->bytes))
            fail_msg("%s", cdnagen_error());
    }
}

/* take_data: `size.seq` rows of the windows of `whole`, from row `first` on. */
static mqa_data *take_data(const matrix_case *c, const mqa_shape *whole, lengths size, int first) {
    char what[2 * NAME_MAX_BYTES], words[NAME_MAX_BYTES];
    snprintf(words, sizeof words, "seq=%d seq_kv=%d heads=%d dim=%d%s", size.seq, size.seq_kv, c->heads, c->dim,
             c->fp8);
    snprintf(what, sizeof what, "%s window=%s of %d x %d from %d", words, c->window, (int)whole->seq,
             (int)whole->seq_kv, first);
    slot *const s = &slots[!strcmp(c->window, pinned_windows[1])];
    if (!strcmp(s->what, what)) return &s->data;
    data_free(&s->data);
    s->what[0] = 0;
    data_make(&s->data, ctx, words);
    for (int r = 0; r < size.seq; r++)
        mqa_window_row(whole, first + r, &data_starts(&s->data)[r], &data_ends(&s->data)[r]);
    upload(&s->data);
    memcpy(s->what, what, sizeof what);
    return &s->data;
}

static void expect_right(const matrix_case *c, cdnagen_kernel *kernel, const mqa_shape *whole, lengths size, int first,
                         int splits) {
    mqa_data *const d = take_data(c, whole, size, first);
    const grade g = data_run(d, kernel, c->name, c->clean, splits);
    if (!g.pass)
        fail_msg("%d rows from %d on of %d columns in %d parts: calc_diff %g, max_rel %g, %s", size.seq, first,
                 size.seq_kv, splits, grade_figure(&g, "calc_diff"), grade_figure(&g, "max_rel"), g.first);
    if (grade_figure(&g, "max_rel") > rel_worst) rel_worst = grade_figure(&g, "max_rel");
}

/* class_of: the first row of the chip's table that holds the shape and is of its own head count and size. */
static const row *class_of(const matrix_case *c) {
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!strcmp(rows[i].chip, sweep_chip) && rows[i].heads_max == c->heads && rows[i].dim_max == c->dim &&
            c->size.seq <= rows[i].seq_max && c->size.seq_kv <= rows[i].seq_kv_max)
            return &rows[i];
    fail_msg("%s: the table has no row of its own class", c->name);
    return NULL;
}

static void expect_own_route(const matrix_case *c, const char *tag, const mqa_geometry *g) {
    const mqa_variant v = variant_of(tag), own = variant_of(class_of(c)->tag);
    if (memcmp(&v, &own, sizeof v)) fail_msg("%s: auto took %s, its class has %s", c->name, tag, class_of(c)->tag);
    assert_int_equal(g->m_tiles * g->m, c->heads);
    assert_int_equal(g->row_bytes, c->dim);
    assert_in_range(g->lds_bytes, 0, target_of(sweep_chip).chip->lds_bytes);
}

static void a_case(void **state) {
    const matrix_case *const c = *state;
    char tag[SYMBOL_MAX + 16], words[NAME_MAX_BYTES];
    snprintf(words, sizeof words, "seq=%d seq_kv=%d heads=%d dim=%d clean=%d%s", c->size.seq, c->size.seq_kv, c->heads,
             c->dim, c->clean, c->fp8);
    cdnagen_kernel *const kernel = kernel_of(ctx, c->tag, words);
    cdnagen_kernel_info info = {.size = sizeof info};
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    snprintf(tag, sizeof tag, "%s", info.tag);
    const mqa_shape whole = shape_with(c, c->size);
    const mqa_variant v = variant_of(tag);
    const target t = target_of(sweep_chip);
    const mqa_geometry g = mqa_geometry_of(&v, &whole, t.chip);
    const int splits = (int)info.grid[1], block = g.workgroup_rows;
    assert_true(splits >= 1);
    assert_int_equal(info.grid[0], (c->size.seq + block - 1) / block);
    if (c->matrix == ROUTED) expect_own_route(c, tag, &g);
    if (c->size.seq_kv < LONG_SEQ_KV) {
        expect_right(c, kernel, &whole, c->size, 0, splits);
    } else {
        const lengths part = {c->size.seq / LONG_PARTS, c->size.seq_kv / LONG_PARTS};
        const mqa_shape of_part = shape_with(c, part);
        expect_right(c, kernel, &of_part, part, 0, splits);
        /* The workgroup of a row in the middle that no window kind leaves empty. */
        const int first = (c->size.seq / 2 / 6 * 6 + 5) / block * block;
        expect_right(c, kernel, &whole, (lengths){block, c->size.seq_kv}, first, splits);
    }
    cdnagen_free_kernel(kernel);
}

/* ---- nothing was left out ---- */

static void reduced_and_routed_have_their_counts(void **state) {
    (void)state;
    assert_int_equal(counts[REDUCED], REDUCED_CASES);
    assert_int_equal(counts[ROUTED], ROUTED_CASES);
}

/* is_own: the value of the class, or any where no case is pinned at that. */
static int is_own(int64_t of_case, int64_t of_class, const int *pinned, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (pinned[i] == of_class) return of_case == of_class;
    return 1;
}

/* With the heads and the head size of its class, if those are pinned at all. */
static void every_routed_tag_is_pinned(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].chip, sweep_chip)) continue;
        const mqa_variant v = variant_of(rows[i].tag);
        int found = 0;
        for (int c = 0; c < case_count && !found; c++) {
            if (cases[c].matrix != PINNED) continue;
            const mqa_variant pinned = variant_of(cases[c].tag);
            found = !memcmp(&pinned, &v, sizeof v) &&
                    is_own(cases[c].heads, rows[i].heads_max, head_counts, COUNT(head_counts)) &&
                    is_own(cases[c].dim, rows[i].dim_max, pinned_dims, COUNT(pinned_dims));
        }
        if (!found)
            fail_msg("%s is in the table for heads=%d dim=%d and not pinned there", rows[i].tag, (int)rows[i].heads_max,
                     (int)rows[i].dim_max);
    }
}

static void both_sides_of_every_bound_are_routed(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int side = 0; side < 2; side++) {
            int seq_found = rows[i].seq_max == ANY, seq_kv_found = rows[i].seq_kv_max == ANY;
            for (size_t s = 0; s < COUNT(routed_sizes); s++) {
                seq_found |= routed_sizes[s].seq == rows[i].seq_max + side;
                seq_kv_found |= routed_sizes[s].seq_kv == rows[i].seq_kv_max + side;
            }
            if (!seq_found || !seq_kv_found) fail_msg("%s: no length at its bound plus %d", rows[i].tag, side);
        }
}

static int selected_only;

static void every_value_is_met(void **state) {
    (void)state;
    int window_found[COUNT(windows)] = {0}, heads_found[COUNT(head_counts)] = {0}, dim_found[COUNT(pinned_dims)] = {0};
    int clean_found[2] = {0}, matrix_found[MATRICES] = {0};
    for (int c = 0; c < case_count; c++) {
        if (selected_only && !is_in_ci(&cases[c])) continue;
        for (size_t i = 0; i < COUNT(windows); i++) window_found[i] |= !strcmp(cases[c].window, windows[i]);
        for (size_t i = 0; i < COUNT(head_counts); i++) heads_found[i] |= cases[c].heads == head_counts[i];
        for (size_t i = 0; i < COUNT(pinned_dims); i++) dim_found[i] |= cases[c].dim == pinned_dims[i];
        clean_found[cases[c].clean] = matrix_found[cases[c].matrix] = 1;
    }
    for (size_t i = 0; i < COUNT(windows); i++) assert_true(window_found[i]);
    for (size_t i = 0; i < COUNT(head_counts); i++) assert_true(heads_found[i]);
    for (size_t i = 0; i < COUNT(pinned_dims); i++) assert_true(dim_found[i]);
    for (int i = 0; i < MATRICES; i++) assert_true(matrix_found[i]);
    assert_true(clean_found[0] && clean_found[1]);
}

int main(int argc, char **argv) {
    int part = 1, parts = 1;
    const int is_known = argc > 1 && (!strcmp(argv[1], "gfx942") || !strcmp(argv[1], "gfx950"));
    const int is_full = argc == 4 && !strcmp(argv[3], "--full");
    if (!is_known || (argc > 2 && !is_full) ||
        (is_full && (sscanf(argv[2], "%d/%d", &part, &parts) != 2 || part < 1 || part > parts))) {
        fprintf(stderr, "usage: %s CHIP [PART/PARTS --full], as in gfx942 1/2 --full\n", argv[0]);
        return 2;
    }
    sweep_chip = argv[1];
    selected_only = !is_full;
    add_reduced();
    find_tags();
    add_pinned();
    add_routed();
    qsort(cases, (size_t)case_count, sizeof cases[0], compare_cases);
    struct CMUnitTest *const tests = mem_alloc((size_t)(case_count + 4) * sizeof *tests);
    if (!tests) return 1;
    size_t count = 0;
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(reduced_and_routed_have_their_counts);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(every_routed_tag_is_pinned);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(both_sides_of_every_bound_are_routed);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(every_value_is_met);
    int chosen[MATRICES] = {0};
    for (int i = 0; i < case_count; i++) {
        if (is_full ? part_of(&cases[i], parts) != part - 1 : !is_in_ci(&cases[i])) continue;
        tests[count++] = (struct CMUnitTest){cases[i].name, a_case, NULL, NULL, &cases[i]};
        chosen[cases[i].matrix]++;
    }
    ctx = sim_context();
    simulate("threads=1");
    const int failed = _cmocka_run_group_tests("mqa_matrix", tests, count, NULL, NULL);
    printf("%s: %d of %d reduced, %d of %d pinned, %d of %d routed; %d tags, of whose %d heads and dims %d are beyond "
           "a limit "
           "and %d beyond the registers; max_rel at most %g\n",
           sweep_chip, chosen[REDUCED], counts[REDUCED], chosen[PINNED], counts[PINNED], chosen[ROUTED], counts[ROUTED],
           tag_count, tag_count * (int)(COUNT(head_counts) * COUNT(pinned_dims)), out_of_limits, out_of_registers,
           rel_worst);
    for (size_t i = 0; i < COUNT(slots); i++) data_free(&slots[i].data);
    cdnagen_free_context(ctx);
    for (int i = 0; i < case_count; i++) mem_free(cases[i].name);
    mem_free(tests);
    return failed != 0;
}
