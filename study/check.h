/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A checked run: make data, run a kernel on it, compare every element with the operator's plain C reference. */
#ifndef STUDY_CHECK_H
#define STUDY_CHECK_H

#include "gen/family.h"

typedef enum check_step {
    CHECK_MAKE,      /* host data */
    CHECK_COPY_IN,   /* allocation and copies to the device */
    CHECK_LAUNCH,    /* launch to completion */
    CHECK_COPY_OUT,  /* results back */
    CHECK_REFERENCE, /* plain C */
    CHECK_GRADE,
    CHECK_STEPS
} check_step;

/* launch_operator: the public launch function of an operator, by its family. */
cdnagen_status launch_operator(const family *f, cdnagen_kernel *kernel, const void *args, void *stream);

extern const char *const check_step_names[CHECK_STEPS];

typedef struct check_options {
    uint64_t seed;
    int modelled; /* nothing but the launch's time counts: the data are make_modelled's */
    int run_only; /* stop after the results are back: no reference, no grade */
    void (*begin)(void *user, check_step step);
    void *user;
} check_options;

typedef struct check_report {
    grade grade;
    double step_ms[CHECK_STEPS];
} check_report;

/* check_run: run `kernel`, which was generated from `p`'s tag and shape, on p's workload.
 * errors: BAD_SHAPE (a run-time word is missing), NO_MEMORY, and what allocation, copies and launch return; a result
 *         that fails the grade is no error */
cdnagen_status check_run(cdnagen *ctx, cdnagen_kernel *kernel, const plan *p, const check_options *options,
                         check_report *out);

#endif
