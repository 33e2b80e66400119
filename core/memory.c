/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocation with a live count and a failure switch, the growing text, and the arena. */
#include "core/memory.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_long live;
static atomic_long countdown; /* allocations until the one that fails; 0 = never */

static int must_fail(void) {
    long left = atomic_load_explicit(&countdown, memory_order_relaxed);
    while (left > 0)
        if (atomic_compare_exchange_weak(&countdown, &left, left - 1)) return left == 1;
    return 0;
}

void mem_fail_at(long k) { atomic_store(&countdown, k); }

long mem_live(void) { return atomic_load(&live); }

void *mem_alloc(size_t size) {
    if (must_fail()) return NULL;
    void *p = calloc(1, size ? size : 1);
    if (p) atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return p;
}

void *mem_realloc(void *old, size_t size) {
    if (must_fail()) return NULL;
    void *p = realloc(old, size ? size : 1);
    if (p && !old) atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return p;
}

void mem_free(void *p) {
    if (!p) return;
    atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    free(p);
}

char *mem_strdup(const char *words) {
    const size_t size = strlen(words) + 1;
    char *copy = mem_alloc(size);
    if (copy) memcpy(copy, words, size);
    return copy;
}

/* Room for `more` bytes and the terminating NUL. */
static int text_reserve(text *t, size_t more) {
    if (t->failed) return 0;
    if (more < t->capacity && t->length < t->capacity - more) return 1;
    if (more > SIZE_MAX / 4 || t->length > SIZE_MAX / 4) {
        t->failed = 1;
        return 0;
    }
    const size_t needed = t->length + more + 1;
    const size_t capacity = needed < 120 ? 120 : needed * 2;
    char *data = mem_realloc(t->data, capacity);
    if (!data) {
        t->failed = 1;
        return 0;
    }
    t->data = data;
    t->capacity = capacity;
    return 1;
}

void text_add_bytes(text *t, const void *data, size_t size) {
    if (!text_reserve(t, size)) return;
    if (size) memcpy(t->data + t->length, data, size);
    t->length += size;
    t->data[t->length] = 0;
}

void text_add(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) t->failed = 1;
    if (length < 0 || !text_reserve(t, (size_t)length)) return;
    va_start(arguments, format);
    vsnprintf(t->data + t->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    t->length += (size_t)length;
}

void text_free(text *t) {
    mem_free(t->data);
    *t = (text){0};
}

void bytes_free(bytes *b) {
    mem_free(b->data);
    *b = (bytes){0};
}

enum { ARENA_BLOCK_BYTES = 32 * 1024, ARENA_ALIGNMENT = 16 };

struct arena_block {
    struct arena_block *next;
    size_t used, capacity;
    _Alignas(ARENA_ALIGNMENT) unsigned char data[];
};

void *arena_alloc(arena *a, size_t size) {
    if (size > SIZE_MAX / 2) {
        a->failed = 1;
        return NULL;
    }
    const size_t rounded = (size + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
    struct arena_block *block = a->blocks;
    if (!block || rounded > block->capacity - block->used) {
        const size_t capacity = rounded > ARENA_BLOCK_BYTES ? rounded : ARENA_BLOCK_BYTES;
        block = mem_alloc(sizeof *block + capacity);
        if (!block) {
            a->failed = 1;
            return NULL;
        }
        *block = (struct arena_block){a->blocks, 0, capacity};
        a->blocks = block;
    }
    void *p = block->data + block->used;
    block->used += rounded;
    return p;
}

char *arena_format(arena *a, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *out = length < 0 ? NULL : arena_alloc(a, (size_t)length + 1);
    if (length < 0) a->failed = 1;
    if (!out) return NULL;
    va_start(arguments, format);
    vsnprintf(out, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return out;
}

void arena_free(arena *a) {
    while (a->blocks) {
        struct arena_block *next = a->blocks->next;
        mem_free(a->blocks);
        a->blocks = next;
    }
    a->failed = 0;
}
