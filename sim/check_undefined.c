/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Undefined values: a second register file, scratch and LDS hold, for each bit, whether it is undefined. Pure moves run
 * on that second state with the simulator's own code; arithmetic follows sim/check_uses.c's propagation. Findings are
 * undefined bits that reach a store to global memory, an address, a lane selection, EXEC, a jump or a branch. */
#include <string.h>

#include "sim/check_state.h"
#include "sim/lane_math.h"
#include "sim/lanes.h"
#include "sim/mfma_rows.h"

enum { PRIVATE_SEGMENT_SGPRS = 31 };

void check_undefined_start(wave *w) {
    const launch *l = w->group->launch;
    struct check_wave *c = w->check;
    wave *s = c->undefined;
    memset(s->vgpr, 0xff, sizeof s->vgpr);
    memset(s->sgpr, 0, sizeof s->sgpr);
    memset(c->dirty, 0xff, sizeof c->dirty);
    if (s->scratch) memset(s->scratch, 0xff, (size_t)l->scratch_bytes * LANES);
    FOR_LANES(c->lanes, lane) s->vgpr[0][lane] = 0;
    c->dirty[0] = ~c->lanes;
    uint32_t set = l->rsrc2 >> 1 & PRIVATE_SEGMENT_SGPRS; /* user SGPRs, then the workgroup's place as enabled */
    for (int i = 0; i < 3; i++) set += l->rsrc2 >> (7 + i) & 1;
    for (uint32_t i = set; i < SGPR_FLAT_SCRATCH; i++) s->sgpr[i] = UINT32_MAX;
    s->sgpr[SGPR_VCC] = s->sgpr[SGPR_VCC + 1] = s->sgpr[SGPR_M0] = UINT32_MAX;
    s->scc = 1;
}

static void refresh(struct check_wave *c, int first, int count) {
    for (int r = first; r < first + count; r++) {
        const uint32_t *x = c->undefined->vgpr[r];
        uint64_t active = 0;
        for (int l = 0; l < LANES; l++) active |= (uint64_t)(x[l] != 0) << l;
        c->dirty[r] = active;
    }
}

static void refresh_results(struct check_wave *c, const inst_uses *u) {
    for (int i = 0; i < u->writes; i++)
        if (!u->write[i].scalar) refresh(c, u->write[i].first, u->write[i].count);
}

static void define_lanes(struct check_wave *c, int r, uint64_t active) {
    if (!(c->dirty[r] & active)) return;
    FOR_LANES(c->dirty[r] & active, l) c->undefined->vgpr[r][l] = 0;
    c->dirty[r] &= ~active;
}

static int any_undefined(const struct check_wave *c, const use *x) {
    for (int r = x->first; r < x->first + x->count; r++)
        if (x->scalar ? c->undefined->sgpr[r] != 0 : c->dirty[r] != 0) return 1;
    return 0;
}
static int sources_undefined(const struct check_wave *c, const inst_uses *u) {
    for (int i = 0; i < u->reads; i++)
        if (any_undefined(c, &u->read[i])) return 1;
    return u->reads_scc && c->undefined->scc;
}

/* ---- one source, one lane ---- */

/* bits: a value and which of its bits are undefined. */
typedef struct bits {
    uint64_t v, u;
} bits;

static int is_wide(value_type t) { return t == T_u64 || t == T_i64 || t == T_f64 || t == T_pf32 || t == T_mask; }
static uint64_t width_of(value_type t) { return is_wide(t) ? UINT64_MAX : UINT32_MAX; }

static bits scalar_bits(const wave *w, const operand *o, value_type type) {
    const wave *s = w->check->undefined;
    if (o->kind == K_SCC) return (bits){w->scc, s->scc};
    if (o->kind != K_SGPR || o->index == SGPR_NULL) return (bits){scalar_read(w, o, type), 0};
    return (bits){scalar_read(w, o, type), is_wide(type) && o->count > 1 ? sgpr_pair(s, o->index) : s->sgpr[o->index]};
}

