/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compiling in cdnagen-worker, from a process that has no compiler: the kernel, and every way in which a worker
 * ends. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/status.h"

#include <cmocka.h> /* after core/status.h: it has a macro fail() */

static const char tag[] = "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma", shape[] = "heads=64 dim=128";

static cdnagen_status generate(int seconds, int megabytes, size_t *object_bytes) {
    const cdnagen_options options = {.size = sizeof options,
                                     .device = "none",
                                     .target = "gfx950",
                                     .no_cache = 1,
                                     .isolate = 1,
                                     .isolate_seconds = seconds,
                                     .isolate_megabytes = megabytes};
    cdnagen *ctx = NULL;
    cdnagen_kernel *kernel = NULL;
    cdnagen_kernel_info info = {.size = sizeof info};
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    const cdnagen_status s = gen_kernel(ctx, tag, shape, &kernel);
    if (!s) assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    *object_bytes = info.object_bytes;
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
    return s;
}

static void a_worker_makes_the_kernel(void **state) {
    (void)state;
    size_t size = 0;
    const long before = mem_live();
    setenv("CDNAGEN_WORKER", WORKER, 1);
    setenv("CDNAGEN_TARGET", "gfx942", 1); /* is not the worker's */
    if (generate(0, 0, &size)) fail_msg("%s", cdnagen_error());
    unsetenv("CDNAGEN_TARGET");
    assert_in_range(size, 2000, 100000);
    assert_int_equal(mem_live(), before);
}

/* Without memory a sanitizer's own start ends in ways that are not the worker's. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STARTS_A_SANITIZER 1
#endif
#endif

/* A script in the worker's place. */
static void every_end_of_a_worker_is_a_status(void **state) {
    (void)state;
    static const struct {
        const char *script; /* NULL: the real worker */
        int seconds, megabytes;
        cdnagen_status status;
        const char *says;
    } rows[] = {
        {"kill -SEGV $$", 0, 0, CDNAGEN_COMPILE, "signal 11 (SEGV)"},
        {"kill -ABRT $$", 0, 0, CDNAGEN_COMPILE, "signal 6 (ABRT)"},
        {"exec sleep 60", 1, 0, CDNAGEN_COMPILE, "stopped after 1 seconds"},
#if !STARTS_A_SANITIZER
        {NULL, 0, 4, CDNAGEN_NO_MEMORY, "under a limit of 4 MB"},
#endif
        {"kill -SEGV $$", 0, 512, CDNAGEN_COMPILE, "signal 11 (SEGV) under a limit of 512 MB"},
        {"exit 3", 0, 512, CDNAGEN_COMPILE, "exit code 3 under a limit of 512 MB"},
        {"kill -KILL $$", 0, 512, CDNAGEN_NO_MEMORY, "signal 9 (KILL) under a limit of 512 MB"},
        {"kill -ABRT $$", 0, 512, CDNAGEN_NO_MEMORY, "signal 6 (ABRT) under a limit of 512 MB"},
        {"echo '  what():  std::bad_alloc' >&2; exit 1", 0, 512, CDNAGEN_NO_MEMORY, "bad_alloc"},
        {"echo 'cdnagen: host memory ran out (CDNAGEN_NO_MEMORY)' >&2; exit 1", 0, 512, CDNAGEN_NO_MEMORY, "ran out"},
        {"exec sleep 60", 1, 512, CDNAGEN_COMPILE, "stopped after 1 seconds"},
        {"true", 1 << 30, 0, CDNAGEN_COMPILE, "no code object"},
        {"echo no object", 0, 0, CDNAGEN_BAD_OBJECT, "ELF"},
        {"true", 0, 0, CDNAGEN_COMPILE, "no code object"},
        {"echo 'cdnagen: LLVM is ill (CDNAGEN_COMPILE)' >&2; exit 1", 0, 0, CDNAGEN_COMPILE, "LLVM is ill"},
        {"head -c 65536 /dev/zero | tr '\\0' '\\n' >&2; echo 'cdnagen: no such unit (CDNAGEN_LIMIT)' >&2; exit 1", 0, 0,
         CDNAGEN_LIMIT, "no such unit"},
        {"exec " WORKER " \"$1\" \"$2\" \"$3\" other", 0, 0, CDNAGEN_UNAVAILABLE, "another build"},
        {"exec " WORKER " nonsense \"$2\" \"$3\" \"$4\"", 0, 0, CDNAGEN_BAD_TAG, "nonsense"},
    };
    char path[] = "/tmp/cdnagen-worker-XXXXXX";
    const int made = mkstemp(path);
    assert_true(made >= 0);
    close(made);
    const long before = mem_live();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].script) {
            FILE *f = fopen(path, "w");
            assert_non_null(f);
            fprintf(f, "#!/bin/sh\n%s\n", rows[i].script);
            fclose(f);
            chmod(path, 0700);
        }
        setenv("CDNAGEN_WORKER", rows[i].script ? path : WORKER, 1);
        size_t size = 0;
        const cdnagen_status s = generate(rows[i].seconds, rows[i].megabytes, &size);
        if (s != rows[i].status || !strstr(cdnagen_error(), rows[i].says))
            fail_msg("%zu: %s: %s", i, cdnagen_status_name(s), cdnagen_error());
        assert_int_equal(mem_live(), before);
    }
    unlink(path);
    setenv("CDNAGEN_WORKER", path, 1);
    size_t size = 0;
    assert_int_equal(generate(0, 0, &size), CDNAGEN_IO);
    assert_non_null(strstr(cdnagen_error(), path));
    unsetenv("CDNAGEN_WORKER");
    assert_int_equal(generate(0, 0, &size), CDNAGEN_IO);
    assert_non_null(strstr(cdnagen_error(), "set CDNAGEN_WORKER"));
}

