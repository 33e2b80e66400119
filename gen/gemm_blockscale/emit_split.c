/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Split-K: parts of K meet in the workspace; the last workgroup to arrive at a tile adds them up, in one launch. */
#include "gen/gemm_blockscale/emit.h"

enum { COUNTER_BYTES = 4, SUM_BYTES = 4, QUAD = 4, QUAD_BYTES = QUAD * SUM_BYTES };

static ptr counter_of(blockscale *b, val tile_index) {
    ir *const e = b->e;
    return e_ptr_add(e, e_ptr(e, e_arg(e, BLOCKSCALE_WORKSPACE), I32, 0), e_sext(e, tile_index));
}

/* Sums of a tile and part: quad after quad, the threads' side by side. */
static buffer sums_of(blockscale *b, val tile_index, val part) {
    ir *const e = b->e;
    const int tile_bytes = b->g.bm * b->g.bn * SUM_BYTES;
    const val rows = e_sext(e, b->tiles_m), tiles = e_mul(e, rows, e_sext(e, b->tiles_n));
    const val counters = e_addi(e, e_muli(e, tiles, COUNTER_BYTES), GEMM_WORKSPACE_ALIGN - 1);
    const val begin = e_align_down(e, counters, GEMM_WORKSPACE_ALIGN);
    const val first = e_mul(e, e_sext(e, part), tiles), index = e_add(e, first, e_sext(e, tile_index));
    const ptr base = e_ptr(e, e_arg(e, BLOCKSCALE_WORKSPACE), I8, 0);
    const val at = e_add(e, begin, e_muli(e, index, tile_bytes));
    return e_buffer(e, e_ptr_add(e, base, at), e_i32(e, tile_bytes));
}

static int quads_of(const blockscale *b) { return b->g.acc / QUAD; }

static void store_part(blockscale *b, gemm *g, const gemm_sums *s, val tile_index) {
    ir *const e = b->e;
    const buffer to = sums_of(b, tile_index, b->split);
    const val lane = e_muli(e, g->thread, QUAD_BYTES);
    for (int x = 0; x < s->m_atoms * s->n_atoms * quads_of(b); x++) {
        const val atom_sums = s->v[x / quads_of(b)];
        const val quad = quads_of(b) == 1 ? atom_sums : e_slice(e, atom_sums, QUAD * (x % quads_of(b)), QUAD);
        e_buffer_store(e, to, quad, lane, x * g->threads * QUAD_BYTES);
    }
}

static val load_atom(blockscale *b, gemm *g, buffer from, int x) {
    ir *const e = b->e;
    const val lane = e_muli(e, g->thread, QUAD_BYTES);
    val quads[4] = {{0}};
    for (int q = 0; q < quads_of(b); q++)
        quads[q] = e_buffer_load(e, from, VEC(QUAD, F32), lane, (x * quads_of(b) + q) * g->threads * QUAD_BYTES);
    if (quads_of(b) == 1) return quads[0];
    const val low = e_join(e, quads[0], quads[1]);
    return e_join(e, low, e_join(e, quads[2], quads[3]));
}

static void add_parts(blockscale *b, gemm *g, gemm_sums *s, val tile_index) {
    ir *const e = b->e;
    const int count = s->m_atoms * s->n_atoms;
    for (int x = 0; x < count; x++) s->v[x] = t_no_sums(e, g->atom);
    carried_values carried = {0};
    e_carry(e, &carried, s->v, count);
    E_FOR_ALL(part, e, e_i32(e, 0), e_i32(e, b->g.split_k), e_i32(e, 1), carried) {
        const buffer from = sums_of(b, tile_index, part);
        for (int x = 0; x < count; x++) s->v[x] = e_fadd(e, s->v[x], load_atom(b, g, from, x), 0);
    }
}

/* I1, the same in all waves: all other parts of the tile are in the workspace. */
static val arrives_last(blockscale *b, gemm *g, val tile_index) {
    ir *const e = b->e;
    e_release(e);
    e_barrier(e);
    E_IF(e, e_equal(e, g->thread, e_i32(e, 0))) {
        const val arrived = e_atomic_add(e, counter_of(b, tile_index), e_i32(e, 1));
        e_lds_store(e, g->arena, arrived, e_i32(e, 0), 0);
        e_wait(e, WAIT_ANY, 0);
    }
    e_barrier(e);
    const val arrived = e_uniform(e, e_lds_load(e, g->arena, I32, e_i32(e, 0), 0));
    return e_equal(e, arrived, e_i32(e, b->g.split_k - 1));
}

static void reset_counter(blockscale *b, gemm *g, val tile_index) {
    ir *const e = b->e;
    E_IF(e, e_equal(e, g->thread, e_i32(e, 0)))
    e_atomic_add(e, counter_of(b, tile_index), e_i32(e, -b->g.split_k));
}

void blockscale_reduce(blockscale *b, gemm *g, const gemm_sums *sums, val tile_index) {
    ir *const e = b->e;
    store_part(b, g, sums, tile_index);
    E_IF(e, arrives_last(b, g, tile_index)) {
        e_acquire(e);
        gemm_sums all = *sums;
        add_parts(b, g, &all, tile_index);
        gemm_store(g, &all);
        reset_counter(b, g, tile_index); /* for the next launch */
    }
}
