/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Registers whose loads have not been waited for. The counters are followed as the instruction set defines them, in
 * every completion mode: vector memory in order, LDS in order, scalar loads in any order, flat ones in both counters
 * and therefore proven done only by a count of 0.
 * source: AMD CDNA4 ISA guide, "S_WAITCNT"; LLVM "User Guide for AMDGPU Backend", "Memory Model gfx942" */
#include <stdio.h>
#include <string.h>

#include "sim/check_state.h"

memory_op *check_find(const group *g, uint32_t id) {
    memory_op *op = &g->check->ops[id % MEMORY_OPS];
    return id && op->id == id ? op : NULL;
}

static int is_open(const memory_op *op) { return op && op->done_epoch == NOT_DONE; }

wait_text check_wait_text(const wave *w, const memory_op *op) {
    const struct check_wave *c = w->group->wave[op->wave]->check;
    wait_text out = {"s_waitcnt vmcnt(0) lgkmcnt(0)"};
    if (op->flat) return out;
    const op_queue *q = op->by_memory ? &c->vm : &c->lgkm;
    int after = 0;
    while (after < q->count && q->id[q->count - 1 - after] != op->id) after++;
    const int counts = is_open(op) && !(op->counters & COUNTED_SCALAR);
    snprintf(out.text, sizeof out.text, "s_waitcnt %s(%d)", op->by_memory ? "vmcnt" : "lgkmcnt", counts ? after : 0);
    return out;
}

/* ---- the counters ---- */

static void done(wave *w, memory_op *op, unsigned counter) {
    op->counters &= (uint8_t)~counter;
    if (!(op->counters & (COUNTED_VM | COUNTED_LGKM))) op->done_epoch = w->check->epoch;
}

/* The oldest `finished` go; with a flat access among them only all of them are known to. */
static void shorten(wave *w, op_queue *q, unsigned counter, int finished) {
    const group *g = w->group;
    if (finished <= 0) return;
    if (finished < q->count)
        for (int i = 0; i < q->count; i++) {
            const memory_op *op = check_find(g, q->id[i]);
            if (op && op->flat) return;
        }
    int kept = 0;
    for (int i = 0; i < q->count; i++) {
        memory_op *op = check_find(g, q->id[i]);
        const int scalar = op && op->counters & COUNTED_SCALAR && finished < q->count;
        if (op && !scalar && finished > i - kept) {
            done(w, op, counter);
            continue;
        }
        if (op) q->id[kept++] = q->id[i];
    }
    q->count = kept;
}

static void wait_until(wave *w, op_queue *q, unsigned counter, int left) {
    int scalars = 0;
    for (int i = 0; left && i < q->count; i++) {
        const memory_op *op = check_find(w->group, q->id[i]);
        scalars += op && op->counters & COUNTED_SCALAR;
    }
    shorten(w, q, counter, q->count - left - scalars);
}

/* ---- registers ---- */

static const char *unit_of(const memory_op *op) {
    return op->counters & COUNTED_SCALAR ? "scalar load"
           : op->counters & COUNTED_VM   ? "vector memory load"
                                         : "LDS read";
}

static int overlaps(const memory_op *op, uint64_t active, int scalar) { return scalar || op->exec & active; }

/* A load may follow a load: both through one counter, in order. */
static int in_order(const memory_op *op, const inst_uses *u) {
    if (op->flat || u->classes & IS_FLAT || op->counters & COUNTED_SCALAR) return 0;
    return op->counters & COUNTED_VM ? (u->classes & IS_VMEM) != 0 : (u->classes & IS_LDS) != 0;
}

static void check_register_uses(wave *w, const inst_uses *u, const use *list, int n, uint64_t active, int written) {
    const struct check_wave *c = w->check;
    for (int i = 0; i < n; i++)
        for (int r = list[i].first; r < list[i].first + list[i].count; r++) {
            const uint32_t id = list[i].scalar ? c->sgpr_load[r] : c->vgpr_load[r];
            const memory_op *op = id ? check_find(w->group, id) : NULL;
            if (!is_open(op) || !overlaps(op, active, list[i].scalar) || (written && in_order(op, u))) continue;
            const uint64_t which = op->exec & active;
            wave_fault(w, list[i].scalar || !which ? -1 : __builtin_ctzll(which),
                       "%s is %s while a %s still writes it: \"%s\" at .text+0x%x has not been waited for; right is %s "
                       "before this instruction",
                       check_register(w, list[i].scalar, r).text, written ? "overwritten" : "read", unit_of(op),
                       op->in->text, op->in->address, check_wait_text(w, op).text);
            return;
        }
}

void check_waits_step(wave *w, const inst *in, const inst_uses *u) {
    struct check_wave *c = w->check;
    if (u->classes & IS_WAIT) {
        if (in->wait_vm < c->vm.count) wait_until(w, &c->vm, COUNTED_VM, in->wait_vm);
        if (in->wait_lgkm < c->lgkm.count) wait_until(w, &c->lgkm, COUNTED_LGKM, in->wait_lgkm);
        return;
    }
    if (u->classes & IS_END) {
        wait_until(w, &c->vm, COUNTED_VM, 0);
        wait_until(w, &c->lgkm, COUNTED_LGKM, 0);
        return;
    }
    if (c->vm.count + c->lgkm.count == 0) return;
    const uint64_t active =
        u->classes & (IS_MATRIX | IS_READLANE | IS_WRITELANE | IS_PERMLANE | IS_DPP) ? UINT64_MAX : wave_exec(w);
    check_register_uses(w, u, u->read, u->reads, active, 0);
    if (!check_stopped(w)) check_register_uses(w, u, u->write, u->writes, active, 1);
}

/* ---- accesses ---- */

enum { VM_MAX = 63, LGKM_MAX = 15 };

static void enqueue(wave *w, op_queue *q, unsigned counter, int most, uint32_t id) {
    if (q->count >= most) wait_until(w, q, counter, most - 1);
    if (q->count == QUEUE_MAX) shorten(w, q, counter, 1);
    if (q->count == QUEUE_MAX) q->count = 0; /* only scalar and flat accesses, more than the counter can hold */
    q->id[q->count++] = id;
}

memory_op *check_waits_access(wave *w, const transfer *a) {
    struct check_wave *c = w->check;
    struct check_group *g = w->group->check;
    const inst_uses *u = check_uses(w, a->in);
    const uint32_t id = ++g->last_op;
    memory_op *op = &g->ops[id % MEMORY_OPS];
    *op = (memory_op){.in = a->in,
                      .exec = a->exec,
                      .id = id,
                      .done_epoch = NOT_DONE,
                      .wave = (uint16_t)w->id,
                      .counters = (uint8_t)((a->on_vm ? COUNTED_VM : 0) | (a->on_lgkm ? COUNTED_LGKM : 0) |
                                            (a->scalar ? COUNTED_SCALAR : 0)),
                      .flat = (u->classes & IS_FLAT) != 0,
                      .by_memory = (u->classes & IS_VMEM) != 0};
    if (a->on_vm) enqueue(w, &c->vm, COUNTED_VM, VM_MAX, id);
    if (a->on_lgkm) enqueue(w, &c->lgkm, COUNTED_LGKM, LGKM_MAX, id);
    for (int i = 0; i < u->writes; i++)
        for (int r = u->write[i].first; r < u->write[i].first + u->write[i].count; r++)
            *(u->write[i].scalar ? &c->sgpr_load[r] : &c->vgpr_load[r]) = id;
    return op;
}
