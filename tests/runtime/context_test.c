/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Contexts: options over environment over defaults, sizes of public structs, the default context, device memory. */
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/context.h"
#include "tests/runtime/fake_compile.h"
#include "tests/runtime/fake_sim.h"

#include <cmocka.h> /* after core/status.h: it has a macro fail() */

static const char *const variables[] = {
    "CDNAGEN_TARGET",     "CDNAGEN_DEVICE",      "CDNAGEN_SIM",         "CDNAGEN_CACHE",       "CDNAGEN_CACHE_DIR",
    "CDNAGEN_CACHE_ONLY", "CDNAGEN_CACHE_TRUST", "CDNAGEN_CACHE_BYTES", "CDNAGEN_HIP_LIBRARY", "ROCM_PATH"};

static int clean(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    setenv("HOME", "/nonexistent", 1);
    unsetenv("XDG_CACHE_HOME");
    setenv("CDNAGEN_HIP_LIBRARY", "/nonexistent/libamdhip64.so", 1);
    fake_reset();
    fake_sim = (fake_sim_state){0};
    return 0;
}

static void assert_error_says(const char *words) {
    if (!strstr(cdnagen_error(), words)) fail_msg("\"%s\" does not say \"%s\"", cdnagen_error(), words);
}

static void every_combination_of_option_and_environment(void **state) {
    (void)state;
    static const struct row {
        const char *target_option, *device_option, *sim_option, *variable, *value;
        cdnagen_status status;
        const char *says;         /* in the error */
        device_choice device;     /* of the context */
        const char *target, *sim; /* NULL target: not given */
    } rows[] = {
        {NULL, NULL, NULL, NULL, NULL, CDNAGEN_OK, NULL, DEVICE_GPU, NULL, ""},
        {NULL, "sim", "late", NULL, NULL, CDNAGEN_OK, NULL, DEVICE_SIM, NULL, "late"},
        {NULL, NULL, NULL, "CDNAGEN_DEVICE", "sim", CDNAGEN_OK, NULL, DEVICE_SIM, NULL, ""},
        {NULL, "auto", NULL, "CDNAGEN_DEVICE", "sim", CDNAGEN_OK, NULL, DEVICE_AUTO, NULL, ""},
        {NULL, NULL, NULL, "CDNAGEN_DEVICE", "", CDNAGEN_OK, NULL, DEVICE_GPU, NULL, ""},
        {NULL, NULL, NULL, "CDNAGEN_TARGET", "gfx950", CDNAGEN_OK, NULL, DEVICE_GPU, "gfx950", ""},
        {"gfx942:xnack-:sramecc+", NULL, NULL, "CDNAGEN_TARGET", "gfx950", CDNAGEN_OK, NULL, DEVICE_GPU,
         "gfx942:sramecc+:xnack-", ""},
        {NULL, NULL, NULL, "CDNAGEN_SIM", "late poison", CDNAGEN_OK, NULL, DEVICE_GPU, NULL, "late poison"},
        {NULL, NULL, "", "CDNAGEN_SIM", "late poison", CDNAGEN_OK, NULL, DEVICE_GPU, NULL, ""},
        {"gfx950", "none", NULL, NULL, NULL, CDNAGEN_OK, NULL, DEVICE_NONE, "gfx950", ""},
        {NULL, "none", NULL, NULL, NULL, CDNAGEN_BAD_TARGET, "CDNAGEN_TARGET", 0, NULL, NULL},
        {"gfx1100", NULL, NULL, NULL, NULL, CDNAGEN_BAD_TARGET, "gfx942", 0, NULL, NULL},
        {NULL, NULL, NULL, "CDNAGEN_TARGET", "gfx9", CDNAGEN_BAD_TARGET, "gfx950", 0, NULL, NULL},
        {NULL, "cuda", NULL, NULL, NULL, CDNAGEN_BAD_ARGUMENT, "gpu, gpu:N, sim, auto, none", 0, NULL, NULL},
        {NULL, "gpu:", NULL, NULL, NULL, CDNAGEN_BAD_ARGUMENT, "gpu:N", 0, NULL, NULL},
        {NULL, "gpu:1x", NULL, NULL, NULL, CDNAGEN_BAD_ARGUMENT, "gpu:N", 0, NULL, NULL},
        {NULL, "gpu:-1", NULL, NULL, NULL, CDNAGEN_BAD_ARGUMENT, "gpu:N", 0, NULL, NULL},
        {NULL, "gpu:99999999999", NULL, NULL, NULL, CDNAGEN_BAD_ARGUMENT, "gpu:N", 0, NULL, NULL},
        {NULL, NULL, NULL, "CDNAGEN_CACHE", "maybe", CDNAGEN_BAD_ARGUMENT, "CDNAGEN_CACHE=maybe", 0, NULL, NULL},
        {NULL, NULL, NULL, "CDNAGEN_CACHE_ONLY", "yes", CDNAGEN_BAD_ARGUMENT, "CDNAGEN_CACHE_ONLY=yes", 0, NULL, NULL},
        {NULL, NULL, NULL, "CDNAGEN_CACHE_TRUST", "some", CDNAGEN_BAD_ARGUMENT, "CDNAGEN_CACHE_TRUST=some", 0, NULL,
         NULL},
        {NULL, NULL, NULL, "CDNAGEN_CACHE_BYTES", "4g", CDNAGEN_BAD_ARGUMENT, "CDNAGEN_CACHE_BYTES=4g", 0, NULL, NULL},
        {NULL, NULL, NULL, "CDNAGEN_CACHE_BYTES", "-1", CDNAGEN_BAD_ARGUMENT, "CDNAGEN_CACHE_BYTES=-1", 0, NULL, NULL},
        {NULL, NULL, NULL, "CDNAGEN_CACHE_BYTES", "4GB", CDNAGEN_BAD_ARGUMENT, "of K, M, G or T", 0, NULL, NULL},
        {NULL, NULL, NULL, "CDNAGEN_CACHE_BYTES", "16777216T", CDNAGEN_BAD_ARGUMENT, "16777216T", 0, NULL, NULL},
        {"gfx950", "none", NULL, "CDNAGEN_CACHE_BYTES", "4G", CDNAGEN_OK, NULL, DEVICE_NONE, "gfx950", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        clean(NULL);
        if (r->variable) setenv(r->variable, r->value, 1);
        const cdnagen_options options = {
            .size = sizeof options, .target = r->target_option, .device = r->device_option, .sim_mode = r->sim_option};
        cdnagen *ctx = NULL;
        assert_int_equal(cdnagen_create_context(&options, &ctx), r->status);
        if (r->status) {
            assert_null(ctx);
            assert_error_says(r->says);
            continue;
        }
        assert_int_equal(ctx->device_choice, r->device);
        assert_int_equal(ctx->target_given, r->target != NULL);
        if (r->target) assert_string_equal(ctx->target.text, r->target);
        assert_string_equal(ctx->sim_mode, r->sim);
        cdnagen_free_context(ctx);
    }
}

static void an_option_outlives_its_string(void **state) {
    (void)state;
    char mode[] = "late", chip_name[] = "gfx950";
    cdnagen *ctx;
    const cdnagen_options options = {.size = sizeof options, .target = chip_name, .device = "sim", .sim_mode = mode};
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    memset(mode, 'x', 4);
    memset(chip_name, 'x', 6);
    const char *name;
    assert_int_equal(cdnagen_device_name(ctx, &name), CDNAGEN_OK);
    assert_string_equal(name, "simulator (gfx950)");
    assert_string_equal(fake_sim.mode, "late");
    cdnagen_free_context(ctx);
}

static void sizes_of_options(void **state) {
    (void)state;
    struct {
        cdnagen_options options;
        unsigned char tail[64];
    } larger = {.options = {.size = sizeof larger, .target = "gfx950", .device = "none"}};
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(&larger.options, &ctx), CDNAGEN_OK);
    cdnagen_free_context(ctx);
    larger.tail[63] = 1;
    assert_int_equal(cdnagen_create_context(&larger.options, &ctx), CDNAGEN_BAD_ARGUMENT);
    assert_error_says("does not know");

    /* A caller that knows size and target only: what lies behind is not read. */
    cdnagen_options smaller = {.target = "gfx942", .device = "cuda"};
    smaller.size = offsetof(cdnagen_options, device);
    setenv("CDNAGEN_DEVICE", "none", 1);
    assert_int_equal(cdnagen_create_context(&smaller, &ctx), CDNAGEN_OK);
    assert_string_equal(ctx->target.text, "gfx942");
    assert_int_equal(ctx->device_choice, DEVICE_NONE);
    cdnagen_free_context(ctx);

    static const size_t refused[] = {
        0, 1, 8, 17, sizeof(cdnagen_options) - 1, sizeof(cdnagen_options) + 1, (size_t)1 << 40, SIZE_MAX - 7};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        cdnagen_options options = {.target = "gfx950", .device = "none"};
        options.size = refused[i];
        assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_BAD_ARGUMENT);
        assert_error_says("sizeof(cdnagen_options)");
    }
    assert_int_equal(cdnagen_create_context(NULL, NULL), CDNAGEN_BAD_ARGUMENT);
}

