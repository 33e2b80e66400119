/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scales of A and B, and what they do to the sums of a K block. */
#include "gen/gemm/emit_gemm.h"

enum { BLOCK_BITS = 7 /* of 128 rows that share a scale */ };

val gemm_scale_at(gemm *g, const gemm_scales *s, val row) {
    ir *const e = g->e;
    const val block = s->rows == 1 ? row : e_shr(e, e_add(e, row, s->skipped), BLOCK_BITS);
    return e_mul(e, block, s->row_stride);
}

val gemm_scale(gemm *g, const gemm_scales *s, val at, val k_block, gemm_mask mask) {
    ir *const e = g->e;
    if (mask == GEMM_TO_K) at = gemm_silent(g, at, e_less(e, e_muli(e, k_block, GEMM_SCALE_K), g->k));
    return e_buffer_load_at(e, s->from, F32, at, e_mul(e, k_block, s->k_stride), 0);
}

/* Scalar: packed FMA cannot run beside MFMA. source: docs/timing.md */
val gemm_promoted(gemm *g, val part, val scale, val sum) {
    ir *const e = g->e;
    const int count = TYPE_LENGTH(e_type(e, part)), scales = TYPE_LENGTH(e_type(e, scale));
    val sums[16];
    for (int i = 0; i < count; i++) {
        const val p = e_element(e, part, i), s = scales > 1 ? e_element(e, scale, i) : scale;
        sums[i] = e_fma(e, p, s, e_element(e, sum, i));
    }
    return e_vector(e, sums, count);
}
