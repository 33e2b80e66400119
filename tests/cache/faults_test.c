/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Directories that cannot be used: the caller loses nothing, and one warning says why. */
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cache/scratch.h"

#define TEXT "mqa_logits|mfma32x32x64_bkv64|gfx950"

enum { NOBODY = 65534, TURNS = 3, DATA_BYTES = 100 * 1000 };

/* bad_dir: what a turn of calls must show on an unusable directory. */
typedef struct bad_dir {
    const char *dir;
    const char *warning; /* words that the warning must have */
} bad_dir;

/* The turns run in a child, which reports by its exit code: the number of the check that failed. */
#define CHECK(n, condition)                                                                                            \
    do {                                                                                                               \
        if (!(condition)) return n;                                                                                    \
    } while (0)

static int turns(void *argument) {
    const bad_dir *bad = argument;
    static const char data[DATA_BYTES];
    log_book book = {0};
    cdnagen_cache_tier tier;
    cache *c = scratch_open(bad->dir, &book);
    for (int i = 0; i < TURNS; i++) {
        char key_text[32];
        snprintf(key_text, sizeof key_text, "key %d", i);
        CHECK(1, !cache_get(c, key_text, &tier));
        cache_lock_handle *lock = cache_lock(c, key_text);
        CHECK(2, !cache_get(c, key_text, &tier));
        cache_blob *put = cache_put(c, key_text, data, sizeof data);
        cache_unlock(lock);
        CHECK(3, put && cache_blob_size(put) == sizeof data);
        cache_blob *got = cache_get(c, key_text, &tier);
        CHECK(4, got == put && tier == CDNAGEN_TIER_MEMORY);
        cache_blob_release(put);
        cache_blob_release(got);
    }
    cache_close(c);
    if (book.warnings != 1 || !strstr(book.last_warning, bad->warning) || !strstr(book.last_warning, bad->dir)) {
        print_message("%d warnings: %s\n", book.warnings, book.last_warning);
        return 5;
    }
    cache *fresh = scratch_open(bad->dir, NULL);
    for (int i = 0; i < TURNS; i++) {
        char key_text[32];
        snprintf(key_text, sizeof key_text, "key %d", i);
        CHECK(6, !cache_get(fresh, key_text, &tier));
    }
    cache_close(fresh);
    return 0;
}

static void expect_one_warning(const char *dir, const char *warning, unsigned uid) {
    bad_dir bad = {dir, warning};
    assert_int_equal(in_child(turns, &bad, uid), 0);
}

static void a_file_in_place_of_the_directory(void **state) {
    (void)state;
    char *dir = scratch_dir();
    const char *file = scratch_path("%s/file", dir);
    scratch_write(file, "precious", 8);
    expect_one_warning(file, "it is no pack", 0);
    expect_one_warning(scratch_path("%s/below", file), "Not a directory", 0);
    scratch_remove(dir);
}

static void a_file_in_place_of_the_format_folder(void **state) {
    (void)state;
    char *dir = scratch_dir();
    scratch_write(scratch_path("%s/v1", dir), "precious", 8);
    expect_one_warning(dir, "Not a directory", 0);
    scratch_remove(dir);
}

static void a_name_that_is_too_long(void **state) {
    (void)state;
    char *dir = scratch_dir();
    expect_one_warning(scratch_path("%s/%0300d", dir, 0), "File name too long", 0);
    char deep[PATH_MAX] = ""; /* what is wrong is said after the longest path, too */
    snprintf(deep, sizeof deep, "%s/%0*d", dir, PATH_MAX - 100, 0);
    expect_one_warning(deep, "File name too long", 0);
    scratch_remove(dir);
}

/* plain_user: whom modes bind: nobody where the test is root, else whoever runs it (0: as it is). */
static unsigned plain_user(void) { return geteuid() ? 0 : NOBODY; }

static void a_read_only_directory(void **state) {
    (void)state;
    char *dir = scratch_dir();
    assert_int_equal(chmod(dir, 0555), 0);
    expect_one_warning(dir, "Permission denied", plain_user());
    scratch_remove(dir);
}

static void a_directory_that_cannot_be_made(void **state) {
    (void)state;
    char *dir = scratch_dir();
    assert_int_equal(chmod(dir, 0555), 0);
    expect_one_warning(scratch_path("%s/a/b", dir), "Permission denied", plain_user());
    scratch_remove(dir);
}

