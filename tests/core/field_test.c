/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* core/field.c over a small grammar that has every kind of field. */
#include "tests/core/cmocka_tests.h"

#include <stdio.h>
#include <string.h>

#include "tests/core/example_table.h"

enum { KERNEL = 1u << FIELD_KERNEL, HOST = 1u << FIELD_HOST, ALL = 7 };

static void expect_error_says(const char *input, const char *const *says, int count) {
    for (int i = 0; i < count && says[i]; i++)
        if (!strstr(cdnagen_error(), says[i]))
            fail_msg("for '%s': \"%s\" does not say \"%s\"", input, cdnagen_error(), says[i]);
}

typedef struct good {
    const char *input, *all, *kernel;
} good;

static const good good_tags[] = {
    {"mfma32x32x64_bkv64", "mfma32x32x64_bkv64_r1", NULL},
    {"mfma16x16x128_bkv1024_r8", "mfma16x16x128_bkv1024_r8", NULL},
    {"mfma32x32x64_bkv16_lds2_pd2_swp_rs", "mfma32x32x64_bkv16_r1_lds2_swp_rs", NULL},
    {"mfma32x32x64_bkv16_lds8_pd1_hfma2", "mfma32x32x64_bkv16_r1_lds8_pd1_hfma2", NULL},
    {"wide", "mfma32x32x64_bkv64_r1", NULL},
    {"wide_r2_two_rs", "mfma32x32x64_bkv64_r2_lds2_pd1_rs", NULL},
    {"mfma32x32x64_bkv64_rs_hfma_ns4", "mfma32x32x64_bkv64_r1_rs_hfma_ns4", "mfma32x32x64_bkv64_r1_rs_hfma"},
};

static void tags_parse_to_canonical_text(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(good_tags); i++) {
        const good *g = &good_tags[i];
        example_variant v, again;
        text all = {0}, kernel = {0};
        assert_int_equal(tag_parse(&example_tag, g->input, &v), CDNAGEN_OK);
        assert_int_equal(fields_check(&example_tag, &v), CDNAGEN_OK);
        tag_print(&example_tag, &v, ALL, &all);
        tag_print(&example_tag, &v, KERNEL, &kernel);
        assert_string_equal(all.data, g->all);
        assert_string_equal(kernel.data, g->kernel ? g->kernel : g->all);
        assert_int_equal(tag_parse(&example_tag, all.data, &again), CDNAGEN_OK);
        assert_memory_equal(&again, &v, sizeof v);
        text_free(&all);
        text_free(&kernel);
    }
}

static void tag_fields_land_in_the_struct(void **state) {
    (void)state;
    example_variant v;
    assert_int_equal(tag_parse(&example_tag, "mfma16x16x128_bkv96_r3_lds4_pd3_swp_hfma2_ns7", &v), CDNAGEN_OK);
    const example_variant expected = {TRIPLE(16, 16, 128), 96, 3, 4, 3, 1, 0, 2, 7};
    assert_memory_equal(&v, &expected, sizeof v);
    assert_int_equal(TRIPLE_M(v.atom), 16);
    assert_int_equal(TRIPLE_N(v.atom), 16);
    assert_int_equal(TRIPLE_K(v.atom), 128);
    assert_int_equal(tag_parse(&example_tag, "mfma32x32x64_bkv16", &v), CDNAGEN_OK);
    const example_variant standards = {TRIPLE(32, 32, 64), 16, 1, 0, 2, 0, 0, 0, 0};
    assert_memory_equal(&v, &standards, sizeof v);
}

typedef struct bad {
    const char *input, *says[4];
} bad;

