/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The reference against a loop that nobody could get wrong, the data, and each grading rule failing when it should. */
#include <math.h>
#include <stdlib.h>

#include "core/fp8.h"
#include "tests/gen/mqa_testing.h"

enum { GUARD_FLOATS = 256 };
#define TAG "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma"

/* ---- reference ---- */

/* logit_by_hand: one place, in double, from the definition. */
static double logit_by_hand(const mqa_operands *in, int64_t m, int64_t n) {
    if (n < in->cu_starts[m] || n >= in->cu_ends[m]) return -INFINITY;
    double sum = 0;
    for (int64_t h = 0; h < in->heads; h++) {
        double dot = 0;
        for (int64_t d = 0; d < in->dim; d++)
            dot += (double)f32_from_e4m3fn(in->q[m * in->strides.q + h * in->strides.q_head + d]) *
                   (double)f32_from_e4m3fn(in->kv[n * in->strides.kv + d]) * (double)in->kv_scales[n];
        const int64_t at = m * in->strides.weights + h;
        sum += (dot > 0 ? dot : 0) * (double)(in->weights_type == CDNAGEN_WEIGHTS_BF16
                                                  ? f32_from_bf16(((const uint16_t *)in->weights)[at])
                                                  : ((const float *)in->weights)[at]);
    }
    return sum;
}

static void make(const plan *p, uint64_t seed, problem *out) {
    if (mqa_workload.make(p, seed, out) || mqa_workload.reference(p, out)) fail_msg("%s", cdnagen_error());
}

static void reference_agrees_with_the_definition(void **state) {
    (void)state;
    static const char *const rows[] = {
        "seq=1 seq_kv=1 heads=16 dim=128 window=past_end",
        "seq=7 seq_kv=33 heads=32 dim=64 window=causal",
        "seq=6 seq_kv=90 heads=32 dim=192 window=cp",
        "seq=9 seq_kv=100 heads=64 dim=128 window=misaligned",
        "seq=12 seq_kv=31 heads=16 dim=128 window=empty",
        "seq=5 seq_kv=64 heads=128 dim=64 window=past_end",
        "seq=8 seq_kv=65 heads=32 dim=64 window=batch_causal",
        "seq=9 seq_kv=70 heads=5 dim=48 window=unsorted",
        "seq=5 seq_kv=40 heads=7 dim=96 weights=bf16 strided=1",
        "seq=1 seq_kv=1 heads=1 dim=32 window=past_end",
        "seq=3 seq_kv=50 heads=24 dim=144 strided=1",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const target t = target_of("gfx950");
        plan p;
        problem data;
        assert_int_equal(plan_make("mqa_logits:auto", rows[i], &t, 0, &p), CDNAGEN_OK);
        make(&p, i, &data);
        const mqa_operands in = mqa_workload_operands(&p, &data);
        const float *const got = data.reference;
        for (int64_t m = 0; m < in.seq; m++)
            for (int64_t n = 0; n < in.seq_kv; n++) {
                const double expected = logit_by_hand(&in, m, n), value = (double)got[m * in.seq_kv + n];
                if (expected != value && !(fabs(expected - value) < 1e-4 * (1 + fabs(expected))))
                    fail_msg("%s [%d, %d]: %g, expected %g", rows[i], (int)m, (int)n, value, expected);
            }
        problem_release(&data);
    }
}

