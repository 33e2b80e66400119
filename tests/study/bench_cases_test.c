/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which cases the mqa_logits benchmark runs: its own matrix, and what a CSV file pins. */
#include "tests/core/cmocka_tests.h"

#include <string.h>
#include <unistd.h>

#include "bench/mqa.h"

static mqa_case cases[MQA_CASES_MAX];
static char path[64];

static void the_matrix_has_80_cases_and_960_in_full(void **state) {
    (void)state;
    assert_int_equal(mqa_cases_standard(0, cases), 80);
    assert_string_equal(cases[2].words, "seq=1 seq_kv=1 heads=128 dim=128 clean=0 window=empty batch=1");
    assert_string_equal(cases[13].words, "seq=17 seq_kv=76 heads=64 dim=64 clean=1 window=misaligned batch=1");
    const size_t count = mqa_cases_standard(1, cases);
    assert_int_equal(count, 960);
    for (size_t i = 0; i < count; i++) {
        mqa_shape s;
        assert_int_equal(shape_parse(&mqa_logits_family.shape, cases[i].words, &s), CDNAGEN_OK);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(cases[i].words, cases[k].words);
    }
}

static cdnagen_status read_csv(const char *content, size_t *count) {
    snprintf(path, sizeof path, "/tmp/cdnagen_cases_%ld.csv", (long)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
    const cdnagen_status status = mqa_cases_from_csv(path, cases, count);
    unlink(path);
    return status;
}

static void a_csv_row_pins_its_axes(void **state) {
    (void)state;
    size_t count;
    assert_int_equal(read_csv("seq, seq_kv, num_heads,head_dim,window,batch,clean\r\n"
                              "# a comment\n\n4096,8192,64,128,batch_causal,4,0\r\n",
                              &count),
                     CDNAGEN_OK);
    assert_int_equal(count, 1);
    assert_string_equal(cases[0].words, "seq=4096 seq_kv=8192 heads=64 dim=128 clean=0 window=batch_causal batch=4");
    static const struct {
        const char *text;
        size_t count;
    } rows[] = {{"seq,seq_kv\n61,113\n", 3 * 2 * 2 * 4},
                {"seq,seq_kv\n64,2048\n", 3 * 2 * 2 * 5},
                {"seq,seq_kv,num_heads\n61,113,32\n", 2 * 2 * 4},
                {"seq,seq_kv,num_heads\n61,113,\n", 3 * 2 * 2 * 4},
                {"window,seq,seq_kv\nempty,61,113\ncausal,61,113\n", 2 * 3 * 2 * 2},
                {"head_dim,seq,seq_kv,clean\n512,61,113,1", 3 * 4},
                {"seq,seq_kv\n", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(read_csv(rows[i].text, &count), CDNAGEN_OK);
        if (count != rows[i].count) fail_msg("row %zu: %zu cases, expected %zu", i, count, rows[i].count);
    }
}

static void a_bad_csv_is_named_by_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
    } rows[] = {{"seq,seq_kv,speed\n1,2,3\n", "line 1: \"speed\""},
                {"seq,num_heads\n1,2\n", "seq_kv"},
                {"seq,seq_kv\n1,2\nx,2\n", "line 3: \"x\""},
                {"seq,seq_kv,window\n1,2,round\n", "line 2: \"round\""},
                {"seq,seq_kv\n1\n", "a cell is missing"},
                {"seq,seq_kv\n1,2,3\n", "more cells"},
                {"seq,seq_kv\n1,2\n,2\n", "line 3: a row pins seq"},
                {"seq,seq_kv\n1,\n", "line 2: a row pins seq"},
                {"seq,seq_kv,window\n64,128,cp\n61,113,cp\n", "line 3: mqa_logits: window=cp"},
                {"seq,seq_kv\n1,99999999999999999999\n", "line 2: \"99999999999999999999\": a number"}};
    size_t count;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(read_csv(rows[i].text, &count), CDNAGEN_BAD_SHAPE);
        if (!strstr(cdnagen_error(), rows[i].part)) fail_msg("row %zu: %s", i, cdnagen_error());
    }
    /* A row leaves 3 * 2 * 2 * 5 cases open: the 69th is one too many. */
    char many[1024] = "seq,seq_kv\n";
    for (int i = 0; i < 69; i++) snprintf(many + strlen(many), sizeof many - strlen(many), "64,2048\n");
    assert_int_equal(read_csv(many, &count), CDNAGEN_BAD_SHAPE);
    assert_non_null(strstr(cdnagen_error(), "line 70: there are more than 4096 cases"));
    assert_int_equal(mqa_cases_from_csv("/no/such/file.csv", cases, &count), CDNAGEN_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_matrix_has_80_cases_and_960_in_full),
        cmocka_unit_test(a_csv_row_pins_its_axes),
        cmocka_unit_test(a_bad_csv_is_named_by_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
