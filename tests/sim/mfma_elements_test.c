/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Matrix instructions: each element's place against the lane tables, random numbers against double precision, and the
 * vector paths against the plain one bit for bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

#include "tests/sim/mfma_job.h"

#include <cmocka.h> /* after core/status.h: its macro fail() would hide our function */

static void expect_row_of_ones(const job *q, int block, int i, int j) {
    uint32_t want[ACC_DWORDS] = {0};
    for (int other = 0; other < (i < 0 ? q->m->m : q->m->n); other++)
        put(want, place_of(q->ld, block, i < 0 ? other : i, i < 0 ? j : other), sim_format_bits(q->m->d),
            one_of(q->m->d, q->c));
    assert_memory_equal(q->out, want, sizeof want);
}

/* With B's row k all ones, a single one in A at (i, k) must make D's row i all ones and nothing else; B likewise. */
static void one_hot(job *q) {
    const sim_mfma *m = q->m;
    if (m->a == FORMAT_SELECTED && q->fa != q->fb) return;
    const uint64_t a = one_of(q->fa, q->c), b = one_of(q->fb, q->c);
    for (int k = 0; k < m->k; k++) {
        memset(q->a, 0, sizeof q->a);
        memset(q->b, 0, sizeof q->b);
        for (int block = 0; block < m->blocks; block++)
            for (int j = 0; j < m->n; j++) put_b(q, block, k, j, b);
        for (int block = 0; block < m->blocks; block++)
            for (int i = 0; i < m->m; i++) {
                put_a(q, block, i, k, a);
                run(q);
                expect_row_of_ones(q, block, i, -1);
                put_a(q, block, i, k, 0);
            }
        memset(q->b, 0, sizeof q->b);
        for (int block = 0; block < m->blocks; block++)
            for (int i = 0; i < m->m; i++) put_a(q, block, i, k, a);
        for (int block = 0; block < m->blocks; block++)
            for (int j = 0; j < m->n; j++) {
                put_b(q, block, k, j, b);
                run(q);
                expect_row_of_ones(q, block, -1, j);
                put_b(q, block, k, j, 0);
            }
    }
}
static void every_element_of_a_b_and_d_is_in_its_place(void **state) {
    (void)state;
    for_each(one_hot);
}

static void every_row_says_whether_its_places_are_derived(void **state) {
    (void)state;
    for (int i = 0; i < sim_mfma_count(); i++) {
        const sim_mfma *m = sim_mfma_at(i);
        const sim_format f = m->a == FORMAT_SELECTED ? FORMAT_FP8 : m->a;
        assert_int_equal(m->derived, layout_of(m, 'A', f)->derived);
        assert_ptr_equal(sim_mfma_find(m->name), m);
    }
    assert_null(sim_mfma_find("v_mfma_f32_16x16x8_xf32"));
}

static void random_against_double(job *q) {
    static expectation e;
    randomize(q);
    expect(&e, q);
    run(q);
    const int wrong = wrong_element(&e, q);
    if (wrong >= 0)
        fail_msg("%s on %s, block %d, D[%d][%d]: %.17g, in double %.17g", q->m->name, q->c->name,
                 wrong / (q->m->m * q->m->n), wrong / q->m->n % q->m->m, wrong % q->m->n, value_at(q, wrong),
                 e.want[wrong]);
}
static void random_numbers_agree_with_double_precision(void **state) {
    (void)state;
    for_each(random_against_double);
}

