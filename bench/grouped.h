/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The launches of the gemm_grouped benchmark, and what the model says of each. */
#ifndef BENCH_GROUPED_H
#define BENCH_GROUPED_H

#include "bench/modelled.h"

enum { GROUPED_CASES_MAX = 256 };

typedef struct grouped_case {
    const char *heading; /* of the first case of a table; NULL: it goes on */
    char words[256];     /* of the shape */
    char name[64];       /* lengths, for the reader */
    double published;    /* us, of hardware; 0: nothing was published */
} grouped_case;

typedef struct grouped_outcome {
    int done;
    char error[200]; /* "" if it was modelled */
    char tag[SYMBOL_MAX], binds[24];
    uint32_t spills;
    double clk, us;
    double busy;     /* share of the kernel's cycles in which the matrix pipes work */
    double hbm_tb_s; /* from memory, over the launch */
    double workgroups;
} grouped_outcome;

/* grouped_cases: launches of 8 groups, layout by layout. source: MSLK pull requests 470 and 471, and the registry of
 * its bench/gemm/gemm_bench.py */
size_t grouped_cases(grouped_case out[GROUPED_CASES_MAX]);

/* grouped_look: model one case. */
void grouped_look(cdnagen *ctx, const target *t, const grouped_case *c, grouped_outcome *out);

/* grouped_report: a table a layout; how many cases took longer than was published, spill or have an error. */
int grouped_report(const grouped_case *all, const grouped_outcome *results, size_t count);

/* grouped_surplus: a row a number of groups: what workgroups without a tile cost a launch; grouped_rolled: K in a loop
 * against straight-line code; grouped_registers: of the widest preshuffled tile with two waves asked;
 * grouped_compiling: time and size of code by K. Each counts what it missed. */
cdnagen_status grouped_surplus(cdnagen *ctx, int *missed);
cdnagen_status grouped_rolled(cdnagen *ctx, const target *t, int *missed);
cdnagen_status grouped_registers(int *missed);
cdnagen_status grouped_compiling(const target *t, int *missed);

#endif
