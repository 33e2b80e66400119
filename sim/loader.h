/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Code objects in device memory, and kernels made ready to launch. */
#ifndef SIM_LOADER_H
#define SIM_LOADER_H

#include "core/codeobj.h"
#include "sim/memory.h"
#include "sim/wave.h"

struct hip_function_object {
    struct hip_function_object *next;
    struct hip_module_object *module;
    codeobj_kernel kernel;
    program program;
    const inst *entry;
    uint64_t kernarg, packet; /* device allocations of exactly their sizes */
};

struct hip_module_object {
    struct hip_module_object *next;
    unsigned char *file; /* a copy: codeobj points into it */
    codeobj object;
    uint64_t image; /* device address of the ELF's address 0 */
    struct hip_function_object *functions;
};

/* module_make: copy a code object into device memory.
 * errors: BAD_OBJECT, BAD_TARGET (for another chip), NO_MEMORY */
cdnagen_status module_make(memory *m, const chip *c, const void *data, size_t size, struct hip_module_object **out);
void module_free(memory *m, struct hip_module_object *module);

/* function_make: find and decode a kernel; the module keeps it.   errors: BAD_ARGUMENT (no such kernel), BAD_OBJECT,
 * NO_MEMORY */
cdnagen_status function_make(memory *m, struct hip_module_object *module, const char *name,
                             struct hip_function_object **out);

#endif
