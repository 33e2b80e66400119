/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Under fire: each call of the disk tier fails in each way, or is the last one of its process, or its process stops
 * there. Nobody loses a kernel, nobody loads a wrong one, nobody waits for ever. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cache/life.h"

enum { LOCK_WAIT_MS = 30, CALLS_LEAST = 100, WAITED_MS = 3000 };

/* count_calls: of an undisturbed life. */
static int count_calls(const char *dir, const char *call) {
    cache_blob *holder;
    tally t = {0};
    const char *const root = life_prepare(dir, &holder);
    const shim_plan plan = {.under = root, .call = call};
    shim_arm(&plan);
    const int failed = life_live(root, LOCK_WAIT_MS), calls = shim_disarm();
    life_end(root, holder, &t);
    assert_int_equal(failed, 0);
    return calls;
}

static void every_kind_of_call_is_made(void **state) {
    (void)state;
    static const char *const calls[] = {"open",    "openat",   "read",     "write",    "pwrite",  "fsync",
                                        "close",   "renameat", "unlinkat", "flock",    "mkdirat", "fstat",
                                        "fstatat", "readdir",  "fcntl",    "utimensat"};
    char *dir = scratch_dir();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!count_calls(dir, calls[i])) fail_msg("no %s", calls[i]);
    assert_in_range(count_calls(dir, NULL), CALLS_LEAST, 1000);
    scratch_remove(dir);
}

/* ---- calls that fail ---- */

static void fail_each_call(const shim_plan *how, const char *what) {
    char *dir = scratch_dir();
    tally t = {0};
    int met = 1;
    for (int at = 1; met; at += how->lasting ? 4 : 1) {
        cache_blob *holder;
        shim_plan plan = *how;
        const char *const root = plan.under = life_prepare(dir, &holder);
        plan.at = at;
        shim_arm(&plan);
        const double start = now_ms();
        const int failed = life_live(root, LOCK_WAIT_MS);
        shim_disarm();
        met = *shim_name() != 0;
        t.slow += (int)(now_ms() - start) > WAITED_MS;
        if (failed) print_message("%s at call %d, %s: step %d failed its caller\n", what, at, shim_name(), failed);
        t.losses += failed != 0;
        const int bad = t.losses + t.wrong + t.unsound;
        life_judge(root, &t);
        if (t.losses + t.wrong + t.unsound != bad) print_message("%s at call %d, %s\n", what, at, shim_name());
        life_end(root, holder, &t);
    }
    life_report(what, &t);
    assert_true(t.trials > CALLS_LEAST / 10);
    scratch_remove(dir);
}

static void every_call_fails_in_every_way(void **state) {
    (void)state;
    static const int errors[] = {ENOSPC, EIO, EROFS, EDQUOT, ESTALE, ENOLCK, EMFILE, EINTR};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        for (int lasting = 0; lasting < 2; lasting++) {
            if (errors[i] == EINTR && lasting) continue; /* a signal storm without end */
            const shim_plan how = {.action = SHIM_FAIL, .error = errors[i], .lasting = lasting};
            fail_each_call(&how,
                           scratch_path("%s, %s", strerrorname_np(errors[i]), lasting ? "from there on" : "once"));
        }
}

static void every_read_and_write_is_short(void **state) {
    (void)state;
    for (int lasting = 0; lasting < 2; lasting++) {
        const shim_plan how = {.action = SHIM_SHORT, .lasting = lasting};
        fail_each_call(&how, lasting ? "short, from there on" : "short, once");
    }
}

/* A pack is written beside and renamed: what is in place is the old one or the new one, whole. */
static void a_pack_is_there_whole_or_as_it_was(void **state) {
    (void)state;
    static const int errors[] = {ENOSPC, EIO, EROFS, EDQUOT, ESTALE};
    char *dir = scratch_dir(), *path = strdup(scratch_path("%s/pack", dir));
    cache_blob *before = blob_make("key", 3, "old", 3), *after = blob_make("key", 3, "new", 3);
    int trials = 0, failures = 0;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        for (int at = 1, met = 1; met; at++, trials++) {
            assert_int_equal(pack_write(path, &before, 1), CDNAGEN_OK);
            const shim_plan plan = {.under = dir, .action = SHIM_FAIL, .at = at, .error = errors[i]};
            shim_arm(&plan);
            const cdnagen_status status = pack_write(path, &after, 1);
            shim_disarm();
            met = *shim_name() != 0;
            failures += status != CDNAGEN_OK;
            if (status) assert_non_null(strstr(cdnagen_error(), strerror(errors[i])));
            pack *p = NULL;
            const char *problem;
            assert_int_equal(pack_open(path, 0, &p), CDNAGEN_OK);
            cache_blob *b = pack_read(p, 0, &problem);
            assert_non_null(b);
            assert_memory_equal(cache_blob_data(b), status ? "old" : "new", 3);
            cache_blob_release(b);
            pack_close(p);
            assert_int_equal(scratch_files(dir, ""), 1); /* and nothing is left beside it */
        }
    print_message("writing packs: %d trials, %d failures, each told\n", trials, failures);
    assert_true(failures > 15 && failures < trials);
    cache_blob_release(before);
    cache_blob_release(after);
    free(path);
    scratch_remove(dir);
}

