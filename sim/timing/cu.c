/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One CU: its resident waves issue in order, slot by slot; the simulator's executors do what the instructions do. */
#include <string.h>

#include "sim/access.h"
#include "sim/dispatch.h"
#include "sim/timing/model.h"

enum { VM_MAX = 63, LGKM_MAX = 15, LDS_ENTRIES_MAX = 64 };
#define NO_WRITER UINT32_MAX
#define NEVER UINT64_MAX

/* returns: clk at which what a counter counts comes back. */
typedef struct returns {
    uint64_t at[64];
    int count;
} returns;

/* resident: a workgroup on the CU. */
typedef struct resident {
    group group;
    uint64_t id;
    uint32_t position, waves_left;
    uint32_t accesses; /* vector memory instructions, for its peers to keep up with */
} resident;

struct runner {
    wave *w;
    resident *home;
    int simd, priority, at_barrier, ended;
    uint64_t start, next;  /* next: not before this clk */
    uint64_t since;        /* at the barrier */
    size_t barrier;        /* instruction */
    returns vm, lgkm, lds; /* lds: entries of the queue */
    int reads_in_a_row;
    uint64_t read_at, mfma_at; /* clk of the last ds_read, matrix instruction; +1, 0 = none */
    /* slots from which a vector register may be read, by a matrix instruction, as a C that overlaps, overwritten */
    uint32_t ready[512], ready_matrix[512], ready_c[512], free[512];
    uint32_t writer[512];            /* matrix instruction that made the register last, or NO_WRITER */
    uint16_t writer_first[512];      /* and its first register */
    uint32_t sgpr_ready[SGPR_COUNT]; /* for vector memory */
    struct mark {
        uint64_t at;                      /* clk of the last trip's end, NEVER outside */
        uint64_t clk[LOOP_WAVES_MAX + 1]; /* the loop's on this SIMD, then */
    } mark[];                             /* by loop */
};

/* ---- accounts ---- */

static void tell(const cu *c, const runner *r, size_t at, int stall, uint64_t from, uint64_t clk) {
    const sim_event e = {.group = r->home->id,
                         .wave = r->w->id,
                         .simd = r->simd,
                         .instruction = at,
                         .stall = stall,
                         .clk = from,
                         .length = clk};
    if (c->event && clk) c->event(c->event_user, &e);
}

static void stalled(cu *c, const runner *r, size_t at, sim_stall why, uint64_t from, uint64_t clk) {
    c->instruction[at].stall[why] += clk;
    tell(c, r, at, (int)why, from, clk);
}

/* wait_until: the wave does nothing up to `until`, on its SIMD's grid of slots. Always 0: nothing was issued. */
static int wait_until(cu *c, runner *r, size_t at, sim_stall why, uint64_t now, uint64_t until) {
    const uint64_t slots = until > now ? (until - now + SLOT_CLK - 1) / SLOT_CLK : 1;
    stalled(c, r, at, why, now, slots * SLOT_CLK);
    r->next = now + slots * SLOT_CLK;
    return 0;
}

/* ---- counters ---- */

static void drop_returned(returns *x, uint64_t now) {
    int kept = 0;
    for (int i = 0; i < x->count; i++)
        if (x->at[i] > now) x->at[kept++] = x->at[i];
    x->count = kept;
}
static void add_return(returns *x, uint64_t at, int in_order) {
    if (in_order && x->count && x->at[x->count - 1] > at) at = x->at[x->count - 1];
    x->at[x->count++] = at;
}
/* returned_to: the clk at which at most `left` are out. */
static uint64_t returned_to(const returns *x, uint32_t left) {
    uint64_t sorted[64];
    if ((uint32_t)x->count <= left) return 0;
    for (int i = 0; i < x->count; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > x->at[i]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = x->at[i];
    }
    return sorted[(uint32_t)x->count - 1 - left];
}

/* ---- registers ---- */

