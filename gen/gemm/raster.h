/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which tile a workgroup computes, and what that order costs in L2 fills. Pure functions: the kernels compute the same
 * maps in scalar registers. */
#ifndef GEN_GEMM_RASTER_H
#define GEN_GEMM_RASTER_H

#include <stdint.h>

#include "core/status.h"

/* raster: an order of the tiles. All zero: down one column of tiles after another. The hardware gives workgroup id to
 * XCD id % xcds; `chunked` orders give each XCD a run of consecutive tiles instead. group, panel: chunked too, and
 * `group` tile rows (`panel` tile columns) are walked together.
 * source: gen/gemm_blockscale/README.md, "Raster" */
typedef struct raster {
    int64_t group, panel; /* at most one */
    int chunked;
} raster;

typedef struct raster_tile {
    int64_t m, n; /* tile row and tile column */
} raster_tile;

/* raster_chunk: the place of workgroup `id` of `count` when each of `xcds` XCDs has consecutive places. */
static inline int64_t raster_chunk(int64_t id, int64_t count, int xcds) {
    const int64_t share = count / xcds, more = count % xcds, xcd = id % xcds;
    return xcd * share + (xcd < more ? xcd : more) + id / xcds;
}

/* raster_map: the tile of workgroup `id` in [0, tiles_m * tiles_n); a bijection for every grid. */
raster_tile raster_map(const raster *r, int64_t tiles_m, int64_t tiles_n, int xcds, int64_t id);

/* raster_grid: what the model of L2 needs to know.   units: bytes */
typedef struct raster_grid {
    int64_t tiles_m, tiles_n;
    int64_t row_bytes, column_bytes; /* of A for a row of tiles, of B for a column */
    int64_t l2_bytes;                /* of one XCD */
    int xcds;
    int resident; /* workgroups that run at the same time on one XCD */
} raster_grid;

/* raster_fills: bytes that all L2s together load. A model: the workgroups of an XCD run `resident` at a time, those of
 * one round share what they read, and between rounds an L2 keeps the rows and columns read last.
 * units: bytes
 * errors: NO_MEMORY */
cdnagen_status raster_fills(const raster_grid *g, const raster *r, int64_t *fills);

#endif
