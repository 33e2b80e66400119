/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gemm_grouped on the simulator, launch against launch: straight-line K, waves_per_eu and repetition change no bit,
 * lengths make no kernel, metadata that lie or break the rules that only the device sees reach no other group, and
 * nothing past an operand's end is touched. */
#include "tests/sweep/grouped_runs.h"

#define LATE "late poison check=all threads=1"
/* A run of `rest` on each chip in turn against one of `other`, whose shape gets `more`. */
static void assert_same(const char *rest, const char *other, const char *shape, const char *more) {
    for (int which = 0; which < CHIP_COUNT; which++) {
        char second_shape[200], what[400];
        run_result first, second;
        const kernel_row a = runs_row(which, rest);
        const kernel_row b = runs_row(which, other);
        snprintf(second_shape, sizeof second_shape, "%s%s", shape, more);
        snprintf(what, sizeof what, "%s: %s and %s%s at %s", a.chip, rest, other, more, shape);
        runs_with(&a, shape, LATE, NULL, 0, &first);
        runs_with(&b, second_shape, LATE, NULL, 0, &second);
        runs_assert_same(&first, &second, what);
        runs_let_go(&first);
        runs_let_go(&second);
    }
}

/* Loops over K against straight-line code, from 1 to 8 K tiles; and the loop that takes tails, where there is none. */
static void unrolled_kernels_give_the_bits_of_rolled_ones(void **state) {
    (void)state;
    enum { TILES = 8 };
    static const char *const plain[TILES] = {"layout=sizes m=40",
                                             "layout=offsets m=40",
                                             "layout=padded m=20",
                                             "layout=batched m=20",
                                             "layout=n_offsets m=20",
                                             "layout=sizes m=40 scale=block",
                                             "layout=batched m=20 scale=block",
                                             "layout=n_offsets m=20"};
    static const char *const preshuffled[TILES] = {"layout=padded m=20 b=preshuffled",
                                                   "layout=batched m=20 b=preshuffled",
                                                   "layout=sizes m=40 b=preshuffled",
                                                   "layout=offsets m=40 b=preshuffled",
                                                   "layout=sizes m=40 b=preshuffled scale=block",
                                                   "layout=padded m=20 b=preshuffled",
                                                   "layout=sizes m=40 b=preshuffled",
                                                   "layout=offsets m=40 b=preshuffled scale=block"};
    for (int tiles = 1; tiles <= TILES; tiles++) {
        char shape[160], rolled[40], tag[80];
        const int depth = tiles % 3 ? 128 : 256;
        snprintf(rolled, sizeof rolled, "t32x128x%d%s", depth, tiles % 2 ? "" : "_async");
        snprintf(tag, sizeof tag, "%s_unroll%d", rolled, tiles);
        snprintf(shape, sizeof shape, "%s groups=3 n=128 k=%d", plain[tiles - 1], depth * tiles);
        assert_same(tag, rolled, shape, "");
        if (tiles % 3 == 1) assert_same(rolled, rolled, shape, " k_tail=1");
        snprintf(shape, sizeof shape, "%s groups=3 n=128 k=%d", preshuffled[tiles - 1], depth * tiles);
        assert_same(tag, rolled, shape, "");
    }
}

static void wpe_changes_no_bit(void **state) {
    (void)state;
    assert_same("t64x128x128", "t64x128x128_wpe2", "groups=3 m=100 n=128 k=384 b=preshuffled", "");
    assert_same("t64x128x128_cs", "t64x128x128_cs_wpe2", "layout=k_offsets groups=3 m=70 n=136 k=640", "");
    assert_same("t64x128x128", "t64x128x128_wpe2", "layout=offsets groups=3 m=100 n=256 k=256 scale=block", "");
}

