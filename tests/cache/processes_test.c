/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Many processes and threads on one directory: one compile per key, writers and holders that are killed or stopped. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cache/scratch.h"

#define TEXT "mqa_logits|mfma32x32x64_bkv64|gfx950"

enum { PROCESSES = 16, THREADS = 4, KEYS = 5, BUILDS = 2 };

/* board: what the processes of a test share. */
typedef struct board {
    atomic_int ready, processes, inside, overlaps, rounds, compiles[BUILDS][KEYS], wrong;
} board;

static board *new_board(void) {
    board *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(b, MAP_FAILED);
    return b;
}

/* start_line: wait until all are here, so that they meet a cold directory together. */
static void start_line(board *b, int all) {
    atomic_fetch_add(&b->ready, 1);
    while (atomic_load(&b->ready) < all) sleep_ms(1);
}

/* children: fork n processes that run `work`; 0 if each returned 0. */
static int children(int n, int (*work)(void *), void *argument) {
    pid_t pids[PROCESSES];
    int bad = 0;
    fflush(NULL);
    for (int i = 0; i < n; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (!pids[i]) _exit(work(argument));
    }
    for (int i = 0; i < n; i++) {
        int status = 0;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        bad += status != 0;
    }
    return bad;
}

typedef struct race {
    const char *dir;
    board *board;
    cache *c;
    int all;
    int build; /* of the library, which is in the key's text and in the bytes */
} race;

/* ask: what a caller of the cache does for one key; a compile takes 20 ms here. */
static void ask(race *r, int k) {
    char key_text[32], data[32] = "";
    cdnagen_cache_tier tier;
    snprintf(key_text, sizeof key_text, "key %d generator %d", k, r->build);
    snprintf(data, sizeof data, "object %d of %d", k, r->build);
    cache_blob *b = cache_get(r->c, key_text, &tier);
    if (!b) {
        cache_lock_handle *lock = cache_lock(r->c, key_text);
        b = cache_get(r->c, key_text, &tier);
        if (!b) {
            atomic_fetch_add(&r->board->compiles[r->build][k], 1);
            sleep_ms(20);
            b = cache_put(r->c, key_text, data, sizeof data);
        }
        cache_unlock(lock);
    }
    if (!b || cache_blob_size(b) != sizeof data || memcmp(cache_blob_data(b), data, sizeof data) != 0)
        atomic_fetch_add(&r->board->wrong, 1);
    cache_blob_release(b);
}

static void *racing_thread(void *argument) {
    race *r = argument;
    start_line(r->board, r->all);
    for (int k = 0; k < KEYS; k++) ask(r, k);
    return NULL;
}

static int racing_process(void *argument) {
    race r = *(race *)argument;
    pthread_t threads[THREADS];
    r.c = scratch_open(r.dir, NULL);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, racing_thread, &r)) return 1;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    cache_close(r.c);
    return 0;
}

static void expect_one_compile_each(board *b, int builds, int askers) {
    int compiles = 0;
    for (int k = 0; k < KEYS * builds; k++) compiles += b->compiles[k / KEYS][k % KEYS];
    print_message("%d askers of %d kernels of %d builds: %d compiles, %d wrong loads\n", askers, KEYS, builds, compiles,
                  b->wrong);
    for (int k = 0; k < KEYS * builds; k++) assert_int_equal(b->compiles[k / KEYS][k % KEYS], 1);
    assert_int_equal(b->wrong, 0);
    munmap(b, sizeof *b);
}

static void sixteen_processes_of_four_threads_compile_once(void **state) {
    (void)state;
    char *dir = scratch_dir();
    race r = {.dir = dir, .board = new_board(), .all = PROCESSES * THREADS};
    assert_int_equal(children(PROCESSES, racing_process, &r), 0);
    expect_one_compile_each(r.board, 1, r.all);
    assert_int_equal(scratch_files(dir, ".lock"), 0);
    assert_int_equal(scratch_files(dir, ""), KEYS);
    scratch_remove(dir);
}

/* Half of the processes have another build of the library, whose kernels have the same tags and shapes. */
static int racing_process_of_a_build(void *argument) {
    race r = *(race *)argument;
    r.build = atomic_fetch_add(&r.board->processes, 1) % BUILDS;
    return racing_process(&r);
}

static void two_builds_share_a_directory(void **state) {
    (void)state;
    char *dir = scratch_dir();
    race r = {.dir = dir, .board = new_board(), .all = PROCESSES * THREADS};
    assert_int_equal(children(PROCESSES, racing_process_of_a_build, &r), 0);
    expect_one_compile_each(r.board, BUILDS, r.all);
    assert_int_equal(scratch_files(dir, ".lock"), 0);
    assert_int_equal(scratch_files(dir, ""), BUILDS * KEYS);
    scratch_remove(dir);
}

static void threads_compile_once_in_memory(void **state) {
    (void)state;
    race r = {.dir = NULL, .board = new_board(), .all = THREADS};
    assert_int_equal(racing_process(&r), 0);
    expect_one_compile_each(r.board, 1, r.all);
}

