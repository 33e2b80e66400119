/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Matrix instructions: one table row an instruction, a plain path that follows the lane layouts element by element, and
 * vector paths for the shapes that this project's kernels use, bit-identical to the plain one.
 * source: AMD CDNA3 and CDNA4 ISA guides (formats, modifiers); AMD matrix instruction calculator (element places) */
#ifndef SIM_MFMA_H
#define SIM_MFMA_H

#include <stdint.h>

#include "core/chip.h"

typedef struct sim_mfma sim_mfma;

/* sim_mfma_modifiers: the instruction's fields besides its registers; all zero if the text shows none.
 * shapes: scale_a, scale_b: 64 lanes, read only by v_mfma_scale_* (NULL elsewhere)
 * units: op_sel, op_sel_hi bit 0 belongs to A, bit 1 to B; flush_f32 is 1 if MODE flushes f32 denormals of the
 * inputs */
typedef struct sim_mfma_modifiers {
    int cbsz, abid, blgp;
    uint32_t op_sel, op_sel_hi;
    const uint32_t *scale_a, *scale_b;
    int flush_f32;
} sim_mfma_modifiers;

/* sim_mfma_registers: how many consecutive 32-bit registers each operand takes; acc holds for C and for D. */
typedef struct sim_mfma_registers {
    int a, b, acc;
} sim_mfma_registers;

/* sim_mfma_find: row of a mnemonic as LLVM prints it ("v_mfma_f32_32x32x64_f8f6f4"); NULL if the table has none. */
const sim_mfma *sim_mfma_find(const char *mnemonic);

/* sim_mfma_count, sim_mfma_at: every row, and its mnemonic. */
int sim_mfma_count(void);
const sim_mfma *sim_mfma_at(int index);
const char *sim_mfma_name(const sim_mfma *m);

/* sim_mfma_operands: register counts; those of A and B of an f8f6f4 row depend on the formats that cbsz and blgp
 * name. */
sim_mfma_registers sim_mfma_operands(const sim_mfma *m, int cbsz, int blgp);

/* sim_mfma_refusal: NULL if this row runs on this chip with these modifiers, else a sentence that says why not.
 * The caller stops on it: what the public documents leave open is refused, never guessed. */
const char *sim_mfma_refusal(const sim_mfma *m, const chip *c, const sim_mfma_modifiers *mod);

/* sim_mfma_run: D = A * B + C for one wave; EXEC plays no part.
 * shapes: a, b, c_in, d: [register][64 lanes], counts as sim_mfma_operands says; d may equal c_in and overlap a and b;
 *         fastest on 64-byte boundaries
 * math: docs/mfma.md: products and sums in f32 by fused multiply-add, k ascending, one chain per 32 k of f8f6f4
 * errors: none; the caller has asked sim_mfma_refusal */
void sim_mfma_run(const sim_mfma *m, const chip *c, const sim_mfma_modifiers *mod, const uint32_t *a, const uint32_t *b,
                  const uint32_t *c_in, uint32_t *d);

#endif