static uint32_t latest(const uint32_t *slot, span s, uint32_t least) {
    for (int i = s.first; i < s.first + s.count; i++)
        if (slot[i] > least) least = slot[i];
    return least;
}
static void set_from(uint32_t *slot, span s, uint32_t value) {
    for (int i = s.first; i < s.first + s.count; i++) slot[i] = value;
}

/* same_chain: C is exactly what the same kind of matrix instruction made: forwarded inside the pipe. */
static int same_chain(const cu *c, const runner *r, const op *o, const inst *in) {
    const uint32_t writer = r->writer[o->c.first];
    if (writer == NO_WRITER) return 0;
    for (int i = o->c.first; i < o->c.first + o->c.count; i++)
        if (r->writer[i] != writer || r->writer_first[i] != o->c.first) return 0;
    return r->w->program->code[writer].mfma == in->mfma && c->ops[writer].write[0].count == o->c.count;
}

static uint64_t operands_ready(const cu *c, const runner *r, const op *o, const inst *in) {
    uint32_t slot = 0;
    const int matrix = o->group == GROUP_MATRIX;
    for (int i = 0; i < o->reads; i++) slot = latest(matrix ? r->ready_matrix : r->ready, o->read[i], slot);
    for (int i = 0; i < o->writes; i++) {
        slot = latest(r->free, o->write[i], slot);
        if (!matrix) slot = latest(r->ready, o->write[i], slot);
    }
    if (o->c.count && !same_chain(c, r, o, in)) slot = latest(r->ready_c, o->c, slot);
    for (int i = 0; i < 2; i++)
        if (o->group == GROUP_VMEM && o->sgpr_read[i] != UINT16_MAX)
            for (int k = 0; k < 4 && o->sgpr_read[i] + k < SGPR_COUNT; k++)
                if (r->sgpr_ready[o->sgpr_read[i] + k] > slot) slot = r->sgpr_ready[o->sgpr_read[i] + k];
    return (uint64_t)slot * SLOT_CLK;
}

/* results: when what this instruction writes can be used. Memory's results come with the counters. */
static void results(const cu *c, runner *r, const op *o, size_t at, uint64_t now) {
    const uint32_t slot = (uint32_t)(now / SLOT_CLK);
    const parameters *q = c->q;
    if (o->group == GROUP_MATRIX) {
        set_from(r->ready, o->write[0], slot + (uint32_t)o->read_after);
        set_from(r->ready_matrix, o->write[0], slot + (uint32_t)o->read_after);
        set_from(r->ready_c, o->write[0], slot + (uint32_t)o->c_after);
        set_from(r->free, o->c, slot + (uint32_t)(o->passes + (int)q->mfma_overwrite_c + 1));
        /* The matrix pipe itself works in order: its own next write of C's registers need not wait. */
        set_from(r->free, o->write[0], slot);
        for (int i = 0; i < o->write[0].count; i++) {
            r->writer[o->write[0].first + i] = (uint32_t)at;
            r->writer_first[o->write[0].first + i] = o->write[0].first;
        }
        return;
    }
    if (o->category != CATEGORY_VALU) {
        for (int i = 0; i < o->writes; i++)
            for (int k = 0; k < o->write[i].count; k++) r->writer[o->write[i].first + k] = NO_WRITER;
        return;
    }
    const uint32_t done = slot + (uint32_t)o->slots - 1;
    for (int i = 0; i < o->writes; i++) {
        set_from(r->ready, o->write[i], done + (uint32_t)q->valu_latency);
        set_from(r->ready_matrix, o->write[i], done + 1 + (uint32_t)q->valu_to_mfma);
        set_from(r->ready_c, o->write[i], done + 1 + (uint32_t)q->valu_to_mfma);
        for (int k = 0; k < o->write[i].count; k++) r->writer[o->write[i].first + k] = NO_WRITER;
    }
    if (o->sgpr_write != UINT16_MAX)
        for (int k = 0; k < 2; k++) r->sgpr_ready[o->sgpr_write + k] = done + 1 + (uint32_t)q->valu_sgpr_to_vmem;
}

/* ---- may this wave issue now? ---- */

static uint64_t clk_of(double x) { return (uint64_t)(x + 0.999999); }

