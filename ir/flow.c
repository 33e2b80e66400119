/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Emitted control flow: loops with named carried values, ifs. */
#include "ir/context.h"

LLVMBasicBlockRef new_block(ir *e, const char *name) {
    return LLVMAppendBasicBlockInContext(e->context, e->function, name);
}

void e_carry(ir *e, carried_values *c, val *values, int count) {
    if (!expect(e, c->count + count <= LOOP_CARRIED_MAX, "e_carry", "too many carried values")) return;
    for (int i = 0; i < count; i++) c->value[c->count++] = &values[i];
}

/* The test is at the bottom, behind a guard: the body is one block with one branch, whatever the trip count. */
void e_loop_begin(ir *e, e_loop *loop, val begin, val end, val step, val *const *carried, int count) {
    *loop = (e_loop){.step = step, .end = end, .index = begin, .open = 1};
    if (!expect(e, count <= LOOP_CARRIED_MAX, "e_loop_begin", "too many carried values") ||
        !expect(e, e_type(e, begin) == I32 && e_type(e, end) == I32 && e_type(e, step) == I32, "e_loop_begin",
                "begin, end and step must be I32"))
        return;
    loop->carried_count = count;
    loop->entry = LLVMGetInsertBlock(e->builder);
    loop->body = new_block(e, "loop");
    loop->done = new_block(e, "done");
    LLVMBuildCondBr(e->builder, e_less(e, begin, end).v, loop->body, loop->done);
    LLVMPositionBuilderAtEnd(e->builder, loop->body);
    loop->index = WRAP(LLVMBuildPhi(e->builder, llvm_type(e, I32), "i"));
    LLVMAddIncoming(loop->index.v, &begin.v, &loop->entry, 1);
    for (int i = 0; i < count; i++) {
        loop->carried[i] = carried[i];
        loop->before[i] = *carried[i];
        loop->phi[i] = WRAP(LLVMBuildPhi(e->builder, LLVMTypeOf(carried[i]->v), "carried"));
        LLVMAddIncoming(loop->phi[i].v, &loop->before[i].v, &loop->entry, 1);
        *carried[i] = loop->phi[i];
    }
}

e_loop e_loop_start(ir *e, val begin, val end, val step, val *const *carried, int count) {
    e_loop loop;
    e_loop_begin(e, &loop, begin, end, step, carried, count);
    return loop;
}

void e_loop_stop(e_loop *loop, val condition) { loop->stop = condition; }

int e_loop_end(ir *e, e_loop *loop) {
    loop->open = 0;
    if (e->failed || !loop->body) return 0;
    val next = e_add(e, loop->index, loop->step);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
    val more = e_less(e, next, loop->end);
    if (loop->stop.v) more = e_and(e, more, e_not(e, loop->stop));
    LLVMBuildCondBr(e->builder, more.v, loop->body, loop->done);
    LLVMAddIncoming(loop->index.v, &next.v, &latch, 1);
    LLVMPositionBuilderAtEnd(e->builder, loop->done);
    for (int i = 0; i < loop->carried_count; i++) {
        const LLVMTypeRef carried = LLVMTypeOf(loop->phi[i].v);
        if (!expect(e, LLVMTypeOf(loop->carried[i]->v) == carried, "e_loop_end", "a carried value changed its type"))
            return 0;
        LLVMAddIncoming(loop->phi[i].v, &loop->carried[i]->v, &latch, 1);
        const LLVMValueRef last = LLVMBuildPhi(e->builder, carried, "last");
        LLVMAddIncoming(last, &loop->before[i].v, &loop->entry, 1);
        LLVMAddIncoming(last, &loop->carried[i]->v, &latch, 1);
        *loop->carried[i] = WRAP(last);
    }
    return 0;
}

static void set_odds(ir *e, LLVMValueRef branch, e_odds odds) {
    enum { OFTEN = 1000 };
    LLVMMetadataRef weights[] = {LLVMMDStringInContext2(e->context, "branch_weights", 14),
                                 LLVMValueAsMetadata(e_i32(e, odds == E_USUALLY ? OFTEN : 1).v),
                                 LLVMValueAsMetadata(e_i32(e, odds == E_RARELY ? OFTEN : 1).v)};
    const LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, weights, 3);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(e->context, "prof", 4), LLVMMetadataAsValue(e->context, node));
}

e_branch e_if_begin(ir *e, val condition, e_odds odds) {
    e_branch branch = {.open = 1};
    if (!expect(e, e_type(e, condition) == I1, "e_if_begin", "the condition must be I1")) return branch;
    const LLVMBasicBlockRef then = new_block(e, "then");
    branch.done = new_block(e, "join");
    const LLVMValueRef jump = LLVMBuildCondBr(e->builder, condition.v, then, branch.done);
    if (odds != E_EITHER) set_odds(e, jump, odds);
    LLVMPositionBuilderAtEnd(e->builder, then);
    return branch;
}

void e_if_end(ir *e, e_branch *branch) {
    branch->open = 0;
    if (e->failed || !branch->done) return;
    LLVMBuildBr(e->builder, branch->done);
    LLVMPositionBuilderAtEnd(e->builder, branch->done);
}
