/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compile.h without LLVM. The object: ELF header, one loadable segment over the whole file, metadata note, dynamic
 * symbols, descriptor, text. source: LLVM, User Guide for AMDGPU Backend, "Code Object" */
#include "tests/runtime/fake_compile.h"

#include <elf.h>
#include <string.h>
#include <time.h>

#include "runtime/compile.h"

fake_compile fake;

void fake_reset(void) { memset(&fake, 0, sizeof fake); }

struct compile {
    plan plan;
};

/* ---- metadata as MessagePack ---- */

static void put_u8(text *t, unsigned v) { text_add_bytes(t, &(unsigned char){(unsigned char)v}, 1); }
static void put_map(text *t, unsigned pairs) { put_u8(t, 0x80 | pairs); }
static void put_string(text *t, const char *s) {
    put_u8(t, 0xd9);
    put_u8(t, (unsigned)strlen(s));
    text_add_bytes(t, s, strlen(s));
}
static void put_number(text *t, uint32_t v) {
    put_u8(t, 0xce);
    for (int shift = 24; shift >= 0; shift -= 8) put_u8(t, v >> shift & 0xff);
}
static void put_count(text *t, const char *key, uint32_t v) {
    put_string(t, key);
    put_number(t, v);
}

static void put_argument(text *t, uint32_t offset, kernarg_kind kind) {
    put_map(t, 3);
    put_count(t, ".offset", offset);
    put_count(t, ".size", kind == KERNARG_I32 ? 4 : 8);
    put_string(t, ".value_kind");
    put_string(t, kind == KERNARG_POINTER ? "global_buffer" : "by_value");
}

static void put_metadata(text *t, const plan *p, const char *symbol) {
    const int spilling = fake.spill_tag && strstr(p->tag, fake.spill_tag);
    const uint32_t threads = p->block[0] * p->block[1] * p->block[2];
    put_map(t, 1);
    put_string(t, "amdhsa.kernels");
    put_u8(t, 0x91); /* array of one */
    put_map(t, 12);
    put_string(t, ".name");
    put_string(t, symbol);
    put_string(t, ".symbol");
    text kd = {0};
    text_add(&kd, "%s.kd", symbol);
    put_string(t, kd.data ? kd.data : "");
    t->failed |= kd.failed;
    text_free(&kd);
    put_count(t, ".vgpr_count", 96);
    put_count(t, ".agpr_count", 32);
    put_count(t, ".sgpr_count", 40);
    put_count(t, ".vgpr_spill_count", spilling ? 7 : 0);
    put_count(t, ".sgpr_spill_count", 0);
    put_count(t, ".group_segment_fixed_size", fake.fault.lds_bytes ? fake.fault.lds_bytes : p->lds_bytes);
    put_count(t, ".private_segment_fixed_size", spilling ? 28 : 0);
    put_count(t, ".kernarg_segment_size", p->kernarg_bytes + 16);
    put_count(t, ".max_flat_workgroup_size", fake.fault.small_workgroup ? 1 : threads);
    put_string(t, ".args");
    const unsigned more = fake.fault.more_arguments ? 1 : 0;
    put_u8(t, 0xdc); /* array, 16-bit count */
    put_u8(t, 0);
    put_u8(t, (unsigned)p->kernarg_count + more);
    for (size_t i = 0; i < p->kernarg_count; i++)
        put_argument(t, p->kernargs[i].offset + (fake.fault.argument && i == 1 ? 4 : 0), p->kernargs[i].kind);
    if (more) put_argument(t, p->kernarg_bytes, KERNARG_I32);
}

/* ---- ELF ---- */

static size_t pad(text *t, size_t alignment) {
    while (t->length % alignment && !t->failed) put_u8(t, 0);
    return t->length;
}

