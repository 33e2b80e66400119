/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rules by which a matrix product's C is graded against its reference. */
#ifndef GEN_GEMM_GRADE_H
#define GEN_GEMM_GRADE_H

#include "gen/family.h"
#include "gen/gemm/gemm.h"

/* gemm_out_value, gemm_out_bits: an element of C, and back.   math: rounded to nearest even */
float gemm_out_value(gemm_out type, uint16_t bits);
uint16_t gemm_out_bits(gemm_out type, float x);

/* gemm_result: what a kernel wrote, and what it should be.
 * shapes: reference [m, n] f32, contiguous, not yet rounded; c [m, stride] */
typedef struct gemm_result {
    int64_t m, n, stride;
    gemm_out type;
    const float *reference;
    const uint16_t *c;
    int exact;       /* c must be the reference, rounded, to the bit */
    uint16_t poison; /* what places between rows must still hold */
} gemm_result;

/* gemm_grade: (i) no place differs by more than 1e-2 + 1e-2 * |reference|, and the cosine is 1; (ii) no 16x16 tile
 * differs by more than 1e-2 of its norm; with `exact` (iii) no bit differs. Nothing between rows was written.
 * source: gen/gemm_blockscale/README.md, "Grading" */
void gemm_grade(const gemm_result *r, grade *out);

#endif
