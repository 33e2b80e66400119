/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Types, constants, integer and float arithmetic, vectors. */
#include "ir/context.h"

#include <stdarg.h>
#include <stdio.h>

void e_fail(ir *e, const char *format, ...) {
    if (e->failed) return;
    e->failed = 1;
    va_list args;
    va_start(args, format);
    vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
}

const target *e_target(const ir *e) { return &e->target; }

int expect(ir *e, int holds, const char *verb, const char *rule) {
    if (!holds) e_fail(e, "%s: %s", verb, rule);
    return !e->failed;
}

LLVMTypeRef llvm_pointer(ir *e, unsigned space) { return LLVMPointerTypeInContext(e->context, space); }

LLVMTypeRef llvm_type(ir *e, type t) {
    if (t & POINTER_BIT) return llvm_pointer(e, (unsigned)(t & ~POINTER_BIT));
    LLVMTypeRef element = LLVMInt32TypeInContext(e->context);
    if (t == PAIR) return LLVMStructTypeInContext(e->context, (LLVMTypeRef[]){element, element}, 2, 0);
    switch (TYPE_ELEMENT(t)) {
    case VOID: return LLVMVoidTypeInContext(e->context);
    case I1: element = LLVMInt1TypeInContext(e->context); break;
    case I8: element = LLVMInt8TypeInContext(e->context); break;
    case I16: element = LLVMInt16TypeInContext(e->context); break;
    case I32: element = LLVMInt32TypeInContext(e->context); break;
    case I64: element = LLVMInt64TypeInContext(e->context); break;
    default: element = LLVMFloatTypeInContext(e->context); break;
    }
    return TYPE_LENGTH(t) > 1 ? LLVMVectorType(element, (unsigned)TYPE_LENGTH(t)) : element;
}

static type element_of(LLVMTypeRef t) {
    switch (LLVMGetTypeKind(t)) {
    case LLVMFloatTypeKind: return F32;
    case LLVMIntegerTypeKind:
        switch (LLVMGetIntTypeWidth(t)) {
        case 1: return I1;
        case 8: return I8;
        case 16: return I16;
        case 32: return I32;
        case 64: return I64;
        default: return VOID;
        }
    default: return VOID;
    }
}

type e_type(ir *e, val a) {
    (void)e;
    const LLVMTypeRef t = LLVMTypeOf(a.v);
    if (LLVMGetTypeKind(t) != LLVMVectorTypeKind) return element_of(t);
    return VEC((int)LLVMGetVectorSize(t), element_of(LLVMGetElementType(t)));
}

val e_i32(ir *e, int64_t x) { return WRAP(LLVMConstInt(llvm_type(e, I32), (uint32_t)x, 0)); }
val e_i64(ir *e, int64_t x) { return WRAP(LLVMConstInt(llvm_type(e, I64), (uint64_t)x, 0)); }
val e_f32(ir *e, double x) { return WRAP(LLVMConstReal(llvm_type(e, F32), x)); }
val e_poison(ir *e, type t) { return WRAP(LLVMGetPoison(llvm_type(e, t))); }
val e_zero(ir *e, type t) { return WRAP(LLVMConstNull(llvm_type(e, t))); }

static int is_integer(type t) { return TYPE_ELEMENT(t) >= I1 && TYPE_ELEMENT(t) <= I64; }
static int is_float(type t) { return TYPE_ELEMENT(t) == F32; }

static int integers(ir *e, const char *verb, val a, val b) {
    return expect(e, e_type(e, a) == e_type(e, b) && is_integer(e_type(e, a)), verb,
                  "both operands must be integers of one type");
}
static int floats(ir *e, const char *verb, val a, val b) {
    return expect(e, e_type(e, a) == e_type(e, b) && is_float(e_type(e, a)), verb,
                  "both operands must be floats of one type");
}

