/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One launch of any code object on the simulator, with arguments from a JSON file. */
#ifndef STUDY_SIM_RUN_H
#define STUDY_SIM_RUN_H

#include "sim/timing.h"
#include "study/sim_args.h"

typedef struct sim_job {
    const char *object, *args; /* files */
    const char *kernel;        /* NULL: the only one */
    const char *target;        /* NULL: the code object's */
    const char *mode;          /* sim_open's words */
    uint32_t grid[3], block[3];
    const sim_timing_options *timing; /* NULL: no model; with `only` nothing is written */
} sim_job;

typedef struct sim_report {
    codeobj_kernel kernel;
    const chip *chip;
    uint32_t lds_bytes; /* dynamic */
    uint32_t entry;     /* of the kernel, in bytes from the start of the text section */
    double launch_ms;   /* host time */
    sim_timing timing;  /* with job->timing */
    sim_args args;
} sim_report;

/* sim_run: load, fill buffers, launch, wait, write buffers to the files that ask for it.
 * owner: sim_report_free, also after an error
 * errors: BAD_OBJECT, BAD_TARGET, BAD_ARGUMENT, LIMIT (block or LDS), FAULT (what the kernel did), IO, NO_MEMORY */
cdnagen_status sim_run(const sim_job *job, sim_report *out);
void sim_report_free(sim_report *r);

#endif
