/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The derived part of a plan: block, grid, LDS, waves_per_eu and the kernel's arguments. */
#include <string.h>

#include "gen/gemm_blockscale/gemm_blockscale.h"

enum { KERNARG_LAYOUT_VERSION = 1, KERNARG_BYTES = 104 };

static const kernarg layout[BLOCKSCALE_KERNARG_COUNT] = {
    [BLOCKSCALE_A] = {"a", KERNARG_POINTER, 0},
    [BLOCKSCALE_B] = {"b", KERNARG_POINTER, 8},
    [BLOCKSCALE_A_SCALES] = {"a_scales", KERNARG_POINTER, 16},
    [BLOCKSCALE_B_SCALES] = {"b_scales", KERNARG_POINTER, 24},
    [BLOCKSCALE_C] = {"c", KERNARG_POINTER, 32},
    [BLOCKSCALE_WORKSPACE] = {"workspace", KERNARG_POINTER, 40},
    [BLOCKSCALE_A_STRIDE] = {"a_stride", KERNARG_I64, 48},
    [BLOCKSCALE_B_STRIDE] = {"b_stride", KERNARG_I64, 56},
    [BLOCKSCALE_A_SCALES_STRIDE] = {"a_scales_stride", KERNARG_I64, 64},
    [BLOCKSCALE_B_SCALES_STRIDE] = {"b_scales_stride", KERNARG_I64, 72},
    [BLOCKSCALE_C_STRIDE] = {"c_stride", KERNARG_I64, 80},
    [BLOCKSCALE_M] = {"m", KERNARG_I32, 88},
    [BLOCKSCALE_N] = {"n", KERNARG_I32, 92},
    [BLOCKSCALE_K] = {"k", KERNARG_I32, 96},
    [BLOCKSCALE_WORKGROUPS] = {"workgroups", KERNARG_I32, 100},
};

cdnagen_status blockscale_make_plan(plan *p) {
    const blockscale_variant *const v = (const blockscale_variant *)p->variant;
    const gemm_tiling t = blockscale_tiling_of(v, (const blockscale_shape *)p->shape);
    const gemm_geometry g = gemm_geometry_of(&t);
    p->block[0] = (uint32_t)g.threads;
    p->block[1] = p->block[2] = 1;
    blockscale_grid(p, NULL, p->grid);
    p->lds_bytes = (uint32_t)g.lds_bytes;
    p->waves_per_eu_asked = (uint32_t)v->wpe;
    gemm_waves_per_eu(p->target.chip, &t, p->waves_per_eu, sizeof p->waves_per_eu);
    memcpy(p->kernargs, layout, sizeof layout);
    p->kernarg_count = BLOCKSCALE_KERNARG_COUNT;
    p->kernarg_bytes = KERNARG_BYTES;
    p->kernarg_version = KERNARG_LAYOUT_VERSION;
    return CDNAGEN_OK;
}
