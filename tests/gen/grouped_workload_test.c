/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gemm_grouped's groups, data, reference and grading: against a definition place by place, and against every kind of
 * wrong result. */
#include "tests/gen/grouped_testing.h"

#include <math.h>
#include <stdlib.h>

#include "core/fp8.h"

#define OP "gemm_grouped:"
#define TAG OP "mfma16x16x128_t64x128x128"
enum { GUARD = 1024, POISON = 0x7fc5 };

/* ---- groups ---- */

static void extents_are_clamped(void **state) {
    (void)state;
    static const int64_t counts[] = {3, -1, 40, 5, ((int64_t)7 << 32) + 2};
    static const int32_t ends[] = {16, 8, 64, -5, 32};
    grouped_part parts[5];
    const grouped_problem sizes = {GROUPED_SIZES, GROUPED_SCALE_ROW, 5, 20, 16, 128};
    grouped_parts(&sizes, counts, parts);
    static const int64_t rows[][2] = {{0, 3}, {3, 0}, {3, 17}, {20, 0}, {20, 0}};
    for (int g = 0; g < 5; g++) assert_true(parts[g].a_row == rows[g][0] && parts[g].rows == rows[g][1]);
    const grouped_problem padded = {GROUPED_PADDED, GROUPED_SCALE_ROW, 5, 20, 16, 128};
    grouped_parts(&padded, counts, parts);
    static const int64_t valid[] = {3, 0, 20, 5, 2};
    for (int g = 0; g < 5; g++)
        assert_true(parts[g].a_row == 20 * g && parts[g].rows == valid[g] && parts[g].padding == 20 - valid[g]);
    static const int64_t cut[][2] = {{0, 16}, {16, 0}, {16, 32}, {48, 0}, {48, 0}};
    const grouped_problem columns = {GROUPED_N_OFFSETS, GROUPED_SCALE_ROW, 5, 20, 48, 128};
    grouped_parts(&columns, ends, parts);
    for (int g = 0; g < 5; g++)
        assert_true(parts[g].b_row == cut[g][0] && parts[g].c_column == cut[g][0] && parts[g].columns == cut[g][1] &&
                    parts[g].rows == 20 && parts[g].a_row == 20 * g);
    const grouped_problem depths = {GROUPED_K_OFFSETS, GROUPED_SCALE_ROW, 5, 20, 16, 48};
    grouped_parts(&depths, ends, parts);
    for (int g = 0; g < 5; g++)
        assert_true(parts[g].k == cut[g][0] && parts[g].length == cut[g][1] && parts[g].c_row == 20 * g);
}

/* Made-up groups respect the layout: aligned, within the whole, uneven, an empty one, something left to none. */
static void made_up_groups(void **state) {
    (void)state;
    for (int layout = 0; layout < GROUPED_LAYOUTS; layout++) {
        if (!grouped_layouts[layout].extent_bytes) continue;
        const grouped_problem p = {(grouped_layout)layout, GROUPED_SCALE_ROW, 8, 1000, 1024, 2048};
        for (uint64_t seed = 0; seed < 50; seed++) {
            int64_t extents[8];
            grouped_part parts[8];
            grouped_make_extents(&p, NULL, seed, extents);
            grouped_parts(&p, extents, parts);
            const grouped_cut cuts = grouped_layouts[layout].cuts;
            const int64_t total = cuts == GROUPED_CUTS_K ? p.k : cuts == GROUPED_CUTS_COLUMNS ? p.n : p.m;
            const int unit = cuts == GROUPED_CUTS_K ? 16 : cuts == GROUPED_CUTS_COLUMNS ? 8 : 1;
            int64_t sum = 0, empty = 0, unlike = 0, last = -1;
            for (int g = 0; g < 8; g++) {
                const int64_t extent = cuts == GROUPED_CUTS_K         ? parts[g].length
                                       : cuts == GROUPED_CUTS_COLUMNS ? parts[g].columns
                                                                      : parts[g].rows;
                assert_true(extent >= 0 && extent % unit == 0);
                sum += extent;
                empty += extent == 0;
                unlike += extent != last;
                last = extent;
            }
            assert_true(empty >= 1 && unlike >= 4);
            if (cuts != GROUPED_CUTS_NOTHING) assert_true(sum < total && sum > 0);
            if (layout == GROUPED_PADDED) assert_true(parts[0].rows == 0 && parts[7].rows == p.m);
        }
    }
    static const int32_t given[] = {5, 0, 7};
    const grouped_problem offsets = {GROUPED_OFFSETS, GROUPED_SCALE_ROW, 3, 20, 16, 128};
    int32_t ends[3];
    grouped_make_extents(&offsets, given, 1, ends);
    assert_true(ends[0] == 5 && ends[1] == 5 && ends[2] == 12);
}

