/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the emitters of MQA logits share: the kernel's frame, its rows, and what is done with one tile's products. */
#ifndef GEN_MQA_LOGITS_EMIT_H
#define GEN_MQA_LOGITS_EMIT_H

#include "gen/mqa_logits/mqa_logits.h"
#include "ir/ir.h"

enum { MQA_WEIGHTS_MAX = 64, MQA_GROUP_MAX = 4 };

/* mqa_row: one query row of a wave: its window, its operands in registers, and where its logits go. */
typedef struct mqa_row {
    val row;        /* clamped to seq - 1: what loads use */
    val exists;     /* I1: not past the end */
    val start, end; /* window; [seq_kv, 0) for a row that has none */
    tile q;         /* heads x dim, 0 in what pads both */
    /* For each element of the sums tile, in its order, times what makes up for e_twice_relu and for FN operands that
     * are read as FNUZ. */
    val weights[MQA_WEIGHTS_MAX];
    ptr logits;    /* column 0 */
    buffer window; /* columns [start, end) of logits: a store outside is dropped */
} mqa_row;

typedef struct mqa {
    ir *e;
    const mqa_variant *v;
    const mqa_shape *s;
    mqa_geometry g;
    const atom *atom;
    val thread, lane, wave; /* wave is uniform */
    val silent;             /* one lane a column stores: others have the bit that takes an offset beyond any window */
    val seq, seq_kv, splits, split;
    val q_stride, q_head_stride, kv_stride, weights_stride, logits_stride; /* I64, elements */
    val begin, tiles; /* first column and number of tiles of this workgroup's part */
    val tile_step;    /* I64, elements of KV from one tile to the next */
    buffer scales;    /* all of kv_scales */
    int row_count;    /* rows a wave owns */
    mqa_row rows[MQA_ROWS_MAX];
} mqa;

/* mqa_item: one query row against one n-tile, or with ct that part of its heads. */
typedef struct mqa_item {
    int row, n_tile, part;
    val poison; /* if given, added to the lane's head sum: NaN where its key bytes have one that the MFMA cannot see */
} mqa_item;

/* mqa_kv_from: where column `col` of KV is; a 64-bit product, so loops go on from there by tile_step. mqa_kv_tile: what
 * of the tile that begins at column `col`, which is there, lies before seq_kv. */
ptr mqa_kv_from(mqa *m, val col);
buffer mqa_kv_tile(mqa *m, ptr there, val col);

/* mqa_products: of one item. */
tile mqa_products(mqa *m, mqa_item item, const tile *kv);
/* mqa_tile: logits of all rows for the columns of `kv`, the first of which is `col`; `first` are the products of its
 * first item, `scales` belong to the lanes that store, one for each group of n-tiles. */
void mqa_tile(mqa *m, const tile *kv, const tile *first, const val *scales, val col);
/* mqa_consume: the head sums of one item, from its products; with the last item of its row's group the group's logits
 * are stored. `group` keeps the row's head sums until then. */
void mqa_consume(mqa *m, const tile *sums, mqa_item item, val *group, const val *scales, val col);
/* mqa_step: the products of item `next`, which are returned, beside mqa_consume of item `done`. */
tile mqa_step(mqa *m, mqa_item next, const tile *kv, const tile *sums, mqa_item done, val *group, const val *scales,
              val col);
/* mqa_interleave: asks the scheduler for the products of one item, one by one, between equal parts of the arithmetic on
 * another. */
void mqa_interleave(mqa *m);

void mqa_emit_direct(mqa *m);
void mqa_emit_lds(mqa *m);
void mqa_logits_emit(ir *e, const plan *p);

#endif