static int waits(cu *c, runner *r, const op *o, const inst *in, size_t at, uint64_t now) {
    drop_returned(&r->vm, now);
    drop_returned(&r->lgkm, now);
    if (o->group == GROUP_WAIT) {
        const uint64_t vm = returned_to(&r->vm, in->wait_vm), lgkm = returned_to(&r->lgkm, in->wait_lgkm);
        if (vm > now && vm >= lgkm) return wait_until(c, r, at, STALL_VMCNT, now, vm);
        if (lgkm > now) return wait_until(c, r, at, STALL_LGKMCNT, now, lgkm);
    }
    if (o->group == GROUP_END && r->vm.count) /* stores hold the wave's place until they are acknowledged */
        return wait_until(c, r, at, STALL_VMCNT, now, returned_to(&r->vm, 0));
    const uint64_t ready = operands_ready(c, r, o, in);
    if (ready > now) return wait_until(c, r, at, STALL_DEPENDENCY, now, ready);
    return 1;
}

static int units_ready(cu *c, runner *r, const op *o, size_t at, uint64_t now) {
    const parameters *q = c->q;
    struct simd *s = &c->simd[r->simd];
    if (o->category == CATEGORY_VALU && now < s->valu_free)
        return wait_until(c, r, at, STALL_ARBITRATION, now, s->valu_free);
    if (o->group == GROUP_MATRIX) {
        if (now < s->mfma_free) return wait_until(c, r, at, STALL_MFMA_PIPE, now, s->mfma_free);
    } else if (o->category == CATEGORY_VALU) {
        const uint64_t gate = o->group == GROUP_PACKED ? s->gate_packed : s->gate;
        if (now < gate) return wait_until(c, r, at, STALL_VALU_GATE, now, gate);
    }
    if (o->group == GROUP_LDS || o->group == GROUP_SMEM)
        if (r->lgkm.count >= LGKM_MAX)
            return wait_until(c, r, at, STALL_QUEUE, now, returned_to(&r->lgkm, LGKM_MAX - 1));
    if (o->group == GROUP_LDS) {
        drop_returned(&r->lds, now);
        int entries = (int)q->lds_queue / (int)r->home->group.waves;
        if (entries < 1) entries = 1;
        if (entries > LDS_ENTRIES_MAX) entries = LDS_ENTRIES_MAX;
        if (r->lds.count >= entries)
            return wait_until(c, r, at, STALL_QUEUE, now, returned_to(&r->lds, (uint32_t)entries - 1));
        const uint64_t spaced = r->read_at - 1 + (uint64_t)(1 + q->lds_read_after_read) * SLOT_CLK;
        if (o->kind == KIND_LDS_READ && r->reads_in_a_row && now < spaced)
            return wait_until(c, r, at, STALL_QUEUE, now, spaced);
        const uint64_t apart = r->mfma_at - 1 + (uint64_t)(1 + q->ds_read_after_mfma) * SLOT_CLK;
        if (o->kind == KIND_LDS_READ && r->mfma_at && now < apart) return wait_until(c, r, at, STALL_QUEUE, now, apart);
    }
    if (o->group == GROUP_VMEM) {
        if (r->vm.count >= VM_MAX) return wait_until(c, r, at, STALL_QUEUE, now, returned_to(&r->vm, VM_MAX - 1));
        while (c->vmem_count && c->vmem_done[c->vmem_first] <= (double)now) {
            c->vmem_first = (c->vmem_first + 1) % VMEM_ENTRIES_MAX;
            c->vmem_count--;
        }
        if (c->vmem_count >= (q->vmem_queue < VMEM_ENTRIES_MAX ? (uint32_t)q->vmem_queue : VMEM_ENTRIES_MAX))
            return wait_until(c, r, at, STALL_QUEUE, now, clk_of(c->vmem_done[c->vmem_first]));
    }
    if (o->group == GROUP_BRANCH && r->mfma_at) {
        const uint64_t apart = r->mfma_at - 1 + (uint64_t)q->branch_after_mfma * SLOT_CLK;
        if (now < apart) return wait_until(c, r, at, STALL_FETCH, now, apart);
    }
    return 1;
}

