/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the emitters of the block-scale GEMM share. */
#ifndef GEN_GEMM_BLOCKSCALE_EMIT_H
#define GEN_GEMM_BLOCKSCALE_EMIT_H

#include "gen/gemm/emit_gemm.h"
#include "gen/gemm_blockscale/gemm_blockscale.h"

/* blockscale: the kernel as a whole; the frame describes one tile at a time. */
typedef struct blockscale {
    ir *e;
    const blockscale_variant *v;
    const blockscale_shape *s;
    gemm_geometry g;
    const chip *chip;
    val m, n, k;
    val a_stride, b_stride, a_scales_stride, b_scales_stride, c_stride; /* I64, elements */
    val tiles_m, tiles_n;
    val split; /* sk: the workgroup's part of K */
} blockscale;

void gemm_blockscale_emit(ir *e, const plan *p);

#endif
