/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the tuner searches for this operator: fields, classes of shapes, where to begin and what not to try. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "gen/mqa_logits/mqa_logits.h"

static const int64_t atom_values[] = {TRIPLE(32, 32, 64), TRIPLE(16, 16, 128), TRIPLE(16, 16, 32), TRIPLE(32, 32, 16)};
static const int64_t bkv_values[] = {64, 128, 256}, row_values[] = {1, 2, 4}, wave_values[] = {1, 2, 4},
                     slot_values[] = {0, 2, 3, 4}, prefetch_values[] = {1, 2, 3}, wpe_values[] = {0, 1, 2, 3, 4};
#define AXIS(field, values) {field, values, sizeof values / sizeof values[0]}
static const tune_axis axes[] = {
    AXIS("mfma", atom_values),
    AXIS("bkv", bkv_values),
    AXIS("r", row_values),
    AXIS("w", wave_values),
    AXIS("lds", slot_values),
    AXIS("pd", prefetch_values),
    {"swp", NULL, 0},
    {"rs", NULL, 0},
    {"ls", NULL, 0},
    {"ts", NULL, 0},
    {"dg", NULL, 0},
    {"ct", NULL, 0},
    {"h", NULL, 0},
    AXIS("wpe", wpe_values),
};

/* ---- classes ---- */

/* Upper bounds of a class and the shape that stands for it. Lengths: a few rows against a long context, where windows
 * are cut to fill the device, and as many rows as fill it without; these with windows of 64 tiles on average, because
 * below that a launch is mostly what comes before a row's first tile and after its last. */
static const struct {
    int heads_max, heads;
} head_classes[] = {{16, 16}, {32, 32}, {64, 64}, {128, 128}};
static const struct {
    int dim_max, dim;
} dim_classes[] = {{64, 64}, {128, 128}, {512, 512}};
static const struct {
    const char *bounds, *lengths;
} length_classes[] = {{"256, ANY", "seq=64 seq_kv=8192"}, {"ANY, ANY", "seq=8192 seq_kv=8192"}};
enum {
    HEADS = sizeof head_classes / sizeof *head_classes,
    DIMS = sizeof dim_classes / sizeof *dim_classes,
    LENGTHS = sizeof length_classes / sizeof *length_classes
};

static int point(const target *t, int index, tune_point *out) {
    if (index < 0 || index >= HEADS * DIMS * LENGTHS) return 0;
    const int lengths = index % LENGTHS, dims = index / LENGTHS % DIMS, heads = index / LENGTHS / DIMS;
    char facts[64];
    (void)t;
    snprintf(facts, sizeof facts, "heads=%d dim=%d", head_classes[heads].heads, dim_classes[dims].dim);
    /* What is outside the windows costs every variant the same: it is left as it is. */
    snprintf(out->shape, sizeof out->shape, "%s %s clean=0", length_classes[lengths].lengths, facts);
    snprintf(out->proof[0], sizeof out->proof[0], "seq=13 seq_kv=333 %s window=past_end clean=0", facts);
    snprintf(out->proof[1], sizeof out->proof[1], "seq=13 seq_kv=333 %s window=misaligned", facts);
    snprintf(out->bounds, sizeof out->bounds, "%d, %d, %s", head_classes[heads].heads_max, dim_classes[dims].dim_max,
             length_classes[lengths].bounds);
    return 1;
}

/* ---- where to begin, what not to try ---- */

/* The best known first: it is what the others must beat by their bounds. */
static const char *const seeds[] = {
    "mfma32x32x64_bkv64_r1_w2_lds3_pd3_swp_rs_ct_hfma",
    "mfma32x32x64_bkv128_r1_w1_lds2_swp_rs_ct_hfma2_wpe2",
    "mfma32x32x64_bkv128_r1_w2_lds3_pd3_swp_rs_ct_hfma2",
    "mfma32x32x64_bkv64_r1_w4_lds3_pd3_swp_rs_ct_hfma",
    "mfma32x32x64_bkv64_r2_w4_lds3_pd3_swp_rs_ct_hfma",
    "mfma32x32x64_bkv64_r1_w4_lds2_swp_rs_ct_hfma",
    "mfma16x16x128_bkv64_r1_w4_lds2_swp_rs_ct_hfma",
    "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_ls_ct_hfma",
    "mfma32x32x64_bkv128_r1_w1_lds2_pd1_swp_rs_hfma",
    "mfma16x16x32_bkv128_r1_w2_hfma",
    "mfma16x16x32_bkv128_r2_w4_hfma",
    "mfma16x16x32_bkv128_r1_w4_hfma",
    "mfma16x16x32_bkv128_r4_w2_hfma",
    "mfma32x32x16_bkv128_r1_w4_hfma",
    "mfma32x32x64_bkv128_r2_w4_hfma",
    NULL,
};

/* Registers that a wave holds from its first tile to its last, and the sums of one n-tile; the compiler needs more. */
static int registers(const mqa_variant *v, const mqa_shape *s, const mqa_geometry *g) {
    const int elements = (int)(v->rows * s->heads);
    return elements * (int)s->dim / (4 * LANES) + elements * g->n / LANES +
           (int)s->heads * g->n / LANES * (v->swp ? 2 : 1);
}

static const char *prune(const plan *p) {
    const mqa_variant *const v = (const mqa_variant *)p->variant;
    const mqa_shape *const s = (const mqa_shape *)p->shape;
    const chip *const c = p->target.chip;
    const mqa_geometry g = mqa_geometry_of(v, s, c);
    if (registers(v, s, &g) > c->vgpr_per_simd) return "registers";
    if (v->wpe && registers(v, s, &g) > c->vgpr_per_simd / (int)v->wpe) return "registers";
    const int by_lds = g.lds_bytes ? c->lds_bytes / g.lds_bytes * (int)v->waves : INT_MAX;
    if (by_lds < c->simds) return "LDS";
    /* Where LDS is what limits them, some SIMDs would have a wave less than others, and be the slower for it. */
    const int by_registers = c->vgpr_per_simd / registers(v, s, &g), asked = v->wpe ? (int)v->wpe : by_registers;
    const int others = c->simds * (asked < by_registers ? asked : by_registers);
    if (by_lds < others && by_lds % c->simds) return "uneven";
    return NULL;
}

/* One matrix instruction is n columns of m heads: what lies in the windows, not in the tiles that cover them. */
static double mfmas(const plan *p) {
    const mqa_shape *const s = (const mqa_shape *)p->shape;
    const mqa_geometry g = mqa_geometry_of((const mqa_variant *)p->variant, s, p->target.chip);
    return (double)mqa_window_columns(s) / g.n * g.m_tiles * g.k_steps;
}

const tuning mqa_tuning = {.axes = axes,
                           .axis_count = sizeof axes / sizeof *axes,
                           .point = point,
                           .seeds = seeds,
                           .prune = prune,
                           .mfmas = mfmas};
