/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Bounded reader of AMDGPU code objects. Every offset that comes from the bytes is checked before it is used; the host
 * is little-endian, as the format is. source: LLVM, User Guide for AMDGPU Backend, "Code Object" and "Kernel
 * Descriptor" */
#include "core/codeobj.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/integer.h"

enum {
    ELFOSABI_HSA = 64,
    EM_AMDGPU_NUMBER = 224,
    MACH_MASK = 0xff,
    ABI_OLDEST = 2, /* EI_ABIVERSION of code object v4 */
    ABI_NEWEST = 4, /* of v6 */
    NOTE_METADATA = 32,
    DESCRIPTOR_BYTES = 64,
    USER_SGPRS_MAX = 16,
    ENTRY_ALIGNMENT = 256
};
/* No kernel comes near; a reader may trust that a whole image fits in memory. */
static const uint64_t image_bytes_max = 1u << 30;

static cdnagen_status damaged(size_t offset, const char *what) {
    return fail(CDNAGEN_BAD_OBJECT, "the code object is damaged at byte %zu: %s", offset, what);
}

static int inside(uint64_t offset, uint64_t bytes, uint64_t size) { return offset <= size && bytes <= size - offset; }

/* ---- MessagePack, as much as the metadata uses ---- */

/* reader: a cursor over bytes; after the first fault every read gives 0. */
typedef struct reader {
    const unsigned char *data;
    size_t at, end; /* offsets in the code object, so that faults name the place */
    int failed;
} reader;

typedef enum item_kind { ITEM_OTHER, ITEM_INTEGER, ITEM_STRING, ITEM_ARRAY, ITEM_MAP } item_kind;

typedef struct item {
    item_kind kind;
    uint64_t value; /* integer or boolean; bytes of a string; elements of an array; pairs of a map */
    const char *string;
} item;

static uint64_t read_big_endian(reader *r, size_t bytes) {
    if (r->failed || !inside(r->at, bytes, r->end)) {
        r->failed = 1;
        return 0;
    }
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; i++) v = v << 8 | r->data[r->at + i];
    r->at += bytes;
    return v;
}

static const char *skip_bytes(reader *r, uint64_t bytes) {
    if (r->failed || !inside(r->at, bytes, r->end)) {
        r->failed = 1;
        return "";
    }
    const char *p = (const char *)r->data + r->at;
    r->at += bytes;
    return p;
}

static item read_string(reader *r, uint64_t length) {
    const char *string = skip_bytes(r, length);
    return (item){ITEM_STRING, r->failed ? 0 : length, string};
}

static item read_other(reader *r, uint64_t bytes) {
    skip_bytes(r, bytes);
    return (item){ITEM_OTHER, 0, ""};
}

/* One item's head; the elements of arrays and maps follow it. source: msgpack specification, "Formats" */
static item read_item(reader *r) {
    const unsigned tag = (unsigned)read_big_endian(r, 1);
    if (r->failed) return (item){ITEM_OTHER, 0, ""};
    if (tag <= 0x7f) return (item){ITEM_INTEGER, tag, ""};
    if (tag <= 0x8f) return (item){ITEM_MAP, tag & 15, ""};
    if (tag <= 0x9f) return (item){ITEM_ARRAY, tag & 15, ""};
    if (tag <= 0xbf) return read_string(r, tag & 31);
    switch (tag) {
    case 0xc2:
    case 0xc3: return (item){ITEM_INTEGER, tag & 1, ""};
    case 0xc4:
    case 0xc5:
    case 0xc6: return read_other(r, read_big_endian(r, (size_t)1 << (tag - 0xc4)));
    case 0xc7:
    case 0xc8:
    case 0xc9: return read_other(r, read_big_endian(r, (size_t)1 << (tag - 0xc7)) + 1);
    case 0xca: return read_other(r, 4);
    case 0xcb: return read_other(r, 8);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: return (item){ITEM_INTEGER, read_big_endian(r, (size_t)1 << (tag - 0xcc)), ""};
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return read_other(r, (size_t)1 << (tag - 0xd0)); /* negative: no count is */
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8: return read_other(r, ((size_t)1 << (tag - 0xd4)) + 1);
    case 0xd9:
    case 0xda:
    case 0xdb: return read_string(r, read_big_endian(r, (size_t)1 << (tag - 0xd9)));
    case 0xdc:
    case 0xdd: return (item){ITEM_ARRAY, read_big_endian(r, (size_t)2 << (tag - 0xdc)), ""};
    case 0xde:
    case 0xdf: return (item){ITEM_MAP, read_big_endian(r, (size_t)2 << (tag - 0xde)), ""};
    default: return (item){ITEM_OTHER, 0, ""}; /* nil, negative fixint, unused */
    }
}

