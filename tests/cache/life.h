/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A life of a cache that touches every call of the disk tier, and what must be true of the directory after it,
 * whatever happened in between. */
#ifndef TESTS_CACHE_LIFE_H
#define TESTS_CACHE_LIFE_H

#include "tests/cache/scratch.h"
#include "tests/cache/shim.h"

/* What went wrong, over all trials of a test. */
typedef struct tally {
    int trials;
    int losses; /* a caller without its kernel, or an entry of before that is gone */
    int wrong;  /* other bytes than the key's */
    int unsound, leaks, slow;
} tally;

/* life_prepare: a directory, made anew below `dir`, with one entry that is loaded and must stay.
 * owner: life_end   *holder: cache_blob_release */
const char *life_prepare(const char *dir, cache_blob **holder);

/* life_live: get, lock, put, unlock, get; anew from disk; then more entries than the directory's limit holds. 0, or the
 * number of the first step that failed its caller. Also in a child. */
int life_live(const char *root, int lock_wait_ms);

/* life_judge: what is on disk now is sound and right, and the directory can be used again. */
void life_judge(const char *root, tally *t);

/* life_end: that no descriptor and no memory is left, and the directory is away. */
void life_end(const char *root, cache_blob *holder, tally *t);

/* life_report: print the figures, and fail on any that is not 0. */
void life_report(const char *what, const tally *t);

#endif
