/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The geometry of a tile, and what it and the chip must satisfy together. */
#include "gen/gemm/tiling.h"

#include <stdio.h>

#include "core/field.h"
#include "core/integer.h"

/* Rows of a K tile in LDS: with 8w each half is whole DMA of all waves. */
static int lds_rows(const gemm_tiling *t, int rows) {
    enum { DMA_ROWS = 64 };
    return t->core == GEMM_8W ? 2 * (int)ceil_div(rows / 2, DMA_ROWS) * DMA_ROWS : rows;
}

gemm_geometry gemm_geometry_of(const gemm_tiling *t) {
    gemm_geometry g = {.m = TRIPLE_M(t->atom),
                       .n = TRIPLE_N(t->atom),
                       .k = TRIPLE_K(t->atom),
                       .bm = TRIPLE_M(t->tile),
                       .bn = TRIPLE_N(t->tile),
                       .bk = TRIPLE_K(t->tile)};
    g.waves = t->core == GEMM_8W ? 8 : 4;
    g.waves_m = t->waves_m ? t->waves_m : t->core == GEMM_8W ? 2 : 1;
    g.waves_n = g.waves_m <= g.waves ? g.waves / g.waves_m : 1;
    g.threads = g.waves * LANES;
    g.m_atoms = g.bm / (g.waves_m * g.m);
    g.n_atoms = g.bn / (g.waves_n * g.n);
    g.k_steps = GEMM_SCALE_K / g.k;
    g.k_blocks = g.bk / GEMM_SCALE_K;
    g.acc = g.m * g.n / LANES;
    g.a_bytes = lds_rows(t, g.bm) * g.bk;
    g.b_bytes = t->core == GEMM_8W || t->b_in_lds ? lds_rows(t, g.bn) * g.bk : 0;
    g.lds_bytes = (t->one_slot ? 1 : 2) * (g.a_bytes + g.b_bytes);
    const int shuffled = t->cshuffle ? g.bm * g.bn * 2 : 0;
    if (g.lds_bytes < shuffled) g.lds_bytes = shuffled;
    g.split_k = t->split_k ? t->split_k : 1;
    return g;
}

uint64_t gemm_workspace_bytes(int64_t tile, int64_t split_k, uint64_t tiles) {
    if (!split_k) return 0;
    const uint64_t counters = (tiles * 4 + GEMM_WORKSPACE_ALIGN - 1) / GEMM_WORKSPACE_ALIGN * GEMM_WORKSPACE_ALIGN;
    const uint64_t sums_of_tile = (uint64_t)split_k * (uint64_t)TRIPLE_M(tile) * (uint64_t)TRIPLE_N(tile) * 4;
    uint64_t sums;
    return __builtin_mul_overflow(tiles, sums_of_tile, &sums) || sums > UINT64_MAX - counters ? UINT64_MAX
                                                                                              : counters + sums;
}

/* One variant has one text: a value that leaving the field out means is not written. */
static cdnagen_status check_waves(const char *op, const gemm_tiling *t) {
    const int own = t->core == GEMM_8W ? 2 : 1, waves = t->core == GEMM_8W ? 8 : 4;
    if (t->waves_m == own)
        return fail(CDNAGEN_BAD_TAG, "%s: wm%d is what %s means without it: leave it out", op, own,
                    t->core == GEMM_8W ? "8w" : "4w");
    if (t->waves_m && waves % t->waves_m)
        return fail(CDNAGEN_BAD_TAG, "%s: wm%d does not divide the %d waves: wm may be 1, 2, 4%s", op, t->waves_m,
                    waves, waves == 8 ? " or 8" : "");
    return CDNAGEN_OK;
}

/* ---- tile, atom, chip ---- */

