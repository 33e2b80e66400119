/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Machines without ROCm: no libamdhip64, or one that is not it. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "runtime/context.h"

#include <cmocka.h> /* after core/status.h: it has a macro fail() */

/* This program's dlopen: keeps the names, and finds no libamdhip64 while `hide` is set. */
static int hide;
static int asked;
static char names[32][256];
static int flags_asked[32];

void *dlopen(const char *file, int flags) {
    typedef void *opener(const char *, int);
    static opener *next;
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    if (!file || !strstr(file, "libamdhip64")) return next(file, flags);
    if (asked < 32) {
        snprintf(names[asked], sizeof names[asked], "%s", file);
        flags_asked[asked++] = flags;
    }
    return hide ? next("/nonexistent/hidden.so", flags) : next(file, flags);
}

static void assert_error_says(const char *words) {
    if (!strstr(cdnagen_error(), words)) fail_msg("\"%s\" does not say \"%s\"", cdnagen_error(), words);
}

static cdnagen *context(const char *device_words, const char *target_id) {
    const cdnagen_options options = {
        .size = sizeof options, .device = device_words, .target = target_id, .cache_dir = ""};
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    return ctx;
}

static cdnagen_status gen(cdnagen *ctx) {
    cdnagen_kernel *kernel = NULL;
    const cdnagen_status s =
        gen_kernel(ctx, "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma", "heads=64 dim=128", &kernel);
    cdnagen_free_kernel(kernel);
    return s;
}

static int clean(void **state) {
    (void)state;
    static const char *const variables[] = {"CDNAGEN_TARGET",     "CDNAGEN_DEVICE", "CDNAGEN_CACHE",
                                            "CDNAGEN_CACHE_ONLY", "CDNAGEN_SIM",    "CDNAGEN_HIP_LIBRARY",
                                            "ROCM_PATH"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    hide = asked = 0;
    return 0;
}

static void no_library_anywhere_names_what_was_tried(void **state) {
    (void)state;
    static const char *const expected[] = {"libamdhip64.so.7",
                                           "libamdhip64.so.6",
                                           "libamdhip64.so.5",
                                           "libamdhip64.so", /* in the process already */
                                           "/somewhere/rocm/lib/libamdhip64.so.7",
                                           "/somewhere/rocm/lib/libamdhip64.so.6",
                                           "/somewhere/rocm/lib/libamdhip64.so.5",
                                           "/somewhere/rocm/lib/libamdhip64.so",
                                           "libamdhip64.so.7",
                                           "libamdhip64.so.6",
                                           "libamdhip64.so.5",
                                           "libamdhip64.so",
                                           "/opt/rocm/lib/libamdhip64.so.7",
                                           "/opt/rocm/lib/libamdhip64.so.6",
                                           "/opt/rocm/lib/libamdhip64.so.5",
                                           "/opt/rocm/lib/libamdhip64.so"};
    enum { COUNT = sizeof expected / sizeof *expected };
    hide = 1;
    setenv("ROCM_PATH", "/somewhere/rocm", 1);
    cdnagen *ctx = context(NULL, NULL);
    assert_int_equal(gen(ctx), CDNAGEN_NO_HIP);
    assert_error_says("libamdhip64.so.7, .6, .5 and libamdhip64.so in /somewhere/rocm/lib");
    assert_error_says("/opt/rocm/lib");
    assert_error_says("use device \"sim\" or \"none\"");
    assert_int_equal(asked, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_string_equal(names[i], expected[i]);
        assert_int_equal(flags_asked[i], RTLD_NOW | RTLD_LOCAL | (i < 4 ? RTLD_NOLOAD : 0));
    }
    cdnagen_free_context(ctx);
}

static void a_named_library_is_the_only_one_tried(void **state) {
    (void)state;
    setenv("CDNAGEN_HIP_LIBRARY", "/somewhere/libamdhip64.so.9", 1);
    cdnagen *ctx = context(NULL, NULL);
    assert_int_equal(gen(ctx), CDNAGEN_NO_HIP);
    assert_error_says("CDNAGEN_HIP_LIBRARY=/somewhere/libamdhip64.so.9 cannot be opened");
    assert_int_equal(asked, 1);
    cdnagen_free_context(ctx);
}

static void a_library_without_the_functions_names_them(void **state) {
    (void)state;
    setenv("CDNAGEN_HIP_LIBRARY", "libz.so.1", 1);
    cdnagen *ctx = context(NULL, NULL);
    assert_int_equal(gen(ctx), CDNAGEN_NO_HIP);
    assert_error_says("lacks hipInit, hipRuntimeGetVersion");
    assert_error_says("hipModuleLaunchKernel");
    assert_error_says("hipGetDeviceProperties");
    cdnagen_free_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(no_library_anywhere_names_what_was_tried, clean),
        cmocka_unit_test_setup(a_named_library_is_the_only_one_tried, clean),
        cmocka_unit_test_setup(a_library_without_the_functions_names_them, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
