/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* core/codeobj.c on objects that clang and lld made, whole, cut and with flipped bits. */
#include "tests/core/cmocka_tests.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/codeobj.h"
#include "core/memory.h"

/* An object whose last byte is the last before a page that may not be touched: reading past it ends the test. */
typedef struct guarded {
    unsigned char *pages, *data;
    size_t size, mapped;
} guarded;

static guarded guarded_copy(const unsigned char *data, size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
    guarded g = {.size = size, .mapped = room + page};
    g.pages = mmap(NULL, g.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.pages != MAP_FAILED);
    assert_int_equal(mprotect(g.pages + room, page, PROT_NONE), 0);
    g.data = g.pages + room - size;
    memcpy(g.data, data, size);
    return g;
}

static void guarded_free(guarded *g) { munmap(g->pages, g->mapped); }

static guarded load(const char *name) {
    static unsigned char file[1 << 20];
    char path[512];
    snprintf(path, sizeof path, "%s/%s", OBJECT_FOLDER, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t size = fread(file, 1, sizeof file, f);
    fclose(f);
    assert_true(size > 1000 && size < sizeof file);
    return guarded_copy(file, size);
}

static const char *const object_names[] = {"counts.s.gfx942.co", "counts.s.gfx950.co", "scale.cl.gfx942.co",
                                           "scale.cl.gfx950.co"};
enum { OBJECTS = sizeof object_names / sizeof *object_names };

static void stated_counts_are_read_back(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        guarded g = load(object_names[i]);
        codeobj o;
        codeobj_kernel k;
        assert_int_equal(codeobj_open(g.data, g.size, &o), CDNAGEN_OK);
        assert_ptr_equal(o.chip, &chips[i]);
        assert_int_equal(o.abi_version, 3);
        assert_int_equal(o.kernel_count, 1);
        assert_int_equal(codeobj_find(&o, "counts", &k), CDNAGEN_OK);
        assert_string_equal(k.name, "counts");
        assert_int_equal(k.vgpr, 176);
        assert_int_equal(k.agpr, 36);
        assert_int_equal(k.sgpr, 80);
        assert_int_equal(k.vgpr_spills, 3);
        assert_int_equal(k.sgpr_spills, 300);
        assert_int_equal(k.lds_bytes, 40960);
        assert_int_equal(k.scratch_bytes, 0);
        assert_int_equal(k.kernarg_bytes, 104);
        assert_int_equal(k.max_workgroup, 256);
        assert_int_equal(k.dynamic_stack, 1);
        assert_int_equal(k.code_bytes, 8);
        assert_int_equal(k.rsrc1 & 63, 176 / 8 - 1);
        assert_int_equal(((k.rsrc3 & 63) + 1) * 4, 140);
        assert_int_equal(k.properties & 8, 8); /* kernarg segment pointer */
        assert_int_equal(k.preload, 0);
        assert_int_equal(k.entry_address, o.text_address);
        static const unsigned char nop_end[8] = {0, 0, 0x80, 0xbf, 0, 0, 0x81, 0xbf};
        assert_memory_equal(g.data + o.text_offset, nop_end, sizeof nop_end);
        guarded_free(&g);
    }
}

static void arguments_are_read_back(void **state) {
    (void)state;
    static const codeobj_arg expected[6] = {
        {0, 8, ARG_GLOBAL_BUFFER, "global_buffer", "q"},
        {8, 4, ARG_BY_VALUE, "by_value", "seq"},
        {16, 4, ARG_DYNAMIC_LDS, "dynamic_shared_pointer", ""},
        {24, 4, ARG_HIDDEN, "hidden_block_count_x", ""},
        {32, 8, ARG_OTHER, "image", ""},
        {40, 64, ARG_BY_VALUE, "by_value", "a_name_that_is_longer_than_the_forty_by"},
    };
    guarded g = load("counts.s.gfx950.co");
    codeobj o;
    codeobj_kernel k;
    assert_int_equal(codeobj_open(g.data, g.size, &o), CDNAGEN_OK);
    assert_int_equal(codeobj_kernel_at(&o, 0, &k), CDNAGEN_OK);
    assert_int_equal(k.arg_count, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(k.args[i].offset, expected[i].offset);
        assert_int_equal(k.args[i].size, expected[i].size);
        assert_int_equal(k.args[i].kind, expected[i].kind);
        assert_string_equal(k.args[i].value_kind, expected[i].value_kind);
        assert_string_equal(k.args[i].name, expected[i].name);
    }
    guarded_free(&g);
}

