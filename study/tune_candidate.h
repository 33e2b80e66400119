/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One variant on one shape: made, checked, timed, recorded. */
#ifndef STUDY_TUNE_CANDIDATE_H
#define STUDY_TUNE_CANDIDATE_H

#include "study/tune.h"
#include "study/tune_store.h"

/* tuner: what all candidates of a run share. */
typedef struct tuner {
    cdnagen *ctx;
    const family *family;
    const target *target;
    const tune_options *options;
    tune_store *store;
    tune_totals *totals;
    int measured; /* on a GPU */
} tuner;

/* contender: the best of a class so far. */
typedef struct contender {
    _Alignas(16) unsigned char variant[VARIANT_BYTES_MAX];
    char tag[SYMBOL_MAX]; /* "" if there is none yet */
    double cost;
} contender;

/* candidate_outcome: what one look found. */
typedef struct candidate_outcome {
    const char *status; /* as in the store, or "illegal", "pruned", "left" */
    double cost;        /* > 0: timed */
    int fresh;          /* timed now, not recalled */
    char tag[SYMBOL_MAX];
} candidate_outcome;

/* candidate_try: `variant` on the point's shape, against the best so far; timed only if `may_time`, else at most
 * recalled.
 * errors: IO, NO_MEMORY, NO_DEVICE, HIP: what stops the search */
cdnagen_status candidate_try(tuner *t, const tune_point *point, const void *variant, const contender *best,
                             int may_time, candidate_outcome *out);

#endif
