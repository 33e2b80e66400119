/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What an instruction reads and writes, and the classes that hazard rules name. */
#ifndef SIM_CHECK_USES_H
#define SIM_CHECK_USES_H

#include "sim/isa.h"

typedef enum use_role {
    USE_SOURCE,
    USE_DATA,        /* stored, or combined by an atomic */
    USE_ADDRESS,     /* address, descriptor, offset, M0 of an LDS DMA */
    USE_C,           /* accumulator of a matrix or dot instruction */
    USE_LANE_SELECT, /* which lane v_readlane and v_writelane mean */
    USE_RESULT
} use_role;

/* use: registers [first, first + count) of one file. operand: position in the text, -1 if implicit. */
typedef struct use {
    uint16_t first;
    uint8_t count, scalar, role;
    int8_t operand;
} use;

enum inst_class {
    IS_VALU = 1 << 0, /* vector, compare and lane rows; not matrix instructions */
    IS_SALU = 1 << 1,
    IS_VMEM = 1 << 2, /* buffer, global, flat, scratch */
    IS_LDS = 1 << 3,
    IS_SMEM = 1 << 4,
    IS_XDL = 1 << 5,   /* matrix instructions of small inputs */
    IS_SGEMM = 1 << 6, /* f32 inputs */
    IS_DGEMM = 1 << 7, /* f64 inputs */
    IS_TRANS = 1 << 8,
    IS_PLAIN = 1 << 9, /* VALU and not transcendental */
    IS_DPP = 1 << 10,
    IS_PARTIAL = 1 << 11, /* writes a part of its register */
    IS_DOT = 1 << 12,
    IS_READLANE = 1 << 13,
    IS_WRITELANE = 1 << 14,
    IS_PERMLANE = 1 << 15,
    IS_DIV_FMAS = 1 << 16,
    IS_LDS_DMA = 1 << 17,
    IS_WIDE_STORE = 1 << 18, /* VMEM, more than 8 bytes a lane, no SGPR offset */
    IS_SETREG = 1 << 19,
    IS_GETREG = 1 << 20,
    IS_WAIT = 1 << 21,
    IS_BARRIER = 1 << 22,
    IS_END = 1 << 23,
    IS_FMA64 = 1 << 24,
    IS_FLAT = 1 << 25, /* may be LDS: counts in vmcnt and lgkmcnt */
    IS_NOP = 1 << 26,
    IS_BRANCH_SCC = 1 << 27,
    IS_BRANCH_VCC = 1 << 28,
    IS_JUMP = 1 << 29,
    IS_MOVE = 1 << 30, /* lane rows that move words as they are */
    IS_MATRIX = IS_XDL | IS_SGEMM | IS_DGEMM
};

/* propagation: how undefined bits pass from sources to the result. docs/simulator.md, "Undefined values" */
typedef enum propagation {
    PASS_ANY, /* one undefined bit makes the whole result undefined */
    PASS_COPY,
    PASS_AND,
    PASS_AND_NOT, /* A & ~B */
    PASS_OR,
    PASS_OR_NOT,
    PASS_XOR,
    PASS_AND_OR,
    PASS_OR3,
    PASS_UNION,  /* bit by bit, whatever the operation */
    PASS_INSERT, /* v_bfi_b32 */
    PASS_LEFT,   /* shifts of A by B; the vector rows have the amount first */
    PASS_RIGHT,
    PASS_RIGHT_SIGNED,
    PASS_LEFT_OR,
    PASS_ALIGN_BIT,
    PASS_ALIGN_BYTE,
    PASS_FIELD, /* v_bfe_*: shift, then cut */
    PASS_BYTES, /* v_perm_b32 */
    PASS_UBYTE, /* v_cvt_f32_ubyteN */
    PASS_PAIR,  /* two values, one in each half */
    PASS_SELECT,
    PASS_CARRY /* integer sums and products: from the lowest undefined bit up */
} propagation;

enum { READS_MAX = 12, WRITES_MAX = 4 };
typedef struct inst_uses {
    use read[READS_MAX], write[WRITES_MAX];
    uint8_t reads, writes;
    uint8_t reads_scc, writes_scc;
    uint8_t reads_old;    /* the result takes in what the register held */
    uint8_t passes;       /* matrix instructions: 2, 4, 8, 16 */
    uint8_t pass, detail; /* propagation; byte of PASS_UBYTE, 1: B of PASS_CARRY is a shift amount */
    uint32_t classes;
    uint64_t produces, consumes; /* rules of check_slots.c in which it is the first or the second instruction */
} inst_uses;

void check_uses_of(const inst *in, inst_uses *out);

#endif