/* ---- reference ---- */

/* host: the buffers of a problem without their guards. */
typedef struct host {
    const uint8_t *a, *b;
    const float *a_scales, *b_scales;
    const void *extents;
} host;

static host host_of(const problem *p) {
    const char *data[GROUPED_WORKSPACE];
    for (int i = 0; i < GROUPED_WORKSPACE; i++) data[i] = (const char *)p->buffers[i].data + GUARD;
    return (host){(const uint8_t *)data[GROUPED_A], (const uint8_t *)data[GROUPED_B],
                  (const float *)data[GROUPED_A_SCALES], (const float *)data[GROUPED_B_SCALES], data[GROUPED_EXTENTS]};
}

static int64_t end_of(const void *ends, int64_t g) { return g < 0 ? 0 : ((const int32_t *)ends)[g]; }

/* group_of_row: of sizes and offsets; -1: none. *begin, *rows: its rows. */
static int64_t group_of_row(const grouped_shape *s, const void *extents, int64_t row, int64_t *begin, int64_t *rows) {
    int64_t at = 0;
    for (int64_t g = 0; g < s->groups; g++) {
        const int64_t count =
            s->layout == GROUPED_SIZES ? ((const int64_t *)extents)[g] : end_of(extents, g) - end_of(extents, g - 1);
        if (row >= at && row < at + count) return *begin = at, *rows = count, g;
        at += count;
    }
    return -1;
}

/* expected: a place of C as stored, from the definition; NAN: not written. */
static double expected(const grouped_shape *s, const host *h, fp8_kind kind, int64_t stored_row, int64_t column) {
    int64_t g = stored_row / s->m, row = stored_row % s->m, a_row = stored_row, b_row = 0, k0 = 0, k1 = s->k;
    int64_t begin = 0, rows = s->m, a_scale = 0, b_scale = 0;
    switch ((grouped_layout)s->layout) {
    case GROUPED_SIZES:
    case GROUPED_OFFSETS:
        g = group_of_row(s, h->extents, stored_row, &begin, &rows);
        if (g < 0) return NAN;
        row = stored_row - begin;
        b_row = b_scale = g * s->n + column;
        a_scale = stored_row;
        break;
    case GROUPED_PADDED:
        if (row >= ((const int64_t *)h->extents)[g]) return 0;
        /* fall through */
    case GROUPED_BATCHED:
        b_row = b_scale = g * s->n + column;
        a_scale = stored_row;
        begin = g * s->m;
        break;
    case GROUPED_N_OFFSETS:
        for (g = 0; g < s->groups && column >= end_of(h->extents, g); g++) {}
        if (g == s->groups) return NAN;
        a_row = a_scale = g * s->m + stored_row;
        b_row = b_scale = column;
        break;
    case GROUPED_K_OFFSETS:
        a_row = row;
        b_row = column;
        a_scale = stored_row;
        b_scale = g * s->n + column;
        k0 = end_of(h->extents, g - 1);
        k1 = end_of(h->extents, g);
        if (k0 == k1 && s->empty_k) return NAN;
        break;
    case GROUPED_LAYOUTS: break;
    }
    double sum = 0;
    for (int64_t k = k0; k < k1; k++) {
        const int64_t b_at =
            s->b == GEMM_B_PLAIN ? b_row * s->k + k : g * s->n * s->k + gemm_pack_offset(column, k, s->k);
        const double product =
            (double)f32_from_fp8(kind, h->a[a_row * s->k + k]) * (double)f32_from_fp8(kind, h->b[b_at]);
        if (s->scale == GROUPED_SCALE_BLOCK) {
            const int64_t blocks = s->k / 128, block = k / 128, across = s->n / 128;
            const float of_a = h->a_scales[begin * blocks + block * rows + row];
            const float of_b = h->b_scales[g * blocks * across + block * across + column / 128];
            sum += product * (double)of_a * (double)of_b;
        } else {
            sum += product * (double)h->a_scales[a_scale] * (double)h->b_scales[b_scale];
        }
    }
    return sum;
}