/* Operands of one place with known values: 2 heads of which one is negative, a scale, a negative weight. */
static void reference_of_one_place_by_hand(void **state) {
    (void)state;
    enum { ONE = 0x38, TWO = 0x40, MINUS_ONE = 0xb8 }; /* e4m3fn bytes */
    const uint8_t q[4] = {ONE, TWO, MINUS_ONE, MINUS_ONE}, kv[4] = {ONE, ONE, TWO, MINUS_ONE};
    const float scales[2] = {0.5f, 4}, weights[2] = {-3, 100};
    const int32_t starts[1] = {0}, ends[1] = {2};
    mqa_operands in = {.seq = 1,
                       .seq_kv = 2,
                       .heads = 2,
                       .dim = 2,
                       .q_fp8 = CDNAGEN_FP8_E4M3FN,
                       .kv_fp8 = CDNAGEN_FP8_E4M3FN,
                       .strides = {.q_head = 2, .kv = 2},
                       .q = q,
                       .kv = kv,
                       .kv_scales = scales,
                       .weights = weights,
                       .cu_starts = starts,
                       .cu_ends = ends};
    float logits[2];
    assert_int_equal(mqa_reference_logits(&in, logits), CDNAGEN_OK);
    /* Column 0: dots 3 and -2, -3 * 3 * 0.5. Column 1: dots 0 and -1. */
    assert_true(logits[0] == -4.5f && logits[1] == 0);
    /* Window ends beyond both ends of the row are clamped. */
    const int32_t far_start[1] = {-40}, far_end[1] = {70};
    float room[102];
    for (size_t i = 0; i < COUNT(room); i++) room[i] = 7;
    in.cu_starts = far_start, in.cu_ends = far_end;
    assert_int_equal(mqa_reference_logits(&in, room + 50), CDNAGEN_OK);
    for (size_t i = 0; i < COUNT(room); i++) assert_true(room[i] == (i == 50 ? -4.5f : i == 51 ? 0 : 7));
    in.kv_fp8 = CDNAGEN_FP8_E4M3FNUZ; /* the same bytes are worth half */
    assert_int_equal(mqa_reference_logits(&in, logits), CDNAGEN_OK);
    assert_true(logits[0] == -2.25f);
}

/* ---- data ---- */

static void data_depends_on_the_seed_alone(void **state) {
    (void)state;
    const plan p = plan_of(TAG, "seq=5 seq_kv=70 heads=32 dim=64");
    problem a, b, c;
    make(&p, 1, &a);
    make(&p, 1, &b);
    make(&p, 2, &c);
    for (size_t i = 0; i < a.buffer_count; i++) {
        assert_int_equal(a.buffers[i].bytes, b.buffers[i].bytes);
        assert_memory_equal(a.buffers[i].data, b.buffers[i].data, a.buffers[i].bytes);
    }
    for (int i = MQA_Q; i <= MQA_WEIGHTS; i++)
        assert_memory_not_equal(a.buffers[i].data, c.buffers[i].data, a.buffers[i].bytes);
    problem_release(&a);
    problem_release(&b);
    problem_release(&c);
}

/* The first bytes and numbers of seed 0, so that a changed generator shows. */
static void data_is_what_it_was(void **state) {
    (void)state;
    const plan p = plan_of(TAG, "seq=1 seq_kv=2 heads=32 dim=64");
    problem data;
    make(&p, 0, &data);
    static const uint8_t q[8] = {0xa9, 0xb6, 0xb4, 0xb9, 0x2d, 0x31, 0x99, 0x33},
                         kv[8] = {0x7e, 0xf9, 0xf7, 0x79, 0x68, 0x5b, 0xee, 0x78};
    assert_memory_equal(data.buffers[MQA_Q].data, q, sizeof q);
    assert_memory_equal(data.buffers[MQA_KV].data, kv, sizeof kv);
    problem_release(&data);
}

static void every_row_of_keys_uses_the_whole_range_and_not_its_neighbours_scale(void **state) {
    (void)state;
    const plan p = plan_of(TAG, "seq=1 seq_kv=70 heads=32 dim=64");
    problem data;
    make(&p, 3, &data);
    const uint8_t *const kv = data.buffers[MQA_KV].data;
    const float *const scales = data.buffers[MQA_KV_SCALES].data;
    for (int n = 0; n < 70; n++) {
        float most = 0;
        for (int d = 0; d < 64; d++) most = fmaxf(most, fabsf(f32_from_e4m3fn(kv[n * 64 + d])));
        assert_true(most == E4M3FN_MAX);
        assert_true(scales[n] > 0);
        if (n) assert_true(scales[n - 1] != scales[n]);
    }
    problem_release(&data);
}

