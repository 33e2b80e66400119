/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The limit of a directory: what was not used for longest goes, what is loaded stays, in whichever process. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cache/scratch.h"

enum { DATA_BYTES = 4000, LIMIT = 100 * 1000, FIT = 20 };

static const char *name_of(int i) { return scratch_path("kernel %d", i); }

static cache *open_limited(const char *dir, size_t limit, log_book *book) {
    return scratch_open_with((cache_options){.roots = dir, .disk_bytes = limit}, book);
}

/* put: data that its number tells.   owner: cache_blob_release */
static cache_blob *put(cache *c, int i) {
    char data[DATA_BYTES];
    memset(data, i, sizeof data);
    return cache_put(c, name_of(i), data, sizeof data);
}

static void put_and_unload(const char *dir, int i, size_t limit) {
    cache *c = open_limited(dir, limit, NULL);
    cache_blob_release(put(c, i));
    cache_close(c);
}

/* age: as if the entry had been used this long ago; negative: by a clock that was ahead. */
static void age(const char *dir, int i, int seconds) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const struct timespec times[2] = {{now.tv_sec - seconds, 0}, {now.tv_sec - seconds, 0}};
    assert_int_equal(utimensat(AT_FDCWD, scratch_entry(dir, name_of(i)), times, 0), 0);
}

static int is_there(const char *dir, int i) { return scratch_exists(scratch_entry(dir, name_of(i))); }

static uint64_t size_of(const char *dir) {
    cache_census census = {0};
    assert_int_equal(cache_walk(dir, NULL, &census), CDNAGEN_OK);
    return census.bytes;
}

static cache_blob *load(cache *c, int i) {
    cdnagen_cache_tier tier;
    cache_blob *b = cache_get(c, name_of(i), &tier);
    if (b && (cache_blob_size(b) != DATA_BYTES || *(const char *)cache_blob_data(b) != (char)i))
        fail_msg("%d: the bytes of another", i);
    return b;
}

/* fill: FIT entries, the higher the number the longer unused. */
static char *fill(void) {
    char *dir = scratch_dir();
    for (int i = 0; i < FIT; i++) {
        put_and_unload(dir, i, LIMIT);
        age(dir, i, 1000 + i);
    }
    assert_int_equal(scratch_files(dir, ""), FIT);
    return dir;
}

static void what_was_not_used_for_longest_goes(void **state) {
    (void)state;
    char *dir = fill();
    cache *c = open_limited(dir, LIMIT, NULL);
    for (int i = FIT - 3; i < FIT; i++) cache_blob_release(load(c, i)); /* now the last to go */
    cache_close(c);
    for (int i = 100; i < 110; i++) {
        put_and_unload(dir, i, LIMIT);
        assert_true(is_there(dir, i));
        assert_in_range(size_of(dir), LIMIT / 2, LIMIT);
    }
    int gone = 0;
    for (int i = 0; i < FIT - 3; i++) {
        gone += !is_there(dir, i);
        if (i) assert_true(is_there(dir, i - 1) || !is_there(dir, i)); /* in order */
    }
    assert_in_range(gone, 6, 12);
    for (int i = FIT - 3; i < FIT; i++) assert_true(is_there(dir, i));
    scratch_remove(dir);
}

static void without_a_limit_nothing_goes_and_no_time_is_set(void **state) {
    (void)state;
    char *dir = fill();
    struct stat before, after;
    assert_int_equal(stat(scratch_entry(dir, name_of(3)), &before), 0);
    cache *c = scratch_open(dir, NULL);
    cache_blob_release(load(c, 3));
    for (int i = 100; i < 120; i++) cache_blob_release(put(c, i));
    cache_close(c);
    assert_int_equal(stat(scratch_entry(dir, name_of(3)), &after), 0);
    assert_int_equal(before.st_mtime, after.st_mtime);
    assert_int_equal(scratch_files(dir, ""), FIT + 20);
    scratch_remove(dir);
}