static uint64_t smear_down(uint64_t u, unsigned width) { return u >> (width - 1) & 1 ? ~0ull << width | u : u; }

static uint64_t part(uint64_t x, int select, int sign_extend) {
    switch ((sdwa_select)select) {
    case SEL_DWORD: return x;
    case SEL_WORD_0:
    case SEL_WORD_1: x = x >> (select == SEL_WORD_1 ? 16 : 0) & 0xffff; return sign_extend ? smear_down(x, 16) : x;
    default: x = x >> 8 * (select - SEL_BYTE_0) & 0xff; return sign_extend ? smear_down(x, 8) : x;
    }
}

/* Source number s of a vector row, at text position i. Signs play no part: negating keeps what is undefined. */
static bits lane_bits(const wave *w, const inst *in, int i, int s, uint64_t lane) {
    const operand *o = &in->op[i];
    const value_type type = in->row->type[i];
    const wave *shadow = w->check->undefined;
    bits b;
    if (type == T_mask) {
        b = scalar_bits(w, o, T_mask);
        return (bits){b.v >> lane & 1, b.u >> lane & 1};
    }
    if (o->kind == K_VGPR) {
        b = (bits){w->vgpr[o->index][lane], shadow->vgpr[o->index][lane]};
        if (is_wide(type)) {
            b.v |= (uint64_t)w->vgpr[o->index + 1][lane] << 32;
            b.u |= (uint64_t)shadow->vgpr[o->index + 1][lane] << 32;
        }
    } else {
        b = scalar_bits(w, o, type);
    }
    const int low = in->op_sel >> s & 1, high = in->op_sel_hi >> s & 1;
    if (in->sdwa) {
        b.v = part(b.v, o->select, 0);
        b.u = part(b.u, o->select, o->sign_extend);
    }
    switch (type) {
    case T_p16:
    case T_pf16: b.u = (b.u >> (low ? 16 : 0) & 0xffff) | (b.u >> (high ? 16 : 0) & 0xffff) << 16; break;
    case T_pf32: b.u = (low ? b.u >> 32 : b.u & UINT32_MAX) | (high ? b.u & ~(uint64_t)UINT32_MAX : b.u << 32); break;
    case T_mix:
        if (high) b.u = b.u >> (low ? 16 : 0) & 0xffff;
        break;
    case T_u16:
    case T_i16:
    case T_f16:
    case T_h16:
    case T_hi16:
    case T_hf16:
        b.v = b.v >> (low ? 16 : 0) & 0xffff;
        b.u = b.u >> (low ? 16 : 0) & 0xffff;
        break;
    default: break;
    }
    return b;
}

/* ---- propagation ---- */

static uint64_t all_if(uint64_t u) { return u ? UINT64_MAX : 0; }
static uint64_t and_bits(bits a, bits b) { return (a.u & b.u) | (a.u & b.v) | (b.u & a.v); }
static uint64_t or_bits(bits a, bits b) { return (a.u & b.u) | (a.u & ~b.v) | (b.u & ~a.v); }
static bits inverse(bits a) { return (bits){~a.v, a.u}; }
static uint64_t from_lowest(uint64_t u) { return u ? ~((u & (~u + 1)) - 1) : 0; }

static uint64_t perm_bytes(bits a, bits b, bits select) {
    uint64_t u = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned from = (unsigned)(select.v >> (8 * i)) & 0xff;
        const uint64_t both = a.u << 32 | (b.u & UINT32_MAX);
        uint64_t byte = 0;
        if (select.u >> (8 * i) & 0xff)
            byte = 0xff;
        else if (from < 8)
            byte = both >> (8 * from) & 0xff;
        else if (from < 12) /* the sign of bytes 1, 3, 5, 7 */
            byte = both >> (16 * (from - 8) + 15) & 1 ? 0xff : 0;
        u |= byte << (8 * i);
    }
    return u;
}

