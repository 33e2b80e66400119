/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The compiler's steps behind runtime/compile.h: the plan's family emits, ir does the rest. */
#include "runtime/compile.h"

#include <string.h>

#include "ir/ir.h"

/* An operator's emitter is its name with _emit, and fills a kernel that is begun and ended here; gen/families.def names
 * the operators. */
#define CDNAGEN_FAMILY(name) void name##_emit(ir *e, const plan *p);
#include "gen/families.def"
#undef CDNAGEN_FAMILY

static const struct {
    const char *family;
    void (*emit)(ir *e, const plan *p);
} emitters[] = {
#define CDNAGEN_FAMILY(name) {#name, name##_emit},
#include "gen/families.def"
#undef CDNAGEN_FAMILY
};

struct compile {
    ir *ir;
};

/* The frame of a kernel is the plan's, whatever operator fills it. */
static void begin_kernel(ir *e, const plan *p) {
    static const type types[] = {[KERNARG_POINTER] = VOID, [KERNARG_I32] = I32, [KERNARG_I64] = I64};
    e_kernel k = {.symbol = p->symbol,
                  .threads = (int)p->block[0],
                  .waves_per_eu = p->waves_per_eu,
                  .arg_count = (int)p->kernarg_count};
    for (size_t i = 0; i < p->kernarg_count; i++) {
        k.arg_names[i] = p->kernargs[i].name;
        k.args[i] = types[p->kernargs[i].kind];
    }
    e_kernel_begin(e, &k);
}

static void emit(ir *e, const void *of) {
    const plan *const p = of;
    begin_kernel(e, p);
    for (size_t i = 0; i < sizeof emitters / sizeof *emitters; i++)
        if (!strcmp(emitters[i].family, p->family->name)) emitters[i].emit(e, p);
    e_kernel_end(e);
}

cdnagen_status compile_emit(const plan *p, compile **out) {
    compile *const c = mem_alloc(sizeof *c);
    if (!c) return fail_no_memory();
    cdnagen_status status = ir_create(&p->target, p->symbol, &c->ir);
    if (status == CDNAGEN_OK) status = ir_emit(c->ir, emit, p);
    if (status == CDNAGEN_OK)
        *out = c;
    else
        compile_free(c);
    return status;
}

cdnagen_status compile_verify(compile *c) { return ir_verify(c->ir); }
cdnagen_status compile_optimise(compile *c) { return ir_optimise(c->ir); }
cdnagen_status compile_codegen(compile *c) { return ir_codegen(c->ir); }
cdnagen_status compile_link(compile *c, bytes *object) { return ir_link(c->ir, object); }

cdnagen_status compile_ir_text(const compile *c, text *out) { return ir_print(c->ir, out); }

void compile_free(compile *c) {
    if (!c) return;
    ir_free(c->ir);
    mem_free(c);
}

cdnagen_status compile_disassemble(const void *object, size_t size, text *out) {
    return ir_disassemble(object, size, out);
}

int compile_present(void) { return 1; }
const char *compile_llvm_version(void) { return ir_llvm_version(); }
const char *compile_pass_pipeline(void) { return ir_pass_pipeline(); }
