/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What mqa_logits refuses before anything is compiled, and what auto takes instead. */
#include "tests/gen/mqa_testing.h"

typedef struct refusal {
    const char *chip, *tag, *shape;
    cdnagen_status status;
    const char *parts[6];
} refusal;

static const refusal refusals[] = {
    /* the chip's atoms */
    {"gfx942", "mfma32x32x64_bkv64", "heads=64 dim=128", CDNAGEN_LIMIT, {"gfx942", "32x32x64", "16x16x32, 32x32x16"}},
    {"gfx942", "mfma16x16x128_bkv64", "heads=64 dim=128", CDNAGEN_LIMIT, {"gfx942", "16x16x128"}},
    /* heads and dim */
    {"gfx950", "mfma32x32x64_bkv64", "heads=64 dim=100", CDNAGEN_LIMIT, {"dim=100", "multiple of 16", "96 and 112"}},
    {"gfx942", "mfma16x16x32_bkv64", "heads=64 dim=511", CDNAGEN_LIMIT, {"dim=511", "multiple of 16", "496 and 512"}},
    /* tiles */
    {"gfx950", "mfma32x32x64_bkv48", "heads=64 dim=128", CDNAGEN_BAD_TAG, {"bkv48", "multiple of 32"}},
    {"gfx950", "mfma32x32x64_bkv64_w4", "heads=64 dim=128", CDNAGEN_BAD_TAG, {"w4", "2 n-tiles", "bkv64"}},
    {"gfx950",
     "mfma32x32x64_bkv32_lds2_rs",
     "heads=64 dim=128",
     CDNAGEN_BAD_TAG,
     {"rs", "2 n-tiles", "multiple of 64"}},
    {"gfx950",
     "mfma16x16x128_bkv96_lds2_rs",
     "heads=64 dim=128",
     CDNAGEN_BAD_TAG,
     {"rs", "4 n-tiles", "bkv96 has 6", "multiple of 64"}},
    {"gfx950", "mfma16x16x32_bkv64_lds2", "heads=64 dim=128", CDNAGEN_BAD_TAG, {"lds2", "32-byte fragments", "has 8"}},
    /* prefetch */
    {"gfx950", "mfma32x32x64_bkv64_lds1", "heads=64 dim=128", CDNAGEN_BAD_TAG, {"pd2 (the default)", "lds1 holds 1"}},
    {"gfx950", "mfma32x32x64_bkv64_lds3_pd4", "heads=64 dim=128", CDNAGEN_BAD_TAG, {"pd4", "lds3 holds 3", "1 to 3"}},
    /* DMA */
    {"gfx950",
     "mfma32x32x64_bkv64_w8_lds2",
     "heads=64 dim=64",
     CDNAGEN_LIMIT,
     {"bkv64 dim=64", "4096 bytes", "w8", "multiples of 8192"}},
    {"gfx950",
     "mfma32x32x64_bkv64_lds3_pd3",
     "heads=64 dim=512",
     CDNAGEN_LIMIT,
     {"pd3", "64 loads", "32 a tile", "63"}},
    {"gfx950", "mfma32x32x64_bkv128_lds2", "heads=64 dim=512", CDNAGEN_LIMIT, {"64 loads", "63"}},
    /* pipelines across tiles */
    {"gfx950", "mfma32x32x64_bkv64_lds2_pd1_swp_ct", "heads=64 dim=128", CDNAGEN_BAD_TAG, {"ct", "pd", "2 or more"}},
    {"gfx950", "mfma32x32x64_bkv64_lds2_swp_ts_ct", "heads=64 dim=128", CDNAGEN_BAD_TAG, {"ts", "ct"}},
    /* LDS */
    {"gfx950",
     "mfma32x32x64_bkv128_w2_lds3_rs",
     "heads=64 dim=512",
     CDNAGEN_LIMIT,
     {"196608", "gfx950", "163840", "mfma32x32x64_bkv128_r1_w2_lds2_rs"}},
    {"gfx950",
     "mfma32x32x64_bkv64_lds6",
     "heads=64 dim=512",
     CDNAGEN_LIMIT,
     {"196608", "163840", "mfma32x32x64_bkv64_r1_w1_lds5"}},
    {"gfx950",
     "mfma32x32x64_bkv64_lds5_ls",
     "heads=64 dim=512",
     CDNAGEN_LIMIT,
     {"165120", "163840", "mfma32x32x64_bkv64_r1_w1_lds4_ls"}},
    {"gfx950",
     "mfma32x32x64_bkv256_w16_lds2_pd1",
     "heads=64 dim=512",
     CDNAGEN_LIMIT,
     {"262144", "163840", "mfma32x32x64_bkv256_r1_w16_lds1_pd1"}},
    {"gfx950",
     "mfma32x32x64_bkv256_w2_lds16",
     "heads=64 dim=512",
     CDNAGEN_LIMIT,
     {"2097152", "163840", "mfma32x32x64_bkv256_r1_w2_lds1_pd1"}},
    /* operands of the other chip's kind */
    {"gfx950",
     "mfma32x32x64_bkv64",
     "heads=64 dim=128 q_fp8=e4m3fnuz",
     CDNAGEN_LIMIT,
     {"q_fp8=e4m3fnuz", "gfx950", "e4m3fn"}},
    {"gfx950",
     "mfma_r2_w4",
     "heads=64 dim=128 kv_fp8=e4m3fnuz",
     CDNAGEN_LIMIT,
     {"kv_fp8=e4m3fnuz", "gfx950", "e4m3fn"}},
};

