/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The wait states that LLVM leaves out after the longest matrix instruction of gfx950. */
#ifndef IR_WAIT_STATES_H
#define IR_WAIT_STATES_H

#include "core/chip.h"
#include "core/memory.h"

/* wait_states_fill: the relocatable object with an s_nop 0 for each slot that is missing; out stays empty if none is.
 * owner: the caller frees out   errors: BAD_OBJECT, NO_MEMORY, COMPILE (code that cannot be moved, a fatal error of
 * LLVM)
 * source: docs/simulator.md, "Checks" */
cdnagen_status wait_states_fill(const chip *c, const void *object, size_t size, bytes *out, int *lost);

#endif