/* Undefined bits of a result of `width` bits. Shifts: x[0] by x[1]. */
static uint64_t combine(const inst_uses *u, const bits x[3], int n, unsigned width) {
    const uint64_t any = n > 0 ? x[0].u | (n > 1 ? x[1].u : 0) | (n > 2 ? x[2].u : 0) : 0;
    const unsigned by = (unsigned)x[1].v & (width - 1);
    switch ((propagation)u->pass) {
    case PASS_COPY: return x[0].u;
    case PASS_AND: return and_bits(x[0], x[1]);
    case PASS_AND_NOT: return and_bits(x[0], inverse(x[1]));
    case PASS_OR: return or_bits(x[0], x[1]);
    case PASS_OR_NOT: return or_bits(x[0], inverse(x[1]));
    case PASS_XOR: return x[0].u | x[1].u;
    case PASS_UNION: return any;
    case PASS_AND_OR: return or_bits((bits){x[0].v & x[1].v, and_bits(x[0], x[1])}, x[2]);
    case PASS_OR3: return or_bits((bits){x[0].v | x[1].v, or_bits(x[0], x[1])}, x[2]);
    case PASS_INSERT: return x[0].u | (x[0].v & x[1].u) | (~x[0].v & x[2].u);
    case PASS_LEFT: return x[1].u ? UINT64_MAX : x[0].u << by;
    case PASS_RIGHT: return x[1].u ? UINT64_MAX : x[0].u >> by;
    case PASS_RIGHT_SIGNED:
        if (x[1].u) return UINT64_MAX;
        return (uint64_t)((int64_t)(width < 64 ? smear_down(x[0].u & ((1ull << width) - 1), width) : x[0].u) >> by);
    case PASS_LEFT_OR:
        if (x[1].u) return UINT64_MAX;
        return or_bits((bits){x[0].v << by, x[0].u << by}, x[2]);
    case PASS_ALIGN_BIT:
    case PASS_ALIGN_BYTE:
        if (x[2].u) return UINT64_MAX;
        return (x[0].u << 32 | (x[1].u & UINT32_MAX)) >> (u->pass == PASS_ALIGN_BIT ? x[2].v & 31 : (x[2].v & 3) * 8);
    case PASS_FIELD: {
        const unsigned size = (unsigned)x[2].v & 31;
        if (x[1].u | x[2].u) return UINT64_MAX;
        const uint64_t cut = (x[0].u & UINT32_MAX) >> by & ((1ull << size) - 1);
        return size ? smear_down(cut, size) : 0;
    }
    case PASS_BYTES: return perm_bytes(x[0], x[1], x[2]);
    case PASS_UBYTE: return all_if(x[0].u >> (8 * u->detail) & 0xff);
    case PASS_PAIR: return (x[0].u ? 0xffff : 0) | (x[1].u ? 0xffff0000 : 0);
    case PASS_SELECT: return x[2].u ? UINT64_MAX : x[2].v ? x[1].u : x[0].u;
    case PASS_CARRY: return u->detail && x[1].u ? UINT64_MAX : from_lowest(any);
    case PASS_ANY: break;
    }
    return all_if(any);
}

/* ---- scalar instructions ---- */

/* Undefined bits of A that EXEC takes when it is combined with itself: the other bits do not depend on A. */
static uint64_t reaches_exec(const char *name, uint64_t undefined, uint64_t exec) {
    static const char *const of_ones[] = {"s_and_", "s_andn1_", "s_nand_", "s_orn2_"};
    if (strncmp(name, "s_xor", 5) == 0 || strncmp(name, "s_xnor", 6) == 0) return undefined;
    for (size_t i = 0; i < sizeof of_ones / sizeof *of_ones; i++)
        if (strncmp(name, of_ones[i], strlen(of_ones[i])) == 0) return undefined & exec;
    return undefined & ~exec;
}

