/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Random operands of the matrix products: the same on every machine. */
#ifndef GEN_GEMM_DRAW_H
#define GEN_GEMM_DRAW_H

#include <stdint.h>

#include "core/chip.h"

/* draw_bytes: DRAWS values to pick bytes from: normal, as wide as the kind allows; or integers small enough that f32
 * sums of them are exact in any order. */
enum { DRAWS = 4096 };
void draw_bytes(int integers, fp8_kind kind, uint64_t seed, uint8_t draws[DRAWS]);

/* draw_row: `count` bytes of row `row`, the same whatever other rows there are. */
void draw_row(const uint8_t draws[DRAWS], uint64_t seed, int64_t row, int64_t count, uint8_t *out);

#endif
