/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gemm_grouped's arguments: what reaches the kernel, and every refusal. */
#include "tests/gen/grouped_testing.h"
#include "tests/gen/refused.h"

#define OP "gemm_grouped:"
#define TAG OP "mfma16x16x128_t128x128x128"

static cdnagen_buffer at(uintptr_t place, size_t size) { return (cdnagen_buffer){(void *)place, size}; }

/* good: 4 groups, m=100 n=200 k=272, with just the bytes that layout=sizes needs. */
static cdnagen_gemm_grouped_args good(void) {
    return (cdnagen_gemm_grouped_args){.size = sizeof(cdnagen_gemm_grouped_args),
                                       .a = at(0x1000000, 100 * 272),
                                       .b = at(0x2000000, 4 * 200 * 272),
                                       .a_scales = at(0x3000000, 100 * 4),
                                       .b_scales = at(0x4000000, 4 * 200 * 4),
                                       .c = at(0x5000000, 100 * 200 * 2),
                                       .extents = at(0x6000000, 4 * 8),
                                       .groups = 4,
                                       .m = 100,
                                       .n = 200,
                                       .k = 272};
}

static void arguments_reach_the_kernel(void **state) {
    (void)state;
    const plan p = plan_of(TAG, "");
    const cdnagen_gemm_grouped_args a = good();
    launch l;
    assert_int_equal(grouped_bind(&p, NULL, &a, &l), CDNAGEN_OK);
    static const struct {
        grouped_kernarg which;
        int64_t value;
    } rows[] = {{GROUPED_A, 0x1000000},
                {GROUPED_B, 0x2000000},
                {GROUPED_A_SCALES, 0x3000000},
                {GROUPED_B_SCALES, 0x4000000},
                {GROUPED_C, 0x5000000},
                {GROUPED_EXTENTS, 0x6000000},
                {GROUPED_WORKSPACE, 0},
                {GROUPED_GROUPS, 4},
                {GROUPED_M, 100},
                {GROUPED_N, 200},
                {GROUPED_K, 272},
                {GROUPED_ZERO, 1}};
    assert_int_equal(COUNT(rows), GROUPED_KERNARG_COUNT);
    for (size_t i = 0; i < COUNT(rows); i++) assert_int_equal(kernarg_of(&p, &l, rows[i].which), rows[i].value);
    assert_true(!l.skip && l.kernarg_bytes == p.kernarg_bytes);
}

