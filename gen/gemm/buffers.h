/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Buffers of a matrix product's run: between guards, and what is seen of them when they come back. */
#ifndef GEN_GEMM_BUFFERS_H
#define GEN_GEMM_BUFFERS_H

#include "gen/family.h"

enum {
    GEMM_GUARD_BYTES = 1024, /* before and behind a buffer: NaN in every type that buffers have */
    GEMM_POISON = 0x7fc5     /* what C holds before: a NaN, as bf16 and as f16, that no conversion makes */
};

/* gemm_buffer: a buffer of `size` bytes between its guards, without data.   errors: NO_MEMORY (more than a size_t) */
cdnagen_status gemm_buffer(const char *name, uint64_t size, int output, problem_buffer *out);
/* gemm_buffer_allocate: its data, zeros between guards.   errors: NO_MEMORY */
cdnagen_status gemm_buffer_allocate(problem_buffer *b);
/* gemm_buffer_inside: its first byte behind the guard, of its own data or of what stands for them elsewhere.
 * gemm_buffer_bytes: between the guards. */
void *gemm_buffer_inside(void *data);
size_t gemm_buffer_bytes(const problem_buffer *b);
/* gemm_buffer_poison: C before the launch. */
void gemm_buffer_poison(problem_buffer *c);

/* gemm_grade_rest: fails a grade where a guard of c or of the workspace was written, or one of the `counters` with
 * which a workspace begins is not zero. */
void gemm_grade_rest(const problem_buffer *c, const char *c_back, const problem_buffer *workspace,
                     const char *workspace_back, uint64_t counters, grade *g);

#endif
