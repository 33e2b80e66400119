/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The simulated machine, for tests that know the operators. */
#include "tests/sweep/machine.h"

#include "sim/hip/machine.h"

_Static_assert(MACHINE_CAPTURE_GLOBAL == (int)CAPTURE_GLOBAL, "modes of captures");

int machine_modules(void) {
    int count = 0;
    for (const struct hip_module_object *m = sim.devices[0].modules; m; m = m->next) count++;
    return count;
}
