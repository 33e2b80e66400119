/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The derived part of a plan: block, grid, LDS, waves_per_eu and the kernel's arguments. */
#include <stdio.h>
#include <string.h>

#include "gen/mqa_logits/mqa_logits.h"

enum { KERNARG_LAYOUT_VERSION = 2, KERNARG_BYTES = 108 };

/* What a tag without wpe gets: a wave may take the whole register file, and as many waves run as fit. A lower upper
 * bound changes no instruction of these kernels and only pads their registers. source: README.md of this folder */
static const char default_waves_per_eu[] = "1,8";

static const kernarg layout[MQA_KERNARG_COUNT] = {
    [MQA_Q] = {"q", KERNARG_POINTER, 0},
    [MQA_KV] = {"kv", KERNARG_POINTER, 8},
    [MQA_KV_SCALES] = {"kv_scales", KERNARG_POINTER, 16},
    [MQA_WEIGHTS] = {"weights", KERNARG_POINTER, 24},
    [MQA_CU_STARTS] = {"cu_starts", KERNARG_POINTER, 32},
    [MQA_CU_ENDS] = {"cu_ends", KERNARG_POINTER, 40},
    [MQA_LOGITS] = {"logits", KERNARG_POINTER, 48},
    [MQA_Q_STRIDE] = {"q_stride", KERNARG_I64, 56},
    [MQA_Q_HEAD_STRIDE] = {"q_head_stride", KERNARG_I64, 64},
    [MQA_KV_STRIDE] = {"kv_stride", KERNARG_I64, 72},
    [MQA_WEIGHTS_STRIDE] = {"weights_stride", KERNARG_I64, 80},
    [MQA_LOGITS_STRIDE] = {"logits_stride", KERNARG_I64, 88},
    [MQA_SEQ] = {"seq", KERNARG_I32, 96},
    [MQA_SEQ_KV] = {"seq_kv", KERNARG_I32, 100},
    [MQA_NUM_SPLITS] = {"num_splits", KERNARG_I32, 104},
};

cdnagen_status mqa_make_plan(plan *p) {
    const mqa_variant *const v = (const mqa_variant *)p->variant;
    const mqa_shape *const s = (const mqa_shape *)p->shape;
    const mqa_geometry g = mqa_geometry_of(v, s, p->target.chip);
    p->block[0] = (uint32_t)(LANES * v->waves);
    p->block[1] = p->block[2] = 1;
    mqa_grid(p, NULL, p->grid);
    p->lds_bytes = (uint32_t)g.lds_bytes;
    p->waves_per_eu_asked = (uint32_t)v->wpe;
    if (v->wpe)
        snprintf(p->waves_per_eu, sizeof p->waves_per_eu, "%d,%d", (int)v->wpe, (int)v->wpe);
    else
        snprintf(p->waves_per_eu, sizeof p->waves_per_eu, "%s", default_waves_per_eu);
    memcpy(p->kernargs, layout, sizeof layout);
    p->kernarg_count = MQA_KERNARG_COUNT;
    p->kernarg_bytes = KERNARG_BYTES;
    p->kernarg_version = KERNARG_LAYOUT_VERSION;
    return CDNAGEN_OK;
}
