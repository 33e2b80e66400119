/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Waits, LDS races, barriers, undefined values: pairs of kernels that differ in the one thing that matters. The broken
 * one runs to its end without the check, as it would on hardware, and is stopped with it. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/gpu.h"

/* Starts every kernel: s[4:5] is the buffer, v1 the lane's byte offset in a wave's dwords, s8 the wave, v0 the lane. */
#define HEAD                                                                                                           \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_readfirstlane_b32 s8, v0\ns_lshr_b32 s8, s8, 6\n"     \
    "v_and_b32 v0, 63, v0\nv_lshlrev_b32 v1, 2, v0\n"
/* LDS that something has written: dwords 0 to 63 by this wave. */
#define FILL "v_mov_b32 v9, 7\nds_write_b32 v1, v9\ns_waitcnt lgkmcnt(0)\n"
#define WAVE_0 "s_cmp_lg_u32 s8, 0\ns_cbranch_scc1 .Lnot0\n"
#define OTHERS ".Lnot0:\n"
#define DMA "s_mov_b32 m0, 0\ns_nop 0\nglobal_load_lds_dword v1, s[4:5]\n"

typedef struct pair {
    const char *name, *mode;
    unsigned waves;
    const char *broken, *right; /* broken NULL: only a twin */
    const char *said[5];
} pair;

#define WAVE_AFTER "s_cmp_eq_u32 s8, 0\ns_cbranch_scc1 .Lend1\nds_write_b32 v1, v0\n.Lend1:\n"
/* One 16x16x16 product: A in v[8:9], B in v[10:11], C and D in v[16:19]. */
#define MATRIX_INPUTS                                                                                                  \
    "v_mov_b32 v10, 0\nv_mov_b32 v11, 0\nv_mov_b32 v16, 0\nv_mov_b32 v17, 0\nv_mov_b32 v18, 0\nv_mov_b32 v19, 0\n"
#define MATRIX_A "v_mov_b32 v8, 0\nv_mov_b32 v9, 0\n"
#define MATRIX "s_nop 1\nv_mfma_f32_16x16x16_f16 v[16:19], v[8:9], v[10:11], v[16:19]\ns_nop 7\n"

#define STORE "global_store_dword v1, v2, s[4:5]\n"

