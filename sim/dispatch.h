/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Running a launch whose fields are filled in. */
#ifndef SIM_DISPATCH_H
#define SIM_DISPATCH_H

#include "sim/wave.h"

/* launch_run: every workgroup, in parallel; `faulted` and `fault` say whether and why it stopped early. */
void launch_run(launch *l);

#endif