/* ---- issuing ---- */

static void issue_matrix(cu *c, runner *r, const op *o, uint64_t now) {
    struct simd *s = &c->simd[r->simd];
    const int idle = o->scaled && now > s->mfma_free; /* the scales are read while the pipe waits */
    const uint64_t at = now + (uint64_t)(idle ? (int)c->q->scaled_idle : 0) * SLOT_CLK;
    s->mfma_free = at + (uint64_t)o->passes * SLOT_CLK;
    s->gate = at + (uint64_t)o->gate * SLOT_CLK;
    s->gate_packed = at + (uint64_t)o->gate_packed * SLOT_CLK;
    s->mfma_clk += (uint64_t)o->passes * SLOT_CLK;
    r->mfma_at = now + 1;
}

static void issue_lds(cu *c, runner *r, const op *o, size_t at, uint64_t now) {
    const parameters *q = c->q;
    const lds_cost cost = lds_access(c->chip, q, c->seen, r->home->group.lds);
    double *port = &c->lds_port_free[r->simd / 2];
    double start = (double)now > *port ? (double)now : *port;
    *port = start + cost.port;
    if (start < c->lds_bank_free) start = c->lds_bank_free;
    c->lds_bank_free = start + cost.bank;
    const double served = c->lds_bank_free > *port ? c->lds_bank_free : *port;
    const int reads = o->kind == KIND_LDS_READ;
    add_return(&r->lgkm, clk_of(served + (reads ? q->lds_read_base : q->lds_write_base)), 0);
    const double step =
        q->lds_hold_step * (r->reads_in_a_row < q->lds_hold_steps ? r->reads_in_a_row : q->lds_hold_steps);
    const uint32_t width = lds_row(c->seen->in->row->effect)->bytes;
    const double hold = !reads       ? q->lds_write_base
                        : width > 8  ? q->lds_hold_b128 + step
                        : width == 8 ? q->lds_hold_b64
                                     : q->lds_hold_b32;
    add_return(&r->lds, clk_of(start + cost.bank + hold), 0);
    r->reads_in_a_row = reads ? r->reads_in_a_row + 1 : 0;
    if (reads) r->read_at = now + 1;
    c->instruction[at].lds += (uint64_t)cost.bank;
    c->instruction[at].lds_conflict += (uint64_t)cost.conflict;
}

static void issue_vmem(cu *c, runner *r, const op *o, size_t at, uint64_t now) {
    const transfer *a = c->seen;
    resident *g = r->home;
    for (uint32_t i = 0; i < c->peer_count[g->position]; i++) /* half of the others are a step ahead */
        traffic_replay(&c->traffic, &c->peers[g->position][i], g->accesses + (i & 1), (double)now);
    g->accesses++;
    double taken;
    const double begun = c->traffic.ta_free > (double)now ? c->traffic.ta_free : (double)now;
    const double there = traffic_access(&c->traffic, r->w, a, (double)now, &taken);
    c->instruction[at].vmem += clk_of(taken - begun);
    c->vmem_done[(c->vmem_first + c->vmem_count++) % VMEM_ENTRIES_MAX] = taken;
    add_return(&r->vm, clk_of(there), 1);
    if (a->on_lgkm) add_return(&r->lgkm, clk_of(there), 0);
    if (o->kind == KIND_LDS_DMA) {
        const double written = (double)__builtin_popcountll(a->exec) * vmem_row(a->in->row->effect)->bytes;
        if (c->lds_bank_free < (double)now) c->lds_bank_free = (double)now;
        c->lds_bank_free += written / c->q->lds_dma_write;
    }
}

/* pass_time: the SIMD's clk in the loop up to now, by how many waves it has there. */
static void pass_time(loop_sum *l, int simd, uint64_t now) {
    const uint32_t waves = l->simd[simd].waves < LOOP_WAVES_MAX ? l->simd[simd].waves : LOOP_WAVES_MAX;
    l->simd[simd].clk[waves] += now - l->simd[simd].since;
    l->simd[simd].since = now;
}

