/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The data of gemm_blockscale's runs, the plain C reference against the definition in double, and the grading rules. */
#include <math.h>
#include <stdlib.h>

#include "core/fp8.h"
#include "tests/gen/gemm_testing.h"

#define TAG "gemm_blockscale:mfma16x16x128_t64x128x128_4w"
enum { GUARD = 1024, POISON_BITS = 0x7fc5, BUFFERS = BLOCKSCALE_WORKSPACE + 1 };

/* answered: a problem with a right answer in C. */
typedef struct answered {
    plan p;
    problem data;
    cdnagen_gemm_blockscale_args args; /* of the host's own memory */
    uint16_t *c;
    const float *reference;
} answered;

/* plan_with: a plan of the tag whose shape is the words', whether or not a kernel for them can be generated. */
static plan plan_with(const char *tag, const char *words) {
    plan p = plan_of(tag, "");
    blockscale_shape s = shape_of(words);
    blockscale_complete(p.variant, &s);
    memcpy(p.shape, &s, sizeof s);
    return p;
}

static answered answer_with(const char *tag, const char *words, uint64_t seed) {
    answered a = {.p = plan_with(tag, words)};
    if (blockscale_workload.make(&a.p, seed, &a.data)) fail_msg("%s: %s", words, cdnagen_error());
    if (blockscale_workload.reference(&a.p, &a.data)) fail_msg("%s: %s", words, cdnagen_error());
    void *own[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) own[i] = a.data.buffers[i].data;
    blockscale_workload.arguments(&a.p, &a.data, own, &a.args);
    a.c = a.args.c.ptr;
    a.reference = a.data.reference;
    const gemm_out type = (gemm_out)((const blockscale_shape *)a.p.shape)->out;
    for (int64_t m = 0; m < a.args.m; m++)
        for (int64_t n = 0; n < a.args.n; n++)
            a.c[m * a.args.c_stride + n] = gemm_out_bits(type, a.reference[m * a.args.n + n]);
    return a;
}
static answered answer(const char *words) { return answer_with(TAG, words, 5); }

static grade graded(const answered *a) {
    grade g;
    void *back[BUFFERS] = {[BLOCKSCALE_C] = a->data.buffers[BLOCKSCALE_C].data,
                           [BLOCKSCALE_WORKSPACE] = a->data.buffers[BLOCKSCALE_WORKSPACE].data};
    assert_int_equal(blockscale_workload.grade_outputs(&a->p, &a->data, back, &g), CDNAGEN_OK);
    return g;
}

/* ---- reference ---- */

static double scale_of(const blockscale_shape *s, cdnagen_buffer b, int64_t at) {
    if (s->scales == GEMM_SCALES_F32) return (double)((const float *)b.ptr)[at];
    return ldexp(1, ((const uint8_t *)b.ptr)[at] - 127);
}

/* place_in_double: C[m, n] by the definition, from the arguments that a kernel gets; *size is the sum of magnitudes. */
static double place_in_double(const answered *a, int64_t m, int64_t n, double *size) {
    const blockscale_shape *const s = (const blockscale_shape *)a->p.shape;
    const fp8_kind native = a->p.target.chip->fp8;
    const uint8_t *const a_bytes = a->args.a.ptr, *const b_bytes = a->args.b.ptr;
    double sum = 0;
    *size = 0;
    for (int64_t k = 0; k < a->args.k; k++) {
        const int64_t block = k / 128, row = m / s->scale_m, column = n / s->scale_n;
        const double sx = scale_of(s, a->args.a_scales,
                                   s->a_scales == GEMM_SCALES_K_MAJOR ? block * a->args.a_scales_stride + row
                                                                      : row * a->args.a_scales_stride + block);
        const double sw = scale_of(s, a->args.b_scales, column * a->args.b_scales_stride + block);
        const int64_t at = s->b == GEMM_B_PLAIN
                               ? n * a->args.b_stride + k
                               : ((n / 16 * (a->args.k / 32) + k / 32) * 2 + k % 32 / 16) * 256 + n % 16 * 16 + k % 16;
        const double x = (double)f32_from_fp8(native, a_bytes[m * a->args.a_stride + k]);
        const double product = x * (double)f32_from_fp8(native, b_bytes[at]) * sx * sw;
        sum += product;
        *size += fabs(product);
    }
    return sum;
}

