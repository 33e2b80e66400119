/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the tests of the pipeline share. */
#include "tests/runtime/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char pipeline_tag[] = "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma";
const char pipeline_shape[] = "seq=128 seq_kv=1024 heads=64 dim=128 clean=1";

char pipeline_warning[2048];
int pipeline_warnings;
static void keep_warning(void *user, cdnagen_log_level level, const char *line) {
    (void)user;
    if (level != CDNAGEN_LOG_WARNING) return;
    pipeline_warnings++;
    snprintf(pipeline_warning, sizeof pipeline_warning, "%s", line);
}

int pipeline_clean(void **state) {
    (void)state;
    static const char *const variables[] = {"CDNAGEN_TARGET",      "CDNAGEN_DEVICE",     "CDNAGEN_CACHE",
                                            "CDNAGEN_CACHE_DIR",   "CDNAGEN_CACHE_ONLY", "CDNAGEN_SIM",
                                            "CDNAGEN_CACHE_BYTES", "CDNAGEN_CACHE_TRUST"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    fake_reset();
    fake_sim = (fake_sim_state){0};
    pipeline_warnings = 0;
    pipeline_warning[0] = 0;
    return 0;
}

cdnagen *pipeline_context(const char *cache_dir, int no_cache, cdnagen_spill_policy spills) {
    const cdnagen_options options = {.size = sizeof options,
                                     .target = "gfx950",
                                     .device = "none",
                                     .cache_dir = cache_dir,
                                     .no_cache = no_cache,
                                     .spills = spills,
                                     .log = keep_warning};
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    return ctx;
}

void assert_error_says(const char *words) {
    if (!strstr(cdnagen_error(), words)) fail_msg("\"%s\" does not say \"%s\"", cdnagen_error(), words);
}

cdnagen_cache_tier pipeline_tier(cdnagen *ctx, const char *t, const char *s) {
    cdnagen_kernel *kernel = NULL;
    cdnagen_kernel_info info = {.size = sizeof info};
    assert_int_equal(gen_kernel(ctx, t, s, &kernel), CDNAGEN_OK);
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    cdnagen_free_kernel(kernel);
    return info.cache_tier;
}
