/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One row per 8-bit format, one decoder and one encoder. */
#include "core/fp8.h"

#include <string.h>

typedef struct format {
    int mantissa_bits, bias;
    unsigned largest;  /* code of the largest finite value */
    unsigned overflow; /* code of what is larger */
    unsigned nan;
    int unsigned_zero; /* "fnuz": 0x80 is the only NaN, there is no -0 and no infinity */
} format;

static const format e4m3fn = {3, 7, 0x7e, 0x7f, 0x7f, 0};
static const format e4m3fnuz = {3, 8, 0x7f, 0x80, 0x80, 1};
static const format e5m2 = {2, 15, 0x7b, 0x7c, 0x7f, 0};
static const format e5m2fnuz = {2, 16, 0x7f, 0x80, 0x80, 1};

static float f32_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float decode(const format *f, uint8_t x) {
    const uint32_t sign = (uint32_t)(x & 0x80) << 24;
    const uint32_t code = x & 0x7f;
    if (f->unsigned_zero && x == f->nan) return f32_of_bits(0x7fc00000);
    if (code > f->largest) return f32_of_bits(sign | (code == f->overflow && code != f->nan ? 0x7f800000 : 0x7fc00000));
    const uint32_t exponent = code >> f->mantissa_bits;
    const uint32_t mantissa = code & ((1u << f->mantissa_bits) - 1);
    if (!exponent) {
        const float unit = f32_of_bits((uint32_t)(127 + 1 - f->bias - f->mantissa_bits) << 23);
        return f32_of_bits(sign | bits_of_f32((float)mantissa * unit));
    }
    return f32_of_bits(sign | (exponent + 127 - (uint32_t)f->bias) << 23 | mantissa << (23 - f->mantissa_bits));
}

static uint8_t encode(const format *f, float x) {
    const uint32_t bits = bits_of_f32(x);
    const uint32_t sign = bits >> 24 & 0x80;
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return (uint8_t)(f->nan | sign);
    int exponent = (int)(magnitude >> 23) - 127 + f->bias;
    int shift = 23 - f->mantissa_bits;
    if (exponent < 1) { /* denormal in this format */
        shift += 1 - exponent;
        exponent = 1;
    }
    uint32_t code = 0;
    /* Past 24 even the largest f32 of its exponent is below half of the smallest value; f32 denormals are among
     * those. */
    if (shift <= 24) {
        const uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
        const uint32_t rest = significand & ((1u << shift) - 1), half = 1u << (shift - 1);
        code = significand >> shift;
        code += rest > half || (rest == half && (code & 1));
        code += (uint32_t)(exponent - 1) << f->mantissa_bits;
    }
    if (code > f->largest) code = f->overflow;
    return (uint8_t)(f->unsigned_zero && !code ? 0 : code | sign);
}

float f32_from_e4m3fn(uint8_t x) { return decode(&e4m3fn, x); }
float f32_from_e4m3fnuz(uint8_t x) { return decode(&e4m3fnuz, x); }
float f32_from_e5m2(uint8_t x) { return decode(&e5m2, x); }
float f32_from_e5m2fnuz(uint8_t x) { return decode(&e5m2fnuz, x); }
float f32_from_bf16(uint16_t x) { return f32_of_bits((uint32_t)x << 16); }

uint8_t e4m3fn_from_f32(float x) { return encode(&e4m3fn, x); }
uint8_t e4m3fnuz_from_f32(float x) { return encode(&e4m3fnuz, x); }
uint8_t e5m2_from_f32(float x) { return encode(&e5m2, x); }
uint8_t e5m2fnuz_from_f32(float x) { return encode(&e5m2fnuz, x); }

static const format *format_of(fp8_kind kind) { return kind == CDNAGEN_FP8_E4M3FNUZ ? &e4m3fnuz : &e4m3fn; }
float f32_from_fp8(fp8_kind kind, uint8_t x) { return decode(format_of(kind), x); }
uint8_t fp8_from_f32(fp8_kind kind, float x) { return encode(format_of(kind), x); }
float fp8_max(fp8_kind kind) { return kind == CDNAGEN_FP8_E4M3FNUZ ? E4M3FNUZ_MAX : E4M3FN_MAX; }

uint16_t bf16_from_f32(float x) {
    const uint32_t bits = bits_of_f32(x);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40); /* quiet, and never rounded to inf */
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void fp8_values(fp8_kind kind, float values[256]) {
    for (int i = 0; i < 256; i++) values[i] = f32_from_fp8(kind, (uint8_t)i);
}