static void threads_compile_once_on_disk(void **state) {
    (void)state;
    char *dir = scratch_dir();
    race r = {.dir = dir, .board = new_board(), .all = THREADS};
    assert_int_equal(racing_process(&r), 0);
    expect_one_compile_each(r.board, 1, r.all);
    scratch_remove(dir);
}

static void *racing_cache(void *argument) {
    race r = *(race *)argument;
    r.c = scratch_open(r.dir, NULL);
    start_line(r.board, r.all);
    for (int k = 0; k < KEYS; k++) ask(&r, k);
    cache_close(r.c);
    return NULL;
}

static void caches_of_one_process_compile_once(void **state) {
    (void)state;
    char *dir = scratch_dir();
    race r = {.dir = dir, .board = new_board(), .all = THREADS};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, racing_cache, &r), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    expect_one_compile_each(r.board, 1, r.all);
    scratch_remove(dir);
}

/* Every round creates and unlinks the lock file: this is what a racy unlink would break. */
static int lock_rounds(void *argument) {
    const race *r = argument;
    cache *c = scratch_open(r->dir, NULL);
    start_line(r->board, r->all);
    for (int i = 0; i < 200; i++) {
        cache_lock_handle *lock = cache_lock(c, TEXT);
        if (!lock) return 1;
        if (atomic_fetch_add(&r->board->inside, 1)) atomic_fetch_add(&r->board->overlaps, 1);
        atomic_fetch_add(&r->board->rounds, 1);
        sched_yield();
        atomic_fetch_sub(&r->board->inside, 1);
        cache_unlock(lock);
    }
    cache_close(c);
    return 0;
}

static void a_lock_has_one_holder_while_its_file_comes_and_goes(void **state) {
    (void)state;
    char *dir = scratch_dir();
    race r = {.dir = dir, .board = new_board(), .all = 8};
    assert_int_equal(children(8, lock_rounds, &r), 0);
    assert_int_equal(r.board->rounds, 8 * 200);
    assert_int_equal(r.board->overlaps, 0);
    assert_int_equal(scratch_files(dir, ""), 0);
    munmap(r.board, sizeof *r.board);
    scratch_remove(dir);
}

/* A publisher that never ends: versions of one entry, every byte of a version the same. */
enum { VERSION_BYTES = 200 * 1000, TRIALS = 200 };
static pid_t fork_publisher(const char *dir) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child) return child;
    static char data[VERSION_BYTES];
    cache *c = scratch_open(dir, NULL);
    for (int version = 1;; version++) {
        memset(data, version, sizeof data);
        cache_blob_release(cache_put(c, TEXT, data, sizeof data));
    }
}

