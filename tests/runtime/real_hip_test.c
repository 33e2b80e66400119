/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Debian's own libamdhip64 (HIP 5.2) on a machine without a GPU, beside the real compiler: it brings LLVM 15 into the
 * process that generates with another LLVM. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdnagen.h"

#include <cmocka.h>

static void assert_error_says(const char *words) {
    if (!strstr(cdnagen_error(), words)) fail_msg("\"%s\" does not say \"%s\"", cdnagen_error(), words);
}

/* Generates for gfx950 without a cache and checks that there is an object. */
static void compile_one(void) {
    const cdnagen_options options = {.size = sizeof options, .device = "none", .target = "gfx950", .no_cache = 1};
    cdnagen *ctx;
    cdnagen_kernel *kernel = NULL;
    cdnagen_kernel_info info = {.size = sizeof info};
    const char *isa;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    if (gen_kernel(ctx, "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma", "heads=64 dim=128", &kernel))
        fail_msg("%s", cdnagen_error());
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    assert_true(info.object_bytes > 1000);
    assert_int_equal(info.cache_tier, CDNAGEN_TIER_NONE);
    assert_int_equal(cdnagen_get_kernel_text(kernel, CDNAGEN_TEXT_ISA, &isa), CDNAGEN_OK);
    assert_non_null(strstr(isa, "v_mfma_"));
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
}

static void no_device_is_said_and_compiling_goes_on(void **state) {
    (void)state;
    compile_one();
    cdnagen *ctx;
    const char *name;
    const cdnagen_options options = {.size = sizeof options, .device = "gpu"};
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cdnagen_device_name(ctx, &name), CDNAGEN_NO_DEVICE);
        assert_error_says("libamdhip64.so.5");
        assert_error_says("finds no GPU (hipInit answers 10");
        assert_error_says("device \"sim\", or \"none\" to compile only");
    }
    cdnagen_free_context(ctx);
    compile_one();
}

int main(void) {
    unsetenv("CDNAGEN_TARGET");
    unsetenv("CDNAGEN_CACHE_ONLY");
    setenv("CDNAGEN_HIP_LIBRARY", "libamdhip64.so.5", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_device_is_said_and_compiling_goes_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
