/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Vector instructions around the lane loops: operands, DPP, SDWA, op_sel, source and result modifiers, EXEC, MODE. */
#include <string.h>
#include <xmmintrin.h>

#include "sim/lane_math.h"
#include "sim/lanes.h"
#include "sim/wave.h"

static int is_wide(value_type t) { return t == T_u64 || t == T_i64 || t == T_f64 || t == T_pf32; }
static int is_short(value_type t) {
    return t == T_u16 || t == T_i16 || t == T_f16 || t == T_h16 || t == T_hi16 || t == T_hf16;
}

static int is_single(value_type t) { return t == T_f32 || t == T_pf32 || t == T_mix; }
static int is_half_float(value_type t) { return t == T_f16 || t == T_hf16 || t == T_pf16; }

static void spread(uint32_t mask[LANES], uint64_t bits) {
    for (int l = 0; l < LANES; l++) mask[l] = (uint32_t)-(int32_t)(bits >> l & 1);
}

/* An operand before modifiers: a register itself, a constant's lanes, or a scalar spread into `room`. */
static const uint32_t *plain_source(wave *w, const inst *in, int i, uint32_t room[2 * LANES]) {
    const operand *o = &in->op[i];
    if (o->kind == K_VGPR) return w->vgpr[o->index];
    if (o->kind == K_CONST) return o->lanes;
    const uint64_t x = scalar_read(w, o, in->row->type[i]);
    for (int l = 0; l < LANES; l++) room[l] = (uint32_t)x;
    if (is_wide(in->row->type[i]))
        for (int l = 0; l < LANES; l++) room[l + LANES] = (uint32_t)(x >> 32);
    return room;
}

/* Source lane of a DPP control, -1 if it lies outside the pattern. source: AMD CDNA4 ISA guide, "Data Parallel
 * Processing" */
int dpp_source(const inst *in, int l) {
    const int row = l & ~15, at = l & 15, n = in->dpp_count;
    switch ((dpp_kind)in->dpp) {
    case DPP_QUAD_PERM: return (l & ~3) | (n >> (2 * (l & 3)) & 3);
    case DPP_ROW_SHL: return at + n < 16 ? l + n : -1;
    case DPP_ROW_SHR: return at - n >= 0 ? l - n : -1;
    case DPP_ROW_ROR: return row | ((at - n) & 15);
    case DPP_WAVE_SHL: return l < 63 ? l + 1 : -1;
    case DPP_WAVE_ROL: return (l + 1) & 63;
    case DPP_WAVE_SHR: return l - 1;
    case DPP_WAVE_ROR: return (l - 1) & 63;
    case DPP_ROW_MIRROR: return row | (15 - at);
    case DPP_ROW_HALF_MIRROR: return (l & ~7) | (7 - (l & 7));
    case DPP_ROW_BCAST15: return l >= 16 ? row - 1 : -1;
    case DPP_ROW_BCAST31: return l >= 32 ? 31 : -1;
    case DPP_ROW_NEWBCAST: return row | n;
    case DPP_NONE: break;
    }
    return l;
}

/* Move src0's lanes; returns the lanes that may be written. */
static uint64_t apply_dpp(const inst *in, uint64_t exec, uint32_t *x, int words) {
    uint32_t old[2 * LANES];
    uint64_t writable = 0;
    memcpy(old, x, (size_t)words * LANES * sizeof *x);
    for (int l = 0; l < LANES; l++) {
        const int from = dpp_source(in, l);
        const int valid = from >= 0 && (exec >> from & 1);
        const int enabled = (in->row_mask >> (l / 16) & 1) && (in->bank_mask >> (l % 16 / 4) & 1);
        for (int i = 0; i < words; i++) x[i * LANES + l] = valid ? old[i * LANES + from] : 0;
        if (enabled && (valid || in->bound_ctrl)) writable |= 1ull << l;
    }
    return writable & exec;
}

