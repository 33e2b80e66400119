/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Blobs and the entry format: one image in memory and on disk, with a checksum over all of it. */
#include <string.h>

#include "cache/tiers.h"

enum { DATA_ALIGN = 16 };

typedef struct entry_header {
    char magic[8];
    uint64_t version, key_text_bytes, data_bytes;
} entry_header;

static const entry_header entry_start = {.magic = {'c', 'd', 'n', 'a', 'g', 'e', 'n', '\n'}, .version = 1};

_Static_assert(sizeof(entry_header) == 32, "the header has no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "entry files are little-endian");

static size_t data_offset(size_t key_text_bytes) {
    return (sizeof(entry_header) + key_text_bytes + DATA_ALIGN - 1) / DATA_ALIGN * DATA_ALIGN;
}

int cache_entry_parse(const void *file, size_t file_bytes, const char **key_text, size_t *key_text_bytes,
                      const void **data, size_t *data_bytes) {
    entry_header header;
    if (file_bytes < sizeof header + HASH_BYTES) return 0;
    memcpy(&header, file, sizeof header);
    if (memcmp(header.magic, entry_start.magic, sizeof header.magic) != 0 || header.version != entry_start.version)
        return 0;
    /* Each length is compared with what is left, so that no sum of lengths from the file can wrap round. */
    const size_t body_bytes = file_bytes - HASH_BYTES;
    if (header.key_text_bytes > body_bytes - sizeof header) return 0;
    const size_t offset = data_offset((size_t)header.key_text_bytes);
    if (offset > body_bytes || header.data_bytes != body_bytes - offset) return 0;
    uint8_t sum[HASH_BYTES];
    hash_bytes(file, body_bytes, sum);
    if (memcmp(sum, (const char *)file + body_bytes, sizeof sum) != 0) return 0;
    *key_text = (const char *)file + sizeof header;
    *key_text_bytes = (size_t)header.key_text_bytes;
    *data = (const char *)file + offset;
    *data_bytes = (size_t)header.data_bytes;
    return 1;
}

cache_blob *blob_alloc(size_t file_bytes) {
    if (file_bytes > SIZE_MAX - sizeof(cache_blob)) return NULL;
    cache_blob *b = mem_alloc(sizeof *b + file_bytes);
    if (!b) return NULL;
    atomic_init(&b->owners, 1);
    b->file_bytes = file_bytes;
    return b;
}

cache_blob *blob_make(const char *key_text, size_t key_text_bytes, const void *data, size_t data_bytes) {
    entry_header header = entry_start;
    header.key_text_bytes = key_text_bytes;
    header.data_bytes = data_bytes;
    const size_t offset = data_offset((size_t)header.key_text_bytes);
    if (data_bytes > SIZE_MAX - offset - HASH_BYTES) return NULL;
    const size_t body_bytes = offset + data_bytes;
    cache_blob *b = blob_alloc(body_bytes + HASH_BYTES);
    if (!b) return NULL;
    memcpy(b->file, &header, sizeof header);
    memcpy(b->file + sizeof header, key_text, (size_t)header.key_text_bytes);
    if (data_bytes) memcpy(b->file + offset, data, data_bytes);
    hash_bytes(b->file, body_bytes, b->file + body_bytes);
    b->key_text = (const char *)b->file + sizeof header;
    b->key_text_bytes = (size_t)header.key_text_bytes;
    b->data = b->file + offset;
    b->data_bytes = data_bytes;
    return b;
}

int blob_parse(cache_blob *b) {
    return cache_entry_parse(b->file, b->file_bytes, &b->key_text, &b->key_text_bytes, &b->data, &b->data_bytes);
}

int blob_is(const cache_blob *b, const char *key_text) {
    return b->key_text_bytes == strlen(key_text) && !memcmp(b->key_text, key_text, b->key_text_bytes);
}

const void *cache_blob_data(const cache_blob *b) { return b->data; }
size_t cache_blob_size(const cache_blob *b) { return b->data_bytes; }
const char *cache_blob_key_text(const cache_blob *b, size_t *size) { return *size = b->key_text_bytes, b->key_text; }
void cache_blob_retain(cache_blob *b) { atomic_fetch_add_explicit(&b->owners, 1, memory_order_relaxed); }

void cache_blob_release(cache_blob *b) {
    if (b && atomic_fetch_sub_explicit(&b->owners, 1, memory_order_acq_rel) == 1) {
        pin_drop(&b->pin);
        mem_free(b);
    }
}
