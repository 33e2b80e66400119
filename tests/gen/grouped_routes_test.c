/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `auto` means for gemm_grouped: the tag of each class, and a legal one for every shape. */
#include "tests/gen/grouped_testing.h"

static void tags_of_classes(void **state) {
    (void)state;
    static const struct {
        const char *chip, *words, *tag;
    } rows[] = {
        /* the default tile */
        {"gfx950", "groups=8 m=16384 n=7168 k=2304", "mfma16x16x128_t128x128x128_wm2_group8_cs_async_wpe2"},
        {"gfx950", "groups=8 m=16384 n=7296 k=2304 b=preshuffled", "mfma16x16x128_t128x128x128_group8_cs_async_wpe2"},
        {"gfx942", "groups=8 m=16384 n=7168 k=2304", "mfma16x16x32_t128x128x128_wm2_group8_cs_wpe2"},
        {"gfx942", "groups=8 m=16384 n=7296 k=2304 b=preshuffled", "mfma16x16x32_t128x128x128_group8_cs_wpe2"},
        {"gfx950", "layout=k_offsets groups=8 m=2048 n=7168 k=16384", "mfma16x16x128_t128x128x128_wm2_cs_async_wpe2"},
        {"gfx950", "groups=8 m=16384 n=7232 k=2304 b=preshuffled", "mfma16x16x128_t128x64x128_group8_cs_async_wpe2"},
        {"gfx950", "groups=8 m=16384 n=7296 k=2304 b=preshuffled scale=block",
         "mfma16x16x128_t128x128x128_wm2_group8_cs_async_wpe2"},
        /* preshuffled and wide */
        {"gfx950", "groups=8 m=16384 n=7168 k=2304 b=preshuffled", "mfma16x16x128_t128x256x128_group8_cs_async_wpe2"},
        {"gfx950", "layout=batched groups=8 m=1024 n=1024 k=2304 b=preshuffled",
         "mfma16x16x128_t128x256x128_cs_async_wpe2"},
        {"gfx950", "layout=batched groups=7 m=1024 n=1024 k=2304 b=preshuffled",
         "mfma16x16x128_t128x128x128_cs_async_wpe2"},
        {"gfx942", "groups=8 m=16384 n=7168 k=2304 b=preshuffled", "mfma16x16x32_t64x256x128_group16_cs_wpe2"},
        {"gfx950", "groups=8 m=16384 n=7168 k=2304 b=preshuffled scale=block",
         "mfma16x16x128_t64x256x128_group16_cs_async_wpe2"},
        /* few rows a group, a deep K, slabs: row after row */
        {"gfx950", "groups=8 m=4096 n=7168 k=2304", "mfma16x16x128_t128x128x128_wm2_group8_cs_async_wpe2"},
        {"gfx950", "groups=8 m=4095 n=7168 k=2304", "mfma16x16x128_t128x128x128_wm2_cs_async_wpe2"},
        {"gfx950", "groups=8 m=16384 n=7168 k=8192", "mfma16x16x128_t128x128x128_wm2_group8_cs_async_wpe2"},
        {"gfx950", "groups=8 m=16384 n=7168 k=8208", "mfma16x16x128_t128x128x128_wm2_cs_async_wpe2"},
        {"gfx950", "layout=padded groups=8 m=4096 n=7168 k=2304", "mfma16x16x128_t128x128x128_wm2_cs_async_wpe2"},
        /* starved: few rows, or few tiles */
        {"gfx950", "groups=8 m=1 n=8192 k=1024", "mfma16x16x128_t16x64x256_sk2"},
        {"gfx950", "groups=8 m=32 n=1280 k=8192", "mfma16x16x128_t16x64x256_sk2"},
        {"gfx950", "groups=8 m=32 n=1280 k=8192 scale=block", "mfma16x16x128_t16x128x256_sk4"},
        {"gfx950", "groups=8 m=96 n=1280 k=8192 b=preshuffled", "mfma16x16x128_t16x64x256_sk2"},
        {"gfx950", "layout=padded groups=8 m=512 n=1280 k=8192", "mfma16x16x128_t64x64x256"},
        {"gfx950", "layout=padded groups=8 m=512 n=1528 k=8192", "mfma16x16x128_t128x128x128_wm2_cs_async_wpe2"},
        {"gfx950", "layout=padded groups=8 m=512 n=1280 k=8192 scale=block",
         "mfma16x16x128_t128x128x128_wm2_cs_async_wpe2"},
        {"gfx950", "layout=batched groups=2 m=128 n=1280 k=8192", "mfma16x16x128_t64x64x256_sk4"},
        {"gfx942", "groups=8 m=1 n=8192 k=1024", "mfma16x16x32_t16x64x256_sk3"},
        {"gfx950", "groups=8 m=8 n=128 k=128", "mfma16x16x128_t16x64x128"},
        {"gfx950", "groups=8 m=0 n=128 k=0", "mfma16x16x128_t16x64x256"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const target t = target_of(rows[i].chip);
        const grouped_shape s = shape_of(rows[i].words);
        grouped_variant v;
        if (grouped_route(&t, &s, 0, &v)) fail_msg("%s: %s", rows[i].words, cdnagen_error());
        text tag = {0};
        tag_print(&gemm_grouped_family.tag, &v, 7, &tag);
        if (strcmp(tag.data, rows[i].tag)) fail_msg("%s %s: %s", rows[i].chip, rows[i].words, tag.data);
        text_free(&tag);
    }
}

/* Every legal shape has a tag, and one that needs no workspace. */
static void every_shape_is_served(void **state) {
    (void)state;
    static const char *const chips_of[] = {"gfx942", "gfx950"}, *const facts[] = {"", " b=preshuffled", " scale=block",
                                                                                  " scale=block b=preshuffled"};
    static const int groups[] = {1, 8, 300, 4096}, rows[] = {1, 33, 512, 20000}, columns[] = {64, 128, 1280, 7168},
                     depths[] = {128, 384, 2048, 8192};
    int served = 0;
    for (int c = 0; c < 2; c++)
        for (int layout = 0; layout < GROUPED_LAYOUTS; layout++)
            for (int f = 0; f < 4; f++)
                for (int i = 0; i < 256; i++) {
                    char words[160];
                    snprintf(words, sizeof words, "layout=%s groups=%d m=%d n=%d k=%d%s", grouped_layouts[layout].name,
                             groups[i & 3], rows[i >> 2 & 3], columns[i >> 4 & 3], depths[i >> 6], facts[f]);
                    if (f && (layout == GROUPED_N_OFFSETS || layout == GROUPED_K_OFFSETS)) continue;
                    if (f >= 2 && columns[i >> 4 & 3] % 128) continue;
                    const target t = target_of(chips_of[c]);
                    grouped_shape s = shape_of(words);
                    grouped_variant v;
                    if (grouped_form_route(&t, &s, &v)) fail_msg("%s %s: %s", chips_of[c], words, cdnagen_error());
                    assert_true(!v.split_k);
                    served++;
                }
    assert_true(served > 6000);
}

static void ranks_end_with_reasons(void **state) {
    (void)state;
    const target t = target_of("gfx950");
    const grouped_shape s = shape_of("groups=8 m=1 n=8192 k=1024"), unknown = shape_of("groups=8 m=1 n=8192");
    grouped_variant v, first;
    assert_int_equal(grouped_route(&t, &s, 0, &first), CDNAGEN_OK);
    assert_int_equal(grouped_route(&t, &s, 1, &v), CDNAGEN_OK);
    assert_true(first.split_k && !v.split_k);
    expect_error("rank", grouped_route(&t, &s, 9, &v), CDNAGEN_LIMIT,
                 (const char *const[]){"auto has 4 choices", "groups=8 m=1", NULL});
    expect_error("k", grouped_route(&t, &unknown, 0, &v), CDNAGEN_BAD_SHAPE,
                 (const char *const[]){"k is missing", NULL});
}

static void examples_are_served(void **state) {
    (void)state;
    for (int c = 0; c < CHIP_COUNT; c++)
        for (const char *const *words = gemm_grouped_family.examples; *words; words++)
            plan_on(chips[c].name, "gemm_grouped:auto", *words);
}

/* The tuner's problems, their proofs and its seeds are legal, and the reasons not to try a tag are what they say. */
static void tuning_is_legal(void **state) {
    (void)state;
    for (int c = 0; c < CHIP_COUNT; c++) {
        const target t = target_of(chips[c].name);
        tune_point point;
        int points = 0;
        for (; grouped_tuning.point(&t, points, &point); points++) {
            char first[SHAPE_BYTES_MAX];
            snprintf(first, sizeof first, "%s", point.shape);
            plan_on(chips[c].name, "gemm_grouped:auto", first);
            for (int i = 0; i < TUNE_PROOFS; i++) plan_on(chips[c].name, "gemm_grouped:auto", point.proof[i]);
        }
        assert_int_equal(points, 9);
    }
    for (const char *const *tag = grouped_tuning.seeds; *tag; tag++) variant_of(*tag);
    for (size_t i = 0; i < grouped_tuning.axis_count; i++)
        assert_string_not_equal(grouped_tuning.axes[i].field, "unroll"); /* a kernel for each K */
    static const char *const rows[][3] = {
        {"mfma16x16x128_t128x128x128", "groups=2 m=64 n=256 k=512 b=preshuffled", NULL},
        {"mfma16x16x128_t128x256x128", "groups=2 m=64 n=384 k=512", "tails"},
        {"mfma16x16x128_t128x128x256", "groups=2 m=64 n=256 k=384", "tails"},
        {"mfma16x16x128_t128x128x256", "groups=2 m=64 n=200 k=384", "tails"},
        {"mfma16x16x128_t64x128x128", "groups=2 m=64 n=200 k=144", NULL},
        {"mfma16x16x128_t64x256x128", "layout=n_offsets groups=2 m=64 n=256 k=512", "tails"},
        {"mfma16x16x128_t64x64x256", "layout=k_offsets groups=4 m=64 n=256 k=512", "tails"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char tag[100];
        snprintf(tag, sizeof tag, "gemm_grouped:%s", rows[i][0]);
        const plan p = plan_of(tag, rows[i][1]);
        const char *const why = grouped_tuning.prune(&p);
        if (rows[i][2] ? !why || strcmp(why, rows[i][2]) : why != NULL)
            fail_msg("%s %s: %s", tag, rows[i][1], why ? why : "kept");
    }
    const plan p = plan_of("gemm_grouped:mfma16x16x128_t64x128x128", "layout=batched groups=3 m=32 n=128 k=256");
    assert_true(grouped_tuning.mfmas(&p) == 3 * 2 * 8 * 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_of_classes),        cmocka_unit_test(every_shape_is_served),
        cmocka_unit_test(ranks_end_with_reasons), cmocka_unit_test(examples_are_served),
        cmocka_unit_test(tuning_is_legal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
