/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the tuner has found out, in a SQLite file: a record is on disk before the next candidate begins. */
#ifndef STUDY_TUNE_STORE_H
#define STUDY_TUNE_STORE_H

#include "core/memory.h"
#include "core/status.h"

typedef struct tune_store tune_store;

/* tune_record: what became of one kernel on one shape. Two kernels of one tag are told apart by `code`, so that a
 * changed generator finds what it did not change. Texts of a record that was found are the store's until the next
 * call. */
typedef struct tune_record {
    const char *op, *tag, *shape;
    const char *code;   /* hash of the code object's bytes */
    const char *status; /* "ranked", "right", "wrong", "spills", "bound", "refused" */
    const char *note;   /* why, or what else was measured; "" if nothing */
    double cost;        /* ranked: cycles or microseconds, as `model` says; bound: what it costs at least */
} tune_record;

/* tune_store_open: the file, made if it is missing. Records are kept by device and by model: what was found on another
 * device, or by another model of time, is not seen.
 * owner: *out is the caller's, tune_store_close   errors: IO (SQLite's text, and the file), NO_MEMORY */
cdnagen_status tune_store_open(const char *path, const char *device, const char *model, tune_store **out);
void tune_store_close(tune_store *s); /* NULL is fine */

/* tune_store_find: fill status, note and cost of a record by the other members; *found 0 if there is none.   errors:
 * IO */
cdnagen_status tune_store_find(tune_store *s, tune_record *r, int *found);
/* tune_store_put: write a record, or replace the one of the same kernel and shape.   errors: IO */
cdnagen_status tune_store_put(tune_store *s, const tune_record *r);

#endif
