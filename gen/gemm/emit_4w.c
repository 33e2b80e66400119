/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The 4-wave core. A wave keeps the fragments of one K block of A and of one K tile of B in registers and multiplies
 * them column by column of atoms; each fragment is replaced by that of the next K tile as soon as its last MFMA is
 * issued. Preshuffled B comes straight from memory, A and plain B through two slots of LDS, one barrier a K tile; or
 * through one slot, with another barrier before it is written. Behind the barrier a K tile is all in registers but for
 * its last column, whose MFMA cover the reads of the next one: the tile after that has the whole time of a K tile to
 * arrive. */
#include "gen/gemm/emit_gemm.h"

enum { K_BLOCKS_MAX = 2, LDS_CHUNKS_MAX = 4 };

typedef struct four_waves {
    gemm *g;
    int k_blocks, m_atoms, n_atoms;
    int b_staged; /* plain B: through LDS like A */
    gemm_stage a_stage, b_stage;
    int slot_bytes, b_place;    /* a slot: A, then plain B; to the other one: 0 if there is none */
    val b_rows[GEMM_ATOMS_MAX]; /* preshuffled B */
    gemm_scale_places scale_at;

    /* what a K tile leaves to the next one */
    val slot; /* the slot that is being filled: its first byte */
    val a_lane[K_BLOCKS_MAX][LDS_CHUNKS_MAX],
        b_lane[K_BLOCKS_MAX][LDS_CHUNKS_MAX];                 /* chunks in the slot that is read */
    val a_coming[GEMM_ROUNDS_MAX], b_coming[GEMM_ROUNDS_MAX]; /* without LDS DMA: what is on its way there */
    tile a, b[K_BLOCKS_MAX];
    gemm_block_scales scales[K_BLOCKS_MAX];
    gemm_sums sums;
    int late_count; /* GEMM_PROMOTE: the last sums of a K block, which wait for MFMA of the next one to cover them */
    val late[GEMM_SUMS_MAX], late_factors[GEMM_SUMS_MAX];

    int is_steady; /* the first K tile is there */
    int younger;   /* loads issued after the DMA of the tile that is coming, at least so many */
} four_waves;

/* What follows a K tile decides what it brings in: of a loop's tiles it may be the last one that is asked for once
 * more. */
typedef enum trip { STEADY, LAST_BUT_ONE, LAST } trip;

static int edge(const gemm *g) { return g->atom->m; }
/* What the ablation leaves out, it leaves out from the second K tile on. */
static int is_left_out(const four_waves *f, gemm_ablation what) { return f->is_steady && f->g->ablation == what; }

/* ---- scales ---- */

/* Sums that run through all of K take one block's scales; a twin loads all the same. */
static int loads_scales(const four_waves *f) {
    const gemm *const g = f->g;
    if (!gemm_has_scales(g) || g->scaling == GEMM_ROWS) return 0;
    return !f->is_steady || g->scaling != GEMM_CHAIN || g->ablation == GEMM_TWIN || g->ablation == GEMM_NO_PROMOTE;
}

/* What LLVM leaves of `count` loads at least: it joins neighbours, which atoms' own rows are not, and makes one of
 * those that it sees to be of the same place. */
static int loads_left(const gemm_scales *s, int count) { return s->rows == 1 ? count : 1; }

static void load_scales(four_waves *f, val tile_index, int kb) {
    gemm *const g = f->g;
    ir *const e = g->e;
    if (!loads_scales(f)) return;
    const val k_block = e_addi(e, e_muli(e, tile_index, f->k_blocks), kb);
    f->scales[kb] = gemm_load_scales(g, &f->scale_at, k_block);
    if (g->scaling == GEMM_PROMOTE)
        f->younger += loads_left(&g->a_scales, f->scale_at.a_count) + loads_left(&g->b_scales, f->scale_at.b_count);
    e_sched_fence(e);
}

/* ---- fragments ---- */

static void read_a(four_waves *f, int i, int kb) {
    if (is_left_out(f, GEMM_NO_LDS)) return;
    gemm_read(f->g, &f->a, i, f->g->arena, f->a_lane[kb], f->sums.rows[i] * f->g->bk);
}

