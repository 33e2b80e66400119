/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Registers and classes of an instruction, from its operands and its row. Whether a scalar row touches SCC, and whether
 * a result takes in the register's old value, is read from the row's own statements: there is no second list to
 * keep. */
#include "sim/check_uses.h"

#include <stdio.h>
#include <string.h>

#include "sim/access.h"
#include "sim/mfma_rows.h"

typedef enum scalar_shape { HAS_RESULT, COMPARES, OTHER } scalar_shape;
static const struct {
    scalar_shape shape;
    const char *body;
} scalar_rows[] = {
#define S1(name, dt, at, ...) {HAS_RESULT, #__VA_ARGS__},
#define S2(name, dt, at, bt, ...) {HAS_RESULT, #__VA_ARGS__},
#define SC(name, at, bt, ...) {COMPARES, "SCC = "},
#define SX(name, types, ...) {OTHER, #__VA_ARGS__},
#include "sim/isa/scalar.def"
#undef S1
#undef S2
#undef SC
#undef SX
};

static void add(use *list, uint8_t *n, int max, const operand *o, int position, use_role role) {
    if (*n == max || (o->kind != K_VGPR && o->kind != K_SGPR)) return;
    if (o->kind == K_SGPR && (o->index == SGPR_NULL || o->index >= SGPR_SHARED_BASE)) return;
    list[(*n)++] = (use){.first = o->index,
                         .count = (uint8_t)o->count,
                         .scalar = o->kind == K_SGPR,
                         .role = (uint8_t)role,
                         .operand = (int8_t)position};
}
static void reads(const inst *in, inst_uses *u, int i, use_role role) {
    if (i < in->op_count) add(u->read, &u->reads, READS_MAX, &in->op[i], i, role);
}
static void writes(const inst *in, inst_uses *u, int i) {
    if (i < in->op_count) add(u->write, &u->writes, WRITES_MAX, &in->op[i], i, USE_RESULT);
}
static void reads_special(inst_uses *u, uint16_t first, uint16_t count, use_role role) {
    add(u->read, &u->reads, READS_MAX, &(operand){.kind = K_SGPR, .index = first, .count = count}, -1, role);
}
static void writes_exec(inst_uses *u) {
    add(u->write, &u->writes, WRITES_MAX, &(operand){.kind = K_SGPR, .index = SGPR_EXEC, .count = 2}, -1, USE_RESULT);
}

static int starts(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

/* Rows that are neither one result of sources nor a comparison: their statements say which operands they take. */
static void other_scalar_uses(const inst *in, inst_uses *u, const char *body) {
    for (int i = 0; i < in->op_count; i++) {
        char read[40], written[40];
        snprintf(read, sizeof read, "scalar_read(w, &in->op[%d]", i);
        snprintf(written, sizeof written, "scalar_write(w, &in->op[%d]", i);
        if (strstr(body, read)) reads(in, u, i, USE_SOURCE);
        if (strstr(body, written)) writes(in, u, i);
    }
    if (u->classes & IS_GETREG) writes(in, u, 0);
}

static void scalar_uses(const inst *in, inst_uses *u) {
    const char *name = in->row->name, *body = scalar_rows[in->row->effect].body;
    static const struct {
        const char *name;
        unsigned classes;
    } special[] = {{"s_waitcnt", IS_WAIT},
                   {"s_barrier", IS_BARRIER},
                   {"s_endpgm", IS_END},
                   {"s_nop", IS_NOP},
                   {"s_setreg_b32", IS_SETREG},
                   {"s_setreg_imm32_b32", IS_SETREG},
                   {"s_getreg_b32", IS_GETREG},
                   {"s_cbranch_scc0", IS_BRANCH_SCC},
                   {"s_cbranch_scc1", IS_BRANCH_SCC},
                   {"s_cbranch_vccz", IS_BRANCH_VCC},
                   {"s_cbranch_vccnz", IS_BRANCH_VCC},
                   {"s_setpc_b64", IS_JUMP},
                   {"s_swappc_b64", IS_JUMP}};
    u->classes = starts(name, "v_") ? IS_VALU : IS_SALU;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcmp(name, special[i].name) == 0) u->classes |= special[i].classes;
    const int scc = isa_mentions(body, "SCC", ""), assigned = isa_mentions(body, "SCC", " = ");
    u->writes_scc = assigned != 0 || strstr(body, "set_exec") != NULL;
    u->reads_scc = scc > assigned;
    if (u->classes & IS_BRANCH_VCC) reads_special(u, SGPR_VCC, 2, USE_SOURCE);
    switch (scalar_rows[in->row->effect].shape) {
    case COMPARES:
        reads(in, u, 0, USE_SOURCE);
        reads(in, u, 1, USE_SOURCE);
        break;
    case OTHER: other_scalar_uses(in, u, body); break;
    case HAS_RESULT:
        writes(in, u, 0);
        if (strstr(body, "set_exec")) writes_exec(u);
        if (starts(name, "s_cmov") || starts(name, "s_bitset") || starts(name, "s_addk") || starts(name, "s_mulk"))
            reads(in, u, 0, USE_SOURCE);
        for (int i = 1; i < in->op_count && !starts(name, "s_movrel"); i++) reads(in, u, i, USE_SOURCE);
    }
}

