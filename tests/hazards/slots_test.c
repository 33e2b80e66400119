/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Wait states: every rule with one slot too few, which is a finding, and with exactly enough, which is none. The
 * numbers are what llc-22 -run-pass post-RA-hazard-rec inserts between such instructions. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/gpu.h"

typedef struct slot_case {
    const char *first, *second;
    int slots[2]; /* gfx942, gfx950; -1: the chip has no such instruction */
} slot_case;

#define DPP "v_mov_b32_dpp v60, v50 row_shl:1 row_mask:0xf bank_mask:0xf"
#define CMPX "v_cmpx_eq_u32 vcc, v1, v1"
#define XDL4 "v_mfma_f32_16x16x16_f16 v[16:19], v[8:9], v[10:11], v[12:15]"
#define XDL8 "v_mfma_f32_32x32x8_f16 v[16:31], v[8:9], v[10:11], v[32:47]"
#define XDL16 "v_mfma_f32_32x32x4_2b_f16 v[16:47], v[8:9], v[10:11], v[64:95]"
#define XDL2 "v_mfma_f32_4x4x4_16b_f16 v[16:19], v[8:9], v[10:11], v[12:15]"
#define FP8 "v_mfma_f32_32x32x64_f8f6f4 v[16:31], v[48:55], v[56:63], v[32:47]"
#define FP4 "v_mfma_f32_32x32x64_f8f6f4 v[16:31], v[48:51], v[56:59], v[32:47] cbsz:4 blgp:4"
#define FP4_BY_FP8 "v_mfma_f32_16x16x128_f8f6f4 v[16:19], v[48:51], v[56:63], v[12:15] cbsz:4"
#define SGEMM8 "v_mfma_f32_16x16x4_f32 v[16:19], v8, v9, v[12:15]"
#define SGEMM16 "v_mfma_f32_32x32x2_f32 v[16:31], v8, v9, v[32:47]"
#define DGEMM8 "v_mfma_f64_16x16x4_f64 v[16:23], v[8:9], v[10:11], v[24:31]"
#define DGEMM4 "v_mfma_f64_4x4x4_4b_f64 v[16:17], v[8:9], v[10:11], v[12:13]"
#define READ "v_mov_b32 v60, v16"
#define STORE "global_store_dword v1, v16, s[4:5]"
#define LDS_WRITE "ds_write_b32 v1, v16"
#define OVERWRITE "v_mov_b32 v16, v1"