static uint32_t select_part(uint32_t x, int select, int sign_extend) {
    switch ((sdwa_select)select) {
    case SEL_DWORD: return x;
    case SEL_WORD_0:
    case SEL_WORD_1: x = x >> (select == SEL_WORD_1 ? 16 : 0) & 0xffff; return sign_extend ? (uint32_t)(int16_t)x : x;
    default: x = x >> 8 * (select - SEL_BYTE_0) & 0xff; return sign_extend ? (uint32_t)(int8_t)x : x;
    }
}

/* Source modifiers, in the order in which the hardware applies them. `s` counts sources from 0. */
static void modify_source(const inst *in, int i, int s, uint32_t *x) {
    const operand *o = &in->op[i];
    const value_type type = in->row->type[i];
    const int low = in->op_sel >> s & 1, high = in->op_sel_hi >> s & 1;
    const int negate_low = in->neg_lo >> s & 1, negate_high = in->neg_hi >> s & 1;
    const uint32_t sign = is_short(type) ? 0x8000u : 0x80000000u;
    for (int l = 0; l < LANES; l++) {
        uint32_t *a = &x[l], *b = &x[l + LANES];
        if (in->sdwa) *a = select_part(*a, o->select, o->sign_extend);
        if (type == T_p16 || type == T_pf16) {
            *a = (*a >> (low ? 16 : 0) & 0xffff) | (*a >> (high ? 16 : 0)) << 16;
            *a ^= (negate_low ? 0x8000u : 0) | (negate_high ? 0x80000000u : 0);
        } else if (type == T_pf32) {
            const uint32_t first = low ? *b : *a, second = high ? *b : *a;
            *a = first ^ (negate_low ? sign : 0);
            *b = second ^ (negate_high ? sign : 0);
        } else if (type == T_mix) {
            if (high && o->kind != K_CONST) *a = bits_of_f32(f32_of_f16((uint16_t)(*a >> (low ? 16 : 0))));
        } else if (is_short(type) && low) {
            *a >>= 16;
        }
        uint32_t *top = is_wide(type) ? b : a;
        if (o->absolute) *top &= ~sign;
        if (o->negate) *top ^= sign;
    }
}

static float scale_result(float x, int omod) { return omod == 1 ? x * 2 : omod == 2 ? x * 4 : omod == 3 ? x / 2 : x; }
static double clamp_unit(double x) { return x >= 1 ? 1 : x > 0 ? x : 0; } /* NaN gives 0, as DX10_CLAMP says */

static void modify_result(const inst *in, uint32_t *x) {
    const value_type type = in->row->type[0];
    if (!in->omod && !in->clamp) return;
    for (int l = 0; l < LANES; l++) {
        if (type == T_f32 || type == T_pf32) {
            for (int i = 0; i < (type == T_pf32 ? 2 : 1); i++) {
                const float f = scale_result(f32_of(x[l + i * LANES]), in->omod);
                x[l + i * LANES] = bits_of_f32(in->clamp ? (float)clamp_unit((double)f) : f);
            }
        } else if (type == T_f64) {
            const double f = f64_of(x[l] | (uint64_t)x[l + LANES] << 32);
            const double scaled = in->omod == 1 ? f * 2 : in->omod == 2 ? f * 4 : in->omod == 3 ? f / 2 : f;
            const uint64_t bits = bits_of_f64(in->clamp ? clamp_unit(scaled) : scaled);
            x[l] = (uint32_t)bits;
            x[l + LANES] = (uint32_t)(bits >> 32);
        } else if (type == T_f16 || type == T_hf16 || type == T_pf16) {
            uint32_t word = 0;
            for (int i = 0; i < (type == T_pf16 ? 32 : 16); i += 16) {
                const float f = scale_result(f32_of_f16((uint16_t)(x[l] >> i)), in->omod);
                word |= (uint32_t)f16_of_f32(in->clamp ? (float)clamp_unit((double)f) : f) << i;
            }
            x[l] = word;
        }
    }
}