static void weights_have_both_signs_and_windows_are_the_shapes(void **state) {
    (void)state;
    const plan p = plan_of(TAG, "seq=8 seq_kv=70 heads=32 dim=64 window=past_end");
    problem data;
    make(&p, 3, &data);
    const float *const w = data.buffers[MQA_WEIGHTS].data;
    int negative = 0;
    double sum = 0, squares = 0;
    for (int i = 0; i < 8 * 32; i++) {
        negative += w[i] < 0;
        sum += (double)w[i];
        squares += (double)w[i] * (double)w[i];
    }
    assert_in_range(negative, 96, 160);
    assert_true(fabs(sum / 256) < 0.2 && fabs(squares / 256 - 1) < 0.3);
    const int32_t *const starts = data.buffers[MQA_CU_STARTS].data, *const ends = data.buffers[MQA_CU_ENDS].data;
    assert_int_equal(starts[0], 87);
    assert_int_equal(ends[0], 134);
    assert_int_equal(ends[7], 8);
    problem_release(&data);
}

static void a_run_needs_its_lengths(void **state) {
    (void)state;
    problem data;
    const plan no_seq = plan_of(TAG, "seq_kv=70 heads=32 dim=64"), no_kv = plan_of(TAG, "seq=7 heads=32 dim=64"),
               cp = plan_of(TAG, "seq=3 seq_kv=9 heads=32 dim=64 window=cp");
    expect_error("seq", mqa_workload.make(&no_seq, 0, &data), CDNAGEN_BAD_SHAPE,
                 (const char *const[]){"needs seq in", NULL});
    expect_error("seq_kv", mqa_workload.make(&no_kv, 0, &data), CDNAGEN_BAD_SHAPE,
                 (const char *const[]){"needs seq_kv in", NULL});
    expect_error("cp", mqa_workload.make(&cp, 0, &data), CDNAGEN_BAD_SHAPE, (const char *const[]){"window=cp", NULL});
}

static void empty_problems_pass(void **state) {
    (void)state;
    static const char *const rows[] = {"seq=0 seq_kv=70 heads=32 dim=64", "seq=7 seq_kv=0 heads=32 dim=64",
                                       "seq=0 seq_kv=0 heads=32 dim=64"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const plan p = plan_of(TAG, rows[i]);
        problem data;
        grade g;
        make(&p, 0, &data);
        void *back[MQA_LOGITS + 1] = {[MQA_LOGITS] = data.buffers[MQA_LOGITS].data};
        assert_int_equal(mqa_workload.grade_outputs(&p, &data, back, &g), CDNAGEN_OK);
        assert_true(g.pass);
        problem_release(&data);
    }
}

/* The public arguments of the problem's buffers are in order, and leave both guards outside. */
static void arguments_bind(void **state) {
    (void)state;
    const plan p = plan_of(TAG, "seq=7 seq_kv=300 heads=32 dim=64");
    problem data;
    make(&p, 0, &data);
    void *device[MQA_LOGITS + 1];
    for (size_t i = 0; i < COUNT(device); i++) device[i] = (void *)(uintptr_t)(0x100000 * (i + 1));
    cdnagen_mqa_logits_args a;
    launch l;
    mqa_workload.arguments(&p, &data, device, &a);
    assert_int_equal(mqa_logits_family.bind(&p, NULL, &a, &l), CDNAGEN_OK);
    assert_int_equal((uintptr_t)a.logits.ptr, 0x100000 * 7 + 4 * GUARD_FLOATS);
    assert_int_equal(a.logits.bytes, 7 * 512 * 4);
    assert_int_equal(data.buffers[MQA_LOGITS].bytes, 7 * 512 * 4 + 2 * 4 * GUARD_FLOATS);
    problem_release(&data);
}

/* ---- grading ---- */

/* answered: a problem of 6 rows and 70 columns (128 apart) with a right answer in `logits`, guards included. */
enum { SEQ = 6, SEQ_KV = 70, STRIDE = 256 };
typedef struct answered {
    plan p;
    problem data;
    float *all, *logits; /* the buffer, and row 0 in it */
    const float *reference;
} answered;

