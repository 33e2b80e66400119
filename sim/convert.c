/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Conversions to and from the formats below 32 bits, with scales and random rounding.
 * source: AMD CDNA4 ISA guide, instruction pseudo-code; docs/instructions.md for what it leaves open */
#include "sim/convert.h"

#include <math.h>

#include "sim/lane_math.h"
#include "sim/wave.h"

double small_value(const small_float *f, uint32_t code) {
    const uint32_t magnitude = code & ((1u << (f->bits - 1)) - 1), all_ones = (1u << f->exponent) - 1;
    const uint32_t e = magnitude >> f->mantissa, fraction = magnitude & ((1u << f->mantissa) - 1);
    const int negative = (int)(code >> (f->bits - 1) & 1);
    double v = e ? ldexp((1u << f->mantissa) + fraction, (int)e - f->bias - f->mantissa)
                 : ldexp(fraction, 1 - f->bias - f->mantissa);
    if (f->special == SPECIAL_ALL_ONES && e == all_ones && fraction == (1u << f->mantissa) - 1) v = NAN;
    if (f->special == SPECIAL_MINUS_0 && negative && magnitude == 0) v = NAN;
    if (f->special == SPECIAL_IEEE && e == all_ones) v = fraction ? NAN : INFINITY;
    return negative ? -v : v;
}

/* Codes without sign: the greatest number, and what overflow and NaN give. */
static uint32_t greatest(const small_float *f) {
    const uint32_t all = (1u << (f->bits - 1)) - 1;
    return f->special == SPECIAL_ALL_ONES ? all - 1 : f->special == SPECIAL_IEEE ? all - (1u << f->mantissa) : all;
}
static uint32_t beyond(const small_float *f, int is_nan) {
    const uint32_t all = (1u << (f->bits - 1)) - 1, infinity = greatest(f) + 1;
    switch (f->special) {
    case SPECIAL_ALL_ONES: return all;
    case SPECIAL_MINUS_0: return 1u << (f->bits - 1);
    case SPECIAL_IEEE: return !is_nan ? infinity : f->bits == 8 ? all : infinity | 1u << (f->mantissa - 1);
    default: return all;
    }
}

uint32_t small_code(const small_float *f, double x, const uint32_t *random, int saturate) {
    const uint32_t sign = signbit(x) ? 1u << (f->bits - 1) : 0;
    if (x != x) return beyond(f, 1) | sign;
    const double a = fabs(x);
    if (a == 0) return f->special == SPECIAL_MINUS_0 ? 0 : sign;
    if (isinf(a)) return beyond(f, 0) | sign;
    int e = ilogb(a);
    if (e < 1 - f->bias) e = 1 - f->bias;
    const double steps = ldexp(a, f->mantissa - e);
    const double k = random ? floor(steps + ldexp(*random, -32)) : nearbyint(steps);
    /* A mantissa that rounds up to the next power of two carries into the exponent by itself. */
    const double code = k + ldexp(e + f->bias - 1, f->mantissa);
    if (code > greatest(f)) return saturate || f->special == SPECIAL_NONE ? greatest(f) | sign : beyond(f, 0) | sign;
    return code == 0 && f->special == SPECIAL_MINUS_0 ? 0 : (uint32_t)code | sign;
}

static uint32_t word_of(const wave *w, const operand *o, int word, int lane) {
    uint32_t x = o->kind == K_VGPR   ? w->vgpr[o->index + word][lane]
                 : o->kind == K_SGPR ? w->sgpr[o->index + word]
                                     : (uint32_t)scalar_read(w, o, T_u32);
    if (o->absolute) x &= 0x7fffffffu;
    return o->negate ? x ^ 0x80000000u : x;
}
static uint32_t bits_from(const wave *w, const operand *o, int bit, int bits, int lane) {
    uint64_t x = word_of(w, o, bit / 32, lane);
    if (bit % 32 + bits > 32) x |= (uint64_t)word_of(w, o, bit / 32 + 1, lane) << 32;
    return (uint32_t)(x >> bit % 32 & ((1ull << bits) - 1));
}

/* Where op_sel puts a value of less than a register: a byte by two of its bits, a half by one. */
static int selected_bit(const inst *in, int bits, int half_bit, int byte_bit) {
    if (bits == 8) return (in->op_sel >> byte_bit & 3) * 8;
    return bits == 16 ? (in->op_sel >> half_bit & 1) * 16 : 0;
}

static uint32_t next_random(uint32_t x) { return x << 1 ^ (x >> 31 ? 197u : 0u); }

enum { WORDS_MAX = 32 };

static void convert_lane(wave *w, const inst *in, const conversion *c, int lane) {
    const small_float *from = sim_small_float(c->from, w->program->chip),
                      *to = sim_small_float(c->to, w->program->chip);
    const int from_bits = sim_format_bits(c->from), to_bits = sim_format_bits(c->to);
    const int first = c->from < FORMAT_F16 ? selected_bit(in, from_bits * c->count, 0, 0) : 0;
    const int start = selected_bit(in, to_bits * c->count, 3, 2);
    const int scale = c->scale ? (int)exponent_f32(f32_of(word_of(w, &in->op[c->scale], 0, lane))) : 127;
    uint32_t random = c->random ? word_of(w, &in->op[c->random], 0, lane) : 0, out[WORDS_MAX + 1] = {0};
    const int words = (start + to_bits * c->count + 31) / 32;
    const operand *d = &in->op[0];
    for (int i = 0; i < words; i++) out[i] = to_bits * c->count < 32 ? w->vgpr[d->index][lane] : 0;
    for (int n = 0; n < c->count; n++) {
        const operand *o = &in->op[c->interleaved ? 1 + n % 2 : 1];
        const uint32_t code = bits_from(w, o, first + (c->interleaved ? n / 2 : n) * from_bits, from_bits, lane);
        double x = from ? small_value(from, code) : (double)f32_of(code);
        x = scale == 255 ? (double)NAN : ldexp(x, from && c->from < FORMAT_F16 ? scale - 127 : 127 - scale);
        const uint64_t result =
            to ? small_code(to, x, c->random ? &random : NULL, (w->mode & MODE_FP16_OVFL) != 0) : bits_of_f32((float)x);
        const int at = start + n * to_bits, shift = at % 32;
        const uint64_t mask = ((1ull << to_bits) - 1) << shift, value = result << shift;
        out[at / 32] = (out[at / 32] & ~(uint32_t)mask) | (uint32_t)value;
        out[at / 32 + 1] = (out[at / 32 + 1] & ~(uint32_t)(mask >> 32)) | (uint32_t)(value >> 32);
        random = next_random(random);
    }
    for (int i = 0; i < words; i++) w->vgpr[d->index + i][lane] = out[i];
}

void convert_lanes(wave *w, const inst *in, conversion c) {
    FOR_LANES(wave_exec(w), l) convert_lane(w, in, &c, (int)l);
}
