/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The operator in plain C, and the rules by which a kernel's logits are graded against it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/fp8.h"
#include "gen/mqa_logits/mqa_logits.h"

/* ---- logits ---- */

/* KV is kept transposed in blocks of BLOCK columns, [dim][BLOCK], so that one head's dot products with a block are
 * BLOCK independent sums that stay in registers. */
typedef float lanes __attribute__((vector_size(32)));
enum { LANES_FLOATS = 8, BLOCK_LANES = 4, BLOCK = LANES_FLOATS * BLOCK_LANES };

static void transpose_keys(const mqa_operands *in, float *keys) {
    float values[256];
    fp8_values(in->kv_fp8, values);
    for (int64_t n = 0; n < in->seq_kv; n++) {
        float *const column = keys + n / BLOCK * BLOCK * in->dim + n % BLOCK;
        for (int64_t d = 0; d < in->dim; d++)
            column[d * BLOCK] = values[in->kv[n * in->strides.kv + d]] * in->kv_scales[n];
    }
}

/* head_sums: logits of one row against one block of keys. */
static void head_sums(const mqa_operands *in, const float *q, const float *weights, const lanes *keys,
                      lanes logits[BLOCK_LANES]) {
    for (int i = 0; i < BLOCK_LANES; i++) logits[i] = (lanes){0};
    for (int64_t h = 0; h < in->heads; h++) {
        lanes dot0 = {0}, dot1 = {0}, dot2 = {0}, dot3 = {0};
        for (int64_t d = 0; d < in->dim; d++) {
            const float x = q[h * in->dim + d];
            const lanes *const k = keys + d * BLOCK_LANES;
            dot0 += x * k[0];
            dot1 += x * k[1];
            dot2 += x * k[2];
            dot3 += x * k[3];
        }
        const lanes dots[BLOCK_LANES] = {dot0, dot1, dot2, dot3};
        for (int i = 0; i < BLOCK_LANES; i++)
            for (int l = 0; l < LANES_FLOATS; l++) logits[i][l] += (dots[i][l] < 0 ? 0 : dots[i][l]) * weights[h];
    }
}

static float weight(const mqa_operands *in, int64_t at) {
    if (in->weights_type == CDNAGEN_WEIGHTS_BF16) return f32_from_bf16(((const uint16_t *)in->weights)[at]);
    return ((const float *)in->weights)[at];
}

static void row_logits(const mqa_operands *in, int64_t m, const float *q, const float *weights, const float *keys,
                       float *row) {
    const int64_t start = larger(in->cu_starts[m], 0);
    const int64_t end = smaller(in->cu_ends[m], in->seq_kv);
    for (int64_t n = 0; n < in->seq_kv; n++) row[n] = -INFINITY;
    for (int64_t block = start / BLOCK * BLOCK; block < end; block += BLOCK) {
        lanes logits[BLOCK_LANES];
        head_sums(in, q, weights, (const lanes *)(keys + block * in->dim), logits);
        const int64_t from = larger(start, block), to = smaller(end, block + BLOCK);
        for (int64_t n = from; n < to; n++) row[n] = logits[(n - block) / LANES_FLOATS][(n - block) % LANES_FLOATS];
    }
}

cdnagen_status mqa_reference_logits(const mqa_operands *in, float *logits) {
    const size_t blocks = (size_t)ceil_div(in->seq_kv, BLOCK), row = (size_t)(in->heads * in->dim);
    arena memory = {0};
    /* Arena memory is 16-byte aligned, the lanes need their own 32. */
    char *const keys_bytes = arena_alloc(&memory, blocks * BLOCK * (size_t)in->dim * sizeof(float) + sizeof(lanes));
    float *const q = arena_alloc(&memory, row * sizeof(float));
    float *const weights = arena_alloc(&memory, (size_t)in->heads * sizeof(float));
    if (memory.failed) {
        arena_free(&memory);
        return fail_no_memory();
    }
    float *const keys = (float *)(keys_bytes + (sizeof(lanes) - (uintptr_t)keys_bytes % sizeof(lanes)) % sizeof(lanes));
    transpose_keys(in, keys);
    float values[256];
    fp8_values(in->q_fp8, values);
    for (int64_t m = 0; m < in->seq; m++) {
        for (int64_t h = 0; h < in->heads; h++)
            for (int64_t d = 0; d < in->dim; d++)
                q[h * in->dim + d] = values[in->q[m * in->strides.q + h * in->strides.q_head + d]];
        for (int64_t h = 0; h < in->heads; h++) weights[h] = weight(in, m * in->strides.weights + h);
        row_logits(in, m, q, weights, keys, logits + m * in->seq_kv);
    }
    arena_free(&memory);
    return CDNAGEN_OK;
}

