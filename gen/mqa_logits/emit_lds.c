/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LDS-pipelined builder: all waves of a workgroup share KV tiles that LDS DMA brings in `prefetch` tiles ahead, through
 * a ring of `slots` in LDS; each wave owns its own query rows. */
#include <assert.h>

#include "core/integer.h"
#include "gen/mqa_logits/emit.h"

enum { DMA_BYTES = 16, SCALE_BYTES = 4, DMA_OFFSETS_MAX = 32, STEPS_MAX = 16, SCALES_MAX = 64, RING_ALIGN = 128 };

typedef struct pipeline {
    lds ring;
    val source[DMA_OFFSETS_MAX]; /* DMA i reads memory at source[i % dma_sources] of its lane, ... */
    val source_step;             /* ... plus i / dma_sources times this */
    val fragment[STEPS_MAX];     /* where a lane's fragment of K-step s begins in a slot */
    int scales, stores;          /* a tile and wave */
    int scale_loads, dmas;       /* the same; scales come from memory, or with ls from the slot */
    val scale_byte;              /* the lane's scale in a group or n-tile: of memory's tile, with ls of the slot */
    val own_scales;              /* I1: the wave brings this lane's scales; all waves have as many DMA in flight */
    buffer nowhere;              /* an empty extent, which drops stores */
    ptr ahead;                   /* KV of the tile whose DMA comes next; the loops carry it */
} pipeline;

/* mqa_swizzle, emitted. */
static val swizzle(mqa *m, val byte) {
    ir *const e = m->e;
    const val mask = e_i32(e, (1 << m->g.swizzle_bits) - 1);
    return e_xor(e, byte, e_shl(e, e_and(e, e_shr(e, byte, 5 + m->g.swizzle_shift), mask), 5));
}

static pipeline begin(mqa *m) {
    ir *const e = m->e;
    const mqa_geometry *const g = &m->g;
    const int row_bytes = g->row_bytes, dma_block = DMA_BYTES * LANES * (int)m->v->waves;
    pipeline p = {.ring = e_lds(e, "ring", g->lds_bytes, RING_ALIGN)};
    /* The swizzle repeats: so many DMAs need an address of their own, the rest are whole rows further on. */
    const val stride = e_trunc(e, m->kv_stride);
    assert(g->dma_sources <= DMA_OFFSETS_MAX); /* an n-tile is whole periods of the swizzle (check_dma) */
    for (int i = 0; i < g->dma_sources; i++) {
        const val byte = swizzle(m, e_addi(e, e_muli(e, m->thread, DMA_BYTES), (int64_t)i * dma_block));
        const val row = e_udiv(e, byte, e_i32(e, row_bytes)), row_begin = e_mul(e, row, stride);
        const val in_row = e_sub(e, byte, e_muli(e, row, row_bytes));
        const val at = e_add(e, row_begin, in_row), beyond = e_i32(e, (int32_t)BUFFER_BEYOND);
        const val inside = e_less(e, in_row, e_i32(e, m->s->dim)); /* what pads a row is read as 0 */
        p.source[i] = e_select(e, inside, at, beyond);
    }
    p.source_step = e_muli(e, stride, g->dma_sources * dma_block / row_bytes);
    const val edge = e_and(e, m->lane, e_i32(e, g->n - 1));
    const tile kv = t_cols(e, m->atom, row_bytes, (int)m->v->bkv);
    for (int s = 0; s < g->k_steps; s++) {
        const val row_begin = e_muli(e, edge, row_bytes), in_row = t_fragment_byte(e, &kv, s, m->lane);
        p.fragment[s] = swizzle(m, e_add(e, row_begin, in_row));
    }
    p.scales = m->v->rs ? g->n_tiles / g->group : g->n_tiles;
    p.stores = m->row_count * p.scales;
    p.scale_loads = m->v->ls ? 0 : p.scales;
    p.dmas = g->kv_dmas + g->scale_dmas;
    p.scale_byte = e_addi(e, e_muli(e, m->v->rs ? m->lane : edge, SCALE_BYTES), m->v->ls ? g->slot_kv_bytes : 0);
    if (m->v->ls && m->v->waves > 1) {
        const val owner = e_shr(e, e_muli(e, m->lane, m->v->waves), 6);
        const val below = e_less(e, owner, m->wave), above = e_less(e, m->wave, owner);
        p.own_scales = e_not(e, e_or(e, below, above));
    }
    return p;
}

