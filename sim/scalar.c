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

enum { HWREG_MODE = 1, HWREG_XCC_ID = 20 };

static void get_register(wave *w, const inst *in) {
    uint32_t x = 0;
    switch (in->hwreg) {
    case HWREG_MODE: x = w->mode; break;
    case HWREG_XCC_ID: x = w->group->id[0] % (uint32_t)w->group->launch->chip->xcds; break;
    default: wave_fault(w, -1, "hardware register %d is not simulated", in->hwreg); return;
    }
    scalar_write(w, &in->op[0], T_u32, bfe_u64(x, in->hwreg_offset, in->hwreg_width));
}
static void set_register(wave *w, const inst *in, uint32_t x) {
    if (in->hwreg != HWREG_MODE) {
        wave_fault(w, -1, "hardware register %d is not simulated", in->hwreg);
        return;
    }
    const uint32_t mask = (uint32_t)bfe_u64(UINT32_MAX, 0, in->hwreg_width) << in->hwreg_offset;
    w->mode = (w->mode & ~mask) | (x << in->hwreg_offset & mask);
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
