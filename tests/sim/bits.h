/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers as bits and back, stated apart from the simulator's own. */
#ifndef TESTS_SIM_BITS_H
#define TESTS_SIM_BITS_H

#include <stdint.h>
#include <string.h>

static inline float as_float(uint32_t x) {
    float f;
    memcpy(&f, &x, 4);
    return f;
}
static inline uint32_t as_bits(float f) {
    uint32_t x;
    memcpy(&x, &f, 4);
    return x;
}
static inline double as_double(uint64_t x) {
    double f;
    memcpy(&f, &x, 8);
    return f;
}
static inline uint64_t as_bits64(double f) {
    uint64_t x;
    memcpy(&x, &f, 8);
    return x;
}

#endif