static val column_of(mqa *m, val t) { return e_add(m->e, m->begin, e_muli(m->e, t, m->v->bkv)); }

/* The slot `tiles` further on in the ring; a slot is named by its first byte. */
static val slot_after(mqa *m, val slot, int tiles) {
    ir *const e = m->e;
    if (tiles % m->v->slots == 0) return slot;
    const val ring = e_i32(e, m->g.lds_bytes), next = e_addi(e, slot, (int64_t)tiles * m->g.slot_bytes);
    const val inside = e_less(e, next, ring), wrapped = e_sub(e, next, ring);
    return e_select(e, inside, next, wrapped);
}

/* Scale i of a lane lies this many bytes after its first one, in memory as in a slot. */
static int scale_offset(const mqa *m, int i) { return i * (m->v->rs ? LANES : m->g.n) * SCALE_BYTES; }

static void load_scales(mqa *m, const pipeline *p, val col, val *scales) {
    const val first = e_muli(m->e, col, SCALE_BYTES);
    for (int i = 0; i < p->scale_loads; i++)
        scales[i] = e_buffer_load_at(m->e, m->scales, F32, p->scale_byte, first, scale_offset(m, i));
}

/* ls: what the waves' DMA of scales left in the slot. */
static void read_scales(mqa *m, const pipeline *p, val slot, val *scales) {
    ir *const e = m->e;
    const val at = e_add(e, p->scale_byte, slot);
    for (int i = 0; i < p->scales; i++) scales[i] = e_lds_load(e, p->ring, F32, at, scale_offset(m, i));
}

/* ls: scales into the slot, behind its KV bytes. */
static void dma_scales(mqa *m, const pipeline *p, val col, val slot) {
    ir *const e = m->e;
    const val lane_byte = e_muli(e, m->lane, SCALE_BYTES), first = e_muli(e, col, SCALE_BYTES);
    for (int i = 0; i < m->g.scale_dmas; i++) {
        const int byte = i * LANES * SCALE_BYTES;
        const val place = e_addi(e, slot, m->g.slot_kv_bytes + byte), source = e_addi(e, first, byte);
        e_lds_dma(e, m->scales, lane_byte, source, p->ring, place, SCALE_BYTES);
    }
}

/* The tile that begins at column `col`, which is `there`. */
static void dma_tile(mqa *m, const pipeline *p, ptr there, val col, val slot) {
    ir *const e = m->e;
    const buffer from = mqa_kv_tile(m, there, col);
    const int wave_block = DMA_BYTES * LANES, dma_block = wave_block * (int)m->v->waves;
    const val to = e_add(e, slot, e_muli(e, m->wave, wave_block));
    for (int i = 0; i < m->g.kv_dmas; i++) {
        const val rows = e_muli(e, p->source_step, i / m->g.dma_sources);
        const val place = e_addi(e, to, (int64_t)i * dma_block);
        e_lds_dma(e, from, p->source[i % m->g.dma_sources], rows, p->ring, place, DMA_BYTES);
    }
    if (!m->v->ls) return;
    if (m->v->waves == 1)
        dma_scales(m, p, col, slot);
    else
        E_IF_ODDS(e, p->own_scales, E_USUALLY) dma_scales(m, p, col, slot);
}

/* The fragments of n-tiles [from, to) of the tile in a slot. */
static void read_slot(mqa *m, const pipeline *p, val slot, int from, int to, tile *kv) {
    ir *const e = m->e;
    const mqa_geometry *const g = &m->g;
    for (int s = 0; s < g->k_steps; s++) {
        const val at = e_add(e, p->fragment[s], slot);
        for (int i = from; i < to; i++)
            kv->v[i * g->k_steps + s] = e_lds_load(e, p->ring, VEC(8, I32), at, i * g->n * g->row_bytes);
    }
}

static tile new_tile(mqa *m) { return t_cols(m->e, m->atom, m->g.row_bytes, (int)m->v->bkv); }

/* Tiles whose DMA comes between that of a tile and the wait for it: with ct a tile is waited for one trip earlier. */
static int tiles_between(const mqa *m) { return (int)m->v->prefetch - (m->v->ct ? 2 : 1); }

/* vmcnt counts a wave's loads, DMA and stores in order, so a wait names how many came after what it waits for. A tile
 * issues, in this order: its scales, the DMA of the tile `prefetch` further on, its stores; with ct some of the stores
 * come before the wait and the DMA. `dma_tiles`: after the DMA that is waited for came that of so many tiles. */
