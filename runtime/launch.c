/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Launches: typed arguments -> the family's binding -> hipModuleLaunchKernel. */
#include <stddef.h>
#include <string.h>

#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/hip.h"
#include "runtime/kernel.h"

/* A graph that takes the kernel holds its module. */
static void pin(const device *d, loaded *l, hip_stream stream) {
    if (capture_note(d->hip, stream))
        atomic_store(&l->captured, 1);
    else
        loaded_reap();
}

static cdnagen_status start(const device *d, const prepared *p, launch *l, hip_stream stream) {
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, l->kernarg, HIP_LAUNCH_PARAM_BUFFER_SIZE, &l->kernarg_bytes,
                     HIP_LAUNCH_PARAM_END};
    const uint32_t *grid = l->grid, *block = p->plan.block;
    int previous;
    TRY(device_enter(d, &previous));
    pin(d, p->loaded, stream);
    const cdnagen_status s =
        hip_check(d->hip,
                  d->hip->module_launch_kernel(p->loaded->function, grid[0], grid[1], grid[2], block[0], block[1],
                                               block[2], 0, stream, NULL, extra),
                  "hipModuleLaunchKernel");
    device_leave(d, previous);
    return s;
}

/* `args` is the operator's complete public struct. */
static cdnagen_status launch_kernel(cdnagen_kernel *kernel, const char *operator_name, const void *args, void *stream) {
    const prepared *p = kernel->prepared;
    const device *d = &kernel->ctx->device;
    if (strcmp(p->plan.family->name, operator_name) != 0)
        return fail(CDNAGEN_BAD_ARGUMENT, "the kernel is %s and cannot take the arguments of %s", p->plan.symbol,
                    operator_name);
    const device_facts facts = prepared_facts(kernel->ctx, p);
    launch l = {0};
    TRY(p->plan.family->bind(&p->plan, &facts, args, &l));
    if (l.skip && !l.zero_bytes) return CDNAGEN_OK;
    if (!d->hip)
        return fail(CDNAGEN_NO_DEVICE,
                    "the kernel's context compiles only: its device is \"none\"; use \"gpu\", \"auto\" or \"sim\"");
    if (l.note) context_log(kernel->ctx, CDNAGEN_LOG_INFO, "%s", l.note);
    return l.skip ? device_clear(d, l.zero, l.zero_bytes, stream) : start(d, p, &l, stream);
}

cdnagen_status cdnagen_launch_mqa_logits(cdnagen_kernel *kernel, const cdnagen_mqa_logits_args *args, void *stream) {
    if (!kernel || !args) return fail(CDNAGEN_BAD_ARGUMENT, "%s is NULL", kernel ? "args" : "kernel");
    cdnagen_mqa_logits_args known;
    TRY(sized_copy("cdnagen_mqa_logits_args", &known, sizeof known, offsetof(cdnagen_mqa_logits_args, q_stride), args));
    return launch_kernel(kernel, "mqa_logits", &known, stream);
}

cdnagen_status cdnagen_launch_gemm_blockscale(cdnagen_kernel *kernel, const cdnagen_gemm_blockscale_args *args,
                                              void *stream) {
    if (!kernel || !args) return fail(CDNAGEN_BAD_ARGUMENT, "%s is NULL", kernel ? "args" : "kernel");
    cdnagen_gemm_blockscale_args known;
    TRY(sized_copy("cdnagen_gemm_blockscale_args", &known, sizeof known,
                   offsetof(cdnagen_gemm_blockscale_args, a_stride), args));
    return launch_kernel(kernel, "gemm_blockscale", &known, stream);
}

cdnagen_status cdnagen_launch_gemm_grouped(cdnagen_kernel *kernel, const cdnagen_gemm_grouped_args *args,
                                           void *stream) {
    if (!kernel || !args) return fail(CDNAGEN_BAD_ARGUMENT, "%s is NULL", kernel ? "args" : "kernel");
    cdnagen_gemm_grouped_args known;
    TRY(sized_copy("cdnagen_gemm_grouped_args", &known, sizeof known, offsetof(cdnagen_gemm_grouped_args, keep_padding),
                   args));
    return launch_kernel(kernel, "gemm_grouped", &known, stream);
}
