/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The 8-wave core. A and B go through LDS by DMA, in halves: half of the rows (columns) that each wave owns, in one K
 * tile. A K tile is four halves and four groups of MFMA, and LDS is a ring of two K tiles.
 *
 * Half h is half h % 4 of K tile h / 4, phase q is group q % 4 of K tile q / 4. In phase q a wave multiplies with
 * fragments that it has, and reads half q + 2 into the registers of fragments that are done with.
 *
 * Turns: waves 0 to 3 share the SIMDs with waves 4 to 7, and run one barrier ahead of them. A turn is MFMA of one or
 * two phases at high priority, a barrier, the rest (promotion, the reads that found no room, what is fetched), a
 * barrier: one group multiplies while the other does the rest. Since some waves are a barrier behind, two barriers
 * order what one would:
 * - what is read from the next turn's MFMA on has landed before this turn's first barrier;
 * - reads have returned before the second one, and two turns on their place is fetched into.
 *
 * Without turns (fold) one barrier every second phase does both, and MFMA, reads and promotion of earlier groups
 * alternate one by one: the two waves of a SIMD fill each other's gaps. */
#include "gen/gemm/emit_gemm.h"

enum {
    HALVES = 4,         /* of a K tile */
    RING = 8,           /* halves in LDS */
    GROUP_WAVES = 4,    /* that take turns with the others */
    EDGE = 16,          /* rows and columns of the atom */
    ROW = GEMM_SCALE_K, /* bytes of a row of a half in LDS */
    ROUND_ROWS = 64,    /* rows that one DMA of all waves brings in */
    ROUNDS_MAX = 2,
    CHUNKS = 2, /* of a lane's fragment */
    PARTS_MAX = 64,
    SCALE_PHASE = 0, /* that loads the scales of the next K tile: those of this one have left their registers */
};

/* The order in which the halves are fetched and read; group q needs half q / 2 of A and q % 2 of B. */
typedef struct half {
    int is_b, index;
} half;
static const half order[HALVES] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
static half half_of(int h) { return order[h % HALVES]; }

/* side: A or B from memory through LDS to fragments. */
typedef struct side {
    const gemm_operand *of;
    int atoms, rounds, half_bytes; /* atoms of a wave in a half; DMA and LDS bytes of a half */
    val source[ROUNDS_MAX];        /* of round i: the lane's byte in memory, K tile 0, half 0 */
    val half_source;               /* uniform: from there to half 1 */
    int tile_source;               /* to the next K tile */
    int place;                     /* in LDS */
    val lane[CHUNKS];              /* the lane's chunks of half 0's first fragment, in the slot that is read */
    val chunks[CHUNKS];            /* of the fragment that is being read */
    tile fragments[2];             /* of the halves */
} side;

typedef struct eight_waves {
    gemm *g;
    side a, b;
    gemm_scale_places scale_at;

    /* what a K tile leaves to the next one */
    val slot; /* 0 or 1: which K tile of the ring */
    gemm_block_scales scales;
    gemm_sums sums;

    /* one K tile on its way */
    gemm_block_scales factors;
    val parts[PARTS_MAX]; /* in the order of their MFMA */
    int done, promoted;
} eight_waves;

/* What follows a K tile decides what it fetches and how long it waits. */
typedef enum trip { STEADY, LAST_BUT_ONE, LAST } trip;

static side *side_of(eight_waves *w, int h) { return half_of(h).is_b ? &w->b : &w->a; }

/* ---- memory to LDS to fragments ---- */

/* Rows of a half in LDS are those of wave row (column) 0, then 1, ...; of a wave's rows in the tile the first half of
 * the rows is half 0, so that its rows and columns lie together. */
