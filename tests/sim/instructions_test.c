/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Hand-written assembly against hand-worked values: rules of the ISA text that a simulator gets wrong easily.
 * source: AMD CDNA4 ISA guide */
#include "tests/sim/gpu.h"

#include <string.h>

enum { WORDS = 64 * 8 };

/* s[4:5] = buffer, v1 = lane, v2 = lane * 4; `STORE` writes v10 to word [lane], `STORE2` v11 to word [64 + lane]. */
#define BEGIN                                                                                                          \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_and_b32 v1, 0x3ff, v0\nv_lshlrev_b32 v2, 2, v1\ns_waitcnt lgkmcnt(0)\n"
#define ALL "s_mov_b64 exec, -1\n"
#define STORE ALL "global_store_dword v2, v10, s[4:5]\n"
#define STORE2 ALL "global_store_dword v2, v11, s[4:5] offset:256\n"

static const char *const modes[] = {"threads=1", "late poison threads=1"};

typedef uint32_t lane_value(uint32_t lane);

static void check(const char *body, int lds, lane_value *first, lane_value *second) {
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        uint32_t words[WORDS] = {0};
        gpu_open(modes[m]);
        const hip_error error = gpu_run_words(body, lds, words, WORDS);
        if (error != HIP_SUCCESS) fail_msg("%s: HIP %d: %s", modes[m], error, gpu->last_fault());
        for (uint32_t l = 0; l < 64; l++) {
            if (words[l] != first(l)) fail_msg("%s: lane %u has 0x%x, not 0x%x", modes[m], l, words[l], first(l));
            if (second && words[64 + l] != second(l))
                fail_msg("%s: second, lane %u has 0x%x, not 0x%x", modes[m], l, words[64 + l], second(l));
        }
    }
}

/* row_shr:1 with bound_ctrl off: lane 0 of each row has no source and keeps its old value. */
static uint32_t shifted_or_kept(uint32_t l) { return l % 16 ? l - 1 : 100 + l; }
static void dpp_without_bound_ctrl_leaves_lanes_without_source_unwritten(void **state) {
    (void)state;
    check(BEGIN "v_add_u32 v10, 100, v1\nv_mov_b32_dpp v10, v1 row_shr:1 row_mask:0xf bank_mask:0xf\n" STORE, 0,
          shifted_or_kept, NULL);
}
static uint32_t shifted_or_zero(uint32_t l) { return l % 16 ? l - 1 : 0; }
static void dpp_with_bound_ctrl_reads_zero(void **state) {
    (void)state;
    check(BEGIN
          "v_add_u32 v10, 100, v1\nv_mov_b32_dpp v10, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0\n" STORE,
          0, shifted_or_zero, NULL);
}
/* A source lane that EXEC disables is no source; lanes 0-7 of each 16 are off. */
static uint32_t disabled_source(uint32_t l) { return l % 16 < 8 || l % 16 == 8 ? 100 + l : l - 1; }
static void dpp_source_disabled_by_exec_is_invalid(void **state) {
    (void)state;
    check(BEGIN "v_add_u32 v10, 100, v1\ns_mov_b32 exec_lo, 0xff00ff00\ns_mov_b32 exec_hi, 0xff00ff00\n"
                "v_mov_b32_dpp v10, v1 row_shr:1 row_mask:0xf bank_mask:0xf\n" STORE,
          0, disabled_source, NULL);
}
static uint32_t masked_rows(uint32_t l) {
    return (l / 16 == 1 || l / 16 == 3) && l % 16 / 4 != 2 ? (l & ~3u) | (3 - l % 4) : 100 + l;
}
static void dpp_masks_choose_rows_and_banks(void **state) {
    (void)state;
    check(BEGIN "v_add_u32 v10, 100, v1\nv_mov_b32_dpp v10, v1 quad_perm:[3,2,1,0] row_mask:0xa bank_mask:0xb\n" STORE,
          0, masked_rows, NULL);
}
static uint32_t broadcast15(uint32_t l) { return l < 16 ? 100 + l : l / 16 * 16 - 1; }
static void dpp_row_bcast15(void **state) {
    (void)state;
    check(BEGIN "v_add_u32 v10, 100, v1\nv_mov_b32_dpp v10, v1 row_bcast:15 row_mask:0xf bank_mask:0xf\n" STORE, 0,
          broadcast15, NULL);
}
static uint32_t newbcast(uint32_t l) { return l / 16 * 16 + 5; }
static void dpp_row_newbcast(void **state) {
    (void)state;
    check(BEGIN "v_mov_b32_dpp v10, v1 row_newbcast:5 row_mask:0xf bank_mask:0xf\n" STORE, 0, newbcast, NULL);
}

