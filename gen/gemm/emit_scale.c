/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scales of A and B, and what they do to the sums of a K block. */
#include "gen/gemm/emit_gemm.h"

enum { BLOCK_BITS = 7 /* of 128 rows that share a scale */, MANTISSA_BITS = 23, SUMS_MAX = 16 };

val gemm_scale_at(gemm *g, const gemm_scales *s, val row) {
    ir *const e = g->e;
    const val block = s->rows == 1 ? row : e_shr(e, e_add(e, row, s->skipped), BLOCK_BITS);
    return e_mul(e, block, s->row_stride);
}

/* 2^(x - 127); 255 is NaN. The exponents 0 and 255 of f32 need a bit of the mantissa to say so. */
static val from_ue8m0(gemm *g, val x) {
    ir *const e = g->e;
    const val exponent = e_shl(e, x, MANTISSA_BITS);
    const val at_end = e_less(e, e_and(e, e_addi(e, x, 1), e_i32(e, 255)), e_i32(e, 2));
    const val mantissa = e_select(e, at_end, e_i32(e, 1 << (MANTISSA_BITS - 1)), e_i32(e, 0));
    return e_bitcast(e, e_or(e, exponent, mantissa), F32);
}

val gemm_scale(gemm *g, const gemm_scales *s, val at, val k_block, gemm_mask mask) {
    ir *const e = g->e;
    if (mask == GEMM_TO_K) at = gemm_silent(g, at, e_less(e, e_muli(e, k_block, GEMM_SCALE_K), g->k));
    const val block_at = e_mul(e, k_block, s->k_stride);
    if (s->type == GEMM_SCALES_F32) return e_buffer_load_at(e, s->from, F32, at, block_at, 0);
    return e_zext_byte(e, e_buffer_load_at(e, s->from, I8, at, block_at, 0));
}

val gemm_scale_f32(gemm *g, const gemm_scales *s, val scale) {
    const int count = TYPE_LENGTH(e_type(g->e, scale));
    if (s->type == GEMM_SCALES_F32) return scale;
    if (count == 1) return from_ue8m0(g, scale);
    val scales[SUMS_MAX];
    for (int i = 0; i < count; i++) scales[i] = from_ue8m0(g, e_element(g->e, scale, i));
    return e_vector(g->e, scales, count);
}

static val scale_of(gemm *g, val scale, int i) {
    return TYPE_LENGTH(e_type(g->e, scale)) > 1 ? e_element(g->e, scale, i) : scale;
}

val gemm_scaled(gemm *g, val sums, val scale) {
    ir *const e = g->e;
    const int count = TYPE_LENGTH(e_type(e, sums));
    val scaled[SUMS_MAX];
    for (int i = 0; i < count; i++) {
        const val s = scale_of(g, scale, i);
        scaled[i] = e_fmul(e, e_element(e, sums, i), s, 0);
    }
    return e_vector(e, scaled, count);
}

/* Scalar: packed FMA cannot run beside MFMA. source: docs/timing.md */
val gemm_promoted(gemm *g, val part, val scale, val sum) {
    ir *const e = g->e;
    const int count = TYPE_LENGTH(e_type(e, part));
    val sums[SUMS_MAX];
    for (int i = 0; i < count; i++) {
        const val p = e_element(e, part, i), s = scale_of(g, scale, i);
        sums[i] = e_fma(e, p, s, e_element(e, sum, i));
    }
    return e_vector(e, sums, count);
}