#define INTEGER_VERB(name, build)                                                                                      \
    val name(ir *e, val a, val b) {                                                                                    \
        return integers(e, #name, a, b) ? WRAP(build(e->builder, a.v, b.v, "")) : e_poison(e, e_type(e, a));           \
    }
INTEGER_VERB(e_add, LLVMBuildAdd)
INTEGER_VERB(e_sub, LLVMBuildSub)
INTEGER_VERB(e_mul, LLVMBuildMul)
INTEGER_VERB(e_udiv, LLVMBuildUDiv)
INTEGER_VERB(e_and, LLVMBuildAnd)
INTEGER_VERB(e_or, LLVMBuildOr)
INTEGER_VERB(e_xor, LLVMBuildXor)
INTEGER_VERB(e_shr_by, LLVMBuildLShr)

static val constant(val like, int64_t x) { return WRAP(LLVMConstInt(LLVMTypeOf(like.v), (uint64_t)x, 1)); }

val e_shl(ir *e, val a, int bits) {
    if (!expect(e, is_integer(e_type(e, a)), "e_shl", "the operand must be an integer")) return e_poison(e, I32);
    return bits ? WRAP(LLVMBuildShl(e->builder, a.v, constant(a, bits).v, "")) : a;
}
val e_shr(ir *e, val a, int bits) {
    if (!expect(e, is_integer(e_type(e, a)), "e_shr", "the operand must be an integer")) return e_poison(e, I32);
    return bits ? WRAP(LLVMBuildLShr(e->builder, a.v, constant(a, bits).v, "")) : a;
}
val e_addi(ir *e, val a, int64_t b) {
    if (!expect(e, is_integer(e_type(e, a)), "e_addi", "the operand must be an integer")) return e_poison(e, I32);
    return b ? e_add(e, a, constant(a, b)) : a;
}
val e_muli(ir *e, val a, int64_t b) {
    if (!expect(e, is_integer(e_type(e, a)), "e_muli", "the operand must be an integer")) return e_poison(e, I32);
    for (int bits = 0; bits < 32; bits++)
        if (b == (int64_t)1 << bits) return e_shl(e, a, bits);
    return e_mul(e, a, constant(a, b));
}

static val compare(ir *e, LLVMIntPredicate predicate, val a, val b) {
    if (!integers(e, "compare", a, b)) return e_poison(e, I1);
    return WRAP(LLVMBuildICmp(e->builder, predicate, a.v, b.v, ""));
}
val e_less(ir *e, val a, val b) { return compare(e, LLVMIntSLT, a, b); }
val e_equal(ir *e, val a, val b) { return compare(e, LLVMIntEQ, a, b); }
val e_not(ir *e, val a) {
    if (!expect(e, e_type(e, a) == I1, "e_not", "the operand must be I1")) return e_poison(e, I1);
    return WRAP(LLVMBuildNot(e->builder, a.v, ""));
}
val e_min(ir *e, val a, val b) { return e_select(e, e_less(e, a, b), a, b); }
val e_max(ir *e, val a, val b) { return e_select(e, e_less(e, a, b), b, a); }

val e_select(ir *e, val condition, val yes, val no) {
    if (!expect(e, e_type(e, condition) == I1, "e_select", "the condition must be I1") ||
        !expect(e, LLVMTypeOf(yes.v) == LLVMTypeOf(no.v), "e_select", "both choices must have one type"))
        return e_poison(e, I32);
    return WRAP(LLVMBuildSelect(e->builder, condition.v, yes.v, no.v, ""));
}

static val convert(ir *e, LLVMOpcode op, val a, type from, type to) {
    if (!expect(e, e_type(e, a) == from, "conversion", "the operand has the wrong type")) return e_poison(e, to);
    return WRAP(LLVMBuildCast(e->builder, op, a.v, llvm_type(e, to), ""));
}
val e_sext(ir *e, val a) { return convert(e, LLVMSExt, a, I32, I64); }
val e_zext(ir *e, val a) { return convert(e, LLVMZExt, a, I32, I64); }
val e_trunc(ir *e, val a) { return convert(e, LLVMTrunc, a, I64, I32); }
val e_zext_byte(ir *e, val a) { return convert(e, LLVMZExt, a, I8, I32); }

val e_ceil_div(ir *e, val a, val b) { return e_udiv(e, e_addi(e, e_add(e, a, b), -1), b); }
val e_align_down(ir *e, val a, int64_t pow2) {
    if (!expect(e, is_integer(e_type(e, a)), "e_align_down", "the operand must be an integer")) return a;
    return e_and(e, a, constant(a, -pow2));
}

static val flagged(val a, LLVMFastMathFlags flags) {
    if (LLVMCanValueUseFastMathFlags(a.v)) LLVMSetFastMathFlags(a.v, flags);
    return a;
}
static LLVMFastMathFlags sum_flags(int fast) {
    return fast ? LLVMFastMathAllowReassoc | LLVMFastMathAllowContract | LLVMFastMathNoSignedZeros : 0;
}
val e_fadd(ir *e, val a, val b, int fast) {
    if (!floats(e, "e_fadd", a, b)) return e_poison(e, e_type(e, a));
    return flagged(WRAP(LLVMBuildFAdd(e->builder, a.v, b.v, "")), sum_flags(fast));
}
val e_fmul(ir *e, val a, val b, int fast) {
    if (!floats(e, "e_fmul", a, b)) return e_poison(e, e_type(e, a));
    return flagged(WRAP(LLVMBuildFMul(e->builder, a.v, b.v, "")), sum_flags(fast));
}
val e_fma(ir *e, val a, val b, val c) {
    if (!floats(e, "e_fma", a, b) || !floats(e, "e_fma", b, c)) return e_poison(e, e_type(e, a));
    const val args[] = {a, b, c};
    return e_op(e, TYPE_LENGTH(e_type(e, a)) == 2 ? "fma2" : "fma", args, 3);
}
/* Not a maximum: those turn a NaN product into 0, a wrong finite number, or take several instructions on chips without
 * v_maximum3. */
val e_twice_relu(ir *e, val a) {
    if (!expect(e, e_type(e, a) == F32, "e_twice_relu", "the operand must be F32")) return e_poison(e, F32);
    return e_fadd(e, a, e_op(e, "abs", &a, 1), 0);
}

static val narrow(ir *e, const char *verb, val a, LLVMTypeRef to) {
    const type t = e_type(e, a);
    const int n = TYPE_LENGTH(t);
    const type bits = n > 1 ? VEC(n, I16) : I16;
    if (!expect(e, TYPE_ELEMENT(t) == F32, verb, "the operand must be F32")) return e_poison(e, bits);
    if (n > 1) to = LLVMVectorType(to, (unsigned)n);
    return e_bitcast(e, WRAP(LLVMBuildFPTrunc(e->builder, a.v, to, "")), bits);
}
val e_bf16(ir *e, val a) { return narrow(e, "e_bf16", a, LLVMBFloatTypeInContext(e->context)); }
val e_f16(ir *e, val a) { return narrow(e, "e_f16", a, LLVMHalfTypeInContext(e->context)); }
val e_f32_from_bf16(ir *e, val bits) {
    if (!expect(e, e_type(e, bits) == I16, "e_f32_from_bf16", "the operand must be I16")) return e_poison(e, F32);
    const LLVMValueRef narrow_one = LLVMBuildBitCast(e->builder, bits.v, LLVMBFloatTypeInContext(e->context), "");
    return WRAP(LLVMBuildFPExt(e->builder, narrow_one, llvm_type(e, F32), ""));
}

val e_element(ir *e, val vector, int i) {
    const type t = e_type(e, vector);
    if (!expect(e, i >= 0 && i < TYPE_LENGTH(t) && TYPE_LENGTH(t) > 1, "e_element", "no such element"))
        return e_poison(e, TYPE_ELEMENT(t));
    return WRAP(LLVMBuildExtractElement(e->builder, vector.v, e_i32(e, i).v, ""));
}
val e_vector(ir *e, const val *elements, int n) {
    val vector = e_poison(e, VEC(n, e_type(e, elements[0])));
    for (int i = 0; i < n; i++) {
        if (!expect(e, e_type(e, elements[i]) == e_type(e, elements[0]), "e_vector", "elements must have one type"))
            break;
        vector = WRAP(LLVMBuildInsertElement(e->builder, vector.v, elements[i].v, e_i32(e, i).v, ""));
    }
    return vector;
}
/* n elements of low and high, which lie end to end, from `first` on. */
static val shuffle(ir *e, val low, val high, int first, int n) {
    LLVMValueRef places[32];
    for (int i = 0; i < n; i++) places[i] = e_i32(e, first + i).v;
    return WRAP(LLVMBuildShuffleVector(e->builder, low.v, high.v, LLVMConstVector(places, (unsigned)n), ""));
}
val e_join(ir *e, val low, val high) {
    const type t = e_type(e, low);
    const int n = TYPE_LENGTH(t);
    if (!expect(e, t == e_type(e, high) && n <= 16, "e_join", "both halves must have one type"))
        return e_poison(e, VEC(2 * n, TYPE_ELEMENT(t)));
    return shuffle(e, low, high, 0, 2 * n);
}
val e_slice(ir *e, val vector, int first, int n) {
    const type t = e_type(e, vector);
    if (!expect(e, first >= 0 && n > 1 && n <= 32 && first + n <= TYPE_LENGTH(t), "e_slice", "no such elements"))
        return e_poison(e, VEC(n, TYPE_ELEMENT(t)));
    return shuffle(e, vector, e_poison(e, t), first, n);
}
val e_bitcast(ir *e, val a, type to) { return WRAP(LLVMBuildBitCast(e->builder, a.v, llvm_type(e, to), "")); }
