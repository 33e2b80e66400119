/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the command does when all is well: results, JSON, cache, dumps, jobs. */
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

#define TAG "mqa_logits:mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma"
#define SHAPE " seq=5 seq_kv=200 heads=64 dim=128 window=causal clean=1"

static void test_run_and_check(void **state) {
    (void)state;
    outcome first = command_good("run --sim --check " TAG SHAPE);
    says(first.out, "device       simulator (gfx950)");
    says(first.out, "cache        miss");
    says(first.out, "codegen");
    says(first.out, "waves per SIMD, limited by");
    says(first.out, "check        pass: -inf places agree; calc_diff");
    command_free(&first);
    outcome second = command_good("run --sim --check " TAG SHAPE);
    says(second.out, "cache        hit (disk)");
    says(second.out, "check        pass");
    command_free(&second);
    outcome third = command_good("run --sim --no-cache " TAG SHAPE);
    says(third.out, "cache        miss");
    assert_null(strstr(third.out, "check  "));
    command_free(&third);
}

static void test_auto_says_which_device(void **state) {
    (void)state;
    outcome o = command_run("CDNAGEN_HIP_LIBRARY=/nowhere/libamdhip64.so", "run " TAG SHAPE);
    assert_int_equal(o.code, 0);
    says(o.out, "simulator (gfx950)");
    says(o.out, "/nowhere/libamdhip64.so");
    command_free(&o);
}

/* exact_keys: the object has these members, of these types, and no other. Types: s string, i integer, r number,
 * b boolean, o object, n null. */
static void exact_keys(json_t *object, const char *types, const char *const *keys) {
    assert_true(json_is_object(object));
    for (size_t i = 0; keys[i]; i++) {
        const json_t *member = json_object_get(object, keys[i]);
        if (!member) fail_msg("no member %s", keys[i]);
        const int fits = types[i] == 's'   ? json_is_string(member)
                         : types[i] == 'i' ? json_is_integer(member)
                         : types[i] == 'r' ? json_is_number(member)
                         : types[i] == 'b' ? json_is_boolean(member)
                         : types[i] == 'o' ? json_is_object(member)
                                           : json_is_null(member);
        if (!fits) fail_msg("%s is not of type %c", keys[i], types[i]);
    }
    assert_int_equal(json_object_size(object), strlen(types));
}

static json_t *parse(const char *printed) {
    json_error_t error;
    json_t *all = json_loads(printed, 0, &error);
    if (!all) fail_msg("not JSON: %s in:\n%s", error.text, printed);
    return all;
}

static void check_schema(json_t *all, const char *types) {
    static const char *const top[] = {"op",    "tag",       "target",  "shape", "device",
                                      "check", "resources", "compile", "cache", NULL};
    static const char *const check[] = {"pass", "guards_intact", "calc_diff", "max_rel", "mask_equal", NULL};
    static const char *const resources[] = {
        "vgpr",       "agpr",           "vgpr_allocated",     "sgpr", "lds_bytes", "scratch_bytes", "vgpr_spills",
        "code_bytes", "waves_per_simd", "waves_per_eu_asked", NULL};
    static const char *const compile[] = {"total_ms",   "emit_ms", "verify_ms", "passes_ms",
                                          "codegen_ms", "link_ms", NULL};
    static const char *const cache[] = {"hit", "tier", NULL};
    exact_keys(all, types, top);
    if (json_is_object(json_object_get(all, "check"))) exact_keys(json_object_get(all, "check"), "bbrrb", check);
    exact_keys(json_object_get(all, "resources"), "iiiiiiiiii", resources);
    exact_keys(json_object_get(all, "compile"), "rrrrrr", compile);
    exact_keys(json_object_get(all, "cache"), "bs", cache);
}

static void test_json(void **state) {
    (void)state;
    outcome o = command_good("run --sim --check --json " TAG SHAPE);
    json_t *all = parse(o.out);
    check_schema(all, "sssssoooo");
    assert_string_equal(json_string_value(json_object_get(all, "op")), "mqa_logits");
    assert_string_equal(json_string_value(json_object_get(all, "tag")), strchr(TAG, ':') + 1);
    assert_string_equal(json_string_value(json_object_get(all, "device")), "simulator (gfx950)");
    assert_true(json_is_true(json_object_get(json_object_get(all, "check"), "pass")));
    assert_true(json_is_false(json_object_get(json_object_get(all, "cache"), "hit")));
    assert_true(json_number_value(json_object_get(json_object_get(all, "compile"), "codegen_ms")) > 0);
    assert_true(json_integer_value(json_object_get(json_object_get(all, "resources"), "vgpr")) > 0);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(all, "resources"), "lds_bytes")), 16384);
    json_decref(all);
    command_free(&o);

    o = command_good("gen --json " TAG " heads=64 dim=128");
    all = parse(o.out);
    check_schema(all, "ssssnnooo");
    json_decref(all);
    command_free(&o);
}

