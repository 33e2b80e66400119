/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Running a launch whose fields are filled in. */
#ifndef SIM_DISPATCH_H
#define SIM_DISPATCH_H

#include "sim/wave.h"

/* launch_run: every workgroup, in parallel; `faulted` and `fault` say whether and why it stopped early. */
void launch_run(launch *l);

/* group_make: memory for a workgroup and its waves; 0: there is none, group_free all the same.
 * group_start: the state in which the workgroup with this linear id starts. */
int group_make(group *g, launch *l);
void group_start(group *g, uint64_t index);
void group_free(group *g);

#endif
