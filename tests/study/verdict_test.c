/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a diagnosis concludes from given figures. */
#include "tests/core/cmocka_tests.h"

#include <math.h>
#include <string.h>

#include "study/verdict.h"

#define BIT(l) (1u << (l))
#define COUNT(a) (sizeof(a) / sizeof *(a))

static void what_pays_most_is_the_verdict(void **state) {
    (void)state;
    static const struct {
        const char *what;
        trial trials[4];
        size_t count;
        int most, ceiling, done, holds;
        unsigned helps, cannot, hangs;
    } rows[] = {
        {"a store-bound kernel",
         {{CHANGE_TWIN, LEVER_ARITHMETIC, 1, 0.03, 0.03, 0.03},
          {CHANGE_LEFT_OUT, LEVER_STORES, 1, 0.40, 0.40, 0.60},
          {CHANGE_LEFT_OUT, LEVER_LDS, 1, 0.01, 0.01, 0}},
         3,
         1,
         0,
         0,
         1,
         BIT(LEVER_STORES),
         BIT(LEVER_ARITHMETIC) | BIT(LEVER_LDS),
         0},
        {"a promotion-bound kernel, for as long as traffic is as modelled",
         {{CHANGE_TWIN, LEVER_ARITHMETIC, 1, 0.30, 0.30, 0.02}, {CHANGE_LEFT_OUT, LEVER_MEMORY, 1, 0.10, 0.10, 0.50}},
         2,
         0,
         0,
         0,
         0,
         BIT(LEVER_ARITHMETIC) | BIT(LEVER_MEMORY),
         0,
         BIT(LEVER_ARITHMETIC)},
        {"noise is no verdict, and the ceiling is reached",
         {{CHANGE_TWIN, LEVER_ARITHMETIC, 1, 0.019, 0.019, 0}, {CHANGE_LEFT_OUT, LEVER_STORES, 1, 0.05, 0.05, 0.05}},
         2,
         -1,
         0,
         1,
         1,
         0,
         BIT(LEVER_ARITHMETIC) | BIT(LEVER_STORES),
         0},
        {"only at twice the traffic does something pay",
         {{CHANGE_LEFT_OUT, LEVER_MEMORY, 1, 0.04, 0.04, 0.06}},
         1,
         -1,
         -1,
         0,
         0,
         0,
         BIT(LEVER_MEMORY),
         BIT(LEVER_MEMORY)},
        {"the bare product is a ceiling and no lever",
         {{CHANGE_FLOOR, LEVER_ARITHMETIC, 1, 0.50, 0.50, 0.50}, {CHANGE_TWIN, LEVER_ARITHMETIC, 1, 0.01, 0.01, 0.01}},
         2,
         -1,
         0,
         0,
         1,
         0,
         BIT(LEVER_ARITHMETIC),
         0},
        {"a bare product in other tiles, slower than the kernel, is no ceiling",
         {{CHANGE_FLOOR, LEVER_ARITHMETIC, 1, -0.92, -0.92, -0.92}},
         1,
         -1,
         -1,
         0,
         1,
         0,
         0,
         0},
        {"a kernel at its ceiling is not done while another way of all the work pays",
         {{CHANGE_FLOOR, LEVER_ARITHMETIC, 1, 0.01, 0.01, 0.01}, {CHANGE_CHOICE, LEVER_MEMORY, 1, 0.13, 0.13, 0.13}},
         2,
         1,
         0,
         0,
         1,
         BIT(LEVER_MEMORY),
         0,
         0},
        {"what was not run says nothing",
         {{CHANGE_LEFT_OUT, LEVER_LDS, 0, 9, 9, 9}, {CHANGE_CHOICE, LEVER_SCHEDULE, 1, 0.06, 0.06, 0.06}},
         2,
         1,
         -1,
         0,
         1,
         BIT(LEVER_SCHEDULE),
         0,
         0},
        {"one lever pays by one change and not by another",
         {{CHANGE_CHOICE, LEVER_SCHEDULE, 1, -0.2, -0.2, -0.2}, {CHANGE_CHOICE, LEVER_SCHEDULE, 1, 0.1, 0.1, 0.1}},
         2,
         1,
         -1,
         0,
         1,
         BIT(LEVER_SCHEDULE),
         0,
         0},
        {"measured another lever pays most, and the model's does not hang on the traffic",
         {{CHANGE_TWIN, LEVER_ARITHMETIC, 1, 0.30, 0.04, 0.04}, {CHANGE_LEFT_OUT, LEVER_MEMORY, 1, 0.10, 0.20, 0.20}},
         2,
         0,
         0,
         0,
         1,
         BIT(LEVER_ARITHMETIC) | BIT(LEVER_MEMORY),
         0,
         0},
        {"measured as at twice the traffic, and the model hangs on the traffic",
         {{CHANGE_TWIN, LEVER_ARITHMETIC, 1, 0.01, 0.30, 0.01}, {CHANGE_LEFT_OUT, LEVER_MEMORY, 1, 0.10, 0.02, 0.10}},
         2,
         1,
         0,
         1,
         0,
         BIT(LEVER_MEMORY),
         BIT(LEVER_ARITHMETIC),
         BIT(LEVER_ARITHMETIC) | BIT(LEVER_MEMORY)},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const verdict v = verdict_of(rows[i].trials, rows[i].count);
        if (v.most != rows[i].most || v.ceiling != rows[i].ceiling || v.done != rows[i].done ||
            v.holds != rows[i].holds || v.helps != rows[i].helps || v.cannot != rows[i].cannot ||
            v.hangs != rows[i].hangs)
            fail_msg("%s: most %d, ceiling %d, done %d, holds %d, helps %x, cannot %x, hangs %x", rows[i].what, v.most,
                     v.ceiling, v.done, v.holds, v.helps, v.cannot, v.hangs);
    }
}

