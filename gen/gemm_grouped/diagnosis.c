/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a diagnosis compares a kernel of this operator with. */
#include <stdio.h>
#include <string.h>

#include "gen/gemm/ablation.h"
#include "gen/gemm_grouped/gemm_grouped.h"

static int is_wrong(const void *variant) { return ((const grouped_variant *)variant)->ablation != GEMM_WHOLE; }

/* ---- another way ---- */

static void with_dma(grouped_variant *v) { v->async = 1; }
static void without_dma(grouped_variant *v) { v->async = 0; }
static void with_shuffle(grouped_variant *v) { v->cshuffle = 1; }
static void without_shuffle(grouped_variant *v) { v->cshuffle = 0; }
static void in_a_row(grouped_variant *v) { v->waves_m = 0; }
static void in_a_square(grouped_variant *v) { v->waves_m = 2; }
static void in_more_parts(grouped_variant *v) { v->split_k = v->split_k ? 2 * v->split_k : 2; }
static void in_one_part(grouped_variant *v) { v->split_k = 0; }

static const struct {
    const char *name;
    lever lever;
    void (*make)(grouped_variant *v);
} choices[] = {
    {"A by DMA", LEVER_SCHEDULE, with_dma},
    {"A through registers", LEVER_SCHEDULE, without_dma},
    {"waves in a row", LEVER_LDS, in_a_row},
    {"waves in a square", LEVER_LDS, in_a_square},
    {"C through LDS", LEVER_STORES, with_shuffle},
    {"C straight from the lanes", LEVER_STORES, without_shuffle},
    {"twice the parts of K", LEVER_GRID, in_more_parts},
    {"K in one part", LEVER_GRID, in_one_part},
};
enum { CHOICES = sizeof choices / sizeof *choices };

/* Tiles for the bare product; before them the kernel's own. */
static const char *const bare_tags[] = {"t64x128x128_cs_xplain", "t128x128x128_wm2_cs_xplain",
                                        "t128x256x128_cs_xplain"};
enum { BARE = 1 + sizeof bare_tags / sizeof *bare_tags };

static int bare(const plan *p, int i, grouped_variant *out) {
    const grouped_variant *const own = (const grouped_variant *)p->variant;
    char tag[SYMBOL_MAX];
    if (!i) {
        *out = *own;
        out->ablation = GEMM_PLAIN;
        return 1;
    }
    snprintf(tag, sizeof tag, "mfma%dx%dx%d_%s", TRIPLE_M(own->atom), TRIPLE_N(own->atom), TRIPLE_K(own->atom),
             bare_tags[i - 1]);
    if (tag_parse(&gemm_grouped_family.tag, tag, out)) return 0;
    out->async = gemm_has_dma(p->target.chip);
    return 1;
}

/* ---- the family's diagnosis ---- */

static int offer(int *before, change *out, const char *name, change_kind kind, lever helped, const grouped_variant *v) {
    return gemm_offer(before, out, name, kind, helped, v, sizeof *v);
}

static int change_of(const plan *p, int index, change *out) {
    const grouped_variant *const own = (const grouped_variant *)p->variant;
    const int promotes = ((const grouped_shape *)p->shape)->scale == GROUPED_SCALE_BLOCK;
    grouped_variant v;
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
        if (memcmp(&v, own, sizeof v) && offer(&index, out, choices[i].name, CHANGE_CHOICE, choices[i].lever, &v))
            return 1;
    }
    for (int i = 0; i < BARE; i++)
        if (bare(p, i, &v) && offer(&index, out, "bare product", CHANGE_FLOOR, LEVER_ARITHMETIC, &v)) return 1;
    return 0;
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
