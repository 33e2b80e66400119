/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A compiler for tests that links no LLVM: it writes small, well-formed code objects for any plan, counts what it is
 * asked, and can be told to go wrong. */
#ifndef TESTS_RUNTIME_FAKE_COMPILE_H
#define TESTS_RUNTIME_FAKE_COMPILE_H

#include <stdatomic.h>

#include "core/codeobj.h"
#include "gen/family.h"

typedef struct fake_compile {
    atomic_int emitted, linked;
    const char *spill_tag;       /* plans whose tag contains this text spill; NULL: none */
    int wrong_symbol;            /* the object's kernel has another name */
    int wrong_argument;          /* the second argument is 4 bytes too far */
    int more_arguments;          /* one argument more than the plan has */
    uint32_t wrong_mach;         /* nonzero: the chip in e_flags */
    uint32_t wrong_features;     /* nonzero: the feature bits of e_flags */
    int small_workgroup;         /* max_flat_workgroup_size of 1 */
    uint32_t lds_bytes;          /* nonzero: LDS of the object */
    int abi_version;             /* nonzero: EI_ABIVERSION */
    cdnagen_status fail_codegen; /* what compile_codegen answers */
    int milliseconds;            /* that compile_codegen sleeps */
} fake_compile;
extern fake_compile fake;

void fake_reset(void);

#endif
