/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gfx950 needs 20 slots between a matrix instruction of 16 passes and another use of its result; LLVM 22.1.8's hazard
 * recognizer knows the 20 but looks back over 19 (MaxWaitStates), so it adds nothing where exactly 19 instructions
 * happen to lie between, and the use would see the old value. Code generation is over by then, so the s_nop is put into
 * the object: the code after it moves, and branches across it are written anew. An object without such a place stays as
 * it is. With an LLVM that looks back far enough, this file can go. */
#include "ir/wait_states.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "ir/context.h"

enum { SLOTS_LLVM_SEES = 19, USES_MAX = 8, OPERAND_C = 3, FORMATS_OF_8_BITS = 2, AGPR_0 = 256 };
enum { S_NOP_0 = 0xbf800000u };
enum { MFMA_32X32X64_F8F6F4 = 0xd3ae }; /* the upper half of its first word, or of the scaled form's third */

typedef struct span {
    unsigned first, count; /* vector registers; accumulation registers from AGPR_0 on */
} span;

typedef enum leaving { FALLS_THROUGH, BRANCHES, JUMPS, ENDS, JUMPS_ANYWHERE } leaving;

typedef struct instruction {
    uint32_t at, length; /* bytes in the code */
    uint32_t slots;
    uint32_t nops; /* that come before it in the new code */
    uint64_t to;   /* where it branches to in the old code, */
    size_t target; /* and the index of that instruction */
    int branches;
    leaving leaving;
    span result;         /* of a matrix instruction */
    int is_long;         /* one of 16 passes */
    span uses[USES_MAX]; /* what must not overlap the result of a long one too early */
    int use_count;
} instruction;

typedef struct code {
    const chip *chip;
    const unsigned char *bytes;
    uint32_t size;
    instruction *list;
    size_t count;
} code;

/* The vector registers that the operand names: v5, -v5, |v5|, v[4:7], a[4:7]. */
static int registers(const char *operand, const char *end, span *out) {
    for (const char *at = operand; at < end; at++) {
        if ((*at != 'v' && *at != 'a') || (at > operand && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))) continue;
        const char *const number = at + 1 + (at[1] == '[');
        if (!isdigit((unsigned char)*number)) continue;
        char *after;
        out->first = (unsigned)strtoul(number, &after, 10);
        out->count = *after == ':' ? (unsigned)strtoul(after + 1, NULL, 10) - out->first + 1 : 1;
        if (*at == 'a') out->first += AGPR_0;
        return 1;
    }
    return 0;
}

static unsigned format_of(const char *line, const char *modifier) {
    const char *const at = strstr(line, modifier);
    return at ? (unsigned)strtoul(at + strlen(modifier), NULL, 10) : 0;
}

