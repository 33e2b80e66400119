/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A worker: one child process that makes one kernel, so that its crash, its time and its memory are its own. Spawned,
 * not forked. The end of what it says on stderr is kept. */
#ifndef RUNTIME_WORKER_H
#define RUNTIME_WORKER_H

#include <sys/types.h>

#include "core/memory.h"
#include "core/status.h"

typedef struct worker {
    pid_t pid;
    int stream;      /* read end of its stderr; -1: it has ended */
    text said;       /* on stderr: the end of it */
    double deadline; /* clock_ms; 0: none */
    int late;        /* stopped because of it */
    int lost;        /* it has ended, and the process has collected it elsewhere: how is not known */
    int status;      /* of waitpid, once it has ended */
} worker;

/* worker_start: run argv[0] with argv, in this environment without its CDNAGEN_* variables and with `variable`
 * ("NAME=VALUE"; NULL: none).
 * output: where its standard output goes, -1: nowhere
 * units: seconds and MB (2^20 bytes) that it may take, 0: no limit
 * errors: IO (it cannot be started, or its memory not be limited), NO_MEMORY   owner: worker_free, after it has
 * ended */
cdnagen_status worker_start(const char *const *argv, const char *variable, int output, double seconds, long megabytes,
                            worker *out);

/* worker_wait: wait until one of the running workers (stream >= 0) has something to tell or is late, and take it in. */
void worker_wait(worker *workers, size_t count);

/* worker_result: OK, or what it failed with, as the thread's error: its own sentence, or how it ended.
 * errors: its own; NO_MEMORY (under a memory limit, it died as without memory), COMPILE (it died otherwise or was
 * late),
 *         IO (it is lost) */
cdnagen_status worker_result(const worker *w, double seconds, long megabytes);

void worker_free(worker *w);

#endif