/* ---- processes that are killed or stopped ---- */

typedef struct doomed {
    const char *root;
    shim_plan plan;
} doomed;

static pid_t fork_doomed(const char *root, shim_action action, int at) {
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child) return child;
    const shim_plan plan = {.under = root, .action = action, .at = at};
    shim_arm(&plan);
    const int failed = life_live(root, LOCK_WAIT_MS);
    shim_disarm();
    _exit(failed);
}

static void kill_at_each_call(shim_action action, const char *what) {
    char *dir = scratch_dir();
    tally t = {0};
    for (int at = 1, status = SIGKILL; status; at++) {
        cache_blob *holder;
        const char *const root = life_prepare(dir, &holder);
        const pid_t child = fork_doomed(root, action, at);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status) assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        life_judge(root, &t);
        life_end(root, holder, &t);
    }
    life_report(what, &t);
    assert_true(t.trials > CALLS_LEAST);
    scratch_remove(dir);
}

static void a_process_is_killed_at_every_call(void **state) {
    (void)state;
    kill_at_each_call(SHIM_KILL_BEFORE, "SIGKILL before the call");
    kill_at_each_call(SHIM_KILL_AFTER, "SIGKILL after it, or in the middle of a write");
}

/* While it is stopped, others go on after the bound; when it goes on, it ends well, and what it then does harms
 * nobody. */
static void a_process_is_stopped_at_every_call(void **state) {
    (void)state;
    char *dir = scratch_dir();
    tally t = {0};
    int waited = 0;
    for (int at = 1, stopped = 1; stopped; at++) {
        cache_blob *holder;
        int status = 0;
        const char *const root = life_prepare(dir, &holder);
        const pid_t child = fork_doomed(root, SHIM_STOP, at);
        assert_int_equal(waitpid(child, &status, WUNTRACED), child);
        stopped = WIFSTOPPED(status);
        const double start = now_ms();
        t.losses += life_live(root, LOCK_WAIT_MS) != 0;
        const int took = (int)(now_ms() - start);
        waited += took > LOCK_WAIT_MS;
        t.slow += took > WAITED_MS;
        if (stopped) {
            kill(child, SIGCONT);
            assert_int_equal(waitpid(child, &status, 0), child);
        }
        t.losses += status != 0;
        life_judge(root, &t);
        life_end(root, holder, &t);
    }
    print_message("others waited for the bound of %d ms in %d of them\n", LOCK_WAIT_MS, waited);
    life_report("SIGSTOP before the call", &t);
    assert_true(t.trials > CALLS_LEAST && waited > 10);
    scratch_remove(dir);
}

/* ---- names ---- */

/* eCryptfs has the shortest: 143 bytes. */
static void names_are_short(void **state) {
    (void)state;
    enum { SHORTEST_NAME_MAX = 143 };
    char *dir = scratch_dir();
    cache_blob *holder;
    tally t = {0};
    const char *const root = life_prepare(dir, &holder);
    const shim_plan plan = {.under = root};
    shim_arm(&plan);
    assert_int_equal(life_live(root, LOCK_WAIT_MS), 0);
    assert_true(shim_disarm() > CALLS_LEAST);
    assert_in_range(shim_longest(), CACHE_KEY_CHARS, NAME_BYTES);
    const char *const packed = scratch_path("%s/%0*d", root, SHORTEST_NAME_MAX, 0);
    shim_arm(&plan);
    assert_int_equal(pack_write(packed, &holder, 1), CDNAGEN_OK);
    assert_true(shim_disarm() > 0);
    assert_in_range(shim_longest(), 1, SHORTEST_NAME_MAX);
    assert_int_equal(pack_write(scratch_path("%s/%0*d", root, 255, 0), &holder, 1), CDNAGEN_OK);
    life_end(root, holder, &t);
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_call_is_made),
        cmocka_unit_test(every_call_fails_in_every_way),
        cmocka_unit_test(every_read_and_write_is_short),
        cmocka_unit_test(a_pack_is_there_whole_or_as_it_was),
        cmocka_unit_test(a_process_is_killed_at_every_call),
        cmocka_unit_test(a_process_is_stopped_at_every_call),
        cmocka_unit_test(names_are_short),
    };
    return cmocka_run_group_tests_name("cache under fire", tests, NULL, NULL);
}