static void a_directory_that_may_not_be_entered(void **state) {
    (void)state;
    char *dir = scratch_dir();
    assert_int_equal(chmod(dir, 0), 0);
    expect_one_warning(dir, "Permission denied", plain_user());
    assert_int_equal(chmod(dir, 0700), 0);
    scratch_remove(dir);
}

/* What follows is about files of another user, which only root can make. */
static void need_root(void) {
    if (geteuid()) {
        print_message("needs root, to act as another user\n");
        skip();
    }
}

static int hit(void *argument) {
    log_book book = {0};
    cdnagen_cache_tier tier;
    cache *c = scratch_open(argument, &book);
    cache_blob *b = cache_get(c, TEXT, &tier);
    CHECK(1, b && tier == CDNAGEN_TIER_DISK && cache_blob_size(b) == 4);
    cache_blob_release(b);
    cache_close(c);
    return book.warnings + book.infos;
}

/* An image is filled by root and used by whoever the container runs as. */
static void entries_of_a_read_only_directory_of_root_are_hits(void **state) {
    (void)state;
    need_root();
    char *dir = scratch_dir();
    assert_int_equal(chmod(dir, 0755), 0);
    cache *c = scratch_open(dir, NULL);
    cache_blob_release(cache_put(c, TEXT, "data", 4));
    cache_close(c);
    assert_int_equal(in_child(hit, dir, NOBODY), 0);
    scratch_remove(dir);
}

static int turns_with_short_files(void *argument) {
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {50000, 50000};
    CHECK(7, !setrlimit(RLIMIT_FSIZE, &limit));
    return turns(argument);
}

static void writes_that_fail_half_way(void **state) {
    (void)state;
    char *dir = scratch_dir();
    bad_dir bad = {dir, "File too large"};
    assert_int_equal(in_child(turns_with_short_files, &bad, 0), 0);
    assert_int_equal(scratch_files(dir, ""), 0); /* neither temporaries nor locks are left */
    assert_int_equal(in_child(turns_with_short_files, &bad, 0), 0);
    cache *c = scratch_open(dir, NULL);
    cache_blob_release(cache_put(c, TEXT, "data", 4));
    cache_close(c);
    assert_int_equal(in_child(hit, dir, 0), 0);
    scratch_remove(dir);
}

enum { CANNOT_MOUNT = 90 };
static int turns_on_a_small_disk(void *argument) {
    const bad_dir *bad = argument;
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", bad->dir, "tmpfs", 0, "size=64k,mode=0755"))
        return CANNOT_MOUNT;
    const int result = turns(argument);
    CHECK(8, scratch_files(bad->dir, "") == 0);
    return result;
}

static void a_full_disk(void **state) {
    (void)state;
    char *dir = scratch_dir();
    bad_dir bad = {dir, "No space left on device"};
    const int result = in_child(turns_on_a_small_disk, &bad, 0);
    scratch_remove(dir);
    if (result == CANNOT_MOUNT) {
        print_message("may not mount a tmpfs here; writes_that_fail_half_way takes the same path\n");
        skip();
    }
    assert_int_equal(result, 0);
}

static int turns_on_a_read_only_mount(void *argument) {
    const bad_dir *bad = argument;
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", bad->dir, "tmpfs", MS_RDONLY, "size=64k,mode=0755"))
        return CANNOT_MOUNT;
    return turns(argument);
}

static void a_read_only_mount(void **state) {
    (void)state;
    char *dir = scratch_dir();
    bad_dir bad = {dir, "Read-only file system"};
    const int result = in_child(turns_on_a_read_only_mount, &bad, 0);
    scratch_remove(dir);
    if (result == CANNOT_MOUNT) {
        print_message("may not mount a tmpfs here; a_read_only_directory takes the same path\n");
        skip();
    }
    assert_int_equal(result, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_in_place_of_the_directory),
        cmocka_unit_test(a_file_in_place_of_the_format_folder),
        cmocka_unit_test(a_name_that_is_too_long),
        cmocka_unit_test(a_read_only_directory),
        cmocka_unit_test(a_directory_that_cannot_be_made),
        cmocka_unit_test(a_directory_that_may_not_be_entered),
        cmocka_unit_test(entries_of_a_read_only_directory_of_root_are_hits),
        cmocka_unit_test(writes_that_fail_half_way),
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(a_read_only_mount),
    };
    return cmocka_run_group_tests_name("cache faults", tests, NULL, NULL);
}
