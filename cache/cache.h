/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The cache: key text in, bytes out. It knows bytes, not kernels. Tiers: memory, then disk, then a store of the
 * caller's. A cache fault never fails the caller: get answers "miss", put answers nothing; what went wrong goes to the
 * log once. */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "core/memory.h"
#include "core/status.h"

enum { CACHE_KEY_CHARS = 64 };

/* cache_key: BLAKE3 of the key text, as 64 hexadecimal digits and a NUL. */
void cache_key(const char *key_text, char key[CACHE_KEY_CHARS + 1]);

/* cache_hash: BLAKE3 of any bytes, in the same digits. */
void cache_hash(const void *data, size_t size, char out[CACHE_KEY_CHARS + 1]);

/* cache_hash_file: the same of a file from its place to its end; 0, or the errno of what failed. */
int cache_hash_file(int fd, char out[CACHE_KEY_CHARS + 1]);

/* Roots: a list separated by ':' of what the disk tier looks into, in this order. A root is a directory, or a file that
 * is a pack (cache/pack.h), which is only read. What is new goes into the first directory of the list that this user
 * can write or make. source: docs/cache.md */

/* cache_default_roots: CDNAGEN_CACHE_DIR, else an absolute $XDG_CACHE_HOME/cdnagen, else $HOME/.cache/cdnagen; NULL if
 * none. *why: which of them, for people ("CDNAGEN_CACHE_DIR", "HOME is not set", ...), static.   owner: mem_free */
char *cache_default_roots(const char **why);

/* cache_root: the root at `index` of a list, counted without empty ones; NULL past the end (or memory ran out).
 * owner: mem_free */
char *cache_root(const char *roots, size_t index);

/* cache_writable_root: index of the root that new entries go to; -1 if the list has packs only. */
int cache_writable_root(const char *roots);

/* cache_default_trust: 1 if CDNAGEN_CACHE_TRUST is "all": what others can write is read as well. source:
 * docs/cache.md */
int cache_default_trust(void);

typedef struct cache cache;

/* cache_store: a tier of the caller's own behind the roots; `key` has 64 hexadecimal digits, the bytes are an entry
 * file's and are checked like one. Called on the thread that needs a kernel, on several at once. All NULL: none. */
typedef struct cache_store {
    /* has `key`: call accept(to, data, bytes) once and return 1; else return 0 */
    int (*get)(void *user, const char *key, void (*accept)(void *to, const void *data, size_t bytes), void *to);
    void (*put)(void *user, const char *key, const void *data, size_t bytes);
    void *user;
} cache_store;

typedef struct cache_options {
    const char *roots;   /* of the disk tier; NULL or "": memory only */
    size_t memory_bytes; /* of the memory tier; 0: 64 MiB */
    size_t disk_bytes;   /* of the directory that is written; 0: no limit */
    int off;             /* no tier: every get is a miss and put does nothing */
    int trust_all;       /* roots that others can write are used as well */
    cache_store store;
    void (*log)(void *user, cdnagen_log_level level, const char *text);
    void *log_user;
} cache_options;

/* cache_open: never touches the disk; a bad root shows at the first use, as one warning.   errors: NO_MEMORY */
cdnagen_status cache_open(const cache_options *options, cache **out);
void cache_close(cache *c); /* NULL is fine */

/* cache_blob: shared, immutable bytes with a count of owners. */
typedef struct cache_blob cache_blob;
const void *cache_blob_data(const cache_blob *b);
size_t cache_blob_size(const cache_blob *b);
const char *cache_blob_key_text(const cache_blob *b, size_t *size); /* without a NUL */
void cache_blob_retain(cache_blob *b);
void cache_blob_release(cache_blob *b); /* NULL is fine */

/* cache_get: the blob stored under key_text, or NULL. A damaged, truncated or foreign entry is a miss (and is replaced
 * by the next put). *tier says where it came from.   owner: cache_blob_release */
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
/* cache_visitor: NULL members are not called. */
typedef struct cache_visitor {
    void (*report)(void *user, const char *path, const char *problem); /* an entry that is not sound */
    void (*take)(void *user, cache_blob *entry);                       /* a sound one; the visitor's if it retains it */
    void *user;
    int trust_all; /* take from roots that others can write as well */
} cache_visitor;
/* cache_walk: one root. With a visitor every entry is read and checked, otherwise counted only.
 * errors: IO (also a pack that is damaged as a whole, and a root to take from that others can write) */
cdnagen_status cache_walk(const char *root, const cache_visitor *visitor, cache_census *out);
/* cache_clear: delete every entry, lock and temporary of this format and nothing else.   errors: IO */
cdnagen_status cache_clear(const char *dir, cache_census *out);

#endif