/* A whole item with everything in it; each turn reads at least a byte, so that it ends with the data. */
static void skip_item(reader *r) {
    for (uint64_t left = 1; left && !r->failed; left--) {
        const item head = read_item(r);
        if (head.kind == ITEM_ARRAY) left += head.value;
        if (head.kind == ITEM_MAP) left += 2 * head.value;
    }
}

static int item_is(item i, const char *word) {
    return i.kind == ITEM_STRING && i.value == strlen(word) && !memcmp(i.string, word, i.value);
}

static uint64_t read_count(reader *r, item_kind kind) {
    const item head = read_item(r);
    if (head.kind != kind) r->failed = 1;
    return r->failed ? 0 : head.value;
}

static uint32_t read_u32(reader *r) {
    const uint64_t v = read_count(r, ITEM_INTEGER);
    if (v > UINT32_MAX) r->failed = 1;
    return r->failed ? 0 : (uint32_t)v;
}

/* A string in an array of fixed size, cut to fit; NUL inside ends it. Returns whether it fitted. */
static int read_text(reader *r, char *out, size_t size) {
    const item string = read_item(r);
    if (string.kind != ITEM_STRING) r->failed = 1;
    if (r->failed) return 0;
    snprintf(out, size, "%.*s", (int)(string.value < size ? string.value : size), string.string);
    return string.value < size;
}

/* ---- ELF ---- */

static cdnagen_status check_header(const codeobj *o, const Elf64_Ehdr *h) {
    if (memcmp(h->e_ident, ELFMAG, SELFMAG)) return damaged(0, "it does not start with the ELF magic");
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
        return damaged(EI_CLASS, "it is not a little-endian 64-bit ELF");
    if (h->e_ident[EI_OSABI] != ELFOSABI_HSA || h->e_machine != EM_AMDGPU_NUMBER)
        return fail(CDNAGEN_BAD_OBJECT, "the ELF is not an AMDGPU HSA code object (machine %u, OS ABI %u)",
                    h->e_machine, h->e_ident[EI_OSABI]);
    if (h->e_ident[EI_ABIVERSION] < ABI_OLDEST || h->e_ident[EI_ABIVERSION] > ABI_NEWEST)
        return fail(CDNAGEN_BAD_OBJECT, "the code object has ABI version %u; read are %d to %d, code objects v4 to v6",
                    h->e_ident[EI_ABIVERSION], ABI_OLDEST, ABI_NEWEST);
    if (!chip_from_mach(h->e_flags & MACH_MASK))
        return fail(CDNAGEN_BAD_OBJECT, "the code object is for an unknown chip, mach number 0x%x in e_flags 0x%x",
                    (unsigned)(h->e_flags & MACH_MASK), (unsigned)h->e_flags);
    if (h->e_type != ET_DYN) return damaged(16, "it is not a linked shared object");
    if (h->e_phentsize != sizeof(Elf64_Phdr) || !inside(h->e_phoff, h->e_phnum * sizeof(Elf64_Phdr), o->size))
        return damaged(32, "the program headers are outside the file");
    if (h->e_shentsize != sizeof(Elf64_Shdr) || !inside(h->e_shoff, h->e_shnum * sizeof(Elf64_Shdr), o->size))
        return damaged(40, "the section headers are outside the file");
    return CDNAGEN_OK;
}

