/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels of a few instructions whose cycles are counted by hand from the rules of docs/timing.md. A lone wave's first
 * instruction issues when its code has come: 500 clk. Comments give the clk at which each instruction issues. */
#include "tests/timing/model.h"

#include <cmocka.h>
#include <string.h>

enum { FETCH = 500 };

typedef struct counted {
    const char *name, *body;
    unsigned threads;
    const char *overrides;
    uint64_t clk; /* of all waves */
    uint64_t active, stall[STALL_COUNT];
    uint64_t mfma_clk;
} counted;

/* Memory without queues: what is left is the latency. */
#define WIDE "l2_width = 1e12\nmall_width = 1e9\nhbm_width = 1e9\n"

static const counted kernels[] = {
    {.name = "one VALU a slot, s_nop N takes N+1",
     .body = "v_mov_b32 v1, 0\n"      /* 500 */
             "v_add_u32 v2, v1, v1\n" /* 504 */
             "s_nop 3\n"              /* 508 */
             "v_mov_b32 v3, 0\n",     /* 524; s_endpgm 528 */
     .clk = 532,
     .active = 20,
     .stall = {[STALL_DEPENDENCY] = 12, [STALL_FETCH] = FETCH}},
    {.name = "VALU gate, matrix pipe, packed f32, result of a matrix instruction",
     .body = "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[32:39], v[40:47], 0\n"  /* 500; pipe to 564, VALU from 512 */
             "v_add_u32 v60, v61, v62\n"                                    /* 512 */
             "v_mfma_f32_32x32x64_f8f6f4 v[16:31], v[32:39], v[40:47], 0\n" /* 564; packed from 564 + 4*19 = 640 */
             "v_pk_mul_f32 v[64:65], v[66:67], v[66:67]\n"                  /* 640 */
             "v_max_f32 v0, 0, v16\n",                                      /* 564 + 4*21 = 648; s_endpgm 652 */
     .clk = 656,
     .active = 24,
     .stall = {[STALL_VALU_GATE] = 8 + 72, [STALL_MFMA_PIPE] = 48, [STALL_DEPENDENCY] = 4, [STALL_FETCH] = FETCH},
     .mfma_clk = 128},
    {.name = "accumulation into the same registers runs at the pipe's rate",
     .body = "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[32:39], v[40:47], 0\n"       /* 500 */
             "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[32:39], v[40:47], v[0:3]\n"  /* 532 */
             "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[32:39], v[40:47], v[0:3]\n", /* 564; s_endpgm 568 */
     .clk = 572,
     .active = 16,
     .stall = {[STALL_MFMA_PIPE] = 56, [STALL_FETCH] = FETCH},
     .mfma_clk = 96},
    {.name = "another matrix instruction's result as C waits for the passes and two more",
     .body = "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[32:33], v[40:41], 0\n"       /* 500, 4 passes */
             "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[32:39], v[40:47], v[0:3]\n", /* 500 + 4*7 = 528; s_endpgm 532 */
     .clk = 536,
     .active = 12,
     .stall = {[STALL_DEPENDENCY] = 24, [STALL_FETCH] = FETCH},
     .mfma_clk = 48},
    {.name = "a fp4 product runs twice as fast",
     .body = "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[32:35], v[40:43], 0 cbsz:4 blgp:4\n"   /* 500 */
             "v_mfma_f32_32x32x64_f8f6f4 v[16:31], v[32:35], v[40:43], 0 cbsz:4 blgp:4\n", /* 532; s_endpgm 536 */
     .clk = 540,
     .active = 12,
     .stall = {[STALL_MFMA_PIPE] = 28, [STALL_FETCH] = FETCH},
     .mfma_clk = 64},
    {.name = "what VALU wrote reaches a matrix instruction two slots later",
     .body = "v_mov_b32 v32, 0\n"                                                /* 500 */
             "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[32:39], v[40:47], v[0:3]\n", /* 512; s_endpgm 516 */
     .clk = 520,
     .active = 12,
     .stall = {[STALL_DEPENDENCY] = 8, [STALL_FETCH] = FETCH},
     .mfma_clk = 32},
    {.name = "a transcendental instruction takes two slots",
     .body = "v_exp_f32 v1, v2\n" /* 500 */
             "v_exp_f32 v3, v4\n" /* 508; s_endpgm 516 */,
     .clk = 520,
     .active = 20,
     .stall = {[STALL_FETCH] = FETCH}},
    {.name = "LDS read: two phases, 64 clk, and the wait for it",
     .body = "v_mov_b32 v1, 0\n"       /* 500 */
             "ds_read_b32 v2, v1\n"    /* 504; back at 504 + 2 + 64 = 570 */
             "s_waitcnt lgkmcnt(0)\n", /* 572; s_endpgm 576 */
     .clk = 580,
     .active = 16,
     .stall = {[STALL_LGKMCNT] = 64, [STALL_FETCH] = FETCH}},
    {.name = "a second LDS read one slot later; a store five slots",
     .body = "v_mov_b32 v1, 0\n"           /* 500 */
             "ds_read_b32 v2, v1\n"        /* 504 */
             "ds_read_b32 v3, v1\n"        /* 512 */
             "ds_write_b128 v1, v[4:7]\n", /* 516 to 536; s_endpgm 536 */
     .clk = 540,
     .active = 4 + 4 + 4 + 20 + 4,
     .stall = {[STALL_QUEUE] = 4, [STALL_FETCH] = FETCH}},
    {.name = "scalar load",
     .body = "s_load_dword s4, s[0:1], 0x0\n" /* 500; back at 750 */
             "s_waitcnt lgkmcnt(0)\n",        /* 752; s_endpgm 756 */
     .clk = 760,
     .active = 12,
     .stall = {[STALL_LGKMCNT] = 248, [STALL_FETCH] = FETCH}},
    {.name = "a load from HBM, then the same line from L1",
     .overrides = WIDE "hbm_latency = 1000\n",
     .body = "s_load_dwordx2 s[4:5], s[0:1], 0x0\n" /* 500; back at 750 */
             "s_waitcnt lgkmcnt(0)\n"               /* 752 */
             "v_lshlrev_b32 v1, 2, v0\n"            /* 756 */
             "global_load_dword v2, v1, s[4:5]\n"   /* 760; 4 segments: 764 + 1000 = 1764 */
             "s_waitcnt vmcnt(0)\n"                 /* 1764 */
             "global_load_dword v2, v1, s[4:5]\n"   /* 1768; 1772 + 120 = 1892 */
             "s_waitcnt vmcnt(0)\n",                /* 1892; s_endpgm 1896 */
     .clk = 1900,
     .active = 32,
     .stall = {[STALL_LGKMCNT] = 248, [STALL_VMCNT] = 1000 + 120, [STALL_FETCH] = FETCH}},
    {.name = "taken branch six slots, the one that falls through one",
     .body = "s_mov_b32 s4, 2\n"            /* 500 */
             "again: s_sub_u32 s4, s4, 1\n" /* 504, 536 */
             "s_cmp_lg_u32 s4, 0\n"         /* 508, 540 */
             "s_cbranch_scc1 again\n",      /* 512 to 536, 544; s_endpgm 548 */
     .clk = 552,
     .active = 4 + 2 * 12 + 4,
     .stall = {[STALL_FETCH] = FETCH + 20}},
    {.name = "the older of two waves on a SIMD goes first",
     .threads = 320,             /* waves 0 and 4 share SIMD 0 */
     .body = "v_mov_b32 v1, 0\n" /* wave 0: 500 to 512, s_endpgm 516; wave 4: 516 to 528, s_endpgm 532 */
             "v_mov_b32 v2, 0\n"
             "v_mov_b32 v3, 0\n"
             "v_mov_b32 v4, 0\n",
     .clk = 4 * 520 + 536,
     .active = 5 * 20,
     .stall = {[STALL_ARBITRATION] = 16, [STALL_FETCH] = 5 * FETCH}},
    {.name = "s_setprio 3 goes before age",
     .threads = 320,
     /* Wave 0: v_cmp 500, branch 504 taken, from 528; there wave 4 is in its way once: 532 to 544, s_endpgm 548.
      * Wave 4: v_cmp 504, branch 508, s_setprio 512, 516 to 528, s_endpgm 532. Waves 1 to 3 as wave 0, undisturbed. */
     .body = "v_cmp_gt_u32 vcc, 256, v0\n"
             "s_cbranch_vccnz low\n"
             "s_setprio 3\n"
             "low: v_mov_b32 v1, 0\n"
             "v_mov_b32 v2, 0\n"
             "v_mov_b32 v3, 0\n"
             "v_mov_b32 v4, 0\n",
     .clk = 552 + 3 * 548 + 536,
     .active = 4 * 28 + 32,
     .stall = {[STALL_ARBITRATION] = 4 + 4, [STALL_FETCH] = 5 * FETCH + 4 * 20}},
    {.name = "without it, it does not",
     .threads = 320,
     /* Wave 0: 528 to 540, s_endpgm 544. Wave 4: 516 to 524, the fourth after wave 0's at 544, s_endpgm 548. */
     .body = "v_cmp_gt_u32 vcc, 256, v0\n"
             "s_cbranch_vccnz low\n"
             "s_setprio 0\n"
             "low: v_mov_b32 v1, 0\n"
             "v_mov_b32 v2, 0\n"
             "v_mov_b32 v3, 0\n"
             "v_mov_b32 v4, 0\n",
     .clk = 4 * 548 + 552,
     .active = 4 * 28 + 32,
     .stall = {[STALL_ARBITRATION] = 4 + 16, [STALL_FETCH] = 5 * FETCH + 4 * 20}},
    {.name = "two waves at a barrier",
     .threads = 128,
     /* Wave 0, on SIMD 0: 500 v_cmp, 504 s_cbranch, falls through: 508 v_exp to 516, 516 s_barrier to 524, s_endpgm.
      * Wave 1, on SIMD 1: the same at 501, 505, taken: 529 s_barrier to 537. Released at 537 + 8 = 545: both wait from
      * their arrival to their next slot from then on: wave 0 from 524 to 548, wave 1 from 537 to 545. */
     .body = "v_cmp_gt_u32 vcc, 64, v0\n"
             "s_cbranch_vccz over\n"
             "v_exp_f32 v1, v2\n"
             "over: s_barrier\n",
     .clk = 552 + 548,
     .active = (4 + 4 + 8 + 8 + 4) + (4 + 4 + 8 + 4),
     .stall = {[STALL_FETCH] = 2 * FETCH + 20, [STALL_BARRIER] = 24 + 8}},
};

