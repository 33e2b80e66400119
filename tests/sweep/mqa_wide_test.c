/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Head counts and sizes that no MFMA divides, operands in wider rows between NaN, bf16 weights, and rows so far apart
 * that 32 bits do not reach them. */
#include <math.h>

#include "tests/sweep/mqa_data.h"

static cdnagen *ctx;

static const char *const gfx950_tags[] = {
    "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma",
    "mfma32x32x64_bkv128_r2_w2_lds3_ls_ts_dg",
    "mfma16x16x128_bkv64_r1_w4_lds2_rs_hfma2",
    "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_ls_ct_hfma",
    "mfma32x32x64_bkv64_r2_w2",
    "mfma16x16x128_bkv32_r1_w1_hfma",
    "mfma16x16x32_bkv128_r2_w4",
};
static const char *const gfx942_tags[] = {"mfma16x16x32_bkv128_r2_w4", "mfma16x16x32_bkv64_r1_w1_hfma2",
                                          "mfma32x32x16_bkv64_r1_w2_hfma"};
static const char *const *tags = gfx950_tags;
static size_t tag_count = COUNT(gfx950_tags);

static void any_heads_and_dim_in_wider_rows(void **state) {
    (void)state;
    static const char *const facts[] = {
        "heads=8 dim=128", "heads=12 dim=96", "heads=24 dim=32",  "heads=40 dim=192", "heads=48 dim=48",
        "heads=7 dim=80",  "heads=1 dim=112", "heads=96 dim=144", "heads=16 dim=64",
    };
    for (size_t f = 0; f < COUNT(facts); f++)
        for (int strided = 0; strided < 2; strided++) {
            char shape[160], kernel_shape[160];
            const char *const weights = (f + (size_t)strided) % 2 ? "bf16" : "f32";
            snprintf(shape, sizeof shape, "seq=5 seq_kv=201 %s weights=%s strided=%d window=%s", facts[f], weights,
                     strided, strided ? "unsorted" : "misaligned");
            mqa_data d;
            data_make(&d, ctx, shape);
            data_upload(&d);
            for (size_t t = 0; t < tag_count; t++) {
                const int clean = (int)(t + f) % 2;
                snprintf(kernel_shape, sizeof kernel_shape, "%s weights=%s clean=%d", facts[f], weights, clean);
                cdnagen_kernel *const kernel = kernel_of(ctx, tags[t], kernel_shape);
                simulate("late poison threads=1");
                const grade g = data_run(&d, kernel, tags[t], clean, 1 + (int)t % 2);
                if (!g.pass) fail_msg("%s %s: %s", tags[t], shape, g.first);
                cdnagen_free_kernel(kernel);
            }
            data_free(&d);
        }
}

/* ---- rows far apart: pages that nobody touches cost nothing ---- */

enum { SEQ = 5, SEQ_KV = 333, HEADS = 40, DIM = 128, WRAP = 128 };
#define KV_STRIDE (1LL << 25) /* 32 bits hold WRAP rows */
#define Q_STRIDE (1LL << 12)
#define Q_HEAD_STRIDE (1LL << 27)
#define WEIGHTS_STRIDE ((1LL << 29) + 1)
#define LOGITS_STRIDE ((1LL << 29) + 64)

static cdnagen_buffer sparse(int64_t size) {
    cdnagen_buffer b = {NULL, (size_t)size};
    if (cdnagen_alloc(ctx, b.bytes, &b.ptr)) fail_msg("%zu bytes: %s", b.bytes, cdnagen_error());
    return b;
}

static void copy_rows(cdnagen_buffer to, int64_t stride, const void *from, int64_t rows, int64_t row) {
    for (int64_t i = 0; i < rows; i++)
        if (cdnagen_copy_to_device(ctx, (char *)to.ptr + i * stride, (const char *)from + i * row, (size_t)row))
            fail_msg("%s", cdnagen_error());
}

