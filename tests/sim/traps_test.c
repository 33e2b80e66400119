/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where emulators of these chips have gone wrong: each trap a kernel that shows it. All on the chips that have it.
 * source: AMD CDNA3 and CDNA4 ISA guides */
#include "tests/sim/gpu.h"

#include <string.h>

enum { WORDS = 512, GFX942 = 1, GFX950 = 2, BOTH = 3 };

/* s[4:5] = buffer, v1 = lane, v2 = lane * 4; words 128 to 191 hold 100 + lane. v10 goes to word [lane]. */
#define BEGIN                                                                                                          \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_and_b32 v1, 0x3ff, v0\nv_lshlrev_b32 v2, 2, v1\ns_waitcnt lgkmcnt(0)\n"     \
    "v_add_u32 v3, 0x64, v1\nglobal_store_dword v2, v3, s[4:5] offset:512\ns_waitcnt vmcnt(0)\nv_mov_b32 v10, 0\n"
#define END "\ns_nop 15\ns_mov_b64 exec, -1\nglobal_store_dword v2, v10, s[4:5]\n"
#define FILL(first, count, value) ".set i, " first "\n.rept " count "\nv_mov_b32 v[i], " value "\n.set i, i+1\n.endr\n"
#define DESCRIPTOR(word1, records, word3)                                                                              \
    "s_mov_b32 s8, s4\ns_or_b32 s9, s5, " word1 "\ns_mov_b32 s10, " records "\ns_mov_b32 s11, " word3 "\n"

typedef struct trap {
    const char *name, *body;
    int chips, lds;
    uint32_t (*want)(uint32_t lane, int gfx942);
    uint32_t threads;
} trap;

/* A[i][0] = i, B[0][j] = 1: D[i][j] = i. Register 6 of lane l is row 8 + 4 (l / 32) + 2. */
static uint32_t row_of_register_6(uint32_t l, int c) { return (void)c, 8 + 4 * (l / 32) + 2; }
static uint32_t ones_squared(uint32_t l, int gfx942) { return (void)l, gfx942 ? 32 : 128; }
static uint32_t one_or_two(uint32_t l, int gfx942) { return (void)l, gfx942 ? 1 : 2; }
static uint32_t sum_of_scaled(uint32_t l, int c) { return (void)l, (void)c, 32 * (1 + 2 + 4 + 8); }
static uint32_t scaled_1024(uint32_t l, int c) { return (void)l, (void)c, 1024; }
static uint32_t from_agprs(uint32_t l, int c) { return (void)c, 96 + 4 * (l % 16); }
static uint32_t shifted_or_kept(uint32_t l, int c) { return (void)c, l % 16 ? l - 1 : 500 + l; }
static uint32_t in_range_to_40(uint32_t l, int c) { return (void)c, l < 40 ? 100 + l : 0; }
static uint32_t every_second(uint32_t l, int c) { return (void)c, l < 20 ? 100 + 2 * l : 0; }
static uint32_t byte_of(uint32_t l, int c) { return (void)c, l < 9 ? (l % 4 ? 0 : 100 + l / 4) : 0; }
static uint32_t short_of(uint32_t l, int c) { return (void)c, l < 5 ? (l % 2 ? 0 : 100 + l / 2) : 0; }
static uint32_t lane_and_128(uint32_t l, int c) { return (void)c, l + 3 + 128; }
static uint32_t own_lane(uint32_t l, int c) { return (void)c, l; }
static uint32_t seven(uint32_t l, int c) { return (void)l, (void)c, 7; }
static uint32_t swizzled(uint32_t l, int c) { return (void)c, l < 32 ? 100 + l / 8 * 16 + l % 8 + 8 : 0; }
static uint32_t by_thread_id(uint32_t l, int c) { return (void)c, l < 50 ? 100 + l : 0; }
static uint32_t greatest_fp8(uint32_t l, int gfx942) { return (void)l, gfx942 ? 0x80ff7f : 0x7ffe7e; }
static uint32_t nothing_flushed(uint32_t l, int c) { return (void)l, (void)c, 2; }
static uint32_t f64_constant(uint32_t l, int c) { return (void)l, (void)c, 0x3ff80000; }

