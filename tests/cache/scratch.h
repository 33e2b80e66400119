/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the cache tests share: a directory of their own, a log that counts, children that do one thing. */
#ifndef TESTS_CACHE_SCRATCH_H
#define TESTS_CACHE_SCRATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/tiers.h"

#include <cmocka.h> /* last: it makes a macro of the name fail */

/* scratch_dir: a new empty directory.   owner: scratch_remove */
char *scratch_dir(void);
void scratch_remove(char *dir);
/* scratch_empty: the directory and all below it are away. */
void scratch_empty(const char *dir);

/* scratch_path: printf into one of a few static buffers. */
const char *scratch_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* scratch_entry: path of the file of a key text. */
const char *scratch_entry(const char *dir, const char *key_text);
void scratch_write(const char *path, const void *data, size_t size);
int scratch_exists(const char *path);
/* scratch_files: how many files under dir have names that end in `ending`. */
int scratch_files(const char *dir, const char *ending);

/* log_book: what a cache said. */
typedef struct log_book {
    atomic_int warnings, infos;
    char last_warning[SENTENCE_BYTES];
} log_book;
cache *scratch_open(const char *dir, log_book *book);
/* scratch_open_with: the same with other options; their log is the book's. */
cache *scratch_open_with(cache_options options, log_book *book);

/* in_child: run `work` in a forked child, as user `uid` if it is not 0; its result (0 to 99), or 100 + signal. */
int in_child(int (*work)(void *), void *argument, unsigned uid);

/* fork_holder: a child that has done `take`, which answers 1, and keeps what it took until it is killed. */
pid_t fork_holder(int (*take)(void *), void *argument);

double now_ms(void);
void sleep_ms(int ms);

#endif
