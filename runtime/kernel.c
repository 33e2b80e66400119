/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gen_kernel, and what can be asked of a kernel. */
#include "runtime/kernel.h"

#include <stddef.h>
#include <string.h>

#include "core/clock.h"
#include "runtime/compile.h"
#include "runtime/context.h"

/* ---- generate ---- */

static int is_auto(const char *tag) {
    const char *colon = strchr(tag, ':');
    return colon && !strcmp(colon + 1, "auto");
}

static void warn_of_spills(const cdnagen *ctx, const prepared *p) {
    const codeobj_kernel *k = &p->loaded->resources.kernel;
    context_log(ctx, CDNAGEN_LOG_WARNING, "%s:%s spills %u VGPRs and %u SGPRs and uses %u bytes of scratch a lane",
                p->plan.family->name, p->plan.tag, k->vgpr_spills, k->sgpr_spills, k->scratch_bytes);
}

/* auto takes the first of its routes that does not spill. */
static cdnagen_status run_routes(cdnagen *ctx, const char *tag, const char *shape, stages *took, prepared **out) {
    for (int rank = 0;; rank++) {
        const cdnagen_status s = pipeline(ctx, tag, shape, rank, CDNAGEN_SPILLS_REFUSE, took, out);
        if (s == CDNAGEN_LIMIT && rank > 0)
            return fail(CDNAGEN_LIMIT, "%s; the %d before it were passed over because they spill", cdnagen_error(),
                        rank);
        if (s != CDNAGEN_SPILLS) return s;
        context_log(ctx, CDNAGEN_LOG_INFO, "auto passes over a route: %s", cdnagen_error());
    }
}

static cdnagen_status make(cdnagen *ctx, const char *tag, const char *shape, stages *took, prepared **out) {
    TRY(context_ready(ctx));
    if (is_auto(tag)) return run_routes(ctx, tag, shape, took, out);
    TRY(pipeline(ctx, tag, shape, 0, ctx->spills, took, out));
    if (spills(&(*out)->loaded->resources)) warn_of_spills(ctx, *out);
    return CDNAGEN_OK;
}

static cdnagen_status check_asked(const char *tag, const void *shape, cdnagen_kernel *const *out) {
    if (tag && shape && out) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT, "%s is NULL: a tag, a shape and a place for the kernel are needed",
                !tag     ? "tag"
                : !shape ? "shape"
                         : "out");
}

cdnagen_status gen_kernel(cdnagen *ctx, const char *tag, const char *shape, cdnagen_kernel **out) {
    const double start = clock_ms();
    TRY(check_asked(tag, shape, out));
    TRY(context_of(&ctx));
    cdnagen_kernel *k = mem_alloc(sizeof *k);
    if (!k) return fail_no_memory();
    k->took.tier = CDNAGEN_TIER_MEMORY;
    k->prepared = recall_find(&ctx->recall, tag, shape);
    if (!k->prepared) {
        const cdnagen_status s = make(ctx, tag, shape, &k->took, &k->prepared);
        if (s) return mem_free(k), s;
        if (!ctx->cache_off) recall_add(&ctx->recall, tag, shape, k->prepared);
    }
    pthread_mutex_init(&k->lock, NULL);
    atomic_fetch_add_explicit(&ctx->owners, 1, memory_order_relaxed);
    k->ctx = ctx;
    k->total_ms = clock_ms() - start;
    *out = k;
    return CDNAGEN_OK;
}

cdnagen_status cdnagen_prepare(cdnagen *ctx, const char *tag, const char *shape) {
    if (!tag || !shape)
        return fail(CDNAGEN_BAD_ARGUMENT, "%s is NULL: cdnagen_prepare needs a tag and a shape", tag ? "shape" : "tag");
    cdnagen_kernel *kernel = NULL;
    TRY(gen_kernel(ctx, tag, shape, &kernel));
    loaded_keep(kernel->prepared->loaded);
    cdnagen_free_kernel(kernel);
    return CDNAGEN_OK;
}

