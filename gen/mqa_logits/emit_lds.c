/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LDS-pipelined builder: all waves of a workgroup share KV tiles that LDS DMA brings in `prefetch` tiles ahead, through
 * `slots` LDS buffers; each wave owns its own query rows. */
#include "gen/mqa_logits/emit.h"

enum { DMA_BYTES = 16, SLOTS_MAX = 16, DMA_OFFSETS_MAX = 32, STEPS_MAX = 16, SCALES_MAX = 16, SLOT_ALIGN = 128 };

typedef struct pipeline {
    lds slots[SLOTS_MAX];
    val source[DMA_OFFSETS_MAX]; /* DMA i reads memory at source[i % source_count] of its lane, ... */
    int source_count;
    val source_step;                   /* ... plus i / source_count times this */
    val fragment[STEPS_MAX];           /* where a lane's fragment of K-step s begins in a slot */
    int scale_count;                   /* scale loads a tile */
    int scale_distance;                /* tiles that scales are loaded ahead */
    val scale_byte;                    /* the lane's scale in a group or n-tile */
    val scales[SLOTS_MAX][SCALES_MAX]; /* of the tile in each slot */
} pipeline;

/* mqa_swizzle, emitted. */
static val swizzle(mqa *m, val byte) {
    ir *const e = m->e;
    const val mask = e_i32(e, (1 << m->g.swizzle_bits) - 1);
    return e_xor(e, byte, e_shl(e, e_and(e, e_shr(e, byte, 5 + m->g.swizzle_shift), mask), 5));
}

static void begin(mqa *m, pipeline *p) {
    ir *const e = m->e;
    const mqa_geometry *const g = &m->g;
    const int dim = (int)m->s->dim, dma_block = DMA_BYTES * LANES * (int)m->v->waves;
    for (int i = 0; i < m->v->slots; i++) p->slots[i] = e_lds(e, "slot", g->slot_bytes, SLOT_ALIGN);
    /* The swizzle repeats after its period: so many DMAs need an address of their own, the rest are rows further on. */
    const val stride = e_trunc(e, m->kv_stride);
    p->source_count = g->swizzle_period > dma_block ? g->swizzle_period / dma_block : 1;
    if (p->source_count > g->kv_dmas) p->source_count = g->kv_dmas;
    for (int i = 0; i < p->source_count; i++) {
        const val byte = swizzle(m, e_addi(e, e_muli(e, m->thread, DMA_BYTES), (int64_t)i * dma_block));
        const val row = e_udiv(e, byte, e_i32(e, dim)), in_row = e_and(e, byte, e_i32(e, dim - 1));
        p->source[i] = e_add(e, e_mul(e, row, stride), in_row);
    }
    p->source_step = e_muli(e, stride, p->source_count * dma_block / dim);
    const val edge = e_and(e, m->lane, e_i32(e, g->n - 1));
    const tile kv = t_cols(e, m->atom, dim, (int)m->v->bkv);
    for (int s = 0; s < g->k_steps; s++)
        p->fragment[s] = swizzle(m, e_add(e, e_muli(e, edge, dim), t_fragment_byte(e, &kv, s, m->lane)));
    p->scale_count = m->v->rs ? g->n_tiles / g->group : g->n_tiles;
    p->scale_byte = e_muli(e, m->v->rs ? m->lane : edge, 4);
    /* As far ahead as the in-order count of memory operations lets them arrive without holding up a DMA: one tile less
     * than the DMAs; and never as far as there are slots, so that a tile's registers are read before they are loaded. */
    const int distance = m->v->prefetch > 2 ? (int)m->v->prefetch - 1 : 1;
    p->scale_distance = distance < m->v->slots ? distance : (int)m->v->slots - 1;
}

static val column_of(mqa *m, val t, int ahead) {
    return e_add(m->e, m->begin, e_muli(m->e, e_addi(m->e, t, ahead), m->v->bkv));
}

static void load_scales(mqa *m, pipeline *p, val col, int slot) {
    const buffer from = mqa_scale_tile(m, col);
    const int width = m->v->rs ? LANES : m->g.n;
    for (int i = 0; i < p->scale_count; i++)
        p->scales[slot][i] = e_buffer_load(m->e, from, F32, p->scale_byte, i * width * 4);
}

