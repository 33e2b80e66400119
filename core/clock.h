/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The clock that durations are told by. */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <time.h>

/* clock_ms: time that never goes back, from an origin of its own.   units: ms */
static inline double clock_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

#endif
