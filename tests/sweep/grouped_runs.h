/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the sweeps of gemm_grouped share: kernels, and single launches whose C is kept. */
#ifndef TESTS_SWEEP_GROUPED_RUNS_H
#define TESTS_SWEEP_GROUPED_RUNS_H

#include "gen/gemm_grouped/forms.h"
#include "tests/gen/testing.h"
#include "tests/sweep/runs.h"

/* kernel_row: `tag` is without the operator's name; "auto" is what the route takes. */
enum { ROW_TAG_BYTES = 100 };
typedef struct kernel_row {
    const char *chip;
    char tag[ROW_TAG_BYTES];
} kernel_row;

/* runs_row: a kernel of chip number `which`: `rest` of a tag after the chip's FP8 atom, its "_async" left out where the
 * chip has no LDS DMA of 16 bytes; "auto" as it is. */
kernel_row runs_row(int which, const char *rest);

/* runs_kernel: generated, without spills, scratch and AGPRs; its plan with the shape's run-time words.
 * owner: cdnagen_free_kernel */
cdnagen_kernel *runs_kernel(cdnagen *ctx, const kernel_row *k, const char *shape, plan *p);

/* runs_graded: a launch on the workload's data, graded by the operator's rules: it passes, or the test fails. */
void runs_graded(const kernel_row *k, const char *shape, const char *mode, uint64_t seed);

/* run_result: one launch, what came back and its grade.   owner: runs_let_go */
typedef struct run_result {
    problem data;
    void *back[PROBLEM_BUFFERS_MAX];
    grade grade;
} run_result;

/* runs_with: as runs_graded, with these extents in place of the workload's if not NULL, and C kept.
 * runs_assert_same: both have the same bits of C, guards included. */
void runs_with(const kernel_row *k, const char *shape, const char *mode, const void *extents, size_t extent_bytes,
               run_result *out);
void runs_let_go(run_result *r);
void runs_assert_same(const run_result *a, const run_result *b, const char *what);

#endif
