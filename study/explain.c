/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A launch of the operator's own workload under the timing model. */
#include "study/explain.h"

#include <stdio.h>
#include <string.h>

#include "runtime/context.h"
#include "study/check.h"
#include "study/made.h"

/* Data that are made are held once by the host and once by the device; without, only the pages that the workgroups
 * looked at write are. */
#define DATA_BYTES_MAX (512ll << 20)
#define ADDRESSES_MAX (4ll << 30)

static cdnagen_status look(cdnagen *ctx, cdnagen_kernel *kernel, const plan *p, const sim_timing_options *asked,
                           uint64_t stands_for, sim_timing *out) {
    const check_options how = {.run_only = 1, .modelled = 1};
    sim_timing_options timing = *asked;
    timing.only = 1;
    timing.stands_for = stands_for;
    check_report ignored;
    TRY(sim_timing_next(p->target.chip, &timing, out));
    const int before = ctx->diagnosis;
    ctx->diagnosis = 1; /* nothing of the launch is left but its time */
    const cdnagen_status status = check_run(ctx, kernel, p, &how, &ignored);
    ctx->diagnosis = before;
    return status;
}

static cdnagen_status look_reduced(cdnagen *ctx, const plan *p, const sim_timing_options *asked, explanation *out) {
    made m;
    cdnagen_status status = made_from(ctx, p, &m);
    if (!status) status = look(ctx, m.kernel, p, asked, out->groups, &out->timing);
    cdnagen_free_kernel(m.kernel);
    return status;
}

cdnagen_status explain_run(cdnagen *ctx, cdnagen_kernel *kernel, const cdnagen_kernel_info *info, const plan *p,
                           const sim_timing_options *asked, explanation *out) {
    plan launched;
    *out = (explanation){0};
    launched = *p;
    const workload *const w = p->family->workload;
    if (w->reduce)
        TRY(w->reduce(p, info->grid, w->make_modelled ? ADDRESSES_MAX : DATA_BYTES_MAX, &launched, &out->reduced));
    snprintf(out->shape, sizeof out->shape, "%s", launched.shape_text);
    out->groups = (uint64_t)info->grid[0] * info->grid[1] * info->grid[2];
    cdnagen_status status =
        out->reduced ? look_reduced(ctx, &launched, asked, out) : look(ctx, kernel, &launched, asked, 0, &out->timing);
    if (!status && !out->timing.groups)
        status = fail(CDNAGEN_BAD_SHAPE, "%s: this shape launches nothing that could be explained", p->family->name);
    if (status) explain_free(out);
    return status;
}

void explain_free(explanation *e) { sim_timing_free(&e->timing); }
