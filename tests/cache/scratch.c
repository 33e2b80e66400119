/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tests/cache/scratch.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

char *scratch_dir(void) {
    const char *base = getenv("TMPDIR");
    char *dir = NULL;
    assert_true(asprintf(&dir, "%s/cdnagen-test-XXXXXX", base && *base ? base : "/tmp") > 0);
    assert_non_null(mkdtemp(dir));
    return dir;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st, (void)type, (void)at;
    return remove(path);
}

void scratch_empty(const char *dir) { nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

void scratch_remove(char *dir) {
    scratch_empty(dir);
    free(dir);
}

const char *scratch_path(const char *format, ...) {
    static char buffers[8][4096];
    static int next;
    char *out = buffers[next++ % 8];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out, sizeof buffers[0], format, arguments);
    va_end(arguments);
    return out;
}

const char *scratch_entry(const char *dir, const char *key_text) {
    char key[CACHE_KEY_CHARS + 1];
    cache_key(key_text, key);
    return scratch_path("%s/v1/%.2s/%s", dir, key, key);
}

void scratch_write(const char *path, const void *data, size_t size) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

int scratch_exists(const char *path) {
    struct stat st;
    return !lstat(path, &st);
}

static const char *wanted;
static int found;
static int count_one(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st, (void)at;
    const size_t length = strlen(path), tail = strlen(wanted);
    found += type != FTW_D && type != FTW_DP && length >= tail && !strcmp(path + length - tail, wanted);
    return 0;
}

int scratch_files(const char *dir, const char *ending) {
    wanted = ending;
    found = 0;
    nftw(dir, count_one, 16, FTW_PHYS);
    return found;
}

static void note(void *user, cdnagen_log_level level, const char *line) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    log_book *book = user;
    atomic_fetch_add(level == CDNAGEN_LOG_WARNING ? &book->warnings : &book->infos, 1);
    if (level != CDNAGEN_LOG_WARNING) return;
    pthread_mutex_lock(&mutex);
    snprintf(book->last_warning, sizeof book->last_warning, "%s", line);
    pthread_mutex_unlock(&mutex);
}

cache *scratch_open_with(cache_options options, log_book *book) {
    cache *c = NULL;
    options.log = book ? note : NULL;
    options.log_user = book;
    assert_int_equal(cache_open(&options, &c), CDNAGEN_OK);
    return c;
}

cache *scratch_open(const char *dir, log_book *book) { return scratch_open_with((cache_options){.roots = dir}, book); }

int in_child(int (*work)(void *), void *argument, unsigned uid) {
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        if (uid && (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))) _exit(99);
        _exit(work(argument));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

pid_t fork_holder(int (*take)(void *), void *argument) {
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        if (!take(argument) || write(ends[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return child;
}

double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void sleep_ms(int ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL); }