/* ---- grading ---- */

/* Both figures are to be less than this: 1 - 2 sum(xy) / sum(x^2 + y^2) over finite places, and
 * max |reference - out| / max |reference|. */
#define LESS_THAN 1e-3

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void note_first(grade *g, int64_t m, int64_t n, const char *what, float expected, float got) {
    if (!g->first[0])
        snprintf(g->first, sizeof g->first, "[%lld, %lld] %s: expected %g, got %g (0x%08x)", (long long)m, (long long)n,
                 what, (double)expected, (double)got, bits_of(got));
}

/* sums: what the rules need, over places where the reference is finite. */
typedef struct sums {
    double xy, squares, max_difference, max_reference;
    int64_t finite;
    int bad; /* a difference that is not a number */
} sums;

static void add_place(sums *s, double reference, double out) {
    const double difference = fabs(reference - out);
    s->xy += reference * out;
    s->squares += reference * reference + out * out;
    if (!(difference <= s->max_difference)) s->max_difference = difference;
    if (isnan(difference)) s->bad = 1;
    if (fabs(reference) > s->max_reference) s->max_reference = fabs(reference);
    s->finite++;
}

/* got_at: the value that is graded. With clean 0 a place outside the window counts as -inf if it still holds the
 * poison; if not, the kernel wrote where it must not. */
static float got_at(const mqa_shape *s, float reference, float out, uint32_t poison, grade *g, int64_t m, int64_t n) {
    if (s->clean || reference != -INFINITY) return out;
    if (bits_of(out) != poison) {
        g->guards_intact = 0;
        note_first(g, m, n, "outside the window, must not be written", reference, out);
    }
    return -INFINITY;
}

void mqa_grade_logits(const mqa_shape *s, const float *reference, const float *out, int64_t stride, uint32_t poison,
                      grade *result) {
    grade g = {.mask_equal = 1, .guards_intact = 1};
    sums total = {0};
    for (int64_t m = 0; m < s->seq; m++) {
        const float *const want_row = reference + m * s->seq_kv, *const out_row = out + m * stride;
        for (int64_t n = 0; n < s->seq_kv; n++) {
            const float want = want_row[n], got = got_at(s, want, out_row[n], poison, &g, m, n);
            if ((want == -INFINITY) != (got == -INFINITY)) {
                g.mask_equal = 0;
                note_first(&g, m, n, "-inf mask", want, got);
            } else if (want != -INFINITY)
                add_place(&total, want, got);
        }
        for (int64_t n = s->seq_kv; n < stride; n++)
            if (bits_of(out_row[n]) != poison) {
                g.guards_intact = 0;
                note_first(&g, m, n, "row padding, must not be written", NAN, out_row[n]);
            }
    }
    if (total.bad) total.max_difference = NAN;
    const double calc_diff = total.finite > 1 && total.squares != 0 ? 1 - 2 * total.xy / total.squares : 0;
    const double max_rel = total.max_difference == 0 ? 0 : total.max_difference / total.max_reference;
    grade_add(&g, "calc_diff", calc_diff, nextafter(LESS_THAN, 0));
    grade_add(&g, "max_rel", max_rel, nextafter(LESS_THAN, 0));
    g.pass = grade_passes(&g);
    for (int64_t m = 0; m < s->seq && !g.first[0] && !g.pass; m++)
        for (int64_t n = 0; n < s->seq_kv && !g.first[0]; n++) {
            const float want = reference[m * s->seq_kv + n], got = out[m * stride + n];
            if (want != -INFINITY && !(fabs((double)want - (double)got) < LESS_THAN * total.max_reference))
                note_first(&g, m, n, "logit", want, got);
        }
    *result = g;
}
