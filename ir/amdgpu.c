/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The intrinsic table and its one caller; what is said through it: waits, barriers, scheduling. */
#include "ir/context.h"

#include <stdio.h>
#include <string.h>

#define GFX942 (1u << CHIP_GFX942)
#define GFX950 (1u << CHIP_GFX950)
#define ANY (GFX942 | GFX950)

typedef struct intrinsic {
    const char *name;
    const char *llvm;
    unsigned chips;
    type result;
    int operands; /* that the caller gives */
    int zeros;    /* i32 zeros after them */
    type overloads[3];
} intrinsic;

static const intrinsic intrinsics[] = {
    /* name                    LLVM name                                   chips   result        operands zeros
     * overloads */
    {"mfma_16x16x32_fp8_fp8", "llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8", ANY, VEC(4, F32), 3, 3, {0}},
    {"mfma_32x32x16_fp8_fp8", "llvm.amdgcn.mfma.f32.32x32x16.fp8.fp8", ANY, VEC(16, F32), 3, 3, {0}},
    /* cbsz and blgp 0 = e4m3; scales 0 select the short opcode, whose factor is 1 */
    {"mfma_16x16x128_f8f6f4",
     "llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4",
     GFX950,
     VEC(4, F32),
     3,
     6,
     {VEC(8, I32), VEC(8, I32)}},
    {"mfma_32x32x64_f8f6f4",
     "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4",
     GFX950,
     VEC(16, F32),
     3,
     6,
     {VEC(8, I32), VEC(8, I32)}},
    /* scale bytes 2^(x - 127) in bits 7:0 of a lane's register, for its row and its 32 K of each operand */
    {"scaled_mfma_16x16x128_f8f6f4",
     "llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4",
     GFX950,
     VEC(4, F32),
     9,
     0,
     {VEC(8, I32), VEC(8, I32)}},
    {"scaled_mfma_32x32x64_f8f6f4",
     "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4",
     GFX950,
     VEC(16, F32),
     9,
     0,
     {VEC(8, I32), VEC(8, I32)}},
    {"permlane32_swap", "llvm.amdgcn.permlane32.swap", GFX950, PAIR, 4, 0, {0}},
    {"permlane16_swap", "llvm.amdgcn.permlane16.swap", GFX950, PAIR, 4, 0, {0}},
    {"swizzle", "llvm.amdgcn.ds.swizzle", ANY, I32, 2, 0, {0}},
    {"bpermute", "llvm.amdgcn.ds.bpermute", ANY, I32, 2, 0, {0}},
    {"mbcnt_lo", "llvm.amdgcn.mbcnt.lo", ANY, I32, 2, 0, {0}},
    {"mbcnt_hi", "llvm.amdgcn.mbcnt.hi", ANY, I32, 2, 0, {0}},
    {"ballot", "llvm.amdgcn.ballot", ANY, I64, 1, 0, {I64}},
    {"readfirstlane", "llvm.amdgcn.readfirstlane", ANY, I32, 1, 0, {I32}},
    {"readlane", "llvm.amdgcn.readlane", ANY, I32, 2, 0, {I32}},
    {"writelane", "llvm.amdgcn.writelane", ANY, I32, 3, 0, {I32}},
    {"update_dpp", "llvm.amdgcn.update.dpp", ANY, I32, 6, 0, {I32}},
    {"first_bit", "llvm.cttz", ANY, I64, 2, 0, {I64}},
    {"make_buffer",
     "llvm.amdgcn.make.buffer.rsrc",
     ANY,
     POINTER(SPACE_BUFFER),
     4,
     0,
     {POINTER(SPACE_BUFFER), POINTER(SPACE_GLOBAL)}},
    {"scalar_load_16", "llvm.amdgcn.s.buffer.load", ANY, VEC(16, I32), 2, 1, {VEC(16, I32)}},
    {"buffer_load_1", "llvm.amdgcn.raw.ptr.buffer.load", ANY, I32, 4, 0, {I32}},
    {"buffer_load_byte", "llvm.amdgcn.raw.ptr.buffer.load", ANY, I8, 4, 0, {I8}},
    {"buffer_load_short", "llvm.amdgcn.raw.ptr.buffer.load", ANY, I16, 4, 0, {I16}},
    {"buffer_load_2", "llvm.amdgcn.raw.ptr.buffer.load", ANY, VEC(2, I32), 4, 0, {VEC(2, I32)}},
    {"buffer_load_3", "llvm.amdgcn.raw.ptr.buffer.load", ANY, VEC(3, I32), 4, 0, {VEC(3, I32)}},
    {"buffer_load_4", "llvm.amdgcn.raw.ptr.buffer.load", ANY, VEC(4, I32), 4, 0, {VEC(4, I32)}},
    {"buffer_store_1", "llvm.amdgcn.raw.ptr.buffer.store", ANY, VOID, 5, 0, {I32}},
    {"buffer_store_short", "llvm.amdgcn.raw.ptr.buffer.store", ANY, VOID, 5, 0, {I16}},
    {"buffer_store_2", "llvm.amdgcn.raw.ptr.buffer.store", ANY, VOID, 5, 0, {VEC(2, I32)}},
    {"buffer_store_3", "llvm.amdgcn.raw.ptr.buffer.store", ANY, VOID, 5, 0, {VEC(3, I32)}},
    {"buffer_store_4", "llvm.amdgcn.raw.ptr.buffer.store", ANY, VOID, 5, 0, {VEC(4, I32)}},
    {"lds_dma_4", "llvm.amdgcn.raw.ptr.buffer.load.lds", ANY, VOID, 7, 0, {0}},
    {"lds_dma_16", "llvm.amdgcn.raw.ptr.buffer.load.lds", GFX950, VOID, 7, 0, {0}},
    {"workitem_x", "llvm.amdgcn.workitem.id.x", ANY, I32, 0, 0, {0}},
    {"workgroup_x", "llvm.amdgcn.workgroup.id.x", ANY, I32, 0, 0, {0}},
    {"workgroup_y", "llvm.amdgcn.workgroup.id.y", ANY, I32, 0, 0, {0}},
    {"workgroup_z", "llvm.amdgcn.workgroup.id.z", ANY, I32, 0, 0, {0}},
    {"waitcnt", "llvm.amdgcn.s.waitcnt", ANY, VOID, 1, 0, {0}},
    {"barrier", "llvm.amdgcn.s.barrier", ANY, VOID, 0, 0, {0}},
    {"setprio", "llvm.amdgcn.s.setprio", ANY, VOID, 1, 0, {0}},
    {"sched_barrier", "llvm.amdgcn.sched.barrier", ANY, VOID, 1, 0, {0}},
    {"sched_group", "llvm.amdgcn.sched.group.barrier", ANY, VOID, 3, 0, {0}},
    {"fma", "llvm.fma", ANY, F32, 3, 0, {F32}},
    {"fma2", "llvm.fma", ANY, VEC(2, F32), 3, 0, {VEC(2, F32)}},
    {"abs", "llvm.fabs", ANY, F32, 1, 0, {F32}},
};

