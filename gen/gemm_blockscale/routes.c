/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `auto` means: conditions on m, n, k and the chip, each with the tags to try, best first. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/integer.h"
#include "gen/gemm_blockscale/gemm_blockscale.h"

enum { CHOICES_MAX = 2 /* tags of a row; also the widths of a split one */ };
#define MIB (1ll << 20)

/* job: what the conditions ask. */
typedef struct job {
    const chip *chip;
    int64_t m, n, k;
    int shared; /* columns share scales of B; a scale a column leaves no registers for the largest tiles */
} job;

/* ---- conditions, one a function. source: README.md of this folder, "Routes" ---- */

static int64_t tiles(const job *j, int bm, int bn) { return ceil_div(j->m, bm) * ceil_div(j->n, bn); }
static int64_t c_bytes(const job *j) { return 2 * j->m * j->n; }
static int has_wide_dma(const job *j) { return gemm_has_dma(j->chip); }

/* is_full: `count` workgroups, one a compute unit, leave less than a tenth of their last round idle. */
static int is_full(const job *j, int64_t count) {
    const int64_t cus = j->chip->cus;
    return count >= cus && 10 * count >= 9 * cus * ceil_div(count, cus);
}

static int is_decode(const job *j) { return j->m <= 64 || tiles(j, 64, 128) < j->chip->cus; }
static int is_narrow_and_deep(const job *j) {
    return has_wide_dma(j) && j->n <= 2048 && j->k >= 4096 && tiles(j, 128, 256) >= j->chip->cus &&
           c_bytes(j) <= 64 * MIB;
}
static int is_deep(const job *j) {
    const int64_t count = tiles(j, 128, 256);
    return has_wide_dma(j) && j->k >= 4608 && (is_full(j, count) || count >= 4 * j->chip->cus);
}
static int is_deep_and_shared(const job *j) { return is_deep(j) && j->shared; }
static int fills_device(const job *j) { return has_wide_dma(j) && j->shared && tiles(j, 64, 256) >= j->chip->cus; }
static int is_deep_without_wide_dma(const job *j) {
    return !has_wide_dma(j) && j->shared && j->k >= 8192 && j->n % 256 == 0 && tiles(j, 64, 256) >= j->chip->cus;
}
static int is_square_without_wide_dma(const job *j) {
    return !has_wide_dma(j) && j->shared && tiles(j, 128, 128) >= j->chip->cus;
}
static int always(const job *j) {
    (void)j;
    return 1;
}

/* route: a class of problems. Tags are without their MFMA, which is the chip's. */
typedef enum tile_order {
    ORDER_OF_TAG,
    ORDER_BY_MODEL, /* the one that fills L2 least */
    SPLIT_BY_GRID   /* no tag: as many parts of K as the device has room for; by the model too */
} tile_order;
typedef struct route {
    int (*holds)(const job *j);
    tile_order order;
    const char *tags[CHOICES_MAX];
} route;

/* Rows that hold are tried in order, so that a later, wider class is what is left where a tag of the first does not fit.
 * Only where K is split there are fewer workgroups than compute units. */
static const route routes[] = {
    {is_decode, SPLIT_BY_GRID, {NULL}},
    {is_narrow_and_deep, ORDER_OF_TAG, {"t128x256x128_8w_cluster"}},
    {is_deep, ORDER_OF_TAG, {"t128x256x128_8w_cluster"}},
    {is_deep_and_shared, ORDER_OF_TAG, {"t192x256x128_8w_cluster"}},
    {fills_device, ORDER_BY_MODEL, {"t64x256x128_4w_cs_async_wpe2"}},
    {is_deep_without_wide_dma, ORDER_OF_TAG, {"t64x256x128_4w_cs_wpe2"}},
    {is_square_without_wide_dma, ORDER_BY_MODEL, {"t128x128x128_4w_wm2_cs"}},
    {always, ORDER_BY_MODEL, {"t64x128x128_4w_cs"}},
    {always, ORDER_OF_TAG, {"t32x64x128_4w", "t16x64x128_4w"}},
};

enum { ROUTES = sizeof routes / sizeof *routes, FOUND_MAX = ROUTES * CHOICES_MAX };

/* ---- split K ---- */

enum { SPLITS_MAX = 8, SPLIT_BLOCKS_MIN = 2 /* scale blocks of a part */ };

/* decode_tag: rows as few as m needs, and as many parts of K as the device has room for. */
static void decode_tag(const job *j, int columns, char *out, size_t room) {
    const int rows = j->m <= 48 ? 16 : j->m <= 128 ? 32 : 64;
    const int depth = j->k % 256 ? 128 : 256;
    const int64_t grid = tiles(j, rows, columns), most = j->k / (SPLIT_BLOCKS_MIN * GEMM_SCALE_K);
    int64_t splits = grid ? ceil_div(j->chip->cus, grid) : 1;
    if (splits > SPLITS_MAX) splits = SPLITS_MAX;
    if (splits > most) splits = most;
    const int length = snprintf(out, room, "t%dx%dx%d_4w", rows, columns, depth);
    if (splits > 1) snprintf(out + length, room - (size_t)length, "_sk%d", (int)splits);
}

/* ---- raster by the model ---- */

enum {
    ORDER_GAIN = 20,         /* an order's index arithmetic must save a 20th of the fills */
    TILES_MODELLED = 1 << 20 /* more of them are more of the same */
};

