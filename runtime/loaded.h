/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Code objects in use: one record per key and context, shared by all kernels that are made from it.
 *
 * HIP refuses to unload a module during a capture, and the capture is lost: what goes out of use then is retired, and
 * unloaded by a later call that finds no stream capturing. A module that a capture took into a graph stays loaded until
 * its context and all its kernels are freed, because HIP does not say when the graph is gone. */
#ifndef RUNTIME_LOADED_H
#define RUNTIME_LOADED_H

#include <stdatomic.h>

#include "cache/cache.h"
#include "core/hip.h"
#include "runtime/inspect.h"

typedef struct loaded {
    struct loaded *next;
    cdnagen *ctx;
    int owners; /* under the context's lock, as is: */
    int kept;   /* the context is one of the owners */
    const hip_table *hip;
    int device;
    atomic_int captured; /* a graph may hold it */
    char key[CACHE_KEY_CHARS + 1];
    cache_blob *blob;
    resources resources;
    hip_module module;     /* NULL where the context has no device */
    hip_function function; /* of that module */
} loaded;

/* loaded_share: the context's record of `key`, made and loaded on the device if this is the first use.
 * owner: loaded_release; the blob is retained   errors: NO_MEMORY, HIP, CAPTURING (the context refuses loads then) */
cdnagen_status loaded_share(cdnagen *ctx, const char *key, const char *symbol, cache_blob *blob, const resources *r,
                            loaded **out);
/* loaded_object: the code object of `key` if it is in use, and what was read of it; else NULL.   owner:
 * cache_blob_release */
cache_blob *loaded_object(cdnagen *ctx, const char *key, resources *r);

/* loaded_keep: the context owns it too until loaded_drop: for callers that hold no kernel. */
void loaded_keep(loaded *l);
void loaded_drop(cdnagen *ctx);
void loaded_release(loaded *l); /* the last owner's release retires the module; NULL is fine */

/* loaded_retire_all: what graphs kept loaded, when the context goes. */
void loaded_retire_all(cdnagen *ctx);

/* loaded_reap: unload what was retired, if nothing captures. */
void loaded_reap(void);

void loaded_before_fork(void);
void loaded_after_fork(void);

#endif
