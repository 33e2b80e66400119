/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files that are written whole. */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* write_all: every byte, over short writes and signals; 0 with errno set where that fails. */
int write_all(int fd, const void *from, size_t size);

/* file_beside: a new file that takes another's place when all of it is there, so that a full disk or a killed process
 * leaves no half of it. What a killed one leaves, `.cdnagen.N` in the folder, is removed when the next file is written
 * there. */
typedef struct file_beside {
    int fd;     /* to write and to read */
    char *name; /* until then, in the same folder */
    const char *path;
} file_beside;

/* beside_open: for the file `path`, which stays the caller's and is absent or a regular file, with what the umask
 * leaves of `mode`. 0, or the errno of what failed; only then there is nothing to keep or drop.
 * beside_keep: on disk, and then in the other's place. 0, or the errno of what failed, and it is gone.
 * beside_drop: it is gone. */
int beside_open(file_beside *f, const char *path, mode_t mode);
int beside_keep(file_beside *f);
void beside_drop(file_beside *f);

#endif
