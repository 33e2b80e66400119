/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libFuzzer target: a jobs file of any text. What a line means is written out for good: read again, a job is itself. */
#include <stdlib.h>
#include <string.h>

#include "study/jobs.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static void read_again(const job *j) {
    job_list again = {0};
    if (jobs_parse_line(j->words, j->line, &again) || again.count != 1 || again.jobs[0].error ||
        strcmp(again.jobs[0].words, j->words) != 0)
        abort();
    jobs_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
    enum { LOOKED_AT = 64 };
    char *const lines = malloc(size + 1);
    job_list l = {0};
    if (!lines) return 0;
    memcpy(lines, input, size);
    lines[size] = 0;
    if (jobs_parse(lines, &l)) abort();
    for (size_t i = 0; i < l.count; i++) {
        const job *const j = &l.jobs[i];
        if (!j->words || (j->error != NULL) != (j->status != CDNAGEN_OK) || (!j->error && strchr(j->words, '\n')))
            abort();
        if (!j->error && (i < LOOKED_AT || i + LOOKED_AT > l.count)) read_again(j);
    }
    jobs_free(&l);
    free(lines);
    return 0;
}
