/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The operator in plain C, a group at a time. */
#include <string.h>

#include "core/fp8.h"
#include "core/integer.h"
#include "gen/gemm_grouped/gemm_grouped.h"

/* values: what both operands' bytes mean. */
typedef struct values {
    float a[256], b[256];
} values;

/* state: of one reference: B's columns of a group are kept as f32, [k][LANES_FLOATS], a block of columns at a time, so
 * that a row of A times a block is as many independent sums. */
typedef float lanes __attribute__((vector_size(32), aligned(16)));
enum { LANES_FLOATS = 8, BLOCK_LANES = 2, BLOCK = LANES_FLOATS * BLOCK_LANES };

typedef struct state {
    const grouped_operands *in;
    const values *values;
    const grouped_part *part;
    lanes *b; /* [length][BLOCK_LANES] */
    float *a; /* [length] */
    float *c;
} state;

static void load_columns(const state *s, int64_t first, int64_t count) {
    const grouped_operands *const in = s->in;
    const grouped_part *const p = s->part;
    const int64_t k = in->lengths.k;
    for (int64_t i = 0; i < BLOCK; i++)
        for (int64_t j = 0; j < p->length; j++) {
            const int64_t row = p->b_row + first + i, column = p->k + j;
            const int64_t at = in->b_layout == GEMM_B_PLAIN ? row * k + column : gemm_pack_offset(row, column, k);
            ((float *)s->b)[j * BLOCK + i] = i < count ? s->values->b[in->b[at]] : 0;
        }
}

/* The sums of one row over K in [begin, end). */
static void sum(const state *s, int64_t begin, int64_t end, lanes out[BLOCK_LANES]) {
    lanes low = {0}, high = {0};
    for (int64_t k = begin; k < end; k++) {
        low += s->a[k] * s->b[k * BLOCK_LANES];
        high += s->a[k] * s->b[k * BLOCK_LANES + 1];
    }
    out[0] = low;
    out[1] = high;
}

static void row_of_rows(const state *s, int64_t row, int64_t first, int64_t count, float *c) {
    const grouped_part *const p = s->part;
    lanes sums[BLOCK_LANES];
    sum(s, 0, p->length, sums);
    const float scale = s->in->a_scales[p->a_scale + row];
    for (int64_t i = 0; i < count; i++)
        c[i] = ((const float *)sums)[i] * scale * s->in->b_scales[p->b_scale + first + i];
}

static void row_of_blocks(const state *s, int64_t row, int64_t first, int64_t count, float *c) {
    const grouped_part *const p = s->part;
    const int64_t n_blocks = s->in->lengths.n / GEMM_SCALE_K;
    memset(c, 0, (size_t)count * sizeof *c);
    for (int64_t block = 0; block * GEMM_SCALE_K < p->length; block++) {
        lanes sums[BLOCK_LANES];
        sum(s, block * GEMM_SCALE_K, smaller((block + 1) * GEMM_SCALE_K, p->length), sums);
        const float a_scale = s->in->a_scales[p->a_scale + block * p->scale_rows + row];
        for (int64_t i = 0; i < count; i++) {
            const float b_scale = s->in->b_scales[p->b_scale + block * n_blocks + (first + i) / GEMM_SCALE_K];
            c[i] += ((const float *)sums)[i] * (a_scale * b_scale);
        }
    }
}

static void compute_part(const state *s) {
    const grouped_operands *const in = s->in;
    const grouped_part *const p = s->part;
    const int64_t columns = p->columns / GROUPED_QUAD * GROUPED_QUAD; /* what a quad cannot hold is not written */
    for (int64_t first = 0; first < columns; first += BLOCK) {
        const int64_t count = smaller(columns - first, BLOCK);
        load_columns(s, first, count);
        for (int64_t row = 0; row < p->rows; row++) {
            const uint8_t *const a = in->a + (p->a_row + row) * in->lengths.k + p->k;
            for (int64_t k = 0; k < p->length; k++) s->a[k] = s->values->a[a[k]];
            float *const c = s->c + (p->c_row + row) * in->lengths.n + p->c_column + first;
            if (in->lengths.scale == GROUPED_SCALE_BLOCK)
                row_of_blocks(s, row, first, count, c);
            else
                row_of_rows(s, row, first, count, c);
        }
    }
}

static void do_part(const state *s) {
    const grouped_part *const p = s->part;
    const int64_t n = s->in->lengths.n;
    const int is_left = !p->length && s->in->empty_k == GROUPED_EMPTY_K_LEAVE;
    if (!is_left) compute_part(s);
    if (s->in->zero_padding) memset(s->c + (p->c_row + p->rows) * n, 0, (size_t)(p->padding * n) * sizeof *s->c);
}

cdnagen_status grouped_reference(const grouped_operands *in, float *c) {
    const grouped_problem *const l = &in->lengths;
    int64_t elements[GROUPED_WORKSPACE];
    grouped_lengths(l, elements);
    if (!l->groups || !l->m || !l->n || !l->k) {
        memset(c, 0, (size_t)elements[GROUPED_C] * sizeof *c);
        return CDNAGEN_OK;
    }
    arena memory = {0};
    grouped_part *const parts = arena_alloc(&memory, (size_t)l->groups * sizeof *parts);
    values *const v = arena_alloc(&memory, sizeof *v);
    state s = {.in = in, .values = v, .c = c};
    s.a = arena_alloc(&memory, (size_t)l->k * sizeof *s.a);
    s.b = arena_alloc(&memory, (size_t)l->k * BLOCK_LANES * sizeof *s.b);
    const int failed = memory.failed;
    if (!failed) {
        fp8_values(in->a_fp8, v->a);
        fp8_values(in->b_fp8, v->b);
        grouped_parts(l, in->extents, parts);
        for (int64_t g = 0; g < l->groups; g++) {
            s.part = &parts[g];
            do_part(&s);
        }
    }
    arena_free(&memory);
    return failed ? fail_no_memory() : CDNAGEN_OK;
}