static void reference_agrees_with_the_definition(void **state) {
    (void)state;
    static const char *const rows[] = {
        "m=5 n=48 k=384 b=preshuffled",
        "m=5 n=33 k=300",
        "m=130 n=260 k=128 scale_m=128",
        "m=3 n=70 k=257 scale_n=1 a_scales=kmajor",
        "m=140 n=16 k=160 scale_m=128 scale_n=1 a_scales=kmajor b=preshuffled",
        "m=4 n=130 k=512 scales=ue8m0",
        "m=4 n=130 k=512 scales=ue8m0 a_scales=kmajor pad=1",
        "m=9 n=40 k=130 pad=3 out=f16",
        "m=1 n=1 k=1",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        answered a = answer(rows[i]);
        for (int64_t m = 0; m < a.args.m; m++)
            for (int64_t n = 0; n < a.args.n; n++) {
                double size;
                const double want = place_in_double(&a, m, n, &size), got = (double)a.reference[m * a.args.n + n];
                if (!(fabs(want - got) <= 1e-5 * size))
                    fail_msg("%s [%d, %d]: %.9g, not %.9g", rows[i], (int)m, (int)n, want, got);
            }
        problem_release(&a.data);
    }
}

static void reference_of_one_place_by_hand(void **state) {
    (void)state;
    /* 1 * 2 in the first block of K, -3 * 0.5 in the second; scales 10 and 100, then 4 and 0.25. */
    uint8_t x[256] = {e4m3fn_from_f32(1)}, y[256] = {e4m3fn_from_f32(2)};
    x[255] = e4m3fn_from_f32(-3);
    y[255] = e4m3fn_from_f32(0.5f);
    const float sx[2] = {10, 4}, sw[2] = {100, 0.25f};
    const blockscale_operands in = {.m = 1,
                                    .n = 1,
                                    .k = 256,
                                    .a_fp8 = CDNAGEN_FP8_E4M3FN,
                                    .b_fp8 = CDNAGEN_FP8_E4M3FN,
                                    .scale_m = 1,
                                    .scale_n = 128,
                                    .a = x,
                                    .b = y,
                                    .a_scales = sx,
                                    .b_scales = sw,
                                    .a_stride = 256,
                                    .b_stride = 256,
                                    .a_scales_stride = 2,
                                    .b_scales_stride = 2};
    float c[2] = {7, 7};
    assert_int_equal(blockscale_reference(&in, c), CDNAGEN_OK);
    assert_true(c[0] == 2 * 1000 - 1.5f && c[1] == 7);
}

static void nothing_to_sum_is_zero(void **state) {
    (void)state;
    answered a = answer("m=3 n=5 k=0");
    for (int i = 0; i < 15; i++) assert_true(a.reference[i] == 0);
    assert_true(graded(&a).pass);
    a.c[4] = 0x3f80;
    assert_false(graded(&a).pass);
    problem_release(&a.data);
}

/* ---- data ---- */

static void data_depends_on_the_seed_alone(void **state) {
    (void)state;
    answered a = answer_with(TAG, "m=5 n=33 k=300", 1), b = answer_with(TAG, "m=5 n=33 k=300", 1),
             c = answer_with(TAG, "m=5 n=33 k=300", 2);
    for (int i = BLOCKSCALE_A; i <= BLOCKSCALE_B_SCALES; i++) {
        assert_memory_equal(a.data.buffers[i].data, b.data.buffers[i].data, a.data.buffers[i].bytes);
        assert_memory_not_equal(a.data.buffers[i].data, c.data.buffers[i].data, a.data.buffers[i].bytes);
    }
    problem_release(&a.data);
    problem_release(&b.data);
    problem_release(&c.data);
}