/* Place a result within its register: SDWA's part, or the half that op_sel names. */
uint32_t place_result(const inst *in, uint32_t old, uint32_t x) {
    const value_type type = in->row->type[0];
    if (in->sdwa && in->dst_select != SEL_DWORD) {
        const int is_word = in->dst_select >= SEL_WORD_0;
        const int shift = is_word ? 16 * (in->dst_select - SEL_WORD_0) : 8 * (in->dst_select - SEL_BYTE_0);
        const uint32_t part = is_word ? 0xffffu : 0xffu;
        const uint32_t placed = (x & part) << shift;
        if (in->dst_unused == 2) return (old & ~(part << shift)) | placed;
        const int negative = (int)(x >> (is_word ? 15 : 7) & 1);
        return in->dst_unused == 1 && negative ? placed | ~((part << shift) | ((1u << shift) - 1)) : placed;
    }
    if (type == T_h16 || type == T_hf16)
        return in->op_sel & 8 ? (old & 0xffff) | x << 16 : (old & 0xffff0000u) | (x & 0xffff);
    return x;
}

/* The host's rounding and denormal handling for a MODE other than the default. Of the two sets of bits, those for f16
 * and f64 serve an instruction that reads or writes such a number. */
enum { MODE_DEFAULT = 0xf0 };
static unsigned host_environment(const inst *in, uint32_t mode) {
    static const unsigned rounding[] = {0x0000, 0x4000, 0x2000, 0x6000}; /* nearest, up, down, to zero */
    const value_type source = in->row->type[in->row->carry_out == 1 ? 2 : 1], result = in->row->type[0];
    const int packs_halves = strstr(in->row->name, "pk_f16_f32") != NULL;
    const uint32_t round = mode >> (is_single(source) && !is_half_float(result) && !packs_halves ? 0 : 2) & 3;
    const uint32_t denormals = mode >> (is_single(source) ? 4 : 6) & 3;
    return 0x1f80u | rounding[round] | (denormals & 1 ? 0 : 0x0040u) | (denormals & 2 ? 0 : 0x8000u);
}

static void call_effect(wave *w, const inst *in, lanes *x) {
    if ((w->mode & 0xff) == MODE_DEFAULT) {
        in->effect(x);
        return;
    }
    const unsigned saved = _mm_getcsr();
    _mm_setcsr(host_environment(in, w->mode));
    in->effect(x);
    _mm_setcsr(saved);
}

/* f16 denormals, which the host's f32 arithmetic would keep: MODE may flush them. */
static int flushes_halves(const wave *w, const inst *in) {
    if ((w->mode & MODE_F16_F64_DENORMALS) == MODE_F16_F64_DENORMALS) return 0;
    for (int i = 0; i < OPERANDS_MAX; i++)
        if (is_half_float(in->row->type[i])) return 1;
    return 0;
}
static void flush_halves(value_type type, uint32_t *x) {
    const uint32_t high = type == T_pf16 ? 0x7c000000u : 0;
    for (int l = 0; l < LANES; l++) {
        if (!(x[l] & 0x7c00u)) x[l] &= ~0x3ffu;
        if (high && !(x[l] & high)) x[l] &= ~0x3ff0000u;
    }
}

