/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `auto` means for gemm_blockscale: the classes of problems by example, and what holds for every choice. */
#include "tests/gen/gemm_testing.h"

static cdnagen_status route(const char *chip_name, const char *words, int rank, blockscale_variant *v) {
    const target t = target_of(chip_name);
    const blockscale_shape s = shape_of(words);
    return blockscale_route(&t, &s, rank, v);
}

static void classes_by_example(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        /* narrow C, deep K: 8 waves; else the order of tiles that fills L2 least: panels where C is wide, none where K
         * is light */
        {"gfx950", "m=4096 n=2048 k=7168", "mfma16x16x128_t128x256x128_8w_cluster"},
        {"gfx950", "m=4096 n=65536 k=1536", "mfma16x16x128_t64x256x128_4w_panel8_cs_async_wpe2"},
        {"gfx950", "m=16384 n=7168 k=768", "mfma16x16x128_t64x256x128_4w_cs_async_wpe2"},
        {"gfx950", "m=32768 n=7168 k=768", "mfma16x16x128_t64x256x128_4w_cs_async_wpe2"},
        /* less than a tile of 128 x 256 a compute unit: smaller tiles rather than idle units */
        {"gfx950", "m=2048 n=2048 k=7168", "mfma16x16x128_t64x256x128_4w_panel4_cs_async_wpe2"},
        {"gfx950", "m=1024 n=7168 k=2048", "mfma16x16x128_t64x256x128_4w_group16_cs_async_wpe2"},
        /* decoding */
        {"gfx950", "m=1 n=7168 k=2048", "mfma16x16x128_t16x64x256_4w_sk3"},
        {"gfx950", "m=1 n=512 k=7168", "mfma16x16x128_t16x64x256_4w_sk8"},
        {"gfx950", "m=1 n=7168 k=256", "mfma16x16x128_t16x64x256_4w"},
        {"gfx950", "m=64 n=4096 k=7168", "mfma16x16x128_t32x64x256_4w_panel4_sk2"},
        {"gfx950", "m=64 n=65536 k=1536", "mfma16x16x128_t32x64x256_4w_panel4"},
        {"gfx950", "m=1 n=7168 k=2176", "mfma16x16x128_t16x64x128_4w_sk3"},
        {"gfx942", "m=1 n=7168 k=2048", "mfma16x16x32_t16x64x256_4w_sk3"},
        {"gfx942", "m=16384 n=7168 k=18432", "mfma16x16x32_t64x256x128_4w_cs_wpe2"},
        {"gfx942", "m=4096 n=7168 k=2048", "mfma16x16x32_t128x128x128_4w_wm2_group16_cs"},
        /* a scale a column: tiles that have the registers for it */
        {"gfx950", "m=4096 n=65536 k=1536 scale_n=1", "mfma16x16x128_t64x128x128_4w_group16_cs"},
        {"gfx950", "m=4096 n=2048 k=7168 scale_n=1", "mfma16x16x128_t128x256x128_8w_cluster"},
        {"gfx942", "m=16384 n=7168 k=18432 scale_n=1", "mfma16x16x32_t64x128x128_4w_panel8_cs"},
        {"gfx942", "m=4096 n=7168 k=2048 scale_n=1", "mfma16x16x32_t64x128x128_4w_group16_cs"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char words[100];
        snprintf(words, sizeof words, "%s b=preshuffled", rows[i][1]);
        blockscale_variant v;
        if (route(rows[i][0], words, 0, &v)) fail_msg("%s: %s", words, cdnagen_error());
        const blockscale_variant expected = variant_of(rows[i][2]);
        text printed = {0};
        tag_print(&gemm_blockscale_family.tag, &v, ~0u, &printed);
        if (memcmp(&v, &expected, sizeof v)) fail_msg("%s: %s, not %s", words, printed.data, rows[i][2]);
        text_free(&printed);
    }
}

/* check_choice: legal, whole, and with work for every compute unit as far as K can be split. */
static void check_choice(const char *chip_name, const char *words, const blockscale_shape *s,
                         const blockscale_variant *v, int rank) {
    const target t = target_of(chip_name);
    blockscale_shape completed = *s;
    blockscale_complete(v, &completed);
    if (blockscale_check(&t, v, &completed)) fail_msg("%s choice %d: %s", words, rank, cdnagen_error());
    if (v->ablation || v->unroll) fail_msg("%s choice %d is no kernel for results", words, rank);
    if (v->cshuffle && s->n % GEMM_CS_COLUMNS) fail_msg("%s choice %d stores 4 columns at once", words, rank);
    if (rank) return;
    const int64_t grid = blockscale_tiles_of(v, s->m, s->n).count * (v->split_k ? v->split_k : 1);
    const int can_split = s->k >= 4 * GEMM_SCALE_K && v->split_k < 8 && (v->split_k + 1) * 2 * GEMM_SCALE_K <= s->k;
    if (grid && grid < t.chip->cus && can_split)
        fail_msg("%s: %d workgroups for %d compute units, sk%d", words, (int)grid, t.chip->cus, (int)v->split_k);
}

