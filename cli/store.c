/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen push, pull: packs in a plain HTTP store, each under the BLAKE3 of its bytes. Nothing is trusted that comes
 * back: it must have its name's hash and be a sound pack before it takes the place that the user named. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/pack.h"
#include "cli/cli.h"
#include "cli/http.h"
#include "core/file.h"

/* check_pack: that every entry is sound; whoever can write it, as nothing is loaded.   errors: IO, NO_MEMORY */
static cdnagen_status check_pack(FILE *f, const char *path) {
    pack *p = NULL;
    TRY(pack_open_file(fileno(f), path, &p));
    cdnagen_status status = CDNAGEN_OK;
    for (size_t i = 0; i < pack_count(p) && !status; i++) {
        const char *what = NULL;
        cache_blob *const entry = pack_read(p, i, &what);
        if (!entry) {
            char key[CACHE_KEY_CHARS + 1];
            pack_key(p, i, key);
            status = *what ? fail(CDNAGEN_IO, "%s entry %s %s", path, key, what) : fail_no_memory();
        }
        cache_blob_release(entry);
    }
    pack_close(p);
    return status;
}

static cdnagen_status hash_file(FILE *f, const char *name, char hash[CACHE_KEY_CHARS + 1]) {
    const int error = fseeko(f, 0, SEEK_SET) ? errno : cache_hash_file(fileno(f), hash);
    return error ? fail(CDNAGEN_IO, "cannot read %s: %s", name, strerror(error)) : CDNAGEN_OK;
}

/* name_in_store: STORE/HASH.   owner: mem_free; NULL if memory ran out */
static char *name_in_store(const char *store, const char *hash) {
    size_t n = strlen(store);
    while (n && store[n - 1] == '/') n--;
    text url = {0};
    text_add(&url, "%.*s/%s", (int)n, store, hash);
    if (!url.failed) return url.data;
    text_free(&url);
    return NULL;
}

/* ---- push ---- */

static cdnagen_status push(const char *store, const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return fail(CDNAGEN_IO, "cannot read %s: %s", path, strerror(errno));
    char hash[CACHE_KEY_CHARS + 1];
    cdnagen_status status = check_pack(f, path);
    if (!status) status = hash_file(f, path, hash);
    char *url = status ? NULL : name_in_store(store, hash);
    if (!status) status = url ? http_put(url, f) : fail_no_memory();
    if (!status) printf("%s\n", hash);
    mem_free(url);
    fclose(f);
    return status;
}

int push_command(const cli *options) {
    if (options->word_count != 2)
        return fail_exit(fail(CDNAGEN_BAD_ARGUMENT, "push needs two words: the store's URL and the pack"));
    const cdnagen_status status = push(options->words[0], options->words[1]);
    return status ? fail_exit(status) : EXIT_OK;
}

/* ---- pull ---- */

/* has_already: whether the file is there with this hash. */
static int has_already(const char *path, const char *hash) {
    char own[CACHE_KEY_CHARS + 1];
    FILE *f = fopen(path, "rb");
    const int same = f && !hash_file(f, path, own) && !strcmp(own, hash);
    if (f) fclose(f);
    return same;
}

/* fetch: the answer as a checked file. */
static cdnagen_status fetch(const char *url, const char *hash, const char *path, FILE *f) {
    TRY(http_get(url, f));
    if (fflush(f)) return fail(CDNAGEN_IO, "cannot write %s: %s", path, strerror(errno));
    char own[CACHE_KEY_CHARS + 1];
    TRY(hash_file(f, path, own));
    if (strcmp(own, hash) != 0)
        return fail(CDNAGEN_IO, "GET %s: the answer's hash is %s, not its name: it is damaged or another file", url,
                    own);
    return check_pack(f, path);
}

static cdnagen_status fetch_beside(const char *url, const char *hash, const char *path) {
    file_beside beside;
    int error = beside_open(&beside, path, 0664);
    if (error == ENOMEM) return fail_no_memory();
    if (error) return fail(CDNAGEN_IO, "cannot write %s: %s", path, strerror(error));
    const int fd = fcntl(beside.fd, F_DUPFD_CLOEXEC, 0);
    FILE *const f = fd < 0 ? NULL : fdopen(fd, "w+b");
    cdnagen_status status =
        f ? fetch(url, hash, path, f) : fail(CDNAGEN_IO, "cannot write %s: %s", path, strerror(errno));
    if (f)
        fclose(f);
    else if (fd >= 0)
        close(fd);
    if (status) return beside_drop(&beside), status;
    error = beside_keep(&beside);
    return error ? fail(CDNAGEN_IO, "cannot write %s: %s", path, strerror(error)) : CDNAGEN_OK;
}

static cdnagen_status pull(const char *store, const char *hash, const char *path) {
    if (strspn(hash, "0123456789abcdef") != CACHE_KEY_CHARS || hash[CACHE_KEY_CHARS])
        return fail(CDNAGEN_BAD_ARGUMENT, "\"%s\" is no hash: it has 64 digits 0-9 a-f, as push prints them", hash);
    if (has_already(path, hash)) return printf("%s was there\n", path), CDNAGEN_OK;
    char *const url = name_in_store(store, hash);
    if (!url) return fail_no_memory();
    const cdnagen_status status = fetch_beside(url, hash, path);
    mem_free(url);
    if (!status) printf("%s\n", path);
    return status;
}

int pull_command(const cli *options) {
    if (options->word_count != 3)
        return fail_exit(
            fail(CDNAGEN_BAD_ARGUMENT, "pull needs three words: the store's URL, the hash and the file to write"));
    const cdnagen_status status = pull(options->words[0], options->words[1], options->words[2]);
    return status ? fail_exit(status) : EXIT_OK;
}
