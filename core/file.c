/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whole writes, and files that appear whole. */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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

/* A name that depends on no other's length: the path's may be the longest that there can be. */
int beside_open(file_beside *f, const char *path, mode_t mode) {
    const char *const slash = strrchr(path, '/');
    for (int i = 0;; i++) {
        text name = {0};
        text_add(&name, "%.*s.cdnagen.%ld.%d", slash ? (int)(slash + 1 - path) : 0, path, (long)getpid(), i);
        if (name.failed) return text_free(&name), ENOMEM;
        const int fd = open(name.data, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode), error = errno;
        if (fd >= 0) {
            *f = (file_beside){.fd = fd, .name = name.data, .path = path};
            return 0;
        }
        text_free(&name);
        if (error != EEXIST) return error;
    }
}

/* end: 0 or errno; the file is closed, and gone if anything failed. */
static int end(file_beside *f, int error) {
    if (close(f->fd) && !error) error = errno;
    if (!error && rename(f->name, f->path)) error = errno;
    if (error) unlink(f->name);
    mem_free(f->name);
    return error;
}

int beside_keep(file_beside *f) { return end(f, fsync(f->fd) ? errno : 0); }
void beside_drop(file_beside *f) { end(f, ECANCELED); }
