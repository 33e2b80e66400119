/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gemm_grouped beside its kernels: the size of the workspace, and the forms that take tensors. */
#include <inttypes.h>
#include <stdio.h>

#include "gen/gemm_grouped/forms.h"
#include "runtime/context.h"
#include "runtime/kernel.h"

cdnagen_status cdnagen_gemm_grouped_workspace(const cdnagen_kernel *kernel, int64_t groups, int64_t m, int64_t n,
                                              size_t *size) {
    if (!kernel || !size) return fail(CDNAGEN_BAD_ARGUMENT, "%s is NULL", kernel ? "bytes" : "kernel");
    const plan *const p = &kernel->prepared->plan;
    if (p->family != &gemm_grouped_family)
        return fail(CDNAGEN_BAD_ARGUMENT, "the kernel is %s, not of gemm_grouped", p->symbol);
    if (groups < 0 || groups > GROUPED_GROUPS_MAX || m < 0 || n < 0 || m > GEMM_LENGTH_MAX || n > GEMM_LENGTH_MAX)
        return fail(CDNAGEN_BAD_ARGUMENT,
                    "groups %" PRId64 " must be 0 to %d, m %" PRId64 " and n %" PRId64 " must be 0 to %d", groups,
                    GROUPED_GROUPS_MAX, m, n, GEMM_LENGTH_MAX);
    *size = grouped_workspace_bytes((const grouped_variant *)p->variant, (const grouped_shape *)p->shape, groups, m, n);
    return CDNAGEN_OK;
}

/* ---- forms ---- */

cdnagen_status cdnagen_grouped_output(cdnagen_grouped_form form, const cdnagen_tensor *xq, const cdnagen_tensor *wq,
                                      const cdnagen_tensor *extents, cdnagen_tensor *out) {
    if (!out) return fail(CDNAGEN_BAD_ARGUMENT, "out is NULL: pass where the output's sizes are to go");
    return grouped_form_output(form, xq, wq, extents, out);
}

/* The texts of a kernel, without lengths, so that calls of all lengths share it. */
static cdnagen_status texts_of(const grouped_variant *v, const grouped_shape *shape, choice_texts *out) {
    grouped_shape s = *shape;
    grouped_complete(v, &s);
    text tag = {0}, words = {0};
    text_add(&tag, "%s:", gemm_grouped_family.name);
    tag_print(&gemm_grouped_family.tag, v, 1u << FIELD_KERNEL, &tag);
    shape_print(&gemm_grouped_family.shape, &s, 1u << FIELD_KERNEL, &words);
    const int failed = tag.failed || words.failed;
    if (!failed) {
        snprintf(out->tag, sizeof out->tag, "%s", tag.data);
        snprintf(out->words, sizeof out->words, "%s", words.data);
    }
    text_free(&tag);
    text_free(&words);
    return failed ? fail_no_memory() : CDNAGEN_OK;
}

static cdnagen_status launch_form(cdnagen_kernel *kernel, const void *args, void *stream) {
    return cdnagen_launch_gemm_grouped(kernel, args, stream);
}

/* The first call of its kind. */
static cdnagen_status tune(cdnagen *ctx, const char *key, const grouped_shape *bucket,
                           const cdnagen_gemm_grouped_args *args, void *stream, choice_texts *out) {
    grouped_variant variants[GROUPED_CANDIDATES_MAX];
    choice_job job = {.key = key, .launch = launch_form, .args = args};
    TRY(grouped_candidates(&ctx->target, bucket, variants, &job.count));
    choice_texts *const texts = mem_alloc(job.count * sizeof *texts);
    cdnagen_status s = texts ? CDNAGEN_OK : fail_no_memory();
    for (size_t i = 0; i < job.count && !s; i++) s = texts_of(&variants[i], bucket, &texts[i]);
    job.candidates = texts;
    if (!s) s = choices_make(ctx, &job, stream, out);
    mem_free(texts);
    return s;
}

static cdnagen_status choose_default(const cdnagen *ctx, const grouped_shape *shape, choice_texts *out) {
    grouped_variant v;
    TRY(grouped_form_route(&ctx->target, shape, &v));
    return texts_of(&v, shape, out);
}

/* The kernel that a call takes. Calls that launch nothing are not worth timing. */
static cdnagen_status choose(cdnagen *ctx, const grouped_shape *shape, const cdnagen_gemm_grouped_args *args,
                             void *stream, choice_texts *out) {
    if (!ctx->choices.asked || !shape->groups || !shape->m || !shape->n || !shape->k)
        return choose_default(ctx, shape, out);
    const grouped_shape bucket = grouped_bucket(shape);
    text key = {0};
    text_add(&key, "%s ", gemm_grouped_family.name);
    shape_print(&gemm_grouped_family.shape, &bucket, 1u << FIELD_KERNEL | 1u << FIELD_HOST, &key);
    cdnagen_status s = key.failed ? fail_no_memory() : CDNAGEN_OK;
    if (!s && !choices_find(&ctx->choices, key.data, out)) s = tune(ctx, key.data, &bucket, args, stream, out);
    text_free(&key);
    return s;
}

