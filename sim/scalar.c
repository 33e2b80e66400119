/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scalar instructions: expands sim/isa/scalar.def into one function a row. */
#include "sim/lane_math.h"
#include "sim/wave.h"

uint64_t scalar_read(const wave *w, const operand *o, value_type type) {
    switch (o->kind) {
    case K_CONST: return o->value;
    case K_SCC: return w->scc;
    case K_SGPR: break;
    default: return 0;
    }
    const int wide = type == T_u64 || type == T_i64 || type == T_f64 || type == T_mask || type == T_pf32;
    return wide ? sgpr_pair(w, o->index) : w->sgpr[o->index];
}

void scalar_write(wave *w, const operand *o, value_type type, uint64_t x) {
    if (o->kind != K_SGPR || o->index == SGPR_NULL) return;
    w->sgpr[o->index] = (uint32_t)x;
    if (type == T_u64 || type == T_i64 || type == T_mask) w->sgpr[o->index + 1] = (uint32_t)(x >> 32);
}

static void set_exec(wave *w, uint64_t x) {
    set_sgpr_pair(w, SGPR_EXEC, x);
    w->scc = x != 0;
}
static uint64_t quad_mask(uint64_t x) {
    uint64_t r = 0;
    for (int i = 0; i < 16; i++) r |= (uint64_t)((x >> (4 * i) & 15) != 0) << i;
    return r;
}
static uint64_t whole_quads(uint64_t x) {
    uint64_t r = 0;
    for (int i = 0; i < 64; i += 4) r |= (x >> i & 15) != 0 ? 15ull << i : 0;
    return r;
}
static uint64_t replicate_bits(uint32_t x) {
    uint64_t r = 0;
    for (int i = 0; i < 32; i++) r |= (uint64_t)(x >> i & 1) * 3 << (2 * i);
    return r;
}
static uint64_t bfe_u64(uint64_t x, uint32_t at, uint32_t width) {
    return x >> at & (width < 64 ? (1ull << width) - 1 : UINT64_MAX);
}
static int64_t bfe_i64(int64_t x, uint32_t at, uint32_t width) {
    if (width == 0) return 0;
    const int shift = width < 64 ? 64 - (int)width : 0;
    return (int64_t)((uint64_t)(x >> at) << shift) >> shift;
}

/* ---- hardware registers ---- */

enum {
    HWREG_MODE = 1,
    HWREG_STATUS,
    HWREG_TRAPSTS,
    HWREG_HW_ID,
    HWREG_GPR_ALLOC,
    HWREG_LDS_ALLOC,
    HWREG_IB_STS,
    HWREG_XCC_ID = 20
};

/* Fields as the hardware lays them out; what depends on the placement of waves says: wave w of the first SIMD of CU 0.
 * source: AMD CDNA4 ISA guide, "Hardware Register Values", "Status Register", "GPR Alloc", "LDS Alloc" */
static uint32_t status_register(const wave *w) {
    const int in_group = w->group->waves > 1;
    return w->scc | (uint32_t)(wave_exec(w) == 0) << 9 | (uint32_t)(sgpr_pair(w, SGPR_VCC) == 0) << 10 |
           (uint32_t)in_group << 11 | 1u << 16 /* VALID */;
}
static uint32_t hardware_register(const wave *w, int id) {
    const launch *l = w->group->launch;
    switch (id) {
    case HWREG_MODE: return w->mode;
    case HWREG_STATUS: return status_register(w);
    case HWREG_TRAPSTS: return 0; /* exceptions are not modelled: none ever occurred */
    case HWREG_HW_ID: return w->id & 15;
    case HWREG_GPR_ALLOC: return (l->vgprs / 8 - 1) << 8 | (l->rsrc1 >> 6 & 15) << 24;
    case HWREG_LDS_ALLOC: return (w->group->lds_bytes + 511) / 512 << 12;
    case HWREG_IB_STS: return ((uint32_t)w->vm_count & 15) | ((uint32_t)w->lgkm_count & 15) << 8;
    case HWREG_XCC_ID: return w->group->id[0] % (uint32_t)l->chip->xcds;
    default: return 0;
    }
}
static void get_register(wave *w, const inst *in) {
    scalar_write(w, &in->op[0], T_u32, bfe_u64(hardware_register(w, in->hwreg), in->hwreg_offset, in->hwreg_width));
}
static void set_register(wave *w, const inst *in, uint32_t x) {
    const uint32_t mask = (uint32_t)bfe_u64(UINT32_MAX, 0, in->hwreg_width) << in->hwreg_offset;
    if (in->hwreg == HWREG_MODE)
        w->mode = (w->mode & ~mask) | (x << in->hwreg_offset & mask);
    else if (in->hwreg != HWREG_TRAPSTS)
        wave_fault(w, -1, "writing hardware register %d is not simulated", in->hwreg);
}