static leaving leaving_of(const char *line) {
    static const struct {
        const char *begins;
        leaving leaving;
    } words[] = {{"s_branch", JUMPS},         {"s_cbranch", BRANCHES},    {"s_endpgm", ENDS},
                 {"s_setpc", JUMPS_ANYWHERE}, {"s_swap", JUMPS_ANYWHERE}, {"s_call", JUMPS_ANYWHERE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(line, words[i].begins, strlen(words[i].begins))) return words[i].leaving;
    return FALLS_THROUGH;
}

/* A matrix instruction's own result and C have distances of their own, which LLVM keeps. */
static void parse(const char *line, instruction *in) {
    line += strspn(line, " \t");
    in->leaving = leaving_of(line);
    in->slots = strncmp(line, "s_nop", 5) ? 1 : (uint32_t)strtoul(line + 5, NULL, 0) + 1;
    const int is_matrix = !strncmp(line, "v_mfma", 6);
    const char *operand = line + strcspn(line, " \t");
    for (int index = 0; *operand; index++) {
        const char *const end = operand + strcspn(operand, ",");
        span s;
        if (registers(operand, end, &s)) {
            if (is_matrix && !index) in->result = s;
            if (!(is_matrix && (!index || index == OPERAND_C)) && in->use_count < USES_MAX)
                in->uses[in->use_count++] = s;
        }
        operand = *end ? end + 1 : end;
    }
    in->is_long = strstr(line, "32x32x64_f8f6f4") &&
                  (format_of(line, "cbsz:") < FORMATS_OF_8_BITS || format_of(line, "blgp:") < FORMATS_OF_8_BITS);
}

static int index_at(const code *c, uint64_t at, size_t *index) {
    size_t low = 0, high = c->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (c->list[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    *index = low;
    return low < c->count && c->list[low].at == at;
}

static cdnagen_status read_code(void *of) {
    code *const c = of;
    code_cursor cursor = {.code = c->bytes, .bytes = c->size};
    TRY(code_open(&cursor, c->chip));
    while (code_next(&cursor)) {
        instruction *const in = &c->list[c->count++];
        *in = (instruction){.at = (uint32_t)cursor.address, .length = (uint32_t)cursor.length};
        parse(cursor.line, in);
        in->branches = code_branch(&cursor, &in->to);
    }
    code_close(&cursor);
    for (size_t i = 0; i < c->count; i++) {
        instruction *const in = &c->list[i];
        if (in->branches && !index_at(c, in->to, &in->target))
            return fail(CDNAGEN_COMPILE, "wait states: the branch at .text+0x%x leaves the kernel", in->at);
    }
    return CDNAGEN_OK;
}

static int overlaps(span a, span b) { return a.first < b.first + b.count && b.first < a.first + a.count; }
static int covers(span a, span b) { return a.first <= b.first && a.first + a.count >= b.first + b.count; }

/* The first instruction on any way from i on that uses the result before its time; `slots` lie behind. NULL: none. */
static instruction *early_use(const code *c, size_t i, uint32_t slots, span result) {
    while (i < c->count) {
        instruction *const in = &c->list[i];
        slots += in->nops;
        if (slots >= c->chip->long_mfma_slots) break;
        if (in->leaving == JUMPS_ANYWHERE) return in;
        for (int u = 0; u < in->use_count; u++)
            if (overlaps(in->uses[u], result)) return in;
        if (in->result.count && covers(in->result, result)) break; /* a later matrix instruction's from here on */
        if (in->leaving == ENDS) break;
        slots += in->slots;
        if (in->leaving == BRANCHES) {
            instruction *const there = early_use(c, in->target, slots, result);
            if (there) return there;
        }
        i = in->leaving == JUMPS ? in->target : i + 1;
    }
    return NULL;
}

static cdnagen_status count_nops(code *c, uint32_t *nops) {
    for (size_t i = 0; i < c->count; i++) {
        if (!c->list[i].is_long) continue;
        for (instruction *use; (use = early_use(c, i + 1, 0, c->list[i].result)); ++*nops) {
            if (use->leaving == JUMPS_ANYWHERE)
                return fail(CDNAGEN_COMPILE,
                            "wait states: at .text+0x%x an indirect jump follows a matrix instruction too closely to "
                            "know who uses its result",
                            use->at);
            use->nops++;
        }
    }
    return CDNAGEN_OK;
}

/* The code with its nops. A branch to an instruction goes to the nops before it. */
static cdnagen_status write_code(const code *c, unsigned char *to) {
    static const uint32_t nop = S_NOP_0;
    uint32_t *const starts = mem_alloc((c->count + 1) * sizeof *starts);
    if (!starts) return fail_no_memory();
    for (size_t i = 0; i < c->count; i++) starts[i + 1] = starts[i] + 4 * c->list[i].nops + c->list[i].length;
    cdnagen_status status = CDNAGEN_OK;
    for (size_t i = 0; i < c->count && status == CDNAGEN_OK; i++) {
        const instruction *const in = &c->list[i];
        for (uint32_t n = 0; n < in->nops; n++) memcpy(to + starts[i] + 4 * n, &nop, sizeof nop);
        memcpy(to + starts[i + 1] - in->length, c->bytes + in->at, in->length);
        if (!in->branches) continue;
        const int64_t words = ((int64_t)starts[in->target] - starts[i + 1]) / 4;
        const int16_t word = (int16_t)words;
        memcpy(to + starts[i + 1] - in->length, &word, sizeof word);
        if (word != words)
            status =
                fail(CDNAGEN_COMPILE, "wait states: the branch at .text+0x%x would have to reach over 128 KiB", in->at);
    }
    mem_free(starts);
    return status;
}

typedef struct place {
    const unsigned char *object;
    size_t size;
    const Elf64_Shdr *sections;
    unsigned section_count;
    size_t symbol;      /* file offset of the kernel's symbol */
    size_t text;        /* index of its section */
    Elf64_Shdr section; /* that section's header */
} place;

static int in_file(size_t size, uint64_t offset, uint64_t length) { return offset <= size && length <= size - offset; }

/* The one kernel of an object that LLVM wrote. */
static cdnagen_status find_kernel(place *p, Elf64_Sym *kernel) {
    Elf64_Ehdr header;
    int found = 0;
    if (p->size < sizeof header) return fail(CDNAGEN_BAD_OBJECT, "wait states: the object has no ELF header");
    memcpy(&header, p->object, sizeof header);
    p->section_count = header.e_shnum;
    if (header.e_shoff % 8 || !in_file(p->size, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr)))
        return fail(CDNAGEN_BAD_OBJECT, "wait states: the object has no section table");
    p->sections = (const Elf64_Shdr *)(const void *)(p->object + header.e_shoff);
    for (unsigned i = 0; i < p->section_count; i++) {
        const Elf64_Shdr *const s = &p->sections[i];
        if (s->sh_type != SHT_SYMTAB || !in_file(p->size, s->sh_offset, s->sh_size)) continue;
        for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= s->sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            memcpy(&symbol, p->object + s->sh_offset + at, sizeof symbol);
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx >= p->section_count) continue;
            *kernel = symbol;
            p->text = symbol.st_shndx;
            p->symbol = s->sh_offset + at;
            found++;
        }
    }
    if (found == 1) p->section = p->sections[p->text];
    if (found != 1 || kernel->st_value || kernel->st_size > p->section.sh_size || kernel->st_size > UINT32_MAX ||
        !in_file(p->size, p->section.sh_offset, p->section.sh_size))
        return fail(CDNAGEN_BAD_OBJECT, "wait states: the object must hold one function, at the start of its section");
    return CDNAGEN_OK;
}

