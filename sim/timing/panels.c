/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Panel counts of tile orders. */
#include "sim/timing/panels.h"

#include <string.h>

#include "core/memory.h"

enum { NONE = UINT32_MAX };

/* panel: a member of one XCD's list, the most recently used first. */
typedef struct panel {
    uint32_t before, after;
    int here;
} panel;
typedef struct panel_list {
    panel *all; /* rows, then columns */
    uint32_t first, last;
    uint64_t held;
} panel_list;

static uint64_t size_of(const panel_problem *p, uint32_t i) { return i < p->rows ? p->row_panel : p->col_panel; }

static void take_out(panel_list *l, uint32_t i) {
    panel *x = &l->all[i];
    *(x->before == NONE ? &l->first : &l->all[x->before].after) = x->after;
    *(x->after == NONE ? &l->last : &l->all[x->after].before) = x->before;
    x->here = 0;
}

/* touch: bytes that had to be filled. */
static uint64_t touch(const panel_problem *p, panel_list *l, uint32_t i) {
    panel *x = &l->all[i];
    const int hit = x->here;
    if (hit) take_out(l, i);
    *x = (panel){.before = NONE, .after = l->first, .here = 1};
    *(l->first == NONE ? &l->last : &l->all[l->first].before) = i;
    l->first = i;
    if (hit) return 0;
    l->held += size_of(p, i);
    while (l->held > p->l2_bytes) {
        l->held -= size_of(p, l->last);
        take_out(l, l->last);
    }
    return size_of(p, i);
}

static void clear(const panel_problem *p, panel_list *l) {
    memset(l->all, 0, (p->rows + p->columns) * sizeof *l->all);
    l->first = l->last = NONE;
    l->held = 0;
}

static cdnagen_status count(const panel_problem *p, int rounds_alone, panel_count *out) {
    panel_problem q = *p;
    if (rounds_alone) q.l2_bytes = UINT64_MAX;
    panel_list l = {.all = mem_alloc((p->rows + p->columns) * sizeof *l.all)};
    if (!l.all) return fail_no_memory();
    *out = (panel_count){0};
    for (uint32_t xcd = 0; xcd < p->xcds; xcd++) {
        clear(p, &l);
        uint32_t taken = 0;
        for (uint64_t id = xcd; id < (uint64_t)p->rows * p->columns; id += p->xcds) {
            uint32_t row, column;
            if (rounds_alone && taken++ % p->resident == 0) clear(p, &l);
            p->tile(p->user, (uint32_t)id, &row, &column);
            out->requested += p->row_panel + p->col_panel;
            out->filled += touch(&q, &l, row) + touch(&q, &l, p->rows + column);
        }
    }
    out->hit = out->requested ? 1 - (double)out->filled / (double)out->requested : 0;
    mem_free(l.all);
    return CDNAGEN_OK;
}

cdnagen_status panels_resident(const panel_problem *p, panel_count *out) { return count(p, 1, out); }
cdnagen_status panels_walk(const panel_problem *p, panel_count *out) { return count(p, 0, out); }
