/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Encodings that are no instruction and that LLVM's disassembler does not turn away. */
#include "core/machine_code.h"

#include <stdint.h>
#include <string.h>

enum { SOURCE_LITERAL = 0xff, SOURCE_SDWA = 0xf9, SELECT_NONE = 7 };

static uint32_t field(uint32_t word, int at, int bits) { return word >> at & ((1u << bits) - 1); }

/* v_madmk_f16, v_madak_f16, whose constant LLVM takes for the number of an operand if it is 0xff. */
static int has_constant_ff(uint32_t first, uint32_t second) {
    const uint32_t opcode = field(first, 25, 6);
    return (opcode == 0x24 || opcode == 0x25) && second == SOURCE_LITERAL;
}

/* v_readfirstlane_b32 of one word. */
static int writes_literal(uint32_t first) { return field(first, 9, 23) == (0x3fu << 16 | 0xffu << 8 | 2); }

/* Bit 31 of a vector instruction of one word is 0: VOP1, VOP2, VOPC. A compare has no result to select. */
static int sdwa_safe(uint32_t first, uint32_t second) {
    const int is_compare = field(first, 25, 6) == 0x3e;
    return (is_compare || field(second, 8, 3) != SELECT_NONE) && field(second, 16, 3) != SELECT_NONE &&
           field(second, 24, 3) != SELECT_NONE;
}

static int has_literal(uint32_t sources) {
    for (int at = 0; at <= 18; at += 9)
        if (field(sources, at, 9) == SOURCE_LITERAL) return 1;
    return 0;
}

/* A vector instruction of two words: compares, v_readfirstlane_b32 and v_readlane_b32 write a scalar. */
static int vop3_safe(uint32_t first, uint32_t second) {
    const uint32_t opcode = field(first, 16, 10);
    const int is_scalar = opcode < 0x100 || opcode == 0x142 || opcode == 0x289;
    return !has_literal(second) && !(is_scalar && field(first, 0, 8) == SOURCE_LITERAL);
}

/* Matrix instructions of f8f6f4; with scales, two words of theirs stand in front. */
static int is_f8f6f4(uint32_t first) { return first >> 16 == 0xd3ad || first >> 16 == 0xd3ae; }
static int reads_vectors(uint32_t sources) { return field(sources, 8, 1) && field(sources, 17, 1); }

int machine_code_safe(const unsigned char *code) {
    enum { VOP3 = 0x34, MUBUF = 0x38, MTBUF = 0x3a };
    uint32_t word[4];
    memcpy(word, code, sizeof word);
    if (!(word[0] >> 31))
        return !writes_literal(word[0]) && !has_constant_ff(word[0], word[1]) &&
               (field(word[0], 0, 9) != SOURCE_SDWA || sdwa_safe(word[0], word[1]));
    switch (word[0] >> 26) {
    case VOP3:
        if (is_f8f6f4(word[0]) && !reads_vectors(word[1])) return 0;
        if (word[0] >> 16 == 0xd3ac && is_f8f6f4(word[2]) && (!reads_vectors(word[3]) || has_literal(word[3])))
            return 0;
        return vop3_safe(word[0], word[1]);
    case MUBUF:
    case MTBUF: return field(word[1], 24, 8) != SOURCE_LITERAL;
    default: return 1;
    }
}