/* Where SIGCHLD is ignored the kernel collects children, and no worker's end can be asked for. */
static void a_worker_that_was_collected_elsewhere_is_told(void **state) {
    (void)state;
    size_t size = 0;
    setenv("CDNAGEN_WORKER", WORKER, 1);
    void (*const before)(int) = signal(SIGCHLD, SIG_IGN);
    const cdnagen_status s = generate(0, 0, &size);
    signal(SIGCHLD, before);
    if (s != CDNAGEN_IO || !strstr(cdnagen_error(), "SIGCHLD ignored?"))
        fail_msg("%s: %s", cdnagen_status_name(s), cdnagen_error());
    if (generate(0, 0, &size)) fail_msg("%s", cdnagen_error());
}

/* A program that was found on PATH has a bare name, whose folder is not the current one. */
static void no_worker_is_taken_from_the_current_folder(void **state) {
    (void)state;
    char folder[] = "/tmp/cdnagen-folder-XXXXXX", self[4096], line[16384];
    const ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(size > 0 && mkdtemp(folder));
    self[size] = 0;
    char *const name = strrchr(self, '/');
    *name = 0;
    unsetenv("CDNAGEN_WORKER");
    snprintf(line, sizeof line,
             "cd %s && printf '#!/bin/sh\\ntouch ran\\n' >cdnagen-worker && chmod +x cdnagen-worker && "
             "PATH=\"%s:$PATH\" && %s without-worker; code=$?; test ! -e ran || code=100; rm -r %s; exit $code",
             folder, self, name + 1, folder);
    const int end = system(line);
    assert_true(WIFEXITED(end));
    assert_int_equal(WEXITSTATUS(end), CDNAGEN_IO);
}

static void a_path_that_does_not_fit_is_refused(void **state) {
    (void)state;
    char path[4096 + sizeof WORKER "-not"];
    size_t size = 0;
    memset(path, '/', sizeof path);
    memcpy(path + 4095 - strlen(WORKER), WORKER "-not", sizeof WORKER + 4); /* its first 4095 bytes name the worker */
    setenv("CDNAGEN_WORKER", path, 1);
    const cdnagen_status s = generate(0, 0, &size);
    unsetenv("CDNAGEN_WORKER");
    if (s != CDNAGEN_IO || !strstr(cdnagen_error(), "CDNAGEN_WORKER has more than"))
        fail_msg("%s: %s", cdnagen_status_name(s), cdnagen_error());
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "without-worker")) return (int)generate(0, 0, &(size_t){0});
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_makes_the_kernel),
        cmocka_unit_test(every_end_of_a_worker_is_a_status),
        cmocka_unit_test(a_worker_that_was_collected_elsewhere_is_told),
        cmocka_unit_test(no_worker_is_taken_from_the_current_folder),
        cmocka_unit_test(a_path_that_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
