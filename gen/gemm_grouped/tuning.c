/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What tuners search for this operator: fields, problems, where to begin and what not to try; and the short list of
 * those that time a caller's own call. */
#include <stdio.h>
#include <string.h>

#include "core/integer.h"
#include "gen/gemm_grouped/forms.h"

static const int64_t tile_values[] = {TRIPLE(64, 64, 128),   TRIPLE(64, 64, 256),   TRIPLE(64, 128, 128),
                                      TRIPLE(64, 128, 256),  TRIPLE(64, 256, 128),  TRIPLE(64, 256, 256),
                                      TRIPLE(128, 64, 128),  TRIPLE(128, 64, 256),  TRIPLE(128, 128, 128),
                                      TRIPLE(128, 128, 256), TRIPLE(128, 256, 128), TRIPLE(128, 256, 256),
                                      TRIPLE(256, 64, 128),  TRIPLE(256, 64, 256),  TRIPLE(256, 128, 128),
                                      TRIPLE(256, 128, 256), TRIPLE(256, 256, 128), TRIPLE(256, 256, 256),
                                      TRIPLE(16, 64, 256),   TRIPLE(32, 64, 256)},
                     rows_values[] = {0, 2}, band_values[] = {0, 4, 8, 16}, split_values[] = {0, 2, 4, 8},
                     wpe_values[] = {0, 2};
#define AXIS(field, values) {field, values, sizeof values / sizeof values[0]}
static const tune_axis axes[] = {AXIS("t", tile_values), AXIS("wm", rows_values), AXIS("group", band_values),
                                 {"cs", NULL, 0},        {"async", NULL, 0},      AXIS("sk", split_values),
                                 AXIS("wpe", wpe_values)};

/* ---- problems ---- */

static const struct {
    const char *words;
    int groups, m, n, k;
} problems[] = {
    {"layout=sizes", 8, 1, 8192, 1024},
    {"layout=sizes b=preshuffled", 8, 32, 1280, 8192},
    {"layout=sizes b=preshuffled", 8, 1024, 2048, 7168},
    {"layout=sizes b=preshuffled", 8, 16384, 7168, 2304},
    {"layout=sizes b=preshuffled scale=block", 8, 1024, 2048, 7168},
    {"layout=padded", 8, 512, 8192, 1024},
    {"layout=batched", 8, 512, 1280, 8192},
    {"layout=n_offsets", 8, 128, 16384, 7168},
    {"layout=k_offsets", 8, 2048, 7168, 16384},
};

static int point(const target *t, int index, tune_point *out) {
    (void)t;
    if (index < 0 || index >= (int)(sizeof problems / sizeof *problems)) return 0;
    const char *const words = problems[index].words;
    const int groups = problems[index].groups, m = problems[index].m, n = problems[index].n, k = problems[index].k;
    snprintf(out->shape, sizeof out->shape, "%s groups=%d m=%d n=%d k=%d", words, groups, m, n, k);
    snprintf(out->proof[0], sizeof out->proof[0], "%s groups=4 m=%d n=512 k=1024", words, m < 100 ? m : 99);
    snprintf(out->proof[1], sizeof out->proof[1], "%s groups=3 m=%d n=256 k=512 data=exact", words, m < 200 ? m : 199);
    snprintf(out->bounds, sizeof out->bounds, "%d, %d, %d, %d", groups, m, n, k);
    return 1;
}

/* ---- where to begin, what not to try ---- */

static const char *const seeds[] = {"mfma16x16x128_t128x128x128_cs_async_wpe2",
                                    "mfma16x16x128_t64x256x128_cs_async_wpe2",
                                    "mfma16x16x128_t16x64x256",
                                    "mfma16x16x32_t128x128x128_cs_wpe2",
                                    "mfma16x16x32_t16x64x256",
                                    NULL};

/* Tiles that a group's columns or K leave partly empty are worth a look only where every tile does. */
static int has_needless_tails(const grouped_shape *s, int bn, int bk) {
    enum { LEAST_COLUMNS = 64, LEAST_K = 128 };
    const grouped_cut cuts = grouped_layouts[s->layout].cuts;
    const int64_t groups = s->groups ? s->groups : 1;
    const int64_t n = cuts == GROUPED_CUTS_COLUMNS ? s->n / groups : s->n;
    const int64_t k = cuts == GROUPED_CUTS_K ? s->k / groups : s->k;
    return (n % LEAST_COLUMNS == 0 && n % bn) || (k % LEAST_K == 0 && k % bk);
}

