/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sizes of problems are int64_t: what is computed of them everywhere. */
#ifndef CORE_INTEGER_H
#define CORE_INTEGER_H

#include <stdint.h>

/* ceil_div, round_up: of a >= 0 by b > 0, for every a. */
static inline int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }
static inline int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* log2_of: of a power of two. */
static inline int log2_of(int power) { return __builtin_ctz((unsigned)power); }

#endif
