/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One compile by cdnagen-worker, which writes the code object to its standard output. */
#include "runtime/isolate.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/worker.h"

enum { PATH_BYTES = 4096, TAG_BYTES = 1024 };

/* own_file: the file that this code is in. A library that was not opened by its whole path, or a program, whose name is
 * what its caller made it, is told by the kernel's path of the program: the current folder is never looked into. */
static cdnagen_status own_file(char path[PATH_BYTES]) {
    static const char own[1] = {0}; /* in this library */
    Dl_info where;
    ssize_t size;
    if (dladdr(own, &where) && where.dli_fname && where.dli_fname[0] == '/')
        size = snprintf(path, PATH_BYTES, "%s", where.dli_fname);
    else
        size = readlink("/proc/self/exe", path, PATH_BYTES);
    if (size <= 0 || size >= PATH_BYTES || path[0] != '/')
        return fail(CDNAGEN_IO,
                    "where this library is has no path of at most %d bytes: set CDNAGEN_WORKER to where "
                    "cdnagen-worker is",
                    PATH_BYTES - 1);
    path[size] = 0;
    return CDNAGEN_OK;
}

static cdnagen_status find_worker(char path[PATH_BYTES]) {
    static const char *const places[] = {"", "../libexec/cdnagen/"};
    const char *const named = getenv("CDNAGEN_WORKER");
    char file[PATH_BYTES];
    if (named && *named) {
        if (snprintf(path, PATH_BYTES, "%s", named) < PATH_BYTES) return CDNAGEN_OK;
        return fail(CDNAGEN_IO, "CDNAGEN_WORKER has more than %d bytes", PATH_BYTES - 1);
    }
    TRY(own_file(file));
    const int folder = (int)(strrchr(file, '/') + 1 - file);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(path, PATH_BYTES, "%.*s%scdnagen-worker", folder, file, places[i]) < PATH_BYTES &&
            !access(path, X_OK))
            return CDNAGEN_OK;
    return fail(CDNAGEN_IO, "there is no cdnagen-worker beside %s or in %.*s%s: set CDNAGEN_WORKER to where it is",
                file, folder, file, places[1]);
}

static cdnagen_status read_object(int file, bytes *object) {
    const off_t size = lseek(file, 0, SEEK_END);
    if (size <= 0) return fail(CDNAGEN_COMPILE, "the worker ended well and wrote no code object");
    bytes b = {.data = mem_alloc((size_t)size), .size = (size_t)size};
    if (!b.data) return fail_no_memory();
    if (pread(file, b.data, b.size, 0) != size)
        return bytes_free(&b), fail(CDNAGEN_IO, "what the worker wrote cannot be read: %s", strerror(errno));
    *object = b;
    return CDNAGEN_OK;
}

cdnagen_status isolate_compile(const plan *p, const char *key, int seconds, int megabytes, bytes *object) {
    char path[PATH_BYTES], tag[TAG_BYTES];
    TRY(find_worker(path));
    snprintf(tag, sizeof tag, "%s:%s", p->family->name, p->tag);
    const char *const argv[] = {path, tag, p->shape_text, p->target.text, key, NULL};
    const int file = memfd_create("cdnagen", MFD_CLOEXEC);
    if (file < 0) return fail(CDNAGEN_IO, "no file in memory for the worker's output: %s", strerror(errno));
    worker w;
    cdnagen_status s = worker_start(argv, NULL, file, seconds, megabytes, &w);
    if (!s) {
        while (w.stream >= 0) worker_wait(&w, 1);
        s = worker_result(&w, seconds, megabytes);
        worker_free(&w);
    }
    if (!s) s = read_object(file, object);
    close(file);
    return s;
}