static void compiled_kernels_are_read(void **state) {
    (void)state;
    for (int i = 2; i < 4; i++) {
        guarded g = load(object_names[i]);
        codeobj o;
        codeobj_kernel scale, spread;
        assert_int_equal(codeobj_open(g.data, g.size, &o), CDNAGEN_OK);
        assert_ptr_equal(o.chip, &chips[i - 2]);
        assert_int_equal(o.kernel_count, 2);
        assert_int_equal(codeobj_find(&o, "scale", &scale), CDNAGEN_OK);
        assert_int_equal(codeobj_find(&o, "spread", &spread), CDNAGEN_OK);
        assert_int_equal(scale.max_workgroup, 128);
        assert_true(scale.arg_count >= 4);
        assert_int_equal(scale.args[0].kind, ARG_GLOBAL_BUFFER);
        assert_int_equal(scale.args[2].offset, 16);
        assert_int_equal(scale.args[2].size, 8);
        assert_int_equal(scale.args[3].kind, ARG_DYNAMIC_LDS);
        assert_true(spread.scratch_bytes >= 32);
        assert_true(scale.code_bytes >= 40 && scale.entry_address != spread.entry_address);
        assert_int_equal(codeobj_find(&o, "missing", &scale), CDNAGEN_BAD_ARGUMENT);
        assert_non_null(strstr(cdnagen_error(), "no kernel 'missing'; it has: scale, spread"));
        assert_int_equal(codeobj_kernel_at(&o, 2, &scale), CDNAGEN_BAD_ARGUMENT);
        guarded_free(&g);
    }
}

static int within(uint64_t offset, uint64_t length, uint64_t size) { return offset <= size && length <= size - offset; }

/* Whatever is accepted may be relied on: all places lie inside the file and the kernel's own bounds. */
static void expect_sound(const guarded *g, const codeobj *o) {
    assert_true(within(o->text_offset, o->text_bytes, g->size));
    assert_true(o->segment_count >= 1 && o->segment_count <= CODEOBJ_SEGMENTS_MAX);
    assert_true(o->kernel_count <= CODEOBJ_KERNELS_MAX);
    for (size_t i = 0; i < o->segment_count; i++) {
        const codeobj_segment *s = &o->segments[i];
        assert_true(within(s->file_offset, s->file_bytes, g->size));
        assert_true(s->file_bytes <= s->memory_bytes && s->address + s->memory_bytes <= 1u << 30);
    }
    for (size_t i = 0; i < o->kernel_count; i++) {
        codeobj_kernel k;
        const cdnagen_status status = codeobj_kernel_at(o, i, &k);
        if (status != CDNAGEN_OK) {
            assert_int_equal(status, CDNAGEN_BAD_OBJECT);
            continue;
        }
        assert_true(k.entry_address >= o->text_address);
        assert_true(within(k.entry_address - o->text_address, k.code_bytes, o->text_bytes));
        assert_true(k.arg_count <= CODEOBJ_ARGS_MAX && strlen(k.name) < sizeof k.name);
        for (size_t a = 0; a < k.arg_count; a++) assert_true(within(k.args[a].offset, k.args[a].size, k.kernarg_bytes));
        const uint32_t preloaded = k.preload & 0x7f;
        assert_true(preloaded <= 16);
        assert_true(!preloaded || 4 * ((k.preload >> 7) + preloaded) <= (k.kernarg_bytes + 3ull) / 4 * 4);
        assert_true(codeobj_occupancy(o->chip, &k, k.max_workgroup, 0).waves_per_simd <= 8);
    }
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    for (int i = 0; i < OBJECTS; i++) {
        guarded whole = load(object_names[i]);
        for (size_t size = 0; size < whole.size; size++) {
            guarded g = guarded_copy(whole.data, size);
            codeobj o;
            if (codeobj_open(g.data, g.size, &o) != CDNAGEN_BAD_OBJECT)
                fail_msg("%s cut to %zu bytes was not refused", object_names[i], size);
            assert_non_null(strstr(cdnagen_error(), "byte"));
            guarded_free(&g);
        }
        guarded_free(&whole);
    }
}

