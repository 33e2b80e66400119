/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* That the comparison with double precision notices a matrix instruction that is wrong: every row on every chip with
 * its result damaged, its operands exchanged, or the function of another row with the same register counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/mfma_job.h"

#include <cmocka.h> /* after core/status.h: its macro fail() would hide our function */

static expectation e;
static int noticed, unnoticed;

static void expect_noticed(const job *q, const char *damage) {
    if (wrong_element(&e, q) >= 0) {
        noticed++;
        return;
    }
    print_error("%s on %s, cbsz %d blgp %d: %s is not noticed\n", q->m->name, q->c->name, q->mod.cbsz, q->mod.blgp,
                damage);
    unnoticed++;
}

static void none_unnoticed(void (*check)(job *q)) {
    noticed = unnoticed = 0;
    for_each(check);
    print_message("%d noticed\n", noticed);
    assert_int_equal(unnoticed, 0);
    assert_true(noticed > 0);
}

static void start(job *q) {
    randomize(q);
    expect(&e, q);
    run(q);
    assert_int_equal(wrong_element(&e, q), -1);
}

static uint64_t get_element(const job *q, int x) { return get(q->out, place_in_d(q, x), sim_format_bits(q->m->d)); }
static void put_element(job *q, int x, uint64_t v) { put(q->out, place_in_d(q, x), sim_format_bits(q->m->d), v); }

/* Every element: half or twice its value, an integer's lowest bit. Only its own comparison can tell. An element that
 * has cancelled to below its bound gets other operands. */
static void change_elements(job *q) {
    enum { DRAWS = 3 };
    const int bit = q->m->d == FORMAT_F64   ? 52
                    : q->m->d == FORMAT_F32 ? 23
                                            : 0,
              count = q->m->blocks * q->m->m * q->m->n;
    unsigned char told[ACC_DWORDS] = {0};
    for (int draw = 0; draw < DRAWS && memchr(told, 0, (size_t)count); draw++) {
        start(q);
        for (int x = 0; x < count; x++) {
            if (told[x]) continue;
            const uint64_t right = get_element(q, x);
            put_element(q, x, right ^ UINT64_C(1) << bit);
            told[x] = wrong_element(&e, q) == x;
            put_element(q, x, right);
        }
    }
    for (int x = 0; x < count; x++) {
        noticed += told[x];
        if (told[x]) continue;
        print_error("%s on %s, element %d: no change is noticed\n", q->m->name, q->c->name, x);
        unnoticed++;
    }
}
static void a_changed_element_is_noticed(void **state) {
    (void)state;
    none_unnoticed(change_elements);
}

/* Two elements exchanged that differ in one bit of their column, row or block. */
static void swap_elements(job *q) {
    start(q);
    const int count = q->m->blocks * q->m->m * q->m->n;
    for (int distance = 1; distance < count; distance *= 2) {
        const int x = (int)(random32() % (uint32_t)count) & ~distance, y = x | distance;
        const uint64_t first = get_element(q, x), second = get_element(q, y);
        put_element(q, x, second);
        put_element(q, y, first);
        expect_noticed(q, "exchange of two elements of D");
        put_element(q, x, first);
        put_element(q, y, second);
    }
}
static void two_swapped_elements_are_noticed(void **state) {
    (void)state;
    none_unnoticed(swap_elements);
}

/* swap_k: A with k and k + distance exchanged, which is a wrong sum as B stays. */
static void swap_k(job *q, int distance) {
    const int bits = sim_format_bits(q->fa);
    for (int block = 0; block < q->m->blocks; block++)
        for (int i = 0; i < q->m->m; i++)
            for (int k = 0; k < q->m->k; k++) {
                if (k & distance) continue;
                const sim_place near = place_of(q->la, block, i, k), far = place_of(q->la, block, i, k | distance);
                const uint64_t x = get(q->a, near, bits), y = get(q->a, far, bits);
                put(q->a, near, bits, y);
                put(q->a, far, bits, x);
            }
}

