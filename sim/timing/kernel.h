/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the launches of the simulator meet the timing model. */
#ifndef SIM_TIMING_KERNEL_H
#define SIM_TIMING_KERNEL_H

#include "core/codeobj.h"
#include "sim/wave.h"

/* timing_launch: model this launch if sim_timing_next asked for the next one of its chip. A fault is the launch's.
 * Returns 1 if the launch is not to be run. */
int timing_launch(launch *l, const codeobj_kernel *k);

#endif