/* The new section goes to the end of the file, so that no other one moves. */
static cdnagen_status write_object(const place *p, const code *c, uint32_t nops, bytes *out) {
    for (unsigned i = 0; i < p->section_count; i++)
        if (p->sections[i].sh_type == SHT_RELA && p->sections[i].sh_info == p->text && p->sections[i].sh_size)
            return fail(CDNAGEN_COMPILE, "wait states: the code has relocations, which an s_nop would move");
    Elf64_Shdr section = p->section;
    const size_t begin = (p->size + 255) / 256 * 256, grown = 4 * (size_t)nops;
    unsigned char *const to = mem_alloc(begin + p->section.sh_size + grown);
    if (!to) return fail_no_memory();
    memcpy(to, p->object, p->size);
    const cdnagen_status status = write_code(c, to + begin);
    if (status != CDNAGEN_OK) {
        mem_free(to);
        return status;
    }
    memcpy(to + begin + c->size + grown, c->bytes + c->size,
           p->section.sh_size - c->size); /* the padding for prefetch */
    section.sh_offset = begin;
    section.sh_size += grown;
    memcpy(to + ((const unsigned char *)&p->sections[p->text] - p->object), &section, sizeof section);
    Elf64_Sym symbol;
    memcpy(&symbol, to + p->symbol, sizeof symbol);
    symbol.st_size += grown;
    memcpy(to + p->symbol, &symbol, sizeof symbol);
    *out = (bytes){to, begin + p->section.sh_size + grown};
    return CDNAGEN_OK;
}

static int may_have_long_one(const unsigned char *at, uint32_t size) {
    for (uint32_t i = 0; i + 4 <= size; i += 4)
        if ((at[i + 2] | at[i + 3] << 8) == MFMA_32X32X64_F8F6F4) return 1;
    return 0;
}

cdnagen_status wait_states_fill(const chip *c, const void *object, size_t size, bytes *out, int *lost) {
    if (c->long_mfma_slots <= SLOTS_LLVM_SEES) return CDNAGEN_OK;
    place p = {.object = object, .size = size};
    Elf64_Sym kernel = {0};
    TRY(find_kernel(&p, &kernel));
    code k = {.chip = c, .bytes = p.object + p.section.sh_offset, .size = (uint32_t)kernel.st_size};
    if (!may_have_long_one(k.bytes, k.size)) return CDNAGEN_OK;
    k.list = mem_alloc((k.size / 4 + 1) * sizeof *k.list);
    if (!k.list) return fail_no_memory();
    uint32_t nops = 0;
    cdnagen_status status = process_guard("wait states", read_code, &k, lost);
    if (status == CDNAGEN_OK) status = count_nops(&k, &nops);
    if (status == CDNAGEN_OK && nops) status = write_object(&p, &k, nops, out);
    mem_free(k.list);
    return status;
}
