/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* runtime/compile.h in the runtime without a compiler: its cache keys are the compiler's, and every step is refused. */
#include "runtime/compile.h"

#include <llvm/Config/llvm-config.h>

#include "core/status.h"
#include "ir/pipeline.h"

static cdnagen_status refuse(void) {
    return fail(CDNAGEN_UNAVAILABLE, "this library has no compiler (libcdnagen-rt): use libcdnagen for it");
}

int compile_present(void) { return 0; }
cdnagen_status compile_emit(const plan *p, compile **out) {
    (void)p;
    *out = NULL;
    return refuse();
}

/* What follows compile_emit is never reached. */
cdnagen_status compile_verify(compile *c) { return (void)c, refuse(); }
cdnagen_status compile_optimise(compile *c) { return (void)c, refuse(); }
cdnagen_status compile_codegen(compile *c) { return (void)c, refuse(); }
cdnagen_status compile_link(compile *c, bytes *object) { return (void)c, (void)object, refuse(); }
cdnagen_status compile_ir_text(const compile *c, text *out) { return (void)c, (void)out, refuse(); }
void compile_free(compile *c) { (void)c; }

cdnagen_status compile_disassemble(const void *object, size_t size, text *out) {
    return (void)object, (void)size, (void)out, refuse();
}

const char *compile_llvm_version(void) { return LLVM_VERSION_STRING; }
const char *compile_pass_pipeline(void) { return PASS_PIPELINE; }
