/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The passes that kernels go through: part of their cache keys, also where there is no LLVM. */
#ifndef IR_PIPELINE_H
#define IR_PIPELINE_H

/* The generator writes what it means; this only shares the address arithmetic that blocks repeat. */
#define PASS_PIPELINE "function(early-cse)"

#endif