static void references_follow_the_definition(void **state) {
    (void)state;
    static const char *const rows[] = {
        "layout=sizes groups=5 m=37 n=40 k=80",
        "layout=offsets groups=5 m=37 n=40 k=80 data=exact",
        "layout=offsets groups=4 m=3 n=16 k=32",
        "layout=padded groups=4 m=9 n=40 k=80",
        "layout=batched groups=3 m=9 n=40 k=80",
        "layout=n_offsets groups=5 m=9 n=120 k=80",
        "layout=k_offsets groups=5 m=9 n=40 k=640",
        "layout=k_offsets groups=5 m=9 n=40 k=640 empty_k=leave",
        "layout=k_offsets groups=5 m=9 n=40 k=640 data=coherent",
        "layout=sizes groups=3 m=37 n=256 k=256 scale=block",
        "layout=offsets groups=3 m=37 n=256 k=384 scale=block b=preshuffled data=exact",
        "layout=padded groups=3 m=9 n=256 k=256 scale=block",
        "layout=batched groups=3 m=9 n=128 k=128 b=preshuffled",
        "layout=sizes groups=3 m=37 n=128 k=128 b=preshuffled",
        "layout=sizes groups=3 m=37 n=40 k=80 data=benchmark",
        "layout=sizes groups=3 m=10 n=16 k=32 extents=0,10,0",
        "layout=sizes groups=40 m=10 n=16 k=32",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const plan p = plan_of(TAG, rows[i]);
        const grouped_shape *const s = (const grouped_shape *)p.shape;
        problem data;
        if (grouped_workload.make(&p, 11 + i, &data) || grouped_workload.reference(&p, &data))
            fail_msg("%s: %s", rows[i], cdnagen_error());
        const host h = host_of(&data);
        const float *const c = data.reference;
        const int64_t stored = (int64_t)(data.buffers[GROUPED_C].bytes - 2 * GUARD) / 2 / s->n;
        double largest = 0;
        for (int64_t r = 0; r < stored; r++)
            for (int64_t n = 0; n < s->n; n++) {
                const double want = expected(s, &h, CDNAGEN_FP8_E4M3FN, r, n), got = (double)c[r * s->n + n];
                largest = fmax(largest, isnan(want) ? 0 : fabs(want));
                if (isnan(want) ? !isnan(got) : !(fabs(want - got) <= 1e-4 + 1e-4 * fabs(want)))
                    fail_msg("%s: [%d, %d] is %g, should be %g", rows[i], (int)r, (int)n, got, want);
            }
        if (!(largest > 1e-3)) fail_msg("%s: the largest is %g", rows[i], largest);
        problem_release(&data);
    }
}

/* What no group has is NaN, so that whatever is computed from it shows. */
static void what_no_group_has_is_nan(void **state) {
    (void)state;
    const plan p = plan_of(TAG, "layout=padded groups=3 m=10 n=16 k=32 extents=0,4,10");
    problem data;
    assert_int_equal(grouped_workload.make(&p, 1, &data), CDNAGEN_OK);
    const host h = host_of(&data);
    for (int row = 0; row < 30; row++) {
        const int has = row >= 20 || (row >= 10 && row < 14);
        assert_true(has != !!isnan(f32_from_fp8(CDNAGEN_FP8_E4M3FN, h.a[row * 32 + 31])));
        assert_true(has != !!isnan(h.a_scales[row]));
    }
    problem_release(&data);
}

/* In every second group of coherent data all of both operands is 1 after scaling. */
static void coherent_neighbours(void **state) {
    (void)state;
    const plan p = plan_of(TAG, "layout=k_offsets groups=3 m=4 n=16 k=96 extents=16,64,16 data=coherent");
    problem data;
    assert_int_equal(grouped_workload.make(&p, 1, &data), CDNAGEN_OK);
    assert_int_equal(grouped_workload.reference(&p, &data), CDNAGEN_OK);
    for (int i = 0; i < 4 * 16; i++) assert_true(((const float *)data.reference)[4 * 16 + i] == 64);
    assert_true(((const float *)data.reference)[0] != 16);
    problem_release(&data);
}

/* ---- grading ---- */