static const trap traps[] = {
    {"rows of a 32x32 matrix result",
     BEGIN "v_and_b32 v4, 31, v1\nv_cvt_f32_u32 v4, v4\nv_mov_b32 v5, 1.0\ns_mov_b32 exec_lo, 0\nv_mov_b32 v4, 0\n"
           "s_mov_b64 exec, -1\ns_nop 1\nv_mfma_f32_32x32x2_f32 v[16:31], v4, v5, 0\ns_nop 15\ns_nop 15\n"
           "v_cvt_u32_f32 v10, v22" END,
     BOTH, 0, row_of_register_6, 64},
    {"fp8 is FNUZ on gfx942 and OCP on gfx950, in matrices",
     BEGIN FILL("20", "4", "0x40404040") "v_mfma_f32_16x16x32_fp8_fp8 v[24:27], v[20:21], v[22:23], 0\ns_nop 15\n"
                                         "v_cvt_u32_f32 v10, v25" END,
     BOTH, 0, ones_squared, 64},
    {"fp8 is FNUZ on gfx942 and OCP on gfx950, in conversions",
     BEGIN "v_mov_b32 v3, 0x40\nv_cvt_f32_fp8 v4, v3\nv_cvt_u32_f32 v10, v4" END, BOTH, 0, one_or_two, 64},
    {"each block of 32 k has its own scale",
     BEGIN FILL("30", "16", "0x38383838") "v_lshrrev_b32 v50, 4, v1\nv_add_u32 v50, 127, v50\nv_mov_b32 v51, 127\n"
                                          "v_mfma_scale_f32_16x16x128_f8f6f4 v[20:23], v[30:37], v[38:45], 0, v50, v51 "
                                          "op_sel_hi:[0,0,0]\ns_nop 15\nv_cvt_u32_f32 v10, v21" END,
     GFX950, 0, sum_of_scaled, 64},
    {"op_sel bits choose the scale bytes",
     BEGIN FILL("30", "16", "0x38383838") "v_mov_b32 v50, 0x7e7e807e\nv_mov_b32 v51, 0x7d817d7d\n"
                                          "v_mfma_scale_f32_16x16x128_f8f6f4 v[20:23], v[30:37], v[38:45], 0, v50, v51 "
                                          "op_sel:[1,0,0] op_sel_hi:[0,1,0]\ns_nop 15\nv_cvt_u32_f32 v10, v23" END,
     GFX950, 0, scaled_1024, 64},
    {"matrix operands in AGPRs",
     BEGIN "v_cvt_f32_u32 v20, v1\nv_accvgpr_write_b32 a21, 1.0\nv_accvgpr_write_b32 a22, v20\nv_mov_b32 v21, 0\n"
           "v_mov_b32 v22, 0\ns_nop 1\nv_mfma_f32_16x16x4_f32 a[28:31], a21, a22, 0\ns_nop 15\n"
           "v_accvgpr_read_b32 v10, a30\nv_cvt_u32_f32 v10, v10" END,
     BOTH, 0, from_agprs, 64},
    {"DPP without bound_ctrl leaves a lane without a source alone",
     BEGIN "v_add_u32 v10, 0x1f4, v1\nv_mov_b32_dpp v10, v1 row_shr:1 row_mask:0xf bank_mask:0xf" END, BOTH, 0,
     shifted_or_kept, 64},
    {"the stride of a descriptor is in word 1, not in word 3",
     BEGIN DESCRIPTOR("0x80000", "20", "0x27000") "s_add_u32 s8, s8, 512\ns_addc_u32 s9, s9, 0\n"
                                                  "buffer_load_dword v10, v1, s[8:11], 0 idxen\ns_waitcnt vmcnt(0)" END,
     BOTH, 0, every_second, 64},
    {"soffset counts in the range check",
     BEGIN DESCRIPTOR("0", "0x2a0", "0x27000") "s_movk_i32 s6, 512\nbuffer_load_dword v10, v2, s[8:11], s6 offen\n"
                                               "s_waitcnt vmcnt(0)" END,
     BOTH, 0, in_range_to_40, 64},
    {"a byte load takes one byte",
     BEGIN DESCRIPTOR("0", "0x209", "0x27000") "v_add_u32 v3, 0x200, v1\nbuffer_load_ubyte v10, v3, s[8:11], 0 offen\n"
                                               "s_waitcnt vmcnt(0)" END,
     BOTH, 0, byte_of, 64},
    {"a short load takes two bytes",
     BEGIN DESCRIPTOR("0", "0x20a", "0x27000") "v_lshlrev_b32 v3, 1, v1\nv_add_u32 v3, 0x200, v3\n"
                                               "buffer_load_ushort v10, v3, s[8:11], 0 offen\ns_waitcnt vmcnt(0)" END,
     BOTH, 0, short_of, 64},
    {"an instruction of 8 bytes before an f8f6f4 one is itself",
     BEGIN FILL("30", "16", "0x38383838") "v_add3_u32 v11, v1, 1, 2\n"
                                          "v_mfma_f32_16x16x128_f8f6f4 v[20:23], v[30:37], v[38:45], 0\ns_nop 15\n"
                                          "v_cvt_u32_f32 v10, v21\nv_add_u32 v10, v10, v11" END,
     GFX950, 0, lane_and_128, 64},
    {"each wave has its own scratch",
     BEGIN "scratch_store_dword off, v1, off offset:12\ns_waitcnt vmcnt(0)\ns_barrier\n"
           "scratch_load_dword v10, off, off offset:12\ns_waitcnt vmcnt(0)" END,
     BOTH, 0, own_lane, 128},
    {"ds_write from an AGPR",
     BEGIN
     "v_mov_b32 v12, 9\nv_accvgpr_write_b32 a12, 7\nds_write_b32 v2, a12\ns_waitcnt lgkmcnt(0)\nds_read_b32 v10, v2\n"
     "s_waitcnt lgkmcnt(0)" END,
     BOTH, 256, seven, 64},
    {"setpc jumps",
     BEGIN "v_mov_b32 v10, 7\ns_getpc_b64 s[6:7]\ns_add_u32 s6, s6, 20\ns_addc_u32 s7, s7, 0\ns_setpc_b64 s[6:7]\n"
           "v_mov_b32 v10, 8\nv_mov_b32 v10, 9" END,
     BOTH, 0, seven, 64},
    /* Swizzle: index stride 8, elements of 4 bytes, stride 8: the second element of record l is 8 + l % 8 of its
     * block. */
    {"a swizzled buffer keeps elements of 8 records together",
     BEGIN DESCRIPTOR("0x80080000", "32", "0x00087000") "s_add_u32 s8, s8, 512\ns_addc_u32 s9, s9, 0\n"
                                                        "buffer_load_dword v10, v1, s[8:11], 0 idxen offset:4\n"
                                                        "s_waitcnt vmcnt(0)" END,
     BOTH, 0, swizzled, 64},
    {"a descriptor adds the thread id to the index",
     BEGIN DESCRIPTOR("0x40000", "50", "0x00800000") "s_add_u32 s8, s8, 512\ns_addc_u32 s9, s9, 0\n"
                                                     "buffer_load_dword v10, off, s[8:11], 0\ns_waitcnt vmcnt(0)" END,
     BOTH, 0, by_thread_id, 64},
    /* 1e6 and -1e6 saturate, infinity does not; bytes 3 is free. */
    {"MODE.FP16_OVFL saturates conversions to 8 bits",
     BEGIN "v_mov_b32 v3, 0x49742400\nv_mov_b32 v4, 0xc9742400\nv_mov_b32 v5, 0x7f800000\n"
           "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\nv_cvt_pk_fp8_f32 v10, v3, v4\n"
           "v_cvt_pk_fp8_f32 v10, v5, 0 op_sel:[0,0,1]\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0" END,
     BOTH, 0, greatest_fp8, 64},
    /* MODE 4 alone (inputs): f32 inputs keep denormals; 2 x 2^-149 shows as integer 2. */
    {"f32 matrix inputs are flushed by MODE's input bit alone",
     BEGIN
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 1\nv_mov_b32 v4, 1\nv_mov_b32 v5, 2.0\ns_mov_b64 exec, 0xffff0000\n"
     "v_mov_b32 v4, 0\ns_mov_b64 exec, -1\nv_cmp_gt_u32 vcc, 16, v1\nv_cndmask_b32 v4, 0, v4, vcc\ns_nop 1\n"
     "v_mfma_f32_16x16x4_f32 v[16:19], v4, v5, 0\ns_nop 15\nv_mov_b32 v10, v16" END,
     BOTH, 0, nothing_flushed, 64},
    {"a constant of an f64 matrix is a double",
     BEGIN FILL("20", "4", "0") "s_nop 1\nv_mfma_f64_4x4x4_4b_f64 v[24:25], v[20:21], v[22:23], 1.0\ns_nop 15\n"
                                "v_add_f64 v[24:25], v[24:25], 0.5\nv_mov_b32 v10, v25" END,
     BOTH, 0, f64_constant, 64},
};
enum { TRAPS = sizeof traps / sizeof *traps };