static void read_b(four_waves *f, int j, int kb) {
    if (is_left_out(f, GEMM_NO_LDS)) return;
    gemm_read(f->g, &f->b[kb], j, f->g->arena, f->b_lane[kb], f->b_place + f->sums.columns[j] * f->g->bk);
}

static void load_b(four_waves *f, int j, int kb, val tile_index) {
    if (is_left_out(f, GEMM_NO_B)) return;
    gemm_load_b(f->g, &f->b[kb], j, f->b_rows[j], tile_index, kb);
    if (f->g->ablation != GEMM_NO_B) f->younger += gemm_chunks(f->g); /* as many in every K tile */
}

/* ---- K tiles in LDS ---- */

static int stages_a(const four_waves *f) { return !is_left_out(f, GEMM_NO_A); }
static int stages_b(const four_waves *f) { return f->b_staged && !is_left_out(f, GEMM_NO_B); }

static void bring(four_waves *f, const gemm_stage *stage, val begin, val at, val *chunks, int round) {
    if (f->g->async)
        gemm_dma(f->g, stage, begin, at, round);
    else
        chunks[round] = gemm_fetch(f->g, stage, begin, round);
}

static int rounds_of(const four_waves *f) {
    return (stages_a(f) ? f->a_stage.rounds : 0) + (stages_b(f) ? f->b_stage.rounds : 0);
}

/* Rounds [first, end) of a K tile, which begins at byte `begin` of a row, set out for the slot, which nobody reads any
 * more. */
static void send(four_waves *f, val begin, int first, int end) {
    ir *const e = f->g->e;
    const int a_rounds = stages_a(f) ? f->a_stage.rounds : 0;
    const val b_at = e_addi(e, f->slot, f->b_place);
    if (first == end) return;
    e_sched_fence(e);
    for (int x = first; x < end; x++)
        if (x < a_rounds)
            bring(f, &f->a_stage, begin, f->slot, f->a_coming, x);
        else
            bring(f, &f->b_stage, begin, b_at, f->b_coming, x - a_rounds);
    e_sched_fence(e);
    f->younger = 0;
}

/* After this all waves see the tile that was sent to `slot`, and nobody reads the other one. */
static void receive(four_waves *f, val slot) {
    gemm *const g = f->g;
    ir *const e = g->e;
    const int younger = f->younger < VMCNT_MAX ? f->younger : VMCNT_MAX;
    if (g->one_slot && f->is_steady) {
        e_wait(e, WAIT_ANY, 0);
        e_barrier(e);
    }
    if (!g->async && stages_a(f)) gemm_put(g, &f->a_stage, f->a_coming, slot);
    if (!g->async && stages_b(f)) gemm_put(g, &f->b_stage, f->b_coming, e_addi(e, slot, f->b_place));
    e_wait(e, g->async ? younger : WAIT_ANY, 0);
    e_barrier(e);
}

/* The slot that was filled is read from now on, and the one that was read is filled. */
static void swap_slots(four_waves *f) {
    ir *const e = f->g->e;
    const val step = e_addi(e, e_muli(e, f->slot, 2), -f->slot_bytes);
    if (!f->slot_bytes) return;
    for (int kb = 0; kb < f->k_blocks; kb++)
        for (int u = 0; u < gemm_chunks(f->g); u++) {
            if (stages_a(f)) f->a_lane[kb][u] = e_add(e, f->a_lane[kb][u], step);
            if (stages_b(f)) f->b_lane[kb][u] = e_add(e, f->b_lane[kb][u], step);
        }
    f->slot = e_sub(e, e_i32(e, f->slot_bytes), f->slot);
}

/* ---- one K tile ---- */

/* block: one K block of one K tile on its way through the MFMA. */
typedef struct block {
    int kb;
    trip trip;
    val t;
    gemm_block_scales factors; /* have left the registers that the next tile's scales are loaded into */
    val parts[GEMM_SUMS_MAX];  /* sums of this block: column by column of atoms */
    int promoted;              /* so many of them are in the wave's sums */
    tile rows;                 /* fragments of B as the MFMA take them */
    val sent;                  /* where the K tile begins that sets out behind the barrier, in so many rounds */
    int rounds;
} block;

