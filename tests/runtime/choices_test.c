/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CDNAGEN_TUNE=1 on a fake libamdhip64 whose events tell what the test decided that kernels take. */
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
#include "tests/runtime/fake_compile.h"
#include "tests/runtime/fake_hip.h"

#include <cmocka.h> /* after core/status.h: it has a macro fail() */

enum { GROUPS = 4, N = 512, K = 1024, LAUNCHES_EACH = 3 * 6 };

static fake_hip_state *hip;
static char told[4096]; /* the log's last line */

static void keep_line(void *user, cdnagen_log_level level, const char *line) {
    (void)user;
    (void)level;
    snprintf(told, sizeof told, "%s", line);
}

static int clean(void **state) {
    (void)state;
    fake_reset();
    *hip = (fake_hip_state){.devices = 1, .cus = 256, .runtime_version = 60342131, .fast = "no kernel"};
    snprintf(hip->arch[0], sizeof hip->arch[0], "gfx950:sramecc+:xnack-");
    *told = 0;
    setenv("CDNAGEN_TUNE", "1", 1);
    return 0;
}

static int nothing_was_wrong(void **state) {
    (void)state;
    if (hip->wrong) print_error("%s\n", hip->wrong_what);
    hip->fail_function = NULL;
    return hip->wrong || hip->loads != hip->unloads;
}

static cdnagen *context(const char *where) {
    const cdnagen_options options = {
        .size = sizeof options, .device = where, .target = "gfx950", .cache_dir = "", .log = keep_line};
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    return ctx;
}

static cdnagen_tensor tensor(uintptr_t place, int type, int rank, int64_t a, int64_t b, int64_t c) {
    return (cdnagen_tensor){.ptr = (void *)(place << 40), .type = type, .rank = rank, .size = {a, b, c}};
}

static cdnagen_status stacked(cdnagen *ctx, int64_t m, int64_t n) {
    const cdnagen_tensor xq = tensor(1, CDNAGEN_TYPE_E4M3FN, 2, m, K, 0),
                         wq = tensor(2, CDNAGEN_TYPE_E4M3FN, 3, GROUPS, n, K),
                         x_scale = tensor(3, CDNAGEN_TYPE_F32, 1, m, 0, 0),
                         w_scale = tensor(4, CDNAGEN_TYPE_F32, 2, GROUPS, n, 0),
                         sizes = tensor(5, CDNAGEN_TYPE_I64, 1, GROUPS, 0, 0),
                         out = tensor(6, CDNAGEN_TYPE_BF16, 2, m, n, 0);
    return cdnagen_rowwise_grouped_stacked(ctx, &xq, &wq, &x_scale, &w_scale, &sizes, &out, NULL);
}

/* call: launches of one call that succeeds. */
static int call(cdnagen *ctx, int64_t m, int64_t n) {
    const int before = hip->launches;
    if (stacked(ctx, m, n)) fail_msg("%s", cdnagen_error());
    return hip->launches - before;
}

static void took(const char *tile) {
    if (!strstr(hip->function_name, tile)) fail_msg("%s was launched, %s wanted", hip->function_name, tile);
}

static void without_it_nothing_is_timed_and_lengths_share_a_kernel(void **state) {
    (void)state;
    unsetenv("CDNAGEN_TUNE");
    cdnagen *ctx = context("gpu");
    hip->fast = "t256x64x128";
    assert_int_equal(call(ctx, 1000, N), 1);
    took("t64x64x256");
    assert_int_equal(call(ctx, 900, N), 1);
    assert_int_equal(hip->loads, 1); /* calls of all lengths share a kernel */
    cdnagen_free_context(ctx);
}

static void the_fastest_is_found_once_for_a_bucket(void **state) {
    (void)state;
    cdnagen *ctx = context("gpu");
    hip->fast = "t256x64x128";
    const int first = call(ctx, 1000, N);
    took("t256x64x128");
    assert_true(first > 10 * LAUNCHES_EACH && first % LAUNCHES_EACH == 1);
    assert_non_null(strstr(told, "tuned gemm_grouped layout=sizes groups=4 m=1024 n=512 k=1024"));
    hip->fast = "t128x64x256";
    assert_int_equal(call(ctx, 1000, N), 1);
    assert_int_equal(call(ctx, 513, N), 1);
    assert_int_equal(call(ctx, 1024, N), 1);
    took("t256x64x128");
    assert_int_equal(call(ctx, 1025, N), first); /* another bucket */
    took("t128x64x256");
    assert_true(call(ctx, 1000, 2 * N) > 1); /* another N */
    assert_int_equal(call(ctx, 0, N), 0);    /* nothing to launch, nothing to tune */
    cdnagen_free_context(ctx);
}

