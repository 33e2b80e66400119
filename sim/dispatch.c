/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Launches: workgroups over host threads, and the state in which a wave starts.
 * source: LLVM "User Guide for AMDGPU Backend", "Initial Kernel Execution State" */
#include "sim/dispatch.h"

#include <pthread.h>
#include <string.h>

#include "sim/check.h"

#define WAVE_ALIGNMENT 64

/* Kernel code property bits that claim user SGPRs, in register order. */
static const struct {
    uint32_t bit, count;
} user_sgprs[] = {{0, 4}, {1, 2}, {2, 2}, {3, 2}, {4, 2}, {5, 2}, {6, 1}};
enum {
    USER_PRIVATE_BUFFER,
    USER_DISPATCH,
    USER_QUEUE,
    USER_KERNARG,
    USER_DISPATCH_ID,
    USER_FLAT_SCRATCH,
    USER_PRIVATE_SIZE
};

static void set_scalars(wave *w) {
    const launch *l = w->group->launch;
    uint32_t *s = w->sgpr;
    for (int i = 0; i < SGPR_COUNT; i++) s[i] = l->poison ? POISON_WORD : 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < sizeof user_sgprs / sizeof *user_sgprs; i++) {
        if (!(l->properties >> user_sgprs[i].bit & 1)) continue;
        const uint64_t value = i == USER_KERNARG        ? l->kernarg
                               : i == USER_DISPATCH     ? l->packet
                               : i == USER_QUEUE        ? l->packet
                               : i == USER_PRIVATE_SIZE ? l->scratch_bytes
                                                        : 0;
        for (uint32_t word = 0; word < user_sgprs[i].count; word++)
            s[at + word] = word < 2 ? (uint32_t)(value >> (32 * word)) : 0;
        at += user_sgprs[i].count;
    }
    const uint32_t preloaded = l->preload & 0x7f, first = l->preload >> 7 & 0x1ff;
    if (preloaded) memcpy(&s[at], (const unsigned char *)(uintptr_t)l->kernarg + 4 * first, 4 * (size_t)preloaded);
    at = l->rsrc2 >> 1 & 31; /* system SGPRs follow the user SGPRs that the descriptor counts */
    for (int dimension = 0; dimension < 3; dimension++)
        if (l->rsrc2 >> (7 + dimension) & 1) s[at++] = w->group->id[dimension];
    set_sgpr_pair(w, SGPR_VCC, 0);
    set_sgpr_pair(w, SGPR_SHARED_BASE, SHARED_BASE);
    set_sgpr_pair(w, SGPR_SHARED_LIMIT, SHARED_BASE | 0xffffffffu);
    set_sgpr_pair(w, SGPR_PRIVATE_BASE, PRIVATE_BASE);
    set_sgpr_pair(w, SGPR_PRIVATE_LIMIT, PRIVATE_BASE | 0xffffffffu);
    s[SGPR_NULL] = 0;
}

static void start_wave(wave *w) {
    const launch *l = w->group->launch;
    const uint32_t threads = l->block[0] * l->block[1] * l->block[2], first = w->id * LANES;
    const uint32_t left = threads - first;
    if (l->poison)
        for (uint32_t r = 0; r < l->vgprs; r++)
            for (int i = 0; i < LANES; i++) w->vgpr[r][i] = POISON_WORD;
    else
        memset(w->vgpr, 0, l->vgprs * sizeof w->vgpr[0]);
    set_scalars(w);
    set_sgpr_pair(w, SGPR_EXEC, left >= LANES ? UINT64_MAX : (1ull << left) - 1);
    for (uint32_t i = 0; i < LANES && first + i < threads; i++) {
        const uint32_t id = first + i, x = id % l->block[0], y = id / l->block[0] % l->block[1];
        w->vgpr[0][i] = x | y << 10 | id / (l->block[0] * l->block[1]) << 20;
    }
    w->scc = 0;
    w->mode = (l->rsrc1 >> 12 & 0xff) | (l->rsrc1 >> 21 & 1) << 8 | (l->rsrc1 >> 23 & 1) << 9;
    w->pc = w->current = l->entry;
    w->program = l->program;
    w->state = WAVE_READY;
    w->issued = 0;
    if (w->scratch && l->poison)
        for (size_t i = 0; i + 4 <= (size_t)l->scratch_bytes * LANES; i += 4)
            memcpy(w->scratch + i, &(uint32_t){POISON_WORD}, 4);
}

