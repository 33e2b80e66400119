/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What follows from a variant and a shape, and what they and the chip must satisfy together. */
#include <inttypes.h>
#include <stdio.h>

#include "core/integer.h"
#include "gen/gemm_blockscale/gemm_blockscale.h"

gemm_tiling blockscale_tiling_of(const blockscale_variant *v, const blockscale_shape *s) {
    return (gemm_tiling){.atom = v->atom,
                         .tile = v->tile,
                         .core = (gemm_core)v->core,
                         .waves_m = (int)v->waves_m,
                         .b_in_lds = v->core == GEMM_8W || s->b == GEMM_B_PLAIN,
                         .cshuffle = (int)v->cshuffle,
                         .async = (int)v->async,
                         .wpe = (int)v->wpe,
                         .split_k = (int)v->split_k};
}

int blockscale_promotes(const blockscale_variant *v, const blockscale_shape *s) {
    const atom *const a = atom_find(TRIPLE_M(v->atom), TRIPLE_N(v->atom), TRIPLE_K(v->atom));
    return s->scales != GEMM_SCALES_UE8M0 || !a->scaled;
}

blockscale_tiles blockscale_tiles_of(const blockscale_variant *v, int64_t m, int64_t n) {
    const int64_t tiles_m = ceil_div(m, TRIPLE_M(v->tile)), tiles_n = ceil_div(n, TRIPLE_N(v->tile));
    return (blockscale_tiles){tiles_m, tiles_n, tiles_m * tiles_n};
}

uint64_t blockscale_workspace_bytes(const blockscale_variant *v, int64_t m, int64_t n) {
    return gemm_workspace_bytes(v->tile, v->split_k, (uint64_t)blockscale_tiles_of(v, m, n).count);
}

void blockscale_complete(const void *variant, void *shape) {
    const blockscale_variant *const v = variant;
    blockscale_shape *const s = shape;
    if (s->k_tail < 0) s->k_tail = s->k < 0 || s->k % TRIPLE_K(v->tile) != 0;
    if (s->n_tail < 0) s->n_tail = s->n < 0 || s->n % TRIPLE_N(v->tile) != 0;
}

/* ---- fields against each other ---- */

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
        {v->split_k && v->persist, "a workgroup of sk has one part of one tile: leave pers out"},
        {v->split_k && v->unroll, "unroll fixes the tiles of the whole of K: leave sk out"},
        {is_8w && v->wpe == 1, "a workgroup of 8w has two waves a SIMD: wpe may be 2 or more"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (pairs[i].both) return fail(CDNAGEN_BAD_TAG, "gemm_blockscale: %s", pairs[i].what);
    return CDNAGEN_OK;
}

/* ---- shape ---- */

static cdnagen_status check_shape(const blockscale_variant *v, const blockscale_shape *s) {
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
    const gemm_class class = blockscale_class_of(v, s);
    return gemm_check_shape("gemm_blockscale", &class, s->n, s->k);
}

cdnagen_status blockscale_check(const target *t, const void *variant, const void *shape) {
    const blockscale_variant *const v = variant;
    const blockscale_shape *const s = shape;
    TRY(check_pairs(v));
    const gemm_tiling tiling = blockscale_tiling_of(v, s);
    TRY(gemm_check_tiling("gemm_blockscale", t->chip, &tiling));
    TRY(check_shape(v, s));
    TRY(chip_check_fp8("gemm_blockscale", t->chip, "a_fp8", s->a_fp8));
    return chip_check_fp8("gemm_blockscale", t->chip, "b_fp8", s->b_fp8);
}
