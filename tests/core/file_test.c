/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* core/file.c: a file that takes another's place, or leaves it as it was. */
#include "tests/core/cmocka_tests.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
    write_new(&f, "a", 0666, "x");
    assert_int_equal(beside_keep(&f), EISDIR);
    assert_int_equal(rmdir("a"), 0);
    assert_int_equal(system("test -z \"$(ls -A)\""), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_takes_the_place_of_another_or_leaves_it),
        cmocka_unit_test(the_longest_name_can_be_written),
        cmocka_unit_test(what_fails_is_told_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
