/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Conversions between the number formats, by value rather than by instruction.   source: docs/mfma.md, "Formats" */
#ifndef SIM_CONVERT_H
#define SIM_CONVERT_H

#include "sim/mfma_rows.h"

/* small_value: the number that a code means.
 * small_code: the code of a number: the nearest, ties to even, or with `random` the one above if the discarded fraction
 *             plus random / 2^32 reaches 1. Overflow gives infinity, where the format has it, else NaN, else (and for
 *             finite numbers if `saturate`) the greatest number; NaN gives NaN or, where the format has none, the
 *             greatest. */
double small_value(const small_float *f, uint32_t code);
uint32_t small_code(const small_float *f, double x, const uint32_t *random, int saturate);

/* conversion: one instruction: `count` elements a lane; `scale` and `random` are operand positions, 0 if there is none.
 * interleaved: elements come from operands 1 and 2 in turn. */
typedef struct conversion {
    sim_format from, to;
    int count, interleaved, random, scale;
} conversion;

struct wave;
struct inst;
void convert_lanes(struct wave *w, const struct inst *in, conversion c);

#endif
