/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Checks of what hardware does not report: use before a wait, LDS races, barriers that lanes miss, undefined values
 * that matter, missing wait states. A finding stops the launch like any other fault. docs/simulator.md, "Checks", says
 * what each one means. Everything here runs only in launches whose check level is not CHECK_OFF. */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include "sim/wave.h"

/* check_open: analyse the launch's program; 0 if host memory ran out.   check_close: free what it made. */
int check_open(launch *l);
void check_close(launch *l);

/* check_group_make: state of a workgroup and its waves; 0 if host memory ran out.
 * check_group_start: as the waves start, after their registers are set. */
int check_group_make(group *g);
void check_group_start(group *g);
void check_group_free(group *g);

/* check_step: before an instruction runs; it must not if this is 0 (a finding stopped the wave). Memory accesses are
 * seen through the launch's observer, which check_open sets. */
int check_step(wave *w, const inst *in);

#endif
