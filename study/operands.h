/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A generated kernel with its workload on the device, ready to be launched again and again. */
#ifndef STUDY_OPERANDS_H
#define STUDY_OPERANDS_H

#include "gen/family.h"

typedef struct operands {
    cdnagen *ctx;
    cdnagen_kernel *kernel; /* generated from `plan` */
    const plan *plan;
    problem problem;
    int made;
    void *device[PROBLEM_BUFFERS_MAX];
    void *args;
} operands;

/* operands_open: the workload of `plan` into device memory; ctx, kernel and plan are set.
 * owner: operands_close, also after an error   errors: as check_run, before its launch */
cdnagen_status operands_open(operands *o);
void operands_close(operands *o);

/* operands_launch: a measure_side.launch whose user is an operands. */
cdnagen_status operands_launch(void *user, void *stream);

#endif
