/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocation: checked malloc that tests can make fail, one arena per compile, a growing text buffer, owned bytes. */
#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

/* mem_alloc, mem_realloc, mem_free: malloc family; the only allocation calls of this project's own.
 * mem_fail_at(k): the k-th allocation from now on (1 = next) returns NULL, 0 switches that off; tests only. */
void *mem_alloc(size_t bytes); /* zeroed; NULL if memory ran out or a test said so */
void *mem_realloc(void *old, size_t bytes);
void mem_free(void *p);
char *mem_strdup(const char *text);
void mem_fail_at(long k);
long mem_live(void); /* allocations not yet freed */

/* text: a growing string, sticky on failure: once an append fails, later ones do nothing and `failed` stays 1. */
typedef struct text {
    char *data; /* always NUL-terminated once something was appended; NULL if empty */
    size_t length, capacity;
    int failed;
} text;
void text_add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(text *t, const void *data, size_t bytes);
void text_free(text *t);

/* bytes: owned bytes, freed with bytes_free. */
typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;
void bytes_free(bytes *b);

/* arena: memory that is freed at once. */
typedef struct arena arena;
struct arena {
    struct arena_block *blocks;
    int failed;
};
void *arena_alloc(arena *a, size_t bytes); /* zeroed, 16-byte aligned; NULL and a->failed on exhaustion */
char *arena_format(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_free(arena *a);

#endif
