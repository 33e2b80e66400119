/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A stand-in for the simulator's door, sim_open, so that the runtime's tests link no LLVM: memory and modules work, and
 * a launch does nothing but fail when told to. */
#ifndef TESTS_RUNTIME_FAKE_SIM_H
#define TESTS_RUNTIME_FAKE_SIM_H

typedef struct fake_sim_state {
    int opened;
    char mode[64], chip[16];
    const char *fault; /* what the next synchronise reports as a kernel's fault; NULL: none */
    int fault_error;
    int loads, unloads;
} fake_sim_state;
extern fake_sim_state fake_sim;

#endif