/* Buffers of exactly what a layout needs are enough, and a byte less is not. */
static void bytes_of_each_layout(void **state) {
    (void)state;
    enum { G = 3, M = 7, N = 256, K = 384 };
    static const struct {
        const char *words;
        size_t a, b, a_scales, b_scales, c, extents;
    } rows[] = {
        {"layout=sizes", M * K, G * N * K, M * 4, G * N * 4, M * N * 2, G * 8},
        {"layout=offsets", M * K, G * N * K, M * 4, G * N * 4, M * N * 2, G * 4},
        {"layout=padded", G * M * K, G * N * K, G * M * 4, G * N * 4, G * M * N * 2, G * 8},
        {"layout=batched", G * M * K, G * N * K, G * M * 4, G * N * 4, G * M * N * 2, 0},
        {"layout=n_offsets", G * M * K, N * K, G * M * 4, N * 4, M * N * 2, G * 4},
        {"layout=k_offsets", M * K, N * K, G * M * 4, G * N * 4, G * M * N * 2, G * 4},
        {"layout=sizes scale=block", M * K, G * N * K, M * 3 * 4, G * 3 * 2 * 4, M * N * 2, G * 8},
        {"layout=batched scale=block", G * M * K, G * N * K, G * M * 3 * 4, G * 3 * 2 * 4, G * M * N * 2, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const plan p = plan_of(TAG, rows[i].words);
        const size_t sizes[] = {rows[i].a, rows[i].b, rows[i].a_scales, rows[i].b_scales, rows[i].c, rows[i].extents};
        static const char *const names[] = {"a has", "b has", "a_scales has", "b_scales has", "c has", "extents has"};
        for (int shorter = -1; shorter < 6; shorter++) {
            cdnagen_buffer b[6];
            for (int j = 0; j < 6; j++) b[j] = at(0x1000000u * (unsigned)(j + 1), sizes[j]);
            if (shorter >= 0 && !sizes[shorter]) continue;
            if (shorter >= 0) b[shorter].bytes--;
            const cdnagen_gemm_grouped_args a = {.size = sizeof a,
                                                 .a = b[0],
                                                 .b = b[1],
                                                 .a_scales = b[2],
                                                 .b_scales = b[3],
                                                 .c = b[4],
                                                 .extents = b[5],
                                                 .groups = G,
                                                 .m = M,
                                                 .n = N,
                                                 .k = K};
            launch l;
            const cdnagen_status s = grouped_bind(&p, NULL, &a, &l);
            if (shorter < 0 && s) fail_msg("%s: %s", rows[i].words, cdnagen_error());
            if (shorter >= 0)
                expect_error(rows[i].words, s, CDNAGEN_BAD_ARGUMENT, (const char *const[]){names[shorter], NULL});
        }
    }
}

/* Tiles that no group can need more of, whatever the extents. */
static void grids(void **state) {
    (void)state;
    static const struct {
        const char *tag, *words;
        uint32_t x, y, z;
    } rows[] = {
        {TAG, "groups=4 m=1000 n=256 k=512", (7 + 4) * 2, 1, 1},
        {TAG, "groups=4 m=1000 n=264 k=512", (7 + 4) * 3, 1, 1},
        {TAG, "layout=offsets groups=300 m=1 n=128 k=512", 300, 1, 1},
        {TAG, "layout=padded groups=5 m=129 n=256 k=512", 2 * 2, 1, 5},
        {TAG, "layout=batched groups=5 m=128 n=256 k=512", 2, 1, 5},
        {TAG, "layout=n_offsets groups=4 m=129 n=1000 k=512", 2 * (7 + 4), 1, 1},
        {TAG, "layout=k_offsets groups=4 m=129 n=1000 k=512", 2 * 8, 1, 4},
        {OP "mfma16x16x128_t16x64x256_sk4", "groups=8 m=32 n=1280 k=8192", (2 + 8) * 20, 4, 1},
        {OP "mfma16x16x128_t64x64x128_sk2", "layout=batched groups=8 m=65 n=128 k=256", 2 * 2, 2, 8},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const plan p = plan_of(rows[i].tag, rows[i].words);
        if (p.grid[0] != rows[i].x || p.grid[1] != rows[i].y || p.grid[2] != rows[i].z)
            fail_msg("%s: %u %u %u", rows[i].words, p.grid[0], p.grid[1], p.grid[2]);
    }
    const plan unknown = plan_of(TAG, "groups=4 n=256 k=128");
    assert_true(!unknown.grid[0] && !unknown.grid[1] && !unknown.grid[2]);
}

/* As many tiles as groups of any sizes take: sums of rounded-up parts against the rounded-down whole. */
static void tiles_are_enough(void **state) {
    (void)state;
    const grouped_variant v = variant_of("mfma16x16x128_t64x64x128");
    const grouped_shape sizes = shape_of("layout=sizes");
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        const int64_t groups = 1 + (int64_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 33) % 40;
        int64_t total = 0, needed = 0;
        for (int64_t g = 0; g < groups; g++) {
            const int64_t rows = (int64_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 33) % 200;
            total += rows;
            needed += (rows + 63) / 64;
        }
        assert_true(grouped_tiles_of(&v, &sizes, groups, total, 64).rows >= needed);
    }
}