/* Twelve launches of each, one after the other: K in parts that meet in any order among them. */
static void launches_repeat_to_the_bit(void **state) {
    (void)state;
    enum { LAUNCHES = 12 };
    static const char *const rows[][2] = {{"t32x64x128_sk4", "groups=3 m=40 n=136 k=1024"},
                                          {"t32x128x128_cs", "layout=k_offsets groups=3 m=40 n=136 k=656"},
                                          {"t16x64x128_sk3", "layout=padded groups=2 m=17 n=72 k=400"}};
    for (int which = 0; which < CHIP_COUNT; which++)
        for (size_t i = 0; i < COUNT(rows); i++) {
            const kernel_row k = runs_row(which, rows[i][0]);
            run_result first;
            runs_with(&k, rows[i][1], "threads=2", NULL, 0, &first);
            for (int l = 1; l < LAUNCHES; l++) {
                run_result again;
                runs_with(&k, rows[i][1], "threads=2", NULL, 0, &again);
                runs_assert_same(&first, &again, rows[i][1]);
                runs_let_go(&again);
            }
            runs_let_go(&first);
        }
}

/* ---- what only the device knows ---- */

/* Row after row, and in bands that end inside a group. */
static const char *const orders[] = {"t32x64x128", "t32x64x128_group2"};

/* Whatever the device holds, groups lie one after the other within the operands. */
static void metadata_that_lie_reach_no_other_group(void **state) {
    (void)state;
    static const int64_t counts[] = {-5, 40, INT32_MAX, 7}, too_many[] = {0, INT32_MAX, INT32_MAX, 3};
    static const int64_t high_halves[] = {(1LL << 40) + 9, (7LL << 32) + 30, -1, 20};
    static const int64_t past_the_last[] = {48, -5, 7, INT32_MAX};
    static const int32_t ends[] = {64, 32, 90, INT32_MAX}, negative[] = {-8, 70, -1, 80};
    static const int32_t k_ends[] = {64, 32, 96, INT32_MAX};
    static const struct {
        const char *shape;
        const void *extents;
        size_t bytes;
    } rows[] = {
        {"layout=sizes groups=4 m=100 n=64 k=128 extents=25,25,25,25", counts, sizeof counts},
        {"layout=sizes groups=4 m=100 n=64 k=128 extents=25,25,25,25", too_many, sizeof too_many},
        {"layout=sizes groups=4 m=100 n=64 k=128 extents=25,25,25,25", high_halves, sizeof high_halves},
        {"layout=offsets groups=4 m=100 n=64 k=128 extents=25,25,25,25", ends, sizeof ends},
        {"layout=offsets groups=4 m=100 n=64 k=128 extents=25,25,25,25", negative, sizeof negative},
        {"layout=padded groups=4 m=48 n=64 k=128 extents=48,48,48,48", counts, sizeof counts},
        {"layout=padded groups=4 m=48 n=64 k=128 extents=48,48,48,48", high_halves, sizeof high_halves},
        {"layout=padded groups=4 m=48 n=64 k=128 extents=48,48,48,48", past_the_last, sizeof past_the_last},
        {"layout=n_offsets groups=4 m=20 n=96 k=128 extents=24,24,24,24", ends, sizeof ends},
        {"layout=k_offsets groups=4 m=20 n=64 k=128 extents=32,32,32,32", k_ends, sizeof k_ends},
    };
    for (int which = 0; which < CHIP_COUNT; which++)
        for (size_t i = 0; i < 2 * COUNT(rows); i++) {
            const kernel_row k = runs_row(which, orders[i / COUNT(rows)]);
            run_result r;
            runs_with(&k, rows[i % COUNT(rows)].shape, LATE, rows[i % COUNT(rows)].extents, rows[i % COUNT(rows)].bytes,
                      &r);
            runs_let_go(&r);
        }
}

/* The same where a scan takes its second round: groups from number 64 on end before, at and behind where the first 64
 * do. */
