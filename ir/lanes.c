/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What lanes learn of each other: sums across the rows of a wave, and conditions of any lane. */
#include "ir/context.h"

static val lane_of(ir *e) {
    const val all = e_i32(e, -1), none = e_i32(e, 0);
    const val low = e_op(e, "mbcnt_lo", (const val[]){all, none}, 2);
    return e_op(e, "mbcnt_hi", (const val[]){all, low}, 2);
}

static val is_lower(ir *e, int distance) { return e_equal(e, e_and(e, lane_of(e), e_i32(e, distance)), e_i32(e, 0)); }

static val byte_across(ir *e, int distance) { return e_muli(e, e_xor(e, lane_of(e), e_i32(e, distance)), 4); }

/* What depends on the lane alone is made once, where the kernel begins: no pass takes it out of a loop. */
static val at_entry(ir *e, val *kept, val (*make)(ir *e, int distance), int distance) {
    if (kept->v) return *kept;
    const LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
    const LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(e->function);
    const LLVMValueRef first = LLVMGetFirstInstruction(entry);
    if (first)
        LLVMPositionBuilderBefore(e->builder, first);
    else
        LLVMPositionBuilderAtEnd(e->builder, entry);
    *kept = make(e, distance);
    LLVMPositionBuilderAtEnd(e->builder, here);
    return *kept;
}

/* One instruction trades a's upper part with b's lower one, so that both results hold what each lane adds. */
static val sum_by_swap(ir *e, const char *swap, val a, val b, int fast) {
    const val no = e_zero(e, I1);
    const val first = e_bitcast(e, a, I32), second = e_bitcast(e, b, I32);
    const val args[] = {first, second, no, no};
    const val pair = e_op(e, swap, args, 4);
    if (e->failed) return e_poison(e, F32);
    const val low = e_bitcast(e, WRAP(LLVMBuildExtractValue(e->builder, pair.v, 0, "")), F32);
    const val high = e_bitcast(e, WRAP(LLVMBuildExtractValue(e->builder, pair.v, 1, "")), F32);
    return e_fadd(e, low, high, fast);
}

/* The value of lane ^ distance. The LDS crossbar moves it, without LDS memory and without the VALU. source: AMD CDNA3
 * ISA guide, DS_SWIZZLE_B32 and DS_BPERMUTE_B32 */
static val from_across(ir *e, val a, int distance) {
    const val bits = e_bitcast(e, a, I32);
    if (distance < 32) {
        const val pattern = e_i32(e, distance << 10 | 0x1f); /* lane & 0x1f, then ^ distance */
        return e_bitcast(e, e_op(e, "swizzle", (const val[]){bits, pattern}, 2), F32);
    }
    const val source = at_entry(e, &e->byte_across, byte_across, distance);
    return e_bitcast(e, e_op(e, "bpermute", (const val[]){source, bits}, 2), F32);
}

static val sum_by_exchange(ir *e, int distance, val a, val b, int fast) {
    if (!expect(e, e_type(e, a) == F32 && e_type(e, b) == F32, "e_sum_swap", "both operands must be F32"))
        return e_poison(e, F32);
    val own = a, other = b;
    if (a.v != b.v) {
        const val lower = at_entry(e, &e->is_lower[distance / 32], is_lower, distance);
        own = e_select(e, lower, a, b);
        other = e_select(e, lower, b, a);
    }
    return e_fadd(e, own, from_across(e, other, distance), fast);
}

val e_sum_swap32(ir *e, val a, val b, int fast) {
    return e->target.chip->has_permlane_swap ? sum_by_swap(e, "permlane32_swap", a, b, fast)
                                             : sum_by_exchange(e, 32, a, b, fast);
}
val e_sum_swap16(ir *e, val a, val b, int fast) {
    return e->target.chip->has_permlane_swap ? sum_by_swap(e, "permlane16_swap", a, b, fast)
                                             : sum_by_exchange(e, 16, a, b, fast);
}

val e_any(ir *e, val condition) {
    if (!expect(e, e_type(e, condition) == I1, "e_any", "the condition must be I1")) return e_poison(e, I1);
    const val lanes = e_op(e, "ballot", &condition, 1);
    return e_not(e, e_equal(e, lanes, e_i64(e, 0)));
}

/* source: AMD CDNA4 ISA guide, "Data Parallel Processing" */
static val moved(ir *e, val a, int control, int rows, val none) {
    const val no = e_zero(e, I1);
    const val args[] = {none, a, e_i32(e, control), e_i32(e, rows), e_i32(e, 15), no};
    return e_op(e, "update_dpp", args, 6);
}

/* Within rows of 16 lanes by 1, 2, 4, 8; then row 0's sum to row 1 and row 2's to row 3; then row 1's to rows 2 and
 * 3. */
val e_scan_step(ir *e, val a, int step, val none) {
    enum { ROW_SHR = 0x110, ROW_BCAST15 = 0x142, ROW_BCAST31 = 0x143 };
    static const struct {
        int control, rows;
    } moves[SCAN_STEPS] = {{ROW_SHR + 1, 15}, {ROW_SHR + 2, 15}, {ROW_SHR + 4, 15},
                           {ROW_SHR + 8, 15}, {ROW_BCAST15, 10}, {ROW_BCAST31, 12}};
    if (!expect(e, step >= 0 && step < SCAN_STEPS, "e_scan_step", "steps are 0 to 5")) return none;
    return moved(e, a, moves[step].control, moves[step].rows, none);
}

val e_lane_below(ir *e, val a, val none) {
    enum { WAVE_SHR1 = 0x138 };
    return moved(e, a, WAVE_SHR1, 15, none);
}

val e_from_lane(ir *e, val a, val lane) { return e_op(e, "readlane", (const val[]){a, lane}, 2); }

val e_with_lane(ir *e, val a, val lane, val value) { return e_op(e, "writelane", (const val[]){value, lane, a}, 3); }

val e_first_lane(ir *e, val condition) {
    if (!expect(e, e_type(e, condition) == I1, "e_first_lane", "the condition must be I1")) return e_poison(e, I32);
    const val lanes = e_op(e, "ballot", &condition, 1), of_none = e_zero(e, I1);
    return e_trunc(e, e_op(e, "first_bit", (const val[]){lanes, of_none}, 2));
}
