/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The explain command: text, JSON whose sums agree, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/cli/command.h"
#include "tests/timing/json.h"

#define KERNEL "mqa_logits:mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma"
#define SHAPE " seq=64 seq_kv=2048 heads=64 dim=128 window=causal clean=1"

static void text_says_that_it_is_modelled(void **state) {
    (void)state;
    outcome o = command_good("explain " KERNEL SHAPE " --target gfx950");
    says(o.out, "modelled     all figures below are a model's; nothing was measured");
    says(o.out, "us modelled at 2000 MHz; band");
    says(o.out, "waves per SIMD allowed, limited by lds; reached");
    says(o.out, "mfma_busy");
    says(o.out, "wait_any    vmcnt");
    says(o.out, "bounds     matrix pipe 512, issue ");
    command_free(&o);
}

static void json_adds_up(void **state) {
    (void)state;
    outcome o = command_good("explain --json " KERNEL SHAPE " --target gfx950");
    json_t *all = json_loads(o.out, 0, NULL);
    assert_non_null(all);
    assert_true(json_is_true(json_object_get(all, "modelled")));
    const json_t *waves = json_object_get(all, "waves"), *stall = json_object_get(waves, "stall");
    assert_int_equal(integer(waves, "wave_cycles"),
                     integer(waves, "active") + integer(waves, "wait_any") + integer(waves, "wait_inst"));
    assert_int_equal(integer(waves, "wait_any"), integer(stall, "vmcnt") + integer(stall, "lgkmcnt") +
                                                     integer(stall, "barrier") + integer(stall, "dependency"));
    assert_int_equal(integer(waves, "wait_inst"), integer(stall, "arbitration") + integer(stall, "mfma_pipe") +
                                                      integer(stall, "valu_gate") + integer(stall, "queue") +
                                                      integer(stall, "fetch"));
    json_int_t active = 0, conflict = 0;
    size_t i;
    json_t *x;
    json_array_foreach(json_object_get(all, "instructions"), i, x) {
        active += integer(x, "active");
        conflict += integer(x, "lds_conflict");
    }
    assert_int_equal(active, integer(waves, "active"));
    assert_int_equal(conflict, integer(all, "lds_conflict_cycles"));
    const json_t *loop = json_array_get(json_object_get(all, "loops"), 0), *mix = json_object_get(loop, "mix");
    assert_true(number(mix, "mfma") == 8);
    assert_true(number(loop, "mfma_bound") == 8 * 64);
    /* The lane swaps of the head sum take a second slot. */
    const double least = 4 * (number(mix, "valu") + 3 * number(mix, "mfma")), issue = number(loop, "issue_bound");
    assert_true(issue >= least && issue <= least + 4 * 4);
    assert_true(number(loop, "clk") >= number(loop, "simd_clk"));
    assert_true(number(loop, "simd_clk") >= number(loop, "mfma_bound"));
    const json_t *time = json_object_get(all, "time");
    assert_true(number(time, "us_fast") < number(time, "us") && number(time, "us") < number(time, "us_slow"));
    json_decref(all);
    command_free(&o);
}

/* 4 GiB of logits; the command makes data for fewer rows and says so. */
static void large_shapes_are_looked_at_in_part(void **state) {
    (void)state;
    outcome o =
        command_good("explain --json " KERNEL "_ns2 seq=65536 seq_kv=16384 heads=64 dim=128 window=causal clean=1");
    json_t *all = json_loads(o.out, 0, NULL);
    assert_non_null(all);
    const json_t *sample = json_object_get(all, "sample");
    assert_true(json_is_true(json_object_get(sample, "reduced")));
    assert_int_equal(integer(sample, "workgroups"), 65536 * 2);
    assert_true(number(sample, "rounds") > 50);
    assert_true(integer(sample, "launched") < 65536 * 2);
    assert_true(integer(json_object_get(all, "occupancy"), "reached") == 3);
    says(o.out, "workgroups were run, evenly spread");
    json_decref(all);
    command_free(&o);
}

/* The CU with the most to do stands for all, which is said where others have less. */
static void uneven_workgroups_are_told(void **state) {
    (void)state;
    static const struct {
        const char *extents;
        int uneven;
    } rows[] = {{"16,16,976,16", 1}, {"256,256,256,256", 0}};
    for (int i = 0; i < 2; i++) {
        char line[200];
        snprintf(line, sizeof line,
                 "explain gemm_grouped:mfma16x16x128_t64x128x128_cs layout=k_offsets groups=4 m=512 n=512 k=1024 "
                 "extents=%s --target gfx950",
                 rows[i].extents);
        outcome o = command_good(line);
        assert_int_equal(strstr(o.out, "Workgroups differ in length") != NULL, rows[i].uneven);
        assert_int_equal(strstr(o.out, "bytes and shares are told as if all were as long") != NULL, rows[i].uneven);
        command_free(&o);
    }
}

static void parameters_replace_the_table(void **state) {
    (void)state;
    command_shell("printf 'scalar_load = 100000\\n' > slow");
    outcome plain = command_good("explain --json " KERNEL SHAPE),
            slow = command_good("explain --json --parameters slow " KERNEL SHAPE);
    json_t *a = json_loads(plain.out, 0, NULL), *b = json_loads(slow.out, 0, NULL);
    assert_true(number(b, "cycles") > number(a, "cycles") + 90000);
    json_decref(a);
    json_decref(b);
    command_free(&plain);
    command_free(&slow);
}