/* Without any product c is cleared, all of it, by no kernel. */
static void nothing_to_multiply_is_zeros(void **state) {
    (void)state;
    static const struct {
        const char *words;
        int64_t groups, m, n, k;
        size_t zeroed;
    } rows[] = {
        {"layout=sizes", 2, 5, 8, 0, 5 * 8 * 2},
        {"layout=sizes", 0, 5, 8, 128, 5 * 8 * 2},
        {"layout=sizes", 2, 0, 8, 128, 0},
        {"layout=sizes", 2, 5, 0, 128, 0},
        {"layout=padded", 2, 5, 8, 0, 2 * 5 * 8 * 2},
        {"layout=batched", 2, 5, 8, 0, 2 * 5 * 8 * 2},
        {"layout=n_offsets", 2, 5, 8, 0, 5 * 8 * 2},
        {"layout=k_offsets", 2, 5, 8, 0, 2 * 5 * 8 * 2},
        {"layout=k_offsets empty_k=leave", 2, 5, 8, 0, 2 * 5 * 8 * 2},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const plan p = plan_of(TAG, rows[i].words);
        const cdnagen_gemm_grouped_args a = {.size = sizeof a,
                                             .c = at(0x5000000, rows[i].zeroed),
                                             .groups = rows[i].groups,
                                             .m = rows[i].m,
                                             .n = rows[i].n,
                                             .k = rows[i].k,
                                             .keep_padding = !strcmp(rows[i].words, "layout=padded")};
        launch l;
        if (grouped_bind(&p, NULL, &a, &l)) fail_msg("%s: %s", rows[i].words, cdnagen_error());
        assert_true(l.skip && l.zero_bytes == rows[i].zeroed && (!l.zero_bytes || l.zero == (void *)0x5000000));
    }
    const plan p = plan_of(TAG, "");
    const cdnagen_gemm_grouped_args none = {.size = sizeof none, .groups = 1, .m = 5, .n = 8};
    launch l;
    expect_error("c", grouped_bind(&p, NULL, &none, &l), CDNAGEN_BAD_ARGUMENT,
                 (const char *const[]){"c.ptr is NULL", NULL});
}

/* One thing that is wrong about a good launch. */
#define ARG(member) offsetof(cdnagen_gemm_grouped_args, member), sizeof((cdnagen_gemm_grouped_args *)0)->member
static const mistake mistakes[] = {
    {TAG, "", ARG(groups), (uint64_t)-1, CDNAGEN_BAD_ARGUMENT, {"groups -1 is negative"}},
    {TAG, "", ARG(groups), 65536, CDNAGEN_LIMIT, {"groups 65536", "65535"}},
    {TAG, "", ARG(m), (uint64_t)-1, CDNAGEN_BAD_ARGUMENT, {"m -1 is negative"}},
    {TAG, "", ARG(n), INT32_MAX, CDNAGEN_LIMIT, {"n 2147483647", "2147418112"}},
    {TAG, "", ARG(n), 196, CDNAGEN_BAD_ARGUMENT, {"n=196 must be divisible by 8"}},
    {TAG, "", ARG(k), 264, CDNAGEN_BAD_ARGUMENT, {"k=264 must be divisible by 16"}},
    {TAG, "scale=block", ARG(m), 100, CDNAGEN_BAD_ARGUMENT, {"k=272", "scale_block_k"}},
    {TAG, "", ARG(a.ptr), 0, CDNAGEN_BAD_ARGUMENT, {"a.ptr is NULL"}},
    {TAG, "", ARG(a.ptr), 0x1000008, CDNAGEN_BAD_ARGUMENT, {"a.ptr", "16 bytes"}},
    {TAG, "", ARG(b.ptr), 0x2000008, CDNAGEN_BAD_ARGUMENT, {"b.ptr", "16 bytes"}},
    {TAG, "", ARG(a_scales.ptr), 0x3000002, CDNAGEN_BAD_ARGUMENT, {"a_scales.ptr", "4 bytes"}},
    {TAG, "", ARG(c.ptr), 0x5000004, CDNAGEN_BAD_ARGUMENT, {"c.ptr", "8 bytes"}},
    {TAG, "", ARG(extents.ptr), 0x6000004, CDNAGEN_BAD_ARGUMENT, {"extents.ptr", "8 bytes"}},
    {TAG, "layout=offsets", ARG(extents.ptr), 0x6000002, CDNAGEN_BAD_ARGUMENT, {"extents.ptr", "4 bytes"}},
    {TAG, "", ARG(extents.ptr), 0, CDNAGEN_BAD_ARGUMENT, {"extents.ptr is NULL"}},
    {TAG, "", ARG(c.ptr), 0x1000000, CDNAGEN_BAD_ARGUMENT, {"c at", "overlaps a "}},
    {TAG, "", ARG(c.ptr), 0x6000000 - 39992, CDNAGEN_BAD_ARGUMENT, {"c at", "overlaps extents"}},
    {OP "mfma16x16x128_t128x128x128_sk2", "", ARG(m), 100, CDNAGEN_BAD_ARGUMENT, {"workspace.ptr is NULL"}},
    {TAG, "k_tail=0", ARG(m), 100, CDNAGEN_BAD_ARGUMENT, {"k 272 is not a multiple of 128", "k_tail=1 or k=272"}},
    {TAG, "n_tail=0", ARG(m), 100, CDNAGEN_BAD_ARGUMENT, {"n 200 is not a multiple of 128", "n_tail=1 or n=200"}},
    {TAG, "b=preshuffled", ARG(m), 100, CDNAGEN_BAD_ARGUMENT, {"k=272 must be divisible by 128", "plain B"}},
    {TAG "_unroll2", "k_tail=0", ARG(k), 384, CDNAGEN_BAD_ARGUMENT, {"k 384", "unroll2, k=256"}},
};

