/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A context: what was settled at its creation, and what is shared by all calls on it. */
#ifndef RUNTIME_CONTEXT_H
#define RUNTIME_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "cache/cache.h"
#include "core/memory.h"
#include "runtime/device.h"
#include "runtime/recall.h"
#include "runtime/choices.h"

struct cdnagen {
    cdnagen *next;     /* of all contexts, for forks */
    atomic_int owners; /* its creator, and each kernel handle */
    /* settled at creation: option, else environment, else default */
    device_choice device_choice;
    int device_index;
    int target_given, cache_off, cache_only, cache_trust_all, refuse_loads_in_capture;
    int isolate, isolate_seconds, isolate_megabytes;
    char *sim_mode;
    cdnagen_spill_policy spills;
    void (*log)(void *user, cdnagen_log_level level, const char *text);
    void *log_user;
    atomic_int given_up; /* its creator freed it, and has kernels left */
    int diagnosis;       /* kernels whose results are wrong by design may be launched; what diagnoses sets it */
    cache *cache;
    recall recall;   /* kernels by the exact text of tag and shape; locks itself */
    choices choices; /* locks itself */

    pthread_mutex_t lock; /* guards what follows */
    atomic_int ready;     /* target and device are settled, and constant from then on */
    target target;
    device device;
    struct loaded *loaded; /* every code object in use, with its module */
};

/* context_of: replace NULL by the process's default context, made at the first use.   errors: as
 * cdnagen_create_context */
cdnagen_status context_of(cdnagen **ctx);

/* context_release: drop one owner; the last one's release frees the context. */
void context_release(cdnagen *ctx);

/* context_ready: open the device if there is to be one, and settle the target.   errors: as device_prepare */
cdnagen_status context_ready(cdnagen *ctx);

/* context_log: one line to the context's log; without one, warnings go to stderr. */
void context_log(const cdnagen *ctx, cdnagen_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* SIZED_MAX: bytes of a public struct of any version; a larger size was never set. */
enum { SIZED_MAX = 4096 };

/* sized_copy: a public struct from a caller built against another version. Its first member is its size: fields that
 * it lacks are zero in `to`, fields that this version lacks must be zero in `from`.
 * units: bytes; `least` is the smallest size that makes sense   errors: BAD_ARGUMENT */
cdnagen_status sized_copy(const char *what, void *to, size_t to_bytes, size_t least, const void *from);

#endif
