/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a call is refused for before anything happens: each names the argument, its value and what would be right, and
 * leaves its out-parameter alone. */
#include "tests/runtime/pipeline.h"

#include <limits.h>

static cdnagen *ctx;
static cdnagen_kernel *mqa, *gemm, *grouped;

static void refused(cdnagen_status s, const char *says) {
    if (s != CDNAGEN_BAD_ARGUMENT) fail_msg("%d for what is to say \"%s\"", s, says);
    assert_error_says(says);
}

static void options_out_of_range(void **state) {
    (void)state;
    static const struct {
        cdnagen_options options;
        const char *says;
    } rows[] = {
        {{.spills = (cdnagen_spill_policy)7}, "options.spills is 7: use CDNAGEN_SPILLS_ALLOW or _REFUSE"},
        {{.isolate_seconds = -1}, "isolate_megabytes are -1 and 0: 0 is no limit"},
        {{.isolate_megabytes = -2}, "isolate_megabytes are 0 and -2: 0 is no limit"},
        {{.kernels_kept = -1}, "options.kernels_kept is -1: from 1 to"},
        {{.kernels_kept = INT_MAX}, "options.kernels_kept is 2147483647: from 1 to"},
        {{.reserved = 3}, "options.reserved is 3"},
    };
    const long live = mem_live();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cdnagen_options options = rows[i].options;
        cdnagen *made = NULL;
        options.size = sizeof options;
        options.device = "none";
        options.target = "gfx950";
        refused(cdnagen_create_context(&options, &made), rows[i].says);
        assert_null(made);
        assert_int_equal(mem_live(), live);
    }
}

static void what_a_typed_shape_needs(void **state) {
    (void)state;
    static const char tag[] = "auto";
    const cdnagen_mqa_logits_shape m = {.size = sizeof m, .heads = 64, .dim = 128};
    const cdnagen_gemm_blockscale_shape b = {.size = sizeof b, .m = 16, .n = 128, .k = 128};
    const cdnagen_gemm_grouped_shape g = {.size = sizeof g, .groups = 2, .m = 16, .n = 128, .k = 128};
    cdnagen_kernel *k = NULL;
    refused(cdnagen_gen_mqa_logits(ctx, NULL, &m, &k), "tag is NULL");
    refused(cdnagen_gen_mqa_logits(ctx, tag, NULL, &k), "shape is NULL");
    refused(cdnagen_gen_mqa_logits(ctx, tag, &m, NULL), "out is NULL");
    refused(cdnagen_gen_mqa_logits(ctx, "gemm_blockscale:auto", &m, &k), "is not of operator mqa_logits");
    refused(cdnagen_gen_gemm_blockscale(ctx, NULL, &b, &k), "tag is NULL");
    refused(cdnagen_gen_gemm_blockscale(ctx, tag, NULL, &k), "shape is NULL");
    refused(cdnagen_gen_gemm_blockscale(ctx, tag, &b, NULL), "out is NULL");
    refused(cdnagen_gen_gemm_blockscale(ctx, "gemm_grouped:auto", &b, &k), "is not of operator gemm_blockscale");
    refused(cdnagen_gen_gemm_grouped(ctx, NULL, &g, &k), "tag is NULL");
    refused(cdnagen_gen_gemm_grouped(ctx, tag, NULL, &k), "shape is NULL");
    refused(cdnagen_gen_gemm_grouped(ctx, tag, &g, NULL), "out is NULL");
    refused(cdnagen_gen_gemm_grouped(ctx, "mqa_logits:auto", &g, &k), "is not of operator gemm_grouped");
    assert_null(k);
}

static void workspaces_of_other_kernels_and_lengths(void **state) {
    (void)state;
    enum { LENGTH_MAX = 2147418112, GROUPS_MAX = 65535 };
    size_t size = 77;
    refused(cdnagen_gemm_blockscale_workspace(NULL, 1, 1, &size), "kernel is NULL");
    refused(cdnagen_gemm_blockscale_workspace(gemm, 1, 1, NULL), "bytes is NULL");
    refused(cdnagen_gemm_blockscale_workspace(mqa, 1, 1, &size), "not of gemm_blockscale");
    refused(cdnagen_gemm_blockscale_workspace(gemm, -1, 1, &size), "m -1 and n 1 must be 0 to 2147418112");
    refused(cdnagen_gemm_blockscale_workspace(gemm, 1, -5, &size), "m 1 and n -5 must be 0 to 2147418112");
    refused(cdnagen_gemm_blockscale_workspace(gemm, 1, LENGTH_MAX + 1ll, &size),
            "n 2147418113 must be 0 to 2147418112");
    refused(cdnagen_gemm_grouped_workspace(NULL, 1, 1, 1, &size), "kernel is NULL");
    refused(cdnagen_gemm_grouped_workspace(grouped, 1, 1, 1, NULL), "bytes is NULL");
    refused(cdnagen_gemm_grouped_workspace(gemm, 1, 1, 1, &size), "not of gemm_grouped");
    refused(cdnagen_gemm_grouped_workspace(grouped, -1, 1, 1, &size), "groups -1 must be 0 to 65535");
    refused(cdnagen_gemm_grouped_workspace(grouped, GROUPS_MAX + 1, 1, 1, &size), "groups 65536 must be 0 to 65535");
    refused(cdnagen_gemm_grouped_workspace(grouped, 1, INT64_MIN, 1, &size), "must be 0 to 2147418112");
    refused(cdnagen_gemm_grouped_workspace(grouped, 1, 1, -3, &size), "n -3 must be 0 to 2147418112");
    assert_int_equal(size, 77);
    assert_int_equal(cdnagen_gemm_blockscale_workspace(gemm, LENGTH_MAX, LENGTH_MAX, &size), CDNAGEN_OK);
    assert_int_equal(cdnagen_gemm_grouped_workspace(grouped, GROUPS_MAX, LENGTH_MAX, LENGTH_MAX, &size), CDNAGEN_OK);
}

