/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The cache as its callers see it: open, get, put. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cache/tiers.h"

enum { LOCK_WAIT_MS = 60 * 1000 };

static void log_line(const cache *c, cdnagen_log_level level, const char *format, va_list arguments) {
    char line[1024] = "cache: ";
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

/* absolute: the same directory after the process has changed its own.   owner: mem_free; NULL if memory ran out */
static char *absolute(const char *dir) {
    char here[PATH_MAX];
    if (*dir == '/' || !getcwd(here, sizeof here)) return mem_strdup(dir);
    text path = {0};
    text_add(&path, "%s/%s", here, dir);
    if (!path.failed) return path.data;
    text_free(&path);
    return NULL;
}

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
    c->log = options->log;
    c->log_user = options->log_user;
    c->lock_wait_ms = LOCK_WAIT_MS;
    if (!c->off && options->dir && *options->dir && !(c->dir = absolute(options->dir))) {
        mem_free(c);
        return fail_no_memory();
    }
    init_released(c);
    pthread_mutex_init(&c->mutex, NULL);
    *out = c;
    return CDNAGEN_OK;
}

void cache_close(cache *c) {
    if (!c) return;
    memory_tier_free(&c->memory);
    pthread_cond_destroy(&c->released);
    pthread_mutex_destroy(&c->mutex);
    mem_free(c->dir);
    mem_free(c);
}

static void remember(cache *c, uint64_t hash, cache_blob *b) {
    pthread_mutex_lock(&c->mutex);
    memory_tier_keep(&c->memory, hash, b);
    pthread_mutex_unlock(&c->mutex);
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
    if (b || !c->dir) return b;

    char key[CACHE_KEY_CHARS + 1];
    cache_key(key_text, key);
    b = disk_get(c, key, key_text);
    if (!b) return NULL;
    remember(c, hash, b);
    *tier = CDNAGEN_TIER_DISK;
    return b;
}

cache_blob *cache_put(cache *c, const char *key_text, const void *data, size_t size) {
    cache_blob *b = blob_make(key_text, data, size);
    if (!b || c->off) return b;
    remember(c, memory_tier_hash(b->key_text, b->key_text_bytes), b);
    if (c->dir) {
        char key[CACHE_KEY_CHARS + 1];
        cache_key(key_text, key);
        disk_put(c, key, b);
    }
    return b;
}