static const pair pairs[] = {
    {"vector load read without a wait",
     "races",
     1,
     "global_load_dword v2, v1, s[4:5]\nv_add_u32 v3, 1, v2\n",
     "global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_u32 v3, 1, v2\n",
     {"v2 is read", "vector memory load", "global_load_dword v2, v1, s[4:5]", "s_waitcnt vmcnt(0)", "v_add_u32"}},
    {"the wait counts one load too few",
     "races",
     1,
     "global_load_dword v2, v1, s[4:5]\nglobal_load_dword v3, v1, s[4:5]\nglobal_load_dword v4, v1, s[4:5]\n"
     "s_waitcnt vmcnt(2)\nv_add_u32 v5, v2, v3\n",
     "global_load_dword v2, v1, s[4:5]\nglobal_load_dword v3, v1, s[4:5]\nglobal_load_dword v4, v1, s[4:5]\n"
     "s_waitcnt vmcnt(1)\nv_add_u32 v5, v2, v3\n",
     {"v3 is read", "s_waitcnt vmcnt(1)", "wave 0, lane 0"}},
    {"load overwritten before it lands",
     "races",
     1,
     "global_load_dword v2, v1, s[4:5]\nv_mov_b32 v2, 0\n",
     "global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_mov_b32 v2, 0\n",
     {"v2 is overwritten", "vector memory load"}},
    {"load over load in one counter",
     "races",
     1,
     NULL,
     "global_load_dword v2, v1, s[4:5]\nglobal_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_mov_b32 v3, v2\n",
     {NULL}},
    {"load of other lanes pending",
     "races",
     1,
     "s_mov_b64 exec, 3\nglobal_load_dword v2, v1, s[4:5]\ns_mov_b64 exec, 2\nv_mov_b32 v2, 0\n",
     "s_mov_b64 exec, 1\nglobal_load_dword v2, v1, s[4:5]\ns_mov_b64 exec, 2\nv_mov_b32 v2, 0\n",
     {"v2 is overwritten", "lane 1"}},
    {"LDS read used without a wait",
     "races",
     1,
     FILL "ds_read_b32 v2, v1\nv_mov_b32 v3, v2\n",
     FILL "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v3, v2\n",
     {"v2 is read", "LDS read", "s_waitcnt lgkmcnt(0)"}},
    {"permutation used without a wait",
     "races",
     1,
     "ds_bpermute_b32 v2, v1, v0\nv_mov_b32 v3, v2\n",
     "ds_bpermute_b32 v2, v1, v0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v3, v2\n",
     {"v2 is read"}},
    {"scalar load used without a wait",
     "races",
     1,
     "s_load_dword s6, s[4:5], 0x0\ns_add_u32 s7, s6, 1\n",
     "s_load_dword s6, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\ns_add_u32 s7, s6, 1\n",
     {"s6 is read", "scalar load", "s_waitcnt lgkmcnt(0)"}},
    {"scalar loads come in any order",
     "races",
     1,
     "s_load_dword s6, s[4:5], 0x0\ns_load_dword s7, s[4:5], 0x4\ns_waitcnt lgkmcnt(1)\ns_add_u32 s9, s6, 1\n",
     "s_load_dword s6, s[4:5], 0x0\ns_load_dword s7, s[4:5], 0x4\ns_waitcnt lgkmcnt(0)\ns_add_u32 s9, s6, 1\n",
     {"s6 is read", "scalar load"}},
    {"a flat load counts twice",
     "races",
     1,
     "v_mov_b32 v2, s4\nv_mov_b32 v3, s5\nflat_load_dword v4, v[2:3]\ns_waitcnt vmcnt(0)\nv_mov_b32 v5, v4\n",
     "v_mov_b32 v2, s4\nv_mov_b32 v3, s5\nflat_load_dword v4, v[2:3]\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
     "v_mov_b32 v5, v4\n",
     {"v4 is read", "s_waitcnt vmcnt(0) lgkmcnt(0)"}},
    {"store data overwritten",
     "races",
     1,
     NULL,
     "v_mov_b32 v2, 1\nglobal_store_dword v1, v2, s[4:5]\nv_mov_b32 v2, 2\n",
     {NULL}},

    {"LDS read before the DMA has landed",
     "races",
     1,
     DMA "ds_read_b32 v2, v1\n",
     DMA "s_waitcnt vmcnt(0)\nds_read_b32 v2, v1\n",
     {"LDS byte 0", "this read", "write of \"global_load_lds_dword", "s_waitcnt vmcnt(0)", "the same wave"}},
    {"DMA of another wave not waited for before the barrier",
     "races",
     2,
     WAVE_0 DMA OTHERS "s_barrier\nds_read_b32 v2, v1\n",
     WAVE_0 DMA "s_waitcnt vmcnt(0)\n" OTHERS "s_barrier\nds_read_b32 v2, v1\n",
     {"LDS", "global_load_lds_dword", "s_waitcnt vmcnt(0)"}},
    {"DMA over bytes that a read has not fetched",
     "races",
     1,
     FILL "ds_read_b32 v2, v1\n" DMA,
     FILL "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\n" DMA,
     {"this write may come before the read of \"ds_read_b32 v2, v1\"", "s_waitcnt lgkmcnt(0)"}},
    {"DMA into the next slot while this one is read",
     "races",
     1,
     NULL,
     DMA "s_waitcnt vmcnt(0)\ns_movk_i32 m0, 0x100\ns_nop 0\nglobal_load_lds_dword v1, s[4:5]\nds_read_b32 v2, v1\n",
     {NULL}},

    {"write and read of two waves without a barrier",
     "races",
     2,
     WAVE_0 "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_endpgm\n" OTHERS "ds_read_b32 v2, v1\n",
     WAVE_0 "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\n" OTHERS "s_barrier\nds_read_b32 v2, v1\n",
     {"LDS race on byte 0", "this read and the write of \"ds_write_b32 v1, v0\"", "(wave 0, lane 0)", "wave 1, lane 0",
      "s_barrier"}},
    {"barrier without the wait before it",
     "races",
     2,
     WAVE_0 "ds_write_b32 v1, v0\n" OTHERS "s_barrier\nds_read_b32 v2, v1\n",
     WAVE_0 "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\n" OTHERS "s_barrier\nds_read_b32 v2, v1\n",
     {"LDS race", "right is s_waitcnt lgkmcnt(0) in wave 0 and then s_barrier"}},
    {"two waves write one byte",
     "races",
     2,
     "ds_write_b32 v1, v0\n",
     "s_lshl_b32 s9, s8, 8\nv_add_u32 v1, s9, v1\nds_write_b32 v1, v0\n",
     {"LDS race", "this write and the write", "(wave 0, lane 0)"}},
    {"write over what another wave still reads",
     "races",
     2,
     WAVE_0 "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\ns_endpgm\n" OTHERS "ds_write_b32 v1, v0\n",
     WAVE_0 "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\n" OTHERS "s_barrier\n" WAVE_AFTER,
     {"LDS race", "this write and the read of \"ds_read_b32 v2, v1\""}},
    {"waves write neighbouring bytes",
     "races",
     2,
     NULL,
     "v_lshlrev_b32 v2, 1, v0\nv_add_u32 v2, s8, v2\nds_write_b8 v2, v0\n",
     {NULL}},
    {"a read of three waves, then a write of the first",
     "races",
     3,
     "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\ns_cmp_lg_u32 s8, 2\ns_cbranch_scc1 .Lend2\nds_write_b32 v1, "
     "v0\n.Lend2:\n",
     "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\ns_barrier\ns_cmp_lg_u32 s8, 2\ns_cbranch_scc1 .Lend2\n"
     "ds_write_b32 v1, v0\n.Lend2:\n",
     {"LDS race", "this write and the read"}},
    {"a flat store to LDS and a read of another wave",
     "races",
     2,
     "s_mov_b64 s[10:11], src_shared_base\nv_mov_b32 v2, v1\nv_mov_b32 v3, s11\n" WAVE_0
     "flat_store_dword v[2:3], v0\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_endpgm\n" OTHERS "ds_read_b32 v4, v1\n",
     "s_mov_b64 s[10:11], src_shared_base\nv_mov_b32 v2, v1\nv_mov_b32 v3, s11\n" WAVE_0
     "flat_store_dword v[2:3], v0\ns_waitcnt vmcnt(0) lgkmcnt(0)\n" OTHERS "s_barrier\nds_read_b32 v4, v1\n",
     {"LDS race", "this read and the write of \"flat_store_dword v[2:3], v0\""}},
    {"atomics of two waves", "races", 2, NULL, "v_mov_b32 v2, 0\nv_mov_b32 v3, 1\nds_add_u32 v2, v3\n", {NULL}},
    {"an atomic and a plain read",
     "races",
     2,
     "v_mov_b32 v2, 0\nv_mov_b32 v3, 1\n" WAVE_0 "ds_add_u32 v2, v3\ns_waitcnt lgkmcnt(0)\ns_endpgm\n" OTHERS
     "ds_read_b32 v4, v2\n",
     "v_mov_b32 v2, 0\nv_mov_b32 v3, 1\n" WAVE_0 "ds_add_u32 v2, v3\ns_waitcnt lgkmcnt(0)\n" OTHERS
     "s_barrier\nds_read_b32 v4, v2\n",
     {"LDS race", "this read and the atomic"}},

    {"barrier under a divergent branch",
     "races",
     2,
     "s_mov_b64 exec, 0xff\ns_barrier\n",
     "s_mov_b64 exec, 0xff\ns_mov_b64 exec, -1\ns_barrier\n",
     {"barrier under divergent control flow", "56 of the wave's 64 lanes", "lane 8", "s_barrier"}},
    {"a wave ends while others wait: the hardware no longer counts it",
     "races",
     2,
     NULL,
     WAVE_0 "s_endpgm\n" OTHERS "s_barrier\n",
     {NULL}},

    {"store of a register that nothing wrote",
     "all",
     1,
     STORE,
     "v_mov_b32 v2, 0\n" STORE,
     {"undefined bits 0xffffffff of v2 reach global memory", "lane 0"}},
    {"store of a register written in other lanes",
     "all",
     1,
     "s_mov_b64 exec, 0xf\nv_mov_b32 v2, 0\ns_mov_b64 exec, 0x1f\n" STORE,
     "s_mov_b64 exec, 0xf\nv_mov_b32 v2, 0\n" STORE,
     {"v2 reach global memory", "lane 4"}},
    {"store of a half that nothing wrote",
     "all",
     1,
     "global_load_short_d16 v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\n" STORE,
     "global_load_short_d16 v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nglobal_store_short v1, v2, s[4:5]\n"
     "v_and_b32 v2, 0xffff, v2\n" STORE,
     {"undefined bits 0xffff0000 of v2"}},
    {"undefined through arithmetic",
     "all",
     1,
     "v_mov_b32 v3, 2\nv_mul_f32 v2, v3, v4\n" STORE,
     "v_mov_b32 v3, 2\nv_mov_b32 v4, 2\nv_mul_f32 v2, v3, v4\n" STORE,
     {"v2 reach global memory"}},
    {"a selection takes the undefined side",
     "all",
     1,
     "v_cmp_gt_u32 vcc, 8, v0\ns_nop 1\nv_cndmask_b32 v2, v0, v4, vcc\n" STORE,
     "v_cmp_gt_u32 vcc, 64, v0\ns_nop 1\nv_cndmask_b32 v2, v4, v0, vcc\n" STORE,
     {"v2 reach global memory", "lane 0"}},
    {"shifts and bytes move what is undefined",
     "all",
     1,
     "global_load_ubyte_d16 v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_lshrrev_b32 v2, 8, v2\n" STORE,
     "global_load_ubyte_d16 v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_lshlrev_b32 v2, 16, v2\ns_mov_b32 s9, 0x07060706\n"
     "v_perm_b32 v2, v2, v2, s9\n" STORE,
     {"undefined bits 0x00ffff00"}},
    {"LDS that nothing wrote",
     "all",
     1,
     "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\n" STORE,
     FILL "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\n" STORE,
     {"v2 reach global memory"}},
    {"one LDS byte that nothing wrote",
     "all",
     1,
     "ds_write_b16 v1, v0\nds_write_b8 v1, v0 offset:2\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\n" STORE,
     "ds_write_b16 v1, v0\nds_write_b16 v1, v0 offset:2\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\n" STORE,
     {"undefined bits 0xff000000 of v2"}},
    {"undefined data through LDS and scratch",
     "all",
     1,
     "ds_write_b32 v1, v4\ns_waitcnt lgkmcnt(0)\nds_read_b32 v5, v1\ns_waitcnt lgkmcnt(0)\nscratch_store_dword off, "
     "v5, "
     "off\ns_waitcnt vmcnt(0)\nscratch_load_dword v2, off, off\ns_waitcnt vmcnt(0)\n" STORE,
     "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\nds_read_b32 v5, v1\ns_waitcnt lgkmcnt(0)\nscratch_store_dword off, "
     "v5, "
     "off\ns_waitcnt vmcnt(0)\nscratch_load_dword v2, off, off\ns_waitcnt vmcnt(0)\n" STORE,
     {"v2 reach global memory"}},
    {"LDS atomic on what nothing wrote",
     "all",
     1,
     "ds_add_rtn_u32 v2, v1, v0\ns_waitcnt lgkmcnt(0)\n" STORE,
     FILL "ds_add_rtn_u32 v2, v1, v0\ns_waitcnt lgkmcnt(0)\n" STORE,
     {"v2 reach global memory"}},
    {"LDS filled by DMA",
     "all",
     1,
     NULL,
     DMA "s_waitcnt vmcnt(0)\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\n" STORE,
     {NULL}},
    {"a lane moved by DPP",
     "all",
     1,
     "s_mov_b64 exec, 1\nv_mov_b32 v4, 0\ns_mov_b64 exec, -1\ns_nop 4\nv_mov_b32_dpp v2, v4 quad_perm:[0,0,0,0] "
     "row_mask:0xf bank_mask:0xf\n" STORE,
     "s_mov_b64 exec, 1\nv_mov_b32 v4, 0\ns_mov_b64 exec, -1\ns_nop 4\nv_mov_b32_dpp v2, v4 quad_perm:[0,0,0,0] "
     "row_mask:0xf bank_mask:0xf\ns_mov_b64 exec, 0xf\n" STORE,
     {"v2 reach global memory", "lane 4"}},
    {"a lane moved by a swap",
     "all",
     1,
     "s_mov_b64 exec, 1\nv_mov_b32 v4, 0\nv_mov_b32 v2, 0\ns_mov_b64 exec, -1\ns_nop 1\nv_permlane32_swap_b32 v2, v4\n"
     "s_mov_b32 exec_lo, 0\ns_mov_b32 exec_hi, 3\n" STORE,
     "s_mov_b64 exec, 1\nv_mov_b32 v4, 0\nv_mov_b32 v2, 0\ns_mov_b64 exec, -1\ns_nop 1\nv_permlane32_swap_b32 v2, v4\n"
     "s_mov_b32 exec_lo, 0\ns_mov_b32 exec_hi, 1\n" STORE,
     {"v2 reach global memory", "lane 33"}},
    {"a lane moved by ds_bpermute",
     "all",
     1,
     "s_mov_b64 exec, 1\nv_mov_b32 v4, 0\ns_mov_b64 exec, -1\nds_bpermute_b32 v2, v1, v4\ns_waitcnt lgkmcnt(0)\n" STORE,
     "v_mov_b32 v5, 0\ns_mov_b64 exec, 1\nv_mov_b32 v4, 0\ns_mov_b64 exec, -1\nds_bpermute_b32 v2, v5, v4\n"
     "s_waitcnt lgkmcnt(0)\n" STORE,
     {"v2 reach global memory", "lane 1"}},
    {"a row of A that nothing wrote",
     "all",
     1,
     MATRIX_INPUTS "s_mov_b32 exec_lo, 0xffffff7f\n" MATRIX_A "s_mov_b64 exec, -1\n" MATRIX "v_mov_b32 v2, v19\n" STORE,
     MATRIX_INPUTS "s_mov_b32 exec_lo, 0xffffff7f\n" MATRIX_A "s_mov_b64 exec, -1\n" MATRIX "v_mov_b32 v2, v16\n" STORE,
     {"v2 reach global memory", "lane 16"}},
    {"a column of B that nothing wrote",
     "all",
     1,
     MATRIX_INPUTS MATRIX_A "s_mov_b64 exec, 8\nv_mov_b32 v10, v40\ns_mov_b64 exec, -1\n" MATRIX
                            "v_mov_b32 v2, v16\n" STORE,
     MATRIX_INPUTS MATRIX_A "s_mov_b64 exec, 8\nv_mov_b32 v10, v40\ns_mov_b64 exec, -1\n" MATRIX
                            "v_mov_b32 v2, v16\ns_mov_b32 exec_lo, 0xfff7fff7\ns_mov_b32 exec_hi, 0xfff7fff7\n" STORE,
     {"v2 reach global memory", "lane 3"}},
    {"an address that nothing wrote",
     "all",
     1,
     "v_mov_b32 v2, 0\ns_mov_b64 exec, 0\nglobal_store_dword v4, v2, s[4:5]\ns_mov_b64 exec, 2\n"
     "v_and_b32 v5, 0xfc, v4\nglobal_store_dword v5, v2, s[4:5]\n",
     "v_mov_b32 v2, 0\nv_and_b32 v5, 0xfc, v1\nglobal_store_dword v5, v2, s[4:5]\n",
     {"the address takes undefined bits of v5", "lane 1"}},
    {"an LDS address that nothing wrote",
     "all",
     1,
     "v_and_b32 v5, 0xfc, v4\nds_write_b32 v5, v0\n",
     "v_and_b32 v5, 0xfc, v1\nds_write_b32 v5, v0\n",
     {"the address takes undefined bits of v5"}},
    {"a scalar base that nothing wrote",
     "all",
     1,
     "s_and_b32 s9, s40, 4\ns_load_dword s10, s[4:5], s9\n",
     "s_and_b32 s9, s4, 4\ns_load_dword s10, s[4:5], s9\n",
     {"the address takes undefined bits of s9"}},
    {"a branch on what nothing wrote",
     "all",
     1,
     "s_cmp_eq_u32 s40, 0\ns_cbranch_scc1 .Lx\ns_nop 0\n.Lx:\n",
     "s_cmp_eq_u32 s4, 0\ns_cbranch_scc1 .Lx\ns_nop 0\n.Lx:\n",
     {"the branch depends on undefined bits of SCC"}},
    {"a branch on a comparison of what nothing wrote",
     "all",
     1,
     "v_cmp_ne_u32 vcc, v4, v4\ns_cbranch_vccnz .Lx\ns_nop 0\n.Lx:\n",
     "v_cmp_ne_u32 vcc, v0, v0\ns_cbranch_vccnz .Lx\ns_nop 0\n.Lx:\n",
     {"the branch depends on undefined bits of VCC"}},
    {"EXEC from what nothing wrote",
     "all",
     1,
     "s_mov_b64 s[10:11], exec\ns_mov_b64 exec, s[40:41]\ns_mov_b64 exec, s[10:11]\n",
     "s_mov_b64 s[10:11], exec\ns_mov_b64 exec, s[4:5]\ns_mov_b64 exec, s[10:11]\n",
     {"EXEC takes undefined bits"}},
    {"a mask of inactive lanes does not reach EXEC",
     "all",
     1,
     "s_mov_b64 exec, 3\nv_cmp_eq_u32 s[10:11], v4, v0\ns_and_saveexec_b64 s[12:13], s[10:11]\n",
     "s_mov_b64 exec, 3\nv_cmp_eq_u32 s[10:11], v0, v0\ns_and_saveexec_b64 s[12:13], s[10:11]\n"
     "s_and_saveexec_b64 s[12:13], exec\n",
     {"EXEC takes undefined bits", "lane 0"}},
    {"a lane selection that nothing wrote",
     "all",
     1,
     "v_readlane_b32 s9, v0, s40\n",
     "v_readlane_b32 s9, v0, s4\n",
     {"the lane selection is undefined"}},
    {"a relative register that nothing wrote",
     "all",
     1,
     "v_mov_b32 v10, 0\ns_set_gpr_idx_on 3, gpr_idx(SRC0)\nv_mov_b32 v2, v8\ns_set_gpr_idx_off\n" STORE,
     "v_mov_b32 v11, 0\ns_set_gpr_idx_on 3, gpr_idx(SRC0)\nv_mov_b32 v2, v8\ns_set_gpr_idx_off\n" STORE,
     {"v2 reach global memory"}},
    {"a conversion of what nothing wrote",
     "all",
     1,
     "v_mov_b32 v3, 0\nv_cvt_sr_fp8_f32 v2, v4, v3\ns_nop 0\n" STORE,
     "v_mov_b32 v3, 0\nv_cvt_sr_fp8_f32 v2, v3, v3\ns_nop 0\n" STORE,
     {"v2 reach global memory"}},
    {"a scalar selection takes the undefined side",
     "all",
     1,
     "s_cmp_eq_u32 s4, s4\ns_cselect_b32 s9, s40, s4\nv_mov_b32 v2, s9\n" STORE,
     "s_cmp_lg_u32 s4, s4\ns_cselect_b32 s9, s40, s4\nv_mov_b32 v2, s9\n" STORE,
     {"v2 reach global memory"}},
    {"a sum carries upwards only",
     "all",
     1,
     "global_load_short_d16_hi v3, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_u32 v2, v3, v0\nglobal_store_short v1, v2, "
     "s[4:5]\n",
     "global_load_short_d16 v3, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_u32 v2, v3, v0\nglobal_store_short v1, v2, "
     "s[4:5]\n",
     {"undefined bits 0xffffffff of v2"}},
    {"a global atomic of what nothing wrote",
     "all",
     1,
     "global_atomic_add v1, v4, s[4:5]\n",
     "global_atomic_add v1, v0, s[4:5]\n",
     {"v4 reach global memory"}},
};

