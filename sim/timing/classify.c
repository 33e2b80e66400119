/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Instructions as the issue rules see them. */
#include <string.h>

#include "sim/access.h"
#include "sim/mfma_rows.h"
#include "sim/timing/model.h"

/* Vector instructions that are not issued one a slot, by the start of their names; the first match holds. */
static const struct rate {
    const char *prefix;
    size_t slots; /* place of the parameter */
} rates[] = {
#define RATE(prefix, parameter) {prefix, offsetof(parameters, parameter)}
    RATE("v_cvt_pk_bf16_f32", valu_slots),
    RATE("v_cvt_scalef32_pk", valu_slots),
    RATE("v_cvt_", quarter_slots),
    RATE("v_exp_", trans_slots),
    RATE("v_log_", trans_slots),
    RATE("v_rcp_", trans_slots),
    RATE("v_rsq_", trans_slots),
    RATE("v_sqrt_", trans_slots),
    RATE("v_sin_", trans_slots),
    RATE("v_cos_", trans_slots),
    RATE("v_mul_lo_", multiply_slots),
    RATE("v_mul_hi_", multiply_slots),
    RATE("v_permlane", permlane_swap_slots),
#undef RATE
};

static int starts(const char *name, const char *prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

static int rate_of(const char *name, const parameters *q) {
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (starts(name, rates[i].prefix))
            return (int)*(const double *)(const void *)((const char *)q + rates[i].slots);
    return (int)q->valu_slots;
}

static void add_span(span *list, int *count, int most, const operand *o, int registers) {
    if (o->kind == K_VGPR && *count < most) list[(*count)++] = (span){o->index, (uint16_t)registers};
}
static void reads(op *o, const operand *from, int registers) {
    add_span(o->read, &o->reads, READS_MAX, from, registers);
}
static void writes(op *o, const operand *to, int registers) {
    add_span(o->write, &o->writes, WRITES_MAX, to, registers);
}

/* ---- matrix instructions ---- */

static double matrix_rate(const sim_mfma *m, const inst *in, const parameters *q) {
    const int wide = m->chips == ON_GFX950;
    if (m->a == FORMAT_SELECTED)
        return in->cbsz >= FORMAT_FP6 && in->blgp >= FORMAT_FP6 ? q->mfma_f6f4 : q->mfma_f8f6f4;
    if (m->a == FORMAT_F64) return q->mfma_f64;
    if (m->a == FORMAT_F32) return q->mfma_f32;
    if (m->blocks > 1) return q->mfma_half_blocks;
    if (m->a == FORMAT_F16 || m->a == FORMAT_BF16) return wide ? q->mfma_half_wide : q->mfma_half;
    return wide ? q->mfma_byte_wide : q->mfma_byte;
}

static void classify_matrix(const inst *in, const parameters *q, op *o) {
    const sim_mfma *m = in->mfma;
    const sim_mfma_registers r = sim_mfma_operands(m, in->cbsz, in->blgp);
    const double flop = 2.0 * m->m * m->n * m->k * m->blocks;
    const int alone = m->a == FORMAT_F32 || m->a == FORMAT_F64; /* no VALU beside it */
    const int a_bytes = 4 * r.a, most_bytes = 4 * (r.a > r.b ? r.a : r.b);
    o->kind = KIND_MFMA;
    o->group = GROUP_MATRIX;
    o->passes = (int)(flop / (matrix_rate(m, in, q) / SIMDS) / SLOT_CLK + 0.5);
    o->gate_packed = o->passes + (int)q->gate_packed + (a_bytes >= q->gate_packed_bytes);
    o->gate = alone ? o->passes + (int)q->gate_packed : (int)(q->gate_slots + (int)(most_bytes / q->gate_bytes));
    o->read_after = o->passes + 1 +
                    (int)(alone            ? q->sgemm_read_after
                          : o->passes == 2 ? q->mfma_read_after_2
                                           : q->mfma_read_after);
    o->c_after = o->passes + (int)(alone ? q->sgemm_c_after : q->mfma_c_after) + 1;
    o->scaled = m->scaled;
    writes(o, &in->op[0], r.acc);
    reads(o, &in->op[1], r.a);
    reads(o, &in->op[2], r.b);
    if (in->op[3].kind == K_VGPR) o->c = (span){in->op[3].index, (uint16_t)r.acc};
    for (int i = 4; i < in->op_count; i++) reads(o, &in->op[i], 1);
}

/* ---- the other formats ---- */

static void classify_vector(const inst *in, const parameters *q, op *o) {
    const char *name = in->row->name;
    o->kind = KIND_VALU;
    o->slots = rate_of(name, q);
    if ((starts(name, "v_pk_") && strstr(name, "_f32")) || starts(name, "v_pk_mov") || starts(name, "v_dot"))
        o->group = GROUP_PACKED;
    const int swaps = strstr(name, "swap") != NULL;
    for (int i = 0; i < in->op_count; i++) {
        const operand *x = &in->op[i];
        if (i == 0 || (swaps && i == 1)) writes(o, x, x->count);
        if (i > 0 || swaps) reads(o, x, x->count);
        if ((i == 0 || i == in->row->carry_out) && x->kind == K_SGPR) o->sgpr_write = x->index;
    }
}

static void classify_memory(const inst *in, const parameters *q, op *o) {
    const int in_lds = in->row->format == F_LDS;
    const memory_row *row = in_lds ? lds_row(in->row->effect) : vmem_row(in->row->effect);
    const int dma = !in_lds && (row->kind == LDS_DMA || in->lds);
    const int stores = row->kind == STORE || row->kind == WRITE2 || row->kind == WRITE2_ST64 || row->kind == ATOMIC ||
                       row->kind == COMPARE_SWAP;
    o->category = in_lds ? CATEGORY_LDS : CATEGORY_VMEM;
    o->group = in_lds ? GROUP_LDS : GROUP_VMEM;
    if (row->kind == CACHE) o->group = GROUP_PLAIN;
    o->kind = dma                ? KIND_LDS_DMA
              : in_lds && stores ? KIND_LDS_WRITE
              : in_lds           ? KIND_LDS_READ
              : stores           ? KIND_VMEM_STORE
                                 : KIND_VMEM_LOAD;
    if (o->kind == KIND_LDS_WRITE) {
        const double port = row->bytes <= 4    ? q->lds_store_b32
                            : row->bytes == 8  ? q->lds_store_b64
                            : row->bytes == 12 ? q->lds_store_b96
                                               : q->lds_store_b128;
        o->slots = (int)(port / SLOT_CLK) * (row->kind == STORE || row->kind == ATOMIC ? 1 : 2);
    }
    const int loads = !stores && !dma;
    for (int i = loads ? 1 : 0; i < in->op_count; i++) {
        const operand *x = &in->op[i];
        reads(o, x, x->count);
        if (x->kind != K_SGPR || in_lds) continue;
        if (o->sgpr_read[0] == UINT16_MAX)
            o->sgpr_read[0] = x->index;
        else
            o->sgpr_read[1] = x->index;
    }
}

static void classify_scalar(const inst *in, const parameters *q, op *o) {
    const char *name = in->row->name;
    o->category = CATEGORY_SCALAR;
    o->kind = KIND_SALU;
    if (!strcmp(name, "s_waitcnt")) {
        o->group = GROUP_WAIT;
        o->kind = KIND_WAIT;
    } else if (!strcmp(name, "s_barrier")) {
        o->group = GROUP_BARRIER;
        o->kind = KIND_BARRIER;
        o->slots = (int)q->barrier_slots;
    } else if (!strcmp(name, "s_endpgm")) {
        o->group = GROUP_END;
        o->kind = KIND_OTHER;
    } else if (!strcmp(name, "s_nop") || !strcmp(name, "s_sleep")) {
        o->group = GROUP_NOP;
        o->kind = KIND_OTHER;
        o->idle = (int)in->op[0].value * (name[2] == 'n' ? 1 : 64 / SLOT_CLK);
    } else if (!strcmp(name, "s_setprio")) {
        o->group = GROUP_SETPRIO;
        o->kind = KIND_OTHER;
    } else if (starts(name, "s_cbranch") || starts(name, "s_branch") || starts(name, "s_setpc") ||
               starts(name, "s_swappc") || starts(name, "s_call")) {
        o->category = CATEGORY_BRANCH;
        o->group = GROUP_BRANCH;
        o->kind = KIND_BRANCH;
    } else if (starts(name, "v_nop")) {
        o->category = CATEGORY_VALU;
        o->kind = KIND_VALU;
    }
}

op *ops_classify(const program *p, const parameters *q) {
    op *ops = mem_alloc((p->count + 1) * sizeof *ops);
    if (!ops) return NULL;
    for (size_t i = 0; i <= p->count; i++) {
        const inst *in = &p->code[i];
        op *o = &ops[i];
        *o = (op){.kind = KIND_OTHER,
                  .slots = 1,
                  .sgpr_read = {UINT16_MAX, UINT16_MAX},
                  .sgpr_write = UINT16_MAX,
                  .loop = NO_LOOP};
        if (!in->row) continue;
        switch (in->row->format) {
        case F_SCALAR: classify_scalar(in, q, o); break;
        case F_VECTOR:
        case F_COMPARE:
        case F_LANE: classify_vector(in, q, o); break;
        case F_MATRIX: classify_matrix(in, q, o); break;
        case F_VMEM:
        case F_LDS: classify_memory(in, q, o); break;
        case F_SMEM:
            o->category = CATEGORY_SCALAR;
            o->group = GROUP_SMEM;
            o->kind = KIND_SMEM;
        }
    }
    return ops;
}