static void every_bit_flip_is_safe(void **state) {
    (void)state;
    for (int i = 0; i < OBJECTS; i++) {
        guarded g = load(object_names[i]);
        size_t refused = 0;
        for (size_t bit = 0; bit < g.size * 8; bit++) {
            g.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
            codeobj o;
            const cdnagen_status status = codeobj_open(g.data, g.size, &o);
            if (status == CDNAGEN_OK)
                expect_sound(&g, &o);
            else
                assert_int_equal(status, CDNAGEN_BAD_OBJECT);
            refused += status != CDNAGEN_OK;
            g.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        assert_true(refused > 500);
        guarded_free(&g);
    }
}

/* Pairs of bytes set to extreme values: what single flips of a length cannot reach. */
static void extreme_fields_are_safe(void **state) {
    (void)state;
    static const unsigned char extremes[] = {0x00, 0x7f, 0x80, 0xdd, 0xdf, 0xff};
    for (int i = 0; i < OBJECTS; i++) {
        guarded g = load(object_names[i]);
        for (size_t at = 0; at + 8 <= g.size; at++)
            for (size_t e = 0; e < sizeof extremes; e++) {
                unsigned char kept[8];
                memcpy(kept, g.data + at, 8);
                memset(g.data + at, extremes[e], 8);
                codeobj o;
                if (codeobj_open(g.data, g.size, &o) == CDNAGEN_OK) expect_sound(&g, &o);
                memcpy(g.data + at, kept, 8);
            }
        guarded_free(&g);
    }
}

static const struct bad_byte {
    size_t at;
    unsigned char value;
    const char *says;
} bad_bytes[] = {
    {0, 'X', "damaged at byte 0: it does not start with the ELF magic"},
    {4, 1, "damaged at byte 4: it is not a little-endian 64-bit ELF"},
    {7, 0, "not an AMDGPU HSA code object"},
    {8, 9, "ABI version 9; read are 2 to 4"},
    {16, 1, "not a linked shared object"},
    {18, 62, "machine 62"},
    {39 + 9, 0x3f, "unknown chip, mach number 0x3f"},
};

static void damaged_headers_are_explained(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_bytes / sizeof *bad_bytes; i++) {
        guarded g = load("scale.cl.gfx950.co");
        codeobj o;
        g.data[bad_bytes[i].at] = bad_bytes[i].value;
        assert_int_equal(codeobj_open(g.data, g.size, &o), CDNAGEN_BAD_OBJECT);
        if (!strstr(cdnagen_error(), bad_bytes[i].says))
            fail_msg("\"%s\" does not say \"%s\"", cdnagen_error(), bad_bytes[i].says);
        guarded_free(&g);
    }
    codeobj o;
    assert_int_equal(codeobj_open(NULL, 0, &o), CDNAGEN_BAD_ARGUMENT);
}

/* ---- headers and metadata that no tool writes ---- */

static Elf64_Ehdr header_of(const guarded *g) {
    Elf64_Ehdr h;
    memcpy(&h, g->data, sizeof h);
    return h;
}

/* File offset of the first program header of a type and with these flags. */
static size_t program_header(const guarded *g, uint32_t type, uint32_t flags) {
    const Elf64_Ehdr h = header_of(g);
    for (size_t i = 0; i < h.e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, g->data + h.e_phoff + i * sizeof p, sizeof p);
        if (p.p_type == type && (p.p_flags & flags) == flags) return h.e_phoff + i * sizeof p;
    }
    fail_msg("no program header of type %u", type);
    return 0;
}

static size_t section_header(const guarded *g, uint32_t type, uint64_t flags) {
    const Elf64_Ehdr h = header_of(g);
    for (size_t i = 0; i < h.e_shnum; i++) {
        Elf64_Shdr s;
        memcpy(&s, g->data + h.e_shoff + i * sizeof s, sizeof s);
        if (s.sh_type == type && (s.sh_flags & flags) == flags) return h.e_shoff + i * sizeof s;
    }
    fail_msg("no section header of type %u", type);
    return 0;
}

static void add_u64(const guarded *g, size_t at, uint64_t value) {
    uint64_t v;
    memcpy(&v, g->data + at, sizeof v);
    v += value;
    memcpy(g->data + at, &v, sizeof v);
}