static uint32_t swap32_first(uint32_t l) { return l < 32 ? l : 1000 + l - 32; }
static uint32_t swap32_second(uint32_t l) { return l < 32 ? l + 32 : 1000 + l; }
static void permlane32_swap_exchanges_upper_with_lower_half(void **state) {
    (void)state;
    check(BEGIN "v_mov_b32 v10, v1\nv_add_u32 v11, 0x3e8, v1\nv_permlane32_swap_b32 v10, v11\n" STORE STORE2, 0,
          swap32_first, swap32_second);
}
static uint32_t swap16_first(uint32_t l) { return l & 16 ? 1000 + l - 16 : l; }
static uint32_t swap16_second(uint32_t l) { return l & 16 ? 1000 + l : l + 16; }
static void permlane16_swap_exchanges_odd_with_even_rows(void **state) {
    (void)state;
    check(BEGIN "v_mov_b32 v10, v1\nv_add_u32 v11, 0x3e8, v1\nv_permlane16_swap_b32 v10, v11\n" STORE STORE2, 0,
          swap16_first, swap16_second);
}

static uint32_t lane_17(uint32_t l) { return (void)l, 17; }
static void readlane_ignores_exec_and_readfirstlane_takes_lane_0_when_none_is_active(void **state) {
    (void)state;
    check(BEGIN "s_mov_b64 exec, 0\nv_readlane_b32 s6, v1, 17\nv_readfirstlane_b32 s7, v1\ns_add_u32 s6, s6, s7\n" ALL
                "v_mov_b32 v10, s6\n" STORE,
          0, lane_17, NULL);
}
static uint32_t odd_mask(uint32_t l) { return l & 1 ? 0 : 0x11111111u; }
static void compare_gives_0_for_inactive_lanes_and_cmpx_writes_exec_and_vcc(void **state) {
    (void)state;
    check(BEGIN "v_mov_b32 v10, 0\nv_and_b32 v3, 1, v1\ns_mov_b32 exec_lo, 0x33333333\ns_mov_b32 exec_hi, 0x33333333\n"
                "v_cmpx_eq_u32 vcc, 0, v3\nv_mov_b32 v4, vcc_lo\nv_mov_b32 v5, exec_hi\n" ALL
                "v_readfirstlane_b32 s6, v4\nv_readfirstlane_b32 s7, v5\ns_and_b32 s6, s6, s7\nv_mov_b32 v10, 0\n"
                "v_cmp_eq_u32 vcc, 0, v3\ns_and_b64 exec, exec, vcc\nv_mov_b32 v10, s6\n" STORE,
          0, odd_mask, NULL);
}
static uint32_t active_mask(uint32_t l) { return (void)l, 0x33333333; }
static void compare_of_inactive_lanes_is_0_where_it_would_hold(void **state) {
    (void)state;
    check(BEGIN "s_mov_b64 s[6:7], -1\ns_mov_b32 exec_lo, 0x33333333\nv_cmp_le_u32 s[6:7], 0, v1\n" ALL
                "v_mov_b32 v10, s6\n" STORE,
          0, active_mask, NULL);
}
/* Two waves write scratch, meet, and read back: each has its own. Both store to their half of the buffer. */
static void scratch_is_each_waves_own(void **state) {
    (void)state;
    uint32_t words[128];
    gpu_open("threads=1");
    const uint64_t buffer = gpu_buffer(NULL, sizeof words);
    const hip_module module =
        gpu_assemble(BEGIN "scratch_store_dword off, v1, off offset:12\ns_waitcnt vmcnt(0)\ns_barrier\n"
                           "scratch_load_dword v10, off, off offset:12\ns_waitcnt vmcnt(0)\n" STORE,
                     0);
    assert_int_equal(gpu_launch(module, "k", (gpu_grid){.groups = 1, .threads = 128}, 1, buffer), HIP_SUCCESS);
    gpu_read(words, buffer, sizeof words);
    for (uint32_t i = 0; i < 128; i++) assert_int_equal(words[i], i);
    gpu->module_unload(module);
    gpu->free((void *)(uintptr_t)buffer);
}
static uint32_t bpermute_value(uint32_t l) { return l < 8 ? 55 : l == 63 ? 0 : 101 + l; }
static void bpermute_reads_zero_from_inactive_lanes(void **state) {
    (void)state;
    check(BEGIN "v_mov_b32 v10, 55\nv_add_u32 v3, 4, v2\nv_add_u32 v4, 0x64, v1\ns_mov_b32 exec_lo, 0xffffff00\n"
                "ds_bpermute_b32 v10, v3, v4\ns_waitcnt lgkmcnt(0)\n" STORE,
          0, bpermute_value, NULL);
}
static uint32_t sdwa_value(uint32_t l) { return 0xaa0000aau | (0x80u + l + 3) << 8 << 8; }
static void sdwa_selects_and_preserves(void **state) {
    (void)state;
    check(BEGIN
          "v_mov_b32 v10, 0xaa0000aa\nv_add_u32 v3, 0x80, v1\nv_lshlrev_b32 v3, 8, v3\nv_mov_b32 v4, 3\n"
          "v_add_u32_sdwa v10, v3, v4 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:DWORD\n" STORE,
          0, sdwa_value, NULL);
}
static uint32_t plain_half(uint32_t l) { return (l + 5) & 0xffff; }
static void result_of_16_bits_zeroes_the_high_half(void **state) {
    (void)state;
    check(BEGIN "v_mov_b32 v10, -1\nv_add_u16 v10, 5, v1\n" STORE, 0, plain_half, NULL);
}
static uint32_t agpr_value(uint32_t l) { return l + 7; }
static uint32_t agpr_lds_value(uint32_t l) { return (63 - l) + 7; }
static void agprs_are_apart_from_vgprs_in_stores_and_lds_writes(void **state) {
    (void)state;
    check(
        BEGIN
        "v_add_u32 v3, 7, v1\nv_accvgpr_write_b32 a3, v3\nv_mov_b32 v3, 0\nds_write_b32 v2, a3\ns_waitcnt lgkmcnt(0)\n"
        "v_sub_u32 v4, 63, v1\nv_lshlrev_b32 v4, 2, v4\nds_read_b32 a9, v4\ns_waitcnt lgkmcnt(0)\nglobal_store_dword "
        "v2, a3, s[4:5]\n"
        "global_store_dword v2, a9, s[4:5] offset:256\n",
        256, agpr_value, agpr_lds_value);
}
static uint32_t setpc_value(uint32_t l) { return l + 2; }
static void setpc_jumps(void **state) {
    (void)state;
    check(BEGIN "v_mov_b32 v10, v1\ns_getpc_b64 s[6:7]\n.Lfrom:\ns_add_u32 s6, s6, .Lto-.Lfrom\ns_addc_u32 s7, s7, "
                "0\ns_setpc_b64 s[6:7]\n"
                "v_add_u32 v10, 1, v10\n.Lto:\nv_add_u32 v10, 2, v10\n" STORE,
          0, setpc_value, NULL);
}
static uint32_t swizzle_value(uint32_t l) { return l ^ 16; }
static void swizzle_swaps_16(void **state) {
    (void)state;
    check(BEGIN "ds_swizzle_b32 v10, v1 offset:swizzle(SWAP,16)\ns_waitcnt lgkmcnt(0)\n" STORE, 0, swizzle_value, NULL);
}
static uint32_t bitop_value(uint32_t l) { return l ^ 5 ^ 9; }
static void bitop3_is_a_truth_table(void **state) {
    (void)state;
    check(BEGIN "v_mov_b32 v3, 5\nv_mov_b32 v4, 9\nv_bitop3_b32 v10, v1, v3, v4 bitop3:0x96\n" STORE, 0, bitop_value,
          NULL);
}

