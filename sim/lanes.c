/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Expands sim/isa/vector.def into lane loops. Compiled once per instruction set of the host, with LANES_TABLE naming
 * the result; every copy rounds alike (no contraction of products and sums). */
#include "sim/lanes.h"

#include "core/fp8.h"
#include "sim/lane_math.h"

/* C type, load and store of each value type. Loads take [register][lane]; a store gives the destination's new word. */
typedef uint32_t C_u32;
typedef int32_t C_i32;
typedef float C_f32;
typedef uint16_t C_u16;
typedef int16_t C_i16;
typedef float C_f16;
typedef uint16_t C_h16;
typedef float C_hf16;
typedef uint64_t C_u64;
typedef int64_t C_i64;
typedef double C_f64;
typedef float C_mix;
typedef int16_t C_hi16;
typedef uint32_t C_p16;
typedef uint32_t C_pf16;

static inline uint32_t load_u32(const uint32_t *p, int l) { return p[l]; }
static inline int32_t load_i32(const uint32_t *p, int l) { return (int32_t)p[l]; }
static inline float load_f32(const uint32_t *p, int l) { return f32_of(p[l]); }
static inline float load_mix(const uint32_t *p, int l) { return f32_of(p[l]); }
static inline uint16_t load_u16(const uint32_t *p, int l) { return (uint16_t)p[l]; }
static inline uint16_t load_h16(const uint32_t *p, int l) { return (uint16_t)p[l]; }
static inline int16_t load_hi16(const uint32_t *p, int l) { return (int16_t)p[l]; }
static inline uint32_t load_p16(const uint32_t *p, int l) { return p[l]; }
static inline uint32_t load_pf16(const uint32_t *p, int l) { return p[l]; }
static inline int16_t load_i16(const uint32_t *p, int l) { return (int16_t)p[l]; }
static inline float load_f16(const uint32_t *p, int l) { return operand_f16((uint16_t)p[l]); }
static inline float load_hf16(const uint32_t *p, int l) { return operand_f16((uint16_t)p[l]); }
static inline uint64_t load_u64(const uint32_t *p, int l) { return p[l] | (uint64_t)p[l + LANES] << 32; }
static inline int64_t load_i64(const uint32_t *p, int l) { return (int64_t)load_u64(p, l); }
static inline double load_f64(const uint32_t *p, int l) { return f64_of(load_u64(p, l)); }

static inline uint32_t blend(uint32_t old, uint32_t new, uint32_t mask) { return (new & mask) | (old & ~mask); }
static inline void put_u32(uint32_t *d, int l, uint32_t m, uint32_t x) { d[l] = blend(d[l], x, m); }
static inline void put_i32(uint32_t *d, int l, uint32_t m, int32_t x) { put_u32(d, l, m, (uint32_t)x); }
static inline void put_f32(uint32_t *d, int l, uint32_t m, float x) { put_u32(d, l, m, bits_of_f32(x)); }
static inline void put_u16(uint32_t *d, int l, uint32_t m, uint16_t x) { put_u32(d, l, m, x); }
static inline void put_h16(uint32_t *d, int l, uint32_t m, uint16_t x) { put_u32(d, l, m, x); }
static inline void put_i16(uint32_t *d, int l, uint32_t m, int16_t x) { put_u32(d, l, m, (uint16_t)x); }
static inline void put_f16(uint32_t *d, int l, uint32_t m, float x) { put_u32(d, l, m, f16_of_f32(x)); }
static inline void put_hf16(uint32_t *d, int l, uint32_t m, float x) { put_u32(d, l, m, f16_of_f32(x)); }
static inline void put_u64(uint32_t *d, int l, uint32_t m, uint64_t x) {
    d[l] = blend(d[l], (uint32_t)x, m);
    d[l + LANES] = blend(d[l + LANES], (uint32_t)(x >> 32), m);
}
static inline void put_i64(uint32_t *d, int l, uint32_t m, int64_t x) { put_u64(d, l, m, (uint64_t)x); }
static inline void put_f64(uint32_t *d, int l, uint32_t m, double x) { put_u64(d, l, m, bits_of_f64(x)); }

