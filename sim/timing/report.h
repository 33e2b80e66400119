/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From the CU's sums to the report. */
#ifndef SIM_TIMING_REPORT_H
#define SIM_TIMING_REPORT_H

#include "sim/timing/model.h"

/* report_fill: everything of `out` that follows from the CU's run; cu_clk and kernel_clk are set.
 * units: scale: workgroups of the grid for each that was run in detail   errors: 0 = no memory */
int report_fill(sim_timing *out, const cu *c, const program *p, double scale);

#endif
