/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The timing model's parameters for one chip. */
#ifndef SIM_TIMING_PARAMETERS_H
#define SIM_TIMING_PARAMETERS_H

#include "core/chip.h"

typedef struct parameters {
#define PARAMETER(name, gfx942, gfx950, unit, tag, source) double name;
#include "sim/timing/parameters.def"
#undef PARAMETER
} parameters;

/* parameters_of: the table's column for a chip, then the overrides of a file if there is one.
 * errors: BAD_ARGUMENT (line, unknown name, value that is no number), IO */
cdnagen_status parameters_of(const chip *c, const char *path, parameters *out);

#endif