static side side_begin(gemm *g, const gemm_operand *of, int waves, val wave, int place, tile fragments) {
    ir *const e = g->e;
    const int rows = of->rows / 2, wave_rows = rows / waves;
    side s = {.of = of, .place = place, .atoms = wave_rows / EDGE, .rounds = (rows + ROUND_ROWS - 1) / ROUND_ROWS};
    s.half_bytes = s.rounds * ROUND_ROWS * ROW;
    const val in_line = e_and(e, g->lane, e_i32(e, 7)), line = e_shr(e, g->lane, 3);
    const val lane_row = of->preshuffled ? in_line : line, lane_chunk = of->preshuffled ? line : in_line;
    for (int i = 0; i < s.rounds; i++) {
        const val first = e_addi(e, e_muli(e, g->wave, 8), (int64_t)i * ROUND_ROWS);
        const val row = e_add(e, first, lane_row);
        const val others = e_muli(e, e_udiv(e, row, e_i32(e, wave_rows)), wave_rows);
        const val chunk = of->preshuffled ? lane_chunk : e_xor(e, lane_chunk, e_and(e, row, e_i32(e, 7)));
        s.source[i] = gemm_chunk_at(g, of, e_add(e, row, others), chunk);
        if ((i + 1) * ROUND_ROWS > rows) s.source[i] = gemm_silent(g, s.source[i], e_less(e, row, e_i32(e, rows)));
    }
    s.half_source = e_muli(e, of->stride, of->preshuffled ? wave_rows / EDGE : wave_rows);
    s.tile_source = of->preshuffled ? ROW * EDGE : ROW;
    const val own = e_and(e, g->lane, e_i32(e, EDGE - 1)), row = e_add(e, own, e_muli(e, wave, wave_rows));
    for (int u = 0; u < CHUNKS; u++) {
        const val chunk = e_addi(e, e_shr(e, g->lane, 4), 4 * u);
        if (of->preshuffled) { /* chunk by chunk of 8 rows, as memory has them of 16: whole lines, no bank conflicts */
            const val group = e_muli(e, e_shr(e, row, 3), 8 * ROW), in = e_muli(e, e_and(e, row, e_i32(e, 7)), 16);
            const val at = e_add(e, group, in);
            s.lane[u] = e_add(e, at, e_addi(e, e_muli(e, chunk, 8 * GEMM_CHUNK), place));
        } else {
            const val at = e_muli(e, e_xor(e, chunk, e_and(e, row, e_i32(e, 7))), GEMM_CHUNK);
            s.lane[u] = e_add(e, at, e_addi(e, e_muli(e, row, ROW), place));
        }
    }
    s.fragments[0] = s.fragments[1] = fragments;
    return s;
}

static int is_held(const eight_waves *w, const side *s) {
    return w->g->ablation == (s == &w->a ? GEMM_NO_A : GEMM_NO_B);
}

/* Round i of half h of K tile `tile_index` into the slot. */
static void fetch(eight_waves *w, int h, int i, val tile_index, val slot) {
    gemm *const g = w->g;
    ir *const e = g->e;
    const int index = half_of(h).index;
    side *const s = side_of(w, h);
    const val k = is_held(w, s) ? e_i32(e, 0) : e_muli(e, tile_index, s->tile_source);
    const val from = index ? e_add(e, k, s->half_source) : k;
    const val wave_place = e_muli(e, g->wave, LANES * GEMM_CHUNK), slot_place = e_muli(e, slot, 2 * s->half_bytes);
    const int place = s->place + index * s->half_bytes + i * ROUND_ROWS * ROW;
    e_lds_dma(e, s->of->from, s->source[i], from, g->arena, e_addi(e, e_add(e, wave_place, slot_place), place),
              GEMM_CHUNK);
}
static int rounds_of(eight_waves *w, int h) {
    side *const s = side_of(w, h);
    return is_held(w, s) && h >= RING ? 0 : s->rounds;
}

/* Chunk c of the lane's fragments of half h, in the order in which MFMA need them. */
static void read_chunk(eight_waves *w, int h, int c) {
    gemm *const g = w->g;
    const int index = half_of(h).index, i = c / CHUNKS, u = c % CHUNKS;
    side *const s = side_of(w, h);
    s->chunks[u] = e_lds_load(g->e, g->arena, VEC(4, I32), s->lane[u], index * s->half_bytes + i * EDGE * ROW);
    if (u == CHUNKS - 1) gemm_fragment(g, &s->fragments[index], i, s->chunks);
}
static int chunks_of(eight_waves *w, int h) {
    return w->g->ablation == GEMM_NO_LDS && h >= 2 ? 0 : CHUNKS * side_of(w, h)->atoms;
}

