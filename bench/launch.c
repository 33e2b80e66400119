/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Our side of a launch: checks, argument packing and the call into a libamdhip64 that does nothing.
 * usage: CDNAGEN_HIP_LIBRARY=<the tests' fake libamdhip64.so> bench_launch */
#include <stdio.h>
#include <stdlib.h>

#include "cdnagen.h"
#include "core/clock.h"

static void must(cdnagen_status status) {
    if (status == CDNAGEN_OK) return;
    fprintf(stderr, "%s: %s\n", cdnagen_status_name(status), cdnagen_error());
    exit(1);
}

static cdnagen_buffer device_buffer(cdnagen *ctx, size_t size) {
    cdnagen_buffer b = {NULL, size};
    must(cdnagen_alloc(ctx, size, &b.ptr));
    return b;
}

int main(void) {
    enum { SEQ = 128, SEQ_KV = 1024, HEADS = 64, DIM = 128, BATCHES = 20, LAUNCHES = 20000 };
    const cdnagen_options options = {.size = sizeof options, .device = "gpu", .no_cache = 1};
    cdnagen *ctx;
    cdnagen_kernel *kernel;
    must(cdnagen_create_context(&options, &ctx));
    must(gen_kernel(ctx, "mqa_logits:mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", "heads=64 dim=128", &kernel));
    const cdnagen_mqa_logits_args args = {.size = sizeof args,
                                          .q = device_buffer(ctx, SEQ * HEADS * DIM),
                                          .kv = device_buffer(ctx, SEQ_KV * DIM),
                                          .kv_scales = device_buffer(ctx, SEQ_KV * sizeof(float)),
                                          .weights = device_buffer(ctx, SEQ * HEADS * sizeof(float)),
                                          .cu_starts = device_buffer(ctx, SEQ * sizeof(int)),
                                          .cu_ends = device_buffer(ctx, SEQ * sizeof(int)),
                                          .logits = device_buffer(ctx, SEQ * SEQ_KV * sizeof(float)),
                                          .seq = SEQ,
                                          .seq_kv = SEQ_KV};
    double best = 1e30;
    for (int batch = 0; batch < BATCHES; batch++) {
        const double started = clock_ms() * 1e3;
        for (int i = 0; i < LAUNCHES; i++) must(cdnagen_launch_mqa_logits(kernel, &args, NULL));
        const double took = (clock_ms() * 1e3 - started) / (double)LAUNCHES;
        if (took < best) best = took;
    }
    printf("%-58s %10.3f us\n", "launch, our side", best);
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
    return 0;
}
