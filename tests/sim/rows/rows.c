/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Expands the tables of rows into functions that compute what an instruction shall give. The arithmetic here is written
 * apart from the simulator's: another formula wherever there is one.
 * source: AMD CDNA4 ISA guide, instruction pseudo-code */
#include "tests/sim/rows/rows.h"

#include <math.h>
#include <string.h>

#include "core/fp8.h"
#include "tests/sim/bits.h"

static uint64_t pair(float low, float high) { return as_bits(low) | (uint64_t)as_bits(high) << 32; }
static void set64(uint32_t *to, uint64_t x) { memcpy(to, &x, 8); }

/* Halves by value: exact into double, out by scaling to whole steps. */
static float half_value(uint32_t bits) {
    const uint32_t e = bits >> 10 & 31, f = bits & 1023;
    const double v = e == 31 ? (f ? (double)NAN : (double)INFINITY) : e ? ldexp(1024 + f, (int)e - 25) : ldexp(f, -24);
    return (float)(bits & 0x8000 ? -v : v);
}
static uint32_t half_code(double x, double (*to_whole)(double)) {
    const uint32_t sign = signbit(x) ? 0x8000 : 0;
    if (isnan(x)) return 0x7e00 | sign;
    if (isinf(x)) return 0x7c00 | sign;
    const double a = fabs(x);
    int e = a < 0x1p-14 ? -14 : ilogb(a);
    double k = to_whole(ldexp(a, 10 - e));
    if (k == 2048) k = 1024, e++;
    if (e > 15) return sign | (to_whole == trunc ? 0x7bff : 0x7c00);
    return sign | (uint32_t)(k < 1024 ? k : ldexp(e + 15, 10) + k - 1024);
}
static uint32_t half_bits(float x) { return half_code((double)x, roundeven); }
static uint32_t half_bits_cut(float x) { return half_code((double)x, trunc); }
static uint32_t half_fused(float x, float y,
                           float z) { /* exact in 80 bits but for far apart terms, which round alike */
    const double product = (double)x * (double)y, sum = product + (double)z;
    const double rest = fabs(product) > fabs((double)z) ? (double)z - (sum - product) : product - (sum - (double)z);
    double odd = sum;
    if (rest != 0 && !isnan(rest) && !isinf(sum)) {
        uint64_t bits = as_bits64(sum);
        if (!(bits & 1)) bits += (rest > 0) == (sum > 0) ? 1 : UINT64_MAX;
        odd = as_double(bits);
    }
    return half_code(odd, roundeven);
}
static float fused(float x, float y, float z) { return fmaf(x, y, z); }

static uint32_t bfloat_code(float x) {
    const uint32_t bits = as_bits(x);
    if (isnan(x)) return bits >> 16 | 0x40;
    const uint32_t low = bits & 0xffff, high = bits >> 16;
    return high + (low > 0x8000 || (low == 0x8000 && (high & 1)));
}
static float fp8_value(const row_inputs *in, uint32_t code) {
    return in->fnuz ? f32_from_e4m3fnuz((uint8_t)code) : f32_from_e4m3fn((uint8_t)code);
}
static float bf8_value(const row_inputs *in, uint32_t code) {
    return in->fnuz ? f32_from_e5m2fnuz((uint8_t)code) : f32_from_e5m2((uint8_t)code);
}
/* Nearest code by search over all of them; ties to the even code. */
static uint32_t nearest_code(const row_inputs *in, float x, float (*value)(const row_inputs *, uint32_t), float bound,
                             uint32_t beyond, uint32_t nan) {
    const uint32_t sign = signbit(x) ? 0x80 : 0;
    if (isnan(x)) return in->fnuz ? 0x80 : nan | sign;
    if (fabsf(x) >= bound) return in->fnuz ? 0x80 : beyond | sign;
    uint32_t best = 0;
    double best_distance = (double)INFINITY;
    for (uint32_t code = 0; code < 0x80; code++) {
        const float v = value(in, code);
        if (isnan(v) || isinf(v)) continue;
        const double distance = fabs((double)v - fabs((double)x));
        if (distance < best_distance || (distance == best_distance && !(code & 1)))
            best = code, best_distance = distance;
    }
    return best == 0 && in->fnuz ? 0 : best | sign;
}
static uint32_t fp8_code(const row_inputs *in, float x) {
    return in->fnuz ? nearest_code(in, x, fp8_value, 248, 0, 0)
                    : nearest_code(in, x, fp8_value, as_float(0x43e80001), 0x7f, 0x7f);
}
static uint32_t bf8_code(const row_inputs *in, float x) { return nearest_code(in, x, bf8_value, 61440, 0x7c, 0x7f); }

