/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The plain path of the matrix instructions: reads each element from its place and sums in the documented order. It is
 * what every vector path must equal.   source: docs/mfma.md */
#include <math.h>

#include "sim/convert.h"
#include "sim/mfma_rows.h"

/* Every input format, f64 and i8 included, is exact in a double. */
typedef struct operand {
    double value[INPUT_ELEMENTS]; /* [block][outer][k] */
} operand;

static uint64_t bits_at(const uint32_t *registers, sim_place p, int bits) {
    const uint32_t *r = registers + (size_t)(p.bit / 32) * 64 + (size_t)p.lane;
    const int shift = p.bit % 32;
    uint64_t v = r[0] >> shift;
    if (shift + bits > 32) v |= (uint64_t)r[64] << (32 - shift);
    return bits == 64 ? v : v & ((UINT64_C(1) << bits) - 1);
}

static double from_f32(uint32_t x, int flush) {
    float v;
    if (flush && (x & 0x7f800000) == 0) x &= 0x80000000;
    memcpy(&v, &x, sizeof v);
    return v;
}

static double element(const sim_mfma_call *q, const uint32_t *registers, sim_place p, sim_format f) {
    const uint64_t x = bits_at(registers, p, sim_format_bits(f));
    double v;
    switch (f) {
    case FORMAT_I8: return (int8_t)x;
    case FORMAT_F32: return from_f32((uint32_t)x, q->mod->flush_f32);
    case FORMAT_F64: memcpy(&v, &x, sizeof v); return v;
    default: return small_value(sim_small_float(f, q->chip), (uint32_t)x);
    }
}

/* blgp 0-7 of B's lanes: straight; both halves read lanes 0-31, or 32-63; rotated by 16; all read one quarter. */
static int blgp_lane(int blgp, int lane) {
    if (blgp == 0) return lane;
    if (blgp < 3) return lane % 32 + 32 * (blgp - 1);
    if (blgp == 3) return (lane + 16) % 64;
    return lane % 16 + 16 * (blgp - 4);
}

static void load_a(const sim_mfma_call *q, operand *a) {
    const sim_mfma *m = q->row;
    const sim_format f = sim_mfma_format_a(m, q->mod);
    const int broadcast = m->a == FORMAT_SELECTED ? 0 : q->mod->cbsz;
    const double sign = m->blgp == BLGP_NEGATE && q->mod->blgp & 1 ? -1 : 1;
    double *out = a->value;
    for (int block = 0; block < m->blocks; block++)
        for (int i = 0; i < m->m; i++)
            for (int k = 0; k < m->k; k++) {
                const int from = (block >> broadcast << broadcast) + (broadcast ? q->mod->abid : 0);
                *out++ = sign * element(q, q->a, sim_mfma_input(m, f, from, i, k), f);
            }
}

static void load_b(const sim_mfma_call *q, operand *b) {
    const sim_mfma *m = q->row;
    const sim_format f = sim_mfma_format_b(m, q->mod);
    const double sign = m->blgp == BLGP_NEGATE && q->mod->blgp & 2 ? -1 : 1;
    double *out = b->value;
    for (int block = 0; block < m->blocks; block++)
        for (int j = 0; j < m->n; j++)
            for (int k = 0; k < m->k; k++) {
                sim_place p = sim_mfma_input(m, f, block, j, k);
                if (m->blgp == BLGP_LANES) p.lane = blgp_lane(q->mod->blgp, p.lane);
                *out++ = sign * element(q, q->b, p, f);
            }
}

static float chain(const double *a, const double *b, int k, float sum) {
    for (int i = 0; i < k; i++) sum = fmaf((float)a[i], (float)b[i], sum);
    return sum;
}

static double scale_of(const sim_mfma_call *q, int i, int j, int k_block) {
    const sim_mfma *m = q->row;
    if (!m->scaled) return 1;
    return sim_mfma_scale(q->mod->scale_a[k_block * m->m + i], sim_mfma_scale_byte(q->mod, 0)) *
           sim_mfma_scale(q->mod->scale_b[k_block * m->n + j], sim_mfma_scale_byte(q->mod, 1));
}

static uint32_t dot_f32(const sim_mfma_call *q, const double *a, const double *b, int i, int j, uint32_t c) {
    float sum;
    memcpy(&sum, &c, sizeof sum);
    if (q->row->a != FORMAT_SELECTED) {
        sum = chain(a, b, q->row->k, sum);
    } else {
        for (int k = 0; k < q->row->k; k += BLOCK_K)
            sum = (float)((double)sum + chain(a + k, b + k, BLOCK_K, 0) * scale_of(q, i, j, k / BLOCK_K));
    }
    uint32_t bits = F32_NAN;
    if (!isnan(sum)) memcpy(&bits, &sum, sizeof bits);
    return bits;
}

static uint64_t dot_f64(const sim_mfma_call *q, const double *a, const double *b, uint64_t c) {
    double sum;
    memcpy(&sum, &c, sizeof sum);
    if (q->mod->blgp & 4) sum = -sum;
    for (int k = 0; k < q->row->k; k++) sum = fma(a[k], b[k], sum);
    uint64_t bits = UINT64_C(0x7ff8) << 48;
    if (!isnan(sum)) memcpy(&bits, &sum, sizeof bits);
    return bits;
}

static uint32_t dot_i32(const double *a, const double *b, int k, uint32_t sum) {
    for (int i = 0; i < k; i++) sum += (uint32_t)((int32_t)a[i] * (int32_t)b[i]);
    return sum;
}

void sim_mfma_plain(const sim_mfma_call *q) {
    const sim_mfma *m = q->row;
    operand a, b;
    load_a(q, &a);
    load_b(q, &b);
    for (int block = 0; block < m->blocks; block++)
        for (int i = 0; i < m->m; i++)
            for (int j = 0; j < m->n; j++) {
                const double *row = a.value + (block * m->m + i) * m->k, *column = b.value + (block * m->n + j) * m->k;
                const sim_place p = sim_mfma_output(m, block, i, j);
                const size_t at = (size_t)(p.bit / 32) * 64 + (size_t)p.lane;
                if (m->d == FORMAT_F64) {
                    const uint64_t r = dot_f64(q, row, column, (uint64_t)q->c[at + 64] << 32 | q->c[at]);
                    q->d[at] = (uint32_t)r;
                    q->d[at + 64] = (uint32_t)(r >> 32);
                } else if (m->d == FORMAT_I32) {
                    q->d[at] = dot_i32(row, column, m->k, q->c[at]);
                } else {
                    q->d[at] = dot_f32(q, row, column, i, j, q->c[at]);
                }
            }
}