static const char *prune(const plan *p) {
    const grouped_shape *const s = (const grouped_shape *)p->shape;
    const gemm_geometry g = grouped_geometry_of((const grouped_variant *)p->variant, s);
    if (has_needless_tails(s, g.bn, g.bk)) return "tails";
    if (p->target.chip->lds_bytes / g.lds_bytes * g.waves < p->target.chip->simds) return "LDS";
    return NULL;
}

static double mfmas(const plan *p) {
    const grouped_shape *const s = (const grouped_shape *)p->shape;
    const gemm_geometry g = grouped_geometry_of((const grouped_variant *)p->variant, s);
    const double slabs = s->layout == GROUPED_PADDED || s->layout == GROUPED_BATCHED ? (double)s->groups : 1;
    return slabs * ((double)s->m / g.m) * ((double)s->n / g.n) * ((double)s->k / g.k);
}

const tuning grouped_tuning = {.axes = axes,
                               .axis_count = sizeof axes / sizeof *axes,
                               .point = point,
                               .seeds = seeds,
                               .prune = prune,
                               .mfmas = mfmas};

/* ---- the short list ---- */

/* rounded: the least power of two that is not less, where a length may be that much. */
static int64_t rounded(int64_t length) {
    int64_t up = 1;
    while (up < length) up *= 2;
    return up <= GEMM_LENGTH_MAX ? up : length;
}

/* rounded_shares: as many times what is enough for an even share, as long as a launch can have it. */
static int64_t rounded_shares(int64_t total, int64_t groups) {
    const int64_t all = groups * rounded(larger(ceil_div(total, groups), GROUPED_K_ALIGN));
    return all <= GEMM_LENGTH_MAX ? all : total;
}

grouped_shape grouped_bucket(const grouped_shape *s) {
    grouped_shape b = *s;
    const grouped_cut cuts = grouped_layouts[s->layout].cuts;
    b.m = rounded(s->m);
    if (cuts == GROUPED_CUTS_COLUMNS) b.n = rounded_shares(s->n, s->groups);
    if (cuts == GROUPED_CUTS_K) b.k = rounded_shares(s->k, s->groups);
    return b;
}

/* variant_of: a tile as `auto` has it: through LDS, by DMA and in bands where it is tall, four waves in a square where
 * B or scales want it. */
static grouped_variant variant_of(const target *t, const grouped_shape *s, int64_t tile, int64_t wpe) {
    const atom *const a = gemm_atom_of(t->chip);
    const int is_tall = TRIPLE_M(tile) >= 64;
    const int is_square = s->b == GEMM_B_PLAIN || s->scale == GROUPED_SCALE_BLOCK;
    return (grouped_variant){.atom = TRIPLE(a->m, a->n, a->k),
                             .tile = tile,
                             .waves_m = is_tall && is_square ? 2 : 0,
                             .group = is_tall ? grouped_band(s, tile) : 0,
                             .cshuffle = is_tall,
                             .async = is_tall && gemm_has_dma(t->chip),
                             .wpe = wpe};
}

cdnagen_status grouped_candidates(const target *t, const grouped_shape *s, grouped_variant *out, size_t *count) {
    size_t found = 1;
    TRY(grouped_form_route(t, s, out));
    if (out->group) {
        out[found] = *out;
        out[found++].group = 0;
    }
    for (size_t i = 0; i < sizeof tile_values / sizeof *tile_values; i++)
        for (size_t w = 0; w < sizeof wpe_values / sizeof *wpe_values; w++) {
            const grouped_variant v = variant_of(t, s, tile_values[i], wpe_values[w]);
            grouped_shape whole = *s;
            grouped_complete(&v, &whole);
            if (has_needless_tails(s, TRIPLE_N(v.tile), TRIPLE_K(v.tile)) || grouped_check(t, &v, &whole)) continue;
            if (memcmp(&v, out, sizeof v) != 0) out[found++] = v;
        }
    *count = found;
    return CDNAGEN_OK;
}