/* Bytes from k on become 0. */
static void mask_half(eight_waves *w, int h, val tile_index) {
    gemm *const g = w->g;
    ir *const e = g->e;
    tile *const t = &side_of(w, h)->fragments[half_of(h).index];
    const val left = e_sub(e, g->k, e_muli(e, tile_index, ROW));
    for (int i = 0; i < side_of(w, h)->atoms; i++) gemm_mask_fragment(g, t, i, left);
}

/* ---- scales ---- */

/* At least so many: where rows share a scale, loads of one place are made one. */
static int scale_loads(const eight_waves *w) {
    const gemm *const g = w->g;
    if (!gemm_has_scales(g)) return 0;
    const int rows = g->a_scales.rows == 1 ? w->sums.m_atoms : 1;
    return rows + (g->b_scales.rows == 1 ? w->scale_at.lane_columns * w->sums.n_atoms : 1);
}

static void load_scales(eight_waves *w, val tile_index) {
    gemm *const g = w->g;
    if (!gemm_has_scales(g)) return;
    w->scales = gemm_load_scales(g, &w->scale_at, tile_index);
    e_sched_fence(g->e);
}

/* Factors leave the registers that the next K tile's scales are loaded into. */
static void take_scales(eight_waves *w) {
    w->factors = gemm_factors(w->g, &w->scale_at, &w->scales, &w->sums);
    e_sched_fence(w->g->e);
}

/* ---- MFMA and promotion ---- */

static int group_atoms(const eight_waves *w) { return w->a.atoms * w->b.atoms; }

/* atom_place: the n-th MFMA of a K tile: fragments of its halves, and its sum. */
typedef struct atom_place {
    int a_half, b_half, a_fragment, b_fragment, i, j;
} atom_place;
static atom_place place_of(const eight_waves *w, int n) {
    const int q = n / group_atoms(w), in = n % group_atoms(w);
    /* The half that was read last has its fragments used one after the other. */
    const int along_b = half_of(q + 1).is_b, inner = along_b ? w->a.atoms : w->b.atoms;
    atom_place p = {.a_half = q / 2, .b_half = q % 2};
    p.a_fragment = along_b ? in % inner : in / inner;
    p.b_fragment = along_b ? in / inner : in % inner;
    p.i = p.a_half * w->a.atoms + p.a_fragment;
    p.j = p.b_half * w->b.atoms + p.b_fragment;
    return p;
}

static void multiply(eight_waves *w) {
    gemm *const g = w->g;
    ir *const e = g->e;
    const atom_place p = place_of(w, w->done);
    const tile *const a = &w->a.fragments[p.a_half], *const b = &w->b.fragments[p.b_half];
    val *const sum = &w->sums.v[p.i * w->sums.n_atoms + p.j];
    switch (g->scaling) {
    case GEMM_ROWS: e_fail(e, "gemm_8w: scales of rows and columns are for 4w"); break;
    case GEMM_CHAIN: *sum = t_mma_atom(e, b, p.b_fragment, a, p.a_fragment, *sum); break;
    case GEMM_MFMA:
        *sum = t_mma_scaled(e, b, p.b_fragment, a, p.a_fragment, *sum, w->factors.b[p.j], w->factors.a[p.i]);
        break;
    case GEMM_PROMOTE:
        w->parts[w->done] = t_mma_atom(e, b, p.b_fragment, a, p.a_fragment, t_no_sums(e, g->atom));
        break;
    }
    w->done++;
}