static const char *const modes[] = {"threads=1", "late poison threads=1"};

static void run_trap(void **state) {
    const trap *t = *state;
    for (int chip_bit = GFX942; chip_bit <= GFX950; chip_bit++)
        for (int m = 0; m < 2; m++) {
            if (!(t->chips & chip_bit)) continue;
            uint32_t words[WORDS] = {0};
            gpu_chip = chip_bit == GFX942 ? "gfx942" : "gfx950";
            gpu_open(modes[m]);
            const uint64_t buffer = gpu_buffer(words, sizeof words);
            const hip_module module = gpu_assemble(t->body, t->lds);
            const hip_error error = gpu_launch(module, "k", (gpu_grid){.groups = 1, .threads = t->threads}, 1, buffer);
            if (error != HIP_SUCCESS) fail_msg("%s: HIP %d: %s", gpu_chip, error, gpu->last_fault());
            gpu_read(words, buffer, sizeof words);
            for (uint32_t l = 0; l < t->threads; l++)
                if (words[l] != t->want(l, chip_bit == GFX942))
                    fail_msg("%s %s: lane %u has 0x%x, not 0x%x", gpu_chip, modes[m], l, words[l],
                             t->want(l, chip_bit == GFX942));
            gpu->module_unload(module);
            gpu->free((void *)(uintptr_t)buffer);
        }
}

