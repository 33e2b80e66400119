/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Grading of C: places, cosine, units in the last place, bits and what must not be written. */
#include <math.h>
#include <stdio.h>

#include "gen/gemm_grouped/gemm_grouped.h"

#define TOLERANCE 1e-2      /* of a place: absolute, and relative to the reference */
#define COSINE_MAX 1e-5     /* 1 - cosine */
#define ULPS_MAX 2          /* of a place's own size, or of a 256th of the largest place's where that is more */
#define ULP_FLOOR 0x1p-8    /* f32 sums of many products of both signs are no more accurate than that */
#define ABSOLUTE_MAX 0.0039 /* of the benchmark's data */

/* ulp: from a value of that size to the next one of the type. */
static double ulp(gemm_out type, double size) {
    enum { BF16_BITS = 7, F16_BITS = 10, BF16_LEAST = -133, F16_LEAST = -24 };
    const int exponent = size > 0 ? ilogb(size) : -1000;
    const int last = exponent - (type == GEMM_BF16 ? BF16_BITS : F16_BITS);
    const int least = type == GEMM_BF16 ? BF16_LEAST : F16_LEAST;
    return ldexp(1, last > least ? last : least);
}

/* sums: what the rules need. */
typedef struct sums {
    double xy, xx, yy; /* of reference and C */
    double largest;    /* |reference| */
    double ulps, absolute;
    int64_t places, mismatches, unequal;
} sums;

static void note_first(const grouped_result *r, grade *g, int64_t at, const char *what, double want, double got) {
    if (!g->first[0])
        snprintf(g->first, sizeof g->first, "[%lld, %lld] %s: expected %.9g, got %.9g", (long long)(at / r->n),
                 (long long)(at % r->n), what, want, got);
}

static void grade_unwritten(const grouped_result *r, int64_t at, grade *g) {
    if (r->c[at] == r->poison) return;
    g->guards_intact = 0;
    note_first(r, g, at, "must not be written", (double)gemm_out_value(r->type, r->poison),
               (double)gemm_out_value(r->type, r->c[at]));
}

static void grade_place(const grouped_result *r, int64_t at, sums *s, grade *g) {
    const uint16_t bits = r->c[at], right = gemm_out_bits(r->type, r->reference[at]);
    const double exact = (double)r->reference[at], want = (double)gemm_out_value(r->type, right);
    const double got = (double)gemm_out_value(r->type, bits), off = fabs(exact - got);
    const double ulps = off / ulp(r->type, fmax(fabs(exact), ULP_FLOOR * s->largest));
    s->places++;
    s->xy += want * got;
    s->xx += want * want;
    s->yy += got * got;
    s->unequal += bits != right;
    /* Written so that a NaN is the worst there is. */
    if (!(ulps <= s->ulps)) s->ulps = ulps;
    if (!(off <= s->absolute)) s->absolute = off;
    if (!(off <= TOLERANCE + TOLERANCE * fabs(exact))) {
        s->mismatches++;
        note_first(r, g, at, "C", exact, got);
    } else if (!(ulps <= ULPS_MAX)) {
        note_first(r, g, at, "C within 2 ulp", exact, got);
    } else if (r->data == GROUPED_EXACT && bits != right) {
        note_first(r, g, at, "exact C", want, got);
    }
}

void grouped_grade(const grouped_result *r, grade *out) {
    grade g = {.mask_equal = GRADE_NO_MASK, .guards_intact = 1};
    sums s = {0};
    for (int64_t i = 0; i < r->count; i++)
        if (fabs((double)r->reference[i]) > s.largest) s.largest = fabs((double)r->reference[i]);
    for (int64_t i = 0; i < r->count; i++)
        if (isnan(r->reference[i]))
            grade_unwritten(r, i, &g);
        else
            grade_place(r, i, &s, &g);
    const double lengths = sqrt(s.xx) * sqrt(s.yy);
    grade_add(&g, "err_ratio", s.places ? (double)s.mismatches / (double)s.places : 0, 0);
    grade_add(&g, "1 - cosine", s.xx == 0 && s.yy == 0 ? 0 : 1 - s.xy / lengths, COSINE_MAX);
    grade_add(&g, "ulp", s.ulps, ULPS_MAX);
    if (r->data == GROUPED_EXACT) grade_add(&g, "unequal", (double)s.unequal, 0);
    if (r->data == GROUPED_BENCHMARK) grade_add(&g, "absolute", s.absolute, ABSOLUTE_MAX);
    g.pass = grade_passes(&g);
    if (!g.pass && !g.first[0]) snprintf(g.first, sizeof g.first, "many small differences");
    *out = g;
}