static void two_waves_asked_is_a_candidate_of_its_own(void **state) {
    (void)state;
    cdnagen *ctx = context("gpu");
    hip->fast = "t128x256x128_wm2_cs_async_wpe2";
    call(ctx, 1000, N);
    took("t128x256x128_wm2_cs_async_wpe2");
    cdnagen_free_context(ctx);
}

static void the_default_stays_where_nothing_is_faster(void **state) {
    (void)state;
    cdnagen *ctx = context("gpu");
    assert_true(call(ctx, 1000, N) > 1);
    took("t64x64x256");
    cdnagen_free_context(ctx);
}

static void tiles_that_leave_tails_are_left_out(void **state) {
    (void)state;
    cdnagen *ctx = context("gpu");
    hip->fast = "x256x128"; /* 320 columns are no multiple of 256 */
    call(ctx, 1000, 320);
    took("t64x64x256");
    hip->fast = "t128x256x128";
    call(ctx, 1000, 1000); /* nor are 1000 of any */
    took("t128x256x128");
    cdnagen_free_context(ctx);
}

static void candidates_that_spill_are_passed_over(void **state) {
    (void)state;
    cdnagen *ctx = context("gpu");
    hip->fast = "t256x64x128";
    fake.spill_tag = "t256x64x128";
    call(ctx, 1000, N);
    took("t64x64x256");
    cdnagen_free_context(ctx);
}

static void nothing_is_timed_while_a_stream_captures(void **state) {
    (void)state;
    static int stream;
    cdnagen *ctx = context("gpu");
    hip->fast = "t256x64x128";
    hip->capturing = 1;
    const cdnagen_tensor xq = tensor(1, CDNAGEN_TYPE_E4M3FN, 2, 1000, K, 0),
                         wq = tensor(2, CDNAGEN_TYPE_E4M3FN, 3, GROUPS, N, K),
                         x_scale = tensor(3, CDNAGEN_TYPE_F32, 1, 1000, 0, 0),
                         w_scale = tensor(4, CDNAGEN_TYPE_F32, 2, GROUPS, N, 0),
                         sizes = tensor(5, CDNAGEN_TYPE_I64, 1, GROUPS, 0, 0),
                         out = tensor(6, CDNAGEN_TYPE_BF16, 2, 1000, N, 0);
    if (cdnagen_rowwise_grouped_stacked(ctx, &xq, &wq, &x_scale, &w_scale, &sizes, &out, &stream))
        fail_msg("%s", cdnagen_error());
    assert_int_equal(hip->launches, 1);
    took("t64x64x256");
    assert_non_null(strstr(told, "is not tuned while a stream captures"));
    hip->capturing = 0;
    assert_true(call(ctx, 1000, N) > 1);
    took("t256x64x128");
    cdnagen_free_context(ctx);
}

static void without_a_gpu_the_log_says_so(void **state) {
    (void)state;
    cdnagen *ctx = context("none");
    assert_int_equal(stacked(ctx, 1000, N), CDNAGEN_NO_DEVICE);
    assert_non_null(strstr(told, "nothing can be timed without a GPU: gemm_grouped:mfma16x16x128_t64x64x256"));
    cdnagen_free_context(ctx);
}

static void another_word_than_0_and_1_is_refused(void **state) {
    (void)state;
    setenv("CDNAGEN_TUNE", "yes", 1);
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(NULL, &ctx), CDNAGEN_BAD_ARGUMENT);
    assert_non_null(strstr(cdnagen_error(), "CDNAGEN_TUNE=yes: it is \"1\" or \"0\""));
}

/* At 2^27 rows tiles of 64x64 are more than a launch can have, at a few less they are not. */
static void a_tile_too_small_for_the_call_takes_no_part(void **state) {
    (void)state;
    const int64_t most = INT64_C(1) << 27;
    cdnagen *ctx = context("gpu");
    hip->fast = "t64x64x128";
    assert_true(call(ctx, most, N) > 1);
    assert_null(strstr(hip->function_name, "t64x64"));
    cdnagen_free_context(ctx);
    ctx = context("gpu");
    assert_true(call(ctx, most - 1000, N) > 1);
    took("t64x64x128");
    assert_int_equal(call(ctx, most, N), 1); /* the same bucket */
    assert_null(strstr(hip->function_name, "t64x64"));
    cdnagen_free_context(ctx);
}

