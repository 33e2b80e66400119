/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ablations of the FP8 matrix products, for tags and for diagnoses. */
#include "gen/gemm/ablation.h"

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

const gemm_left_out gemm_left_outs[GEMM_LEFT_OUT_COUNT] = {
    {"twin without promotion", GEMM_TWIN, CHANGE_TWIN, LEVER_ARITHMETIC},
    {"no promotion", GEMM_NO_PROMOTE, CHANGE_LEFT_OUT, LEVER_ARITHMETIC},
    {"no loads of scales", GEMM_NO_SCALES, CHANGE_LEFT_OUT, LEVER_SCALES},
    {"no loads of A", GEMM_NO_A, CHANGE_LEFT_OUT, LEVER_MEMORY},
    {"no loads of B", GEMM_NO_B, CHANGE_LEFT_OUT, LEVER_MEMORY},
    {"no reads of LDS", GEMM_NO_LDS, CHANGE_LEFT_OUT, LEVER_LDS},
    {"no stores", GEMM_NO_STORE, CHANGE_LEFT_OUT, LEVER_STORES},
};

int gemm_offer(int *before, change *out, const char *name, change_kind kind, lever helped, const void *variant,
               size_t size) {
    if ((*before)--) return 0;
    *out = (change){.name = name, .kind = kind, .lever = helped};
    memcpy(out->variant, variant, size);
    return 1;
}
