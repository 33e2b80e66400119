/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libFuzzer target: a pack of any bytes, as it comes and once more with lengths, keys and checksum made right, without
 * which nearly every input would be turned away at the door. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cache/pack_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* look: what is given out must be what its key and hash say. */
static void look(const uint8_t *bytes_of, size_t size) {
    const int fd = memfd_create("pack", MFD_CLOEXEC);
    pack *p = NULL;
    if (fd < 0 || write(fd, bytes_of, size) != (ssize_t)size) abort();
    if (pack_open_file(fd, "pack", &p) == CDNAGEN_OK) {
        for (size_t i = 0; i < pack_count(p); i++) {
            char key[CACHE_KEY_CHARS + 1], own[CACHE_KEY_CHARS + 1];
            const char *problem = NULL;
            size_t text_bytes;
            const char *const words = pack_key_text(p, i, &text_bytes);
            pack_key(p, i, key);
            cache_hash(words, text_bytes, own);
            if (strcmp(key, own) != 0) abort();
            cache_blob *const b = pack_get(p, key, &problem);
            if (!b && !problem) abort();
            if (b && (cache_blob_size(b) != pack_object_bytes(p, i) || b->key_text_bytes != text_bytes)) abort();
            cache_blob_release(b);
        }
        pack_close(p);
    }
    close(fd);
}

/* mend: what a writer would have put there, as far as the input's own lengths go. */
static void mend(uint8_t *bytes_of, size_t size) {
    pack_header h;
    if (size < sizeof h) return;
    memcpy(&h, bytes_of, sizeof h);
    memcpy(h.magic, pack_magic, sizeof h.magic);
    h.version = PACK_VERSION;
    h.file_bytes = size;
    h.reserved = 0;
    memcpy(bytes_of, &h, sizeof h);
    if (h.manifest_bytes > size || h.manifest_bytes < sizeof h + HASH_BYTES) return;
    uint64_t at = sizeof h + h.entries * sizeof(pack_row);
    const uint64_t room = (h.manifest_bytes - sizeof h - HASH_BYTES) / sizeof(pack_row);
    for (uint64_t i = 0; i < h.entries && h.entries <= room; i++) {
        pack_row r;
        memcpy(&r, bytes_of + sizeof h + i * sizeof r, sizeof r);
        if (r.text_bytes > h.manifest_bytes - HASH_BYTES - at) break;
        hash_bytes(bytes_of + at, (size_t)r.text_bytes, r.key);
        memcpy(bytes_of + sizeof h + i * sizeof r, &r, sizeof r);
        at += r.text_bytes;
    }
    hash_bytes(bytes_of, (size_t)h.manifest_bytes - HASH_BYTES, bytes_of + h.manifest_bytes - HASH_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
    look(input, size);
    uint8_t *const mended = malloc(size ? size : 1);
    if (!mended) return 0;
    memcpy(mended, input, size);
    mend(mended, size);
    look(mended, size);
    free(mended);
    return 0;
}
