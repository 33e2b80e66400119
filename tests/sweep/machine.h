/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a test asks of the simulated machine itself; sim/hip/machine.h and gen/family.h both have a launch. */
#ifndef TESTS_SWEEP_MACHINE_H
#define TESTS_SWEEP_MACHINE_H

enum { MACHINE_CAPTURE_GLOBAL = 0 };

/* machine_modules: modules that are loaded on the first device. */
int machine_modules(void);

#endif