static void metadata_that_lie_past_the_first_round(void **state) {
    (void)state;
    enum { GROUPS = 70, ROUND = 64 };
    static const struct {
        grouped_layout layout;
        const char *shape;
        int unit; /* of an extent */
    } rows[] = {{GROUPED_SIZES, "layout=sizes groups=70 m=100 n=64 k=128", 1},
                {GROUPED_OFFSETS, "layout=offsets groups=70 m=100 n=64 k=128", 1},
                {GROUPED_N_OFFSETS, "layout=n_offsets groups=70 m=20 n=800 k=128", 8},
                {GROUPED_K_OFFSETS, "layout=k_offsets groups=70 m=20 n=64 k=1600", 16}};
    static const int later[GROUPS - ROUND] = {40, -7, 70, 70, 66, 1000};
    for (int which = 0; which < CHIP_COUNT; which++)
        for (size_t i = 0; i < COUNT(rows); i++) {
            const kernel_row k = runs_row(which, orders[(i + (size_t)which) % COUNT(orders)]);
            int64_t counts[GROUPS];
            int32_t ends[GROUPS];
            for (int g = 0; g < GROUPS; g++) {
                counts[g] = g < ROUND ? 1 : later[g - ROUND];
                ends[g] = rows[i].unit * (g < ROUND ? g + 1 : later[g - ROUND]);
            }
            const int is_count = rows[i].layout == GROUPED_SIZES;
            run_result r;
            runs_with(&k, rows[i].shape, LATE, is_count ? (void *)counts : ends, is_count ? sizeof counts : sizeof ends,
                      &r);
            runs_let_go(&r);
        }
}

/* Columns of a group that fill no quad stay as they were, and the next group's are its own: twice the same. */
static void columns_that_fill_no_quad_are_left(void **state) {
    (void)state;
    static const char shape[] = "layout=n_offsets groups=4 m=20 n=96 k=128 extents=24,24,24,24";
    static const int32_t ends[] = {10, 31, 60, 96};
    static const char *const tags[] = {"t32x64x128", "t32x64x128_cs"};
    for (int which = 0; which < CHIP_COUNT; which++)
        for (size_t i = 0; i < COUNT(tags); i++) {
            const kernel_row k = runs_row(which, tags[i]);
            run_result first, second;
            runs_with(&k, shape, LATE, ends, sizeof ends, &first);
            runs_with(&k, shape, LATE, ends, sizeof ends, &second);
            runs_assert_same(&first, &second, tags[i]);
            runs_let_go(&first);
            runs_let_go(&second);
        }
}

/* A K that is no multiple of 16 is its group's own matter: the groups beside it are right, nothing else is written, and
 * every run gives the same bits. */
