/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loading code objects: segments to device memory, dynamic relocations, kernels decoded on demand. */
#include "sim/loader.h"

#include <elf.h>
#include <string.h>

enum { R_AMDGPU_ABS64 = 3, R_AMDGPU_RELATIVE64 = 13, PACKET_BYTES = 64 };

static const codeobj_segment *segment_of(const codeobj *o, uint64_t address, uint64_t size) {
    for (size_t i = 0; i < o->segment_count; i++) {
        const codeobj_segment *s = &o->segments[i];
        if (address >= s->address && address - s->address <= s->memory_bytes &&
            size <= s->memory_bytes - (address - s->address))
            return s;
    }
    return NULL;
}

/* A relocation that the linker left for load time: image base plus addend, and for ABS64 plus the symbol, which this
 * code object must define itself. */
static cdnagen_status relocate_one(struct hip_module_object *module, const Elf64_Rela *r) {
    const codeobj *o = &module->object;
    const uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info), symbol = (uint32_t)ELF64_R_SYM(r->r_info);
    uint64_t value = module->image + (uint64_t)r->r_addend;
    if ((type != R_AMDGPU_RELATIVE64 && type != R_AMDGPU_ABS64) || !segment_of(o, r->r_offset, 8))
        return fail(CDNAGEN_BAD_OBJECT,
                    "relocation type %u at 0x%llx: only absolute and relative 64-bit ones inside a segment are known",
                    type, (unsigned long long)r->r_offset);
    if (type == R_AMDGPU_ABS64) {
        Elf64_Sym s = {0};
        if (symbol < o->symbol_count) memcpy(&s, o->data + o->symbols_offset + symbol * sizeof s, sizeof s);
        if (s.st_shndx == SHN_UNDEF)
            return fail(CDNAGEN_BAD_OBJECT, "the relocation at 0x%llx needs symbol %u, which the code object lacks",
                        (unsigned long long)r->r_offset, symbol);
        value += s.st_value;
    }
    memcpy((unsigned char *)(uintptr_t)module->image + r->r_offset, &value, sizeof value);
    return CDNAGEN_OK;
}

static cdnagen_status relocate(struct hip_module_object *module, uint64_t dynamic, uint64_t dynamic_bytes) {
    const codeobj *o = &module->object;
    unsigned char *image = (unsigned char *)(uintptr_t)module->image;
    uint64_t table = 0, table_bytes = 0;
    if (!segment_of(o, dynamic, dynamic_bytes))
        return fail(CDNAGEN_BAD_OBJECT, "the dynamic section lies outside the segments");
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic_bytes; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        memcpy(&entry, image + dynamic + at, sizeof entry);
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_RELA) table = entry.d_un.d_ptr;
        if (entry.d_tag == DT_RELASZ) table_bytes = entry.d_un.d_val;
    }
    if (table_bytes && !segment_of(o, table, table_bytes))
        return fail(CDNAGEN_BAD_OBJECT, "the relocation table lies outside the segments");
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table_bytes; at += sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        memcpy(&r, image + table + at, sizeof r);
        TRY(relocate_one(module, &r));
    }
    return CDNAGEN_OK;
}

static cdnagen_status relocate_all(struct hip_module_object *module) {
    const codeobj *o = &module->object;
    Elf64_Ehdr header;
    memcpy(&header, o->data, sizeof header);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr p;
        const uint64_t at = header.e_phoff + (uint64_t)i * sizeof p;
        if (header.e_phentsize != sizeof p || at + sizeof p > o->size)
            return fail(CDNAGEN_BAD_OBJECT, "program headers cut short");
        memcpy(&p, o->data + at, sizeof p);
        if (p.p_type == PT_DYNAMIC) TRY(relocate(module, p.p_vaddr, p.p_memsz));
    }
    return CDNAGEN_OK;
}

static cdnagen_status load_segments(memory *m, struct hip_module_object *module) {
    const codeobj *o = &module->object;
    uint64_t end = 0;
    for (size_t i = 0; i < o->segment_count; i++)
        if (o->segments[i].address + o->segments[i].memory_bytes > end)
            end = o->segments[i].address + o->segments[i].memory_bytes;
    if (o->text_address + o->text_bytes > end)
        return fail(CDNAGEN_BAD_OBJECT, ".text lies outside the loadable segments");
    module->image = memory_allocate(m, end, 1);
    if (!module->image)
        return fail(CDNAGEN_NO_MEMORY, "no device memory for a code object of %llu bytes", (unsigned long long)end);
    for (size_t i = 0; i < o->segment_count; i++)
        memcpy((unsigned char *)(uintptr_t)module->image + o->segments[i].address, o->data + o->segments[i].file_offset,
               o->segments[i].file_bytes);
    return relocate_all(module);
}

