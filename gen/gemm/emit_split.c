/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Split-K: parts of K meet in the workspace; the last workgroup to arrive at a tile adds them up, in one launch. */
#include "gen/gemm/emit_gemm.h"
#include "gen/gemm/tiling.h"

enum { COUNTER_BYTES = 4, SUM_BYTES = 4, QUAD = 4, QUAD_BYTES = QUAD * SUM_BYTES };

static ptr counter_of(gemm *g, const gemm_split *of) {
    ir *const e = g->e;
    return e_ptr_add(e, e_ptr(e, of->workspace, I32, 0), e_sext(e, of->tile));
}

/* Sums of the tile and a part: quad after quad, the threads' side by side. */
static buffer sums_of(gemm *g, const gemm_split *of, val part) {
    ir *const e = g->e;
    const int tile_bytes = g->bm * g->bn * SUM_BYTES;
    const val counters = e_addi(e, e_muli(e, of->tiles, COUNTER_BYTES), GEMM_WORKSPACE_ALIGN - 1);
    const val begin = e_align_down(e, counters, GEMM_WORKSPACE_ALIGN);
    const val first = e_mul(e, e_sext(e, part), of->tiles), index = e_add(e, first, e_sext(e, of->tile));
    const ptr base = e_ptr(e, of->workspace, I8, 0);
    const val at = e_add(e, begin, e_muli(e, index, tile_bytes));
    return e_buffer(e, e_ptr_add(e, base, at), e_i32(e, tile_bytes));
}

static int quads_of(const gemm *g) { return g->atom->m * g->atom->n / LANES / QUAD; }

static void store_part(gemm *g, const gemm_split *of, const gemm_sums *s) {
    ir *const e = g->e;
    const buffer to = sums_of(g, of, of->part);
    const val lane = e_muli(e, g->thread, QUAD_BYTES);
    for (int x = 0; x < s->m_atoms * s->n_atoms * quads_of(g); x++) {
        const val atom_sums = s->v[x / quads_of(g)];
        const val quad = quads_of(g) == 1 ? atom_sums : e_slice(e, atom_sums, QUAD * (x % quads_of(g)), QUAD);
        e_buffer_store(e, to, quad, lane, x * g->threads * QUAD_BYTES);
    }
}

static val load_atom(gemm *g, buffer from, int x) {
    ir *const e = g->e;
    const val lane = e_muli(e, g->thread, QUAD_BYTES);
    val quads[4] = {{0}};
    for (int q = 0; q < quads_of(g); q++)
        quads[q] = e_buffer_load(e, from, VEC(QUAD, F32), lane, (x * quads_of(g) + q) * g->threads * QUAD_BYTES);
    if (quads_of(g) == 1) return quads[0];
    const val low = e_join(e, quads[0], quads[1]);
    return e_join(e, low, e_join(e, quads[2], quads[3]));
}

static void add_parts(gemm *g, const gemm_split *of, gemm_sums *s) {
    ir *const e = g->e;
    const int count = s->m_atoms * s->n_atoms;
    for (int x = 0; x < count; x++) s->v[x] = t_no_sums(e, g->atom);
    carried_values carried = {0};
    e_carry(e, &carried, s->v, count);
    E_FOR_ALL(part, e, e_i32(e, 0), e_i32(e, of->parts), e_i32(e, 1), carried) {
        const buffer from = sums_of(g, of, part);
        for (int x = 0; x < count; x++) s->v[x] = e_fadd(e, s->v[x], load_atom(g, from, x), 0);
    }
}

/* I1, the same in all waves: all other parts of the tile are in the workspace. */
static val arrives_last(gemm *g, const gemm_split *of) {
    ir *const e = g->e;
    e_release(e);
    e_barrier(e);
    E_IF(e, e_equal(e, g->thread, e_i32(e, 0))) {
        const val arrived = e_atomic_add(e, counter_of(g, of), e_i32(e, 1));
        e_lds_store(e, g->arena, arrived, e_i32(e, 0), 0);
        e_wait(e, WAIT_ANY, 0);
    }
    e_barrier(e);
    const val arrived = e_uniform(e, e_lds_load(e, g->arena, I32, e_i32(e, 0), 0));
    return e_equal(e, arrived, e_i32(e, of->parts - 1));
}

static void reset_counter(gemm *g, const gemm_split *of) {
    ir *const e = g->e;
    E_IF(e, e_equal(e, g->thread, e_i32(e, 0)))
    e_atomic_add(e, counter_of(g, of), e_i32(e, -of->parts));
}

void gemm_reduce(gemm *g, const gemm_split *of, const gemm_sums *sums) {
    ir *const e = g->e;
    store_part(g, of, sums);
    E_IF(e, arrives_last(g, of)) {
        e_acquire(e);
        gemm_sums all = *sums;
        add_parts(g, of, &all);
        gemm_store(g, &all);
        reset_counter(g, of); /* for the next launch */
    }
}
