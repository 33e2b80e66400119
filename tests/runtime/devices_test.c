/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Several GPUs in one process, and every HIP call that can fail, against a fake libamdhip64 that refuses a module or a
 * function with another device current. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "runtime/context.h"
#include "runtime/hip.h"
#include "tests/runtime/fake_compile.h"
#include "tests/runtime/fake_arguments.h"
#include "tests/runtime/fake_hip.h"

#include <cmocka.h> /* after core/status.h: it has a macro fail() */

enum { DEVICES = FAKE_DEVICES_MAX };
static const char tag[] = "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma";
static const char shape_words[] = "heads=64 dim=128";

static fake_hip_state *hip;
static const hip_table *table;

static int clean(void **state) {
    (void)state;
    fake_reset();
    *hip = (fake_hip_state){.devices = DEVICES, .cus = 208, .runtime_version = 60342131};
    for (int i = 0; i < DEVICES; i++)
        snprintf(hip->arch[i], sizeof hip->arch[i], i % 2 ? "gfx942:sramecc+:xnack-" : "gfx950:sramecc+:xnack-");
    return hip_open(&table) || table->set_device(0);
}

static int nothing_was_wrong(void **state) {
    (void)state;
    if (hip->wrong) print_error("%s\n", hip->wrong_what);
    hip->fail_function = NULL;
    return hip->wrong;
}

static char lines[4096];
static void keep_lines(void *user, cdnagen_log_level level, const char *line) {
    (void)user;
    const size_t length = strlen(lines);
    snprintf(lines + length, sizeof lines - length, "%d %s\n", (int)level, line);
}

static cdnagen *context(int index) {
    char words[16];
    snprintf(words, sizeof words, "gpu:%d", index);
    const cdnagen_options options = {
        .size = sizeof options, .device = words, .cache_dir = "", .no_cache = 1, .log = keep_lines};
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    lines[0] = 0;
    return ctx;
}

static cdnagen_kernel *gen(cdnagen *ctx) {
    cdnagen_kernel *kernel = NULL;
    if (gen_kernel(ctx, tag, shape_words, &kernel)) fail_msg("%s", cdnagen_error());
    return kernel;
}

static int current(void) {
    int now = -1;
    assert_int_equal(table->get_device(&now), HIP_SUCCESS);
    return now;
}

/* ---- several devices ---- */

/* Each thread has another device current than the one it works on. */
static void *work_on_one(void *at) {
    enum { ROUNDS = 50 };
    const int own = (int)(intptr_t)at;
    const char *const words = own % 2 ? "mqa_logits:mfma32x32x16_bkv64" : tag;
    char name[16];
    snprintf(name, sizeof name, "gpu:%d", own);
    const cdnagen_options options = {.size = sizeof options, .device = name, .cache_dir = "", .no_cache = 1};
    cdnagen *ctx = NULL;
    cdnagen_status s = cdnagen_create_context(&options, &ctx);
    const int other = (own + 1) % DEVICES;
    if (!s && table->set_device(other)) s = CDNAGEN_HIP;
    for (int i = 0; i < ROUNDS && !s; i++) {
        cdnagen_kernel *kernel = NULL;
        void *memory = NULL;
        const cdnagen_mqa_logits_args args = fake_arguments();
        s = gen_kernel(ctx, words, shape_words, &kernel);
        if (!s) s = cdnagen_launch_mqa_logits(kernel, &args, NULL);
        if (!s) s = cdnagen_alloc(ctx, 64, &memory);
        if (!s) s = cdnagen_free_memory(ctx, memory);
        cdnagen_free_kernel(kernel);
        int now = -1;
        if (!s && (table->get_device(&now) || now != other)) s = CDNAGEN_NO_DEVICE;
    }
    if (s) print_error("gpu:%d: %s\n", own, cdnagen_error());
    cdnagen_free_context(ctx);
    return (void *)(intptr_t)s;
}

static void each_thread_has_a_device(void **state) {
    (void)state;
    pthread_t threads[DEVICES];
    const long live = mem_live();
    for (int i = 0; i < DEVICES; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work_on_one, (void *)(intptr_t)i), 0);
    for (int i = 0; i < DEVICES; i++) {
        void *status;
        pthread_join(threads[i], &status);
        assert_null(status);
    }
    assert_int_equal(hip->launches, 50 * DEVICES);
    assert_int_equal(hip->loads, 50 * DEVICES);
    assert_int_equal(hip->unloads, hip->loads);
    assert_int_equal(mem_live(), live);
}

/* What a capture kept loaded on one device is unloaded by a call for another, with the first one current. */
static void modules_are_unloaded_on_their_own_device(void **state) {
    (void)state;
    cdnagen *first = context(0), *third = context(2);
    cdnagen_kernel *stays = gen(first), *goes = gen(third);
    hip->capturing = HIP_ERROR_STREAM_CAPTURE_IMPLICIT;
    const cdnagen_mqa_logits_args args = fake_arguments();
    const hip_stream stream = (hip_stream)(uintptr_t)0x51;
    assert_int_equal(cdnagen_launch_mqa_logits(stays, &args, stream), CDNAGEN_OK);
    cdnagen_free_kernel(goes);
    cdnagen_free_context(third);
    assert_int_equal(hip->unloads, 0);
    hip->capturing = 0;
    assert_int_equal(table->set_device(1), HIP_SUCCESS);
    assert_int_equal(cdnagen_launch_mqa_logits(stays, &args, stream), CDNAGEN_OK);
    assert_int_equal(hip->unloads, 1);
    assert_int_equal(current(), 1);
    cdnagen_free_kernel(stays);
    cdnagen_free_context(first);
    assert_int_equal(hip->unloads, 2);
    assert_int_equal(current(), 1);
}