#define M "mfma32x32x64"
static const bad bad_tags[] = {
    {"", {"example tag ''", "character 1: it is empty", "legal here: mfma<16x16x128|32x32x64>"}},
    {"_", {"character 1: a field is missing"}},
    {M "_bkvX", {"tag '" M "_bkvX' character 17: 'X' is not a number: bkv takes 16..1024"}},
    {M "_bkv", {"character 17: bkv has no number: it takes 16..1024"}},
    {M "_bkv64x", {"character 19: 'x' is not a number"}},
    {M "_bkv0x40", {"character 18: 'x40' is not a number"}},
    {M "_bkv+64", {"character 17: '+64' is not a number"}},
    {M "_bkv-64", {"character 17: '-64' is not a number"}},
    {M "_bkv 64", {"character 17: ' 64' is not a number"}},
    {M "_bkv64 ", {"character 19: ' ' is not a number"}},
    {M "_bkv064", {"'064' starts with 0"}},
    {M "_bkv8", {"character 17: 8 is too small: bkv takes 16..1024"}},
    {M "_bkv1025", {"character 17: 1025 is too large: bkv takes 16..1024"}},
    {M "_bkv18446744073709551680", {"18446744073709551680 is too large"}}, /* 2^64 + 64 */
    {M "_bkv99999999999999999999999999999999999999999999999999", {"is too large"}},
    {"mfma_bkv64", {"character 5: mfma has no value: it takes 16x16x128|32x32x64"}},
    {"mfma32x32_bkv64", {"character 5: '32x32' is not one of the values of mfma: it takes 16x16x128|32x32x64"}},
    {"mfma32x32x640_bkv64", {"'32x32x640' is not one of the values"}},
    {M, {"character 13: it ends without bkv, which is required", "legal here: bkv<16..1024>"}},
    {M "_", {"character 14: a field is missing"}},
    {M "_bkv64_",
     {"character 20: a field is missing beside '_'", "legal here: r<1..8>, lds<2..8>, rs, h<fma|fma2>, ns<1..64>"}},
    {M "__bkv64", {"character 14: a field is missing beside '_'", "legal here: bkv<16..1024>"}},
    {"_" M, {"character 1: a field is missing"}},
    {"bkv64_" M, {"character 1: 'bkv64' comes before mfma, which is required"}},
    {M "_r1_bkv64", {"character 14: 'r1' comes before bkv, which is required"}},
    {M "_bkv64_bkv32", {"character 20: 'bkv32' gives bkv again, after 'bkv64'"}},
    {M "_bkv64_rs_rs", {"character 23: 'rs' gives rs again"}},
    {M "_bkv64_lds2_r1", {"character 25: 'r1' is out of order: it belongs before 'lds2'"}},
    {M "_bkv64_swp", {"character 20: 'swp' needs lds, which is not given: add lds<2..8>"}},
    {M "_bkv64_pd2", {"character 20: 'pd2' needs lds"}},
    {M "_bkv64_rs2", {"character 22: '2' is too much: rs stands alone"}},
    {M "_bkv64_hadd", {"character 20: 'hadd' is not a field", "h<fma|fma2>"}},
    {M "_bkv64_h", {"character 21: h has no value: it takes fma|fma2"}},
    {M "_bkv64_ns1_", {"character 24: a field is missing", "nothing may follow"}},
    {M "_bkv64_foo", {"character 20: 'foo' is not a field", "legal here: r<1..8>"}},
    {"wide_bkv64", {"tag 'wide_bkv64' character 6: 'bkv64' gives bkv again, after 'wide': give it once"}},
    {M "_bkv64_wide", {"character 20: 'wide' gives mfma again, after '" M "'"}},
    {M "_wide", {"character 14: 'wide' gives mfma again"}},
    {"wide_rs_two", {"character 9: 'two' is out of order: it belongs before 'rs'"}},
    {"two", {"character 1: 'two' comes before mfma, which is required"}},
    {"wider", {"character 1: 'wider' is not a field"}},
    {M "_BKV64", {"'BKV64' is not a field"}},
    {M "_bkv64_\xff\x01", {"is not a field"}},
};
#undef M

static void bad_tags_are_explained_and_change_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(bad_tags); i++) {
        example_variant v, before;
        memset(&v, 0x5a, sizeof v);
        memset(&before, 0x5a, sizeof before);
        if (tag_parse(&example_tag, bad_tags[i].input, &v) != CDNAGEN_BAD_TAG)
            fail_msg("'%s' was not refused as a bad tag", bad_tags[i].input);
        assert_memory_equal(&v, &before, sizeof v);
        expect_error_says(bad_tags[i].input, bad_tags[i].says, 4);
    }
    example_variant v;
    assert_int_equal(tag_parse(&example_tag, NULL, &v), CDNAGEN_BAD_ARGUMENT);
}

