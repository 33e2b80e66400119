/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A context of each chip on the simulator, for the sweeps over matrix products. */
#ifndef TESTS_SWEEP_RUNS_H
#define TESTS_SWEEP_RUNS_H

#include "cdnagen.h"

/* runs_open, runs_close: all of them, without a cache.
 * runs_on: the context of the chip, which the simulator now is, in this mode. */
void runs_open(void);
void runs_close(void);
cdnagen *runs_on(const char *chip_name, const char *mode);

#endif
