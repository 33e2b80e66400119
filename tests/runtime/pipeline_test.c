/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gen_kernel from tag to kernel: what a kernel says of itself, arguments, errors, shapes that share an object. */
#include "tests/runtime/pipeline.h"

#include <stdio.h>
#include <string.h>

static void a_kernel_says_what_it_is(void **state) {
    (void)state;
    cdnagen *ctx = pipeline_context("", 0, CDNAGEN_SPILLS_ALLOW);
    cdnagen_kernel *kernel;
    cdnagen_kernel_info info = {.size = sizeof info};
    assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernel), CDNAGEN_OK);
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    assert_string_equal(info.op, "mqa_logits");
    assert_string_equal(info.tag, "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma");
    assert_string_equal(info.shape, pipeline_shape);
    assert_string_equal(info.target, "gfx950");
    assert_string_equal(info.symbol, "mqa_logits_mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma_heads64_dim128_clean1");
    assert_int_equal(strlen(info.key), 64);
    assert_non_null(strstr(info.key_text, "target gfx950\n"));
    assert_memory_equal(info.object,
                        "\x7f"
                        "ELF",
                        4);
    assert_int_equal(info.block[0], 64);
    assert_int_equal(info.grid[0], 128);
    assert_int_equal(info.vgpr, 64);
    assert_int_equal(info.agpr, 32);
    assert_int_equal(info.vgpr_allocated, 96);
    assert_int_equal(info.sgpr, 40);
    assert_true(info.lds_bytes >= 2 * 64 * 128);
    assert_int_equal(info.scratch_bytes, 0);
    assert_int_equal(info.code_bytes, 4);
    assert_true(info.waves_per_simd > 0);
    assert_non_null(info.occupancy_limit);
    assert_int_equal(info.cache_tier, CDNAGEN_TIER_NONE);
    assert_true(info.total_ms > 0);
    const char *ir, *isa, *again;
    assert_int_equal(cdnagen_get_kernel_text(kernel, CDNAGEN_TEXT_IR, &ir), CDNAGEN_OK);
    assert_non_null(strstr(ir, info.symbol));
    assert_int_equal(cdnagen_get_kernel_text(kernel, CDNAGEN_TEXT_ISA, &isa), CDNAGEN_OK);
    assert_non_null(strstr(isa, "s_endpgm"));
    assert_int_equal(cdnagen_get_kernel_text(kernel, CDNAGEN_TEXT_IR, &again), CDNAGEN_OK);
    assert_ptr_equal(ir, again);
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
}

static void a_kernel_outlives_its_context(void **state) {
    (void)state;
    const long live = mem_live();
    cdnagen *ctx = pipeline_context("", 0, CDNAGEN_SPILLS_ALLOW);
    cdnagen_kernel *kernels[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernels[i]), CDNAGEN_OK);
    const long in_use = mem_live();
    cdnagen_free_context(ctx);
    assert_int_equal(mem_live(), in_use - 1); /* what it remembered of the texts, no more */
    cdnagen_free_kernel(kernels[0]);
    cdnagen_kernel_info info = {.size = sizeof info};
    const char *words;
    assert_int_equal(cdnagen_get_kernel_info(kernels[1], &info), CDNAGEN_OK);
    assert_string_equal(info.op, "mqa_logits");
    assert_int_equal(cdnagen_get_kernel_text(kernels[1], CDNAGEN_TEXT_IR, &words), CDNAGEN_OK);
    cdnagen_free_kernel(kernels[1]);
    assert_int_equal(mem_live(), live);
}