/* Sources, then the lane loop. Returns the lanes that took part. */
static uint64_t evaluate(wave *w, const inst *in, uint64_t exec, lanes *x) {
    const isa_row *row = in->row;
    uint32_t room[3][2 * LANES], mask[LANES];
    const uint32_t *source[3] = {NULL, NULL, NULL};
    const int first = row->carry_out == 1 ? 2 : 1;
    const int last = row->carry_in > 0 ? row->carry_in : in->op_count;
    uint64_t active = exec;
    const int flush = !(w->mode & MODE_ALLOW_F16_F64_DENORMALS_IN) && flushes_halves(w, in);
    for (int i = first, s = 0; i < last; i++, s++) {
        source[s] = plain_source(w, in, i, room[s]);
        if (in->simple && !flush) continue;
        if (source[s] != room[s])
            memcpy(room[s], source[s], (is_wide(row->type[i]) ? 2 : 1) * LANES * sizeof(uint32_t));
        if (in->dpp && s == 0) active = apply_dpp(in, exec, room[s], is_wide(row->type[i]) ? 2 : 1);
        modify_source(in, i, s, room[s]);
        if (flush && is_half_float(row->type[i])) flush_halves(row->type[i], room[s]);
        source[s] = room[s];
    }
    if (row->carry_in >= 0) x->carry_in = scalar_read(w, &in->op[row->carry_in], T_mask);
    if (row->carry_in == -2) x->carry_in = sgpr_pair(w, SGPR_VCC);
    x->a = source[0];
    x->b = source[1];
    x->c = source[2];
    x->chip = w->program->chip;
    x->clamp = in->clamp;
    x->saturate = w->saturate;
    x->imm = in->bitop3;
    if (active != w->mask_exec) {
        if (active == exec) {
            spread(w->mask, exec);
            w->mask_exec = exec;
        } else {
            spread(mask, active);
            x->mask = mask;
        }
    }
    call_effect(w, in, x);
    return active;
}

enum { MODE_UNUSUAL = MODE_FP16_OVFL | MODE_GPR_IDX_EN };

int relative_registers(wave *w, inst *in) {
    const uint32_t m0 = w->sgpr[SGPR_M0], index = m0 & 0xff;
    const int first = in->row->carry_out == 1 ? 2 : 1;
    if (!(w->mode & MODE_GPR_IDX_EN)) return 1;
    for (int i = 0; i < in->op_count; i++) {
        operand *o = &in->op[i];
        const int bit = i == 0 ? 3 : i - first;
        if (o->kind != K_VGPR || bit < 0 || !(m0 >> (12 + bit) & 1)) continue;
        if (o->index + index + o->count > w->group->launch->vgprs) {
            wave_fault(w, -1, "relative VGPR v%u: %u are allocated", o->index + index, w->group->launch->vgprs);
            return 0;
        }
        o->index = (uint16_t)(o->index + index);
    }
    return 1;
}

/* MODE bits that change what an instruction does beyond rounding: relative registers, and saturation of f16 results. */
static void run_unusual(wave *w, const inst *in) {
    inst moved = *in;
    const uint32_t mode = w->mode;
    const value_type type = in->row->type[in->row->format == F_COMPARE ? 1 : 0];
    if (mode & MODE_FP16_OVFL && in->row->format == F_VECTOR && (type == T_f16 || type == T_hf16 || type == T_pf16)) {
        wave_fault(w, -1, "MODE.FP16_OVFL is simulated in conversions to 8 bits and less only");
        return;
    }
    if (!relative_registers(w, &moved)) return;
    w->mode &= ~(uint32_t)MODE_UNUSUAL;
    w->saturate = (mode & MODE_FP16_OVFL) != 0;
    (in->row->format == F_COMPARE ? run_compare : run_vector)(w, &moved);
    w->saturate = 0;
    w->mode = mode;
}

void run_vector(wave *w, const inst *in) {
    if (w->mode & MODE_UNUSUAL) {
        run_unusual(w, in);
        return;
    }
    const uint64_t exec = wave_exec(w);
    uint32_t (*const d)[LANES] = &w->vgpr[in->op[0].index];
    lanes x = {.d = d[0], .mask = w->mask};
    uint64_t active;
    const int flush = is_half_float(in->row->type[0]) && flushes_halves(w, in);
    if (in->simple && !flush) {
        active = evaluate(w, in, exec, &x);
    } else {
        const int words = is_wide(in->row->type[0]) ? 2 : 1;
        uint32_t result[2 * LANES];
        memcpy(result, d, (size_t)words * sizeof *d);
        x.d = result;
        active = evaluate(w, in, exec, &x);
        modify_result(in, result);
        if (flush && !(w->mode & MODE_ALLOW_F16_F64_DENORMALS_OUT)) flush_halves(in->row->type[0], result);
        for (int l = 0; l < LANES; l++) {
            if (!(active >> l & 1)) continue;
            d[0][l] = place_result(in, d[0][l], result[l]);
            if (words == 2) d[1][l] = result[l + LANES];
        }
    }
    if (in->row->carry_out >= 0) scalar_write(w, &in->op[in->row->carry_out], T_mask, x.carry_out & active);
}