static const intrinsic *find(const char *name) {
    for (size_t i = 0; i < sizeof intrinsics / sizeof *intrinsics; i++)
        if (!strcmp(intrinsics[i].name, name)) return &intrinsics[i];
    return NULL;
}

val e_op(ir *e, const char *name, const val *args, int count) {
    const intrinsic *row = find(name);
    if (!row) {
        e_fail(e, "e_op: '%s' is not in the intrinsic table", name);
        return e_poison(e, I32);
    }
    enum { OPERANDS_MAX = 12 };
    if (!(row->chips >> chip_index(e->target.chip) & 1))
        e_fail(e, "e_op: %s (%s) does not exist on %s", name, row->llvm, e->target.chip->name);
    else if (count != row->operands || count + row->zeros > OPERANDS_MAX)
        e_fail(e, "e_op: %s takes %d operands, %d given", name, row->operands, count);
    if (e->failed) return row->result == VOID ? (val){NULL} : e_poison(e, row->result);
    LLVMTypeRef overloads[3];
    size_t overload_count = 0;
    while (overload_count < 3 && row->overloads[overload_count]) {
        overloads[overload_count] = llvm_type(e, row->overloads[overload_count]);
        overload_count++;
    }
    const unsigned id = LLVMLookupIntrinsicID(row->llvm, strlen(row->llvm));
    if (!id) {
        e_fail(e, "e_op: this LLVM has no %s", row->llvm);
        return row->result == VOID ? (val){NULL} : e_poison(e, row->result);
    }
    const LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->module, id, overloads, overload_count);
    const LLVMTypeRef signature = LLVMIntrinsicGetType(e->context, id, overloads, overload_count);
    LLVMValueRef operands[OPERANDS_MAX] = {NULL};
    LLVMTypeRef types[OPERANDS_MAX];
    for (int i = 0; i < count + row->zeros; i++) operands[i] = i < count ? args[i].v : e_i32(e, 0).v;
    LLVMGetParamTypes(signature, types);
    for (int i = 0; i < count; i++)
        if (LLVMTypeOf(operands[i]) != types[i]) {
            e_fail(e, "e_op: operand %d of %s has the wrong type", i, name);
            return row->result == VOID ? (val){NULL} : e_poison(e, row->result);
        }
    return WRAP(LLVMBuildCall2(e->builder, signature, function, operands, (unsigned)(count + row->zeros), ""));
}

