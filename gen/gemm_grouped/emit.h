/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the emitters of the grouped GEMM share. */
#ifndef GEN_GEMM_GROUPED_EMIT_H
#define GEN_GEMM_GROUPED_EMIT_H

#include "gen/gemm/emit_gemm.h"
#include "gen/gemm_grouped/gemm_grouped.h"

/* grouped: the kernel as a whole. */
typedef struct grouped {
    ir *e;
    const grouped_variant *v;
    const grouped_shape *s;
    const grouped_traits *layout;
    gemm_geometry g;
    gemm frame;
    val groups, m, n, k;
    val tiles_m, tiles_n;           /* of the grid */
    val tile, tile_m, tile_n, slab; /* the workgroup's: its number in the grid's x, which tile it computes */
} grouped;

/* grouped_range: rows, columns or K of one group: `index` is which, all I32 and uniform. Whatever the metadata say,
 * ranges lie one after the other in [0, total): no group reads or writes another's. */
typedef struct grouped_range {
    val index, begin, end;
    val first_tile; /* tiles that the groups before it take */
    val tiles;      /* that all groups take, where none has the tile that was looked for; else fewer */
    val exists;     /* I1 */
} grouped_range;

/* grouped_first_entries: the metadata of the first groups, one in each lane.
 * grouped_range_at: with these, the group that tile number `tile_index` belongs to, when group after group takes as
 * many tiles of 2^tile_bits as it needs.
 * grouped_range_of: group `index`'s range, given by ends.   grouped_range_of_slab: the first rows of a slab. */
val grouped_first_entries(grouped *k);
grouped_range grouped_range_at(grouped *k, val entries, val tile_index, val total, int tile_bits);
grouped_range grouped_range_of(grouped *k, val index, val total);
grouped_range grouped_range_of_slab(grouped *k, val index, val rows);

void gemm_grouped_emit(ir *e, const plan *p);

#endif
