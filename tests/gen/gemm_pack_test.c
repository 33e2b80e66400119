/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Preshuffled B against the permutation that defines it, in both directions and through the public function. */
#include <stdlib.h>

#include "tests/gen/gemm_testing.h"

static const int64_t rows_of[] = {16, 32, 48, 144}, columns_of[] = {32, 64, 96, 160, 288};

/* permuted: [n/16, 16, k/32, 2, 16] with its second axis moved before the last one. */
static int64_t permuted(int64_t n, int64_t k, int64_t columns) {
    const int64_t block = n / 16, row = n % 16, pair = k / 32, half = k % 32 / 16, at = k % 16;
    return (((block * (columns / 32) + pair) * 2 + half) * 16 + row) * 16 + at;
}

static void every_offset_is_the_permutations(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows_of); i++)
        for (size_t j = 0; j < COUNT(columns_of); j++)
            for (int64_t n = 0; n < rows_of[i]; n++)
                for (int64_t k = 0; k < columns_of[j]; k++)
                    assert_int_equal(gemm_pack_offset(n, k, columns_of[j]), permuted(n, k, columns_of[j]));
}

/* A wave's load of 64 elements of K of 16 rows is 1 KiB in a row, 16 bytes a lane. */
static void a_waves_load_is_contiguous(void **state) {
    (void)state;
    enum { K = 256 };
    for (int64_t block = 0; block < 3; block++)
        for (int64_t unit = 0; unit < K / 64; unit++)
            for (int64_t lane = 0; lane < LANES; lane++)
                assert_int_equal(gemm_pack_offset(block * 16 + lane % 16, unit * 64 + lane / 16 * 16, K),
                                 block * 16 * K + unit * 1024 + 16 * lane);
}

static uint8_t byte_at(int64_t n, int64_t k) { return (uint8_t)(n * 37 + k * 11 + k / 7); }

static void packing_moves_every_byte_and_unpacking_brings_it_back(void **state) {
    (void)state;
    enum { PAD = 5, GUARD = 64 };
    for (size_t i = 0; i < COUNT(rows_of); i++)
        for (size_t j = 0; j < COUNT(columns_of); j++) {
            const int64_t n = rows_of[i], k = columns_of[j], stride = k + PAD;
            const size_t row_bytes = (size_t)(n * stride), packed_bytes = (size_t)(n * k);
            uint8_t *const rows = malloc(row_bytes), *const packed = malloc(packed_bytes + GUARD),
                           *const again = malloc(row_bytes);
            assert_true(rows && packed && again);
            for (int64_t at = 0; at < n * stride; at++) rows[at] = byte_at(at / stride, at % stride);
            memset(packed, 0xee, packed_bytes + GUARD);
            memset(again, 0xee, row_bytes);
            assert_int_equal(cdnagen_pack_b(rows, stride, n, k, packed), CDNAGEN_OK);
            for (int64_t row = 0; row < n; row++)
                for (int64_t column = 0; column < k; column++)
                    assert_int_equal(packed[permuted(row, column, k)], byte_at(row, column));
            for (size_t at = packed_bytes; at < packed_bytes + GUARD; at++) assert_int_equal(packed[at], 0xee);
            gemm_unpack(packed, n, k, again, stride);
            for (int64_t at = 0; at < n * stride; at++) assert_int_equal(again[at], at % stride < k ? rows[at] : 0xee);
            free(rows);
            free(packed);
            free(again);
        }
}

static void what_cannot_be_packed_is_refused(void **state) {
    (void)state;
    uint8_t in[16 * 32], out[16 * 32];
    const struct {
        const char *what;
        const void *rows;
        int64_t stride, n, k;
        void *packed;
        const char *says;
    } bad[] = {
        {"n", in, 0, 15, 32, out, "n 15 must be a multiple of 16"},
        {"negative n", in, 0, -16, 32, out, "n -16"},
        {"k", in, 0, 16, 48, out, "k 48 must be a multiple of 32"},
        {"stride", in, 31, 16, 32, out, "stride 31"},
        {"rows", NULL, 0, 16, 32, out, "rows is NULL"},
        {"packed", in, 0, 16, 32, NULL, "packed is NULL"},
        {"in place", in, 0, 16, 32, in, "not work in place"},
    };
    for (size_t i = 0; i < COUNT(bad); i++)
        expect_error(bad[i].what, cdnagen_pack_b(bad[i].rows, bad[i].stride, bad[i].n, bad[i].k, bad[i].packed),
                     CDNAGEN_BAD_ARGUMENT, (const char *const[]){bad[i].says, NULL});
    assert_int_equal(cdnagen_pack_b(NULL, 0, 0, 32, NULL), CDNAGEN_OK);
    assert_int_equal(cdnagen_pack_b(NULL, 0, 16, 0, NULL), CDNAGEN_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_offset_is_the_permutations),
        cmocka_unit_test(a_waves_load_is_contiguous),
        cmocka_unit_test(packing_moves_every_byte_and_unpacking_brings_it_back),
        cmocka_unit_test(what_cannot_be_packed_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
