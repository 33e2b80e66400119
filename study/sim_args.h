/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A kernel's arguments as a JSON file describes them, checked against the code object's metadata. */
#ifndef STUDY_SIM_ARGS_H
#define STUDY_SIM_ARGS_H

#include "core/codeobj.h"
#include "core/memory.h"
#include "study/sim_data.h"

typedef enum sim_arg_kind { SIM_ARG_BUFFER, SIM_ARG_VALUE, SIM_ARG_LOCAL } sim_arg_kind;

typedef struct sim_arg {
    sim_arg_kind kind;
    size_t bytes;         /* of the buffer, the value, or the LDS */
    unsigned char *value; /* SIM_ARG_VALUE */
    /* SIM_ARG_BUFFER */
    const sim_element *element;
    uint64_t count;
    const sim_fill *fill; /* NULL: the file's content */
    uint64_t seed;
    char *file, *write; /* NULL: none */
} sim_arg;

typedef struct sim_args {
    sim_arg arg[CODEOBJ_ARGS_MAX];
    size_t count;
    uint32_t lds_bytes; /* dynamic, beyond local arguments */
} sim_args;

/* sim_args_read: read the file; one entry for each argument that the kernel's metadata lists and the caller gives.
 * owner: sim_args_free, also after an error
 * errors: BAD_ARGUMENT (file, line and column of bad JSON; else the argument's number and name, what it holds and what
 *         was expected), IO, NO_MEMORY
 * source: docs/simulator.md */
cdnagen_status sim_args_read(const char *path, const codeobj_kernel *kernel, sim_args *out);
void sim_args_free(sim_args *a);

#endif