raster_grid blockscale_raster_grid(const chip *c, const blockscale_variant *v, int64_t m, int64_t n, int64_t k) {
    const blockscale_tiles t = blockscale_tiles_of(v, m, n);
    const int at_once = v->core == GEMM_8W ? 1 : 2; /* workgroups that a compute unit has room for */
    if (v->split_k) k = ceil_div(k, v->split_k);
    return (raster_grid){.tiles_m = t.tiles_m,
                         .tiles_n = t.tiles_n,
                         .row_bytes = TRIPLE_M(v->tile) * k,
                         .column_bytes = TRIPLE_N(v->tile) * k,
                         .l2_bytes = c->l2_bytes,
                         .xcds = c->xcds,
                         .resident = at_once * c->cus / c->xcds};
}

static cdnagen_status best_order(const job *j, blockscale_variant *v) {
    static const raster orders[] = {{.group = 0}, {.panel = 4}, {.panel = 8},
                                    {.group = 4}, {.group = 8}, {.group = 16}};
    raster_grid grid = blockscale_raster_grid(j->chip, v, j->m, j->n, j->k);
    int64_t least = 0;
    while (grid.tiles_m * grid.tiles_n > TILES_MODELLED) {
        int64_t *const longer = grid.tiles_m > grid.tiles_n ? &grid.tiles_m : &grid.tiles_n;
        *longer = ceil_div(*longer, 2);
    }
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        int64_t fills;
        TRY(raster_fills(&grid, &orders[i], &fills));
        if (i && fills >= least - least / ORDER_GAIN) continue;
        least = fills;
        v->group = orders[i].group;
        v->panel = orders[i].panel;
    }
    return CDNAGEN_OK;
}

/* ---- the search ---- */

/* search: what one request for a rank has met so far. */
typedef struct search {
    const target *target;
    const blockscale_shape *shape;
    job job;
    int rank, choices;                   /* asked for; found so far */
    blockscale_variant found[FOUND_MAX]; /* in their order, each once */
    text lacking;                        /* tags passed over, and why */
} search;

static int is_new(const search *s, const blockscale_variant *v) {
    for (int i = 0; i < s->choices; i++)
        if (!memcmp(&s->found[i], v, sizeof *v)) return 0;
    return 1;
}

static cdnagen_status consider(search *s, const char *body, tile_order order) {
    char tag[SYMBOL_MAX];
    const atom *const a = gemm_atom_of(s->target->chip);
    snprintf(tag, sizeof tag, "mfma%dx%dx%d_%s", a->m, a->n, a->k, body);
    blockscale_variant v;
    TRY(tag_parse(&gemm_blockscale_family.tag, tag, &v));
    /* Stores of several columns at once need rows of C that begin with such a group. */
    if (v.cshuffle && s->job.n % GEMM_CS_COLUMNS) v.cshuffle = 0;
    if (order != ORDER_OF_TAG) TRY(best_order(&s->job, &v));
    blockscale_shape shape = *s->shape;
    blockscale_complete(&v, &shape);
    const cdnagen_status status = blockscale_check(s->target, &v, &shape);
    if (status != CDNAGEN_OK) {
        text_add(&s->lacking, "; %s: %s", tag, cdnagen_error());
    } else if (is_new(s, &v)) {
        s->found[s->choices++] = v;
    }
    return CDNAGEN_OK;
}

static cdnagen_status consider_route(search *s, const route *r) {
    for (int i = 0; i < CHOICES_MAX && r->tags[i] && s->choices <= s->rank; i++) TRY(consider(s, r->tags[i], r->order));
    for (int columns = 64; columns <= 128 && r->order == SPLIT_BY_GRID && s->choices <= s->rank; columns += 64) {
        char tag[SYMBOL_MAX];
        decode_tag(&s->job, columns, tag, sizeof tag);
        TRY(consider(s, tag, r->order));
    }
    return CDNAGEN_OK;
}

cdnagen_status blockscale_route(const target *t, const void *shape, int rank, void *variant) {
    const blockscale_shape *const given = shape;
    if (given->m < 0 || given->n < 0 || given->k < 0)
        return fail(CDNAGEN_BAD_SHAPE, "gemm_blockscale: auto chooses by m, n and k, and %s is missing: give all three",
                    given->m < 0   ? "m"
                    : given->n < 0 ? "n"
                                   : "k");
    search s = {
        .target = t, .shape = given, .rank = rank, .job = {t->chip, given->m, given->n, given->k, given->scale_n > 1}};
    cdnagen_status status = CDNAGEN_OK;
    for (int i = 0; i < ROUTES && !status && s.choices <= rank; i++)
        if (routes[i].holds(&s.job)) status = consider_route(&s, &routes[i]);
    if (!status && rank < s.choices)
        memcpy(variant, &s.found[rank], sizeof s.found[rank]);
    else if (!status)
        status = fail(CDNAGEN_LIMIT,
                      "gemm_blockscale: auto has %d choices for m=%" PRId64 " n=%" PRId64 " k=%" PRId64
                      " on %s, all passed over%s",
                      s.choices, given->m, given->n, given->k, t->chip->name, s.lacking.data ? s.lacking.data : "");
    text_free(&s.lacking);
    return status;
}
