/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The cases of the mqa_logits benchmark, and what the model says of each. */
#ifndef BENCH_MQA_H
#define BENCH_MQA_H

#include <stdio.h>

#include "gen/mqa_logits/mqa_logits.h"

enum { MQA_CASES_MAX = 4096 };

typedef struct mqa_case {
    mqa_shape shape;
    char words[SHAPE_BYTES_MAX];
} mqa_case;

typedef struct mqa_result {
    int done;
    char error[200]; /* "" if it was modelled */
    char tag[SYMBOL_MAX];
    uint32_t splits, spills, waves_per_simd;
    double clk, us;
    double busy;     /* share of the kernel's cycles in which the matrix pipes work */
    double roof;     /* cycles that the windows' matrix instructions take at least / cycles */
    double loop_clk; /* of the hot loop, for 64 columns of a row */
    double ratio;    /* of the hot loop: cycles / max(matrix pipe, issue) */
    int reduced;     /* on fewer rows */
    uint64_t groups, detailed;
} mqa_result;

/* mqa_cases_standard: the reduced matrix, each shape with each of its windows, the other axes in rotation; `full`:
 * their product. mqa_cases_from_csv: the file's rows; an axis that a row does not pin takes all its values.
 * errors: IO, BAD_SHAPE (file, line and cell; also a pinned window that the shape does not have, and more cases than
 *         MQA_CASES_MAX) */
size_t mqa_cases_standard(int full, mqa_case *out);
cdnagen_status mqa_cases_from_csv(const char *path, mqa_case *out, size_t *count);

extern const char *const mqa_window_names[];

/* mqa_report: markdown: a row a case, then geometric means and the worst. */
void mqa_report(FILE *to, const char *target_id, const mqa_case *cases, const mqa_result *results, size_t count);

#endif