static void every_problem_has_choices(void **state) {
    (void)state;
    static const int64_t ms[] = {0, 1, 17, 64, 65, 256, 1000, 4096, 16384}, ns[] = {0, 16, 129, 512, 2112, 7168, 65536},
                         ks[] = {0, 32, 128, 500, 1536, 7168};
    static const char *const chips_of[] = {"gfx942", "gfx950"};
    for (size_t c = 0; c < COUNT(chips_of); c++)
        for (size_t i = 0; i < COUNT(ms) * COUNT(ns) * COUNT(ks) * 2; i++) {
            const int64_t m = ms[i % COUNT(ms)], n = ns[i / COUNT(ms) % COUNT(ns)],
                          k = ks[i / COUNT(ms) / COUNT(ns) % COUNT(ks)];
            const int is_packed = i >= COUNT(ms) * COUNT(ns) * COUNT(ks);
            if (is_packed && (n % GEMM_PACK_N || k % GEMM_PACK_K)) continue;
            char words[100];
            snprintf(words, sizeof words, "m=%d n=%d k=%d b=%s", (int)m, (int)n, (int)k,
                     is_packed ? "preshuffled" : "plain");
            const blockscale_shape s = shape_of(words);
            blockscale_variant found[16];
            int rank = 0;
            cdnagen_status status;
            while ((status = route(chips_of[c], words, rank, &found[rank])) == CDNAGEN_OK) {
                check_choice(chips_of[c], words, &s, &found[rank], rank);
                for (int before = 0; before < rank; before++)
                    if (!memcmp(&found[before], &found[rank], sizeof found[0]))
                        fail_msg("%s: choices %d and %d are one", words, before, rank);
                if (++rank == 16) fail_msg("%s: choices without end", words);
            }
            if (status != CDNAGEN_LIMIT || !rank) fail_msg("%s: %d choices, %s", words, rank, cdnagen_error());
        }
}

static void auto_needs_all_lengths(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"n=16 k=128", "m is missing"}, {"m=16 k=128", "n is missing"}, {"m=16 n=16", "k is missing"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        blockscale_variant v;
        expect_error(rows[i][0], route("gfx950", rows[i][0], 0, &v), CDNAGEN_BAD_SHAPE,
                     (const char *const[]){rows[i][1], NULL});
    }
}

static void choices_end_with_what_each_lacked(void **state) {
    (void)state;
    blockscale_variant v;
    expect_error("end", route("gfx942", "m=4096 n=7168 k=8192 b=plain", 9, &v), CDNAGEN_LIMIT,
                 (const char *const[]){"auto has", "choices for m=4096 n=7168 k=8192 on gfx942",
                                       "t64x256x128_4w_cs_wpe2: gemm_blockscale: t64x256x128 needs 81920 bytes", NULL});
}

static void a_failed_allocation_leaks_nothing(void **state) {
    (void)state;
    const long before = mem_live();
    int failures = 0;
    for (long k = 1;; k++) {
        blockscale_variant v;
        mem_fail_at(k);
        const cdnagen_status status = route("gfx950", "m=4096 n=7168 k=2048", 20, &v);
        mem_fail_at(0);
        assert_int_equal(mem_live(), before);
        if (status == CDNAGEN_LIMIT && failures) break;
        if (status != CDNAGEN_NO_MEMORY && status != CDNAGEN_LIMIT) fail_msg("%s", cdnagen_error());
        failures++;
    }
    assert_true(failures >= 2);
}

/* Rows "| m x n x k | `tag` | workgroups | fills / fills without a map |" of the operator's README. */
static void the_readme_shows_what_auto_takes(void **state) {
    (void)state;
    char line[400];
    int rows = 0;
    FILE *const readme = fopen(SOURCE_DIR "/gen/gemm_blockscale/README.md", "r");
    assert_non_null(readme);
    while (fgets(line, sizeof line, readme)) {
        long m, n, k;
        char tag[80], words[80];
        text expected = {0};
        if (sscanf(line, "| %ld x %ld x %ld | `%79[^`]`", &m, &n, &k, tag) != 4) continue;
        snprintf(words, sizeof words, "m=%ld n=%ld k=%ld b=preshuffled", m, n, k);
        const plan p = plan_of("gemm_blockscale:auto", words);
        const blockscale_variant *const v = (const blockscale_variant *)p.variant;
        const raster_grid grid = blockscale_raster_grid(p.target.chip, v, m, n, k);
        const raster own = {.group = v->group, .panel = v->panel, .chunked = (int)v->xcd}, none = {.group = 0};
        int64_t fills, without;
        assert_int_equal(raster_fills(&grid, &own, &fills), CDNAGEN_OK);
        assert_int_equal(raster_fills(&grid, &none, &without), CDNAGEN_OK);
        const double mib = (v->split_k ? (double)v->split_k : 1) / (1 << 20);
        text_add(&expected, "| %ld x %ld x %ld | `%s` | %u | %.0f / %.0f |\n", m, n, k,
                 p.tag + strlen("mfma16x16x128_"), p.grid[0] * p.grid[1], mib * (double)fills, mib * (double)without);
        assert_string_equal(line, expected.data);
        text_free(&expected);
        rows++;
    }
    fclose(readme);
    assert_true(rows > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_by_example),
        cmocka_unit_test(every_problem_has_choices),
        cmocka_unit_test(the_readme_shows_what_auto_takes),
        cmocka_unit_test(auto_needs_all_lengths),
        cmocka_unit_test(choices_end_with_what_each_lacked),
        cmocka_unit_test(a_failed_allocation_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