static cdnagen_status check(const char *target_text, const char *tag, const char *shape) {
    const target t = target_of(target_text);
    const mqa_variant v = variant_of(tag);
    const mqa_shape s = shape_of(shape);
    return mqa_logits_family.check(&t, &v, &s);
}

static void refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        const refusal *const r = &refusals[i];
        expect_error(r->tag, check(r->chip, r->tag, r->shape), r->status, r->parts);
    }
}

static void accepted(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"gfx950", "mfma32x32x64_bkv64", "heads=64 dim=128"},
        {"gfx950", "mfma32x32x64_bkv128_w4", "heads=32 dim=64"},
        {"gfx950", "mfma16x16x128_bkv16", "heads=16 dim=128"},
        {"gfx950", "mfma16x16x128_bkv64_r4_w4", "heads=112 dim=384"},
        {"gfx950", "mfma32x32x64_bkv64_lds2_swp_rs_hfma", "heads=64 dim=128"},
        {"gfx950", "mfma32x32x64_bkv64_lds4_pd1_swp_rs_hfma_wpe3", "heads=64 dim=128"},
        {"gfx950", "mfma16x16x128_bkv64_w4_lds16_pd16", "heads=64 dim=128"},
        {"gfx950", "mfma32x32x64_bkv64_lds5", "heads=64 dim=512"}, /* all of the LDS */
        {"gfx950", "mfma32x32x64_bkv64_lds2_pd2", "heads=64 dim=512"},
        {"gfx950", "mfma32x32x64_bkv256_w4_lds2_hfma2", "heads=128 dim=128"},
        {"gfx950", "mfma16x16x128_bkv64_r2_w2_lds3_rs", "heads=16 dim=128"},
        {"gfx950", "mfma32x32x64_bkv64_lds2_rs", "heads=32 dim=192 q_fp8=e4m3fn kv_fp8=e4m3fn"},
        {"gfx950", "mfma32x32x64_bkv256_r8_w8_ns7", "heads=64 dim=128"},
        {"gfx950", "mfma_r4_w4", "heads=64 dim=128"},
        {"gfx950", "mfma32x32x16_bkv256_w8_hfma2_ns2", "heads=32 dim=80"},
        {"gfx942", "mfma_r2_w4", "heads=64 dim=128"},
        {"gfx942", "mfma32x32x16_bkv64_r2_w2_hfma", "heads=96 dim=112"},
        {"gfx942", "mfma_r1_w8", "heads=16 dim=96 q_fp8=e4m3fn"},
        {"gfx942", "mfma_r8_w1_wpe1", "heads=112 dim=512 kv_fp8=e4m3fn"},
        {"gfx942", "mfma_r1_w2", "heads=128 dim=64 q_fp8=e4m3fn kv_fp8=e4m3fnuz"},
        /* heads and dim that are padded */
        {"gfx950", "mfma32x32x64_bkv64", "heads=48 dim=128"},
        {"gfx950", "mfma16x16x128_bkv64", "heads=32 dim=64"},
        {"gfx950", "mfma16x16x128_bkv64_w4_lds2", "heads=1 dim=32"},
        {"gfx950", "mfma32x32x64_bkv64_lds2_swp_rs_ls_ts_dg", "heads=127 dim=496 weights=bf16"},
        {"gfx942", "mfma_r2_w4", "heads=7 dim=48"},
        {"gfx942", "mfma32x32x16_bkv64_r1_w2", "heads=40 dim=96 weights=bf16"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        if (check(rows[i][0], rows[i][1], rows[i][2])) fail_msg("%s %s: %s", rows[i][1], rows[i][2], cdnagen_error());
}

