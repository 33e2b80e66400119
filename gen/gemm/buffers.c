/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Buffers of a matrix product's run: between guards, and what is seen of them when they come back. */
#include "gen/gemm/buffers.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"

cdnagen_status gemm_buffer(const char *name, uint64_t size, int output, problem_buffer *out) {
    if (size > SIZE_MAX - 2 * GEMM_GUARD_BYTES) return fail_no_memory();
    *out = (problem_buffer){.name = name, .bytes = size + 2 * GEMM_GUARD_BYTES, .output = output};
    return CDNAGEN_OK;
}

cdnagen_status gemm_buffer_allocate(problem_buffer *b) {
    b->data = mem_alloc(b->bytes);
    if (!b->data) return fail_no_memory();
    memset(b->data, 0xff, GEMM_GUARD_BYTES);
    memset((char *)b->data + b->bytes - GEMM_GUARD_BYTES, 0xff, GEMM_GUARD_BYTES);
    return CDNAGEN_OK;
}

void *gemm_buffer_inside(void *data) { return (char *)data + GEMM_GUARD_BYTES; }
size_t gemm_buffer_bytes(const problem_buffer *b) { return b->bytes - 2 * GEMM_GUARD_BYTES; }

void gemm_buffer_poison(problem_buffer *c) {
    uint16_t *const places = gemm_buffer_inside(c->data);
    for (size_t i = 0; i < gemm_buffer_bytes(c) / sizeof *places; i++) places[i] = GEMM_POISON;
}

static int guards_intact(const problem_buffer *b, const char *back) {
    for (size_t i = 0; i < GEMM_GUARD_BYTES; i++)
        if ((uint8_t)back[i] != 0xff || (uint8_t)back[b->bytes - GEMM_GUARD_BYTES + i] != 0xff) return 0;
    return 1;
}

/* The next launch counts on them. */
static int all_zero(const char *workspace_back, uint64_t counters) {
    for (uint64_t i = 0; i < counters * sizeof(uint32_t); i++)
        if (workspace_back[GEMM_GUARD_BYTES + i]) return 0;
    return 1;
}

void gemm_grade_rest(const problem_buffer *c, const char *c_back, const problem_buffer *workspace,
                     const char *workspace_back, uint64_t counters, grade *g) {
    const struct {
        int intact;
        const char *what;
    } rest[] = {{guards_intact(c, c_back), "a guard of c was written"},
                {guards_intact(workspace, workspace_back), "a guard of the workspace was written"},
                {all_zero(workspace_back, counters), "a counter of the workspace was not left zero"}};
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
        if (!rest[i].intact) {
            g->pass = g->guards_intact = 0;
            snprintf(g->first, sizeof g->first, "%s", rest[i].what);
        }
}