static int younger_than_dma(const mqa *m, const pipeline *p, int dma_tiles) {
    const int between = tiles_between(m);
    const int count = p->stores + between * (p->scale_loads + p->stores) + dma_tiles * p->dmas + p->scale_loads;
    return count < VMCNT_MAX ? count : VMCNT_MAX;
}

/* Stores that are dropped, in the place of what a tile that is not there would have issued: counts of vmcnt stay what
 * they are. */
static void stand_ins(mqa *m, const pipeline *p, int count) {
    ir *const e = m->e;
    /* at places apart, so that LLVM neither drops nor joins any; more than a wait can count need not be */
    for (int i = 0; i < count && i < VMCNT_MAX; i++) e_buffer_store(e, p->nowhere, e_f32(e, 0), e_i32(e, 0), 64 * i);
}

/* The DMA of the first tiles, and stand-ins for the tiles before the first: the loop's count holds from its first trip
 * on. */
static void fill_ring(mqa *m, pipeline *p) {
    ir *const e = m->e;
    p->nowhere = e_buffer(e, m->rows[0].logits, e_i32(e, 0));
    p->ahead = mqa_kv_from(m, m->begin);
    for (int t = 0; t < m->v->prefetch; t++) {
        const val tile_t = e_i32(e, t), slot = e_i32(e, (int64_t)t * m->g.slot_bytes);
        const val col = column_of(m, tile_t);
        if (m->v->dg && t > 0)
            E_IF(e, e_less(e, tile_t, m->tiles)) dma_tile(m, p, p->ahead, col, slot);
        else
            dma_tile(m, p, p->ahead, col, slot);
        p->ahead = e_ptr_add(e, p->ahead, m->tile_step);
        e_sched_fence(e);
        stand_ins(m, p, p->stores + (t < m->v->prefetch - 1 ? p->scale_loads : 0));
        e_sched_fence(e);
    }
    if (!m->v->ls && !m->v->dg) return;
    /* Q and weights are older than all of this. LLVM must be told that they have landed: before a loop without loads of
     * its own it would else wait for the whole ring. It counts what no branch can leave out. */
    const int dmas = m->v->waves == 1 ? p->dmas : m->g.kv_dmas, tiles = (int)m->v->prefetch;
    const int certain = (m->v->dg ? 1 : tiles) * dmas + tiles * p->stores;
    e_wait(e, certain < VMCNT_MAX ? certain : VMCNT_MAX, WAIT_ANY);
}

/* What a trip of the tile loop issues for the tiles after it. */
typedef enum trips {
    PREFETCHING, /* the DMA of the tile `prefetch` further on */
    DRAINING     /* dg: nothing, there is no such tile */
} trips;

/* Until the DMA of tile t is in its slot. Draining, less and less came after it: the fewer tiles are left, the more of
 * these waits apply. */
static void wait_for_tile(mqa *m, const pipeline *p, val t, trips kind) {
    ir *const e = m->e;
    const int most = tiles_between(m);
    const val left = e_sub(e, e_addi(e, m->tiles, -1), t);
    for (int dma_tiles = most - 1; kind == DRAINING && dma_tiles >= 0; dma_tiles--)
        E_IF(e, e_less(e, left, e_i32(e, dma_tiles + 1))) e_wait(e, younger_than_dma(m, p, dma_tiles), WAIT_ANY);
    /* The LDS count closes this wave's reads of the slot before: after the barrier any wave's DMA may fill it. */
    e_wait(e, younger_than_dma(m, p, most), 0);
    if (m->v->waves > 1) e_barrier(e);
}

/* The DMA of the tile `prefetch` after tile t, which lies in `slot`. */
static void prefetch(mqa *m, const pipeline *p, val t, val slot, trips kind) {
    ir *const e = m->e;
    const int ahead = (int)m->v->prefetch;
    e_sched_fence(e);
    if (kind == PREFETCHING) {
        const val col = column_of(m, e_addi(e, t, ahead)), place = slot_after(m, slot, ahead);
        dma_tile(m, p, p->ahead, col, place);
    }
    e_sched_fence(e);
}

/* The same where that DMA may go into the slot that is being read. */
static void prefetch_over(mqa *m, const pipeline *p, val t, val slot, trips kind) {
    if (kind == PREFETCHING && m->v->slots <= m->v->prefetch) {
        e_wait(m->e, WAIT_ANY, 0);
        if (m->v->waves > 1) e_barrier(m->e);
    }
    prefetch(m, p, t, slot, kind);
}