val e_workitem(ir *e) { return e_op(e, "workitem_x", NULL, 0); }
val e_workgroup(ir *e, int axis) {
    static const char *const ids[] = {"workgroup_x", "workgroup_y", "workgroup_z"};
    if (!expect(e, axis >= 0 && axis < 3, "e_workgroup", "axes are 0, 1 and 2")) return e_poison(e, I32);
    e->reads_z |= axis == 2;
    return e_op(e, ids[axis], NULL, 0);
}
val e_uniform(ir *e, val a) { return e_op(e, "readfirstlane", &a, 1); }

/* Keeps loads and stores on their side of a wait or barrier in every pass; a wave that needs no s_barrier (one wave a
 * workgroup) has nothing else that does. Costs no instruction. By its operand it may load from anywhere, and passes
 * that sink loads stop there; a clobber of memory says so too, but LLVM compares a clobber with the names of all
 * registers, which was a quarter of the time of a compile. */
static void memory_fence(ir *e) {
    LLVMTypeRef operand = llvm_type(e, I32);
    LLVMValueRef none = e_i32(e, 0).v;
    const LLVMTypeRef signature = LLVMFunctionType(LLVMVoidTypeInContext(e->context), &operand, 1, 0);
    const LLVMValueRef nothing = LLVMGetInlineAsm(signature, "", 0, "i", 1, 1, 0, LLVMInlineAsmDialectATT, 0);
    LLVMBuildCall2(e->builder, signature, nothing, &none, 1, "");
}

void e_wait(ir *e, int vector_memory, int lds_operations) {
    if (!expect(e, vector_memory <= VMCNT_MAX && lds_operations <= LGKMCNT_MAX, "e_wait", "count beyond the field"))
        return;
    const int vm = vector_memory < 0 ? VMCNT_MAX : vector_memory;
    const int lgkm = lds_operations < 0 ? LGKMCNT_MAX : lds_operations;
    /* vmcnt 3:0 and 15:14, expcnt 6:4 (no wait), lgkmcnt 11:8 */
    const val field = e_i32(e, (vm & 15) | vm >> 4 << 14 | 7 << 4 | lgkm << 8);
    memory_fence(e);
    e_op(e, "waitcnt", &field, 1);
    memory_fence(e);
}

void e_barrier(ir *e) {
    memory_fence(e);
    e_op(e, "barrier", NULL, 0);
    memory_fence(e);
}

void e_sched_fence(ir *e) {
    const val nothing_crosses = e_i32(e, 0);
    e_op(e, "sched_barrier", &nothing_crosses, 1);
}

void e_setprio(ir *e, int priority) {
    if (!expect(e, priority >= 0 && priority <= 3, "e_setprio", "the priority must be 0 to 3")) return;
    const val level = WRAP(LLVMConstInt(llvm_type(e, I16), (unsigned)priority, 0));
    e_op(e, "setprio", &level, 1);
}

void e_sched_group(ir *e, sched_kind kind, int count) {
    const val args[] = {e_i32(e, kind), e_i32(e, count), e_i32(e, 0)};
    e_op(e, "sched_group", args, 3);
}