/* ---- what the chips lack, and kernels that do not end ---- */

static void refuses(const char *name, const char *body, int lds, const char *mode, const char *text) {
    uint32_t words[WORDS] = {0};
    gpu_chip = name;
    gpu_open(mode);
    assert_int_equal(gpu_run_words(body, lds, words, WORDS), HIP_ERROR_LAUNCH_FAILURE);
    if (!strstr(gpu->last_fault(), text)) fail_msg("\"%s\" lacks \"%s\"", gpu->last_fault(), text);
}
static void gfx942_has_no_instruction_of_gfx950(void **state) {
    (void)state;
    refuses("gfx942", BEGIN ".long 0x7e0ab503\n" /* v_permlane32_swap_b32 v5, v3 */, 0, "threads=1", "not simulated");
    refuses("gfx942", BEGIN ".long 0xd2670001, 0x00020702\n" /* v_cvt_pk_f16_f32 v1, v2, v3 */, 0, "threads=1",
            "not simulated");
    refuses("gfx942", BEGIN ".long 0xe05d1000, 0x80020004\n" /* buffer_load_dwordx4 v4, s[8:11], 0 offen lds */, 4096,
            "threads=1", "not simulated");
}
static void an_endless_kernel_is_reported(void **state) {
    (void)state;
    refuses("gfx950", BEGIN "1:\ns_branch 1b\n", 0, "threads=1 limit=1", "does not end");
    refuses("gfx950",
            BEGIN "1:\ns_sleep 1\nglobal_load_dword v10, v2, s[4:5]\ns_waitcnt vmcnt(0)\nv_cmp_ne_u32 vcc, 77, v10\n"
                  "s_cbranch_vccnz 1b\n",
            0, "late threads=1 limit=2", "does not end");
}
static void lds_beyond_the_allocation_is_reported(void **state) {
    (void)state;
    refuses("gfx942", BEGIN "ds_read_b32 v10, v2 offset:4\ns_waitcnt lgkmcnt(0)\n", 256, "threads=1",
            "LDS address 256 of 256");
    refuses("gfx950", BEGIN "ds_add_u32 v2, v10 offset:256\n", 256, "threads=1", "LDS address 256 of 256");
}
static void lds_atomics_off_their_alignment_are_reported(void **state) {
    (void)state;
    refuses("gfx950", BEGIN "ds_add_u32 v2, v10 offset:2\n", 512, "threads=1", "LDS address 2, not a multiple of 4");
    refuses("gfx942", BEGIN "ds_add_rtn_u64 v[10:11], v2, v[10:11]\n", 512, "threads=1",
            "LDS address 4, not a multiple of 8");
}

int main(void) {
    struct CMUnitTest tests[TRAPS + 4] = {
        cmocka_unit_test(gfx942_has_no_instruction_of_gfx950),
        cmocka_unit_test(an_endless_kernel_is_reported),
        cmocka_unit_test(lds_beyond_the_allocation_is_reported),
        cmocka_unit_test(lds_atomics_off_their_alignment_are_reported),
    };
    for (int i = 0; i < TRAPS; i++)
        tests[4 + i] = (struct CMUnitTest){traps[i].name, run_trap, NULL, NULL, (void *)(uintptr_t)&traps[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
