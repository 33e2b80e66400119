/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the cores of the FP8 matrix products share: one tile of C = A B^T as a workgroup sees it, and the verbs on it.
 *
 * A [m, k] and B [n, k] have K along their rows. The atoms compute C transposed: B gives their rows and A their
 * columns, so that a lane holds four neighbouring columns of one row of C: a store of 8 bytes, and one scale of A for
 * all of them. */
#ifndef GEN_GEMM_EMIT_GEMM_H
#define GEN_GEMM_EMIT_GEMM_H

#include "gen/family.h"
#include "gen/gemm/gemm.h"
#include "gen/gemm/raster.h"
#include "gen/gemm/tiling.h"
#include "ir/ir.h"

enum {
    GEMM_CHUNK = 16,           /* bytes along K that a lane moves at once */
    GEMM_ATOMS_MAX = 16,       /* atoms of a wave along M or along N */
    GEMM_SUMS_MAX = 64,        /* atoms of a wave */
    GEMM_CHUNKS_MAX = 16,      /* chunks of a K tile in one row */
    GEMM_ROUNDS_MAX = 32,      /* chunks of a K tile that a thread stages */
    GEMM_LANE_COLUMNS_MAX = 16 /* of an atom's sums in a lane */
};

/* gemm_operand: A or B of the tile, from its first row and the part's first K on. */
typedef struct gemm_operand {
    buffer from; /* ends with the last row that exists: rows past it read as 0. An empty one reads as 0 altogether */
    val stride;  /* I32, bytes from row to row; preshuffled: from 16 rows to the next 16 */
    int rows;    /* bm or bn */
    int preshuffled; /* (16,16): chunk c of 16 rows is 256 bytes, c * 256 bytes in */
    int from_fn;     /* E4M3FN for a matrix unit that reads E4M3FNUZ: half as much, which the scales make good */
} gemm_operand;

/* gemm_scales: scales of A or B, from the scale of the tile's first row and the part's first K block on. */
typedef struct gemm_scales {
    buffer from;
    val row_stride,
        k_stride; /* I32, bytes: from one row's (block of rows') scale to the next, from K block to K block */
    int rows;     /* of the operand that share a scale: 1 or 128 */
    val skipped;  /* I32, uniform: rows of the first block of 128 that lie before the tile */
    int uniform;  /* rows = 128, and all that a wave owns lie in one block */
    gemm_scale_type type;
} gemm_scales;

typedef enum gemm_scaling {
    GEMM_PROMOTE, /* each block of 128 K is summed from 0, then added to the wave's sums with its scale, in f32 */
    GEMM_CHAIN,   /* the sums run through all of K and get the last block's scales at the end */
    GEMM_MFMA,    /* ue8m0 scales that the MFMA takes; the sums run through all of K */
    GEMM_ROWS     /* scales of rows and columns, f32, k_stride 0: the sums run through all of K. 4w only */
} gemm_scaling;

/* gemm: one tile of C. What is not a val is known when the kernel is made. */
typedef struct gemm {
    ir *e;
    const atom *atom;
    int bm, bn, bk;
    int threads, waves_m, waves_n;
    int k_tail, n_tail; /* 1 = k (columns) may be any; 0 = whole tiles */
    int n_quads;        /* columns are a multiple of 4; of a quad that they cut nothing is stored */
    int unroll;         /* K is exactly so many tiles, without a loop; 0 = a loop */
    int cshuffle, async;
    int one_slot;                     /* 4w: of LDS, for a K tile; without LDS DMA */
    int promote_every, promote_delay; /* atoms that are promoted together, of which a wave has a multiple; groups of
                                         them that MFMA runs ahead */
    int turn; /* 8w: quarters of a K tile that four waves multiply while the other four load; 0 = no turns */
    gemm_scaling scaling;
    gemm_ablation ablation;
    gemm_out out;
    lds arena; /* K tiles, then C on its way out (cshuffle) */

    val thread, lane, wave, wave_m, wave_n; /* waves: uniform */
    gemm_operand a, b;
    gemm_scales a_scales, b_scales;
    val k, k_tiles; /* I32, uniform: elements of K in this part, and tiles of bk that hold them, at least 1 */
    buffer c;       /* from the tile's first row and column on, to the last row's last column */
    val c_stride;   /* I32, bytes */
    val columns;    /* I32, uniform: of C from the tile's first on; may be more than bn */
} gemm;

/* ---- which tile ---- */

