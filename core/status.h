/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Statuses and the calling thread's last error. */
#ifndef CORE_STATUS_H
#define CORE_STATUS_H

#include <limits.h>

#include "cdnagen.h"

/* SENTENCE_BYTES: of a sentence or a line of the log, which may name the longest path and still say what is wrong. */
enum { SENTENCE_BYTES = PATH_MAX + 2048 };

/* fail: record the thread's error sentence and return `status`, so that a caller writes return fail(...).
 * The sentence names what was wrong (value, bound, file) and what would be right. */
cdnagen_status fail(cdnagen_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* fail_no_memory: the one way to report a failed allocation; formats nothing and allocates nothing. */
cdnagen_status fail_no_memory(void);

/* TRY: return the status of a failed call. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const cdnagen_status try_status = (call);                                                                      \
        if (try_status != CDNAGEN_OK) return try_status;                                                               \
    } while (0)

#endif
