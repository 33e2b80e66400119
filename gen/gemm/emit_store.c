/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The epilogue: sums of a wave to C, straight from the lanes or through LDS in whole rows. */
#include "core/integer.h"
#include "gen/gemm/emit_gemm.h"

enum { OUT_BYTES = 2, QUAD = 4, QUAD_BYTES = QUAD * OUT_BYTES, SWIZZLED_ROWS = 16 };

static int edge(const gemm *g) { return g->atom->m; }

val gemm_lane_row(gemm *g) { return e_and(g->e, g->lane, e_i32(g->e, edge(g) - 1)); }
val gemm_lane_column(gemm *g) { return e_muli(g->e, e_shr(g->e, g->lane, edge(g) == 32 ? 5 : 4), QUAD); }

/* quad: four neighbouring columns of a row of the tile, as they lie in memory: so many rows and columns, constants,
 * from the lane's first one. */
typedef struct quad {
    val bits;
    int row, column;
} quad;

typedef struct first_quad {
    val row, column;
    val in_c; /* its byte */
} first_quad;

static val byte_in_c(gemm *g, const first_quad *from) {
    ir *const e = g->e;
    return e_add(e, e_mul(e, from->row, g->c_stride), e_muli(e, from->column, OUT_BYTES));
}

typedef void quad_verb(gemm *g, const first_quad *from, quad q);

static void for_own_quads(gemm *g, const gemm_sums *s, quad_verb *verb) {
    ir *const e = g->e;
    const int quads = edge(g) * edge(g) / LANES / QUAD;
    first_quad from;
    from.row = e_add(e, s->row, gemm_lane_row(g));
    from.column = e_add(e, s->column, gemm_lane_column(g));
    from.in_c = byte_in_c(g, &from);
    for (int x = 0; x < s->m_atoms * s->n_atoms * quads; x++) {
        const int atom_x = x / quads, i = atom_x / s->n_atoms, j = atom_x % s->n_atoms, first = QUAD * (x % quads);
        const val sums = quads == 1 ? s->v[atom_x] : e_slice(e, s->v[atom_x], first, QUAD);
        const val bits = e_bitcast(e, g->out == GEMM_F16 ? e_f16(e, sums) : e_bf16(e, sums), VEC(2, I32));
        verb(g, &from, (quad){bits, s->rows[i], s->columns[j] + t_sum_row(g->atom, 0, first)});
    }
}

/* ---- to memory ---- */

static val place_in_c(gemm *g, const first_quad *from, int row) {
    return e_add(g->e, from->in_c, e_muli(g->e, g->c_stride, row));
}

static val is_whole(gemm *g, const first_quad *from, int column) {
    return e_not(g->e, e_less(g->e, g->columns, e_addi(g->e, from->column, column + QUAD)));
}

static void store_whole(gemm *g, const first_quad *from, quad q) {
    val at = place_in_c(g, from, q.row);
    if (g->n_tail) at = gemm_silent(g, at, is_whole(g, from, q.column));
    e_buffer_store(g->e, g->c, q.bits, at, OUT_BYTES * q.column);
}

/* A quad that C's last column cuts, column by column. */
static void store_cut(gemm *g, const first_quad *from, quad q) {
    ir *const e = g->e;
    const val halves = e_bitcast(e, q.bits, VEC(QUAD, I16)), at = place_in_c(g, from, q.row);
    const val is_cut = e_not(e, is_whole(g, from, q.column));
    for (int c = 0; c < QUAD - 1; c++) {
        const val exists = e_and(e, is_cut, e_less(e, e_addi(e, from->column, q.column + c), g->columns));
        const val to = gemm_silent(g, at, exists);
        e_buffer_store(e, g->c, e_element(e, halves, c), to, OUT_BYTES * (q.column + c));
    }
}

static int cuts_quads(const gemm *g) { return g->n_tail && !g->n_quads; }

/* I1: C's last column cuts a quad. */
static val some_cut(gemm *g) {
    ir *const e = g->e;
    return e_less(e, e_i32(e, 0), e_and(e, g->columns, e_i32(e, QUAD - 1)));
}

/* ---- through LDS ---- */

/* The tile's bytes of a quad in LDS: row after row. Rows that a wave writes at the same time use different banks: quad
 * q of row r lies at q ^ r, in the bits of `mask`, in which the first quad and what leads from it have none in
 * common. */
typedef struct lds_quad {
    val lane;
    int fixed;
} lds_quad;

static lds_quad place_in_lds(gemm *g, const first_quad *from, int row, int column) {
    ir *const e = g->e;
    const int row_quads = g->bn / QUAD, mask = (row_quads < SWIZZLED_ROWS ? row_quads : SWIZZLED_ROWS) - 1;
    const int quads = column / QUAD, beyond = quads & ~mask;
    const val swizzle = e_and(e, from->row, e_i32(e, mask)), first = e_xor(e, e_shr(e, from->column, 2), swizzle);
    const val place = e_xor(e, first, e_i32(e, (quads ^ row) & mask)), begin = e_muli(e, from->row, row_quads);
    return (lds_quad){e_muli(e, e_add(e, begin, place), QUAD_BYTES), (row * row_quads + beyond) * QUAD_BYTES};
}

static void put(gemm *g, const first_quad *from, quad q) {
    const lds_quad at = place_in_lds(g, from, q.row, q.column);
    e_lds_store(g->e, g->arena, q.bits, at.lane, at.fixed);
}

/* Quads of the tile in the order of memory: each wave stores parts of rows that lie together. The first quad's place in
 * C goes down the rows with them: one addition each. */
static void for_shuffled_quads(gemm *g, quad_verb *verb) {
    ir *const e = g->e;
    const int row_quads = g->bn / QUAD, rows_at_once = g->threads / row_quads;
    first_quad from = {.row = e_shr(e, g->thread, log2_of(row_quads))};
    from.column = e_muli(e, e_and(e, g->thread, e_i32(e, row_quads - 1)), QUAD);
    from.in_c = byte_in_c(g, &from);
    for (int row = 0; row < g->bm; row += rows_at_once) {
        const lds_quad at = place_in_lds(g, &from, row, 0);
        verb(g, &from, (quad){e_lds_load(e, g->arena, VEC(2, I32), at.lane, at.fixed), 0, 0});
        from.in_c = e_add(e, from.in_c, e_muli(e, g->c_stride, rows_at_once));
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