/* All but the youngest `ahead` MFMA of the K tile are in the sums. */
static void promote(eight_waves *w, int ahead) {
    if (w->g->scaling != GEMM_PROMOTE) return;
    for (; w->promoted < w->done - ahead; w->promoted++) {
        const atom_place p = place_of(w, w->promoted);
        val *const sum = &w->sums.v[p.i * w->sums.n_atoms + p.j];
        *sum = gemm_promoted(w->g, w->parts[w->promoted], gemm_factor(w->g, &w->factors, p.i, p.j), *sum);
    }
}

/* ---- phases ---- */

/* The half that phase q fetches: its place was read two turns (without turns: two phases) ago. */
static int fetched_by(const eight_waves *w, int q) { return q + RING + (w->g->turn ? 2 - 2 * w->g->turn : 0); }
static int has_half(int h, trip t) { return t == STEADY || h < (t == LAST ? HALVES : 2 * HALVES); }

/* Vector memory operations that may be in flight while all up to half `awaited` have landed; both count from the K
 * tile's first half, `fetched` is the last one asked for. Scales are asked for before what their phase fetches. */
static int younger(eight_waves *w, int awaited, int fetched, trip t) {
    const int scaled = fetched_by(w, SCALE_PHASE) - HALVES; /* the first half after scales */
    int count = 0;
    if (!has_half(awaited + 1, t)) return 0;
    for (int h = awaited + 1; h <= fetched && has_half(h, t); h++) {
        if (h >= scaled && (h - scaled) % HALVES == 0) count += scale_loads(w);
        if (!is_held(w, side_of(w, h))) count += side_of(w, h)->rounds;
    }
    return count < VMCNT_MAX ? count : VMCNT_MAX;
}

/* Reads go on in the other K tile of the ring. */
static void next_slot(eight_waves *w) {
    ir *const e = w->g->e;
    side *const sides[] = {&w->a, &w->b};
    for (int s = 0; s < 2; s++) {
        const int slot_bytes = 2 * sides[s]->half_bytes;
        const val step = e_sub(e, e_i32(e, slot_bytes), e_muli(e, w->slot, 2 * slot_bytes));
        for (int u = 0; u < CHUNKS; u++) sides[s]->lane[u] = e_add(e, sides[s]->lane[u], step);
    }
}

static void fetch_next(eight_waves *w, int q, trip t, val k) {
    ir *const e = w->g->e;
    if (q == SCALE_PHASE && t != LAST) load_scales(w, e_addi(e, k, 1));
    const int h = fetched_by(w, q);
    const val slot = e_xor(e, w->slot, e_i32(e, h / HALVES % 2));
    for (int i = 0; has_half(h, t) && i < rounds_of(w, h); i++) fetch(w, h, i, e_addi(e, k, h / HALVES), slot);
    e_sched_fence(e);
}

/* A turn begins while the other waves multiply. */
static void turn_begin(eight_waves *w, int q, trip t, val k) {
    ir *const e = w->g->e;
    e_sched_fence(e);
    for (int p = q; w->g->turn > 1 && p < q + w->g->turn; p++) fetch_next(w, p, t, k);
    e_wait(e, WAIT_ANY, 0);
    e_barrier(e);
    e_sched_fence(e);
    e_setprio(e, 1);
}

/* Chunks of half q + 2 that are read between the MFMA of phase q. In turns of two phases those of the second one come
 * after the turn: LDS takes reads of a wave slower than that many MFMA leave room for. */
static int early_chunks(eight_waves *w, int q) {
    const int turn = w->g->turn;
    return turn > 1 && (q + 1) % turn == 0 ? 0 : chunks_of(w, q + 2);
}

/* A turn ends with phase q. The halves that the next turn reads have landed; after the last ones all have, as LDS
 * changes hands. Promotion fills the time that LDS takes for a read. */