cdnagen_status cdnagen_supports(const char *tag, const char *shape, const char *id) {
    target t;
    plan *p = mem_alloc(sizeof *p);
    if (!p) return fail_no_memory();
    cdnagen_status s = target_parse(id, &t);
    if (!s) s = plan_make(tag, shape, &t, 0, p);
    mem_free(p);
    return s;
}

/* A typed shape is its words: one way into the pipeline, and one text for the recall. */
static cdnagen_status gen_typed(cdnagen *ctx, const char *operator_name, const char *tag, const void *public_shape,
                                cdnagen_kernel **out) {
    const family *f = family_find(operator_name, strlen(operator_name));
    _Alignas(16) unsigned char shape[SHAPE_BYTES_MAX];
    TRY(f->shape_from_public(public_shape, shape));
    text words = {0}, full_tag = {0};
    shape_print(&f->shape, shape, 1u << FIELD_KERNEL | 1u << FIELD_HOST, &words);
    text_add(&full_tag, "%s%s%s", strchr(tag, ':') ? "" : operator_name, strchr(tag, ':') ? "" : ":", tag);
    cdnagen_status s = words.failed || full_tag.failed ? fail_no_memory() : CDNAGEN_OK;
    const size_t name_length = strlen(operator_name);
    if (!s && (strncmp(full_tag.data, operator_name, name_length) != 0 || full_tag.data[name_length] != ':'))
        s = fail(CDNAGEN_BAD_ARGUMENT, "tag \"%s\" is not of operator %s, whose shape was given", tag, operator_name);
    if (!s) s = gen_kernel(ctx, full_tag.data, words.data ? words.data : "", out);
    text_free(&words);
    text_free(&full_tag);
    return s;
}

cdnagen_status cdnagen_gen_mqa_logits(cdnagen *ctx, const char *tag, const cdnagen_mqa_logits_shape *shape,
                                      cdnagen_kernel **out) {
    TRY(check_asked(tag, shape, out));
    cdnagen_mqa_logits_shape known;
    TRY(sized_copy("cdnagen_mqa_logits_shape", &known, sizeof known, offsetof(cdnagen_mqa_logits_shape, clean), shape));
    return gen_typed(ctx, "mqa_logits", tag, &known, out);
}

cdnagen_status cdnagen_gen_gemm_blockscale(cdnagen *ctx, const char *tag, const cdnagen_gemm_blockscale_shape *shape,
                                           cdnagen_kernel **out) {
    TRY(check_asked(tag, shape, out));
    cdnagen_gemm_blockscale_shape known;
    TRY(sized_copy("cdnagen_gemm_blockscale_shape", &known, sizeof known,
                   offsetof(cdnagen_gemm_blockscale_shape, k_tail), shape));
    return gen_typed(ctx, "gemm_blockscale", tag, &known, out);
}

cdnagen_status cdnagen_gen_gemm_grouped(cdnagen *ctx, const char *tag, const cdnagen_gemm_grouped_shape *shape,
                                        cdnagen_kernel **out) {
    TRY(check_asked(tag, shape, out));
    cdnagen_gemm_grouped_shape known;
    TRY(sized_copy("cdnagen_gemm_grouped_shape", &known, sizeof known, offsetof(cdnagen_gemm_grouped_shape, scale),
                   shape));
    return gen_typed(ctx, "gemm_grouped", tag, &known, out);
}

void cdnagen_free_kernel(cdnagen_kernel *k) {
    if (!k) return;
    prepared_release(k->prepared);
    text_free(&k->texts[CDNAGEN_TEXT_IR]);
    text_free(&k->texts[CDNAGEN_TEXT_ISA]);
    pthread_mutex_destroy(&k->lock);
    context_release(k->ctx);
    mem_free(k);
}

/* ---- introspection ---- */