static void the_nearest_tag_fits(void **state) {
    (void)state;
    int named = 0;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        const refusal *const r = &refusals[i];
        check(r->chip, r->tag, r->shape);
        const char *const near = strstr(cdnagen_error(), "the nearest tag that fits is ");
        if (!near) continue;
        char tag[SYMBOL_MAX];
        snprintf(tag, sizeof tag, "%s", near + strlen("the nearest tag that fits is "));
        if (check(r->chip, tag, r->shape)) fail_msg("%s: %s", tag, cdnagen_error());
        named++;
    }
    assert_int_equal(named, 5);
}

/* Each of a shape's routes is legal and unlike the one before. */
static void auto_serves_every_head_count_and_head_size(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        const target t = target_of(i ? "gfx942" : "gfx950");
        for (int heads = 1; heads <= 128; heads++)
            for (int dim = 32; dim <= 512; dim += 8) {
                const mqa_shape s = {.seq = -1, .seq_kv = -1, .heads = heads, .dim = dim, .clean = 1, .batch = 2};
                const int fits = dim % 16 == 0;
                mqa_variant v, before = {0};
                int rank = 0;
                cdnagen_status status;
                while (!(status = mqa_logits_family.route(&t, &s, rank, &v))) {
                    assert_int_equal(mqa_logits_family.check(&t, &v, &s), CDNAGEN_OK);
                    assert_memory_not_equal(&v, &before, sizeof v);
                    before = v;
                    rank++;
                }
                assert_int_equal(status, CDNAGEN_LIMIT);
                if (fits && rank < 2) fail_msg("heads=%d dim=%d has %d routes: %s", heads, dim, rank, cdnagen_error());
                if (!fits) {
                    char words[40];
                    snprintf(words, sizeof words, "dim=%d is not a multiple of 16", dim);
                    assert_int_equal(rank, 0);
                    assert_non_null(strstr(cdnagen_error(), words));
                }
            }
    }
}

/* Of the tags that must pad a shape auto takes those with the fewest zeros, under few heads the 16-row ones. */
static void auto_pads_as_little_as_it_can(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"heads=8 dim=128", "mfma16x16x128_"},  {"heads=8 dim=96", "mfma16x16x128_"},
        {"heads=24 dim=64", "mfma32x32x64_"},   {"heads=40 dim=128", "mfma16x16x128_"},
        {"heads=48 dim=512", "mfma16x16x128_"}, {"heads=32 dim=32", "mfma32x32x64_"},
        {"heads=64 dim=96", "mfma32x32x64_"},   {"heads=12 dim=192", "mfma16x16x128_"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const plan p = plan_of("mqa_logits:auto", rows[i][0]);
        if (strncmp(p.tag, rows[i][1], strlen(rows[i][1]))) fail_msg("%s: %s", rows[i][0], p.tag);
    }
}

/* Where each class's first choice leaves LDS for a wave on every SIMD. */
static void auto_leaves_no_simd_without_a_wave(void **state) {
    (void)state;
    for (int heads = 8; heads <= 128; heads += 8)
        for (int dim = 32; dim <= 512; dim += 32) {
            char words[64];
            snprintf(words, sizeof words, "heads=%d dim=%d", heads, dim);
            const plan p = plan_of("mqa_logits:auto", words);
            if (!p.lds_bytes) continue;
            const int workgroups = p.target.chip->lds_bytes / (int)p.lds_bytes;
            if (workgroups * (int)p.block[0] / LANES < p.target.chip->simds) fail_msg("%s: %s", words, p.tag);
        }
}

static void auto_names_what_each_choice_lacked(void **state) {
    (void)state;
    const target t = target_of("gfx950");
    plan p;
    expect_error("rank 99", plan_make("mqa_logits:auto", "heads=48 dim=128", &t, 99, &p), CDNAGEN_LIMIT,
                 (const char *const[]){" choices", "heads=48 dim=128", NULL});
    expect_error("dim=100", plan_make("mqa_logits:auto", "heads=48 dim=100", &t, 0, &p), CDNAGEN_LIMIT,
                 (const char *const[]){"dim=100 is not a multiple of 16", NULL});
    expect_error("operands of another chip", plan_make("mqa_logits:auto", "heads=64 dim=128 q_fp8=e4m3fnuz", &t, 0, &p),
                 CDNAGEN_LIMIT, (const char *const[]){"q_fp8=e4m3fnuz", "gfx950", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused),
        cmocka_unit_test(accepted),
        cmocka_unit_test(the_nearest_tag_fits),
        cmocka_unit_test(auto_serves_every_head_count_and_head_size),
        cmocka_unit_test(auto_pads_as_little_as_it_can),
        cmocka_unit_test(auto_leaves_no_simd_without_a_wave),
        cmocka_unit_test(auto_names_what_each_choice_lacked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
