/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The cache as its callers see it: open, get, put. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cache/tiers.h"

enum { LOCK_WAIT_MS = 60 * 1000 };
#define MEMORY_BYTES ((size_t)64 << 20)

static void log_line(const cache *c, cdnagen_log_level level, const char *format, va_list arguments) {
    char line[SENTENCE_BYTES] = "cache: ";
    if (!c->log) return;
    vsnprintf(line + strlen(line), sizeof line - strlen(line), format, arguments);
    c->log(c->log_user, level, line);
}

void cache_log(const cache *c, cdnagen_log_level level, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_line(c, level, format, arguments);
    va_end(arguments);
}

void cache_warn(cache *c, const char *format, ...) {
    if (atomic_exchange(&c->warned, 1)) return;
    va_list arguments;
    va_start(arguments, format);
    log_line(c, CDNAGEN_LOG_WARNING, format, arguments);
    va_end(arguments);
}

void cache_set_lock_wait(cache *c, int milliseconds) { c->lock_wait_ms = milliseconds; }

static void init_released(cache *c) {
    pthread_condattr_t monotonic; /* so that a clock set back does not lengthen a wait */
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&c->released, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void cache_before_fork(cache *c) { pthread_mutex_lock(&c->mutex); }

void cache_after_fork(cache *c, int in_child) {
    if (in_child) init_released(c); /* it counts waiting threads that the child lacks */
    pthread_mutex_unlock(&c->mutex);
}

cdnagen_status cache_open(const cache_options *options, cache **out) {
    cache *c = mem_alloc(sizeof *c);
    if (!c) return fail_no_memory();
    c->off = options->off;
    c->trust_all = options->trust_all;
    c->disk_bytes = options->disk_bytes;
    c->log = options->log;
    c->log_user = options->log_user;
    c->lock_wait_ms = LOCK_WAIT_MS;
    c->store = options->store;
    c->memory.limit = options->memory_bytes ? options->memory_bytes : MEMORY_BYTES;
    if (!c->off && options->roots) {
        const cdnagen_status s = roots_open(c, options->roots);
        if (s) return roots_close(c), mem_free(c), s;
    }
    init_released(c);
    pthread_mutex_init(&c->mutex, NULL);
    *out = c;
    return CDNAGEN_OK;
}

void cache_close(cache *c) {
    if (!c) return;
    memory_tier_free(&c->memory);
    pins_release(c->pins);
    pthread_cond_destroy(&c->released);
    pthread_mutex_destroy(&c->mutex);
    roots_close(c);
    mem_free(c);
}

static void remember(cache *c, uint64_t hash, cache_blob *b) {
    pthread_mutex_lock(&c->mutex);
    memory_tier_keep(&c->memory, hash, b);
    pthread_mutex_unlock(&c->mutex);
}

/* take_copy: what a store gives; its bytes are the store's and gone when it returns. */
static void take_copy(void *to, const void *data, size_t size) {
    cache_blob **const blob = to;
    cache_blob_release(*blob);
    *blob = size <= ENTRY_BYTES_MAX ? blob_alloc(size) : NULL;
    if (*blob && size) memcpy((*blob)->file, data, size);
}

static cache_blob *store_get(cache *c, const char *key, const char *key_text) {
    cache_blob *b = NULL;
    const int found = c->store.get(c->store.user, key, take_copy, &b);
    if (found && b && blob_parse(b) && blob_is(b, key_text)) return b;
    cache_blob_release(b);
    if (found)
        cache_log(c, CDNAGEN_LOG_INFO,
                  "entry %s of the caller's store is damaged or of another key: it counts as a miss", key);
    return NULL;
}

cache_blob *cache_get(cache *c, const char *key_text, cdnagen_cache_tier *tier) {
    *tier = CDNAGEN_TIER_NONE;
    if (c->off) return NULL;
    const size_t size = strlen(key_text);
    const uint64_t hash = memory_tier_hash(key_text, size);
    pthread_mutex_lock(&c->mutex);
    cache_blob *b = memory_tier_find(&c->memory, hash, key_text, size);
    if (b) cache_blob_retain(b);
    pthread_mutex_unlock(&c->mutex);
    if (b) *tier = CDNAGEN_TIER_MEMORY;
    if (b || (!c->root_count && !c->store.get)) return b;

    char key[CACHE_KEY_CHARS + 1];
    cache_key(key_text, key);
    cdnagen_cache_tier from = CDNAGEN_TIER_DISK;
    b = disk_get(c, key, key_text);
    if (!b && c->store.get) {
        from = CDNAGEN_TIER_STORE;
        b = store_get(c, key, key_text);
    }
    if (!b) return NULL;
    remember(c, hash, b);
    *tier = from;
    return b;
}

cache_blob *cache_put(cache *c, const char *key_text, const void *data, size_t size) {
    cache_blob *b = blob_make(key_text, strlen(key_text), data, size);
    if (!b || c->off) return b;
    remember(c, memory_tier_hash(b->key_text, b->key_text_bytes), b);
    char key[CACHE_KEY_CHARS + 1];
    cache_key(key_text, key);
    if (c->root_count) disk_put(c, key, b);
    if (c->store.put) c->store.put(c->store.user, key, b->file, b->file_bytes);
    return b;
}
