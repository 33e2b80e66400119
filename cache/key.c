/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names: the key of a key text, and the directory that is used when nobody names one. */
#include <llvm-c/blake3.h>
#include <stdlib.h>
#include <string.h>

#include "cache/tiers.h"

void key_of_bytes(const void *key_text, size_t size, char key[CACHE_KEY_CHARS + 1]) {
    uint8_t digest[CACHE_KEY_CHARS / 2];
    llvm_blake3_hasher hasher;
    llvm_blake3_hasher_init(&hasher);
    llvm_blake3_hasher_update(&hasher, key_text, size);
    llvm_blake3_hasher_finalize(&hasher, digest, sizeof digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        key[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        key[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    key[CACHE_KEY_CHARS] = 0;
}

void cache_key(const char *key_text, char key[CACHE_KEY_CHARS + 1]) { key_of_bytes(key_text, strlen(key_text), key); }

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

char *cache_default_dir(const char **why) {
    const char *own = getenv("CDNAGEN_CACHE_DIR");
    if (own && *own) return join(own, "", why, "CDNAGEN_CACHE_DIR");
    const char *xdg = getenv("XDG_CACHE_HOME");
    if (xdg && *xdg == '/') return join(xdg, "/cdnagen", why, "XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (!home || !*home) {
        *why = "HOME is not set";
    } else if (*home != '/') {
        *why = "HOME is not an absolute path";
    } else if (strspn(home, "/") == strlen(home)) {
        *why = "HOME is /";
    } else {
        return join(home, "/.cache/cdnagen", why, "HOME");
    }
    return NULL;
}
