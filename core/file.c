/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whole writes to a file descriptor. */
#include "core/file.h"

#include <errno.h>
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
