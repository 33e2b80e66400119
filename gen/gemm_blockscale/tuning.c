/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the tuner searches for this operator: fields, problems, where to begin and what not to try. */
#include <stdio.h>

#include "gen/gemm_blockscale/gemm_blockscale.h"

static const int64_t atom_values[] = {TRIPLE(16, 16, 128), TRIPLE(16, 16, 32)},
                     tile_values[] = {TRIPLE(16, 64, 256),  TRIPLE(16, 128, 256),  TRIPLE(32, 64, 256),
                                      TRIPLE(32, 128, 256), TRIPLE(64, 64, 256),   TRIPLE(64, 128, 128),
                                      TRIPLE(64, 256, 128), TRIPLE(128, 128, 128), TRIPLE(128, 256, 128),
                                      TRIPLE(192, 256, 128)},
                     rows_values[] = {0, 2}, fold_values[] = {0, 4, 8}, group_values[] = {0, 4, 8, 16},
                     panel_values[] = {0, 4, 8}, split_values[] = {0, 2, 3, 4, 6, 8}, wpe_values[] = {0, 2};
#define AXIS(field, values) {field, values, sizeof values / sizeof values[0]}
static const tune_axis axes[] = {
    AXIS("mfma", atom_values), AXIS("t", tile_values),      AXIS("wm", rows_values),     AXIS("fold", fold_values),
    {"fused", NULL, 0},        AXIS("group", group_values), AXIS("panel", panel_values), {"cs", NULL, 0},
    {"async", NULL, 0},        AXIS("sk", split_values),    AXIS("wpe", wpe_values),
};

/* ---- problems ---- */

static const struct {
    int m, n, k;
} problems[] = {
    {4096, 65536, 1536}, {16384, 7168, 768},  {4096, 2048, 7168}, {16384, 1536, 7168}, {4096, 2112, 7168},
    {4096, 7168, 2048},  {16384, 4608, 7168}, {256, 7168, 2048},  {64, 4096, 7168},    {1, 7168, 2048},
};

static int point(const target *t, int index, tune_point *out) {
    (void)t;
    if (index < 0 || index >= (int)(sizeof problems / sizeof *problems)) return 0;
    const int m = problems[index].m, n = problems[index].n, k = problems[index].k;
    snprintf(out->shape, sizeof out->shape, "m=%d n=%d k=%d b=preshuffled", m, n, k);
    snprintf(out->proof[0], sizeof out->proof[0], "m=%d n=304 k=1184 b=preshuffled k_tail=1 n_tail=1", m < 64 ? m : 77);
    snprintf(out->proof[1], sizeof out->proof[1], "m=%d n=272 k=2080 b=preshuffled k_tail=1 n_tail=1 data=exact",
             m < 64 ? m : 130);
    snprintf(out->bounds, sizeof out->bounds, "%d, %d, %d", m, n, k);
    return 1;
}

/* ---- where to begin, what not to try ---- */

/* One for each word that the search does not change: core and schedule. */
static const char *const seeds[] = {
    "mfma16x16x128_t64x256x128_4w_cs_async_wpe2",
    "mfma16x16x128_t128x256x128_8w_cluster",
    "mfma16x16x128_t128x256x128_8w_delayed",
    "mfma16x16x128_t128x256x128_8w",
    "mfma16x16x32_t64x128x128_4w_cs",
    "mfma16x16x32_t16x64x256_4w",
    NULL,
};

static const char *prune(const plan *p) {
    const chip *const c = p->target.chip;
    const gemm_geometry g =
        blockscale_geometry_of((const blockscale_variant *)p->variant, (const blockscale_shape *)p->shape);
    if (g.bm * g.bn / g.threads > c->vgpr_per_simd / 2) return "registers";
    if (c->lds_bytes / g.lds_bytes * g.waves < c->simds) return "LDS";
    return NULL;
}

static double mfmas(const plan *p) {
    const blockscale_shape *const s = (const blockscale_shape *)p->shape;
    const gemm_geometry g = blockscale_geometry_of((const blockscale_variant *)p->variant, s);
    return (double)s->m / g.m * ((double)s->n / g.n) * ((double)s->k / g.k);
}

const tuning blockscale_tuning = {.axes = axes,
                                  .axis_count = sizeof axes / sizeof *axes,
                                  .point = point,
                                  .seeds = seeds,
                                  .prune = prune,
                                  .mfmas = mfmas};