static void branch_step(wave *w, const inst_uses *u) {
    const wave *s = w->check->undefined;
    const uint64_t vcc = sgpr_pair(s, SGPR_VCC);
    const int of_vcc = (u->classes & IS_BRANCH_VCC) != 0;
    /* One defined bit that is set decides whether VCC is zero. */
    if (of_vcc ? vcc && !(sgpr_pair(w, SGPR_VCC) & ~vcc) : s->scc)
        wave_fault(w, of_vcc ? __builtin_ctzll(vcc) : -1,
                   "the branch depends on undefined bits of %s; right is a condition that something has written",
                   of_vcc ? "VCC" : "SCC");
}

/* Sources as `combine` takes them: of a selection B, A and the condition, else the operands and SCC. */
static int scalar_sources(const wave *w, const inst *in, const inst_uses *u, bits x[3]) {
    const bits scc = {w->scc, w->check->undefined->scc};
    const int first = u->writes && u->write[0].operand == 0;
    int n = 0;
    for (int i = first; i < in->op_count && n < 2; i++, n++) x[n] = scalar_bits(w, &in->op[i], in->row->type[i]);
    if (u->pass == PASS_SELECT) {
        const bits taken = x[0];
        x[0] = n > 1 ? x[1] : scalar_bits(w, &in->op[0], in->row->type[0]); /* s_cmov keeps its destination */
        x[1] = taken;
        x[2] = scc;
        return 3;
    }
    for (int i = 0; i < u->reads && first; i++) /* s_addk_i32 and the like: the destination is a source */
        if (u->read[i].operand == 0) x[0].u |= scalar_bits(w, &in->op[0], in->row->type[0]).u;
    if (!u->reads_scc) return n;
    x[2] = scc;
    return 3;
}

static void scalar_step(wave *w, const inst *in, const inst_uses *u) {
    wave *s = w->check->undefined;
    bits x[3] = {{0, 0}, {0, 0}, {0, 0}};
    if (u->classes & (IS_BRANCH_SCC | IS_BRANCH_VCC)) {
        branch_step(w, u);
        return;
    }
    if (u->classes & IS_JUMP && scalar_bits(w, &in->op[in->op_count - 1], T_u64).u) {
        wave_fault(w, -1, "jump to an undefined address; right is one that s_getpc_b64 or a load has given");
        return;
    }
    const int n = scalar_sources(w, in, u, x);
    const value_type type = in->row->type[0];
    const uint64_t result = combine(u, x, n, is_wide(type) ? 64 : 32) & width_of(type);
    const int with_exec = strstr(in->row->name, "exec_b64") != NULL; /* s_and_saveexec_b64 and its kin */
    uint64_t reached = u->writes && u->write[0].first >= SGPR_EXEC ? result : 0;
    if (with_exec) reached = reaches_exec(in->row->name, x[0].u, wave_exec(w));
    if (reached) {
        wave_fault(w, __builtin_ctzll(reached),
                   "EXEC takes undefined bits; right is a mask that something has written for every active lane");
        return;
    }
    if (u->writes && u->write[0].operand == 0 && u->write[0].scalar && u->write[0].first < SGPR_EXEC)
        for (int r = 0; r < u->write[0].count; r++)
            s->sgpr[u->write[0].first + r] = with_exec ? 0 : (uint32_t)(result >> (32 * r));
    if (u->writes_scc) s->scc = result != 0 || (u->pass == PASS_ANY && (x[0].u | x[1].u | x[2].u) != 0);
}

/* ---- vector instructions ---- */

static void mark_mask(wave *w, const operand *o, uint64_t lanes_undefined) {
    if (o->kind == K_SGPR && o->index != SGPR_NULL) set_sgpr_pair(w->check->undefined, o->index, lanes_undefined);
}

