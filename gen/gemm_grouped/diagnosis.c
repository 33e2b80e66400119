/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a diagnosis compares a kernel of this operator with. */
#include <string.h>

#include "gen/gemm/ablation.h"
#include "gen/gemm_grouped/gemm_grouped.h"

static int is_wrong(const void *variant) { return ((const grouped_variant *)variant)->ablation != GEMM_WHOLE; }

/* ---- another way ---- */

#define TAG(member) offsetof(grouped_variant, member)
static const choice choices[] = {
    {"A by DMA", LEVER_SCHEDULE, 0, {{TAG(async), 1}}},
    {"A through registers", LEVER_SCHEDULE, 0, {{TAG(async), 0}}},
    {"waves in a row", LEVER_LDS, 0, {{TAG(waves_m), 0}}},
    {"waves in a square", LEVER_LDS, 0, {{TAG(waves_m), 2}}},
    {"C through LDS", LEVER_STORES, 0, {{TAG(cshuffle), 1}}},
    {"C straight from the lanes", LEVER_STORES, 0, {{TAG(cshuffle), 0}}},
};

static const char *const bare_tags[] = {"t64x128x128_cs_xplain", "t128x128x128_wm2_cs_xplain", "t128x256x128_cs_xplain",
                                        NULL};

static void suit(const plan *p, void *bare) { ((grouped_variant *)bare)->async = gemm_has_dma(p->target.chip); }

static const gemm_changes changes = {.choices = choices,
                                     .choice_count = sizeof choices / sizeof choices[0],
                                     .ablation = TAG(ablation),
                                     .split_k = TAG(split_k),
                                     .bare_tags = bare_tags,
                                     .suit = suit};

/* ---- the family's diagnosis ---- */

static int change_of(const plan *p, int index, change *out) {
    const int promotes = ((const grouped_shape *)p->shape)->scale == GROUPED_SCALE_BLOCK;
    return gemm_change_of(p, &changes, GEMM_4W, promotes, index, out);
}

/* Where groups cut K between them each has as many tiles, as far as their list can say so. */
static int sweep(const plan *p, int index, void *variant, void *shape, double *trips) {
    static const int tiles[] = {4, 8, 16, 32, 56};
    const grouped_variant *const v = (const grouped_variant *)p->variant;
    grouped_shape s = *(const grouped_shape *)p->shape;
    if (index >= (int)(sizeof tiles / sizeof *tiles) || v->unroll || s.groups <= 0) return 0;
    s.k = (int64_t)tiles[index] * TRIPLE_K(v->tile) * (v->split_k ? v->split_k : 1);
    if (grouped_layouts[s.layout].cuts == GROUPED_CUTS_K) {
        if (s.groups > FIELD_LIST_MAX) return 0;
        s.extent_count = s.groups;
        for (int g = 0; g < s.groups; g++) s.extents[g] = (int32_t)s.k;
        s.k *= s.groups;
    }
    memcpy(variant, v, sizeof *v);
    memcpy(shape, &s, sizeof s);
    *trips = tiles[index];
    return 1;
}

const diagnosis grouped_diagnosis = {.change = change_of, .sweep = sweep, .is_wrong = is_wrong};
