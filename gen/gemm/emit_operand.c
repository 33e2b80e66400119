/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A and B on their way: memory to LDS by all threads, LDS to the fragments of a wave, preshuffled B straight there. */
#include "core/integer.h"
#include "gen/gemm/emit_gemm.h"

enum { K_BLOCK_CHUNKS = GEMM_SCALE_K / GEMM_CHUNK, PACK_ROWS = 16, WORD = 4 };

gemm gemm_frame(ir *e, const gemm_geometry *g) {
    return (gemm){.e = e,
                  .atom = atom_find(g->m, g->n, g->k),
                  .bm = g->bm,
                  .bn = g->bn,
                  .bk = g->bk,
                  .threads = g->threads,
                  .waves_m = g->waves_m,
                  .waves_n = g->waves_n,
                  .arena = e_lds(e, "arena", g->lds_bytes, 128)};
}

void gemm_begin(gemm *g) {
    ir *const e = g->e;
    g->thread = e_workitem(e);
    g->lane = e_and(e, g->thread, e_i32(e, LANES - 1));
    g->wave = e_uniform(e, e_shr(e, g->thread, log2_of(LANES)));
    g->wave_m = e_shr(e, g->wave, log2_of(g->waves_n));
    g->wave_n = e_and(e, g->wave, e_i32(e, g->waves_n - 1));
}

val gemm_silent(gemm *g, val at, val kept) { return e_select(g->e, kept, at, e_i32(g->e, INT32_MIN)); }

val gemm_chunk_at(gemm *g, const gemm_operand *of, val row, val chunk) {
    ir *const e = g->e;
    if (!of->preshuffled) {
        const val begin = e_mul(e, row, of->stride);
        return e_add(e, begin, e_muli(e, chunk, GEMM_CHUNK));
    }
    const val block = e_mul(e, e_shr(e, row, log2_of(PACK_ROWS)), of->stride);
    const val in_block = e_muli(e, e_and(e, row, e_i32(e, PACK_ROWS - 1)), GEMM_CHUNK);
    const val begin = e_add(e, block, in_block);
    return e_add(e, begin, e_muli(e, chunk, GEMM_CHUNK * PACK_ROWS));
}

/* The place of chunk `chunk` among the chunks of its row in LDS; its own inverse. */
static val swizzled(gemm *g, val row, val chunk) {
    ir *const e = g->e;
    return e_xor(e, chunk, e_and(e, row, e_i32(e, g->bk / GEMM_CHUNK - 1)));
}

gemm_stage gemm_stage_of(gemm *g, const gemm_operand *of, int first, int rows) {
    ir *const e = g->e;
    const int row_chunks = g->bk / GEMM_CHUNK, chunks = rows * row_chunks;
    gemm_stage s = {.of = of, .threads = chunks < g->threads ? chunks : g->threads};
    s.rounds = chunks / s.threads;
    s.place_stride = s.threads * GEMM_CHUNK;
    const val row = e_shr(e, g->thread, log2_of(row_chunks));
    const val chunk = e_and(e, g->thread, e_i32(e, row_chunks - 1));
    const val place = swizzled(g, row, chunk), from_row = e_addi(e, row, first);
    s.source = gemm_chunk_at(g, of, from_row, chunk);
    s.dma_source = gemm_chunk_at(g, of, from_row, place);
    if (s.threads < g->threads) {
        const val takes_part = e_less(e, g->thread, e_i32(e, s.threads));
        s.source = gemm_silent(g, s.source, takes_part);
    }
    const int rows_a_round = s.threads / row_chunks;
    s.round_stride = e_muli(e, of->stride, rows_a_round);
    const val row_place = e_muli(e, row, g->bk);
    s.place = e_add(e, row_place, e_muli(e, place, GEMM_CHUNK));
    return s;
}

val gemm_tile_begin(gemm *g, val tile_index) {
    const val begin = e_muli(g->e, tile_index, g->bk);
    return g->unroll ? begin : gemm_silent(g, begin, e_less(g->e, begin, g->k));
}

/* What changes from K tile to K tile goes into the lane's part of a place in memory, one sum a tile; what rounds and
 * fragments add stays in scalar registers. */
val gemm_fetch(gemm *g, const gemm_stage *s, val begin, int round) {
    ir *const e = g->e;
    const val lane = e_add(e, s->source, begin);
    return e_buffer_load_at(e, s->of->from, VEC(4, I32), lane, e_muli(e, s->round_stride, round), 0);
}

void gemm_put(gemm *g, const gemm_stage *s, const val *chunks, val at) {
    ir *const e = g->e;
    const val place = e_add(e, s->place, at);
    val own[GEMM_ROUNDS_MAX] = {{0}};
    for (int i = 0; i < s->rounds; i++) own[i] = s->of->from_fn ? e_fnuz_or_nan(e, chunks[i]) : chunks[i];
    if (s->threads == g->threads) {
        for (int i = 0; i < s->rounds; i++) e_lds_store(e, g->arena, own[i], place, i * s->place_stride);
        return;
    }
    E_IF(e, e_less(e, g->wave, e_i32(e, s->threads / LANES)))
    e_lds_store(e, g->arena, own[0], place, 0);
}