static void a_killed_writer_leaves_a_miss_or_a_sound_entry(void **state) {
    (void)state;
    char *dir = scratch_dir();
    int misses = 0, hits = 0;
    unsigned seed = 1;
    cache_census census;
    uint64_t temporaries = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        cache_clear(dir, &census);
        fflush(NULL);
        const pid_t child = fork_publisher(dir);
        usleep((useconds_t)(rand_r(&seed) % 8000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        log_book book = {0};
        cdnagen_cache_tier tier;
        cache *c = scratch_open(dir, &book);
        cache_blob *b = cache_get(c, TEXT, &tier);
        if (b) {
            const char *data = cache_blob_data(b);
            assert_int_equal(cache_blob_size(b), VERSION_BYTES);
            for (size_t i = 1; i < VERSION_BYTES; i++)
                if (data[i] != data[0]) fail_msg("trial %d: byte %zu is of another version", trial, i);
        }
        b ? hits++ : misses++;
        cache_blob_release(b);
        assert_int_equal(book.infos + book.warnings, 0); /* nor was a damaged one met and passed over */
        assert_int_equal(cache_walk(dir, &(cache_visitor){0}, &census), CDNAGEN_OK);
        assert_int_equal(census.damaged + census.foreign, 0);
        temporaries += census.temporaries;
        cache_blob_release(cache_put(c, TEXT, "after", 5));
        cache_close(c);
        c = scratch_open(dir, NULL);
        b = cache_get(c, TEXT, &tier);
        assert_non_null(b);
        assert_memory_equal(cache_blob_data(b), "after", 5);
        cache_blob_release(b);
        cache_close(c);
    }
    print_message("%d kills: %d misses, %d sound, %d in the middle of a write\n", TRIALS, misses, hits,
                  (int)temporaries);
    assert_true(temporaries > 0 && misses > 0 && hits > 0);
    scratch_remove(dir);
}

static int take_lock(void *dir) { return cache_lock(scratch_open(dir, NULL), TEXT) != NULL; }

/* expect_holder: somebody who asks for the lock is told that `pid` has it, and of which key. */
static void expect_holder(const char *dir, pid_t pid) {
    log_book book = {0};
    char key[CACHE_KEY_CHARS + 1];
    cache_key(TEXT, key);
    cache *c = scratch_open(dir, &book);
    cache_set_lock_wait(c, 30);
    const double start = now_ms();
    cache_lock_handle *lock = cache_lock(c, TEXT);
    assert_in_range((int)(now_ms() - start), 29, 2000);
    assert_int_equal(book.warnings, 1);
    assert_non_null(strstr(book.last_warning, scratch_path("pid %d on host", (int)pid)));
    assert_non_null(strstr(book.last_warning, key));
    cache_unlock(lock);
    cache_close(c);
}

static void *kill_later(void *argument) {
    sleep_ms(100);
    kill(*(pid_t *)argument, SIGKILL);
    return NULL;
}

static void a_killed_holder_frees_its_waiter_at_once(void **state) {
    (void)state;
    char *dir = scratch_dir();
    log_book book = {0};
    pid_t holder = fork_holder(take_lock, dir);
    expect_holder(dir, holder);
    cache *c = scratch_open(dir, &book);
    pthread_t killer;
    assert_int_equal(pthread_create(&killer, NULL, kill_later, &holder), 0);
    const double start = now_ms();
    cache_lock_handle *lock = cache_lock(c, TEXT);
    const double waited = now_ms() - start;
    pthread_join(killer, NULL);
    waitpid(holder, NULL, 0);
    assert_in_range((int)waited, 80, 2000);
    assert_int_equal(book.warnings, 0);
    expect_holder(dir, getpid());
    cache_unlock(lock);
    assert_int_equal(scratch_files(dir, ""), 0);
    cache_close(c);
    scratch_remove(dir);
}

static void a_stopped_holder_delays_its_waiter_by_the_bound(void **state) {
    (void)state;
    char *dir = scratch_dir();
    log_book book = {0};
    cdnagen_cache_tier tier;
    const pid_t holder = fork_holder(take_lock, dir);
    kill(holder, SIGSTOP);
    cache *c = scratch_open(dir, &book);
    cache_set_lock_wait(c, 200);
    const double start = now_ms();
    cache_lock_handle *lock = cache_lock(c, TEXT);
    assert_in_range((int)(now_ms() - start), 199, 2000);
    assert_int_equal(book.warnings, 1);
    assert_non_null(strstr(book.last_warning, scratch_path("pid %d on", (int)holder)));
    cache_blob_release(cache_put(c, TEXT, "data", 4));
    cache_unlock(lock);
    cache_close(c);
    assert_int_equal(scratch_files(dir, ".lock"), 1); /* still the holder's */
    expect_holder(dir, holder);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    c = scratch_open(dir, NULL);
    cache_blob *b = cache_get(c, TEXT, &tier);
    assert_non_null(b);
    cache_blob_release(b);
    cache_close(c);
    scratch_remove(dir);
}

static void a_thread_that_holds_too_long_delays_another_by_the_bound(void **state) {
    (void)state;
    log_book book = {0};
    cache *c = scratch_open(NULL, &book);
    cache_set_lock_wait(c, 50);
    cache_lock_handle *lock = cache_lock(c, TEXT);
    assert_non_null(lock);
    const double start = now_ms();
    assert_null(cache_lock(c, TEXT));
    assert_in_range((int)(now_ms() - start), 49, 2000);
    assert_int_equal(book.warnings, 1);
    cache_unlock(lock);
    lock = cache_lock(c, TEXT);
    assert_non_null(lock);
    cache_unlock(lock);
    assert_int_equal(book.warnings, 1);
    cache_close(c);
}

/* A child that was forked while its parent held a key neither owns that key nor waits for it on its own list. */
static int lock_in_child(void *argument) {
    cache *c = argument;
    const double start = now_ms();
    cache_lock_handle *lock = cache_lock(c, TEXT);
    const int soon = now_ms() - start < 1000;
    cache_unlock(lock);
    return lock && soon ? 0 : 1;
}

static void a_forked_child_does_not_wait_for_its_parents_threads(void **state) {
    (void)state;
    cache *c = scratch_open(NULL, NULL);
    cache_set_lock_wait(c, 5000);
    cache_lock_handle *lock = cache_lock(c, TEXT);
    assert_int_equal(in_child(lock_in_child, c, 0), 0);
    cache_unlock(lock);
    cache_close(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixteen_processes_of_four_threads_compile_once), /* forks: before any thread was made */
        cmocka_unit_test(two_builds_share_a_directory),
        cmocka_unit_test(a_lock_has_one_holder_while_its_file_comes_and_goes),
        cmocka_unit_test(a_killed_writer_leaves_a_miss_or_a_sound_entry),
        cmocka_unit_test(a_stopped_holder_delays_its_waiter_by_the_bound),
        cmocka_unit_test(a_forked_child_does_not_wait_for_its_parents_threads),
        cmocka_unit_test(a_thread_that_holds_too_long_delays_another_by_the_bound),
        cmocka_unit_test(a_killed_holder_frees_its_waiter_at_once),
        cmocka_unit_test(threads_compile_once_in_memory),
        cmocka_unit_test(threads_compile_once_on_disk),
        cmocka_unit_test(caches_of_one_process_compile_once),
    };
    return cmocka_run_group_tests_name("cache processes", tests, NULL, NULL);
}
