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
    int verify;
    void (*report)(void *user, const char *path, const char *problem);
    void *user;
    int error; /* errno of what could not be listed, read or deleted */
    cache_census count;
} census;

static void report_bad(const census *s, const char *name, const char *problem) {
    if (!s->report) return;
    text path = {0};
    text_add(&path, "%s/" CACHE_FORMAT_FOLDER "/%s/%s", s->dir, s->hex, name);
    s->report(s->user, path.failed ? name : path.data, problem);
    text_free(&path);
}

static void verify_entry(census *s, int folder, const char *name) {
    const char *problem = NULL;
    cache_blob *b = entry_read(folder, name, &problem);
    if (b) {
        char key[CACHE_KEY_CHARS + 1];
        key_of_bytes(b->key_text, b->key_text_bytes, key);
        if (strcmp(key, name) != 0) {
            s->count.foreign++;
            report_bad(s, name, "belongs to another key");
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
    if (s->verify) verify_entry(s, folder, name);
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

static void visit_folders(census *s, int format) {
    for (unsigned i = 0; i < 256; i++) {
        snprintf(s->hex, sizeof s->hex, "%02x", i);
        const int folder = openat(format, s->hex, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (folder < 0) {
            if (errno != ENOENT) s->error = errno;
            continue;
        }
        if (!folder_each(folder, s->visit, s)) s->error = errno;
        close(folder);
    }
}

/* visit_all: every file of every folder. A directory or format folder that is absent has none. */
static cdnagen_status visit_all(census *s, cache_census *out) {
    const int root = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int format =
        root < 0 ? -1 : openat(root, CACHE_FORMAT_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (format >= 0) {
        visit_folders(s, format);
        close(format);
    } else if (errno != ENOENT) {
        s->error = errno;
    }
    if (root >= 0) close(root);
    if (s->error)
        return fail(CDNAGEN_IO, "cache directory %s: %s; it must be a directory that this user can read and write",
                    s->dir, strerror(s->error));
    *out = s->count;
    return CDNAGEN_OK;
}

cdnagen_status cache_walk(const char *dir, int verify,
                          void (*report)(void *user, const char *path, const char *problem), void *user,
                          cache_census *out) {
    census s = {.dir = dir, .visit = count_file, .verify = verify, .report = report, .user = user};
    return visit_all(&s, out);
}

cdnagen_status cache_clear(const char *dir, cache_census *out) {
    census s = {.dir = dir, .visit = delete_file};
    return visit_all(&s, out);
}
