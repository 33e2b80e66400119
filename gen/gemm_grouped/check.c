/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What follows from a variant and a shape, and what they and the chip must satisfy together. */
#include <inttypes.h>

#include "core/integer.h"
#include "gen/gemm_grouped/gemm_grouped.h"

static const char op[] = "gemm_grouped";

const grouped_traits grouped_layouts[GROUPED_LAYOUTS] = {
    [GROUPED_SIZES] = {"sizes", 0, 1, 0, GROUPED_CUTS_ROWS, 8},
    [GROUPED_OFFSETS] = {"offsets", 0, 1, 0, GROUPED_CUTS_ROWS, 4},
    [GROUPED_PADDED] = {"padded", 1, 1, 1, GROUPED_CUTS_NOTHING, 8},
    [GROUPED_BATCHED] = {"batched", 1, 1, 1, GROUPED_CUTS_NOTHING, 0},
    [GROUPED_N_OFFSETS] = {"n_offsets", 1, 0, 0, GROUPED_CUTS_COLUMNS, 4},
    [GROUPED_K_OFFSETS] = {"k_offsets", 0, 0, 1, GROUPED_CUTS_K, 4},
};

gemm_tiling grouped_tiling_of(const grouped_variant *v, const grouped_shape *s) {
    return (gemm_tiling){.atom = v->atom,
                         .tile = v->tile,
                         .core = GEMM_4W,
                         .waves_m = (int)v->waves_m,
                         .b_in_lds = s->b == GEMM_B_PLAIN,
                         .one_slot = s->b == GEMM_B_PLAIN && !v->async,
                         .cshuffle = (int)v->cshuffle,
                         .async = (int)v->async,
                         .wpe = (int)v->wpe,
                         .split_k = (int)v->split_k};
}

grouped_tiles grouped_tiles_of(const grouped_variant *v, const grouped_shape *s, int64_t groups, int64_t m, int64_t n) {
    const int bm = TRIPLE_M(v->tile), bn = TRIPLE_N(v->tile);
    const grouped_cut cuts = grouped_layouts[s->layout].cuts;
    return (grouped_tiles){.rows = cuts == GROUPED_CUTS_ROWS ? m / bm + groups : ceil_div(m, bm),
                           .columns = cuts == GROUPED_CUTS_COLUMNS ? n / bn + groups : ceil_div(n, bn),
                           .slabs = cuts == GROUPED_CUTS_ROWS || cuts == GROUPED_CUTS_COLUMNS ? 1 : groups};
}

uint64_t grouped_workspace_bytes(const grouped_variant *v, const grouped_shape *s, int64_t groups, int64_t m,
                                 int64_t n) {
    const grouped_tiles t = grouped_tiles_of(v, s, groups, m, n);
    uint64_t tiles; /* rows * columns fits: each is less than 2^31 */
    if (__builtin_mul_overflow((uint64_t)(t.rows * t.columns), (uint64_t)t.slabs, &tiles) || tiles > UINT64_MAX / 8)
        return v->split_k ? UINT64_MAX : 0;
    return gemm_workspace_bytes(v->tile, v->split_k, tiles);
}

/* Where groups cut K or columns between them their ends are on the device, and every end may be inside a tile.
 * Preshuffled B has whole tiles alone, and blocks of scales are whole ones. */
void grouped_complete(const void *variant, void *shape) {
    const grouped_variant *const v = variant;
    grouped_shape *const s = shape;
    const grouped_cut cuts = grouped_layouts[s->layout].cuts;
    const struct {
        int64_t *tail, length;
        int tile, is_cut;
    } axes[] = {{&s->k_tail, s->k, TRIPLE_K(v->tile), cuts == GROUPED_CUTS_K},
                {&s->n_tail, s->n, TRIPLE_N(v->tile), cuts == GROUPED_CUTS_COLUMNS}};
    for (int i = 0; i < 2; i++) {
        if (*axes[i].tail >= 0) continue;
        const int is_whole =
            s->b == GEMM_B_PRESHUFFLED || (s->scale == GROUPED_SCALE_BLOCK && axes[i].tile <= GEMM_SCALE_K);
        *axes[i].tail = axes[i].is_cut || (!is_whole && (axes[i].length < 0 || axes[i].length % axes[i].tile));
    }
}