void gemm_dma(gemm *g, const gemm_stage *s, val begin, val at, int round) {
    ir *const e = g->e;
    const val own = e_add(e, at, e_muli(e, g->wave, LANES * GEMM_CHUNK)), lane = e_add(e, s->dma_source, begin);
    const val to = e_addi(e, own, (int64_t)round * s->place_stride);
    e_lds_dma(e, s->of->from, lane, e_muli(e, s->round_stride, round), g->arena, to, GEMM_CHUNK);
}

/* ---- fragments ---- */

static int edge(const gemm *g) { return g->atom->m; }
static val edge_row(gemm *g) { return e_and(g->e, g->lane, e_i32(g->e, edge(g) - 1)); }
/* Chunk u of the lane in a K block: lanes of the same row take neighbouring ones. */
static val lane_chunk(gemm *g, int u) {
    return e_addi(g->e, e_shr(g->e, g->lane, log2_of(edge(g))), (int64_t)u * (LANES / edge(g)));
}

int gemm_chunks(const gemm *g) { return K_BLOCK_CHUNKS * edge(g) / LANES; }

val gemm_lds_lane(gemm *g, int k_block, int u) {
    ir *const e = g->e;
    const val row = edge_row(g), chunk = e_addi(e, lane_chunk(g, u), (int64_t)k_block * K_BLOCK_CHUNKS);
    const val place = e_muli(e, swizzled(g, row, chunk), GEMM_CHUNK);
    return e_add(e, e_muli(e, row, g->bk), place);
}

void gemm_fragment(gemm *g, tile *t, int i, const val *chunks) {
    ir *const e = g->e;
    for (int s = 0; s < t->steps; s++) {
        val *const to = &t->v[i * t->steps + s];
        if (t->atom->fragment_bytes == 2 * GEMM_CHUNK)
            *to = e_join(e, chunks[2 * s], chunks[2 * s + 1]);
        else /* half a chunk: which K an atom takes does not matter where A and B agree */
            *to = e_element(e, e_bitcast(e, chunks[s / 2], VEC(2, I64)), s % 2);
    }
}

void gemm_fragment_from_fn(gemm *g, tile *t, int i) {
    ir *const e = g->e;
    for (int s = 0; s < t->steps; s++) {
        val *const v = &t->v[i * t->steps + s];
        const type fragment = e_type(e, *v);
        const val fn = e_bitcast(e, *v, VEC(t->atom->fragment_bytes / WORD, I32));
        *v = e_bitcast(e, e_fnuz_or_nan(e, fn), fragment);
    }
}

/* Bytes of a word that `valid` bytes, counted from the word's first one, leave. Half of the shift twice: all 32 bits
 * are too many for one, and compares would take scalar registers by pairs. */
static val word_mask(gemm *g, val valid) {
    enum { HALF_BITS = 4 };
    ir *const e = g->e;
    const val zero = e_i32(e, 0), word = e_i32(e, WORD), all = e_i32(e, -1);
    const val gone = e_sub(e, word, e_min(e, e_max(e, valid, zero), word)), half = e_muli(e, gone, HALF_BITS);
    return e_shr_by(e, e_shr_by(e, all, half), half);
}

void gemm_mask_fragment(gemm *g, tile *t, int i, val left) {
    enum { WORDS_MAX = 2 * GEMM_CHUNK / WORD };
    ir *const e = g->e;
    const int words = t->atom->fragment_bytes / WORD;
    for (int s = 0; s < t->steps; s++) {
        val *const v = &t->v[i * t->steps + s], masked[WORDS_MAX];
        const type fragment = e_type(e, *v);
        const val whole = e_bitcast(e, *v, VEC(words, I32));
        for (int w = 0; w < words; w++) {
            const int at = (s * words + w) * WORD;
            const val chunk_at = e_muli(e, lane_chunk(g, at / GEMM_CHUNK), GEMM_CHUNK);
            const val mask = word_mask(g, e_addi(e, e_sub(e, left, chunk_at), -(at % GEMM_CHUNK)));
            masked[w] = e_and(e, e_element(e, whole, w), mask);
        }
        *v = e_bitcast(e, e_vector(e, masked, words), fragment);
    }
}

void gemm_read(gemm *g, tile *t, int i, lds from, const val *lanes, int fixed) {
    val chunks[K_BLOCK_CHUNKS] = {{0}};
    for (int u = 0; u < gemm_chunks(g); u++) chunks[u] = e_lds_load(g->e, from, VEC(4, I32), lanes[u], fixed);
    gemm_fragment(g, t, i, chunks);
}

void gemm_load_b(gemm *g, tile *t, int i, val rows, val tile_index, int k_block) {
    ir *const e = g->e;
    const int block_bytes = GEMM_SCALE_K * PACK_ROWS;
    const val first_chunk = lane_chunk(g, 0), first = gemm_chunk_at(g, &g->b, edge_row(g), first_chunk);
    /* Uniform anyway, but otherwise LLVM would carry one sum for each fragment from tile to tile. */
    const val tile_at = e_uniform(e, e_muli(e, tile_index, (int64_t)g->bk * PACK_ROWS)),
              lane = e_add(e, first, tile_at);
    val chunks[K_BLOCK_CHUNKS] = {{0}};
    for (int u = 0; u < gemm_chunks(g); u++) {
        const int fixed = k_block * block_bytes + u * (LANES / edge(g)) * GEMM_CHUNK * PACK_ROWS;
        chunks[u] = e_buffer_load_at(e, g->b.from, VEC(4, I32), lane, rows, fixed);
    }
    gemm_fragment(g, t, i, chunks);
}
