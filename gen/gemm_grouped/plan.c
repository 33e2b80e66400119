/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The derived part of a plan: block, grid, LDS, waves_per_eu and the kernel's arguments. */
#include <string.h>

#include "gen/gemm_grouped/gemm_grouped.h"

enum { KERNARG_LAYOUT_VERSION = 1, KERNARG_BYTES = 76 };

static const kernarg layout[GROUPED_KERNARG_COUNT] = {
    [GROUPED_A] = {"a", KERNARG_POINTER, 0},
    [GROUPED_B] = {"b", KERNARG_POINTER, 8},
    [GROUPED_A_SCALES] = {"a_scales", KERNARG_POINTER, 16},
    [GROUPED_B_SCALES] = {"b_scales", KERNARG_POINTER, 24},
    [GROUPED_C] = {"c", KERNARG_POINTER, 32},
    [GROUPED_EXTENTS] = {"extents", KERNARG_POINTER, 40},
    [GROUPED_WORKSPACE] = {"workspace", KERNARG_POINTER, 48},
    [GROUPED_GROUPS] = {"groups", KERNARG_I32, 56},
    [GROUPED_M] = {"m", KERNARG_I32, 60},
    [GROUPED_N] = {"n", KERNARG_I32, 64},
    [GROUPED_K] = {"k", KERNARG_I32, 68},
    [GROUPED_ZERO] = {"zero", KERNARG_I32, 72},
};

cdnagen_status grouped_make_plan(plan *p) {
    const grouped_variant *const v = (const grouped_variant *)p->variant;
    const gemm_tiling t = grouped_tiling_of(v, (const grouped_shape *)p->shape);
    const gemm_geometry g = gemm_geometry_of(&t);
    p->block[0] = (uint32_t)g.threads;
    p->block[1] = p->block[2] = 1;
    grouped_grid(p, NULL, p->grid);
    p->lds_bytes = (uint32_t)g.lds_bytes;
    p->waves_per_eu_asked = (uint32_t)v->wpe;
    gemm_waves_per_eu(p->target.chip, &t, p->waves_per_eu, sizeof p->waves_per_eu);
    memcpy(p->kernargs, layout, sizeof layout);
    p->kernarg_count = GROUPED_KERNARG_COUNT;
    p->kernarg_bytes = KERNARG_BYTES;
    p->kernarg_version = KERNARG_LAYOUT_VERSION;
    return CDNAGEN_OK;
}
