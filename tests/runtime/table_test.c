/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Thousands of kernels through a context that keeps a few: modules, memory and live handles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "runtime/context.h"
#include "tests/runtime/fake_compile.h"
#include "tests/runtime/fake_sim.h"

#include <cmocka.h> /* after core/status.h: it has a macro fail() */

enum { KERNELS = 5000, KEPT = 64, HELD = 10, MEMORY_BYTES = 256 << 10, WARM = 1000 };

static cdnagen *context(int kept) {
    const cdnagen_options options = {.size = sizeof options,
                                     .device = "sim",
                                     .target = "gfx950",
                                     .cache_dir = "",
                                     .kernels_kept = kept,
                                     .memory_bytes = MEMORY_BYTES};
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    return ctx;
}

static cdnagen_kernel *gen(cdnagen *ctx, int i) {
    char shape[64];
    snprintf(shape, sizeof shape, "heads=%d dim=%d clean=%d", 1 + i % 125, 32 + 16 * (i / 125 % 20), i / 2500);
    cdnagen_kernel *kernel = NULL;
    if (gen_kernel(ctx, "mqa_logits:auto", shape, &kernel)) fail_msg("%s: %s", shape, cdnagen_error());
    return kernel;
}

/* The address sanitizer keeps freed memory for a while: under it only the allocations are counted. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOLDS_WHAT_IS_FREED 1
#endif
#endif
#ifndef HOLDS_WHAT_IS_FREED
#define HOLDS_WHAT_IS_FREED 0
#endif

static long resident_pages(void) {
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &pages, &resident), 2);
    fclose(f);
    return resident;
}

static const char *key_of(const cdnagen_kernel *kernel) {
    cdnagen_kernel_info info = {.size = sizeof info};
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    return info.key;
}

static void thousands_of_kernels_through_a_small_table(void **state) {
    (void)state;
    fake_reset();
    fake_sim = (fake_sim_state){0};
    const long before = mem_live();
    cdnagen *ctx = context(KEPT);
    cdnagen_kernel *held[HELD];
    char held_keys[HELD][65];
    for (int i = 0; i < HELD; i++) {
        held[i] = gen(ctx, i);
        snprintf(held_keys[i], sizeof held_keys[i], "%s", key_of(held[i]));
    }
    long live = 0, resident = 0;
    for (int i = HELD; i < KERNELS; i++) {
        cdnagen_free_kernel(gen(ctx, i));
        const int modules = fake_sim.loads - fake_sim.unloads;
        if (modules > KEPT + HELD) fail_msg("%d modules are loaded after %d kernels", modules, i);
        if (i == WARM) live = mem_live(), resident = resident_pages();
    }
    assert_int_equal(fake_sim.loads, KERNELS);
    assert_int_equal(fake.linked, KERNELS);
    const long grown_kib = (resident_pages() - resident) * sysconf(_SC_PAGESIZE) / 1024;
    print_message("%d kernels: %ld allocations at %d, %ld at the end; %ld KiB more\n", KERNELS, live, WARM, mem_live(),
                  grown_kib);
    assert_in_range(mem_live(), 1, live + live / 10);
    if (!HOLDS_WHAT_IS_FREED) assert_true(grown_kib < 2048);

    /* What is held is still what it was, and still loaded; what was let go is made again. */
    const int loads = fake_sim.loads;
    for (int i = 0; i < HELD; i++) {
        assert_string_equal(key_of(held[i]), held_keys[i]);
        cdnagen_free_kernel(gen(ctx, i));
    }
    assert_int_equal(fake_sim.loads, loads);
    cdnagen_free_kernel(gen(ctx, HELD));
    assert_int_equal(fake_sim.loads, loads + 1);
    for (int i = 0; i < HELD; i++) cdnagen_free_kernel(held[i]);
    cdnagen_free_context(ctx);
    assert_int_equal(fake_sim.loads, fake_sim.unloads);
    assert_int_equal(mem_live(), before);
}

