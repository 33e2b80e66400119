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

enum { RAW_DWORDS = 0x00020000 }; /* word 3: 32-bit data format, no swizzle */

static buffer make_buffer(ir *e, ptr base, val extent, val word_3) {
    if (!expect(e, e_type(e, extent) == I32, "e_buffer", "the extent must be I32"))
        return (buffer){e_poison(e, POINTER(SPACE_BUFFER)), e_poison(e, I32)};
    const val args[] = {base.address, e_zero(e, I16), e_zext(e, extent), word_3};
    return (buffer){e_op(e, "make_buffer", args, 4), extent};
}

buffer e_buffer(ir *e, ptr base, val extent) { return make_buffer(e, base, extent, e_i32(e, RAW_DWORDS)); }

/* An asm that may touch memory, as far as passes know, is never joined with another one. */
buffer e_buffer_apart(ir *e, ptr base, val extent) {
    LLVMTypeRef word = llvm_type(e, I32);
    LLVMValueRef raw_dwords = e_i32(e, RAW_DWORDS).v;
    const LLVMTypeRef signature = LLVMFunctionType(word, &word, 1, 0);
    const LLVMValueRef same = LLVMGetInlineAsm(signature, "", 0, "=s,0", 4, 0, 0, LLVMInlineAsmDialectATT, 0);
    return make_buffer(e, base, extent, WRAP(LLVMBuildCall2(e->builder, signature, same, &raw_dwords, 1, "")));
}

static val unsigned_min(ir *e, val a, val b) {
    return e_select(e, WRAP(LLVMBuildICmp(e->builder, LLVMIntULT, a.v, b.v, "")), a, b);
}

/* How many bytes a value has in memory; 0 for what is no number. */
static int type_bytes(type t) {
    static const int element[] = {[I8] = 1, [I16] = 2, [I32] = 4, [I64] = 8, [F32] = 4};
    const int kind = TYPE_ELEMENT(t);
    return kind < (int)(sizeof element / sizeof *element) ? TYPE_LENGTH(t) * element[kind] : 0;
}

/* buffer_move: what loads or stores so many bytes: the end of its intrinsic's name, and its type. */
typedef struct buffer_move {
    const char *load, *store;
    type t;
} buffer_move;

static const buffer_move *buffer_move_of(int size) {
    static const buffer_move bytes_only = {"buffer_load_byte", NULL, I8};
    static const buffer_move shorts = {"buffer_load_short", "buffer_store_short", I16};
    static const buffer_move words[] = {{"buffer_load_1", "buffer_store_1", I32},
                                        {"buffer_load_2", "buffer_store_2", VEC(2, I32)},
                                        {"buffer_load_3", "buffer_store_3", VEC(3, I32)},
                                        {"buffer_load_4", "buffer_store_4", VEC(4, I32)}};
    if (size == 1) return &bytes_only;
    if (size == 2) return &shorts;
    return size > 0 && size <= 16 && size % 4 == 0 ? &words[size / 4 - 1] : NULL;
}

static val load(ir *e, buffer b, type t, val lane, val uniform, int fixed) {
    const int n = TYPE_LENGTH(t);
    if (type_bytes(t) == 32) {
        const type half = VEC(n / 2, TYPE_ELEMENT(t));
        const val low = load(e, b, half, lane, uniform, fixed);
        return e_join(e, low, load(e, b, half, lane, uniform, fixed + 16));
    }
    const buffer_move *const move = buffer_move_of(type_bytes(t));
    static const char rule[] = "the value must have 1 or 2 bytes, 1 to 4 words or 8 words";
    if (!expect(e, move != NULL, "e_buffer_load", rule) || !move) return e_poison(e, t);
    const val args[] = {b.descriptor, e_addi(e, lane, fixed), uniform, e_i32(e, 0)};
    return e_bitcast(e, e_op(e, move->load, args, 4), t);
}

val e_buffer_load(ir *e, buffer b, type t, val lane, int fixed) { return load(e, b, t, lane, e_i32(e, 0), fixed); }

val e_buffer_load_at(ir *e, buffer b, type t, val lane, val uniform, int fixed) {
    return load(e, b, t, lane, unsigned_min(e, uniform, b.bytes), fixed);
}

val e_scalar_load(ir *e, buffer b, val offset) {
    if (!expect(e, e_type(e, offset) == I32, "e_scalar_load", "the offset must be I32"))
        return e_poison(e, VEC(16, I32));
    const LLVMTypeRef whole = LLVMIntTypeInContext(e->context, 128);
    const LLVMValueRef bits = LLVMBuildPtrToInt(e->builder, b.descriptor.v, whole, "");
    const val words = WRAP(LLVMBuildBitCast(e->builder, bits, llvm_type(e, VEC(4, I32)), ""));
    return e_op(e, "scalar_load_16", (const val[]){words, offset}, 2);
}