/* Sum `x` of the wave, column by column of atoms. */
static val *sum_of(four_waves *f, int x) { return &f->sums.v[x % f->m_atoms * f->n_atoms + x / f->m_atoms]; }

static val factor_of(const four_waves *f, const block *b, int x) {
    return gemm_factor(f->g, &b->factors, x % f->m_atoms, x / f->m_atoms);
}

static void promote(four_waves *f, block *b, int count) {
    for (; b->promoted < count; b->promoted++) {
        val *const sum = sum_of(f, b->promoted);
        *sum = gemm_promoted(f->g, b->parts[b->promoted], factor_of(f, b, b->promoted), *sum);
    }
}

/* How many sums a K block leaves to the next one: not all of them, which would take as long to move as to wait for. */
static int late_sums(const four_waves *f) {
    const int ahead = f->g->promote_every * f->g->promote_delay;
    return f->g->scaling == GEMM_PROMOTE && ahead < f->m_atoms * f->n_atoms ? ahead : 0;
}

/* What the last K block has left. */
static void promote_late(four_waves *f) {
    const int first = f->m_atoms * f->n_atoms - f->late_count;
    for (int i = 0; i < f->late_count; i++) {
        val *const sum = sum_of(f, first + i);
        *sum = gemm_promoted(f->g, f->late[i], f->late_factors[i], *sum);
    }
    f->late_count = 0;
}

static void leave_late(four_waves *f, const block *b) {
    const int all = f->m_atoms * f->n_atoms;
    for (int x = b->promoted; x < all; x++) {
        f->late[f->late_count] = b->parts[x];
        f->late_factors[f->late_count++] = factor_of(f, b, x);
    }
}

static void multiply(four_waves *f, block *b, int i, int j) {
    gemm *const g = f->g;
    const tile *const rows = &b->rows;
    const int x = j * f->m_atoms + i, group = g->promote_every;
    val *const sum = &f->sums.v[i * f->n_atoms + j];
    switch (g->scaling) {
    case GEMM_ROWS:
    case GEMM_CHAIN: *sum = t_mma_atom(g->e, rows, j, &f->a, i, *sum); break;
    case GEMM_MFMA: *sum = t_mma_scaled(g->e, rows, j, &f->a, i, *sum, b->factors.b[j], b->factors.a[i]); break;
    case GEMM_PROMOTE:
        b->parts[x] = t_mma_atom(g->e, rows, j, &f->a, i, t_no_sums(g->e, g->atom));
        if (x + 1 == group) promote_late(f);
        if ((x + 1) % group == 0) promote(f, b, x + 1 - group * g->promote_delay);
        break;
    }
}

static int is_last_block(const four_waves *f, const block *b) { return b->kb == f->k_blocks - 1; }

/* Fragment i of A makes room for that of the next K block, which lies in LDS. */
static void replace_a(four_waves *f, const block *b, int i) {
    if (!is_last_block(f, b))
        read_a(f, i, b->kb + 1);
    else if (b->trip != LAST)
        read_a(f, i, 0);
}

/* The next K tile is in LDS for all, and the one after it may set out; `columns` of this block's B are done with. What
 * can be computed before the wait costs nothing. */
static void publish(four_waves *f, const block *b, int columns) {
    const val filled = f->slot;
    swap_slots(f);
    e_sched_fence(f->g->e);
    receive(f, filled);
    if (!f->b_staged) send(f, b->sent, 0, b->rounds);
    for (int kb = 0; f->b_staged && kb < f->k_blocks; kb++)
        for (int j = 0; j < (kb == b->kb ? columns : f->n_atoms); j++) read_b(f, j, kb);
}

/* A and B have more rounds than the queue of vector memory takes at once: each MFMA of the last column covers its
 * share. A alone, whose time is shorter than that of the B fragments behind it, sets out at once. */
static void send_share(four_waves *f, const block *b, int i) {
    if (f->b_staged) send(f, b->sent, b->rounds * i / f->m_atoms, b->rounds * (i + 1) / f->m_atoms);
}

