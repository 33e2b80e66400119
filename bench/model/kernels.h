/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels made while the benchmark runs, launched under the timing model. */
#ifndef BENCH_MODEL_KERNELS_H
#define BENCH_MODEL_KERNELS_H

#include "sim/sim.h"
#include "sim/timing.h"

/* kernel: `body` is AMDGPU assembly of a kernel "k" that starts with s[0:1] = arguments and v0 = work item, or, if
 * `opencl`, OpenCL C of a kernel "k". */
typedef struct kernel {
    const char *chip, *body;
    int opencl, vgprs, lds;
    unsigned groups, threads;
    size_t buffer_bytes; /* of the two buffers that are the arguments */
} kernel;

/* kernel_time: modelled time of a launch; exits with a message if anything fails.   owner: sim_timing_free */
sim_timing kernel_time(const kernel *k);

/* kernel_cost: the host's seconds for a launch, with or without the model. */
double kernel_cost(const kernel *k, int modelled);

/* repeat: a text n times.   owner: free */
char *repeat(const char *once, int n);

#endif