static void *ask_default(void *out) {
    cdnagen *ctx = NULL;
    if (context_of(&ctx) == CDNAGEN_OK) *(cdnagen **)out = ctx;
    return NULL;
}

static void default_context_is_made_once_by_many_threads(void **state) {
    (void)state;
    enum { THREADS = 8 };
    /* A failure is not remembered: the environment can be put right. */
    setenv("CDNAGEN_DEVICE", "nowhere", 1);
    cdnagen_kernel *kernel;
    assert_int_equal(gen_kernel(NULL, "mqa_logits:auto", "heads=64 dim=128", &kernel), CDNAGEN_BAD_ARGUMENT);
    setenv("CDNAGEN_DEVICE", "sim", 1);
    pthread_t threads[THREADS];
    cdnagen *seen[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, ask_default, &seen[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_non_null(seen[0]);
    for (int i = 1; i < THREADS; i++) assert_ptr_equal(seen[i], seen[0]);
    const char *name;
    assert_int_equal(cdnagen_device_name(NULL, &name), CDNAGEN_OK);
    assert_string_equal(name, "simulator (gfx950)");
}

static void a_shutdown_frees_the_default_context_and_the_next_call_makes_one(void **state) {
    (void)state;
    cdnagen_shutdown();
    cdnagen_shutdown(); /* of nothing */
    setenv("CDNAGEN_DEVICE", "sim", 1);
    const long before = mem_live();
    for (int turn = 1; turn <= 2; turn++) {
        const char *name;
        assert_int_equal(cdnagen_device_name(NULL, &name), CDNAGEN_OK);
        assert_int_equal(fake_sim.opened, turn);
        assert_true(mem_live() > before);
        cdnagen_shutdown();
        assert_int_equal(mem_live(), before);
    }
}

static void *ask_name(void *ctx) {
    const char *name = NULL;
    return cdnagen_device_name(ctx, &name) == CDNAGEN_OK ? (void *)(uintptr_t)name : NULL;
}

static void device_is_opened_once_by_many_threads_and_not_before_it_is_needed(void **state) {
    (void)state;
    enum { THREADS = 8 };
    cdnagen *ctx;
    const cdnagen_options options = {.size = sizeof options, .device = "sim", .target = "gfx942"};
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    assert_int_equal(fake_sim.opened, 0);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, ask_name, ctx), 0);
    for (int i = 0; i < THREADS; i++) {
        void *name;
        pthread_join(threads[i], &name);
        assert_string_equal(name, "simulator (gfx942)");
    }
    assert_int_equal(fake_sim.opened, 1);
    cdnagen_free_context(ctx);
}

