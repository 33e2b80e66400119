/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What annotate and diff look at: a modelled kernel, generated or from a file, and what its code object says. */
#ifndef CLI_INSPECT_H
#define CLI_INSPECT_H

#include "cli/cli.h"
#include "core/codeobj.h"
#include "study/explain.h"
#include "study/sim_run.h"
#include "study/trace.h"

typedef struct inspection {
    codeobj_kernel kernel;
    uint32_t entry; /* in bytes from the start of the text section, as addresses of instructions are */
    uint32_t vgpr_allocated;
    explanation look;
} inspection;

/* inspection_open: model `name`, which is OP:TAG for the shape in the command's words from `shape` on, or a code
 * object's file to be launched as --kernel, --grid, --block and --args say. A name with ':' and without '/' is a tag.
 * owner:  inspection_close, also after an error
 * errors: what generating, reading, launching and modelling return */
cdnagen_status inspection_open(const cli *options, const char *name, size_t shape, inspection *out);
void inspection_close(inspection *i);

/* sim_job_of: the launch of `object` that --kernel, --grid, --block, --args, --target ask for.   errors:
 * BAD_ARGUMENT */
cdnagen_status sim_job_of(const cli *options, const char *object, char mode[SIM_MODE_BYTES], sim_job *job);

/* print_sample: which part of the launch was modelled. print_trace: what --trace wrote. */
void print_sample(const explanation *e);
void print_trace(const timeline *t, const sim_timing *timing, const char *path);

#endif
