/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names: the key of a key text, and the directory that is used when nobody names one. */
#include <errno.h>
#include <llvm-c/blake3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/tiers.h"

void hash_bytes(const void *data, size_t size, uint8_t out[HASH_BYTES]) {
    llvm_blake3_hasher hasher;
    llvm_blake3_hasher_init(&hasher);
    llvm_blake3_hasher_update(&hasher, data, size);
    llvm_blake3_hasher_finalize(&hasher, out, HASH_BYTES);
}

void hash_text(const uint8_t hash[HASH_BYTES], char out[CACHE_KEY_CHARS + 1]) {
    for (size_t i = 0; i < HASH_BYTES; i++) {
        out[2 * i] = "0123456789abcdef"[hash[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[hash[i] & 15];
    }
    out[CACHE_KEY_CHARS] = 0;
}

void cache_hash(const void *data, size_t size, char out[CACHE_KEY_CHARS + 1]) {
    uint8_t hash[HASH_BYTES];
    hash_bytes(data, size, hash);
    hash_text(hash, out);
}

int cache_hash_file(int fd, char out[CACHE_KEY_CHARS + 1]) {
    unsigned char piece[1 << 16];
    uint8_t hash[HASH_BYTES];
    llvm_blake3_hasher hasher;
    llvm_blake3_hasher_init(&hasher);
    for (ssize_t n; (n = read(fd, piece, sizeof piece));) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        llvm_blake3_hasher_update(&hasher, piece, (size_t)n);
    }
    llvm_blake3_hasher_finalize(&hasher, hash, HASH_BYTES);
    hash_text(hash, out);
    return 0;
}

void cache_key(const char *key_text, char key[CACHE_KEY_CHARS + 1]) { cache_hash(key_text, strlen(key_text), key); }

static char *join(const char *dir, const char *below, const char **why, const char *reason) {
    text path = {0};
    text_add(&path, "%s%s", dir, below);
    if (path.failed) {
        text_free(&path);
        *why = "memory ran out";
        return NULL;
    }
    *why = reason;
    return path.data;
}

int cache_default_trust(void) {
    const char *trust = getenv("CDNAGEN_CACHE_TRUST");
    return trust && !strcmp(trust, "all");
}

char *cache_default_roots(const char **why) {
    const char *own = getenv("CDNAGEN_CACHE_DIR");
    if (own && *own) return join(own, "", why, "CDNAGEN_CACHE_DIR");
    const char *xdg = getenv("XDG_CACHE_HOME");
    if (xdg && *xdg == '/' && !strchr(xdg, ':')) return join(xdg, "/cdnagen", why, "XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (!home || !*home) {
        *why = "HOME is not set";
    } else if (*home != '/') {
        *why = "HOME is not an absolute path";
    } else if (strspn(home, "/") == strlen(home)) {
        *why = "HOME is /";
    } else if (strchr(home, ':')) {
        *why = "HOME has a ':' in it, which separates roots: name one by CDNAGEN_CACHE_DIR";
    } else {
        return join(home, "/.cache/cdnagen", why, "HOME");
    }
    return NULL;
}
