/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The bytes of a pack, little-endian: pack_header, one pack_row an entry, their key texts, BLAKE3 of all before it;
 * then the objects. Rows are in order of the keys; texts and objects follow each other in the same order, without gaps,
 * so that every byte of the file is under a checksum and no two parts can overlap. */
#ifndef CACHE_PACK_FORMAT_H
#define CACHE_PACK_FORMAT_H

#include "cache/tiers.h"

typedef struct pack_header {
    char magic[8];
    uint64_t version, entries;
    uint64_t manifest_bytes; /* header, rows, texts, checksum */
    uint64_t file_bytes;
    uint64_t reserved; /* 0 */
} pack_header;

typedef struct pack_row {
    uint8_t key[HASH_BYTES];    /* BLAKE3 of the key text */
    uint8_t object[HASH_BYTES]; /* BLAKE3 of the object */
    uint64_t text_bytes, object_bytes;
} pack_row;

_Static_assert(sizeof(pack_header) == 48 && sizeof(pack_row) == 80, "the format has no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packs are little-endian");

static const char pack_magic[8] = {'c', 'd', 'n', 'a', 'p', 'a', 'c', 'k'};
enum { PACK_VERSION = 1 };
/* A manifest is read into memory: half a million kernels fit. */
#define PACK_MANIFEST_MAX ((uint64_t)256 << 20)

#endif
