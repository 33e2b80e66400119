/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The pipeline: tag + shape -> plan -> key -> cache -> IR -> object -> link -> read back -> put -> load -> kernel. */
#include "runtime/prepared.h"

#include "core/clock.h"
#include "runtime/compile.h"
#include "runtime/context.h"
#include "runtime/isolate.h"
#include "runtime/key.h"

/* What is loaded, or an entry of the cache that this plan can use. One that it cannot (another generator wrote it under
 * this key, or its bytes were changed with their checksum) is a miss, told once, and the next put replaces it. */
static cache_blob *recover(cdnagen *ctx, const prepared *p, const char *key, resources *r, cdnagen_cache_tier *tier,
                           int *told) {
    cache_blob *blob = ctx->cache_off ? NULL : loaded_object(ctx, key, r);
    if (blob) return *tier = CDNAGEN_TIER_MEMORY, blob;
    blob = cache_get(ctx->cache, p->key_text, tier);
    if (!blob || inspect(&p->plan, cache_blob_data(blob), cache_blob_size(blob), r) == CDNAGEN_OK) return blob;
    if (!*told) context_log(ctx, CDNAGEN_LOG_WARNING, "a cached object is not used: %s", cdnagen_error());
    *told = 1;
    cache_blob_release(blob);
    return NULL;
}

static cdnagen_status publish(cdnagen *ctx, const prepared *p, const bytes *object, cache_blob **blob) {
    *blob = cache_put(ctx->cache, p->key_text, object->data, object->size);
    return *blob ? CDNAGEN_OK : fail_no_memory();
}

static cdnagen_status write_key(prepared *p, char key[CACHE_KEY_CHARS + 1]) {
    text words = {0};
    const cdnagen_status s = key_text(&p->plan, &words);
    if (s) return text_free(&words), s;
    p->key_text = words.data;
    cache_key(p->key_text, key);
    return CDNAGEN_OK;
}

static cdnagen_status must_compile(const cdnagen *ctx, const prepared *p) {
    if (!ctx->cache_only && (ctx->isolate || compile_present())) return CDNAGEN_OK;
    return fail(CDNAGEN_CACHE_MISS, "%s, and no cache tier has: %s",
                ctx->cache_only ? "only cached kernels are wanted (cache_only, CDNAGEN_CACHE_ONLY=1)"
                                : "this library has no compiler (libcdnagen-rt)",
                p->key_text);
}

/* Whether what came out is accepted. */
static cdnagen_status accept(cdnagen_spill_policy policy, const prepared *p, const resources *r) {
    if (policy == CDNAGEN_SPILLS_ALLOW || !spills(r)) return CDNAGEN_OK;
    return fail(CDNAGEN_SPILLS, "%s spills %u VGPRs and %u SGPRs and uses %u bytes of scratch, which is refused",
                p->plan.symbol, r->kernel.vgpr_spills, r->kernel.sgpr_spills, r->kernel.scratch_bytes);
}

device_facts prepared_facts(const cdnagen *ctx, const prepared *p) {
    return (device_facts){.cus = ctx->device.hip ? ctx->device.cus : p->plan.target.chip->cus,
                          .workgroups_per_cu = p->loaded->resources.occupancy.workgroups_per_cu,
                          .diagnosis = ctx->diagnosis};
}

/* The plan's own grid was made before the object said how many of its workgroups a compute unit holds. */
static void settle_grid(const cdnagen *ctx, prepared *p) {
    const device_facts facts = prepared_facts(ctx, p);
    p->plan.family->grid(&p->plan, &facts, p->plan.grid);
}

/* One step: skipped after the first failure, timed. */
#define STEP(milliseconds, call)                                                                                       \
    do {                                                                                                               \
        const double started = clock_ms();                                                                             \
        if (s == CDNAGEN_OK) s = (call);                                                                               \
        (milliseconds) += clock_ms() - started;                                                                        \
    } while (0)

cdnagen_status pipeline(cdnagen *ctx, const char *tag, const char *shape, int route_rank, cdnagen_spill_policy policy,
                        stages *took, prepared **out) {
    char key[CACHE_KEY_CHARS + 1];
    resources found;
    bytes object = {0};
    cache_blob *blob = NULL;
    cache_lock_handle *lock = NULL;
    compile *c = NULL;
    int told = 0;
    prepared *p = mem_alloc(sizeof *p);
    if (!p) return fail_no_memory();
    p->owners = 1;
    *took = (stages){0};

    cdnagen_status s = plan_make(tag, shape, &ctx->target, route_rank, &p->plan);
    if (!s) s = write_key(p, key);
    if (!s) blob = recover(ctx, p, key, &found, &took->tier, &told);
    if (!s && !blob) s = must_compile(ctx, p);
    if (!s && !blob) lock = cache_lock(ctx->cache, p->key_text);
    /* Another thread or process may have made it while this one waited. */
    if (!s && !blob) blob = recover(ctx, p, key, &found, &took->tier, &told);
    if (!s && !blob) {
        took->tier = CDNAGEN_TIER_NONE;
        if (ctx->isolate) {
            s = isolate_compile(&p->plan, key, ctx->isolate_seconds, ctx->isolate_megabytes, &object);
        } else {
            STEP(took->emit, compile_emit(&p->plan, &c));
            STEP(took->verify, compile_verify(c));
            STEP(took->passes, compile_optimise(c));
            STEP(took->codegen, compile_codegen(c));
            STEP(took->link, compile_link(c, &object));
        }
        if (!s) s = inspect(&p->plan, object.data, object.size, &found);
        if (!s) s = publish(ctx, p, &object, &blob);
    }
    cache_unlock(lock);
    if (!s) s = accept(policy, p, &found);
    if (!s) s = loaded_share(ctx, key, p->plan.symbol, blob, &found, &p->loaded);
    if (!s) settle_grid(ctx, p);

    compile_free(c);
    bytes_free(&object);
    cache_blob_release(blob);
    if (s)
        prepared_release(p);
    else
        *out = p;
    return s;
}

void prepared_retain(prepared *p) { atomic_fetch_add_explicit(&p->owners, 1, memory_order_relaxed); }

void prepared_release(prepared *p) {
    if (!p || atomic_fetch_sub_explicit(&p->owners, 1, memory_order_acq_rel) != 1) return;
    loaded_release(p->loaded);
    mem_free(p->key_text);
    mem_free(p);
}