static void turn_end(eight_waves *w, int q, trip t) {
    gemm *const g = w->g;
    ir *const e = g->e;
    const int awaited = q + g->turn + 2, first = early_chunks(w, q);
    const int reads = has_half(q + 2, t) ? chunks_of(w, q + 2) - first : 0;
    e_setprio(e, 0);
    e_sched_fence(e);
    if (!g->promote_delay) promote(w, 0);
    e_wait(e, has_half(awaited, t) ? younger(w, awaited, fetched_by(w, q), t) : 0, WAIT_ANY);
    e_barrier(e);
    e_sched_fence(e);
    const int pending = w->done - w->promoted;
    for (int c = 0; c < reads; c++) {
        read_chunk(w, q + 2, first + c);
        e_sched_fence(e);
        promote(w, pending * (reads - 1 - c) / reads);
        e_sched_fence(e);
    }
    promote(w, 0);
}

/* No turns: what this phase and the next one read has landed, and what they fetch takes the place of what nobody
 * reads. */
static void pair_begin(eight_waves *w, int q, trip t) {
    ir *const e = w->g->e;
    const int awaited = q + 3;
    e_sched_fence(e);
    if (!has_half(awaited, t)) return;
    e_wait(e, younger(w, awaited, fetched_by(w, q - 1), t), 0);
    e_barrier(e);
    e_sched_fence(e);
}

static void phase(eight_waves *w, int q, trip t, val k) {
    gemm *const g = w->g;
    ir *const e = g->e;
    const int products = group_atoms(w), chunks = has_half(q + 2, t) ? early_chunks(w, q) : 0;
    if (g->turn && q % g->turn == 0) turn_begin(w, q, t, k);
    if (!g->turn && q % 2 == 0) pair_begin(w, q, t);
    if (g->k_tail && t == LAST) {
        if (q == 0) mask_half(w, 0, k);
        if (q + 1 < HALVES) mask_half(w, q + 1, k);
    }
    if (q + 2 == HALVES) next_slot(w);
    for (int n = 0; n < products; n++) {
        multiply(w);
        e_sched_fence(e);
        for (int c = n * chunks / products; c < (n + 1) * chunks / products; c++) read_chunk(w, q + 2, c);
        if (g->turn < 2 && n == (g->turn ? products - 1 : 0)) fetch_next(w, q, t, k);
        e_sched_fence(e);
        if (!g->turn && w->done % g->promote_every == 0) promote(w, g->promote_every * g->promote_delay);
        e_sched_fence(e);
    }
    if (g->turn && (q + 1) % g->turn == 0) turn_end(w, q, t);
}

static void k_tile(eight_waves *w, val k, trip t) {
    take_scales(w);
    w->done = w->promoted = 0;
    for (int q = 0; q < HALVES; q++) phase(w, q, t, k);
    promote(w, 0);
    w->slot = e_xor(w->g->e, w->slot, e_i32(w->g->e, 1));
}

/* ---- all of K ---- */

static eight_waves begin(gemm *g) {
    ir *const e = g->e;
    eight_waves w = {.g = g, .slot = e_i32(e, 0)};
    gemm_sums *const s = &w.sums;
    const int m = g->bm / g->waves_m, n = g->bn / g->waves_n;
    *s = (gemm_sums){.m_atoms = m / EDGE, .n_atoms = n / EDGE};
    s->row = e_muli(e, g->wave_m, m);
    s->column = e_muli(e, g->wave_n, n);
    for (int i = 0; i < s->m_atoms; i++) s->rows[i] = i * EDGE;
    for (int j = 0; j < s->n_atoms; j++) s->columns[j] = j * EDGE;
    for (int x = 0; x < s->m_atoms * s->n_atoms; x++) s->v[x] = t_no_sums(e, g->atom);
    const tile a = t_cols(e, g->atom, GEMM_SCALE_K, m / 2), b = t_rows(e, g->atom, n / 2, GEMM_SCALE_K);
    w.a = side_begin(g, &g->a, g->waves_m, g->wave_m, 0, a);
    w.b = side_begin(g, &g->b, g->waves_n, g->wave_n, HALVES * w.a.half_bytes, b);
    w.scale_at = gemm_place_scales(g, s);
    return w;
}

/* What the phases before phase 0 would have fetched and read. A K of one tile fetches it twice: the counts of waits
 * stay what they are. */