static cdnagen_status add_segment(codeobj *o, size_t header, const Elf64_Phdr *p) {
    if (o->segment_count == CODEOBJ_SEGMENTS_MAX) return damaged(header, "it has more than 16 loadable segments");
    if (p->p_filesz > p->p_memsz || !inside(p->p_vaddr, p->p_memsz, image_bytes_max))
        return damaged(header, "a segment's addresses are out of range");
    const codeobj_segment *last = o->segment_count ? &o->segments[o->segment_count - 1] : NULL;
    if (last && p->p_vaddr < last->address + last->memory_bytes) return damaged(header, "segments overlap");
    o->segments[o->segment_count++] = (codeobj_segment){p->p_vaddr, p->p_memsz, p->p_offset, p->p_filesz, p->p_flags};
    return CDNAGEN_OK;
}

/* The metadata map's kernel list: checked whole here, so that later reads cannot run out. */
static cdnagen_status find_kernels(codeobj *o, size_t offset, size_t bytes) {
    reader r = {o->data, offset, offset + bytes, 0};
    const uint64_t pairs = read_count(&r, ITEM_MAP);
    for (uint64_t i = 0; i < pairs && !r.failed; i++) {
        const item key = read_item(&r);
        if (!item_is(key, "amdhsa.kernels")) {
            skip_item(&r);
            continue;
        }
        const uint64_t count = read_count(&r, ITEM_ARRAY);
        if (count > CODEOBJ_KERNELS_MAX) return damaged(r.at, "it has more than 64 kernels");
        o->kernels_offset = r.at;
        for (uint64_t k = 0; k < count && !r.failed; k++) skip_item(&r);
        o->kernels_end = r.at;
        o->kernel_count = count;
    }
    return r.failed ? damaged(r.at, "the metadata note is not the map that it should be") : CDNAGEN_OK;
}

static size_t align4(size_t n) { return (n + 3) & ~(size_t)3; }

static cdnagen_status read_notes(codeobj *o, size_t offset, size_t bytes) {
    const size_t end = offset + bytes;
    while (end - offset >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        memcpy(&note, o->data + offset, sizeof note);
        const size_t name = offset + sizeof note, text_at = name + align4(note.n_namesz);
        if (text_at > end || !inside(text_at, note.n_descsz, end))
            return damaged(offset, "a note runs past its segment");
        if (note.n_type == NOTE_METADATA && note.n_namesz == 7 && !memcmp(o->data + name, "AMDGPU", 7))
            return find_kernels(o, text_at, note.n_descsz);
        if (text_at + align4(note.n_descsz) > end) break;
        offset = text_at + align4(note.n_descsz);
    }
    return CDNAGEN_OK;
}

static cdnagen_status read_segments(codeobj *o, const Elf64_Ehdr *h) {
    for (size_t i = 0; i < h->e_phnum; i++) {
        const size_t at = h->e_phoff + i * sizeof(Elf64_Phdr);
        Elf64_Phdr p;
        memcpy(&p, o->data + at, sizeof p);
        if (p.p_type != PT_LOAD && p.p_type != PT_NOTE) continue;
        if (!inside(p.p_offset, p.p_filesz, o->size)) return damaged(at, "a segment is outside the file");
        TRY(p.p_type == PT_LOAD ? add_segment(o, at, &p) : read_notes(o, p.p_offset, p.p_filesz));
    }
    if (!o->segment_count) return damaged(h->e_phoff, "it has no loadable segment");
    if (!o->kernels_offset) return damaged(h->e_phoff, "it has no AMDGPU metadata note with kernels");
    return CDNAGEN_OK;
}

/* File offset of `bytes` bytes at a virtual address; 0 (never a segment's own content: the ELF header) if none. */
static size_t file_offset_of(const codeobj *o, uint64_t address, uint64_t bytes) {
    for (size_t i = 0; i < o->segment_count; i++) {
        const codeobj_segment *s = &o->segments[i];
        if (address >= s->address && inside(address - s->address, bytes, s->file_bytes))
            return s->file_offset + (size_t)(address - s->address);
    }
    return 0;
}

static Elf64_Shdr section_at(const codeobj *o, const Elf64_Ehdr *h, size_t index) {
    Elf64_Shdr s;
    memcpy(&s, o->data + h->e_shoff + index * sizeof s, sizeof s);
    return s;
}

