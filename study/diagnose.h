/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A kernel beside what its operator offers to compare it with, and what follows from that. Modelled; on a GPU the
 * changes are measured, each in turns with the kernel. source: docs/diagnosis.md */
#ifndef STUDY_DIAGNOSE_H
#define STUDY_DIAGNOSE_H

#include "study/explain.h"
#include "study/measure.h"
#include "study/verdict.h"

/* diagnosed: the kernel itself, or one change of it. */
typedef struct diagnosed {
    const char *name; /* static */
    char tag[SYMBOL_MAX];
    char lacking[256];           /* why it was not run, or is not compared; "" */
    double clk, clk_at_twice;    /* modelled */
    double us, us_beside;        /* measured, and the kernel's own in turns with it; 0: nothing was measured */
    unsigned counts[KIND_COUNT]; /* instructions of the code object */
    load load;
    difference difference; /* from the kernel, whichever is slower; of the same work only */
} diagnosed;

enum { SWEEP_POINTS_MAX = 8 };
/* sweep: modelled time over trips of the inner loop.   units: clk */
typedef struct sweep {
    int count; /* 0: the operator or this kernel has none */
    double trips[SWEEP_POINTS_MAX], clk[SWEEP_POINTS_MAX];
    line line;
    double launch_clk, write_clk; /* what the fixed part is compared with */
    double waves;                 /* of the launch on one SIMD */
    double trip_clk, bound_clk;   /* of a wave's trip on its SIMD: slope / waves, and the largest bound; 0: not known */
    const char *bound;            /* which one that is */
} sweep;

typedef struct diagnosis_report {
    explanation kernel;
    diagnosed *runs; /* [0] is the kernel */
    trial *trials;   /* of runs; [0] is not valid */
    size_t count;
    int measured;
    double traffic;       /* bytes beyond L2 */
    double bytes_per_clk; /* of the memory behind L2 */
    double residual;
    duty duty;
    roofs roofs;
    sweep sweep;
    verdict verdict;
} diagnosis_report;

typedef struct diagnose_options {
    const char *parameters;       /* of the timing model; NULL: none */
    cdnagen *gpu;                 /* where changes are measured; NULL: they are modelled */
    const measure_counts *counts; /* then */
    void (*progress)(void *user, const char *what, size_t done);
    void *user;
} diagnose_options;

/* diagnose: `ctx` is on the simulator; info and kernel are p's.
 * owner:  diagnosis_report_free, also after an error
 * errors: BAD_ARGUMENT (the operator has no diagnosis; p is wrong by design), FAULT (the wave identity is broken), and
 * what
 *         generating, modelling and measuring the kernel itself return. A change that cannot be made is no error. */
cdnagen_status diagnose(cdnagen *ctx, cdnagen_kernel *kernel, const cdnagen_kernel_info *info, const plan *p,
                        const diagnose_options *options, diagnosis_report *out);
void diagnosis_report_free(diagnosis_report *r);

#endif
