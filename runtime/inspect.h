/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a code object really needs, read back from its bytes and held against the plan that asked for it. */
#ifndef RUNTIME_INSPECT_H
#define RUNTIME_INSPECT_H

#include "core/codeobj.h"
#include "gen/family.h"

typedef struct resources {
    codeobj_kernel kernel;
    occupancy occupancy;
} resources;

/* inspect: the plan's kernel in these bytes, its symbol, chip and features, LDS, workgroup size and argument layout.
 * errors: BAD_OBJECT, naming what differs */
cdnagen_status inspect(const plan *p, const void *object, size_t bytes, resources *out);

/* spills: 1 if registers went to memory or to other registers. */
int spills(const resources *r);

#endif
