/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Folders: <root>/v1/<2 hex>/, who may be trusted with them, and the names that are ours in them.
 * Everything below the root is reached through descriptors, so that a name is short whatever the root is. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/tiers.h"

enum { FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

static int hex_run(const char *s) { return (int)strspn(s, "0123456789abcdef"); }

file_kind folder_file_kind(const char *hex, const char *name) {
    if (!strncmp(name, "tmp.", 4)) return hex_run(name + 4) == 16 && !name[20] ? FILE_TEMPORARY : FILE_OTHER;
    if (hex_run(name) != CACHE_KEY_CHARS || strncmp(name, hex, 2) != 0) return FILE_OTHER;
    if (!name[CACHE_KEY_CHARS]) return FILE_ENTRY;
    return strcmp(name + CACHE_KEY_CHARS, ".lock") ? FILE_OTHER : FILE_LOCK;
}

/* make_root: the directory and its parents, private to this user; one that exists keeps its mode. */
static int make_root(const char *dir) {
    char *path = mem_strdup(dir);
    if (!path) return ENOMEM;
    int error = 0;
    for (char *slash = path + 1; !error && (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        if (mkdir(path, 0700) && errno != EEXIST) error = errno;
        *slash = '/';
    }
    if (!error && mkdir(path, 0700) && errno != EEXIST) error = errno;
    mem_free(path);
    return error;
}

/* open_below: a folder inside `parent`, which it closes. A new one is no more open than its parent: 0700 under a root
 * that we made, shared with a group under a root that the user shares. */
static int open_below(int parent, const char *name, int make) {
    int fd = openat(parent, name, FOLDER_FLAGS | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT && make) {
        struct stat st;
        if (!fstat(parent, &st) && (!mkdirat(parent, name, st.st_mode & FOLDER_MODES) || errno == EEXIST))
            fd = openat(parent, name, FOLDER_FLAGS | O_NOFOLLOW);
    }
    const int error = errno;
    close(parent);
    errno = error;
    return fd;
}

static void warn_of_trust(cache *c, const char *dir, const char *below, const char *why) {
    cache_warn(c, "directory %s%s %s. It is not used: %s", dir, below, why, trust_advice);
}

static int open_root(cache *c, const char *dir, int make) {
    char why[TRUST_WHY_BYTES] = "";
    int fd = trust_open(dir, FOLDER_FLAGS, c->trust_all, why);
    if (fd < 0 && errno == ENOENT && make) {
        errno = make_root(dir);
        if (!errno) fd = trust_open(dir, FOLDER_FLAGS, c->trust_all, why);
    }
    const int error = errno;
    if (*why) warn_of_trust(c, dir, "", why);
    errno = error;
    return fd;
}

/* trusted: fd, which is closed if it may not decide which code is loaded. */
static int trusted(cache *c, const char *dir, int fd, const char *below) {
    struct stat st;
    char why[TRUST_WHY_BYTES] = "cannot be looked at";
    if (fd < 0 || c->trust_all || (!fstat(fd, &st) && trust_of(&st, why))) return fd;
    warn_of_trust(c, dir, below, why);
    close(fd);
    errno = EPERM;
    return -1;
}

int folder_open(cache *c, const char *dir, const char *key, int make) {
    const char hex[3] = {key[0], key[1], 0};
    int fd = open_root(c, dir, make);
    if (fd >= 0) fd = trusted(c, dir, open_below(fd, CACHE_FORMAT_FOLDER, make), "/" CACHE_FORMAT_FOLDER);
    if (fd >= 0) fd = trusted(c, dir, open_below(fd, hex, make), "/" CACHE_FORMAT_FOLDER "/<2 hex>");
    if (fd < 0 && (make || errno != ENOENT))
        cache_warn(c, "directory %s cannot be used: %s; kernels that are not in it are kept in memory only", dir,
                   strerror(errno));
    return fd;
}

int folder_each(int folder, void (*visit)(void *user, int folder, const char *name), void *user) {
    /* A descriptor of its own: closedir closes it, and a duplicate would share the position in the listing. */
    const int fd = openat(folder, ".", FOLDER_FLAGS);
    if (fd < 0) return 0;
    DIR *listing = fdopendir(fd);
    if (!listing) {
        close(fd);
        return 0;
    }
    const struct dirent *e;
    errno = 0;
    while ((e = readdir(listing))) {
        if (e->d_name[0] != '.') visit(user, folder, e->d_name);
        errno = 0;
    }
    const int sound = !errno;
    closedir(listing);
    return sound;
}

int folder_same_file(int folder, const char *name, int fd) {
    struct stat by_name, by_fd;
    return !fstatat(folder, name, &by_name, AT_SYMLINK_NOFOLLOW) && !fstat(fd, &by_fd) &&
           by_name.st_ino == by_fd.st_ino && by_name.st_dev == by_fd.st_dev;
}

void folder_drop_lock(int folder, const char *name) {
    const int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return;
    if (!flock(fd, LOCK_EX | LOCK_NB) && folder_same_file(folder, name, fd)) unlinkat(folder, name, 0);
    close(fd);
}
