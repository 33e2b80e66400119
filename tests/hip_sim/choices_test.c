/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CDNAGEN_TUNE=1 with the simulator as the GPU: every candidate runs, and the call's result is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdnagen.h"

#include <cmocka.h>

enum { GROUPS = 2, M = 24, N = 192, K = 256, OWNED = 5 + 17, POISON = 0x7fc5 };
static int tuned; /* lines of the log that say so */

static void count_tuned(void *user, cdnagen_log_level level, const char *line) {
    (void)user;
    (void)level;
    tuned += !strncmp(line, "tuned gemm_grouped layout=sizes groups=2 m=32 n=192 k=256 scale=row:", 67);
}

static void good(cdnagen_status s) {
    if (s) fail_msg("%s", cdnagen_error());
}

static cdnagen_tensor upload(cdnagen *ctx, const void *data, size_t size, cdnagen_tensor t) {
    good(cdnagen_alloc(ctx, size, &t.ptr));
    good(cdnagen_copy_to_device(ctx, t.ptr, data, size));
    return t;
}

/* Everything is 1: each place that a group has is K. */
static void a_tuned_call_is_right(void **state) {
    (void)state;
    static uint8_t ones[GROUPS * N * K];
    static float scales[GROUPS * N];
    static uint16_t c[M * N];
    const int64_t sizes[GROUPS] = {5, 17};
    memset(ones, 0x38, sizeof ones); /* 1 as e4m3fn */
    for (size_t i = 0; i < GROUPS * N; i++) scales[i] = 1;
    for (size_t i = 0; i < M * N; i++) c[i] = POISON;
    const cdnagen_options options = {.size = sizeof options, .device = "gpu", .cache_dir = "", .log = count_tuned};
    cdnagen *ctx = NULL;
    good(cdnagen_create_context(&options, &ctx));
    const cdnagen_tensor xq = upload(ctx, ones, M * K, (cdnagen_tensor){NULL, CDNAGEN_TYPE_E4M3FN, 2, {M, K}, {0}}),
                         wq = upload(ctx, ones, sizeof ones,
                                     (cdnagen_tensor){NULL, CDNAGEN_TYPE_E4M3FN, 3, {GROUPS, N, K}, {0}}),
                         x_scale = upload(ctx, scales, M * sizeof *scales,
                                          (cdnagen_tensor){NULL, CDNAGEN_TYPE_F32, 1, {M}, {0}}),
                         w_scale = upload(ctx, scales, sizeof scales,
                                          (cdnagen_tensor){NULL, CDNAGEN_TYPE_F32, 2, {GROUPS, N}, {0}}),
                         extents = upload(ctx, sizes, sizeof sizes,
                                          (cdnagen_tensor){NULL, CDNAGEN_TYPE_I64, 1, {GROUPS}, {0}}),
                         out = upload(ctx, c, sizeof c, (cdnagen_tensor){NULL, CDNAGEN_TYPE_BF16, 2, {M, N}, {0}});
    for (int again = 0; again < 2; again++)
        good(cdnagen_rowwise_grouped_stacked(ctx, &xq, &wq, &x_scale, &w_scale, &extents, &out, NULL));
    good(cdnagen_synchronize(ctx, NULL));
    assert_int_equal(tuned, 1);
    good(cdnagen_copy_to_host(ctx, c, out.ptr, sizeof c));
    for (int i = 0; i < M * N; i++) {
        const int right = i < OWNED * N ? 0x4380 /* 256 as bf16 */ : POISON;
        if (c[i] != right) fail_msg("row %d, column %d: 0x%x, 0x%x wanted", i / N, i % N, c[i], right);
    }
    const cdnagen_tensor *const all[] = {&xq, &wq, &x_scale, &w_scale, &extents, &out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) good(cdnagen_free_memory(ctx, all[i]->ptr));
    cdnagen_free_context(ctx);
}

int main(void) {
    setenv("CDNAGEN_HIP_LIBRARY", HIP_LIBRARY, 1);
    setenv("CDNAGEN_SIM_DEVICES", "gfx950", 1);
    setenv("CDNAGEN_TUNE", "1", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_tuned_call_is_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
