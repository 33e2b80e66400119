/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The vector path of the matrix instructions, compiled once an instruction set. The file that includes this defines
 *   PATH          name of the sim_mfma_path
 *   VECTOR_BYTES  register width
 *   TILE          f32 vectors that stay in registers as sums
 *   SPLAT(x)      x in every element
 *   FUSED, FMA(a, b, c)   whether products that are inexact in f32 are handled, and a * b + c
 * One row of D is N neighbouring lanes of one register, and one element of all rows of A (or columns of B) is M
 * neighbouring lanes too, so vectors run along lanes and every element keeps the plain path's order of sums.
 * source: docs/mfma.md */
#include "sim/mfma_rows.h"

#define INLINE static inline __attribute__((always_inline))
enum { W = VECTOR_BYTES / 4 };
typedef float vf __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t vi __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t vu __attribute__((vector_size(VECTOR_BYTES)));
typedef float vf_memory __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef uint32_t vu_memory __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));

INLINE vf load(const void *p) { return *(const vf_memory *)p; }
INLINE vu load_bits(const void *p) { return *(const vu_memory *)p; }
INLINE void store(void *p, vf v) { *(vf_memory *)p = v; }

/* widen: an element at the top of each dword as f32. Its exponent and mantissa go where f32 has the low ones of its
 * own, and one exact product by a power of two mends the bias, denormals included. */
INLINE vf widen(vu top, int shift, uint32_t sign_magnitude, uint32_t exponent, float rebias, small_special special) {
    const vi bits = ((vi)top >> shift) & (int32_t)sign_magnitude, magnitude = bits & INT32_MAX;
    const vi f = (vi)((vf)bits * rebias);
    switch (special) {
    case SPECIAL_NONE: return (vf)f;
    case SPECIAL_ALL_ONES: return (vf)(f | (vi)(magnitude == (int32_t)(sign_magnitude & INT32_MAX)));
    case SPECIAL_MINUS_0: return (vf)(f | (vi)(bits == INT32_MIN));
    case SPECIAL_IEEE: return (vf)(f | ((vi)((magnitude & (int32_t)exponent) == (int32_t)exponent) & 0x7f800000));
    }
    return (vf)f;
}

/* spread_as: an operand's elements as out[k][rows]. */
INLINE void spread_as(const uint32_t *in, float *out, int rows, int k_count, const small_float *f, int chunk,
                      small_special special) {
    const int groups = 64 / rows, each = k_count / groups, shift = 8 - f->exponent;
    const uint32_t magnitude = ((1u << (f->bits - 1)) - 1) << (23 - f->mantissa);
    const uint32_t exponent = ((1u << f->exponent) - 1) << 23;
    const uint32_t rebias_bits = (uint32_t)(127 + 127 - f->bias) << 23;
    float rebias;
    memcpy(&rebias, &rebias_bits, sizeof rebias);
    for (int first = 0; first < each; first += chunk)
        for (int g = 0; g < groups; g++) {
            float *to = out + (first * groups + g * chunk) * rows;
            for (int x = first; x < first + chunk; x++, to += rows) {
                const int bit = x * f->bits, at = bit % 32;
                const uint32_t *dwords = in + bit / 32 * 64 + g * rows;
                for (int i = 0; i < rows; i += W) {
                    vu top = load_bits(dwords + i);
                    if (at + f->bits <= 32)
                        top <<= 32 - f->bits - at;
                    else
                        top = (top >> at | load_bits(dwords + 64 + i) << (32 - at)) << (32 - f->bits);
                    store(to + i, widen(top, shift, 0x80000000 | magnitude, exponent, rebias, special));
                }
            }
        }
}

INLINE void spread(const uint32_t *in, float *out, int rows, int k_count, const small_float *f, int selected) {
    const int groups = 64 / rows, chunk = selected && f->bits == 8 ? 16 : k_count / groups;
    switch (f->special) {
    case SPECIAL_NONE: spread_as(in, out, rows, k_count, f, chunk, SPECIAL_NONE); break;
    case SPECIAL_ALL_ONES: spread_as(in, out, rows, k_count, f, chunk, SPECIAL_ALL_ONES); break;
    case SPECIAL_MINUS_0: spread_as(in, out, rows, k_count, f, chunk, SPECIAL_MINUS_0); break;
    case SPECIAL_IEEE: spread_as(in, out, rows, k_count, f, chunk, SPECIAL_IEEE); break;
    }
}

