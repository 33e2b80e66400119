/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Launches of gemm_grouped on the simulator, for its sweeps. */
#include "tests/sweep/grouped_runs.h"

#include <math.h>
#include <stdlib.h>

#include "core/fp8.h"
#include "study/check.h"

enum { NAME_BYTES = 400 };

kernel_row runs_row(int which, const char *rest) {
    const char *const first = chip_has_atom(&chips[which], atom_find(16, 16, 128)) ? "mfma16x16x128_" : "mfma16x16x32_";
    kernel_row k = {.chip = chips[which].name};
    const char *const async = gemm_has_dma(&chips[which]) ? NULL : strstr(rest, "_async");
    const int before = async ? (int)(async - rest) : (int)strlen(rest);
    snprintf(k.tag, sizeof k.tag, "%s%.*s%s", strcmp(rest, "auto") ? first : "", before, rest,
             async ? async + strlen("_async") : "");
    return k;
}

cdnagen_kernel *runs_kernel(cdnagen *ctx, const kernel_row *k, const char *shape, plan *p) {
    char tag[NAME_BYTES];
    const target t = target_of(k->chip);
    cdnagen_kernel *kernel = NULL;
    snprintf(tag, sizeof tag, "gemm_grouped:%s", k->tag);
    if (plan_make(tag, shape, &t, 0, p) || gen_kernel(ctx, tag, shape, &kernel))
        fail_msg("%s %s: %s", k->tag, shape, cdnagen_error());
    cdnagen_kernel_info info = {.size = sizeof info};
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    if (info.vgpr_spills || info.scratch_bytes || info.agpr)
        fail_msg("%s %s: %u VGPRs spilled, %u bytes of scratch, %u AGPRs", k->tag, shape, info.vgpr_spills,
                 info.scratch_bytes, info.agpr);
    return kernel;
}

void runs_graded(const kernel_row *k, const char *shape, const char *mode, uint64_t seed) {
    plan p;
    cdnagen *const ctx = runs_on(k->chip, mode);
    cdnagen_kernel *const kernel = runs_kernel(ctx, k, shape, &p);
    const check_options how = {.seed = seed};
    check_report report;
    if (check_run(ctx, kernel, &p, &how, &report)) fail_msg("%s %s: %s", k->tag, shape, cdnagen_error());
    if (!report.grade.pass) fail_msg("%s %s %s: %s", k->chip, k->tag, shape, report.grade.first);
    cdnagen_free_kernel(kernel);
}

/* fill_gaps: what no group had, which is NaN, becomes 1: other extents may give it to one. */
static void fill_gaps(const plan *p, problem *data, size_t margin) {
    const fp8_kind kind = p->target.chip->fp8;
    const uint8_t one = fp8_from_f32(kind, 1);
    for (int i = GROUPED_A; i <= GROUPED_B_SCALES; i++) {
        const problem_buffer *const b = &data->buffers[i];
        uint8_t *const operand = (uint8_t *)b->data + margin;
        float *const scales = (float *)(void *)operand;
        const size_t size = b->bytes - 2 * margin;
        const int is_operand = i == GROUPED_A || i == GROUPED_B;
        for (size_t j = 0; j < size && is_operand; j++)
            if (isnan(f32_from_fp8(kind, operand[j]))) operand[j] = one;
        for (size_t j = 0; j < size / sizeof *scales && !is_operand; j++)
            if (isnan(scales[j])) scales[j] = 1;
    }
}

/* upload: the problem's buffers, with these extents in place of its own. */
static void upload(cdnagen *ctx, const plan *p, problem *data, void **device, const void *extents,
                   size_t extent_bytes) {
    const workload *const w = p->family->workload;
    cdnagen_gemm_grouped_args args;
    for (size_t i = 0; i < data->buffer_count; i++)
        if (cdnagen_alloc(ctx, data->buffers[i].bytes, &device[i])) fail_msg("%s", cdnagen_error());
    w->arguments(p, data, device, &args);
    const size_t margin = (size_t)((char *)args.extents.ptr - (char *)device[GROUPED_EXTENTS]);
    if (extents) {
        memcpy((char *)data->buffers[GROUPED_EXTENTS].data + margin, extents, extent_bytes);
        fill_gaps(p, data, margin);
    }
    if (w->reference(p, data)) fail_msg("%s", cdnagen_error());
    for (size_t i = 0; i < data->buffer_count; i++)
        if (cdnagen_copy_to_device(ctx, device[i], data->buffers[i].data, data->buffers[i].bytes))
            fail_msg("%s", cdnagen_error());
}

void runs_with(const kernel_row *k, const char *shape, const char *mode, const void *extents, size_t extent_bytes,
               run_result *out) {
    plan p;
    cdnagen *const ctx = runs_on(k->chip, mode);
    cdnagen_kernel *const kernel = runs_kernel(ctx, k, shape, &p);
    const workload *const w = p.family->workload;
    problem *const data = &out->data;
    void *device[PROBLEM_BUFFERS_MAX], *outputs[PROBLEM_BUFFERS_MAX] = {NULL};
    cdnagen_gemm_grouped_args args;
    if (w->make(&p, 3, data)) fail_msg("%s", cdnagen_error());
    upload(ctx, &p, data, device, extents, extent_bytes);
    w->arguments(&p, data, device, &args);
    if (cdnagen_launch_gemm_grouped(kernel, &args, NULL) || cdnagen_synchronize(ctx, NULL))
        fail_msg("%s: %s", shape, cdnagen_error());
    for (size_t i = 0; i < data->buffer_count; i++) {
        out->back[i] = malloc(data->buffers[i].bytes);
        assert_non_null(out->back[i]);
        if (data->buffers[i].output) outputs[i] = out->back[i];
        if (cdnagen_copy_to_host(ctx, out->back[i], device[i], data->buffers[i].bytes) ||
            cdnagen_free_memory(ctx, device[i]))
            fail_msg("%s", cdnagen_error());
    }
    if (w->grade_outputs(&p, data, outputs, &out->grade)) fail_msg("%s", cdnagen_error());
    if (!out->grade.pass) fail_msg("%s %s %s: %s", k->chip, k->tag, shape, out->grade.first);
    cdnagen_free_kernel(kernel);
}

void runs_let_go(run_result *r) {
    for (size_t i = 0; i < r->data.buffer_count; i++) free(r->back[i]);
    problem_release(&r->data);
}

void runs_assert_same(const run_result *a, const run_result *b, const char *what) {
    if (memcmp(a->back[GROUPED_C], b->back[GROUPED_C], a->data.buffers[GROUPED_C].bytes))
        fail_msg("%s: other bits", what);
}
