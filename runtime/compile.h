/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The only door to LLVM and lld: one kernel on its way from plan to code object, a step a call. */
#ifndef RUNTIME_COMPILE_H
#define RUNTIME_COMPILE_H

#include "core/memory.h"
#include "gen/family.h"

typedef struct compile compile;

cdnagen_status compile_emit(const plan *p, compile **out); /* IR of the plan's family */
cdnagen_status compile_verify(compile *c);                 /* LLVM's verifier and the emitter's sticky error */
cdnagen_status compile_optimise(compile *c);
cdnagen_status compile_codegen(compile *c);                  /* relocatable object, in memory */
cdnagen_status compile_link(compile *c, bytes *object);      /* *object: the code object, the caller's */
cdnagen_status compile_ir_text(const compile *c, text *out); /* IR as it is after the last step taken */
void compile_free(compile *c);                               /* NULL is fine */

/* compile_disassemble: AMD assembly of a code object's text section, one line an instruction with its address. */
cdnagen_status compile_disassemble(const void *object, size_t bytes, text *out);

int compile_present(void);               /* 0 where every step is UNAVAILABLE: libcdnagen-rt */
const char *compile_llvm_version(void);  /* "22.1.8" */
const char *compile_pass_pipeline(void); /* text that goes into the key */

#endif
