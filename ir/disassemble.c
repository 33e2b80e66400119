/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Disassembly of a code object's text section: a line an instruction, branch targets as labels. */
#include "ir/context.h"

#include <llvm-c/Disassembler.h>
#include <stdlib.h>
#include <string.h>

#include "core/codeobj.h"

/* LLVM prints a branch's raw 16-bit word: target = address + 4 + 4 * word, signed. Returns 1 if `line` branches. */
static int branch_target(const char *line, uint64_t address, uint64_t *to) {
    while (*line == '\t' || *line == ' ') line++;
    if (strncmp(line, "s_branch", 8) && strncmp(line, "s_cbranch", 9)) return 0;
    const char *const word = strpbrk(line, " \t");
    if (!word) return 0;
    *to = address + 4 + (uint64_t)(int64_t)(int16_t)strtoul(word, NULL, 10) * 4;
    return 1;
}

enum { LINE_MAX_BYTES = 256 };

typedef struct cursor {
    LLVMDisasmContextRef disassembler;
    const codeobj *object;
    size_t at; /* in the text section */
    char line[LINE_MAX_BYTES];
    uint64_t address;
    size_t length;
} cursor;

static int next(cursor *c) {
    if (c->at >= c->object->text_bytes) return 0;
    const unsigned char *const code = c->object->data + c->object->text_offset + c->at;
    c->address = c->object->text_address + c->at;
    c->length = LLVMDisasmInstruction(c->disassembler, (uint8_t *)code, c->object->text_bytes - c->at, c->address,
                                      c->line, sizeof c->line);
    if (!c->length) {
        c->length = c->object->text_bytes - c->at < 4 ? c->object->text_bytes - c->at : 4;
        strcpy(c->line, "\t.long (no instruction)");
    }
    c->at += c->length;
    return 1;
}

static void print_kernel_labels(const codeobj *o, uint64_t address, text *out) {
    codeobj_kernel k;
    for (size_t i = 0; i < o->kernel_count; i++)
        if (codeobj_kernel_at(o, i, &k) == CDNAGEN_OK && k.entry_address == address) text_add(out, "%s:\n", k.name);
}

static void print(LLVMDisasmContextRef disassembler, const codeobj *o, unsigned char *is_target, text *out) {
    uint64_t to;
    for (cursor c = {.disassembler = disassembler, .object = o}; next(&c);)
        if (branch_target(c.line, c.address, &to) && to - o->text_address < o->text_bytes)
            is_target[(to - o->text_address) / 4] = 1;
    for (cursor c = {.disassembler = disassembler, .object = o}; next(&c);) {
        print_kernel_labels(o, c.address, out);
        if (is_target[(c.address - o->text_address) / 4]) text_add(out, "L%llx:\n", (unsigned long long)c.address);
        const char *line = c.line;
        while (*line == '\t') line++;
        text_add(out, "  %6llx  ", (unsigned long long)c.address);
        if (branch_target(c.line, c.address, &to))
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
    const LLVMDisasmContextRef disassembler =
        LLVMCreateDisasmCPU("amdgcn-amd-amdhsa", l->object->chip->name, NULL, 0, NULL, NULL);
    if (!disassembler) return fail(CDNAGEN_COMPILE, "LLVM has no disassembler for %s", l->object->chip->name);
    print(disassembler, l->object, l->is_target, l->out);
    LLVMDisasmDispose(disassembler);
    return l->out->failed ? fail_no_memory() : CDNAGEN_OK;
}

cdnagen_status ir_disassemble(const void *object, size_t size, text *out) {
    codeobj o;
    TRY(codeobj_open(object, size, &o));
    TRY(process_start());
    listing l = {.object = &o, .is_target = mem_alloc(o.text_bytes / 4 + 1), .out = out};
    if (!l.is_target) return fail_no_memory();
    const cdnagen_status status = process_guard("disassembly", disassemble, &l, &(int){0});
    mem_free(l.is_target);
    return status;
}
