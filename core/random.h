/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Random numbers that are the same on every machine: data of runs and tests. */
#ifndef CORE_RANDOM_H
#define CORE_RANDOM_H

#include <math.h>
#include <stdint.h>

/* random_mix: bits that have nothing to do with those of z's neighbours.
 * random64: the next of the sequence that begins at *state; a splitmix64.
 * source: Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014 */
static inline uint64_t random_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
#define RANDOM_STEP 0x9e3779b97f4a7c15u
static inline uint64_t random64(uint64_t *state) { return random_mix(*state += RANDOM_STEP); }

/* random_uniform: in (0, 1), neither of which it is. */
static inline double random_uniform(uint64_t *state) { return ((double)(random64(state) >> 11) + 0.5) * 0x1p-53; }

/* random_polar: a point in polar coordinates, of which the others are two normal numbers of mean 0 and width 1.
 * random_normal: the first of them.
 * source: Box, Muller, A Note on the Generation of Random Normal Deviates, 1958 */
static inline void random_polar(uint64_t *state, double *radius, double *angle) {
    *radius = sqrt(-2 * log(random_uniform(state)));
    *angle = 2 * 3.14159265358979323846 * random_uniform(state);
}
static inline double random_normal(uint64_t *state) {
    double radius, angle;
    random_polar(state, &radius, &angle);
    return radius * cos(angle);
}

#endif
