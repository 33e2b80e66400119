/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a diagnosis compares a kernel of this operator with. */
#include <stdio.h>
#include <string.h>

#include "gen/gemm/ablation.h"
#include "gen/gemm_blockscale/gemm_blockscale.h"

static int is_wrong(const void *variant) { return ((const blockscale_variant *)variant)->ablation != GEMM_WHOLE; }

/* ---- another way ---- */

static void order(blockscale_variant *v, int64_t group, int64_t panel) {
    v->group = group;
    v->panel = panel;
    v->xcd = 0;
}
static void by_column(blockscale_variant *v) { order(v, 0, 0); }
static void by_panel(blockscale_variant *v) { order(v, 0, 8); }
static void by_group(blockscale_variant *v) { order(v, 8, 0); }
static void schedule(blockscale_variant *v, gemm_sched sched, int64_t fold) {
    v->sched = sched;
    v->fold = fold;
}
static void as_inline(blockscale_variant *v) { schedule(v, GEMM_INLINE, 0); }
static void as_delayed(blockscale_variant *v) { schedule(v, GEMM_DELAYED, 0); }
static void as_cluster(blockscale_variant *v) { schedule(v, GEMM_CLUSTER, 0); }
static void as_fold(blockscale_variant *v) { schedule(v, GEMM_INLINE, 4); }
static void with_fused(blockscale_variant *v) { v->fused = 1; }
static void without_fused(blockscale_variant *v) { v->fused = 0; }
static void with_dma(blockscale_variant *v) { v->async = 1; }
static void without_dma(blockscale_variant *v) { v->async = 0; }
static void with_shuffle(blockscale_variant *v) { v->cshuffle = 1; }
static void without_shuffle(blockscale_variant *v) { v->cshuffle = 0; }
static void in_more_parts(blockscale_variant *v) { v->split_k = v->split_k ? 2 * v->split_k : 2; }
static void in_one_part(blockscale_variant *v) { v->split_k = 0; }

/* core: the one that has it, 0 = both. */
static const struct {
    const char *name;
    lever lever;
    int core;
    void (*make)(blockscale_variant *v);
} choices[] = {
    {"tiles column by column", LEVER_MEMORY, 0, by_column},
    {"tiles in panels of 8", LEVER_MEMORY, 0, by_panel},
    {"tiles in groups of 8", LEVER_MEMORY, 0, by_group},
    {"promotion after each group", LEVER_SCHEDULE, GEMM_8W, as_inline},
    {"promotion after the next group", LEVER_SCHEDULE, GEMM_8W, as_delayed},
    {"promotion after the K tile", LEVER_SCHEDULE, GEMM_8W, as_cluster},
    {"promotion after every 4 MFMA", LEVER_SCHEDULE, GEMM_8W, as_fold},
    {"promotion fused", LEVER_SCHEDULE, GEMM_4W, with_fused},
    {"promotion after the K block", LEVER_SCHEDULE, GEMM_4W, without_fused},
    {"A by DMA", LEVER_SCHEDULE, GEMM_4W, with_dma},
    {"A through registers", LEVER_SCHEDULE, GEMM_4W, without_dma},
    {"C through LDS", LEVER_STORES, 0, with_shuffle},
    {"C straight from the lanes", LEVER_STORES, 0, without_shuffle},
    {"twice the parts of K", LEVER_GRID, 0, in_more_parts},
    {"K in one part", LEVER_GRID, 0, in_one_part},
};
enum { CHOICES = sizeof choices / sizeof *choices };

/* Tiles of both cores, for the bare product; before them the kernel's own. */
static const char *const bare_tags[] = {"t64x256x128_4w_cs_xplain", "t128x128x128_4w_wm2_cs_xplain",
                                        "t128x256x128_8w_cluster_xplain", "t192x256x128_8w_cluster_xplain"};
enum { BARE = 1 + sizeof bare_tags / sizeof *bare_tags };