static void long_tag_is_quoted_round_the_place(void **state) {
    (void)state;
    char tag[4000] = "mfma32x32x64_bkv64_";
    memset(tag + 19, 'z', 3000);
    example_variant v;
    assert_int_equal(tag_parse(&example_tag, tag, &v), CDNAGEN_BAD_TAG);
    assert_non_null(strstr(cdnagen_error(), "'mfma32x32x64_bkv64_zzz"));
    assert_non_null(strstr(cdnagen_error(), "zzz...' character 20:"));
    memset(tag, 'z', 3000);
    strcpy(tag, "mfma32x32x64_bkv64");
    for (int i = 0; i < 300; i++) strcat(tag, "_rs");
    assert_int_equal(tag_parse(&example_tag, tag, &v), CDNAGEN_BAD_TAG);
    assert_true(strlen(cdnagen_error()) < 600);
}

static const good good_shapes[] = {
    {"heads=64", "heads=64 clean=1", NULL},
    {"  heads=64\t clean=0  ", "heads=64 clean=0", NULL},
    {"kind=empty batch=3 heads=1 seq=0", "seq=0 heads=1 clean=1 kind=empty batch=3", "heads=1 clean=1"},
    {"seq=2147483648 heads=256 kind=causal", "seq=2147483648 heads=256 clean=1", "heads=256 clean=1"},
};

static void shapes_parse_to_canonical_text(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(good_shapes); i++) {
        const good *g = &good_shapes[i];
        example_shape s, again;
        text all = {0}, kernel = {0};
        assert_int_equal(shape_parse(&example_shape_table, g->input, &s), CDNAGEN_OK);
        assert_int_equal(fields_check(&example_shape_table, &s), CDNAGEN_OK);
        shape_print(&example_shape_table, &s, ALL, &all);
        shape_print(&example_shape_table, &s, KERNEL, &kernel);
        assert_string_equal(all.data, g->all);
        assert_string_equal(kernel.data, g->kernel ? g->kernel : g->all);
        assert_int_equal(shape_parse(&example_shape_table, all.data, &again), CDNAGEN_OK);
        assert_memory_equal(&again, &s, sizeof s);
        text_free(&all);
        text_free(&kernel);
    }
}

static void run_time_word_left_out_is_minus_one(void **state) {
    (void)state;
    example_shape s;
    assert_int_equal(shape_parse(&example_shape_table, "heads=2", &s), CDNAGEN_OK);
    assert_int_equal(s.seq, -1);
    assert_int_equal(s.clean, 1);
}

static const bad bad_shapes[] = {
    {"",
     {"example shape ''", "character 1: heads is missing and required",
      "known keys: seq=<0..2147483648> (query rows)"}},
    {"seq=1", {"character 6: heads is missing and required", "heads=<1..256> (query heads; required)"}},
    {"haeds=64",
     {"character 1: unknown key 'haeds', did you mean 'heads'?", "known keys: ", "kind=<causal|empty> (windows)"}},
    {"heads=64 head=2", {"character 10: unknown key 'head', did you mean 'heads'?"}},
    {"heads=64 colour=2", {"character 10: unknown key 'colour'; known keys"}},
    {"heads", {"character 1: 'heads' has no value: write heads=<1..256> without blanks"}},
    {"heads =64", {"character 1: 'heads' has no value"}},
    {"heads= 64", {"character 7: heads has no number: it takes 1..256"}},
    {"heads=", {"character 7: heads has no number"}},
    {"=64", {"character 1: unknown key ''"}},
    {"heads==64", {"character 7: '=64' is not a number"}},
    {"heads=0x10", {"character 8: 'x10' is not a number"}},
    {"heads=-1", {"character 7: '-1' is not a number: heads takes 1..256"}},
    {"heads=0", {"character 7: 0 is too small: heads takes 1..256"}},
    {"heads=257", {"character 7: 257 is too large"}},
    {"heads=64,seq=1", {"character 9: ',seq=1' is not a number"}},
    {"heads=64 heads=64", {"character 10: 'heads=64' gives heads again, after 'heads=64'"}},
    {"heads=64 seq=-1", {"character 14: '-1' is not a number: seq takes 0..2147483648"}},
    {"heads=64 clean=2", {"character 16: 2 is too large: clean takes 0..1"}},
    {"heads=64 kind=cusal", {"character 15: 'cusal' is not one of the values of kind: it takes causal|empty"}},
    {"heads=64 kind=", {"character 15: kind has no value: it takes causal|empty"}},
    {"heads=64 batch=2", {"character 10: 'batch=2' needs kind, which is not given: add kind=<causal|empty>"}},
    {"heads=64\nseq=1", {"is not a number"}},
};