static answered answer(const char *words) {
    answered a = {.p = plan_of(TAG, words)};
    make(&a.p, 5, &a.data);
    a.all = a.data.buffers[MQA_LOGITS].data;
    a.logits = a.all + GUARD_FLOATS;
    a.reference = a.data.reference;
    mqa_shape s;
    memcpy(&s, a.data.shape, sizeof s);
    for (int64_t m = 0; m < SEQ; m++)
        for (int64_t n = 0; n < SEQ_KV; n++)
            if (s.clean || a.reference[m * SEQ_KV + n] != -INFINITY)
                a.logits[m * STRIDE + n] = a.reference[m * SEQ_KV + n];
    return a;
}

static grade graded(const answered *a) {
    grade g;
    void *back[MQA_LOGITS + 1] = {[MQA_LOGITS] = a->all};
    assert_int_equal(mqa_workload.grade_outputs(&a->p, &a->data, back, &g), CDNAGEN_OK);
    return g;
}

static const char clean_words[] = "seq=6 seq_kv=70 heads=32 dim=64 window=misaligned clean=1",
                  kept_words[] = "seq=6 seq_kv=70 heads=32 dim=64 window=misaligned clean=0";

/* Row 0's window is [30, 53). */
enum { INSIDE = 31, OUTSIDE = 5 };

static void a_right_answer_passes(void **state) {
    (void)state;
    const char *const rows[] = {clean_words, kept_words};
    for (int i = 0; i < 2; i++) {
        answered a = answer(rows[i]);
        const grade g = graded(&a);
        assert_true(g.pass && g.mask_equal && g.guards_intact && grade_figure(&g, "calc_diff") == 0 &&
                    grade_figure(&g, "max_rel") == 0);
        assert_string_equal(g.first, "");
        problem_release(&a.data);
    }
}

static void an_unwritten_output_fails(void **state) {
    (void)state;
    const plan p = plan_of(TAG, clean_words);
    problem data;
    make(&p, 5, &data);
    void *back[MQA_LOGITS + 1] = {[MQA_LOGITS] = data.buffers[MQA_LOGITS].data};
    grade g;
    assert_int_equal(mqa_workload.grade_outputs(&p, &data, back, &g), CDNAGEN_OK);
    assert_false(g.pass || g.mask_equal);
    problem_release(&data);
}

static float largest(const answered *a) {
    float most = 0;
    for (int i = 0; i < SEQ * SEQ_KV; i++)
        if (a->reference[i] != -INFINITY) most = fmaxf(most, fabsf(a->reference[i]));
    return most;
}

