/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ends of a process: kernels alive, threads at work, from any thread, with and without cdnagen_shutdown. A process ends
 * with the code that it means to, says nothing, and calls HIP only where it was asked to.
 *
 * Without arguments these are the tests; `exit_test MODE` is a process that ends in one of the ways. */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cdnagen.h"
#include "tests/core/cmocka_tests.h"

extern char **environ;

/* What a process in one of the modes answers with where something else than its end goes wrong. */
enum { GOOD = 7, WRONG = 1 };

#define TAG "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma"
#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        if ((call) != CDNAGEN_OK) fprintf(stderr, "%s\n", cdnagen_error()), _exit(WRONG);                              \
    } while (0)

static cdnagen_kernel *kernel_of(cdnagen *ctx, int heads, int dim) {
    cdnagen_kernel *kernel = NULL;
    char shape[64];
    snprintf(shape, sizeof shape, "heads=%d dim=%d", heads, dim);
    MUST(gen_kernel(ctx, TAG, shape, &kernel));
    return kernel;
}

static cdnagen *context(const char *device) {
    const cdnagen_options options = {.size = sizeof options, .device = device, .target = "gfx950", .cache_dir = ""};
    cdnagen *ctx = NULL;
    MUST(cdnagen_create_context(&options, &ctx));
    return ctx;
}

static int kernels_alive(void) {
    kernel_of(context(NULL), 32, 64);
    kernel_of(NULL, 32, 64);
    return GOOD;
}

static int device_memory_alive(void) {
    void *memory = NULL;
    MUST(cdnagen_alloc(NULL, 1000, &memory));
    return kernels_alive();
}

static atomic_int compiled;
static void *compile_for_ever(void *ctx) {
    for (int i = 0;; i++) {
        cdnagen_free_kernel(kernel_of(ctx, 1 + i % 128, 64));
        atomic_fetch_add(&compiled, 1);
    }
    return NULL;
}

/* The end comes at another place of a compile each time. */
static int while_threads_compile(void) {
    enum { THREADS = 3 };
    cdnagen *const ctx = context("none");
    pthread_t thread;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, compile_for_ever, ctx)) return WRONG;
    while (atomic_load(&compiled) < 2) usleep(1000);
    usleep((useconds_t)(getpid() % 50) * 1000);
    return GOOD;
}

static int while_the_first_compile_begins(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, compile_for_ever, context("none"))) return WRONG;
    usleep((useconds_t)(getpid() % 30) * 1000);
    return GOOD;
}

static void *end_here(void *kernel) {
    (void)kernel;
    exit(GOOD);
}

static int from_another_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, end_here, kernel_of(NULL, 32, 64))) return WRONG;
    for (;;) pause();
}

static cdnagen *late_context;
static cdnagen_kernel *late_kernel;
static void free_late(void) {
    cdnagen_kernel *kernel = NULL;
    if (gen_kernel(late_context, TAG, "heads=64 dim=64", &kernel) != CDNAGEN_COMPILE ||
        !strstr(cdnagen_error(), "is at its end"))
        _exit(WRONG);
    cdnagen_free_kernel(kernel_of(late_context, 32, 64)); /* which is there */
    cdnagen_free_kernel(late_kernel);
    cdnagen_free_context(late_context);
    cdnagen_shutdown();
}

static int work_in_a_handler_of_atexit(void) {
    if (atexit(free_late)) return WRONG;
    late_context = context(NULL);
    late_kernel = kernel_of(late_context, 32, 64);
    return GOOD;
}

static int after_a_shutdown(void) {
    cdnagen_shutdown(); /* of nothing */
    cdnagen_kernel *const kernel = kernel_of(NULL, 32, 64);
    cdnagen_free_kernel(kernel_of(NULL, 64, 64)); /* the default context keeps it loaded */
    cdnagen_shutdown();
    cdnagen_shutdown();
    cdnagen_kernel_info info = {.size = sizeof info};
    MUST(cdnagen_get_kernel_info(kernel, &info)); /* what a caller holds stays good */
    cdnagen_free_kernel(kernel);
    cdnagen_free_kernel(kernel_of(NULL, 32, 64)); /* and a new default context is made */
    cdnagen_shutdown();
    return GOOD;
}

static int in_a_forked_child(void) {
    cdnagen *const ctx = context("none");
    cdnagen_kernel *const kernel = kernel_of(ctx, 32, 64);
    const pid_t child = fork();
    if (!child) exit(GOOD); /* not _exit: with every handler and destructor */
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != GOOD) return WRONG;
    cdnagen_free_kernel(kernel_of(ctx, 64, 64));
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
    return GOOD;
}

static const struct mode {
    const char *name;
    int (*end)(void);
    int unloads; /* that HIP sees, of those modes that use it */
    int turns;
} modes[] = {
    {"kernels alive", kernels_alive, 0, 1},
    {"device memory alive", device_memory_alive, 0, 1},
    {"while threads compile", while_threads_compile, 0, 12},
    {"while the first compile begins", while_the_first_compile_begins, 0, 12},
    {"from another thread", from_another_thread, 0, 2},
    {"work in a handler of atexit", work_in_a_handler_of_atexit, 1, 4},
    {"after a shutdown", after_a_shutdown, 3, 2},
    {"in a forked child", in_a_forked_child, 0, 2},
};
enum { MODES = sizeof modes / sizeof *modes };

/* run: this program in a mode; what it wrote to stderr in `said`, and its status. */
static int run(const char *mode, char *said, size_t size) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    char *const argv[] = {(char *)"exit_test", (char *)mode, NULL};
    pid_t child;
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t length = 0;
    for (ssize_t n; length + 1 < size && (n = read(ends[0], said + length, size - 1 - length)) > 0;)
        length += (size_t)n;
    said[length] = 0;
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void expect_end(const struct mode *m, const char *unload) {
    char said[4096], expected[256] = "";
    for (int i = 0; *unload && i < m->unloads; i++) strcat(expected, unload);
    for (int turn = 0; turn < m->turns; turn++) {
        const int status = run(m->name, said, sizeof said);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != GOOD || strcmp(said, expected) != 0)
            fail_msg("%s, turn %d: status %x; it said: %s", m->name, turn, (unsigned)status, said);
    }
}

static void a_process_ends_as_it_means_to_on_the_simulator(void **state) {
    (void)state;
    setenv("CDNAGEN_DEVICE", "sim", 1);
    for (size_t i = 0; i < MODES; i++) expect_end(&modes[i], "");
}

/* The fake HIP says so when it unloads a module. */
static void hip_is_left_alone_at_the_end_unless_asked(void **state) {
    (void)state;
    setenv("CDNAGEN_DEVICE", "gpu", 1);
    setenv("CDNAGEN_HIP_LIBRARY", FAKE_HIP, 1);
    setenv("FAKE_HIP_TELL", "1", 1);
    for (size_t i = 0; i < MODES; i++) expect_end(&modes[i], "unload\n");
}

int main(int argc, char **argv) {
    for (size_t i = 0; argc == 2 && i < MODES; i++)
        if (!strcmp(argv[1], modes[i].name)) return modes[i].end();
    unsetenv("CDNAGEN_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("CDNAGEN_CACHE");
    unsetenv("HOME");
    setenv("CDNAGEN_TARGET", "gfx950", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_ends_as_it_means_to_on_the_simulator),
        cmocka_unit_test(hip_is_left_alone_at_the_end_unless_asked),
    };
    return cmocka_run_group_tests_name("ends of a process", tests, NULL, NULL);
}