static cdnagen_status read_symbols_section(codeobj *o, const Elf64_Ehdr *h, size_t at, const Elf64_Shdr *s) {
    if (s->sh_link >= h->e_shnum) return damaged(at, "the symbol table names no string section");
    const Elf64_Shdr strings = section_at(o, h, s->sh_link);
    if (strings.sh_type != SHT_STRTAB || !inside(strings.sh_offset, strings.sh_size, o->size) || !strings.sh_size ||
        o->data[strings.sh_offset + strings.sh_size - 1])
        return damaged(at, "the string section is outside the file or does not end");
    o->symbols_offset = s->sh_offset;
    o->symbol_count = s->sh_size / sizeof(Elf64_Sym);
    o->strings_offset = strings.sh_offset;
    o->strings_bytes = strings.sh_size;
    return CDNAGEN_OK;
}

static cdnagen_status read_sections(codeobj *o, const Elf64_Ehdr *h) {
    for (size_t i = 0; i < h->e_shnum; i++) {
        const size_t at = h->e_shoff + i * sizeof(Elf64_Shdr);
        const Elf64_Shdr s = section_at(o, h, i);
        const int is_text = s.sh_type == SHT_PROGBITS && s.sh_flags & SHF_EXECINSTR;
        if (!is_text && s.sh_type != SHT_DYNSYM) continue;
        if (!inside(s.sh_offset, s.sh_size, o->size)) return damaged(at, "a section is outside the file");
        if (is_text ? o->text_bytes : o->symbol_count) return damaged(at, "it has a second text or symbol section");
        if (!is_text) {
            TRY(read_symbols_section(o, h, at, &s));
            continue;
        }
        if (!inside(s.sh_addr, s.sh_size, image_bytes_max)) return damaged(at, "the text's address is out of range");
        o->text_address = s.sh_addr;
        o->text_offset = s.sh_offset;
        o->text_bytes = s.sh_size;
    }
    if (!o->text_bytes) return damaged(h->e_shoff, "it has no text section");
    if (file_offset_of(o, o->text_address, o->text_bytes) != o->text_offset)
        return damaged(h->e_shoff, "the text section is not what its segment loads");
    if (!o->symbol_count) return damaged(h->e_shoff, "it has no dynamic symbols");
    return CDNAGEN_OK;
}

cdnagen_status codeobj_open(const void *data, size_t size, codeobj *out) {
    if (!data || !out) return fail(CDNAGEN_BAD_ARGUMENT, "codeobj_open: data and out must not be NULL");
    Elf64_Ehdr h;
    if (size < sizeof h) return damaged(size, "it ends inside the ELF header");
    memcpy(&h, data, sizeof h);
    codeobj o = {.data = data, .size = size};
    TRY(check_header(&o, &h));
    o.chip = chip_from_mach(h.e_flags & MACH_MASK);
    o.e_flags = h.e_flags;
    o.abi_version = h.e_ident[EI_ABIVERSION];
    TRY(read_segments(&o, &h));
    TRY(read_sections(&o, &h));
    *out = o;
    return CDNAGEN_OK;
}

/* ---- one kernel ---- */

/* The dynamic symbol of a name; 0 if there is none. */
static int find_symbol(const codeobj *o, const char *name, Elf64_Sym *out) {
    for (size_t i = 0; i < o->symbol_count; i++) {
        memcpy(out, o->data + o->symbols_offset + i * sizeof *out, sizeof *out);
        if (out->st_name < o->strings_bytes && !strcmp((const char *)o->data + o->strings_offset + out->st_name, name))
            return 1;
    }
    return 0;
}

