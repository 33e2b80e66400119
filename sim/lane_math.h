/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Arithmetic of vector and scalar rows that C has no operator for. Branch-free where gcc shall vectorise it.
 * source: AMD CDNA4 ISA guide, instruction pseudo-code */
#ifndef SIM_LANE_MATH_H
#define SIM_LANE_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float f32_of(uint32_t x) {
    float f;
    memcpy(&f, &x, 4);
    return f;
}
static inline uint32_t bits_of_f32(float f) {
    uint32_t x;
    memcpy(&x, &f, 4);
    return x;
}
static inline double f64_of(uint64_t x) {
    double f;
    memcpy(&f, &x, 8);
    return f;
}
static inline uint64_t bits_of_f64(double f) {
    uint64_t x;
    memcpy(&x, &f, 8);
    return x;
}
static inline float f32_of_f16(uint16_t x) {
    _Float16 h;
    memcpy(&h, &x, 2);
    return (float)h;
}
/* operand_f16: a signalling NaN stays one, by which min, max and med tell it from a quiet one. */
static inline float operand_f16(uint16_t x) {
    const uint32_t signals = (x & 0x7fffu) - 0x7c01u < 0x1ffu;
    return f32_of(bits_of_f32(f32_of_f16(x)) & ~(signals << 22));
}
static inline uint16_t f16_of_f32(float f) {
    const _Float16 h = (_Float16)f;
    uint16_t x;
    memcpy(&x, &h, 2);
    return x;
}
static inline float f32_of_bf16(uint32_t x) { return f32_of(x << 16); }
static inline uint16_t bf16_of_f32(float f) {
    const uint32_t x = bits_of_f32(f);
    const uint32_t rounded = (x + 0x7fff + ((x >> 16) & 1)) >> 16;
    return (uint16_t)(f != f ? (x >> 16) | 0x40 : rounded);
}

/* f32_to_odd: a double cut to f32 with a sticky last bit, so that a further rounding to f16 rounds once. */
static inline float f32_to_odd(double x) {
    const float f = (float)x;
    uint32_t bits = bits_of_f32(f);
    if ((double)f != x && f - f == 0) {
        if (fabs((double)f) > fabs(x)) bits -= 1;
        bits |= 1;
    }
    return f32_of(bits);
}
static inline float fma_f16(float a, float b, float c) { return f32_to_odd(fma((double)a, (double)b, (double)c)); }

static inline uint32_t quiet_f32(uint32_t x) { return x | 0x00400000u; }
static inline int is_snan_f32(uint32_t x) { return (x & 0x7fffffffu) - 0x7f800001u < 0x003fffffu; }

/* number_of_f32: a if `first`, else b, by which two numbers were compared; of NaNs a signalling one comes out quiet,
 * and a quiet one gives way to the other operand. */
static inline float number_of_f32(float a, float b, int first) {
    const uint32_t x = bits_of_f32(a), y = bits_of_f32(b);
    uint32_t r = first ? x : y;
    r = b != b ? x : r;
    r = a != a ? y : r;
    r = is_snan_f32(y) ? quiet_f32(y) : r;
    r = is_snan_f32(x) ? quiet_f32(x) : r;
    return f32_of(r);
}
/* The sign breaks the tie of zeros. */
static inline float max_f32(float a, float b) {
    return number_of_f32(a, b, a > b || (a == b && (int32_t)bits_of_f32(a) >= (int32_t)bits_of_f32(b)));
}
static inline float min_f32(float a, float b) {
    return number_of_f32(a, b, a < b || (a == b && (int32_t)bits_of_f32(a) < (int32_t)bits_of_f32(b)));
}
static inline float med3_f32(float a, float b, float c) {
    if (a != a || b != b || c != c) return min_f32(min_f32(a, b), c);
    const float m = max_f32(max_f32(a, b), c);
    return m == a ? max_f32(b, c) : m == b ? max_f32(a, c) : max_f32(a, b);
}
/* IEEE 754-2019 minimum and maximum: any NaN wins. */
static inline float minimum_f32(float a, float b) { return a != a || b != b ? f32_of(0x7fc00000u) : min_f32(a, b); }
static inline float maximum_f32(float a, float b) { return a != a || b != b ? f32_of(0x7fc00000u) : max_f32(a, b); }
static inline int is_snan_f64(double a) { return a != a && !(bits_of_f64(a) >> 51 & 1); }
static inline double quiet_f64(double a) { return f64_of(bits_of_f64(a) | UINT64_C(1) << 51); }
static inline double number_of_f64(double a, double b, int first) {
    if (is_snan_f64(a) || is_snan_f64(b)) return quiet_f64(is_snan_f64(a) ? a : b);
    if (a != a || b != b) return a != a ? b : a;
    return first ? a : b;
}
static inline double max_f64(double a, double b) { return number_of_f64(a, b, a > b || (a == b && !signbit(a))); }
static inline double min_f64(double a, double b) { return number_of_f64(a, b, a < b || (a == b && signbit(a))); }

