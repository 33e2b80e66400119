/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a code object's loops cost at least, from their instructions alone: nothing runs. */
#include "core/codeobj.h"
#include "sim/timing.h"
#include "sim/timing/model.h"
#include "sim/timing/parameters.h"

/* clk_of: the least clk of a SIMD for one matrix instruction of the instructions first to last; 0 where they have
 * none. */
static double clk_of(const op *ops, size_t first, size_t last) {
    double count = 0, pipe = 0, issue = 0;
    for (size_t i = first; i <= last; i++) {
        if (ops[i].kind == KIND_VALU) issue += ops[i].slots * SLOT_CLK;
        if (ops[i].kind != KIND_MFMA) continue;
        count++;
        pipe += ops[i].passes * SLOT_CLK;
        issue += ops[i].gate * SLOT_CLK;
    }
    return count > 0 ? (pipe > issue ? pipe : issue) / count : 0;
}

/* A trip may leave an outer loop's instructions out, so the cheapest loop that has matrix instructions is what
 * counts. */
static double cheapest(const program *p, const op *ops) {
    double least = 0;
    for (size_t i = 0; i < p->count; i++) {
        const inst *in = &p->code[i];
        if (ops[i].kind != KIND_BRANCH || !in->run || in->target > i) continue;
        const double clk = clk_of(ops, in->target, i);
        if (clk > 0 && (least <= 0 || clk < least)) least = clk;
    }
    return least > 0 || !p->count ? least : clk_of(ops, 0, p->count - 1);
}

cdnagen_status sim_bound(const void *object, size_t size, double *clk_per_mfma) {
    enum { REGISTERS = 512 };
    codeobj o;
    codeobj_kernel k;
    parameters q;
    program p;
    TRY(codeobj_open(object, size, &o));
    TRY(codeobj_kernel_at(&o, 0, &k));
    TRY(parameters_of(o.chip, NULL, &q));
    const int accum_offset = 4 * ((int)(k.rsrc3 & 63) + 1);
    TRY(program_decode(o.chip, o.data + o.text_offset, o.text_bytes, 0, accum_offset, REGISTERS, &p));
    op *ops = ops_classify(&p, &q);
    if (ops) *clk_per_mfma = cheapest(&p, ops);
    mem_free(ops);
    program_free(&p);
    return ops ? CDNAGEN_OK : fail_no_memory();
}