void e_buffer_store(ir *e, buffer b, val value, val lane, int fixed) {
    const buffer_move *const move = buffer_move_of(type_bytes(e_type(e, value)));
    if (!expect(e, move && move->store, "e_buffer_store", "the value must have 2 bytes or 1 to 4 words")) return;
    const val bits = e_bitcast(e, value, move->t), at = e_addi(e, lane, fixed);
    const val args[] = {bits, b.descriptor, at, e_i32(e, 0), e_i32(e, 0)};
    e_op(e, move->store, args, 5);
}

enum lds_role { LDS_ACCESS, LDS_DMA };

/* Scope metadata that keeps DMA and the rest apart: LLVM would wait before every LDS read until no DMA is in flight.
 * The waits between them are the kernel's own, and e_wait's fences keep their order in every pass. */
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

/* Where a value of type t lies; NULL if it cannot. Two steps, so that `fixed` ends up in the instruction's offset
 * field. */
static LLVMValueRef lds_place(ir *e, const char *verb, lds b, type t, val lane, int fixed) {
    const int size = type_bytes(t);
    if (!expect(e, e_type(e, lane) == I32 && fixed >= 0 && fixed < b.bytes, verb, "offset outside the buffer") ||
        !expect(e, size == 2 || size == 4 || size == 8 || size == 16 || size == 32, verb,
                "the value must have 2, 4, 8, 16 or 32 bytes"))
        return NULL;
    return lds_pointer(e, lds_pointer(e, b.base.v, lane), e_i32(e, fixed));
}

static void set_access(ir *e, LLVMValueRef instruction, type t) {
    const int size = type_bytes(t);
    LLVMSetAlignment(instruction, size < 16 ? (unsigned)size : 16);
    set_role(e, instruction, LDS_ACCESS);
}

val e_lds_load(ir *e, lds b, type t, val lane, int fixed) {
    const LLVMValueRef at = lds_place(e, "e_lds_load", b, t, lane, fixed);
    if (!at) return e_poison(e, t);
    const LLVMValueRef value = LLVMBuildLoad2(e->builder, llvm_type(e, t), at, "");
    set_access(e, value, t);
    return WRAP(value);
}

void e_lds_store(ir *e, lds b, val value, val lane, int fixed) {
    const type t = e_type(e, value);
    const LLVMValueRef at = lds_place(e, "e_lds_store", b, t, lane, fixed);
    if (at) set_access(e, LLVMBuildStore(e->builder, value.v, at), t);
}

void e_lds_dma(ir *e, buffer from, val lane, val uniform, lds to, val at, int bytes_per_lane) {
    if (!expect(e, bytes_per_lane <= e->target.chip->lds_dma_bytes, "e_lds_dma", "wider than this chip's LDS DMA") ||
        !expect(e, bytes_per_lane == 4 || bytes_per_lane == 16, "e_lds_dma", "4 or 16 bytes a lane") ||
        !expect(e, e_type(e, at) == I32, "e_lds_dma", "the LDS offset must be I32"))
        return;
    const val zero = e_i32(e, 0), place = WRAP(lds_pointer(e, to.base.v, at));
    const val args[] = {
        from.descriptor, place, e_i32(e, bytes_per_lane), lane, unsigned_min(e, uniform, from.bytes), zero, zero};
    const val dma = e_op(e, bytes_per_lane == 16 ? "lds_dma_16" : "lds_dma_4", args, 7);
    if (!e->failed) set_role(e, dma.v, LDS_DMA);
}

static unsigned agent_scope(ir *e) { return LLVMGetSyncScopeID(e->context, "agent", 5); }

void e_release(ir *e) { LLVMBuildFenceSyncScope(e->builder, LLVMAtomicOrderingRelease, agent_scope(e), ""); }

void e_acquire(ir *e) { LLVMBuildFenceSyncScope(e->builder, LLVMAtomicOrderingAcquire, agent_scope(e), ""); }

val e_atomic_add(ir *e, ptr p, val addend) {
    if (!expect(e, !p.constant && p.element == I32 && e_type(e, addend) == I32, "e_atomic_add",
                "the place and the addend must be I32, and the place not constant"))
        return e_poison(e, I32);
    return WRAP(LLVMBuildAtomicRMWSyncScope(e->builder, LLVMAtomicRMWBinOpAdd, p.address.v, addend.v,
                                            LLVMAtomicOrderingMonotonic, agent_scope(e)));
}
