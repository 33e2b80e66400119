/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading and writing the files that a user named. */
#include "study/files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

cdnagen_status write_file(const char *dir, const char *name, const char *suffix, const void *data, size_t size) {
    text path = {0};
    text_add(&path, "%s%s%s%s", dir ? dir : "", dir ? "/" : "", name, suffix);
    if (path.failed) return text_free(&path), fail_no_memory();
    FILE *f = fopen(path.data, "wb");
    int error = f ? 0 : errno;
    if (f && fwrite(data, 1, size, f) != size) error = errno;
    if (f && fclose(f) && !error) error = errno;
    const cdnagen_status status =
        error ? fail(CDNAGEN_IO, "cannot write %s: %s", path.data, strerror(error)) : CDNAGEN_OK;
    text_free(&path);
    return status;
}