static void a_diagnosis_says_what_it_was_made_from(void **state) {
    (void)state;
    outcome o = command_good("explain --diagnose --json mqa_logits:mfma32x32x64_bkv64_r1_w1_lds2_rs"
                             " seq=16 seq_kv=512 heads=32 dim=64 --target gfx950");
    json_t *all = json_loads(o.out, 0, NULL);
    assert_non_null(all);
    assert_false(json_is_true(json_object_get(all, "measured")));
    const json_t *identity = json_object_get(all, "identity"), *verdict = json_object_get(all, "verdict");
    assert_int_equal(integer(identity, "wave_cycles"),
                     integer(identity, "active") + integer(identity, "wait_any") + integer(identity, "wait_inst"));
    const double clk = number(json_object_get(all, "kernel"), "cycles");
    int compared = 0;
    size_t i;
    json_t *x;
    json_array_foreach(json_object_get(all, "changes"), i, x) {
        if (!json_is_true(json_object_get(x, "compared"))) continue;
        const double off = clk / number(x, "cycles") - 1 - number(x, "gain");
        assert_true(off < 1e-6 && off > -1e-6);
        assert_int_equal(json_is_true(json_object_get(x, "pays")), number(x, "gain") > number(verdict, "noise"));
        compared++;
    }
    assert_true(compared >= 8);
    const json_t *sweep = json_object_get(all, "sweep");
    assert_int_equal(json_array_size(json_object_get(sweep, "points")), 5);
    assert_true(number(sweep, "slope") > 0);
    says(o.out, "clk = fixed + slope * trips, least squares");
    json_decref(all);
    command_free(&o);
}

/* The text is for reading: every change of the JSON stands in it, and each part of the verdict. */
static void a_diagnosis_as_text(void **state) {
    (void)state;
#define SMALL "gemm_blockscale:mfma16x16x128_t16x64x128_4w m=16 n=64 k=256 --target gfx950"
    static const char *const parts[] = {
        "all figures below are a model's",
        "active + wait_any + wait_inst = wave cycles: ",
        "0 spills",
        "not compared: gemm_blockscale: ",
        "  pays\n",
        "clk = fixed + slope * trips, least squares: fixed ",
        "verdict      ",
        "  can help               ",
        "  cannot help            ",
        "  hang on the traffic    loads of scales\n",
        "\nstop         ",
    };
    outcome text = command_good("explain --diagnose " SMALL), json = command_good("explain --diagnose --json " SMALL);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) says(text.out, parts[i]);
    json_t *all = json_loads(json.out, 0, NULL), *x;
    size_t i;
    assert_true(json_array_size(json_object_get(all, "changes")) >= 8);
    json_array_foreach(json_object_get(all, "changes"), i, x)
        says(text.out, json_string_value(json_object_get(x, "name")));
    says(text.out, json_string_value(json_object_get(json_object_get(all, "identity"), "formula")));
    json_decref(all);
    command_free(&text);
    command_free(&json);
}

static double bytes_past_l2(const char *tag) {
    char words[256];
    snprintf(words, sizeof words,
             "explain --json gemm_grouped:%s layout=sizes groups=8 m=4096 n=2048 k=2048 b=preshuffled --target gfx950",
             tag);
    outcome o = command_good(words);
    json_t *all = json_loads(o.out, 0, NULL);
    assert_non_null(all);
    const double bytes = number(json_object_get(all, "traffic"), "l2_to_mall_bytes");
    json_decref(all);
    command_free(&o);
    return bytes;
}

/* Rows of tiles that an XCD walks together read B into its L2 once. */
static void bands_read_less_past_l2(void **state) {
    (void)state;
    const double without = bytes_past_l2("mfma16x16x128_t128x256x128_cs_async_wpe2");
    assert_true(bytes_past_l2("mfma16x16x128_t128x256x128_group8_cs_async_wpe2") < 0.9 * without);
}

static void refusals(void **state) {
    (void)state;
    command_shell("printf 'vgpr_count = 3\\n' > wrong");
    static const struct {
        const char *words, *message;
    } rows[] = {
        {"explain --parameters wrong " KERNEL SHAPE, "the timing model has no parameter \"vgpr_count\""},
        {"explain --parameters . " KERNEL SHAPE, "timing parameters .: Is a directory"},
        {"explain --parameters nowhere " KERNEL SHAPE, "timing parameters nowhere"},
        {"explain " KERNEL " heads=64 dim=128", "needs seq in its shape"},
        {"explain " KERNEL " seq=0 seq_kv=64 heads=64 dim=128", "launches nothing that could be explained"},
        {"explain --device gpu " KERNEL SHAPE, "--device gpu measures with --diagnose"},
        {"explain --diagnose --trace t.json " KERNEL SHAPE, "--trace is of one launch"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) command_refused(rows[i].words, rows[i].message);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_says_that_it_is_modelled),
        cmocka_unit_test(json_adds_up),
        cmocka_unit_test(large_shapes_are_looked_at_in_part),
        cmocka_unit_test(uneven_workgroups_are_told),
        cmocka_unit_test(parameters_replace_the_table),
        cmocka_unit_test(a_diagnosis_says_what_it_was_made_from),
        cmocka_unit_test(a_diagnosis_as_text),
        cmocka_unit_test(bands_read_less_past_l2),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, command_setup, command_teardown);
}