static void end_trip(loop_sum *l, int simd, const struct mark *mark, uint64_t now) {
    const double length = (double)(now - mark->at);
    l->trips++;
    l->clk += now - mark->at;
    for (int i = 1; i <= LOOP_WAVES_MAX && length > 0; i++)
        l->made[i] += (double)(l->simd[simd].clk[i] - mark->clk[i]) / length;
}

static void count_trip(cu *c, runner *r, const op *o, int taken, uint64_t now) {
    if (o->loop == NO_LOOP) return;
    loop_sum *l = &c->loop[o->loop];
    struct mark *mark = &r->mark[o->loop];
    const int timed = mark->at != NEVER;
    l->times++;
    pass_time(l, r->simd, now);
    if (timed) end_trip(l, r->simd, mark, now);
    l->simd[r->simd].waves += (uint32_t)(taken - timed);
    mark->at = taken ? now : NEVER;
    memcpy(mark->clk, l->simd[r->simd].clk, sizeof mark->clk);
}

/* leave_loops: of a wave that ends inside, having left by another way than the branch. */
static void leave_loops(cu *c, runner *r) {
    for (size_t i = 0; i < c->loops; i++) {
        if (r->mark[i].at == NEVER) continue;
        pass_time(&c->loop[i], r->simd, r->next);
        c->loop[i].simd[r->simd].waves--;
    }
}

static void release_barrier(cu *c, resident *g, uint64_t now) {
    for (size_t i = 0; i < c->runners; i++)
        if (c->runner[i]->home == g && !c->runner[i]->ended && !c->runner[i]->at_barrier) return;
    for (size_t i = 0; i < c->runners; i++) {
        runner *r = c->runner[i];
        if (r->home != g || !r->at_barrier) continue;
        const uint64_t until = now + (uint64_t)c->q->barrier_release, from = r->since;
        const uint64_t slots = until > from ? (until - from + SLOT_CLK - 1) / SLOT_CLK : 0;
        stalled(c, r, r->barrier, STALL_BARRIER, from, slots * SLOT_CLK);
        r->next = from + slots * SLOT_CLK;
        r->at_barrier = 0;
        r->w->state = WAVE_READY;
    }
}

/* issue: the instruction runs, and what follows for the wave and the units is entered. */
static void issue(cu *c, runner *r, const op *o, size_t at, uint64_t now) {
    const parameters *q = c->q;
    wave *w = r->w;
    struct simd *s = &c->simd[r->simd];
    sim_instruction *sum = &c->instruction[at];
    c->seen = NULL;
    wave_step(w);
    c->instructions++;
    sum->issued++;
    sum->active += (uint64_t)o->slots * SLOT_CLK;
    tell(c, r, at, EVENT_ISSUE, now, (uint64_t)o->slots * SLOT_CLK);
    r->next = now + (uint64_t)o->slots * SLOT_CLK;
    if (o->category == CATEGORY_VALU && o->group != GROUP_MATRIX) {
        s->valu_free = r->next;
        s->valu_clk += (uint64_t)o->slots * SLOT_CLK;
    }
    results(c, r, o, at, now);
    if (o->group != GROUP_LDS || o->kind != KIND_LDS_READ) r->reads_in_a_row = 0;
    switch (o->group) {
    case GROUP_MATRIX: issue_matrix(c, r, o, now); break;
    case GROUP_LDS:
        if (c->seen) issue_lds(c, r, o, at, now);
        break;
    case GROUP_VMEM:
        if (c->seen) issue_vmem(c, r, o, at, now);
        break;
    case GROUP_SMEM: add_return(&r->lgkm, clk_of((double)now + q->scalar_load), 0); break;
    case GROUP_NOP:
        stalled(c, r, at, STALL_DEPENDENCY, r->next, (uint64_t)o->idle * SLOT_CLK);
        r->next += (uint64_t)o->idle * SLOT_CLK;
        break;
    case GROUP_SETPRIO: r->priority = (int)w->current->op[0].value & 3; break;
    case GROUP_BRANCH: {
        const int taken = w->pc != w->current + 1;
        count_trip(c, r, o, taken, now);
        if (taken) {
            stalled(c, r, at, STALL_FETCH, r->next, (uint64_t)(q->branch_slots - 1) * SLOT_CLK);
            r->next += (uint64_t)(q->branch_slots - 1) * SLOT_CLK;
        }
        break;
    }
    case GROUP_BARRIER:
        if (r->home->group.waves == 1) {
            w->state = WAVE_READY;
            break;
        }
        r->at_barrier = 1;
        r->since = r->next;
        r->barrier = at;
        r->next = NEVER;
        release_barrier(c, r->home, r->since);
        break;
    default: break;
    }
    if (w->state == WAVE_ENDED) {
        r->ended = 1;
        leave_loops(c, r);
        c->wave_clk += r->next - r->start;
        r->home->waves_left--;
        release_barrier(c, r->home, r->next);
    }
}

