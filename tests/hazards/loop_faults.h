/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels whose loop over K is broken on purpose: a wait that waits for one operation less, a barrier that is left
 * out. */
#ifndef TESTS_HAZARDS_LOOP_FAULTS_H
#define TESTS_HAZARDS_LOOP_FAULTS_H

#include "tests/gen/testing.h"

/* check_right: the kernel is silent under every check, and right with results that appear late. */
void check_right(const char *chip_name, const char *tag, const char *shape);

/* disassembled: the kernel's listing.   owner: text_free */
text disassembled(const char *chip_name, const char *tag, const char *shape);

typedef enum fault_kind { NO_BARRIER, LESS_VMCNT, LESS_LGKMCNT, FAULT_KINDS } fault_kind;

/* loop_is_needed: each fault of each kind in the loop over K tiles, which holds `marker`, is found by the checks but
 * for `spare` of them: 1; else 0, and what was found otherwise on stderr. */
int loop_is_needed(const char *chip_name, const char *tag, const char *shape, const char *marker,
                   const int spare[FAULT_KINDS]);

#endif