static void exchange_operands(job *q) {
    start(q);
    const sim_mfma_registers r = sim_mfma_operands(q->m, q->mod.cbsz, q->mod.blgp);
    if (r.a == r.b) {
        sim_mfma_run(q->m, q->c, &q->mod, q->b, q->a, q->in, q->out);
        expect_noticed(q, "exchange of A and B");
    }
    for (int distance = 1; distance < q->m->k; distance *= 2) {
        swap_k(q, distance);
        run(q);
        expect_noticed(q, "exchange of A's elements along k");
        swap_k(q, distance);
    }
    static const uint32_t zeros[ACC_DWORDS];
    sim_mfma_run(q->m, q->c, &q->mod, q->a, q->b, zeros, q->out);
    expect_noticed(q, "C left out");
    memcpy(q->out, q->in, sizeof q->out);
    expect_noticed(q, "C alone");
    if (!q->m->scaled) return;
    sim_mfma_modifiers mod = q->mod;
    mod.scale_a = q->scale_b, mod.scale_b = q->scale_a;
    sim_mfma_run(q->m, q->c, &mod, q->a, q->b, q->in, q->out);
    expect_noticed(q, "exchange of the scales");
    uint32_t blocks_exchanged[64];
    for (int lane = 0; lane < 64; lane++) blocks_exchanged[lane] = q->scale_a[lane ^ q->m->m];
    mod = q->mod;
    mod.scale_a = blocks_exchanged;
    sim_mfma_run(q->m, q->c, &mod, q->a, q->b, q->in, q->out);
    expect_noticed(q, "exchange of the scales of two k blocks");
    for (uint32_t which = 1; which < 4; which++) {
        mod = q->mod;
        mod.op_sel ^= which;
        sim_mfma_run(q->m, q->c, &mod, q->a, q->b, q->in, q->out);
        expect_noticed(q, "another byte of the scales");
    }
}
static void exchanged_operands_are_noticed(void **state) {
    (void)state;
    none_unnoticed(exchange_operands);
}

static int same_counts(sim_mfma_registers x, sim_mfma_registers y) {
    return x.a == y.a && x.b == y.b && x.acc == y.acc;
}

/* The function of every other row, and of the same one with other formats, that takes as many registers. */
static void exchange_functions(job *q) {
    start(q);
    const sim_mfma_registers r = sim_mfma_operands(q->m, q->mod.cbsz, q->mod.blgp);
    for (int row = 0; row < sim_mfma_count(); row++) {
        const sim_mfma *other = sim_mfma_at(row);
        const int formats = other->a == FORMAT_SELECTED ? 5 : 1;
        for (int f = 0; f < formats * formats; f++) {
            sim_mfma_modifiers mod = q->mod;
            mod.cbsz = f % formats, mod.blgp = f / formats;
            mod.scale_a = q->scale_a, mod.scale_b = q->scale_b;
            if (other == q->m && mod.cbsz == q->mod.cbsz && mod.blgp == q->mod.blgp) continue;
            if (sim_mfma_refusal(other, q->c, &mod) || !same_counts(r, sim_mfma_operands(other, mod.cbsz, mod.blgp)))
                continue;
            if (other->scaled && !q->m->scaled) memset(q->scale_a, 128, sizeof q->scale_a);
            sim_mfma_run(other, q->c, &mod, q->a, q->b, q->in, q->out);
            expect_noticed(q, other->name);
        }
    }
}
static void the_function_of_another_row_is_noticed(void **state) {
    (void)state;
    none_unnoticed(exchange_functions);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_element_is_noticed),
        cmocka_unit_test(two_swapped_elements_are_noticed),
        cmocka_unit_test(exchanged_operands_are_noticed),
        cmocka_unit_test(the_function_of_another_row_is_noticed),
    };
    return cmocka_run_group_tests_name("mfma_damage", tests, read_layouts, NULL);
}
