/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kernel's entry: its arguments. */
#include "gen/gemm_blockscale/gemm_blockscale.h"
#include "ir/ir.h"

void gemm_blockscale_emit(ir *e, const plan *p);

/* blockscale_check lets no tag come here yet. */
void gemm_blockscale_emit(ir *e, const plan *p) {
    e_kernel k = {.symbol = p->symbol,
                  .threads = (int)p->block[0],
                  .waves_per_eu = p->waves_per_eu,
                  .arg_count = (int)p->kernarg_count};
    for (size_t i = 0; i < p->kernarg_count; i++) {
        static const type types[] = {[KERNARG_POINTER] = VOID, [KERNARG_I32] = I32, [KERNARG_I64] = I64};
        k.arg_names[i] = p->kernargs[i].name;
        k.args[i] = types[p->kernargs[i].kind];
    }
    e_kernel_begin(e, &k);
    e_kernel_end(e);
}