/* What the last K tile has of k. */
static void mask(four_waves *f, const block *b, tile *t, int i) {
    gemm *const g = f->g;
    ir *const e = g->e;
    if (!g->k_tail || b->trip != LAST) return;
    const val begin = e_addi(e, e_muli(e, b->t, g->bk), (int64_t)b->kb * GEMM_SCALE_K);
    gemm_mask_fragment(g, t, i, e_sub(e, g->k, begin));
}

static void k_block(four_waves *f, block *b) {
    gemm *const g = f->g;
    ir *const e = g->e;
    const int publishes = is_last_block(f, b) && b->trip != LAST, last = f->n_atoms - 1;
    /* With nothing but MFMA to put between the reads of A, the scheduler would put them all behind the MFMA. */
    const int keeps_order = g->scaling == GEMM_ROWS;
    for (int i = 0; i < f->m_atoms; i++) mask(f, b, &f->a, i);
    b->sent = gemm_tile_begin(g, e_addi(e, b->t, 2));
    b->rounds = b->trip == STEADY ? rounds_of(f) : 0;
    for (int j = 0; j <= last; j++) {
        /* Before the last column, whose MFMA cover what is read after the barrier. */
        if (publishes && j == last && j > 0) publish(f, b, j);
        b->rows = f->b[b->kb];
        mask(f, b, &b->rows, j);
        if (g->b.from_fn && !f->b_staged) gemm_fragment_from_fn(g, &b->rows, j);
        for (int i = 0; i < f->m_atoms; i++) {
            multiply(f, b, i, j);
            if (j == last && !(publishes && j == 0)) {
                replace_a(f, b, i);
                if (publishes) send_share(f, b, i);
                if (keeps_order) e_sched_fence(e);
            }
        }
        if (b->trip != LAST && !f->b_staged) load_b(f, j, b->kb, e_addi(e, b->t, 1));
        e_sched_fence(e);
    }
    if (publishes && f->b_staged && last > 0) read_b(f, last, b->kb);
    if (publishes && last == 0) {
        publish(f, b, 1);
        for (int i = 0; i < f->m_atoms; i++) send_share(f, b, i);
        for (int i = 0; i < f->m_atoms; i++) replace_a(f, b, i);
    }
    if (g->scaling != GEMM_PROMOTE) return;
    if (!late_sums(f) || (is_last_block(f, b) && b->trip == LAST))
        promote(f, b, f->m_atoms * f->n_atoms);
    else
        leave_late(f, b);
}

static void k_tile(four_waves *f, val t, trip kind) {
    for (int kb = 0; kb < f->k_blocks; kb++) {
        block b = {.kb = kb, .trip = kind, .t = t};
        if (f->g->scaling != GEMM_ROWS) b.factors = gemm_factors(f->g, &f->scale_at, &f->scales[kb], &f->sums);
        if (kind != LAST) load_scales(f, e_addi(f->g->e, t, 1), kb);
        k_block(f, &b);
    }
}

/* ---- all of K ---- */

static void place(four_waves *f) {
    gemm *const g = f->g;
    ir *const e = g->e;
    gemm_sums *const s = &f->sums;
    const int m = g->bm / g->waves_m, n = g->bn / g->waves_n;
    *s = (gemm_sums){.m_atoms = m / edge(g), .n_atoms = n / edge(g)};
    s->row = e_muli(e, g->wave_m, m);
    s->column = e_muli(e, g->wave_n, n);
    for (int i = 0; i < s->m_atoms; i++) s->rows[i] = i * edge(g);
    for (int j = 0; j < s->n_atoms; j++) s->columns[j] = j * edge(g);
    for (int x = 0; x < s->m_atoms * s->n_atoms; x++) s->v[x] = t_no_sums(e, g->atom);
}

