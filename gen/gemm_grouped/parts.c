/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What each group multiplies, from lengths and extents: in host memory, what the kernel finds out on the device. */
#include <string.h>

#include "gen/gemm_grouped/gemm_grouped.h"

static int64_t between(int64_t x, int64_t least, int64_t most) { return x < least ? least : x > most ? most : x; }

/* extent_at: as the kernel reads it: of 8 bytes the low 4. */
static int64_t extent_at(const grouped_problem *p, const void *extents, int64_t group) {
    int32_t low = 0;
    const int entry = grouped_layouts[p->layout].extent_bytes;
    if (entry) memcpy(&low, (const char *)extents + group * entry, sizeof low);
    return low;
}

/* span: the part of the cut length that a group has. */
typedef struct span {
    int64_t begin, length;
} span;

static span span_of(const grouped_problem *p, const void *extents, int64_t group, int64_t total, int64_t begin) {
    const int64_t extent = extent_at(p, extents, group);
    if (p->layout == GROUPED_SIZES) return (span){begin, between(extent, 0, total - begin)};
    return (span){begin, between(extent, begin, total) - begin};
}

static grouped_part part_of(const grouped_problem *p, int64_t group, span s, int64_t valid) {
    const grouped_traits *const t = &grouped_layouts[p->layout];
    grouped_part part = {.rows = valid, .columns = p->n, .length = p->k, .scale_rows = p->m};
    if (t->a_slabs) part.a_row = group * p->m;
    if (t->b_slabs) part.b_row = group * p->n;
    if (t->c_slabs) part.c_row = group * p->m;
    if (t->cuts == GROUPED_CUTS_ROWS) {
        part.a_row = part.c_row = s.begin;
        part.rows = part.scale_rows = s.length;
    } else if (t->cuts == GROUPED_CUTS_COLUMNS) {
        part.b_row = part.c_column = s.begin;
        part.columns = s.length;
    } else if (t->cuts == GROUPED_CUTS_K) {
        part.k = s.begin;
        part.length = s.length;
    } else {
        part.padding = p->m - valid;
    }
    /* A group of k_offsets has scales of its own for the rows that it shares. */
    part.a_scale = t->cuts == GROUPED_CUTS_K ? group * p->m : part.a_row;
    part.b_scale = t->cuts == GROUPED_CUTS_K ? group * p->n : part.b_row;
    if (p->scale == GROUPED_SCALE_BLOCK) {
        part.a_scale *= p->k / GEMM_SCALE_K;
        part.b_scale = group * (p->k / GEMM_SCALE_K) * (p->n / GEMM_SCALE_K);
    }
    return part;
}

void grouped_parts(const grouped_problem *p, const void *extents, grouped_part *parts) {
    const grouped_cut cuts = grouped_layouts[p->layout].cuts;
    const int64_t total = cuts == GROUPED_CUTS_K ? p->k : cuts == GROUPED_CUTS_COLUMNS ? p->n : p->m;
    int64_t begin = 0;
    for (int64_t group = 0; group < p->groups; group++) {
        span s = {0, 0};
        if (cuts != GROUPED_CUTS_NOTHING) s = span_of(p, extents, group, total, begin);
        const int64_t valid = p->layout == GROUPED_PADDED ? between(extent_at(p, extents, group), 0, p->m) : p->m;
        parts[group] = part_of(p, group, s, valid);
        begin += s.length;
    }
}

/* product: INT64_MAX if it is more. */
static int64_t product(int64_t a, int64_t b) {
    int64_t c;
    return __builtin_mul_overflow(a, b, &c) ? INT64_MAX : c;
}

void grouped_lengths(const grouped_problem *p, int64_t elements[GROUPED_WORKSPACE]) {
    const grouped_traits *const t = &grouped_layouts[p->layout];
    const int64_t a_rows = product(t->a_slabs ? p->groups : 1, p->m),
                  b_rows = product(t->b_slabs ? p->groups : 1, p->n);
    const int is_block = p->scale == GROUPED_SCALE_BLOCK, own_scales = t->cuts == GROUPED_CUTS_K;
    const int64_t k_blocks = p->k / GEMM_SCALE_K;
    elements[GROUPED_A] = product(a_rows, p->k);
    elements[GROUPED_B] = product(b_rows, p->k);
    elements[GROUPED_A_SCALES] = is_block ? product(a_rows, k_blocks) : product(own_scales ? p->groups : 1, a_rows);
    elements[GROUPED_B_SCALES] = is_block ? product(product(p->groups, k_blocks), p->n / GEMM_SCALE_K)
                                          : product(own_scales ? p->groups : 1, b_rows);
    elements[GROUPED_C] = product(product(t->c_slabs ? p->groups : 1, p->m), p->n);
    elements[GROUPED_EXTENTS] = t->extent_bytes ? p->groups : 0;
}
