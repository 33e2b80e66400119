/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The workload's data to the device, and launches of them. */
#include "study/operands.h"

#include "study/check.h"

cdnagen_status operands_launch(void *user, void *stream) {
    operands *const o = user;
    return launch_operator(o->plan->family, o->kernel, o->args, stream);
}

cdnagen_status operands_open(operands *o) {
    const family *const f = o->plan->family;
    TRY(f->workload->make(o->plan, 1, &o->problem));
    o->made = 1;
    for (size_t i = 0; i < o->problem.buffer_count; i++) {
        const problem_buffer *const b = &o->problem.buffers[i];
        TRY(cdnagen_alloc(o->ctx, b->bytes, &o->device[i]));
        TRY(cdnagen_copy_to_device(o->ctx, o->device[i], b->data, b->bytes));
    }
    o->args = mem_alloc(f->args_bytes);
    if (!o->args) return fail_no_memory();
    f->workload->arguments(o->plan, &o->problem, o->device, o->args);
    return CDNAGEN_OK;
}

void operands_close(operands *o) {
    for (size_t i = 0; i < PROBLEM_BUFFERS_MAX; i++)
        if (o->device[i]) cdnagen_free_memory(o->ctx, o->device[i]);
    mem_free(o->args);
    if (o->made) problem_release(&o->problem);
}