static void write_object(text *t, const plan *p) {
    const char *symbol = fake.fault.symbol ? "another_kernel" : p->symbol;
    Elf64_Ehdr h = {.e_type = ET_DYN, .e_machine = 224, .e_version = 1, .e_ehsize = sizeof h};
    Elf64_Phdr segments[2] = {{.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_align = 4096}, {.p_type = PT_NOTE}};
    memcpy(h.e_ident,
           "\x7f"
           "ELF\x02\x01\x01\x40",
           8);
    h.e_ident[EI_ABIVERSION] = (unsigned char)(fake.fault.abi_version ? fake.fault.abi_version : 3);
    h.e_flags = (fake.fault.mach ? fake.fault.mach : p->target.chip->elf_mach) |
                (p->target.xnack ? p->target.xnack > 0 ? 0x300u : 0x200u : 0x100u) |
                (p->target.sramecc ? p->target.sramecc > 0 ? 0xc00u : 0x800u : 0x400u);
    if (fake.fault.features) h.e_flags = (h.e_flags & 0xff) | fake.fault.features;
    h.e_phentsize = sizeof *segments;
    h.e_phnum = 2;
    h.e_phoff = sizeof h;
    text_add_bytes(t, &h, sizeof h);
    text_add_bytes(t, segments, sizeof segments);

    text metadata = {0};
    put_metadata(&metadata, p, symbol);
    const size_t note_at = pad(t, 4);
    const Elf64_Nhdr note = {7, (Elf64_Word)metadata.length, 32};
    text_add_bytes(t, &note, sizeof note);
    text_add_bytes(t, "AMDGPU\0", 8);
    text_add_bytes(t, metadata.data ? metadata.data : "", metadata.length);
    t->failed |= metadata.failed;
    text_free(&metadata);
    const size_t note_end = pad(t, 4);

    const size_t strings_at = t->length;
    put_u8(t, 0);
    text_add_bytes(t, symbol, strlen(symbol) + 1);
    text_add_bytes(t, symbol, strlen(symbol));
    text_add_bytes(t, ".kd", 4);
    const size_t strings_end = t->length;
    const size_t symbols_at = pad(t, 8);
    const size_t descriptor_at = (symbols_at + 3 * sizeof(Elf64_Sym) + 63) / 64 * 64;
    const size_t text_at = (descriptor_at + 64 + 255) / 256 * 256;
    const Elf64_Sym symbols[3] = {
        {0},
        {.st_name = 1, .st_value = text_at, .st_size = 4, .st_shndx = 1},
        {.st_name = (Elf64_Word)strlen(symbol) + 2, .st_value = descriptor_at, .st_size = 64, .st_shndx = 1}};
    text_add_bytes(t, symbols, sizeof symbols);
    pad(t, 64);
    unsigned char descriptor[64] = {0};
    const int64_t entry = (int64_t)(text_at - descriptor_at);
    memcpy(descriptor + 16, &entry, sizeof entry);
    const uint32_t rsrc1 = 11; /* 12 granules of 8 VGPRs */
    memcpy(descriptor + 48, &rsrc1, sizeof rsrc1);
    text_add_bytes(t, descriptor, sizeof descriptor);
    pad(t, 256);
    const uint32_t end_program = 0xbf810000;
    text_add_bytes(t, &end_program, sizeof end_program);

    h.e_shoff = pad(t, 8);
    h.e_shentsize = sizeof(Elf64_Shdr);
    h.e_shnum = 4;
    const Elf64_Shdr sections[4] = {
        {0},
        {.sh_type = SHT_PROGBITS,
         .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
         .sh_addr = text_at,
         .sh_offset = text_at,
         .sh_size = 4},
        {.sh_type = SHT_DYNSYM, .sh_offset = symbols_at, .sh_size = sizeof symbols, .sh_link = 3},
        {.sh_type = SHT_STRTAB, .sh_offset = strings_at, .sh_size = strings_end - strings_at}};
    text_add_bytes(t, sections, sizeof sections);
    if (t->failed) return;
    segments[0].p_filesz = segments[0].p_memsz = t->length;
    segments[1].p_offset = note_at;
    segments[1].p_filesz = segments[1].p_memsz = note_end - note_at;
    memcpy(t->data, &h, sizeof h);
    memcpy(t->data + sizeof h, segments, sizeof segments);
}

/* ---- compile.h ---- */

cdnagen_status compile_emit(const plan *p, compile **out) {
    atomic_fetch_add(&fake.emitted, 1);
    compile *c = mem_alloc(sizeof *c);
    if (!c) return fail_no_memory();
    c->plan = *p;
    *out = c;
    return CDNAGEN_OK;
}

cdnagen_status compile_verify(compile *c) { return c ? CDNAGEN_OK : CDNAGEN_COMPILE; }
cdnagen_status compile_optimise(compile *c) { return c ? CDNAGEN_OK : CDNAGEN_COMPILE; }

cdnagen_status compile_codegen(compile *c) {
    const struct timespec pause = {0, fake.milliseconds * 1000000L};
    if (c && fake.milliseconds) nanosleep(&pause, NULL);
    return fake.fail_codegen ? fail(fake.fail_codegen, "the fake compiler was told to fail") : CDNAGEN_OK;
}

cdnagen_status compile_link(compile *c, bytes *object) {
    atomic_fetch_add(&fake.linked, 1);
    text t = {0};
    write_object(&t, &c->plan);
    if (t.failed) return text_free(&t), fail_no_memory();
    *object = (bytes){(unsigned char *)t.data, t.length};
    return CDNAGEN_OK;
}

cdnagen_status compile_ir_text(const compile *c, text *out) {
    text_add(out, "define amdgpu_kernel void @%s\n", c->plan.symbol);
    return out->failed ? fail_no_memory() : CDNAGEN_OK;
}

void compile_free(compile *c) { mem_free(c); }

cdnagen_status compile_disassemble(const void *object, size_t size, text *out) {
    codeobj o;
    TRY(codeobj_open(object, size, &o));
    text_add(out, "\ts_endpgm\n");
    return out->failed ? fail_no_memory() : CDNAGEN_OK;
}

int compile_present(void) { return !fake.absent; }
const char *compile_llvm_version(void) { return "0.0.0"; }
const char *compile_pass_pipeline(void) { return "none"; }
