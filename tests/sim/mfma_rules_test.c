/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Matrix instructions: scales, formats of both chips, modifiers, signs, denormals, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

#include "core/fp8.h"
#include "tests/sim/mfma_job.h"

#include <cmocka.h> /* after core/status.h: its macro fail() would hide our function */

/* Ones everywhere, another power of two for each row, column and K block in the chosen byte, and other bytes wrong. */
static void scales_of_each_block(job *q) {
    const sim_mfma *m = q->m;
    if (!m->scaled) return;
    for (int i = 0; i < m->m; i++)
        for (int k = 0; k < m->k; k++) put_a(q, 0, i, k, one_of(q->fa, q->c)), put_b(q, 0, k, i, one_of(q->fb, q->c));
    for (unsigned select = 0; select < 16; select++) {
        const unsigned byte_a = select & 3, byte_b = select >> 2;
        q->mod.op_sel = (byte_a & 1) | (byte_b & 1) << 1;
        q->mod.op_sel_hi = byte_a >> 1 | byte_b >> 1 << 1;
        for (int lane = 0; lane < 64; lane++) {
            const uint32_t ea = 120 + (uint32_t)(lane * 5 % 7), eb = 122 + (uint32_t)(lane * 3 % 11);
            q->scale_a[lane] = (0x40404040u & ~(0xffu << 8 * byte_a)) | ea << 8 * byte_a;
            q->scale_b[lane] = (0x50505050u & ~(0xffu << 8 * byte_b)) | eb << 8 * byte_b;
        }
        run(q);
        for (int i = 0; i < m->m; i++)
            for (int j = 0; j < m->n; j++) {
                double want = 0;
                for (int block = 0; block < m->k / 32; block++)
                    want +=
                        32 * ldexp(1, 120 + (block * m->m + i) * 5 % 7 - 127 + 122 + (block * m->n + j) * 3 % 11 - 127);
                assert_true(result(q, i, j) == want);
            }
    }
}
static void each_k_block_has_its_own_scale_in_the_selected_byte(void **state) {
    (void)state;
    for_each(scales_of_each_block);
}

/* One element alone: k says which block's scale it gets, though in 8-bit operands a lane holds elements of two
 * blocks. */
static void scale_of_each_k(job *q) {
    const sim_mfma *m = q->m;
    if (!m->scaled || q->fa != q->fb) return;
    const int last = m->m - 1;
    for (int block = 0; block < m->k / 32; block++)
        for (int x = 0; x < m->m; x++)
            q->scale_a[block * m->m + x] = 127u + (unsigned)block,
                                      q->scale_b[block * m->n + x] = 127u - 4 * (unsigned)block;
    for (int k = 0; k < m->k; k++) {
        memset(q->a, 0, sizeof q->a);
        memset(q->b, 0, sizeof q->b);
        put_a(q, 0, last, k, one_of(q->fa, q->c));
        put_b(q, 0, k, 3, one_of(q->fb, q->c));
        run(q);
        assert_true(result(q, last, 3) == ldexpf(1, -3 * (k / 32)));
    }
}
static void the_block_of_an_element_is_k_over_32(void **state) {
    (void)state;
    for_each(scale_of_each_k);
}

static void scale_255_is_nan_and_scale_0_is_2_to_minus_127(void **state) {
    (void)state;
    static job q;
    prepare(&q, sim_mfma_find("v_mfma_scale_f32_16x16x128_f8f6f4"), chip_find("gfx950", 6), (sim_mfma_modifiers){0});
    for (int i = 0; i < OPERAND_DWORDS; i++) q.a[i] = q.b[i] = 0x38383838;
    q.scale_a[16 * 2 + 5] = 255;
    q.scale_a[3] = 0;
    q.scale_b[9] = 254;
    run(&q);
    assert_true(isnan(result(&q, 5, 0)) && isnan(result(&q, 5, 15)));
    assert_true(result(&q, 4, 0) == 128);
    assert_true(result(&q, 3, 0) == 96 + 32 * 0x1p-127f);
    assert_true(result(&q, 3, 9) == 96 + 32); /* 2^-127 * 2^127 */
    assert_true(isinf(result(&q, 4, 9)));     /* 32 * 2^127 */
    memset(q.b, 0, sizeof q.b);
    memset(q.scale_a, 0, sizeof q.scale_a);
    memset(q.scale_b, 0, sizeof q.scale_b);
    put_b(&q, 0, 0, 2, 0x38);
    run(&q);
    assert_true(result(&q, 0, 2) == 0); /* 2^-254 is below every f32 */
}

