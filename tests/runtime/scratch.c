/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A directory that a test may fill, harm and forget. */
#include "tests/runtime/scratch.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];
static scratch_wound how;
static int wounded;

const char *scratch_make(void) {
    snprintf(path, sizeof path, "/tmp/cdnagen-runtime-XXXXXX");
    return mkdtemp(path);
}

static int remove_one(const char *name, const struct stat *st, int type, struct FTW *where) {
    (void)st;
    (void)type;
    (void)where;
    return remove(name);
}

void scratch_remove(void) {
    if (*path) nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    path[0] = 0;
}

static int wound_one(const char *name, const struct stat *st, int type, struct FTW *where) {
    /* Entries are named by their key. */
    if (type != FTW_F || strlen(name + where->base) != 64) return 0;
    const int fd = open(name, O_RDWR);
    unsigned char byte = 0;
    const off_t middle = st->st_size / 2;
    int done = fd >= 0;
    if (done && how == FLIP_A_BIT) {
        done = pread(fd, &byte, 1, middle) == 1;
        byte ^= 1;
        done = done && pwrite(fd, &byte, 1, middle) == 1;
    } else if (done) {
        done = !ftruncate(fd, how == EMPTY ? 0 : middle);
    }
    if (fd >= 0) close(fd);
    wounded += done;
    return 0;
}

int scratch_damage(scratch_wound wound) {
    how = wound;
    wounded = 0;
    nftw(path, wound_one, 16, FTW_PHYS);
    return wounded;
}