/* one_slot: what the waves of a SIMD issue at `now`: at most one each, at most one a category. */
static void one_slot(cu *c, int simd, uint64_t now) {
    unsigned used = 0;
    for (int priority = 3; priority >= 0; priority--)
        for (size_t i = 0; i < c->runners; i++) {
            runner *r = c->runner[i];
            if (r->simd != simd || r->priority != priority || r->ended || r->next > now) continue;
            const inst *in = r->w->pc;
            const size_t at = (size_t)(in - r->w->program->code);
            const op *o = &c->ops[at];
            if (!waits(c, r, o, in, at, now)) continue;
            if (used >> o->category & 1) {
                wait_until(c, r, at, STALL_ARBITRATION, now, now + SLOT_CLK);
                continue;
            }
            if (!units_ready(c, r, o, at, now)) continue;
            used |= 1u << o->category;
            issue(c, r, o, at, now);
            if (atomic_load_explicit(&c->launch->faulted, memory_order_relaxed)) return;
        }
}

/* ---- workgroups come and go ---- */

static uint64_t on_grid(uint64_t clk, int simd) {
    const uint64_t offset = (clk + SLOT_CLK - (uint64_t)simd) % SLOT_CLK;
    return offset ? clk + SLOT_CLK - offset : clk;
}

static int emptiest_simd(const cu *c) {
    int best = 0;
    for (int i = 1; i < SIMDS; i++)
        if (c->simd[i].waves < c->simd[best].waves) best = i;
    return best;
}

/* admit: a workgroup's waves start at `now`, or later if they are the first and their code has to be fetched. */
static int admit(cu *c, resident *g, uint64_t id, uint32_t position, uint64_t now, double fetch) {
    group_start(&g->group, id);
    g->id = id;
    g->position = position;
    g->waves_left = g->group.waves;
    g->accesses = 0;
    for (unsigned i = 0; i < g->group.waves; i++) {
        runner *r = mem_alloc(sizeof *r + c->loops * sizeof r->mark[0]);
        if (!r) return 0;
        r->w = g->group.wave[i];
        r->home = g;
        r->simd = emptiest_simd(c);
        r->start = on_grid(now, r->simd);
        memset(r->writer, 0xff, sizeof r->writer);
        for (size_t k = 0; k < c->loops; k++) r->mark[k].at = NEVER;
        c->runner[c->runners++] = r;
        struct simd *s = &c->simd[r->simd];
        if (++s->waves > c->waves_reached) c->waves_reached = s->waves;
        wait_until(c, r, (size_t)(r->w->pc - r->w->program->code), STALL_FETCH, r->start, r->start + clk_of(fetch));
    }
    return 1;
}

static void dismiss(cu *c, resident *g) {
    size_t kept = 0;
    for (size_t i = 0; i < c->runners; i++) {
        if (c->runner[i]->home != g) {
            c->runner[kept++] = c->runner[i];
            continue;
        }
        c->simd[c->runner[i]->simd].waves--;
        mem_free(c->runner[i]);
    }
    c->runners = kept;
}

