/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Module load and unload, once per code object and context. */
#include "runtime/loaded.h"

#include <string.h>

#include "runtime/context.h"
#include "runtime/hip.h"

static cdnagen_status load_module(const device *d, const char *symbol, loaded *l) {
    int previous;
    TRY(device_enter(d, &previous));
    const hip_table *hip = d->hip;
    cdnagen_status s = hip_check(hip, hip->module_load_data(&l->module, cache_blob_data(l->blob)), "hipModuleLoadData");
    if (!s) s = hip_check(hip, hip->module_get_function(&l->function, l->module, symbol), "hipModuleGetFunction");
    if (s && l->module) hip->module_unload(l->module);
    device_leave(d, previous);
    return s;
}

static void discard(loaded *l) {
    const device *d = &l->ctx->device;
    int previous;
    if (l->module && device_enter(d, &previous) == CDNAGEN_OK) {
        const hip_error error = d->hip->module_unload(l->module);
        if (error)
            context_log(l->ctx, CDNAGEN_LOG_WARNING, "hipModuleUnload of key %s answers %d, %s", l->key, error,
                        d->hip->get_error_name(error));
        device_leave(d, previous);
    }
    cache_blob_release(l->blob);
    mem_free(l);
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
    const cdnagen_status s = ctx->device.hip ? load_module(&ctx->device, symbol, l) : CDNAGEN_OK;
    if (s) return mem_free(l), s;
    cache_blob_retain(blob);
    l->next = ctx->loaded;
    ctx->loaded = l;
    *out = l;
    return CDNAGEN_OK;
}

cdnagen_status loaded_share(cdnagen *ctx, const char *key, const char *symbol, cache_blob *blob, const resources *r,
                            loaded **out) {
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
    const int last = --l->owners == 0;
    for (loaded **at = &ctx->loaded; last && *at; at = &(*at)->next)
        if (*at == l) {
            *at = l->next;
            break;
        }
    pthread_mutex_unlock(&ctx->lock);
    if (last) discard(l);
}