/* ---- vector instructions ---- */

static int is_half(value_type t) { return t == T_h16 || t == T_hi16 || t == T_hf16; }

static void vector_classes(const inst *in, inst_uses *u) {
    static const char *const transcendental[] = {"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"};
    const char *name = in->row->name;
    u->classes = IS_VALU | IS_PLAIN;
    for (size_t i = 0; i < sizeof transcendental / sizeof *transcendental; i++)
        if (starts(name, transcendental[i])) u->classes = IS_VALU | IS_TRANS;
    if (in->dpp) u->classes |= IS_DPP;
    if (in->row->format == F_VECTOR &&
        ((in->sdwa && in->dst_select != SEL_DWORD) || (is_half(in->row->type[0]) && in->op_sel & 8)))
        u->classes |= IS_PARTIAL;
    if (starts(name, "v_dot")) u->classes |= IS_DOT;
    if (starts(name, "v_readlane") || starts(name, "v_readfirstlane")) u->classes |= IS_READLANE;
    if (starts(name, "v_writelane")) u->classes |= IS_WRITELANE;
    if (starts(name, "v_permlane")) u->classes |= IS_PERMLANE;
    if (starts(name, "v_div_fmas")) u->classes |= IS_DIV_FMAS;
    if (strcmp(name, "v_fma_f64") == 0 || strcmp(name, "v_fmac_f64") == 0) u->classes |= IS_FMA64;
}

static void vector_uses(const inst *in, inst_uses *u) {
    const isa_row *row = in->row;
    vector_classes(in, u);
    writes(in, u, 0);
    for (int i = 1; i < in->op_count; i++)
        if (i == row->carry_out)
            writes(in, u, i);
        else
            reads(in, u, i, u->classes & IS_DOT && i == 3 ? USE_C : USE_SOURCE);
    if (row->carry_in == -2) reads_special(u, SGPR_VCC, 2, USE_SOURCE);
    if (row->format == F_COMPARE) {
        if (row->name[5] == 'x') writes_exec(u);
        return;
    }
    const int accumulates = isa_mentions(row->body, "D", "") != 0;
    u->reads_old =
        (uint8_t)(accumulates || is_half(row->type[0]) || (in->sdwa && in->dst_select && in->dst_unused == 2));
    if (u->reads_old) reads(in, u, 0, u->classes & IS_DOT ? USE_C : USE_SOURCE);
}

static void lane_uses(const inst *in, inst_uses *u) {
    vector_classes(in, u);
    const int swaps = strstr(in->row->name, "swap") != NULL;
    if (swaps || u->classes & (IS_READLANE | IS_WRITELANE) || strcmp(in->row->name, "v_pk_mov_b32") == 0)
        u->classes |= IS_MOVE;
    const int selects = strcmp(in->row->name, "v_readlane_b32") == 0 || u->classes & IS_WRITELANE;
    writes(in, u, 0);
    if (swaps) {
        writes(in, u, 1);
        reads(in, u, 0, USE_SOURCE);
    }
    for (int i = 1; i < in->op_count; i++) reads(in, u, i, selects && i == 2 ? USE_LANE_SELECT : USE_SOURCE);
}

