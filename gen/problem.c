/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The data of a run, whatever the operator. */
#include "core/memory.h"
#include "gen/family.h"

void problem_release(problem *p) {
    for (size_t i = 0; i < p->buffer_count; i++) mem_free(p->buffers[i].data);
    mem_free(p->reference);
    *p = (problem){0};
}
