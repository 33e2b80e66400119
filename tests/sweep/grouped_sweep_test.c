/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gemm_grouped on the simulator: the families of groups that its public predecessors are tested with, at sizes that a
 * simulator takes, on both chips, graded by the operator's rules.
 * usage: sweep_gemm_grouped */
#include "tests/sweep/grouped_runs.h"

/* run_case: `tag` is without its mfma, which is the chip's; "auto" as it is. */
typedef struct run_case {
    const char *name, *tag, *words;
} run_case;

#define T128 "t128x128x128_cs_async_wpe2"
#define SQUARE "t128x128x128_wm2_cs_async_wpe2"
#define T64 "t64x128x128_cs"
static const run_case cases[] = {
    /* groups of rows */
    {"stacked, 1 group", "auto", "groups=1 m=64 n=128 k=128 extents=64"},
    {"stacked, 16 groups", T128, "groups=16 m=656 n=128 k=256 extents=64,48,16,16,32,64,48,48,16,48,64,32,64,16,32,48"},
    {"stacked, 64 groups", T64, "groups=64 m=392 n=64 k=128"},
    {"stacked, no rows", "auto", "groups=1 m=0 n=128 k=128"},
    {"2D-3D, 1 group", "auto", "layout=offsets groups=1 m=128 n=128 k=128 extents=128"},
    {"2D-3D, 16 groups", T128,
     "layout=offsets groups=16 m=720 n=128 k=256 extents=48,64,64,32,16,16,16,48,48,32,48,64,48,48,64,64"},
    {"2D-3D, 64 groups", T64, "layout=offsets groups=64 m=392 n=64 k=128"},
    {"2D-3D, multiples of 64", T64, "layout=offsets groups=4 m=512 n=128 k=256 extents=64,128,192,128"},
    {"2D-3D, no rows", "auto", "layout=offsets groups=1 m=0 n=128 k=128"},
    {"2D-3D, coherent", T128, "layout=offsets groups=5 m=300 n=200 k=272 data=coherent"},
    /* groups of columns */
    {"3D-2D, 1 group", "auto", "layout=n_offsets groups=1 m=64 n=256 k=128 extents=256"},
    {"3D-2D, 4 groups", T128, "layout=n_offsets groups=4 m=64 n=960 k=256 extents=256,256,192,256"},
    {"3D-2D, 16 groups", T64,
     "layout=n_offsets groups=16 m=32 n=1728 k=128 extents=64,128,128,128,128,64,64,128,128,128,128,128,128,128,64,64"},
    {"3D-2D, 64 groups", T64, "layout=n_offsets groups=64 m=16 n=1144 k=128"},
    {"3D-2D, no rows", "auto", "layout=n_offsets groups=1 m=0 n=128 k=128"},
    {"3D-2D, 264 twice", T128, "layout=n_offsets groups=2 m=128 n=528 k=256 extents=264,264 data=coherent"},
    {"3D-2D, 8 504 128", T64, "layout=n_offsets groups=3 m=128 n=640 k=256 extents=8,504,128 data=coherent"},
    {"3D-2D, 1024 264 8", T128, "layout=n_offsets groups=3 m=128 n=1296 k=256 extents=1024,264,8 data=coherent"},
    {"3D-2D, an empty group, K with a tail", T64,
     "layout=n_offsets groups=4 m=70 n=400 k=272 extents=136,0,8,200 data=coherent"},
    /* groups of K */
    {"2D-2D, 1 group", "auto", "layout=k_offsets groups=1 m=64 n=128 k=128 extents=128"},
    {"2D-2D, equal", T128, "layout=k_offsets groups=4 m=128 n=128 k=512 extents=128,128,128,128"},
    {"2D-2D, 16 groups", T64,
     "layout=k_offsets groups=16 m=64 n=128 k=2048 "
     "extents=128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128"},
    {"2D-2D, 64 groups", T64, "layout=k_offsets groups=64 m=16 n=64 k=2048"},
    {"2D-2D, no rows", "auto", "layout=k_offsets groups=1 m=0 n=128 k=128"},
    {"2D-2D, 288 four times", T128,
     "layout=k_offsets groups=4 m=128 n=256 k=1152 extents=288,288,288,288 data=coherent"},
    {"2D-2D, 288 eight times", T64,
     "layout=k_offsets groups=8 m=64 n=128 k=2304 extents=288,288,288,288,288,288,288,288 data=coherent"},
    {"2D-2D, 192 320", T64, "layout=k_offsets groups=2 m=128 n=256 k=512 extents=192,320 data=coherent"},
    {"2D-2D, 16 512 128 368", T128,
     "layout=k_offsets groups=4 m=128 n=256 k=1024 extents=16,512,128,368 data=coherent"},
    {"2D-2D, 0 256 256 512", T128, "layout=k_offsets groups=4 m=128 n=256 k=1024 extents=0,256,256,512 data=coherent"},
    {"2D-2D, an empty group left", T128,
     "layout=k_offsets groups=4 m=128 n=256 k=1024 extents=256,0,256,512 data=coherent empty_k=leave"},
    {"2D-2D, 512 16", T64, "layout=k_offsets groups=2 m=64 n=512 k=528 extents=512,16"},
    /* slabs */
    {"3D-3D, 1 slab", "auto", "layout=batched groups=1 m=256 n=128 k=256"},
    {"3D-3D, 4 slabs", T64, "layout=batched groups=4 m=256 n=128 k=128"},
    {"3D-3D, slabs of 1", T128, "layout=batched groups=4 m=1 n=256 k=256 data=coherent"},
    {"3D-3D, slabs of 64", T128, "layout=batched groups=4 m=64 n=256 k=256 data=coherent"},
    {"3D-3D, slabs of 100", T128, "layout=batched groups=4 m=100 n=256 k=256 data=coherent"},
    {"3D-3D, slabs of 192", T128, "layout=batched groups=4 m=192 n=256 k=256 data=coherent"},
    {"3D-3D, slabs of 255", T128, "layout=batched groups=4 m=255 n=256 k=256 data=coherent"},
    {"3D-3D, N and K with tails", T64, "layout=batched groups=3 m=70 n=200 k=272 data=coherent"},
    {"dynamic, 1 group", "auto", "layout=padded groups=1 m=128 n=128 k=128"},
    {"dynamic, 16 groups", T128, "layout=padded groups=16 m=64 n=128 k=256"},
    {"dynamic, 64 groups", T64, "layout=padded groups=64 m=8 n=128 k=128"},
    {"dynamic, coherent", T64, "layout=padded groups=4 m=100 n=128 k=256 data=coherent"},
    /* preshuffled */
    {"stacked preshuffled", T128, "groups=4 m=288 n=256 k=256 b=preshuffled extents=64,128,32,64 data=coherent"},
    {"2D-3D preshuffled, 64 128 32 64", T128,
     "layout=offsets groups=4 m=288 n=256 k=256 b=preshuffled extents=64,128,32,64"},
    {"stacked preshuffled, wide", "t128x256x128_cs_async_wpe2",
     "groups=3 m=300 n=512 k=384 b=preshuffled data=coherent"},
    {"stacked preshuffled, N of 192", "t128x64x128_cs_async_wpe2", "groups=3 m=300 n=192 k=384 b=preshuffled"},
    {"2D-3D preshuffled, exact", T64, "layout=offsets groups=4 m=284 n=256 k=256 b=preshuffled data=exact"},
    {"3D-3D preshuffled", T128, "layout=batched groups=4 m=128 n=256 k=256 b=preshuffled"},
    {"dynamic preshuffled", T128, "layout=padded groups=4 m=128 n=256 k=256 b=preshuffled data=coherent"},
    /* scales of blocks */
    {"groupwise, 128 64", T64, "groups=2 m=192 n=128 k=256 scale=block extents=128,64"},
    {"groupwise preshuffled, 128 64", SQUARE, "groups=2 m=192 n=128 k=256 scale=block b=preshuffled extents=128,64"},
    {"groupwise, 512 256 128", T64, "groups=3 m=896 n=256 k=512 scale=block extents=512,256,128"},
    {"groupwise preshuffled, 512 256 128", SQUARE,
     "groups=3 m=896 n=256 k=512 scale=block b=preshuffled extents=512,256,128"},
    {"groupwise, 1 128 256", T64, "groups=3 m=385 n=128 k=256 scale=block extents=1,128,256"},
    {"groupwise preshuffled, 1 128 256", SQUARE,
     "groups=3 m=385 n=128 k=256 scale=block b=preshuffled extents=1,128,256"},
    {"groupwise, 256 128", T64, "groups=2 m=384 n=512 k=512 scale=block extents=256,128"},
    {"groupwise preshuffled, 256 128", SQUARE, "groups=2 m=384 n=512 k=512 scale=block b=preshuffled extents=256,128"},
    {"groupwise preshuffled, wide", "t64x256x128_cs_async_wpe2",
     "groups=3 m=300 n=512 k=384 scale=block b=preshuffled data=coherent"},
    {"groupwise preshuffled, exact", T64, "groups=3 m=385 n=256 k=384 scale=block b=preshuffled data=exact"},
    {"groupwise, exact", T64, "groups=3 m=385 n=256 k=384 scale=block data=exact"},
    {"groupwise, coherent", T64, "groups=3 m=200 n=256 k=384 scale=block data=coherent"},
    /* data of the benchmarks: 2 ulp, and 0.0039 */
    {"benchmark, stacked", T128, "groups=4 m=200 n=128 k=512 data=benchmark"},
    {"benchmark, 2D-3D", T64, "layout=offsets groups=4 m=200 n=128 k=512 data=benchmark"},
    {"benchmark, 2D-3D preshuffled", T128, "layout=offsets groups=4 m=200 n=128 k=512 b=preshuffled data=benchmark"},
    {"benchmark, dynamic", T128, "layout=padded groups=3 m=100 n=128 k=512 data=benchmark"},
    {"benchmark, 3D-3D", T64, "layout=batched groups=2 m=100 n=128 k=512 data=benchmark"},
    {"benchmark, 3D-2D", T128, "layout=n_offsets groups=3 m=64 n=400 k=512 data=benchmark"},
    {"benchmark, 2D-2D", T64, "layout=k_offsets groups=3 m=64 n=136 k=1536 data=benchmark"},
    {"benchmark, deep K", "t16x64x256", "groups=2 m=20 n=64 k=8192 data=benchmark"},
    /* tails of K and N, odd groups, what no group has */
    {"K and N with tails", T128, "groups=3 m=150 n=200 k=272"},
    {"K and N with tails, in a square", SQUARE, "groups=3 m=150 n=200 k=272 data=coherent"},
    {"K and N with tails, exact", T64, "groups=3 m=150 n=1000 k=528 data=exact"},
    {"K of 528, N of 200", T64, "layout=offsets groups=3 m=70 n=200 k=528 data=coherent"},
    {"K of 16, N of 8", T64, "groups=3 m=70 n=8 k=16 data=coherent"},
    {"groups of one row", T64, "groups=5 m=5 n=128 k=256 extents=1,1,1,1,1 data=coherent"},
    {"more groups than rows", T64, "groups=40 m=7 n=64 k=128"},
    {"all rows in the last group", T64, "groups=4 m=100 n=128 k=256 extents=0,0,0,100"},
    {"rows that no group has", T64, "groups=3 m=200 n=128 k=256 extents=70,0,60"},
    {"f16", T64, "layout=offsets groups=3 m=150 n=200 k=272 out=f16 data=exact"},
    /* E4M3FN, which gfx942 converts */
    {"OCP", T64, "groups=3 m=70 n=200 k=272 a_fp8=e4m3fn b_fp8=e4m3fn data=coherent"},
    {"OCP, preshuffled", T128, "layout=batched groups=2 m=70 n=128 k=256 b=preshuffled b_fp8=e4m3fn"},
    {"OCP, blocks", SQUARE, "layout=padded groups=3 m=70 n=128 k=256 scale=block a_fp8=e4m3fn data=exact"},
    {"OCP, preshuffled, blocks", T64,
     "layout=offsets groups=3 m=70 n=128 k=256 scale=block b=preshuffled a_fp8=e4m3fn b_fp8=e4m3fn"},
    /* starved launches */
    {"total M of 1", "auto", "groups=8 m=1 n=512 k=1024 extents=0,0,0,1,0,0,0,0"},
    {"few rows, deep K", "auto", "groups=4 m=24 n=128 k=2048"},
    {"few rows of slabs, deep K", "auto", "layout=padded groups=3 m=40 n=136 k=1040 data=coherent"},
    {"few columns, deep K", "auto", "layout=n_offsets groups=3 m=24 n=136 k=2048 data=coherent"},
    {"few rows, deep groups of K", "auto", "layout=k_offsets groups=3 m=24 n=136 k=4096 data=coherent"},
    {"few rows, deep K, blocks", "auto", "groups=4 m=24 n=128 k=2048 scale=block data=coherent"},
    /* tiles in bands */
    {"bands that end inside a group", "t16x64x128_group4", "groups=5 m=150 n=320 k=256 extents=17,0,64,33,20"},
    {"bands, more groups than lanes", "t16x64x128_group3", "layout=offsets groups=130 m=300 n=192 k=128 data=coherent"},
    {"bands, no rows at all", "t16x64x128_group4", "groups=3 m=40 n=192 k=128 extents=0,0,0"},
    {"bands, slabs partly filled", "t16x64x128_group2", "layout=padded groups=3 m=70 n=200 k=144 data=coherent"},
    {"bands, groups of columns", "t16x64x128_group2", "layout=n_offsets groups=3 m=70 n=640 k=128 data=coherent"},
    {"bands, groups of K", "t16x64x128_group2", "layout=k_offsets groups=3 m=70 n=200 k=432 data=coherent"},
    {"bands in parts", "t16x64x128_group2_sk2", "groups=4 m=90 n=192 k=512 data=coherent"},
    {"many slabs in parts", "t16x64x128_sk2", "layout=batched groups=70 m=3 n=64 k=256 data=coherent"},
    /* nothing to multiply */
    {"K of 0", "auto", "groups=3 m=20 n=64 k=0"},
    {"K of 0, padded", "auto", "layout=padded groups=3 m=20 n=64 k=0"},
    {"K of 0, no group has any", "auto", "layout=k_offsets groups=3 m=20 n=64 k=0 empty_k=leave"},
    {"K, but no group has any of it", T64, "layout=k_offsets groups=3 m=20 n=64 k=128 extents=0,0,0"},
    {"K, but no group has any of it, left", T64,
     "layout=k_offsets groups=3 m=20 n=64 k=128 extents=0,0,0 empty_k=leave"},
    {"rows, but no group has any of them", T64, "groups=3 m=20 n=64 k=128 extents=0,0,0"},
    {"slabs without rows", T64, "layout=padded groups=3 m=20 n=64 k=128 extents=0,0,0"},
};

static void a_case(void **state) {
    static const char *const modes[] = {"late poison check=all threads=1", "late threads=1", "poison threads=2"};
    const run_case *const c = *state;
    for (int which = 0; which < CHIP_COUNT; which++) {
        const kernel_row k = runs_row(which, c->tag);
        runs_graded(&k, c->words, modes[(size_t)(c - cases + which) % COUNT(modes)], (uint64_t)(c - cases));
    }
}

int main(void) {
    struct CMUnitTest tests[COUNT(cases)];
    for (size_t i = 0; i < COUNT(cases); i++)
        tests[i] = (struct CMUnitTest){cases[i].name, a_case, NULL, NULL, (void *)(uintptr_t)&cases[i]};
    runs_open();
    const int failed = _cmocka_run_group_tests("gemm_grouped", tests, COUNT(tests), NULL, NULL);
    runs_close();
    return failed != 0;
}
