/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The simulator as a HIP provider. It includes core only, and of LLVM the disassembler: an independent witness. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "core/hip.h"

/* sim_open: the process's simulator with one device of `chip`, as a HIP table.
 * `mode`: words separated by blanks or commas: "late" (a load's or DMA's result is visible only once a wait has covered
 * it),
 *         "poison" (uninitialised LDS and registers hold signalling garbage), "check=off|races|all" (what hardware does
 *         not report stops the launch: docs/simulator.md, "Checks"), "threads=N" (host threads; default all cores),
 *         "limit=N" (millions of instructions after which a wave counts as endless, a fault; default 4000)
 * errors: BAD_ARGUMENT (unknown word: lists the known ones), NO_MEMORY */
cdnagen_status sim_open(const chip *chip, const char *mode, const hip_table **out);

/* sim_open_devices: the same with `count` devices, from 1 to 16, each with its own memory. Those that the process had
 * before keep their memory and modules.   errors: and BAD_ARGUMENT (count) */
cdnagen_status sim_open_devices(const chip *const *chips, int count, const char *mode, const hip_table **out);

#endif
