/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels generated from plans, and two of them timed against each other. */
#ifndef STUDY_MADE_H
#define STUDY_MADE_H

#include "gen/family.h"
#include "study/measure.h"

/* made: a generated kernel with its facts. */
typedef struct made {
    cdnagen_kernel *kernel;
    cdnagen_kernel_info info;
} made;

/* made_from: the kernel of the plan's own tag and shape.
 * owner: cdnagen_free_kernel(out->kernel), also after an error   errors: as gen_kernel */
cdnagen_status made_from(cdnagen *ctx, const plan *p, made *out);

/* made_measure: launches of two kernels that the context generated from these plans, each on its workload's data.
 * units: microseconds of sides[i], whose launch is filled here   errors: as operands_open and measure_pair */
cdnagen_status made_measure(cdnagen *ctx, const measure_counts *n, const plan *const plans[2],
                            cdnagen_kernel *const kernels[2], measure_side sides[2]);

#endif
