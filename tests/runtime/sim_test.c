/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The public API from tag to numbers on the simulator: compiler, loader, launch and copies are the real ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdnagen.h"

#include <cmocka.h>

enum { SEQ = 5, SEQ_KV = 200, HEADS = 64, DIM = 128, STRIDE = 256, BUFFERS = 7 };

static cdnagen *context(const char *mode) {
    const cdnagen_options options = {
        .size = sizeof options, .device = "sim", .target = "gfx950", .sim_mode = mode, .cache_dir = ""};
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    return ctx;
}

static cdnagen_kernel *gen(cdnagen *ctx, const char *tag) {
    cdnagen_kernel *kernel = NULL;
    if (gen_kernel(ctx, tag, "heads=64 dim=128 clean=1", &kernel)) fail_msg("%s: %s", tag, cdnagen_error());
    return kernel;
}

static cdnagen_buffer upload(cdnagen *ctx, const void *data, size_t size) {
    cdnagen_buffer b = {NULL, size};
    assert_int_equal(cdnagen_alloc(ctx, size, &b.ptr), CDNAGEN_OK);
    assert_int_equal(cdnagen_copy_to_device(ctx, b.ptr, data, size), CDNAGEN_OK);
    return b;
}

/* Q and KV are all 1, weights 1, scales 1/2: inside its window [m, SEQ_KV - m) every logit of row m is HEADS*DIM/2. */
static cdnagen_mqa_logits_args arguments(cdnagen *ctx) {
    static unsigned char ones[SEQ_KV * HEADS * DIM];
    static float weights[SEQ * HEADS], scales[SEQ_KV], logits[SEQ * STRIDE];
    int32_t starts[SEQ], ends[SEQ];
    memset(ones, 0x38, sizeof ones); /* 1.0 in e4m3fn */
    for (int i = 0; i < SEQ * HEADS; i++) weights[i] = 1;
    for (int i = 0; i < SEQ_KV; i++) scales[i] = 0.5f;
    for (int i = 0; i < SEQ * STRIDE; i++) logits[i] = 77;
    for (int i = 0; i < SEQ; i++) starts[i] = i, ends[i] = SEQ_KV - i;
    return (cdnagen_mqa_logits_args){.size = sizeof(cdnagen_mqa_logits_args),
                                     .q = upload(ctx, ones, SEQ * HEADS * DIM),
                                     .kv = upload(ctx, ones, SEQ_KV * DIM),
                                     .kv_scales = upload(ctx, scales, sizeof scales),
                                     .weights = upload(ctx, weights, sizeof weights),
                                     .cu_starts = upload(ctx, starts, sizeof starts),
                                     .cu_ends = upload(ctx, ends, sizeof ends),
                                     .logits = upload(ctx, logits, sizeof logits),
                                     .seq = SEQ,
                                     .seq_kv = SEQ_KV};
}

static void release(cdnagen *ctx, const cdnagen_mqa_logits_args *a) {
    void *const all[BUFFERS] = {a->q.ptr,         a->kv.ptr,      a->kv_scales.ptr, a->weights.ptr,
                                a->cu_starts.ptr, a->cu_ends.ptr, a->logits.ptr};
    for (int i = 0; i < BUFFERS; i++) assert_int_equal(cdnagen_free_memory(ctx, all[i]), CDNAGEN_OK);
}

static void a_kernel_runs_and_its_numbers_are_right(void **state) {
    (void)state;
    static const char *const tags[] = {"mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma", "mqa_logits:auto",
                                       "mqa_logits:mfma16x16x128_bkv16_hfma"};
    static const char *const modes[] = {"", "late", "late poison threads=1"};
    for (size_t i = 0; i < sizeof tags / sizeof *tags * 3; i++) {
        cdnagen *ctx = context(modes[i % 3]);
        cdnagen_kernel *kernel = gen(ctx, tags[i / 3]);
        const cdnagen_mqa_logits_args args = arguments(ctx);
        if (cdnagen_launch_mqa_logits(kernel, &args, NULL)) fail_msg("%s", cdnagen_error());
        assert_int_equal(cdnagen_synchronize(ctx, NULL), CDNAGEN_OK);
        static float logits[SEQ * STRIDE];
        assert_int_equal(cdnagen_copy_to_host(ctx, logits, args.logits.ptr, sizeof logits), CDNAGEN_OK);
        for (int row = 0; row < SEQ; row++)
            for (int column = 0; column < STRIDE; column++) {
                const int inside = column >= row && column < SEQ_KV - row;
                const float expected = inside ? HEADS * DIM * 0.5f : column < SEQ_KV ? -__builtin_inff() : 77;
                if (logits[row * STRIDE + column] != expected)
                    fail_msg("%s: [%d, %d] is %g, not %g", tags[i / 3], row, column,
                             (double)logits[row * STRIDE + column], (double)expected);
            }
        release(ctx, &args);
        cdnagen_free_kernel(kernel);
        cdnagen_free_context(ctx);
    }
}

static void a_buffer_shorter_than_it_claims_is_a_fault_with_its_place(void **state) {
    (void)state;
    cdnagen *ctx = context("");
    cdnagen_kernel *kernel = gen(ctx, "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma");
    cdnagen_mqa_logits_args args = arguments(ctx);
    const cdnagen_buffer whole = args.kv;
    assert_int_equal(cdnagen_alloc(ctx, 4096, &args.kv.ptr), CDNAGEN_OK);
    cdnagen_status s = cdnagen_launch_mqa_logits(kernel, &args, NULL);
    if (!s) s = cdnagen_synchronize(ctx, NULL);
    assert_int_equal(s, CDNAGEN_FAULT);
    if (!strstr(cdnagen_error(), "4096-byte allocation")) fail_msg("%s", cdnagen_error());

    /* The fault is the kernel's, not the context's. */
    assert_int_equal(cdnagen_free_memory(ctx, args.kv.ptr), CDNAGEN_OK);
    args.kv = whole;
    assert_int_equal(cdnagen_launch_mqa_logits(kernel, &args, NULL), CDNAGEN_OK);
    assert_int_equal(cdnagen_synchronize(ctx, NULL), CDNAGEN_OK);
    release(ctx, &args);
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
}

static void bad_simulator_words_list_the_known_ones(void **state) {
    (void)state;
    cdnagen *ctx = context("sideways");
    const char *name;
    assert_int_equal(cdnagen_device_name(ctx, &name), CDNAGEN_BAD_ARGUMENT);
    if (!strstr(cdnagen_error(), "late")) fail_msg("%s", cdnagen_error());
    cdnagen_free_context(ctx);
    ctx = context("");
    assert_int_equal(cdnagen_device_name(ctx, &name), CDNAGEN_OK);
    assert_string_equal(name, "simulator (gfx950)");
    cdnagen_free_context(ctx);
}

int main(void) {
    static const char *const variables[] = {"CDNAGEN_TARGET", "CDNAGEN_DEVICE",     "CDNAGEN_SIM",
                                            "CDNAGEN_CACHE",  "CDNAGEN_CACHE_ONLY", "CDNAGEN_CACHE_DIR"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_runs_and_its_numbers_are_right),
        cmocka_unit_test(a_buffer_shorter_than_it_claims_is_a_fault_with_its_place),
        cmocka_unit_test(bad_simulator_words_list_the_known_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
