/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Precompile: jobs to a cache root and code objects on disk, each kernel by a worker process of its own. What is made
 * depends on the jobs, the targets and the build of cdnagen, and on nothing else.   source: docs/precompile.md */
#ifndef STUDY_PRECOMPILE_H
#define STUDY_PRECOMPILE_H

#include "study/jobs.h"

typedef struct precompile_options {
    const char *jobs_path; /* NULL: what `auto` chooses */
    const char *targets;   /* separated by ',' */
    const char *dir;       /* becomes a cache root; its name has no ':' */
    long shard, shards;    /* job number n is ours if n % shards == shard */
    long workers;          /* kernels at once */
    double seconds;        /* that one may take; 0: no limit */
    long megabytes;        /* that its process may take; 0: no limit */
    const char *program;   /* the command, which is run as "program gen OP:TAG KEY=VALUE... --target ID" */
} precompile_options;

/* precompile_event: what became of one job; told as it happens. */
typedef struct precompile_event {
    const job *job;
    const char *target;
    cdnagen_status status;
    const char *error;  /* "" if none */
    const char *symbol; /* "" on failure; the code object is DIR/TARGET/SYMBOL.co */
    int made;           /* now; 0: it was there */
    double ms;
    long done, total; /* jobs of this shard */
} precompile_event;

typedef struct precompile_totals {
    long jobs, made, failed;
    char report[64]; /* name of the report in `dir` */
} precompile_totals;

/* precompile_run: make what is not there yet, and a report of all of it in the jobs' order. A bad job never stops the
 * rest.
 * errors: IO (the jobs, `dir` or a file in it cannot be read or written), BAD_TARGET, BAD_ARGUMENT, NO_MEMORY; a failed
 *         job is no error */
cdnagen_status precompile_run(const precompile_options *options,
                              void (*report)(void *user, const precompile_event *event), void *user,
                              precompile_totals *totals);

#endif