static cdnagen_status read_descriptor(const codeobj *o, const char *symbol, codeobj_kernel *k) {
    Elf64_Sym kd, function;
    if (!find_symbol(o, symbol, &kd))
        return fail(CDNAGEN_BAD_OBJECT, "the code object is damaged: kernel '%s' has no symbol '%s'", k->name, symbol);
    const size_t at = file_offset_of(o, kd.st_value, DESCRIPTOR_BYTES);
    if (!at || kd.st_value % DESCRIPTOR_BYTES)
        return damaged(o->symbols_offset, "a kernel descriptor's address is wrong");
    const unsigned char *d = o->data + at;
    int64_t entry_offset;
    uint16_t properties, preload;
    memcpy(&entry_offset, d + 16, sizeof entry_offset);
    memcpy(&k->rsrc3, d + 44, sizeof k->rsrc3);
    memcpy(&k->rsrc1, d + 48, sizeof k->rsrc1);
    memcpy(&k->rsrc2, d + 52, sizeof k->rsrc2);
    memcpy(&properties, d + 56, sizeof properties);
    memcpy(&preload, d + 58, sizeof preload);
    k->properties = properties;
    k->preload = preload;
    const uint32_t length = k->preload & 0x7f,
                   end = 4 * ((k->preload >> 7) + length); /* dwords that SGPRs start with */
    if (length > USER_SGPRS_MAX || (length && end > (k->kernarg_bytes + 3ull) / 4 * 4))
        return damaged(at + 58, "a kernel preloads arguments that it does not have, or more than SGPRs hold");
    k->descriptor_address = kd.st_value;
    k->entry_address = kd.st_value + (uint64_t)entry_offset;
    if (k->entry_address < o->text_address || k->entry_address - o->text_address >= o->text_bytes ||
        k->entry_address % ENTRY_ALIGNMENT)
        return damaged(at + 16, "a kernel's entry is not an aligned place in the text section");
    const uint64_t room = o->text_bytes - (k->entry_address - o->text_address);
    if (!find_symbol(o, k->name, &function) || function.st_value != k->entry_address || function.st_size > room)
        return fail(CDNAGEN_BAD_OBJECT, "the code object is damaged: no function symbol '%s' fits its descriptor",
                    k->name);
    k->code_bytes = (uint32_t)function.st_size;
    return CDNAGEN_OK;
}

static kernel_arg_kind kind_of(const char *word) {
    if (!strcmp(word, "by_value")) return ARG_BY_VALUE;
    if (!strcmp(word, "global_buffer")) return ARG_GLOBAL_BUFFER;
    if (!strcmp(word, "dynamic_shared_pointer")) return ARG_DYNAMIC_LDS;
    return strncmp(word, "hidden_", 7) ? ARG_OTHER : ARG_HIDDEN;
}

static void read_arg(reader *r, codeobj_arg *out) {
    const uint64_t pairs = read_count(r, ITEM_MAP);
    for (uint64_t i = 0; i < pairs && !r->failed; i++) {
        const item key = read_item(r);
        if (item_is(key, ".offset"))
            out->offset = read_u32(r);
        else if (item_is(key, ".size"))
            out->size = read_u32(r);
        else if (item_is(key, ".value_kind"))
            read_text(r, out->value_kind, sizeof out->value_kind);
        else if (item_is(key, ".name"))
            read_text(r, out->name, sizeof out->name);
        else
            skip_item(r);
    }
    out->kind = kind_of(out->value_kind);
}

static void read_args(reader *r, codeobj_kernel *k) {
    const uint64_t count = read_count(r, ITEM_ARRAY);
    if (count > CODEOBJ_ARGS_MAX) r->failed = 1;
    for (uint64_t i = 0; i < count && !r->failed; i++) read_arg(r, &k->args[i]);
    k->arg_count = r->failed ? 0 : count;
}

/* The metadata's counts by key. */
static const struct count_row {
    const char *key;
    size_t offset;
} count_rows[] = {
#define ROW(key, member) {key, offsetof(codeobj_kernel, member)}
    ROW(".vgpr_count", vgpr),
    ROW(".agpr_count", agpr),
    ROW(".sgpr_count", sgpr),
    ROW(".vgpr_spill_count", vgpr_spills),
    ROW(".sgpr_spill_count", sgpr_spills),
    ROW(".group_segment_fixed_size", lds_bytes),
    ROW(".private_segment_fixed_size", scratch_bytes),
    ROW(".kernarg_segment_size", kernarg_bytes),
    ROW(".max_flat_workgroup_size", max_workgroup),
#undef ROW
};

static uint32_t *count_of(codeobj_kernel *k, item key) {
    for (size_t i = 0; i < sizeof count_rows / sizeof *count_rows; i++)
        if (item_is(key, count_rows[i].key)) return (uint32_t *)((char *)k + count_rows[i].offset);
    return NULL;
}