static uint8_t passes_of(const inst *in) {
    const sim_mfma *m = in->mfma;
    const sim_mfma_modifiers modifiers = {.cbsz = in->cbsz, .blgp = in->blgp};
    if (m->a == FORMAT_F64) return m->m == 4 ? 4 : 8; /* gfx950 takes 16 for the latter: its rules say so */
    if (m->m == 4) return 2;
    int passes = m->m == 16 ? 4 : 8;
    if (m->blocks > 1 || m->a == FORMAT_F32) passes *= 2;
    if (m->a == FORMAT_SELECTED &&
        (sim_mfma_format_a(m, &modifiers) <= FORMAT_BF8 || sim_mfma_format_b(m, &modifiers) <= FORMAT_BF8))
        passes *= 2;
    return (uint8_t)passes;
}

static void matrix_uses(const inst *in, inst_uses *u) {
    u->classes = in->mfma->a == FORMAT_F64 ? IS_DGEMM : in->mfma->a == FORMAT_F32 ? IS_SGEMM : IS_XDL;
    u->passes = passes_of(in);
    writes(in, u, 0);
    for (int i = 1; i < in->op_count; i++) reads(in, u, i, i == 3 ? USE_C : USE_SOURCE);
}

/* ---- memory instructions: where each kind has its operands is said in vmem.c and lds.c ---- */

static void vmem_uses(const inst *in, inst_uses *u) {
    const memory_row *row = vmem_row(in->row->effect);
    u->classes = IS_VMEM;
    if (row->kind == CACHE) return;
    const int dma = row->kind == LDS_DMA || in->lds, is_buffer = row->space == SPACE_BUFFER;
    const int is_atomic = row->kind == ATOMIC || row->kind == COMPARE_SWAP, returns = is_atomic && in->sc0;
    if (row->space == SPACE_ANY) u->classes |= IS_FLAT;
    int at = 0;
    if (dma) {
        u->classes |= IS_LDS_DMA;
        reads_special(u, SGPR_M0, 1, USE_ADDRESS);
    } else if (is_buffer) {
        if (row->kind == LOAD || returns) writes(in, u, 0);
        if (row->kind == STORE || is_atomic) reads(in, u, 0, USE_DATA);
        at = 1;
    } else if (row->kind == LOAD || returns) {
        writes(in, u, at++);
    }
    const int data = !dma && !is_buffer && row->kind != LOAD ? at + 1 : -1;
    for (int i = at; i < in->op_count; i++) reads(in, u, i, i == data ? USE_DATA : USE_ADDRESS);
    if (row->kind == LOAD && !dma && row->load && strstr(in->row->name, "d16")) {
        u->reads_old = 1;
        reads(in, u, 0, USE_SOURCE);
    }
    const operand *last = in->op_count ? &in->op[in->op_count - 1] : NULL;
    if (row->kind == STORE && row->bytes > 8 && !(is_buffer && last && last->kind == K_SGPR))
        u->classes |= IS_WIDE_STORE;
}

static void lds_uses(const inst *in, inst_uses *u) {
    const memory_row *row = lds_row(in->row->effect);
    u->classes = IS_LDS;
    int at = 0;
    switch (row->kind) {
    case STORE:
    case WRITE2:
    case WRITE2_ST64:
    case ATOMIC:
    case COMPARE_SWAP: break;
    default: writes(in, u, at++);
    }
    if (row->kind != SWIZZLE) reads(in, u, at++, USE_ADDRESS);
    for (; at < in->op_count; at++) reads(in, u, at, USE_DATA);
    if (row->kind == LOAD && strstr(in->row->name, "d16")) {
        u->reads_old = 1;
        reads(in, u, 0, USE_SOURCE);
    }
}

static void smem_uses(const inst *in, inst_uses *u) {
    u->classes = IS_SMEM;
    writes(in, u, 0);
    for (int i = 1; i < in->op_count; i++) reads(in, u, i, USE_ADDRESS);
}

/* ---- propagation ---- */