/* Each byte as an f32: A[i][0] holds it, B[0][j] is one, C is zero. */
static void sweep(const char *chip_name, const char *mnemonic, float (*want)(uint8_t)) {
    static job q;
    prepare(&q, sim_mfma_find(mnemonic), chip_find(chip_name, 6), (sim_mfma_modifiers){0});
    for (int j = 0; j < 16; j++) put_b(&q, 0, 0, j, one_of(q.fb, q.c));
    for (int byte = 0; byte < 256; byte += 16) {
        for (int i = 0; i < 16; i++) put_a(&q, 0, i, 0, (uint64_t)byte + (uint64_t)i);
        run(&q);
        for (int i = 0; i < 16; i++) {
            const float v = want((uint8_t)(byte + i)), got = result(&q, i, 7);
            if (!(isnan(v) ? get_d(&q, 0, i, 7) == F32_NAN : got == v))
                fail_msg("%s %s byte %#x: %g, wanted %g", chip_name, mnemonic, byte + i, (double)got, (double)v);
        }
    }
}
static void fp8_bytes_mean_what_each_chip_says(void **state) {
    (void)state;
    sweep("gfx942", "v_mfma_f32_16x16x32_fp8_fp8", f32_from_e4m3fnuz);
    sweep("gfx942", "v_mfma_f32_16x16x32_bf8_fp8", f32_from_e5m2fnuz);
    sweep("gfx950", "v_mfma_f32_16x16x32_fp8_fp8", f32_from_e4m3fn);
    sweep("gfx950", "v_mfma_f32_16x16x32_bf8_fp8", f32_from_e5m2);
    assert_true(isnan(f32_from_e4m3fnuz(0x80)) && f32_from_e4m3fnuz(0x7f) == 240 && f32_from_e5m2fnuz(0x7f) == 57344);
    assert_true(isnan(f32_from_e4m3fn(0x7f)) && f32_from_e4m3fn(0x7e) == 448 && isinf(f32_from_e5m2(0x7c)));
}

/* cbsz, abid: blocks in groups of 2^cbsz all use block `abid` of their group's A. */
static void a_is_broadcast_among_blocks(void **state) {
    (void)state;
    static job q;
    static const char *const names[] = {"v_mfma_f32_4x4x1_16b_f32", "v_mfma_f32_16x16x4_4b_f16",
                                        "v_mfma_i32_32x32x4_2b_i8", "v_mfma_f32_4x4x4_16b_bf16"};
    for (int n = 0; n < 4; n++) {
        const sim_mfma *m = sim_mfma_find(names[n]);
        for (int cbsz = 0; 1 << cbsz <= m->blocks; cbsz++)
            for (int abid = 0; abid < 1 << cbsz; abid++)
                for (int hot = 0; hot < m->blocks; hot++) {
                    prepare(&q, m, chip_find("gfx942", 6), (sim_mfma_modifiers){.cbsz = cbsz, .abid = abid});
                    for (int block = 0; block < m->blocks; block++)
                        for (int j = 0; j < m->n; j++) put_b(&q, block, 0, j, one_of(q.fb, q.c));
                    put_a(&q, hot, 1, 0, one_of(q.fa, q.c));
                    run(&q);
                    for (int block = 0; block < m->blocks; block++) {
                        const int source = block / (1 << cbsz) * (1 << cbsz) + abid;
                        const uint64_t want = source == hot ? one_of(m->d, q.c) : 0;
                        assert_int_equal(get_d(&q, block, 1, 2), want);
                    }
                }
    }
}

