/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The chip table: every fact that differs between chips is a column here, never an if in a family. */
#ifndef CORE_CHIP_H
#define CORE_CHIP_H

#include <stdint.h>

#include "core/status.h"

/* fp8_kind: which 8-bit floating point the matrix unit reads; values as cdnagen_fp8. */
typedef cdnagen_fp8 fp8_kind;

/* atom: one MFMA shape for fp8 operands. A is m x k (rows), B is k x n, 64 lanes hold m*n/64 results each. */
typedef struct atom {
    int m, n, k;
    int fragment_bytes;    /* per lane and operand */
    int passes;            /* the matrix unit's steps of PASS_CLK for one of them */
    const char *intrinsic; /* row name in ir's intrinsic table, "mfma_32x32x64_f8f6f4" */
    const char *scaled;    /* the form that takes ue8m0 scales of rows and columns; NULL if there is none */
} atom;

/* atom_products: of a pass. ATOM_PRODUCTS_MAX: of a pass of the fastest. */
enum { PASS_CLK = 4, ATOM_PRODUCTS_MAX = 4096 };
static inline int atom_products(const atom *a) { return a->m * a->n * a->k / a->passes; }

enum { ATOM_COUNT = 4, LANES = 64 };
extern const atom atoms[ATOM_COUNT];        /* 16x16x32, 32x32x16, 16x16x128, 32x32x64 */
const atom *atom_find(int m, int n, int k); /* NULL if there is none */

typedef struct chip {
    const char *name;    /* "gfx950" */
    const char *product; /* "MI350X/MI355X" */
    uint32_t elf_mach;   /* EF_AMDGPU_MACH_* in e_flags */
    uint32_t atom_mask;  /* bit i: atoms[i] exists */
    int lds_bytes;       /* per CU, and the most a workgroup may ask */
    int lds_granule;     /* allocation unit, bytes */
    int lds_dma_bytes;   /* widest LDS DMA per lane */
    int lds_read_banks;  /* banks of 4 bytes that one read phase spreads over */
    int vgpr_granule, vgpr_per_simd, agpr_per_wave, simds, waves_per_simd, sgpr_per_simd;
    int xcds, cus; /* of the full product */
    int l2_bytes;  /* of one XCD */
    fp8_kind fp8;  /* what the MFMA reads */
    int has_permlane_swap;
    uint32_t long_mfma_slots; /* instructions between an MFMA of 16 passes and another use of its result */
} chip;

/* Places in the table, for tables elsewhere that have a column or a bit a chip. */
enum { CHIP_GFX942, CHIP_GFX950, CHIP_COUNT };
extern const chip chips[CHIP_COUNT];
static inline int chip_index(const chip *c) { return (int)(c - chips); }
const chip *chip_find(const char *name, size_t length); /* NULL if unknown */
const chip *chip_from_mach(uint32_t elf_mach);
int chip_has_atom(const chip *c, const atom *a);

/* chip_fp8: what a word of a tag or shape (cdnagen_fp8) means on the chip. */
static inline fp8_kind chip_fp8(const chip *c, int64_t word) {
    return word == CDNAGEN_FP8_NATIVE ? c->fp8 : (fp8_kind)word;
}

/* chip_check_atom: the chip has the MFMA. chip_check_fp8: its matrix unit can be given an operand of this kind
 * (cdnagen_fp8): E4M3FN bytes can be made into E4M3FNUZ, not the other way, as the largest of those are NaN.
 * errors: LIMIT, beginning with the operator and naming what the chip has */
cdnagen_status chip_check_atom(const char *op, const chip *c, int m, int n, int k);
cdnagen_status chip_check_fp8(const char *op, const chip *c, const char *operand, int64_t kind);

/* target: a chip and its feature words. */
typedef struct target {
    const chip *chip;
    int8_t sramecc, xnack; /* -1 off, 0 any, +1 on */
    char text[48];         /* canonical: processor, then features in alphabetical order */
} target;

/* TARGET_STANDARD: what is meant where neither the caller nor the environment nor a device says. */
#define TARGET_STANDARD "gfx950"

/* target_parse: "gfx942:xnack-:sramecc+" -> target.   errors: BAD_TARGET, naming the known processors and features */
cdnagen_status target_parse(const char *text, target *out);

#endif
