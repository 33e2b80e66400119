/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The roots of the disk tier: the list, what each of them is, and which one is written. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/tiers.h"

/* next_root: the next one that is not empty, its length in *size; NULL at the end. */
static const char *next_root(const char **rest, size_t *size) {
    *rest += strspn(*rest, ":");
    const char *const at = *rest;
    *size = strcspn(at, ":");
    *rest += *size;
    return *size ? at : NULL;
}

char *cache_root(const char *roots, size_t index) {
    size_t size;
    const char *at = next_root(&roots, &size);
    while (at && index--) at = next_root(&roots, &size);
    text path = {0};
    if (at) text_add_bytes(&path, at, size);
    if (!path.failed) return path.data;
    text_free(&path);
    return NULL;
}

static int is_file(const char *path) {
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* can_write: whether this user can put files below `path`, or make it below the nearest folder that exists. */
static int can_write(const char *path, int trust_all) {
    char why[TRUST_WHY_BYTES], at[PATH_MAX];
    struct stat st;
    const size_t size = strlen(path) + 1;
    if (size > sizeof at) return 0;
    memcpy(at, path, size);
    const int fd = trust_open(path, O_PATH | O_CLOEXEC, trust_all, why); /* as folder_open will */
    if (fd < 0 && errno != ENOENT) return 0;
    if (fd >= 0) close(fd);
    for (;;) {
        if (!stat(at, &st)) return S_ISDIR(st.st_mode) && !faccessat(AT_FDCWD, at, W_OK | X_OK, AT_EACCESS);
        char *const slash = strrchr(at, '/');
        if (errno != ENOENT) return 0;
        if (slash)
            slash[slash == at] = 0;
        else
            memcpy(at, ".", 2);
    }
}

/* absolute: the same file after the process has changed its directory.   owner: takes path; mem_free; NULL: no
 * memory */
static char *absolute(char *path) {
    char here[PATH_MAX];
    if (!path || *path == '/' || !getcwd(here, sizeof here)) return path;
    text whole = {0};
    text_add(&whole, "%s/%s", here, path);
    mem_free(path);
    if (!whole.failed) return whole.data;
    text_free(&whole);
    return NULL;
}

static size_t count_roots(const char *roots) {
    size_t count = 0, size;
    while (next_root(&roots, &size)) count++;
    return count;
}

cdnagen_status roots_open(cache *c, const char *roots) {
    const size_t count = count_roots(roots);
    if (!count) return CDNAGEN_OK;
    c->roots = mem_alloc(count * sizeof *c->roots);
    for (size_t i = 0; c->roots && i < count; i++) {
        c->roots[i].path = absolute(cache_root(roots, i));
        if (!c->roots[i].path) break;
        c->root_count++;
    }
    return c->root_count == count ? CDNAGEN_OK : fail_no_memory();
}

/* settle_root: open it if it is a file; 1 if entries may be written to it, 2 if it looks as if that will work. */
static int settle_root(cache *c, disk_root *r) {
    if (!is_file(r->path)) return 1 + can_write(r->path, c->trust_all);
    if (pack_open(r->path, c->trust_all, &r->pack) == CDNAGEN_OK) return 0;
    r->unusable = 1;
    cache_log(c, CDNAGEN_LOG_WARNING, "%s; it is not used", cdnagen_error());
    return 0;
}

void roots_settle(cache *c) {
    if (atomic_load_explicit(&c->settled, memory_order_acquire)) return;
    pthread_mutex_lock(&c->mutex);
    if (!atomic_load_explicit(&c->settled, memory_order_relaxed)) {
        int best = 0;
        for (size_t i = 0; i < c->root_count; i++) {
            const int fitness = settle_root(c, &c->roots[i]);
            if (fitness > best) c->writer = c->roots[i].path;
            if (fitness > best) best = fitness;
        }
        atomic_store_explicit(&c->settled, 1, memory_order_release);
    }
    pthread_mutex_unlock(&c->mutex);
}

void roots_close(cache *c) {
    for (size_t i = 0; i < c->root_count; i++) {
        pack_close(c->roots[i].pack);
        mem_free(c->roots[i].path);
    }
    mem_free(c->roots);
}

int cache_writable_root(const char *roots) {
    cache *c = NULL;
    int writer = -1;
    const cache_options options = {.roots = roots, .trust_all = cache_default_trust()};
    if (cache_open(&options, &c)) return -1;
    roots_settle(c);
    for (size_t i = 0; i < c->root_count; i++)
        if (c->roots[i].path == c->writer) writer = (int)i;
    cache_close(c);
    return writer;
}