static void sizes_of_info_and_null_arguments(void **state) {
    (void)state;
    cdnagen *ctx = pipeline_context("", 0, CDNAGEN_SPILLS_ALLOW);
    cdnagen_kernel *kernel = NULL;
    assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernel), CDNAGEN_OK);
    struct {
        cdnagen_kernel_info info;
        unsigned char tail[64];
    } larger;
    memset(&larger, 0xee, sizeof larger);
    larger.info.size = sizeof larger;
    assert_int_equal(cdnagen_get_kernel_info(kernel, &larger.info), CDNAGEN_OK);
    assert_int_equal(larger.info.size, sizeof larger);
    for (size_t i = 0; i < sizeof larger.tail; i++) assert_int_equal(larger.tail[i], 0);
    cdnagen_kernel_info smaller;
    memset(&smaller, 0xee, sizeof smaller);
    smaller.size = offsetof(cdnagen_kernel_info, shape);
    assert_int_equal(cdnagen_get_kernel_info(kernel, &smaller), CDNAGEN_OK);
    assert_string_equal(smaller.op, "mqa_logits");
    unsigned char untouched[sizeof(char *)];
    memset(untouched, 0xee, sizeof untouched);
    assert_memory_equal(&smaller.shape, untouched, sizeof untouched);
    static const size_t refused[] = {0, 17, (size_t)1 << 40, SIZE_MAX - 7};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        smaller.size = refused[i];
        assert_int_equal(cdnagen_get_kernel_info(kernel, &smaller), CDNAGEN_BAD_ARGUMENT);
    }
    assert_int_equal(cdnagen_get_kernel_info(NULL, &smaller), CDNAGEN_BAD_ARGUMENT);
    assert_int_equal(cdnagen_get_kernel_info(kernel, NULL), CDNAGEN_BAD_ARGUMENT);

    const char *words;
    assert_int_equal(cdnagen_get_kernel_text(NULL, CDNAGEN_TEXT_IR, &words), CDNAGEN_BAD_ARGUMENT);
    assert_int_equal(cdnagen_get_kernel_text(kernel, CDNAGEN_TEXT_IR, NULL), CDNAGEN_BAD_ARGUMENT);
    assert_int_equal(cdnagen_get_kernel_text(kernel, (cdnagen_text)2, &words), CDNAGEN_BAD_ARGUMENT);
    cdnagen_kernel *none = NULL;
    assert_int_equal(gen_kernel(ctx, NULL, pipeline_shape, &none), CDNAGEN_BAD_ARGUMENT);
    assert_int_equal(gen_kernel(ctx, pipeline_tag, NULL, &none), CDNAGEN_BAD_ARGUMENT);
    assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, NULL), CDNAGEN_BAD_ARGUMENT);
    assert_int_equal(cdnagen_gen_mqa_logits(ctx, pipeline_tag, NULL, &none), CDNAGEN_BAD_ARGUMENT);
    assert_null(none);
    cdnagen_free_kernel(NULL);
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
}

static void errors_of_tag_and_shape_come_through(void **state) {
    (void)state;
    static const struct row {
        const char *tag, *shape;
        cdnagen_status status;
    } rows[] = {
        {"nothing:auto", pipeline_shape, CDNAGEN_BAD_TAG},
        {"mqa_logits", pipeline_shape, CDNAGEN_BAD_TAG},
        {"mqa_logits:mfma32x32x64_bkv64_lds2_zap", pipeline_shape, CDNAGEN_BAD_TAG},
        {"mqa_logits:mfma32x32x64_bkv64_lds2", "heads=64", CDNAGEN_BAD_SHAPE},
        {"mqa_logits:mfma32x32x64_bkv64_lds2", "heads=64 dim=128 legs=4", CDNAGEN_BAD_SHAPE},
        {"mqa_logits:mfma32x32x64_bkv64_lds8", "heads=64 dim=512", CDNAGEN_LIMIT},
    };
    cdnagen *ctx = pipeline_context("", 0, CDNAGEN_SPILLS_ALLOW);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cdnagen_kernel *kernel = NULL;
        assert_int_equal(gen_kernel(ctx, rows[i].tag, rows[i].shape, &kernel), rows[i].status);
        assert_null(kernel);
        assert_int_not_equal(strlen(cdnagen_error()), 0);
    }
    assert_int_equal(fake.emitted, 0);
    cdnagen_free_context(ctx);
}