static void rows_beyond_what_32_bits_reach(void **state) {
    (void)state;
    mqa_data d;
    data_make(&d, ctx, "seq=5 seq_kv=333 heads=40 dim=128 window=misaligned");
    data_upload(&d);
    cdnagen_mqa_logits_args a = data_args(&d);
    a.q_stride = Q_STRIDE, a.q_head_stride = Q_HEAD_STRIDE, a.kv_stride = KV_STRIDE;
    a.weights_stride = WEIGHTS_STRIDE, a.logits_stride = LOGITS_STRIDE;
    a.q = sparse((SEQ - 1) * Q_STRIDE + (HEADS - 1) * Q_HEAD_STRIDE + DIM);
    a.kv = sparse((SEQ_KV - 1) * KV_STRIDE + DIM);
    a.weights = sparse(((SEQ - 1) * WEIGHTS_STRIDE + HEADS) * 4);
    a.logits = sparse(((SEQ - 1) * LOGITS_STRIDE + SEQ_KV) * 4);
    copy_rows(a.kv, KV_STRIDE, d.host.buffers[MQA_KV].data, SEQ_KV, DIM);
    copy_rows(a.weights, WEIGHTS_STRIDE * 4, d.host.buffers[MQA_WEIGHTS].data, SEQ, HEADS * 4);
    for (int64_t m = 0; m < SEQ; m++) {
        const cdnagen_buffer row = {(char *)a.q.ptr + m * Q_STRIDE, 0};
        copy_rows(row, Q_HEAD_STRIDE, (const char *)d.host.buffers[MQA_Q].data + m * HEADS * DIM, HEADS, DIM);
    }
    static float out[SEQ * SEQ_KV], wrapped[SEQ * SEQ_KV];
    mqa_shape s = *data_shape(&d);
    const float *const reference = d.host.reference;
    for (size_t i = 0; i < 2 * tag_count; i++) {
        const size_t t = i / 2;
        char shape[80];
        s.clean = i % 2;
        snprintf(shape, sizeof shape, "heads=40 dim=128 clean=%d", (int)s.clean);
        cdnagen_kernel *const kernel = kernel_of(ctx, tags[t], shape);
        copy_rows(a.logits, LOGITS_STRIDE * 4, d.host.buffers[MQA_LOGITS].data, SEQ, SEQ_KV * 4); /* poison */
        simulate("late threads=1");
        a.num_splits = 1 + (int)t % 3;
        if (cdnagen_launch_mqa_logits(kernel, &a, NULL) || cdnagen_synchronize(ctx, NULL))
            fail_msg("%s: %s", tags[t], cdnagen_error());
        for (int64_t m = 0; m < SEQ; m++) {
            const char *const row = (const char *)a.logits.ptr + m * LOGITS_STRIDE * 4;
            assert_int_equal(cdnagen_copy_to_host(ctx, out + m * SEQ_KV, row, SEQ_KV * 4), CDNAGEN_OK);
        }
        grade g;
        mqa_grade_logits(&s, reference, out, SEQ_KV, data_poison(&d), &g);
        if (!g.pass) fail_msg("%s %s: %s", tags[t], shape, g.first);
        cdnagen_free_kernel(kernel);
    }
    /* What a kernel with 32-bit row offsets of KV writes does not pass. */
    s.clean = 1;
    for (int64_t i = 0; i < SEQ * SEQ_KV; i++) {
        const int64_t m = i / SEQ_KV, n = i % SEQ_KV;
        wrapped[i] = reference[i] == -INFINITY ? -INFINITY : d.whole[m * SEQ_KV + n % WRAP];
    }
    grade g;
    mqa_grade_logits(&s, reference, wrapped, SEQ_KV, data_poison(&d), &g);
    assert_false(g.pass);
    void *const all[] = {a.q.ptr, a.kv.ptr, a.weights.ptr, a.logits.ptr};
    for (size_t i = 0; i < COUNT(all); i++) cdnagen_free_memory(ctx, all[i]);
    data_free(&d);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_heads_and_dim_in_wider_rows),
        cmocka_unit_test(rows_beyond_what_32_bits_reach),
    };
    if (argc > 1) sweep_chip = argv[1];
    if (!strcmp(sweep_chip, "gfx942")) tags = gfx942_tags, tag_count = COUNT(gfx942_tags);
    ctx = sim_context();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cdnagen_free_context(ctx);
    return failed;
}