static void each_wrong_argument_is_refused(void **state) {
    (void)state;
    const cdnagen_gemm_grouped_args a = good();
    all_refused(&gemm_grouped_family, mistakes, COUNT(mistakes), &a);
}

static void only_padded_slabs_have_padding(void **state) {
    (void)state;
    const plan sizes = plan_of(TAG, ""), padded = plan_of(TAG, "layout=padded");
    cdnagen_gemm_grouped_args a = good();
    launch l;
    a.keep_padding = 1;
    expect_error("sizes", grouped_bind(&sizes, NULL, &a, &l), CDNAGEN_BAD_ARGUMENT,
                 (const char *const[]){"keep_padding is 1", "layout=sizes", NULL});
    a.a.bytes *= 4, a.a_scales.bytes *= 4, a.c.bytes *= 4;
    assert_int_equal(grouped_bind(&padded, NULL, &a, &l), CDNAGEN_OK);
    assert_int_equal(kernarg_of(&padded, &l, GROUPED_ZERO), 0);
    a.keep_padding = 2;
    expect_error("2", grouped_bind(&padded, NULL, &a, &l), CDNAGEN_BAD_ARGUMENT,
                 (const char *const[]){"keep_padding is 2", NULL});
}

/* Kernels that leave work out are for the diagnosis alone. */
static void wrong_results_need_a_diagnosis(void **state) {
    (void)state;
    const plan p = plan_of("gemm_grouped:mfma16x16x128_t128x128x128_xlds", "");
    const cdnagen_gemm_grouped_args a = good();
    const device_facts launched = {.cus = 256}, diagnosed = {.cus = 256, .diagnosis = 1};
    launch l;
    for (int i = 0; i < 2; i++)
        expect_error("ablation", grouped_bind(&p, i ? &launched : NULL, &a, &l), CDNAGEN_BAD_ARGUMENT,
                     (const char *const[]){"wrong results", "without its x field", NULL});
    assert_int_equal(grouped_bind(&p, &diagnosed, &a, &l), CDNAGEN_OK);
}

/* Offsets within a tile are 31 bits; from one tile and group to the next they are 64. */
static void large_matrices(void **state) {
    (void)state;
    const plan p = plan_of(TAG, "");
    cdnagen_gemm_grouped_args a = {.size = sizeof a,
                                   .a = at(0x10000000000, (size_t)1 << 40),
                                   .b = at(0x30000000000, (size_t)1 << 40),
                                   .a_scales = at(0x50000000000, (size_t)1 << 40),
                                   .b_scales = at(0x70000000000, (size_t)1 << 40),
                                   .c = at(0x1000000000000, (size_t)1 << 42),
                                   .extents = at(0xf0000000000, 4096 * 8),
                                   .groups = 64,
                                   .m = 1 << 20,
                                   .n = 16384,
                                   .k = 16384};
    launch l;
    assert_int_equal(grouped_bind(&p, NULL, &a, &l), CDNAGEN_OK); /* A, B: 16 GiB, C: 32 GiB */
    assert_int_equal(l.grid[0], (8192 + 64) * 128);
    a.k = 1 << 24;
    expect_error("k", grouped_bind(&p, NULL, &a, &l), CDNAGEN_LIMIT,
                 (const char *const[]){"k 16777216 is more than 16777215", "rows of a", NULL});
    a.k = 128;
    a.n = 1 << 23;
    expect_error("n", grouped_bind(&p, NULL, &a, &l), CDNAGEN_LIMIT,
                 (const char *const[]){"n 8388608 is more than 8388607", "rows of c", NULL});
    a.n = 1 << 22;
    a.m = 1 << 22;
    a.c.bytes = (size_t)1 << 46;
    expect_error("grid", grouped_bind(&p, NULL, &a, &l), CDNAGEN_LIMIT,
                 (const char *const[]){"workgroups of 256", "16777215", NULL});
    const plan block = plan_of(TAG, "scale=block");
    a.n = 128;
    a.k = 16384;
    assert_int_equal(grouped_bind(&block, NULL, &a, &l), CDNAGEN_LIMIT);
    assert_non_null(strstr(cdnagen_error(), "scales of a"));
}