static void dma_tile(mqa *m, pipeline *p, val col, int slot) {
    ir *const e = m->e;
    const buffer from = mqa_kv_tile(m, col);
    const int wave_block = DMA_BYTES * LANES, dma_block = wave_block * (int)m->v->waves;
    for (int i = 0; i < m->g.kv_dmas; i++) {
        const val further = e_muli(e, p->source_step, i / p->source_count);
        const val at = e_addi(e, e_muli(e, m->wave, wave_block), (int64_t)i * dma_block);
        e_lds_dma(e, from, p->source[i % p->source_count], further, p->slots[slot], at, DMA_BYTES);
    }
}

/* What goes into the memory pipeline in tile t: the scales of a tile soon due, then the DMA of a later one. The order
 * is pinned: vmcnt counts in order, and a scale load behind the DMA would make its reader wait for the DMA. */
static void issue(mqa *m, pipeline *p, val t, int slot, int scales, int dma) {
    ir *const e = m->e;
    const int count = (int)m->v->slots;
    if (scales) load_scales(m, p, column_of(m, t, p->scale_distance), (slot + p->scale_distance) % count);
    e_sched_fence(e);
    if (dma) dma_tile(m, p, column_of(m, t, (int)m->v->prefetch), (slot + (int)m->v->prefetch) % count);
    e_sched_fence(e);
}

static tile read_slot(mqa *m, const pipeline *p, int slot) {
    const mqa_geometry *const g = &m->g;
    tile kv = t_cols(m->e, m->atom, (int)m->s->dim, (int)m->v->bkv);
    for (int i = 0; i < g->n_tiles; i++)
        for (int s = 0; s < g->k_steps; s++)
            kv.v[i * g->k_steps + s] =
                e_lds_load(m->e, p->slots[slot], VEC(8, I32), p->fragment[s], i * g->n * (int)m->s->dim);
    return kv;
}

/* Tile t, whose DMA went into `slot`. */
static void stage(mqa *m, pipeline *p, val t, int slot) {
    ir *const e = m->e;
    const int prefetch = (int)m->v->prefetch, shared = m->v->waves > 1;
    /* Loads and DMA issued after this tile's DMA: those of prefetch - 1 tiles. Stores between them are not counted on.
     * The LDS count closes the reads of the slot that this tile's DMA will overwrite. */
    const int younger = (prefetch - 1) * (m->g.kv_dmas + p->scale_count);
    e_wait(e, younger < VMCNT_MAX ? younger : VMCNT_MAX, 0);
    if (shared) e_barrier(e);
    const tile kv = read_slot(m, p, slot);
    if (m->v->slots <= prefetch) { /* the DMA goes into the slot that was just read */
        e_wait(e, WAIT_ANY, 0);
        if (shared) e_barrier(e);
    }
    issue(m, p, t, slot, 1, 1);
    mqa_tile(m, &kv, p->scales[slot], column_of(m, t, 0), 0, m->g.n_tiles);
}

static void loop(mqa *m, pipeline *p) {
    ir *const e = m->e;
    const int slots = (int)m->v->slots, prefetch = (int)m->v->prefetch;
    /* The tiles before the first: they only issue, in the order of the loop. */
    for (int t = -prefetch; t < 0; t++) issue(m, p, e_i32(e, t), (t + slots) % slots, t + p->scale_distance >= 0, 1);
    /* Scales that a tile reads though an earlier round of the loop loaded them. */
    val *carried[LOOP_CARRIED_MAX];
    int carried_count = 0;
    for (int slot = 0; slot < p->scale_distance; slot++)
        for (int i = 0; i < p->scale_count && carried_count < LOOP_CARRIED_MAX; i++)
            carried[carried_count++] = &p->scales[slot][i];
    e_loop tiles;
    e_loop_begin(e, &tiles, e_i32(e, 0), m->tiles, e_i32(e, slots), carried, carried_count);
    for (int slot = 0; slot < slots; slot++) { /* one copy a slot: its addresses are constants */
        const val t = e_addi(e, tiles.index, slot);
        if (slot) e_break_if(e, &tiles, e_equal(e, t, m->tiles));
        stage(m, p, t, slot);
    }
    e_loop_end(e, &tiles);
    /* DMA of tiles past the end is still in flight: LDS must not change hands under it. */
    e_wait(e, 0, WAIT_ANY);
}

void mqa_emit_lds(mqa *m) {
    pipeline p = {0};
    begin(m, &p);
    E_IF(m->e, e_less(m->e, e_i32(m->e, 0), m->tiles)) { loop(m, &p); }
}