/* Sources of a lane in text order, DPP applied to the first; the number of them. */
static int lane_sources(const wave *w, const inst *in, const inst_uses *u, uint64_t lane, bits x[4]) {
    const isa_row *row = in->row;
    const int first = row->carry_out == 1 ? 2 : 1;
    int n = 0;
    for (int i = first; i < in->op_count && n < 4; i++, n++) {
        const int from = in->dpp && n == 0 ? dpp_source(in, (int)lane) : (int)lane;
        const int valid = from >= 0 && (n || !in->dpp || wave_exec(w) >> from & 1);
        x[n] = valid ? lane_bits(w, in, i, n, (uint64_t)from) : (bits){0, 0};
    }
    if (row->carry_in == -2) {
        const uint64_t vcc = sgpr_pair(w->check->undefined, SGPR_VCC);
        x[n++] = (bits){0, vcc >> lane & 1};
    }
    const int rev = u->pass == PASS_LEFT || u->pass == PASS_RIGHT || u->pass == PASS_RIGHT_SIGNED;
    if (rev && n == 2) {
        const bits amount = x[0];
        x[0] = x[1];
        x[1] = amount;
    }
    return n;
}

static uint64_t lane_result(const inst *in, const inst_uses *u, const bits *x, int n, uint64_t old) {
    const value_type type = in->row->type[0];
    const unsigned width = type == T_u16 || type == T_i16 || type == T_f16 ? 16 : is_wide(type) ? 64 : 32;
    uint64_t any = u->reads_old && !is_wide(type) && type != T_h16 && type != T_hf16 && !in->sdwa ? old : 0;
    for (int i = 0; i < n; i++) any |= x[i].u;
    if (type == T_p16 || type == T_pf16) return (any & 0xffff ? 0xffff : 0) | (any & 0xffff0000 ? 0xffff0000 : 0);
    if (type == T_pf32) return (any & UINT32_MAX ? UINT32_MAX : 0) | (any >> 32 ? ~(uint64_t)UINT32_MAX : 0);
    const bits none = {0, 0}, three[3] = {n > 0 ? x[0] : none, n > 1 ? x[1] : none, n > 2 ? x[2] : none};
    const uint64_t result = u->pass == PASS_ANY || u->reads_old ? all_if(any) : combine(u, three, n < 3 ? n : 3, width);
    return width < 64 ? result & ((1ull << width) - 1) : result;
}

static void vector_step(wave *w, const inst *in, const inst_uses *u) {
    struct check_wave *c = w->check;
    const int words = is_wide(in->row->type[0]) ? 2 : 1;
    const int d = in->op[0].index;
    uint64_t carries = 0;
    FOR_LANES(wave_exec(w), l) {
        const int from = in->dpp ? dpp_source(in, (int)l) : (int)l;
        const int valid = from >= 0 && (wave_exec(w) >> from & 1);
        const int enabled = (in->row_mask >> (l / 16) & 1) && (in->bank_mask >> (l % 16 / 4) & 1);
        if (in->dpp && (!enabled || (!valid && !in->bound_ctrl))) continue;
        bits x[4];
        const int n = lane_sources(w, in, u, l, x);
        uint32_t *low = &c->undefined->vgpr[d][l];
        const uint64_t old = *low | (words == 2 ? (uint64_t)c->undefined->vgpr[d + 1][l] << 32 : 0);
        const uint64_t result = lane_result(in, u, x, n, old);
        *low = place_result(in, *low, (uint32_t)result);
        if (words == 2) c->undefined->vgpr[d + 1][l] = (uint32_t)(result >> 32);
        for (int i = 0; i < n; i++) carries |= x[i].u ? 1ull << l : 0;
    }
    refresh_results(c, u);
    if (in->row->carry_out >= 0) mark_mask(w, &in->op[in->row->carry_out], carries);
}

static void compare_step(wave *w, const inst *in, const inst_uses *u) {
    uint64_t active = 0;
    FOR_LANES(wave_exec(w), l) {
        bits x[4];
        const int n = lane_sources(w, in, u, l, x);
        for (int i = 0; i < n; i++) active |= x[i].u ? 1ull << l : 0;
    }
    mark_mask(w, &in->op[0], active);
    if (active && in->row->name[5] == 'x')
        wave_fault(w, __builtin_ctzll(active),
                   "EXEC takes the comparison of an undefined value; right is to compare what something has written");
}

