/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A compiler for tests that links no LLVM: it writes small, well-formed code objects for any plan, counts what it is
 * asked, and can be told to go wrong. */
#ifndef TESTS_RUNTIME_FAKE_COMPILE_H
#define TESTS_RUNTIME_FAKE_COMPILE_H

#include <stdatomic.h>

#include "core/codeobj.h"
#include "gen/family.h"

/* fake_fault: how an object differs from its plan; all zero: not at all. */
typedef struct fake_fault {
    int symbol;          /* the kernel has another name */
    int argument;        /* the second argument is 4 bytes too far */
    int more_arguments;  /* one argument more than the plan has */
    int small_workgroup; /* max_flat_workgroup_size of 1 */
    int abi_version;     /* EI_ABIVERSION */
    uint32_t mach;       /* the chip in e_flags */
    uint32_t features;   /* the feature bits of e_flags */
    uint32_t lds_bytes;
} fake_fault;

typedef struct fake_compile {
    atomic_int emitted, linked;
    fake_fault fault;
    const char *spill_tag;       /* plans whose tag contains this text spill; NULL: none */
    cdnagen_status fail_codegen; /* what compile_codegen answers */
    int absent;                  /* there is no compiler */
    int milliseconds;            /* that compile_codegen sleeps */
} fake_compile;
extern fake_compile fake;

void fake_reset(void);

#endif
