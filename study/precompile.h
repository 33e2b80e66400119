/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Precompile: a list of kernels to code objects on disk, one after the other, for one target. */
#ifndef STUDY_PRECOMPILE_H
#define STUDY_PRECOMPILE_H

#include <stdio.h>

#include "core/status.h"

/* precompile_event: what became of one job; told after each. */
typedef struct precompile_event {
    int line; /* in the jobs file, from 1 */
    const char *job;
    cdnagen_status status;
    const char *error;  /* "" if none */
    const char *symbol; /* "" on failure; the code object is DIR/SYMBOL.co */
    cdnagen_cache_tier tier;
    double ms;
    int done, total; /* jobs */
} precompile_event;

typedef struct precompile_totals {
    int jobs, failed;
} precompile_totals;

/* precompile_run: read job lines "op:tag key=value ..." ('#' begins a comment), generate each in `ctx`, write its code
 * object to `dir`/SYMBOL.co and a report of all of them to `dir`/report.json. A bad job never stops the rest.
 * errors: IO (the jobs, `dir` or a file in it cannot be read or written), NO_MEMORY; a failed job is no error */
cdnagen_status precompile_run(cdnagen *ctx, const char *jobs_path, const char *dir,
                              void (*report)(void *user, const precompile_event *event), void *user,
                              precompile_totals *totals);

#endif
