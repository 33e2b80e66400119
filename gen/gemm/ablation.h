/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What kernels of the FP8 matrix products can leave out for a diagnosis, and what that says. */
#ifndef GEN_GEMM_ABLATION_H
#define GEN_GEMM_ABLATION_H

#include "gen/family.h"
#include "gen/gemm/gemm.h"

/* gemm_ablation_words: of the tags' field x, NULL-terminated. */
extern const char *const gemm_ablation_words[];

/* gemm_check_whole: a kernel that leaves something out is launched for a diagnosis only.   errors: BAD_ARGUMENT */
cdnagen_status gemm_check_whole(const plan *p, int64_t ablation, const device_facts *facts);

/* gemm_left_out: an ablation as a change that a diagnosis tries. */
typedef struct gemm_left_out {
    const char *name;
    gemm_ablation ablation;
    change_kind kind;
    lever lever; /* LEVER_ARITHMETIC: of kernels that promote sums block by block */
} gemm_left_out;
enum { GEMM_LEFT_OUT_COUNT = 7 };
extern const gemm_left_out gemm_left_outs[GEMM_LEFT_OUT_COUNT];

/* gemm_offer: 1, with *out set, if the change is the *before-th from here on; else it counts as passed. `variant` has
 * `size` bytes. */
int gemm_offer(int *before, change *out, const char *name, change_kind kind, lever helped, const void *variant,
               size_t size);

#endif
