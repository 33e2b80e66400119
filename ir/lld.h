/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The one function of lld.cpp, for C. */
#ifndef IR_LLD_H
#define IR_LLD_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* lld_link: run lld's ELF driver; not thread-safe.
 * owner: what it said goes to `said`, cut to fit; *can_run_again = 0 after a crash inside
 * errors: its exit code, 0 = linked */
int lld_link(int argc, const char *const *argv, char *said, size_t said_bytes, int *can_run_again);

#ifdef __cplusplus
}
#endif
#endif
