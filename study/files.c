/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading and writing the files that a user named. */
#include "study/files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* write_to: 0, or the errno of what failed. */
static int write_to(const char *path, mode_t mode, const void *data, size_t size) {
    FILE *f = fopen(path, "wb");
    if (!f) return errno;
    int error = 0;
    if (fwrite(data, 1, size, f) != size || (mode && fchmod(fileno(f), mode))) error = errno;
    if (fclose(f) && !error) error = errno;
    return error;
}

/* replace: write beside the file, then rename, so that a full disk or a killed process leaves no half of it. */
static int replace(const char *path, mode_t mode, const void *data, size_t size) {
    const char *slash = strrchr(path, '/');
    text beside = {0};
    text_add(&beside, "%.*s.cdnagen.%ld", slash ? (int)(slash + 1 - path) : 0, path, (long)getpid());
    if (beside.failed) return text_free(&beside), ENOMEM;
    int error = write_to(beside.data, mode, data, size);
    if (!error && rename(beside.data, path)) error = errno;
    if (error) unlink(beside.data);
    text_free(&beside);
    return error;
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
                                            : write_to(path.data, 0, data, size);
    const cdnagen_status status =
        error ? fail(CDNAGEN_IO, "cannot write %s: %s", path.data, strerror(error)) : CDNAGEN_OK;
    text_free(&path);
    return status;
}