void run_compare(wave *w, const inst *in) {
    if (w->mode & MODE_UNUSUAL) {
        run_unusual(w, in);
        return;
    }
    const uint64_t exec = wave_exec(w);
    lanes x = {.mask = w->mask};
    const uint64_t active = evaluate(w, in, exec, &x);
    scalar_write(w, &in->op[0], T_mask, x.carry_out & active);
    if (in->row->name[5] == 'x') set_sgpr_pair(w, SGPR_EXEC, x.carry_out & active); /* v_cmpx_* */
}

/* ---- matrix instructions: sim/mfma.h computes, this fetches ---- */

enum { MATRIX_REGISTERS_MAX = 32 };

static const uint32_t *matrix_source(wave *w, const inst *in, int i, int registers, uint32_t (*room)[LANES]) {
    const operand *o = &in->op[i];
    if (o->kind == K_VGPR) {
        if (o->count >= registers) return w->vgpr[o->index];
        wave_fault(w, -1, "operand %d has %d registers, this format needs %d", i, o->count, registers);
        return NULL;
    }
    if (!room) {
        wave_fault(w, -1, "operand %d is not a vector register", i);
        return NULL;
    }
    /* An f64 row takes a constant as 64 bits: 1.0 as a double, an integer with its sign. */
    const int wide = strstr(sim_mfma_name(in->mfma), "_f64") != NULL;
    const uint32_t low = (uint32_t)scalar_read(w, o, T_u32);
    const uint64_t x = !wide ? low : o->is_float ? bits_of_f64(o->real) : (uint64_t)(int64_t)(int32_t)low;
    for (int r = 0; r < registers; r++)
        for (int l = 0; l < LANES; l++) room[r][l] = (uint32_t)(wide && r % 2 ? x >> 32 : x);
    return room[0];
}

void run_matrix(wave *w, const inst *in) {
    uint32_t room[MATRIX_REGISTERS_MAX][LANES], scales[2][1][LANES];
    const chip *c = w->program->chip;
    sim_mfma_modifiers modifiers = {.cbsz = in->cbsz,
                                    .abid = in->abid,
                                    .blgp = in->blgp,
                                    .op_sel = in->op_sel,
                                    .op_sel_hi = in->op_sel_hi,
                                    .flush_f32 = !(w->mode & MODE_ALLOW_F32_DENORMALS_IN)};
    const sim_mfma_registers n = sim_mfma_operands(in->mfma, in->cbsz, in->blgp);
    if (in->op_count != 4 && in->op_count != 6) {
        wave_fault(w, -1, "%d operands, a matrix instruction has 4 or 6", in->op_count);
        return;
    }
    const uint32_t *a = matrix_source(w, in, 1, n.a, NULL), *b = a ? matrix_source(w, in, 2, n.b, NULL) : NULL;
    const uint32_t *acc = b ? matrix_source(w, in, 3, n.acc, room) : NULL;
    if (!acc) return;
    if (in->op_count == 6) {
        modifiers.scale_a = matrix_source(w, in, 4, 1, scales[0]);
        modifiers.scale_b = matrix_source(w, in, 5, 1, scales[1]);
    }
    const char *refusal = sim_mfma_refusal(in->mfma, c, &modifiers);
    if (refusal) {
        wave_fault(w, -1, "%s", refusal);
        return;
    }
    sim_mfma_run(in->mfma, c, &modifiers, a, b, acc, w->vgpr[in->op[0].index]);
}