cdnagen_status module_make(memory *m, const chip *c, const void *data, size_t size, struct hip_module_object **out) {
    struct hip_module_object *module = mem_alloc(sizeof *module);
    if (!module) return fail_no_memory();
    cdnagen_status status = fail_no_memory();
    module->file = mem_alloc(size);
    if (module->file) {
        memcpy(module->file, data, size);
        status = codeobj_open(module->file, size, &module->object);
    }
    if (status == CDNAGEN_OK && module->object.chip != c)
        status = fail(CDNAGEN_BAD_TARGET, "the code object is for %s, the simulated device is %s",
                      module->object.chip->name, c->name);
    if (status == CDNAGEN_OK) status = load_segments(m, module);
    if (status != CDNAGEN_OK) {
        module_free(m, module);
        return status;
    }
    *out = module;
    return CDNAGEN_OK;
}

static void function_free(memory *m, struct hip_function_object *f) {
    if (f->kernarg) memory_release(m, f->kernarg, 1);
    if (f->packet) memory_release(m, f->packet, 1);
    program_free(&f->program);
    mem_free(f);
}

void module_free(memory *m, struct hip_module_object *module) {
    while (module->functions) {
        struct hip_function_object *next = module->functions->next;
        function_free(m, module->functions);
        module->functions = next;
    }
    if (module->image) memory_release(m, module->image, 1);
    mem_free(module->file);
    mem_free(module);
}

/* Registers by the descriptor: granules of 8, AGPRs from accum_offset on. */
static cdnagen_status decode_function(struct hip_function_object *f) {
    const codeobj *o = &f->module->object;
    const int accum_offset = 4 * ((int)(f->kernel.rsrc3 & 63) + 1), allocated = 8 * ((int)(f->kernel.rsrc1 & 63) + 1);
    const uint64_t base = f->module->image + o->text_address;
    TRY(program_decode(o->chip, (const unsigned char *)(uintptr_t)base, o->text_bytes, base, accum_offset, allocated,
                       &f->program));
    /* With preloaded arguments the hardware skips the 256 bytes that load them for older firmware. */
    const uint64_t entry = f->kernel.entry_address - o->text_address + ((f->kernel.preload & 0x7f) ? 256 : 0);
    if (entry >= o->text_bytes || entry % 4 || f->program.index_of[entry / 4] == UINT32_MAX)
        return fail(CDNAGEN_BAD_OBJECT, "kernel %s: no instruction at its entry", f->kernel.name);
    f->entry = f->program.code + f->program.index_of[entry / 4];
    return CDNAGEN_OK;
}

cdnagen_status function_make(memory *m, struct hip_module_object *module, const char *name,
                             struct hip_function_object **out) {
    for (struct hip_function_object *f = module->functions; f; f = f->next)
        if (strcmp(f->kernel.name, name) == 0) {
            *out = f;
            return CDNAGEN_OK;
        }
    struct hip_function_object *f = mem_alloc(sizeof *f);
    if (!f) return fail_no_memory();
    f->module = module;
    cdnagen_status status = codeobj_find(&module->object, name, &f->kernel);
    if (status == CDNAGEN_OK) status = decode_function(f);
    if (status == CDNAGEN_OK) {
        f->packet = memory_allocate(m, PACKET_BYTES, 1);
        /* The compiler reads the segment in aligned pieces of up to 16 bytes: its last piece is there as a whole. */
        f->kernarg = memory_allocate(m, ((uint64_t)f->kernel.kernarg_bytes + 15) & ~15ull, 1);
        if (!f->packet || !f->kernarg) status = fail(CDNAGEN_NO_MEMORY, "no device memory for kernel arguments");
    }
    if (status != CDNAGEN_OK) {
        function_free(m, f);
        return status;
    }
    f->next = module->functions;
    module->functions = f;
    *out = f;
    return CDNAGEN_OK;
}
