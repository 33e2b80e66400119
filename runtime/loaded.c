/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Module load and unload, once per code object and context, and not while a stream captures. */
#include "runtime/loaded.h"

#include <pthread.h>
#include <string.h>

#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/hip.h"

static cdnagen_status load_module(cdnagen *ctx, const char *symbol, loaded *l) {
    const device *d = &ctx->device;
    const hip_table *hip = d->hip;
    int previous;
    TRY(device_enter(d, &previous));
    cdnagen_status s = CDNAGEN_OK;
    if (ctx->refuse_loads_in_capture && capture_any(hip))
        s = fail(CDNAGEN_CAPTURING,
                 "%s would be loaded while a stream captures, which this context refuses: cdnagen_prepare it before "
                 "the capture",
                 symbol);
    const int mode = capture_relax(hip);
    if (!s) s = hip_check(hip, hip->module_load_data(&l->module, cache_blob_data(l->blob)), "hipModuleLoadData");
    if (!s) s = hip_check(hip, hip->module_get_function(&l->function, l->module, symbol), "hipModuleGetFunction");
    if (s && l->module) hip->module_unload(l->module);
    capture_restore(hip, mode);
    device_leave(d, previous);
    return s;
}

/* ---- retirement: of all contexts, because a module may outlive its own ---- */

static pthread_mutex_t retired_lock = PTHREAD_MUTEX_INITIALIZER;
static loaded *retired;
static atomic_int retired_count; /* so that a launch sees without the lock that there is nothing to do */

void loaded_before_fork(void) { pthread_mutex_lock(&retired_lock); }
void loaded_after_fork(void) { pthread_mutex_unlock(&retired_lock); }

static void discard(loaded *l) {
    cache_blob_release(l->blob);
    mem_free(l);
}

/* unload: 0 if something captures. A failure is said where the context still is. */
static int unload(const loaded *l, const cdnagen *ctx) {
    const device d = {.hip = l->hip, .index = l->device};
    int previous;
    if (device_enter(&d, &previous) != CDNAGEN_OK) return 1;
    const int waits = capture_any(l->hip);
    if (!waits) {
        const int mode = capture_relax(l->hip);
        const hip_error error = l->hip->module_unload(l->module);
        capture_restore(l->hip, mode);
        if (error && ctx)
            context_log(ctx, CDNAGEN_LOG_WARNING, "hipModuleUnload of key %s answers %d, %s", l->key, error,
                        l->hip->get_error_name(error));
    }
    device_leave(&d, previous);
    return !waits;
}

static void retire(loaded *l, const cdnagen *ctx) {
    if (!l->module || unload(l, ctx)) {
        discard(l);
        return;
    }
    pthread_mutex_lock(&retired_lock);
    l->next = retired;
    retired = l;
    atomic_fetch_add(&retired_count, 1);
    pthread_mutex_unlock(&retired_lock);
}

void loaded_reap(void) {
    if (!atomic_load_explicit(&retired_count, memory_order_relaxed)) return;
    pthread_mutex_lock(&retired_lock);
    loaded *all = retired;
    retired = NULL;
    atomic_store(&retired_count, 0);
    pthread_mutex_unlock(&retired_lock);
    while (all) {
        loaded *const l = all;
        all = l->next;
        retire(l, NULL);
    }
}

static loaded *find(cdnagen *ctx, const char *key) {
    for (loaded *l = ctx->loaded; l; l = l->next)
        if (!strcmp(l->key, key)) return l;
    return NULL;
}

static cdnagen_status make(cdnagen *ctx, const char *key, const char *symbol, cache_blob *blob, const resources *r,
                           loaded **out) {
    loaded *l = mem_alloc(sizeof *l);
    if (!l) return fail_no_memory();
    l->ctx = ctx;
    l->blob = blob;
    l->resources = *r;
    memcpy(l->key, key, sizeof l->key);
    l->hip = ctx->device.hip;
    l->device = ctx->device.index;
    const cdnagen_status s = l->hip ? load_module(ctx, symbol, l) : CDNAGEN_OK;
    if (s) return mem_free(l), s;
    cache_blob_retain(blob);
    l->next = ctx->loaded;
    ctx->loaded = l;
    *out = l;
    return CDNAGEN_OK;
}

cache_blob *loaded_object(cdnagen *ctx, const char *key, resources *r) {
    pthread_mutex_lock(&ctx->lock);
    const loaded *const l = find(ctx, key);
    cache_blob *const blob = l ? l->blob : NULL;
    if (blob) {
        cache_blob_retain(blob);
        *r = l->resources;
    }
    pthread_mutex_unlock(&ctx->lock);
    return blob;
}

cdnagen_status loaded_share(cdnagen *ctx, const char *key, const char *symbol, cache_blob *blob, const resources *r,
                            loaded **out) {
    loaded_reap();
    pthread_mutex_lock(&ctx->lock);
    loaded *l = find(ctx, key);
    const cdnagen_status s = l ? CDNAGEN_OK : make(ctx, key, symbol, blob, r, &l);
    if (!s) {
        l->owners++;
        *out = l;
    }
    pthread_mutex_unlock(&ctx->lock);
    return s;
}

void loaded_release(loaded *l) {
    if (!l) return;
    cdnagen *ctx = l->ctx;
    pthread_mutex_lock(&ctx->lock);
    const int last = --l->owners == 0 && !atomic_load(&l->captured);
    for (loaded **at = &ctx->loaded; last && *at; at = &(*at)->next)
        if (*at == l) {
            *at = l->next;
            break;
        }
    pthread_mutex_unlock(&ctx->lock);
    if (last) retire(l, ctx);
    loaded_reap();
}

void loaded_retire_all(cdnagen *ctx) {
    while (ctx->loaded) {
        loaded *const l = ctx->loaded;
        ctx->loaded = l->next;
        retire(l, NULL);
    }
}

void loaded_keep(loaded *l) {
    pthread_mutex_lock(&l->ctx->lock);
    l->owners += !l->kept;
    l->kept = 1;
    pthread_mutex_unlock(&l->ctx->lock);
}

static loaded *take_kept(cdnagen *ctx) {
    pthread_mutex_lock(&ctx->lock);
    loaded *l = ctx->loaded;
    while (l && !l->kept) l = l->next;
    if (l) l->kept = 0;
    pthread_mutex_unlock(&ctx->lock);
    return l;
}

void loaded_drop(cdnagen *ctx) {
    for (loaded *l = take_kept(ctx); l; l = take_kept(ctx)) loaded_release(l);
}
