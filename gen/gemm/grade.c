/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Grading of C: places, cosine, tiles, bits and what lies between rows. */
#include "gen/gemm/grade.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/fp8.h"

enum { EDGE = 16 /* of the tiles whose norms are compared */ };
#define TOLERANCE 1e-2  /* of a place: absolute, and relative to the reference */
#define COSINE_MAX 1e-5 /* 1 - cosine */
#define TILE_MAX 1e-2   /* norm of the difference over the norm of the tile */
#define TILE_FLOOR 0.05 /* a tile's norm counts as at least so much of the mean one */

float gemm_out_value(gemm_out type, uint16_t bits) {
    if (type == GEMM_BF16) return f32_from_bf16(bits);
    _Float16 half;
    memcpy(&half, &bits, sizeof half);
    return (float)half;
}

uint16_t gemm_out_bits(gemm_out type, float x) {
    if (type == GEMM_BF16) return bf16_from_f32(x);
    const _Float16 half = (_Float16)x;
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    return bits;
}

/* sums: what the rules need. */
typedef struct sums {
    double xy, xx, yy; /* of reference and C */
    int64_t mismatches, unequal;
} sums;

static void note_first(grade *g, int64_t m, int64_t n, const char *what, double want, double got) {
    if (!g->first[0])
        snprintf(g->first, sizeof g->first, "[%lld, %lld] %s: expected %.9g, got %.9g", (long long)m, (long long)n,
                 what, want, got);
}

/* grade_tile: one 16x16 tile; norms of the reference and of the difference. */
static void grade_tile(const gemm_result *r, int64_t m0, int64_t n0, sums *s, grade *g, double *norm, double *off) {
    double squares = 0, differences = 0;
    for (int64_t m = m0; m < m0 + EDGE && m < r->m; m++)
        for (int64_t n = n0; n < n0 + EDGE && n < r->n; n++) {
            const uint16_t bits = r->c[m * r->stride + n], right = gemm_out_bits(r->type, r->reference[m * r->n + n]);
            const double want = (double)gemm_out_value(r->type, right), got = (double)gemm_out_value(r->type, bits);
            const double difference = fabs(want - got);
            s->xy += want * got;
            s->xx += want * want;
            s->yy += got * got;
            squares += want * want;
            differences += difference * difference;
            /* Written so that a NaN is a mismatch. */
            if (!(difference <= TOLERANCE + TOLERANCE * fabs(want))) {
                s->mismatches++;
                note_first(g, m, n, "C", want, got);
            } else if (r->exact && bits != right) {
                note_first(g, m, n, "exact C", want, got);
            }
            s->unequal += bits != right;
        }
    *norm = sqrt(squares);
    *off = sqrt(differences);
}

/* worst_tile: two passes, since a tile's floor is a part of the mean norm. */
static double worst_tile(const gemm_result *r, sums *s, grade *g) {
    double total = 0, worst = 0;
    int64_t count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t m = 0; m < r->m; m += EDGE)
            for (int64_t n = 0; n < r->n; n += EDGE) {
                sums again = {0};
                double norm, off;
                grade_tile(r, m, n, pass ? &again : s, g, &norm, &off);
                if (!pass) {
                    total += norm;
                    count++;
                    continue;
                }
                const double least = fmax(TILE_FLOOR * total / (double)count, 1e-30), part = off / fmax(norm, least);
                if (!(part <= worst)) worst = part;
            }
    return worst;
}

static void grade_padding(const gemm_result *r, grade *g) {
    for (int64_t m = 0; m < r->m; m++)
        for (int64_t n = r->n; n < r->stride; n++) {
            const uint16_t bits = r->c[m * r->stride + n];
            if (bits == r->poison) continue;
            g->guards_intact = 0;
            note_first(g, m, n, "between rows, must not be written", (double)gemm_out_value(r->type, r->poison),
                       (double)gemm_out_value(r->type, bits));
        }
}

void gemm_grade(const gemm_result *r, grade *out) {
    grade g = {.mask_equal = GRADE_NO_MASK, .guards_intact = 1};
    sums s = {0};
    const double worst = worst_tile(r, &s, &g), places = (double)r->m * (double)r->n;
    const double lengths = sqrt(s.xx) * sqrt(s.yy);
    grade_add(&g, "err_ratio", places > 0 ? (double)s.mismatches / places : 0, 0);
    grade_add(&g, "1 - cosine", s.xx == 0 && s.yy == 0 ? 0 : 1 - s.xy / lengths, COSINE_MAX);
    grade_add(&g, "tile norm", worst, TILE_MAX);
    if (r->exact) grade_add(&g, "unequal", (double)s.unequal, 0);
    grade_padding(r, &g);
    g.pass = grade_passes(&g);
    if (!g.pass && !g.first[0])
        snprintf(g.first, sizeof g.first, "many small differences: no place is off by more than %g", TOLERANCE);
    *out = g;
}