/* Everything that no element's place is, guards and ends of rows, reads as NaN. */
static void what_is_outside_is_nan(void **state) {
    (void)state;
    answered a = answer("m=5 n=33 k=300 pad=1 a_scales=kmajor");
    const fp8_kind kind = CDNAGEN_FP8_E4M3FN;
    for (int i = BLOCKSCALE_A; i <= BLOCKSCALE_B_SCALES; i++) {
        const uint8_t *const all = a.data.buffers[i].data;
        for (int j = 0; j < GUARD; j++)
            assert_true(all[j] == 0xff && all[a.data.buffers[i].bytes - (size_t)j - 1] == 0xff);
    }
    const uint8_t *const x = a.args.a.ptr;
    assert_int_equal(a.args.a_stride, 304 + 16);
    for (int64_t m = 0; m < 5; m++)
        for (int64_t k = 0; k < a.args.a_stride; k++)
            assert_int_equal(!isnan(f32_from_fp8(kind, x[m * a.args.a_stride + k])), k < 300);
    const float *const scales = a.args.a_scales.ptr;
    for (int64_t block = 0; block < 3; block++)
        for (int64_t m = 0; m < a.args.a_scales_stride; m++)
            assert_int_equal(!isnan(scales[block * a.args.a_scales_stride + m]), m < 5);
    problem_release(&a.data);
}

/* A product of scales of the wrong neighbour is another number, which is what shows a swapped index. */
static void neighbours_scales_differ(void **state) {
    (void)state;
    static const char *const rows[] = {"m=40 n=1300 k=1408 data=exact", "m=40 n=1300 k=1408",
                                       "m=40 n=1300 k=1408 data=exact scales=ue8m0"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        answered a = answer(rows[i]);
        const blockscale_shape *const s = (const blockscale_shape *)a.p.shape;
        const struct {
            cdnagen_buffer b;
            int64_t rows, stride;
        } sides[] = {{a.args.a_scales, 40, a.args.a_scales_stride}, {a.args.b_scales, 11, a.args.b_scales_stride}};
        for (int side = 0; side < 2; side++)
            for (int64_t row = 0; row < sides[side].rows; row++)
                for (int64_t block = 0; block < 11; block++) {
                    const int64_t at = row * sides[side].stride + block;
                    const double own = scale_of(s, sides[side].b, at);
                    assert_true(own > 0);
                    if (block) assert_true(own != scale_of(s, sides[side].b, at - 1));
                    if (row) assert_true(own != scale_of(s, sides[side].b, at - sides[side].stride));
                }
        problem_release(&a.data);
    }
}

static void exact_sums_are_exact_in_f32(void **state) {
    (void)state;
    answered a = answer("m=7 n=300 k=2000 data=exact");
    for (int64_t m = 0; m < 7; m++)
        for (int64_t n = 0; n < 300; n++) {
            double size;
            const double want = place_in_double(&a, m, n, &size);
            assert_true((double)a.reference[m * 300 + n] == want);
            /* In units of the smallest scales every partial sum is an integer that f32 holds. */
            assert_true(size * 0x1p16 < 0x1p24);
        }
    problem_release(&a.data);
    const plan p = plan_of(TAG, "m=1 n=1 k=70000 data=exact");
    problem data;
    expect_error("exact", blockscale_workload.make(&p, 0, &data), CDNAGEN_BAD_SHAPE,
                 (const char *const[]){"k up to 65536", "70000", NULL});
}

static void a_run_needs_its_lengths(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"n=16 k=128", "needs m in"}, {"m=16 k=128", "needs n in"}, {"m=16 n=16", "needs k in"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const plan p = plan_of(TAG, rows[i][0]);
        problem data;
        expect_error(rows[i][0], blockscale_workload.make(&p, 0, &data), CDNAGEN_BAD_SHAPE,
                     (const char *const[]){rows[i][1], NULL});
    }
}

/* ---- grading ---- */

static const char words[] = "m=130 n=200 k=384 pad=1";

static void a_right_answer_passes(void **state) {
    (void)state;
    static const char *const rows[] = {
        words,        "m=130 n=200 k=384 out=f16", "m=130 n=200 k=384 data=exact", "m=1 n=1 k=1", "m=0 n=5 k=3",
        "m=5 n=0 k=3"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        answered a = answer(rows[i]);
        const grade g = graded(&a);
        if (!g.pass || g.first[0]) fail_msg("%s: %s", rows[i], g.first);
        assert_true(grade_figure(&g, "err_ratio") == 0 && grade_figure(&g, "tile norm") == 0);
        problem_release(&a.data);
    }
}

