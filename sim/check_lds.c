/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LDS races. Two accesses of one byte, one of them a write, are ordered if they belong to one wave and go through one
 * unit in order, or if the first was waited for by its wave and a barrier lies between that wait and the second.
 * Nothing else orders them: not the order in which the simulator happens to run the waves. */
#include <string.h>

#include "sim/check_state.h"

/* touch: one access of one wave, as the cells see it. */
typedef struct touch {
    wave *w;
    const memory_op *op;
    int is_write;
} touch;

static const char *verb(int is_write, const memory_op *op) {
    return op->is_atomic ? "atomic" : is_write ? "write" : "read";
}

static void report(const touch *t, uint64_t lane, uint32_t byte, uint32_t other_id, int other_lane, int other_writes) {
    const memory_op *other = check_find(t->w->group, other_id);
    const char *mine = verb(t->is_write, t->op), *theirs = verb(other_writes, other);
    if (other->wave == t->w->id) {
        wave_fault(t->w, (int)lane,
                   "LDS byte %u: this %s may come before the %s of \"%s\" at .text+0x%x (lane %d), which the same wave "
                   "has not waited for; right is %s before this instruction",
                   byte, mine, theirs, other->in->text, other->in->address, other_lane,
                   check_wait_text(t->w, other).text);
        return;
    }
    wave_fault(t->w, (int)lane,
               "LDS race on byte %u: this %s and the %s of \"%s\" at .text+0x%x (wave %u, lane %d) are in no order; "
               "right is %s in wave %u and then s_barrier between the two",
               byte, mine, theirs, other->in->text, other->in->address, other->wave, other_lane,
               check_wait_text(t->w, other).text, other->wave);
}

/* Whether an earlier access may still be going on, or went on beside this one. */
static int unordered(const touch *t, uint32_t id) {
    const memory_op *other = check_find(t->w->group, id);
    if (!other || (other->is_atomic && t->op->is_atomic)) return 0;
    if (other->wave != t->w->id) return other->done_epoch >= t->w->check->epoch;
    return other->done_epoch == NOT_DONE && other->by_memory != t->op->by_memory;
}

static int is_dead(const touch *t, uint32_t id) {
    const memory_op *op = check_find(t->w->group, id);
    return !op || op->wave == t->w->id || op->done_epoch < t->w->check->epoch;
}

static void touch_byte(const touch *t, uint64_t lane, uint32_t byte) {
    lds_cell *c = &t->w->group->check->cells[byte];
    if (unordered(t, c->writer)) {
        report(t, lane, byte, c->writer, c->writer_lane, 1);
        return;
    }
    if (!t->is_write) {
        const int slot = is_dead(t, c->reader[0]) ? 0 : 1;
        c->reader[slot] = t->op->id;
        c->reader_lane[slot] = (uint8_t)lane;
        return;
    }
    for (int i = 0; i < 2; i++)
        if (unordered(t, c->reader[i])) {
            report(t, lane, byte, c->reader[i], c->reader_lane[i], 0);
            return;
        }
    *c = (lds_cell){.writer = t->op->id, .writer_lane = (uint8_t)lane};
}

static void touch_bytes(const touch *t, uint64_t lane, uint64_t first, uint32_t count) {
    for (uint32_t i = 0; i < count && !check_stopped(t->w); i++) touch_byte(t, lane, (uint32_t)first + i);
}

void check_lds_access(wave *w, const transfer *a, memory_op *op) {
    const isa_row *name = a->in->row;
    if (name->format == F_SMEM) return;
    const memory_row *row = name->format == F_LDS ? lds_row(name->effect) : vmem_row(name->effect);
    const group *g = w->group;
    const int dma = name->format == F_VMEM && (row->kind == LDS_DMA || a->in->lds);
    if (row->kind == BPERMUTE || row->kind == PERMUTE || row->kind == SWIZZLE) return;
    op->is_atomic = row->kind == ATOMIC || row->kind == COMPARE_SWAP || row->kind == ATOMIC_RETURN ||
                    row->kind == COMPARE_SWAP_RETURN;
    const touch t = {.w = w,
                     .op = op,
                     .is_write =
                         dma || op->is_atomic || row->kind == STORE || row->kind == WRITE2 || row->kind == WRITE2_ST64};
    FOR_LANES(a->exec, l) {
        if (check_stopped(w)) return;
        if (dma) {
            touch_bytes(&t, l, a->lds_base + l * (row->bytes == 4 ? 4 : 16), row->bytes);
            continue;
        }
        const uint64_t at = (uint64_t)(a->place[l] - g->lds);
        if (a->place[l] < g->lds || at >= g->lds_bytes) continue;
        touch_bytes(&t, l, at, row->bytes);
        if (a->elements == 2) touch_bytes(&t, l, at + (uint64_t)a->second, row->bytes);
    }
}
