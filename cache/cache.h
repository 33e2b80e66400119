/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The cache: key text in, bytes out. It knows bytes, not kernels. Two tiers: memory, then disk.
 * A cache fault never fails the caller: get answers "miss", put answers nothing; what went wrong goes to the log once. */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "core/memory.h"
#include "core/status.h"

enum { CACHE_KEY_CHARS = 64 };

/* cache_key: BLAKE3 of the key text, as 64 hexadecimal digits and a NUL. */
void cache_key(const char *key_text, char key[CACHE_KEY_CHARS + 1]);

/* cache_default_dir: CDNAGEN_CACHE_DIR, else an absolute $XDG_CACHE_HOME/cdnagen, else $HOME/.cache/cdnagen; NULL if none.
 * *why: which of them, for people ("CDNAGEN_CACHE_DIR", "HOME is not set", ...), static.   owner: mem_free */
char *cache_default_dir(const char **why);

typedef struct cache cache;

typedef struct cache_options {
    const char *dir; /* root of the disk tier; NULL or "": memory only */
    int off;         /* neither tier: every get is a miss and put does nothing */
    void (*log)(void *user, cdnagen_log_level level, const char *text);
    void *log_user;
} cache_options;

/* cache_open: never touches the disk; a bad directory shows at the first use, as one warning.   errors: NO_MEMORY */
cdnagen_status cache_open(const cache_options *options, cache **out);
void cache_close(cache *c); /* NULL is fine */

/* cache_blob: shared, immutable bytes with a count of owners. */
typedef struct cache_blob cache_blob;
const void *cache_blob_data(const cache_blob *b);
size_t cache_blob_size(const cache_blob *b);
void cache_blob_retain(cache_blob *b);
void cache_blob_release(cache_blob *b); /* NULL is fine */

/* cache_get: the blob stored under key_text, or NULL. A damaged, truncated or foreign entry is a miss (and is replaced by
 * the next put). *tier says where it came from.   owner: cache_blob_release */
cache_blob *cache_get(cache *c, const char *key_text, cdnagen_cache_tier *tier);

/* cache_lock: take the right to produce key_text: one holder over all threads and processes of this directory. Bounded
 * wait; where locks fail or the wait runs out, the caller goes on without one (and the log says who held it).
 * The caller calls cache_get again after locking: another may have published meanwhile. */
typedef struct cache_lock_handle cache_lock_handle;
cache_lock_handle *cache_lock(cache *c, const char *key_text);
void cache_unlock(cache_lock_handle *lock); /* NULL is fine */

/* cache_put: publish bytes in both tiers (temporary file in the same folder, fsync, rename).
 * owner: the returned blob is the caller's (cache_blob_release); NULL only if memory ran out */
cache_blob *cache_put(cache *c, const char *key_text, const void *data, size_t bytes);

/* cache_entry_parse: check one entry file's bytes; 1 if sound. key_text and data then point into `file`. Fuzzed. */
int cache_entry_parse(const void *file, size_t file_bytes, const char **key_text, size_t *key_text_bytes,
                      const void **data, size_t *data_bytes);

/* cache_before_fork, cache_after_fork: hold the cache still while the process forks; in the child, no thread waits. */
void cache_before_fork(cache *c);
void cache_after_fork(cache *c, int in_child);

/* What the command shows: walk, verify and clear a directory. */
typedef struct cache_census {
    uint64_t entries, bytes; /* files by name, sound or not; sum of their sizes */
    uint64_t damaged;        /* verify only: not sound */
    uint64_t foreign;        /* verify only: sound, but under the name of another key */
    uint64_t temporaries;    /* of writers at work or killed */
} cache_census;
/* verify: read and check every entry, naming each bad one through `report`; otherwise count only.   errors: IO */
cdnagen_status cache_walk(const char *dir, int verify,
                          void (*report)(void *user, const char *path, const char *problem), void *user,
                          cache_census *out);
/* cache_clear: delete every entry, lock and temporary of this format and nothing else.   errors: IO */
cdnagen_status cache_clear(const char *dir, cache_census *out);

#endif
