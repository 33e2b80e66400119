/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What kernels of the FP8 matrix products can leave out for a diagnosis, and what that says. */
#ifndef GEN_GEMM_ABLATION_H
#define GEN_GEMM_ABLATION_H

#include "gen/change.h"
#include "gen/gemm/gemm.h"

/* gemm_ablation_words: of the tags' field x, NULL-terminated. */
extern const char *const gemm_ablation_words[];

/* gemm_check_whole: a kernel that leaves something out is launched for a diagnosis only.   errors: BAD_ARGUMENT */
cdnagen_status gemm_check_whole(const plan *p, int64_t ablation, const device_facts *facts);

/* gemm_changes: what an operator's diagnosis tries beside what it leaves out.
 * gemm_change_of: the index-th of p's kernel; 0 at the end. promotes: sums are scaled block by block. */
typedef struct gemm_changes {
    const choice *choices; /* marked by gemm_core */
    size_t choice_count;
    size_t ablation, split_k;                /* offsets of these fields */
    const char *const *bare_tags;            /* without their MFMA, of tiles for the bare product; NULL-terminated */
    void (*suit)(const plan *p, void *bare); /* what such a tag leaves to the chip and to p */
} gemm_changes;
int gemm_change_of(const plan *p, const gemm_changes *c, gemm_core core, int promotes, int index, change *out);

#endif
