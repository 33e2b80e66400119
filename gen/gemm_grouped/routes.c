/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `auto` means: the default tile, and narrower ones with K in parts for launches that would leave the device
 * idle. */
#include <stdio.h>

#include "core/integer.h"
#include "gen/gemm/search.h"
#include "gen/gemm_grouped/gemm_grouped.h"

/* job: what the conditions ask. Where groups cut rows, columns or K, an even share stands for each group's. */
typedef struct job {
    const chip *chip;
    const grouped_shape *shape;
    int64_t groups; /* that can have rows or columns at all */
    int64_t rows, columns, k;
} job;

static job job_of(const target *t, const grouped_shape *s) {
    job j = {t->chip, s, s->groups, s->m, s->n, s->k};
    const grouped_cut cuts = grouped_layouts[s->layout].cuts;
    const int64_t groups = s->groups ? s->groups : 1;
    if (cuts == GROUPED_CUTS_ROWS) {
        j.groups = smaller(s->groups, s->m);
        j.rows = ceil_div(s->m, groups);
    } else if (cuts == GROUPED_CUTS_COLUMNS) {
        j.groups = smaller(s->groups, s->n);
        j.columns = ceil_div(s->n, groups);
    } else if (cuts == GROUPED_CUTS_K) {
        j.k = ceil_div(s->k, groups);
    }
    return j;
}

/* ---- conditions, one a function. source: README.md of this folder, "Routes" ---- */

static int64_t tiles(const job *j, int bm, int bn) {
    return j->groups * ceil_div(j->rows, bm) * ceil_div(j->columns, bn);
}
/* Of fewer tiles than 3/2 of the CU some CU get two and most one. Blocks have no tiles of 64 columns, which would even
 * that out. */
static int is_starved(const job *j) {
    const int64_t all = tiles(j, 128, 128), cus = j->chip->cus;
    return j->rows <= 32 || all < cus || (j->shape->scale == GROUPED_SCALE_ROW && 2 * all < 3 * cus);
}
static int is_wide(const job *j) {
    return j->shape->b == GEMM_B_PRESHUFFLED && j->shape->n % 256 == 0 && tiles(j, 128, 256) >= j->chip->cus;
}
static int always(const job *j) {
    (void)j;
    return 1;
}

/* ---- tags ---- */

enum { TAG_BYTES = 80 };

/* Where an XCD has a band of rows of tiles, its L2 reads a panel of B once for all of them. With few rows a group,
 * whose next panels are another matrix's, or with a deep K, whose panels outgrow L2 before they are read again, row
 * after row is as fast or faster. */
int64_t grouped_band(const grouped_shape *s, int64_t tile) {
    enum { BAND_ROWS = 1024, ROWS_LEAST = 512, K_MOST = 8192 };
    if (grouped_layouts[s->layout].cuts != GROUPED_CUTS_ROWS || s->m < ROWS_LEAST * s->groups || s->k > K_MOST)
        return 0;
    return BAND_ROWS / TRIPLE_M(tile);
}

static void tall_tag(const job *j, int rows, int columns, const char *waves, char out[TAG_BYTES]) {
    const int64_t band = grouped_band(j->shape, TRIPLE(rows, columns, 128));
    int length = snprintf(out, TAG_BYTES, "t%dx%dx128%s", rows, columns, waves);
    if (band) length += snprintf(out + length, TAG_BYTES - (size_t)length, "_group%d", (int)band);
    snprintf(out + length, TAG_BYTES - (size_t)length, "%s_wpe2", gemm_has_dma(j->chip) ? "_cs_async" : "_cs");
}

/* columns_of: the widest tile of those that N is a multiple of, where B or the scales allow no other. */
static int columns_of(const job *j, int widest) {
    const grouped_shape *const s = j->shape;
    if (s->scale == GROUPED_SCALE_BLOCK) return 128;
    return widest > 64 && s->b == GEMM_B_PRESHUFFLED && s->n % 128 ? 64 : widest;
}

/* depth_of: where K cannot be whole tiles of 256, it is of 128. */
static int depth_of(const job *j) { return j->shape->k % 256 ? 128 : 256; }

/* Rows as few as a group needs; in parts of K as many as the device has room for. */
static void narrow_tag(const job *j, int is_split, char out[TAG_BYTES]) {
    const int rows = j->rows <= 16 ? 16 : j->rows <= 32 ? 32 : 64, columns = columns_of(j, 64);
    const int parts = gemm_parts(j->chip, tiles(j, rows, columns), j->k);
    const int length = snprintf(out, TAG_BYTES, "t%dx%dx%d", rows, columns, depth_of(j));
    if (is_split && parts > 1) snprintf(out + length, TAG_BYTES - (size_t)length, "_sk%d", parts);
}

static void split_tag(const job *j, char out[TAG_BYTES]) { narrow_tag(j, 1, out); }
static void whole_tag(const job *j, char out[TAG_BYTES]) { narrow_tag(j, 0, out); }

/* Preshuffled B never enters LDS, so that wide tiles read A less often. 128 rows leave no registers for scales of
 * blocks, and without LDS DMA 64 are faster in the model. */
static void wide_tag(const job *j, char out[TAG_BYTES]) {
    const int rows = j->shape->scale == GROUPED_SCALE_ROW && gemm_has_dma(j->chip) ? 128 : 64;
    tall_tag(j, rows, 256, "", out);
}

/* Four waves in a square read less of plain B from LDS than four in a row, and hold fewer scales of blocks. */
static void default_tag(const job *j, char out[TAG_BYTES]) {
    const int is_square = j->shape->b == GEMM_B_PLAIN || j->shape->scale == GROUPED_SCALE_BLOCK;
    tall_tag(j, 128, columns_of(j, 128), is_square ? "_wm2" : "", out);
}
static void small_tag(const job *j, char out[TAG_BYTES]) {
    snprintf(out, TAG_BYTES, "t64x%dx128_cs", columns_of(j, 128));
}

/* Rows that hold are tried in order. */
static const struct {
    int (*holds)(const job *j);
    void (*tag)(const job *j, char out[TAG_BYTES]);
} routes[] = {
    {is_starved, split_tag}, {is_starved, whole_tag}, {is_wide, wide_tag}, {always, default_tag}, {always, small_tag}};
enum { ROUTES = sizeof routes / sizeof routes[0] };
_Static_assert(ROUTES <= (int)GEMM_FOUND_MAX, "choices");

cdnagen_status grouped_route(const target *t, const void *shape, int rank, void *variant) {
    const grouped_shape *const given = shape;
    const struct {
        const char *name;
        int64_t value;
    } words[] = {{"groups", given->groups}, {"m", given->m}, {"n", given->n}, {"k", given->k}};
    for (int i = 0; i < 4; i++)
        if (words[i].value < 0)
            return fail(CDNAGEN_BAD_SHAPE,
                        "gemm_grouped: auto chooses by groups, m, n and k, and %s is missing: give all four",
                        words[i].name);
    const job j = job_of(t, given);
    gemm_search s = {.family = &gemm_grouped_family, .target = t, .shape = given, .rank = rank};
    cdnagen_status status = CDNAGEN_OK;
    for (int i = 0; i < ROUTES && !status && gemm_search_goes_on(&s); i++) {
        char body[TAG_BYTES];
        grouped_variant v;
        if (!routes[i].holds(&j)) continue;
        routes[i].tag(&j, body);
        status = gemm_search_parse(&s, body, &v);
        if (!status) gemm_search_add(&s, &v);
    }
    return gemm_search_end(&s, status, variant);
}