static int bare(const plan *p, int i, blockscale_variant *out) {
    const blockscale_variant *const own = (const blockscale_variant *)p->variant;
    char tag[SYMBOL_MAX];
    if (!i) {
        *out = *own;
        out->ablation = GEMM_PLAIN;
        return 1;
    }
    snprintf(tag, sizeof tag, "mfma%dx%dx%d_%s", TRIPLE_M(own->atom), TRIPLE_N(own->atom), TRIPLE_K(own->atom),
             bare_tags[i - 1]);
    if (tag_parse(&gemm_blockscale_family.tag, tag, out)) return 0;
    out->async = out->core == GEMM_4W && gemm_has_dma(p->target.chip);
    order(out, own->group, own->panel);
    return 1;
}

/* ---- the family's diagnosis ---- */

static int offer(int *before, change *out, const char *name, change_kind kind, lever helped,
                 const blockscale_variant *v) {
    return gemm_offer(before, out, name, kind, helped, v, sizeof *v);
}

static int change_of(const plan *p, int index, change *out) {
    const blockscale_variant *const own = (const blockscale_variant *)p->variant;
    const int promotes = blockscale_promotes(own, (const blockscale_shape *)p->shape);
    blockscale_variant v;
    for (int i = 0; i < GEMM_LEFT_OUT_COUNT; i++) {
        const gemm_left_out *const left_out = &gemm_left_outs[i];
        if (left_out->lever == LEVER_ARITHMETIC && !promotes) continue;
        v = *own;
        v.ablation = left_out->ablation;
        if (offer(&index, out, left_out->name, left_out->kind, left_out->lever, &v)) return 1;
    }
    for (int i = 0; i < CHOICES; i++) {
        v = *own;
        choices[i].make(&v);
        if ((choices[i].core && choices[i].core != own->core) || !memcmp(&v, own, sizeof v)) continue;
        if (offer(&index, out, choices[i].name, CHANGE_CHOICE, choices[i].lever, &v)) return 1;
    }
    for (int i = 0; i < BARE; i++)
        if (bare(p, i, &v) && offer(&index, out, "bare product", CHANGE_FLOOR, LEVER_ARITHMETIC, &v)) return 1;
    return 0;
}

static int sweep(const plan *p, int index, void *variant, void *shape, double *trips) {
    static const int tiles[] = {4, 8, 16, 32, 56};
    const blockscale_variant *const v = (const blockscale_variant *)p->variant;
    if (index >= (int)(sizeof tiles / sizeof *tiles) || v->unroll) return 0;
    blockscale_shape s = *(const blockscale_shape *)p->shape;
    s.k = (int64_t)tiles[index] * TRIPLE_K(v->tile) * (v->split_k ? v->split_k : 1);
    memcpy(variant, v, sizeof *v);
    memcpy(shape, &s, sizeof s);
    *trips = tiles[index];
    return 1;
}

static cdnagen_status traffic(const plan *p, double *beyond_l2) {
    const blockscale_variant *const v = (const blockscale_variant *)p->variant;
    const blockscale_shape *const s = (const blockscale_shape *)p->shape;
    const blockscale_tiles t = blockscale_tiles_of(v, s->m, s->n);
    const raster_grid grid = blockscale_raster_grid(p->target.chip, v, s->m, s->n, s->k);
    const raster r = {.group = v->group, .panel = v->panel, .chunked = (int)v->xcd};
    int64_t fills = 0;
    if (t.count) TRY(raster_fills(&grid, &r, &fills));
    const double parts = v->split_k ? (double)v->split_k : 1;
    *beyond_l2 =
        parts * (double)fills + 2.0 * (double)s->m * (double)s->n + (double)blockscale_workspace_bytes(v, s->m, s->n);
    return CDNAGEN_OK;
}

const diagnosis blockscale_diagnosis = {.change = change_of, .sweep = sweep, .traffic = traffic, .is_wrong = is_wrong};
