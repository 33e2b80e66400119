/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Buffers that nobody has to write by hand: element types, and fills that make the same numbers everywhere. */
#ifndef STUDY_SIM_DATA_H
#define STUDY_SIM_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "core/chip.h"

/* sim_element: u8, i32, f32, f16, bf16, and fp8, which is the chip's kind of e4m3. */
typedef struct sim_element {
    const char *name;
    size_t bytes;
    int is_integer;
    uint64_t (*encode)(double x, fp8_kind fp8);
} sim_element;

/* sim_fill: zeros, ones, iota (0, 1, 2, ...), random (integers: every bit pattern; others: even in [-1, 1)).
 * math: numbers are rounded to the nearest element, ties to even; integers wrap; fp8 stops at its largest finite
 * number */
typedef struct sim_fill {
    const char *name;
    double (*at)(uint64_t index, uint64_t seed, int is_integer);
} sim_fill;

enum { SIM_ELEMENTS = 6, SIM_FILLS = 4 };
extern const sim_element sim_elements[SIM_ELEMENTS];
extern const sim_fill sim_fills[SIM_FILLS];
extern const sim_fill *const sim_fill_random;
const sim_element *sim_element_find(const char *name); /* NULL if there is none */
const sim_fill *sim_fill_find(const char *name);

/* sim_data_make: write `count` elements.   shapes: to[count * element->bytes] */
void sim_data_make(void *to, uint64_t count, const sim_element *element, const sim_fill *fill, uint64_t seed,
                   fp8_kind fp8);

#endif