static char last_line[1024];
static void keep_line(void *user, cdnagen_log_level level, const char *line) {
    (void)user;
    (void)level;
    snprintf(last_line, sizeof last_line, "%s", line);
}

static void auto_takes_the_simulator_and_says_why(void **state) {
    (void)state;
    cdnagen *ctx;
    const cdnagen_options options = {.size = sizeof options, .device = "auto", .cache_dir = "", .log = keep_line};
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    const char *name;
    assert_int_equal(cdnagen_device_name(ctx, &name), CDNAGEN_OK);
    assert_string_equal(name, "simulator (gfx950)");
    assert_non_null(strstr(last_line, "simulator (gfx950)"));
    assert_non_null(strstr(last_line, "/nonexistent/libamdhip64.so"));
    cdnagen_free_context(ctx);
}

static void bad_simulator_words_are_refused(void **state) {
    (void)state;
    cdnagen *ctx;
    const cdnagen_options options = {.size = sizeof options, .device = "sim", .sim_mode = "nonsense"};
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    const char *name;
    assert_int_equal(cdnagen_device_name(ctx, &name), CDNAGEN_BAD_ARGUMENT);
    cdnagen_free_context(ctx);
}

static void device_memory_and_a_kernel_fault(void **state) {
    (void)state;
    cdnagen *ctx;
    const cdnagen_options options = {.size = sizeof options, .device = "sim"};
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    void *memory = NULL;
    assert_int_equal(cdnagen_alloc(ctx, 0, &memory), CDNAGEN_BAD_ARGUMENT);
    assert_int_equal(cdnagen_alloc(ctx, 64, NULL), CDNAGEN_BAD_ARGUMENT);
    assert_int_equal(cdnagen_alloc(ctx, 64, &memory), CDNAGEN_OK);
    const char sent[64] = "there and back";
    char back[64] = "";
    assert_int_equal(cdnagen_copy_to_device(ctx, memory, sent, sizeof sent), CDNAGEN_OK);
    assert_int_equal(cdnagen_copy_to_host(ctx, back, memory, sizeof back), CDNAGEN_OK);
    assert_memory_equal(sent, back, sizeof sent);
    assert_int_equal(cdnagen_copy_to_device(ctx, NULL, sent, 1), CDNAGEN_BAD_ARGUMENT);
    assert_int_equal(cdnagen_copy_to_host(ctx, NULL, memory, 1), CDNAGEN_BAD_ARGUMENT);
    assert_int_equal(cdnagen_copy_to_host(ctx, NULL, memory, 0), CDNAGEN_OK);
    assert_int_equal(cdnagen_synchronize(ctx, NULL), CDNAGEN_OK);

    fake_sim.fault_error = HIP_ERROR_ILLEGAL_ADDRESS;
    assert_int_equal(cdnagen_synchronize(ctx, NULL), CDNAGEN_HIP);
    assert_error_says("hipStreamSynchronize answers 700");
    fake_sim.fault = "global_load_dwordx4 at 0x140 reads 16 bytes past the end of buffer 3";
    assert_int_equal(cdnagen_synchronize(ctx, NULL), CDNAGEN_FAULT);
    assert_error_says("at 0x140");
    assert_int_equal(cdnagen_free_memory(ctx, memory), CDNAGEN_OK);
    assert_int_equal(cdnagen_free_memory(ctx, NULL), CDNAGEN_OK);
    cdnagen_free_context(ctx);
}

