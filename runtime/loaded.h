/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Code objects in use: one record per key and context, shared by all kernels that are made from it. */
#ifndef RUNTIME_LOADED_H
#define RUNTIME_LOADED_H

#include "cache/cache.h"
#include "core/hip.h"
#include "runtime/inspect.h"

typedef struct loaded {
    struct loaded *next;
    cdnagen *ctx;
    int owners; /* under the context's lock */
    char key[CACHE_KEY_CHARS + 1];
    cache_blob *blob;
    resources resources;
    hip_module module;     /* NULL where the context has no device */
    hip_function function; /* of that module */
} loaded;

/* loaded_share: the context's record of `key`, made and loaded on the device if this is the first use.
 * owner: loaded_release; the blob is retained   errors: NO_MEMORY, HIP */
cdnagen_status loaded_share(cdnagen *ctx, const char *key, const char *symbol, cache_blob *blob, const resources *r,
                            loaded **out);
void loaded_release(loaded *l); /* the last owner's release unloads the module; NULL is fine */

#endif