/* Conversions and sums among the lane rows: a lane's result as a whole. */
static void lane_sum_step(wave *w, const inst_uses *u) {
    struct check_wave *c = w->check;
    int scalar = 0;
    uint64_t lanes_undefined = 0;
    for (int i = 0; i < u->reads; i++)
        for (int r = u->read[i].first; r < u->read[i].first + u->read[i].count; r++)
            if (u->read[i].scalar)
                scalar |= c->undefined->sgpr[r] != 0;
            else
                lanes_undefined |= c->dirty[r];
    if (scalar) lanes_undefined = UINT64_MAX;
    FOR_LANES(wave_exec(w), l)
    for (int r = u->write[0].first; r < u->write[0].first + u->write[0].count; r++)
        c->undefined->vgpr[r][l] = lanes_undefined >> l & 1 ? UINT32_MAX : 0;
    refresh_results(c, u);
}

/* Moves among the lane rows: they run as they are on the undefined bits, with the lane selection of the real state. */
static void lane_step(wave *w, const inst *in, const inst_uses *u) {
    struct check_wave *c = w->check;
    if (!(u->classes & IS_MOVE)) {
        lane_sum_step(w, u);
        return;
    }
    inst moved = *in;
    for (int i = 0; i < in->op_count; i++)
        if (in->op[i].kind == K_CONST) moved.op[i].value = 0;
    for (int i = 0; i < u->reads; i++) {
        if (u->read[i].role != USE_LANE_SELECT) continue;
        if (any_undefined(c, &u->read[i])) {
            wave_fault(w, -1, "the lane selection is undefined; right is a register that something has written");
            return;
        }
    }
    if (in->op_count > 2 && (u->classes & IS_WRITELANE || strcmp(in->row->name, "v_readlane_b32") == 0))
        moved.op[2] = (operand){.kind = K_CONST, .value = scalar_read(w, &in->op[2], T_u32)};
    set_sgpr_pair(c->undefined, SGPR_EXEC, wave_exec(w));
    in->run(c->undefined, &moved);
    set_sgpr_pair(c->undefined, SGPR_EXEC, 0);
    refresh_results(c, u);
}

/* Row i of A and column j of B as a whole: one undefined bit in it makes every result of that row or column
 * undefined. */
static uint64_t dirty_lanes(const wave *w, const inst *in, int i, int registers) {
    const struct check_wave *c = w->check;
    uint64_t active = 0;
    if (i >= in->op_count) return 0;
    if (in->op[i].kind != K_VGPR) return scalar_bits(w, &in->op[i], T_u32).u ? UINT64_MAX : 0;
    for (int r = 0; r < registers; r++) active |= c->dirty[in->op[i].index + r];
    return active;
}
static uint64_t line_bits(uint64_t active, int size, int blocks) {
    uint64_t lines = 0; /* bit block * size + i */
    FOR_LANES(active, l) lines |= 1ull << (int)l % (size * blocks);
    return lines;
}

static void matrix_step(wave *w, const inst *in, const inst_uses *u) {
    struct check_wave *c = w->check;
    const sim_mfma *m = in->mfma;
    const sim_mfma_registers n = sim_mfma_operands(m, in->cbsz, in->blgp);
    const uint64_t a = dirty_lanes(w, in, 1, n.a) | dirty_lanes(w, in, 4, 1);
    const uint64_t b = dirty_lanes(w, in, 2, n.b) | dirty_lanes(w, in, 5, 1);
    const int moves =
        m->a != FORMAT_SELECTED && (in->cbsz || in->blgp); /* rows or columns of other blocks, or active */
    const uint64_t rows = a && moves ? UINT64_MAX : line_bits(a, m->m, m->blocks);
    const uint64_t columns = b && moves ? UINT64_MAX : line_bits(b, m->n, m->blocks);
    const operand *acc = &in->op[3];
    const int d = in->op[0].index, words = sim_format_bits(m->d) / 32;
    for (int block = 0; block < m->blocks; block++)
        for (int i = 0; i < m->m; i++)
            for (int j = 0; j < m->n; j++) {
                const sim_place p = sim_mfma_output(m, block, i, j);
                const int r = p.bit / 32;
                uint32_t undefined = rows >> (block * m->m + i) & 1 || columns >> (block * m->n + j) & 1;
                for (int k = 0; acc->kind == K_VGPR && k < words; k++)
                    undefined |= c->undefined->vgpr[acc->index + r + k][p.lane] != 0;
                for (int k = 0; k < words; k++) c->result[(r + k) * LANES + p.lane] = undefined ? UINT32_MAX : 0;
            }
    for (int r = 0; r < n.acc; r++) memcpy(c->undefined->vgpr[d + r], &c->result[r * LANES], LANES * sizeof(uint32_t));
    refresh_results(c, u);
}

