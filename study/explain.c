/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A launch of the operator's own workload under the timing model. */
#include "study/explain.h"

#include <stdio.h>
#include <string.h>

#include "gen/mqa_logits/mqa_logits.h"
#include "study/check.h"

/* Host and device each hold the data once. */
#define DATA_BYTES_MAX (512ll << 20)

/* ---- launches whose data would be too large: the same kernel and windows, fewer rows ---- */

static int64_t mqa_logits_row_bytes(const mqa_shape *s) {
    return s->heads * s->dim + s->heads * (int64_t)sizeof(float) +
           mqa_logits_stride(s->seq_kv) * (int64_t)sizeof(float);
}

/* reduce_mqa_logits: rows that fit, in windows cut as the whole launch cuts them. */
static cdnagen_status reduce_mqa_logits(const plan *p, uint32_t splits, plan *out, int *reduced) {
    mqa_shape s;
    mqa_variant v;
    memcpy(&s, p->shape, sizeof s);
    memcpy(&v, p->variant, sizeof v);
    const int64_t rows = DATA_BYTES_MAX / mqa_logits_row_bytes(&s);
    if (s.seq <= rows) return CDNAGEN_OK;
    s.seq = rows > MQA_ROWS_MAX ? rows / MQA_ROWS_MAX * MQA_ROWS_MAX : MQA_ROWS_MAX;
    v.splits = splits;
    *reduced = 1;
    return plan_from_structs(p->family, &v, &s, &p->target, out);
}

static const struct {
    const char *op;
    cdnagen_status (*reduce)(const plan *p, uint32_t splits, plan *out, int *reduced);
} reducers[] = {{"mqa_logits", reduce_mqa_logits}};

static cdnagen_status reduce(const plan *p, const cdnagen_kernel_info *info, plan *out, int *reduced) {
    *out = *p;
    *reduced = 0;
    for (size_t i = 0; i < sizeof reducers / sizeof *reducers; i++)
        if (!strcmp(reducers[i].op, p->family->name)) return reducers[i].reduce(p, info->grid[1], out, reduced);
    return CDNAGEN_OK;
}

/* ---- the look ---- */

static cdnagen_status look(cdnagen *ctx, cdnagen_kernel *kernel, const plan *p, const sim_timing_options *asked,
                           uint64_t stands_for, sim_timing *out) {
    const check_options how = {.run_only = 1};
    sim_timing_options timing = *asked;
    timing.only = 1;
    timing.stands_for = stands_for;
    check_report ignored;
    TRY(sim_timing_next(p->target.chip, &timing, out));
    return check_run(ctx, kernel, p, &how, &ignored);
}

static cdnagen_status look_reduced(cdnagen *ctx, const plan *p, const sim_timing_options *asked, explanation *out) {
    cdnagen_kernel *kernel = NULL;
    text tag = {0};
    text_add(&tag, "%s:%s", p->family->name, p->tag);
    cdnagen_status status = tag.failed ? fail_no_memory() : gen_kernel(ctx, tag.data, p->shape_text, &kernel);
    text_free(&tag);
    if (!status) status = look(ctx, kernel, p, asked, out->groups, &out->timing);
    cdnagen_free_kernel(kernel);
    return status;
}

cdnagen_status explain_run(cdnagen *ctx, cdnagen_kernel *kernel, const cdnagen_kernel_info *info, const plan *p,
                           const sim_timing_options *asked, explanation *out) {
    plan launched;
    *out = (explanation){0};
    TRY(reduce(p, info, &launched, &out->reduced));
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
