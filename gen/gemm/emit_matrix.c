/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where matrices begin and end. */
#include "gen/gemm/emit_gemm.h"

ptr gemm_element(ir *e, ptr base, val row, val stride, val column) {
    const val begin = e_mul(e, row, stride);
    return e_ptr_add(e, base, e_add(e, begin, e_sext(e, column)));
}

val gemm_span(ir *e, val rows, val stride, val length) {
    const val extent = e_add(e, e_mul(e, e_addi(e, rows, -1), stride), length);
    const val some = e_less(e, e_i32(e, 0), e_min(e, rows, length));
    return e_select(e, some, extent, e_i32(e, 0));
}