/* ---- memory ---- */

static void address_step(wave *w, const inst_uses *u) {
    const struct check_wave *c = w->check;
    for (int i = 0; i < u->reads; i++) {
        const use *x = &u->read[i];
        if (x->role != USE_ADDRESS) continue;
        for (int r = x->first; r < x->first + x->count; r++) {
            const uint64_t active = x->scalar ? 0 : c->dirty[r] & wave_exec(w);
            if (x->scalar ? !c->undefined->sgpr[r] : !active) continue;
            wave_fault(w, x->scalar ? -1 : __builtin_ctzll(active),
                       "the address takes undefined bits of %s; right is a register that something has written",
                       check_register(w, x->scalar, r).text);
            return;
        }
    }
}

/* Where the undefined bits of a place are; NULL: device memory, which counts as defined. */
static unsigned char *shadow_of(const wave *w, const unsigned char *p) {
    const group *g = w->group;
    const wave *s = w->check->undefined;
    const uint64_t in_lds = (uintptr_t)p - (uintptr_t)g->lds, in_scratch = (uintptr_t)p - (uintptr_t)w->scratch;
    if (s->group->lds && in_lds < g->lds_bytes) return s->group->lds + in_lds;
    if (s->scratch && in_scratch < (uint64_t)g->launch->scratch_bytes * LANES) return s->scratch + in_scratch;
    return NULL;
}

static void take_undefined(const wave *w, const inst_uses *u, transfer *t) {
    uint32_t at = 0;
    for (int i = 0; i < u->reads; i++)
        if (u->read[i].role == USE_DATA) {
            memcpy(&t->data[at * LANES], w->check->undefined->vgpr[u->read[i].first],
                   u->read[i].count * sizeof w->vgpr[0]);
            at += u->read[i].count;
        }
}

/* Undefined bits among what a lane stores. */
static int stores_undefined(const transfer *t, const memory_row *row, uint64_t l, uint32_t registers) {
    if (row->bytes < 4)
        return t->in_range[l] & 1 && t->data[l] >> row->shift & (row->bytes == 1 ? 0xffu : 0xffffu) ? 1 : 0;
    for (uint32_t r = 0; r < registers; r++)
        if ((row->kind == STORE ? t->in_range[l] >> r & 1 : t->in_range[l] & 1) && t->data[r * LANES + l]) return 1;
    return 0;
}

static void report_store(wave *w, const transfer *t, const inst_uses *u, uint64_t l) {
    const use *data = u->read;
    while (data->role != USE_DATA) data++;
    int r = 0;
    while (r + 1 < data->count && !t->data[r * LANES + (int)l]) r++;
    wave_fault(w, (int)l,
               "undefined bits 0x%08x of %s reach global memory; right is to store what something has written",
               t->data[r * LANES + (int)l], check_register(w, 0, data->first + r).text);
}

static int is_rmw(const memory_row *row) {
    return row->kind == ATOMIC || row->kind == COMPARE_SWAP || row->kind == ATOMIC_RETURN ||
           row->kind == COMPARE_SWAP_RETURN;
}