/* gemm_place_of: raster_map's tile of workgroup `id`, which is less than tiles_m * tiles_n: all I32 and uniform. */
typedef struct gemm_place {
    val m, n; /* tile row and tile column */
} gemm_place;
gemm_place gemm_place_of(ir *e, const raster *r, val id, val tiles_m, val tiles_n);

/* ---- matrices ---- */

/* gemm_element: of a matrix, row * stride + column in 64 bits (rows I64).
 * gemm_span: I32, (rows - 1) * stride + length, or 0 where there is no row or no length. */
ptr gemm_element(ir *e, ptr base, val row, val stride, val column);
val gemm_span(ir *e, val rows, val stride, val length);

/* gemm_frame: a kernel's frame with its tile, threads and LDS.   gemm_begin: thread, lane and waves of a frame whose
 * constants are set. */
gemm gemm_frame(ir *e, const gemm_geometry *g);
void gemm_begin(gemm *g);
/* gemm_silent: `at` where `kept` (I1) holds, else an offset past any extent: buffers of a gemm have less than 2^31
 * bytes. */
val gemm_silent(gemm *g, val at, val kept);

/* ---- operands ---- */

/* gemm_chunk_at: byte of memory at which chunk `chunk` of a row (both I32) begins. */
val gemm_chunk_at(gemm *g, const gemm_operand *of, val row, val chunk);

/* gemm_stage: how the workgroup's threads bring rows [first, first + rows) of an operand's K tiles into LDS, not of a
 * preshuffled one. Chunk c of
 * row r lies at r * bk + 16 * (c ^ (r % (bk / 16))): LDS reads of the atoms have no bank conflicts. */
typedef struct gemm_stage {
    const gemm_operand *of;
    int rounds, threads;    /* `threads` of the workgroup take part, in whole waves */
    val source, dma_source; /* round 0's byte in memory; DMA swizzles on the memory side */
    val round_stride;       /* I32, uniform: bytes of memory from one round to the next */
    val place;              /* round 0's byte in LDS, from the tile's place on */
    int place_stride;
} gemm_stage;
gemm_stage gemm_stage_of(gemm *g, const gemm_operand *of, int first, int rows);
/* gemm_tile_begin: I32, uniform: byte of a row at which a K tile begins; past any extent for tiles past the last one.
 * gemm_fetch: a round, of stage->rounds, of the K tile that begins there, into registers: one load. gemm_put: all
 * rounds from there to LDS from byte `at` on. gemm_dma: a round without registers, one DMA. Past any extent nothing is
 * read and 0 comes, but threads that take no part may read anything of the operand; what the last tile has behind k is
 * whatever memory has there. */
val gemm_tile_begin(gemm *g, val tile_index);
val gemm_fetch(gemm *g, const gemm_stage *stage, val begin, int round);
void gemm_put(gemm *g, const gemm_stage *stage, const val *chunks, val at);
void gemm_dma(gemm *g, const gemm_stage *stage, val begin, val at, int round);

/* gemm_chunks: chunks of a lane in a fragment of 128 K. gemm_lds_lane: the lane's byte, in a staged tile, of chunk `u`
 * of K block `k_block` in row 0's fragment; a fragment 16 (or 32) rows on is a constant further.
 * gemm_fragment: chunks -> values of fragment i of a tile of 128 K. */
int gemm_chunks(const gemm *g);
val gemm_lds_lane(gemm *g, int k_block, int u);
void gemm_fragment(gemm *g, tile *t, int i, const val *chunks);
/* gemm_fragment_from_fn: fragment i of an operand of from_fn, as it came from memory; not where its loads have just
 * been issued. What gemm_put brings to LDS is converted there.
 * gemm_mask_fragment: of fragment i the K elements from the `left`-th (I32, uniform) on become 0. */
void gemm_fragment_from_fn(gemm *g, tile *t, int i);
void gemm_mask_fragment(gemm *g, tile *t, int i, val left);
/* gemm_read: fragment of 128 K from LDS; lanes[u] are gemm_lds_lane's plus the tile's place. */
void gemm_read(gemm *g, tile *t, int i, lds from, const val *lanes, int fixed);
/* gemm_load_b: fragment of 128 K of preshuffled B, straight from memory: K block `k_block` of a K tile; `rows` I32 is
 * uniform: the byte at which the fragment's rows begin (row / 16 * stride). Issues gemm_chunks loads. */
void gemm_load_b(gemm *g, tile *t, int i, val rows, val tile_index, int k_block);

/* ---- scales ---- */