static void test_dump_on_a_hit(void **state) {
    (void)state;
    for (int run = 0; run < 2; run++) {
        outcome o = command_good("gen --dump ir,isa,obj=d -o k.co " TAG " heads=64 dim=128");
        says(o.out, run ? "cache        hit" : "cache        miss");
        command_free(&o);
        char name[16];
        snprintf(name, sizeof name, "run%d", run);
        char line[64];
        snprintf(line, sizeof line, "cmp k.co d/*.co && mv d %s", name);
        command_shell(line);
    }
    command_shell("diff -r run0 run1");
    command_shell("grep -q amdgpu_kernel run1/*.ll && grep -q v_mfma_f32_32x32x64 run1/*.s");
}

static void test_stats(void **state) {
    (void)state;
    outcome o = command_good("gen --stats " TAG " heads=64 dim=128");
    says(o.out, "of         tag mfma32x32x64");
    says(o.out, "bkv64_r1_w1_lds2_swp_rs_hfma");
    assert_null(strstr(o.out, "MFMA 0"));
    assert_null(strstr(o.out, "LDS DMA 0"));
    command_free(&o);
}

static void test_cache_commands(void **state) {
    (void)state;
    outcome o = command_good("gen " TAG " heads=64 dim=128");
    command_free(&o);
    o = command_good("cache info");
    says(o.out, "1 entries");
    says(o.out, "CDNAGEN_CACHE_DIR");
    command_free(&o);
    o = command_good("cache verify");
    says(o.out, "0 damaged");
    command_free(&o);
    command_shell("f=$(find cache/v1 -type f) && d=$(dirname $f) && cp $f $d/$(basename $d)$(printf %062d 0)");
    o = command_run("", "cache verify");
    assert_int_equal(o.code, 1);
    says(o.out, "belongs to another key");
    says(o.out, "1 foreign");
    command_free(&o);
    command_shell("touch cache/mine");
    o = command_good("cache clear");
    command_free(&o);
    command_shell("test -f cache/mine");
    o = command_good("cache info");
    says(o.out, "0 entries");
    command_free(&o);
}

static void test_cache_commands_without_a_cache(void **state) {
    (void)state;
    static const char *const words[] = {"cache info", "cache verify", "cache clear"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        outcome o = command_run("-u CDNAGEN_CACHE_DIR -u HOME -u XDG_CACHE_HOME", words[i]);
        assert_int_equal(o.code, 0);
        says(o.out, "no cache on disk: HOME is not set");
        command_free(&o);
    }
}

static void test_words_that_inform(void **state) {
    (void)state;
    static const struct {
        const char *words, *says[6];
    } rows[] = {
        {"--help", {"run", "gen", "precompile", "doctor", "Exit codes"}},
        {"run --help", {"usage: cdnagen run", "--check", "--target", "--sim", "--dump", "--json"}},
        {"gen --help", {"-o FILE"}},
        {"precompile --help", {"--jobs FILE", "--out DIR"}},
        {"list", {"mqa_logits"}},
        {"list mqa_logits", {"bkv", "kernel", "seq_kv", "window", "auto", "heads=64 dim=128"}},
        {"version", {"0.1.0", "build", "llvm 22."}},
        {"doctor", {"library", "LLVM", "HIP", "cache", "device", "gfx950"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        outcome o = command_good(rows[i].words);
        for (size_t k = 0; k < 6 && rows[i].says[k]; k++) says(o.out, rows[i].says[k]);
        command_free(&o);
    }
}

static void test_doctor_on_the_cache(void **state) {
    (void)state;
    static const struct {
        const char *environment, *says;
    } rows[] = {{"", "(from CDNAGEN_CACHE_DIR)\n"},
                {"CDNAGEN_CACHE=off", "cache        none: CDNAGEN_CACHE=off"},
                {"CDNAGEN_CACHE_DIR=file", "file (from CDNAGEN_CACHE_DIR): NOT A PACK"},
                {"CDNAGEN_CACHE_DIR=open", "open (from CDNAGEN_CACHE_DIR): NOT TRUSTED: it of user"},
                {"CDNAGEN_CACHE_DIR=open CDNAGEN_CACHE_TRUST=all", "open (from CDNAGEN_CACHE_DIR)\n"},
                {"-u CDNAGEN_CACHE_DIR -u HOME -u XDG_CACHE_HOME", "memory only: HOME is not set"}};
    command_shell("touch file && mkdir open && chmod 0777 open");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        outcome o = command_run(rows[i].environment, "doctor");
        says(o.out, rows[i].says);
        command_free(&o);
    }
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, command_setup, command_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_run_and_check),
        TEST(test_auto_says_which_device),
        TEST(test_json),
        TEST(test_dump_on_a_hit),
        TEST(test_stats),
        TEST(test_cache_commands),
        TEST(test_cache_commands_without_a_cache),
        TEST(test_words_that_inform),
        TEST(test_doctor_on_the_cache),
    };
    return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
