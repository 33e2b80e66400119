/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which lengths of N and K a kernel serves. */
#ifndef GEN_GEMM_LENGTHS_H
#define GEN_GEMM_LENGTHS_H

#include "gen/gemm/tiling.h"

/* gemm_class: what a kernel is made for. */
typedef struct gemm_class {
    gemm_geometry tile;
    int64_t n_tail, k_tail; /* N, K need not be whole tiles */
    int64_t unroll;         /* K is exactly so many tiles; 0 = any number of them */
} gemm_class;

/* gemm_check_shape: a shape's n and k, below 0 where they are not given.   errors: BAD_SHAPE, LIMIT
 * gemm_check_launch: a launch's.   errors: BAD_ARGUMENT; each names the needed and the given value */
cdnagen_status gemm_check_shape(const char *op, const gemm_class *c, int64_t n, int64_t k);
cdnagen_status gemm_check_launch(const char *op, const gemm_class *c, int64_t n, int64_t k);

/* gemm_tail_from_public: a cdnagen_tail as the shape's word; `name` is the word's.   errors: BAD_SHAPE */
cdnagen_status gemm_tail_from_public(const char *op, const char *name, int32_t tail, int64_t *out);

#endif