static four_waves begin(gemm *g) {
    ir *const e = g->e;
    four_waves f = {.g = g, .k_blocks = g->bk / GEMM_SCALE_K, .b_staged = !g->b.preshuffled};
    place(&f);
    f.m_atoms = f.sums.m_atoms;
    f.n_atoms = f.sums.n_atoms;
    f.b_place = g->bm * g->bk;
    f.slot_bytes = g->one_slot ? 0 : f.b_place + (f.b_staged ? g->bn * g->bk : 0);
    f.slot = e_i32(e, 0);
    f.a = t_cols(e, g->atom, GEMM_SCALE_K, g->bm / g->waves_m);
    f.a_stage = gemm_stage_of(g, &g->a, 0, g->bm);
    if (f.b_staged) f.b_stage = gemm_stage_of(g, &g->b, 0, g->bn);
    const val a_rows = e_muli(e, f.sums.row, g->bk), b_rows = e_muli(e, f.sums.column, g->bk);
    for (int kb = 0; kb < f.k_blocks; kb++) {
        f.b[kb] = t_rows(e, g->atom, g->bn / g->waves_n, GEMM_SCALE_K);
        for (int u = 0; u < gemm_chunks(g); u++) {
            const val lane = gemm_lds_lane(g, kb, u);
            f.a_lane[kb][u] = e_add(e, lane, a_rows);
            f.b_lane[kb][u] = e_add(e, lane, b_rows);
        }
    }
    for (int j = 0; j < f.n_atoms; j++) {
        const val row = e_addi(e, f.sums.column, f.sums.columns[j]);
        f.b_rows[j] = e_mul(e, e_shr(e, row, 4), g->b.stride);
    }
    if (g->scaling != GEMM_ROWS) f.scale_at = gemm_place_scales(g, &f.sums);
    return f;
}

/* B of K tile 0, of which a steady K tile loads the last fragment behind its barrier. */
static void load_first_b(four_waves *f, int behind) {
    const int last = f->n_atoms - 1;
    for (int kb = 0; kb < f->k_blocks && !f->b_staged; kb++)
        for (int j = 0; j <= last; j++)
            if (behind == (kb == f->k_blocks - 1 && j == last && j > 0)) load_b(f, j, kb, e_i32(f->g->e, 0));
}

/* K tile 0 into LDS and registers. */
static void first_tile(four_waves *f) {
    gemm *const g = f->g;
    ir *const e = g->e;
    const val first = e_i32(e, 0), second = gemm_tile_begin(g, e_i32(e, 1));
    for (int kb = 0; kb < f->k_blocks; kb++) load_scales(f, first, kb);
    send(f, first, 0, rounds_of(f));
    load_first_b(f, 0);
    receive(f, f->slot);
    f->slot = e_i32(e, f->slot_bytes);
    if (g->unroll != 1) send(f, second, 0, rounds_of(f));
    load_first_b(f, 1);
    for (int i = 0; i < f->m_atoms; i++) read_a(f, i, 0);
    for (int kb = 0; kb < f->k_blocks && f->b_staged; kb++)
        for (int j = 0; j < f->n_atoms; j++) read_b(f, j, kb);
    f->is_steady = 1;
}

/* The first K tile of a loop finds zeros where the others find what the tile before left: +0 more. */
static void begin_late(four_waves *f) {
    gemm *const g = f->g;
    ir *const e = g->e;
    f->late_count = late_sums(f);
    if (!f->late_count) return;
    const gemm_block_scales first = gemm_factors(g, &f->scale_at, &f->scales[0], &f->sums);
    const type factor = e_type(e, gemm_factor(g, &first, 0, 0));
    for (int i = 0; i < f->late_count; i++) {
        f->late[i] = t_no_sums(e, g->atom);
        f->late_factors[i] = e_zero(e, factor);
    }
}

