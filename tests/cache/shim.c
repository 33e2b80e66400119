/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Faults of the file system. With CDNAGEN_SHIM="DIR CALL AT LASTING ERRNO" in the environment it is armed from the
 * start, for a command under LD_PRELOAD; CALL is "any" for every call, and AT counts from 1. fsync does nothing: no
 * test cuts the power, and disks take their time. */
#include "tests/cache/shim.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic(const shim_plan *) armed;
static atomic_int count, longest;
static const char *_Atomic met = "";
static _Thread_local int inside; /* calls of the shim itself, and of a hook */

void shim_arm(const shim_plan *plan) {
    count = longest = 0;
    met = "";
    armed = plan;
}

int shim_disarm(void) {
    armed = NULL;
    return count;
}

const char *shim_name(void) { return met; }
int shim_longest(void) { return longest; }

static void arm_from_environment(void) __attribute__((constructor));
static void arm_from_environment(void) {
    static shim_plan plan = {.action = SHIM_FAIL};
    static char dir[256], call[32];
    const char *const words = getenv("CDNAGEN_SHIM");
    if (!words || sscanf(words, "%255s %31s %d %d %d", dir, call, &plan.at, &plan.lasting, &plan.error) != 5) return;
    plan.under = dir;
    plan.call = strcmp(call, "any") ? call : NULL;
    shim_arm(&plan);
}

#define REAL(name)                                                                                                     \
    ({                                                                                                                 \
        static void *_Atomic found;                                                                                    \
        if (!found) found = dlsym(RTLD_NEXT, #name);                                                                   \
        (__typeof__(&name))found;                                                                                      \
    })

/* below: whether a path, or what a descriptor has open, is the directory or below it. */
static int below(const char *dir, int fd, const char *path) {
    char link[64], at[PATH_MAX] = "";
    if (!path || *path != '/') {
        if (fd == AT_FDCWD) return 0;
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (readlink(link, at, sizeof at - 1) < 0) return 0;
        path = at;
    }
    const size_t n = strlen(dir);
    return !strncmp(path, dir, n) && (!path[n] || path[n] == '/' || path[n] == ' ');
}

static void note_name(const char *path) {
    const char *const slash = strrchr(path, '/');
    const int length = (int)strlen(slash ? slash + 1 : path);
    if (length > longest) longest = length;
}

enum { GO = 0, SHORT = -1, THEN_KILL = -2 };

/* step: what is to happen to a call; an errno if it fails. */
static int step(const char *name, int fd, const char *path) {
    const shim_plan *const p = armed;
    if (!p || inside) return GO;
    inside = 1;
    int answer = GO;
    if ((!p->call || !strcmp(p->call, name)) && below(p->under, fd, path)) {
        if (path) note_name(path);
        const int number = atomic_fetch_add(&count, 1) + 1;
        if (number == p->at || (p->lasting && number > p->at)) {
            met = name;
            switch (p->action) {
            case SHIM_COUNT: break;
            case SHIM_FAIL: answer = p->error; break;
            case SHIM_SHORT: answer = SHORT; break;
            case SHIM_KILL_BEFORE: raise(SIGKILL); break;
            case SHIM_KILL_AFTER: answer = THEN_KILL; break;
            case SHIM_STOP: raise(SIGSTOP); break;
            case SHIM_HOOK: p->hook(p->user); break;
            }
        }
    }
    inside = 0;
    return answer;
}

/* A call that is passed on as it is, unless it fails. */
#define PASS(type, name, fd, path, parameters, arguments)                                                              \
    type name parameters {                                                                                             \
        const int what = step(#name, fd, path);                                                                        \
        if (what > 0) return errno = what, (type) - 1;                                                                 \
        const type result = REAL(name) arguments;                                                                      \
        if (what == THEN_KILL) raise(SIGKILL);                                                                         \
        return result;                                                                                                 \
    }

PASS(int, mkdir, AT_FDCWD, path, (const char *path, mode_t mode), (path, mode))
PASS(int, mkdirat, fd, path, (int fd, const char *path, mode_t mode), (fd, path, mode))
PASS(int, unlinkat, fd, path, (int fd, const char *path, int flags), (fd, path, flags))
PASS(int, unlink, AT_FDCWD, path, (const char *path), (path))
PASS(int, renameat, fd, to, (int fd, const char *from, int to_fd, const char *to), (fd, from, to_fd, to))
PASS(int, rename, AT_FDCWD, to, (const char *from, const char *to), (from, to))
PASS(int, flock, fd, NULL, (int fd, int operation), (fd, operation))
PASS(int, fstat, fd, NULL, (int fd, struct stat *st), (fd, st))
PASS(int, fstatat, fd, path, (int fd, const char *path, struct stat *st, int flags), (fd, path, st, flags))
PASS(int, utimensat, fd, path, (int fd, const char *path, const struct timespec times[2], int flags),
     (fd, path, times, flags))

/* Reads and writes can be short. */
#define PIECE(name, fd, parameters, whole, half)                                                                       \
    ssize_t name parameters {                                                                                          \
        const int what = step(#name, fd, NULL);                                                                        \
        if (what > 0) return errno = what, -1;                                                                         \
        const ssize_t result = what == GO ? REAL(name) whole : REAL(name) half;                                        \
        if (what == THEN_KILL) raise(SIGKILL);                                                                         \
        return result;                                                                                                 \
    }

PIECE(read, fd, (int fd, void *to, size_t n), (fd, to, n), (fd, to, n > 1 ? n / 2 : n))
PIECE(pread, fd, (int fd, void *to, size_t n, off_t at), (fd, to, n, at), (fd, to, n > 1 ? n / 2 : n, at))
PIECE(write, fd, (int fd, const void *from, size_t n), (fd, from, n), (fd, from, n > 1 ? n / 2 : n))
PIECE(pwrite, fd, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at), (fd, from, n > 1 ? n / 2 : n, at))

int fsync(int fd) {
    const int what = step("fsync", fd, NULL);
    if (what > 0) return errno = what, -1;
    if (what == THEN_KILL) raise(SIGKILL);
    return 0;
}

/* A descriptor is gone also where closing it fails. */
int close(int fd) {
    const int what = step("close", fd, NULL), result = REAL(close)(fd);
    if (what == THEN_KILL) raise(SIGKILL);
    return what > 0 ? (errno = what, -1) : result;
}

struct dirent *readdir(DIR *listing) {
    const int what = step("readdir", dirfd(listing), NULL);
    if (what > 0) return errno = what, NULL;
    struct dirent *const result = REAL(readdir)(listing);
    if (what == THEN_KILL) raise(SIGKILL);
    return result;
}

/* The mode is there only where a file may be made. */
static mode_t mode_of(int flags, va_list arguments) { return flags & O_CREAT ? va_arg(arguments, mode_t) : 0; }

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    const int what = step("open", AT_FDCWD, path);
    if (what > 0) return errno = what, -1;
    const int result = REAL(open)(path, flags, mode);
    if (what == THEN_KILL) raise(SIGKILL);
    return result;
}

int openat(int fd, const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    const int what = step("openat", fd, path);
    if (what > 0) return errno = what, -1;
    const int result = REAL(openat)(fd, path, flags, mode);
    if (what == THEN_KILL) raise(SIGKILL);
    return result;
}

int fcntl(int fd, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *const argument = va_arg(arguments, void *);
    va_end(arguments);
    const int what = step("fcntl", fd, NULL);
    if (what > 0) return errno = what, -1;
    const int result = REAL(fcntl)(fd, command, argument);
    if (what == THEN_KILL) raise(SIGKILL);
    return result;
}