static inline uint64_t pair_f32(float low, float high) { return bits_of_f32(low) | (uint64_t)bits_of_f32(high) << 32; }
static inline uint16_t f16_toward_zero(float x) {
    const uint16_t h = f16_of_f32(x);
    return x - x == 0 && fabsf(f32_of_f16(h)) > fabsf(x) ? (uint16_t)(h - 1) : h;
}
static inline float f32_of_bf8(fp8_kind k, uint8_t x) {
    return k == CDNAGEN_FP8_E4M3FNUZ ? f32_from_e5m2fnuz(x) : f32_from_e5m2(x);
}
static inline float within(float x, float most, int saturate) {
    return !saturate || x - x != 0 ? x : x > most ? most : x < -most ? -most : x;
}
static inline uint16_t fp8_of_f32(fp8_kind k, float x, int saturate) {
    return fp8_from_f32(k, within(x, fp8_max(k), saturate));
}
static inline uint16_t bf8_of_f32(fp8_kind k, float x, int saturate) {
    x = within(x, 57344, saturate);
    return k == CDNAGEN_FP8_E4M3FNUZ ? e5m2fnuz_from_f32(x) : e5m2_from_f32(x);
}

#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* One loop: `locals` name the sources, `body` stores. Lanes are independent: source and destination registers may
 * overlap because a lane reads all its words before it writes one. */
#define LOOP(name, locals, body)                                                                                       \
    static void name(lanes *x) {                                                                                       \
        uint32_t *d = x->d;                                                                                            \
        const uint32_t *a = x->a, *b = x->b, *c = x->c, *mask = x->mask;                                               \
        const uint64_t carry_in = x->carry_in;                                                                         \
        const int clamp = x->clamp, imm = x->imm, saturate = x->saturate;                                              \
        const fp8_kind fp8 = x->chip->fp8;                                                                             \
        (void)b, (void)c, (void)clamp, (void)imm, (void)fp8, (void)carry_in, (void)saturate;                           \
        INDEPENDENT for (int lane = 0; lane < LANES; lane++) {                                                         \
            locals;                                                                                                    \
            body;                                                                                                      \
        }                                                                                                              \
    }
/* The same with a mask result; the bits are gathered apart so that the arithmetic vectorises. */
#define LOOP_CARRY(name, locals, body)                                                                                 \
    static void name(lanes *x) {                                                                                       \
        uint32_t *d = x->d;                                                                                            \
        const uint32_t *a = x->a, *b = x->b, *c = x->c, *mask = x->mask;                                               \
        const uint64_t carry_in = x->carry_in;                                                                         \
        uint8_t out[LANES];                                                                                            \
        (void)c, (void)d, (void)mask, (void)carry_in;                                                                  \
        INDEPENDENT for (int lane = 0; lane < LANES; lane++) {                                                         \
            int carry = 0;                                                                                             \
            locals;                                                                                                    \
            body;                                                                                                      \
            out[lane] = (uint8_t)carry;                                                                                \
        }                                                                                                              \
        x->carry_out = gather_bits(out);                                                                               \
    }
/* Eight bytes of 0 or 1 to eight bits by one multiplication. */
static inline uint64_t gather_bits(const uint8_t out[LANES]) {
    uint64_t bits = 0;
    for (int i = 0; i < LANES; i += 8) {
        uint64_t x;
        memcpy(&x, out + i, 8);
        bits |= (x * 0x0102040810204080ull >> 56) << i;
    }
    return bits;
}

#define SRC_A(t)                                                                                                       \
    const C_##t A = load_##t(a, lane);                                                                                 \
    (void)A
#define SRC_B(t)                                                                                                       \
    const C_##t B = load_##t(b, lane);                                                                                 \
    (void)B
#define SRC_C(t) const C_##t C = load_##t(c, lane)
#define OLD_D(t)                                                                                                       \
    const C_##t D = load_##t(d, lane);                                                                                 \
    (void)D
#define CARRY_IN                                                                                                       \
    const uint32_t CIN = (uint32_t)(carry_in >> lane) & 1;                                                             \
    (void)CIN

