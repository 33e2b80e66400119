/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The disk tier: one file per entry, published by rename, so that a reader sees a whole entry or none. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/tiers.h"
#include "core/file.h"

/* A temporary or lock that nobody touched for this long was left by a process that is gone. */
enum { ORPHAN_SECONDS = 3600 };

static int read_all(int fd, unsigned char *to, size_t size) {
    while (size) {
        const ssize_t n = read(fd, to, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        to += n;
        size -= (size_t)n;
    }
    return 1;
}

cache_blob *entry_read(int folder, const char *name, int trust_all, const char **problem) {
    /* O_NONBLOCK: a FIFO in the place of an entry must not hold the caller up. */
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        *problem = errno == ENOENT ? NULL : errno == ELOOP ? "is not a regular file" : "cannot be opened";
        return NULL;
    }
    struct stat st;
    cache_blob *b = NULL;
    if (fstat(fd, &st)) {
        *problem = "cannot be read";
    } else if (!S_ISREG(st.st_mode)) {
        *problem = "is not a regular file";
    } else if (st.st_mode & S_IWOTH && !trust_all) {
        *problem = "can be written by every user";
    } else if (st.st_size > (off_t)ENTRY_BYTES_MAX) {
        *problem = "is larger than any entry";
    } else if (!(b = blob_alloc((size_t)st.st_size))) {
        *problem = "";
    } else if (!read_all(fd, b->file, b->file_bytes)) {
        *problem = "cannot be read";
    } else if (!blob_parse(b)) {
        *problem = "is damaged";
    } else {
        close(fd);
        return b;
    }
    cache_blob_release(b);
    close(fd);
    return NULL;
}

/* directory_get: the entry in a directory of the disk tier; NULL and *problem otherwise, as entry_read. */
static cache_blob *directory_get(cache *c, const char *dir, const char *key, const char **problem) {
    *problem = NULL;
    const int folder = folder_open(c, dir, key, 0);
    if (folder < 0) return NULL;
    pin loaded = {0};
    const int stays = dir != c->writer || pin_take(c, key, &loaded); /* before it is opened: evict.c */
    cache_blob *b = stays ? entry_read(folder, key, c->trust_all, problem) : NULL;
    if (b && dir == c->writer && c->disk_bytes) utimensat(folder, key, NULL, AT_SYMLINK_NOFOLLOW);
    if (b)
        b->pin = loaded;
    else
        pin_drop(&loaded);
    close(folder);
    return b;
}

cache_blob *disk_get(cache *c, const char *key, const char *key_text) {
    roots_settle(c);
    for (size_t i = 0; i < c->root_count; i++) {
        const disk_root *r = &c->roots[i];
        const char *problem = NULL;
        cache_blob *b = r->unusable ? NULL
                        : r->pack   ? pack_get(r->pack, key, &problem)
                                    : directory_get(c, r->path, key, &problem);
        if (b && blob_is(b, key_text)) return b;
        if (b) problem = "belongs to another key";
        cache_blob_release(b);
        if (problem && *problem)
            cache_log(c, CDNAGEN_LOG_INFO, "entry %s of %s %s: it counts as a miss", key, r->path, problem);
    }
    return NULL;
}

/* temporary_open: a new file in the folder, its name in `name`; -1 with errno. */
static int temporary_open(int folder, char name[NAME_BYTES]) {
    for (int tries = 0; tries < 8; tries++) {
        uint64_t random;
        if (getrandom(&random, sizeof random, 0) != sizeof random) return -1;
        snprintf(name, NAME_BYTES, "tmp.%016llx", (unsigned long long)random);
        /* The user's umask decides who else may read, within a folder that is private unless the user shared it. */
        const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

typedef struct sweep {
    const char *hex;
    time_t now;
} sweep;

static void sweep_file(void *user, int folder, const char *name) {
    const sweep *s = user;
    struct stat st;
    const file_kind kind = folder_file_kind(s->hex, name);
    if (kind != FILE_TEMPORARY && kind != FILE_LOCK) return;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) || llabs((long long)(s->now - st.st_mtime)) < ORPHAN_SECONDS)
        return; /* also one of the future, from before the clock was set back */
    if (kind == FILE_LOCK) {
        folder_drop_lock(folder, name);
    } else {
        unlinkat(folder, name, 0);
    }
}

/* publish: 0, or the errno of the step that failed; the temporary is gone either way. */
static int publish(int folder, const char *key, const cache_blob *b) {
    char temporary[NAME_BYTES];
    const int fd = temporary_open(folder, temporary);
    if (fd < 0) return errno;
    struct stat st = {0};
    int error = 0;
    if (!write_all(fd, b->file, b->file_bytes) || fsync(fd) || fstat(fd, &st)) error = errno;
    if (close(fd) && !error) error = errno;
    if (!error && renameat(folder, temporary, folder, key)) error = errno;
    if (error) {
        unlinkat(folder, temporary, 0);
        return error;
    }
    /* The entry is published; what follows is care for a power cut and for what others left behind. The clock is the
     * file system's own, which on a network is not this machine's. */
    fsync(folder);
    const sweep s = {.hex = key, .now = st.st_mtime};
    folder_each(folder, sweep_file, (void *)&s);
    return 0;
}

void disk_put(cache *c, const char *key, cache_blob *b) {
    roots_settle(c);
    if (!c->writer) return;
    if (b->file_bytes > ENTRY_BYTES_MAX) {
        cache_log(c, CDNAGEN_LOG_INFO, "entry %s of %zu bytes is over the limit of %zu: kept in memory only", key,
                  b->file_bytes, ENTRY_BYTES_MAX);
        return;
    }
    if (!evict_for(c, b->file_bytes)) {
        cache_log(c, CDNAGEN_LOG_INFO, "entry %s of %zu bytes has no room in %s within %zu bytes: kept in memory only",
                  key, b->file_bytes, c->writer, c->disk_bytes);
        return;
    }
    /* ENOENT: the folder or the temporary was deleted under us (a clear in another process): once more, anew. */
    int error = ENOENT;
    for (int tries = 0; error == ENOENT && tries < 2; tries++) {
        const int folder = folder_open(c, c->writer, key, 1);
        if (folder < 0) return;
        /* Pinned before it can be found. What is being evicted at this moment stays in memory. */
        error = b->pin.of || pin_take(c, key, &b->pin) ? publish(folder, key, b) : 0;
        close(folder);
    }
    if (error)
        cache_warn(c, "cannot write an entry in directory %s: %s; kernels are kept in memory only", c->writer,
                   strerror(error));
}
