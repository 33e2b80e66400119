/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From a plan back to its kernel, and two kernels on a device. */
#include "study/made.h"

#include <stdio.h>

#include "runtime/context.h"
#include "study/operands.h"

cdnagen_status made_from(cdnagen *ctx, const plan *p, made *out) {
    char tag[SYMBOL_MAX + 64];
    *out = (made){.info.size = sizeof out->info};
    snprintf(tag, sizeof tag, "%s:%s", p->family->name, p->tag);
    TRY(gen_kernel(ctx, tag, p->shape_text, &out->kernel));
    return cdnagen_get_kernel_info(out->kernel, &out->info);
}

cdnagen_status made_measure(cdnagen *ctx, const measure_counts *n, const plan *const plans[2],
                            cdnagen_kernel *const kernels[2], measure_side sides[2]) {
    operands of[2];
    cdnagen_status status = CDNAGEN_OK;
    for (int i = 0; i < 2; i++) {
        of[i] = (operands){.ctx = ctx, .plan = plans[i], .kernel = kernels[i]};
        sides[i] = (measure_side){.launch = operands_launch, .user = &of[i]};
        if (!status) status = operands_open(&of[i]);
    }
    if (!status) status = measure_pair(ctx->device.hip, n, sides);
    for (int i = 0; i < 2; i++) operands_close(&of[i]);
    return status;
}
