/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every refusal of gemm_blockscale's check, with the value that is refused and what is allowed. */
#include "tests/gen/gemm_testing.h"

static cdnagen_status check(const char *id, const char *tag, const char *words) {
    const target t = target_of(id);
    const blockscale_variant v = variant_of(tag);
    blockscale_shape s = shape_of(words);
    gemm_blockscale_family.complete(&v, &s);
    return gemm_blockscale_family.check(&t, &v, &s);
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *chip, *tag, *shape;
        cdnagen_status status;
        const char *parts[4];
    } rows[] = {
        /* fields against each other */
        {"gfx950", "mfma16x16x128_t64x256x128_4w_wm1", "", CDNAGEN_BAD_TAG, {"wm1 is what 4w means", "leave it out"}},
        {"gfx950", "mfma16x16x128_t128x256x128_8w_wm2", "", CDNAGEN_BAD_TAG, {"wm2 is what 8w means"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_wm8", "", CDNAGEN_BAD_TAG, {"wm8", "4 waves", "1, 2, 4"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_wm3", "", CDNAGEN_BAD_TAG, {"wm3 does not divide"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_group4_panel4", "", CDNAGEN_BAD_TAG, {"group and panel"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_panel4_xcd", "", CDNAGEN_BAD_TAG, {"leave xcd out"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_cluster", "", CDNAGEN_BAD_TAG, {"schedules of 8w"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_fold4", "", CDNAGEN_BAD_TAG, {"fold is a schedule of 8w"}},
        {"gfx950", "mfma16x16x128_t128x256x128_8w_cluster_fold4", "", CDNAGEN_BAD_TAG, {"leave delayed or cluster"}},
        {"gfx950", "mfma16x16x128_t128x256x128_8w_fused", "", CDNAGEN_BAD_TAG, {"fused is a schedule of 4w"}},
        {"gfx950", "mfma16x16x128_t128x256x128_8w_async", "", CDNAGEN_BAD_TAG, {"leave async out"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_sk2_pers", "", CDNAGEN_BAD_TAG, {"leave pers out"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_sk2_unroll2", "", CDNAGEN_BAD_TAG, {"leave sk out"}},
        {"gfx950", "mfma16x16x128_t128x256x128_8w_wpe1", "", CDNAGEN_BAD_TAG, {"wpe may be 2 or more"}},
        /* tile, atom and chip */
        {"gfx942", "mfma16x16x128_t64x256x128_4w", "", CDNAGEN_LIMIT, {"16x16x128", "gfx942", "16x16x32, 32x32x16"}},
        {"gfx950", "mfma16x16x128_t16x64x128_4w_wm2", "", CDNAGEN_BAD_TAG, {"16 rows", "multiple of 32"}},
        {"gfx950", "mfma16x16x128_t32x256x128_8w", "", CDNAGEN_BAD_TAG, {"32 rows", "multiple of 64", "two halves"}},
        {"gfx950", "mfma16x16x128_t64x64x128_8w", "", CDNAGEN_BAD_TAG, {"64 columns", "multiple of 128"}},
        {"gfx950", "mfma32x32x64_t64x64x128_4w", "", CDNAGEN_BAD_TAG, {"64 columns", "128", "32-column"}},
        {"gfx950", "mfma16x16x128_t16x256x128_4w_async", "", CDNAGEN_LIMIT, {"async needs 16 bytes", "has 8"}},
        {"gfx942", "mfma16x16x32_t128x256x128_8w", "", CDNAGEN_LIMIT, {"98304 bytes of LDS", "gfx942 has 65536"}},
        {"gfx942", "mfma16x16x32_t64x128x128_8w", "", CDNAGEN_LIMIT, {"DMA of 16 bytes a lane", "gfx942 has 4"}},
        {"gfx942",
         "mfma16x16x32_t64x128x128_4w_async",
         "",
         CDNAGEN_LIMIT,
         {"async", "16 bytes a lane", "gfx942 has 4"}},
        {"gfx950", "mfma16x16x128_t64x128x256_8w", "", CDNAGEN_BAD_TAG, {"128 elements, not the 256"}},
        {"gfx950", "mfma32x32x64_t128x256x128_8w", "", CDNAGEN_LIMIT, {"mfma16x16x128, not 32x32x64"}},
        {"gfx950", "mfma16x16x128_t256x256x256_8w", "", CDNAGEN_LIMIT, {"262144 bytes", "gfx950 has 163840"}},
        {"gfx942", "mfma16x16x32_t64x256x128_4w", "b=plain", CDNAGEN_LIMIT, {"81920 bytes", "gfx942 has 65536"}},
        {"gfx942", "mfma16x16x32_t256x256x128_4w_cs", "b=preshuffled", CDNAGEN_LIMIT, {"131072 bytes", "or C for cs"}},
        {"gfx950",
         "mfma16x16x128_t128x256x128_4w_wpe3",
         "b=preshuffled",
         CDNAGEN_LIMIT,
         {"wpe3", "128 sums", "1 to 2"}},
        /* shape */
        {"gfx950", "mfma16x16x128_t64x256x128_4w", "scale_m=64", CDNAGEN_BAD_SHAPE, {"scale_m=64", "1 or 128"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w", "scale_n=2", CDNAGEN_BAD_SHAPE, {"scale_n=2", "1 or 128"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w", "b=preshuffled k=48", CDNAGEN_BAD_SHAPE, {"multiple of 32, not 48"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w", "b=preshuffled n=24", CDNAGEN_BAD_SHAPE, {"multiple of 16, not 24"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w", "k=192 k_tail=0", CDNAGEN_BAD_SHAPE, {"k_tail=0", "k=192", "128"}},
        {"gfx950", "mfma16x16x128_t64x256x256_4w", "k=384 k_tail=0", CDNAGEN_BAD_SHAPE, {"k=384", "256"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w", "n=384 n_tail=0", CDNAGEN_BAD_SHAPE, {"n_tail=0", "n=384", "256"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_unroll2", "k=384", CDNAGEN_BAD_SHAPE, {"unroll2", "k=256", "k=384"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_unroll2", "", CDNAGEN_BAD_SHAPE, {"unroll2", "k=256", "k_tail=0"}},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_sk4", "k=384", CDNAGEN_LIMIT, {"sk4", "k=384", "128, 3"}},
        {"gfx950", "mfma16x16x128_t64x256x256_4w_sk2", "k=256", CDNAGEN_LIMIT, {"sk2", "256, 1"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        expect_error(rows[i].tag, check(rows[i].chip, rows[i].tag, rows[i].shape), rows[i].status, rows[i].parts);
}

/* The limit itself is allowed. */
static void at_the_limit(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"gfx950", "mfma16x16x128_t32x256x128_4w_async", "b=preshuffled"},
        {"gfx950", "mfma16x16x128_t16x64x256_4w_async", "b=preshuffled"},
        {"gfx942", "mfma16x16x32_t64x128x128_4w", "b=plain"},
        {"gfx942", "mfma16x16x32_t128x256x128_4w_cs", "b=preshuffled"},
        {"gfx950", "mfma16x16x128_t256x256x128_8w_cs", ""},
        {"gfx950", "mfma16x16x128_t128x256x128_4w_wpe2", "b=preshuffled"},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_sk4", "k=512"},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_sk4_xtwin", "k=512"},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_unroll2", "k=256"},
        {"gfx950", "mfma16x16x128_t64x256x128_4w_unroll2", "k_tail=0"},
        {"gfx950", "mfma16x16x128_t64x256x128_4w", "n=0 k=0 m=0"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (check(rows[i][0], rows[i][1], rows[i][2])) fail_msg("%s %s: %s", rows[i][1], rows[i][2], cdnagen_error());
    }
}

static void geometry_by_hand(void **state) {
    (void)state;
    const blockscale_shape plain = shape_of("b=plain"), packed = shape_of("b=preshuffled");
    blockscale_variant v = variant_of("mfma16x16x128_t64x256x128_4w");
    gemm_geometry g = blockscale_geometry_of(&v, &packed);
    assert_true(g.threads == 256 && g.waves_m == 1 && g.waves_n == 4 && g.m_atoms == 4 && g.n_atoms == 4);
    assert_true(g.k_steps == 1 && g.k_blocks == 1 && g.acc == 4 && g.split_k == 1);
    assert_true(g.a_bytes == 8192 && g.b_bytes == 0 && g.lds_bytes == 16384);
    g = blockscale_geometry_of(&v, &plain);
    assert_true(g.b_bytes == 32768 && g.lds_bytes == 2 * (8192 + 32768));
    v = variant_of("mfma16x16x128_t64x256x128_4w_cs");
    assert_int_equal(blockscale_geometry_of(&v, &packed).lds_bytes, 32768);
    v = variant_of("mfma16x16x128_t128x256x128_8w");
    g = blockscale_geometry_of(&v, &packed);
    assert_true(g.threads == 512 && g.waves_m == 2 && g.waves_n == 4 && g.m_atoms == 4 && g.n_atoms == 4);
    assert_int_equal(g.lds_bytes, 96 << 10);
    v = variant_of("mfma16x16x32_t128x128x256_4w_wm2_sk3");
    g = blockscale_geometry_of(&v, &packed);
    assert_true(g.waves_m == 2 && g.waves_n == 2 && g.k_steps == 4 && g.k_blocks == 2 && g.split_k == 3);
}

static void workspace_by_hand(void **state) {
    (void)state;
    const blockscale_variant none = variant_of("mfma16x16x128_t64x256x128_4w"),
                             v = variant_of("mfma16x16x128_t64x256x128_4w_sk3");
    assert_int_equal(blockscale_workspace_bytes(&none, 1000, 1000), 0);
    assert_int_equal(blockscale_workspace_bytes(&v, 64, 256), 256 + 3 * 64 * 256 * 4);
    assert_int_equal(blockscale_workspace_bytes(&v, 65, 257), 256 + 4 * 3 * 64 * 256 * 4);
    assert_int_equal(blockscale_workspace_bytes(&v, 64 * 65, 256), 512 + 65 * 3 * 64 * 256 * 4);
    assert_int_equal(blockscale_workspace_bytes(&v, 0, 256), 0);
    const blockscale_variant most = variant_of("mfma16x16x128_t256x256x128_8w_sk64");
    assert_true(blockscale_workspace_bytes(&most, GEMM_LENGTH_MAX, GEMM_LENGTH_MAX) == UINT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals),
        cmocka_unit_test(at_the_limit),
        cmocka_unit_test(geometry_by_hand),
        cmocka_unit_test(workspace_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