/* One tile; `scales` as load_scales left them. */
static void stage(mqa *m, const pipeline *p, val t, val slot, trips kind, val *scales) {
    tile kv = new_tile(m);
    read_slot(m, p, slot, 0, m->g.n_tiles, &kv);
    if (m->v->ls) read_scales(m, p, slot, scales);
    const tile products = mqa_products(m, (mqa_item){0}, &kv);
    prefetch_over(m, p, t, slot, kind);
    mqa_tile(m, &kv, &products, scales, column_of(m, t));
}

/* ts: does any of the wave's rows see a column of the tile? The same in all lanes. */
static val is_seen(mqa *m, val col) {
    ir *const e = m->e;
    val low = m->rows[0].start, high = m->rows[0].end;
    for (int j = 1; j < m->row_count; j++) {
        low = e_min(e, low, m->rows[j].start);
        high = e_max(e, high, m->rows[j].end);
    }
    const val begins_before = e_less(e, col, high), ends_behind = e_less(e, low, e_addi(e, col, m->v->bkv));
    return e_and(e, begins_before, ends_behind);
}

static void trip(mqa *m, const pipeline *p, val t, val slot, trips kind) {
    ir *const e = m->e;
    val scales[SCALES_MAX];
    load_scales(m, p, column_of(m, t), scales);
    wait_for_tile(m, p, t, kind);
    if (!m->v->ts) {
        stage(m, p, t, slot, kind, scales);
        return;
    }
    const val seen = is_seen(m, column_of(m, t));
    E_IF_ODDS(e, seen, E_USUALLY) stage(m, p, t, slot, kind, scales);
    E_IF_ODDS(e, e_not(e, seen), E_RARELY) { /* what the other waves and later waits count on */
        prefetch_over(m, p, t, slot, kind);
        stand_ins(m, p, p->stores);
    }
}

static void trip_loop(mqa *m, pipeline *p, val from, val to, val *slot, trips kind) {
    ir *const e = m->e;
    E_FOR(t, e, from, to, e_i32(e, 1), slot, &p->ahead.address) {
        trip(m, p, t, *slot, kind);
        *slot = slot_after(m, *slot, 1);
        p->ahead = e_ptr_add(e, p->ahead, m->tile_step);
    }
}

/* ct: what one trip of the loop hands to the next. Its tile's last item has its products, and is consumed beside the
 * first products of the next tile, whose first fragments are there. */
typedef struct handover {
    val slot; /* of the next tile */
    val fragment[STEPS_MAX];
    tile sums;
    val group[MQA_GROUP_MAX]; /* the last row's */
    val scale, col;           /* of the last item's group, of its tile */
} handover;

/* Before the first tile: an item whose store is dropped, because its columns are those behind the last one. */
static handover first_handover(mqa *m, const pipeline *p) {
    ir *const e = m->e;
    handover h = {.slot = e_i32(e, 0), .scale = e_f32(e, 0), .col = m->seq_kv};
    tile kv = new_tile(m);
    read_slot(m, p, h.slot, 0, 1, &kv);
    for (int s = 0; s < m->g.k_steps; s++) h.fragment[s] = kv.v[s];
    for (int i = 0; i < m->g.item_tiles; i++) h.sums.v[i] = t_no_sums(e, m->atom);
    for (int i = 0; i < MQA_GROUP_MAX; i++) h.group[i] = e_f32(e, 0);
    return h;
}

static int parts_of(const mqa *m) { return m->g.m_tiles / m->g.item_tiles; }
static mqa_item last_item(const mqa *m) {
    return (mqa_item){.row = m->row_count - 1, .n_tile = m->g.n_tiles - 1, .part = parts_of(m) - 1};
}

/* Sums of the last row's last group that its last item finds begun. */
static int open_sums(const mqa *m) { return m->g.group - 1 + (parts_of(m) > 1); }

