/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gen_kernel and what comes out of the compiler: objects that differ from the plan, spills, failures on the way. */
#include "tests/runtime/pipeline.h"

#include <stdio.h>
#include <string.h>

static void objects_that_are_not_what_was_planned_are_refused(void **state) {
    (void)state;
    static const struct row {
        fake_fault fault;
        const char *says;
    } rows[] = {
        {{.symbol = 1}, "has no kernel mqa_logits_"},
        {{.argument = 1}, "the plan says"},
        {{.more_arguments = 1}, "after the plan's last one"},
        {{.mach = 0x4c}, "is for gfx942"},
        {{.features = 0x600}, "do not have the features of target gfx950"}, /* xnack off */
        {{.features = 0xd00}, "do not have the features of target gfx950"}, /* sramecc on */
        {{.abi_version = 4}, "ABI version is 4"},
        {{.lds_bytes = 163841}, "takes 163841 bytes of LDS, the plan says 16384"},
        {{.lds_bytes = 8192}, "takes 8192 bytes of LDS, the plan says 16384"},
        {{.small_workgroup = 1}, "1 work items"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cdnagen *ctx = pipeline_context("", 0, CDNAGEN_SPILLS_ALLOW);
        fake.fault = rows[i].fault;
        cdnagen_kernel *kernel = NULL;
        assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernel), CDNAGEN_BAD_OBJECT);
        assert_error_says(rows[i].says);
        /* It was not published. */
        pipeline_clean(NULL);
        assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_NONE);
        cdnagen_free_context(ctx);
    }
}

static void a_failing_compiler_leaves_nothing_behind(void **state) {
    (void)state;
    const long live = mem_live();
    cdnagen *ctx = pipeline_context("", 0, CDNAGEN_SPILLS_ALLOW);
    fake.fail_codegen = CDNAGEN_COMPILE;
    cdnagen_kernel *kernel = NULL;
    assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernel), CDNAGEN_COMPILE);
    assert_error_says("told to fail");
    assert_int_equal(fake.linked, 0);
    fake.fail_codegen = CDNAGEN_OK;
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_NONE);
    cdnagen_free_context(ctx);
    assert_int_equal(mem_live(), live);
}

static void a_spilling_tag_is_returned_with_a_warning_or_refused(void **state) {
    (void)state;
    const char *dir = scratch_make();
    fake.spill_tag = "hfma";
    cdnagen *ctx = pipeline_context(dir, 0, CDNAGEN_SPILLS_ALLOW);
    cdnagen_kernel *kernel;
    cdnagen_kernel_info info = {.size = sizeof info};
    assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernel), CDNAGEN_OK);
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    assert_int_equal(info.vgpr_spills, 7);
    assert_int_equal(info.scratch_bytes, 28);
    assert_int_equal(pipeline_warnings, 1);
    assert_non_null(strstr(pipeline_warning, "mqa_logits:mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma spills 7 VGPRs"));
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);

    /* Refused on a hit as on a miss. */
    ctx = pipeline_context(dir, 0, CDNAGEN_SPILLS_REFUSE);
    for (int round = 0; round < 2; round++) {
        kernel = NULL;
        assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernel), CDNAGEN_SPILLS);
        assert_error_says("spills 7 VGPRs");
        assert_null(kernel);
    }
    assert_int_equal(fake.linked, 1);
    cdnagen_free_context(ctx);
    scratch_remove();
}

static void auto_passes_over_what_spills(void **state) {
    (void)state;
    for (cdnagen_spill_policy policy = CDNAGEN_SPILLS_ALLOW; policy <= CDNAGEN_SPILLS_REFUSE; policy++) {
        pipeline_clean(NULL);
        cdnagen *ctx = pipeline_context("", 0, policy);
        cdnagen_kernel *kernel;
        cdnagen_kernel_info first = {.size = sizeof first}, second = {.size = sizeof second};
        assert_int_equal(gen_kernel(ctx, "mqa_logits:auto", "heads=64 dim=128", &kernel), CDNAGEN_OK);
        assert_int_equal(cdnagen_get_kernel_info(kernel, &first), CDNAGEN_OK);
        char best[256];
        snprintf(best, sizeof best, "%s", first.tag);
        cdnagen_free_kernel(kernel);
        cdnagen_free_context(ctx);

        ctx = pipeline_context("", 0, policy);
        fake.spill_tag = best;
        assert_int_equal(gen_kernel(ctx, "mqa_logits:auto", "heads=64 dim=128", &kernel), CDNAGEN_OK);
        assert_int_equal(cdnagen_get_kernel_info(kernel, &second), CDNAGEN_OK);
        assert_string_not_equal(second.tag, best);
        assert_int_equal(second.vgpr_spills, 0);
        assert_int_equal(pipeline_warnings, 0);
        cdnagen_free_kernel(kernel);
        fake.spill_tag = "mfma";
        kernel = NULL;
        assert_int_equal(gen_kernel(ctx, "mqa_logits:auto", "heads=32 dim=128", &kernel), CDNAGEN_LIMIT);
        assert_error_says("passed over because they spill");
        assert_null(kernel);
        cdnagen_free_context(ctx);
    }
}

static void generation_survives_every_failed_allocation(void **state) {
    (void)state;
    const long live = mem_live();
    int succeeded = 0, failed = 0;
    for (long k = 1; k <= 200; k++) {
        pipeline_clean(NULL);
        cdnagen *ctx = pipeline_context("", (int)(k % 2), CDNAGEN_SPILLS_ALLOW);
        cdnagen_kernel *kernel = NULL;
        mem_fail_at((k + 1) / 2);
        cdnagen_status s = gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernel);
        const char *words;
        if (!s) s = cdnagen_get_kernel_text(kernel, CDNAGEN_TEXT_IR, &words);
        mem_fail_at(0);
        if (s != CDNAGEN_OK && s != CDNAGEN_NO_MEMORY)
            fail_msg("allocation %ld: %d, %s", (k + 1) / 2, s, cdnagen_error());
        *(s ? &failed : &succeeded) += 1;
        cdnagen_free_kernel(kernel);
        /* The context still works. */
        assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernel), CDNAGEN_OK);
        cdnagen_free_kernel(kernel);
        cdnagen_free_context(ctx);
        assert_int_equal(mem_live(), live);
    }
    assert_true(failed > 10);
    assert_true(succeeded > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(objects_that_are_not_what_was_planned_are_refused, pipeline_clean),
        cmocka_unit_test_setup(a_failing_compiler_leaves_nothing_behind, pipeline_clean),
        cmocka_unit_test_setup(a_spilling_tag_is_returned_with_a_warning_or_refused, pipeline_clean),
        cmocka_unit_test_setup(auto_passes_over_what_spills, pipeline_clean),
        cmocka_unit_test_setup(generation_survives_every_failed_allocation, pipeline_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
