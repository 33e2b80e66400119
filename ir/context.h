/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Inside ir: the context behind the handle, and what its files share. */
#ifndef IR_CONTEXT_H
#define IR_CONTEXT_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "ir/ir.h"

enum { IR_MESSAGE_MAX = 480 };

struct ir {
    target target;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMValueRef function;
    LLVMMemoryBufferRef object;
    int reads_z;                  /* of the workgroup's coordinates */
    val byte_across, is_lower[2]; /* of lanes, where the chip has no permlane swaps; made when first used */
    int failed;                   /* sticky */
    char message[IR_MESSAGE_MAX]; /* of the first failure */
    int diagnostics;              /* errors that LLVM reported */
    char diagnostic[IR_MESSAGE_MAX];
    int lost; /* a fatal error left LLVM's state undefined: it is never touched again */
};

#define WRAP(x) ((val){x})

LLVMTypeRef llvm_type(ir *e, type t);
LLVMTypeRef llvm_pointer(ir *e, unsigned space);
/* types beyond those of ir.h, for the intrinsic table: pointers, and the {i32, i32} that permlane swaps return. */
enum { POINTER_BIT = 0x40, PAIR = 0x80 };
#define POINTER(space) (POINTER_BIT | (space))
enum { SPACE_GLOBAL = 1, SPACE_LDS = 3, SPACE_CONSTANT = 4, SPACE_BUFFER = 8 };
int expect(ir *e, int holds, const char *verb, const char *rule); /* holds, else a sticky failure naming both */
LLVMBasicBlockRef new_block(ir *e, const char *name);

/* process.c: what exists once a process or once a thread. */
/* process_guard: step(of), with LLVM started. No fork of the process happens in a step: it waits. A fatal error of LLVM
 * or lld in it becomes CDNAGEN_COMPILE and *lost, and what the step held of LLVM is abandoned. A step that is lost
 * already is refused. */
cdnagen_status process_guard(const char *what, cdnagen_status (*step)(void *of), void *of, int *lost);
/* process_machine: within a step, this thread's target machine for t.   owner: the thread */
cdnagen_status process_machine(const target *t, LLVMTargetMachineRef *out);
void process_lock_lld(void);
void process_unlock_lld(void);

/* disassemble.c: machine code, an instruction at a time; within process_guard. */
typedef struct code_cursor {
    const unsigned char *code;
    size_t bytes;
    uint64_t base;      /* address of the first byte */
    size_t at;          /* bytes read */
    uint64_t address;   /* of the instruction read last, */
    size_t length;      /* its bytes */
    char line[256];     /* and its text */
    void *disassembler; /* LLVM's */
} code_cursor;
cdnagen_status code_open(code_cursor *c, const chip *of);
void code_close(code_cursor *c);
int code_next(code_cursor *c);                       /* 0 at the end */
int code_branch(const code_cursor *c, uint64_t *to); /* 1 if the instruction read last branches */

#endif