static void what_this_process_has_loaded_stays(void **state) {
    (void)state;
    char *dir = fill();
    cache *holder = scratch_open(dir, NULL);
    cache_blob *loaded[3] = {load(holder, FIT - 1), load(holder, FIT - 2), load(holder, FIT - 3)};
    cache_close(holder); /* a kernel may outlive its context */
    for (int i = 100; i < 125; i++) put_and_unload(dir, i, LIMIT);
    for (int k = 1; k <= 3; k++) assert_true(is_there(dir, FIT - k));
    assert_false(is_there(dir, 0));
    for (int k = 0; k < 3; k++) cache_blob_release(loaded[k]);
    for (int i = 200; i < 225; i++) put_and_unload(dir, i, LIMIT);
    for (int k = 1; k <= 3; k++) assert_false(is_there(dir, FIT - k));
    assert_in_range(size_of(dir), LIMIT / 2, LIMIT);
    scratch_remove(dir);
}

/* Two blobs of one key are pinned each: the end of one is not the end of the other. */
static void loaded_twice_and_given_up_once_stays(void **state) {
    (void)state;
    char *dir = fill();
    cache *c = scratch_open_with((cache_options){.roots = dir, .memory_bytes = 1}, NULL);
    cache_blob *first = load(c, FIT - 1), *second = load(c, FIT - 1);
    assert_ptr_not_equal(first, second);
    cache_blob_release(first);
    for (int i = 100; i < 125; i++) put_and_unload(dir, i, LIMIT);
    assert_true(is_there(dir, FIT - 1));
    cache_blob_release(second);
    cache_close(c);
    scratch_remove(dir);
}

static int load_oldest(void *dir) { return load(scratch_open(dir, NULL), FIT - 1) != NULL; }

static void what_another_process_has_loaded_stays_until_it_ends(void **state) {
    (void)state;
    char *dir = fill();
    const pid_t child = fork_holder(load_oldest, dir);
    for (int i = 100; i < 125; i++) put_and_unload(dir, i, LIMIT);
    kill(child, SIGSTOP);
    for (int i = 125; i < 150; i++) put_and_unload(dir, i, LIMIT);
    assert_true(is_there(dir, FIT - 1));
    assert_false(is_there(dir, FIT - 2));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    for (int i = 200; i < 225; i++) put_and_unload(dir, i, LIMIT);
    assert_false(is_there(dir, FIT - 1));
    scratch_remove(dir);
}

static int give_up(void *blob) {
    cache_blob_release(blob);
    return 0;
}

static void a_forked_child_does_not_give_up_what_its_parent_has(void **state) {
    (void)state;
    char *dir = fill();
    cache *c = scratch_open_with((cache_options){.roots = dir, .memory_bytes = 1}, NULL);
    cache_blob *loaded = load(c, FIT - 1);
    assert_int_equal(in_child(give_up, loaded, 0), 0);
    for (int i = 100; i < 125; i++) put_and_unload(dir, i, LIMIT);
    assert_true(is_there(dir, FIT - 1));
    cache_blob_release(loaded);
    cache_close(c);
    scratch_remove(dir);
}

/* All that is there is loaded: what is new lives in memory, and nobody is warned, as nothing is wrong. */
static void where_all_is_loaded_what_is_new_stays_in_memory(void **state) {
    (void)state;
    char *dir = fill();
    log_book book = {0};
    cdnagen_cache_tier tier;
    cache *holder = scratch_open(dir, NULL), *c = open_limited(dir, LIMIT, &book);
    for (int i = 0; i < FIT; i++) cache_blob_release(load(holder, i)); /* in its memory tier */
    for (int i = 100; i < 120; i++) cache_blob_release(put(c, i));
    assert_in_range(size_of(dir), LIMIT / 2, LIMIT);
    for (int i = 0; i < FIT; i++) assert_true(is_there(dir, i));
    assert_false(is_there(dir, 119));
    cache_blob *b = cache_get(c, name_of(119), &tier);
    assert_non_null(b);
    assert_int_equal(tier, CDNAGEN_TIER_MEMORY);
    cache_blob_release(b);
    assert_int_equal(book.warnings, 0);
    assert_in_range(book.infos, 1, 20);
    cache_close(c);
    cache_close(holder);
    scratch_remove(dir);
}

/* Too little is left beside what is loaded: to evict it would help nobody. */
static void what_could_not_make_room_stays(void **state) {
    (void)state;
    char *dir = fill(), data[4 * DATA_BYTES] = {0};
    put_and_unload(dir, 100, LIMIT);
    assert_true(is_there(dir, 100));
    cache *holder = scratch_open(dir, NULL), *c = open_limited(dir, LIMIT, NULL);
    for (int i = 0; i < FIT; i++) cache_blob_release(load(holder, i));
    cache_blob_release(cache_put(c, name_of(101), data, sizeof data));
    assert_true(is_there(dir, 100));
    assert_false(is_there(dir, 101));
    cache_close(holder);
    cache_blob_release(cache_put(c, name_of(102), data, sizeof data));
    assert_true(is_there(dir, 102));
    cache_close(c);
    scratch_remove(dir);
}