void group_start(group *g, uint64_t index) {
    const launch *l = g->launch;
    g->id[0] = (uint32_t)(index % l->grid[0]);
    g->id[1] = (uint32_t)(index / l->grid[0] % l->grid[1]);
    g->id[2] = (uint32_t)(index / l->grid[0] / l->grid[1]);
    for (uint32_t i = 0; i + 4 <= g->lds_bytes; i += 4) memcpy(g->lds + i, &(uint32_t){l->poison ? POISON_WORD : 0}, 4);
    for (unsigned i = 0; i < g->waves; i++) start_wave(g->wave[i]);
    check_group_start(g);
}

void group_free(group *g) {
    check_group_free(g);
    for (unsigned i = 0; g->wave && i < g->waves; i++) {
        if (!g->wave[i]) continue;
        access_free_all(g->wave[i]);
        mem_free(g->wave[i]->scratch);
        mem_free(g->wave[i]->memory);
    }
    mem_free(g->wave);
    mem_free(g->lds);
}

int group_make(group *g, launch *l) {
    const uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    *g = (group){.launch = l, .lds_bytes = l->lds_bytes, .waves = (threads + LANES - 1) / LANES};
    g->wave = mem_alloc(g->waves * sizeof *g->wave);
    g->lds = mem_alloc(g->lds_bytes + 16);
    if (!g->wave || !g->lds) return 0;
    for (unsigned i = 0; i < g->waves; i++) {
        unsigned char *raw = mem_alloc(sizeof(wave) + WAVE_ALIGNMENT);
        if (!raw) return 0;
        wave *w = (wave *)(void *)(raw + WAVE_ALIGNMENT - (uintptr_t)raw % WAVE_ALIGNMENT);
        g->wave[i] = w;
        w->memory = raw;
        w->group = g;
        w->id = i;
        w->pending_end = &w->pending;
        if (l->scratch_bytes && !(w->scratch = mem_alloc((size_t)l->scratch_bytes * LANES))) return 0;
    }
    return check_group_make(g);
}

/* Beyond 64 bits the last groups are out of any run's reach. */
static uint64_t group_count(const launch *l) {
    uint64_t groups;
    return __builtin_mul_overflow((uint64_t)l->grid[0] * l->grid[1], l->grid[2], &groups) ? UINT64_MAX : groups;
}

static void *run_groups(void *argument) {
    launch *l = argument;
    group g;
    const uint64_t groups = group_count(l);
    if (!group_make(&g, l)) {
        if (!atomic_exchange(&l->faulted, 1)) strcpy(l->fault, "host memory for waves ran out");
        group_free(&g);
        return NULL;
    }
    for (;;) {
        const uint64_t index = atomic_fetch_add(&l->next_group, 1);
        if (index >= groups || atomic_load(&l->faulted)) break;
        group_start(&g, index);
        group_run(&g);
    }
    group_free(&g);
    return NULL;
}

enum { THREADS_MAX = 64 };

void launch_run(launch *l) {
    const uint64_t groups = group_count(l);
    const unsigned wanted = (unsigned)(groups < l->threads ? groups : l->threads);
    pthread_t thread[THREADS_MAX];
    unsigned started = 0;
    if (!check_open(l)) {
        atomic_store(&l->faulted, 1);
        strcpy(l->fault, "host memory for checks ran out");
        return;
    }
    while (started + 1 < wanted && started < THREADS_MAX && pthread_create(&thread[started], NULL, run_groups, l) == 0)
        started++;
    run_groups(l);
    while (started) pthread_join(thread[--started], NULL);
    check_close(l);
    for (size_t i = 0; i < l->program->count; i++)
        if (l->program->executed[i]) isa_mark(l->program->code[i].row);
}