static void run_pair(const pair *p, const char *body, int broken) {
    char mode[64], source[4096];
    static const uint32_t zeros[256];
    snprintf(source, sizeof source, HEAD "%s", body);
    const hip_module module = gpu_assemble(source, 1024);
    const uint64_t buffer = gpu_buffer(zeros, sizeof zeros);
    const gpu_grid grid = {.groups = 2, .threads = 64 * p->waves};
    for (int checked = 0; checked < 2; checked++) {
        snprintf(mode, sizeof mode, "threads=1 check=%s", checked ? p->mode : "off");
        gpu_open(mode);
        const hip_error error = gpu_launch(module, "k", grid, 1, buffer);
        if (!checked || !broken) {
            if (error != HIP_SUCCESS)
                fail_msg("%s (%s, check=%s): %s", p->name, broken ? "broken" : "right", checked ? p->mode : "off",
                         gpu->last_fault());
            continue;
        }
        if (error != HIP_ERROR_LAUNCH_FAILURE) fail_msg("%s: no finding in\n%s", p->name, body);
        for (int i = 0; i < 5 && p->said[i]; i++)
            if (!strstr(gpu->last_fault(), p->said[i]))
                fail_msg("%s: \"%s\" is not in: %s", p->name, p->said[i], gpu->last_fault());
        assert_non_null(strstr(gpu->last_fault(), ".text+0x"));
        assert_non_null(strstr(gpu->last_fault(), "workgroup "));
        assert_non_null(strstr(gpu->last_fault(), "right is "));
    }
    assert_int_equal(gpu->module_unload(module), HIP_SUCCESS);
    gpu->free((void *)(uintptr_t)buffer);
}