static int64_t to_integer(double x, double low, double high) {
    return isnan(x) ? 0 : (int64_t)(x < low ? low : x > high ? high : trunc(x));
}
static uint32_t saturated(int64_t x, int64_t low, int64_t high) {
    return (uint32_t)(x < low ? low : x > high ? high : x);
}
static int32_t saturated64(int64_t x) { return (int32_t)saturated(x, INT32_MIN, INT32_MAX); }
static uint32_t normalized(float x, float most) {
    return isnan(x) ? 0 : (uint32_t)(int32_t)roundevenf(fminf(fmaxf(x, -1), 1) * most);
}
static uint32_t with_byte(uint32_t x, uint32_t at, uint32_t byte) {
    unsigned char bytes[4];
    memcpy(bytes, &x, 4);
    bytes[at] = (unsigned char)byte;
    memcpy(&x, bytes, 4);
    return x;
}
static uint32_t bits_backwards(uint32_t x) {
    uint32_t r = 0;
    for (int i = 0; i < 32; i++) r = r << 1 | (x >> i & 1);
    return r;
}
static int highest_bit(uint64_t x) {
    int n = -1;
    for (; x; x >>= 1) n++;
    return n;
}
static float turn(float x) { return (float)fmod((double)x, 1.0); }
static float fraction(float x) {
    const float f = (float)((double)x - floor((double)x));
    return f >= 1 ? as_float(0x3f7fffff) : f;
}
static double fraction64(double x) {
    const double f = x - floor(x);
    return f >= 1 ? as_double(0x3fefffffffffffff) : f;
}

