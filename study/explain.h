/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where a kernel's cycles go, as the simulator's timing model sees it. Nothing here is measured. */
#ifndef STUDY_EXPLAIN_H
#define STUDY_EXPLAIN_H

#include "gen/family.h"
#include "sim/timing.h"

typedef struct explanation {
    sim_timing timing;          /* of the launch that was asked for */
    char shape[SHAPE_TEXT_MAX]; /* of the launch that was looked at: fewer rows where the data would be too large */
    int reduced;
    uint64_t groups; /* workgroups that were asked for */
} explanation;

/* explain_run: model the kernel that `ctx`, a context on the simulator, generated from `p`.
 * `info` is the kernel's; `asked` says how, but for `only` and `stands_for`
 * errors: BAD_SHAPE (a run-time word is missing), BAD_ARGUMENT, IO (parameters), NO_MEMORY, and what the launch
 * returns */
cdnagen_status explain_run(cdnagen *ctx, cdnagen_kernel *kernel, const cdnagen_kernel_info *info, const plan *p,
                           const sim_timing_options *asked, explanation *out);
void explain_free(explanation *e);

#endif