static const struct {
    const char *name; /* a trailing '*' stands for any rest */
    uint8_t pass, detail;
} passing[] = {
    {"s_mov*", PASS_COPY, 0},
    {"s_cmov*", PASS_SELECT, 0},
    {"s_cselect*", PASS_SELECT, 0},
    {"s_and_b*", PASS_AND, 0},
    {"s_nand_b*", PASS_AND, 0},
    {"s_andn2_b*", PASS_AND_NOT, 0},
    {"s_or_b*", PASS_OR, 0},
    {"s_nor_b*", PASS_OR, 0},
    {"s_orn2_b*", PASS_OR_NOT, 0},
    {"s_xor_b*", PASS_XOR, 0},
    {"s_xnor_b*", PASS_XOR, 0},
    {"s_not_b*", PASS_COPY, 0},
    {"s_lshl_b*", PASS_LEFT, 0},
    {"s_lshr_b*", PASS_RIGHT, 0},
    {"s_ashr_i*", PASS_RIGHT_SIGNED, 0},
    {"s_add_*", PASS_CARRY, 0},
    {"s_sub_*", PASS_CARRY, 0},
    {"s_mul_i32", PASS_CARRY, 0},
    {"v_mov_b*", PASS_COPY, 0},
    {"v_accvgpr_*", PASS_COPY, 0},
    {"v_not_b32", PASS_COPY, 0},
    {"v_and_b32", PASS_AND, 0},
    {"v_or_b32", PASS_OR, 0},
    {"v_xor_b32", PASS_XOR, 0},
    {"v_xnor_b32", PASS_XOR, 0},
    {"v_and_or_b32", PASS_AND_OR, 0},
    {"v_or3_b32", PASS_OR3, 0},
    {"v_bitop3_b32", PASS_UNION, 0},
    {"v_bfi_b32", PASS_INSERT, 0},
    {"v_lshlrev_b32", PASS_LEFT, 0},
    {"v_lshlrev_b64", PASS_LEFT, 0},
    {"v_lshlrev_b16", PASS_LEFT, 0},
    {"v_lshrrev_b32", PASS_RIGHT, 0},
    {"v_lshrrev_b64", PASS_RIGHT, 0},
    {"v_lshrrev_b16", PASS_RIGHT, 0},
    {"v_ashrrev_i*", PASS_RIGHT_SIGNED, 0},
    {"v_lshl_or_b32", PASS_LEFT_OR, 0},
    {"v_alignbit_b32", PASS_ALIGN_BIT, 0},
    {"v_alignbyte_b32", PASS_ALIGN_BYTE, 0},
    {"v_bfe_*", PASS_FIELD, 0},
    {"v_perm_b32", PASS_BYTES, 0},
    {"v_cvt_f32_ubyte0", PASS_UBYTE, 0},
    {"v_cvt_f32_ubyte1", PASS_UBYTE, 1},
    {"v_cvt_f32_ubyte2", PASS_UBYTE, 2},
    {"v_cvt_f32_ubyte3", PASS_UBYTE, 3},
    {"v_cvt_pk_bf16_f32", PASS_PAIR, 0},
    {"v_cvt_pk_f16_f32", PASS_PAIR, 0},
    {"v_cvt_pkrtz_f16_f32", PASS_PAIR, 0},
    {"v_cvt_pk_i16_i32", PASS_PAIR, 0},
    {"v_cvt_pk_u16_u32", PASS_PAIR, 0},
    {"v_pack_b32_f16", PASS_PAIR, 0},
    {"v_cndmask_b32", PASS_SELECT, 0},
    {"v_add_u32", PASS_CARRY, 0},
    {"v_sub_u32", PASS_CARRY, 0},
    {"v_subrev_u32", PASS_CARRY, 0},
    {"v_add3_u32", PASS_CARRY, 0},
    {"v_lshl_add_u*", PASS_CARRY, 1},
    {"v_mul_lo_u32", PASS_CARRY, 0},
    {"v_mad_u64_u32", PASS_CARRY, 0},
};

static void set_pass(const char *name, inst_uses *u) {
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        const size_t n = strlen(passing[i].name) - 1;
        if (passing[i].name[n] == '*' ? strncmp(name, passing[i].name, n) != 0 : strcmp(name, passing[i].name) != 0)
            continue;
        u->pass = passing[i].pass;
        u->detail = passing[i].detail;
        return;
    }
}

void check_uses_of(const inst *in, inst_uses *out) {
    *out = (inst_uses){0};
    if (!in->run) return;
    switch (in->row->format) {
    case F_SCALAR: scalar_uses(in, out); break;
    case F_VECTOR:
    case F_COMPARE: vector_uses(in, out); break;
    case F_LANE: lane_uses(in, out); break;
    case F_VMEM: vmem_uses(in, out); break;
    case F_LDS: lds_uses(in, out); break;
    case F_SMEM: smem_uses(in, out); break;
    case F_MATRIX: matrix_uses(in, out); break;
    }
    set_pass(in->row->name, out);
}