/* A of ones, B[k][j] = 16 k + j, C of fives, all in AGPRs; the VGPRs of the same numbers hold something else. */
static uint32_t matrix_value(uint32_t l) { return 5 + 96 + 4 * (l % 16); }
static void matrix_operands_in_agprs(void **state) {
    (void)state;
    check(
        BEGIN
        "v_cvt_f32_u32 v20, v1\nv_accvgpr_write_b32 a21, 1.0\nv_accvgpr_write_b32 a22, v20\nv_mov_b32 v3, 0x40a00000\n"
        "v_accvgpr_write_b32 a24, v3\nv_accvgpr_write_b32 a25, v3\nv_accvgpr_write_b32 a26, v3\nv_accvgpr_write_b32 "
        "a27, v3\n"
        "v_mov_b32 v21, 0\nv_mov_b32 v22, 0\ns_nop 1\nv_mfma_f32_16x16x4_f32 a[28:31], a21, a22, a[24:27]\ns_nop 15\n"
        "v_accvgpr_read_b32 v10, a30\nv_cvt_u32_f32 v10, v10\n" STORE,
        0, matrix_value, NULL);
}
/* Ones times ones over 128 places, scaled by 2 (A's byte 1) and 4 (B's byte 2); the other bytes would give other
 * powers. */