static void each_rule_fails_when_it_should(void **state) {
    (void)state;
    enum { MASK = 1, GUARDS = 2, FIGURES = 4 };
    const struct {
        const char *what, *words;
        int place; /* of the logits, floats from row 0 */
        float value;
        int fails;
        const char *first;
    } rows[] = {
        {"-inf inside the window", clean_words, INSIDE, -INFINITY, MASK, "[0, 31] -inf mask"},
        {"a number outside the window", clean_words, OUTSIDE, 0, MASK, "[0, 5] -inf mask"},
        {"NaN outside the window", clean_words, OUTSIDE, NAN, MASK, "[0, 5]"},
        {"+inf outside the window", clean_words, OUTSIDE, INFINITY, MASK, "[0, 5]"},
        {"one NaN", clean_words, INSIDE, NAN, FIGURES, "[0, 31] logit"},
        {"+inf inside the window", clean_words, INSIDE, INFINITY, FIGURES, "[0, 31] logit"},
        {"the byte before", clean_words, -1, 0, GUARDS, "before"},
        {"the first guard byte", clean_words, -GUARD_FLOATS, 0, GUARDS, "before"},
        {"row padding", clean_words, SEQ_KV, 0, GUARDS, "[0, 70] row padding"},
        {"the last row's padding", clean_words, SEQ * STRIDE - 1, -INFINITY, GUARDS, "[5, 255] row padding"},
        {"the byte behind", clean_words, SEQ * STRIDE, 0, GUARDS, "behind"},
        {"the last guard byte", clean_words, SEQ * STRIDE + GUARD_FLOATS - 1, 0, GUARDS, "behind"},
        {"kept place overwritten by -inf", kept_words, OUTSIDE, -INFINITY, GUARDS, "[0, 5] outside the window"},
        {"kept place overwritten by another NaN", kept_words, OUTSIDE, NAN, GUARDS, "[0, 5] outside the window"},
        {"kept: one NaN inside", kept_words, INSIDE, NAN, FIGURES, "[0, 31] logit"},
        {"kept: -inf inside", kept_words, INSIDE, -INFINITY, MASK, "[0, 31] -inf mask"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        answered a = answer(rows[i].words);
        a.logits[rows[i].place] = rows[i].value;
        const grade g = graded(&a);
        const int fails = !g.mask_equal * MASK | !g.guards_intact * GUARDS |
                          !(grade_figure(&g, "max_rel") < 1e-3 && grade_figure(&g, "calc_diff") < 1e-3) * FIGURES;
        if (g.pass || fails != rows[i].fails || !strstr(g.first, rows[i].first))
            fail_msg("%s: pass %d, rules failed %d, expected %d; '%s'", rows[i].what, g.pass, fails, rows[i].fails,
                     g.first);
        if (isnan(rows[i].value) && rows[i].fails == FIGURES)
            assert_true(isnan(grade_figure(&g, "max_rel")) && isnan(grade_figure(&g, "calc_diff")));
        problem_release(&a.data);
    }
}

static void max_rel_is_a_bound(void **state) {
    (void)state;
    const struct {
        float part;
        int pass;
    } rows[] = {{0.00098f, 1}, {0.00102f, 0}, {-0.00098f, 1}, {-0.00102f, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        answered a = answer(clean_words);
        a.logits[INSIDE] += rows[i].part * largest(&a);
        const grade g = graded(&a);
        assert_int_equal(g.pass, rows[i].pass);
        assert_true(fabs(grade_figure(&g, "max_rel") - fabs((double)rows[i].part)) < 2e-5);
        assert_true(grade_figure(&g, "calc_diff") < 1e-3);
        if (!g.pass) assert_non_null(strstr(g.first, "[0, 31] logit: expected"));
        problem_release(&a.data);
    }
}

/* 1 - 2 sum(xy) / sum(x^2 + y^2) by hand: references 1 and 1000 keep max_rel small while small values are all wrong. */
static void calc_diff_by_hand(void **state) {
    (void)state;
    const mqa_shape s = {.seq = 1, .seq_kv = 4, .clean = 1};
    const float reference[4] = {3, 4, -INFINITY, 0}, out[4] = {4, 3, -INFINITY, 0};
    grade g;
    mqa_grade_logits(&s, reference, out, 4, 0, &g);
    assert_true(fabs(grade_figure(&g, "calc_diff") - (1 - 48.0 / 50)) < 1e-12);
    assert_true(fabs(grade_figure(&g, "max_rel") - 0.25) < 1e-12);
    assert_false(g.pass);
}

/* Many places off by 0.0009 of the largest: max_rel holds, calc_diff does not. */
static void calc_diff_is_a_bound_of_its_own(void **state) {
    (void)state;
    enum { COLUMNS = 20000 };
    const mqa_shape s = {.seq = 1, .seq_kv = COLUMNS, .clean = 1};
    float *const reference = calloc(COLUMNS, sizeof *reference), *const out = calloc(COLUMNS, sizeof *out);
    assert_true(reference && out);
    reference[0] = out[0] = 1;
    for (int i = 1; i < COLUMNS; i++) out[i] = 0.0009f;
    grade g;
    mqa_grade_logits(&s, reference, out, COLUMNS, 0, &g);
    assert_true(grade_figure(&g, "max_rel") < 1e-3 && grade_figure(&g, "calc_diff") > 1e-3);
    assert_false(g.pass);
    free(reference);
    free(out);
}

static void a_single_finite_place_has_no_calc_diff(void **state) {
    (void)state;
    const mqa_shape s = {.seq = 1, .seq_kv = 2, .clean = 1};
    const float reference[2] = {1, -INFINITY}, close_by[2] = {1.0005f, -INFINITY}, far[2] = {1.1f, -INFINITY},
                wrong_sign[2] = {-1, -INFINITY};
    grade g;
    mqa_grade_logits(&s, reference, close_by, 2, 0, &g);
    assert_true(g.pass && grade_figure(&g, "calc_diff") == 0);
    mqa_grade_logits(&s, reference, far, 2, 0, &g);
    assert_false(g.pass);
    mqa_grade_logits(&s, reference, wrong_sign, 2, 0, &g);
    assert_false(g.pass);
}

static void the_bound_itself_fails(void **state) {
    (void)state;
    const mqa_shape s = {.seq = 1, .seq_kv = 1, .clean = 1};
    const float reference = 1000, out = 999;
    grade g;
    mqa_grade_logits(&s, &reference, &out, 1, 0, &g);
    assert_true(!g.pass && grade_figure(&g, "max_rel") == 1e-3);
}

static void nothing_finite_or_all_zero(void **state) {
    (void)state;
    const mqa_shape s = {.seq = 1, .seq_kv = 2, .clean = 1};
    const float none[2] = {-INFINITY, -INFINITY}, zeros[2] = {0, 0}, small[2] = {0, 1e-30f};
    grade g;
    mqa_grade_logits(&s, none, none, 2, 0, &g);
    assert_true(g.pass && grade_figure(&g, "calc_diff") == 0 && grade_figure(&g, "max_rel") == 0);
    mqa_grade_logits(&s, zeros, zeros, 2, 0, &g);
    assert_true(g.pass);
    mqa_grade_logits(&s, zeros, small, 2, 0, &g);
    assert_false(g.pass);
}

/* ---- memory ---- */

static void a_failed_allocation_leaks_nothing(void **state) {
    (void)state;
    const plan p = plan_of(TAG, kept_words);
    const long before = mem_live();
    int failures = 0;
    for (long k = 1;; k++) {
        problem data = {.buffer_count = 0};
        mem_fail_at(k);
        cdnagen_status status = mqa_workload.make(&p, 0, &data);
        if (!status) status = mqa_workload.reference(&p, &data);
        mem_fail_at(0);
        problem_release(&data);
        assert_int_equal(mem_live(), before);
        if (!status) break;
        assert_int_equal(status, CDNAGEN_NO_MEMORY);
        failures++;
    }
    assert_true(failures >= 11); /* seven buffers, a row, the reference, its keys and queries */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_agrees_with_the_definition),
        cmocka_unit_test(reference_of_one_place_by_hand),
        cmocka_unit_test(data_depends_on_the_seed_alone),
        cmocka_unit_test(data_is_what_it_was),
        cmocka_unit_test(every_row_of_keys_uses_the_whole_range_and_not_its_neighbours_scale),
        cmocka_unit_test(weights_have_both_signs_and_windows_are_the_shapes),
        cmocka_unit_test(a_run_needs_its_lengths),
        cmocka_unit_test(empty_problems_pass),
        cmocka_unit_test(arguments_bind),
        cmocka_unit_test(a_right_answer_passes),
        cmocka_unit_test(an_unwritten_output_fails),
        cmocka_unit_test(each_rule_fails_when_it_should),
        cmocka_unit_test(max_rel_is_a_bound),
        cmocka_unit_test(calc_diff_by_hand),
        cmocka_unit_test(calc_diff_is_a_bound_of_its_own),
        cmocka_unit_test(a_single_finite_place_has_no_calc_diff),
        cmocka_unit_test(the_bound_itself_fails),
        cmocka_unit_test(nothing_finite_or_all_zero),
        cmocka_unit_test(a_failed_allocation_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