static void shapes_from_structs(void **state) {
    (void)state;
    cdnagen_gemm_grouped_shape s = {.size = sizeof s, .groups = 3, .m = 5, .n = 8};
    grouped_shape out;
    assert_int_equal(grouped_shape_from_public(&s, &out), CDNAGEN_OK);
    const grouped_shape words = shape_of("groups=3 m=5 n=8");
    assert_memory_equal(&out, &words, sizeof out);
    s = (cdnagen_gemm_grouped_shape){.size = sizeof s,
                                     .k = 384,
                                     .layout = CDNAGEN_GROUPED_K_OFFSETS,
                                     .leave_empty_k = 1,
                                     .k_tail = CDNAGEN_TAIL_ANY,
                                     .n_tail = CDNAGEN_TAIL_NONE,
                                     .a_fp8 = CDNAGEN_FP8_E4M3FN,
                                     .c_type = CDNAGEN_OUT_F16};
    assert_int_equal(grouped_shape_from_public(&s, &out), CDNAGEN_OK);
    const grouped_shape others =
        shape_of("layout=k_offsets k=384 k_tail=1 n_tail=0 empty_k=leave a_fp8=e4m3fn out=f16");
    assert_memory_equal(&out, &others, sizeof out);
    static const struct {
        size_t offset;
        int32_t value;
        cdnagen_status status;
        const char *says;
    } wrong[] = {
        {offsetof(cdnagen_gemm_grouped_shape, k_tail), 3, CDNAGEN_BAD_SHAPE, "k_tail of 3"},
        {offsetof(cdnagen_gemm_grouped_shape, layout), 6, CDNAGEN_BAD_SHAPE, "layout of 6"},
        {offsetof(cdnagen_gemm_grouped_shape, scale), -1, CDNAGEN_BAD_SHAPE, "scale of -1"},
        {offsetof(cdnagen_gemm_grouped_shape, b_layout), 2, CDNAGEN_BAD_SHAPE, "b of 2"},
        {offsetof(cdnagen_gemm_grouped_shape, c_type), 2, CDNAGEN_BAD_SHAPE, "out of 2"},
        {offsetof(cdnagen_gemm_grouped_shape, reserved), 1, CDNAGEN_BAD_ARGUMENT, "shape.reserved is 1"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        cdnagen_gemm_grouped_shape w = {.size = sizeof w};
        memcpy((char *)&w + wrong[i].offset, &wrong[i].value, sizeof wrong[i].value);
        expect_error(wrong[i].says, grouped_shape_from_public(&w, &out), wrong[i].status,
                     (const char *const[]){wrong[i].says, NULL});
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_reach_the_kernel),
        cmocka_unit_test(bytes_of_each_layout),
        cmocka_unit_test(grids),
        cmocka_unit_test(tiles_are_enough),
        cmocka_unit_test(nothing_to_multiply_is_zeros),
        cmocka_unit_test(each_wrong_argument_is_refused),
        cmocka_unit_test(only_padded_slabs_have_padding),
        cmocka_unit_test(wrong_results_need_a_diagnosis),
        cmocka_unit_test(large_matrices),
        cmocka_unit_test(shapes_from_structs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