static inline int32_t i32_of_f64(double x) {
    return x != x ? 0 : x >= 2147483647.0 ? INT32_MAX : x <= -2147483648.0 ? INT32_MIN : (int32_t)x;
}
static inline uint32_t u32_of_f64(double x) {
    return x != x || x <= 0 ? 0 : x >= 4294967295.0 ? UINT32_MAX : (uint32_t)x;
}
static inline int32_t i32_of_f32(float x) {
    return x != x ? 0 : x >= 2147483648.0f ? INT32_MAX : x < -2147483648.0f ? INT32_MIN : (int32_t)x;
}
static inline uint32_t u32_of_f32(float x) {
    return x != x || x <= 0 ? 0 : x >= 4294967296.0f ? UINT32_MAX : (uint32_t)x;
}
static inline uint16_t u16_of_f16(float x) { return x != x || x <= 0 ? 0 : x >= 65535.0f ? 65535 : (uint16_t)x; }
static inline int16_t i16_of_f16(float x) {
    return x != x ? 0 : x >= 32767.0f ? INT16_MAX : x <= -32768.0f ? INT16_MIN : (int16_t)x;
}

static inline uint16_t snorm_of_f32(float x) {
    const float r = x > 1 ? 1 : x < -1 ? -1 : x == x ? x : 0;
    return (uint16_t)(int16_t)rintf(r * 32767.0f);
}
static inline uint16_t unorm_of_f32(float x) { return (uint16_t)rintf((x > 1 ? 1 : x > 0 ? x : 0) * 65535.0f); }

static inline int cube_axis(float x, float y, float z) {
    return fabsf(z) >= fabsf(x) && fabsf(z) >= fabsf(y) ? 2 : fabsf(y) >= fabsf(x);
}

static inline float fract_f32(float x) {
    const float f = x - floorf(x);
    return f >= 1.0f ? f32_of(0x3f7fffffu) : f;
}
static inline double fract_f64(double x) {
    const double f = x - floor(x);
    return f >= 1.0 ? f64_of(0x3fefffffffffffffull) : f;
}
static inline int32_t frexp_exp_f32(float x) {
    int e = 0;
    if (x - x == 0 && x != 0) (void)frexpf(x, &e);
    return e;
}
static inline float frexp_mant_f32(float x) {
    int e = 0;
    return x - x == 0 ? frexpf(x, &e) : x;
}
static inline int32_t frexp_exp_f64(double x) {
    int e = 0;
    if (x - x == 0 && x != 0) (void)frexp(x, &e);
    return e;
}
static inline double frexp_mant_f64(double x) {
    int e = 0;
    return x - x == 0 ? frexp(x, &e) : x;
}

