/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The operator in plain C. */
#include <math.h>
#include <string.h>

#include "core/fp8.h"
#include "core/integer.h"
#include "gen/gemm_blockscale/gemm_blockscale.h"

/* B is kept transposed in blocks of BLOCK columns, [k][BLOCK], so that one row of A times a block is BLOCK independent
 * sums that stay in registers. */
typedef float lanes __attribute__((vector_size(32)));
enum { LANES_FLOATS = 8, BLOCK_LANES = 4, BLOCK = LANES_FLOATS * BLOCK_LANES };

float blockscale_scale(gemm_scale_type type, const void *scales, int64_t index, int64_t along, int64_t block,
                       int64_t along_k) {
    const int64_t at = index * along + block * along_k;
    if (type == GEMM_SCALES_F32) return ((const float *)scales)[at];
    const uint8_t exponent = ((const uint8_t *)scales)[at];
    return exponent == 255 ? NAN : ldexpf(1, exponent - 127);
}

static float a_scale(const blockscale_operands *in, int64_t m, int64_t block) {
    const int is_k_major = in->a_scale_layout == GEMM_SCALES_K_MAJOR;
    return blockscale_scale(in->scale_type, in->a_scales, m / in->scale_m, is_k_major ? 1 : in->a_scales_stride, block,
                            is_k_major ? in->a_scales_stride : 1);
}

static float b_scale(const blockscale_operands *in, int64_t n, int64_t block) {
    return blockscale_scale(in->scale_type, in->b_scales, n / in->scale_n, in->b_scales_stride, block, 1);
}

/* columns: one block of B's columns, with their scales. */
typedef struct columns {
    lanes *b;      /* [k][BLOCK_LANES] */
    lanes *scales; /* [k blocks][BLOCK_LANES] */
} columns;

static void load_columns(const blockscale_operands *in, const float values[256], int64_t n0, const columns *to) {
    const int64_t blocks = ceil_div(in->k, GEMM_SCALE_K);
    for (int64_t i = 0; i < BLOCK; i++) {
        const int64_t n = n0 + i;
        const int exists = n < in->n;
        float *const column = (float *)to->b + i, *const scale = (float *)to->scales + i;
        for (int64_t k = 0; k < in->k; k++) {
            const int64_t at = in->b_layout == GEMM_B_PLAIN ? n * in->b_stride + k : gemm_pack_offset(n, k, in->k);
            column[k * BLOCK] = exists ? values[in->b[at]] : 0;
        }
        for (int64_t block = 0; block < blocks; block++) scale[block * BLOCK] = exists ? b_scale(in, n, block) : 0;
    }
}

/* sum_row: one row of A against one block of columns, with whatever instructions its caller may use. */
static inline __attribute__((always_inline)) void sum_row(const blockscale_operands *in, int64_t m, const float *a,
                                                          const columns *c, lanes sums[BLOCK_LANES]) {
    for (int i = 0; i < BLOCK_LANES; i++) sums[i] = (lanes){0};
    for (int64_t k0 = 0, block = 0; k0 < in->k; k0 += GEMM_SCALE_K, block++) {
        const int64_t end = k0 + GEMM_SCALE_K < in->k ? k0 + GEMM_SCALE_K : in->k;
        lanes part0 = {0}, part1 = {0}, part2 = {0}, part3 = {0};
        for (int64_t k = k0; k < end; k++) {
            const float x = a[k];
            const lanes *const b = c->b + k * BLOCK_LANES;
            part0 += x * b[0];
            part1 += x * b[1];
            part2 += x * b[2];
            part3 += x * b[3];
        }
        const float scale = a_scale(in, m, block);
        const lanes *const b_scales = c->scales + block * BLOCK_LANES;
        sums[0] += part0 * (scale * b_scales[0]);
        sums[1] += part1 * (scale * b_scales[1]);
        sums[2] += part2 * (scale * b_scales[2]);
        sums[3] += part3 * (scale * b_scales[3]);
    }
}

typedef void row_summer(const blockscale_operands *in, int64_t m, const float *a, const columns *c,
                        lanes sums[BLOCK_LANES]);

static void sum_row_anywhere(const blockscale_operands *in, int64_t m, const float *a, const columns *c,
                             lanes sums[BLOCK_LANES]) {
    sum_row(in, m, a, c, sums);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void sum_row_avx2(const blockscale_operands *in, int64_t m, const float *a,
                                                             const columns *c, lanes sums[BLOCK_LANES]) {
    sum_row(in, m, a, c, sums);
}
static row_summer *choose_summer(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? sum_row_avx2 : sum_row_anywhere;
}
#else
static row_summer *choose_summer(void) { return sum_row_anywhere; }
#endif

/* aligned: arena memory is 16-byte aligned, the lanes need their own 32. */
static lanes *aligned(arena *memory, int64_t count) {
    char *const p = arena_alloc(memory, (size_t)(count + 1) * sizeof(lanes));
    return (lanes *)(p + (sizeof(lanes) - (uintptr_t)p % sizeof(lanes)) % sizeof(lanes));
}

cdnagen_status blockscale_reference(const blockscale_operands *in, float *out) {
    arena memory = {0};
    const columns c = {aligned(&memory, (in->k + 1) * BLOCK_LANES),
                       aligned(&memory, (ceil_div(in->k, GEMM_SCALE_K) + 1) * BLOCK_LANES)};
    float *const a = arena_alloc(&memory, (size_t)(in->m * in->k + 1) * sizeof(float));
    if (memory.failed) {
        arena_free(&memory);
        return fail_no_memory();
    }
    row_summer *const sum = choose_summer();
    float values[256];
    fp8_values(in->a_fp8, values);
    for (int64_t m = 0; m < in->m; m++)
        for (int64_t k = 0; k < in->k; k++) a[m * in->k + k] = values[in->a[m * in->a_stride + k]];
    fp8_values(in->b_fp8, values);
    for (int64_t n0 = 0; n0 < in->n; n0 += BLOCK) {
        load_columns(in, values, n0, &c);
        const int64_t count = in->n - n0 < BLOCK ? in->n - n0 : BLOCK;
        for (int64_t m = 0; m < in->m; m++) {
            lanes sums[BLOCK_LANES];
            sum(in, m, a + m * in->k, &c, sums);
            memcpy(out + m * in->n + n0, sums, (size_t)count * sizeof(float));
        }
    }
    arena_free(&memory);
    return CDNAGEN_OK;
}
