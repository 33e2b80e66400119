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

val gemm_scale(gemm *g, const gemm_scales *s, val at, val k_block) {
    ir *const e = g->e;
    val block_at = e_mul(e, k_block, s->k_stride);
    if (g->k_tail && g->bk > GEMM_SCALE_K)
        block_at = gemm_silent(g, block_at, e_less(e, e_muli(e, k_block, GEMM_SCALE_K), g->k));
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

gemm_scale_places gemm_place_scales(gemm *g, const gemm_sums *sums) {
    ir *const e = g->e;
    const int by_mfma = g->scaling == GEMM_MFMA;
    gemm_scale_places at = {.a_count = g->a_scales.uniform ? 1 : sums->m_atoms,
                            .b_count = g->b_scales.uniform ? 1 : sums->n_atoms,
                            .lane_columns = g->b_scales.uniform || by_mfma ? 1 : g->atom->m * g->atom->n / LANES};
    const val row = g->a_scales.uniform ? sums->row : e_add(e, sums->row, gemm_lane_row(g));
    for (int i = 0; i < at.a_count; i++) at.a[i] = gemm_scale_at(g, &g->a_scales, e_addi(e, row, sums->rows[i]));
    if (g->b_scales.uniform) {
        at.b[0][0] = gemm_scale_at(g, &g->b_scales, sums->column);
        return at;
    }
    const val own = by_mfma ? gemm_lane_row(g) : gemm_lane_column(g), column = e_add(e, sums->column, own);
    for (int j = 0; j < at.b_count; j++)
        for (int c = 0; c < at.lane_columns; c++) {
            const int from_lane = sums->columns[j] + t_sum_row(g->atom, 0, c);
            at.b[j][c] = gemm_scale_at(g, &g->b_scales, e_addi(e, column, from_lane));
        }
    return at;
}

gemm_block_scales gemm_load_scales(gemm *g, const gemm_scale_places *at, val k_block) {
    gemm_block_scales s = {0};
    for (int i = 0; i < at->a_count; i++) s.a[i] = gemm_scale(g, &g->a_scales, at->a[i], k_block);
    for (int j = 0; j < at->b_count; j++) {
        val columns[GEMM_LANE_COLUMNS_MAX];
        for (int c = 0; c < at->lane_columns; c++) columns[c] = gemm_scale(g, &g->b_scales, at->b[j][c], k_block);
        s.b[j] = at->lane_columns == 1 ? columns[0] : e_vector(g->e, columns, at->lane_columns);
    }
    return s;
}

/* no_scales: the factors 1. */
static gemm_block_scales no_scales(gemm *g, const gemm_sums *sums) {
    gemm_block_scales s = {0};
    const val one = g->scaling == GEMM_MFMA ? e_i32(g->e, 127) : e_f32(g->e, 1);
    for (int i = 0; i < sums->m_atoms; i++) s.a[i] = one;
    for (int j = 0; j < sums->n_atoms; j++) s.b[j] = one;
    return s;
}

gemm_block_scales gemm_factors(gemm *g, const gemm_scale_places *at, const gemm_block_scales *loaded,
                               const gemm_sums *sums) {
    ir *const e = g->e;
    const int halves = g->a.from_fn + g->b.from_fn;
    if (!gemm_has_scales(g)) return no_scales(g, sums);
    gemm_block_scales s = *loaded;
    for (int j = 0; j < at->b_count && g->scaling != GEMM_MFMA; j++) s.b[j] = gemm_scale_f32(g, &g->b_scales, s.b[j]);
    for (int i = 0; i < at->a_count && g->scaling != GEMM_MFMA; i++) {
        s.a[i] = gemm_scale_f32(g, &g->a_scales, s.a[i]);
        if (g->b_scales.uniform) s.a[i] = e_fmul(e, s.a[i], s.b[0], 0);
        if (halves) s.a[i] = e_fmul(e, s.a[i], e_f32(e, 1 << halves), 0);
    }
    for (int i = at->a_count; i < sums->m_atoms; i++) s.a[i] = s.a[0];
    for (int j = at->b_count; j < sums->n_atoms; j++) s.b[j] = s.b[0];
    return s;
}

val gemm_factor(gemm *g, const gemm_block_scales *factors, int i, int j) {
    ir *const e = g->e;
    if (g->b_scales.uniform || !gemm_has_scales(g)) return factors->a[i];
    const int count = g->atom->m * g->atom->n / LANES;
    val columns[GEMM_LANE_COLUMNS_MAX];
    for (int c = 0; c < count; c++) columns[c] = e_fmul(e, factors->a[i], e_element(e, factors->b[j], c), 0);
    return e_vector(e, columns, count);
}

static val scale_of(gemm *g, val scale, int i) {
    return TYPE_LENGTH(e_type(g->e, scale)) > 1 ? e_element(g->e, scale, i) : scale;
}

val gemm_scaled(gemm *g, val sums, val scale) {
    ir *const e = g->e;
    const int count = TYPE_LENGTH(e_type(e, sums));
    val scales[SUMS_MAX];
    for (int i = 0; i < count; i++) scales[i] = scale_of(g, scale, i);
    return e_fmul(e, sums, e_vector(e, scales, count), 0);
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
