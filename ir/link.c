/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From relocatable object to code object, through lld in this process and no file system: lld reads a memory file and
 * writes into a pipe. */
#include "core/file.h"
#include "ir/context.h"
#include "ir/lld.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The memory file, the ends of the pipe, and what lld opens of both. */
#define LINK_FILES "five"

/* lld cannot be run again after it failed inside or died of a fatal error; both are written under its lock. */
static int lld_unusable, lld_died;

typedef struct drain {
    int from;
    bytes got;
    int failed;
} drain;

static void *drain_pipe(void *p) {
    drain *const d = p;
    size_t capacity = 0;
    for (;;) {
        if (d->got.size == capacity) {
            capacity = capacity ? 2 * capacity : 65536;
            unsigned char *const bigger = mem_realloc(d->got.data, capacity);
            if (!bigger) break;
            d->got.data = bigger;
        }
        const ssize_t n = read(d->from, d->got.data + d->got.size, capacity - d->got.size);
        if (n == 0) return NULL;
        if (n < 0 && errno != EINTR) break;
        if (n > 0) d->got.size += (size_t)n;
    }
    d->failed = 1;
    char rest[4096]; /* keep the writer from blocking */
    ssize_t n;
    while ((n = read(d->from, rest, sizeof rest)) > 0 || (n < 0 && errno == EINTR)) continue;
    return NULL;
}

typedef struct lld_files {
    int object, output;
} lld_files;

static cdnagen_status run_lld(void *of) {
    const lld_files *const files = of;
    char in[40], out[40], said[IR_MESSAGE_MAX] = "";
    snprintf(in, sizeof in, "/proc/self/fd/%d", files->object);
    snprintf(out, sizeof out, "/proc/self/fd/%d", files->output);
    const char *const argv[] = {"ld.lld", "-shared", "--no-undefined", "--threads=1", in, "-o", out};
    int again = 0;
    const int code = lld_link((int)(sizeof argv / sizeof *argv), argv, said, sizeof said, &again);
    lld_unusable = !again;
    return code ? fail(CDNAGEN_COMPILE, "lld: %s", said) : CDNAGEN_OK;
}

/* The reader ends with the last writing end of the pipe: one that a forked child kept would hold this call up for the
 * child's life. A fork waits for lld's lock, so that none happens in here. */
static cdnagen_status link_into(int object, int pipe_out, int pipe_in, bytes *out) {
    drain d = {.from = pipe_out};
    pthread_t reader;
    const int error = pthread_create(&reader, NULL, drain_pipe, &d);
    if (error) {
        close(pipe_in);
        return fail(
            CDNAGEN_COMPILE,
            "link: a thread to read what lld writes cannot be started: %s; the limit on processes must leave one",
            strerror(error));
    }
    cdnagen_status status =
        lld_unusable || lld_died
            ? fail(CDNAGEN_COMPILE,
                   "lld: it failed inside earlier in this process, which can link no more: start another")
            : process_guard("lld", run_lld, &(lld_files){object, pipe_in}, &lld_died);
    close(pipe_in);
    if (lld_died) pthread_cancel(reader); /* what lld had open of the pipe stays open */
    pthread_join(reader, NULL);
    if (status == CDNAGEN_OK && d.failed) status = fail_no_memory();
    if (status == CDNAGEN_OK && !d.got.size) status = fail(CDNAGEN_COMPILE, "lld wrote nothing");
    if (status == CDNAGEN_OK)
        *out = d.got;
    else
        bytes_free(&d.got);
    return status;
}

cdnagen_status ir_link(ir *e, bytes *object) {
    if (!e->object || e->lost) return fail(CDNAGEN_COMPILE, "link: there is no object to link");
    if (access("/proc/self/fd", F_OK))
        return fail(CDNAGEN_COMPILE, "link: lld reads and writes through /proc/self/fd: mount /proc (%s)",
                    strerror(errno));
    const int file = memfd_create("cdnagen", MFD_CLOEXEC);
    if (file < 0)
        return fail(CDNAGEN_COMPILE, "link: memfd_create: %s; linking opens " LINK_FILES " files", strerror(errno));
    cdnagen_status status;
    int ends[2];
    process_lock_lld();
    if (!write_all(file, LLVMGetBufferStart(e->object), LLVMGetBufferSize(e->object))) {
        status = fail(CDNAGEN_COMPILE, "link: the object cannot be written to memory: %s", strerror(errno));
    } else if (pipe2(ends, O_CLOEXEC)) {
        status = fail(CDNAGEN_COMPILE, "link: pipe: %s; linking opens " LINK_FILES " files", strerror(errno));
    } else {
        status = link_into(file, ends[0], ends[1], object);
        close(ends[0]);
    }
    process_unlock_lld();
    close(file);
    return status;
}