/* chains: sum[i][j] = fma chain of a[k][i] * b[k][j] over k, from sum[i][j] or from 0. */
INLINE void chains(float *sum, int from_zero, const float *a, const float *b, int size, int k_count) {
    enum { COLUMNS = 2 };
    const int wide = size >= COLUMNS * W ? COLUMNS : 1, tall = TILE / wide;
    for (int i = 0; i < size; i += tall)
        for (int j = 0; j < size; j += wide * W) {
            vf tile[TILE];
#pragma GCC unroll 32
            for (int t = 0; t < TILE; t++)
                tile[t] = from_zero ? (vf){} : load(sum + (i + t / wide) * size + j + t % wide * W);
            for (int k = 0; k < k_count; k++) {
                const float *column = a + k * size + i, *row = b + k * size + j;
                vf right[COLUMNS];
#pragma GCC unroll 2
                for (int v = 0; v < wide; v++) right[v] = load(row + v * W);
#pragma GCC unroll 32
                for (int t = 0; t < TILE; t++) tile[t] = FMA(SPLAT(column[t / wide]), right[t % wide], tile[t]);
            }
#pragma GCC unroll 32
            for (int t = 0; t < TILE; t++) store(sum + (i + t / wide) * size + j + t % wide * W, tile[t]);
        }
}

INLINE void add_scaled(const sim_mfma_call *q, float *sum, const float *part, int size, int k_block) {
    double right[32];
    for (int j = 0; j < size; j++)
        right[j] = sim_mfma_scale(q->mod->scale_b[k_block * size + j], sim_mfma_scale_byte(q->mod, 1));
    for (int i = 0; i < size; i++) {
        const double left = sim_mfma_scale(q->mod->scale_a[k_block * size + i], sim_mfma_scale_byte(q->mod, 0));
        for (int j = 0; j < size; j++)
            sum[i * size + j] = (float)((double)sum[i * size + j] + (double)part[i * size + j] * (left * right[j]));
    }
}

INLINE void add(float *sum, const float *part, int count) {
    for (int i = 0; i < count; i += W) store(sum + i, load(sum + i) + load(part + i));
}

INLINE void run_sized(const sim_mfma_call *q, int size) {
    const sim_mfma *m = q->row;
    const int selected = m->a == FORMAT_SELECTED, bands = 64 / size;
    _Alignas(64) float a[INPUT_ELEMENTS], b[INPUT_ELEMENTS], sum[32 * 32], part[32 * 32];
    spread(q->a, a, size, m->k, sim_small_float(sim_mfma_format_a(m, q->mod), q->chip), selected);
    spread(q->b, b, size, m->k, sim_small_float(sim_mfma_format_b(m, q->mod), q->chip), selected);
    for (int i = 0; i < size; i++)
        memcpy(sum + i * size, q->c + (i / (4 * bands) * 4 + i % 4) * 64 + i / 4 % bands * size, (size_t)size * 4);
    if (!selected) chains(sum, 0, a, b, size, m->k);
    for (int k = 0; selected && k < m->k; k += BLOCK_K) {
        chains(part, 1, a + k * size, b + k * size, size, BLOCK_K);
        if (m->scaled)
            add_scaled(q, sum, part, size, k / BLOCK_K);
        else
            add(sum, part, size * size);
    }
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j += W) {
            const vf v = load(sum + i * size + j);
            const vi number = v == v;
            const vi r = ((vi)v & number) | (F32_NAN & ~number);
            store(q->d + (i / (4 * bands) * 4 + i % 4) * 64 + i / 4 % bands * size + j, (vf)r);
        }
}

static void run(const sim_mfma_call *q) {
    if (q->row->m == 32)
        run_sized(q, 32);
    else
        run_sized(q, 16);
}

const sim_mfma_path PATH = {.name = VECTOR_NAME, .fused = FUSED, .run = run};
