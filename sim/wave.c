/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Running waves: the instruction loop, switching between a workgroup's waves, barriers, faults. */
#include "sim/wave.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/check.h"

void wave_fault(wave *w, int lane, const char *format, ...) {
    launch *l = w->group->launch;
    w->state = WAVE_FAULTED;
    if (atomic_exchange(&l->faulted, 1)) return;
    char what[512], bytes_text[64] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const inst *in = w->current;
    for (uint32_t i = 0; i < in->bytes && i < 16; i += 4) {
        uint32_t word;
        memcpy(&word, w->program->bytes + in->address + i, 4);
        snprintf(bytes_text + strlen(bytes_text), sizeof bytes_text - strlen(bytes_text), " %08x", word);
    }
    char lane_text[24] = "";
    if (lane >= 0) snprintf(lane_text, sizeof lane_text, ", lane %d", lane);
    const uint32_t *id = w->group->id;
    snprintf(l->fault, sizeof l->fault,
             "%s; instruction at 0x%llx (.text+0x%x): %s [%s]; workgroup %u,%u,%u, wave %u%s", what,
             (unsigned long long)(w->program->base + in->address), in->address, in->text,
             bytes_text + (*bytes_text == ' '), id[0], id[1], id[2], w->id, lane_text);
}

void wave_jump(wave *w, uint64_t address) {
    const program *p = w->program;
    const uint64_t offset = address - p->base;
    const uint32_t index = offset < p->text_bytes && offset % 4 == 0 ? p->index_of[offset / 4] : UINT32_MAX;
    if (index == UINT32_MAX)
        wave_fault(w, -1, "jump to 0x%llx, where no instruction starts", (unsigned long long)address);
    else
        w->pc = p->code + index;
}

static inline __attribute__((always_inline)) void run(wave *w, unsigned budget, int checked) {
    const program *p = w->program;
    for (; budget && w->state == WAVE_READY; budget--) {
        const inst *in = w->pc;
        w->current = in;
        w->pc = in + 1;
        if (!in->run) {
            wave_fault(w, -1, in->row ? "this form of the instruction is not simulated" : "instruction not simulated");
            return;
        }
        /* Stored once: host threads that store into one cache line again and again wait for each other. */
        unsigned char *const executed = &p->executed[in - p->code];
        if (!__atomic_load_n(executed, __ATOMIC_RELAXED)) __atomic_store_n(executed, 1, __ATOMIC_RELAXED);
        if (checked && !check_step(w, in)) return;
        in->run(w, in);
        w->issued++;
    }
}

/* Two copies: a launch without checks does not ask about them. */
static void run_wave(wave *w, unsigned budget) { run(w, budget, 0); }
static void run_checked(wave *w, unsigned budget) { run(w, budget, 1); }

void wave_step(wave *w) { run_wave(w, 1); }

/* All waves that have not ended stand at the barrier. */
static int barrier_complete(const group *g) {
    for (unsigned i = 0; i < g->waves; i++)
        if (g->wave[i]->state == WAVE_READY) return 0;
    return 1;
}

static void check_end(wave *w) {
    const uint64_t limit = w->group->launch->limit;
    if (limit && w->issued >= limit && w->state == WAVE_READY)
        wave_fault(w, -1,
                   "the wave has run %llu million instructions and does not end (simulator mode limit=N raises this)",
                   (unsigned long long)(w->issued / 1000000));
}

enum { SWITCH_INTERVAL = 4096 }; /* instructions; fixed, so that a run repeats */

void group_run(group *g) {
    for (;;) {
        unsigned ended = 0;
        for (unsigned i = 0; i < g->waves; i++) {
            (g->check ? run_checked : run_wave)(g->wave[i], SWITCH_INTERVAL);
            check_end(g->wave[i]);
            if (atomic_load_explicit(&g->launch->faulted, memory_order_relaxed)) return;
            ended += g->wave[i]->state == WAVE_ENDED;
        }
        if (ended == g->waves) return;
        if (!barrier_complete(g)) continue;
        for (unsigned i = 0; i < g->waves; i++)
            if (g->wave[i]->state == WAVE_AT_BARRIER) g->wave[i]->state = WAVE_READY;
    }
}
