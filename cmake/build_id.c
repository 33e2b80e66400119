/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* build_id HEADER FILE...: BLAKE3 over the names and bytes of the generator's sources, written as a C header if it
 * changed. The id reaches every cache key: never a time, a path or a compiler, so that equal sources share entries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llvm-c/blake3.h"

/* NUL-terminated; NULL with errno set where it cannot be read whole. */
static char *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *data = NULL;
    if (!fseek(f, 0, SEEK_END)) {
        const long end = ftell(f);
        if (end >= 0 && !fseek(f, 0, SEEK_SET)) data = malloc((size_t)end + 1);
        if (data) *size = fread(data, 1, (size_t)end, f);
        if (data && *size != (size_t)end) {
            free(data);
            data = NULL;
        }
        if (data) data[*size] = 0;
    }
    fclose(f);
    return data;
}

int main(int argc, char **argv) {
    llvm_blake3_hasher hasher;
    llvm_blake3_hasher_init(&hasher);
    for (int i = 2; i < argc; i++) {
        size_t size = 0;
        char *data = read_file(argv[i], &size);
        if (!data) return perror(argv[i]), 1;
        llvm_blake3_hasher_update(&hasher, argv[i], strlen(argv[i]) + 1);
        llvm_blake3_hasher_update(&hasher, &size, sizeof size);
        llvm_blake3_hasher_update(&hasher, data, size);
        free(data);
    }
    unsigned char digest[16];
    llvm_blake3_hasher_finalize(&hasher, digest, sizeof digest);
    char id[2 * sizeof digest + 1], header[96];
    for (size_t i = 0; i < sizeof digest; i++) snprintf(id + 2 * i, 3, "%02x", digest[i]);
    snprintf(header, sizeof header, "#define CDNAGEN_BUILD_ID \"%s\"\n", id);

    size_t old_size;
    char *old = read_file(argv[1], &old_size);
    const int same = old && !strcmp(old, header);
    free(old);
    if (same) return 0;
    FILE *out = fopen(argv[1], "w");
    if (!out || fputs(header, out) < 0 || fclose(out)) return perror(argv[1]), 1;
    return 0;
}
