/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lane loops: the effects of vector rows, compiled three times (baseline x86-64, AVX2, AVX-512) and chosen at run
 * time. */
#ifndef SIM_LANES_H
#define SIM_LANES_H

#include "sim/isa.h"

/* lanes: what an effect sees. shapes: operands [1 or 2 registers][64]; mask 0 or ~0 a lane */
struct lanes {
    uint32_t *d;
    const uint32_t *a, *b, *c;
    const uint32_t *mask;
    uint64_t carry_in, carry_out;
    const chip *chip;
    int clamp, imm, saturate;
};

/* lanes_effects: [vector rows] and [compare rows], in the order of sim/isa/vector.def, for this host. */
typedef struct lanes_effects {
    lanes_effect *const *vector, *const *compare;
} lanes_effects;
const lanes_effects *lanes_for_host(void);

/* dpp_source: source lane of a DPP control, -1 outside its pattern.
 * relative_registers: move the VGPR operands that MODE and M0 say are relative; 0 after a fault.
 * place_result: a result within its register: SDWA's part, or the half that op_sel names. */
int dpp_source(const inst *in, int lane);
int relative_registers(struct wave *w, inst *in);
uint32_t place_result(const inst *in, uint32_t old, uint32_t x);

extern const lanes_effects lanes_baseline, lanes_avx2, lanes_avx512;

#endif
