/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Trust: whoever can write what the cache reads decides which code runs on the device. */
#include "cache/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int trust_of(const struct stat *st, char why[TRUST_WHY_BYTES]) {
    const unsigned owner = (unsigned)st->st_uid, us = (unsigned)geteuid(), mode = (unsigned)st->st_mode & 07777;
    if (owner != us && owner != 0)
        snprintf(why, TRUST_WHY_BYTES, "belongs to user %u and neither to this user, %u, nor to root", owner, us);
    else if (mode & S_IWOTH)
        snprintf(why, TRUST_WHY_BYTES, "of user %u has mode %04o: every user can write to it", owner, mode);
    else
        return 1;
    return 0;
}

/* step_is_safe: whether `name`, which is `st`, is in `folder` by the will of those who are trusted. */
static int step_is_safe(int folder, const char *name, const struct stat *st, char why[TRUST_WHY_BYTES]) {
    struct stat at;
    const unsigned us = (unsigned)geteuid(), owner = (unsigned)st->st_uid;
    if (fstat(folder, &at) || !(at.st_mode & S_IWOTH)) return 1;
    const unsigned mode = (unsigned)at.st_mode & 07777;
    if (!(mode & S_ISVTX))
        snprintf(why, TRUST_WHY_BYTES, "is reached by %.64s in a folder of mode %04o: every user can exchange it", name,
                 mode);
    else if (owner != us && owner != 0)
        snprintf(
            why, TRUST_WHY_BYTES,
            "is reached by %.64s in a folder of mode %04o: it belongs to user %u and neither to this user, %u, nor to "
            "root",
            name, mode, owner, us);
    else
        return 1;
    return 0;
}

enum { WAY_BYTES = 2 * PATH_MAX, WAY_LINKS = 40, WAY_FLAGS = O_PATH | O_DIRECTORY | O_CLOEXEC };

/* take_name: the first name of what is left of a way.   errors: 0 or errno */
static int take_name(char way[WAY_BYTES], char name[NAME_MAX + 1]) {
    const char *const at = way + strspn(way, "/");
    const size_t size = strcspn(at, "/");
    if (size > NAME_MAX) return ENAMETOOLONG;
    memcpy(name, size ? at : ".", size ? size : 1);
    name[size ? size : 1] = 0;
    const char *const rest = at + size + strspn(at + size, "/");
    memmove(way, rest, strlen(rest) + 1);
    return 0;
}

/* follow: what a link says goes before what is left of the way.   errors: 0 or errno */
static int follow(int folder, const char *name, char way[WAY_BYTES]) {
    char whole[WAY_BYTES];
    const ssize_t length = readlinkat(folder, name, whole, PATH_MAX);
    if (length < 0) return errno;
    if (snprintf(whole + length, sizeof whole - (size_t)length, "/%s", way) >= (int)(sizeof whole - (size_t)length))
        return ENAMETOOLONG;
    memcpy(way, whole, strlen(whole) + 1);
    return 0;
}

/* walk: open(path, flags), step by step. */
static int walk(const char *path, int flags, char why[TRUST_WHY_BYTES]) {
    char way[WAY_BYTES], name[NAME_MAX + 1];
    if (snprintf(way, sizeof way, "%s", path) >= (int)sizeof way) return errno = ENAMETOOLONG, -1;
    int fd = open(*way == '/' ? "/" : ".", WAY_FLAGS);
    for (int links = 0, last = 0; fd >= 0 && !last;) {
        const int folder = fd;
        struct stat st = {.st_uid = geteuid()}; /* what is absent is this user's to make */
        fd = -1;
        int error = take_name(way, name);
        if (!error && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW)) error = errno;
        if ((!error || error == ENOENT) && !step_is_safe(folder, name, &st, why)) error = EPERM;
        if (!error && S_ISLNK(st.st_mode)) {
            error = ++links > WAY_LINKS ? ELOOP : follow(folder, name, way);
            if (!error) fd = *way == '/' ? open("/", WAY_FLAGS) : fcntl(folder, F_DUPFD_CLOEXEC, 0);
        } else if (!error) {
            last = !*way;
            fd = openat(folder, name, (last ? flags : WAY_FLAGS) | O_NOFOLLOW);
        }
        if (!error && fd < 0) error = errno;
        close(folder);
        errno = error;
    }
    return fd;
}

int trust_open(const char *path, int flags, int trust_all, char why[TRUST_WHY_BYTES]) {
    struct stat st;
    const int fd = trust_all ? open(path, flags) : walk(path, flags, why);
    if (fd < 0 || trust_all || (!fstat(fd, &st) && trust_of(&st, why))) return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

const char trust_advice[] = "chown it to this user or root and chmod o-w, or set CDNAGEN_CACHE_TRUST=all (trust_all of "
                            "a context) if whoever can "
                            "write there may decide which code runs";
