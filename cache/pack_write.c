/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writing packs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cache/pack.h"
#include "cache/pack_format.h"
#include "core/file.h"

typedef struct item {
    pack_row row;
    const cache_blob *blob;
    size_t place; /* among the entries given */
} item;

static int by_key(const void *a, const void *b) {
    const item *x = a, *y = b;
    const int order = memcmp(x->row.key, y->row.key, HASH_BYTES);
    return order ? order : x->place < y->place ? -1 : 1;
}

/* sort_items: rows of the entries, one a key; their count. */
static size_t sort_items(cache_blob *const *entries, size_t count, item *items) {
    for (size_t i = 0; i < count; i++) {
        const cache_blob *const b = entries[i];
        items[i] =
            (item){.row = {.text_bytes = b->key_text_bytes, .object_bytes = b->data_bytes}, .blob = b, .place = i};
        hash_bytes(b->key_text, b->key_text_bytes, items[i].row.key);
        hash_bytes(b->data, b->data_bytes, items[i].row.object);
    }
    qsort(items, count, sizeof *items, by_key);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!kept || memcmp(items[kept - 1].row.key, items[i].row.key, HASH_BYTES) != 0) items[kept++] = items[i];
    return kept;
}

static cdnagen_status make_manifest(const item *items, size_t count, text *out) {
    pack_header h = {.version = PACK_VERSION, .entries = count};
    memcpy(h.magic, pack_magic, sizeof h.magic);
    h.manifest_bytes = sizeof h + count * sizeof(pack_row) + HASH_BYTES;
    for (size_t i = 0; i < count; i++) h.manifest_bytes += items[i].row.text_bytes;
    if (h.manifest_bytes > PACK_MANIFEST_MAX)
        return fail(CDNAGEN_LIMIT,
                    "%zu entries need a manifest of %llu bytes, and %llu are allowed: make several packs", count,
                    (unsigned long long)h.manifest_bytes, (unsigned long long)PACK_MANIFEST_MAX);
    h.file_bytes = h.manifest_bytes;
    for (size_t i = 0; i < count; i++) h.file_bytes += items[i].row.object_bytes;
    text_add_bytes(out, &h, sizeof h);
    for (size_t i = 0; i < count; i++) text_add_bytes(out, &items[i].row, sizeof items[i].row);
    for (size_t i = 0; i < count; i++) text_add_bytes(out, items[i].blob->key_text, items[i].blob->key_text_bytes);
    if (out->failed) return fail_no_memory();
    uint8_t sum[HASH_BYTES];
    hash_bytes(out->data, out->length, sum);
    text_add_bytes(out, sum, sizeof sum);
    return out->failed ? fail_no_memory() : CDNAGEN_OK;
}

static cdnagen_status write_parts(const char *path, const text *manifest, const item *items, size_t count) {
    file_beside beside;
    int error = beside_open(&beside, path, FILE_MODE);
    if (error == ENOMEM) return fail_no_memory();
    if (!error) {
        int sound = write_all(beside.fd, manifest->data, manifest->length);
        for (size_t i = 0; i < count && sound; i++)
            sound = write_all(beside.fd, items[i].blob->data, items[i].blob->data_bytes);
        error = sound ? beside_keep(&beside) : errno;
        if (!sound) beside_drop(&beside);
    }
    return error ? fail(CDNAGEN_IO, "cannot write pack %s: %s", path, strerror(error)) : CDNAGEN_OK;
}

cdnagen_status pack_write(const char *path, cache_blob *const *entries, size_t count) {
    item *items = mem_alloc((count ? count : 1) * sizeof *items);
    if (!items) return fail_no_memory();
    const size_t kept = sort_items(entries, count, items);
    text manifest = {0};
    cdnagen_status status = make_manifest(items, kept, &manifest);
    if (!status) status = write_parts(path, &manifest, items, kept);
    text_free(&manifest);
    mem_free(items);
    return status;
}
