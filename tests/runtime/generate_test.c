/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gen_kernel with the real compiler: what comes out, the same bytes each time, threads, a forked child, and the
 * times. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cdnagen.h"
#include "tests/runtime/scratch.h"

#include <cmocka.h>

static const char standard[] = "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma";

static int clean(void **state) {
    (void)state;
    static const char *const variables[] = {"CDNAGEN_TARGET", "CDNAGEN_DEVICE", "CDNAGEN_CACHE", "CDNAGEN_CACHE_ONLY"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    return 0;
}

static cdnagen *context(const char *cache_dir, int no_cache) {
    const cdnagen_options options = {
        .size = sizeof options, .target = "gfx950", .device = "none", .cache_dir = cache_dir, .no_cache = no_cache};
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    return ctx;
}

static cdnagen_kernel *gen(cdnagen *ctx, const char *tag, const char *shape) {
    cdnagen_kernel *kernel = NULL;
    if (gen_kernel(ctx, tag, shape, &kernel)) fail_msg("%s %s: %s", tag, shape, cdnagen_error());
    return kernel;
}

static cdnagen_kernel_info info_of(const cdnagen_kernel *kernel) {
    cdnagen_kernel_info info = {.size = sizeof info};
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    return info;
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void first_kernel_of_a_process(void **state) {
    (void)state;
    const double start = now_ms();
    cdnagen *ctx = context("", 1);
    cdnagen_kernel *kernel = gen(ctx, standard, "heads=64 dim=128");
    print_message("first kernel of the process: %.1f ms\n", now_ms() - start);
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
}

static void resources_and_texts_of_the_standard_variant(void **state) {
    (void)state;
    cdnagen *ctx = context("", 1);
    cdnagen_kernel *kernel = gen(ctx, standard, "heads=64 dim=128");
    const cdnagen_kernel_info i = info_of(kernel);
    assert_int_equal(i.scratch_bytes, 0);
    assert_int_equal(i.vgpr_spills + i.sgpr_spills, 0);
    assert_true(i.vgpr > 0 && i.vgpr <= 512 && i.agpr <= 256);
    assert_true(i.vgpr_allocated >= i.vgpr + i.agpr);
    assert_true(i.lds_bytes >= 2 * 64 * 128);
    assert_true(i.waves_per_simd >= 1);
    assert_true(i.emit_ms > 0 && i.verify_ms > 0 && i.passes_ms > 0 && i.codegen_ms > 0 && i.link_ms > 0);
    assert_true(i.total_ms >= i.emit_ms + i.verify_ms + i.passes_ms + i.codegen_ms + i.link_ms);
    const char *ir, *isa;
    assert_int_equal(cdnagen_get_kernel_text(kernel, CDNAGEN_TEXT_IR, &ir), CDNAGEN_OK);
    assert_non_null(strstr(ir, i.symbol));
    assert_int_equal(cdnagen_get_kernel_text(kernel, CDNAGEN_TEXT_ISA, &isa), CDNAGEN_OK);
    assert_non_null(strstr(isa, "v_mfma_f32_32x32x64_f8f6f4"));
    assert_non_null(strstr(isa, "s_endpgm"));
    print_message("emit %.2f verify %.2f passes %.2f codegen %.2f link %.2f total %.2f ms\n", i.emit_ms, i.verify_ms,
                  i.passes_ms, i.codegen_ms, i.link_ms, i.total_ms);
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
}

static int spill_warnings;
static void count_spill_warnings(void *user, cdnagen_log_level level, const char *line) {
    (void)user;
    spill_warnings += level == CDNAGEN_LOG_WARNING && strstr(line, "spills") != NULL;
}

static void waves_that_are_asked_and_cannot_be_had(void **state) {
    (void)state;
    static const struct row {
        const char *tag;
        uint32_t asked;
        int spills;
        const char *limit;
    } rows[] = {
        /* The request costs nothing where LDS allows fewer waves whatever registers do. */
        {"mqa_logits:mfma32x32x64_bkv64_lds4_pd1_swp_rs_hfma_wpe3", 3, 0, "lds"},
        {"mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma_wpe8", 8, 0, "vgpr"},
        /* Without LDS registers are what is given up. */
        {"mqa_logits:mfma32x32x64_bkv64_hfma_wpe8", 8, 1, "waves"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cdnagen_options options = {
            .size = sizeof options, .target = "gfx950", .device = "none", .no_cache = 1, .log = count_spill_warnings};
        cdnagen *ctx = NULL;
        assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
        spill_warnings = 0;
        cdnagen_kernel *kernel = gen(ctx, rows[i].tag, "heads=128 dim=128");
        const cdnagen_kernel_info k = info_of(kernel);
        print_message("%s: %u waves of %u asked, %s; %u spills, %u bytes of scratch\n", rows[i].tag, k.waves_per_simd,
                      k.waves_per_eu_asked, k.occupancy_limit, k.vgpr_spills, k.scratch_bytes);
        assert_int_equal(k.waves_per_eu_asked, rows[i].asked);
        assert_true(rows[i].spills ? k.waves_per_simd == rows[i].asked : k.waves_per_simd < rows[i].asked);
        assert_string_equal(k.occupancy_limit, rows[i].limit);
        assert_int_equal(k.vgpr_spills > 0 && k.scratch_bytes > 0, rows[i].spills);
        assert_int_equal(spill_warnings, rows[i].spills);
        cdnagen_free_kernel(kernel);
        cdnagen_free_context(ctx);
    }
}

static void features_of_the_target_reach_the_object(void **state) {
    (void)state;
    static const char *const targets[] = {"gfx950", "gfx950:xnack-", "gfx950:xnack+", "gfx950:sramecc+:xnack-",
                                          "gfx950:sramecc-"};
    enum { COUNT = sizeof targets / sizeof *targets };
    uint32_t flags[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        const cdnagen_options options = {.size = sizeof options, .target = targets[i], .device = "none", .no_cache = 1};
        cdnagen *ctx = NULL;
        assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
        cdnagen_kernel *kernel = gen(ctx, standard, "heads=64 dim=128");
        const cdnagen_kernel_info k = info_of(kernel);
        assert_string_equal(k.target, targets[i]);
        memcpy(&flags[i], (const char *)k.object + 48, sizeof flags[i]); /* e_flags */
        for (size_t j = 0; j < i; j++) assert_int_not_equal(flags[i], flags[j]);
        cdnagen_free_kernel(kernel);
        cdnagen_free_context(ctx);
    }
}

static void the_same_bytes_each_time(void **state) {
    (void)state;
    cdnagen *contexts[2] = {context("", 1), context("", 1)};
    cdnagen_kernel *kernels[2];
    cdnagen_kernel_info info[2];
    for (int i = 0; i < 2; i++) {
        kernels[i] = gen(contexts[i], standard, "heads=64 dim=128");
        info[i] = info_of(kernels[i]);
    }
    assert_ptr_not_equal(info[0].object, info[1].object);
    assert_int_equal(info[0].object_bytes, info[1].object_bytes);
    assert_memory_equal(info[0].object, info[1].object, info[0].object_bytes);
    for (int i = 0; i < 2; i++) {
        cdnagen_free_kernel(kernels[i]);
        cdnagen_free_context(contexts[i]);
    }
}

static void a_disk_hit_gives_the_same_bytes_and_both_texts(void **state) {
    (void)state;
    const char *dir = scratch_make();
    cdnagen *ctx = context(dir, 0), *fresh = context(dir, 0);
    cdnagen_kernel *made = gen(ctx, standard, "heads=64 dim=128");
    const double start = now_ms();
    cdnagen_kernel *found = gen(fresh, standard, "heads=64 dim=128");
    print_message("disk hit: %.3f ms\n", now_ms() - start);
    const cdnagen_kernel_info a = info_of(made), b = info_of(found);
    assert_int_equal(b.cache_tier, CDNAGEN_TIER_DISK);
    assert_true(b.codegen_ms == 0);
    assert_int_equal(a.object_bytes, b.object_bytes);
    assert_memory_equal(a.object, b.object, a.object_bytes);
    for (int which = CDNAGEN_TEXT_IR; which <= CDNAGEN_TEXT_ISA; which++) {
        const char *x, *y;
        assert_int_equal(cdnagen_get_kernel_text(made, (cdnagen_text)which, &x), CDNAGEN_OK);
        assert_int_equal(cdnagen_get_kernel_text(found, (cdnagen_text)which, &y), CDNAGEN_OK);
        assert_string_equal(x, y);
    }
    cdnagen_free_kernel(made);
    cdnagen_free_kernel(found);
    cdnagen_free_context(ctx);
    cdnagen_free_context(fresh);
    scratch_remove();
}

static void auto_gives_a_kernel_that_does_not_spill(void **state) {
    (void)state;
    static const char *const shapes[] = {"heads=64 dim=128", "heads=32 dim=64", "heads=128 dim=128"};
    cdnagen *ctx = context("", 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        cdnagen_kernel *kernel = gen(ctx, "mqa_logits:auto", shapes[i]);
        const cdnagen_kernel_info k = info_of(kernel);
        assert_int_equal(k.vgpr_spills + k.sgpr_spills + k.scratch_bytes, 0);
        assert_string_not_equal(k.tag, "auto");
        cdnagen_free_kernel(kernel);
    }
    cdnagen_free_context(ctx);
}

enum { KERNELS_A_THREAD = 8 };
static void what_is_supported_is_known_without_compiling(void **state) {
    (void)state;
    static const struct {
        const char *tag, *shape, *target, *part;
        cdnagen_status status;
    } rows[] = {
        {"mqa_logits:mfma32x32x64_bkv64_lds2", "heads=64 dim=128", "gfx950", NULL, CDNAGEN_OK},
        {"mqa_logits:auto", "heads=64 dim=128", "gfx950:xnack-", NULL, CDNAGEN_OK},
        {"mqa_logits:mfma32x32x64_bkv128_lds3", "heads=64 dim=512", "gfx950", "196608", CDNAGEN_LIMIT},
        {"mqa_logits:mfma32x32x64_bkv64_lds2", "heads=64 dim=128", "gfx942", "", CDNAGEN_LIMIT},
        {"mqa_logits:mfma32x32x64_bkv64_lds2", "heads=64 dim=128", "gfx90a", "gfx942, gfx950", CDNAGEN_BAD_TARGET},
        {"mqa_logits:bkv64", "heads=64 dim=128", "gfx950", "mfma", CDNAGEN_BAD_TAG},
        {"mqa_logits:auto", "heads=64", "gfx950", "dim", CDNAGEN_BAD_SHAPE},
        {NULL, "heads=64 dim=128", "gfx950", "NULL", CDNAGEN_BAD_ARGUMENT},
        {"mqa_logits:auto", "heads=64 dim=128", NULL, "NULL", CDNAGEN_BAD_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cdnagen_status status = cdnagen_supports(rows[i].tag, rows[i].shape, rows[i].target);
        if (status != rows[i].status)
            fail_msg("row %zu: %s, %s", i, cdnagen_status_name(status), status ? cdnagen_error() : "");
        if (status) assert_non_null(strstr(cdnagen_error(), rows[i].part));
    }
}

static void *generate_some(void *ctx) {
    for (int i = 0; i < KERNELS_A_THREAD; i++) {
        cdnagen_kernel *kernel = NULL;
        if (gen_kernel(ctx, standard, "heads=64 dim=128", &kernel)) return (void *)cdnagen_error();
        cdnagen_free_kernel(kernel);
    }
    return NULL;
}

static void threads_generate_side_by_side(void **state) {
    (void)state;
    enum { THREADS = 2 };
    cdnagen *ctx = context("", 1);
    double ms[THREADS];
    for (int count = 1; count <= THREADS; count++) {
        pthread_t threads[THREADS];
        const double start = now_ms();
        for (int i = 0; i < count; i++) assert_int_equal(pthread_create(&threads[i], NULL, generate_some, ctx), 0);
        for (int i = 0; i < count; i++) {
            void *error;
            pthread_join(threads[i], &error);
            assert_null(error);
        }
        ms[count - 1] = now_ms() - start;
    }
    print_message("one thread %.1f ms a kernel; two threads make %.2f times as many\n",
                  ms[0] / (double)KERNELS_A_THREAD, 2 * ms[0] / ms[1]);
    cdnagen_free_context(ctx);
}

/* A child makes locks anew that a thread of its parent holds; the thread sanitizer does not see that and reports
 * them. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LOCKS_ARE_WATCHED 1
#endif
#endif

#if !LOCKS_ARE_WATCHED
/* The parent has compiled, so that LLVM and lld are up; the child must not wait for threads that it does not have. */
static void a_forked_child_compiles(void **state) {
    (void)state;
    cdnagen *ctx = context("", 1);
    cdnagen_free_kernel(gen(ctx, standard, "heads=64 dim=128"));
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        cdnagen_kernel *kernel = NULL;
        _exit(gen_kernel(ctx, standard, "heads=32 dim=128", &kernel) == CDNAGEN_OK ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    cdnagen_free_context(ctx);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(first_kernel_of_a_process, clean),
        cmocka_unit_test_setup(resources_and_texts_of_the_standard_variant, clean),
        cmocka_unit_test_setup(waves_that_are_asked_and_cannot_be_had, clean),
        cmocka_unit_test_setup(features_of_the_target_reach_the_object, clean),
        cmocka_unit_test_setup(the_same_bytes_each_time, clean),
        cmocka_unit_test_setup(a_disk_hit_gives_the_same_bytes_and_both_texts, clean),
        cmocka_unit_test_setup(what_is_supported_is_known_without_compiling, clean),
        cmocka_unit_test_setup(auto_gives_a_kernel_that_does_not_spill, clean),
        cmocka_unit_test_setup(threads_generate_side_by_side, clean),
#if !LOCKS_ARE_WATCHED
        cmocka_unit_test_setup(a_forked_child_compiles, clean),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