static void a_fit_finds_what_made_the_points(void **state) {
    (void)state;
    const double trips[] = {4, 8, 16, 32, 56};
    double clk[COUNT(trips)];
    line l;
    for (size_t i = 0; i < COUNT(trips); i++) clk[i] = 5200 + 931.5 * trips[i];
    assert_int_equal(line_fit(trips, clk, COUNT(trips), &l), CDNAGEN_OK);
    assert_true(fabs(l.fixed - 5200) < 1e-6 && fabs(l.slope - 931.5) < 1e-9 && l.residual < 1e-12);
    /* One point a tenth too long: seen in the residual. */
    clk[2] *= 1.1;
    assert_int_equal(line_fit(trips, clk, COUNT(trips), &l), CDNAGEN_OK);
    assert_true(l.residual > 0.05 && l.residual < 0.1);
    assert_int_equal(line_fit(trips, clk, 1, &l), CDNAGEN_BAD_ARGUMENT);
    const double same[] = {8, 8};
    assert_int_equal(line_fit(same, clk, 2, &l), CDNAGEN_BAD_ARGUMENT);
}

static sim_timing whole(void) {
    sim_timing t = {.chip = &chips[CHIP_GFX950],
                    .kernel = "k",
                    .wave_clk = 100000,
                    .active = 40000,
                    .wait_any = 35000,
                    .wait_inst = 25000,
                    .waves_reached = 2,
                    .cu_clk = 12500,
                    .mfma_busy = 0.3};
    t.stall[STALL_VMCNT] = 30000;
    t.stall[STALL_BARRIER] = 5000;
    t.stall[STALL_MFMA_PIPE] = 25000;
    return t;
}

static void a_broken_identity_is_caught(void **state) {
    (void)state;
    double residual;
    sim_timing t = whole();
    assert_int_equal(wave_identity(&t, &residual), CDNAGEN_OK);
    assert_true(residual <= 0);
    t.active += 10; /* within what counters may be off by */
    assert_int_equal(wave_identity(&t, &residual), CDNAGEN_OK);
    t.active += 10;
    assert_int_equal(wave_identity(&t, &residual), CDNAGEN_FAULT);
    assert_true(fabs(residual - 2e-4) < 1e-9);
    t = whole();
    t.stall[STALL_BARRIER] += 100; /* the sum holds, its parts do not */
    assert_int_equal(wave_identity(&t, &residual), CDNAGEN_FAULT);
    t = whole();
    t.stall[STALL_MFMA_PIPE] -= 100;
    assert_int_equal(wave_identity(&t, &residual), CDNAGEN_FAULT);
}

