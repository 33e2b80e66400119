/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The gemm_blockscale grammars: one text a variant, and what is said about a text that is not one. */
#include "tests/gen/gemm_testing.h"

static void canonical_tags_print_as_they_are(void **state) {
    (void)state;
    static const char *const rows[] = {
        "mfma16x16x128_t64x256x128_4w_panel8_cs_async_wpe2",
        "mfma16x16x128_t128x256x128_8w_cluster",
        "mfma16x16x128_t192x256x128_8w_delayed_wpe2",
        "mfma16x16x128_t256x256x128_8w_fold5",
        "mfma16x16x32_t128x128x128_4w_wm2_fused_group8_cs",
        "mfma16x16x128_t16x64x256_4w_sk8",
        "mfma16x16x128_t64x256x128_4w_xcd_pers",
        "mfma32x32x64_t64x256x128_4w_unroll4_xtwin",
        "mfma16x16x128_t64x256x128_4w_xlds_wpe2",
        "mfma16x16x128_t64x128x128_4w",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const blockscale_variant v = variant_of(rows[i]);
        prints_as(&gemm_blockscale_family.tag, &v, EVERY_USE, rows[i]);
    }
}

static void fields_mean_what_they_say(void **state) {
    (void)state;
    const blockscale_variant v = variant_of("mfma16x16x128_t64x256x128_4w_panel8_cs_async_wpe2"),
                             v_expected = {.atom = TRIPLE(16, 16, 128),
                                           .tile = TRIPLE(64, 256, 128),
                                           .core = GEMM_4W,
                                           .panel = 8,
                                           .cshuffle = 1,
                                           .async = 1,
                                           .wpe = 2},
                             w = variant_of("mfma16x16x128_t128x256x128_8w_cluster_xpromote"),
                             w_expected = {.atom = TRIPLE(16, 16, 128),
                                           .tile = TRIPLE(128, 256, 128),
                                           .core = GEMM_8W,
                                           .sched = GEMM_CLUSTER,
                                           .ablation = GEMM_NO_PROMOTE};
    assert_memory_equal(&v, &v_expected, sizeof v);
    assert_memory_equal(&w, &w_expected, sizeof w);
}

static void tags_that_are_none(void **state) {
    (void)state;
    static const struct {
        const char *tag;
        const char *parts[3];
    } rows[] = {
        {"mfma16x16x128_t64x256x128", {"ends without 4w|8w"}},
        {"mfma16x16x128_t64x256x128_cluster", {"'cluster' comes before 4w|8w", "character 27"}},
        {"mfma16x16x128_t64x256x128_4w_8w", {"'8w' gives 4w|8w again"}},
        {"mfma16x16x128_t64x256x128_8w_cluster_delayed", {"again, after 'cluster'"}},
        {"mfma16x16x128_t64x256x128_6w", {"'6w' is not a field"}},
        {"mfma16x16x128_t65x256x128_4w", {"'65x256x128'", "64x256x128"}},
        {"mfma16x16x128_t64x256x128_4w_async_cs", {"'cs' is out of order", "before 'async'"}},
        {"mfma16x16x128_t64x256x128_4w_panel1", {"1 is too small"}},
        {"mfma16x16x128_t64x256x128_4w_sk1", {"1 is too small"}},
        {"mfma16x16x128_t64x256x128_4w_inline", {"'inline' is not a field"}},
        {"mfma16x16x128_t64x256x128_4w_xnothing", {"'xnothing' is not a field", "x<twin|promote"}},
        {"mfma16x16x128_4w", {"comes before t, which is required"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        blockscale_variant v;
        expect_error(rows[i].tag, tag_parse(&gemm_blockscale_family.tag, rows[i].tag, &v), CDNAGEN_BAD_TAG,
                     rows[i].parts);
    }
}

static void shapes_print_what_is_not_standard(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"", ""},
        {"k=128 n=16 m=1", "m=1 n=16 k=128"},
        {"b=plain a_scales=row scale_m=1 scale_n=128 scales=f32 out=bf16 data=random pad=0", ""},
        {"m=0 b=preshuffled a_scales=kmajor scale_m=128 scale_n=1 scales=ue8m0 out=f16 data=exact pad=3",
         "m=0 b=preshuffled a_scales=kmajor scale_m=128 scale_n=1 scales=ue8m0 out=f16 data=exact pad=3"},
        {"k_tail=0 n_tail=1", "k_tail=0 n_tail=1"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const blockscale_shape s = shape_of(rows[i][0]);
        prints_as(&gemm_blockscale_family.shape, &s, EVERY_USE, rows[i][1]);
    }
}

/* Lengths, and what a run makes its data like, are no part of a kernel. */
static void tail_classes_follow_from_lengths(void **state) {
    (void)state;
    static const struct {
        const char *tag, *shape, *facts;
    } rows[] = {
        {"mfma16x16x128_t64x256x128_4w", "", "k_tail=1 n_tail=1"},
        {"mfma16x16x128_t64x256x128_4w", "m=5 n=512 k=256", "k_tail=0 n_tail=0"},
        {"mfma16x16x128_t64x256x128_4w", "m=9999 n=768 k=7168 data=exact pad=2", "k_tail=0 n_tail=0"},
        {"mfma16x16x128_t64x256x128_4w", "n=640 k=192", "k_tail=1 n_tail=1"},
        {"mfma16x16x128_t64x128x128_4w", "n=640 k=384", "k_tail=0 n_tail=0"},
        {"mfma16x16x128_t64x128x256_4w", "n=640 k=384", "k_tail=1 n_tail=0"},
        {"mfma16x16x128_t64x256x128_4w", "n=512 k=256 k_tail=1", "k_tail=1 n_tail=0"},
        {"mfma16x16x128_t64x256x128_4w", "n=512 k=0", "k_tail=0 n_tail=0"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        blockscale_shape s = shape_of(rows[i].shape);
        const blockscale_variant v = variant_of(rows[i].tag);
        gemm_blockscale_family.complete(&v, &s);
        prints_as(&gemm_blockscale_family.shape, &s, 1u << FIELD_KERNEL, rows[i].facts);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_tags_print_as_they_are),
        cmocka_unit_test(fields_mean_what_they_say),
        cmocka_unit_test(tags_that_are_none),
        cmocka_unit_test(shapes_print_what_is_not_standard),
        cmocka_unit_test(tail_classes_follow_from_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
