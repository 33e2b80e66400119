/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of this folder share: the cache itself, blobs, folders, the two tiers.
 *
 * An entry file, little-endian: entry_header, key text, zeros up to a multiple of 16, data, BLAKE3 of all before it.
 * A blob in memory is the same image, so that reading and publishing copy nothing and key text travels with the
 * data. */
#ifndef CACHE_TIERS_H
#define CACHE_TIERS_H

#include <pthread.h>
#include <stdatomic.h>

#include "cache/cache.h"
#include "cache/pack.h"
#include "cache/trust.h"

/* Larger files are not read and larger blobs not written; code objects are tens of KiB. */
#define ENTRY_BYTES_MAX ((size_t)64 << 20)

/* pin: keeps an entry of the directory that is written from being evicted. All zero: nothing is pinned. */
typedef struct pins pins;
typedef struct pin {
    pins *of;
    off_t at;
} pin;

struct cache_blob {
    atomic_size_t owners;
    const char *key_text; /* in file, without a NUL */
    const void *data;     /* in file, 16-byte aligned */
    pin pin;
    size_t key_text_bytes, data_bytes, file_bytes;
    _Alignas(16) unsigned char file[];
};

/* memory_tier: open addressing over blobs, found by key text. */
typedef struct memory_tier {
    struct memory_slot {
        uint64_t hash;
        cache_blob *blob; /* NULL: free slot */
        int asked_for;    /* since the hand passed */
    } *slots;
    size_t capacity, count; /* capacity: 0 or a power of two */
    size_t bytes, limit;    /* of entry images */
    size_t hand;            /* the slot where the next one to forget is looked for */
} memory_tier;

/* disk_root: one of the disk tier's, in order of the list. */
typedef struct disk_root {
    char *path;   /* absolute */
    pack *pack;   /* the root is a file */
    int unusable; /* a file that is no pack */
} disk_root;

struct cache {
    disk_root *roots; /* root_count: 0 without a disk tier */
    size_t root_count;
    atomic_int settled; /* under mutex: packs are open and `writer` is chosen */
    const char *writer; /* path of the root that is written and locked; NULL if there is none */
    cache_store store;
    int off, trust_all;
    size_t disk_bytes; /* 0: no limit */
    void (*log)(void *user, cdnagen_log_level level, const char *text);
    void *log_user;
    int lock_wait_ms;
    atomic_int warned; /* the one warning about the directory was given */
    pthread_mutex_t mutex;
    memory_tier memory;      /* under mutex */
    cache_lock_handle *held; /* under mutex */
    pins *pins;              /* under mutex; NULL until an entry was loaded */
    size_t disk_room;        /* under mutex: bytes to write before the next look at the directory */
    pthread_cond_t released; /* one of held went away */
};

/* ---- cache.c ---- */

/* cache_log: one line for people, "cache: " in front. */
void cache_log(const cache *c, cdnagen_log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* cache_warn: the directory cannot be used as it should; said once per cache. */
void cache_warn(cache *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* cache_set_lock_wait: how long cache_lock waits at most.   units: milliseconds; 60,000 unless set, by tests */
void cache_set_lock_wait(cache *c, int milliseconds);

/* ---- roots.c ---- */

/* roots_open: split the list and make it absolute.   errors: NO_MEMORY   owner: roots_close */
cdnagen_status roots_open(cache *c, const char *roots);
/* roots_settle: what each root is, once, at the first use of the disk tier. */
void roots_settle(cache *c);
void roots_close(cache *c);

/* ---- key.c ---- */

/* hash_bytes: BLAKE3.   hash_text: the same in hexadecimal digits. */
enum { HASH_BYTES = CACHE_KEY_CHARS / 2 };
void hash_bytes(const void *data, size_t size, uint8_t out[HASH_BYTES]);
void hash_text(const uint8_t hash[HASH_BYTES], char out[CACHE_KEY_CHARS + 1]);

/* ---- entry.c ---- */

/* blob_alloc: room for an entry image of file_bytes, one owner; NULL if memory ran out. */
cache_blob *blob_alloc(size_t file_bytes);
/* blob_make: a blob with the whole entry image.   owner: cache_blob_release; NULL if memory ran out */
cache_blob *blob_make(const char *key_text, size_t key_text_bytes, const void *data, size_t data_bytes);
/* blob_parse: check the image in b->file and point the blob into it; 1 if sound. */
int blob_parse(cache_blob *b);
/* blob_is: 1 if the blob is of this key text. */
int blob_is(const cache_blob *b, const char *key_text);

/* ---- memory_tier.c: the caller holds the mutex ---- */

uint64_t memory_tier_hash(const void *key_text, size_t size);
cache_blob *memory_tier_find(memory_tier *m, uint64_t hash, const char *key_text, size_t key_text_bytes);
/* memory_tier_keep: remember b, in place of an older blob of the same key text. Without memory it is not remembered.
 * owner: takes an ownership of its own */
void memory_tier_keep(memory_tier *m, uint64_t hash, cache_blob *b);
void memory_tier_free(memory_tier *m);

/* ---- folder.c: <root>/v1/<2 hex>/ and the names in it ---- */

/* Modes of what the cache makes, before the umask: nothing that every user can write. */
enum { FILE_MODE = 0664, FOLDER_MODES = 0775 };

#define CACHE_FORMAT_FOLDER "v1"
enum { NAME_BYTES = CACHE_KEY_CHARS + 8 }; /* the longest name and its NUL */

typedef enum file_kind { FILE_OTHER, FILE_ENTRY, FILE_LOCK, FILE_TEMPORARY } file_kind;
/* folder_file_kind: which of ours a name in folder `hex` is, by spelling alone. */
file_kind folder_file_kind(const char *hex, const char *name);
/* folder_open: descriptor of the key's folder in directory `dir`, made if `make`; -1 if there is none (warned unless
 * merely absent). */
int folder_open(cache *c, const char *dir, const char *key, int make);
/* folder_each: call visit for every name in a folder; stops and returns 0 when the listing fails. */
int folder_each(int folder, void (*visit)(void *user, int folder, const char *name), void *user);
/* folder_same_file: 1 if `name` in `folder` is the file that fd has open. */
int folder_same_file(int folder, const char *name, int fd);
/* folder_drop_lock: unlink a lock file unless somebody holds it. */
void folder_drop_lock(int folder, const char *name);

/* ---- evict.c ---- */

/* pin_take: pin a key of the directory that is written, for the blob that is about to be read or published; 0 if its
 * entry is being evicted at this moment, and so is to be neither.
 * owner: *out is the blob's, pin_drop; all zero where the file system has no locks, or there is nothing yet */
int pin_take(cache *c, const char *key, pin *out);
void pin_drop(pin *p);
void pins_release(pins *p); /* NULL is fine */
/* evict_for: make room for an entry of `wanted` bytes; 0 if there is none.   units: bytes */
int evict_for(cache *c, size_t wanted);

/* ---- disk_tier.c ---- */

/* entry_read: an entry file as a checked blob, one that every user can write only if trust_all; NULL and *problem
 * (static; NULL if there is no such file, "" if memory ran out) otherwise. */
cache_blob *entry_read(int folder, const char *name, int trust_all, const char **problem);
cache_blob *disk_get(cache *c, const char *key, const char *key_text); /* of the first root that has it */
void disk_put(cache *c, const char *key, cache_blob *b);

#endif