/* What the loop over K tiles carries. */
static void carry(four_waves *f, carried_values *c) {
    ir *const e = f->g->e;
    if (f->slot_bytes) e_carry(e, c, &f->slot, 1);
    if (!f->g->async && stages_a(f)) e_carry(e, c, f->a_coming, f->a_stage.rounds);
    if (!f->g->async && stages_b(f)) e_carry(e, c, f->b_coming, f->b_stage.rounds);
    e_carry(e, c, f->sums.v, f->m_atoms * f->n_atoms);
    e_carry(e, c, f->late, f->late_count);
    e_carry(e, c, f->late_factors, f->late_count);
    e_carry(e, c, f->a.v, f->a.outer * f->a.steps);
    for (int kb = 0; kb < f->k_blocks; kb++) {
        e_carry(e, c, f->b[kb].v, f->b[kb].outer * f->b[kb].steps);
        if (f->slot_bytes && stages_a(f)) e_carry(e, c, f->a_lane[kb], gemm_chunks(f->g));
        if (f->slot_bytes && stages_b(f)) e_carry(e, c, f->b_lane[kb], gemm_chunks(f->g));
        if (!loads_scales(f)) continue;
        e_carry(e, c, f->scales[kb].a, f->scale_at.a_count);
        e_carry(e, c, f->scales[kb].b, f->scale_at.b_count);
    }
}

/* Rows' and columns' scales, after which no K tile is loaded. */
static void load_row_scales(four_waves *f) {
    gemm *const g = f->g;
    const val first = e_i32(g->e, 0);
    if (g->scaling != GEMM_ROWS) return;
    f->scale_at = gemm_place_scales(g, &f->sums);
    f->scales[0] = gemm_load_scales(g, &f->scale_at, first);
}

static void last_tile(four_waves *f, val t) {
    enum { SUMS_WITH_ROOM = 64 }; /* a lane's, beside which the last tile leaves registers for scales on their way */
    const gemm *const g = f->g;
    const int loads_early = g->bm * g->bn / g->threads <= SUMS_WITH_ROOM;
    if (loads_early) load_row_scales(f);
    k_tile(f, t, LAST);
    e_wait(g->e, 0, WAIT_ANY); /* a tile that is not there may have been sent */
    if (!loads_early) load_row_scales(f);
}

static void all_tiles(four_waves *f) {
    gemm *const g = f->g;
    ir *const e = g->e;
    const val last = g->unroll ? e_i32(e, g->unroll - 1) : e_addi(e, g->k_tiles, -1);
    for (int t = 0; t < g->unroll - 1; t++) k_tile(f, e_i32(e, t), t == g->unroll - 2 ? LAST_BUT_ONE : STEADY);
    if (!g->unroll) {
        carried_values carried = {0};
        begin_late(f);
        carry(f, &carried);
        E_FOR_ALL(t, e, e_i32(e, 0), last, e_i32(e, 1), carried) k_tile(f, t, STEADY);
    }
    last_tile(f, last);
}

/* Rows first: the product of both scales may lie outside of f32 where what they scale does not. */
static void scale_rows(four_waves *f) {
    gemm *const g = f->g;
    const int halves = g->a.from_fn + g->b.from_fn;
    for (int i = 0; i < f->m_atoms && halves; i++)
        f->scales[0].a[i] = e_fmul(g->e, f->scales[0].a[i], e_f32(g->e, 1 << halves), 0);
    for (int x = 0; x < f->m_atoms * f->n_atoms; x++) {
        const val scaled = gemm_scaled(g, f->sums.v[x], f->scales[0].a[x / f->n_atoms]);
        f->sums.v[x] = gemm_scaled(g, scaled, f->scales[0].b[x % f->n_atoms]);
    }
}

/* Sums that ran through all of K get the scales of the last K tile: of all its blocks, so that none is loaded for
 * nothing. */
static void scale_chain(four_waves *f) {
    gemm *const g = f->g;
    for (int kb = 0; kb < f->k_blocks; kb++) {
        const gemm_block_scales factors = gemm_factors(g, &f->scale_at, &f->scales[kb], &f->sums);
        for (int x = 0; x < f->m_atoms * f->n_atoms; x++) {
            const val scale = gemm_factor(g, &factors, x / f->n_atoms, x % f->n_atoms);
            f->sums.v[x] = gemm_scaled(g, f->sums.v[x], scale);
        }
    }
}

gemm_sums gemm_4w(gemm *g) {
    four_waves f = begin(g);
    first_tile(&f);
    all_tiles(&f);
    if (g->scaling == GEMM_ROWS) scale_rows(&f);
    if (g->scaling == GEMM_CHAIN) scale_chain(&f);
    return f.sums;
}