static void a_pair(void **state) {
    const pair *p = *state;
    if (p->broken) run_pair(p, p->broken, 1);
    run_pair(p, p->right, 0);
}

static void an_access_outside_names_its_allocation(void **state) {
    (void)state;
    uint32_t words[64] = {0};
    gpu_open("check=all threads=1");
    assert_int_equal(
        gpu_run_words(HEAD "v_mov_b32 v2, 0\nglobal_store_dword v1, v2, s[4:5] offset:128\n", 0, words, 64),
        HIP_ERROR_LAUNCH_FAILURE);
    assert_non_null(strstr(gpu->last_fault(), "byte 256 of the 256-byte allocation"));
    assert_non_null(strstr(gpu->last_fault(), "lane 32"));
}

static void an_access_after_free_names_its_allocation(void **state) {
    (void)state;
    gpu_open("check=all threads=1");
    const hip_module module = gpu_assemble(HEAD "global_load_dword v2, v1, s[4:5]\n", 0);
    const uint64_t buffer = gpu_buffer(NULL, 512);
    gpu->free((void *)(uintptr_t)buffer);
    assert_int_equal(gpu_launch(module, "k", (gpu_grid){.groups = 1, .threads = 64}, 1, buffer),
                     HIP_ERROR_LAUNCH_FAILURE);
    assert_non_null(strstr(gpu->last_fault(), "byte 0 of a freed 512-byte allocation"));
    assert_int_equal(gpu->module_unload(module), HIP_SUCCESS);
}

