/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `auto` means: conditions on m, n, k and the chip, each with the tags to try, best first. */
#include <stdio.h>

#include "core/integer.h"
#include "gen/gemm/search.h"
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

/* Rows that hold are tried in order, so that a later, wider class is what is left where a tag of the first does not
 * fit. Only where K is split there are fewer workgroups than compute units. */
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

enum { ROUTES = sizeof routes / sizeof *routes };
_Static_assert(ROUTES *CHOICES_MAX <= GEMM_FOUND_MAX, "choices");

/* ---- split K ---- */

/* decode_tag: rows as few as m needs, and as many parts of K as the device has room for. */
static void decode_tag(const job *j, int columns, char *out, size_t room) {
    const int rows = j->m <= 48 ? 16 : j->m <= 128 ? 32 : 64;
    const int depth = j->k % 256 ? 128 : 256;
    const int parts = gemm_parts(j->chip, tiles(j, rows, columns), j->k);
    const int length = snprintf(out, room, "t%dx%dx%d_4w", rows, columns, depth);
    if (parts > 1) snprintf(out + length, room - (size_t)length, "_sk%d", parts);
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

static cdnagen_status consider(gemm_search *s, const job *j, const char *body, tile_order order) {
    blockscale_variant v;
    TRY(gemm_search_parse(s, body, &v));
    /* Stores of several columns at once need rows of C that begin with such a group. */
    if (v.cshuffle && j->n % GEMM_CS_COLUMNS) v.cshuffle = 0;
    if (order != ORDER_OF_TAG) TRY(best_order(j, &v));
    gemm_search_add(s, &v);
    return CDNAGEN_OK;
}

static cdnagen_status consider_route(gemm_search *s, const job *j, const route *r) {
    for (int i = 0; i < CHOICES_MAX && r->tags[i] && gemm_search_goes_on(s); i++)
        TRY(consider(s, j, r->tags[i], r->order));
    for (int columns = 64; columns <= 128 && r->order == SPLIT_BY_GRID && gemm_search_goes_on(s); columns += 64) {
        char tag[SYMBOL_MAX];
        decode_tag(j, columns, tag, sizeof tag);
        TRY(consider(s, j, tag, r->order));
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
    const job j = {t->chip, given->m, given->n, given->k, given->scale_n > 1};
    gemm_search s = {.family = &gemm_blockscale_family, .target = t, .shape = given, .rank = rank};
    cdnagen_status status = CDNAGEN_OK;
    for (int i = 0; i < ROUTES && !status && gemm_search_goes_on(&s); i++)
        if (routes[i].holds(&j)) status = consider_route(&s, &j, &routes[i]);
    return gemm_search_end(&s, status, variant);
}
