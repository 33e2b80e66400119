/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every vector row gives the same bits in each copy of the lane loops that this host can run, and leaves masked
 * lanes. */
#include "sim/lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 2 * LANES, ROUNDS = 64, UNTOUCHED = 0x5a5a5a5a };

static uint32_t seed = 7;
static uint32_t random_word(void) { return seed = seed * 1664525u + 1013904223u, seed >> 7 ^ seed << 25; }

/* Random bits, and values at which arithmetic turns. */
static uint32_t interesting_word(void) {
    static const uint32_t special[] = {0,          0x80000000, 1,          0xffffffff, 0x7f800000, 0xff800000,
                                       0x7fc00000, 0x00000001, 0x007fffff, 0x3f800000, 0xbf800000, 0x7f7fffff,
                                       0x7c007bff, 0x00010400, 0x4f000000, 0x7ff00000};
    const uint32_t x = random_word();
    return x % 3 ? random_word() : special[x / 3 % 16];
}

typedef struct result {
    uint32_t d[WORDS];
    uint64_t carry;
} result;

static result run(lanes_effect *effect, const uint32_t source[3][WORDS], const uint32_t mask[LANES], uint64_t carry) {
    result r;
    for (int i = 0; i < WORDS; i++) r.d[i] = UNTOUCHED;
    lanes x = {.d = r.d,
               .a = source[0],
               .b = source[1],
               .c = source[2],
               .mask = mask,
               .carry_in = carry,
               .chip = chip_find("gfx950", 6),
               .imm = 0x6c};
    effect(&x);
    r.carry = x.carry_out;
    return r;
}

/* The payload of a NaN that an operation makes is the host's choice. */
static int same_word(value_type type, uint32_t a, uint32_t b) {
    const int nan_a = (a & 0x7fffffff) > 0x7f800000, nan_b = (b & 0x7fffffff) > 0x7f800000;
    const int half_a = (a & 0x7fff) > 0x7c00, half_b = (b & 0x7fff) > 0x7c00;
    if (a == b) return 1;
    if (type == T_f32 || type == T_pf32) return nan_a && nan_b;
    if (type == T_f16 || type == T_hf16) return half_a && half_b;
    return 0;
}
static int same(value_type type, const result *x, const result *y) {
    if (x->carry != y->carry) return 0;
    for (int i = 0; i < LANES; i++) {
        const uint64_t a = x->d[i] | (uint64_t)x->d[i + LANES] << 32, b = y->d[i] | (uint64_t)y->d[i + LANES] << 32;
        if (type == T_f64 && (a & INT64_MAX) > 0x7ff0000000000000 && (b & INT64_MAX) > 0x7ff0000000000000) continue;
        if (type == T_pf16) {
            if (same_word(T_f16, x->d[i] & 0xffff, y->d[i] & 0xffff) && same_word(T_f16, x->d[i] >> 16, y->d[i] >> 16))
                continue;
            return 0;
        }
        if (!same_word(type, x->d[i], y->d[i]) || !same_word(type, x->d[i + LANES], y->d[i + LANES])) return 0;
    }
    return 1;
}

static void copies_agree_on_every_row(void **state) {
    (void)state;
    static uint32_t source[3][WORDS], mask[LANES];
    const lanes_effects *best = lanes_for_host();
    const lanes_effects *copies[] = {&lanes_avx2, best};
    const size_t count = best == &lanes_baseline ? 0 : 2;
    int rows = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 3 * WORDS; i++) source[i / WORDS][i % WORDS] = interesting_word();
        for (int i = 0; i < LANES; i++) mask[i] = random_word() & 1 ? UINT32_MAX : 0;
        const uint64_t carry = random_word() | (uint64_t)random_word() << 32;
        for (int i = 0; i < isa_count(); i++) {
            const isa_row *row = isa_at(i);
            if (row->format != F_VECTOR && row->format != F_COMPARE) continue;
            const int compare = row->format == F_COMPARE;
            const result plain =
                run((compare ? lanes_baseline.compare : lanes_baseline.vector)[row->effect], source, mask, carry);
            for (int l = 0; l < LANES; l++)
                if (!mask[l]) assert_int_equal(plain.d[l], UNTOUCHED);
            for (size_t c = 0; c < count; c++) {
                const result fast =
                    run((compare ? copies[c]->compare : copies[c]->vector)[row->effect], source, mask, carry);
                if (!same(compare ? T_mask : row->type[0], &plain, &fast))
                    fail_msg("%s differs between copies", row->name);
            }
            rows++;
        }
    }
    assert_true(rows > ROUNDS * 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies_agree_on_every_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
