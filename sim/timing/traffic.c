/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Vector memory below the CU: footprints of instructions, L1 and L2 tags, and the servers of L2, MALL and HBM, each of
 * which serves its bytes at its rate in the order in which they are asked for. */
#include <stdlib.h>
#include <string.h>

#include "sim/access.h"
#include "sim/memory.h"
#include "sim/timing/model.h"

/* ---- growing arrays ---- */

int trace_add(trace *t, uint64_t line, int store) {
    if (t->lines == t->line_capacity) {
        const uint32_t capacity = t->line_capacity ? 2 * t->line_capacity : 256;
        uint64_t *grown = mem_realloc(t->line, capacity * sizeof *grown);
        if (!grown) return 0;
        t->line = grown;
        t->line_capacity = capacity;
    }
    t->line[t->lines++] = line << 1 | (uint64_t)store;
    return 1;
}
int trace_next(trace *t) {
    if (t->accesses == t->access_capacity) {
        const uint32_t capacity = t->access_capacity ? 2 * t->access_capacity : 64;
        uint32_t *grown = mem_realloc(t->end, capacity * sizeof *grown);
        if (!grown) return 0;
        t->end = grown;
        t->access_capacity = capacity;
    }
    t->end[t->accesses++] = t->lines;
    return 1;
}
void trace_free(trace *t) {
    mem_free(t->line);
    mem_free(t->end);
    *t = (trace){0};
}

static size_t set_place(const line_set *s, uint64_t line) {
    size_t i = (size_t)((line + 1) * 0x9e3779b97f4a7c15u >> 20) & (s->capacity - 1);
    while (s->line[i] && s->line[i] != line + 1) i = (i + 1) & (s->capacity - 1);
    return i;
}
static int set_grow(line_set *s) {
    line_set bigger = {.capacity = s->capacity ? 2 * s->capacity : 1024};
    bigger.line = mem_alloc(bigger.capacity * sizeof *bigger.line);
    bigger.mask = mem_alloc(bigger.capacity);
    if (!bigger.line || !bigger.mask) {
        line_set_free(&bigger);
        return 0;
    }
    for (size_t i = 0; i < s->capacity; i++) {
        if (!s->line[i]) continue;
        const size_t at = set_place(&bigger, s->line[i] - 1);
        bigger.line[at] = s->line[i];
        bigger.mask[at] = s->mask[i];
    }
    bigger.count = s->count;
    line_set_free(s);
    *s = bigger;
    return 1;
}
int line_set_add(line_set *s, uint64_t line, uint8_t mask, int *fresh) {
    if (4 * (s->count + 1) > 3 * s->capacity && !set_grow(s)) return 0;
    const size_t i = set_place(s, line);
    *fresh = !s->line[i];
    s->count += (size_t)*fresh;
    s->line[i] = line + 1;
    s->mask[i] |= mask;
    return 1;
}
uint8_t line_set_mask(const line_set *s, uint64_t line) {
    if (!s->capacity) return 0;
    const size_t i = set_place(s, line);
    return s->line[i] ? s->mask[i] : 0;
}
void line_set_free(line_set *s) {
    mem_free(s->line);
    mem_free(s->mask);
    *s = (line_set){0};
}

/* ---- tags ---- */

int tags_make(tags *c, double kib, double ways) {
    const double lines = kib * 1024 / LINE_BYTES;
    *c = (tags){.ways = ways >= 1 && ways <= lines ? (uint32_t)ways : 1};
    c->sets = lines >= c->ways ? (uint32_t)lines / c->ways : 1;
    c->line = mem_alloc((size_t)c->sets * c->ways * sizeof *c->line);
    return c->line != NULL;
}
void tags_clear(tags *c) { memset(c->line, 0, (size_t)c->sets * c->ways * sizeof *c->line); }
void tags_free(tags *c) { mem_free(c->line); }

tag_line *tags_take(tags *c, uint64_t line, int *hit) {
    tag_line *set = c->line + line % c->sets * c->ways, *oldest = set;
    for (tag_line *x = set; x < set + c->ways; x++) {
        if (x->tag == line + 1) {
            x->used = ++c->clock;
            *hit = 1;
            return x;
        }
        if (x->used < oldest->used) oldest = x;
    }
    *oldest = (tag_line){.tag = line + 1, .used = ++c->clock};
    *hit = 0;
    return oldest;
}

/* ---- what an instruction touches ---- */

static void add_segment(footprint *f, uint64_t segment) {
    int at = f->segments;
    while (at > 0 && f->segment[at - 1] > segment) at--;
    if (at > 0 && f->segment[at - 1] == segment) return;
    if (f->segments == SEGMENTS_MAX) return;
    memmove(&f->segment[at + 1], &f->segment[at], (size_t)(f->segments - at) * sizeof f->segment[0]);
    f->segment[at] = segment;
    f->segments++;
}

void footprint_of(const wave *w, const transfer *a, footprint *out) {
    const memory_row *row = vmem_row(a->in->row->effect);
    const group *g = w->group;
    const size_t scratch = (size_t)g->launch->scratch_bytes * LANES;
    const memory *m = g->launch->memory;
    out->base = m && m->oldest < m->count ? m->list[m->oldest].address / SEGMENT_BYTES : 0;
    out->segments = 0;
    out->bytes = 0;
    out->scratch = 0;
    out->store = row->kind == STORE || row->kind == ATOMIC || row->kind == COMPARE_SWAP;
    out->dwords = (int)row->registers;
    FOR_LANES(a->exec, l) {
        const unsigned char *p = a->place[l];
        if (!a->in_range[l]) continue;
        if (p >= g->lds && p < g->lds + g->lds_bytes) continue;
        out->bytes += row->bytes;
        if (w->scratch && p >= w->scratch && p < w->scratch + scratch) {
            out->scratch = 1;
            continue;
        }
        const uint64_t first = (uint64_t)(uintptr_t)p / SEGMENT_BYTES;
        const uint64_t last = ((uint64_t)(uintptr_t)p + row->bytes - 1) / SEGMENT_BYTES;
        add_segment(out, first);
        if (last != first) add_segment(out, last);
    }
}

