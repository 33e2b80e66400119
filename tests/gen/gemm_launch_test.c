/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gemm_blockscale's arguments: what reaches the kernel, and every refusal. */
#include "tests/gen/gemm_testing.h"
#include "tests/gen/refused.h"

#define OP "gemm_blockscale:"
#define TAG OP "mfma16x16x128_t64x128x128_4w"

static cdnagen_buffer at(uintptr_t place, size_t size) { return (cdnagen_buffer){(void *)place, size}; }

/* good: a launch of m=100 n=200 k=300 with contiguous scales and rows of A and B 304 apart. */
static cdnagen_gemm_blockscale_args good(void) {
    return (cdnagen_gemm_blockscale_args){.size = sizeof(cdnagen_gemm_blockscale_args),
                                          .a = at(0x1000000, 99 * 304 + 300),
                                          .b = at(0x2000000, 199 * 304 + 300),
                                          .a_scales = at(0x3000000, 100 * 3 * 4),
                                          .b_scales = at(0x4000000, 2 * 3 * 4),
                                          .c = at(0x5000000, 100 * 200 * 2),
                                          .m = 100,
                                          .n = 200,
                                          .k = 300,
                                          .a_stride = 304,
                                          .b_stride = 304};
}

static void arguments_reach_the_kernel(void **state) {
    (void)state;
    const plan p = plan_of(TAG, "");
    const cdnagen_gemm_blockscale_args a = good();
    launch l;
    assert_int_equal(blockscale_bind(&p, NULL, &a, &l), CDNAGEN_OK);
    static const struct {
        blockscale_kernarg which;
        int64_t value;
    } rows[] = {{BLOCKSCALE_A, 0x1000000},
                {BLOCKSCALE_B, 0x2000000},
                {BLOCKSCALE_A_SCALES, 0x3000000},
                {BLOCKSCALE_B_SCALES, 0x4000000},
                {BLOCKSCALE_C, 0x5000000},
                {BLOCKSCALE_WORKSPACE, 0},
                {BLOCKSCALE_A_STRIDE, 304},
                {BLOCKSCALE_B_STRIDE, 304},
                {BLOCKSCALE_A_SCALES_STRIDE, 3},
                {BLOCKSCALE_B_SCALES_STRIDE, 3},
                {BLOCKSCALE_C_STRIDE, 200},
                {BLOCKSCALE_M, 100},
                {BLOCKSCALE_N, 200},
                {BLOCKSCALE_K, 300}};
    for (size_t i = 0; i < COUNT(rows); i++) assert_int_equal(kernarg_of(&p, &l, rows[i].which), rows[i].value);
    assert_true(!l.skip && l.kernarg_bytes == p.kernarg_bytes);
    assert_true(l.grid[0] == 2 * 2 && l.grid[1] == 1 && l.grid[2] == 1);
}

/* What a stride of 0 means in each layout. */
static void strides_left_out(void **state) {
    (void)state;
    const struct {
        const char *shape;
        int64_t b, a_scales, b_scales;
    } rows[] = {{"b=preshuffled", 256, 2, 2},
                {"", 256, 2, 2},
                {"a_scales=kmajor", 256, 130, 2},
                {"a_scales=kmajor scale_m=128", 256, 2, 2},
                {"scale_n=1", 256, 2, 2}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const plan p = plan_of(TAG, rows[i].shape);
        cdnagen_gemm_blockscale_args a = {.size = sizeof a,
                                          .a = at(0x1000000, 130 * 256),
                                          .b = at(0x2000000, 160 * 256),
                                          .a_scales = at(0x3000000, 130 * 2 * 4),
                                          .b_scales = at(0x4000000, 160 * 2 * 4),
                                          .c = at(0x5000000, 130 * 160 * 2),
                                          .m = 130,
                                          .n = 160,
                                          .k = 256};
        launch l;
        if (blockscale_bind(&p, NULL, &a, &l)) fail_msg("%s: %s", rows[i].shape, cdnagen_error());
        assert_int_equal(kernarg_of(&p, &l, BLOCKSCALE_A_STRIDE), 256);
        assert_int_equal(kernarg_of(&p, &l, BLOCKSCALE_B_STRIDE), rows[i].b);
        assert_int_equal(kernarg_of(&p, &l, BLOCKSCALE_A_SCALES_STRIDE), rows[i].a_scales);
        assert_int_equal(kernarg_of(&p, &l, BLOCKSCALE_B_SCALES_STRIDE), rows[i].b_scales);
        assert_int_equal(kernarg_of(&p, &l, BLOCKSCALE_C_STRIDE), 160);
    }
}

