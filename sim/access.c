/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory accesses in flight: issue, completion by the wait counters, and what a completed access does.
 * source: AMD CDNA4 ISA guide, "Manually Inserted Wait States", "S_WAITCNT" */
#include "sim/access.h"

#include <string.h>

#include "sim/memory.h"

transfer *access_new(wave *w, const inst *in, uint64_t exec) {
    transfer *a = w->spare;
    if (a)
        w->spare = a->next;
    else
        a = mem_alloc(sizeof *a);
    if (!a) {
        wave_fault(w, -1, "host memory ran out");
        return NULL;
    }
    a->next = NULL;
    a->in = in;
    a->exec = exec;
    a->on_vm = a->on_lgkm = a->scalar = 0;
    a->elements = 1;
    a->second = 0;
    memset(a->in_range, 0xff, sizeof a->in_range);
    return a;
}

static void finish(wave *w, transfer *a) {
    a->perform(w, a);
    a->next = w->spare;
    w->spare = a;
}

enum { VM_MAX = 63, LGKM_MAX = 15 };

void access_issue(wave *w, transfer *a) {
    if (w->group->launch->observe) w->group->launch->observe(w->group->launch->observer, w, a);
    if (!w->group->launch->late) {
        finish(w, a);
        return;
    }
    /* The counters saturate: the hardware holds the issue until there is room. */
    if (a->on_vm && w->vm_count == VM_MAX) access_wait(w, VM_MAX - 1, 0xffff);
    if (a->on_lgkm && w->lgkm_count == LGKM_MAX) access_wait(w, 0xffff, w->scalar_count ? 0 : LGKM_MAX - 1);
    *w->pending_end = a;
    w->pending_end = &a->next;
    w->vm_count += a->on_vm;
    w->lgkm_count += a->on_lgkm;
    w->scalar_count += a->scalar;
}

/* VMEM completes in order, LDS completes in order, scalar loads in any order: with some of those in flight only a count
 * of zero says that they are done, and each may be counted before any LDS operation. */
void access_wait(wave *w, uint32_t vm, uint32_t lgkm) {
    int vm_done = w->vm_count - (int)vm, lgkm_done = w->lgkm_count - (int)lgkm - (lgkm ? w->scalar_count : 0);
    transfer **link = &w->pending;
    while (*link) {
        transfer *a = *link;
        if (a->on_vm && vm_done > 0) {
            a->on_vm = 0;
            vm_done--;
            w->vm_count--;
        }
        if (a->on_lgkm && (a->scalar ? lgkm == 0 : lgkm_done > 0)) {
            a->on_lgkm = 0;
            lgkm_done--;
            w->lgkm_count--;
            w->scalar_count -= a->scalar;
        }
        if (a->on_vm || a->on_lgkm) {
            link = &a->next;
            continue;
        }
        *link = a->next;
        finish(w, a);
    }
    w->pending_end = link;
}

void access_free_all(wave *w) {
    *w->pending_end = w->spare;
    while (w->pending) {
        transfer *next = w->pending->next;
        mem_free(w->pending);
        w->pending = next;
    }
    w->pending_end = &w->pending;
    w->spare = NULL;
    w->vm_count = w->lgkm_count = w->scalar_count = 0;
}

unsigned char *wave_memory(wave *w, int lane, uint64_t address, uint32_t size, const char *verb) {
    const allocation *hit = w->last_hit;
    if (!hit || address - hit->address >= hit->bytes || size > hit->bytes - (address - hit->address)) {
        hit = memory_find(w->group->launch->memory, address, size);
        if (!hit) {
            char where[160];
            memory_describe(w->group->launch->memory, address, where, sizeof where);
            wave_fault(w, lane, "%s of %u bytes at 0x%llx, which no live allocation holds: %s", verb, size,
                       (unsigned long long)address, where);
            return NULL;
        }
        w->last_hit = hit;
    }
    return (unsigned char *)(uintptr_t)address;
}