static void an_unwritten_output_fails(void **state) {
    (void)state;
    answered a = answer(words);
    for (size_t i = 0; i < a.args.c.bytes / 2; i++) a.c[i] = POISON_BITS;
    const grade g = graded(&a);
    assert_false(g.pass);
    assert_true(grade_figure(&g, "err_ratio") == 1 && isnan(grade_figure(&g, "1 - cosine")));
    problem_release(&a.data);
}

/* put: the answer of place (m, n) becomes another one. */
static void put(const answered *a, int64_t m, int64_t n, float x) {
    a->c[m * a->args.c_stride + n] = gemm_out_bits(GEMM_BF16, x);
}
static float want(const answered *a, int64_t m, int64_t n) { return a->reference[m * a->args.n + n]; }

/* Answers that a faulty kernel would give. */
static void swap_scale(answered *a) {
    /* Row 17 with the scales of row 18. */
    float *const scales = (float *)a->args.a_scales.ptr;
    const int64_t stride = a->args.a_scales_stride;
    float own[3];
    memcpy(own, scales + 17 * stride, sizeof own);
    memcpy(scales + 17 * stride, scales + 18 * stride, sizeof own);
    assert_int_equal(blockscale_workload.reference(&a->p, &a->data), CDNAGEN_OK);
    float *const wrong = a->data.reference;
    for (int64_t n = 0; n < a->args.n; n++) put(a, 17, n, wrong[17 * a->args.n + n]);
    memcpy(scales + 17 * stride, own, sizeof own);
    assert_int_equal(blockscale_workload.reference(&a->p, &a->data), CDNAGEN_OK);
    a->reference = a->data.reference;
}
static void swap_blocks(answered *a) {
    /* B's second column of scale blocks, with its first two blocks of K exchanged. */
    float *const scales = (float *)a->args.b_scales.ptr + a->args.b_scales_stride, first = scales[0];
    scales[0] = scales[1];
    scales[1] = first;
    assert_int_equal(blockscale_workload.reference(&a->p, &a->data), CDNAGEN_OK);
    float *const wrong = a->data.reference;
    for (int64_t m = 0; m < a->args.m; m++)
        for (int64_t n = 128; n < a->args.n; n++) put(a, m, n, wrong[m * a->args.n + n]);
    scales[1] = scales[0];
    scales[0] = first;
    assert_int_equal(blockscale_workload.reference(&a->p, &a->data), CDNAGEN_OK);
    a->reference = a->data.reference;
}
static void shift_row(answered *a) {
    for (int64_t n = 0; n < a->args.n; n++) put(a, 64, n, want(a, 63, n));
}
static void spoil_boundary(answered *a) {
    for (int64_t m = 15; m < a->args.m; m += 16) put(a, m, 5, want(a, m, 6) + 1);
}
static void drop_last_row(answered *a) {
    for (int64_t n = 0; n < a->args.n; n++) a->c[(a->args.m - 1) * a->args.c_stride + n] = POISON_BITS;
}
static void one_nan(answered *a) { put(a, 3, 3, NAN); }
static void one_infinity(answered *a) { put(a, 3, 3, INFINITY); }
static void write_padding(answered *a) { a->c[2 * a->args.c_stride + a->args.n] = 0; }
static void write_last_padding(answered *a) { a->c[a->args.m * a->args.c_stride - 1] = 0; }
static void write_before(answered *a) { a->c[-1] = 0; }
static void write_behind(answered *a) { a->c[a->args.m * a->args.c_stride] = 0; }

