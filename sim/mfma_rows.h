/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Inside of the matrix instructions: rows, number formats, element places, and the paths that execute a row. */
#ifndef SIM_MFMA_ROWS_H
#define SIM_MFMA_ROWS_H

#include <stdint.h>
#include <string.h>

#include "sim/mfma.h"

/* sim_format: element type of an operand. The first five are the numbers that cbsz and blgp name. */
typedef enum sim_format {
    FORMAT_FP8,
    FORMAT_BF8,
    FORMAT_FP6,
    FORMAT_BF6,
    FORMAT_FP4,
    FORMAT_F16,
    FORMAT_BF16,
    FORMAT_F32,
    FORMAT_F64,
    FORMAT_I8,
    FORMAT_I32,
    FORMAT_SELECTED /* cbsz says A's, blgp says B's */
} sim_format;

typedef enum sim_blgp { BLGP_NONE, BLGP_FORMAT, BLGP_LANES, BLGP_NEGATE } sim_blgp;
enum { ON_GFX942 = 1 << CHIP_GFX942, ON_GFX950 = 1 << CHIP_GFX950, ON_BOTH = ON_GFX942 | ON_GFX950 };

struct sim_mfma {
    const char *name;
    int m, n, k, blocks;
    sim_format a, b, d;
    sim_blgp blgp;
    unsigned chips;
    int scaled;
    int derived; /* 1: element places follow the general rule by analogy, no table of AMD's covers them */
};

extern const sim_mfma sim_mfma_rows[];
extern const int sim_mfma_row_count;

/* small_float: a format below 32 bits: sign, exponent, mantissa from the top down. */
typedef enum small_special {
    SPECIAL_NONE,     /* every code is a number */
    SPECIAL_ALL_ONES, /* magnitude all ones is NaN */
    SPECIAL_MINUS_0,  /* the code of -0 is NaN */
    SPECIAL_IEEE      /* exponent all ones is infinity or NaN */
} small_special;
typedef struct small_float {
    int bits, exponent, mantissa, bias;
    small_special special;
} small_float;
const small_float *sim_small_float(sim_format f, const chip *c); /* NULL: not below 32 bits, or an integer */
int sim_format_bits(sim_format f);

/* sim_mfma_call: one instruction of one wave. */
typedef struct sim_mfma_call {
    const sim_mfma *row;
    const chip *chip;
    const sim_mfma_modifiers *mod;
    const uint32_t *a, *b, *c;
    uint32_t *d;
} sim_mfma_call;

sim_format sim_mfma_format_a(const sim_mfma *m, const sim_mfma_modifiers *mod);
sim_format sim_mfma_format_b(const sim_mfma *m, const sim_mfma_modifiers *mod);

/* sim_place: lane, and the lowest bit counted from bit 0 of the operand's first register. */
typedef struct sim_place {
    int lane, bit;
} sim_place;

/* sim_mfma_input, sim_mfma_output: where A[i][k] (or B[k][i]) and C, D[i][j] of a block live.
 * source: AMD matrix instruction calculator; for 8-bit f8f6f4 operands AMD's article "Matrix Core Programming on AMD
 *         CDNA3 and CDNA4 Architecture" */
sim_place sim_mfma_input(const sim_mfma *m, sim_format f, int block, int i, int k);
sim_place sim_mfma_output(const sim_mfma *m, int block, int i, int j);

enum {
    BLOCK_K = 32,            /* k that share one scale, and one chain of an f8f6f4 sum */
    F32_NAN = 0x7fc00000,    /* the one NaN that results hold */
    INPUT_ELEMENTS = 32 * 64 /* the most that A or B has */
};

/* sim_mfma_scale: E8M0 byte of a scale register: 2^(byte-127), 255 is NaN. */
static inline double sim_mfma_scale(uint32_t scales, unsigned byte) {
    const uint32_t e = scales >> (8 * byte) & 0xff;
    const uint64_t bits = e == 255 ? UINT64_C(0x7ff8) << 48 : (uint64_t)(e + 1023 - 127) << 52;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
static inline unsigned sim_mfma_scale_byte(const sim_mfma_modifiers *mod, int which) {
    return (mod->op_sel >> which & 1) | (mod->op_sel_hi >> which & 1) << 1;
}

/* sim_mfma_plain: any row, element by element. */
void sim_mfma_plain(const sim_mfma_call *call);

/* sim_mfma_path: one vector path. All paths give the bits of the plain one.
 * fused: has a fused multiply-add; without it only rows whose products are exact in f32 run */
typedef struct sim_mfma_path {
    const char *name;
    int fused;
    void (*run)(const sim_mfma_call *call);
} sim_mfma_path;
extern const sim_mfma_path sim_mfma_baseline, sim_mfma_avx2, sim_mfma_avx512;

/* sim_mfma_path_runs: 1 if the path has this row with these modifiers.  sim_mfma_path_here: 1 if this CPU has the
 * path. */
int sim_mfma_path_runs(const sim_mfma_path *p, const sim_mfma *m, const sim_mfma_modifiers *mod);
int sim_mfma_path_here(const sim_mfma_path *p);

#endif
