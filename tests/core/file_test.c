/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* core/file.c: a file that takes another's place, or leaves it as it was. */
#include "tests/core/cmocka_tests.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/file.h"

static char folder[] = "/tmp/cdnagen-file-XXXXXX";

static int enter(void **state) {
    (void)state;
    return !mkdtemp(folder) || chdir(folder);
}
static int leave(void **state) {
    (void)state;
    return chdir("/") || rmdir(folder);
}

static void write_new(file_beside *f, const char *path, mode_t mode, const char *words) {
    assert_int_equal(beside_open(f, path, mode), 0);
    assert_true(write_all(f->fd, words, strlen(words)));
}

/* holds: exactly these words are there, with this mode, and nothing is beside them. */
static void holds(const char *path, const char *words, mode_t mode) {
    char found[16] = "";
    struct stat st;
    const int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && read(fd, found, sizeof found - 1) >= 0 && !fstat(fd, &st));
    close(fd);
    assert_string_equal(found, words);
    assert_int_equal(st.st_mode & 07777, mode);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(system("test -z \"$(ls -A)\""), 0);
}

static void a_file_takes_the_place_of_another_or_leaves_it(void **state) {
    (void)state;
    file_beside f, g;
    const mode_t mask = umask(027);
    write_new(&f, "a", 0666, "old");
    assert_int_equal(access("a", F_OK), -1); /* not before it is kept */
    assert_int_equal(beside_keep(&f), 0);
    write_new(&f, "./a", 0600, "new");
    beside_drop(&f);
    holds("a", "old", 0640);
    write_new(&f, "a", 0666, "first"); /* two at once: the later one is there */
    write_new(&g, "a", 0600, "second");
    assert_int_equal(beside_keep(&f), 0);
    assert_int_equal(beside_keep(&g), 0);
    holds("a", "second", 0600);
    umask(mask);
}

static void the_longest_name_can_be_written(void **state) {
    (void)state;
    char name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    file_beside f;
    write_new(&f, name, 0600, "x");
    assert_int_equal(beside_keep(&f), 0);
    holds(name, "x", 0600);
}

static void what_fails_is_told_and_leaves_nothing(void **state) {
    (void)state;
    file_beside f;
    assert_int_equal(beside_open(&f, "none/a", 0666), ENOENT);
    assert_int_equal(mkdir("a", 0700), 0);
    assert_int_equal(beside_open(&f, "a", 0666), EISDIR);
    assert_int_equal(rmdir("a"), 0);
    write_new(&f, "a", 0666, "x");
    assert_int_equal(mkdir("a", 0700), 0);
    assert_int_equal(beside_keep(&f), EISDIR);
    assert_int_equal(rmdir("a"), 0);
    assert_int_equal(system("test -z \"$(ls -A)\""), 0);
}

/* The system's own files are such: /dev/null, /dev/stdout. */
static void what_is_no_regular_file_stays(void **state) {
    (void)state;
    file_beside f;
    struct stat before, after;
    assert_int_equal(mkfifo("a", 0600), 0);
    assert_int_equal(symlink("nowhere", "b"), 0);
    for (int link = 0; link < 2; link++) {
        const char *const path = link ? "b" : "a";
        assert_int_equal(lstat(path, &before), 0);
        assert_int_equal(beside_open(&f, path, 0666), link ? ELOOP : EOPNOTSUPP);
        assert_int_equal(lstat(path, &after), 0);
        assert_int_equal(after.st_ino, before.st_ino);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(system("test -z \"$(ls -A)\""), 0);
}

/* A process that is killed while it has `count` files open. */
static void kill_while_writing(int count) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        file_beside f;
        for (int i = 0; i < count; i++)
            if (beside_open(&f, "a", 0666) || !write_all(f.fd, "half", 4)) _exit(1);
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static int count_files(void) {
    DIR *const listing = opendir(".");
    assert_non_null(listing);
    int count = 0;
    while (readdir(listing)) count++;
    closedir(listing);
    return count - 2;
}

static void what_a_killed_process_left_is_removed(void **state) {
    (void)state;
    file_beside f, g;
    kill_while_writing(3);
    assert_int_equal(count_files(), 3);
    write_new(&f, "b", 0600, "x");
    assert_int_equal(count_files(), 1);
    kill_while_writing(2);
    write_new(&g, "c", 0600, "y"); /* what is being written is nobody's to remove */
    assert_int_equal(count_files(), 2);
    beside_drop(&g);
    assert_int_equal(beside_keep(&f), 0);
    holds("b", "x", 0600);
}

enum { WRITERS = 8, ROUNDS = 300 };
static void *write_often(void *path) {
    for (int i = 0; i < ROUNDS; i++) {
        file_beside f;
        if (beside_open(&f, path, 0600) || !write_all(f.fd, path, 1) || beside_keep(&f)) return path;
    }
    return NULL;
}

/* No writer's file is taken for one that was left. */
static void many_write_in_one_folder(void **state) {
    (void)state;
    static char paths[WRITERS][2];
    pthread_t threads[WRITERS];
    void *failed[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        paths[i][0] = (char)('a' + i);
        assert_int_equal(pthread_create(&threads[i], NULL, write_often, paths[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) assert_int_equal(pthread_join(threads[i], &failed[i]), 0);
    for (int i = 0; i < WRITERS; i++) {
        assert_null(failed[i]);
        assert_int_equal(unlink(paths[i]), 0);
    }
    assert_int_equal(count_files(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_takes_the_place_of_another_or_leaves_it),
        cmocka_unit_test(the_longest_name_can_be_written),
        cmocka_unit_test(what_fails_is_told_and_leaves_nothing),
        cmocka_unit_test(what_is_no_regular_file_stays),
        cmocka_unit_test(what_a_killed_process_left_is_removed),
        cmocka_unit_test(many_write_in_one_folder),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
