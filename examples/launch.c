/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Generate an MQA logits kernel and launch it: on a GPU if there is one, else on the simulator.
 * Every number is 1, so that each logit inside the causal window is heads * dim and each one outside is -inf. */
#include <cdnagen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEQ = 16, SEQ_KV = 100, HEADS = 32, DIM = 64, STRIDE = 256 };

static void must(cdnagen_status status) {
    if (status == CDNAGEN_OK) return;
    fprintf(stderr, "%s: %s\n", cdnagen_status_name(status), cdnagen_error());
    exit(1);
}

/* on_device: a copy of host data in device memory. */
static cdnagen_buffer on_device(cdnagen *ctx, const void *host, size_t bytes) {
    cdnagen_buffer b = {NULL, bytes};
    must(cdnagen_alloc(ctx, bytes, &b.ptr));
    must(cdnagen_copy_to_device(ctx, b.ptr, host, bytes));
    return b;
}

static unsigned char q[SEQ * HEADS * DIM], kv[SEQ_KV * DIM];
static float scales[SEQ_KV], weights[SEQ * HEADS], logits[SEQ * STRIDE];
static int starts[SEQ], ends[SEQ];

int main(void) {
    memset(q, 0x38, sizeof q); /* 1.0 in e4m3fn */
    memset(kv, 0x38, sizeof kv);
    for (int i = 0; i < SEQ_KV; i++) scales[i] = 1;
    for (int i = 0; i < SEQ * HEADS; i++) weights[i] = 1;
    for (int i = 0; i < SEQ; i++) ends[i] = SEQ_KV - SEQ + i + 1;

    cdnagen *ctx;
    const char *device;
    cdnagen_kernel *kernel;
    must(cdnagen_create_context(&(cdnagen_options){.size = sizeof(cdnagen_options), .device = "auto"}, &ctx));
    must(cdnagen_device_name(ctx, &device));
    must(gen_kernel(ctx, "mqa_logits:auto", "seq=16 seq_kv=100 heads=32 dim=64 clean=1", &kernel));

    cdnagen_mqa_logits_args args = {.size = sizeof args, .seq = SEQ, .seq_kv = SEQ_KV, .logits_stride = STRIDE};
    args.q = on_device(ctx, q, sizeof q);
    args.kv = on_device(ctx, kv, sizeof kv);
    args.kv_scales = on_device(ctx, scales, sizeof scales);
    args.weights = on_device(ctx, weights, sizeof weights);
    args.cu_starts = on_device(ctx, starts, sizeof starts);
    args.cu_ends = on_device(ctx, ends, sizeof ends);
    args.logits = on_device(ctx, logits, sizeof logits);
    must(cdnagen_launch_mqa_logits(kernel, &args, NULL));
    must(cdnagen_synchronize(ctx, NULL));
    must(cdnagen_copy_to_host(ctx, logits, args.logits.ptr, sizeof logits));

    int wrong = 0;
    for (int m = 0; m < SEQ; m++)
        for (int n = 0; n < SEQ_KV; n++)
            wrong += logits[m * STRIDE + n] != (n < ends[m] ? (float)(HEADS * DIM) : -INFINITY);
    printf("%s: %d of %d logits are wrong\n", device, wrong, SEQ * SEQ_KV);

    const cdnagen_buffer *all[] = {&args.q,         &args.kv,      &args.kv_scales, &args.weights,
                                   &args.cu_starts, &args.cu_ends, &args.logits};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) must(cdnagen_free_memory(ctx, all[i]->ptr));
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
    return wrong != 0;
}