/* ---- failures ---- */

/* What of HIP is called when: each answers 709, and the sentence says so. */
static cdnagen_status generate(cdnagen *ctx) {
    cdnagen_kernel *kernel = NULL;
    const cdnagen_status s = gen_kernel(ctx, tag, shape_words, &kernel);
    cdnagen_free_kernel(kernel);
    return s;
}
static cdnagen_status allocate(cdnagen *ctx) {
    void *memory = NULL;
    const cdnagen_status s = cdnagen_alloc(ctx, 64, &memory);
    cdnagen_free_memory(ctx, memory);
    return s;
}
static char on_device[64];
static cdnagen_status release(cdnagen *ctx) { return cdnagen_free_memory(ctx, on_device); }
static cdnagen_status copy_there(cdnagen *ctx) {
    char host[64] = "";
    return cdnagen_copy_to_device(ctx, on_device, host, sizeof host);
}
static cdnagen_status copy_back(cdnagen *ctx) {
    char host[64];
    return cdnagen_copy_to_host(ctx, host, on_device, sizeof host);
}
static cdnagen_status wait(cdnagen *ctx) { return cdnagen_synchronize(ctx, NULL); }
static cdnagen_status clear(cdnagen *ctx) { return device_clear(&ctx->device, on_device, sizeof on_device, NULL); }

static void every_failure_has_hips_number_and_name(void **state) {
    (void)state;
    static const struct row {
        const char *function;
        cdnagen_status (*call)(cdnagen *ctx);
    } rows[] = {
        {"hipSetDevice", generate},
        {"hipGetDevice", generate},
        {"hipModuleLoadData", generate},
        {"hipModuleGetFunction", generate},
        {"hipMalloc", allocate},
        {"hipSetDevice", allocate},
        {"hipFree", release},
        {"hipMemcpy", copy_there},
        {"hipMemcpy", copy_back},
        {"hipStreamSynchronize", wait},
        {"hipMemsetAsync", clear},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cdnagen *ctx = context(2); /* not the current one: it must be set */
        const char *name;
        assert_int_equal(cdnagen_device_name(ctx, &name), CDNAGEN_OK);
        hip->fail_function = rows[i].function;
        hip->fail_error = 709;
        const cdnagen_status s = rows[i].call(ctx);
        hip->fail_function = NULL;
        char words[64];
        snprintf(words, sizeof words, "%s answers 709, hipErrorFake: a fake error", rows[i].function);
        if (s != CDNAGEN_HIP || !strstr(cdnagen_error(), words))
            fail_msg("%s: status %d, \"%s\"", rows[i].function, s, cdnagen_error());
        assert_int_equal(current(), 0);
        cdnagen_free_context(ctx);
        assert_int_equal(hip->loads, hip->unloads);
    }
}

static void the_device_asked_for_its_facts_may_fail(void **state) {
    (void)state;
    static const struct row {
        const char *function;
        cdnagen_status status;
    } rows[] = {{"hipGetDeviceCount", CDNAGEN_HIP},
                {"hipDeviceGetName", CDNAGEN_OK},      /* "GPU" does */
                {"hipDeviceGetAttribute", CDNAGEN_OK}, /* the chip table knows */
                {"hipRuntimeGetVersion", CDNAGEN_OK}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cdnagen *ctx = context(0);
        const char *name = NULL;
        hip->fail_function = rows[i].function;
        hip->fail_error = 709;
        assert_int_equal(cdnagen_device_name(ctx, &name), rows[i].status);
        hip->fail_function = NULL;
        if (rows[i].status)
            assert_non_null(strstr(cdnagen_error(), "hipGetDeviceCount answers 709, hipErrorFake"));
        else
            assert_non_null(strstr(name, "(gfx950)"));
        cdnagen_free_context(ctx);
    }
}

/* A module that cannot be unloaded is told of while the context has a log, and never afterwards. */
static void a_failed_unload_is_in_the_log(void **state) {
    (void)state;
    for (int given_up = 0; given_up < 2; given_up++) {
        cdnagen *ctx = context(0);
        cdnagen_kernel *kernel = gen(ctx);
        if (given_up) cdnagen_free_context(ctx);
        lines[0] = 0;
        hip->fail_function = "hipModuleUnload";
        hip->fail_error = 709;
        cdnagen_free_kernel(kernel);
        hip->fail_function = NULL;
        if (given_up)
            assert_string_equal(lines, "");
        else
            assert_non_null(strstr(lines, "1 hipModuleUnload of key "));
        if (!given_up) assert_non_null(strstr(lines, " answers 709, hipErrorFake\n"));
        if (!given_up) cdnagen_free_context(ctx);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: %s libamdhip64.so.6\n", argv[0]), 2;
    static const char *const variables[] = {"CDNAGEN_TARGET", "CDNAGEN_DEVICE", "CDNAGEN_CACHE", "CDNAGEN_CACHE_ONLY"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    setenv("CDNAGEN_HIP_LIBRARY", argv[1], 1);
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    hip = library ? dlsym(library, "fake_hip") : NULL;
    if (!hip) return fprintf(stderr, "no fake libamdhip64 in %s\n", argv[1]), 2;
#define TEST(name) cmocka_unit_test_setup_teardown(name, clean, nothing_was_wrong)
    const struct CMUnitTest tests[] = {
        TEST(each_thread_has_a_device),
        TEST(modules_are_unloaded_on_their_own_device),
        TEST(every_failure_has_hips_number_and_name),
        TEST(the_device_asked_for_its_facts_may_fail),
        TEST(a_failed_unload_is_in_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