/* ---- relative registers: M0 is the index of scalar moves, and of vector operands its low byte ---- */

static uint64_t indexed_scalar(wave *w, const operand *o, value_type type) {
    operand moved = *o;
    const uint32_t at = o->index + w->sgpr[SGPR_M0];
    if (o->kind != K_SGPR || at + (type == T_u64) >= SGPR_VCC) {
        wave_fault(w, -1, "relative SGPR s%u does not exist", at);
        return 0;
    }
    moved.index = (uint16_t)at;
    return scalar_read(w, &moved, type);
}
static void set_indexed_scalar(wave *w, const inst *in, value_type type) {
    operand moved = in->op[0];
    const uint32_t at = moved.index + w->sgpr[SGPR_M0];
    if (at + (type == T_u64) >= SGPR_VCC) {
        wave_fault(w, -1, "relative SGPR s%u does not exist", at);
        return;
    }
    moved.index = (uint16_t)at;
    scalar_write(w, &moved, type, scalar_read(w, &in->op[1], type));
}
static void set_index(wave *w, uint32_t index) { w->sgpr[SGPR_M0] = (w->sgpr[SGPR_M0] & ~0xffu) | (index & 0xff); }
static void set_index_mode(wave *w, uint32_t bits) {
    w->sgpr[SGPR_M0] = (w->sgpr[SGPR_M0] & ~0xf000u) | (bits & 15) << 12;
}

typedef uint32_t C_u32;
typedef int32_t C_i32;
typedef uint64_t C_u64;
typedef int64_t C_i64;
#define SCC w->scc
#define EXEC wave_exec(w)
#define NEXT (w->program->base + in->address + in->bytes)
#define BRANCH(condition)                                                                                              \
    if (condition) w->pc = w->program->code + in->target
#define SOURCE(t, i) (C_##t) scalar_read(w, &in->op[i], T_##t)

#define S1(name, dt, at, ...)                                                                                          \
    static void name(wave *w, const inst *in) {                                                                        \
        const C_##at A = SOURCE(at, 1);                                                                                \
        C_##dt D = SOURCE(dt, 0);                                                                                      \
        __VA_ARGS__;                                                                                                   \
        scalar_write(w, &in->op[0], T_##dt, (uint64_t)D);                                                              \
    }
#define S2(name, dt, at, bt, ...)                                                                                      \
    static void name(wave *w, const inst *in) {                                                                        \
        const C_##at A = SOURCE(at, 1);                                                                                \
        const C_##bt B = SOURCE(bt, 2);                                                                                \
        C_##dt D;                                                                                                      \
        __VA_ARGS__;                                                                                                   \
        scalar_write(w, &in->op[0], T_##dt, (uint64_t)D);                                                              \
    }
#define SC(name, at, bt, ...)                                                                                          \
    static void name(wave *w, const inst *in) {                                                                        \
        const C_##at A = SOURCE(at, 0);                                                                                \
        const C_##bt B = SOURCE(bt, 1);                                                                                \
        SCC = (__VA_ARGS__) != 0;                                                                                      \
    }
#define SX(name, types, ...)                                                                                           \
    static void name(wave *w, const inst *in) {                                                                        \
        (void)in;                                                                                                      \
        __VA_ARGS__;                                                                                                   \
    }
#include "sim/isa/scalar.def"
#undef S1
#undef S2
#undef SC
#undef SX

run_function *scalar_runner(int effect) {
#define S1(name, ...) name,
#define S2 S1
#define SC S1
#define SX S1
    static run_function *const runners[] = {
#include "sim/isa/scalar.def"
    };
    return runners[effect];
}