void take_data(const wave *w, transfer *a, const operand *o, uint32_t registers, uint32_t at) {
    memcpy(&a->data[at * LANES], w->vgpr[o->index], registers * sizeof w->vgpr[0]);
}

void poison_target(wave *w, const transfer *a, const memory_row *row, uint32_t registers) {
    if (!w->group->launch->late) return;
    uint32_t (*const d)[LANES] = &w->vgpr[a->in->op[0].index];
    FOR_LANES(a->exec, l) {
        if (row->load)
            d[0][l] = row->load(POISON_WORD & 0xff, d[0][l]);
        else
            for (uint32_t r = 0; r < registers; r++) d[r][l] = POISON_WORD;
    }
}

static uint32_t narrow(const unsigned char *p, uint32_t size) {
    uint16_t x = *p;
    if (size == 2) memcpy(&x, p, 2);
    return x;
}

void access_load(wave *w, transfer *a, const memory_row *row) {
    uint32_t (*const d)[LANES] = &w->vgpr[a->in->op[0].index];
    if (row->load) {
        FOR_LANES(a->exec, l) d[0][l] = row->load(a->in_range[l] & 1 ? narrow(a->place[l], row->bytes) : 0, d[0][l]);
        return;
    }
    for (uint32_t r = 0; r < row->registers; r++) {
        FOR_LANES(a->exec, l) {
            uint32_t x = 0;
            if (a->in_range[l] >> r & 1) memcpy(&x, a->place[l] + 4 * r, 4);
            d[r][l] = x;
        }
        if (a->elements == 2)
            FOR_LANES(a->exec, l) memcpy(&d[row->registers + r][l], a->place[l] + a->second + 4 * r, 4);
    }
}

void access_store(transfer *a, const memory_row *row) {
    FOR_LANES(a->exec, l) {
        if (row->bytes < 4) {
            const uint32_t x = a->data[l] >> row->shift;
            if (a->in_range[l] & 1) memcpy(a->place[l], &x, row->bytes);
            continue;
        }
        for (uint32_t e = 0; e < a->elements; e++)
            for (uint32_t r = 0; r < row->registers; r++)
                if (a->in_range[l] >> r & 1)
                    memcpy(a->place[l] + (e ? a->second : 0) + 4 * r, &a->data[(e * row->registers + r) * LANES + l],
                           4);
    }
}

static uint64_t data_word(const transfer *a, const memory_row *row, uint32_t at, uint64_t l) {
    return row->registers == 2 ? a->data[at * LANES + l] | (uint64_t)a->data[(at + 1) * LANES + l] << 32
                               : a->data[at * LANES + l];
}

/* Workgroups run on several host threads: exchange until nobody came between. */
static uint64_t exchange_place(unsigned char *place, const memory_row *row, uint64_t b, uint64_t compare) {
    if (row->registers == 1) {
        uint32_t *p = (uint32_t *)(void *)place, old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
        while (!__atomic_compare_exchange_n(p, &old, (uint32_t)row->atomic(old, b, compare), 0, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST)) {}
        return old;
    }
    uint64_t *p = (uint64_t *)(void *)place, old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(p, &old, row->atomic(old, b, compare), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return old;
}

/* VMEM compare-and-swap has the new value first, LDS has the comparison first. */
void access_atomic(wave *w, transfer *a, const memory_row *row, int returns) {
    uint32_t (*const d)[LANES] = &w->vgpr[a->in->op[0].index];
    const int compares = row->kind == COMPARE_SWAP || row->kind == COMPARE_SWAP_RETURN;
    FOR_LANES(a->exec, l) {
        uint64_t b = data_word(a, row, 0, l), compare = compares ? data_word(a, row, row->registers, l) : 0, old = 0;
        if (row->space == SPACE_LDS && compares) {
            const uint64_t first = b;
            b = compare;
            compare = first;
        }
        if (a->in_range[l] & 1) old = exchange_place(a->place[l], row, b, compare);
        if (!returns) continue;
        d[0][l] = (uint32_t)old;
        if (row->registers == 2) d[1][l] = (uint32_t)(old >> 32);
    }
}