static void the_level_is_off_races_or_all(void **state) {
    (void)state;
    const hip_table *table;
    const chip *c = chip_find("gfx950", 6);
    assert_int_equal(sim_open(c, "check=some", &table), CDNAGEN_BAD_ARGUMENT);
    assert_non_null(strstr(cdnagen_error(), "off, races, all"));
    for (int i = 0; i < 3; i++)
        assert_int_equal(sim_open(c, (const char *[]){"check=off", "check=races", "check=all"}[i], &table), CDNAGEN_OK);
}

/* Races alone do not ask about undefined values. */
static void races_are_only_races(void **state) {
    (void)state;
    uint32_t words[64] = {0};
    gpu_open("check=races threads=1");
    assert_int_equal(gpu_run_words(HEAD STORE, 0, words, 64), HIP_SUCCESS);
}

enum { PAIRS = sizeof pairs / sizeof *pairs };

int main(void) {
    struct CMUnitTest tests[PAIRS + 4] = {cmocka_unit_test(an_access_outside_names_its_allocation),
                                          cmocka_unit_test(an_access_after_free_names_its_allocation),
                                          cmocka_unit_test(the_level_is_off_races_or_all),
                                          cmocka_unit_test(races_are_only_races)};
    for (int i = 0; i < PAIRS; i++)
        tests[4 + i] = (struct CMUnitTest){
            .name = pairs[i].name, .test_func = a_pair, .initial_state = (void *)(uintptr_t)&pairs[i]};
    return cmocka_run_group_tests_name("hazards", tests, NULL, NULL);
}