static void expect_refused(guarded *g, const char *says) {
    codeobj o;
    codeobj_kernel k;
    cdnagen_status status = codeobj_open(g->data, g->size, &o);
    if (status == CDNAGEN_OK) status = codeobj_kernel_at(&o, 0, &k);
    assert_int_equal(status, CDNAGEN_BAD_OBJECT);
    if (!strstr(cdnagen_error(), says)) fail_msg("\"%s\" does not say \"%s\"", cdnagen_error(), says);
    guarded_free(g);
}

static void contradictions_are_refused(void **state) {
    (void)state;
    guarded g = load("counts.s.gfx950.co");
    add_u64(&g, section_header(&g, SHT_PROGBITS, SHF_EXECINSTR) + offsetof(Elf64_Shdr, sh_addr), 256);
    expect_refused(&g, "the text section is not what its segment loads");

    g = load("counts.s.gfx950.co");
    const size_t text_segment = program_header(&g, PT_LOAD, PF_X) + offsetof(Elf64_Phdr, p_vaddr);
    memset(g.data + text_segment, 0, 8);
    expect_refused(&g, "segments overlap");

    g = load("counts.s.gfx950.co");
    add_u64(&g, program_header(&g, PT_LOAD, PF_W) + offsetof(Elf64_Phdr, p_memsz), UINT64_C(1) << 40);
    expect_refused(&g, "a segment's addresses are out of range");

    /* Descriptor and function symbol agree on a place behind the text. */
    g = load("counts.s.gfx950.co");
    codeobj o;
    codeobj_kernel k;
    assert_int_equal(codeobj_open(g.data, g.size, &o), CDNAGEN_OK);
    assert_int_equal(codeobj_kernel_at(&o, 0, &k), CDNAGEN_OK);
    const uint64_t beyond = (o.text_bytes + 255) / 256 * 256;
    add_u64(&g, k.descriptor_address + 16, beyond); /* the first segment has equal addresses and offsets */
    for (size_t i = 0; i < o.symbol_count; i++) {
        const size_t at = o.symbols_offset + i * sizeof(Elf64_Sym);
        Elf64_Sym symbol;
        memcpy(&symbol, g.data + at, sizeof symbol);
        if (symbol.st_value == k.entry_address) add_u64(&g, at + offsetof(Elf64_Sym, st_value), beyond);
    }
    expect_refused(&g, "a kernel's entry is not an aligned place in the text section");
}

/* The object with `metadata` as its only note, at the very end of the file, where every overrun shows. */
static guarded with_metadata(const unsigned char *metadata, size_t bytes_of_it) {
    static unsigned char file[1 << 16];
    guarded g = load("counts.s.gfx950.co");
    const size_t header = program_header(&g, PT_NOTE, 0);
    const uint64_t at = (g.size + 3) / 4 * 4;
    const Elf64_Nhdr note = {7, (uint32_t)bytes_of_it, 32};
    memset(file, 0, sizeof file);
    memcpy(file, g.data, g.size);
    memcpy(file + at, &note, sizeof note);
    memcpy(file + at + sizeof note, "AMDGPU", 7);
    memcpy(file + at + sizeof note + 8, metadata, bytes_of_it);
    const uint64_t note_bytes = sizeof note + 8 + bytes_of_it;
    memcpy(file + header + offsetof(Elf64_Phdr, p_offset), &at, 8);
    memcpy(file + header + offsetof(Elf64_Phdr, p_filesz), &note_bytes, 8);
    guarded_free(&g);
    return guarded_copy(file, at + note_bytes);
}

/* MessagePack of one kernel "counts" with `args` empty arguments, then `tail` as one more key. */
static size_t write_metadata(unsigned char *out, unsigned args, const char *tail, size_t tail_bytes) {
    static const char head[] = "\x81\xae"
                               "amdhsa.kernels"
                               "\x91\x84\xa5"
                               ".name"
                               "\xa6"
                               "counts"
                               "\xa7"
                               ".symbol"
                               "\xa9"
                               "counts.kd"
                               "\xa5"
                               ".args"
                               "\xdc";
    size_t n = sizeof head - 1;
    memcpy(out, head, n);
    out[n++] = (unsigned char)(args >> 8);
    out[n++] = (unsigned char)args;
    memset(out + n, 0x80, args);
    n += args;
    memcpy(out + n, tail, tail_bytes);
    return n + tail_bytes;
}