static void grids(void **state) {
    (void)state;
    static const device_facts facts = {.cus = 4, .workgroups_per_cu = 2};
    static const struct {
        const char *tag;
        const device_facts *facts;
        int64_t m, n;
        uint32_t x, y;
    } rows[] = {
        {OP "mfma16x16x128_t64x128x128_4w", NULL, 1, 1, 1, 1},
        {OP "mfma16x16x128_t64x128x128_4w", NULL, 65, 129, 4, 1},
        {OP "mfma16x16x128_t64x128x128_4w_sk3", NULL, 65, 129, 4, 3},
        {OP "mfma16x16x128_t64x128x128_4w_pers", &facts, 64, 128 * 5, 5, 1},
        {OP "mfma16x16x128_t64x128x128_4w_pers", &facts, 64, 128 * 50, 8, 1},
        {OP "mfma16x16x128_t64x128x128_4w_pers", NULL, 64, 128 * 500, 256, 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char words[80];
        snprintf(words, sizeof words, "m=%d n=%d k=512", (int)rows[i].m, (int)rows[i].n);
        const plan p = plan_of(rows[i].tag, words);
        uint32_t grid[3];
        gemm_blockscale_family.grid(&p, rows[i].facts, grid);
        assert_true(grid[0] == rows[i].x && grid[1] == rows[i].y && grid[2] == 1);
    }
    uint32_t grid[3] = {7, 7, 7};
    const plan unknown = plan_of(TAG, "n=16 k=128");
    gemm_blockscale_family.grid(&unknown, NULL, grid);
    assert_true(grid[0] == 0 && grid[1] == 0 && grid[2] == 0);
}

static void nothing_to_do_is_no_launch(void **state) {
    (void)state;
    const plan p = plan_of(TAG, "");
    for (int i = 0; i < 2; i++) {
        const cdnagen_gemm_blockscale_args a = {.size = sizeof a, .m = i ? 5 : 0, .n = i ? 0 : 5, .k = 128};
        launch l = {0};
        assert_int_equal(blockscale_bind(&p, NULL, &a, &l), CDNAGEN_OK);
        assert_true(l.skip);
    }
    /* Without K there is nothing to read, and zeros to write. */
    const cdnagen_gemm_blockscale_args a = {.size = sizeof a, .c = at(0x5000000, 5 * 7 * 2), .m = 5, .n = 7};
    launch l = {0};
    assert_int_equal(blockscale_bind(&p, NULL, &a, &l), CDNAGEN_OK);
    assert_true(!l.skip && l.grid[0] == 1);
}

/* One thing that is wrong about a good launch. */
#define ARG(member) offsetof(cdnagen_gemm_blockscale_args, member), sizeof((cdnagen_gemm_blockscale_args *)0)->member
static const mistake mistakes[] = {
    {TAG, "", ARG(m), (uint64_t)-1, CDNAGEN_BAD_ARGUMENT, {"m -1 is negative"}},
    {TAG, "", ARG(n), INT32_MAX, CDNAGEN_LIMIT, {"n 2147483647", "2147418112"}},
    {TAG, "", ARG(a.ptr), 0, CDNAGEN_BAD_ARGUMENT, {"a.ptr is NULL"}},
    {TAG, "", ARG(a.ptr), 0x1000008, CDNAGEN_BAD_ARGUMENT, {"a.ptr", "16 bytes"}},
    {TAG, "", ARG(b.ptr), 0x2000004, CDNAGEN_BAD_ARGUMENT, {"b.ptr", "16 bytes"}},
    {TAG, "", ARG(a_scales.ptr), 0x3000002, CDNAGEN_BAD_ARGUMENT, {"a_scales.ptr", "4 bytes"}},
    {TAG, "", ARG(c.ptr), 0x5000001, CDNAGEN_BAD_ARGUMENT, {"c.ptr", "2 bytes"}},
    {TAG, "", ARG(a.bytes), 99 * 304 + 299, CDNAGEN_BAD_ARGUMENT, {"a has 30395 bytes", "30396"}},
    {TAG, "", ARG(b.bytes), 199 * 304 + 299, CDNAGEN_BAD_ARGUMENT, {"b has", "60796"}},
    {TAG, "", ARG(a_scales.bytes), 1199, CDNAGEN_BAD_ARGUMENT, {"a_scales has 1199", "1200"}},
    {TAG, "", ARG(b_scales.bytes), 23, CDNAGEN_BAD_ARGUMENT, {"b_scales has 23", "24"}},
    {TAG, "", ARG(c.bytes), 39999, CDNAGEN_BAD_ARGUMENT, {"c has 39999", "40000"}},
    {TAG, "", ARG(c.ptr), 0x3000000, CDNAGEN_BAD_ARGUMENT, {"c at", "overlaps a_scales"}},
    {TAG, "", ARG(c.ptr), 0x1000000 - 39998, CDNAGEN_BAD_ARGUMENT, {"overlaps a at"}},
    {TAG, "", ARG(a_stride), 299, CDNAGEN_BAD_ARGUMENT, {"a_stride 299 is less than a row, 300"}},
    {TAG, "", ARG(a_stride), 0, CDNAGEN_BAD_ARGUMENT, {"a_stride 300", "multiple of 16", "304 apart"}},
    {TAG, "", ARG(b_stride), 312, CDNAGEN_BAD_ARGUMENT, {"b_stride 312", "320 apart"}},
    {TAG, "", ARG(c_stride), 199, CDNAGEN_BAD_ARGUMENT, {"c_stride 199 is less"}},
    {TAG, "", ARG(a_scales_stride), 2, CDNAGEN_BAD_ARGUMENT, {"a_scales_stride 2 is less than a row, 3"}},
    {TAG, "a_scales=kmajor", ARG(a_scales_stride), 99, CDNAGEN_BAD_ARGUMENT, {"a_scales_stride 99", "100"}},
    {TAG, "", ARG(b_scales_stride), 1, CDNAGEN_BAD_ARGUMENT, {"b_scales_stride 1"}},
    {TAG "_sk2", "", ARG(m), 100, CDNAGEN_BAD_ARGUMENT, {"workspace.ptr is NULL"}},
    {TAG "_sk2", "", ARG(workspace.ptr), 0x6000080, CDNAGEN_BAD_ARGUMENT, {"workspace.ptr", "256 bytes"}},
    {TAG "_sk2", "", ARG(workspace.ptr), 0x6000000, CDNAGEN_BAD_ARGUMENT, {"workspace has 0 bytes", "262400"}},
    {TAG, "k_tail=0", ARG(m), 100, CDNAGEN_BAD_ARGUMENT, {"k 300 is not a multiple of 128", "k_tail=1 or k=300"}},
    {TAG, "n_tail=0", ARG(m), 100, CDNAGEN_BAD_ARGUMENT, {"n 200 is not a multiple of 128", "n_tail=1 or n=200"}},
    {TAG "_unroll2", "k_tail=0", ARG(k), 384, CDNAGEN_BAD_ARGUMENT, {"k 384", "unroll2, k=256"}},
    {TAG, "b=preshuffled", ARG(m), 100, CDNAGEN_BAD_ARGUMENT, {"n a multiple of 16 and k of 32", "b=plain"}},
};

static void each_wrong_argument_is_refused(void **state) {
    (void)state;
    const cdnagen_gemm_blockscale_args a = good();
    all_refused(&gemm_blockscale_family, mistakes, COUNT(mistakes), &a);
}

static void shuffled_stores_need_aligned_rows(void **state) {
    (void)state;
    const plan p = plan_of(TAG "_cs", "");
    cdnagen_gemm_blockscale_args a = good();
    launch l;
    a.c.bytes *= 2;
    assert_int_equal(blockscale_bind(&p, NULL, &a, &l), CDNAGEN_OK);
    a.c_stride = 202;
    expect_error("stride", blockscale_bind(&p, NULL, &a, &l), CDNAGEN_BAD_ARGUMENT,
                 (const char *const[]){"c_stride 202 is not a multiple of 4", "204 apart", NULL});
    a.c_stride = 204;
    a.c.ptr = (char *)a.c.ptr + 4;
    expect_error("place", blockscale_bind(&p, NULL, &a, &l), CDNAGEN_BAD_ARGUMENT,
                 (const char *const[]){"c.ptr", "8 bytes", NULL});
}

/* Kernels that leave work out are for the diagnosis alone. */
static void wrong_results_need_a_diagnosis(void **state) {
    (void)state;
    plan p = plan_of(TAG, "");
    ((blockscale_variant *)p.variant)->ablation = GEMM_NO_PROMOTE;
    const cdnagen_gemm_blockscale_args a = good();
    const device_facts launched = {.cus = 256}, diagnosed = {.cus = 256, .diagnosis = 1};
    launch l;
    for (int i = 0; i < 2; i++)
        expect_error("ablation", blockscale_bind(&p, i ? &launched : NULL, &a, &l), CDNAGEN_BAD_ARGUMENT,
                     (const char *const[]){"wrong results", "without its x field", NULL});
    assert_int_equal(blockscale_bind(&p, &diagnosed, &a, &l), CDNAGEN_OK);
}

/* Offsets within a tile are 31 bits; from one tile to the next they are 64. */
static void large_matrices(void **state) {
    (void)state;
    const plan p = plan_of(TAG, "b=preshuffled");
    cdnagen_gemm_blockscale_args a = {.size = sizeof a,
                                      .a = at(0x10000000000, (size_t)1 << 40),
                                      .b = at(0x30000000000, (size_t)1 << 40),
                                      .a_scales = at(0x50000000000, (size_t)1 << 40),
                                      .b_scales = at(0x70000000000, (size_t)1 << 40),
                                      .c = at(0x90000000000, (size_t)1 << 40),
                                      .m = 32768,
                                      .n = 65536,
                                      .k = 1536};
    launch l;
    assert_int_equal(blockscale_bind(&p, NULL, &a, &l), CDNAGEN_OK); /* C: 4 GiB */
    assert_int_equal(l.grid[0], 512 * 512);
    a.m = 128;
    a.c_stride = (1ll << 31) / (64 * 2);
    expect_error("c", blockscale_bind(&p, NULL, &a, &l), CDNAGEN_LIMIT,
                 (const char *const[]){"c_stride 16777216 is more than 16777215", "64 rows", NULL});
    a.c_stride--;
    assert_int_equal(blockscale_bind(&p, NULL, &a, &l), CDNAGEN_OK);
    a.c_stride = 0;
    a.a_stride = 1ll << 25;
    expect_error("a", blockscale_bind(&p, NULL, &a, &l), CDNAGEN_LIMIT,
                 (const char *const[]){"a_stride 33554432 is more than 33554431", NULL});
    a.a_stride -= 16;
    assert_int_equal(blockscale_bind(&p, NULL, &a, &l), CDNAGEN_OK);
    a.a_stride = 0;
    a.a_scales_stride = 1 << 23;
    expect_error("scales", blockscale_bind(&p, NULL, &a, &l), CDNAGEN_LIMIT,
                 (const char *const[]){"a_scales_stride 8388608 is more than 8388607", "64 rows", NULL});
    a.a_scales_stride--;
    assert_int_equal(blockscale_bind(&p, NULL, &a, &l), CDNAGEN_OK);
    a.a_scales_stride = 0;
    a.n = 256;
    a.b_scales_stride = 1ll << 28; /* a tile of 128 columns may lie in two rows of scales */
    expect_error("scales of B", blockscale_bind(&p, NULL, &a, &l), CDNAGEN_LIMIT,
                 (const char *const[]){"b_scales_stride 268435456 is more than 268435455", "2 rows", NULL});
    a.b_scales_stride--;
    assert_int_equal(blockscale_bind(&p, NULL, &a, &l), CDNAGEN_OK);
    a.n = 128;
    a.b_scales_stride = 1ll << 33; /* one row has no next */
    assert_int_equal(blockscale_bind(&p, NULL, &a, &l), CDNAGEN_OK);
    a.b_scales_stride = 0;
    a.m = a.n = 1 << 22;
    a.k = 32;
    a.c = at(0x90000000000, (size_t)1 << 46);
    expect_error("grid", blockscale_bind(&p, NULL, &a, &l), CDNAGEN_LIMIT,
                 (const char *const[]){"2147483648 workgroups of 256", "16777215", NULL});
    const plan walking = plan_of(TAG "_pers", "b=preshuffled");
    expect_error("walk", blockscale_bind(&walking, NULL, &a, &l), CDNAGEN_LIMIT,
                 (const char *const[]){"2147483648 tiles", "33554431", NULL});
}

static void shapes_from_structs(void **state) {
    (void)state;
    cdnagen_gemm_blockscale_shape s = {.size = sizeof s, .m = 5, .n = 7};
    blockscale_shape out;
    assert_int_equal(blockscale_shape_from_public(&s, &out), CDNAGEN_OK);
    const blockscale_shape words = shape_of("m=5 n=7");
    assert_memory_equal(&out, &words, sizeof out);
    s = (cdnagen_gemm_blockscale_shape){.size = sizeof s,
                                        .k = 384,
                                        .k_tail = CDNAGEN_TAIL_ANY,
                                        .n_tail = CDNAGEN_TAIL_NONE,
                                        .b_layout = CDNAGEN_B_PRESHUFFLED,
                                        .a_scale_layout = CDNAGEN_SCALES_K_MAJOR,
                                        .scale_m = 128,
                                        .scale_n = 1,
                                        .scale_type = CDNAGEN_SCALES_UE8M0,
                                        .c_type = CDNAGEN_OUT_F16};
    assert_int_equal(blockscale_shape_from_public(&s, &out), CDNAGEN_OK);
    const blockscale_shape others =
        shape_of("k=384 k_tail=1 n_tail=0 b=preshuffled a_scales=kmajor scale_m=128 scale_n=1 scales=ue8m0 out=f16");
    assert_memory_equal(&out, &others, sizeof out);
    s.k_tail = 3;
    expect_error("tail", blockscale_shape_from_public(&s, &out), CDNAGEN_BAD_SHAPE,
                 (const char *const[]){"k_tail of 3", NULL});
    s.k_tail = 0;
    s.m = -1;
    expect_error("m", blockscale_shape_from_public(&s, &out), CDNAGEN_BAD_SHAPE,
                 (const char *const[]){"m=-1", "negative", NULL});
    s.m = 0;
    s.b_layout = 2;
    expect_error("b", blockscale_shape_from_public(&s, &out), CDNAGEN_BAD_SHAPE,
                 (const char *const[]){"b of 2", "plain|preshuffled", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_reach_the_kernel),
        cmocka_unit_test(strides_left_out),
        cmocka_unit_test(grids),
        cmocka_unit_test(nothing_to_do_is_no_launch),
        cmocka_unit_test(each_wrong_argument_is_refused),
        cmocka_unit_test(shuffled_stores_need_aligned_rows),
        cmocka_unit_test(wrong_results_need_a_diagnosis),
        cmocka_unit_test(large_matrices),
        cmocka_unit_test(shapes_from_structs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
