/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What follows from a variant and a shape, and what they and the chip must satisfy together. */
#include <inttypes.h>
#include <stdio.h>

#include "core/integer.h"
#include "gen/gemm_blockscale/gemm_blockscale.h"

/* Rows of a K tile in LDS: with 8w each half is whole DMA of all waves. */
static int lds_rows(const blockscale_variant *v, int rows) {
    enum { DMA_ROWS = 64 };
    return v->core == GEMM_8W ? 2 * (int)ceil_div(rows / 2, DMA_ROWS) * DMA_ROWS : rows;
}

blockscale_geometry blockscale_geometry_of(const blockscale_variant *v, const blockscale_shape *s) {
    blockscale_geometry g = {.m = TRIPLE_M(v->atom),
                             .n = TRIPLE_N(v->atom),
                             .k = TRIPLE_K(v->atom),
                             .bm = TRIPLE_M(v->tile),
                             .bn = TRIPLE_N(v->tile),
                             .bk = TRIPLE_K(v->tile)};
    g.waves = v->core == GEMM_8W ? 8 : 4;
    g.waves_m = v->waves_m ? (int)v->waves_m : v->core == GEMM_8W ? 2 : 1;
    g.waves_n = g.waves_m <= g.waves ? g.waves / g.waves_m : 1;
    g.threads = g.waves * LANES;
    g.m_atoms = g.bm / (g.waves_m * g.m);
    g.n_atoms = g.bn / (g.waves_n * g.n);
    g.k_steps = GEMM_SCALE_K / g.k;
    g.k_blocks = g.bk / GEMM_SCALE_K;
    g.acc = g.m * g.n / LANES;
    g.a_bytes = lds_rows(v, g.bm) * g.bk;
    g.b_bytes = v->core == GEMM_8W || s->b == GEMM_B_PLAIN ? lds_rows(v, g.bn) * g.bk : 0;
    g.lds_bytes = 2 * (g.a_bytes + g.b_bytes);
    const int shuffled = v->cshuffle ? g.bm * g.bn * 2 : 0;
    if (g.lds_bytes < shuffled) g.lds_bytes = shuffled;
    g.split_k = v->split_k ? (int)v->split_k : 1;
    return g;
}

blockscale_tiles blockscale_tiles_of(const blockscale_variant *v, int64_t m, int64_t n) {
    const int64_t tiles_m = ceil_div(m, TRIPLE_M(v->tile)), tiles_n = ceil_div(n, TRIPLE_N(v->tile));
    return (blockscale_tiles){tiles_m, tiles_n, tiles_m * tiles_n};
}

uint64_t blockscale_workspace_bytes(const blockscale_variant *v, int64_t m, int64_t n) {
    if (!v->split_k) return 0;
    const uint64_t tiles = (uint64_t)blockscale_tiles_of(v, m, n).count;
    const uint64_t counters = (tiles * 4 + GEMM_WORKSPACE_ALIGN - 1) / GEMM_WORKSPACE_ALIGN * GEMM_WORKSPACE_ALIGN;
    const uint64_t tile = (uint64_t)v->split_k * (uint64_t)TRIPLE_M(v->tile) * (uint64_t)TRIPLE_N(v->tile) * 4;
    uint64_t sums;
    return __builtin_mul_overflow(tiles, tile, &sums) || sums > UINT64_MAX - counters ? UINT64_MAX : counters + sums;
}

void blockscale_complete(const void *variant, void *shape) {
    const blockscale_variant *const v = variant;
    blockscale_shape *const s = shape;
    if (s->k_tail < 0) s->k_tail = s->k < 0 || s->k % TRIPLE_K(v->tile) != 0;
    if (s->n_tail < 0) s->n_tail = s->n < 0 || s->n % TRIPLE_N(v->tile) != 0;
}

/* ---- fields against each other ---- */

