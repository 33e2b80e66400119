/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LDS-pipelined builder: all waves of a workgroup share KV tiles that LDS DMA brings in `prefetch` tiles ahead, through a
 * ring of `slots` in LDS; each wave owns its own query rows. */
#include <assert.h>

#include "gen/mqa_logits/emit.h"

enum { DMA_BYTES = 16, DMA_OFFSETS_MAX = 32, STEPS_MAX = 16, SCALES_MAX = 64, RING_ALIGN = 128 };

typedef struct pipeline {
    lds ring;
    val source[DMA_OFFSETS_MAX]; /* DMA i reads memory at source[i % dma_sources] of its lane, ... */
    val source_step;             /* ... plus i / dma_sources times this */
    val fragment[STEPS_MAX];     /* where a lane's fragment of K-step s begins in a slot */
    int scale_loads, stores;     /* a tile and wave */
    val scale_byte;              /* the lane's scale in a group or n-tile */
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
    const int dim = (int)m->s->dim, dma_block = DMA_BYTES * LANES * (int)m->v->waves;
    pipeline p = {.ring = e_lds(e, "ring", g->lds_bytes, RING_ALIGN)};
    /* The swizzle repeats: so many DMAs need an address of their own, the rest are whole rows further on. */
    const val stride = e_trunc(e, m->kv_stride);
    assert(g->dma_sources <= DMA_OFFSETS_MAX); /* an n-tile is whole periods of the swizzle (check_dma) */
    for (int i = 0; i < g->dma_sources; i++) {
        const val byte = swizzle(m, e_addi(e, e_muli(e, m->thread, DMA_BYTES), (int64_t)i * dma_block));
        const val row = e_udiv(e, byte, e_i32(e, dim)), row_begin = e_mul(e, row, stride);
        p.source[i] = e_add(e, row_begin, e_sub(e, byte, e_muli(e, row, dim)));
    }
    p.source_step = e_muli(e, stride, g->dma_sources * dma_block / dim);
    const val edge = e_and(e, m->lane, e_i32(e, g->n - 1));
    const tile kv = t_cols(e, m->atom, dim, (int)m->v->bkv);
    for (int s = 0; s < g->k_steps; s++) {
        const val row_begin = e_muli(e, edge, dim), in_row = t_fragment_byte(e, &kv, s, m->lane);
        p.fragment[s] = swizzle(m, e_add(e, row_begin, in_row));
    }
    p.scale_loads = m->v->rs ? g->n_tiles / g->group : g->n_tiles;
    p.stores = m->row_count * p.scale_loads;
    p.scale_byte = e_muli(e, m->v->rs ? m->lane : edge, 4);
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

static void load_scales(mqa *m, const pipeline *p, val col, val *scales) {
    const buffer from = mqa_scale_tile(m, col);
    const int width = m->v->rs ? LANES : m->g.n;
    for (int i = 0; i < p->scale_loads; i++) scales[i] = e_buffer_load(m->e, from, F32, p->scale_byte, i * width * 4);
}

static void dma_tile(mqa *m, const pipeline *p, val col, val slot) {
    ir *const e = m->e;
    const buffer from = mqa_kv_tile(m, col);
    const int wave_block = DMA_BYTES * LANES, dma_block = wave_block * (int)m->v->waves;
    const val to = e_add(e, slot, e_muli(e, m->wave, wave_block));
    for (int i = 0; i < m->g.kv_dmas; i++) {
        const val rows = e_muli(e, p->source_step, i / m->g.dma_sources);
        const val place = e_addi(e, to, (int64_t)i * dma_block);
        e_lds_dma(e, from, p->source[i % m->g.dma_sources], rows, p->ring, place, DMA_BYTES);
    }
}

static tile read_slot(mqa *m, const pipeline *p, val slot) {
    ir *const e = m->e;
    const mqa_geometry *const g = &m->g;
    tile kv = t_cols(e, m->atom, (int)m->s->dim, (int)m->v->bkv);
    for (int s = 0; s < g->k_steps; s++) {
        const val at = e_add(e, p->fragment[s], slot);
        for (int i = 0; i < g->n_tiles; i++)
            kv.v[i * g->k_steps + s] = e_lds_load(e, p->ring, VEC(8, I32), at, i * g->n * (int)m->s->dim);
    }
    return kv;
}

/* vmcnt counts a wave's loads, DMA and stores in order, so a wait names how many came after what it waits for. A tile
 * issues, in this order: its scales, the DMA of the tile `prefetch` further on, its stores. */
static int younger_than_dma(const mqa *m, const pipeline *p) {
    const int a_tile = p->scale_loads + m->g.kv_dmas + p->stores;
    const int count = p->stores + ((int)m->v->prefetch - 1) * a_tile + p->scale_loads;
    return count < VMCNT_MAX ? count : VMCNT_MAX;
}

/* The DMA of the first tiles. Stores that an empty extent drops stand for what tiles before the first would have
 * issued, so that the loop's count holds from its first trip on. */
static void fill_ring(mqa *m, const pipeline *p) {
    ir *const e = m->e;
    const val zero = e_i32(e, 0);
    const buffer nowhere = e_buffer(e, m->rows[0].logits, zero);
    for (int t = 0; t < m->v->prefetch; t++) {
        dma_tile(m, p, column_of(m, e_i32(e, t)), e_i32(e, (int64_t)t * m->g.slot_bytes));
        e_sched_fence(e);
        const int others = p->stores + (t < m->v->prefetch - 1 ? p->scale_loads : 0);
        /* at places apart, so that LLVM neither drops nor joins any; more than a wait can count need not be */
        for (int i = 0; i < others && i < VMCNT_MAX; i++) e_buffer_store(e, nowhere, e_f32(e, 0), zero, 64 * i);
        e_sched_fence(e);
    }
}

static void stage(mqa *m, const pipeline *p, val t, val slot) {
    ir *const e = m->e;
    const int shared = m->v->waves > 1;
    val scales[SCALES_MAX];
    load_scales(m, p, column_of(m, t), scales);
    /* The LDS count closes this wave's reads of the slot before: after the barrier any wave's DMA may fill it. */
    e_wait(e, younger_than_dma(m, p), 0);
    if (shared) e_barrier(e);
    const tile kv = read_slot(m, p, slot), products = mqa_first_products(m, &kv);
    if (m->v->slots <= m->v->prefetch) { /* the DMA goes into the slot that is being read */
        e_wait(e, WAIT_ANY, 0);
        if (shared) e_barrier(e);
    }
    e_sched_fence(e);
    const int ahead = (int)m->v->prefetch;
    const val col = column_of(m, e_addi(e, t, ahead)), place = slot_after(m, slot, ahead);
    dma_tile(m, p, col, place);
    e_sched_fence(e);
    mqa_tile(m, &kv, &products, scales, column_of(m, t));
}

void mqa_emit_lds(mqa *m) {
    ir *const e = m->e;
    const val zero = e_i32(e, 0);
    const pipeline p = begin(m);
    E_IF(e, e_less(e, zero, m->tiles)) {
        fill_ring(m, &p);
        val slot = zero;
        E_FOR(t, e, zero, m->tiles, e_i32(e, 1), &slot) {
            stage(m, &p, t, slot);
            slot = slot_after(m, slot, 1);
        }
        /* DMA of tiles past the end is still in flight: LDS must not change hands under it. */
        e_wait(e, 0, WAIT_ANY);
    }
}
