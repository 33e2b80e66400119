/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Packs: many entries in one file that is only read. Any bytes are safe input: a pack is checked as a whole when it is
 * opened, and each object when it is read. Fuzzed.   source: docs/packs.md */
#ifndef CACHE_PACK_H
#define CACHE_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"

typedef struct pack pack;

/* pack_open: read and check the manifest: lengths, order, keys, checksum, and that the file ends where it says;
 * and that no other user can write it, unless trust_all.
 * errors: IO, naming the file, what is wrong and at which byte; NO_MEMORY   owner: pack_close */
cdnagen_status pack_open(const char *path, int trust_all, pack **out);
/* pack_open_file: of a file that is open, and stays so; `path` is for errors.   errors: as pack_open */
cdnagen_status pack_open_file(int fd, const char *path, pack **out);
void pack_close(pack *p); /* NULL is fine */

size_t pack_count(const pack *p);
/* By place, 0 to pack_count - 1, in order of the keys. */
void pack_key(const pack *p, size_t i, char key[CACHE_KEY_CHARS + 1]);
const char *pack_key_text(const pack *p, size_t i, size_t *size); /* without a NUL */
uint64_t pack_object_bytes(const pack *p, size_t i);

/* pack_read: the entry, its object held against the manifest's hash.
 * owner: cache_blob_release; NULL and *problem (static; "" if memory ran out) otherwise */
cache_blob *pack_read(const pack *p, size_t i, const char **problem);
/* pack_get: the same by key; NULL with a NULL *problem if the pack does not have it. */
cache_blob *pack_get(const pack *p, const char *key, const char **problem);

/* pack_write: a file of these entries, in order of their keys and each key once (the first of equal ones), so that
 * equal entries make equal bytes. It is there whole or not at all.   errors: IO, LIMIT (too many), NO_MEMORY */
cdnagen_status pack_write(const char *path, cache_blob *const *entries, size_t count);

/* pack_check_manifest: the part of pack_open that looks at bytes: the first `size` of a file of file_bytes.
 * errors: IO, what is wrong and at which byte */
typedef struct pack_layout {
    uint64_t entries, manifest_bytes;
} pack_layout;
cdnagen_status pack_check_manifest(const void *manifest, size_t size, uint64_t file_bytes, pack_layout *out);

#endif