static void a_k_that_fills_no_load_harms_nobody_else(void **state) {
    (void)state;
    static const char shape[] = "layout=k_offsets groups=4 m=20 n=64 k=512 extents=128,128,128,128 data=coherent";
    static const int32_t ends[] = {96, 201, 350, 480};
    static const kernel_row rows[] = {{"gfx942", "mfma16x16x32_t32x64x128"},
                                      {"gfx950", "mfma16x16x128_t32x64x128_async"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        run_result first, second;
        runs_with(&rows[i], shape, LATE, ends, sizeof ends, &first);
        runs_with(&rows[i], shape, LATE, ends, sizeof ends, &second);
        runs_assert_same(&first, &second, shape);
        runs_let_go(&first);
        runs_let_go(&second);
    }
}

/* launch_exact: the launch's operands without guards, with these extents: each ends where its memory does. */
static void launch_exact(const kernel_row *k, const char *shape, const void *extents) {
    enum { GUARD = 1024 };
    plan p;
    problem data;
    cdnagen *const ctx = runs_on(k->chip, LATE);
    cdnagen_kernel *const kernel = runs_kernel(ctx, k, shape, &p);
    const grouped_shape *const s = (const grouped_shape *)p.shape;
    cdnagen_buffer b[GROUPED_WORKSPACE] = {{NULL, 0}};
    if (p.family->workload->make(&p, 7, &data)) fail_msg("%s", cdnagen_error());
    for (int i = 0; i < GROUPED_WORKSPACE; i++) {
        const char *const from = (const char *)data.buffers[i].data + GUARD;
        b[i].bytes = data.buffers[i].bytes - 2 * GUARD;
        if (b[i].bytes &&
            (cdnagen_alloc(ctx, b[i].bytes, &b[i].ptr) ||
             cdnagen_copy_to_device(ctx, b[i].ptr, i == GROUPED_EXTENTS ? extents : (const void *)from, b[i].bytes)))
            fail_msg("%s", cdnagen_error());
    }
    const cdnagen_gemm_grouped_args args = {.size = sizeof args,
                                            .a = b[GROUPED_A],
                                            .b = b[GROUPED_B],
                                            .a_scales = b[GROUPED_A_SCALES],
                                            .b_scales = b[GROUPED_B_SCALES],
                                            .c = b[GROUPED_C],
                                            .extents = b[GROUPED_EXTENTS],
                                            .groups = s->groups,
                                            .m = s->m,
                                            .n = s->n,
                                            .k = s->k};
    if (cdnagen_launch_gemm_grouped(kernel, &args, NULL) || cdnagen_synchronize(ctx, NULL))
        fail_msg("%s %s: %s", k->chip, shape, cdnagen_error());
    for (int i = 0; i < GROUPED_WORKSPACE; i++)
        if (b[i].ptr) cdnagen_free_memory(ctx, b[i].ptr);
    cdnagen_free_kernel(kernel);
    problem_release(&data);
}

/* The simulator stops where no memory is. */
static void nothing_past_an_operand_is_touched(void **state) {
    (void)state;
    static const int64_t counts[] = {5, 11, 17}, padded[] = {3, 17};
    static const int32_t ends[] = {5, 16, 33}, n_ends[] = {8, 16, 72}, k_ends[] = {5, 144};
    static const struct {
        const char *shape;
        const void *extents;
    } rows[] = {{"layout=sizes groups=3 m=33 n=72 k=144", counts},
                {"layout=sizes groups=3 m=33 n=128 k=256 b=preshuffled scale=block", counts},
                {"layout=offsets groups=3 m=33 n=128 k=128 scale=block", ends},
                {"layout=padded groups=2 m=17 n=72 k=144", padded},
                {"layout=batched groups=2 m=17 n=128 k=128 b=preshuffled", NULL},
                {"layout=n_offsets groups=3 m=17 n=72 k=144", n_ends},
                {"layout=k_offsets groups=2 m=17 n=72 k=144", k_ends}};
    for (int which = 0; which < CHIP_COUNT; which++)
        for (size_t i = 0; i < COUNT(rows); i++) {
            const kernel_row k = runs_row(which, "t32x128x128_cs_async");
            launch_exact(&k, rows[i].shape, rows[i].extents);
        }
}

static void lengths_and_groups_make_no_kernel(void **state) {
    (void)state;
    static const char *const rows[] = {"groups=1 m=1 n=128 k=128", "groups=64 m=500 n=1280 k=4096",
                                       "groups=4096 m=77 n=65536 k=256"};
    static const kernel_row k = {"gfx950", "mfma16x16x128_t64x128x128"};
    cdnagen_kernel_info info = {.size = sizeof info};
    char key[80] = "";
    for (size_t i = 0; i < COUNT(rows); i++) {
        plan p;
        cdnagen_kernel *const kernel = runs_kernel(runs_on(k.chip, "threads=1"), &k, rows[i], &p);
        assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
        if (i) assert_string_equal(info.key, key);
        snprintf(key, sizeof key, "%s", info.key);
        cdnagen_free_kernel(kernel);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unrolled_kernels_give_the_bits_of_rolled_ones),
        cmocka_unit_test(wpe_changes_no_bit),
        cmocka_unit_test(launches_repeat_to_the_bit),
        cmocka_unit_test(metadata_that_lie_reach_no_other_group),
        cmocka_unit_test(metadata_that_lie_past_the_first_round),
        cmocka_unit_test(columns_that_fill_no_quad_are_left),
        cmocka_unit_test(a_k_that_fills_no_load_harms_nobody_else),
        cmocka_unit_test(nothing_past_an_operand_is_touched),
        cmocka_unit_test(lengths_and_groups_make_no_kernel),
    };
    runs_open();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    runs_close();
    return failed;
}