static uint32_t scaled_value(uint32_t l) { return (void)l, 1024; }
static void matrix_scale_bytes_are_chosen_by_op_sel(void **state) {
    (void)state;
    check(BEGIN ".set i, 30\n.rept 16\nv_mov_b32 v[i], 0x38383838\n.set i, i+1\n.endr\nv_mov_b32 v50, "
                "0x7e7e807e\nv_mov_b32 v51, 0x7d817d7d\n"
                "v_mfma_scale_f32_16x16x128_f8f6f4 v[20:23], v[30:37], v[38:45], 0, v50, v51 op_sel:[1,0,0] "
                "op_sel_hi:[0,1,0]\ns_nop 15\n"
                "v_cvt_u32_f32 v10, v23\n" STORE,
          0, scaled_value, NULL);
}
/* 16 lanes' 8-byte pieces laid end to end; lane t takes elements t, t + 16, ... */
static uint32_t transposed(uint32_t l) {
    uint32_t word = 0;
    for (uint32_t n = 0; n < 4; n++) {
        const uint32_t element = l % 16 + 16 * n, from = l / 16 * 16 + element / 8;
        word |= ((from * 8 + element % 8) & 0xff) << (8 * n);
    }
    return word;
}
static void transposing_lds_read_of_bytes(void **state) {
    (void)state;
    check(BEGIN "v_lshlrev_b32 v3, 3, v1\nv_and_b32 v5, 0xff, v3\nv_mov_b32 v6, 0x1010101\nv_mul_lo_u32 v5, v5, v6\n"
                "v_mov_b32 v6, 0x03020100\nv_mov_b32 v7, 0x07060504\nv_or_b32 v6, v5, v6\nv_or_b32 v7, v5, "
                "v7\nds_write_b64 v3, v[6:7]\n"
                "s_waitcnt lgkmcnt(0)\nds_read_b64_tr_b8 v[10:11], v3\ns_waitcnt lgkmcnt(0)\n" STORE,
          512, transposed, NULL);
}

