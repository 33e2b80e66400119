/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The matrix instructions of gfx942 and gfx950. Names are LLVM's. The xf32 rows of gfx942 are absent: how the hardware
 * rounds their inputs is not published.
 * source: AMD CDNA3 and CDNA4 ISA guides; AMD matrix instruction calculator (which modifiers a row takes) */
#include "sim/mfma_rows.h"

/* name, m, n, k, blocks, A, B, D, what blgp means, chips, scaled, derived */
#define ROW(name, m, n, k, blocks, a, b, d, blgp, chips, derived)                                                      \
    {"v_mfma_" name, m, n, k, blocks, FORMAT_##a, FORMAT_##b, FORMAT_##d, BLGP_##blgp, ON_##chips, 0, derived}
#define SCALED(name, m, n, k)                                                                                          \
    {"v_mfma_scale_" name, m, n, k, 1, FORMAT_SELECTED, FORMAT_SELECTED, FORMAT_F32, BLGP_FORMAT, ON_GFX950, 1, 1}

const sim_mfma sim_mfma_rows[] = {
    ROW("f32_32x32x1_2b_f32", 32, 32, 1, 2, F32, F32, F32, LANES, BOTH, 0),
    ROW("f32_16x16x1_4b_f32", 16, 16, 1, 4, F32, F32, F32, LANES, BOTH, 0),
    ROW("f32_4x4x1_16b_f32", 4, 4, 1, 16, F32, F32, F32, LANES, BOTH, 0),
    ROW("f32_32x32x2_f32", 32, 32, 2, 1, F32, F32, F32, LANES, BOTH, 0),
    ROW("f32_16x16x4_f32", 16, 16, 4, 1, F32, F32, F32, LANES, BOTH, 0),
    ROW("f32_32x32x4_2b_f16", 32, 32, 4, 2, F16, F16, F32, LANES, BOTH, 0),
    ROW("f32_16x16x4_4b_f16", 16, 16, 4, 4, F16, F16, F32, LANES, BOTH, 0),
    ROW("f32_4x4x4_16b_f16", 4, 4, 4, 16, F16, F16, F32, LANES, BOTH, 0),
    ROW("f32_32x32x8_f16", 32, 32, 8, 1, F16, F16, F32, LANES, BOTH, 0),
    ROW("f32_16x16x16_f16", 16, 16, 16, 1, F16, F16, F32, LANES, BOTH, 0),
    ROW("f32_32x32x16_f16", 32, 32, 16, 1, F16, F16, F32, NONE, GFX950, 1),
    ROW("f32_16x16x32_f16", 16, 16, 32, 1, F16, F16, F32, NONE, GFX950, 1),
    ROW("f32_32x32x4_2b_bf16", 32, 32, 4, 2, BF16, BF16, F32, NONE, BOTH, 0),
    ROW("f32_16x16x4_4b_bf16", 16, 16, 4, 4, BF16, BF16, F32, NONE, BOTH, 0),
    ROW("f32_4x4x4_16b_bf16", 4, 4, 4, 16, BF16, BF16, F32, NONE, BOTH, 0),
    ROW("f32_32x32x8_bf16", 32, 32, 8, 1, BF16, BF16, F32, NONE, BOTH, 0),
    ROW("f32_16x16x16_bf16", 16, 16, 16, 1, BF16, BF16, F32, NONE, BOTH, 0),
    ROW("f32_32x32x16_bf16", 32, 32, 16, 1, BF16, BF16, F32, NONE, GFX950, 1),
    ROW("f32_16x16x32_bf16", 16, 16, 32, 1, BF16, BF16, F32, NONE, GFX950, 1),
    ROW("f32_32x32x16_fp8_fp8", 32, 32, 16, 1, FP8, FP8, F32, NONE, BOTH, 0),
    ROW("f32_32x32x16_fp8_bf8", 32, 32, 16, 1, FP8, BF8, F32, NONE, BOTH, 0),
    ROW("f32_32x32x16_bf8_fp8", 32, 32, 16, 1, BF8, FP8, F32, NONE, BOTH, 0),
    ROW("f32_32x32x16_bf8_bf8", 32, 32, 16, 1, BF8, BF8, F32, NONE, BOTH, 0),
    ROW("f32_16x16x32_fp8_fp8", 16, 16, 32, 1, FP8, FP8, F32, NONE, BOTH, 0),
    ROW("f32_16x16x32_fp8_bf8", 16, 16, 32, 1, FP8, BF8, F32, NONE, BOTH, 0),
    ROW("f32_16x16x32_bf8_fp8", 16, 16, 32, 1, BF8, FP8, F32, NONE, BOTH, 0),
    ROW("f32_16x16x32_bf8_bf8", 16, 16, 32, 1, BF8, BF8, F32, NONE, BOTH, 0),
    ROW("f32_32x32x64_f8f6f4", 32, 32, 64, 1, SELECTED, SELECTED, F32, FORMAT, GFX950, 1),
    ROW("f32_16x16x128_f8f6f4", 16, 16, 128, 1, SELECTED, SELECTED, F32, FORMAT, GFX950, 1),
    SCALED("f32_32x32x64_f8f6f4", 32, 32, 64),
    SCALED("f32_16x16x128_f8f6f4", 16, 16, 128),
    ROW("i32_32x32x4_2b_i8", 32, 32, 4, 2, I8, I8, I32, NONE, BOTH, 0),
    ROW("i32_16x16x4_4b_i8", 16, 16, 4, 4, I8, I8, I32, NONE, BOTH, 0),
    ROW("i32_4x4x4_16b_i8", 4, 4, 4, 16, I8, I8, I32, NONE, BOTH, 0),
    ROW("i32_32x32x16_i8", 32, 32, 16, 1, I8, I8, I32, NONE, BOTH, 0),
    ROW("i32_16x16x32_i8", 16, 16, 32, 1, I8, I8, I32, NONE, BOTH, 0),
    ROW("i32_32x32x32_i8", 32, 32, 32, 1, I8, I8, I32, NONE, GFX950, 1),
    ROW("i32_16x16x64_i8", 16, 16, 64, 1, I8, I8, I32, NONE, GFX950, 1),
    ROW("f64_16x16x4_f64", 16, 16, 4, 1, F64, F64, F64, NEGATE, BOTH, 0),
    ROW("f64_4x4x4_4b_f64", 4, 4, 4, 4, F64, F64, F64, NEGATE, BOTH, 0),
};
const int sim_mfma_row_count = sizeof sim_mfma_rows / sizeof sim_mfma_rows[0];