static void every_allocation_may_fail_while_room_is_made(void **state) {
    (void)state;
    int failures = 0;
    for (int was_reached = 1; was_reached; failures += was_reached) {
        char *dir = fill();
        const long live = mem_live();
        mem_fail_at(failures + 1);
        cache *c = NULL;
        cdnagen_cache_tier tier;
        const cache_options options = {.roots = dir, .disk_bytes = LIMIT};
        if (!cache_open(&options, &c)) {
            cache_blob_release(cache_get(c, name_of(1), &tier));
            for (int i = 100; i < 106; i++) cache_blob_release(put(c, i));
            cache_close(c);
        }
        void *const left = mem_alloc(1);
        was_reached = left != NULL; /* by what came before it */
        mem_free(left);
        mem_fail_at(0);
        assert_int_equal(mem_live(), live);
        assert_in_range(size_of(dir), LIMIT / 2, LIMIT);
        scratch_remove(dir);
    }
    assert_in_range(failures, 8, 50);
}

static void an_entry_beyond_the_limit_is_not_written(void **state) {
    (void)state;
    char *dir = scratch_dir();
    put_and_unload(dir, 1, DATA_BYTES);
    assert_int_equal(scratch_files(dir, ""), 0);
    put_and_unload(dir, 1, DATA_BYTES + 200);
    assert_int_equal(scratch_files(dir, ""), 1);
    put_and_unload(dir, 2, DATA_BYTES + 200);
    assert_false(is_there(dir, 1));
    assert_true(is_there(dir, 2));
    scratch_remove(dir);
}

static void a_clock_that_was_set_back_costs_nothing_but_the_order(void **state) {
    (void)state;
    char *dir = fill();
    for (int i = 0; i < FIT; i += 2) age(dir, i, -100000 - i);
    for (int i = 100; i < 125; i++) {
        put_and_unload(dir, i, LIMIT);
        cache *c = open_limited(dir, LIMIT, NULL);
        cache_blob *b = load(c, i);
        assert_non_null(b);
        cache_blob_release(b);
        cache_close(c);
        assert_in_range(size_of(dir), LIMIT / 2, LIMIT);
    }
    scratch_remove(dir);
}

static void a_directory_that_was_removed_is_pinned_anew(void **state) {
    (void)state;
    char *dir = scratch_dir(), *root = strdup(scratch_path("%s/root", dir));
    cache *c = scratch_open(root, NULL);
    cache_blob *before = put(c, 1);
    assert_int_equal(system(scratch_path("rm -r %s", root)), 0);
    cache_blob *after = put(c, 2);
    age(root, 2, 100000);
    for (int i = 100; i < 125; i++) put_and_unload(root, i, LIMIT);
    assert_true(is_there(root, 2));
    cache_blob_release(before);
    cache_blob_release(after);
    cache_close(c);
    free(root);
    scratch_remove(dir);
}

static void what_is_not_an_entry_of_the_written_root_is_not_touched(void **state) {
    (void)state;
    char *dir = scratch_dir();
    char *own = strdup(scratch_path("%s/own", dir)), *other = strdup(scratch_path("%s/other", dir));
    char *roots = strdup(scratch_path("%s:%s", own, other));
    for (int i = 0; i < FIT; i++) put_and_unload(other, i, 0);
    put_and_unload(own, 50, LIMIT);
    assert_int_equal(mkdir(scratch_path("%s/v2", own), 0755), 0);
    scratch_write(scratch_path("%s/v2/of_a_later_version", own), "precious", 8);
    scratch_write(scratch_path("%s/mine", own), "precious", 8);
    for (int i = 100; i < 130; i++) {
        cache *c = open_limited(roots, LIMIT, NULL);
        cache_blob_release(put(c, i));
        cache_blob_release(load(c, i % FIT));
        cache_close(c);
    }
    assert_false(is_there(own, 50));
    for (int i = 0; i < FIT; i++) assert_true(is_there(other, i));
    assert_true(scratch_exists(scratch_path("%s/v2/of_a_later_version", own)));
    assert_true(scratch_exists(scratch_path("%s/mine", own)));
    free(own);
    free(other);
    free(roots);
    scratch_remove(dir);
}