/* graded: the grade of the reference itself, after `spoil` has changed what came back. */
static grade graded(const char *shape,
                    void (*spoil)(const plan *p, const float *reference, uint16_t *c, char *workspace)) {
    const plan p = plan_of(strstr(shape, "sk=") ? TAG "_sk2" : TAG, strstr(shape, "sk=") ? shape + 4 : shape);
    problem data;
    if (grouped_workload.make(&p, 5, &data) || grouped_workload.reference(&p, &data))
        fail_msg("%s: %s", shape, cdnagen_error());
    const size_t places = (data.buffers[GROUPED_C].bytes - 2 * GUARD) / 2;
    char *const c = malloc(data.buffers[GROUPED_C].bytes), *const w = malloc(data.buffers[GROUPED_WORKSPACE].bytes);
    assert_true(c && w);
    memcpy(c, data.buffers[GROUPED_C].data, data.buffers[GROUPED_C].bytes);
    memcpy(w, data.buffers[GROUPED_WORKSPACE].data, data.buffers[GROUPED_WORKSPACE].bytes);
    uint16_t *const places_of_c = (uint16_t *)(c + GUARD);
    const float *const reference = data.reference;
    for (size_t i = 0; i < places; i++)
        if (!isnan(reference[i]))
            places_of_c[i] = gemm_out_bits((gemm_out)((const grouped_shape *)p.shape)->out, reference[i]);
    if (spoil) spoil(&p, reference, places_of_c, w + GUARD);
    void *back[PROBLEM_BUFFERS_MAX] = {NULL};
    back[GROUPED_C] = c;
    back[GROUPED_WORKSPACE] = w;
    grade g;
    assert_int_equal(grouped_workload.grade_outputs(&p, &data, back, &g), CDNAGEN_OK);
    free(c);
    free(w);
    problem_release(&data);
    return g;
}

#define SHAPE "layout=sizes groups=4 m=64 n=128 k=256"

static size_t a_place(const float *reference, int written) {
    size_t i = 0;
    while ((isnan(reference[i]) ? written : !written) || (written && fabsf(reference[i]) < 0.01f)) i++;
    return i;
}
static void three_ulps_off(const plan *p, const float *reference, uint16_t *c, char *w) {
    (void)p, (void)w;
    c[a_place(reference, 1)] += 3;
}
static void one_ulp_off(const plan *p, const float *reference, uint16_t *c, char *w) {
    (void)p, (void)w;
    c[a_place(reference, 1)] += 1;
}
static void nan_in(const plan *p, const float *reference, uint16_t *c, char *w) {
    (void)p, (void)w;
    c[a_place(reference, 1)] = 0x7fc0;
}
static void written_where_no_group_is(const plan *p, const float *reference, uint16_t *c, char *w) {
    (void)p, (void)w;
    c[a_place(reference, 0)] = 0;
}
static void left_unwritten(const plan *p, const float *reference, uint16_t *c, char *w) {
    (void)p, (void)w;
    c[a_place(reference, 1)] = POISON;
}
static void guard_before(const plan *p, const float *reference, uint16_t *c, char *w) {
    (void)p, (void)reference, (void)w;
    c[-1] = 0;
}
static void guard_behind(const plan *p, const float *reference, uint16_t *c, char *w) {
    (void)p, (void)reference, (void)w;
    c[64 * 128] = 0;
}
static void counter_left(const plan *p, const float *reference, uint16_t *c, char *w) {
    (void)p, (void)reference, (void)c;
    w[4] = 1;
}
static void scaled_by_the_next_row(const plan *p, const float *reference, uint16_t *c, char *w) {
    (void)p, (void)w;
    const size_t row = a_place(reference, 1) / 128;
    for (size_t n = 0; n < 128; n++) c[row * 128 + n] = gemm_out_bits(GEMM_BF16, reference[row * 128 + n] * 1.02f);
}

