/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libFuzzer target: an entry file of any bytes. The checksum would turn nearly every input away, so the bytes are tried
 * as they come and once more with the checksum made right. */
#include <llvm-c/blake3.h>
#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* parse: what is called sound must lie in the file, the parts in order and without overlap. */
static void parse(const uint8_t *file, size_t size) {
    const char *key_text;
    const void *data;
    size_t key_text_bytes, data_bytes;
    if (!cache_entry_parse(file, size, &key_text, &key_text_bytes, &data, &data_bytes)) return;
    const uint8_t *k = (const uint8_t *)key_text, *d = data, *end = file + size;
    if (k < file || key_text_bytes > (size_t)(end - k) || d < k + key_text_bytes || d > end ||
        data_bytes != (size_t)(end - d) - LLVM_BLAKE3_OUT_LEN)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
    parse(input, size);
    if (size < LLVM_BLAKE3_OUT_LEN) return 0;
    uint8_t *sealed = malloc(size);
    if (!sealed) return 0;
    memcpy(sealed, input, size);
    llvm_blake3_hasher hasher;
    llvm_blake3_hasher_init(&hasher);
    llvm_blake3_hasher_update(&hasher, sealed, size - LLVM_BLAKE3_OUT_LEN);
    llvm_blake3_hasher_finalize(&hasher, sealed + size - LLVM_BLAKE3_OUT_LEN, LLVM_BLAKE3_OUT_LEN);
    parse(sealed, size);
    free(sealed);
    return 0;
}
