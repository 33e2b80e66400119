/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An empty directory for one test. */
#ifndef TESTS_RUNTIME_SCRATCH_H
#define TESTS_RUNTIME_SCRATCH_H

/* scratch_make: a fresh directory; scratch_remove: it and all in it. owner: static, one at a time */
const char *scratch_make(void);
void scratch_remove(void);

/* scratch_damage: change, cut or empty every cache entry below it; returns how many. */
typedef enum scratch_wound { FLIP_A_BIT, CUT_IN_HALF, EMPTY } scratch_wound;
int scratch_damage(scratch_wound wound);

#endif