cdnagen_status cdnagen_get_kernel_info(const cdnagen_kernel *kernel, cdnagen_kernel_info *info) {
    if (!kernel || !info) return fail(CDNAGEN_BAD_ARGUMENT, "%s is NULL", kernel ? "info" : "kernel");
    const size_t size = info->size;
    if (size < offsetof(cdnagen_kernel_info, tag) || size > SIZED_MAX || size % sizeof(size_t))
        return fail(CDNAGEN_BAD_ARGUMENT, "info.size is %zu: set it to sizeof(cdnagen_kernel_info), %zu here", size,
                    sizeof *info);
    const prepared *p = kernel->prepared;
    const codeobj_kernel *k = &p->loaded->resources.kernel;
    const occupancy *o = &p->loaded->resources.occupancy;
    const cdnagen_kernel_info known = {
        .size = size,
        .op = p->plan.family->name,
        .tag = p->plan.tag,
        .shape = p->plan.shape_text,
        .target = p->plan.target.text,
        .symbol = p->plan.symbol,
        .key = p->loaded->key,
        .key_text = p->key_text,
        .object = cache_blob_data(p->loaded->blob),
        .object_bytes = cache_blob_size(p->loaded->blob),
        .block = {p->plan.block[0], p->plan.block[1], p->plan.block[2]},
        .grid = {p->plan.grid[0], p->plan.grid[1], p->plan.grid[2]},
        .vgpr = k->vgpr > k->agpr ? k->vgpr - k->agpr : 0, /* the note counts both files */
        .agpr = k->agpr,
        .vgpr_allocated = o->vgpr_allocated,
        .sgpr = k->sgpr,
        .lds_bytes = k->lds_bytes,
        .scratch_bytes = k->scratch_bytes,
        .vgpr_spills = k->vgpr_spills,
        .sgpr_spills = k->sgpr_spills,
        .code_bytes = k->code_bytes,
        .waves_per_simd = o->waves_per_simd,
        .waves_per_eu_asked = p->plan.waves_per_eu_asked,
        .occupancy_limit = o->limit,
        .cache_tier = kernel->took.tier,
        .total_ms = kernel->total_ms,
        .emit_ms = kernel->took.emit,
        .verify_ms = kernel->took.verify,
        .passes_ms = kernel->took.passes,
        .codegen_ms = kernel->took.codegen,
        .link_ms = kernel->took.link,
    };
    memset(info, 0, size);
    memcpy(info, &known, size < sizeof known ? size : sizeof known);
    return CDNAGEN_OK;
}

static cdnagen_status write_text(const prepared *p, cdnagen_text which, text *out) {
    if (which == CDNAGEN_TEXT_ISA) {
        const cache_blob *blob = p->loaded->blob;
        return compile_disassemble(cache_blob_data(blob), cache_blob_size(blob), out);
    }
    compile *c = NULL;
    cdnagen_status s = compile_emit(&p->plan, &c);
    if (!s) s = compile_ir_text(c, out);
    compile_free(c);
    return s;
}

cdnagen_status cdnagen_get_kernel_text(cdnagen_kernel *kernel, cdnagen_text which, const char **words) {
    if (!kernel || !words) return fail(CDNAGEN_BAD_ARGUMENT, "%s is NULL", kernel ? "text" : "kernel");
    if (which != CDNAGEN_TEXT_IR && which != CDNAGEN_TEXT_ISA)
        return fail(CDNAGEN_BAD_ARGUMENT, "text %d is neither CDNAGEN_TEXT_IR nor CDNAGEN_TEXT_ISA", which);
    text *t = &kernel->texts[which];
    pthread_mutex_lock(&kernel->lock);
    cdnagen_status s = t->data ? CDNAGEN_OK : write_text(kernel->prepared, which, t);
    if (!s && t->failed) s = fail_no_memory();
    if (s) text_free(t);
    const char *data = t->data;
    pthread_mutex_unlock(&kernel->lock);
    if (!s) *words = data ? data : "";
    return s;
}
