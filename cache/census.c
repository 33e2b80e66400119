/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the command shows of a whole directory and does with it: count, verify, clear. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/tiers.h"

typedef struct census {
    const char *dir;
    char hex[3]; /* the folder that is being visited */
    void (*visit)(void *census, int folder, const char *name);
    const cache_visitor *visitor;    /* NULL: count only */
    int error;                       /* errno of what could not be listed, read or deleted */
    char untrusted[TRUST_WHY_BYTES]; /* why entries may not be taken */
    cache_census count;
} census;

static void report_bad(const census *s, const char *name, const char *problem) {
    if (!s->visitor->report) return;
    text path = {0};
    text_add(&path, "%s/" CACHE_FORMAT_FOLDER "/%s/%s", s->dir, s->hex, name);
    s->visitor->report(s->visitor->user, path.failed ? name : path.data, problem);
    text_free(&path);
}

static void verify_entry(census *s, int folder, const char *name) {
    const char *problem = NULL;
    cache_blob *b = entry_read(folder, name, !s->visitor->take || s->visitor->trust_all, &problem);
    if (b) {
        char key[CACHE_KEY_CHARS + 1];
        cache_hash(b->key_text, b->key_text_bytes, key);
        if (strcmp(key, name) != 0) {
            s->count.foreign++;
            report_bad(s, name, "belongs to another key");
        } else if (s->visitor->take) {
            s->visitor->take(s->visitor->user, b);
        }
        cache_blob_release(b);
    } else if (problem && *problem) {
        s->count.damaged++;
        report_bad(s, name, problem);
    } else if (problem) {
        s->error = ENOMEM;
    }
}

static void count_file(void *user, int folder, const char *name) {
    census *s = user;
    const file_kind kind = folder_file_kind(s->hex, name);
    struct stat st;
    if (kind == FILE_TEMPORARY) s->count.temporaries++;
    if (kind != FILE_ENTRY || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW)) return;
    s->count.entries++;
    s->count.bytes += (uint64_t)st.st_size;
    if (s->visitor) verify_entry(s, folder, name);
}

static void delete_file(void *user, int folder, const char *name) {
    census *s = user;
    const file_kind kind = folder_file_kind(s->hex, name);
    struct stat st;
    if (kind == FILE_LOCK) folder_drop_lock(folder, name);
    if ((kind != FILE_ENTRY && kind != FILE_TEMPORARY) || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW)) return;
    if (unlinkat(folder, name, 0)) {
        if (errno != ENOENT) s->error = errno;
    } else if (kind == FILE_TEMPORARY) {
        s->count.temporaries++;
    } else {
        s->count.entries++;
        s->count.bytes += (uint64_t)st.st_size;
    }
}

/* takes_trusted: whether the visitor takes entries, and only from where they can be trusted. */
static int takes_trusted(const census *s) { return s->visitor && s->visitor->take && !s->visitor->trust_all; }

static int may_take(census *s, int folder) {
    struct stat st;
    return !takes_trusted(s) || (!fstat(folder, &st) && trust_of(&st, s->untrusted));
}

static void visit_folders(census *s, int format) {
    for (unsigned i = 0; i < 256; i++) {
        snprintf(s->hex, sizeof s->hex, "%02x", i);
        const int folder = openat(format, s->hex, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (folder < 0) {
            if (errno != ENOENT) s->error = errno;
            continue;
        }
        if (may_take(s, folder) && !folder_each(folder, s->visit, s)) s->error = errno;
        close(folder);
    }
}

/* visit_all: every file of every folder. A directory or format folder that is absent has none. */
static cdnagen_status visit_all(census *s, cache_census *out) {
    const int root = trust_open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, !takes_trusted(s), s->untrusted);
    const int format =
        root < 0 ? -1 : openat(root, CACHE_FORMAT_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (format >= 0) {
        if (may_take(s, format)) visit_folders(s, format);
        close(format);
    } else if (errno != ENOENT) {
        s->error = errno;
    }
    if (root >= 0) close(root);
    if (*s->untrusted)
        return fail(CDNAGEN_IO, "cache directory %s, or a folder in it, %s: %s", s->dir, s->untrusted, trust_advice);
    if (s->error)
        return fail(CDNAGEN_IO, "cache directory %s: %s; it must be a directory that this user can read and write",
                    s->dir, strerror(s->error));
    *out = s->count;
    return CDNAGEN_OK;
}

/* walk_pack: every entry of a pack, as of a directory. */
static cdnagen_status walk_pack(const char *path, const cache_visitor *v, cache_census *out) {
    pack *p = NULL;
    cache_census count = {0};
    TRY(pack_open(path, !v || !v->take || v->trust_all, &p));
    cdnagen_status status = CDNAGEN_OK;
    for (size_t i = 0; i < pack_count(p) && !status; i++) {
        count.entries++;
        count.bytes += pack_object_bytes(p, i);
        if (!v) continue;
        const char *problem = "";
        cache_blob *b = pack_read(p, i, &problem);
        if (b) {
            if (v->take) v->take(v->user, b);
        } else if (!*problem) {
            status = fail_no_memory();
        } else {
            char key[CACHE_KEY_CHARS + 1];
            pack_key(p, i, key);
            count.damaged++;
            text where = {0};
            text_add(&where, "%s, entry %s", path, key);
            if (v->report) v->report(v->user, where.failed ? key : where.data, problem);
            text_free(&where);
        }
        cache_blob_release(b);
    }
    pack_close(p);
    if (!status) *out = count;
    return status;
}

cdnagen_status cache_walk(const char *root, const cache_visitor *visitor, cache_census *out) {
    struct stat st;
    if (!stat(root, &st) && S_ISREG(st.st_mode)) return walk_pack(root, visitor, out);
    census s = {.dir = root, .visit = count_file, .visitor = visitor};
    return visit_all(&s, out);
}

cdnagen_status cache_clear(const char *dir, cache_census *out) {
    census s = {.dir = dir, .visit = delete_file};
    return visit_all(&s, out);
}
