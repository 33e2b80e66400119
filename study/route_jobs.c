/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Jobs for everything that `auto` chooses: each operator's route shapes, written out, one job a kernel. */
#include <stdio.h>
#include <string.h>

#include "gen/family.h"
#include "study/jobs.h"

/* known: whether one of the jobs from `first` on makes this kernel; its symbol is kept beside it. */
static int known(const char *const *symbols, size_t count, const char *symbol) {
    for (size_t i = count; i-- > 0;)
        if (!strcmp(symbols[i], symbol)) return 1;
    return 0;
}

/* keep_new: of `all` into `out` those that name a kernel which no job before them does. A shape that `auto` has no
 * kernel for is none that it can choose. */
static cdnagen_status keep_new(const job_list *all, const target *t, job_list *out) {
    const char **const symbols = mem_alloc((all->count + 1) * sizeof *symbols);
    if (!symbols) return fail_no_memory();
    size_t count = 0;
    cdnagen_status status = CDNAGEN_OK;
    for (size_t i = 0; i < all->count && !status; i++) {
        const char *const words = all->jobs[i].words, *const shape = strchr(words, ' ');
        char tag[SYMBOL_MAX];
        plan p;
        snprintf(tag, sizeof tag, "%.*s", (int)(shape - words), words);
        status = plan_make(tag, shape + 1, t, 0, &p);
        if (status || known(symbols, count, p.symbol)) {
            if (status != CDNAGEN_NO_MEMORY) status = CDNAGEN_OK;
            continue;
        }
        const char *const kept = arena_format(&out->memory, "%s", p.symbol);
        status = kept ? jobs_parse_line(words, 0, out) : fail_no_memory();
        if (kept) symbols[count++] = kept;
    }
    mem_free(symbols);
    return status;
}

cdnagen_status jobs_of_routes(const target *t, job_list *out) {
    job_list all = {0};
    cdnagen_status status = CDNAGEN_OK;
    for (const family *const *f = families; *f && !status; f++)
        for (const char *const *shape = (*f)->route_shapes; shape && *shape && !status; shape++) {
            text line = {0};
            text_add(&line, "%s:auto %s", (*f)->name, *shape);
            status = line.failed ? fail_no_memory() : jobs_parse_line(line.data, 0, &all);
            text_free(&line);
        }
    if (!status) status = keep_new(&all, t, out);
    jobs_free(&all);
    return status;
}
