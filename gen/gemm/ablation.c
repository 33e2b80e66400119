/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ablations of the FP8 matrix products, for tags and for diagnoses. */
#include "gen/gemm/ablation.h"

#include <stdio.h>
#include <string.h>

const char *const gemm_ablation_words[] = {[GEMM_WHOLE] = "nothing",
                                           [GEMM_TWIN] = "twin",
                                           [GEMM_NO_PROMOTE] = "promote",
                                           [GEMM_NO_SCALES] = "scales",
                                           [GEMM_NO_A] = "a",
                                           [GEMM_NO_B] = "b",
                                           [GEMM_NO_LDS] = "lds",
                                           [GEMM_NO_STORE] = "store",
                                           [GEMM_PLAIN] = "plain",
                                           NULL};

cdnagen_status gemm_check_whole(const plan *p, int64_t ablation, const device_facts *facts) {
    if (ablation == GEMM_WHOLE || (facts && facts->diagnosis)) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT,
                "%s: %s leaves work out for diagnosis and computes wrong results: launch the tag without its x field",
                p->family->name, p->tag);
}

/* ---- changes ---- */

/* left_out: an ablation as a change. LEVER_ARITHMETIC: of kernels that promote. */
static const struct left_out {
    const char *name;
    gemm_ablation ablation;
    change_kind kind;
    lever lever;
} left_outs[] = {
    {"twin without promotion", GEMM_TWIN, CHANGE_TWIN, LEVER_ARITHMETIC},
    {"no promotion", GEMM_NO_PROMOTE, CHANGE_LEFT_OUT, LEVER_ARITHMETIC},
    {"no loads of scales", GEMM_NO_SCALES, CHANGE_LEFT_OUT, LEVER_SCALES},
    {"no loads of A", GEMM_NO_A, CHANGE_LEFT_OUT, LEVER_MEMORY},
    {"no loads of B", GEMM_NO_B, CHANGE_LEFT_OUT, LEVER_MEMORY},
    {"no reads of LDS", GEMM_NO_LDS, CHANGE_LEFT_OUT, LEVER_LDS},
    {"no stores", GEMM_NO_STORE, CHANGE_LEFT_OUT, LEVER_STORES},
};
enum { LEFT_OUTS = sizeof left_outs / sizeof left_outs[0] };

/* is_parts: K in more parts, and in one. */
static int is_parts(int *before, const plan *p, size_t offset, change *out) {
    int64_t parts;
    memcpy(&parts, p->variant + offset, sizeof parts);
    change_set(p, offset, parts ? 2 * parts : 2, out);
    if (change_is_next(before, "twice the parts of K", CHANGE_CHOICE, LEVER_GRID, out)) return 1;
    change_set(p, offset, 0, out);
    return parts && change_is_next(before, "K in one part", CHANGE_CHOICE, LEVER_GRID, out);
}

/* is_bare: the bare product, in the kernel's own tile, then in others. */
static int is_bare(int *before, const plan *p, const gemm_changes *c, change *out) {
    static const char name[] = "bare product";
    change_set(p, c->ablation, GEMM_PLAIN, out);
    if (change_is_next(before, name, CHANGE_FLOOR, LEVER_ARITHMETIC, out)) return 1;
    int64_t mfma; /* the first field */
    memcpy(&mfma, p->variant, sizeof mfma);
    for (const char *const *body = c->bare_tags; *body; body++) {
        char tag[SYMBOL_MAX];
        snprintf(tag, sizeof tag, "mfma%dx%dx%d_%s", TRIPLE_M(mfma), TRIPLE_N(mfma), TRIPLE_K(mfma), *body);
        if (tag_parse(&p->family->tag, tag, out->variant)) continue;
        c->suit(p, out->variant);
        if (change_is_next(before, name, CHANGE_FLOOR, LEVER_ARITHMETIC, out)) return 1;
    }
    return 0;
}

int gemm_change_of(const plan *p, const gemm_changes *c, gemm_core core, int promotes, int index, change *out) {
    for (const struct left_out *l = left_outs; l < left_outs + LEFT_OUTS; l++) {
        if (l->lever == LEVER_ARITHMETIC && !promotes) continue;
        change_set(p, c->ablation, l->ablation, out);
        if (change_is_next(&index, l->name, l->kind, l->lever, out)) return 1;
    }
    return change_is_choice(&index, p, c->choices, c->choice_count, (int)core, out) ||
           is_parts(&index, p, c->split_k, out) || is_bare(&index, p, c, out);
}