/* ---- fields against each other ---- */

/* refusal: what must not be, and how to say so. */
typedef struct refusal {
    int holds;
    const char *what;
} refusal;

static cdnagen_status check_fields(const grouped_variant *v, const grouped_shape *s) {
    if (v->split_k && v->unroll)
        return fail(CDNAGEN_BAD_TAG, "%s: unroll fixes the tiles of the whole of K: leave sk out", op);
    const refusal refusals[] = {
        {s->layout == GROUPED_N_OFFSETS && s->b == GEMM_B_PRESHUFFLED,
         "b=preshuffled needs groups that own whole [N, K] matrices; 3D-2D groups along N (layout=n_offsets) cut one "
         "matrix: pass plain B"},
        {s->layout == GROUPED_K_OFFSETS && s->b == GEMM_B_PRESHUFFLED,
         "b=preshuffled needs groups that own whole [N, K] matrices; 2D-2D groups along K (layout=k_offsets) cut one "
         "matrix: pass plain B"},
        {s->layout == GROUPED_N_OFFSETS && s->scale == GROUPED_SCALE_BLOCK,
         "scale=block needs groups of whole blocks; layout=n_offsets takes scale=row"},
        {s->layout == GROUPED_K_OFFSETS && s->scale == GROUPED_SCALE_BLOCK,
         "scale=block needs groups of whole blocks; layout=k_offsets takes scale=row"},
        {s->layout != GROUPED_K_OFFSETS && s->empty_k == GROUPED_EMPTY_K_LEAVE,
         "empty_k=leave is for groups with a K of their own, layout=k_offsets: leave it out"},
        {s->layout == GROUPED_K_OFFSETS && v->unroll,
         "unroll needs one K for all groups; with layout=k_offsets it is on the device: leave unroll out"},
        {s->layout == GROUPED_K_OFFSETS && !s->k_tail,
         "k_tail=0 asks for whole tiles, and the ends of layout=k_offsets are on the device: leave it out"},
        {s->layout == GROUPED_N_OFFSETS && !s->n_tail,
         "n_tail=0 asks for whole tiles, and the ends of layout=n_offsets are on the device: leave it out"},
        {s->scale == GROUPED_SCALE_ROW && (v->ablation == GEMM_TWIN || v->ablation == GEMM_NO_PROMOTE),
         "scale=row promotes nothing that xtwin and xpromote could leave out: they are for scale=block"},
        {s->b == GEMM_B_PRESHUFFLED && s->k_tail, "k_tail=1 is for plain B: b=preshuffled has whole K tiles"},
        {s->b == GEMM_B_PRESHUFFLED && s->n_tail, "n_tail=1 is for plain B: b=preshuffled has whole tiles of columns"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (refusals[i].holds) return fail(CDNAGEN_BAD_SHAPE, "%s: %s", op, refusals[i].what);
    return CDNAGEN_OK;
}

/* ---- lengths ---- */

/* divisor: what a length must be divisible by, and why. */
typedef struct divisor {
    const char *name;
    int64_t length, unit;
    const char *why;
} divisor;

static cdnagen_status check_divisors(const char *what, const divisor both[2]) {
    for (int i = 0; i < 2; i++)
        if (both[i].length > 0 && both[i].length % both[i].unit)
            return fail(CDNAGEN_BAD_SHAPE, "%s: %s=%" PRId64 " must be divisible by %" PRId64 " (%s)", what,
                        both[i].name, both[i].length, both[i].unit, both[i].why);
    return CDNAGEN_OK;
}

cdnagen_status grouped_check_lengths(const char *what, const grouped_shape *s, const gemm_geometry *tile, int64_t n,
                                     int64_t k) {
    const divisor of_blocks[] = {{"k", k, GEMM_SCALE_K, "scale_block_k, the K that share a scale"},
                                 {"n", n, GEMM_SCALE_K, "scale_block_n, the columns that share a scale"}};
    const divisor of_rows[] = {{"k", k, GROUPED_K_ALIGN, "the bytes that a load takes"},
                               {"n", n, GROUPED_N_ALIGN, "the columns that stores need"}};
    TRY(check_divisors(what, s->scale == GROUPED_SCALE_BLOCK ? of_blocks : of_rows));
    if (!tile || s->b == GEMM_B_PLAIN) return CDNAGEN_OK;
    static const char why[] = "this tile's, where b=preshuffled: take another tile, or plain B";
    return check_divisors(what, (divisor[]){{"k", k, tile->bk, why}, {"n", n, tile->bn, why}});
}

static cdnagen_status check_extents(const grouped_shape *s) {
    if (!s->extent_count) return CDNAGEN_OK;
    if (s->groups >= 0 && s->extent_count != s->groups)
        return fail(CDNAGEN_BAD_SHAPE, "%s: extents has %d numbers for groups=%" PRId64, op, (int)s->extent_count,
                    s->groups);
    if (s->layout == GROUPED_BATCHED)
        return fail(CDNAGEN_BAD_SHAPE, "%s: every row of layout=batched takes part: leave extents out", op);
    const grouped_cut cuts = grouped_layouts[s->layout].cuts;
    const int unit = cuts == GROUPED_CUTS_K ? GROUPED_K_ALIGN : cuts == GROUPED_CUTS_COLUMNS ? GROUPED_N_ALIGN : 1;
    const int64_t most = cuts == GROUPED_CUTS_K ? s->k : cuts == GROUPED_CUTS_COLUMNS ? s->n : s->m;
    int64_t sum = 0;
    for (int i = 0; i < s->extent_count; i++) {
        sum = cuts == GROUPED_CUTS_NOTHING ? s->extents[i] : sum + s->extents[i];
        if (s->extents[i] % unit)
            return fail(CDNAGEN_BAD_SHAPE, "%s: extents has %d, which is not a multiple of %d as layout=%s needs", op,
                        s->extents[i], unit, grouped_layouts[s->layout].name);
        if (most >= 0 && sum > most)
            return fail(CDNAGEN_BAD_SHAPE, "%s: extents are %" PRId64 " up to number %d, more than %s=%" PRId64, op,
                        sum, i + 1,
                        cuts == GROUPED_CUTS_K         ? "k"
                        : cuts == GROUPED_CUTS_COLUMNS ? "n"
                                                       : "m",
                        most);
    }
    return CDNAGEN_OK;
}

/* ---- all of it ---- */

cdnagen_status grouped_check(const target *t, const void *variant, const void *shape) {
    const grouped_variant *const v = variant;
    const grouped_shape *const s = shape;
    TRY(check_fields(v, s));
    const gemm_tiling tiling = grouped_tiling_of(v, s);
    TRY(gemm_check_tiling(op, t->chip, &tiling));
    const gemm_class class = grouped_class_of(v, s);
    if (s->scale == GROUPED_SCALE_BLOCK && class.tile.bn % GEMM_SCALE_K)
        return fail(CDNAGEN_BAD_TAG,
                    "%s: scale=block needs tiles of whole scale blocks: t%dx%dx%d has %d columns, not a "
                    "multiple of %d",
                    op, class.tile.bm, class.tile.bn, class.tile.bk, class.tile.bn, GEMM_SCALE_K);
    TRY(grouped_check_lengths(op, s, &class.tile, s->n, s->k));
    TRY(gemm_check_shape(op, &class, s->n, s->k));
    TRY(check_extents(s));
    TRY(chip_check_fp8(op, t->chip, "a_fp8", s->a_fp8));
    return chip_check_fp8(op, t->chip, "b_fp8", s->b_fp8);
}
