/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gemm_grouped's words and every refusal of its check, with the value that is refused and what is allowed. */
#include "tests/gen/grouped_testing.h"

static cdnagen_status check(const char *id, const char *tag, const char *words) {
    const target t = target_of(id);
    const grouped_variant v = variant_of(tag);
    grouped_shape s = shape_of(words);
    gemm_grouped_family.complete(&v, &s);
    return gemm_grouped_family.check(&t, &v, &s);
}

#define T128 "mfma16x16x128_t128x128x128"

static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *chip, *tag, *shape;
        cdnagen_status status;
        const char *parts[4];
    } rows[] = {
        {"gfx950", T128 "_sk2_unroll2", "", CDNAGEN_BAD_TAG, {"leave sk out"}},
        {"gfx942", T128, "", CDNAGEN_LIMIT, {"16x16x128", "gfx942", "16x16x32"}},
        {"gfx950", "mfma16x16x128_t16x64x128_wm2", "", CDNAGEN_BAD_TAG, {"16 rows", "multiple of 32"}},
        {"gfx950", T128 "_wm3", "", CDNAGEN_BAD_TAG, {"wm3 does not divide the 4 waves"}},
        {"gfx950", "mfma16x16x128_t16x256x128_async", "", CDNAGEN_LIMIT, {"async needs 16 bytes", "has 8"}},
        {"gfx950",
         "mfma16x16x128_t256x256x256_async",
         "",
         CDNAGEN_LIMIT,
         {"262144 bytes of LDS", "two K tiles", "gfx950 has 163840"}},
        {"gfx942", "mfma16x16x32_t256x128x256", "", CDNAGEN_LIMIT, {"98304 bytes", "one K tile)", "gfx942 has 65536"}},
        {"gfx950", "mfma16x16x128_t256x256x128_wpe2", "b=preshuffled", CDNAGEN_LIMIT, {"wpe2", "256 sums", "1 to 1"}},
        /* layouts */
        {"gfx950", T128, "layout=n_offsets b=preshuffled", CDNAGEN_BAD_SHAPE, {"3D-2D groups along N", "plain B"}},
        {"gfx950", T128, "layout=k_offsets b=preshuffled", CDNAGEN_BAD_SHAPE, {"2D-2D groups along K", "plain B"}},
        {"gfx950", T128, "layout=n_offsets scale=block", CDNAGEN_BAD_SHAPE, {"layout=n_offsets takes scale=row"}},
        {"gfx950", T128, "layout=k_offsets scale=block", CDNAGEN_BAD_SHAPE, {"layout=k_offsets takes scale=row"}},
        {"gfx950", T128, "empty_k=leave", CDNAGEN_BAD_SHAPE, {"empty_k=leave", "layout=k_offsets"}},
        {"gfx950", T128 "_unroll2", "layout=k_offsets", CDNAGEN_BAD_SHAPE, {"unroll needs one K", "on the device"}},
        {"gfx950", T128, "layout=k_offsets k_tail=0", CDNAGEN_BAD_SHAPE, {"k_tail=0", "on the device"}},
        {"gfx950", T128, "layout=n_offsets n_tail=0", CDNAGEN_BAD_SHAPE, {"n_tail=0", "on the device"}},
        {"gfx950", T128 "_xtwin", "", CDNAGEN_BAD_SHAPE, {"scale=row promotes nothing"}},
        {"gfx950", T128 "_xpromote", "scale=row", CDNAGEN_BAD_SHAPE, {"scale=row promotes nothing"}},
        {"gfx950", T128, "b=preshuffled k_tail=1", CDNAGEN_BAD_SHAPE, {"k_tail=1 is for plain B"}},
        {"gfx950", T128, "b=preshuffled n_tail=1", CDNAGEN_BAD_SHAPE, {"n_tail=1 is for plain B"}},
        /* lengths */
        {"gfx950", T128, "k=136", CDNAGEN_BAD_SHAPE, {"k=136 must be divisible by 16"}},
        {"gfx950", T128, "layout=k_offsets k=1000", CDNAGEN_BAD_SHAPE, {"k=1000 must be divisible by 16"}},
        {"gfx950", T128, "n=132", CDNAGEN_BAD_SHAPE, {"n=132 must be divisible by 8"}},
        {"gfx950", T128, "layout=n_offsets n=1004", CDNAGEN_BAD_SHAPE, {"n=1004 must be divisible by 8"}},
        {"gfx950", T128, "scale=block k=240", CDNAGEN_BAD_SHAPE, {"k=240 must be divisible by 128", "scale_block_k"}},
        {"gfx950", T128, "scale=block k=144", CDNAGEN_BAD_SHAPE, {"k=144", "scale_block_k"}},
        {"gfx950", T128, "scale=block n=192", CDNAGEN_BAD_SHAPE, {"n=192 must be divisible by 128", "scale_block_n"}},
        {"gfx950", "mfma16x16x128_t128x64x128", "scale=block", CDNAGEN_BAD_TAG, {"64 columns", "multiple of 128"}},
        {"gfx950", T128, "b=preshuffled n=192", CDNAGEN_BAD_SHAPE, {"n=192 must be divisible by 128", "preshuffled"}},
        {"gfx950", "mfma16x16x128_t128x128x256", "b=preshuffled k=384", CDNAGEN_BAD_SHAPE, {"k=384", "by 256"}},
        {"gfx950", T128, "k=192 k_tail=0", CDNAGEN_BAD_SHAPE, {"k_tail=0", "k=192", "128"}},
        {"gfx950", T128, "n=192 n_tail=0", CDNAGEN_BAD_SHAPE, {"n_tail=0", "n=192", "128"}},
        {"gfx950", T128 "_unroll2", "k=384", CDNAGEN_BAD_SHAPE, {"unroll2", "k=256", "k=384"}},
        {"gfx950", T128 "_unroll2", "", CDNAGEN_BAD_SHAPE, {"unroll2", "k_tail=0"}},
        {"gfx950", T128 "_sk4", "k=384", CDNAGEN_LIMIT, {"sk4", "k=384", "128, 3"}},
        /* extents */
        {"gfx950", T128, "groups=3 extents=1,2", CDNAGEN_BAD_SHAPE, {"extents has 2 numbers for groups=3"}},
        {"gfx950", T128, "groups=2 m=10 extents=4,7", CDNAGEN_BAD_SHAPE, {"11 up to number 2", "m=10"}},
        {"gfx950", T128, "layout=padded groups=2 m=10 extents=11,7", CDNAGEN_BAD_SHAPE, {"11 up to number 1", "m=10"}},
        {"gfx950", T128, "layout=n_offsets groups=2 extents=8,12", CDNAGEN_BAD_SHAPE, {"12", "multiple of 8"}},
        {"gfx950", T128, "layout=k_offsets groups=2 extents=8,16", CDNAGEN_BAD_SHAPE, {"has 8", "multiple of 16"}},
        {"gfx950", T128, "layout=batched groups=1 extents=8", CDNAGEN_BAD_SHAPE, {"batched", "leave extents out"}},
        /* chip */
        {"gfx950", T128, "a_fp8=e4m3fnuz", CDNAGEN_LIMIT, {"a_fp8=e4m3fnuz", "gfx950"}},
        {"gfx942", "mfma16x16x32_t64x128x128_async", "", CDNAGEN_LIMIT, {"async", "gfx942"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char what[160];
        snprintf(what, sizeof what, "%s %s", rows[i].tag, rows[i].shape);
        expect_error(what, check(rows[i].chip, rows[i].tag, rows[i].shape), rows[i].status, rows[i].parts);
    }
}

/* A K tile is one or two whole scale blocks. */
static void no_tile_has_less_than_128_of_k(void **state) {
    (void)state;
    grouped_variant v;
    for (int n = 64; n <= 256; n *= 2) {
        char tag[80];
        snprintf(tag, sizeof tag, "mfma16x16x128_t64x%dx64", n);
        expect_error(tag, tag_parse(&gemm_grouped_family.tag, tag, &v), CDNAGEN_BAD_TAG,
                     (const char *const[]){"is not one of the values of t", NULL});
        snprintf(tag, sizeof tag, "mfma16x16x128_t64x%dx128", n);
        assert_int_equal(tag_parse(&gemm_grouped_family.tag, tag, &v), CDNAGEN_OK);
    }
}

static void at_the_limit(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"gfx950", T128, "k=272 n=200"},
        {"gfx950", T128, "layout=k_offsets k=1152 empty_k=leave"},
        {"gfx950", T128, "layout=n_offsets n=528"},
        {"gfx950", "mfma16x16x128_t64x256x256", "scale=block k=384 n=384"},
        {"gfx950", "mfma16x16x128_t128x64x128", "b=preshuffled n=64 k=128"},
        {"gfx950", "mfma16x16x128_t256x256x128", "b=preshuffled"},
        {"gfx942", "mfma16x16x32_t128x128x128_cs_wpe2", ""},
        {"gfx942", "mfma16x16x32_t128x256x256_wpe2", "b=preshuffled"},
        {"gfx950", T128 "_unroll2", "k=256"},
        {"gfx950", T128 "_sk2_xtwin", "scale=block"},
        {"gfx950", T128 "_sk2_xscales", "scale=row"},
        {"gfx950", T128, "groups=2 m=11 extents=4,7"},
        {"gfx950", T128, "groups=0 m=0 n=0 k=0"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        if (check(rows[i][0], rows[i][1], rows[i][2])) fail_msg("%s %s: %s", rows[i][1], rows[i][2], cdnagen_error());
}

/* What a kernel is made for: whole tiles only where every launch has them. */
static void tail_classes(void **state) {
    (void)state;
    static const struct {
        const char *tag, *words;
        int k_tail, n_tail;
    } rows[] = {
        {T128, "", 1, 1},
        {T128, "k=256 n=256", 0, 0},
        {T128, "k=272 n=264", 1, 1},
        {T128, "b=preshuffled", 0, 0},
        {T128, "scale=block", 0, 0},
        {"mfma16x16x128_t128x256x256", "scale=block", 1, 1},
        {"mfma16x16x128_t128x256x256", "scale=block k=512 n=512", 0, 0},
        {T128, "layout=k_offsets k=256 n=256", 1, 0},
        {T128, "layout=n_offsets k=256 n=256", 0, 1},
        {T128, "k=256 n=256 k_tail=1 n_tail=1", 1, 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const grouped_variant v = variant_of(rows[i].tag);
        grouped_shape s = shape_of(rows[i].words);
        grouped_complete(&v, &s);
        if (s.k_tail != rows[i].k_tail || s.n_tail != rows[i].n_tail)
            fail_msg("%s: k_tail %d n_tail %d", rows[i].words, (int)s.k_tail, (int)s.n_tail);
    }
}

static void words_round_trip(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"", "layout=sizes scale=row"},
        {"extents=3,0,5 m=8 groups=3 n=64 k=128", "layout=sizes groups=3 m=8 n=64 k=128 scale=row extents=3,0,5"},
        {"layout=k_offsets empty_k=leave out=f16 data=coherent",
         "layout=k_offsets scale=row empty_k=leave out=f16 data=coherent"},
        {"b=preshuffled scale=block layout=padded", "layout=padded scale=block b=preshuffled"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        text words = {0};
        const grouped_shape s = shape_of(rows[i][0]);
        shape_print(&gemm_grouped_family.shape, &s, 7, &words);
        assert_string_equal(words.data, rows[i][1]);
        const grouped_shape again = shape_of(words.data);
        assert_memory_equal(&again, &s, sizeof s);
        text_free(&words);
    }
}

/* Lengths and extents are of a launch: they are in no kernel's name. */
static void lengths_make_no_kernel(void **state) {
    (void)state;
    const plan a = plan_of("gemm_grouped:" T128 "_cs", "groups=2 m=300 n=256 k=512 extents=100,200"),
               b = plan_of("gemm_grouped:" T128 "_cs", "groups=4096 m=5000 n=1280 k=8192 data=exact");
    assert_string_equal(a.symbol, b.symbol);
    assert_string_equal(a.facts, b.facts);
    assert_string_equal(a.symbol, "gemm_grouped_mfma16x16x128_t128x128x128_cs_layoutsizes_scalerow_k_tail0_n_tail0");
    for (int layout = 0; layout < GROUPED_LAYOUTS; layout++) {
        static const char *const lengths[] = {"groups=1 m=1 n=384 k=256", "groups=70 m=20000 n=1024 k=16384"};
        plan p[2];
        for (int i = 0; i < 2; i++) {
            char words[100];
            snprintf(words, sizeof words, "layout=%s %s", grouped_layouts[layout].name, lengths[i]);
            p[i] = plan_of("gemm_grouped:" T128, words);
        }
        assert_string_equal(p[0].symbol, p[1].symbol);
        assert_string_equal(p[0].facts, p[1].facts);
    }
}

/* What makes another kernel is in its name, so that no two meet in a cache. */
static void kernels_that_differ_have_other_names(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {T128, ""},
        {T128 "_wpe2", ""},
        {T128 "_cs", ""},
        {T128 "_async", ""},
        {T128 "_sk2", ""},
        {T128 "_unroll4", "k=512 n=128"},
        {T128 "_unroll8", "k=1024 n=128"},
        {"mfma16x16x128_t64x128x128", ""},
        {T128, "layout=offsets"},
        {T128, "layout=padded"},
        {T128, "layout=batched"},
        {T128, "layout=n_offsets"},
        {T128, "layout=k_offsets"},
        {T128, "layout=k_offsets empty_k=leave"},
        {T128, "b=preshuffled"},
        {T128, "scale=block"},
        {T128, "k=256"},
        {T128, "n=256"},
        {T128, "out=f16"},
    };
    static plan plans[COUNT(rows)];
    for (size_t i = 0; i < COUNT(rows); i++) {
        char tag[100];
        snprintf(tag, sizeof tag, "gemm_grouped:%s", rows[i][0]);
        plans[i] = plan_of(tag, rows[i][1]);
        for (size_t j = 0; j < i; j++)
            if (!strcmp(plans[i].symbol, plans[j].symbol))
                fail_msg("%s %s has the name of %s %s", tag, rows[i][1], rows[j][0], rows[j][1]);
    }
}