static void without_a_device_memory_calls_say_so(void **state) {
    (void)state;
    cdnagen *ctx;
    const cdnagen_options options = {.size = sizeof options, .device = "none", .target = "gfx950"};
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    void *memory;
    assert_int_equal(cdnagen_alloc(ctx, 64, &memory), CDNAGEN_NO_DEVICE);
    assert_int_equal(cdnagen_synchronize(ctx, NULL), CDNAGEN_NO_DEVICE);
    const char *name;
    assert_int_equal(cdnagen_device_name(ctx, &name), CDNAGEN_OK);
    assert_string_equal(name, "none");
    assert_int_equal(cdnagen_device_name(ctx, NULL), CDNAGEN_BAD_ARGUMENT);
    cdnagen_free_context(ctx);
    cdnagen_free_context(NULL);
}

static atomic_int fork_may_begin;

static void *hold_for_a_while(void *mutex) {
    pthread_mutex_lock(mutex);
    fork_may_begin = 1;
    usleep(20000);
    pthread_mutex_unlock(mutex);
    return NULL;
}

/* Each lock of a context, held by another thread when the process forks, is free in the child. */
static void a_forked_child_finds_no_lock_held(void **state) {
    (void)state;
    cdnagen *ctx;
    const cdnagen_options options = {.size = sizeof options, .device = "sim"};
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    pthread_mutex_t *const locks[] = {&ctx->lock, &ctx->recall.lock};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        pthread_t other;
        fork_may_begin = 0;
        assert_int_equal(pthread_create(&other, NULL, hold_for_a_while, locks[i]), 0);
        while (!fork_may_begin) usleep(100);
        const pid_t child = fork();
        if (!child) _exit(pthread_mutex_trylock(locks[i]));
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        pthread_join(other, NULL);
    }
    cdnagen_free_context(ctx);
}