/* ---- buffer descriptors: s[8:11] is 64 words at the second quarter of the buffer ---- */
#define DESCRIPTOR(stride, records)                                                                                    \
    "s_mov_b32 s8, s4\ns_or_b32 s9, s5, " stride "\ns_mov_b32 s10, " records "\ns_mov_b32 s11, 0x27000\n"
#define FILL "v_add_u32 v3, 0x64, v1\nglobal_store_dword v2, v3, s[4:5] offset:512\ns_waitcnt vmcnt(0)\n"

static uint32_t bounded(uint32_t l) { return l < 40 ? 100 + l : 0; }
static void buffer_load_beyond_records_gives_zero(void **state) {
    (void)state;
    check(BEGIN FILL DESCRIPTOR(
              "0",
              "0x2a0") "s_movk_i32 s6, 512\nbuffer_load_dword v10, v2, s[8:11], s6 offen\ns_waitcnt vmcnt(0)\n" STORE,
          0, bounded, NULL); /* records 672 bytes, soffset 512: in range up to lane 39 */
}
/* The stride sits in word 1; word 3's bits must not be taken for it. */
static void buffer_raw_check_is_in_bytes_even_with_a_stride(void **state) {
    (void)state;
    check(BEGIN FILL DESCRIPTOR(
              "0x40000",
              "0x2a0") "s_movk_i32 s6, 512\nbuffer_load_dword v10, v2, s[8:11], s6 offen\ns_waitcnt vmcnt(0)\n" STORE,
          0, bounded, NULL);
}
static uint32_t indexed(uint32_t l) { return l < 20 ? 100 + l * 2 : 0; }
static void buffer_index_is_checked_against_records(void **state) {
    (void)state;
    check(BEGIN FILL DESCRIPTOR(
              "0x80000",
              "20") "s_add_u32 s8, s8, 512\ns_addc_u32 s9, s9, 0\nbuffer_load_dword v10, v1, s[8:11], 0 idxen\n"
                    "s_waitcnt vmcnt(0)\n" STORE,
          0, indexed, NULL);
}
static uint32_t partial_first(uint32_t l) { return l == 0 ? 100 : l == 1 ? 101 : l == 2 ? 102 : 0; }
static void buffer_load_of_several_dwords_is_checked_dword_by_dword(void **state) {
    (void)state;
    check(BEGIN FILL DESCRIPTOR(
              "0",
              "0x20c") "v_mov_b32 v3, 0x200\nbuffer_load_dwordx4 v[20:23], v3, s[8:11], 0 offen\ns_waitcnt vmcnt(0)\n"
                       "v_mov_b32 v10, v23\ns_mov_b64 exec, 1\nv_mov_b32 v10, v20\ns_mov_b64 exec, 2\nv_mov_b32 v10, "
                       "v21\ns_mov_b64 exec, 4\n"
                       "v_mov_b32 v10, v22\n" STORE,
          0, partial_first, NULL);
}
static uint32_t stored(uint32_t l) { return l < 3 ? 7 : 0; }
static void buffer_store_beyond_records_is_dropped(void **state) {
    (void)state;
    check(BEGIN DESCRIPTOR("0", "12") "v_mov_b32 v10, 7\nbuffer_store_dword v10, v2, s[8:11], 0 offen\n", 0, stored,
          NULL);
}
static uint32_t short_value(uint32_t l) { return l < 5 ? (l & 1 ? 0 : 100 + l / 2) : 0; }
static void buffer_short_load_is_checked_as_two_bytes(void **state) {
    (void)state;
    check(
        BEGIN FILL DESCRIPTOR(
            "0",
            "0x20a") "v_lshlrev_b32 v3, 1, v1\nv_add_u32 v3, 0x200, v3\nbuffer_load_ushort v10, v3, s[8:11], 0 offen\n"
                     "s_waitcnt vmcnt(0)\n" STORE,
        0, short_value, NULL);
}

