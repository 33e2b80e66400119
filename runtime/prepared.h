/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A prepared kernel: the plan of one tag and shape with the code object that serves it. Immutable and shared: by every
 * handle that a caller holds and by the context's recall. The plan's grid is the one that launches on this context's
 * device have. */
#ifndef RUNTIME_PREPARED_H
#define RUNTIME_PREPARED_H

#include <stdatomic.h>

#include "gen/family.h"
#include "runtime/loaded.h"

typedef struct prepared {
    atomic_int owners;
    plan plan;
    char *key_text;
    loaded *loaded;
} prepared;

/* stages: what one run of the pipeline took.   units: milliseconds */
typedef struct stages {
    double emit, verify, passes, codegen, link;
    cdnagen_cache_tier tier;
} stages;

/* pipeline: from tag and shape to a prepared kernel: the whole way, on one screen.
 * route_rank: which route `auto` takes   policy: what is refused is not loaded
 * owner: prepared_release   errors: as gen_kernel */
cdnagen_status pipeline(cdnagen *ctx, const char *tag, const char *shape, int route_rank, cdnagen_spill_policy policy,
                        stages *took, prepared **out);

/* prepared_facts: what its launches may know of the context's device. */
device_facts prepared_facts(const cdnagen *ctx, const prepared *p);

void prepared_retain(prepared *p);
void prepared_release(prepared *p); /* NULL is fine */

#endif