#define V1(name, dt, at, value) LOOP(name, SRC_A(at); OLD_D(dt), put_##dt(d, lane, mask[lane], (C_##dt)(value)))
#define V2(name, dt, at, bt, value)                                                                                    \
    LOOP(name, SRC_A(at); SRC_B(bt); OLD_D(dt), put_##dt(d, lane, mask[lane], (C_##dt)(value)))
#define V3(name, dt, at, bt, ct, value)                                                                                \
    LOOP(name, SRC_A(at); SRC_B(bt); SRC_C(ct), put_##dt(d, lane, mask[lane], (C_##dt)(value)))
#define VI2(name, dt, at, bt, value)                                                                                   \
    LOOP(name, SRC_A(at); SRC_B(bt); CARRY_IN, put_##dt(d, lane, mask[lane], (C_##dt)(value)))
#define VI3(name, dt, at, bt, ct, value)                                                                               \
    LOOP(name, SRC_A(at); SRC_B(bt); SRC_C(ct); CARRY_IN, put_##dt(d, lane, mask[lane], (C_##dt)(value)))
#define VO2(name, dt, at, bt, value, out)                                                                              \
    LOOP_CARRY(name, SRC_A(at); SRC_B(bt), put_##dt(d, lane, mask[lane], (C_##dt)(value)); carry = (out))
#define VIO2(name, dt, at, bt, value, out)                                                                             \
    LOOP_CARRY(name, SRC_A(at); SRC_B(bt); CARRY_IN, put_##dt(d, lane, mask[lane], (C_##dt)(value)); carry = (out))
#define VO3(name, dt, at, bt, ct, value, out)                                                                          \
    LOOP_CARRY(name, SRC_A(at); SRC_B(bt); SRC_C(ct), const C_##dt r = (C_##dt)(value); carry = (out);                 \
               put_##dt(d, lane, mask[lane], r))
#define VC(name, at, bt, condition) LOOP_CARRY(name, SRC_A(at); SRC_B(bt), carry = (condition))

/* Packed rows: two elements of a word, or of a register pair. */
#define ELEMENTS_p16(locals, value)                                                                                    \
    uint32_t word = 0;                                                                                                 \
    for (int e = 0; e < 32; e += 16) {                                                                                 \
        locals(u16_at);                                                                                                \
        word |= (uint32_t)(uint16_t)(value) << e;                                                                      \
    }                                                                                                                  \
    put_u32(d, lane, mask[lane], word)
#define ELEMENTS_pf16(locals, value)                                                                                   \
    uint32_t word = 0;                                                                                                 \
    for (int e = 0; e < 32; e += 16) {                                                                                 \
        locals(f16_at);                                                                                                \
        word |= (uint32_t)f16_of_f32((float)(value)) << e;                                                             \
    }                                                                                                                  \
    put_u32(d, lane, mask[lane], word)
#define ELEMENTS_pf32(locals, value)                                                                                   \
    float r[2];                                                                                                        \
    for (int e = 0; e < 2; e++) {                                                                                      \
        locals(f32_at);                                                                                                \
        r[e] = (value);                                                                                                \
    }                                                                                                                  \
    put_u64(d, lane, mask[lane], pair_f32(r[0], r[1]))
#define u16_at(p) ((uint16_t)((p)[lane] >> e))
#define f16_at(p) operand_f16((uint16_t)((p)[lane] >> e))
#define f32_at(p) f32_of((p)[lane + LANES * e])
#define PAIR(at)                                                                                                       \
    const __typeof__(at(a)) A = at(a), B = at(b), D = at(d);                                                           \
    (void)D
#define TRIPLE(at) const __typeof__(at(a)) A = at(a), B = at(b), C = at(c)
#define VP2(name, et, value) LOOP(name, (void)0, ELEMENTS_##et(PAIR, value))
#define VP3(name, et, value) LOOP(name, (void)0, ELEMENTS_##et(TRIPLE, value))

#include "sim/isa/vector.def"

#undef V1
#undef V2
#undef V3
#undef VI2
#undef VI3
#undef VO2
#undef VIO2
#undef VO3
#undef VP2
#undef VP3
#undef VC
#define V1(name, ...) name,
#define V2 V1
#define V3 V1
#define VI2 V1
#define VI3 V1
#define VO2 V1
#define VIO2 V1
#define VO3 V1
#define VP2 V1
#define VP3 V1
#define VC(name, ...)
static lanes_effect *const vector_effects[] = {
#include "sim/isa/vector.def"
};
#undef V1
#undef VC
#define V1(name, ...)
#define VC(name, ...) name,
static lanes_effect *const compare_effects[] = {
#include "sim/isa/vector.def"
};

const lanes_effects LANES_TABLE = {vector_effects, compare_effects};