static void bad_shapes_are_explained_and_change_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(bad_shapes); i++) {
        example_shape s, before;
        memset(&s, 0x5a, sizeof s);
        memset(&before, 0x5a, sizeof before);
        if (shape_parse(&example_shape_table, bad_shapes[i].input, &s) != CDNAGEN_BAD_SHAPE)
            fail_msg("'%s' was not refused as a bad shape", bad_shapes[i].input);
        assert_memory_equal(&s, &before, sizeof s);
        expect_error_says(bad_shapes[i].input, bad_shapes[i].says, 4);
    }
    example_shape s;
    assert_int_equal(shape_parse(&example_shape_table, NULL, &s), CDNAGEN_BAD_ARGUMENT);
}

/* ---- lists ---- */

typedef struct list_shape {
    int64_t rows, count;
    int32_t numbers[FIELD_LIST_MAX];
} list_shape;
static const field list_fields[] = {
    {.name = "rows", .kind = FIELD_NUMBER, .offset = offsetof(list_shape, rows), .max = 9, .help = "rows"},
    {.name = "parts",
     .kind = FIELD_LIST,
     .print = PRINT_NOT_DEFAULT,
     .offset = offsetof(list_shape, count),
     .min = 0,
     .max = 1000,
     .help = "parts"},
};
static const field_table list_table = {.operator_name = "example",
                                       .what = "shape",
                                       .fields = list_fields,
                                       .count = COUNT(list_fields),
                                       .struct_bytes = sizeof(list_shape)};

static void lists_parse_and_print(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"", "rows=0"}, {"parts=7", "rows=0 parts=7"}, {"parts=3,0,1000,5 rows=2", "rows=2 parts=3,0,1000,5"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        list_shape s, again;
        text words = {0};
        assert_int_equal(shape_parse(&list_table, rows[i][0], &s), CDNAGEN_OK);
        assert_int_equal(fields_check(&list_table, &s), CDNAGEN_OK);
        shape_print(&list_table, &s, ALL, &words);
        assert_string_equal(words.data, rows[i][1]);
        assert_int_equal(shape_parse(&list_table, words.data, &again), CDNAGEN_OK);
        assert_memory_equal(&again, &s, sizeof s);
        text_free(&words);
    }
    list_shape s;
    assert_int_equal(shape_parse(&list_table, "parts=3,0,1000", &s), CDNAGEN_OK);
    assert_true(s.count == 3 && s.numbers[0] == 3 && s.numbers[1] == 0 && s.numbers[2] == 1000 && s.numbers[3] == 0);
    text help = {0};
    fields_help(&list_table, &help);
    assert_non_null(strstr(help.data, "parts=<0..1000,...>"));
    assert_non_null(strstr(help.data, "optional"));
    text_free(&help);
}