static inline uint32_t reverse_bits(uint32_t x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
static inline int32_t first_one_low(uint64_t x) { return x ? __builtin_ctzll(x) : -1; }
static inline int32_t first_one_high(uint32_t x) { return x ? __builtin_clz(x) : -1; }
static inline int32_t first_sign_change(int32_t x) {
    const uint32_t y = (uint32_t)(x ^ (x >> 31));
    return y ? __builtin_clz(y) : -1;
}
static inline uint32_t count_bits(uint32_t x) {
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    return x * 0x01010101u >> 24;
}
static inline int32_t sext24(uint32_t x) { return (int32_t)(x << 8) >> 8; }
static inline uint32_t bfe_u32(uint32_t x, uint32_t at, uint32_t width) {
    return x >> (at & 31) & ((1u << (width & 31)) - 1);
}
static inline int32_t bfe_i32(int32_t x, uint32_t at, uint32_t width) {
    const uint32_t n = width & 31, field = (uint32_t)(x >> (at & 31)) & ((1u << n) - 1);
    return n ? (int32_t)(field << (32 - n)) >> (32 - n) : 0;
}
static inline uint32_t permute_byte(uint64_t data, uint32_t sel) {
    const uint64_t sign = data >> ((sel & 3) * 16 + 15) & 1; /* 8..11: sign of bytes 1, 3, 5, 7 */
    return sel >= 13 ? 0xff : sel == 12 ? 0 : sel >= 8 ? (sign ? 0xff : 0) : (uint32_t)(data >> (sel * 8)) & 0xff;
}
static inline uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t sel) {
    const uint64_t data = (uint64_t)a << 32 | b;
    return permute_byte(data, sel & 0xff) | permute_byte(data, sel >> 8 & 0xff) << 8 |
           permute_byte(data, sel >> 16 & 0xff) << 16 | permute_byte(data, sel >> 24) << 24;
}
static inline uint32_t byte_difference(uint32_t a, uint32_t b) {
    uint32_t sum = 0;
    for (int i = 0; i < 32; i += 8) {
        const uint32_t x = a >> i & 0xff, y = b >> i & 0xff;
        sum += x > y ? x - y : y - x;
    }
    return sum;
}
static inline uint32_t masked_difference(uint32_t a, uint32_t b) { /* bytes of b that are 0 do not count */
    uint32_t sum = 0;
    for (int i = 0; i < 32; i += 8) {
        const uint32_t x = a >> i & 0xff, y = b >> i & 0xff;
        sum += !y ? 0 : x > y ? x - y : y - x;
    }
    return sum;
}
static inline uint32_t half_difference(uint32_t a, uint32_t b) {
    const uint32_t low = (a & 0xffff) > (b & 0xffff) ? (a & 0xffff) - (b & 0xffff) : (b & 0xffff) - (a & 0xffff);
    return low + (a >> 16 > b >> 16 ? (a >> 16) - (b >> 16) : (b >> 16) - (a >> 16));
}
/* Four windows of four bytes, each a byte further, against the same four. */
static inline uint64_t quad_difference(uint64_t a, uint32_t b, uint64_t c, uint32_t (*difference)(uint32_t, uint32_t)) {
    uint64_t r = 0;
    for (int i = 0; i < 4; i++)
        r |= (uint64_t)(uint16_t)(difference((uint32_t)(a >> 8 * i), b) + (uint32_t)(c >> 16 * i)) << 16 * i;
    return r;
}
static inline uint32_t average_bytes(uint32_t a, uint32_t b, uint32_t round) {
    uint32_t r = 0;
    for (int i = 0; i < 32; i += 8) r |= ((a >> i & 0xff) + (b >> i & 0xff) + (round >> i & 1)) >> 1 << i;
    return r;
}
static inline uint32_t bitop3(uint32_t a, uint32_t b, uint32_t c, int table) {
    uint32_t r = 0;
    if (table & 0x01) r |= ~a & ~b & ~c;
    if (table & 0x02) r |= ~a & ~b & c;
    if (table & 0x04) r |= ~a & b & ~c;
    if (table & 0x08) r |= ~a & b & c;
    if (table & 0x10) r |= a & ~b & ~c;
    if (table & 0x20) r |= a & ~b & c;
    if (table & 0x40) r |= a & b & ~c;
    if (table & 0x80) r |= a & b & c;
    return r;
}
static inline int64_t clamp_i64(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

/* Sums that have not wrapped yet, by the clamp bit. */
static inline uint32_t sum_i32(int64_t sum, int clamp) {
    return (uint32_t)(clamp ? clamp_i64(sum, INT32_MIN, INT32_MAX) : sum);
}
static inline uint32_t sum_u32(uint64_t sum, int clamp) {
    return clamp && sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

static inline uint32_t exponent_f32(float x) { return bits_of_f32(x) >> 23 & 0xff; }
static inline int class_f32(uint32_t x, uint32_t wanted) {
    const uint32_t magnitude = x & 0x7fffffffu, sign = x >> 31;
    const uint32_t kind = magnitude > 0x7f800000u    ? (magnitude & 0x00400000u ? 1u : 0u)
                          : magnitude == 0x7f800000u ? (sign ? 2u : 9u)
                          : magnitude >= 0x00800000u ? (sign ? 3u : 8u)
                          : magnitude                ? (sign ? 4u : 7u)
                                                     : (sign ? 5u : 6u);
    return (int)(wanted >> kind & 1);
}
static inline int class_f16(uint16_t x, uint32_t wanted) {
    const uint32_t magnitude = x & 0x7fffu, sign = x >> 15;
    const uint32_t kind = magnitude > 0x7c00u    ? (magnitude & 0x0200u ? 1u : 0u)
                          : magnitude == 0x7c00u ? (sign ? 2u : 9u)
                          : magnitude >= 0x0400u ? (sign ? 3u : 8u)
                          : magnitude            ? (sign ? 4u : 7u)
                                                 : (sign ? 5u : 6u);
    return (int)(wanted >> kind & 1);
}
static inline int class_f64(uint64_t x, uint32_t wanted) {
    const uint64_t magnitude = x & INT64_MAX;
    const uint32_t sign = (uint32_t)(x >> 63);
    const uint64_t inf = 0x7ff0000000000000ull;
    const uint32_t kind = magnitude > inf                      ? (magnitude & 0x0008000000000000ull ? 1u : 0u)
                          : magnitude == inf                   ? (sign ? 2u : 9u)
                          : magnitude >= 0x0010000000000000ull ? (sign ? 3u : 8u)
                          : magnitude                          ? (sign ? 4u : 7u)
                                                               : (sign ? 5u : 6u);
    return (int)(wanted >> kind & 1);
}

/* Division steps. A quotient is denormal when it is nonzero and below the smallest normal number. */
static inline int denormal_f32(float x) { return x != 0 && fabsf(x) < 0x1p-126f; }
static inline int denormal_f64(double x) { return x != 0 && fabs(x) < 0x1p-1022; }
static inline float div_scale_f32(float a, float b, float c, int *flag) {
    const int wide = (int)exponent_f32(c) - (int)exponent_f32(b) >= 96;
    const int tiny_inverse = denormal_f64(1.0 / (double)b) || fabs(1.0 / (double)b) < 0x1p-126;
    const int tiny_quotient = denormal_f32(c / b);
    *flag = 0;
    if (c == 0 || b == 0) return f32_of(0x7fc00000u);
    if (wide) return *flag = 1, a == b ? ldexpf(a, 64) : a;
    if (denormal_f32(b)) return ldexpf(a, 64);
    if (tiny_inverse && tiny_quotient) return *flag = 1, a == b ? ldexpf(a, -64) : a;
    if (tiny_inverse) return ldexpf(a, -64);
    if (tiny_quotient) return *flag = 1, a == c ? ldexpf(a, 64) : a;
    return exponent_f32(c) <= 23 ? ldexpf(a, 64) : a;
}
/* Scaled before the only rounding: a quotient that comes out denormal is not rounded twice. */
static inline float scaled_fma_f32(float a, float b, float c, double scale) {
    return (float)(fma((double)a, (double)b, (double)c) * scale);
}
static inline double scaled_fma_f64(double a, double b, double c, double scale) {
    return (double)(((__float128)a * b + c) * scale);
}
static inline float div_fixup_f32(float a, float b, float c) {
    const int negative = signbit(b) != signbit(c);
    const float sign = negative ? -1.0f : 1.0f;
    if (c != c) return f32_of(quiet_f32(bits_of_f32(c)));
    if (b != b) return f32_of(quiet_f32(bits_of_f32(b)));
    if ((b == 0 && c == 0) || (isinf(b) && isinf(c))) return f32_of(0xffc00000u);
    if (b == 0 || isinf(c)) return sign * INFINITY;
    if (isinf(b) || c == 0) return sign * 0.0f;
    if ((int)exponent_f32(c) - (int)exponent_f32(b) < -150) return sign * 0.0f;
    return a != a ? sign * INFINITY : copysignf(a, sign);
}
static inline int exponent_f64(double x) { return (int)(bits_of_f64(x) >> 52 & 0x7ff); }
static inline double div_scale_f64(double a, double b, double c, int *flag) {
    const int tiny_inverse = denormal_f64(1.0 / b), tiny_quotient = denormal_f64(c / b);
    *flag = 0;
    if (c == 0 || b == 0) return f64_of(0x7ff8000000000000ull);
    if (exponent_f64(c) - exponent_f64(b) >= 768) return *flag = 1, a == b ? ldexp(a, 128) : a;
    if (denormal_f64(b)) return ldexp(a, 128);
    if (tiny_inverse && tiny_quotient) return *flag = 1, a == b ? ldexp(a, -128) : a;
    if (tiny_inverse) return ldexp(a, -128);
    if (tiny_quotient) return *flag = 1, a == c ? ldexp(a, 128) : a;
    return exponent_f64(c) <= 53 ? ldexp(a, 128) : a;
}
static inline double div_fixup_f64(double a, double b, double c) {
    const double sign = signbit(b) != signbit(c) ? -1.0 : 1.0;
    if (c != c) return c;
    if (b != b) return b;
    if ((b == 0 && c == 0) || (isinf(b) && isinf(c))) return f64_of(0xfff8000000000000ull);
    if (b == 0 || isinf(c)) return sign * (double)INFINITY;
    if (isinf(b) || c == 0) return sign * 0.0;
    if (exponent_f64(c) - exponent_f64(b) < -1075) return sign * 0.0;
    return a != a ? sign * (double)INFINITY : copysign(a, sign);
}

static inline float div_fixup_f16(float a, float b, float c) {
    const float sign = signbit(b) != signbit(c) ? -1.0f : 1.0f;
    if (c != c) return c;
    if (b != b) return b;
    if ((b == 0 && c == 0) || (isinf(b) && isinf(c))) return f32_of(0xffc00000u);
    if (b == 0 || isinf(c)) return sign * INFINITY;
    if (isinf(b) || c == 0) return sign * 0.0f;
    return copysignf(a, sign);
}

/* 53 bits of 2/pi from bit `shift` behind the point on, as f64 of their weight: what reduces large arguments. */
static inline double two_over_pi(int exponent, uint32_t segment) {
    static const uint32_t bits[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
                                    0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
                                    0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
                                    0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
                                    0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
                                    0x1f8d5d08, 0x56033046, 0xfc7b6bab};
    const int shift = (int)segment * 53 + (exponent > 1077 ? exponent - 1077 : 0);
    uint64_t x = 0;
    for (int i = shift; i < shift + 53; i++) {
        const uint32_t bit = i < 1201 ? bits[i / 32] >> (31 - i % 32) & 1 : 0;
        x = x << 1 | bit;
    }
    return ldexp((double)x, -53 - shift + (exponent >= 1968 ? 128 : 0));
}

/* Sums of products of packed small floats and integers. */
static inline float dot_f16(uint32_t a, uint32_t b, float sum) {
    sum += f32_of_f16((uint16_t)a) * f32_of_f16((uint16_t)b);
    return sum + f32_of_f16((uint16_t)(a >> 16)) * f32_of_f16((uint16_t)(b >> 16));
}
static inline int32_t dot_i8(uint32_t a, uint32_t b) {
    int32_t sum = 0;
    for (int i = 0; i < 32; i += 8) sum += (int8_t)(a >> i) * (int8_t)(b >> i);
    return sum;
}
static inline uint32_t dot_u8(uint32_t a, uint32_t b) {
    uint32_t sum = 0;
    for (int i = 0; i < 32; i += 8) sum += (a >> i & 0xff) * (b >> i & 0xff);
    return sum;
}
static inline int32_t dot_i4(uint32_t a, uint32_t b) {
    int32_t sum = 0;
    for (int i = 0; i < 32; i += 4) sum += ((int32_t)(a << (28 - i)) >> 28) * ((int32_t)(b << (28 - i)) >> 28);
    return sum;
}
static inline uint32_t dot_u4(uint32_t a, uint32_t b) {
    uint32_t sum = 0;
    for (int i = 0; i < 32; i += 4) sum += (a >> i & 0xf) * (b >> i & 0xf);
    return sum;
}

/* Sums of the halves of words, each rounded. */
typedef uint16_t add_halves(uint16_t, uint16_t);
static inline uint16_t add_f16(uint16_t a, uint16_t b) { return f16_of_f32(f32_of_f16(a) + f32_of_f16(b)); }
static inline uint16_t add_bf16(uint16_t a, uint16_t b) { return bf16_of_f32(f32_of_bf16(a) + f32_of_bf16(b)); }
static inline uint32_t add_pairs(uint32_t a, uint32_t b, add_halves *add) {
    return add((uint16_t)a, (uint16_t)b) | (uint32_t)add((uint16_t)(a >> 16), (uint16_t)(b >> 16)) << 16;
}

#endif