static void launches_of_nothing_and_of_another_operator(void **state) {
    (void)state;
    const cdnagen_mqa_logits_args m = {.size = sizeof m};
    const cdnagen_gemm_blockscale_args b = {.size = sizeof b};
    const cdnagen_gemm_grouped_args g = {.size = sizeof g};
    refused(cdnagen_launch_mqa_logits(NULL, &m, NULL), "kernel is NULL");
    refused(cdnagen_launch_mqa_logits(mqa, NULL, NULL), "args is NULL");
    refused(cdnagen_launch_mqa_logits(gemm, &m, NULL), "cannot take the arguments of mqa_logits");
    refused(cdnagen_launch_gemm_blockscale(NULL, &b, NULL), "kernel is NULL");
    refused(cdnagen_launch_gemm_blockscale(gemm, NULL, NULL), "args is NULL");
    refused(cdnagen_launch_gemm_blockscale(grouped, &b, NULL), "cannot take the arguments of gemm_blockscale");
    refused(cdnagen_launch_gemm_grouped(NULL, &g, NULL), "kernel is NULL");
    refused(cdnagen_launch_gemm_grouped(grouped, NULL, NULL), "args is NULL");
    refused(cdnagen_launch_gemm_grouped(mqa, &g, NULL), "cannot take the arguments of gemm_grouped");
    refused(cdnagen_grouped_output(CDNAGEN_GROUPED_STACKED, NULL, NULL, NULL, NULL), "out is NULL");
}

static void places_for_answers(void **state) {
    (void)state;
    const char *words = "as before";
    cdnagen_kernel_info info = {.size = 3};
    refused(cdnagen_get_kernel_info(NULL, &info), "kernel is NULL");
    refused(cdnagen_get_kernel_info(mqa, NULL), "info is NULL");
    refused(cdnagen_get_kernel_info(mqa, &info), "info.size is 3: set it to sizeof(cdnagen_kernel_info)");
    refused(cdnagen_get_kernel_text(NULL, CDNAGEN_TEXT_IR, &words), "kernel is NULL");
    refused(cdnagen_get_kernel_text(mqa, CDNAGEN_TEXT_IR, NULL), "text is NULL");
    refused(cdnagen_get_kernel_text(mqa, (cdnagen_text)9, &words), "text 9 is neither");
    refused(cdnagen_device_name(ctx, NULL), "name is NULL");
    refused(cdnagen_alloc(ctx, 1, NULL), "ptr is NULL");
    refused(cdnagen_alloc(ctx, 0, &(void *){NULL}), "bytes is 0");
    refused(cdnagen_copy_to_device(ctx, NULL, words, 1), "a copy of 1 bytes needs");
    refused(cdnagen_copy_to_host(ctx, &info, NULL, 1), "a copy of 1 bytes needs");
    assert_string_equal(words, "as before");
}

static int open_kernels(void **state) {
    pipeline_clean(state);
    ctx = pipeline_context("", 0, CDNAGEN_SPILLS_ALLOW);
    return gen_kernel(ctx, pipeline_tag, pipeline_shape, &mqa) ||
           gen_kernel(ctx, "gemm_blockscale:auto", "m=16 n=128 k=128", &gemm) ||
           gen_kernel(ctx, "gemm_grouped:auto", "groups=2 m=16 n=128 k=128", &grouped);
}

static int close_kernels(void **state) {
    (void)state;
    cdnagen_free_kernel(mqa);
    cdnagen_free_kernel(gemm);
    cdnagen_free_kernel(grouped);
    cdnagen_free_context(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_out_of_range),
        cmocka_unit_test(what_a_typed_shape_needs),
        cmocka_unit_test(workspaces_of_other_kernels_and_lengths),
        cmocka_unit_test(launches_of_nothing_and_of_another_operator),
        cmocka_unit_test(places_for_answers),
    };
    return cmocka_run_group_tests(tests, open_kernels, close_kernels);
}