/* ---- servers ---- */

int traffic_make(traffic *t, const parameters *q, const chip *c, double active_groups) {
    *t = (traffic){.q = q, .weight = 1};
    const double hz = q->clock_sustained_high * 1e6, xcds = c->xcds;
    const double share =
        q->hbm_groups_square * active_groups * active_groups + q->hbm_groups * active_groups + q->hbm_groups_none;
    const double reached = share > 1 || active_groups >= c->cus ? 1 : share > 0.01 ? share : 0.01;
    t->clk_per_l2_byte = 1 / (q->l2_width * q->l2_read_efficiency);
    t->clk_per_l2_written = 1 / (q->l2_width * q->l2_write_efficiency);
    t->clk_per_mall_byte = hz * xcds / (q->mall_width * 1e12);
    t->clk_per_hbm_byte = hz * xcds / (q->hbm_width * 1e12 * reached);
    return tags_make(&t->l1, q->l1_kib, q->l1_ways) && tags_make(&t->l2, q->l2_kib, q->l2_ways);
}
void traffic_free(traffic *t) {
    tags_free(&t->l1);
    tags_free(&t->l2);
    line_set_free(&t->xcds);
    line_set_free(&t->fetched);
}

/* serve: the clk at which a server has done `clk` of work that was asked for at `now`. */
static double serve(double *free, double now, double clk) {
    *free = (*free > now ? *free : now) + clk;
    return *free;
}

/* from_memory: a line that is read by several XCDs comes from HBM for one of them and from the MALL for the others. */
static int from_memory(traffic *t, uint64_t line) {
    int fresh = 0;
    if (!line_set_add(&t->fetched, line, 1, &fresh)) t->failed = 1;
    const int readers = __builtin_popcount(line_set_mask(&t->xcds, line) | 1u);
    return fresh && (line * 0x9e3779b97f4a7c15u >> 32) % (unsigned)readers == 0;
}

/* read_line: a line that L1 does not have; the clk at which it is there, without the time on the way. */
static double read_line(traffic *t, uint64_t line, double now) {
    int hit;
    tag_line *x = tags_take(&t->l2, line, &hit);
    double done = serve(&t->l2_free, now, LINE_BYTES * t->clk_per_l2_byte * t->weight);
    t->l2_asked++;
    if (hit) return done + t->q->l2_latency > (double)x->ready ? done + t->q->l2_latency : (double)x->ready;
    t->l2_missed++;
    done = serve(&t->mall_free, done, LINE_BYTES * t->clk_per_mall_byte * t->weight);
    double latency = t->q->mall_latency;
    if (from_memory(t, line)) {
        t->hbm_read++;
        latency = t->q->hbm_latency;
        done = serve(&t->hbm_free, done, LINE_BYTES * t->clk_per_hbm_byte * t->weight);
    }
    x->ready = (uint64_t)(done + latency);
    return done + latency;
}

/* write_line: bytes go to L2 at once, and each line once from there to memory. */
static double write_line(traffic *t, uint64_t line, double written, double now) {
    int hit;
    tag_line *x = tags_take(&t->l2, line, &hit);
    const double done = serve(&t->l2_free, now, written * t->clk_per_l2_written * t->weight);
    serve(&t->mall_free, done, written * t->clk_per_mall_byte * t->weight);
    serve(&t->hbm_free, done, written * t->clk_per_hbm_byte * t->weight);
    x->dirty = 1;
    t->l2_stored += (uint64_t)written;
    return done + t->q->l2_latency;
}

void traffic_replay(traffic *t, trace *other, uint32_t accesses, double now) {
    for (; other->replayed < accesses && other->replayed < other->accesses; other->replayed++) {
        const uint32_t first = other->replayed ? other->end[other->replayed - 1] : 0;
        for (uint32_t i = first; i < other->end[other->replayed]; i++)
            if (other->line[i] & 1)
                write_line(t, other->line[i] >> 1, SEGMENT_BYTES, now);
            else
                read_line(t, other->line[i] >> 1, now);
    }
}

double traffic_access(traffic *t, const wave *w, const transfer *a, double now, double *taken) {
    footprint f;
    footprint_of(w, a, &f);
    const parameters *q = t->q;
    double clk = f.bytes / q->l1_width;
    if (clk < f.segments) clk = f.segments;
    if (f.store) clk *= f.dwords <= 1 ? q->store_narrow_1 : f.dwords == 2 ? q->store_narrow_2 : 1;
    *taken = serve(&t->ta_free, now, clk < 1 ? 1 : clk);
    double there = *taken + (f.scratch ? q->l2_latency : q->l1_latency);
    *(f.store ? &t->stored : &t->loaded) += f.bytes;
    for (int i = 0; i < f.segments; i++) {
        const uint64_t line = footprint_line(&f, i);
        double done;
        if (f.store) {
            done = write_line(t, line, f.bytes / (double)f.segments, *taken);
        } else {
            if (i && line == footprint_line(&f, i - 1)) continue;
            int hit;
            tag_line *x = tags_take(&t->l1, line, &hit);
            t->l1_asked++;
            t->l1_missed += !hit;
            if (!hit) x->ready = (uint64_t)read_line(t, line, *taken);
            done = *taken + q->l1_latency > (double)x->ready ? *taken + q->l1_latency : (double)x->ready;
        }
        if (done > there) there = done;
    }
    return there;
}
