/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A kernel's modelled time in one line. */
#ifndef TESTS_TIMING_MODEL_H
#define TESTS_TIMING_MODEL_H

#include "sim/timing.h"
#include "tests/sim/gpu.h"

/* model: launch `kernel` with one buffer as argument under the model. `overrides`: lines of a parameter file, or
 * NULL. */
sim_timing model(hip_module module, const char *kernel, gpu_grid grid, uint64_t buffer, const char *overrides,
                 int only);

/* model_body: the same for the body of an assembly kernel, one workgroup of `threads`. */
sim_timing model_body(const char *body, unsigned threads, const char *overrides);

/* assert_sums: every buckets' sum agrees with the others. */
void assert_sums(const sim_timing *t);

#endif