/* ct: one trip. Columns outside, rows inside: a fragment is read one n-tile ahead and used by all rows in turn. */
static void trip_across(mqa *m, const pipeline *p, val t, handover *h, trips kind) {
    ir *const e = m->e;
    const int last = m->g.n_tiles - 1;
    const val col = column_of(m, t), slot = h->slot;
    val scales[SCALES_MAX], before[SCALES_MAX], group[MQA_ROWS_MAX][MQA_GROUP_MAX];
    tile kv = new_tile(m), next = new_tile(m);
    for (int s = 0; s < m->g.k_steps; s++) kv.v[s] = h->fragment[s];
    load_scales(m, p, col, scales);
    if (m->v->ls) read_scales(m, p, slot, scales);
    before[last / m->g.group] = h->scale;
    mqa_item done = last_item(m);
    for (int n = 0; n <= last; n++) {
        if (n < last) {
            read_slot(m, p, slot, n + 1, n + 2, &kv);
        } else {
            wait_for_tile(m, p, e_addi(e, t, 1), kind);
            h->slot = slot_after(m, slot, 1);
            read_slot(m, p, h->slot, 0, 1, &next);
            prefetch(m, p, t, slot, kind);
        }
        e_sched_fence(e);
        for (int i = 0; i < m->row_count * parts_of(m); i++) {
            const mqa_item item = {.row = i / parts_of(m), .n_tile = n, .part = i % parts_of(m)};
            const int first = n == 0 && i == 0; /* done is the tile before's last */
            val *const sums = first ? h->group : group[done.row];
            h->sums = mqa_step(m, item, &kv, &h->sums, done, sums, first ? before : scales, first ? h->col : col);
            done = item;
        }
    }
    for (int s = 0; s < m->g.k_steps; s++) h->fragment[s] = next.v[s];
    for (int i = 0; i < open_sums(m); i++) h->group[i] = group[done.row][i];
    h->scale = scales[last / m->g.group];
    h->col = col;
}

static void loop_across(mqa *m, pipeline *p, val from, val to, handover *h, trips kind) {
    ir *const e = m->e;
    carried_values carried = {0};
    e_carry(e, &carried, &h->slot, 1);
    e_carry(e, &carried, &h->scale, 1);
    e_carry(e, &carried, &h->col, 1);
    e_carry(e, &carried, h->fragment, m->g.k_steps);
    e_carry(e, &carried, h->sums.v, m->g.item_tiles);
    e_carry(e, &carried, h->group, open_sums(m));
    e_carry(e, &carried, &p->ahead.address, 1);
    E_FOR_ALL(t, e, from, to, e_i32(e, 1), carried) {
        trip_across(m, p, t, h, kind);
        p->ahead = e_ptr_add(e, p->ahead, m->tile_step);
    }
}

static void tiles_across(mqa *m, pipeline *p) {
    ir *const e = m->e;
    const val zero = e_i32(e, 0);
    const int certain = m->v->dg ? 0 : (int)m->v->prefetch - 1; /* tiles whose DMA is younger than the first's */
    e_wait(e, (int)smaller(certain * p->dmas, VMCNT_MAX), WAIT_ANY);
    if (m->v->waves > 1) e_barrier(e);
    handover h = first_handover(m, p);
    if (m->v->dg) {
        const val drain = e_max(e, e_addi(e, m->tiles, -m->v->prefetch), zero);
        loop_across(m, p, zero, drain, &h, PREFETCHING);
        loop_across(m, p, drain, m->tiles, &h, DRAINING);
    } else {
        loop_across(m, p, zero, m->tiles, &h, PREFETCHING);
    }
    val scales[SCALES_MAX];
    scales[(m->g.n_tiles - 1) / m->g.group] = h.scale;
    mqa_consume(m, &h.sums, last_item(m), h.group, scales, h.col);
}

static void tile_by_tile(mqa *m, pipeline *p) {
    ir *const e = m->e;
    const val zero = e_i32(e, 0);
    val slot = zero;
    if (m->v->dg) {
        const val drain = e_max(e, e_addi(e, m->tiles, -m->v->prefetch), zero);
        trip_loop(m, p, zero, drain, &slot, PREFETCHING);
        trip_loop(m, p, drain, m->tiles, &slot, DRAINING);
    } else {
        trip_loop(m, p, zero, m->tiles, &slot, PREFETCHING);
    }
}

void mqa_emit_lds(mqa *m) {
    ir *const e = m->e;
    pipeline p = begin(m);
    E_IF(e, e_less(e, e_i32(e, 0), m->tiles)) {
        fill_ring(m, &p);
        if (m->v->ct)
            tiles_across(m, &p);
        else
            tile_by_tile(m, &p);
        /* DMA of tiles past the end is still in flight: LDS must not change hands under it. */
        if (!m->v->dg) e_wait(e, 0, WAIT_ANY);
    }
}
