/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Job lines: which kernels a file of them asks for, one job each after lists and ranges are written out. Fuzzed.
 * source: docs/precompile.md */
#ifndef STUDY_JOBS_H
#define STUDY_JOBS_H

#include "core/chip.h"
#include "core/memory.h"

typedef struct job {
    int line;          /* of the file, from 1; 0: of a route */
    const char *words; /* "op:tag key=value ...", single blanks; the line as it was if `error` */
    const char *error; /* why the line means no jobs; NULL if it does */
    cdnagen_status status;
} job;

typedef struct job_list {
    arena memory;
    job *jobs;
    size_t count, capacity;
    uint64_t bytes; /* of all words */
} job_list;

enum { JOBS_MAX = 1000000, JOBS_BYTES_MAX = 256 << 20 };

/* jobs_parse: add the jobs of some text, in its order; the last word of a line turns fastest. A bad line is one job
 * with an error.   errors: NO_MEMORY   owner: jobs_free, also after an error */
cdnagen_status jobs_parse(const char *lines, job_list *out);

/* jobs_parse_line: the same of one line, which has this number. */
cdnagen_status jobs_parse_line(const char *line, int number, job_list *out);

/* jobs_of_routes: add one job for every kernel that `auto` chooses for `t`, over the shapes that the operators name.
 * errors: NO_MEMORY   owner: as jobs_parse */
cdnagen_status jobs_of_routes(const target *t, job_list *out);

void jobs_free(job_list *l);

#endif