static void every_kind_of_wrong_result_fails(void **state) {
    (void)state;
    static const struct {
        const char *shape;
        void (*spoil)(const plan *p, const float *reference, uint16_t *c, char *workspace);
        int passes;
        const char *says;
    } rows[] = {
        {SHAPE, NULL, 1, ""},
        {SHAPE " out=f16", NULL, 1, ""},
        {SHAPE " data=exact", NULL, 1, ""},
        {SHAPE " data=coherent", NULL, 1, ""},
        {SHAPE " data=benchmark", NULL, 1, ""},
        {SHAPE " scale=block", NULL, 1, ""},
        {"sk= " SHAPE, NULL, 1, ""},
        {SHAPE, one_ulp_off, 1, ""},
        {SHAPE, three_ulps_off, 0, "C"},
        {SHAPE " data=exact", one_ulp_off, 0, "exact C"},
        {SHAPE, nan_in, 0, "C: expected"},
        {SHAPE, written_where_no_group_is, 0, "must not be written"},
        {SHAPE, left_unwritten, 0, "C: expected"},
        {SHAPE, guard_before, 0, "a guard of c"},
        {SHAPE, guard_behind, 0, "a guard of c"},
        {SHAPE, scaled_by_the_next_row, 0, "C"},
        {"sk= " SHAPE, counter_left, 0, "a counter of the workspace"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const grade g = graded(rows[i].shape, rows[i].spoil);
        if (g.pass != rows[i].passes || !strstr(g.first, rows[i].says))
            fail_msg("row %zu, %s: pass %d, '%s'", i, rows[i].shape, g.pass, g.first);
    }
    const grade g = graded(SHAPE " data=benchmark", NULL);
    assert_true(grade_figure(&g, "absolute") < 0.0039);
}

static void runs_need_lengths(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"m=1 n=8 k=16", "needs groups"},
                                          {"groups=1 n=8 k=16", "needs m"},
                                          {"groups=1 m=1 k=16", "needs n"},
                                          {"groups=1 m=1 n=8", "needs k"},
                                          {"groups=1 m=1 n=128 k=128 scale=block data=benchmark", "scale=row"},
                                          {"groups=1 m=1 n=128 k=131072 scale=block data=exact", "up to 65536"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const plan p = plan_of(TAG, rows[i][0]);
        problem data;
        expect_error(rows[i][0], grouped_workload.make(&p, 1, &data), CDNAGEN_BAD_SHAPE,
                     (const char *const[]){rows[i][1], NULL});
    }
}

/* A run whose times are modelled has what decides addresses, and nothing else. */
static void modelled_runs_have_extents(void **state) {
    (void)state;
    const plan p = plan_of(TAG "_sk2", SHAPE);
    problem full, modelled;
    assert_int_equal(grouped_workload.make(&p, 0, &full), CDNAGEN_OK);
    assert_int_equal(grouped_workload.make_modelled(&p, &modelled), CDNAGEN_OK);
    assert_true(!modelled.buffers[GROUPED_A].data && !modelled.buffers[GROUPED_C].data);
    assert_memory_equal(modelled.buffers[GROUPED_EXTENTS].data, full.buffers[GROUPED_EXTENTS].data,
                        full.buffers[GROUPED_EXTENTS].bytes);
    assert_non_null(modelled.buffers[GROUPED_WORKSPACE].data);
    problem_release(&full);
    problem_release(&modelled);
}

static void memory_may_run_out(void **state) {
    (void)state;
    const plan p = plan_of(TAG, SHAPE " b=preshuffled");
    const long before = mem_live();
    int failures = 0;
    for (long k = 1;; k++) {
        problem data = {0};
        mem_fail_at(k);
        cdnagen_status s = grouped_workload.make(&p, 1, &data);
        if (!s) s = grouped_workload.reference(&p, &data);
        mem_fail_at(0);
        if (data.buffer_count) problem_release(&data);
        assert_int_equal(mem_live(), before);
        if (!s) break;
        assert_int_equal(s, CDNAGEN_NO_MEMORY);
        failures++;
    }
    assert_true(failures > 8);
}

/* C of 2^64 - 2 bytes, which with its guards would be few. */
static void more_than_a_size_is_refused(void **state) {
    (void)state;
    const plan p = plan_of(TAG, "layout=k_offsets groups=3 m=2147418112 n=2147418112 k=16");
    problem data;
    assert_int_equal(grouped_workload.make(&p, 1, &data), CDNAGEN_NO_MEMORY);
    assert_int_equal(grouped_workload.make_modelled(&p, &data), CDNAGEN_NO_MEMORY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extents_are_clamped),
        cmocka_unit_test(made_up_groups),
        cmocka_unit_test(references_follow_the_definition),
        cmocka_unit_test(what_no_group_has_is_nan),
        cmocka_unit_test(coherent_neighbours),
        cmocka_unit_test(every_kind_of_wrong_result_fails),
        cmocka_unit_test(runs_need_lengths),
        cmocka_unit_test(modelled_runs_have_extents),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(more_than_a_size_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