static void first_tiles(eight_waves *w) {
    gemm *const g = w->g;
    ir *const e = g->e;
    const val zero = e_i32(e, 0), one = e_i32(e, 1), second = e_min(e, one, e_addi(e, g->k_tiles, -1));
    const int count = fetched_by(w, 0), scaled = fetched_by(w, SCALE_PHASE) - HALVES;
    for (int h = 0; h < count; h++) {
        if (h == scaled) load_scales(w, zero);
        for (int i = 0; i < rounds_of(w, h); i++) fetch(w, h, i, h < HALVES ? zero : second, h < HALVES ? zero : one);
        e_sched_fence(e);
    }
    const int awaited = g->turn ? g->turn + 1 : 1; /* for phase 0 to read */
    e_wait(e, younger(w, awaited, count - 1, STEADY), WAIT_ANY);
    e_barrier(e);
    for (int h = 0; h < 2; h++)
        for (int c = 0; c < chunks_of(w, h); c++) read_chunk(w, h, c);
    w->a.fragments[1] = w->a.fragments[0]; /* until they are read */
    w->b.fragments[1] = w->b.fragments[0];
    /* Without LDS for good: other registers, so that no MFMA is another's copy. */
    for (int h = 2; h < HALVES && g->ablation == GEMM_NO_LDS; h++)
        for (int c = 0; c < CHUNKS * side_of(w, h)->atoms; c++) read_chunk(w, h, c);
    if (!g->turn) return;
    e_wait(e, WAIT_ANY, 0);
    e_barrier(e);
    E_IF(e, e_less(e, e_i32(e, GROUP_WAVES - 1), g->wave)) e_barrier(e);
}

/* What the loop over K tiles carries. */
static void carry(eight_waves *w, carried_values *c) {
    ir *const e = w->g->e;
    e_carry(e, c, &w->slot, 1);
    e_carry(e, c, w->sums.v, w->sums.m_atoms * w->sums.n_atoms);
    e_carry(e, c, w->a.fragments[0].v, w->a.atoms);
    e_carry(e, c, w->b.fragments[0].v, w->b.atoms);
    for (int u = 0; u < CHUNKS; u++) {
        e_carry(e, c, &w->a.lane[u], 1);
        e_carry(e, c, &w->b.lane[u], 1);
    }
    if (!gemm_has_scales(w->g)) return;
    e_carry(e, c, w->scales.a, w->scale_at.a_count);
    e_carry(e, c, w->scales.b, w->scale_at.b_count);
}

static void all_tiles(eight_waves *w) {
    gemm *const g = w->g;
    ir *const e = g->e;
    for (int t = 0; t < g->unroll; t++)
        k_tile(w, e_i32(e, t), t == g->unroll - 1 ? LAST : t == g->unroll - 2 ? LAST_BUT_ONE : STEADY);
    if (g->unroll) return;
    carried_values carried = {0};
    carry(w, &carried);
    const val zero = e_i32(e, 0), one = e_i32(e, 1), last = e_addi(e, g->k_tiles, -1);
    const val steady = e_max(e, e_addi(e, last, -1), zero);
    E_FOR_ALL(t, e, zero, steady, one, carried) k_tile(w, t, STEADY);
    E_FOR_ALL(t, e, steady, last, one, carried) k_tile(w, t, LAST_BUT_ONE);
    k_tile(w, last, LAST);
}

gemm_sums gemm_8w(gemm *g) {
    ir *const e = g->e;
    eight_waves w = begin(g);
    first_tiles(&w);
    all_tiles(&w);
    if (!g->turn) {
        e_wait(e, 0, WAIT_ANY);
        e_barrier(e);
    } else
        E_IF(e, e_less(e, g->wave, e_i32(e, GROUP_WAVES))) e_barrier(e);
    for (int x = 0; g->scaling == GEMM_CHAIN && x < w.sums.m_atoms * w.sums.n_atoms; x++) {
        const val scale = gemm_factor(g, &w.factors, x / w.sums.n_atoms, x % w.sums.n_atoms);
        w.sums.v[x] = gemm_scaled(g, w.sums.v[x], scale);
    }
    return w.sums;
}
