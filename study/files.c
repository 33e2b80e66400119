/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading and writing the files that a user named. */
#include "study/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"

cdnagen_status read_text_file(const char *path, text *out) {
    FILE *f = fopen(path, "rb");
    if (!f) return fail(CDNAGEN_IO, "cannot read %s: %s", path, strerror(errno));
    char piece[4096];
    int error = 0;
    for (size_t n = sizeof piece; n == sizeof piece;) {
        n = fread(piece, 1, sizeof piece, f);
        text_add_bytes(out, piece, n);
        if (ferror(f)) error = errno;
    }
    fclose(f);
    if (error) return fail(CDNAGEN_IO, "cannot read %s: %s", path, strerror(error));
    return out->failed ? fail_no_memory() : CDNAGEN_OK;
}

cdnagen_status make_folder(const char *dir) {
    struct stat st;
    if (mkdir(dir, 0777) && errno != EEXIST)
        return fail(CDNAGEN_IO, "cannot create directory %s: %s", dir, strerror(errno));
    if (stat(dir, &st) || !S_ISDIR(st.st_mode))
        return fail(CDNAGEN_IO, "%s is not a directory: name one, or a path that does not exist yet", dir);
    return CDNAGEN_OK;
}

/* write_through: into what the path names. 0, or the errno of what failed. */
static int write_through(const char *path, const void *data, size_t size) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return errno;
    const int error = write_all(fd, data, size) ? 0 : errno;
    return close(fd) && !error ? errno : error;
}

/* replace: with the mode that is given, or 0: that of a new file. */
static int replace(const char *path, mode_t mode, const void *data, size_t size) {
    file_beside beside;
    const int error = beside_open(&beside, path, 0666);
    if (error) return error;
    if ((!mode || !fchmod(beside.fd, mode)) && write_all(beside.fd, data, size)) return beside_keep(&beside);
    const int failed = errno;
    beside_drop(&beside);
    return failed;
}

cdnagen_status write_file(const char *dir, const char *name, const char *suffix, const void *data, size_t size) {
    if (!*name) return fail(CDNAGEN_IO, "a file to write has an empty name: name it");
    text path = {0};
    text_add(&path, "%s%s%s%s", dir ? dir : "", dir ? "/" : "", name, suffix);
    if (path.failed) return text_free(&path), fail_no_memory();
    /* Links, pipes and devices keep their place and are written through. */
    struct stat st;
    const int absent = lstat(path.data, &st) != 0;
    const int error = absent                ? replace(path.data, 0, data, size)
                      : S_ISREG(st.st_mode) ? replace(path.data, st.st_mode & 07777, data, size)
                                            : write_through(path.data, data, size);
    const cdnagen_status status =
        error ? fail(CDNAGEN_IO, "cannot write %s: %s", path.data, strerror(error)) : CDNAGEN_OK;
    text_free(&path);
    return status;
}