/* A context is the kernel's owner too, since the launch may still run when its handle is freed. */
static cdnagen_status launch_texts(cdnagen *ctx, const choice_texts *texts, const cdnagen_gemm_grouped_args *args,
                                   void *stream) {
    cdnagen_kernel *kernel = NULL;
    TRY(gen_kernel(ctx, texts->tag, texts->words, &kernel));
    loaded_keep(kernel->prepared->loaded);
    const cdnagen_status s = cdnagen_launch_gemm_grouped(kernel, args, stream);
    cdnagen_free_kernel(kernel);
    return s;
}

static cdnagen_status call_form(cdnagen *ctx, const grouped_call *call, void *stream) {
    TRY(context_of(&ctx));
    TRY(context_ready(ctx));
    grouped_shape shape;
    cdnagen_gemm_grouped_args args;
    choice_texts texts;
    TRY(grouped_form_bind(call, ctx->target.chip->fp8, &shape, &args));
    TRY(choose(ctx, &shape, &args, stream, &texts));
    const cdnagen_status s = launch_texts(ctx, &texts, &args, stream);
    if (s != CDNAGEN_LIMIT || !ctx->choices.asked) return s;
    /* What is fastest for a kind of call may have more tiles than a launch can in the longest calls of that kind. */
    TRY(choose_default(ctx, &shape, &texts));
    return launch_texts(ctx, &texts, &args, stream);
}

#define TENSORS(extents_name)                                                                                          \
    const cdnagen_tensor *xq, const cdnagen_tensor *wq, const cdnagen_tensor *x_scale, const cdnagen_tensor *w_scale,  \
        const cdnagen_tensor *extents_name

cdnagen_status cdnagen_rowwise_grouped_stacked(cdnagen *ctx, TENSORS(m_sizes), const cdnagen_tensor *out,
                                               void *stream) {
    const grouped_call call = {CDNAGEN_GROUPED_STACKED, xq, wq, x_scale, w_scale, m_sizes, out, 0};
    return call_form(ctx, &call, stream);
}

cdnagen_status cdnagen_rowwise_grouped_stacked_preshuffle(cdnagen *ctx, TENSORS(m_sizes), const cdnagen_tensor *out,
                                                          void *stream) {
    const grouped_call call = {CDNAGEN_GROUPED_STACKED_PRESHUFFLE, xq, wq, x_scale, w_scale, m_sizes, out, 0};
    return call_form(ctx, &call, stream);
}

cdnagen_status cdnagen_rowwise_grouped_dynamic(cdnagen *ctx, TENSORS(zero_start_index_m), int zeroing_output_tensor,
                                               const cdnagen_tensor *out, void *stream) {
    const grouped_call call = {CDNAGEN_GROUPED_DYNAMIC, xq, wq, x_scale, w_scale, zero_start_index_m, out,
                               !zeroing_output_tensor};
    return call_form(ctx, &call, stream);
}

cdnagen_status cdnagen_rowwise_grouped_dynamic_preshuffle(cdnagen *ctx, TENSORS(zero_start_index_m),
                                                          int zeroing_output_tensor, const cdnagen_tensor *out,
                                                          void *stream) {
    const grouped_call call = {
        CDNAGEN_GROUPED_DYNAMIC_PRESHUFFLE, xq, wq, x_scale, w_scale, zero_start_index_m, out, !zeroing_output_tensor};
    return call_form(ctx, &call, stream);
}

cdnagen_status cdnagen_rowwise_grouped_mm(cdnagen *ctx, TENSORS(offsets), const cdnagen_tensor *out, void *stream) {
    const grouped_call call = {CDNAGEN_GROUPED_MM, xq, wq, x_scale, w_scale, offsets, out, 0};
    return call_form(ctx, &call, stream);
}

cdnagen_status cdnagen_rowwise_grouped_mm_preshuffle(cdnagen *ctx, TENSORS(offsets), const cdnagen_tensor *out,
                                                     void *stream) {
    const grouped_call call = {CDNAGEN_GROUPED_MM_PRESHUFFLE, xq, wq, x_scale, w_scale, offsets, out, 0};
    return call_form(ctx, &call, stream);
}

cdnagen_status cdnagen_groupwise_grouped(cdnagen *ctx, TENSORS(m_sizes), const cdnagen_tensor *out, void *stream) {
    const grouped_call call = {CDNAGEN_GROUPED_GROUPWISE, xq, wq, x_scale, w_scale, m_sizes, out, 0};
    return call_form(ctx, &call, stream);
}

cdnagen_status cdnagen_groupwise_grouped_preshuffle(cdnagen *ctx, TENSORS(m_sizes), const cdnagen_tensor *out,
                                                    void *stream) {
    const grouped_call call = {CDNAGEN_GROUPED_GROUPWISE_PRESHUFFLE, xq, wq, x_scale, w_scale, m_sizes, out, 0};
    return call_form(ctx, &call, stream);
}