static void creation_survives_every_failed_allocation(void **state) {
    (void)state;
    const cdnagen_options options = {.size = sizeof options, .device = "none", .target = "gfx950"};
    const long live = mem_live();
    for (long k = 1; k <= 40; k++) {
        cdnagen *ctx = NULL;
        mem_fail_at(k);
        const cdnagen_status s = cdnagen_create_context(&options, &ctx);
        mem_fail_at(0);
        /* The first allocation is the context's own; the search for a cache directory may fail without harm. */
        if (k == 1) assert_int_equal(s, CDNAGEN_NO_MEMORY);
        if (k == 40) assert_int_equal(s, CDNAGEN_OK);
        if (s == CDNAGEN_OK)
            cdnagen_free_context(ctx);
        else
            assert_int_equal(s, CDNAGEN_NO_MEMORY);
        assert_int_equal(mem_live(), live);
    }
}

static void version_names_build_and_llvm(void **state) {
    (void)state;
    assert_non_null(strstr(cdnagen_version(), "0.1.0 build "));
    assert_non_null(strstr(cdnagen_version(), " llvm 0.0.0"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_combination_of_option_and_environment, clean),
        cmocka_unit_test_setup(an_option_outlives_its_string, clean),
        cmocka_unit_test_setup(sizes_of_options, clean),
        cmocka_unit_test_setup(default_context_is_made_once_by_many_threads, clean),
        cmocka_unit_test_setup(a_shutdown_frees_the_default_context_and_the_next_call_makes_one, clean),
        cmocka_unit_test_setup(device_is_opened_once_by_many_threads_and_not_before_it_is_needed, clean),
        cmocka_unit_test_setup(auto_takes_the_simulator_and_says_why, clean),
        cmocka_unit_test_setup(bad_simulator_words_are_refused, clean),
        cmocka_unit_test_setup(device_memory_and_a_kernel_fault, clean),
        cmocka_unit_test_setup(without_a_device_memory_calls_say_so, clean),
        cmocka_unit_test_setup(a_forked_child_finds_no_lock_held, clean),
        cmocka_unit_test_setup(creation_survives_every_failed_allocation, clean),
        cmocka_unit_test_setup(version_names_build_and_llvm, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
