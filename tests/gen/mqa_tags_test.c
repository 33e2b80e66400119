/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The mqa_logits grammars: one text a variant, and what is said about a text that is not one. */
#include "tests/gen/mqa_testing.h"

static void canonical_texts(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"mfma32x32x64_bkv64_lds2_swp_rs", "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs"},
        {"mfma32x32x64_bkv64_r1_w1_lds2_swp_rs", "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs"},
        {"mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma"},
        {"mfma32x32x64_bkv64_lds3_pd2", "mfma32x32x64_bkv64_r1_w1_lds3"},
        {"mfma32x32x64_bkv64_w2_lds3_pd1", "mfma32x32x64_bkv64_r1_w2_lds3_pd1"},
        {"mfma32x32x64_bkv64_r1_w1_lds4_pd1_swp_rs_hfma_wpe3", "mfma32x32x64_bkv64_r1_w1_lds4_pd1_swp_rs_hfma_wpe3"},
        {"mfma16x16x128_bkv128_r4", "mfma16x16x128_bkv128_r4_w1"},
        {"mfma16x16x32_bkv128_r4_w2", "mfma16x16x32_bkv128_r4_w2"},
        {"mfma_r4_w2", "mfma16x16x32_bkv128_r4_w2"},
        {"mfma", "mfma16x16x32_bkv128_r1_w1"},
        {"mfma_w4_hfma_wpe3_ns2", "mfma16x16x32_bkv128_r1_w4_hfma_wpe3_ns2"},
        {"mfma32x32x16_bkv64_hfma2_wpe2_ns4", "mfma32x32x16_bkv64_r1_w1_hfma2_wpe2_ns4"},
        {"mfma32x32x64_bkv64_lds3_swp_rs_ls_ts_dg", "mfma32x32x64_bkv64_r1_w1_lds3_swp_rs_ls_ts_dg"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mqa_variant v = variant_of(rows[i][0]);
        prints_as(&mqa_logits_family.tag, &v, EVERY_USE, rows[i][1]);
    }
}

static void a_tag_without_its_host_field_is_the_kernel(void **state) {
    (void)state;
    const mqa_variant v = variant_of("mfma32x32x64_bkv64_wpe2_ns4");
    assert_int_equal(v.splits, 4);
    prints_as(&mqa_logits_family.tag, &v, 1u << FIELD_KERNEL, "mfma32x32x64_bkv64_r1_w1_wpe2");
}

static void left_out_fields_have_their_standard(void **state) {
    (void)state;
    const mqa_variant v = variant_of("mfma32x32x64_bkv64"), expected = {
                                                                .atom = TRIPLE(32, 32, 64),
                                                                .bkv = 64,
                                                                .rows = 1,
                                                                .waves = 1,
                                                                .prefetch = 2,
                                                            };
    assert_memory_equal(&v, &expected, sizeof v);
}

/* Every field at its bounds with every other: what is printed parses to the same variant. */
static void round_trip(const mqa_variant *v) {
    text printed = {0};
    assert_int_equal(fields_check(&mqa_logits_family.tag, v), CDNAGEN_OK);
    tag_print(&mqa_logits_family.tag, v, EVERY_USE, &printed);
    const mqa_variant back = variant_of(printed.data);
    if (memcmp(&back, v, sizeof back)) fail_msg("%s does not parse back to what it was printed from", printed.data);
    text_free(&printed);
}

static void round_trip_slots_on(mqa_variant v) {
    static const int64_t depths[] = {1, 2, 16};
    for (size_t depth = 0; depth < COUNT(depths); depth++)
        for (int flags = 0; flags < 64; flags++) {
            v.prefetch = depths[depth];
            v.swp = flags & 1, v.rs = flags >> 1 & 1, v.ls = flags >> 2 & 1, v.ts = flags >> 3 & 1;
            v.dg = flags >> 4 & 1, v.ct = v.swp && flags >> 5;
            round_trip(&v);
        }
}