static const struct metadata_row {
    unsigned args;
    const char *tail;
    size_t bytes;
    const char *says; /* NULL: read well */
} metadata_rows[] = {
#define TAIL(words) words, sizeof words - 1
    {0, TAIL("\xa2.x\xc0"), NULL},
    {64, TAIL("\xa2.x\x01"), NULL},
    {65, TAIL("\xa2.x\x01"), "metadata"},
    {1, TAIL("\xa2.x\xcd\x01\x02"), NULL},
    {1, TAIL("\xa2.x\xcf\0\0\0\0\0\0\0\1"), NULL},
    {1, TAIL("\xa2.x\xd3\0\0\0\0\0\0\0\1"), NULL},
    {1, TAIL("\xa2.x\xcb\0\0\0\0\0\0\0\1"), NULL},
    {1, TAIL("\xa2.x\xc4\x02xx"), NULL},
    {1, TAIL("\xa2.x\xc7\x02\x05xx"), NULL},
    {1, TAIL("\xa2.x\xd5\x05xx"), NULL},
    {1, TAIL("\xa2.x\xda\x00\x02xx"), NULL},
    {1, TAIL("\xa2.x\xdc\x00\x02\x93\1\2\3\x81\1\2"), NULL},
    {1, TAIL("\xab.vgpr_count\xcd\x01"), "metadata note is not the map"},
    {1, TAIL("\xab.vgpr_count\xcf\1\0\0\0\0\0\0\0"), "kernel's metadata is not what it should be"},
    {1, TAIL("\xab.vgpr_count\xa1x"), "kernel's metadata is not what it should be"},
    {1, TAIL("\xa5.name\xbfx"), "metadata note is not the map"},
    {1, TAIL("\xa5.name\xda\xff\xffx"), "metadata note is not the map"},
    {1, TAIL("\xa5.name\xdb\xff\xff\xff\xffx"), "metadata note is not the map"},
    {1, TAIL("\xa2.x\xdd\xff\xff\xff\xff\1"), "metadata note is not the map"},
    {1, TAIL("\xa2.x\xdf\xff\xff\xff\xff\1"), "metadata note is not the map"},
    {1, TAIL("\xa2.x\xc6\xff\xff\xff\xff\1"), "metadata note is not the map"},
    {1, TAIL("\xa5.name\x01"), "kernel's metadata is not what it should be"},
    {1, TAIL("\xa5.name\xa5other"), "no function symbol 'other'"},
    {1, TAIL("\xa7.symbol\xa5other"), "kernel 'counts' has no symbol 'other'"},
    {1, TAIL(""), "metadata note is not the map"},
#undef TAIL
};

static void metadata_of_every_form_is_read_or_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof metadata_rows / sizeof *metadata_rows; i++) {
        const struct metadata_row *row = &metadata_rows[i];
        unsigned char metadata[512];
        guarded g = with_metadata(metadata, write_metadata(metadata, row->args, row->tail, row->bytes));
        if (row->says) {
            expect_refused(&g, row->says);
            continue;
        }
        codeobj o;
        codeobj_kernel k;
        assert_int_equal(codeobj_open(g.data, g.size, &o), CDNAGEN_OK);
        assert_int_equal(codeobj_kernel_at(&o, 0, &k), CDNAGEN_OK);
        assert_int_equal(k.arg_count, row->args);
        guarded_free(&g);
    }
}

/* A name of every length that ends with the file: long ones are refused, none is read past the end. */
static void names_at_the_end_of_the_file(void **state) {
    (void)state;
    for (unsigned length = 0; length < 256; length++)
        for (unsigned claimed = length; claimed < 256; claimed += length < 4 ? 1 : 64) {
            unsigned char metadata[512];
            char tail[300] = "\xa5.name\xd9";
            tail[7] = (char)claimed;
            memset(tail + 8, 'n', length);
            guarded g = with_metadata(metadata, write_metadata(metadata, 0, tail, 8 + length));
            expect_refused(&g, claimed > length ? "metadata note is not the map" : length ? "'n" : "metadata");
        }
}

