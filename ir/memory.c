/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pointers, buffer descriptors, LDS buffers and LDS DMA. */
#include "ir/context.h"

#include <string.h>

ptr e_ptr(ir *e, val address, type element, int constant) {
    expect(e, LLVMTypeOf(address.v) == llvm_pointer(e, SPACE_GLOBAL), "e_ptr", "the address must be a global pointer");
    return (ptr){.address = address, .element = element, .constant = constant};
}

ptr e_ptr_add(ir *e, ptr p, val elements) {
    if (!expect(e, e_type(e, elements) == I64, "e_ptr_add", "the count must be I64")) return p;
    LLVMValueRef index = elements.v;
    p.address = WRAP(LLVMBuildGEP2(e->builder, llvm_type(e, p.element), p.address.v, &index, 1, ""));
    return p;
}

val e_load_uniform(ir *e, ptr p, val index) {
    if (!expect(e, p.constant, "e_load_uniform", "the kernel writes there")) return e_poison(e, p.element);
    const ptr at = e_ptr_add(e, p, e_sext(e, index));
    if (e->failed) return e_poison(e, p.element);
    /* The constant address space is what turns a uniform load into s_load whatever stores surround it. */
    const LLVMValueRef constant = LLVMBuildAddrSpaceCast(e->builder, at.address.v, llvm_pointer(e, SPACE_CONSTANT), "");
    const LLVMValueRef value = LLVMBuildLoad2(e->builder, llvm_type(e, p.element), constant, "");
    LLVMSetAlignment(value, 4);
    return WRAP(value);
}

buffer e_buffer(ir *e, ptr base, val extent) {
    if (!expect(e, e_type(e, extent) == I32, "e_buffer", "the extent must be I32"))
        return (buffer){e_poison(e, POINTER(SPACE_BUFFER)), e_poison(e, I32)};
    const val raw_dwords = e_i32(e, 0x00020000); /* word 3: 32-bit data format, no swizzle */
    const val args[] = {base.address, e_zero(e, I16), e_zext(e, extent), raw_dwords};
    return (buffer){e_op(e, "make_buffer", args, 4), extent};
}

static val unsigned_min(ir *e, val a, val b) {
    return e_select(e, WRAP(LLVMBuildICmp(e->builder, LLVMIntULT, a.v, b.v, "")), a, b);
}

static val load_words(ir *e, buffer b, int words, val lane, val uniform) {
    const val args[] = {b.descriptor, lane, uniform, e_i32(e, 0)};
    return e_op(e, words == 4 ? "buffer_load_4" : "buffer_load_1", args, 4);
}

static val load(ir *e, buffer b, type t, val lane, val uniform, int fixed) {
    const int words = TYPE_LENGTH(t);
    if (!expect(e, (TYPE_ELEMENT(t) == I32 || TYPE_ELEMENT(t) == F32) && (words == 1 || words == 4 || words == 8),
                "e_buffer_load", "1, 4 or 8 words of I32 or F32"))
        return e_poison(e, t);
    if (words == 8) {
        const val low = load(e, b, VEC(4, TYPE_ELEMENT(t)), lane, uniform, fixed);
        return e_join(e, low, load(e, b, VEC(4, TYPE_ELEMENT(t)), lane, uniform, fixed + 16));
    }
    return e_bitcast(e, load_words(e, b, words, e_addi(e, lane, fixed), uniform), t);
}

val e_buffer_load(ir *e, buffer b, type t, val lane, int fixed) { return load(e, b, t, lane, e_i32(e, 0), fixed); }

val e_buffer_load_at(ir *e, buffer b, type t, val lane, val uniform, int fixed) {
    return load(e, b, t, lane, unsigned_min(e, uniform, b.bytes), fixed);
}

void e_buffer_store(ir *e, buffer b, val value, val lane, int fixed) {
    const val bits = e_bitcast(e, value, I32), at = e_addi(e, lane, fixed);
    const val args[] = {bits, b.descriptor, at, e_i32(e, 0), e_i32(e, 0)};
    e_op(e, "buffer_store_1", args, 5);
}

enum lds_role { LDS_READ, LDS_DMA };

/* Scope metadata that keeps DMA and reads apart: LLVM would wait before every LDS read until no DMA is in flight. The
 * waits between them are the kernel's own, and e_wait's fences keep their order in every pass. */
static void set_role(ir *e, LLVMValueRef instruction, enum lds_role role) {
    LLVMMetadataRef domain_name = LLVMMDStringInContext2(e->context, "lds", 3);
    const LLVMMetadataRef domain = LLVMMDNodeInContext2(e->context, &domain_name, 1);
    LLVMMetadataRef dma[] = {LLVMMDStringInContext2(e->context, "dma", 3), domain};
    LLVMMetadataRef scope = LLVMMDNodeInContext2(e->context, dma, 2);
    const char *const kind = role == LDS_DMA ? "alias.scope" : "noalias";
    LLVMSetMetadata(instruction, LLVMGetMDKindIDInContext(e->context, kind, (unsigned)strlen(kind)),
                    LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, &scope, 1)));
}

lds e_lds(ir *e, const char *name, int size, int align) {
    const LLVMTypeRef array = LLVMArrayType2(llvm_type(e, I8), (uint64_t)size);
    const LLVMValueRef global = LLVMAddGlobalInAddressSpace(e->module, array, name, SPACE_LDS);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetInitializer(global, LLVMGetPoison(array));
    LLVMSetAlignment(global, (unsigned)align);
    return (lds){WRAP(global), size};
}

static LLVMValueRef lds_pointer(ir *e, LLVMValueRef base, val offset) {
    return LLVMBuildGEP2(e->builder, llvm_type(e, I8), base, &offset.v, 1, "");
}

val e_lds_load(ir *e, lds b, type t, val lane, int fixed) {
    if (!expect(e, e_type(e, lane) == I32 && fixed >= 0 && fixed < b.bytes, "e_lds_load", "offset outside the buffer"))
        return e_poison(e, t);
    /* Two steps, so that `fixed` ends up in the instruction's offset field. */
    const LLVMValueRef at = lds_pointer(e, lds_pointer(e, b.base.v, lane), e_i32(e, fixed));
    const LLVMValueRef value = LLVMBuildLoad2(e->builder, llvm_type(e, t), at, "");
    const int size = TYPE_LENGTH(t) * 4;
    LLVMSetAlignment(value, size < 16 ? (unsigned)size : 16);
    set_role(e, value, LDS_READ);
    return WRAP(value);
}

void e_lds_dma(ir *e, buffer from, val lane, val uniform, lds to, val at, int bytes_per_lane) {
    if (!expect(e, bytes_per_lane <= e->target.chip->lds_dma_bytes, "e_lds_dma", "wider than this chip's LDS DMA") ||
        !expect(e, e_type(e, at) == I32, "e_lds_dma", "the LDS offset must be I32"))
        return;
    const val zero = e_i32(e, 0);
    const val args[] = {from.descriptor,
                        WRAP(lds_pointer(e, to.base.v, at)),
                        e_i32(e, bytes_per_lane),
                        lane,
                        unsigned_min(e, uniform, from.bytes),
                        zero,
                        zero};
    const val dma = e_op(e, bytes_per_lane == 16 ? "lds_dma_16" : "lds_dma_4", args, 7);
    if (!e->failed) set_role(e, dma.v, LDS_DMA);
}