static void each_fault_is_seen(void **state) {
    (void)state;
    static const struct {
        void (*spoil)(answered *a);
        const char *first;
    } rows[] = {
        {swap_scale, "[17, "},
        {swap_blocks, "C: expected"},
        {shift_row, "[64, "},
        {spoil_boundary, "[15, 5] C"},
        {drop_last_row, "[129, 0] C"},
        {one_nan, "[3, 3] C"},
        {one_infinity, "[3, 3] C"},
        {write_padding, "[2, 200] between rows"},
        {write_last_padding, "[129, 215] between rows"},
        {write_before, "guard of c"},
        {write_behind, "guard of c"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        answered a = answer(words);
        rows[i].spoil(&a);
        const grade g = graded(&a);
        if (g.pass || !strstr(g.first, rows[i].first))
            fail_msg("row %zu: pass %d, '%s' instead of '%s'", i, g.pass, g.first, rows[i].first);
        problem_release(&a.data);
    }
}

/* In a long problem a few wrong rows leave the cosine at 1; the tiles show them. */
static void the_tile_norm_sees_what_the_cosine_hides(void **state) {
    (void)state;
    enum { M = 512, N = 512 };
    float *const reference = malloc(M * N * sizeof *reference);
    uint16_t *const c = malloc(M * N * sizeof *c);
    assert_true(reference && c);
    for (int i = 0; i < M * N; i++) {
        reference[i] = 100;
        c[i] = gemm_out_bits(GEMM_BF16, 100);
    }
    /* 1.5 of 100 off in one row of one tile: less than a hundredth of the place, more than that of the tile's norm. */
    for (int n = 0; n < 16; n++) c[48 * N + n] = gemm_out_bits(GEMM_BF16, 101);
    for (int m = 48; m < 64; m++)
        for (int n = 0; n < 16; n++) c[m * N + n] = gemm_out_bits(GEMM_BF16, m % 2 ? 101.01f : 98.99f);
    const gemm_result r = {.m = M, .n = N, .stride = N, .type = GEMM_BF16, .reference = reference, .c = c};
    grade g;
    gemm_grade(&r, &g);
    assert_true(grade_figure(&g, "err_ratio") == 0 && grade_figure(&g, "1 - cosine") < 1e-6);
    assert_true(grade_figure(&g, "tile norm") > 5e-3);
    for (int m = 48; m < 64; m++)
        for (int n = 0; n < 16; n++) {
            reference[m * N + n] = 0.1f;
            c[m * N + n] = gemm_out_bits(GEMM_BF16, 0.109f);
        }
    gemm_grade(&r, &g); /* below the floor of a twentieth of the mean norm: nothing */
    assert_true(g.pass);
    for (int i = 0; i < M * N; i++) {
        const int inside = i % N < 16 && i / N >= 48 && i / N < 64;
        reference[i] = inside ? 0.05f : 0.2f;
        c[i] = gemm_out_bits(GEMM_BF16, inside ? 0.05078125f : 0.2f);
    }
    gemm_grade(&r, &g); /* every place is within 1e-2, the tile, a quarter of the mean, is 15 thousandths off */
    assert_true(!g.pass && grade_figure(&g, "err_ratio") == 0 && grade_figure(&g, "1 - cosine") < 1e-5);
    assert_true(grade_figure(&g, "tile norm") > 1e-2);
    assert_non_null(strstr(g.first, "many small differences"));
    free(reference);
    free(c);
}

/* Everything half a hundredth off, this way and that: no place and no tile is far enough, all of them together are. */
static void the_cosine_is_a_bound_of_its_own(void **state) {
    (void)state;
    enum { EDGE = 32 };
    float reference[EDGE * EDGE];
    uint16_t c[EDGE * EDGE];
    for (int i = 0; i < EDGE * EDGE; i++) {
        reference[i] = 100;
        c[i] = gemm_out_bits(GEMM_BF16, i % 2 ? 100.5f : 99.5f);
    }
    const gemm_result r = {.m = EDGE, .n = EDGE, .stride = EDGE, .type = GEMM_BF16, .reference = reference, .c = c};
    grade g;
    gemm_grade(&r, &g);
    assert_true(!g.pass && grade_figure(&g, "err_ratio") == 0 && grade_figure(&g, "tile norm") < 6e-3);
    assert_true(grade_figure(&g, "1 - cosine") > 1e-5);
}

static void the_tolerance_is_a_bound(void **state) {
    (void)state;
    static const struct {
        float reference, c;
        int pass;
    } rows[] = {{0, 0.0099f, 1}, {0, 0.0101f, 0},   {1, 1.0156f, 1},
                {1, 1.0235f, 0}, {-1, -1.0156f, 1}, {-1, -1.0235f, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        enum { COUNT_OF = 16 * 64 };
        float reference[COUNT_OF];
        uint16_t c[COUNT_OF];
        for (int j = 0; j < COUNT_OF; j++) {
            reference[j] = 8;
            c[j] = gemm_out_bits(GEMM_BF16, 8);
        }
        reference[5] = rows[i].reference;
        c[5] = gemm_out_bits(GEMM_BF16, rows[i].c);
        const gemm_result r = {.m = 16, .n = 64, .stride = 64, .type = GEMM_BF16, .reference = reference, .c = c};
        grade g;
        gemm_grade(&r, &g);
        assert_int_equal(g.pass, rows[i].pass);
    }
}

/* With exact data the last bit counts. */
static void exact_data_allows_no_difference(void **state) {
    (void)state;
    answered a = answer("m=130 n=200 k=384 data=exact");
    a.c[7 * a.args.c_stride + 9] ^= 1;
    const grade g = graded(&a);
    assert_true(!g.pass && grade_figure(&g, "unequal") == 1 && grade_figure(&g, "err_ratio") == 0);
    assert_non_null(strstr(g.first, "[7, 9] exact C"));
    problem_release(&a.data);
}

static void split_k_must_leave_its_counters_zero(void **state) {
    (void)state;
    answered a = answer_with(TAG "_sk3", "m=130 n=200 k=384", 0);
    assert_true(graded(&a).pass);
    ((uint8_t *)a.args.workspace.ptr)[4 * 5] = 1; /* of 3 x 2 tiles the last */
    const grade g = graded(&a);
    assert_true(!g.pass);
    assert_non_null(strstr(g.first, "counter"));
    ((uint8_t *)a.args.workspace.ptr)[4 * 5] = 0;
    ((uint8_t *)a.args.workspace.ptr)[4 * 6] = 1; /* behind them */
    assert_true(graded(&a).pass);
    problem_release(&a.data);
}

/* ---- memory ---- */

static void a_failed_allocation_leaks_nothing(void **state) {
    (void)state;
    const plan p = plan_of(TAG, "m=5 n=32 k=64 b=preshuffled");
    const long before = mem_live();
    int failures = 0;
    for (long k = 1;; k++) {
        problem data = {.buffer_count = 0};
        mem_fail_at(k);
        cdnagen_status status = blockscale_workload.make(&p, 0, &data);
        if (!status) status = blockscale_workload.reference(&p, &data);
        mem_fail_at(0);
        problem_release(&data);
        assert_int_equal(mem_live(), before);
        if (!status) break;
        assert_int_equal(status, CDNAGEN_NO_MEMORY);
        failures++;
    }
    assert_true(failures >= 9); /* six buffers, rows to pack, the reference, its operands */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_agrees_with_the_definition),
        cmocka_unit_test(reference_of_one_place_by_hand),
        cmocka_unit_test(nothing_to_sum_is_zero),
        cmocka_unit_test(data_depends_on_the_seed_alone),
        cmocka_unit_test(what_is_outside_is_nan),
        cmocka_unit_test(neighbours_scales_differ),
        cmocka_unit_test(exact_sums_are_exact_in_f32),
        cmocka_unit_test(a_run_needs_its_lengths),
        cmocka_unit_test(a_right_answer_passes),
        cmocka_unit_test(an_unwritten_output_fails),
        cmocka_unit_test(each_fault_is_seen),
        cmocka_unit_test(the_tile_norm_sees_what_the_cosine_hides),
        cmocka_unit_test(the_cosine_is_a_bound_of_its_own),
        cmocka_unit_test(the_tolerance_is_a_bound),
        cmocka_unit_test(exact_data_allows_no_difference),
        cmocka_unit_test(split_k_must_leave_its_counters_zero),
        cmocka_unit_test(a_failed_allocation_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