static uint64_t next_event(const cu *c, uint64_t slot) {
    uint64_t next = NEVER;
    for (size_t i = 0; i < c->runners; i++)
        if (!c->runner[i]->ended && c->runner[i]->next < next) next = c->runner[i]->next;
    return next == NEVER ? NEVER : next / SLOT_CLK > slot ? next / SLOT_CLK : slot + 1;
}

typedef struct schedule {
    const uint64_t *id;
    uint32_t count, started, ended;
    uint64_t *done;
} schedule;

/* turn_over: workgroups that ended leave, and the next ones take their places. */
static int turn_over(cu *c, resident *places, uint32_t resident_count, schedule *s) {
    for (uint32_t i = 0; i < resident_count; i++) {
        resident *g = &places[i];
        if (g->waves_left || g->position == UINT32_MAX) continue;
        uint64_t end = 0;
        for (size_t k = 0; k < c->runners; k++)
            if (c->runner[k]->home == g && c->runner[k]->next > end) end = c->runner[k]->next;
        dismiss(c, g);
        g->position = UINT32_MAX;
        s->done[s->ended++] = end;
        if (s->started == s->count) continue;
        if (!admit(c, g, s->id[s->started], s->started, end + clk_of(c->q->dispatch), c->q->fetch)) return 0;
        s->started++;
    }
    return 1;
}

/* stop: the limit came first; what the waves that are left have waited so far is already entered. */
static void stop(cu *c) {
    for (size_t i = 0; i < c->runners; i++) {
        runner *r = c->runner[i];
        if (r->ended) continue;
        const uint64_t until = r->at_barrier ? r->since : r->next;
        c->wave_clk += until - r->start;
    }
}

int cu_run(cu *c, const uint64_t *group_id, uint32_t positions, uint32_t resident_count, uint64_t instructions_most,
           uint64_t *done, uint64_t *clk) {
    resident *places = mem_alloc(resident_count * sizeof *places);
    schedule s = {.id = group_id, .count = positions, .done = done};
    int ok = places != NULL, finished = 0;
    const unsigned waves = (c->launch->block[0] * c->launch->block[1] * c->launch->block[2] + LANES - 1) / LANES;
    c->runner = mem_alloc((size_t)resident_count * waves * sizeof(runner *));
    c->runners = 0;
    ok = ok && c->runner;
    for (uint32_t i = 0; ok && i < resident_count; i++) {
        places[i].position = UINT32_MAX;
        ok = group_make(&places[i].group, c->launch);
    }
    /* The dispatcher of an XCD goes round its CUs: this one's next workgroup comes when all the others had one. */
    const double apart = c->q->dispatch * c->chip->cus / c->chip->xcds;
    for (uint32_t i = 0; ok && i < resident_count && i < positions; i++, s.started++)
        ok = admit(c, &places[i], group_id[i], i, clk_of(apart * i), i ? c->q->fetch : c->q->first_fetch);
    uint64_t slot = ok ? next_event(c, 0) : NEVER;
    while (ok && slot != NEVER) {
        for (int simd = 0; simd < SIMDS; simd++) one_slot(c, simd, slot * SLOT_CLK + (uint64_t)simd);
        if (atomic_load(&c->launch->faulted) || c->traffic.failed || c->instructions >= instructions_most) break;
        ok = turn_over(c, places, resident_count, &s);
        slot = next_event(c, slot);
    }
    finished = s.ended == positions;
    stop(c);
    *clk = finished ? (s.ended ? done[s.ended - 1] : 0) : (slot == NEVER ? 0 : slot * SLOT_CLK);
    for (uint32_t i = 0; i < s.ended && finished; i++)
        if (done[i] > *clk) *clk = done[i];
    for (size_t i = 0; i < c->runners; i++) mem_free(c->runner[i]);
    mem_free(c->runner);
    c->runner = NULL;
    for (uint32_t i = 0; places && i < resident_count; i++) group_free(&places[i].group);
    mem_free(places);
    if (!ok && !atomic_exchange(&c->launch->faulted, 1))
        strcpy(c->launch->fault, "host memory for the timing model ran out");
    return finished;
}