/* check_tile: every wave has whole atoms, every thread whole loads of A. */
static cdnagen_status check_tile(const char *op, const chip *c, const gemm_tiling *t, const gemm_geometry *g) {
    const int is_8w = t->core == GEMM_8W, halves = is_8w ? 2 : 1;
    const int rows = halves * g->waves_m * g->m, columns = halves * g->waves_n * g->n;
    if (g->bm % rows)
        return fail(CDNAGEN_BAD_TAG,
                    "%s: %d rows of t%dx%dx%d are not a multiple of %d: %d waves along them%s of %d-row "
                    "atoms",
                    op, g->bm, g->bm, g->bn, g->bk, rows, g->waves_m, is_8w ? ", two halves" : "", g->m);
    if (g->bn % columns)
        return fail(CDNAGEN_BAD_TAG,
                    "%s: %d columns of t%dx%dx%d are not a multiple of %d: %d waves along them%s of "
                    "%d-column atoms",
                    op, g->bn, g->bm, g->bn, g->bk, columns, g->waves_n, is_8w ? ", two halves" : "", g->n);
    if (GEMM_SCALE_K % (g->bn / g->waves_n))
        return fail(CDNAGEN_LIMIT,
                    "%s: %d waves along %d columns own %d each; they must divide the %d that share a scale", op,
                    g->waves_n, g->bn, g->bn / g->waves_n, GEMM_SCALE_K);
    if (g->a_bytes / g->threads % 8)
        return fail(CDNAGEN_LIMIT, "%s: t%dx%dx%d gives each of %d threads %d bytes of A; a multiple of 8 is needed",
                    op, g->bm, g->bn, g->bk, g->threads, g->a_bytes / g->threads);
    if (t->async && g->a_bytes / g->threads < 16)
        return fail(CDNAGEN_LIMIT,
                    "%s: async needs 16 bytes of A a thread; t%dx%dx%d has %d: leave async out, or take a "
                    "tile of more rows",
                    op, g->bm, g->bn, g->bk, g->a_bytes / g->threads);
    if (g->lds_bytes > c->lds_bytes)
        return fail(CDNAGEN_LIMIT,
                    "%s: t%dx%dx%d needs %d bytes of LDS (A %d and B %d a K tile, %s%s), a workgroup on %s has %d", op,
                    g->bm, g->bn, g->bk, g->lds_bytes, g->a_bytes, g->b_bytes,
                    t->one_slot ? "one K tile" : "two K tiles", t->cshuffle ? "; or C for cs" : "", c->name,
                    c->lds_bytes);
    if (is_8w && g->bk != GEMM_SCALE_K)
        return fail(CDNAGEN_BAD_TAG, "%s: a K tile of 8w has %d elements, not the %d of t%dx%dx%d", op, GEMM_SCALE_K,
                    g->bk, g->bm, g->bn, g->bk);
    if ((is_8w || t->async) && !gemm_has_dma(c))
        return fail(CDNAGEN_LIMIT,
                    "%s: %s loads by LDS DMA of 16 bytes a lane, the unit in which LDS is swizzled; %s has %d", op,
                    is_8w ? "8w" : "async", c->name, c->lds_dma_bytes);
    if (is_8w && TRIPLE(g->m, g->n, g->k) != TRIPLE(16, 16, 128))
        return fail(CDNAGEN_LIMIT,
                    "%s: 8w lays LDS out for rows of 16 and one MFMA a scale block, mfma16x16x128, not %dx%dx%d", op,
                    g->m, g->n, g->k);
    /* A sum and half as much again for its parts: with more waves the sums alone spill. */
    const int sums = g->bm * g->bn / g->threads, most = c->vgpr_per_simd * 2 / (3 * sums);
    if (t->wpe > most)
        return fail(CDNAGEN_LIMIT,
                    "%s: wpe%d leaves %d registers a lane, t%dx%dx%d has %d sums a lane and needs half as "
                    "many again: wpe may be 1 to %d",
                    op, t->wpe, c->vgpr_per_simd / t->wpe, g->bm, g->bn, g->bk, sums, most);
    return CDNAGEN_OK;
}

cdnagen_status gemm_check_tiling(const char *op, const chip *c, const gemm_tiling *t) {
    const gemm_geometry g = gemm_geometry_of(t);
    TRY(check_waves(op, t));
    TRY(chip_check_atom(op, c, g.m, g.n, g.k));
    return check_tile(op, c, t, &g);
}

const atom *gemm_atom_of(const chip *c) {
    const atom *const deep = atom_find(16, 16, 128);
    return chip_has_atom(c, deep) ? deep : atom_find(16, 16, 32);
}

void gemm_waves_per_eu(const chip *c, const gemm_tiling *t, char *out, size_t room) {
    const int least = t->wpe ? t->wpe : gemm_geometry_of(t).waves / c->simds, most = t->wpe ? t->wpe : 8;
    snprintf(out, room, "%d,%d", least, most);
}