static void every_legal_tag_round_trips(void **state) {
    (void)state;
    static const int64_t atom_values[] = {TRIPLE(16, 16, 32), TRIPLE(32, 32, 16), TRIPLE(16, 16, 128),
                                          TRIPLE(32, 32, 64)};
    static const int64_t tiles[] = {16, 64, 256}, rows[] = {1, 8}, waves[] = {1, 16}, slots[] = {0, 1, 16},
                         hints[] = {0, 8}, splits[] = {0, MQA_SPLITS_MAX};
    enum { CASES = 4 * 3 * 2 * 2 * 3 * 3 * 2 * 2 };
    for (int i = 0; i < CASES; i++) {
        int rest = i;
        mqa_variant v = {.prefetch = 2};
        v.atom = atom_values[rest % 4], rest /= 4;
        v.bkv = tiles[rest % 3], rest /= 3;
        v.rows = rows[rest % 2], rest /= 2;
        v.waves = waves[rest % 2], rest /= 2;
        v.slots = slots[rest % 3], rest /= 3;
        v.head_acc = rest % 3, rest /= 3;
        v.wpe = hints[rest % 2], rest /= 2;
        v.splits = splits[rest % 2];
        if (v.slots)
            round_trip_slots_on(v);
        else
            round_trip(&v);
    }
}

typedef struct refusal {
    const char *given;
    const char *parts[5];
} refusal;