static void read_kernel(reader *r, codeobj_kernel *k, char *symbol, size_t symbol_size) {
    const uint64_t pairs = read_count(r, ITEM_MAP);
    for (uint64_t i = 0; i < pairs && !r->failed; i++) {
        const item key = read_item(r);
        uint32_t *count = count_of(k, key);
        if (count)
            *count = read_u32(r);
        else if (item_is(key, ".name"))
            r->failed |= !read_text(r, k->name, sizeof k->name);
        else if (item_is(key, ".symbol"))
            r->failed |= !read_text(r, symbol, symbol_size);
        else if (item_is(key, ".uses_dynamic_stack"))
            k->dynamic_stack = read_u32(r) != 0;
        else if (item_is(key, ".args"))
            read_args(r, k);
        else
            skip_item(r);
    }
}

cdnagen_status codeobj_kernel_at(const codeobj *o, size_t index, codeobj_kernel *out) {
    if (index >= o->kernel_count)
        return fail(CDNAGEN_BAD_ARGUMENT, "kernel %zu was asked for and the code object has %zu", index,
                    o->kernel_count);
    reader r = {o->data, o->kernels_offset, o->kernels_end, 0};
    for (size_t i = 0; i < index; i++) skip_item(&r);
    const size_t start = r.at;
    codeobj_kernel k = {0};
    char symbol[sizeof k.name + 3] = "";
    read_kernel(&r, &k, symbol, sizeof symbol);
    if (r.failed || !*k.name || !*symbol) return damaged(start, "a kernel's metadata is not what it should be");
    for (size_t i = 0; i < k.arg_count; i++)
        if (!inside(k.args[i].offset, k.args[i].size, k.kernarg_bytes))
            return damaged(start, "a kernel's argument lies outside its argument segment");
    TRY(read_descriptor(o, symbol, &k));
    *out = k;
    return CDNAGEN_OK;
}

cdnagen_status codeobj_find(const codeobj *o, const char *name, codeobj_kernel *out) {
    codeobj_kernel k;
    char known[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < o->kernel_count; i++) {
        TRY(codeobj_kernel_at(o, i, &k));
        if (!strcmp(k.name, name)) {
            *out = k;
            return CDNAGEN_OK;
        }
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", k.name);
    }
    return fail(CDNAGEN_BAD_ARGUMENT, "the code object has no kernel '%.200s'; it has: %s", name, known);
}

/* ---- occupancy ---- */

occupancy codeobj_occupancy(const chip *c, const codeobj_kernel *k, uint32_t block_threads,
                            uint32_t dynamic_lds_bytes) {
    enum { SGPR_GRANULE = 16 };
    occupancy r = {.vgpr_allocated = ((k->rsrc1 & 63) + 1) * (uint32_t)c->vgpr_granule, .limit = "waves"};
    const uint32_t simds = (uint32_t)c->simds, group_waves = (uint32_t)larger(ceil_div(block_threads, LANES), 1);
    const uint32_t by_vgpr = (uint32_t)c->vgpr_per_simd / r.vgpr_allocated;
    const uint32_t by_sgpr = (uint32_t)c->sgpr_per_simd / (uint32_t)round_up(k->sgpr ? k->sgpr : 1, SGPR_GRANULE);
    uint32_t waves = (uint32_t)c->waves_per_simd;
    if (by_sgpr < waves) {
        waves = by_sgpr;
        r.limit = "sgpr";
    }
    if (by_vgpr <= waves && by_vgpr < (uint32_t)c->waves_per_simd) {
        waves = by_vgpr;
        r.limit = "vgpr";
    }
    r.workgroups_per_cu = simds * waves / group_waves;
    const uint64_t lds_bytes = (uint64_t)k->lds_bytes + dynamic_lds_bytes;
    const uint64_t granules = (uint64_t)ceil_div((int64_t)lds_bytes, c->lds_granule);
    const uint64_t by_lds = granules ? (uint64_t)c->lds_bytes / (granules * (uint64_t)c->lds_granule) : UINT64_MAX;
    if (by_lds < r.workgroups_per_cu) {
        r.workgroups_per_cu = (uint32_t)by_lds;
        r.limit = "lds";
    }
    r.waves_per_simd = (uint32_t)ceil_div(r.workgroups_per_cu * group_waves, simds);
    return r;
}