/* Any bytes: NaN, infinities, denormals, extreme scales. Then the same with D in the place of C, and of A. */
static void paths_agree(job *q) {
    static const sim_mfma_path *const paths[] = {&sim_mfma_baseline, &sim_mfma_avx2, &sim_mfma_avx512};
    static uint32_t plain[ACC_DWORDS];
    for (int round = 0; round < 5; round++) {
        fill(q->a, OPERAND_DWORDS);
        fill(q->b, OPERAND_DWORDS);
        fill(q->in, ACC_DWORDS);
        if (round & 1) /* mostly finite: sums that are not all NaN */
            for (int i = 0; i < OPERAND_DWORDS; i++) q->a[i] &= 0xbbbbbbbb, q->b[i] &= 0xbbbbbbbb;
        if (round == 4) { /* zeros of both signs */
            for (int i = 0; i < OPERAND_DWORDS; i++) q->a[i] &= 0x80808080, q->b[i] &= 0x80808080;
            for (int i = 0; i < ACC_DWORDS; i++) q->in[i] &= 0x80000000;
        }
        if (round & 2) { /* any scale, 0 and 255 among them; else moderate ones */
            fill(q->scale_a, 64);
            fill(q->scale_b, 64);
        } else {
            for (int i = 0; i < 64; i++)
                q->scale_a[i] = 0x70707070 | (random32() & 0x0f0f0f0f), q->scale_b[i] = 0x7f7f7f7f;
        }
        q->mod.op_sel = random32() & 3;
        q->mod.op_sel_hi = random32() & 3;
        const sim_mfma_call call = {q->m, q->c, &q->mod, q->a, q->b, q->in, plain};
        memset(plain, 0, sizeof plain);
        sim_mfma_plain(&call);
        for (int i = 0; i < 3; i++) {
            if (!sim_mfma_path_here(paths[i]) || !sim_mfma_path_runs(paths[i], q->m, &q->mod)) continue;
            sim_mfma_call fast = call;
            fast.d = q->out;
            memset(q->out, 0, sizeof q->out);
            paths[i]->run(&fast);
            if (memcmp(q->out, plain, sizeof plain) != 0)
                fail_msg("%s on %s, cbsz %d blgp %d: path %s differs from the plain one", q->m->name, q->c->name,
                         q->mod.cbsz, q->mod.blgp, paths[i]->name);
        }
        static uint32_t over_a[ACC_DWORDS], before[ACC_DWORDS];
        memcpy(over_a, q->a, sizeof q->a);
        const int acc = sim_mfma_operands(q->m, q->mod.cbsz, q->mod.blgp).acc;
        memcpy(before, q->in, sizeof before);
        sim_mfma_run(q->m, q->c, &q->mod, q->a, q->b, q->in, q->in);
        assert_memory_equal(q->in, plain, (size_t)acc * 256);
        sim_mfma_run(q->m, q->c, &q->mod, over_a, q->b, before, over_a);
        assert_memory_equal(over_a, plain, (size_t)acc * 256);
    }
}
static void vector_paths_equal_the_plain_one_and_d_may_be_c_or_a(void **state) {
    (void)state;
    for_each(paths_agree);
}

static void register_counts_are_those_of_the_disassembly(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int cbsz, blgp, a, b, acc;
    } rows[] = {
        {"v_mfma_f32_32x32x64_f8f6f4", 0, 4, 8, 4, 16},       {"v_mfma_f32_16x16x128_f8f6f4", 2, 1, 6, 8, 4},
        {"v_mfma_scale_f32_32x32x64_f8f6f4", 3, 2, 6, 6, 16}, {"v_mfma_f32_32x32x1_2b_f32", 0, 0, 1, 1, 32},
        {"v_mfma_f32_4x4x4_16b_f16", 0, 0, 2, 2, 4},          {"v_mfma_f32_16x16x32_bf16", 0, 0, 4, 4, 4},
        {"v_mfma_i32_16x16x4_4b_i8", 0, 0, 1, 1, 16},         {"v_mfma_f64_16x16x4_f64", 0, 0, 2, 2, 8},
        {"v_mfma_f64_4x4x4_4b_f64", 0, 0, 2, 2, 2},           {"v_mfma_f32_32x32x16_fp8_bf8", 0, 0, 2, 2, 16},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const sim_mfma_registers r = sim_mfma_operands(sim_mfma_find(rows[i].name), rows[i].cbsz, rows[i].blgp);
        assert_int_equal(r.a, rows[i].a);
        assert_int_equal(r.b, rows[i].b);
        assert_int_equal(r.acc, rows[i].acc);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_says_whether_its_places_are_derived),
        cmocka_unit_test(every_element_of_a_b_and_d_is_in_its_place),
        cmocka_unit_test(random_numbers_agree_with_double_precision),
        cmocka_unit_test(vector_paths_equal_the_plain_one_and_d_may_be_c_or_a),
        cmocka_unit_test(register_counts_are_those_of_the_disassembly),
    };
    return cmocka_run_group_tests_name("mfma_elements", tests, read_layouts, NULL);
}