static void duty_is_occupancy_times_the_share_of_a_wave(void **state) {
    (void)state;
    const sim_timing t = whole();
    const duty d = duty_of(&t);
    assert_true(fabs(d.fraction - 0.15) < 1e-9); /* 0.3 * 4 * 12500 of 100000 */
    assert_true(fabs(d.ceiling - 0.30) < 1e-9);
    assert_true(fabs(d.reached - 1) < 1e-9);
    sim_timing early = t; /* the last waves are alone: the CU's life is longer than its waves fill */
    early.cu_clk = 25000;
    early.mfma_busy = 0.15;
    assert_true(fabs(duty_of(&early).ceiling - 0.30) < 1e-9);
    assert_true(fabs(duty_of(&early).reached - 0.5) < 1e-9);
}

static void neither_roof_near_is_latency(void **state) {
    (void)state;
    const struct {
        double matrix, beyond_l2;
        int bound, at_twice;
    } rows[] = {{0.2, 300, 1, 0}, {0.2, 100, 1, 1}, {0.4, 100, 0, 0}, {0.2, 400, 0, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const roofs r = roofs_of(rows[i].matrix, rows[i].beyond_l2, 100, 10);
        assert_int_equal(r.latency_bound, rows[i].bound);
        assert_int_equal(r.latency_bound_at_twice, rows[i].at_twice);
    }
}

static load steady(void) {
    load l = {.mfma = 512, .memory_bytes = 1e8, .clk = 1e5, .active = 4e4, .waves_per_simd = 2, .limit = "lds"};
    l.stall[STALL_VMCNT] = 2e4;
    return l;
}

static void the_same_work_is_slower_somewhere(void **state) {
    (void)state;
    const load fast = steady();
    struct {
        place place;
        int stall;
        load slow;
    } rows[] = {{PLACE_NOISE, -1, fast},
                {PLACE_MEMORY, STALL_VMCNT, fast},
                {PLACE_SCHEDULE, STALL_VMCNT, fast},
                {PLACE_SCHEDULE, STALL_BARRIER, fast},
                {PLACE_REGISTERS, STALL_VMCNT, fast},
                {PLACE_REGISTERS, STALL_VMCNT, fast},
                {PLACE_SCHEDULE, STALL_VMCNT, fast},
                {PLACE_SCHEDULE, -1, fast},
                {PLACE_NOT_COMPARABLE, -1, fast},
                {PLACE_SCHEDULE, STALL_VMCNT, fast}};
    for (size_t i = 1; i < COUNT(rows); i++) {
        rows[i].slow.clk *= 1.3;
        if (rows[i].stall >= 0) rows[i].slow.stall[rows[i].stall] += 3e4;
    }
    rows[1].slow.memory_bytes *= 1.5;
    rows[3].slow.memory_bytes *= 1.5; /* more bytes, but nobody waits for them */
    rows[4].slow.scratch_bytes = 64;
    rows[5].slow.waves_per_simd = 1;
    rows[5].slow.limit = "vgpr";
    rows[6].slow.waves_per_simd = 1; /* by LDS: registers are not it */
    rows[7].slow.active += 3e4;
    rows[8].slow.mfma *= 2;
    rows[9].slow.memory_bytes /= 1.5; /* it waits longer for fewer bytes */
    for (size_t i = 0; i < COUNT(rows); i++) {
        const difference d = difference_of(&rows[i].slow, &fast);
        if (d.place != rows[i].place || (d.place > PLACE_NOISE && d.stall != rows[i].stall))
            fail_msg("row %zu: %s, stall %d", i, place_names[d.place], d.stall);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_pays_most_is_the_verdict), cmocka_unit_test(a_fit_finds_what_made_the_points),
        cmocka_unit_test(a_broken_identity_is_caught),   cmocka_unit_test(duty_is_occupancy_times_the_share_of_a_wave),
        cmocka_unit_test(neither_roof_near_is_latency),  cmocka_unit_test(the_same_work_is_slower_somewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
