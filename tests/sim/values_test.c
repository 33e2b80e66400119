/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Single instructions against values worked by hand from the ISA text.   source: AMD CDNA4 ISA guide */
#include "tests/sim/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each leaves its result in v10 or, scalar ones, in s6 (SCALAR moves it). */
#define SCALAR "\nv_mov_b32 v10, s6"
#define SCC "\ns_cselect_b32 s6, 1, 0" SCALAR
static const struct {
    const char *code;
    uint32_t value;
} cases[] = {
    {"s_mov_b32 s7, 0x7fffffff\ns_add_i32 s6, s7, 1" SCC, 1},
    {"s_mov_b32 s7, -1\ns_add_u32 s6, s7, 1" SCC, 1},
    {"s_mov_b32 s7, -1\ns_add_u32 s7, s7, 1\ns_addc_u32 s6, 3, 4" SCALAR, 8},
    {"s_sub_u32 s6, 1, 2\ns_subb_u32 s6, 9, 4" SCALAR, 4},
    {"s_mov_b32 s7, 0x80000000\ns_sub_i32 s6, s7, 1" SCC, 1},
    {"s_mov_b32 s7, 0x12345678\ns_bfe_u32 s6, s7, 0x80008" SCALAR, 0x56},
    {"s_mov_b32 s7, 0x0000f000\ns_bfe_i32 s6, s7, 0x4000c" SCALAR, 0xffffffff},
    {"s_bfm_b32 s6, 5, 3" SCALAR, 0xf8},
    {"s_mov_b32 s7, 0x00f00000\ns_flbit_i32_b32 s6, s7" SCALAR, 8},
    {"s_mov_b32 s7, 0xffff0000\ns_flbit_i32 s6, s7" SCALAR, 16},
    {"s_ff1_i32_b32 s6, 0" SCALAR, 0xffffffff},
    {"s_mov_b32 s7, 0xf0f0\ns_bcnt1_i32_b32 s6, s7" SCALAR, 8},
    {"s_mov_b32 s7, 0x80\ns_sext_i32_i8 s6, s7" SCALAR, 0xffffff80},
    {"s_mov_b32 s7, -5\ns_abs_i32 s6, s7" SCALAR, 5},
    {"s_absdiff_i32 s6, 3, 9" SCALAR, 6},
    {"s_movk_i32 s6, 0xfff0" SCALAR, 0xfffffff0},
    {"s_movk_i32 s6, 0x10\ns_addk_i32 s6, 0xffff" SCALAR, 0xf},
    {"s_movk_i32 s6, 0x10\ns_mulk_i32 s6, 0xfffe" SCALAR, 0xffffffe0},
    {"s_mov_b32 s7, 0x40000001\ns_lshl2_add_u32 s6, s7, 3" SCALAR, 7},
    {"s_mov_b32 s7, 0x1234abcd\ns_pack_hh_b32_b16 s6, s7, s7" SCALAR, 0x12341234},
    {"s_mov_b32 s7, 0x1234abcd\ns_pack_lh_b32_b16 s6, s7, s7" SCALAR, 0x1234abcd},
    {"s_mov_b32 s7, 0x80000000\ns_mul_hi_i32 s6, s7, 2" SCALAR, 0xffffffff},
    {"s_mov_b64 s[8:9], -2\ns_ashr_i64 s[8:9], s[8:9], 40\ns_mov_b32 s6, s9" SCALAR, 0xffffffff},
    {"s_mov_b32 s7, 6\ns_brev_b32 s6, s7" SCALAR, 0x60000000},
    {"s_mov_b32 s6, 0\ns_bitset1_b32 s6, 9" SCALAR, 0x200},
    {"s_mov_b32 s7, 0x00300501\ns_quadmask_b32 s6, s7" SCALAR, 0x25},
    {"s_mov_b32 s7, 0x00300501\ns_wqm_b32 s6, s7" SCALAR, 0x00f00f0f},
    {"s_mov_b32 s7, 7\ns_bitreplicate_b64_b32 s[6:7], s7" SCALAR, 0x3f},
    {"s_getreg_b32 s6, hwreg(HW_REG_MODE, 4, 4)" SCALAR, 0xc}, /* the assembler's default flushes f32 only */
    {"v_mov_b32 v3, 0x00400000\nv_mul_f32 v10, 1.0, v3", 0},
    {"v_mov_b32 v3, 0x00400000\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3\nv_mul_f32 v10, 1.0, v3", 0x00400000},
    {"v_mov_b32 v3, 0x33800000\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1\nv_add_f32 v10, 1.0, v3\n"
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0",
     0x3f800001}, /* rounds up */
    /* A signalling f16 NaN wins, quiet; a quiet one gives way. */
    {"v_mov_b32 v3, 0x7d01\nv_min_f16 v10, 1.0, v3", 0x7f01},
    {"v_mov_b32 v3, 0xfd01\nv_max_f16 v10, v3, v3", 0xff01},
    {"v_mov_b32 v3, 0x7e01\nv_min_f16 v10, 1.0, v3", 0x3c00},
    {"v_mov_b32 v3, 0x7d01\nv_cvt_f32_f16 v10, v3", 0x7fe02000},
    /* Bits 3:2 round f64 and f16, also what becomes an f16. */
    {"v_mov_b32 v3, 0x3f800800\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 1\nv_cvt_f16_f32 v10, v3\n"
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 0",
     0x3c01},
    {"v_mov_b32 v3, 0x3f800800\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1\nv_cvt_f16_f32 v10, v3\n"
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0",
     0x3c00},
    {"v_mov_b32 v3, 0x04000000\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 2\nv_add_f16 v10, 1.0, -v3\n"
     "v_mov_b32 v4, 1\nv_sub_f16 v10, 1.0, v4\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 0",
     0x3bff},
    {"v_mov_b32 v4, 1\nv_mov_b32 v5, 0\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 1\nv_add_f64 v[10:11], v[4:5], "
     "1.0\n"
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 0",
     1},
    {"v_mov_b32 v4, 1\nv_mov_b32 v5, 0\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 3\nv_add_f64 v[10:11], v[4:5], "
     "-1.0\n"
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 0\nv_mov_b32 v10, v11",
     0xbfefffff},
    {"v_mov_b32 v4, 1\nv_mov_b32 v5, 0\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 0\nv_add_f64 v[10:11], v[4:5], "
     "v[4:5]\n"
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 3",
     0},
    /* f16 denormals: inputs alone, results alone, packed. */
    {"v_mov_b32 v4, 0x8200\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 2\nv_add_f16 v10, v4, v4\n"
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 3",
     0x8000},
    {"v_mov_b32 v4, 0x0400\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 1\nv_mul_f16 v10, 0.5, v4\n"
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 3",
     0},
    {"v_mov_b32 v4, 0x02000400\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 0\nv_pk_add_f16 v10, v4, v4\n"
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 3",
     0x0800},
    {"v_mov_b32 v4, 0x02000400\nv_pk_add_f16 v10, v4, v4", 0x04000800},
    {"v_mov_b32 v4, 0x33800000\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 1\nv_cvt_f16_f32 v10, v4\n"
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 3",
     0},
    {"v_mov_b32 v4, 0x33800000\nv_cvt_f16_f32 v10, v4", 1},
    {"s_getreg_b32 s6, hwreg(HW_REG_GPR_ALLOC, 8, 6)" SCALAR, 63},
    {"s_cmp_eq_u32 s4, s4\ns_getreg_b32 s6, hwreg(HW_REG_STATUS, 0, 1)" SCALAR, 1},
    {"s_getreg_b32 s6, hwreg(HW_REG_LDS_ALLOC, 12, 9)" SCALAR, 0},
    {"v_mov_b32 v3, 0x12345678\nv_mov_b32 v4, 0x07060504\nv_perm_b32 v10, v3, v3, v4", 0x12345678},
    {"v_mov_b32 v3, 0x80ff0012\nv_mov_b32 v4, 0x0c0d0b08\nv_perm_b32 v10, v3, v3, v4", 0x00ffff00},
    {"v_mov_b32 v3, 0x12345678\nv_alignbit_b32 v10, v3, v3, 8", 0x78123456},
    {"v_mov_b32 v3, 0x12345678\nv_alignbyte_b32 v10, 1, v3, 2", 0x00011234},
    {"v_mov_b32 v3, 0x00ff00ff\nv_bfi_b32 v10, v3, 1, -1", 0xff00ff01},
    {"v_mov_b32 v3, -1\nv_mul_hi_u32 v10, v3, v3", 0xfffffffe},
    {"v_mov_b32 v3, 0x00ffffff\nv_mul_i32_i24 v10, v3, 3", 0xfffffffd},
    {"v_med3_i32 v10, 9, -4, 3", 3},
    {"v_max3_f32 v10, 1.0, 4.0, 2.0", 0x40800000},
    {"v_mov_b32 v3, 0x7fc00000\nv_max_f32 v10, 1.0, v3", 0x3f800000},
    {"v_mov_b32 v3, 0x7fa00000\nv_max_f32 v10, 1.0, v3", 0x7fe00000},
    {"v_mov_b32 v3, 0x80000000\nv_max_f32 v10, 0, v3", 0},
    {"v_mov_b32 v3, 0x80000000\nv_min_f32 v10, 0, v3", 0x80000000},
    {"v_mov_b32 v3, 0x4f800000\nv_cvt_i32_f32 v10, v3", 0x7fffffff},
    {"v_mov_b32 v3, 0xc0000000\nv_cvt_u32_f32 v10, v3", 0},
    {"v_mov_b32 v3, 0x40200000\nv_rndne_f32 v10, v3", 0x40000000},
    {"v_mov_b32 v3, 0x40200000\nv_fract_f32 v10, v3", 0x3f000000},
    {"v_mov_b32 v3, 0x41200000\nv_frexp_exp_i32_f32 v10, v3", 4},
    {"v_mov_b32 v3, 0x41200000\nv_frexp_mant_f32 v10, v3", 0x3f200000},
    {"v_ldexp_f32 v10, 1.0, 3", 0x41000000},
    {"v_add_f32 v10, 1.0, 1.0 mul:2", 0x40800000},
    {"v_add_f32 v10, 1.0, 1.0 clamp", 0x3f800000},
    {"v_mov_b32 v3, -1\nv_add_u32 v10, v3, v3 clamp", 0xffffffff},
    {"v_mov_b32 v3, 0x3f800000\nv_add_f32 v10, -|v3|, 4.0", 0x40400000},
    {"v_mov_b32 v3, 0x47000000\nv_cvt_pkrtz_f16_f32 v10, v3, 1.0", 0x3c007800},
    {"v_mov_b32 v3, 0x477ff000\nv_cvt_pkrtz_f16_f32 v10, v3, v3", 0x7bff7bff},
    {"v_mov_b32 v3, 0x01020304\nv_dot4_i32_i8 v10, v3, v3, 5", 35},
    {"v_sad_u8 v10, 9, 4, 1", 6},
    {"v_mov_b32 v3, 0x3c004000\nv_pk_add_f16 v10, v3, v3 op_sel:[1,0] op_sel_hi:[0,1]", 0x42004200},
    {"v_mov_b32 v3, 0x3c004000\nv_fma_mix_f32 v10, v3, 1.0, v3 op_sel:[1,0,0] op_sel_hi:[1,0,1]", 0x40400000},
    {"v_mov_b32 v10, 0xabcd1234\nv_mov_b32 v3, 0x3c00\nv_fma_mixhi_f16 v10, v3, 1.0, v3 op_sel_hi:[1,0,1]", 0x40001234},
    {"v_mov_b32 v10, 0xabcd1234\nv_mad_u16 v10, 3, 4, 5 op_sel:[0,0,0,1]", 0x00111234},
    {"v_mov_b32 v4, 0\nv_mov_b32 v5, 0x3ff00000\nv_add_f64 v[10:11], v[4:5], v[4:5]\nv_mov_b32 v10, v11", 0x40000000},
    {"v_mov_b32 v3, -1\nv_cmp_class_f32 vcc, v3, 2\nv_cndmask_b32 v10, 0, 1, vcc", 1},
};
enum { CASES = sizeof cases / sizeof *cases };

static void instructions_give_the_values_worked_by_hand(void **state) {
    (void)state;
    static char body[CASES * 256];
    size_t n = 0;
    n += (size_t)snprintf(body, sizeof body,
                          "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v2, 0\ns_waitcnt lgkmcnt(0)\n");
    for (size_t i = 0; i < CASES; i++)
        n += (size_t)snprintf(body + n, sizeof body - n, "%s\nglobal_store_dword v2, v10, s[4:5] offset:%zu\n",
                              cases[i].code, 4 * i);
    assert_true(n < sizeof body);
    static const char *const modes[] = {"threads=1", "late poison threads=1"};
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        uint32_t words[CASES] = {0};
        gpu_open(modes[m]);
        const hip_error error = gpu_run_words(body, 0, words, CASES);
        if (error != HIP_SUCCESS) fail_msg("HIP %d: %s", error, gpu->last_fault());
        int wrong = 0;
        for (size_t i = 0; i < CASES; i++)
            if (words[i] != cases[i].value) {
                print_error("%s: gives 0x%08x, not 0x%08x\n", cases[i].code, words[i], cases[i].value);
                wrong++;
            }
        assert_int_equal(wrong, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(instructions_give_the_values_worked_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