/* ---- LDS DMA ---- */
static uint32_t dma_value(uint32_t l) { return 100 + (63 - l); }
static uint32_t dma_offset_value(uint32_t l) { return l < 40 ? 100 + l : 0; }
static void lds_dma_is_linear_in_the_lane_whatever_the_memory_side_says(void **state) {
    (void)state;
    check(BEGIN FILL DESCRIPTOR(
              "0", "0x800") "v_sub_u32 v4, 63, v1\nv_lshlrev_b32 v4, 2, v4\nv_add_u32 v4, 0x200, v4\ns_mov_b32 m0, 64\n"
                            "buffer_load_dword v4, s[8:11], 0 offen lds\ns_waitcnt vmcnt(0)\nds_read_b32 v10, v2 "
                            "offset:64\ns_waitcnt lgkmcnt(0)\n" STORE,
          1024, dma_value, NULL);
}
/* inst_offset counts on both sides; lanes out of range write 0. */
static void lds_dma_offset_counts_twice_and_lanes_out_of_range_write_zero(void **state) {
    (void)state;
    check(BEGIN FILL DESCRIPTOR("0", "0x2a0") "s_mov_b32 m0, 0\nv_mov_b32 v5, -1\nds_write_b32 v2, v5 "
                                              "offset:512\nds_write_b32 v2, v5\ns_waitcnt lgkmcnt(0)\n"
                                              "buffer_load_dword v2, s[8:11], 0 offen offset:512 lds\ns_waitcnt "
                                              "vmcnt(0)\nds_read_b32 v10, v2 offset:512\ns_waitcnt lgkmcnt(0)\n" STORE,
          1024, dma_offset_value, NULL);
}
static uint32_t dma16_value(uint32_t l) { return l < 32 ? 100 + l : 0; }
static void lds_dma_of_16_bytes_has_a_pitch_of_16(void **state) {
    (void)state;
    check(BEGIN FILL "v_mov_b32 v3, 0\n" DESCRIPTOR(
              "0", "0x280") "v_lshlrev_b32 v4, 4, v1\nv_add_u32 v4, 0x200, v4\ns_mov_b32 m0, 0\nbuffer_load_dwordx4 "
                            "v4, s[8:11], 0 offen lds\n"
                            "s_waitcnt vmcnt(0)\nds_read_b32 v10, v2\ns_waitcnt lgkmcnt(0)\n" STORE,
          1024, dma16_value, NULL);
}