static void bad_tags(void **state) {
    (void)state;
    static const refusal rows[] = {
        {"", {"legal here: mfma<16x16x32|32x32x16|16x16x128|32x32x64>"}},
        {"auto2", {"character 1", "'auto2'", "mfma<"}},
        {"bkv64", {"character 1", "mfma"}},
        {"mfma32x32x64", {"bkv"}},
        {"mfma32x32x32_bkv64", {"character 5", "32x32x32", "16x16x32|32x32x16|16x16x128|32x32x64"}},
        {"mfma32x32x64_bkv8", {"character 17", "16..256"}},
        {"mfma32x32x64_bkv512", {"character 17", "16..256"}},
        {"mfma32x32x64_bkv", {"bkv", "16..256"}},
        {"mfma32x32x64_bkv064", {"leading zeros"}},
        {"mfma32x32x64_bkv64x", {"'x'"}},
        {"mfma32x32x64_bkv64_r0", {"1..8"}},
        {"mfma32x32x64_bkv64_r9", {"1..8"}},
        {"mfma32x32x64_bkv64_w17", {"1..16"}},
        {"mfma32x32x64_bkv64_w2_r1", {"'r1'", "order"}},
        {"mfma32x32x64_bkv64_r1_r2", {"'r2'", "again"}},
        {"mfma32x32x64_bkv64_lds0", {"1..16"}},
        {"mfma32x32x64_bkv64_pd1", {"'pd1'", "needs lds", "character 20"}},
        {"mfma32x32x64_bkv64_swp", {"'swp'", "needs lds"}},
        {"mfma32x32x64_bkv64_rs", {"'rs'", "needs lds"}},
        {"mfma32x32x64_bkv64_ls", {"'ls'", "needs lds"}},
        {"mfma32x32x64_bkv64_ts", {"'ts'", "needs lds"}},
        {"mfma32x32x64_bkv64_dg", {"'dg'", "needs lds"}},
        {"mfma32x32x64_bkv64_lds2_ct", {"'ct'", "needs swp"}},
        {"mfma32x32x64_bkv64_lds2_swp1", {"'1'"}},
        {"mfma32x32x64_bkv64_lds2_rs_swp", {"'swp'", "order"}},
        {"mfma32x32x64_bkv64_hadd", {"fma|fma2"}},
        {"mfma32x32x64_bkv64_h", {"fma|fma2"}},
        {"mfma32x32x64_bkv64_wpe9", {"1..8"}},
        {"mfma32x32x64_bkv64_ns0", {"1..65535"}},
        {"mfma32x32x64_bkv64__r1", {"missing"}},
        {"mfma32x32x64_bkv64_", {"missing"}},
        {"mfma32x32x64_bkv64 ", {"' '"}},
        {"MFMA32x32x64_bkv64", {"'MFMA32x32x64'"}},
        {"mfma_bkv64_r1", {"character 6", "'bkv64' gives bkv again, after 'mfma'"}},
        {"mfma_r9_w4", {"character 7", "9 is too large: r takes 1..8"}},
        {"mfma_w4_r2", {"character 9", "'r2' is out of order: it belongs before 'w4'"}},
        {"mfmas_r1", {"character 5", "'s'", "16x16x32|32x32x16|16x16x128|32x32x64"}},
        {"mfma_r1_w1_swp", {"character 12", "'swp' needs lds"}},
        {"mfma_", {"a field is missing"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mqa_variant v;
        expect_error(rows[i].given, tag_parse(&mqa_logits_family.tag, rows[i].given, &v), CDNAGEN_BAD_TAG,
                     rows[i].parts);
    }
}

static void shapes(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        /* given, canonical, specialised */
        {"heads=64 dim=128", "heads=64 dim=128 clean=1", "heads=64 dim=128 clean=1"},
        {"dim=128  heads=64 clean=0", "heads=64 dim=128 clean=0", "heads=64 dim=128 clean=0"},
        {"seq=128 seq_kv=1024 heads=64 dim=128 window=causal clean=1", "seq=128 seq_kv=1024 heads=64 dim=128 clean=1",
         "heads=64 dim=128 clean=1"},
        {"seq=0 seq_kv=0 heads=16 dim=64", "seq=0 seq_kv=0 heads=16 dim=64 clean=1", "heads=16 dim=64 clean=1"},
        {"heads=32 dim=512 window=batch_causal batch=4 kv_fp8=e4m3fnuz",
         "heads=32 dim=512 clean=1 kv_fp8=e4m3fnuz window=batch_causal batch=4",
         "heads=32 dim=512 clean=1 kv_fp8=e4m3fnuz"},
        {"weights=bf16 heads=12 dim=96 strided=1 window=unsorted",
         "heads=12 dim=96 clean=1 weights=bf16 window=unsorted strided=1", "heads=12 dim=96 clean=1 weights=bf16"},
        {"weights=f32 heads=12 dim=96", "heads=12 dim=96 clean=1", "heads=12 dim=96 clean=1"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mqa_shape s = shape_of(rows[i][0]);
        prints_as(&mqa_logits_family.shape, &s, EVERY_USE, rows[i][1]);
        prints_as(&mqa_logits_family.shape, &s, 1u << FIELD_KERNEL, rows[i][2]);
        const mqa_shape back = shape_of(rows[i][1]);
        assert_memory_equal(&back, &s, sizeof s);
    }
    const mqa_shape s = shape_of("heads=64 dim=128");
    assert_int_equal(s.seq, -1);
    assert_int_equal(s.seq_kv, -1);
}

static void bad_shapes(void **state) {
    (void)state;
    static const refusal rows[] = {
        {"", {"heads", "required"}},
        {"heads=64", {"dim", "required", "known keys", "seq_kv"}},
        {"heads=64 dim=128 seqkv=3", {"'seqkv'", "did you mean 'seq_kv'", "known keys"}},
        {"heads=0 dim=128", {"0 is too small", "1..128"}},
        {"heads=129 dim=128", {"1..128"}},
        {"heads=64 dim=16", {"32..512"}},
        {"heads=64 dim=1024", {"32..512"}},
        {"heads=64 dim=128 weights=f16", {"f32|bf16"}},
        {"heads=64 dim=128 strided=2", {"0..1"}},
        {"heads=64 dim=128 clean=2", {"0..1"}},
        {"heads=64 dim=128 seq=2147483648", {"0..2147483647"}},
        {"heads=64 dim=128 seq=-1", {"0..2147483647"}},
        {"heads=64 dim=128 seq_kv=536870913", {"0..536870912"}},
        {"heads=64 dim=128 window=square", {"causal|cp|misaligned|empty|past_end|batch_causal|unsorted"}},
        {"heads=64 dim=128 q_fp8=e5m2", {"native|e4m3fn|e4m3fnuz"}},
        {"heads=64 heads=64 dim=128", {"again"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mqa_shape s;
        expect_error(rows[i].given, shape_parse(&mqa_logits_family.shape, rows[i].given, &s), CDNAGEN_BAD_SHAPE,
                     rows[i].parts);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_texts),
        cmocka_unit_test(a_tag_without_its_host_field_is_the_kernel),
        cmocka_unit_test(left_out_fields_have_their_standard),
        cmocka_unit_test(every_legal_tag_round_trips),
        cmocka_unit_test(bad_tags),
        cmocka_unit_test(shapes),
        cmocka_unit_test(bad_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
