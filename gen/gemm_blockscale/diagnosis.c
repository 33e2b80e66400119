/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a diagnosis compares a kernel of this operator with. */
#include <string.h>

#include "gen/gemm/ablation.h"
#include "gen/gemm_blockscale/gemm_blockscale.h"

static int is_wrong(const void *variant) { return ((const blockscale_variant *)variant)->ablation != GEMM_WHOLE; }

/* ---- another way ---- */

#define TAG(member) offsetof(blockscale_variant, member)
static const choice choices[] = {
    {"tiles column by column", LEVER_MEMORY, 0, {{TAG(group), 0}, {TAG(panel), 0}, {TAG(xcd), 0}}},
    {"tiles in panels of 8", LEVER_MEMORY, 0, {{TAG(group), 0}, {TAG(panel), 8}, {TAG(xcd), 0}}},
    {"tiles in groups of 8", LEVER_MEMORY, 0, {{TAG(group), 8}, {TAG(panel), 0}, {TAG(xcd), 0}}},
    {"promotion after each group", LEVER_SCHEDULE, GEMM_8W, {{TAG(sched), GEMM_INLINE}, {TAG(fold), 0}}},
    {"promotion after the next group", LEVER_SCHEDULE, GEMM_8W, {{TAG(sched), GEMM_DELAYED}, {TAG(fold), 0}}},
    {"promotion after the K tile", LEVER_SCHEDULE, GEMM_8W, {{TAG(sched), GEMM_CLUSTER}, {TAG(fold), 0}}},
    {"promotion after every 4 MFMA", LEVER_SCHEDULE, GEMM_8W, {{TAG(sched), GEMM_INLINE}, {TAG(fold), 4}}},
    {"promotion fused", LEVER_SCHEDULE, GEMM_4W, {{TAG(fused), 1}}},
    {"promotion after the K block", LEVER_SCHEDULE, GEMM_4W, {{TAG(fused), 0}}},
    {"A by DMA", LEVER_SCHEDULE, GEMM_4W, {{TAG(async), 1}}},
    {"A through registers", LEVER_SCHEDULE, GEMM_4W, {{TAG(async), 0}}},
    {"C through LDS", LEVER_STORES, 0, {{TAG(cshuffle), 1}}},
    {"C straight from the lanes", LEVER_STORES, 0, {{TAG(cshuffle), 0}}},
};

/* Tiles of both cores. */
static const char *const bare_tags[] = {"t64x256x128_4w_cs_xplain", "t128x128x128_4w_wm2_cs_xplain",
                                        "t128x256x128_8w_cluster_xplain", "t192x256x128_8w_cluster_xplain", NULL};

static void suit(const plan *p, void *bare) {
    const blockscale_variant *const own = (const blockscale_variant *)p->variant;
    blockscale_variant *const v = bare;
    v->async = v->core == GEMM_4W && gemm_has_dma(p->target.chip);
    v->group = own->group;
    v->panel = own->panel;
}

static const gemm_changes changes = {.choices = choices,
                                     .choice_count = sizeof choices / sizeof choices[0],
                                     .ablation = TAG(ablation),
                                     .split_k = TAG(split_k),
                                     .bare_tags = bare_tags,
                                     .suit = suit};

/* ---- the family's diagnosis ---- */

static int change_of(const plan *p, int index, change *out) {
    const blockscale_variant *const v = (const blockscale_variant *)p->variant;
    const int promotes = blockscale_promotes(v, (const blockscale_shape *)p->shape);
    return gemm_change_of(p, &changes, (gemm_core)v->core, promotes, index, out);
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