/* ---- late completion: what a missing wait shows ---- */
static int late_and_eager_differ(const char *body, int lds) {
    uint32_t eager[WORDS] = {0}, late[WORDS] = {0};
    gpu_open("threads=1");
    assert_int_equal(gpu_run_words(body, lds, eager, WORDS), HIP_SUCCESS);
    gpu_open("late threads=1");
    assert_int_equal(gpu_run_words(body, lds, late, WORDS), HIP_SUCCESS);
    return memcmp(eager, late, sizeof eager) != 0;
}
static void late_mode_shows_missing_waits(void **state) {
    (void)state;
    static const struct {
        const char *what, *with, *without;
        int lds;
    } cases[] = {
        {"global load",
         BEGIN FILL "global_load_dword v10, v2, s[4:5] offset:512\ns_waitcnt vmcnt(0)\nv_add_u32 v10, 1, v10\n" STORE,
         BEGIN FILL "global_load_dword v10, v2, s[4:5] offset:512\nv_add_u32 v10, 1, v10\n" STORE, 0},
        {"LDS read",
         BEGIN "ds_write_b32 v2, v1\nds_read_b32 v10, v2\ns_waitcnt lgkmcnt(0)\nv_add_u32 v10, 1, v10\n" STORE,
         BEGIN "ds_write_b32 v2, v1\nds_read_b32 v10, v2\ns_waitcnt lgkmcnt(1)\nv_add_u32 v10, 1, v10\n" STORE, 256},
        {"scalar load",
         BEGIN "s_load_dword s6, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v10, s6\nv_sub_u32 v10, v10, s4\n" STORE,
         BEGIN "s_load_dword s6, s[0:1], 0x0\nv_mov_b32 v10, s6\nv_sub_u32 v10, v10, s4\n" STORE, 0},
        {"LDS DMA",
         BEGIN FILL DESCRIPTOR(
             "0",
             "0x800") "s_mov_b32 m0, 0\nbuffer_load_dword v2, s[8:11], 0 offen offset:512 lds\ns_waitcnt vmcnt(0)\n"
                      "ds_read_b32 v10, v2 offset:512\ns_waitcnt lgkmcnt(0)\n" STORE,
         BEGIN FILL DESCRIPTOR(
             "0",
             "0x800") "s_mov_b32 m0, 0\nbuffer_load_dword v2, s[8:11], 0 offen offset:512 lds\ns_waitcnt vmcnt(1)\n"
                      "ds_read_b32 v10, v2 offset:512\ns_waitcnt lgkmcnt(0)\n" STORE,
         1024},
        {"second of two loads",
         BEGIN FILL "global_load_dword v11, v2, s[4:5] offset:512\nglobal_load_dword v10, v2, s[4:5] offset:512\n"
                    "s_waitcnt vmcnt(0)\nv_add_u32 v10, 1, v10\n" STORE,
         BEGIN FILL "global_load_dword v11, v2, s[4:5] offset:512\nglobal_load_dword v10, v2, s[4:5] offset:512\n"
                    "s_waitcnt vmcnt(1)\nv_add_u32 v10, 1, v10\n" STORE,
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (late_and_eager_differ(cases[i].with, cases[i].lds))
            fail_msg("%s: differs although it waits", cases[i].what);
        if (!late_and_eager_differ(cases[i].without, cases[i].lds))
            fail_msg("%s: the missing wait does not show", cases[i].what);
    }
}
/* vmcnt(1) covers the first of two loads. */
static uint32_t first_load(uint32_t l) { return 101 + l; }
static void late_mode_completes_in_order(void **state) {
    (void)state;
    check(BEGIN FILL "global_load_dword v10, v2, s[4:5] offset:512\nglobal_load_dword v11, v2, s[4:5] "
                     "offset:512\ns_waitcnt vmcnt(1)\n"
                     "v_add_u32 v10, 1, v10\ns_waitcnt vmcnt(0)\n" STORE,
          0, first_load, NULL);
}

/* ---- faults ---- */
static void faults_say_what_and_where(void **state) {
    (void)state;
    static const struct {
        const char *body, *text;
        int lds;
    } cases[] = {
        {BEGIN "global_load_dword v10, v2, s[4:5] offset:1796\n", "load of 4 bytes at", 0},
        {BEGIN "global_store_dword v2, v10, s[4:5] offset:-4\n", "bytes before the 2048-byte allocation", 0},
        {BEGIN "s_load_dword s6, s[4:5], 0x800\ns_waitcnt lgkmcnt(0)\n", "scalar load of 4 bytes at", 0},
        {BEGIN "ds_read_b32 v10, v2 offset:4\ns_waitcnt lgkmcnt(0)\n",
         "LDS access of 4 bytes at LDS address 256 of 256", 256},
        {BEGIN "scratch_store_dword off, v1, off offset:64\n", "scratch store of 4 bytes at offset 64 of 64", 0},
        {BEGIN "v_add_u32 v3, 1, v2\nglobal_atomic_add v3, v1, s[4:5]\n", "not a multiple of 4", 0},
        {BEGIN "s_mov_b32 m0, 0\nbuffer_load_dword v2, s[8:11], 0 offen lds\n", "LDS DMA to LDS address 0", 0},
        {BEGIN "s_getpc_b64 s[6:7]\ns_add_u32 s6, s6, 0x10000\ns_setpc_b64 s[6:7]\n", "no instruction starts", 0},
        {BEGIN "s_trap 2\n", "s_trap", 0},
        {BEGIN "s_setvskip s6, s7\n", "instruction not simulated", 0},
        {BEGIN "v_mad_u16 v2, v1, v1, v1 clamp\n", "this form of the instruction is not simulated", 0},
        {BEGIN ".long 0xbf9f0000\n", "instruction not simulated", 0},
    };
    gpu_open("threads=1");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t words[WORDS] = {0};
        const hip_error error = gpu_run_words(cases[i].body, cases[i].lds, words, WORDS);
        if (error != HIP_ERROR_LAUNCH_FAILURE) fail_msg("case %zu: HIP %d, not 719", i, error);
        if (!strstr(gpu->last_fault(), cases[i].text))
            fail_msg("case %zu: \"%s\" lacks \"%s\"", i, gpu->last_fault(), cases[i].text);
        assert_non_null(strstr(gpu->last_fault(), "workgroup 0,0,0, wave 0"));
        assert_int_equal(gpu->device_synchronize(), HIP_SUCCESS); /* reported once */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dpp_without_bound_ctrl_leaves_lanes_without_source_unwritten),
        cmocka_unit_test(dpp_with_bound_ctrl_reads_zero),
        cmocka_unit_test(dpp_source_disabled_by_exec_is_invalid),
        cmocka_unit_test(dpp_masks_choose_rows_and_banks),
        cmocka_unit_test(dpp_row_bcast15),
        cmocka_unit_test(dpp_row_newbcast),
        cmocka_unit_test(permlane32_swap_exchanges_upper_with_lower_half),
        cmocka_unit_test(permlane16_swap_exchanges_odd_with_even_rows),
        cmocka_unit_test(readlane_ignores_exec_and_readfirstlane_takes_lane_0_when_none_is_active),
        cmocka_unit_test(compare_gives_0_for_inactive_lanes_and_cmpx_writes_exec_and_vcc),
        cmocka_unit_test(compare_of_inactive_lanes_is_0_where_it_would_hold),
        cmocka_unit_test(scratch_is_each_waves_own),
        cmocka_unit_test(bpermute_reads_zero_from_inactive_lanes),
        cmocka_unit_test(sdwa_selects_and_preserves),
        cmocka_unit_test(result_of_16_bits_zeroes_the_high_half),
        cmocka_unit_test(agprs_are_apart_from_vgprs_in_stores_and_lds_writes),
        cmocka_unit_test(setpc_jumps),
        cmocka_unit_test(swizzle_swaps_16),
        cmocka_unit_test(bitop3_is_a_truth_table),
        cmocka_unit_test(matrix_operands_in_agprs),
        cmocka_unit_test(matrix_scale_bytes_are_chosen_by_op_sel),
        cmocka_unit_test(transposing_lds_read_of_bytes),
        cmocka_unit_test(buffer_load_beyond_records_gives_zero),
        cmocka_unit_test(buffer_raw_check_is_in_bytes_even_with_a_stride),
        cmocka_unit_test(buffer_index_is_checked_against_records),
        cmocka_unit_test(buffer_load_of_several_dwords_is_checked_dword_by_dword),
        cmocka_unit_test(buffer_store_beyond_records_is_dropped),
        cmocka_unit_test(buffer_short_load_is_checked_as_two_bytes),
        cmocka_unit_test(lds_dma_is_linear_in_the_lane_whatever_the_memory_side_says),
        cmocka_unit_test(lds_dma_offset_counts_twice_and_lanes_out_of_range_write_zero),
        cmocka_unit_test(lds_dma_of_16_bytes_has_a_pitch_of_16),
        cmocka_unit_test(late_mode_shows_missing_waits),
        cmocka_unit_test(late_mode_completes_in_order),
        cmocka_unit_test(faults_say_what_and_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
