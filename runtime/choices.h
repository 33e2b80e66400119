/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tuning at the first call (CDNAGEN_TUNE=1): of kernels that compute the same, the one that is fastest on the caller's
 * own data, remembered in the context for all calls of that kind. It knows no operator. */
#ifndef RUNTIME_CHOICES_H
#define RUNTIME_CHOICES_H

#include <pthread.h>

#include "gen/family.h"

enum { CHOICES_MAX = 4096 };

/* choice_texts: the texts of a kernel, as gen_kernel takes them. */
typedef struct choice_texts {
    char tag[SYMBOL_MAX], words[SYMBOL_MAX];
} choice_texts;

typedef struct choice_entry {
    char *key;
    choice_texts is;
} choice_entry;

/* choices: a context's answers, by key: a kind of call. */
typedef struct choices {
    int asked; /* CDNAGEN_TUNE=1 */
    pthread_mutex_t lock;
    choice_entry *answers;
    size_t count;
} choices;

void choices_free(choices *t);

/* choice_job: what can serve one kind of call. */
typedef struct choice_job {
    const char *key;
    const choice_texts *candidates; /* the first is the default */
    size_t count;
    /* launch: queue the call once. Each candidate writes the same places of the output, and the call itself comes
     * last. */
    cdnagen_status (*launch)(cdnagen_kernel *kernel, const void *args, void *stream);
    const void *args;
} choice_job;

/* choices_find: the answer for a key; 0: there is none yet. */
int choices_find(choices *t, const char *key, choice_texts *out);

/* choices_make: the answer for the job's key, timed now if it is the first: each candidate's best of three turns on
 * `stream`, which is waited for. Candidates that cannot be made or that spill are passed over. It is the default, which
 * is told in the log, where nothing can be timed: while a stream captures (the next call may be timed) and on the
 * simulator.
 * errors: HIP, FAULT, NO_MEMORY, and what `launch` returns; there is then no answer */
cdnagen_status choices_make(cdnagen *ctx, const choice_job *job, void *stream, choice_texts *out);

#endif
