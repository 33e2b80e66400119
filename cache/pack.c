/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading packs: the manifest is checked once and kept, objects are read and checked one by one. */
#include "cache/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/pack_format.h"

struct pack {
    int fd;
    size_t entries;
    unsigned char *manifest;
    uint64_t *text_at, *object_at; /* of each entry, in the file */
};

static pack_header header_of(const void *manifest) {
    pack_header h;
    memcpy(&h, manifest, sizeof h);
    return h;
}

static pack_row row_of(const void *manifest, uint64_t i) {
    pack_row r;
    memcpy(&r, (const unsigned char *)manifest + sizeof(pack_header) + i * sizeof r, sizeof r);
    return r;
}

/* ---- the manifest ---- */

static cdnagen_status check_header(const pack_header *h, uint64_t file_bytes) {
    if (memcmp(h->magic, pack_magic, sizeof h->magic) != 0)
        return fail(CDNAGEN_IO, "it is no pack: its first 8 bytes are not \"cdnapack\"");
    if (h->version != PACK_VERSION)
        return fail(CDNAGEN_IO, "it is a pack of version %" PRIu64 ", and version %d can be read", h->version,
                    PACK_VERSION);
    if (h->file_bytes != file_bytes)
        return fail(CDNAGEN_IO, "it is %s: it has %" PRIu64 " bytes and says at byte 32 that there are %" PRIu64,
                    file_bytes < h->file_bytes ? "cut short" : "damaged", file_bytes, h->file_bytes);
    const uint64_t fixed = sizeof *h + HASH_BYTES;
    if (h->manifest_bytes > PACK_MANIFEST_MAX || h->manifest_bytes > file_bytes || h->manifest_bytes < fixed ||
        h->entries > (h->manifest_bytes - fixed) / sizeof(pack_row) || h->reserved)
        return fail(CDNAGEN_IO, "it is damaged: the lengths from byte 16 on do not fit each other");
    return CDNAGEN_OK;
}

/* Texts and objects lie in order without gaps: their lengths must add up to what the header says. */
static cdnagen_status check_rows(const unsigned char *manifest, const pack_header *h) {
    uint64_t text_at = sizeof *h + h->entries * sizeof(pack_row), object_at = h->manifest_bytes;
    const uint64_t texts_end = h->manifest_bytes - HASH_BYTES;
    pack_row before = {0};
    for (uint64_t i = 0; i < h->entries; i++) {
        const pack_row r = row_of(manifest, i);
        const unsigned long long at = sizeof *h + i * sizeof r;
        if (i && memcmp(before.key, r.key, HASH_BYTES) >= 0)
            return fail(CDNAGEN_IO, "it is damaged: the key at byte %llu is out of order", at);
        if (r.text_bytes > texts_end - text_at || r.object_bytes > h->file_bytes - object_at ||
            r.object_bytes > ENTRY_BYTES_MAX)
            return fail(CDNAGEN_IO, "it is damaged: the lengths at byte %llu go beyond the file", at + 2 * HASH_BYTES);
        uint8_t key[HASH_BYTES];
        hash_bytes(manifest + text_at, (size_t)r.text_bytes, key);
        if (memcmp(key, r.key, HASH_BYTES) != 0)
            return fail(CDNAGEN_IO, "it is damaged: the key at byte %llu is not that of its text", at);
        text_at += r.text_bytes;
        object_at += r.object_bytes;
        before = r;
    }
    if (text_at != texts_end || object_at != h->file_bytes)
        return fail(CDNAGEN_IO,
                    "it is damaged: its parts end at bytes %" PRIu64 " and %" PRIu64 ", not %" PRIu64 " and %" PRIu64,
                    text_at, object_at, texts_end, h->file_bytes);
    return CDNAGEN_OK;
}

cdnagen_status pack_check_manifest(const void *manifest, size_t size, uint64_t file_bytes, pack_layout *out) {
    if (size < sizeof(pack_header))
        return fail(CDNAGEN_IO, "it is no pack: it has %zu bytes, and a header has %zu", size, sizeof(pack_header));
    const pack_header h = header_of(manifest);
    TRY(check_header(&h, file_bytes));
    *out = (pack_layout){h.entries, h.manifest_bytes};
    if (size < h.manifest_bytes) return CDNAGEN_OK; /* the header alone: read on */
    uint8_t sum[HASH_BYTES];
    const size_t body = (size_t)h.manifest_bytes - HASH_BYTES;
    hash_bytes(manifest, body, sum);
    if (memcmp(sum, (const char *)manifest + body, HASH_BYTES) != 0)
        return fail(CDNAGEN_IO, "it is damaged: the checksum at byte %zu is not that of the bytes before it", body);
    return check_rows(manifest, &h);
}

/* ---- the file ---- */