/* What was prepared is neither made nor loaded again, also by a text of another length, until its context goes. */
static void what_is_prepared_stays_loaded(void **state) {
    (void)state;
    enum { PREPARED = 20, PUSHED = 4 * KEPT };
    static const char tag[] = "mqa_logits:mfma16x16x128_bkv16_hfma";
    fake_reset();
    fake_sim = (fake_sim_state){0};
    const long before = mem_live();
    cdnagen *ctx = context(1);
    char shape[64];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < PREPARED; i++) {
            snprintf(shape, sizeof shape, "heads=%d dim=512%s", 1 + i, round == 1 ? " seq=7 seq_kv=1000" : "");
            assert_int_equal(cdnagen_prepare(ctx, tag, shape), CDNAGEN_OK);
        }
        assert_in_range(fake_sim.loads - fake_sim.unloads, PREPARED, PREPARED + RECALL_WAYS);
        for (int i = 0; i < PUSHED; i++) cdnagen_free_kernel(gen(ctx, i));
        const int loads = fake_sim.loads, linked = fake.linked;
        for (int i = 0; i < PREPARED; i++) {
            snprintf(shape, sizeof shape, "heads=%d dim=512", 1 + i);
            cdnagen_kernel *kernel = NULL;
            assert_int_equal(gen_kernel(ctx, tag, shape, &kernel), CDNAGEN_OK);
            cdnagen_free_kernel(kernel);
        }
        assert_int_equal(fake_sim.loads, loads);
        assert_int_equal(fake.linked, linked);
    }
    assert_int_equal(cdnagen_prepare(ctx, NULL, "heads=1"), CDNAGEN_BAD_ARGUMENT);
    assert_non_null(strstr(cdnagen_error(), "tag is NULL"));
    assert_int_equal(cdnagen_prepare(ctx, tag, NULL), CDNAGEN_BAD_ARGUMENT);
    assert_non_null(strstr(cdnagen_error(), "shape is NULL"));
    assert_int_equal(cdnagen_prepare(ctx, tag, "heads=1000"), CDNAGEN_BAD_SHAPE);
    cdnagen_free_context(ctx);
    assert_int_equal(fake_sim.loads, fake_sim.unloads);
    assert_int_equal(mem_live(), before);
}

/* Without a cache it is made again, as the caller wishes, and without a device there is nothing to load. */
static void what_is_prepared_without_a_cache_is_loaded_once(void **state) {
    (void)state;
    for (int bare = 0; bare < 2; bare++) {
        fake_reset();
        fake_sim = (fake_sim_state){0};
        const cdnagen_options options = {.size = sizeof options,
                                         .device = bare ? "sim" : "none",
                                         .target = "gfx950",
                                         .cache_dir = "",
                                         .no_cache = bare};
        cdnagen *ctx = NULL;
        assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
        assert_int_equal(cdnagen_prepare(ctx, "mqa_logits:auto", "heads=1 dim=32 clean=0"), CDNAGEN_OK);
        cdnagen_free_kernel(gen(ctx, 0));
        assert_int_equal(fake.linked, 1 + bare);
        assert_int_equal(fake_sim.loads, bare);
        assert_int_equal(fake_sim.unloads, 0);
        cdnagen_free_context(ctx);
        assert_int_equal(fake_sim.unloads, bare);
    }
}

/* A route that auto passes over is never loaded: in a capture that would be refused. */
static void a_route_that_spills_is_not_loaded(void **state) {
    (void)state;
    fake_reset();
    fake_sim = (fake_sim_state){0};
    cdnagen *ctx = context(1);
    cdnagen_kernel *kernel = gen(ctx, 0);
    cdnagen_kernel_info info = {.size = sizeof info};
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    fake.spill_tag = strdup(info.tag);
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
    fake_sim = (fake_sim_state){0};
    ctx = context(1);
    kernel = gen(ctx, 0);
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    assert_string_not_equal(info.tag, fake.spill_tag);
    assert_int_equal(fake_sim.loads, 1);
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
    free((char *)fake.spill_tag);
    fake_reset();
}

static void limits_of_the_table_are_checked(void **state) {
    (void)state;
    static const int bad[] = {-1, (1 << 20) + 1};
    for (size_t i = 0; i < 2; i++) {
        const cdnagen_options options = {.size = sizeof options, .device = "sim", .kernels_kept = bad[i]};
        cdnagen *ctx = NULL;
        assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_BAD_ARGUMENT);
        assert_non_null(strstr(cdnagen_error(), "kernels_kept"));
    }
    cdnagen *ctx = context(1);
    cdnagen_kernel *one = gen(ctx, 0);
    cdnagen_free_kernel(one);
    cdnagen_free_context(ctx);
}

int main(void) {
    static const char *const variables[] = {"CDNAGEN_TARGET", "CDNAGEN_SIM", "CDNAGEN_CACHE", "CDNAGEN_CACHE_ONLY"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thousands_of_kernels_through_a_small_table),
        cmocka_unit_test(what_is_prepared_stays_loaded),
        cmocka_unit_test(what_is_prepared_without_a_cache_is_loaded_once),
        cmocka_unit_test(a_route_that_spills_is_not_loaded),
        cmocka_unit_test(limits_of_the_table_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
