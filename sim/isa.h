/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Instructions as the simulator holds them: rows of the table in sim/isa/, and decoded instructions that point at
 * them. */
#ifndef SIM_ISA_H
#define SIM_ISA_H

#include <stddef.h>
#include <stdint.h>

#include "core/chip.h"
#include "core/memory.h"
#include "sim/mfma.h"

struct wave;
struct inst;

/* value_type: how a row reads or writes an operand; it also says what an inline constant such as 1.0 means there. */
typedef enum value_type {
    T_none,
    T_u32,
    T_i32,
    T_f32,
    T_u16, /* low half; a result zeroes the high half */
    T_i16,
    T_f16,
    T_h16,  /* half that op_sel chooses; a result keeps the other half */
    T_hi16, /* the same, signed */
    T_hf16, /* the same, f16 */
    T_u64,
    T_i64,
    T_f64,
    T_p16,  /* two 16-bit integers, op_sel applies to each */
    T_pf16, /* two f16 */
    T_pf32, /* two f32 in two registers */
    T_mix,  /* f32, or an f16 half if op_sel_hi says so: delivered as f32 */
    T_sgpr, /* wave-uniform 32-bit */
    T_mask  /* 64-bit lane mask: SGPR pair or VCC */
} value_type;

typedef enum row_format {
    F_SCALAR,  /* sim/isa/scalar.def */
    F_VECTOR,  /* sim/isa/vector.def: lane loops */
    F_COMPARE, /* sim/isa/vector.def: results are lane masks */
    F_LANE,    /* sim/isa/lane.def: across lanes, or between the register files */
    F_VMEM,    /* sim/isa/vmem.def */
    F_LDS,     /* sim/isa/lds.def */
    F_SMEM,    /* sim/isa/smem.def */
    F_MATRIX   /* sim/mfma.h's rows */
} row_format;

enum { OPERANDS_MAX = 8 };

typedef void run_function(struct wave *, const struct inst *);

/* isa_row: one instruction. `type` follows the order of the operands in the text. */
typedef struct isa_row {
    const char *name; /* without _e32, _e64, _dpp, _sdwa */
    row_format format;
    int effect;                 /* index within the format's effects */
    uint8_t type[OPERANDS_MAX]; /* value_type */
    int8_t carry_out, carry_in; /* text positions of lane masks, -1 if none; -2: VCC, not in the text */
    const char *body;           /* F_VECTOR: what a lane computes, as the row says it; else "" */
} isa_row;

const isa_row *isa_find(const char *name); /* NULL if the table has none */
int isa_count(void);                       /* all rows of the table */
const isa_row *isa_at(int index);

/* isa_mentions: how often `word` stands in a row's statements, with `then` behind it. */
int isa_mentions(const char *body, const char *word, const char *then);

/* isa_mark, isa_executed: whether a launch of this process has run the row; what a coverage check reads. */
void isa_mark(const isa_row *row);
int isa_executed(int index);

typedef enum operand_kind { K_NONE, K_VGPR, K_SGPR, K_CONST, K_SCC, K_OFF } operand_kind;

/* SGPR numbers beyond s101; those from 128 are the simulator's own places of read-only sources. */
enum {
    SGPR_FLAT_SCRATCH = 102,
    SGPR_XNACK_MASK = 104,
    SGPR_VCC = 106,
    SGPR_TTMP = 108,
    SGPR_M0 = 124,
    SGPR_NULL = 125,
    SGPR_EXEC = 126,
    SGPR_SHARED_BASE = 128,
    SGPR_SHARED_LIMIT = 130,
    SGPR_PRIVATE_BASE = 132,
    SGPR_PRIVATE_LIMIT = 134,
    SGPR_COUNT = 136
};

typedef struct operand {
    uint8_t kind;
    uint8_t negate, absolute, sign_extend;
    uint8_t select; /* sdwa_select */
    uint16_t index; /* register; an AGPR is already a place of the one file */
    uint16_t count; /* registers in the text's range */
    uint64_t value; /* K_CONST: bits in the row's type */
    int is_float;   /* K_CONST: printed as a floating-point number */
    double real;
    const uint32_t *lanes; /* K_CONST of a lane loop: [2][64] */
} operand;

typedef enum sdwa_select {
    SEL_DWORD,
    SEL_BYTE_0,
    SEL_BYTE_1,
    SEL_BYTE_2,
    SEL_BYTE_3,
    SEL_WORD_0,
    SEL_WORD_1
} sdwa_select;
typedef enum dpp_kind {
    DPP_NONE,
    DPP_QUAD_PERM,
    DPP_ROW_SHL,
    DPP_ROW_SHR,
    DPP_ROW_ROR,
    DPP_WAVE_SHL,
    DPP_WAVE_ROL,
    DPP_WAVE_SHR,
    DPP_WAVE_ROR,
    DPP_ROW_MIRROR,
    DPP_ROW_HALF_MIRROR,
    DPP_ROW_BCAST15,
    DPP_ROW_BCAST31,
    DPP_ROW_NEWBCAST
} dpp_kind;

typedef struct lanes lanes;
typedef void lanes_effect(lanes *);

typedef struct inst {
    run_function *run; /* NULL: not in the table */
    const isa_row *row;
    lanes_effect *effect; /* F_VECTOR, F_COMPARE */
    const sim_mfma *mfma;
    operand op[OPERANDS_MAX];
    int op_count;
    int simple; /* F_VECTOR: no modifier that changes sources or result */
    int32_t offset, offset0, offset1;
    uint8_t offen, idxen, lds, sc0, sc1, nt, gds;
    uint8_t clamp, omod;                                     /* omod: 1 times 2, 2 times 4, 3 divided by 2 */
    uint8_t op_sel, op_sel_hi, neg_lo, neg_hi;               /* bit i: source i; op_sel bit 3: destination half */
    uint8_t dpp, dpp_count, row_mask, bank_mask, bound_ctrl; /* quad_perm packs four 2-bit lanes in dpp_count */
    uint8_t sdwa, dst_select, dst_unused;                    /* dst_unused: 0 pad, 1 sign-extend, 2 preserve */
    uint8_t cbsz, abid, blgp, bitop3;
    uint16_t wait_vm, wait_lgkm; /* 0xffff: no wait */
    uint16_t swizzle;            /* ds_swizzle_b32's offset field */
    uint16_t hwreg, hwreg_offset, hwreg_width;
    uint32_t target;  /* branches: index of the instruction */
    uint32_t address; /* byte offset in the text section */
    uint32_t bytes;
    const char *text;
} inst;

/* program: a text section decoded for one kernel (AGPR places depend on its accum_offset). */
typedef struct program {
    arena memory;
    const chip *chip;
    int accum_offset; /* first AGPR in the one register file */
    inst *code;
    size_t count;
    uint32_t *index_of; /* by address / 4: instruction index, UINT32_MAX inside one */
    size_t text_bytes;
    uint64_t base; /* device address of the text section */
    const unsigned char *bytes;
    unsigned char *executed; /* by instruction index: 1 once it ran */
} program;

/* program_decode: decode a text section.
 * units: accum_offset, register_limit in registers; an instruction beyond the limit is refused when it runs
 * errors: NO_MEMORY, UNAVAILABLE (LLVM has no disassembler for the chip) */
cdnagen_status program_decode(const chip *c, const unsigned char *section, size_t size, uint64_t base, int accum_offset,
                              int register_limit, program *out);
void program_free(program *p);

#endif
