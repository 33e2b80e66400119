/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The checks' state, and the two places at which a checked launch calls them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check_state.h"
#include "sim/lanes.h"

/* A memory instruction with its places known, before it is performed. */
static void access_check(void *observer, wave *w, const transfer *a) {
    (void)observer;
    memory_op *const op = check_waits_access(w, a);
    check_lds_access(w, a, op);
    if (w->check->undefined && !check_stopped(w)) check_undefined_access(w, a, check_uses(w, a->in));
}

int check_open(launch *l) {
    if (l->check_level == CHECK_OFF) return 1;
    struct check_program *c = mem_alloc(sizeof *c);
    inst_uses *uses = mem_alloc((l->program->count + 1) * sizeof *uses);
    if (!c || !uses) {
        mem_free(c);
        mem_free(uses);
        return 0;
    }
    for (size_t i = 0; i < l->program->count; i++) {
        check_uses_of(&l->program->code[i], &uses[i]);
        uses[i].produces = check_slots_of(&uses[i], 0);
        uses[i].consumes = check_slots_of(&uses[i], 1);
    }
    c->uses = uses;
    l->check = c;
    l->observe = access_check;
    return 1;
}

void check_close(launch *l) {
    if (!l->check) return;
    mem_free(l->check->uses);
    mem_free(l->check);
    l->check = NULL;
}

static int wave_make(wave *w) {
    const launch *l = w->group->launch;
    struct check_wave *c = w->check = mem_alloc(sizeof *c);
    if (!c) return 0;
    if (l->check_level < CHECK_ALL) return 1;
    c->undefined = mem_alloc(sizeof *c->undefined);
    if (!c->undefined) return 0;
    c->undefined->group = &w->group->check->undefined;
    c->undefined->program = l->program;
    c->undefined->current = l->entry;
    return !l->scratch_bytes || (c->undefined->scratch = mem_alloc((size_t)l->scratch_bytes * LANES)) != NULL;
}

int check_group_make(group *g) {
    const launch *l = g->launch;
    if (!l->check) return 1;
    struct check_group *c = g->check = mem_alloc(sizeof *c);
    if (!c) return 0;
    c->ops = mem_alloc(MEMORY_OPS * sizeof *c->ops);
    c->cells = mem_alloc((g->lds_bytes + 1) * sizeof *c->cells);
    c->undefined = (group){.launch = g->launch, .lds_bytes = g->lds_bytes, .lds = mem_alloc(g->lds_bytes + 16)};
    if (!c->ops || !c->cells || !c->undefined.lds) return 0;
    for (unsigned i = 0; i < g->waves; i++)
        if (!wave_make(g->wave[i])) return 0;
    return 1;
}

void check_group_free(group *g) {
    struct check_group *c = g->check;
    if (!c) return;
    for (unsigned i = 0; i < g->waves; i++) {
        struct check_wave *w = g->wave[i] ? g->wave[i]->check : NULL;
        if (!w) continue;
        if (w->undefined) mem_free(w->undefined->scratch);
        mem_free(w->undefined);
        mem_free(w);
    }
    mem_free(c->ops);
    mem_free(c->cells);
    mem_free(c->undefined.lds);
    mem_free(c);
}

static void wave_start(wave *w) {
    struct check_wave *c = w->check;
    wave *undefined = c->undefined;
    memset(c, 0, sizeof *c);
    c->undefined = undefined;
    c->lanes = wave_exec(w);
    c->slot = 64; /* no hazard reaches back beyond the start */
    if (undefined) check_undefined_start(w);
}

void check_group_start(group *g) {
    struct check_group *c = g->check;
    if (!c) return;
    c->last_op += MEMORY_OPS; /* those of the last workgroup are out of reach */
    if (c->last_op > UINT32_MAX / 2) {
        c->last_op = 0;
        memset(c->ops, 0, MEMORY_OPS * sizeof *c->ops);
    }
    memset(c->cells, 0, g->lds_bytes * sizeof *c->cells);
    memset(c->undefined.lds, 0xff, g->lds_bytes);
    for (unsigned i = 0; i < g->waves; i++) wave_start(g->wave[i]);
}

register_name check_register(const wave *w, int scalar, int index) {
    static const struct {
        int index;
        const char *name;
    } special[] = {{SGPR_FLAT_SCRATCH, "flat_scratch_lo"},
                   {SGPR_VCC, "vcc_lo"},
                   {SGPR_VCC + 1, "vcc_hi"},
                   {SGPR_M0, "m0"},
                   {SGPR_EXEC, "exec_lo"},
                   {SGPR_EXEC + 1, "exec_hi"}};
    register_name name;
    const int agpr = !scalar && index >= w->program->accum_offset;
    snprintf(name.text, sizeof name.text, "%c%d",
             scalar ? 's'
             : agpr ? 'a'
                    : 'v',
             agpr ? index - w->program->accum_offset : index);
    for (size_t i = 0; scalar && i < sizeof special / sizeof *special; i++)
        if (special[i].index == index) snprintf(name.text, sizeof name.text, "%s", special[i].name);
    return name;
}

/* Lanes that take no part in a barrier did not leave the wave: the hardware counts waves, so the barrier passes, but
 * what the source wrote as one barrier for all is now none for those lanes. */
static void barrier_step(wave *w) {
    struct check_wave *c = w->check;
    const uint64_t missing = c->lanes & ~wave_exec(w);
    if (missing) {
        wave_fault(w, __builtin_ctzll(missing),
                   "barrier under divergent control flow: %d of the wave's %d lanes are switched off (EXEC 0x%llx); "
                   "right is a barrier that every lane reaches",
                   __builtin_popcountll(missing), __builtin_popcountll(c->lanes), (unsigned long long)wave_exec(w));
        return;
    }
    c->epoch++;
}

static void step(wave *w, const inst *in, const inst_uses *u) {
    check_waits_step(w, in, u);
    if (u->classes & IS_BARRIER && !check_stopped(w)) barrier_step(w);
    if (w->check->undefined && !check_stopped(w)) {
        check_slots_step(w, in, u);
        if (!check_stopped(w)) check_undefined_step(w, in, u);
    }
}

static void step_relative(wave *w, const inst *in) {
    inst moved = *in;
    inst_uses uses;
    if (!relative_registers(w, &moved)) return;
    check_uses_of(&moved, &uses);
    uses.consumes = check_slots_of(&uses, 1);
    step(w, &moved, &uses);
}

int check_step(wave *w, const inst *in) {
    const int is_vector = in->row->format == F_VECTOR || in->row->format == F_COMPARE;
    if (w->mode & MODE_GPR_IDX_EN && is_vector)
        step_relative(w, in);
    else
        step(w, in, check_uses(w, in));
    return !check_stopped(w);
}
