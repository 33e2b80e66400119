/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From relocatable object to code object, through lld in this process and no file system: lld reads a memory file and
 * writes into a pipe. */
#include "core/file.h"
#include "ir/context.h"
#include "ir/lld.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The memory file, the ends of the pipe, and what lld opens of both. */
#define LINK_FILES "five"

/* lld cannot be run again after it failed inside or died of a fatal error; both are written under its lock. What comes
 * out of lld is read while it may die. */
static int lld_unusable;
static atomic_int lld_died;

/* What comes out of the pipe, until all its writing ends are closed or lld has died with one open; 1 if it is not
 * all. */
static int drain(int from, bytes *got) {
    size_t capacity = 0;
    int failed = 0;
    for (;;) {
        if (!failed && got->size == capacity) {
            capacity = capacity ? 2 * capacity : 65536;
            unsigned char *const bigger = mem_realloc(got->data, capacity);
            if (bigger) got->data = bigger;
            failed = !bigger;
        }
        char rest[4096]; /* keeps the writer from blocking */
        const ssize_t n =
            failed ? read(from, rest, sizeof rest) : read(from, got->data + got->size, capacity - got->size);
        if (n == 0 || lld_died) return failed;
        if (n < 0 && errno != EINTR) return 1;
        if (n > 0 && !failed) got->size += (size_t)n;
    }
}

typedef struct linking {
    int object, output;
    cdnagen_status status;
    char said[IR_MESSAGE_MAX];
} linking;

static cdnagen_status run_lld(void *of) {
    const linking *const l = of;
    char in[40], out[40], said[IR_MESSAGE_MAX] = "";
    snprintf(in, sizeof in, "/proc/self/fd/%d", l->object);
    snprintf(out, sizeof out, "/proc/self/fd/%d", l->output);
    const char *const argv[] = {"ld.lld", "-shared", "--no-undefined", "--threads=1", in, "-o", out};
    int again = 0;
    const int code = lld_link((int)(sizeof argv / sizeof *argv), argv, said, sizeof said, &again);
    lld_unusable = !again;
    return code ? fail(CDNAGEN_COMPILE, "lld: %s", said) : CDNAGEN_OK;
}

static void *run_linking(void *p) {
    linking *const l = p;
    int died = 0;
    l->status = process_guard("lld", run_lld, l, &died);
    if (died) lld_died = 1;
    if (l->status) snprintf(l->said, sizeof l->said, "%s", cdnagen_error());
    while (died && write(l->output, "", 1) < 0 && errno == EINTR) continue; /* wakes the reader */
    close(l->output);
    return NULL;
}

/* In a thread of its own: lld allocates sections and symbols from pools of its thread, which only the thread's end
 * frees. The reader ends with the last writing end of the pipe: one that a forked child kept would hold this call up
 * for the child's life. A fork waits for lld's lock, so that none happens in here. */
static cdnagen_status link_into(int object, int pipe_out, int pipe_in, bytes *out) {
    linking l = {.object = object, .output = pipe_in};
    pthread_t linker;
    const int error = pthread_create(&linker, NULL, run_linking, &l);
    if (error) {
        close(pipe_in);
        return fail(CDNAGEN_COMPILE,
                    "link: a thread for lld cannot be started: %s; the limit on processes must leave one",
                    strerror(error));
    }
    bytes got = {0};
    const int failed = drain(pipe_out, &got);
    pthread_join(linker, NULL);
    cdnagen_status status = l.status ? fail(l.status, "%s", l.said) : CDNAGEN_OK;
    if (status == CDNAGEN_OK && failed) status = fail_no_memory();
    if (status == CDNAGEN_OK && !got.size) status = fail(CDNAGEN_COMPILE, "lld wrote nothing");
    if (status == CDNAGEN_OK)
        *out = got;
    else
        bytes_free(&got);
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
    if (lld_unusable || lld_died) {
        status = fail(CDNAGEN_COMPILE,
                      "lld: it failed inside earlier in this process, which can link no more: start another");
    } else if (!write_all(file, LLVMGetBufferStart(e->object), LLVMGetBufferSize(e->object))) {
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
