/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The windows of runs and tests, against values worked by hand. */
#include "tests/gen/mqa_testing.h"

static void rows_by_hand(void **state) {
    (void)state;
    static const struct {
        const char *shape;
        int64_t row;
        int32_t start, end;
    } rows[] = {
        {"seq=128 seq_kv=1024 window=causal", 0, 0, 896},
        {"seq=128 seq_kv=1024 window=causal", 127, 0, 1023},
        {"seq=4 seq_kv=4 window=causal", 0, 0, 0}, /* the first row of a square is empty */
        {"seq=4 seq_kv=2 window=causal", 0, 0, -2},
        {"seq=4 seq_kv=2 window=causal", 3, 0, 1},
        /* Four ranks, this is rank 1: chunk 1 of 8 and its mirror, chunk 6. */
        {"seq=4 seq_kv=16 window=cp", 0, 0, 2},
        {"seq=4 seq_kv=16 window=cp", 1, 0, 3},
        {"seq=4 seq_kv=16 window=cp", 2, 0, 12},
        {"seq=4 seq_kv=16 window=cp", 3, 0, 13},
        {"seq=128 seq_kv=128 window=cp", 64, 0, 64}, /* one rank: chunk 0 and chunk 1 */
        {"seq=61 seq_kv=1024 window=misaligned", 0, 100, 441},
        {"seq=61 seq_kv=1024 window=misaligned", 10, 118, 459},
        {"seq=61 seq_kv=1560 window=misaligned", 12, 736, 1256},
        {"seq=4 seq_kv=1 window=misaligned", 3, 0, 1},
        {"seq=16 seq_kv=1024 window=empty", 0, 0, -1},
        {"seq=16 seq_kv=1024 window=empty", 1, 100, 0},
        {"seq=16 seq_kv=1024 window=empty", 2, 0, 3},
        {"seq=16 seq_kv=1024 window=empty", 6, 0, -7},
        {"seq=16 seq_kv=1024 window=empty", 9, 0, -3},
        {"seq=16 seq_kv=50 window=empty", 4, 50, 0},
        {"seq=100 seq_kv=50 window=past_end", 0, 67, 114},
        {"seq=100 seq_kv=50 window=past_end", 1, 0, 2},
        {"seq=100 seq_kv=50 window=past_end", 99, 0, 50},
        {"seq=8 seq_kv=16 window=batch_causal batch=2", 0, 0, 5},
        {"seq=8 seq_kv=16 window=batch_causal batch=2", 3, 0, 8},
        {"seq=8 seq_kv=16 window=batch_causal batch=2", 4, 8, 13},
        {"seq=8 seq_kv=16 window=batch_causal batch=2", 7, 8, 16},
        {"seq=8 seq_kv=16 window=batch_causal batch=1", 7, 0, 16},
        {"seq=7 seq_kv=17 window=batch_causal batch=2", 4, 8, 13}, /* the last sequence is short */
        {"seq=5 seq_kv=100 window=unsorted", 0, 92, 25},
        {"seq=5 seq_kv=100 window=unsorted", 1, -6, 137},
        {"seq=5 seq_kv=100 window=unsorted", 4, 154, 110},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char words[120];
        snprintf(words, sizeof words, "heads=64 dim=128 %s", rows[i].shape);
        const mqa_shape s = shape_of(words);
        int32_t start = -99, end = -99;
        assert_int_equal(mqa_window_check(&s), CDNAGEN_OK);
        mqa_window_row(&s, rows[i].row, &start, &end);
        if (start != rows[i].start || end != rows[i].end)
            fail_msg("%s row %d: [%d, %d), expected [%d, %d)", words, (int)rows[i].row, start, end, rows[i].start,
                     rows[i].end);
    }
}

static void cp_needs_lengths_that_divide(void **state) {
    (void)state;
    static const char *const rows[] = {"seq=3 seq_kv=9 heads=64 dim=128 window=cp",
                                       "seq=4 seq_kv=10 heads=64 dim=128 window=cp"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mqa_shape s = shape_of(rows[i]);
        expect_error(rows[i], mqa_window_check(&s), CDNAGEN_BAD_SHAPE,
                     (const char *const[]){"window=cp", "even seq", "divides", NULL});
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_by_hand),
        cmocka_unit_test(cp_needs_lengths_that_divide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