static void a_typed_shape_is_the_same_kernel(void **state) {
    (void)state;
    cdnagen *ctx = pipeline_context("", 0, CDNAGEN_SPILLS_ALLOW);
    const cdnagen_mqa_logits_shape shape = {
        .size = sizeof shape, .seq = 128, .seq_kv = 1024, .heads = 64, .dim = 128, .clean = 1};
    cdnagen_kernel *typed, *worded, *bare;
    assert_int_equal(cdnagen_gen_mqa_logits(ctx, pipeline_tag, &shape, &typed), CDNAGEN_OK);
    assert_int_equal(cdnagen_gen_mqa_logits(ctx, strchr(pipeline_tag, ':') + 1, &shape, &bare), CDNAGEN_OK);
    assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, &worded), CDNAGEN_OK);
    cdnagen_kernel_info a = {.size = sizeof a}, b = {.size = sizeof b};
    assert_int_equal(cdnagen_get_kernel_info(typed, &a), CDNAGEN_OK);
    assert_int_equal(cdnagen_get_kernel_info(worded, &b), CDNAGEN_OK);
    assert_string_equal(a.key, b.key);
    assert_string_equal(a.shape, b.shape);
    assert_int_equal(fake.linked, 1);
    cdnagen_free_kernel(typed);
    cdnagen_free_kernel(worded);
    cdnagen_free_kernel(bare);

    cdnagen_kernel *none = NULL;
    assert_int_equal(cdnagen_gen_mqa_logits(ctx, "gemm_blockscale:auto", &shape, &none), CDNAGEN_BAD_ARGUMENT);
    cdnagen_mqa_logits_shape wrong = shape;
    wrong.size = 8;
    assert_int_equal(cdnagen_gen_mqa_logits(ctx, pipeline_tag, &wrong, &none), CDNAGEN_BAD_ARGUMENT);
    wrong.size = sizeof wrong;
    wrong.heads = 0;
    assert_int_equal(cdnagen_gen_mqa_logits(ctx, pipeline_tag, &wrong, &none), CDNAGEN_BAD_SHAPE);
    assert_null(none);
    cdnagen_free_context(ctx);
}

static void run_time_words_share_one_object(void **state) {
    (void)state;
    cdnagen *ctx = pipeline_context("", 0, CDNAGEN_SPILLS_ALLOW);
    for (int seq = 1; seq <= 3000; seq++) {
        char words[96];
        snprintf(words, sizeof words, "seq=%d seq_kv=4096 heads=64 dim=128", seq);
        cdnagen_kernel *kernel;
        cdnagen_kernel_info info = {.size = sizeof info};
        assert_int_equal(gen_kernel(ctx, pipeline_tag, words, &kernel), CDNAGEN_OK);
        assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
        assert_int_equal(info.grid[0], seq);
        cdnagen_free_kernel(kernel);
    }
    assert_int_equal(fake.linked, 1);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, "seq=3000 seq_kv=4096 heads=64 dim=128"), CDNAGEN_TIER_MEMORY);
    cdnagen_free_context(ctx);
}

static void a_launch_without_a_device_says_so(void **state) {
    (void)state;
    cdnagen *ctx = pipeline_context("", 0, CDNAGEN_SPILLS_ALLOW);
    cdnagen_kernel *kernel;
    assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernel), CDNAGEN_OK);
    const cdnagen_buffer b = {(void *)0x1000, (size_t)1 << 20}, out = {(void *)0x1000000, (size_t)1 << 20};
    cdnagen_mqa_logits_args args = {.size = sizeof args,
                                    .q = b,
                                    .kv = b,
                                    .kv_scales = b,
                                    .weights = b,
                                    .cu_starts = b,
                                    .cu_ends = b,
                                    .logits = out,
                                    .seq = 1,
                                    .seq_kv = 64};
    assert_int_equal(cdnagen_launch_mqa_logits(kernel, &args, NULL), CDNAGEN_NO_DEVICE);
    assert_error_says("its device is \"none\"");
    args.seq_kv = 0;
    assert_int_equal(cdnagen_launch_mqa_logits(kernel, &args, NULL), CDNAGEN_OK);
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_kernel_says_what_it_is, pipeline_clean),
        cmocka_unit_test_setup(a_kernel_outlives_its_context, pipeline_clean),
        cmocka_unit_test_setup(sizes_of_info_and_null_arguments, pipeline_clean),
        cmocka_unit_test_setup(errors_of_tag_and_shape_come_through, pipeline_clean),
        cmocka_unit_test_setup(a_typed_shape_is_the_same_kernel, pipeline_clean),
        cmocka_unit_test_setup(run_time_words_share_one_object, pipeline_clean),
        cmocka_unit_test_setup(a_launch_without_a_device_says_so, pipeline_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