/* An atomic on LDS: one undefined bit in memory or data makes the word undefined. */
static void atomic_access(wave *w, const transfer *t, const memory_row *row, const inst_uses *u) {
    struct check_wave *c = w->check;
    FOR_LANES(t->exec, l) {
        uint32_t held[2] = {0, 0}, data = 0;
        unsigned char *p = t->place[l];
        for (uint32_t r = 0; r < row->registers; r++) data |= t->data[r * LANES + l];
        if (p) memcpy(held, p, row->bytes);
        const uint32_t undefined = held[0] | held[1] | data ? UINT32_MAX : 0, after[2] = {undefined, undefined};
        if (p) memcpy(p, after, row->bytes);
        for (int i = 0; i < u->writes; i++)
            for (int r = 0; r < u->write[i].count && r < 2; r++) c->undefined->vgpr[u->write[i].first + r][l] = held[r];
    }
    refresh_results(c, u);
}

void check_undefined_access(wave *w, const transfer *a, const inst_uses *u) {
    static unsigned char nothing[64];
    struct check_wave *c = w->check;
    if (a->in->row->format == F_SMEM) {
        for (int i = 0; i < u->writes; i++)
            memset(&c->undefined->sgpr[u->write[i].first], 0, u->write[i].count * sizeof(uint32_t));
        return;
    }
    const int is_lds = a->in->row->format == F_LDS;
    const memory_row *row = is_lds ? lds_row(a->in->row->effect) : vmem_row(a->in->row->effect);
    transfer *t = &c->transfer;
    *t = *a;
    take_undefined(w, u, t);
    if (row->kind == BPERMUTE || row->kind == PERMUTE || row->kind == SWIZZLE) {
        lds_move(w, a->in, c->undefined->vgpr[u->read[u->reads - 1].first], t);
        t->perform(c->undefined, t);
        refresh_results(c, u);
        return;
    }
    const int writes = row->kind == STORE || row->kind == WRITE2 || row->kind == WRITE2_ST64 || is_rmw(row);
    FOR_LANES(a->exec, l) {
        unsigned char *to = shadow_of(w, a->place[l]);
        if (!to && writes && stores_undefined(t, row, l, row->registers)) {
            report_store(w, t, u, l);
            return;
        }
        t->place[l] = to;
        if (to) continue;
        t->place[l] = is_rmw(row) ? NULL : nothing;
        if (row->kind == STORE) t->exec &= ~(1ull << l); /* device memory keeps no bits */
    }
    if (is_rmw(row)) {
        atomic_access(w, t, row, u);
        return;
    }
    t->perform(c->undefined, t);
    refresh_results(c, u);
}

/* ---- every instruction ---- */

void check_undefined_step(wave *w, const inst *in, const inst_uses *u) {
    struct check_wave *c = w->check;
    const row_format format = in->row->format;
    if (format == F_VMEM || format == F_LDS || format == F_SMEM) {
        address_step(w, u);
        return;
    }
    const int quiet = !sources_undefined(c, u);
    if (quiet && in->dpp && !any_undefined(c, &u->write[0])) return;
    if (quiet && !in->dpp) {
        const uint64_t active = format == F_MATRIX ? UINT64_MAX : wave_exec(w);
        for (int i = 0; i < u->writes && format != F_LANE; i++)
            for (int r = u->write[i].first; r < u->write[i].first + u->write[i].count; r++)
                if (u->write[i].scalar)
                    c->undefined->sgpr[r] = 0;
                else
                    define_lanes(c, r, active);
        if (u->writes_scc) c->undefined->scc = 0;
        if (format != F_LANE) return;
    }
    switch (format) {
    case F_SCALAR: scalar_step(w, in, u); break;
    case F_VECTOR: vector_step(w, in, u); break;
    case F_COMPARE: compare_step(w, in, u); break;
    case F_LANE: lane_step(w, in, u); break;
    default: matrix_step(w, in, u);
    }
}