typedef struct occupancy_row {
    int chip;
    uint32_t vgpr_granules, sgpr, lds, dynamic, threads;
    uint32_t waves, groups;
    const char *limit;
} occupancy_row;

/* Waves by VGPRs are the ones that LLVM's own remarks print for these register counts. */
static const occupancy_row occupancy_rows[] = {
    {1, 8, 16, 0, 0, 256, 8, 8, "waves"},         {1, 9, 16, 0, 0, 256, 7, 7, "vgpr"},
    {1, 10, 16, 0, 0, 256, 6, 6, "vgpr"},         {1, 12, 16, 0, 0, 256, 5, 5, "vgpr"},
    {1, 16, 16, 0, 0, 256, 4, 4, "vgpr"},         {1, 21, 16, 0, 0, 256, 3, 3, "vgpr"},
    {1, 22, 16, 0, 0, 256, 2, 2, "vgpr"},         {1, 32, 16, 0, 0, 256, 2, 2, "vgpr"},
    {1, 33, 16, 0, 0, 64, 1, 4, "vgpr"},          {1, 64, 16, 0, 0, 256, 1, 1, "vgpr"},
    {0, 32, 16, 40 * 1024, 0, 256, 1, 1, "lds"},  {1, 32, 16, 40 * 1024, 0, 256, 2, 2, "vgpr"},
    {1, 16, 16, 80 * 1024, 0, 512, 4, 2, "vgpr"}, {1, 16, 16, 160 * 1024, 0, 512, 2, 1, "lds"},
    {0, 16, 16, 64 * 1024, 0, 256, 1, 1, "lds"},  {1, 16, 16, 64 * 1024, 0, 256, 2, 2, "lds"},
    {1, 16, 16, 0, 64 * 1024, 256, 2, 2, "lds"},  {1, 1, 16, 160 * 1024 + 1, 0, 64, 0, 0, "lds"},
    {1, 64, 16, 0, 0, 1024, 0, 0, "vgpr"},        {1, 1, 104, 0, 0, 64, 7, 28, "sgpr"},
    {1, 21, 16, 0, 0, 512, 2, 1, "vgpr"},         {1, 1, 0, 0, 0, 1, 8, 32, "waves"},
    {1, 1, 16, 1, 0, 64, 8, 32, "waves"},         {0, 1, 16, 2049, 0, 64, 7, 25, "lds"},
    {1, 1, 16, 0, UINT32_MAX, 64, 0, 0, "lds"},   {1, 9, 104, 0, 0, 64, 7, 28, "vgpr"},
};

static void occupancy_is_what_the_limits_give(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof occupancy_rows / sizeof *occupancy_rows; i++) {
        const occupancy_row *r = &occupancy_rows[i];
        const codeobj_kernel k = {.rsrc1 = r->vgpr_granules - 1, .sgpr = r->sgpr, .lds_bytes = r->lds};
        const occupancy o = codeobj_occupancy(&chips[r->chip], &k, r->threads, r->dynamic);
        if (o.waves_per_simd != r->waves || o.workgroups_per_cu != r->groups || strcmp(o.limit, r->limit))
            fail_msg("row %zu: %u waves, %u workgroups, %s", i, o.waves_per_simd, o.workgroups_per_cu, o.limit);
        assert_int_equal(o.vgpr_allocated, r->vgpr_granules * 8);
    }
}

static void reading_allocates_nothing(void **state) {
    (void)state;
    guarded g = load("scale.cl.gfx950.co");
    codeobj o;
    codeobj_kernel k;
    mem_fail_at(1);
    assert_int_equal(codeobj_open(g.data, g.size, &o), CDNAGEN_OK);
    assert_int_equal(codeobj_kernel_at(&o, 1, &k), CDNAGEN_OK);
    assert_null(mem_alloc(1));
    guarded_free(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stated_counts_are_read_back),
        cmocka_unit_test(arguments_are_read_back),
        cmocka_unit_test(compiled_kernels_are_read),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_bit_flip_is_safe),
        cmocka_unit_test(extreme_fields_are_safe),
        cmocka_unit_test(damaged_headers_are_explained),
        cmocka_unit_test(occupancy_is_what_the_limits_give),
        cmocka_unit_test(reading_allocates_nothing),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(metadata_of_every_form_is_read_or_refused),
        cmocka_unit_test(names_at_the_end_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
