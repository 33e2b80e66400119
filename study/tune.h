/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tuner: for each class of shapes of an operator, the tag that is fastest of those that compute what they must. It
 * knows no operator: what it searches, and where, are the family's `tuning`. */
#ifndef STUDY_TUNE_H
#define STUDY_TUNE_H

#include "gen/family.h"
#include "study/measure.h"

/* tune_totals: what became of the variants that were looked at. */
typedef struct tune_totals {
    double grid;      /* variants that the axes span, times classes */
    uint64_t seen;    /* visited by the search */
    uint64_t illegal; /* of them: limits of the grammar, the shape or the chip */
    uint64_t pruned;  /* not compiled: registers or LDS */
    uint64_t refused; /* the compiler or the device would not have it */
    uint64_t spills;
    uint64_t bound;    /* cannot be faster than the best: not run */
    uint64_t wrong;    /* failed the grading rules: never ranked */
    uint64_t ranked;   /* timed */
    uint64_t left;     /* would have been timed, but the budget was spent */
    uint64_t recalled; /* of ranked, those whose time was in the file already */
} tune_totals;

/* tune_event: told after each variant that reached the compiler, and after each class (`tag` NULL). */
typedef struct tune_event {
    const char *target, *shape;
    int point, points; /* class, from 1 */
    const char *tag, *status;
    double cost;          /* of the variant; 0 if it was not timed */
    const char *best_tag; /* "" while there is none */
    double best;
    const char *unit; /* "clk modelled", "us measured" */
    const tune_totals *totals;
} tune_event;

typedef struct tune_options {
    const char *db; /* SQLite file; made if it is missing, read if it is not: a search goes on where it was stopped */
    const char *shapes;           /* words that a class's shape must have, "heads=64 dim=128"; NULL: every class */
    int budget;                   /* variants timed a class at most, without those that were in the file */
    const measure_counts *counts; /* for a GPU */
    void (*report)(void *user, const tune_event *e);
    void *user;
} tune_options;

/* tune_run: search the classes of `ctx`'s target, timing on its device: measured on a GPU, modelled on the simulator. A
 * variant is timed only after it has passed the operator's grading rules on the class's odd shape.
 * table:  ROUTE rows are appended, one a class, under a comment that says how they were found
 * totals: added to
 * errors: BAD_ARGUMENT (an operator without tuning; shapes that no class has), IO (the file), NO_MEMORY, and what the
 *         device says; a variant that fails is no error */
cdnagen_status tune_run(cdnagen *ctx, const family *f, const tune_options *options, text *table, tune_totals *totals);

#endif
