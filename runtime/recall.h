/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Prepared kernels by the exact text of tag and shape, so that a repeated call neither parses nor hashes a key.
 * Bounded: a text that finds its places taken replaces one of them, and its kernel is prepared again when asked for. */
#ifndef RUNTIME_RECALL_H
#define RUNTIME_RECALL_H

#include <pthread.h>
#include <stdint.h>

#include "core/status.h"

struct prepared;

enum { RECALL_WAYS = 4 };

typedef struct recall_slot {
    uint64_t hash;
    char *tag, *shape; /* one allocation, at `tag` */
    struct prepared *kernel;
} recall_slot;

typedef struct recall {
    pthread_mutex_t lock;
    unsigned turn; /* which way of a full set is replaced next */
    size_t sets;
    recall_slot (*slots)[RECALL_WAYS];
} recall;

/* recall_init: of `kernels` places, rounded up to full sets.   errors: NO_MEMORY */
cdnagen_status recall_init(recall *r, int kernels);
void recall_clear(recall *r); /* forget all of them */
void recall_free(recall *r);  /* of a cleared one */

/* recall_find: the kernel that these texts named before, retained for the caller; NULL if there is none. */
struct prepared *recall_find(recall *r, const char *tag, const char *shape);

/* recall_add: remember a kernel; where memory runs out it is not remembered. */
void recall_add(recall *r, const char *tag, const char *shape, struct prepared *kernel);

#endif