/* read_at: all of it, or 0 with errno, which is 0 where the file ends too early. */
static int read_at(int fd, void *to, size_t size, uint64_t at) {
    for (unsigned char *p = to; size;) {
        const ssize_t n = pread(fd, p, size, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            if (!n) errno = 0;
            return 0;
        }
        p += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return 1;
}

static cdnagen_status read_failed(void) {
    return fail(CDNAGEN_IO, "it cannot be read: %s", errno ? strerror(errno) : "it became shorter meanwhile");
}

/* keep_places: where each text and object begins; the lengths were checked. */
static cdnagen_status keep_places(pack *p) {
    const size_t size = (p->entries + 1) * sizeof *p->text_at;
    p->text_at = mem_alloc(size);
    p->object_at = mem_alloc(size);
    if (!p->text_at || !p->object_at) return fail_no_memory();
    p->text_at[0] = sizeof(pack_header) + p->entries * sizeof(pack_row);
    p->object_at[0] = header_of(p->manifest).manifest_bytes;
    for (size_t i = 0; i < p->entries; i++) {
        const pack_row r = row_of(p->manifest, i);
        p->text_at[i + 1] = p->text_at[i] + r.text_bytes;
        p->object_at[i + 1] = p->object_at[i] + r.object_bytes;
    }
    return CDNAGEN_OK;
}

static cdnagen_status read_manifest(pack *p) {
    struct stat st;
    if (fstat(p->fd, &st)) return read_failed();
    if (!S_ISREG(st.st_mode)) return fail(CDNAGEN_IO, "it is no regular file");
    const uint64_t file_bytes = (uint64_t)st.st_size;
    pack_header h = {.magic = ""};
    const size_t first = file_bytes < sizeof h ? (size_t)file_bytes : sizeof h;
    pack_layout layout = {0};
    if (!read_at(p->fd, &h, first, 0)) return read_failed();
    TRY(pack_check_manifest(&h, first, file_bytes, &layout));
    p->manifest = mem_alloc((size_t)layout.manifest_bytes);
    if (!p->manifest) return fail_no_memory();
    if (!read_at(p->fd, p->manifest, (size_t)layout.manifest_bytes, 0)) return read_failed();
    TRY(pack_check_manifest(p->manifest, (size_t)layout.manifest_bytes, file_bytes, &layout));
    p->entries = (size_t)layout.entries;
    return keep_places(p);
}

static cdnagen_status not_open(int error, const char *untrusted) {
    return *untrusted ? fail(CDNAGEN_IO, "it %s: %s", untrusted, trust_advice)
                      : fail(CDNAGEN_IO, "it cannot be opened: %s", strerror(error));
}

/* open_owned: a pack that closes fd; fd < 0: errno, and `untrusted` if that has words, say why. */
static cdnagen_status open_owned(int fd, const char *path, const char *untrusted, pack **out) {
    const int error = errno;
    pack *p = mem_alloc(sizeof *p);
    if (!p) {
        if (fd >= 0) close(fd);
        return fail_no_memory();
    }
    p->fd = fd;
    cdnagen_status status = fd < 0 ? not_open(error, untrusted) : read_manifest(p);
    if (status == CDNAGEN_IO) {
        char why[512];
        strncpy(why, cdnagen_error(), sizeof why - 1);
        why[sizeof why - 1] = 0;
        status = fail(status, "pack %s: %s", path, why);
    }
    if (status)
        pack_close(p);
    else
        *out = p;
    return status;
}

cdnagen_status pack_open(const char *path, int trust_all, pack **out) {
    char untrusted[TRUST_WHY_BYTES] = "";
    return open_owned(trust_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, trust_all, untrusted), path, untrusted, out);
}

cdnagen_status pack_open_file(int fd, const char *path, pack **out) {
    return open_owned(fcntl(fd, F_DUPFD_CLOEXEC, 0), path, "", out);
}

void pack_close(pack *p) {
    if (!p) return;
    if (p->fd >= 0) close(p->fd);
    mem_free(p->manifest);
    mem_free(p->text_at);
    mem_free(p->object_at);
    mem_free(p);
}

/* ---- entries ---- */

size_t pack_count(const pack *p) { return p->entries; }
void pack_key(const pack *p, size_t i, char key[CACHE_KEY_CHARS + 1]) { hash_text(row_of(p->manifest, i).key, key); }
const char *pack_key_text(const pack *p, size_t i, size_t *size) {
    *size = (size_t)(p->text_at[i + 1] - p->text_at[i]);
    return (const char *)p->manifest + p->text_at[i];
}
uint64_t pack_object_bytes(const pack *p, size_t i) { return p->object_at[i + 1] - p->object_at[i]; }

cache_blob *pack_read(const pack *p, size_t i, const char **problem) {
    const size_t size = (size_t)pack_object_bytes(p, i);
    size_t text_bytes;
    const char *const words = pack_key_text(p, i, &text_bytes);
    cache_blob *b = NULL;
    uint8_t hash[HASH_BYTES];
    void *const object = mem_alloc(size ? size : 1);
    *problem = "";
    if (object && !read_at(p->fd, object, size, p->object_at[i])) {
        *problem = errno ? "cannot be read" : "is cut short";
    } else if (object) {
        hash_bytes(object, size, hash);
        if (memcmp(hash, row_of(p->manifest, i).object, HASH_BYTES) != 0)
            *problem = "is damaged: its object has not the hash that the manifest gives";
        else
            b = blob_make(words, text_bytes, object, size);
    }
    mem_free(object);
    return b;
}

cache_blob *pack_get(const pack *p, const char *key, const char **problem) {
    size_t low = 0, high = p->entries;
    *problem = NULL;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        char here[CACHE_KEY_CHARS + 1];
        pack_key(p, middle, here);
        const int order = strcmp(here, key);
        if (!order) return pack_read(p, middle, problem);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
