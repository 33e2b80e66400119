/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reader of AMDGPU code objects: ELF header, the kernel descriptor and the metadata note. Bounded and fuzzed: any bytes
 * are safe input. Nothing is allocated; pointers and strings point into the caller's bytes. */
#ifndef CORE_CODEOBJ_H
#define CORE_CODEOBJ_H

#include <stddef.h>
#include <stdint.h>

#include "core/chip.h"

/* CODE_OBJECT_VERSION: what the generator emits; EI_ABIVERSION of its ELF files is ABI_VERSION.
 * source: LLVM's AMDGPUUsage, "ELF Code Object" */
enum { CODE_OBJECT_VERSION = 5, ABI_VERSION = 3 };

typedef enum kernel_arg_kind {
    ARG_BY_VALUE,
    ARG_GLOBAL_BUFFER,
    ARG_DYNAMIC_LDS,
    ARG_HIDDEN,
    ARG_OTHER
} kernel_arg_kind;

typedef struct codeobj_arg {
    uint32_t offset, size; /* bytes in the kernarg segment */
    kernel_arg_kind kind;
    char value_kind[40]; /* the metadata's own word, cut to fit */
    char name[40];       /* "" if the metadata has none */
} codeobj_arg;

enum { CODEOBJ_ARGS_MAX = 64 };

typedef struct codeobj_kernel {
    char name[256];
    /* metadata */
    uint32_t vgpr, agpr, sgpr; /* used; vgpr is architectural plus accumulation, as the note counts them */
    uint32_t vgpr_spills, sgpr_spills;
    uint32_t lds_bytes, scratch_bytes, kernarg_bytes, max_workgroup;
    int dynamic_stack;
    codeobj_arg args[CODEOBJ_ARGS_MAX];
    size_t arg_count;
    /* kernel descriptor */
    uint32_t rsrc1, rsrc2, rsrc3, properties, preload;
    uint64_t descriptor_address, entry_address; /* virtual, in the ELF's own numbering */
    uint32_t code_bytes;                        /* of the function symbol */
} codeobj_kernel;

typedef struct codeobj_segment {
    uint64_t address, memory_bytes; /* virtual */
    size_t file_offset, file_bytes;
    uint32_t flags; /* PF_* */
} codeobj_segment;

enum { CODEOBJ_SEGMENTS_MAX = 16, CODEOBJ_KERNELS_MAX = 64 };

typedef struct codeobj {
    const unsigned char *data;
    size_t size;
    const chip *chip;
    uint32_t e_flags;
    int abi_version; /* EI_ABIVERSION: 3 = code object v5 */
    codeobj_segment segments[CODEOBJ_SEGMENTS_MAX];
    size_t segment_count;
    uint64_t text_address; /* .text, for disassembly */
    size_t text_offset, text_bytes;
    size_t kernel_count;
    /* where codeobj_kernel_at reads: checked file offsets */
    size_t kernels_offset, kernels_end; /* the metadata's kernel list */
    size_t symbols_offset, symbol_count, strings_offset, strings_bytes;
} codeobj;

/* codeobj_open: check the ELF and find segments, text and kernels.
 * errors: BAD_OBJECT, saying what is wrong and at which byte offset; unknown chip names its mach number */
cdnagen_status codeobj_open(const void *data, size_t size, codeobj *out);

/* codeobj_kernel_at, codeobj_find: kernel by index or by name.   errors: BAD_OBJECT (damaged), BAD_ARGUMENT (no
 * such) */
cdnagen_status codeobj_kernel_at(const codeobj *o, size_t index, codeobj_kernel *out);
cdnagen_status codeobj_find(const codeobj *o, const char *name, codeobj_kernel *out);

/* occupancy: waves per SIMD that registers and LDS allow, and what binds.
 * source: LLVM, User Guide for AMDGPU Backend, "Kernel Descriptor"; AMD CDNA3 ISA guide, "Wavefront state" */
typedef struct occupancy {
    uint32_t vgpr_allocated; /* per lane, both files: the descriptor's granules, which is what the hardware takes */
    uint32_t waves_per_simd, workgroups_per_cu; /* 0: not even one workgroup fits */
    const char *limit;                          /* "vgpr", "sgpr", "lds", "waves" */
} occupancy;
/* codeobj_occupancy: of workgroups of `block_threads` work items with `dynamic_lds_bytes` beyond the kernel's own. */
occupancy codeobj_occupancy(const chip *c, const codeobj_kernel *k, uint32_t block_threads, uint32_t dynamic_lds_bytes);

#endif
