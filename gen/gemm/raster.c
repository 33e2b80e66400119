/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The maps from workgroup to tile, and the model of L2 by which they are compared. */
#include "gen/gemm/raster.h"

#include "core/integer.h"
#include "core/memory.h"

/* along: tiles in bands of `width` lines, across a band first. `length` is a line's, `lines` how many there are. */
static void along(int64_t place, int64_t width, int64_t lines, int64_t length, int64_t *line, int64_t *at) {
    const int64_t band = width * length, first = place / band * width, here = smaller(lines - first, width);
    const int64_t inside = place % band;
    *line = first + inside % here;
    *at = inside / here;
}

raster_tile raster_map(const raster *r, int64_t tiles_m, int64_t tiles_n, int xcds, int64_t id) {
    const int chunked = r->chunked || r->group || r->panel;
    const int64_t place = chunked ? raster_chunk(id, tiles_m * tiles_n, xcds) : id;
    raster_tile t;
    if (r->group)
        along(place, r->group, tiles_m, tiles_n, &t.m, &t.n);
    else
        along(place, r->panel ? r->panel : 1, tiles_n, tiles_m, &t.n, &t.m);
    return t;
}

/* ---- L2 ---- */

/* line: a row of A or a column of B in the order of their last use, as a ring through lines[0]. */
typedef struct line {
    int32_t older, newer;
    int8_t cached;
} line;

typedef struct lru {
    line *lines; /* [1 + tiles_m + tiles_n] */
    const raster_grid *grid;
    int64_t bytes, fills;
} lru;

static int64_t bytes_of(const lru *l, int32_t which) {
    return which <= l->grid->tiles_m ? l->grid->row_bytes : l->grid->column_bytes;
}

static void unlink_line(lru *l, int32_t which) {
    line *const at = &l->lines[which];
    l->lines[at->older].newer = at->newer;
    l->lines[at->newer].older = at->older;
}

static void use(lru *l, int32_t which) {
    line *const at = &l->lines[which], *const ring = &l->lines[0];
    if (at->cached) {
        unlink_line(l, which);
    } else {
        at->cached = 1;
        l->bytes += bytes_of(l, which);
        l->fills += bytes_of(l, which);
    }
    at->older = ring->older;
    at->newer = 0;
    l->lines[ring->older].newer = which;
    ring->older = which;
}

static void evict(lru *l) {
    while (l->bytes > l->grid->l2_bytes) {
        const int32_t oldest = l->lines[0].newer;
        unlink_line(l, oldest);
        l->lines[oldest].cached = 0;
        l->bytes -= bytes_of(l, oldest);
    }
}

cdnagen_status raster_fills(const raster_grid *g, const raster *r, int64_t *fills) {
    const int64_t count = g->tiles_m * g->tiles_n;
    const size_t lines = (size_t)(1 + g->tiles_m + g->tiles_n);
    lru l = {.lines = mem_alloc(lines * sizeof(line)), .grid = g};
    if (!l.lines) return fail_no_memory();
    for (int xcd = 0; xcd < g->xcds; xcd++) {
        l.bytes = 0;
        for (size_t i = 0; i < lines; i++) l.lines[i] = (line){0};
        int running = 0;
        for (int64_t id = xcd; id < count; id += g->xcds) {
            const raster_tile t = raster_map(r, g->tiles_m, g->tiles_n, g->xcds, id);
            use(&l, (int32_t)(1 + t.m));
            use(&l, (int32_t)(1 + g->tiles_m + t.n));
            if (++running < g->resident) continue;
            evict(&l);
            running = 0;
        }
    }
    mem_free(l.lines);
    *fills = l.fills;
    return CDNAGEN_OK;
}