/* blgp: the lane that each lane of B is read from, written out. */
static void b_lanes_are_permuted_by_blgp(void **state) {
    (void)state;
    static const int quarter[8][4] = {{0, 1, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}, {1, 2, 3, 0},
                                      {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
    static job straight, permuted;
    static const char *const names[] = {"v_mfma_f32_16x16x4_f32", "v_mfma_f32_32x32x8_f16", "v_mfma_f32_4x4x4_16b_f16"};
    for (int n = 0; n < 3; n++)
        for (int blgp = 0; blgp < 8; blgp++) {
            const sim_mfma *m = sim_mfma_find(names[n]);
            prepare(&straight, m, chip_find("gfx950", 6), (sim_mfma_modifiers){0});
            prepare(&permuted, m, chip_find("gfx950", 6), (sim_mfma_modifiers){.blgp = blgp});
            for (int i = 0; i < OPERAND_DWORDS; i++) straight.a[i] = 0x3c003c00 + (random32() & 0x00ff00ff);
            for (int i = 0; i < OPERAND_DWORDS; i++) permuted.b[i] = 0x3c003c00 + (random32() & 0x00ff00ff);
            memcpy(permuted.a, straight.a, sizeof straight.a);
            for (int i = 0; i < OPERAND_DWORDS; i++)
                straight.b[i] = permuted.b[i / 64 * 64 + quarter[blgp][i % 64 / 16] * 16 + i % 16];
            run(&straight);
            run(&permuted);
            assert_memory_equal(straight.out, permuted.out, sizeof straight.out);
        }
}

static void f64_blgp_bits_negate_a_b_and_c(void **state) {
    (void)state;
    static job q;
    for (int blgp = 0; blgp < 8; blgp++) {
        prepare(&q, sim_mfma_find("v_mfma_f64_16x16x4_f64"), chip_find("gfx942", 6),
                (sim_mfma_modifiers){.blgp = blgp});
        put_a(&q, 0, 2, 3, UINT64_C(0x4008) << 48);                     /* 3 */
        put_b(&q, 0, 3, 5, UINT64_C(0x4014) << 48);                     /* 5 */
        put(q.in, place_of(q.ld, 0, 2, 5), 64, UINT64_C(0x4000) << 48); /* 2 */
        run(&q);
        const double want = (blgp & 1 ? -1 : 1) * (blgp & 2 ? -1 : 1) * 15 + (blgp & 4 ? -2 : 2);
        assert_true(value_of(FORMAT_F64, q.c, get_d(&q, 0, 2, 5)) == want);
    }
}

static void i8_is_signed_and_i32_wraps(void **state) {
    (void)state;
    static job q;
    prepare(&q, sim_mfma_find("v_mfma_i32_16x16x32_i8"), chip_find("gfx942", 6), (sim_mfma_modifiers){0});
    put_a(&q, 0, 0, 0, 0x80);
    put_b(&q, 0, 0, 0, 0x80);
    put_b(&q, 0, 0, 1, 0x7f);
    put(q.in, place_of(q.ld, 0, 0, 0), 32, 0x7fffffff);
    run(&q);
    assert_int_equal((uint32_t)get_d(&q, 0, 0, 0), 0x7fffffffu + 16384u);
    assert_int_equal((int32_t)get_d(&q, 0, 0, 1), -128 * 127);
}

static void denormals_are_kept_but_for_f32_inputs_when_mode_flushes(void **state) {
    (void)state;
    static job q;
    for (int flush = 0; flush < 2; flush++) {
        prepare(&q, sim_mfma_find("v_mfma_f32_16x16x4_f32"), chip_find("gfx950", 6),
                (sim_mfma_modifiers){.flush_f32 = flush});
        put_a(&q, 0, 0, 0, 1);
        put_b(&q, 0, 0, 0, one_of(FORMAT_F32, q.c));
        put(q.in, place_of(q.ld, 0, 0, 0), 32, 2);
        run(&q);
        assert_int_equal(get_d(&q, 0, 0, 0), flush ? 2 : 3);
    }
    prepare(&q, sim_mfma_find("v_mfma_f32_16x16x16_f16"), chip_find("gfx942", 6), (sim_mfma_modifiers){.flush_f32 = 1});
    put_a(&q, 0, 0, 0, 1);
    put_b(&q, 0, 0, 0, 1);
    put(q.in, place_of(q.ld, 0, 0, 1), 32, 5);
    run(&q);
    assert_true(result(&q, 0, 0) == 0x1p-48f);
    assert_int_equal(get_d(&q, 0, 0, 1), 5);
}

/* Products of -0 on a C of -0: ordinary chains start from C and stay -0, those of a block start from +0. */
static void chains_start_from_c_and_block_chains_from_plus_zero(void **state) {
    (void)state;
    static job q;
    static const char *const names[] = {"v_mfma_f32_16x16x32_fp8_fp8", "v_mfma_f32_16x16x128_f8f6f4"};
    for (int n = 0; n < 2; n++) {
        prepare(&q, sim_mfma_find(names[n]), chip_find("gfx950", 6), (sim_mfma_modifiers){0});
        memset(q.a, 0x80, sizeof q.a);
        for (int i = 0; i < ACC_DWORDS; i++) q.in[i] = 0x80000000;
        run(&q);
        assert_int_equal(get_d(&q, 0, 7, 9), n ? 0 : 0x80000000);
        const sim_mfma_call call = {q.m, q.c, &q.mod, q.a, q.b, q.in, q.out};
        sim_mfma_plain(&call);
        assert_int_equal(get_d(&q, 0, 7, 9), n ? 0 : 0x80000000);
    }
}

static void what_is_not_settled_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *name, *chip;
        sim_mfma_modifiers mod;
    } rows[] = {
        {"v_mfma_f32_32x32x64_f8f6f4", "gfx942", {0}},
        {"v_mfma_f32_16x16x32_bf16", "gfx942", {0}},
        {"v_mfma_f32_32x32x64_f8f6f4", "gfx950", {.cbsz = 5}},
        {"v_mfma_f32_32x32x64_f8f6f4", "gfx950", {.blgp = 7}},
        {"v_mfma_f32_32x32x64_f8f6f4", "gfx950", {.abid = 1}},
        {"v_mfma_scale_f32_32x32x64_f8f6f4", "gfx950", {0}},
        {"v_mfma_f32_32x32x16_fp8_fp8", "gfx942", {.cbsz = 1}},
        {"v_mfma_f32_32x32x16_fp8_fp8", "gfx942", {.blgp = 1}},
        {"v_mfma_f32_32x32x4_2b_f16", "gfx942", {.cbsz = 2}},
        {"v_mfma_f32_32x32x4_2b_f16", "gfx942", {.cbsz = 1, .abid = 2}},
        {"v_mfma_f32_32x32x4_2b_f16", "gfx942", {.abid = 1}},
        {"v_mfma_f64_4x4x4_4b_f64", "gfx950", {.cbsz = 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_non_null(sim_mfma_refusal(sim_mfma_find(rows[i].name), chip_find(rows[i].chip, 6), &rows[i].mod));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_k_block_has_its_own_scale_in_the_selected_byte),
        cmocka_unit_test(the_block_of_an_element_is_k_over_32),
        cmocka_unit_test(scale_255_is_nan_and_scale_0_is_2_to_minus_127),
        cmocka_unit_test(fp8_bytes_mean_what_each_chip_says),
        cmocka_unit_test(a_is_broadcast_among_blocks),
        cmocka_unit_test(b_lanes_are_permuted_by_blgp),
        cmocka_unit_test(f64_blgp_bits_negate_a_b_and_c),
        cmocka_unit_test(i8_is_signed_and_i32_wraps),
        cmocka_unit_test(denormals_are_kept_but_for_f32_inputs_when_mode_flushes),
        cmocka_unit_test(chains_start_from_c_and_block_chains_from_plus_zero),
        cmocka_unit_test(what_is_not_settled_is_refused),
    };
    return cmocka_run_group_tests_name("mfma_rules", tests, read_layouts, NULL);
}