static void counted_by_hand(void **state) {
    const counted *k = *state;
    sim_timing t = model_body(k->body, k->threads ? k->threads : 64, k->overrides);
    assert_sums(&t);
    for (int s = 0; s < STALL_COUNT; s++)
        if (t.stall[s] != k->stall[s])
            fail_msg("%s: %llu clk, %llu counted by hand", sim_stall_names[s], (unsigned long long)t.stall[s],
                     (unsigned long long)k->stall[s]);
    assert_int_equal(t.active, k->active);
    assert_int_equal(t.wave_clk, k->clk);
    assert_true(t.mfma_busy * 4 * t.cu_clk > (double)k->mfma_clk - 0.5 &&
                t.mfma_busy * 4 * t.cu_clk < (double)k->mfma_clk + 0.5);
    sim_timing_free(&t);
}

static void loop_figures(void **state) {
    (void)state;
    /* A trip: 32x32x64 at 0 (16 slots of pipe, VALU from slot 3), 2 VALU, 2 SALU, branch to the next trip: 6 slots.
     * The pipe frees at slot 16; issue needs 3 + 2 slots, the wave 1 + 2 (gate) + 2 + 2 + 6 = 13. */
    sim_timing t = model_body("s_mov_b32 s4, 100\n"
                              "again: v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[32:39], v[40:47], v[0:15]\n"
                              "v_add_u32 v60, v61, v62\n"
                              "v_add_u32 v60, v61, v62\n"
                              "s_sub_u32 s4, s4, 1\n"
                              "s_cmp_lg_u32 s4, 0\n"
                              "s_cbranch_scc1 again\n",
                              64, NULL);
    assert_sums(&t);
    assert_int_equal(t.loop_count, 1);
    const sim_loop *l = &t.loops[0];
    assert_int_equal(l->trips, 99);
    assert_true(l->inner);
    assert_true(l->mix[KIND_MFMA] == 1 && l->mix[KIND_VALU] == 2 && l->mix[KIND_SALU] == 2 && l->mix[KIND_BRANCH] == 1);
    assert_true(l->instructions == 6);
    assert_true(l->mfma_bound == 64);
    assert_true(l->issue_bound == 4 * (2 + 3));
    assert_true(l->clk == 64);
    assert_true(l->mfma_busy == 1);
    assert_string_equal(l->binds, "matrix pipe");
    sim_timing_free(&t);
}

static int open_simulator(void **state) {
    (void)state;
    gpu_open("");
    return 0;
}

int main(void) {
    struct CMUnitTest tests[sizeof kernels / sizeof *kernels + 1];
    size_t n = 0;
    for (; n < sizeof kernels / sizeof *kernels; n++)
        tests[n] = (struct CMUnitTest){
            .name = kernels[n].name, .test_func = counted_by_hand, .initial_state = (void *)(uintptr_t)&kernels[n]};
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(loop_figures);
    return cmocka_run_group_tests(tests, open_simulator, NULL);
}