/* ---- many at once ---- */

enum { WRITERS = 4, TURNS = 60, KEYS = 60 };

typedef struct crowd {
    const char *dir;
    atomic_int ended, hits, wrong, lost;
} crowd;

/* Each holds the last few of what it asked for, and looks that they stay on disk. */
static int write_and_load(crowd *all, unsigned seed) {
    enum { HELD = 3 };
    cache_blob *held[HELD] = {NULL};
    int of[HELD] = {0};
    cache *c = scratch_open_with((cache_options){.roots = all->dir, .disk_bytes = LIMIT, .memory_bytes = 1}, NULL);
    for (int turn = 0; turn < TURNS; turn++) {
        const int i = (int)(rand_r(&seed) % KEYS), at = turn % HELD;
        cdnagen_cache_tier tier;
        cache_blob_release(held[at]);
        held[at] = cache_get(c, name_of(i), &tier);
        atomic_fetch_add(&all->hits, held[at] != NULL);
        of[at] = held[at] ? i : -1; /* what was put may have found no room */
        if (!held[at]) held[at] = put(c, i);
        const char *const data = cache_blob_data(held[at]);
        if (cache_blob_size(held[at]) != DATA_BYTES || data[0] != (char)i || data[DATA_BYTES - 1] != (char)i)
            atomic_fetch_add(&all->wrong, 1);
        for (int k = 0; k < HELD; k++)
            if (held[k] && of[k] >= 0 && !is_there(all->dir, of[k])) atomic_fetch_add(&all->lost, 1);
    }
    for (int k = 0; k < HELD; k++) cache_blob_release(held[k]);
    cache_close(c);
    atomic_fetch_add(&all->ended, 1);
    return 0;
}

static void writers_and_readers_at_once_stay_within_it(void **state) {
    (void)state;
    char *dir = scratch_dir();
    crowd *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(all, MAP_FAILED);
    all->dir = dir;
    fflush(NULL);
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0) _exit(write_and_load(all, (unsigned)i + 1));
    uint64_t most = 0;
    int looks = 0;
    for (int left = WRITERS; left; looks++) {
        const uint64_t size = size_of(dir);
        if (size > most) most = size;
        while (left && waitpid(-1, NULL, WNOHANG) > 0) left--;
        sleep_ms(1);
    }
    print_message(
        "%d processes, %d turns: %d loads, %d wrong, %d lost while loaded; at most %d of %d bytes in %d looks\n",
        WRITERS, WRITERS * TURNS, all->hits, all->wrong, all->lost, (int)most, LIMIT, looks);
    assert_int_equal(all->ended, WRITERS);
    assert_int_equal(all->wrong + all->lost, 0);
    assert_true(all->hits > 0 && most > LIMIT / 2);
    /* Each stays a 16th below it by what it saw: not what others wrote while it looked, or was kept from running. */
    assert_in_range(most, 1, LIMIT + WRITERS * (DATA_BYTES + 200));
    assert_int_equal(scratch_files(dir, ".lock"), 0);
    munmap(all, sizeof *all);
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_used_for_longest_goes),
        cmocka_unit_test(without_a_limit_nothing_goes_and_no_time_is_set),
        cmocka_unit_test(what_this_process_has_loaded_stays),
        cmocka_unit_test(loaded_twice_and_given_up_once_stays),
        cmocka_unit_test(what_another_process_has_loaded_stays_until_it_ends),
        cmocka_unit_test(a_forked_child_does_not_give_up_what_its_parent_has),
        cmocka_unit_test(where_all_is_loaded_what_is_new_stays_in_memory),
        cmocka_unit_test(what_could_not_make_room_stays),
        cmocka_unit_test(every_allocation_may_fail_while_room_is_made),
        cmocka_unit_test(an_entry_beyond_the_limit_is_not_written),
        cmocka_unit_test(a_clock_that_was_set_back_costs_nothing_but_the_order),
        cmocka_unit_test(a_directory_that_was_removed_is_pinned_anew),
        cmocka_unit_test(what_is_not_an_entry_of_the_written_root_is_not_touched),
        cmocka_unit_test(writers_and_readers_at_once_stay_within_it),
    };
    return cmocka_run_group_tests_name("cache limit", tests, NULL, NULL);
}
