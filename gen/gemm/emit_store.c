/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The epilogue: sums of a wave to C, straight from the lanes or through LDS in whole rows. */
#include "gen/gemm/emit_gemm.h"

enum { OUT_BYTES = 2, QUAD = 4, QUAD_BYTES = QUAD * OUT_BYTES, SWIZZLED_ROWS = 16 };

static int edge(const gemm *g) { return g->atom->m; }

val gemm_lane_row(gemm *g) { return e_and(g->e, g->lane, e_i32(g->e, edge(g) - 1)); }
val gemm_lane_column(gemm *g) { return e_muli(g->e, e_shr(g->e, g->lane, edge(g) == 32 ? 5 : 4), QUAD); }

/* quad: four neighbouring columns of a row of the tile, as they lie in memory. */
typedef struct quad {
    val bits, row, column;
} quad;

typedef void quad_verb(gemm *g, quad q);

static void for_own_quads(gemm *g, const gemm_sums *s, quad_verb *verb) {
    ir *const e = g->e;
    const int quads = edge(g) * edge(g) / LANES / QUAD;
    const val row = e_add(e, s->row, gemm_lane_row(g)), column = e_add(e, s->column, gemm_lane_column(g));
    for (int x = 0; x < s->m_atoms * s->n_atoms * quads; x++) {
        const int atom_x = x / quads, i = atom_x / s->n_atoms, j = atom_x % s->n_atoms, first = QUAD * (x % quads);
        const val sums = quads == 1 ? s->v[atom_x] : e_slice(e, s->v[atom_x], first, QUAD);
        quad q = {.bits = e_bitcast(e, g->out == GEMM_F16 ? e_f16(e, sums) : e_bf16(e, sums), VEC(2, I32))};
        q.row = e_addi(e, row, s->rows[i]);
        q.column = e_addi(e, column, s->columns[j] + t_sum_row(g->atom, 0, first));
        verb(g, q);
    }
}

/* ---- to memory ---- */

static val place_in_c(gemm *g, quad q) {
    ir *const e = g->e;
    const val row_begin = e_mul(e, q.row, g->c_stride);
    return e_add(e, row_begin, e_muli(e, q.column, OUT_BYTES));
}

static val is_whole(gemm *g, quad q) { return e_not(g->e, e_less(g->e, g->columns, e_addi(g->e, q.column, QUAD))); }

static void store_whole(gemm *g, quad q) {
    val at = place_in_c(g, q);
    if (g->n_tail) at = gemm_silent(g, at, is_whole(g, q));
    e_buffer_store(g->e, g->c, q.bits, at, 0);
}

/* A quad that C's last column cuts, column by column. */
static void store_cut(gemm *g, quad q) {
    ir *const e = g->e;
    const val halves = e_bitcast(e, q.bits, VEC(QUAD, I16)), at = place_in_c(g, q);
    const val is_cut = e_not(e, is_whole(g, q));
    for (int c = 0; c < QUAD - 1; c++) {
        const val exists = e_and(e, is_cut, e_less(e, e_addi(e, q.column, c), g->columns));
        const val to = gemm_silent(g, at, exists);
        e_buffer_store(e, g->c, e_element(e, halves, c), to, OUT_BYTES * c);
    }
}

static int cuts_quads(const gemm *g) { return g->n_tail && !g->n_quads; }

/* I1: C's last column cuts a quad. */
static val some_cut(gemm *g) {
    ir *const e = g->e;
    return e_less(e, e_i32(e, 0), e_and(e, g->columns, e_i32(e, QUAD - 1)));
}

/* ---- through LDS ---- */

/* The tile's byte of a quad in LDS: row after row. Rows that a wave writes at the same time use different banks. */
static val place_in_lds(gemm *g, val row, val quad_index) {
    ir *const e = g->e;
    const int row_quads = g->bn / QUAD, mask = (row_quads < SWIZZLED_ROWS ? row_quads : SWIZZLED_ROWS) - 1;
    const val place = e_xor(e, quad_index, e_and(e, row, e_i32(e, mask))), begin = e_muli(e, row, row_quads);
    return e_muli(e, e_add(e, begin, place), QUAD_BYTES);
}

static void put(gemm *g, quad q) {
    e_lds_store(g->e, g->arena, q.bits, place_in_lds(g, q.row, e_shr(g->e, q.column, 2)), 0);
}

/* Quads of the tile in the order of memory: each wave stores parts of rows that lie together. */
static void for_shuffled_quads(gemm *g, quad_verb *verb) {
    ir *const e = g->e;
    const int row_quads = g->bn / QUAD;
    for (int i = 0; i < g->bm * row_quads / g->threads; i++) {
        const val index = e_addi(e, g->thread, (int64_t)i * g->threads);
        quad q = {.row = e_udiv(e, index, e_i32(e, row_quads))};
        const val in_row = e_and(e, index, e_i32(e, row_quads - 1));
        q.column = e_muli(e, in_row, QUAD);
        q.bits = e_lds_load(e, g->arena, VEC(2, I32), place_in_lds(g, q.row, in_row), 0);
        verb(g, q);
    }
}

static void store(gemm *g, const gemm_sums *s) {
    ir *const e = g->e;
    if (!g->cshuffle) {
        for_own_quads(g, s, store_whole);
        if (cuts_quads(g)) E_IF_ODDS(e, some_cut(g), E_RARELY) for_own_quads(g, s, store_cut);
        return;
    }
    e_wait(e, WAIT_ANY, 0);
    e_barrier(e); /* K tiles in the arena are done with */
    for_own_quads(g, s, put);
    e_wait(e, WAIT_ANY, 0);
    e_barrier(e);
    for_shuffled_quads(g, store_whole);
    if (cuts_quads(g)) E_IF_ODDS(e, some_cut(g), E_RARELY) for_shuffled_quads(g, store_cut);
}

void gemm_store(gemm *g, const gemm_sums *s) {
    if (g->ablation != GEMM_NO_STORE) {
        store(g, s);
        return;
    }
    E_IF_ODDS(g->e, e_less(g->e, g->k, e_i32(g->e, 0)), E_RARELY) store(g, s); /* never, but LLVM cannot know */
}
