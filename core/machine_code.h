/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What LLVM's disassembler is shown: it takes any bytes and crashes on some. */
#ifndef CORE_MACHINE_CODE_H
#define CORE_MACHINE_CODE_H

#include <stddef.h>

/* INSTRUCTION_BYTES_MAX: more than any instruction has. Given fewer bytes, LLVM 22 reads a literal that is not there:
 * what lies at the end of a text section is shown with zeros behind it. */
enum { INSTRUCTION_BYTES_MAX = 24 };

/* machine_code_safe: whether LLVM 22's disassembler survives what stands at `code`, INSTRUCTION_BYTES_MAX bytes. What
 * it does not is no instruction: a literal in an encoding without one, an SDWA select of 7, a matrix instruction of
 * f8f6f4 whose sources are no vector registers; and an instruction that no compiler makes, v_madmk_f16 or v_madak_f16
 * with 0xff.
 * source: AMD CDNA4 ISA guide, "Microcode Formats" */
int machine_code_safe(const unsigned char *code);

#endif
