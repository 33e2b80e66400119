/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Disassembly of a code object's text section: a line an instruction, branch targets as labels. */
#include "ir/context.h"

#include <llvm-c/Disassembler.h>
#include <stdlib.h>
#include <string.h>

#include "core/codeobj.h"
#include "core/machine_code.h"

cdnagen_status code_open(code_cursor *c, const chip *of) {
    c->disassembler = LLVMCreateDisasmCPU("amdgcn-amd-amdhsa", of->name, NULL, 0, NULL, NULL);
    return c->disassembler ? CDNAGEN_OK : fail(CDNAGEN_COMPILE, "LLVM has no disassembler for %s", of->name);
}

void code_close(code_cursor *c) { LLVMDisasmDispose(c->disassembler); }

int code_next(code_cursor *c) {
    if (c->at >= c->bytes) return 0;
    unsigned char end[INSTRUCTION_BYTES_MAX] = {0};
    const unsigned char *code = c->code + c->at;
    const size_t left = c->bytes - c->at, seen = left < sizeof end ? sizeof end : left;
    if (left < sizeof end) code = memcpy(end, code, left);
    c->address = c->base + c->at;
    c->length = !machine_code_safe(code) ? 0
                                         : LLVMDisasmInstruction(c->disassembler, (uint8_t *)(uintptr_t)code, seen,
                                                                 c->address, c->line, sizeof c->line);
    if (!c->length || c->length > left) {
        c->length = left < 4 ? left : 4;
        strcpy(c->line, "\t.long (no instruction)");
    }
    c->at += c->length;
    return 1;
}

/* LLVM prints a branch's raw 16-bit word: target = address + 4 + 4 * word, signed. */
int code_branch(const code_cursor *c, uint64_t *to) {
    const char *const line = c->line + strspn(c->line, "\t ");
    if (strncmp(line, "s_branch", 8) && strncmp(line, "s_cbranch", 9)) return 0;
    const char *const word = strpbrk(line, " \t");
    if (!word) return 0;
    *to = c->address + 4 + (uint64_t)(int64_t)(int16_t)strtoul(word, NULL, 10) * 4;
    return 1;
}

static void print_kernel_labels(const codeobj *o, uint64_t address, text *out) {
    codeobj_kernel k;
    for (size_t i = 0; i < o->kernel_count; i++)
        if (codeobj_kernel_at(o, i, &k) == CDNAGEN_OK && k.entry_address == address) text_add(out, "%s:\n", k.name);
}

static void print(code_cursor *c, const codeobj *o, unsigned char *is_target, text *out) {
    uint64_t to;
    while (code_next(c))
        if (code_branch(c, &to) && to - c->base < c->bytes) is_target[(to - c->base) / 4] = 1;
    for (c->at = 0; code_next(c);) {
        print_kernel_labels(o, c->address, out);
        if (is_target[(c->address - c->base) / 4]) text_add(out, "L%llx:\n", (unsigned long long)c->address);
        const char *const line = c->line + strspn(c->line, "\t");
        text_add(out, "  %6llx  ", (unsigned long long)c->address);
        if (code_branch(c, &to))
            text_add(out, "%.*s L%llx\n", (int)strcspn(line, " \t"), line, (unsigned long long)to);
        else
            text_add(out, "%s\n", line);
    }
}

typedef struct listing {
    const codeobj *object;
    unsigned char *is_target; /* a byte for each 4 of the text section */
    text *out;
} listing;

static cdnagen_status disassemble(void *of) {
    const listing *const l = of;
    const codeobj *const o = l->object;
    code_cursor c = {.code = o->data + o->text_offset, .bytes = o->text_bytes, .base = o->text_address};
    TRY(code_open(&c, o->chip));
    print(&c, o, l->is_target, l->out);
    code_close(&c);
    return l->out->failed ? fail_no_memory() : CDNAGEN_OK;
}

cdnagen_status ir_disassemble(const void *object, size_t size, text *out) {
    codeobj o;
    TRY(codeobj_open(object, size, &o));
    listing l = {.object = &o, .is_target = mem_alloc(o.text_bytes / 4 + 1), .out = out};
    if (!l.is_target) return fail_no_memory();
    const cdnagen_status status = process_guard("disassembly", disassemble, &l, &(int){0});
    mem_free(l.is_target);
    return status;
}