static const slot_case cases[] = {
    {"v_readfirstlane_b32 s6, v40", "global_load_dword v60, v1, s[6:7]", {5, 5}},
    {"v_readfirstlane_b32 s8, v40", "buffer_load_dword v60, v1, s[8:11], 0 offen", {5, 5}},
    {"v_readfirstlane_b32 s6, v1", "v_mov_b32 v60, s6", {2, 2}},
    {"v_cmp_eq_u32 vcc, v1, v2", "v_cndmask_b32 v60, v1, v2, vcc", {2, 2}},
    {"v_add_co_u32 v60, vcc, v1, v2", "v_addc_co_u32 v61, vcc, v1, v2, vcc", {2, 2}},
    {"v_readfirstlane_b32 s6, v1", "v_readlane_b32 s9, v2, s6", {4, 4}},
    {"v_readfirstlane_b32 s6, v1", "v_writelane_b32 v60, 5, s6", {4, 4}},
    {"v_cmp_eq_u32 vcc, v1, v2", "v_div_fmas_f32 v60, v1, v2, v3", {4, 4}},
    {CMPX, DPP, {5, 5}},
    {CMPX, "v_readfirstlane_b32 s6, v1", {4, 4}},
    {CMPX, "v_writelane_b32 v60, s9, 3", {4, 4}},
    {CMPX, XDL4, {4, 4}},
    {"v_mov_b32 v50, v1", DPP, {2, 2}},
    {"v_mov_b32 v50, v1", "v_readlane_b32 s6, v50, 3", {1, 1}},
    {"v_mov_b32 v50, v1", "v_readfirstlane_b32 s6, v50", {1, 1}},
    {"v_mov_b32 v50, v1", "v_permlane32_swap_b32 v50, v51", {-1, 2}},
    {"v_mov_b32 v51, v1", "v_permlane16_swap_b32 v50, v51", {-1, 2}},
    {"v_exp_f32 v50, v1", "v_add_f32 v60, v50, v1", {1, 1}},
    {"v_exp_f32 v50, v1", "v_rcp_f32 v60, v50", {0, 0}},
    {"v_mov_b32_sdwa v50, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD",
     "v_add_u32 v60, v50, v1",
     {1, 1}},
    {"v_cvt_pk_fp8_f32 v50, v1, v2 op_sel:[0,0,1]", "v_add_u32 v60, v50, v1", {1, 1}},
    {"v_dot4_i32_i8 v50, v1, v2, v3", "v_add_u32 v60, v50, v1", {3, 3}},
    {"v_dot4_i32_i8 v50, v1, v2, v3", "v_dot4_i32_i8 v60, v50, v2, v3", {3, 3}},
    {"v_dot4_i32_i8 v50, v1, v2, v3", "v_dot4_i32_i8 v50, v1, v2, v50", {0, 0}},
    {"v_dot4_i32_i8 v50, v1, v2, v3", "v_mov_b32 v50, v1", {3, 3}},
    {"global_store_dwordx4 v1, v[48:51], s[4:5]", "v_mov_b32 v49, v1", {2, 2}},
    {"buffer_store_dwordx3 v[48:50], v1, s[8:11], 0 offen", "v_mov_b32 v50, v1", {2, 2}},
    {"buffer_store_dwordx3 v[48:50], v1, s[8:11], s12 offen", "v_mov_b32 v50, v1", {0, 0}},
    {"global_store_dwordx2 v1, v[48:49], s[4:5]", "v_mov_b32 v49, v1", {0, 0}},
    {"s_mov_b32 m0, 0", "global_load_lds_dword v1, s[4:5]", {1, 1}},
    {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "s_getreg_b32 s6, hwreg(HW_REG_MODE)", {2, 2}},
    {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", {2, 2}},
    {"v_mov_b32 v8, v1", XDL4, {2, 2}},
    {"v_mov_b32 v12, v1", XDL4, {2, 2}},

    {XDL2, READ, {5, 5}},
    {XDL4, READ, {7, 8}},
    {XDL8, READ, {11, 12}},
    {XDL16, READ, {19, 20}},
    {FP8, READ, {-1, 20}},
    {FP4, READ, {-1, 12}},
    {FP4_BY_FP8, READ, {-1, 12}},
    {XDL8, STORE, {11, 12}},
    {FP8, STORE, {-1, 20}},
    {XDL8, LDS_WRITE, {11, 12}},
    {XDL4, OVERWRITE, {7, 8}},
    {XDL4, "global_load_dword v16, v1, s[4:5]", {7, 8}},
    {XDL2, "v_mov_b32 v12, v1", {1, 1}},
    {XDL4, "v_mov_b32 v12, v1", {3, 3}},
    {XDL8, "v_mov_b32 v32, v1", {7, 7}},
    {FP8, "v_mov_b32 v32, v1", {-1, 15}},
    {XDL4, "v_mov_b32 v8, v1", {0, 0}},
    {XDL4, "v_mfma_f32_16x16x16_f16 v[20:23], v[16:17], v[10:11], v[12:15]", {7, 8}},
    {XDL8, "v_mfma_f32_16x16x16_f16 v[48:51], v[8:9], v[16:17], v[12:15]", {11, 12}},
    {XDL2, "v_mfma_f32_4x4x4_16b_f16 v[16:19], v[8:9], v[10:11], v[16:19]", {2, 2}},
    {XDL4, "v_mfma_f32_16x16x16_f16 v[16:19], v[8:9], v[10:11], v[16:19]", {0, 0}},
    {XDL2, "v_mfma_f32_4x4x4_16b_f16 v[20:23], v[8:9], v[10:11], v[18:21]", {3, 4}},
    {XDL4, "v_mfma_f32_16x16x16_f16 v[20:23], v[8:9], v[10:11], v[18:21]", {5, 6}},
    {XDL8, "v_mfma_f32_16x16x16_f16 v[48:51], v[8:9], v[10:11], v[16:19]", {9, 10}},

    {SGEMM8, READ, {10, 10}},
    {SGEMM16, STORE, {18, 18}},
    {SGEMM8, OVERWRITE, {10, 10}},
    {SGEMM8, "v_mov_b32 v12, v1", {0, 0}},
    {SGEMM8, "v_mfma_f32_16x16x4_f32 v[20:23], v16, v9, v[12:15]", {10, 10}},
    {SGEMM8, "v_mfma_f32_16x16x4_f32 v[20:23], v8, v9, v[18:21]", {8, 8}},
    {SGEMM8, "v_mfma_f32_16x16x16_f16 v[20:23], v[8:9], v[10:11], v[18:21]", {0, 0}},

    {DGEMM8, READ, {11, 19}},
    {DGEMM8, STORE, {18, 18}},
    {DGEMM4, READ, {6, 6}},
    {DGEMM4, STORE, {9, 9}},
    {DGEMM8, OVERWRITE, {11, 11}},
    {DGEMM8, "v_mfma_f64_16x16x4_f64 v[48:55], v[16:17], v[10:11], v[24:31]", {11, 19}},
    {DGEMM8, "v_mfma_f64_16x16x4_f64 v[48:55], v[8:9], v[10:11], v[18:25]", {9, 17}},
    {DGEMM8, "v_mfma_f64_16x16x4_f64 v[16:23], v[8:9], v[10:11], v[16:23]", {0, 0}},
    {DGEMM4, "v_mfma_f64_4x4x4_4b_f64 v[16:17], v[8:9], v[10:11], v[16:17]", {4, 4}},
    {DGEMM8, "v_fma_f64 v[60:61], v[8:9], v[10:11], v[12:13]", {2, 2}},
};

/* Every register a value, s[4:7] twice the buffer's address, s[8:11] a descriptor of it, v40 its low half. */
#define HEAD                                                                                                           \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s6, s4\ns_mov_b32 s7, s5\ns_mov_b32 s8, s4\n" \
    "s_mov_b32 s9, s5\ns_movk_i32 s10, 0x400\ns_mov_b32 s11, 0x27000\ns_mov_b32 s12, 0\ns_mov_b32 m0, 0\n"             \
    ".set i, 0\n.rept 96\nv_mov_b32 v[i], 0\n.set i, i + 1\n.endr\nv_mov_b32 v40, s4\ns_nop 7\n"

static void launch(const slot_case *c, int slots, int need) {
    char body[1024], wait[64] = "";
    static const uint32_t zeros[256];
    if (slots > 0) snprintf(wait, sizeof wait, slots > 16 ? "s_nop 15\ns_nop %d\n" : "s_nop %d\n", (slots - 1) % 16);
    snprintf(body, sizeof body, HEAD "%s\n%s%s\n", c->first, wait, c->second);
    const hip_module module = gpu_assemble(body, 1024);
    const uint64_t buffer = gpu_buffer(zeros, sizeof zeros);
    const hip_error error = gpu_launch(module, "k", (gpu_grid){.groups = 1, .threads = 64}, 1, buffer);
    if (slots == need && error != HIP_SUCCESS)
        fail_msg("%s | %s with %d slots: %s", c->first, c->second, slots, gpu->last_fault());
    if (slots < need) {
        char said[64];
        snprintf(said, sizeof said, "then %d of the %d slots", slots, need);
        if (error != HIP_ERROR_LAUNCH_FAILURE) fail_msg("%s | %s: %d slots are not enough", c->first, c->second, slots);
        if (!strstr(gpu->last_fault(), "missing wait states") || !strstr(gpu->last_fault(), said))
            fail_msg("%s | %s: \"%s\" is not in: %s", c->first, c->second, said, gpu->last_fault());
    }
    assert_int_equal(gpu->module_unload(module), HIP_SUCCESS);
    gpu->free((void *)(uintptr_t)buffer);
}

static void run_cases(int chip_index) {
    gpu_chip = chip_index ? "gfx950" : "gfx942";
    gpu_open("check=all threads=1");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int need = cases[i].slots[chip_index];
        if (need < 0) continue;
        if (need > 0) launch(&cases[i], need - 1, need);
        launch(&cases[i], need, need);
    }
}

static void gfx942(void **state) {
    (void)state;
    run_cases(0);
}
static void gfx950(void **state) {
    (void)state;
    run_cases(1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gfx950), cmocka_unit_test(gfx942)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
