/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* core/fp8.c against a second reading of the formats, in double arithmetic. */
#include "tests/core/cmocka_tests.h"

#include <math.h>
#include <string.h>

#include "core/fp8.h"

typedef struct format_row {
    const char *name;
    float (*decode)(uint8_t);
    uint8_t (*encode)(float);
    int mantissa_bits, bias;
    int fnuz;
    uint8_t largest, overflow; /* positive codes */
    double largest_value, smallest_value;
} format_row;

/* Values from the tables of the OCP specification 1.0 and the CDNA3 ISA guide. */
static const format_row formats[] = {
    {"e4m3fn", f32_from_e4m3fn, e4m3fn_from_f32, 3, 7, 0, 0x7e, 0x7f, 448, 0x1p-9},
    {"e4m3fnuz", f32_from_e4m3fnuz, e4m3fnuz_from_f32, 3, 8, 1, 0x7f, 0x80, 240, 0x1p-10},
    {"e5m2", f32_from_e5m2, e5m2_from_f32, 2, 15, 0, 0x7b, 0x7c, 57344, 0x1p-16},
    {"e5m2fnuz", f32_from_e5m2fnuz, e5m2fnuz_from_f32, 2, 16, 1, 0x7f, 0x80, 57344, 0x1p-17},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static double value_of(const format_row *f, int code) {
    const int exponent = code >> f->mantissa_bits, mantissa = code & ((1 << f->mantissa_bits) - 1);
    const double scale = 1 << f->mantissa_bits;
    return exponent ? ldexp(1 + mantissa / scale, exponent - f->bias) : ldexp(mantissa / scale, 1 - f->bias);
}

static void all_bytes_decode(void **state) {
    (void)state;
    for (const format_row *f = formats; f < formats + FORMATS; f++)
        for (int x = 0; x < 256; x++) {
            const float v = f->decode((uint8_t)x);
            const int code = x & 0x7f;
            if (f->fnuz ? x == 0x80 : code > f->largest && !(f->bias == 15 && code == 0x7c)) {
                assert_true(isnan(v));
                continue;
            }
            const double expected = code > f->largest ? INFINITY : value_of(f, code);
            assert_true(v == (float)(x & 0x80 ? -expected : expected));
            assert_int_equal(signbit(v) != 0, x >> 7);
        }
}

static void known_values(void **state) {
    (void)state;
    assert_true(f32_from_e4m3fn(0x38) == 1.0f && f32_from_e4m3fn(0xb9) == -1.125f);
    assert_true(f32_from_e4m3fnuz(0x40) == 1.0f && f32_from_e4m3fnuz(0x38) == 0.5f);
    assert_true(f32_from_e5m2(0x3c) == 1.0f && isinf(f32_from_e5m2(0xfc)) && isnan(f32_from_e5m2(0x7d)));
    assert_true(f32_from_e5m2fnuz(0x40) == 1.0f);
    for (const format_row *f = formats; f < formats + FORMATS; f++) {
        assert_true(f->decode(f->largest) == f->largest_value);
        assert_true(f->decode(1) == f->smallest_value);
    }
    assert_true(f32_from_e4m3fn(0x7e) == E4M3FN_MAX && f32_from_e4m3fnuz(0x7f) == E4M3FNUZ_MAX);
}

static void all_bytes_round_trip(void **state) {
    (void)state;
    for (const format_row *f = formats; f < formats + FORMATS; f++)
        for (int x = 0; x < 256; x++) {
            const float v = f->decode((uint8_t)x);
            const uint8_t back = f->encode(v);
            if (isnan(v))
                assert_true(isnan(f->decode(back)));
            else
                assert_int_equal(back, x);
        }
}

static uint8_t negative(const format_row *f, int code) {
    return (uint8_t)(f->fnuz && (code == 0 || code == 0x80) ? code : code | 0x80);
}

static void expect_both_signs(const format_row *f, float v, int code) {
    if (f->encode(v) != code || f->encode(-v) != negative(f, code))
        fail_msg("%s of %a: got %02x %02x, expected %02x", f->name, (double)v, f->encode(v), f->encode(-v), code);
}

static void every_boundary_between_neighbours(void **state) {
    (void)state;
    for (const format_row *f = formats; f < formats + FORMATS; f++)
        for (int code = 0; code <= f->largest; code++) {
            const int above = code == f->largest ? f->overflow : code + 1;
            /* Past the largest value the next step would be as wide as the one before. */
            const double next =
                code == f->largest ? 2 * value_of(f, code) - value_of(f, code - 1) : value_of(f, code + 1);
            const float middle = (float)((value_of(f, code) + next) / 2);
            expect_both_signs(f, (float)value_of(f, code), code);
            expect_both_signs(f, nextafterf(middle, 0), code);
            expect_both_signs(f, middle, code & 1 ? above : code);
            expect_both_signs(f, nextafterf(middle, INFINITY), above);
        }
}

static void special_values(void **state) {
    (void)state;
    for (const format_row *f = formats; f < formats + FORMATS; f++) {
        expect_both_signs(f, INFINITY, f->overflow);
        expect_both_signs(f, 3.4e38f, f->overflow);
        expect_both_signs(f, 0.0f, 0);
        expect_both_signs(f, 0x1p-149f, 0);
        expect_both_signs(f, 0x1.fffffcp-127f, 0);
        for (uint32_t bits = 0x7f800001; bits < 0x80000000 - 4093; bits += 4093) {
            float v;
            memcpy(&v, &bits, sizeof v);
            assert_true(isnan(f->decode(f->encode(v))) && isnan(f->decode(f->encode(-v))));
        }
    }
    assert_int_equal(e4m3fn_from_f32(464.0f), 0x7e);
    assert_int_equal(e4m3fn_from_f32(464.1f), 0x7f);
    assert_int_equal(e4m3fnuz_from_f32(-0.0f), 0);
    assert_int_equal(e4m3fnuz_from_f32(-1e-9f), 0);
    assert_int_equal(e4m3fn_from_f32(-1e-9f), 0x80);
}

static void the_kind_picks_the_format(void **state) {
    (void)state;
    for (int x = 0; x < 256; x++) {
        const float ocp = f32_from_fp8(CDNAGEN_FP8_E4M3FN, (uint8_t)x),
                    nuz = f32_from_fp8(CDNAGEN_FP8_E4M3FNUZ, (uint8_t)x);
        assert_true(ocp == f32_from_e4m3fn((uint8_t)x) || (isnan(ocp) && (x & 0x7f) == 0x7f));
        assert_true(nuz == f32_from_e4m3fnuz((uint8_t)x) || (isnan(nuz) && x == 0x80));
    }
    assert_int_equal(fp8_from_f32(CDNAGEN_FP8_E4M3FN, 1), 0x38);
    assert_int_equal(fp8_from_f32(CDNAGEN_FP8_E4M3FNUZ, 1), 0x40);
    assert_true(fp8_max(CDNAGEN_FP8_E4M3FN) == 448 && fp8_max(CDNAGEN_FP8_E4M3FNUZ) == 240);
}

/* A coarse walk over all f32: the code is the nearest one, and even on a tie. */
static void nearest_everywhere(void **state) {
    (void)state;
    for (const format_row *f = formats; f < formats + FORMATS; f++) {
        int code = 0;
        for (uint32_t bits = 0; bits < 0x7f800000; bits += 3001) {
            float v;
            memcpy(&v, &bits, sizeof v);
            while (code < f->largest && fabs(v - value_of(f, code + 1)) < fabs(v - value_of(f, code))) code++;
            const int tie = code < f->largest && v - value_of(f, code) == value_of(f, code + 1) - v && code & 1;
            const double past = value_of(f, f->largest) + (value_of(f, f->largest) - value_of(f, f->largest - 1)) / 2;
            const int over = v > past || (v == past && f->largest & 1);
            const int expected = over ? f->overflow : code + tie;
            if (f->encode(v) != expected)
                fail_msg("%s of %a: %02x, not %02x", f->name, (double)v, f->encode(v), expected);
        }
    }
}

static void bf16_round_trips_and_rounds(void **state) {
    (void)state;
    for (uint32_t x = 0; x < 0x10000; x++) {
        const float v = f32_from_bf16((uint16_t)x);
        if (isnan(v)) {
            assert_true(isnan(f32_from_bf16(bf16_from_f32(v))));
            continue;
        }
        assert_int_equal(bf16_from_f32(v), x);
        if (isinf(v)) continue;
        const uint32_t tie = x << 16 | 0x8000;
        const uint32_t cases[3][2] = {{tie - 1, x}, {tie, x + (x & 1)}, {tie + 1, x + 1}};
        for (int i = 0; i < 3; i++) {
            float between;
            memcpy(&between, &cases[i][0], sizeof between);
            assert_int_equal(bf16_from_f32(between), cases[i][1]);
        }
    }
    for (uint32_t bits = 0x7f800001; bits < 0x80000000 - 257; bits += 257) {
        float v;
        memcpy(&v, &bits, sizeof v);
        assert_true(isnan(f32_from_bf16(bf16_from_f32(v))) && isnan(f32_from_bf16(bf16_from_f32(-v))));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_bytes_decode),     cmocka_unit_test(known_values),
        cmocka_unit_test(all_bytes_round_trip), cmocka_unit_test(every_boundary_between_neighbours),
        cmocka_unit_test(special_values),       cmocka_unit_test(the_kind_picks_the_format),
        cmocka_unit_test(nearest_everywhere),   cmocka_unit_test(bf16_round_trips_and_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