/* gemm_sums: what a wave owns of C, atom (i, j) in v[i * n_atoms + j]. */
typedef struct gemm_sums {
    int m_atoms, n_atoms;
    val row, column;                                   /* I32, uniform: where the wave's part begins in the tile */
    int rows[GEMM_ATOMS_MAX], columns[GEMM_ATOMS_MAX]; /* and atom (i, j) from there */
    val v[GEMM_SUMS_MAX];
} gemm_sums;

/* gemm_has_scales: they are loaded; else they are constants. */
static inline int gemm_has_scales(const gemm *g) { return g->ablation != GEMM_NO_SCALES && g->ablation != GEMM_PLAIN; }
/* gemm_scale_at: byte of the scale of a row of the tile. gemm_scale: that scale for a K block of the part as it lies in
 * memory, F32 or a byte in an I32; 0 for a block of the last K tile that begins at k or later. One load.
 * gemm_scale_f32: its value; not where the load has just been issued. */
val gemm_scale_at(gemm *g, const gemm_scales *s, val row);
val gemm_scale(gemm *g, const gemm_scales *s, val at, val k_block);
val gemm_scale_f32(gemm *g, const gemm_scales *s, val scale);
/* gemm_scale_places: bytes of the scales that a wave needs of each K block: of A's atoms and of B's, one where a side
 * is uniform; of an atom of B those of the lane's columns, or as an MFMA takes them that of its row. */
typedef struct gemm_scale_places {
    int a_count, b_count, lane_columns;
    val a[GEMM_ATOMS_MAX], b[GEMM_ATOMS_MAX][GEMM_LANE_COLUMNS_MAX];
} gemm_scale_places;
gemm_scale_places gemm_place_scales(gemm *g, const gemm_sums *sums);

/* gemm_block_scales: of a K block, for the atoms of A and of B; B's vectors where a lane has several columns.
 * gemm_load_scales: as they lie in memory, as many as there are places.
 * gemm_factors: what they mean for the sums, one for each atom; not where the loads have just been issued.
 * gemm_factor: of atom (i, j): one, or one a column. */
typedef struct gemm_block_scales {
    val a[GEMM_ATOMS_MAX], b[GEMM_ATOMS_MAX];
} gemm_block_scales;
gemm_block_scales gemm_load_scales(gemm *g, const gemm_scale_places *at, val k_block);
gemm_block_scales gemm_factors(gemm *g, const gemm_scale_places *at, const gemm_block_scales *loaded,
                               const gemm_sums *sums);
val gemm_factor(gemm *g, const gemm_block_scales *factors, int i, int j);

/* gemm_scaled: sums of an atom times a scale, F32 or one for each of the lane's columns. gemm_promoted: sum + part *
 * scale. */
val gemm_scaled(gemm *g, val sums, val scale);
val gemm_promoted(gemm *g, val part, val scale, val sum);

/* ---- sums and C ---- */

/* gemm_lane_row, gemm_lane_column: of an atom's sums, the lane's row and its first column. */
val gemm_lane_row(gemm *g);
val gemm_lane_column(gemm *g);
/* gemm_store: sums -> C in the output's type. LDS is free to use: all waves have passed a barrier since its last
 * use. */
void gemm_store(gemm *g, const gemm_sums *sums);

/* gemm_split: a launch whose parts of K meet in the workspace: u32 arrival counters of all tiles, up to the next
 * multiple of GEMM_WORKSPACE_ALIGN bytes, then f32 sums [part][tile][bm * bn].
 * gemm_reduce: this part's sums into the workspace; the workgroup that arrives last at the tile adds all parts in their
 * order, stores, and leaves the tile's counter as it was. */
typedef struct gemm_split {
    val workspace; /* pointer */
    val tiles;     /* I64, of the launch */
    val tile;      /* I32, uniform: which one this is */
    val part;      /* I32, uniform */
    int parts;
} gemm_split;
void gemm_reduce(gemm *g, const gemm_split *of, const gemm_sums *sums);

/* ---- cores ---- */

/* gemm_4w: 4 waves; preshuffled B straight into registers, A and plain B through LDS. */
gemm_sums gemm_4w(gemm *g);
/* gemm_8w: 8 waves, A and B through LDS by DMA, halves of a K tile of 128 at a time. Atom 16x16x128; what a wave owns
 * of the columns lies in one block of those that share a scale of B.   source: README.md of gen/gemm_blockscale */
gemm_sums gemm_8w(gemm *g);

#endif