/* Order by the sign-magnitude key, which puts -0 below +0; a NaN gives way, a signalling one comes out quiet. */
static int64_t key(uint32_t x) { return x >> 31 ? -(int64_t)(x & INT32_MAX) - 1 : (int64_t)x; }
static uint32_t extreme(uint32_t x, uint32_t y, int greatest) {
    const int nx = isnan(as_float(x)), ny = isnan(as_float(y));
    if (nx && !(x & 0x400000)) return x | 0x400000;
    if (ny && !(y & 0x400000)) return y | 0x400000;
    if (nx || ny) return nx ? y : x;
    return (key(x) < key(y)) != greatest ? x : y;
}
static uint32_t least(uint32_t x, uint32_t y) { return extreme(x, y, 0); }
static uint32_t most(uint32_t x, uint32_t y) { return extreme(x, y, 1); }
static uint32_t middle(uint32_t x, uint32_t y, uint32_t z) {
    if (isnan(as_float(x)) || isnan(as_float(y)) || isnan(as_float(z))) return least(least(x, y), z);
    return most(least(x, y), least(most(x, y), z));
}
static int half_key(uint32_t x) { return x >> 15 ? -(int)(x & 0x7fff) - 1 : (int)x; }
static uint32_t half_extreme(uint32_t x, uint32_t y, int greatest) {
    const int nx = (x & 0x7fff) > 0x7c00, ny = (y & 0x7fff) > 0x7c00;
    if (nx && !(x & 0x200)) return x | 0x200;
    if (ny && !(y & 0x200)) return y | 0x200;
    if (nx || ny) return nx ? y : x;
    return (half_key(x) < half_key(y)) != greatest ? x : y;
}
static uint32_t half_least(uint32_t x, uint32_t y) { return half_extreme(x, y, 0); }
static uint32_t half_most(uint32_t x, uint32_t y) { return half_extreme(x, y, 1); }
static uint32_t half_middle(uint32_t x, uint32_t y, uint32_t z) {
    if ((x & 0x7fff) > 0x7c00 || (y & 0x7fff) > 0x7c00 || (z & 0x7fff) > 0x7c00) return half_least(half_least(x, y), z);
    return half_most(half_least(x, y), half_least(half_most(x, y), z));
}
static double fmin_signed(double x, double y) { return x == y ? (signbit(x) ? x : y) : x < y ? x : y; }
static int signals64(uint64_t x) { return isnan(as_double(x)) && !(x >> 51 & 1); }
static uint64_t extreme64(uint64_t x, uint64_t y, int greatest) {
    const double f = as_double(x), g = as_double(y);
    if (signals64(x) || signals64(y)) return UINT64_C(0x7ff8) << 48;
    return isnan(f) ? y : isnan(g) ? x : as_bits64(greatest ? -fmin_signed(-f, -g) : fmin_signed(f, g));
}
static uint64_t least64(uint64_t x, uint64_t y) { return extreme64(x, y, 0); }
static uint64_t most64(uint64_t x, uint64_t y) { return extreme64(x, y, 1); }
static int64_t sorted(int64_t x, int64_t y, int64_t z, int place) {
    int64_t v[3] = {x, y, z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            if (v[j] > v[j + 1]) {
                const int64_t t = v[j];
                v[j] = v[j + 1];
                v[j + 1] = t;
            }
    return v[place];
}

/* Division helpers: the text, and docs/instructions.md where quotients would be wrong by the text. */
static uint32_t quotient_fixed(float q, float y, float x) {
    const uint32_t sign = (signbit(y) != 0) != (signbit(x) != 0) ? 0x80000000u : 0;
    if (isnan(x) || isnan(y)) return 0x7fc00000;
    if ((y == 0 && x == 0) || (isinf(y) && isinf(x))) return 0xffc00000;
    if (y == 0 || isinf(x)) return sign | 0x7f800000;
    if (isinf(y) || x == 0) return sign;
    if ((int)(as_bits(x) >> 23 & 255) - (int)(as_bits(y) >> 23 & 255) < -150) return sign;
    return sign | (isnan(q) ? 0x7f800000 : as_bits(q) & INT32_MAX);
}
static uint64_t quotient_fixed64(double q, double y, double x) {
    const uint64_t sign = (signbit(y) != 0) != (signbit(x) != 0) ? UINT64_C(1) << 63 : 0;
    if (isnan(x) || isnan(y)) return UINT64_C(0x7ff8) << 48;
    if ((y == 0 && x == 0) || (isinf(y) && isinf(x))) return UINT64_C(0xfff8) << 48;
    if (y == 0 || isinf(x)) return sign | UINT64_C(0x7ff0) << 48;
    if (isinf(y) || x == 0) return sign;
    if ((int)(as_bits64(x) >> 52 & 2047) - (int)(as_bits64(y) >> 52 & 2047) < -1075) return sign;
    return sign | (isnan(q) ? UINT64_C(0x7ff0) << 48 : as_bits64(q) & INT64_MAX);
}
static uint32_t half_quotient_fixed(float q, float y, float x) {
    const uint32_t sign = (signbit(y) != 0) != (signbit(x) != 0) ? 0x8000 : 0;
    if (isnan(x) || isnan(y)) return 0x7e00;
    if ((y == 0 && x == 0) || (isinf(y) && isinf(x))) return 0xfe00;
    if (y == 0 || isinf(x)) return sign | 0x7c00;
    if (isinf(y) || x == 0) return sign;
    return sign | (half_bits(q) & 0x7fff);
}
static uint32_t divided(float x, float y, float z, int unscale) {
    const int by = !unscale ? 0 : (as_bits(z) >> 23 & 255) >= 128 ? 64 : -64;
    return as_bits((float)ldexpl(fmal(x, y, z), by));
}
static uint64_t divided64(double x, double y, double z, int unscale) {
    const int by = !unscale ? 0 : (as_bits64(z) >> 52 & 2047) >= 1024 ? 128 : -128;
    const __float128 sum = (__float128)x * y + z;
    return unscale ? as_bits64((double)(by > 0 ? sum * 0x1p128 : sum / 0x1p128)) : as_bits64(fma(x, y, z));
}
/* v_div_scale of the denominator y for the quotient x / y. */
typedef struct scaled {
    uint32_t value;
    int flag;
} scaled;
typedef struct scaled64 {
    uint64_t value;
    int flag;
} scaled64;
static scaled denominator_scaled(float y, float x) {
    const int ex = (int)(as_bits(x) >> 23 & 255), ey = (int)(as_bits(y) >> 23 & 255);
    const int small_inverse = fabs(1.0 / (double)y) < 0x1p-126, small_quotient = x / y != 0 && fabsf(x / y) < 0x1p-126f;
    if (x == 0 || y == 0) return (scaled){0x7fc00000, 0};
    if (ex - ey >= 96) return (scaled){as_bits(y * 0x1p64f), 1};
    if (ey == 0) return (scaled){as_bits(y * 0x1p64f), 0};
    if (small_inverse) return (scaled){as_bits(y * 0x1p-64f), small_quotient};
    if (small_quotient) return (scaled){as_bits(x == y ? y * 0x1p64f : y), 1};
    return (scaled){as_bits(ex <= 23 ? y * 0x1p64f : y), 0};
}
static scaled64 denominator_scaled64(double y, double x) {
    const int ex = (int)(as_bits64(x) >> 52 & 2047), ey = (int)(as_bits64(y) >> 52 & 2047);
    const int small_inverse = 1.0 / y != 0 && fabs(1.0 / y) < 0x1p-1022,
              small_quotient = x / y != 0 && fabs(x / y) < 0x1p-1022;
    if (x == 0 || y == 0) return (scaled64){UINT64_C(0x7ff8) << 48, 0};
    if (ex - ey >= 768) return (scaled64){as_bits64(y * 0x1p128), 1};
    if (ey == 0) return (scaled64){as_bits64(y * 0x1p128), 0};
    if (small_inverse) return (scaled64){as_bits64(y * 0x1p-128), small_quotient};
    if (small_quotient) return (scaled64){as_bits64(x == y ? y * 0x1p128 : y), 1};
    return (scaled64){as_bits64(ex <= 53 ? y * 0x1p128 : y), 0};
}
static float cube(float x, float y, float z, int what) {
    const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    if (az >= ax && az >= ay) {
        const float r[] = {z < 0 ? 5 : 4, z < 0 ? -x : x, -y, z * 2};
        return r[what];
    }
    if (ay >= ax) {
        const float r[] = {y < 0 ? 3 : 2, x, y < 0 ? -z : z, y * 2};
        return r[what];
    }
    const float r[] = {x < 0 ? 1 : 0, x < 0 ? z : -z, -y, x * 2};
    return r[what];
}
/* 2/pi in groups of 24 bits, from which 53 are cut out. */
static double two_over_pi_segment(uint64_t exponent, uint32_t segment) {
    static const uint32_t group[] = {
        0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1, 0xf534dd, 0xc0db62, 0x95993c, 0x439041, 0xfe5163, 0xabdebb, 0xc561b7,
        0x246e3a, 0x424dd2, 0xe00649, 0x2eea09, 0xd1921c, 0xfe1deb, 0x1cb129, 0xa73ee8, 0x8235f5, 0x2ebb44, 0x84e99c,
        0x7026b4, 0x5f7e41, 0x3991d6, 0x398353, 0x39f49c, 0x845f8b, 0xbdf928, 0x3b1ff8, 0x97ffde, 0x05980f, 0xef2f11,
        0x8b5a0a, 0x6d1f6d, 0x367ecf, 0x27cb09, 0xb74f46, 0x3f669e, 0x5fea2d, 0x7527ba, 0xc7ebe5, 0xf17b3d, 0x0739f7,
        0x8a5292, 0xea6bfb, 0x5fb11f, 0x8d5d08, 0x560330, 0x46fc7b, 0x6babf0};
    const int shift = (int)segment * 53 + (exponent > 1077 ? (int)exponent - 1077 : 0);
    double sum = 0;
    for (int i = 0; i < 53; i++) {
        const int bit = shift + i;
        if (bit < 1201 && group[bit / 24] & 0x800000u >> bit % 24) sum += ldexp(1, 52 - i);
    }
    return scalbn(sum, -53 - shift + (exponent >= 1968 ? 128 : 0));
}

static int64_t signed24(uint32_t x) {
    const int64_t v = x & 0xffffff;
    return v >= 0x800000 ? v - 0x1000000 : v;
}
static int signed_sum_overflows(int64_t x, int64_t y) {
    const __int128 sum = (__int128)x + y;
    return sum > INT64_MAX || sum < INT64_MIN;
}
static uint32_t truth_table(uint32_t x, uint32_t y, uint32_t z, uint32_t table) {
    uint32_t r = 0;
    for (int i = 0; i < 32; i++) r |= (table >> ((x >> i & 1) << 2 | (y >> i & 1) << 1 | (z >> i & 1)) & 1) << i;
    return r;
}
static uint64_t field(uint64_t x, uint32_t at, uint32_t width) {
    uint64_t r = 0;
    for (uint32_t i = 0; i < width && at + i < 64; i++) r |= (x >> (at + i) & 1) << i;
    return r;
}
static int64_t field_signed(int64_t x, uint32_t at, uint32_t width) {
    __int128 r = 0;
    for (uint32_t i = 0; i < width && i < 64; i++) r |= ((__int128)x >> (at + i) & 1) << i;
    if (width && width < 64 && r >> (width - 1) & 1) r -= (__int128)1 << width;
    return (int64_t)r;
}
static uint32_t bytes_chosen(uint32_t high, uint32_t low, uint32_t select) {
    unsigned char from[8], to[4];
    memcpy(from, &low, 4);
    memcpy(from + 4, &high, 4);
    for (int i = 0; i < 4; i++) {
        const uint32_t s = select >> 8 * i & 255;
        to[i] = s < 8 ? from[s] : s < 12 ? (from[2 * (s - 8) + 1] >= 128 ? 255 : 0) : s == 12 ? 0 : 255;
    }
    uint32_t r;
    memcpy(&r, to, 4);
    return r;
}
static uint32_t differences(uint32_t x, uint32_t y, int bits, int masked) {
    uint64_t sum = 0;
    const uint64_t all = (UINT64_C(1) << bits) - 1;
    for (int i = 0; i < 32; i += bits) {
        const int64_t p = (int64_t)(x >> i & all), q = (int64_t)(y >> i & all);
        if (!masked || q) sum += (uint64_t)(p > q ? p - q : q - p);
    }
    return (uint32_t)sum;
}
static uint64_t four_differences(uint64_t x, uint32_t y, uint64_t z, int masked) {
    uint16_t sum[4];
    memcpy(sum, &z, 8);
    for (int i = 0; i < 4; i++) sum[i] = (uint16_t)(sum[i] + differences((uint32_t)(x >> 8 * i), y, 8, masked));
    uint64_t r;
    memcpy(&r, sum, 8);
    return r;
}
static uint32_t averages(uint32_t x, uint32_t y, uint32_t round) {
    unsigned char p[4], q[4], r[4];
    memcpy(p, &x, 4);
    memcpy(q, &y, 4);
    memcpy(r, &round, 4);
    for (int i = 0; i < 4; i++) r[i] = (unsigned char)((p[i] + q[i] + r[i] % 2) / 2);
    memcpy(&x, r, 4);
    return x;
}
static uint32_t products(uint32_t x, uint32_t y, int bits, int is_signed) {
    int64_t sum = 0;
    const int64_t range = INT64_C(1) << bits;
    for (int i = 0; i < 32; i += bits) {
        int64_t p = (x >> i) % range, q = (y >> i) % range;
        if (is_signed && p >= range / 2) p -= range;
        if (is_signed && q >= range / 2) q -= range;
        sum += p * q;
    }
    return (uint32_t)sum;
}
static uint64_t quads(uint64_t x, int whole) {
    uint64_t r = 0;
    for (int i = 0; i < 64; i++)
        if (x >> (i & ~3) & 15) r |= whole ? UINT64_C(1) << i : UINT64_C(1) << i / 4;
    return r;
}
static uint64_t each_bit_twice(uint32_t x) {
    uint64_t r = 0;
    for (int i = 31; i >= 0; i--) r = r << 2 | (x >> i & 1 ? 3 : 0);
    return r;
}
/* The class bit of v_cmp_class. */
#define class_of(x, quiet, tiny)                                                                                       \
    (isnan(x)   ? ((quiet) ? 1 : 0)                                                                                    \
     : isinf(x) ? (signbit(x) ? 2 : 9)                                                                                 \
     : (x) == 0 ? (signbit(x) ? 5 : 6)                                                                                 \
     : (tiny)   ? (signbit(x) ? 4 : 7)                                                                                 \
                : (signbit(x) ? 3 : 8))

static uint32_t get_bits(const uint32_t *from, int at, int bits) {
    uint32_t x = 0;
    for (int i = 0; i < bits; i++) x |= (from[(at + i) / 32] >> (at + i) % 32 & 1) << i;
    return x;
}
static void put_bits(uint32_t *to, int at, int bits, uint32_t x) {
    for (int i = 0; i < bits; i++) {
        const uint32_t bit = UINT32_C(1) << (at + i) % 32;
        to[(at + i) / 32] = (to[(at + i) / 32] & ~bit) | (x >> i & 1 ? bit : 0);
    }
}
enum { AS_WORD, AS_BYTE, AS_SBYTE, AS_SHORT, AS_SSHORT };
static uint32_t extended(uint32_t x, int how) {
    return how == AS_BYTE    ? x % 256
           : how == AS_SBYTE ? (uint32_t)(int8_t)(x % 256)
           : how == AS_SHORT ? x % 65536
           : how == AS_WORD  ? x
                             : (uint32_t)(int16_t)(x % 65536);
}
/* LDS after a DMA of `bytes` a lane: dwords of the lane's cell. */
static void landed(uint32_t *d, const row_inputs *in, int lane, int bytes, int how) {
    for (int i = 0; i < 4; i++) {
        const int from = bytes == 4 ? lane * 4 + i : lane;
        const int written = bytes == 4 ? from < 64 : 4 * i < bytes;
        d[i] = written ? extended(in[from - lane].m[bytes == 4 ? 0 : i], how) : in->w[i];
    }
}
/* The lane's inputs as they lie in memory. */
static uint32_t word_of_input(const row_inputs *in, int word) {
    uint32_t x;
    memcpy(&x, (const unsigned char *)in + 4 * word, 4);
    return x;
}

/* ---- conversions of the scaled and the randomly rounding kind ---- */

typedef enum number { N_FP8, N_BF8, N_FP6, N_BF6, N_FP4, N_F16, N_BF16, N_F32 } number;
static const int number_bits[] = {8, 8, 6, 6, 4, 16, 16, 32};

static double number_value(const row_inputs *in, number n, uint32_t code) {
    static const double fp4[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    const double sign = code >> (number_bits[n] - 1) & 1 ? -1 : 1;
    const uint32_t x = code & ((1u << (number_bits[n] - 1)) - 1);
    switch (n) {
    case N_FP8: return (double)fp8_value(in, code);
    case N_BF8: return (double)bf8_value(in, code);
    case N_FP6: return sign * (x < 8 ? x / 8.0 : (8 + x % 8) / 8.0 * (1 << (x / 8 - 1)));
    case N_BF6: return sign * (x < 4 ? x / 16.0 : (4 + x % 4) / 16.0 * (1 << (x / 4 - 1)));
    case N_FP4: return sign * fp4[x];
    case N_F16: return (double)half_value(code);
    case N_BF16: return (double)as_float(code << 16);
    default: return (double)as_float(code);
    }
}
/* Between the codes below and above; the greatest if there is none above and the format saturates. */
static uint32_t number_code(const row_inputs *in, number n, double x, const uint32_t *random) {
    const uint32_t sign_bit = 1u << (number_bits[n] - 1), sign = signbit(x) ? sign_bit : 0;
    const int saturates = n == N_FP6 || n == N_BF6 || n == N_FP4, fnuz = in->fnuz && n <= N_BF8;
    if (n == N_F32) return isnan(x) ? 0x7fc00000 : as_bits((float)x);
    if (isnan(x))
        return saturates     ? (sign_bit - 1) | sign
               : fnuz        ? 0x80
               : n == N_F16  ? 0x7e00 | sign
               : n == N_BF16 ? 0x7fc0 | sign
                             : 0x7f | sign;
    if (!random && n == N_F16) return half_code(x, roundeven);
    if (!random && n == N_BF16) return bfloat_code((float)x);
    const uint32_t most_code = saturates    ? sign_bit - 1
                               : n == N_FP8 ? (fnuz ? 0x7f : 0x7e)
                               : n == N_BF8 ? (fnuz ? 0x7f : 0x7b)
                               : n == N_F16 ? 0x7bff
                                            : 0x7f7f;
    const uint32_t beyond = saturates ? most_code : fnuz ? 0x80 : n == N_FP8 ? 0x7f : most_code + 1;
    const double size = fabs(x), top = number_value(in, n, most_code), step = top - number_value(in, n, most_code - 1);
    uint32_t low = 0, high = most_code; /* the greatest code that does not exceed x */
    while (low < high) {
        const uint32_t mid = (low + high + 1) / 2;
        if (number_value(in, n, mid) <= size)
            low = mid;
        else
            high = mid - 1;
    }
    const double above = low == most_code ? top + step : number_value(in, n, low + 1);
    const double part = (size - number_value(in, n, low)) / (above - number_value(in, n, low));
    const int up = random ? part + *random / 4294967296.0 >= 1 : part > 0.5 || (part == 0.5 && low & 1);
    const uint32_t code = low + (uint32_t)up;
    if (isinf(size) || code > most_code) return fnuz ? 0x80 : (beyond | sign);
    return code == 0 && fnuz ? 0 : code | sign;
}
/* source[e] of `source_words` is cut into elements from bit `first`; they land in `to` from bit `start`. */
static void converted(uint32_t *to, const row_inputs *in, const uint32_t *source, number from, number n, int count,
                      int first, int start, const uint32_t *scale, const uint32_t *random) {
    const int exponent = scale ? (int)(*scale >> 23 & 255) : 127;
    uint32_t chance = random ? *random : 0;
    for (int e = 0; e < count; e++) {
        double x = number_value(in, from, get_bits(source, first + e * number_bits[from], number_bits[from]));
        x *= ldexp(1, from < N_F16 ? exponent - 127 : 127 - exponent);
        if (exponent == 255) x = (double)NAN;
        put_bits(to, start + e * number_bits[n], number_bits[n], number_code(in, n, x, random ? &chance : NULL));
        chance = chance << 1 ^ (chance & 0x80000000u ? 197u : 0);
    }
}
/* The rows of 32 elements: sources are the lane's first 16 words, and for more the same from the fifth on; the result
 * is folded into one word. */
static void converted_32(uint32_t *d, const row_inputs *in, number from, number n, int interleaved,
                         const uint32_t *random) {
    uint32_t source[32], to[32] = {0}, fold = 0;
    for (int i = 0; i < 16; i++)
        for (int half = 0; half < 2; half++)
            source[interleaved ? 2 * i + half : 16 * half + i] = word_of_input(in, half ? (i + 5) % 16 : i);
    converted(to, in, source, from, n, 32, 0, 0, &in->w[3], random);
    for (int i = 0; i < number_bits[n]; i++) fold = (fold << 5 | fold >> 27) ^ to[i];
    d[0] = fold;
}

/* Results narrower than two registers leave the second as it was. */
static void put(row_result *r, row_kind kind, uint64_t value) {
    r->d[0] = (uint32_t)value;
    if (kind == U64 || kind == F64 || kind == R64 || kind == P32) r->d[1] = (uint32_t)(value >> 32);
}

/* A row may have several tests: they are told apart by their order. */
enum { FIRST_CASE = __COUNTER__ + 1 };
#define CASE(...)                                                                                                      \
    case __COUNTER__ - FIRST_CASE: {                                                                                   \
        __VA_ARGS__;                                                                                                   \
    } break;
#define ROW(kind, name, code, value, ...) CASE(put(r, kind, (value)))
#define ROWM(kind, name, code, value, mask, ...) CASE(put(r, kind, (value)); d[2] = (mask) != 0)
#define SROW(name, code, value, scc, exec)                                                                             \
    CASE(set64(d, (uint64_t)(value)); d[2] = (scc) != 0; set64(m, (uint64_t)(exec)))
#define SPLAIN SROW
#define SIDLE(name, code) SROW(name, code, OQ, SCCIN, X)
#define MEM(name, cell, kind, code, statements, ...) CASE(statements)
#define MEMPLAIN MEM

/* The names that the tables use. */
void row_want(int index, const row_inputs *in, int lane, row_result *r) {
    const uint32_t A = in->w[0], B = in->w[1], C = in->w[2], PA = in->h[0], PB = in->h[1], PC = in->h[2];
    const uint32_t O = in->old[0], CIN = in->carry, SCCIN = in->scc, FIELD = in->field;
    const uint64_t QA = in->q[0], QB = in->q[1], QC = in->q[2], OQ = O | (uint64_t)in->old[1] << 32, X = in->x;
    const float a = as_float(A), b = as_float(B), c = as_float(C);
    const double qa = as_double(QA), qb = as_double(QB), qc = as_double(QC);
    const float ha = half_value(PA), hb = half_value(PB), hc = half_value(PC);
    const float ga = half_value(PA >> 16), gb = half_value(PB >> 16), gc = half_value(PC >> 16);
    const uint32_t *const M = in->m;
    const uint64_t MQ = M[0] | (uint64_t)M[1] << 32;
    uint32_t *const d = r->d, *const m = r->m;
    switch (index) {
#include "tests/sim/rows/vector.def"
#include "tests/sim/rows/scalar.def"
#include "tests/sim/rows/memory.def"
#include "tests/sim/rows/convert.def"
    default: break;
    }
}

#undef ROW
#undef ROWM
#undef SROW
#undef SPLAIN
#undef SIDLE
#undef MEM
#undef MEMPLAIN
#define JOIN(x, y) x##y
#define FLAGS(...) (0 __VA_OPT__(| JOIN(FLAG_, __VA_ARGS__)))
#define ROW(kind, name, code, value, ...) {#name, code, 0, NOTHING, kind, FLAGS(__VA_ARGS__)},
#define ROWM(kind, name, code, value, mask, ...) {#name, code, 0, NOTHING, kind, FLAG_MASK | FLAGS(__VA_ARGS__)},
#define SROW(name, code, ...) {#name, code, 0, SCALARS, U32, 0},
#define SPLAIN(name, code, ...) {#name, code, 1, SCALARS, U32, 0},
#define SIDLE(name, code) {#name, code, 0, SCALARS, U32, FLAG_IDLE},
#define MEM(name, cell, kind, code, statements, ...) {#name, code, 0, cell, kind, FLAGS(__VA_ARGS__)},
#define MEMPLAIN(name, cell, kind, code, statements, ...) {#name, code, 1, cell, kind, FLAGS(__VA_ARGS__)},
const row_test row_tests[] = {
#include "tests/sim/rows/vector.def"
#include "tests/sim/rows/scalar.def"
#include "tests/sim/rows/memory.def"
#include "tests/sim/rows/convert.def"
};
const int row_test_count = sizeof row_tests / sizeof *row_tests;