/* One variant has one text: a value that leaving the field out means is not written. */
static cdnagen_status check_waves(const blockscale_variant *v) {
    const int own = v->core == GEMM_8W ? 2 : 1, waves = v->core == GEMM_8W ? 8 : 4;
    if (v->waves_m == own)
        return fail(CDNAGEN_BAD_TAG, "gemm_blockscale: wm%d is what %s means without it: leave it out", own,
                    v->core == GEMM_8W ? "8w" : "4w");
    if (v->waves_m && waves % v->waves_m)
        return fail(CDNAGEN_BAD_TAG, "gemm_blockscale: wm%d does not divide the %d waves: wm may be 1, 2, 4%s",
                    (int)v->waves_m, waves, waves == 8 ? " or 8" : "");
    return CDNAGEN_OK;
}

/* pair: two fields that exclude each other, and what to do. */
typedef struct pair {
    int both;
    const char *what;
} pair;

static cdnagen_status check_pairs(const blockscale_variant *v) {
    const int is_8w = v->core == GEMM_8W;
    const pair pairs[] = {
        {v->group && v->panel, "group and panel are two orders of the tiles: give one"},
        {v->fold && v->sched, "fold says itself when sums are scaled: leave delayed or cluster out"},
        {!is_8w && v->sched, "delayed and cluster are schedules of 8w: with 4w there is fused"},
        {!is_8w && v->fold, "fold is a schedule of 8w: with 4w there is fused"},
        {is_8w && v->fused, "fused is a schedule of 4w: with 8w there are delayed, cluster and fold"},
        {is_8w && v->async, "8w always loads by LDS DMA: leave async out"},
        {v->xcd && (v->group || v->panel), "group and panel already run consecutive tiles on one XCD: leave xcd out"},
        {v->split_k && (v->xcd || v->group || v->panel), "sk has tiles in their raw order: leave the raster out"},
        {v->split_k && v->persist, "a workgroup of sk has one part of one tile: leave pers out"},
        {v->split_k && v->unroll, "unroll fixes the tiles of the whole of K: leave sk out"},
        {v->ablation && v->split_k, "kernels for diagnosis have K in one piece: leave sk out"},
        {is_8w && v->wpe == 1, "a workgroup of 8w has two waves a SIMD: wpe may be 2 or more"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (pairs[i].both) return fail(CDNAGEN_BAD_TAG, "gemm_blockscale: %s", pairs[i].what);
    return CDNAGEN_OK;
}

/* ---- tile, atom, chip ---- */

static cdnagen_status check_atom(const chip *c, const blockscale_geometry *g) {
    const atom *const a = atom_find(g->m, g->n, g->k);
    if (a && chip_has_atom(c, a)) return CDNAGEN_OK;
    char list[120] = "";
    size_t used = 0;
    for (int i = 0; i < ATOM_COUNT; i++)
        if (chip_has_atom(c, &atoms[i]) && used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%dx%dx%d", used ? ", " : "", atoms[i].m,
                                     atoms[i].n, atoms[i].k);
    return fail(CDNAGEN_LIMIT, "gemm_blockscale: %s has no fp8 MFMA %dx%dx%d; it has %s", c->name, g->m, g->n, g->k,
                list);
}

/* check_tile: every wave has whole atoms, every thread whole loads of A. */
static cdnagen_status check_tile(const chip *c, const blockscale_variant *v, const blockscale_geometry *g) {
    const int is_8w = v->core == GEMM_8W, halves = is_8w ? 2 : 1;
    const int rows = halves * g->waves_m * g->m, columns = halves * g->waves_n * g->n;
    if (g->bm % rows)
        return fail(CDNAGEN_BAD_TAG,
                    "gemm_blockscale: %d rows of t%dx%dx%d are not a multiple of %d: %d waves along them%s of %d-row "
                    "atoms",
                    g->bm, g->bm, g->bn, g->bk, rows, g->waves_m, is_8w ? ", two halves" : "", g->m);
    if (g->bn % columns)
        return fail(CDNAGEN_BAD_TAG,
                    "gemm_blockscale: %d columns of t%dx%dx%d are not a multiple of %d: %d waves along them%s of "
                    "%d-column atoms",
                    g->bn, g->bm, g->bn, g->bk, columns, g->waves_n, is_8w ? ", two halves" : "", g->n);
    if (GEMM_SCALE_K % (g->bn / g->waves_n))
        return fail(
            CDNAGEN_LIMIT,
            "gemm_blockscale: %d waves along %d columns own %d each; they must divide the %d that share a scale",
            g->waves_n, g->bn, g->bn / g->waves_n, GEMM_SCALE_K);
    if (g->a_bytes / g->threads % 8)
        return fail(CDNAGEN_LIMIT,
                    "gemm_blockscale: t%dx%dx%d gives each of %d threads %d bytes of A; a multiple of 8 is needed",
                    g->bm, g->bn, g->bk, g->threads, g->a_bytes / g->threads);
    if (v->async && g->a_bytes / g->threads < 16)
        return fail(CDNAGEN_LIMIT,
                    "gemm_blockscale: async needs 16 bytes of A a thread; t%dx%dx%d has %d: leave async out, or take a "
                    "tile of more rows",
                    g->bm, g->bn, g->bk, g->a_bytes / g->threads);
    if (g->lds_bytes > c->lds_bytes)
        return fail(CDNAGEN_LIMIT,
                    "gemm_blockscale: t%dx%dx%d needs %d bytes of LDS (A %d and B %d a K tile, two K tiles%s), a "
                    "workgroup on %s has %d",
                    g->bm, g->bn, g->bk, g->lds_bytes, g->a_bytes, g->b_bytes, v->cshuffle ? "; or C for cs" : "",
                    c->name, c->lds_bytes);
    if (is_8w && g->bk != GEMM_SCALE_K)
        return fail(CDNAGEN_BAD_TAG, "gemm_blockscale: a K tile of 8w has %d elements, not the %d of t%dx%dx%d",
                    GEMM_SCALE_K, g->bk, g->bm, g->bn, g->bk);
    if ((is_8w || v->async) && c->lds_dma_bytes < 16)
        return fail(
            CDNAGEN_LIMIT,
            "gemm_blockscale: %s loads by LDS DMA of 16 bytes a lane, the unit in which LDS is swizzled; %s has %d",
            is_8w ? "8w" : "async", c->name, c->lds_dma_bytes);
    if (is_8w && TRIPLE(g->m, g->n, g->k) != TRIPLE(16, 16, 128))
        return fail(
            CDNAGEN_LIMIT,
            "gemm_blockscale: 8w lays LDS out for rows of 16 and one MFMA a scale block, mfma16x16x128, not %dx%dx%d",
            g->m, g->n, g->k);
    /* A sum and half as much again for its parts: with more waves the sums alone spill. */
    const int sums = g->bm * g->bn / g->threads, most = c->vgpr_per_simd * 2 / (3 * sums);
    if (v->wpe > most)
        return fail(CDNAGEN_LIMIT,
                    "gemm_blockscale: wpe%d leaves %d registers a lane, t%dx%dx%d has %d sums a lane and needs half as "
                    "many again: wpe may be 1 to %d",
                    (int)v->wpe, c->vgpr_per_simd / (int)v->wpe, g->bm, g->bn, g->bk, sums, most);
    return CDNAGEN_OK;
}

/* ---- shape ---- */

static cdnagen_status check_tails(const blockscale_shape *s, const blockscale_geometry *g) {
    const struct {
        const char *word, *tail;
        int64_t length, whole;
        int unit;
    } axes[] = {{"k", "k_tail", s->k, !s->k_tail, g->bk}, {"n", "n_tail", s->n, !s->n_tail, g->bn}};
    for (int i = 0; i < 2; i++)
        if (axes[i].whole && axes[i].length > 0 && axes[i].length % axes[i].unit)
            return fail(CDNAGEN_BAD_SHAPE,
                        "gemm_blockscale: %s=0 asks for whole tiles, and %s=%" PRId64
                        " is not a multiple of %d: leave %s out, or give 1",
                        axes[i].tail, axes[i].word, axes[i].length, axes[i].unit, axes[i].tail);
    return CDNAGEN_OK;
}

static cdnagen_status check_shape(const blockscale_variant *v, const blockscale_shape *s,
                                  const blockscale_geometry *g) {
    const struct {
        const char *name;
        int64_t value;
    } widths[] = {{"scale_m", s->scale_m}, {"scale_n", s->scale_n}};
    for (int i = 0; i < 2; i++)
        if (widths[i].value != 1 && widths[i].value != GEMM_SCALE_K)
            return fail(CDNAGEN_BAD_SHAPE, "gemm_blockscale: %s=%d must be 1 or %d", widths[i].name,
                        (int)widths[i].value, GEMM_SCALE_K);
    if (s->b == GEMM_B_PRESHUFFLED && s->k > 0 && s->k % GEMM_PACK_K)
        return fail(CDNAGEN_BAD_SHAPE,
                    "gemm_blockscale: b=preshuffled needs a k that is a multiple of %d, not %" PRId64, GEMM_PACK_K,
                    s->k);
    if (s->b == GEMM_B_PRESHUFFLED && s->n > 0 && s->n % GEMM_PACK_N)
        return fail(CDNAGEN_BAD_SHAPE,
                    "gemm_blockscale: b=preshuffled needs an n that is a multiple of %d, not %" PRId64, GEMM_PACK_N,
                    s->n);
    TRY(check_tails(s, g));
    if (v->unroll && s->k_tail)
        return fail(CDNAGEN_BAD_SHAPE, "gemm_blockscale: unroll%d is whole K tiles: give k=%d, or k_tail=0",
                    (int)v->unroll, (int)v->unroll * g->bk);
    if (v->unroll && s->k >= 0 && s->k != v->unroll * g->bk)
        return fail(CDNAGEN_BAD_SHAPE, "gemm_blockscale: unroll%d is %d K tiles of %d, k=%d; k=%" PRId64 " is not that",
                    (int)v->unroll, (int)v->unroll, g->bk, (int)v->unroll * g->bk, s->k);
    const int64_t k_tiles = ceil_div(s->k, g->bk);
    if (v->split_k && s->k > 0 && v->split_k > k_tiles)
        return fail(CDNAGEN_LIMIT, "gemm_blockscale: sk%d has more parts than k=%" PRId64 " has tiles of %d, %" PRId64,
                    (int)v->split_k, s->k, g->bk, k_tiles);
    return CDNAGEN_OK;
}

static cdnagen_status check_operands(const chip *c, const blockscale_shape *s) {
    const struct {
        const char *name;
        int64_t kind;
    } operands[] = {{"a_fp8", s->a_fp8}, {"b_fp8", s->b_fp8}};
    for (int i = 0; i < 2; i++)
        if (operands[i].kind == CDNAGEN_FP8_E4M3FNUZ && c->fp8 == CDNAGEN_FP8_E4M3FN)
            return fail(CDNAGEN_LIMIT,
                        "gemm_blockscale: %s=e4m3fnuz cannot be read on %s: its matrix unit reads e4m3fn; quantise to "
                        "e4m3fn",
                        operands[i].name, c->name);
    return CDNAGEN_OK;
}

cdnagen_status blockscale_check(const target *t, const void *variant, const void *shape) {
    const blockscale_variant *const v = variant;
    const blockscale_shape *const s = shape;
    TRY(check_waves(v));
    TRY(check_pairs(v));
    const blockscale_geometry g = blockscale_geometry_of(v, s);
    TRY(check_atom(t->chip, &g));
    TRY(check_tile(t->chip, v, &g));
    TRY(check_shape(v, s, &g));
    return check_operands(t->chip, s);
}