/* LDS: two K tiles of A, and of plain B, one of them without LDS DMA; or C where it is shuffled. */
static void lds_budgets(void **state) {
    (void)state;
    static const struct {
        const char *tag, *words;
        int kib;
    } rows[] = {
        {"mfma16x16x128_t128x128x128", "", 32},
        {"mfma16x16x128_t128x128x128_async", "", 64},
        {"mfma16x16x128_t128x128x128", "b=preshuffled", 32},
        {"mfma16x16x128_t64x64x128", "", 16},
        {"mfma16x16x128_t64x256x128", "b=preshuffled", 16},
        {"mfma16x16x128_t64x256x128_cs", "b=preshuffled", 32},
        {"mfma16x16x128_t128x256x128", "", 48},
        {"mfma16x16x128_t256x256x128_cs", "b=preshuffled", 128},
        {"mfma16x16x128_t256x64x256", "", 80},
        {"mfma16x16x128_t256x64x256_async", "", 160},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const grouped_variant v = variant_of(rows[i].tag);
        const grouped_shape s = shape_of(rows[i].words);
        assert_int_equal(grouped_geometry_of(&v, &s).lds_bytes, rows[i].kib << 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals),         cmocka_unit_test(no_tile_has_less_than_128_of_k),
        cmocka_unit_test(at_the_limit),     cmocka_unit_test(tail_classes),
        cmocka_unit_test(words_round_trip), cmocka_unit_test(lengths_make_no_kernel),
        cmocka_unit_test(lds_budgets),      cmocka_unit_test(kernels_that_differ_have_other_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
