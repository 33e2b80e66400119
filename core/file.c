/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whole writes, and files that appear whole. */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"

int write_all(int fd, const void *from, size_t size) {
    const char *next = from;
    while (size) {
        const ssize_t n = write(fd, next, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return 0;
        next += n;
        size -= (size_t)n;
    }
    return 1;
}

/* A file is locked while it is written, so that one without its lock is what a killed process left. Where the file
 * system has no locks nothing can be told, and nothing is removed. */

/* is_named: whether the name is still this file's; -1 with errno if that cannot be told. */
static int is_named(int fd, const char *name) {
    struct stat by_name, by_fd;
    if (fstat(fd, &by_fd)) return -1;
    if (lstat(name, &by_name)) return errno == ENOENT ? 0 : -1;
    return by_name.st_ino == by_fd.st_ino && by_name.st_dev == by_fd.st_dev;
}

/* drop_left: 1 if there was what a killed process left, and is no more. */
static int drop_left(const char *name) {
    const int fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return 0;
    const int dropped = !flock(fd, LOCK_EX | LOCK_NB) && is_named(fd, name) == 1 && !unlink(name);
    close(fd);
    return dropped;
}

/* open_new: a locked file of this name; -1 with errno, which is EEXIST where another process has the name. */
static int open_new(const char *name, mode_t mode) {
    drop_left(name);
    const int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) return -1;
    /* Before it had the lock, another may have taken it for one that was left. */
    const int named = flock(fd, LOCK_EX | LOCK_NB) ? errno != EWOULDBLOCK : is_named(fd, name);
    if (named == 1) return fd;
    const int error = named ? errno : EEXIST;
    if (named) unlink(name);
    close(fd);
    errno = error;
    return -1;
}

/* cannot_be_replaced: 0, or the errno of why not: renaming would put a file where a device, a pipe or a link was. */
static int cannot_be_replaced(const char *path) {
    struct stat st;
    if (lstat(path, &st) || S_ISREG(st.st_mode)) return 0;
    return S_ISDIR(st.st_mode) ? EISDIR : S_ISLNK(st.st_mode) ? ELOOP : EOPNOTSUPP;
}

/* The name in the path's folder has a length that depends on no other's: the path's may be the longest there can be. */
int beside_open(file_beside *f, const char *path, mode_t mode) {
    enum { DIGITS = 12 };
    static const char prefix[] = ".cdnagen.";
    const char *const slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    const int refused = cannot_be_replaced(path);
    if (refused) return refused;
    char *const name = mem_alloc(folder + sizeof prefix + DIGITS);
    if (!name) return ENOMEM;
    char *const digits = name + folder + sizeof prefix - 1;
    memcpy(name, path, folder);
    memcpy(name + folder, prefix, sizeof prefix);
    int fd = -1, number = -1;
    do {
        snprintf(digits, DIGITS, "%d", ++number);
        fd = open_new(name, mode);
    } while (fd < 0 && errno == EEXIST);
    const int error = fd < 0 ? errno : 0;
    if (error) return mem_free(name), error;
    int next = number;
    do snprintf(digits, DIGITS, "%d", ++next);
    while (drop_left(name));
    snprintf(digits, DIGITS, "%d", number);
    *f = (file_beside){.fd = fd, .name = name, .path = path};
    return 0;
}

/* end: 0 or errno; the file is closed, and gone if anything failed. */
static int end(file_beside *f, int error) {
    if (!error && rename(f->name, f->path)) error = errno;
    if (error) unlink(f->name);
    close(f->fd); /* last, for its lock; what it might tell, fsync has told */
    mem_free(f->name);
    return error;
}

int beside_keep(file_beside *f) { return end(f, fsync(f->fd) ? errno : 0); }
void beside_drop(file_beside *f) { end(f, ECANCELED); }