static void a_failure_leaves_no_answer(void **state) {
    (void)state;
    static const char *const functions[] = {"hipEventCreate",      "hipEventRecord",        "hipEventSynchronize",
                                            "hipEventElapsedTime", "hipModuleLaunchKernel", "hipModuleLoadData"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        cdnagen *ctx = context("gpu");
        hip->fast = "t256x64x128";
        hip->fail_function = functions[i];
        hip->fail_error = 2;
        assert_int_equal(stacked(ctx, 1000, N), CDNAGEN_HIP);
        assert_non_null(strstr(cdnagen_error(), functions[i]));
        hip->fail_function = NULL;
        assert_true(call(ctx, 1000, N) > 1);
        took("t256x64x128");
        cdnagen_free_context(ctx);
    }
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    int done = 0;
    for (long k = 1; !done; k += k < 200 ? 1 : 37) {
        cdnagen *ctx = context("gpu");
        const char *name;
        assert_int_equal(cdnagen_device_name(ctx, &name), CDNAGEN_OK);
        const long live = mem_live();
        mem_fail_at(k);
        const cdnagen_status s = stacked(ctx, 1000, N);
        mem_fail_at(0);
        assert_true(s == CDNAGEN_OK || s == CDNAGEN_NO_MEMORY);
        assert_true(mem_live() >= live);
        hip->fast = "t256x64x128";
        if (s) {
            assert_true(call(ctx, 1000, N) > 1);
            took("t256x64x128");
        }
        done = s == CDNAGEN_OK && k > 3000;
        cdnagen_free_context(ctx);
    }
}

/* ---- threads ---- */

enum { THREADS = 8 };
static pthread_barrier_t line;

static void *call_in_a_thread(void *ctx) {
    pthread_barrier_wait(&line);
    return stacked(ctx, 1000, N) ? "failed" : NULL;
}

static void of_many_threads_one_times(void **state) {
    (void)state;
    cdnagen *first = context("gpu"), *ctx = context("gpu");
    const int alone = call(first, 1000, N);
    cdnagen_free_context(first);
    fake.milliseconds = 2; /* a kernel: the others come meanwhile */
    pthread_t threads[THREADS];
    pthread_barrier_init(&line, NULL, THREADS);
    const int before = hip->launches;
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, call_in_a_thread, ctx), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    pthread_barrier_destroy(&line);
    assert_int_equal(hip->launches - before, alone - 1 + THREADS);
    cdnagen_free_context(ctx);
}

static int launched;
static cdnagen_status count_launch(cdnagen_kernel *kernel, const void *args, void *stream) {
    (void)kernel;
    (void)args;
    (void)stream;
    launched++;
    return CDNAGEN_OK;
}

/* What a thread meets that found no answer, and comes to claim the key after another has. */
static void a_key_is_claimed_once(void **state) {
    (void)state;
    static const choice_texts candidates[] = {{"gemm_grouped:mfma16x16x128_t64x64x128", "n=512 k=512"},
                                              {"gemm_grouped:mfma16x16x128_t64x128x128", "n=512 k=512"}};
    const choice_job job = {.key = "key", .candidates = candidates, .count = 2, .launch = count_launch};
    cdnagen *ctx = context("gpu");
    const char *name;
    choice_texts taken;
    assert_int_equal(cdnagen_device_name(ctx, &name), CDNAGEN_OK);
    launched = 0;
    assert_int_equal(choices_make(ctx, &job, NULL, &taken), CDNAGEN_OK);
    assert_int_equal(launched, 2 * LAUNCHES_EACH);
    assert_int_equal(choices_make(ctx, &job, NULL, &taken), CDNAGEN_OK);
    assert_int_equal(launched, 2 * LAUNCHES_EACH);
    assert_string_equal(taken.tag, candidates[0].tag);
    assert_true(choices_find(&ctx->choices, "key", &taken));
    assert_false(choices_find(&ctx->choices, "another", &taken));
    cdnagen_free_context(ctx);
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: %s libamdhip64.so.6\n", argv[0]), 2;
    setenv("CDNAGEN_HIP_LIBRARY", argv[1], 1);
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    hip = library ? dlsym(library, "fake_hip") : NULL;
    if (!hip) return fprintf(stderr, "%s is no fake libamdhip64\n", argv[1]), 2;
#define TEST(name) cmocka_unit_test_setup_teardown(name, clean, nothing_was_wrong)
    const struct CMUnitTest tests[] = {TEST(without_it_nothing_is_timed_and_lengths_share_a_kernel),
                                       TEST(the_fastest_is_found_once_for_a_bucket),
                                       TEST(two_waves_asked_is_a_candidate_of_its_own),
                                       TEST(the_default_stays_where_nothing_is_faster),
                                       TEST(tiles_that_leave_tails_are_left_out),
                                       TEST(candidates_that_spill_are_passed_over),
                                       TEST(nothing_is_timed_while_a_stream_captures),
                                       TEST(without_a_gpu_the_log_says_so),
                                       TEST(another_word_than_0_and_1_is_refused),
                                       TEST(a_tile_too_small_for_the_call_takes_no_part),
                                       TEST(a_failure_leaves_no_answer),
                                       TEST(every_failed_allocation_is_survived),
                                       TEST(of_many_threads_one_times),
                                       TEST(a_key_is_claimed_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
