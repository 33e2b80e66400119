/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whole writes, and names for files that are renamed when they are whole. */
#include "core/file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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

void add_beside(text *out, const char *path) {
    const char *const slash = strrchr(path, '/');
    text_add(out, "%.*s.cdnagen.XXXXXX", slash ? (int)(slash - path) + 1 : 0, path);
}