static void bad_lists_are_explained(void **state) {
    (void)state;
    static const bad rows[] = {
        {"parts=", {"character 7: parts has no number: it takes 0..1000,..."}},
        {"parts=3,", {"character 9: parts has no number"}},
        {"parts=3,,4", {"character 9: parts has no number"}},
        {"parts=3,x", {"character 9: 'x' is not a number"}},
        {"parts=3,1001", {"character 9: 1001 is too large"}},
        {"parts=3,04", {"character 9: '04' starts with 0"}},
        {"parts=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2",
         {"character 71: parts has more than 32 numbers"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        list_shape s;
        assert_int_equal(shape_parse(&list_table, rows[i].input, &s), CDNAGEN_BAD_SHAPE);
        expect_error_says(rows[i].input, rows[i].says, 4);
    }
    list_shape s = {.count = FIELD_LIST_MAX + 1};
    assert_int_equal(fields_check(&list_table, &s), CDNAGEN_BAD_SHAPE);
    s = (list_shape){.count = 2, .numbers = {1, 1001}};
    assert_int_equal(fields_check(&list_table, &s), CDNAGEN_BAD_SHAPE);
    s.numbers[1] = 1000;
    assert_int_equal(fields_check(&list_table, &s), CDNAGEN_OK);
}

/* Every combination of a few values a field: what passes the check prints, parses back and is the same. */
static void print_and_parse_are_inverse(void **state) {
    (void)state;
    static const int64_t choices[9][3] = {{TRIPLE(16, 16, 128), TRIPLE(32, 32, 64), TRIPLE(32, 32, 64)},
                                          {16, 100, 1024},
                                          {1, 2, 8},
                                          {0, 2, 8},
                                          {1, 2, 8},
                                          {0, 1, 1},
                                          {0, 1, 1},
                                          {0, 1, 2},
                                          {0, 1, 64}};
    int legal = 0, needs_missing = 0;
    for (int n = 0; n < 19683; n++) {
        int64_t values[9];
        for (int i = 0, rest = n; i < 9; i++, rest /= 3) values[i] = choices[i][rest % 3];
        example_variant v, back;
        memcpy(&v, values, sizeof v);
        if (fields_check(&example_tag, &v)) {
            assert_true(!v.slots && (v.pipeline || v.depth != 2));
            needs_missing++;
            continue;
        }
        text words = {0};
        tag_print(&example_tag, &v, ALL, &words);
        assert_int_equal(tag_parse(&example_tag, words.data, &back), CDNAGEN_OK);
        assert_memory_equal(&back, &v, sizeof v);
        text_free(&words);
        legal++;
    }
    assert_true(legal > 10000 && needs_missing > 1000);
}

static const struct hand_filled {
    size_t offset;
    int64_t value;
    const char *says;
} hand_filled[] = {
    {offsetof(example_variant, atom), TRIPLE(32, 32, 16), "mfma of 32x32x16 is not legal: it takes 16x16x128|32x32x64"},
    {offsetof(example_variant, atom), 0, "mfma of 0x0x0 is not legal"},
    {offsetof(example_variant, tile), 0, "bkv of 0 is not legal: it takes 16..1024"},
    {offsetof(example_variant, tile), INT64_MIN, "bkv of -9223372036854775808"},
    {offsetof(example_variant, rows), 9, "r of 9"},
    {offsetof(example_variant, slots), 1, "lds of 1"},
    {offsetof(example_variant, reduce), 2, "rs of 2 is not legal: it takes 0..1"},
    {offsetof(example_variant, sum), 3, "h of 3 is not legal: it takes fma|fma2"},
    {offsetof(example_variant, sum), -1, "h of -1"},
    {offsetof(example_variant, pipeline), 1, "swp needs lds, which is not given"},
    {offsetof(example_variant, depth), 3, "pd needs lds"},
};

static void structs_filled_by_hand_are_checked(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(hand_filled); i++) {
        example_variant v = {TRIPLE(32, 32, 64), 64, 1, 0, 2, 0, 0, 0, 0};
        assert_int_equal(fields_check(&example_tag, &v), CDNAGEN_OK);
        memcpy((char *)&v + hand_filled[i].offset, &hand_filled[i].value, sizeof(int64_t));
        assert_int_equal(fields_check(&example_tag, &v), CDNAGEN_BAD_TAG);
        expect_error_says("struct", &hand_filled[i].says, 1);
    }
    const example_shape s = {-1, 0, 1, 0, 1};
    assert_int_equal(fields_check(&example_shape_table, &s), CDNAGEN_BAD_SHAPE);
}

static void help_has_a_line_a_field_and_alias(void **state) {
    (void)state;
    text help = {0};
    fields_help(&example_tag, &help);
    size_t lines = 0;
    for (const char *c = help.data; *c; c++) lines += *c == '\n';
    assert_int_equal(lines, example_tag.count + COUNT(example_aliases) - 1);
    assert_non_null(strstr(help.data, "the same as mfma32x32x64_bkv64\n"));
    assert_non_null(strstr(help.data, "mfma<16x16x128|32x32x64>"));
    assert_non_null(strstr(help.data, "default 2"));
    assert_non_null(strstr(help.data, "required"));
    assert_non_null(strstr(help.data, "; needs lds"));
    assert_non_null(strstr(help.data, "host"));
    text_free(&help);
}

static void printing_survives_failing_allocations(void **state) {
    (void)state;
    const long before = mem_live();
    const example_variant v = {TRIPLE(32, 32, 64), 64, 1, 2, 2, 1, 1, 2, 4};
    int failures = 0;
    for (long k = 1; k < 20; k++) {
        text help = {0}, tag = {0};
        mem_fail_at(k);
        fields_help(&example_tag, &help);
        tag_print(&example_tag, &v, ALL, &tag);
        mem_fail_at(0);
        failures += help.failed + tag.failed;
        text_free(&help);
        text_free(&tag);
    }
    assert_true(failures >= 2);
    assert_int_equal(mem_live(), before);
}

static void the_longest_name_wins(void **state) {
    (void)state;
    static const char *const words[] = {"", "lit", NULL};
    static const field fields[] = {
        {.name = "sp", .kind = FIELD_WORD, .offset = 0, .words = words, .help = ""},
        {.name = "split", .kind = FIELD_FLAG, .offset = 8, .help = ""},
        {.name = "splits", .kind = FIELD_NUMBER, .offset = 16, .min = 1, .max = 9, .help = ""},
    };
    const field_table table = {
        .operator_name = "example", .what = "tag", .fields = fields, .count = 3, .struct_bytes = 3 * sizeof(int64_t)};
    int64_t v[3];
    assert_int_equal(tag_parse(&table, "split", v), CDNAGEN_OK);
    assert_true(!v[0] && v[1] && !v[2]);
    assert_int_equal(tag_parse(&table, "splitsX", v), CDNAGEN_BAD_TAG);
    assert_non_null(strstr(cdnagen_error(), "character 7: 'X' is not a number: splits takes 1..9"));
}

static void members_without_a_field_are_zeroed(void **state) {
    (void)state;
    int64_t v[COUNT(example_tag_fields) + 2];
    memset(v, 0x5a, sizeof v);
    field_table table = example_tag;
    table.struct_bytes = sizeof v;
    assert_int_equal(tag_parse(&table, "mfma32x32x64_bkv64", v), CDNAGEN_OK);
    assert_true(!v[COUNT(example_tag_fields)] && !v[COUNT(example_tag_fields) + 1]);
}

static void parsing_allocates_nothing(void **state) {
    (void)state;
    example_variant v;
    example_shape s;
    mem_fail_at(1);
    tag_parse(&example_tag, "mfma32x32x64_bkv64", &v);
    tag_parse(&example_tag, "mfma32x32x64_bkv64_foo", &v);
    shape_parse(&example_shape_table, "heads=64", &s);
    shape_parse(&example_shape_table, "haeds=64", &s);
    assert_null(mem_alloc(1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_parse_to_canonical_text),
        cmocka_unit_test(tag_fields_land_in_the_struct),
        cmocka_unit_test(bad_tags_are_explained_and_change_nothing),
        cmocka_unit_test(long_tag_is_quoted_round_the_place),
        cmocka_unit_test(shapes_parse_to_canonical_text),
        cmocka_unit_test(run_time_word_left_out_is_minus_one),
        cmocka_unit_test(bad_shapes_are_explained_and_change_nothing),
        cmocka_unit_test(lists_parse_and_print),
        cmocka_unit_test(bad_lists_are_explained),
        cmocka_unit_test(print_and_parse_are_inverse),
        cmocka_unit_test(structs_filled_by_hand_are_checked),
        cmocka_unit_test(help_has_a_line_a_field_and_alias),
        cmocka_unit_test(printing_survives_failing_allocations),
        cmocka_unit_test(the_longest_name_wins),
        cmocka_unit_test(members_without_a_field_are_zeroed),
        cmocka_unit_test(parsing_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
