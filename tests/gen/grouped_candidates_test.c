/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a call of grouped GEMM may be tuned over, and which calls are tuned as one. */
#include "tests/gen/grouped_testing.h"

static void calls_of_one_bucket(void **state) {
    (void)state;
    static const struct {
        const char *words, *bucket;
    } rows[] = {
        {"groups=8 m=1 n=512 k=1024", "groups=8 m=1 n=512 k=1024"},
        {"groups=8 m=1000 n=512 k=1024", "groups=8 m=1024 n=512 k=1024"},
        {"groups=8 m=1024 n=512 k=1024", "groups=8 m=1024 n=512 k=1024"},
        {"groups=8 m=1025 n=520 k=1040", "groups=8 m=2048 n=520 k=1040"},
        {"layout=offsets groups=3 m=1000 n=512 k=1024", "layout=offsets groups=3 m=1024 n=512 k=1024"},
        {"layout=padded groups=3 m=100 n=512 k=1024", "layout=padded groups=3 m=128 n=512 k=1024"},
        {"layout=batched groups=3 m=100 n=512 k=1024 b=preshuffled",
         "layout=batched groups=3 m=128 n=512 k=1024 b=preshuffled"},
        {"layout=n_offsets groups=3 m=100 n=1600 k=1040", "layout=n_offsets groups=3 m=128 n=3072 k=1040"},
        {"layout=k_offsets groups=3 m=100 n=520 k=1600", "layout=k_offsets groups=3 m=128 n=520 k=3072"},
        {"groups=8 m=300 n=512 k=1024 scale=block", "groups=8 m=512 n=512 k=1024 scale=block"},
        {"layout=n_offsets groups=3 m=100 n=8 k=1040", "layout=n_offsets groups=3 m=128 n=48 k=1040"},
        {"layout=k_offsets groups=50 m=100 n=8 k=16", "layout=k_offsets groups=50 m=128 n=8 k=800"},
        {"groups=1 m=2000000000 n=64 k=128", "groups=1 m=2000000000 n=64 k=128"},
        {"layout=k_offsets groups=3 m=8 n=64 k=2000000000", "layout=k_offsets groups=3 m=8 n=64 k=2000000000"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const grouped_shape s = shape_of(rows[i].words), b = grouped_bucket(&s), wanted = shape_of(rows[i].bucket);
        if (memcmp(&b, &wanted, sizeof b) != 0) fail_msg("%s", rows[i].words);
    }
}

/* divides: whether the tile leaves no tails of N and K. */
static int divides(const grouped_variant *v, int64_t n, int64_t k) {
    return n % TRIPLE_N(v->tile) == 0 && k % TRIPLE_K(v->tile) == 0;
}

static void candidates_are_legal_and_without_needless_tails(void **state) {
    (void)state;
    static const struct {
        const char *words;
        int tails;             /* there may be some */
        int least[CHIP_COUNT]; /* candidates: gfx942, whose LDS is smaller, and gfx950 */
    } rows[] = {{"groups=8 m=1024 n=2048 k=7168", 0, {12, 30}},
                {"groups=8 m=1024 n=2048 k=7168 b=preshuffled", 0, {20, 30}},
                {"groups=8 m=1024 n=2048 k=7168 scale=block", 0, {4, 18}},
                {"groups=8 m=1024 n=1280 k=1152 b=preshuffled", 0, {10, 15}},
                {"groups=8 m=1024 n=192 k=384", 0, {3, 5}},
                {"groups=8 m=1024 n=1000 k=1040", 1, {12, 30}},
                {"layout=padded groups=8 m=128 n=2048 k=7168", 0, {12, 30}},
                {"layout=batched groups=8 m=128 n=2048 k=7168", 0, {12, 30}},
                {"layout=n_offsets groups=8 m=128 n=16384 k=7168", 0, {12, 30}},
                {"layout=k_offsets groups=8 m=128 n=2048 k=8192", 0, {12, 30}}};
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int which = 0; which < CHIP_COUNT; which++) {
            const target t = target_of(chips[which].name);
            const grouped_shape s = shape_of(rows[i].words);
            grouped_variant all[GROUPED_CANDIDATES_MAX], standard;
            size_t count = 0;
            if (grouped_candidates(&t, &s, all, &count) || grouped_form_route(&t, &s, &standard))
                fail_msg("%s: %s", rows[i].words, cdnagen_error());
            assert_memory_equal(&all[0], &standard, sizeof standard);
            if ((int)count < rows[i].least[which]) fail_msg("%s on %s: %zu candidates", rows[i].words, t.text, count);
            assert_true(count <= GROUPED_CANDIDATES_MAX);
            for (size_t c = 0; c < count; c++) {
                grouped_shape whole = s;
                grouped_complete(&all[c], &whole);
                if (grouped_check(&t, &all[c], &whole)) fail_msg("%s", cdnagen_error());
                assert_int_equal(all[c].split_k, 0); /* forms have no workspace */
                assert_int_equal(all[c].unroll, 0);  /* a kernel for each K */
                assert_true(!all[c].wpe || all[c].wpe == 2);
                if (c && !rows[i].tails && !divides(&all[c], s.n, s.k))
                    fail_msg("%s: candidate %zu leaves tails", rows[i].words, c);
                for (size_t d = 0; d < c; d++) assert_memory_not_equal(&all[c], &all[d], sizeof all[c]);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_of_one_bucket),
                                       cmocka_unit_test(candidates_are_legal_and_without_needless_tails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
