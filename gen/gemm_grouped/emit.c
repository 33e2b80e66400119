/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kernel's frame: which group's tile a workgroup has, where its matrices begin, and what becomes of rows without
 * values. */
#include "core/integer.h"
#include "gen/gemm_grouped/emit.h"

enum { SCALE_BYTES = 4, OUT_BYTES = 2, QUAD = 4 };

/* tile: one tile of C and what it is computed from: rows (of the matrices as stored) are I64, lengths I32 and
 * uniform. */
typedef struct tile_part {
    val exists;                      /* I1 */
    val a_row, rows, b_row, columns; /* columns: of the group from the tile's first on, may be more than bn */
    val k, length;
    val c_row, c_column;
    val a_scale, b_scale, scale_rows; /* grouped_part's, from the tile's first row and column on */
    val slab_rows;                    /* of C from the tile's first on, up to bm: those past `rows` are padding */
} tile_part;

/* ---- which tile ---- */

/* Row `row` of slab `index`, of `rows` rows each. */
static val in_slab(grouped *k, val index, val rows, val row) {
    ir *const e = k->e;
    const val slab = e_sext(e, index), begin = e_mul(e, slab, e_sext(e, rows));
    return e_add(e, begin, e_sext(e, row));
}

static grouped_range range_of(grouped *k) {
    switch (k->layout->cuts) {
    case GROUPED_CUTS_ROWS: return grouped_range_at(k, grouped_first_entries(k), k->tile_m, k->m, log2_of(k->g.bm));
    case GROUPED_CUTS_COLUMNS: return grouped_range_at(k, grouped_first_entries(k), k->tile_n, k->n, log2_of(k->g.bn));
    case GROUPED_CUTS_K: return grouped_range_of(k, k->slab, k->k);
    case GROUPED_CUTS_NOTHING: break;
    }
    return grouped_range_of_slab(k, k->slab, k->m);
}

/* The raster runs through rows of tiles that have a group, so that every XCD has as many. How many there are is known
 * behind a first pass through the groups, which looks for no tile; a second one, by the same code, finds whose tile it
 * is that the raster gives. Workgroups past the last tile look for a row that no group has. */
static grouped_range tile_of_cut_rows(grouped *k, const raster *order) {
    ir *const e = k->e;
    const val zero = e_i32(e, 0), none = e_i32(e, INT32_MAX), entries = grouped_first_entries(k);
    grouped_range r = {zero, zero, zero, zero, zero, e_zero(e, I1)};
    k->tile_m = none;
    k->tile_n = zero;
    E_FOR(pass, e, zero, e_i32(e, 2), e_i32(e, 1), &k->tile_m, &k->tile_n, &r.index, &r.begin, &r.end, &r.first_tile,
          &r.exists) {
        const val is_first = e_equal(e, pass, zero);
        r = grouped_range_at(k, entries, k->tile_m, k->m, log2_of(k->g.bm));
        const val has_tile = e_less(e, k->tile, e_mul(e, r.tiles, k->tiles_n)), one = e_i32(e, 1);
        const val id = e_select(e, has_tile, k->tile, zero), rows = e_max(e, r.tiles, one);
        const gemm_place at = gemm_place_of(e, order, id, rows, k->tiles_n);
        k->tile_m = e_select(e, is_first, e_select(e, has_tile, at.m, none), k->tile_m);
        k->tile_n = e_select(e, is_first, at.n, k->tile_n);
    }
    return r;
}

/* First scales of the tile. In blocks a group's lie together, K block after K block. */
static void place_scales(grouped *k, const grouped_range *r, tile_part *t, val row, val column) {
    ir *const e = k->e;
    const int a_is_cut = k->layout->cuts == GROUPED_CUTS_ROWS;
    t->scale_rows = a_is_cut ? e_sub(e, r->end, r->begin) : k->m;
    if (k->s->scale == GROUPED_SCALE_ROW) {
        t->a_scale = k->layout->cuts == GROUPED_CUTS_K ? t->c_row : t->a_row;
        t->b_scale = k->layout->cuts == GROUPED_CUTS_K ? in_slab(k, r->index, k->n, column) : t->b_row;
        return;
    }
    const val k_blocks = e_sext(e, e_shr(e, k->k, 7)), n_blocks = e_sext(e, e_shr(e, k->n, 7));
    const val group = e_sext(e, r->index),
              first_row = a_is_cut ? e_sext(e, r->begin) : e_mul(e, group, e_sext(e, k->m));
    const val block = e_mul(e, first_row, k_blocks);
    t->a_scale = e_add(e, block, e_sext(e, row));
    const val blocks = e_mul(e, e_mul(e, group, k_blocks), n_blocks);
    t->b_scale = e_add(e, blocks, e_sext(e, e_shr(e, column, 7)));
}

static tile_part part_of(grouped *k, const grouped_range *r) {
    ir *const e = k->e;
    const grouped_cut cuts = k->layout->cuts;
    tile_part t = {.k = e_i32(e, 0), .length = k->k, .exists = r->exists};
    val tile_m = k->tile_m, tile_n = k->tile_n;
    if (cuts == GROUPED_CUTS_ROWS) tile_m = e_sub(e, tile_m, r->first_tile);
    if (cuts == GROUPED_CUTS_COLUMNS) tile_n = e_sub(e, tile_n, r->first_tile);
    const val row = e_muli(e, tile_m, k->g.bm), column = e_muli(e, tile_n, k->g.bn), bm = e_i32(e, k->g.bm);
    t.slab_rows = e_min(e, e_sub(e, k->m, row), bm);
    t.rows = t.slab_rows;
    t.columns = e_sub(e, k->n, column);
    t.a_row = in_slab(k, r->index, k->m, row);
    t.b_row = in_slab(k, r->index, k->n, column);
    t.c_row = t.a_row;
    t.c_column = column;
    switch (cuts) {
    case GROUPED_CUTS_ROWS:
        t.rows = e_min(e, e_sub(e, e_sub(e, r->end, r->begin), row), bm);
        t.a_row = t.c_row = e_sext(e, e_add(e, r->begin, row));
        break;
    case GROUPED_CUTS_COLUMNS:
        t.c_column = e_add(e, r->begin, column);
        t.b_row = e_sext(e, t.c_column);
        t.columns = e_sub(e, r->end, t.c_column);
        t.c_row = e_sext(e, row);
        break;
    case GROUPED_CUTS_K:
        t.a_row = e_sext(e, row);
        t.b_row = e_sext(e, column);
        t.k = r->begin;
        t.length = e_sub(e, r->end, r->begin);
        break;
    case GROUPED_CUTS_NOTHING:
        t.rows = e_min(e, e_sub(e, r->end, row), bm);
        t.exists = e_less(e, e_i32(e, 0), t.rows);
        break;
    }
    place_scales(k, r, &t, row, column);
    return t;
}

/* ---- its matrices ---- */

static ptr input(grouped *k, grouped_kernarg arg, type element) {
    return e_ptr(k->e, e_arg(k->e, (int)arg), element, 1);
}

/* Bounds are checked a word at a time: a row's end is that of its last word, but within the row. */
static val words(grouped *k, const tile_part *t) {
    ir *const e = k->e;
    if (k->layout->cuts != GROUPED_CUTS_K) return t->length;
    const val whole = e_align_down(e, e_addi(e, t->length, 3), 4);
    return e_min(e, whole, e_sub(e, k->k, t->k));
}

static gemm_operand a_operand(grouped *k, const tile_part *t) {
    ir *const e = k->e;
    const ptr begin = gemm_element(e, input(k, GROUPED_A, I8), t->a_row, e_sext(e, k->k), t->k);
    const val extent = gemm_span(e, t->rows, k->k, words(k, t));
    return (gemm_operand){.from = e_buffer_apart(e, begin, extent), .stride = k->k, .rows = k->g.bm};
}

static gemm_operand b_operand(grouped *k, const tile_part *t) {
    ir *const e = k->e;
    const ptr base = input(k, GROUPED_B, I8);
    const val rows = e_min(e, t->columns, e_i32(e, k->g.bn)), row_bytes = e_sext(e, k->k);
    if (k->s->b == GEMM_B_PLAIN) {
        const ptr begin = gemm_element(e, base, t->b_row, row_bytes, t->k);
        const val extent = gemm_span(e, rows, k->k, words(k, t));
        return (gemm_operand){.from = e_buffer_apart(e, begin, extent), .stride = k->k, .rows = k->g.bn};
    }
    const ptr begin = gemm_element(e, base, t->b_row, row_bytes, e_muli(e, t->k, GEMM_PACK_N));
    const val blocks = e_shr(e, rows, 4), stride = e_muli(e, k->k, GEMM_PACK_N);
    const val extent = gemm_span(e, blocks, stride, e_muli(e, t->length, GEMM_PACK_N));
    return (gemm_operand){
        .from = e_buffer_apart(e, begin, extent), .stride = stride, .rows = k->g.bn, .preshuffled = 1};
}

static ptr scales_from(grouped *k, grouped_kernarg arg, val first) {
    return e_ptr_add(k->e, input(k, arg, F32), first);
}

/* One scale a row of the operand. */
static gemm_scales row_scales(grouped *k, grouped_kernarg arg, val first, val rows) {
    ir *const e = k->e;
    const ptr begin = scales_from(k, arg, first);
    const buffer from = e_buffer_apart(e, begin, e_muli(e, rows, SCALE_BYTES));
    return (gemm_scales){.from = from,
                         .rows = 1,
                         .row_stride = e_i32(e, SCALE_BYTES),
                         .k_stride = e_i32(e, 0),
                         .skipped = e_i32(e, 0),
                         .type = GEMM_SCALES_F32};
}

/* K block after K block, `along` scales each, of which the tile needs `count`. */
static gemm_scales block_scales(grouped *k, const tile_part *t, grouped_kernarg arg, val along, val count) {
    ir *const e = k->e;
    const int is_a = arg == GROUPED_A_SCALES;
    const val before = e_sext(e, e_shr(e, t->k, 7)), skipped = e_mul(e, before, e_sext(e, along));
    const val first = e_add(e, is_a ? t->a_scale : t->b_scale, skipped), k_stride = e_muli(e, along, SCALE_BYTES);
    const val blocks = e_shr(e, e_addi(e, t->length, GEMM_SCALE_K - 1), 7);
    const val extent = gemm_span(e, blocks, k_stride, e_muli(e, count, SCALE_BYTES));
    return (gemm_scales){.from = e_buffer_apart(e, scales_from(k, arg, first), extent),
                         .rows = is_a ? 1 : GEMM_SCALE_K,
                         .row_stride = e_i32(e, SCALE_BYTES),
                         .k_stride = k_stride,
                         .skipped = e_i32(e, 0),
                         .uniform = !is_a,
                         .type = GEMM_SCALES_F32};
}

static void set_scales(grouped *k, const tile_part *t) {
    ir *const e = k->e;
    gemm *const g = &k->frame;
    const val columns = e_min(e, t->columns, e_i32(e, k->g.bn));
    if (k->s->scale == GROUPED_SCALE_ROW) {
        g->a_scales = row_scales(k, GROUPED_A_SCALES, t->a_scale, t->rows);
        g->b_scales = row_scales(k, GROUPED_B_SCALES, t->b_scale, columns);
        return;
    }
    g->a_scales = block_scales(k, t, GROUPED_A_SCALES, t->scale_rows, t->rows);
    const val n_blocks = e_shr(e, k->n, 7), count = e_shr(e, e_addi(e, columns, GEMM_SCALE_K - 1), 7);
    g->b_scales = block_scales(k, t, GROUPED_B_SCALES, n_blocks, count);
}

/* C from the tile's first row and column on, of so many rows. */
static buffer c_rows(grouped *k, const tile_part *t, val rows) {
    ir *const e = k->e;
    const ptr base = e_ptr(e, e_arg(e, GROUPED_C), I16, 0);
    const ptr begin = gemm_element(e, base, t->c_row, e_sext(e, k->n), t->c_column);
    return e_buffer(e, begin, gemm_span(e, rows, k->frame.c_stride, e_muli(e, t->columns, OUT_BYTES)));
}

/* ---- what is done with it ---- */

/* This workgroup's share of the group's K. */
static void take_split(grouped *k, tile_part *t, val split) {
    ir *const e = k->e;
    const val k_tiles = e_ceil_div(e, t->length, e_i32(e, k->g.bk));
    const val share = e_muli(e, e_ceil_div(e, k_tiles, e_i32(e, k->g.split_k)), k->g.bk);
    const val skipped = e_mul(e, share, split);
    t->length = e_max(e, e_min(e, e_sub(e, t->length, skipped), share), e_i32(e, 0));
    t->k = e_add(e, t->k, skipped);
}

static void compute(grouped *k, const tile_part *t, val split) {
    ir *const e = k->e;
    gemm *const g = &k->frame;
    g->a = a_operand(k, t);
    g->b = b_operand(k, t);
    const int reads_fnuz = e_target(e)->chip->fp8 == CDNAGEN_FP8_E4M3FNUZ;
    g->a.from_fn = reads_fnuz && k->s->a_fp8 == CDNAGEN_FP8_E4M3FN;
    g->b.from_fn = reads_fnuz && k->s->b_fp8 == CDNAGEN_FP8_E4M3FN;
    set_scales(k, t);
    g->k = t->length;
    g->k_tiles = e_max(e, e_shr(e, e_addi(e, t->length, k->g.bk - 1), log2_of(k->g.bk)), e_i32(e, 1));
    g->c = c_rows(k, t, t->rows);
    g->columns = t->columns;
    const gemm_sums sums = gemm_4w(g);
    if (k->g.split_k == 1) {
        gemm_store(g, &sums);
        return;
    }
    const val slab_tiles = e_mul(e, k->tiles_m, k->tiles_n), tiles_before = e_mul(e, k->slab, slab_tiles);
    gemm_split of = {.workspace = e_arg(e, GROUPED_WORKSPACE), .part = split, .parts = k->g.split_k};
    of.tile = e_add(e, tiles_before, k->tile);
    of.tiles = e_sext(e, slab_tiles);
    if (k->layout->c_slabs) of.tiles = e_mul(e, of.tiles, e_sext(e, k->groups));
    gemm_reduce(g, &of, &sums);
}

/* Rows [first, last) of the tile become 0. */
static void zero_rows(grouped *k, const tile_part *t, val first, val last) {
    ir *const e = k->e;
    gemm *const g = &k->frame;
    const int row_quads = k->g.bn / QUAD, rows_at_once = g->threads / row_quads;
    const buffer c = c_rows(k, t, last);
    const val row = e_shr(e, g->thread, log2_of(row_quads));
    const val column = e_muli(e, e_and(e, g->thread, e_i32(e, row_quads - 1)), QUAD);
    const val exists = e_not(e, e_less(e, t->columns, e_addi(e, column, QUAD)));
    const val begin = e_mul(e, row, g->c_stride), at = e_add(e, begin, e_muli(e, column, OUT_BYTES));
    const val lane = gemm_silent(g, at, exists);
    E_FOR0(r, e, first, last, e_i32(e, rows_at_once)) {
        const val to = e_add(e, lane, e_mul(e, r, g->c_stride));
        e_buffer_store(e, c, e_zero(e, VEC(2, I32)), to, 0);
    }
}

static void work(grouped *k, tile_part *t) {
    ir *const e = k->e;
    const int is_split = k->g.split_k > 1;
    const val split = is_split ? e_workgroup(e, 1) : e_i32(e, 0);
    const val is_first = e_equal(e, split, e_i32(e, 0)), zero = e_i32(e, 0);
    tile_part own = *t;
    if (is_split) take_split(k, &own, split);
    if (k->s->layout == GROUPED_BATCHED) {
        compute(k, &own, split);
        return;
    }
    E_IF(e, t->exists) compute(k, &own, split);
    if (k->s->layout == GROUPED_PADDED) {
        const val fills = e_equal(e, e_arg(e, GROUPED_ZERO), e_i32(e, 1));
        E_IF(e, e_and(e, fills, is_first)) zero_rows(k, t, e_max(e, t->rows, zero), t->slab_rows);
    }
    if (k->s->layout == GROUPED_K_OFFSETS && k->s->empty_k == GROUPED_EMPTY_K_ZERO)
        E_IF(e, e_and(e, e_not(e, t->exists), is_first)) zero_rows(k, t, zero, t->slab_rows);
}

/* ---- the kernel ---- */

/* Scales of rows are applied once, at the end: without them the sums are chained all the same. */
static gemm_scaling scaling_of(const grouped *k) {
    const int64_t left_out = k->v->ablation;
    if (k->s->scale == GROUPED_SCALE_ROW)
        return left_out == GEMM_NO_SCALES || left_out == GEMM_PLAIN ? GEMM_CHAIN : GEMM_ROWS;
    const int is_chained = left_out == GEMM_TWIN || left_out == GEMM_NO_PROMOTE || left_out == GEMM_PLAIN;
    return is_chained ? GEMM_CHAIN : GEMM_PROMOTE;
}

static gemm frame(const grouped *k) {
    const grouped_variant *const v = k->v;
    gemm f = gemm_frame(k->e, &k->g);
    f.k_tail = (int)k->s->k_tail;
    f.n_tail = (int)k->s->n_tail;
    f.n_quads = 1;
    f.unroll = (int)v->unroll;
    f.cshuffle = (int)v->cshuffle;
    f.async = (int)v->async;
    f.one_slot = grouped_tiling_of(v, k->s).one_slot;
    f.scaling = scaling_of(k);
    f.ablation = (gemm_ablation)v->ablation;
    f.promote_every = k->g.m_atoms; /* a column, behind the MFMA of the next one */
    f.promote_delay = 1;
    f.out = (gemm_out)k->s->out;
    return f;
}

/* Tiles along an axis that has `length`: whole ones and a tail, or floor(length / tile) + groups where groups cut
 * it. */
static val tiles_along(grouped *k, grouped_cut axis, val length, int tile_length) {
    ir *const e = k->e;
    const int bits = log2_of(tile_length);
    if (k->layout->cuts == axis) return e_add(e, e_shr(e, length, bits), k->groups);
    return e_shr(e, e_addi(e, length, tile_length - 1), bits);
}

/* Row after row, or by the raster. */
static grouped_range choose_tile(grouped *k) {
    ir *const e = k->e;
    const raster order = {.group = k->v->group};
    if (order.group && k->layout->cuts == GROUPED_CUTS_ROWS) return tile_of_cut_rows(k, &order);
    if (order.group) {
        const gemm_place at = gemm_place_of(e, &order, k->tile, k->tiles_m, k->tiles_n);
        k->tile_m = at.m;
        k->tile_n = at.n;
    } else {
        k->tile_m = e_uniform(e, e_udiv(e, k->tile, k->tiles_n));
        k->tile_n = e_sub(e, k->tile, e_mul(e, k->tile_m, k->tiles_n));
    }
    return range_of(k);
}

void gemm_grouped_emit(ir *e, const plan *p) {
    grouped k = {.e = e, .v = (const grouped_variant *)p->variant, .s = (const grouped_shape *)p->shape};
    k.layout = &grouped_layouts[k.s->layout];
    k.g = grouped_geometry_of(k.v, k.s);
    k.groups = e_arg(e, GROUPED_GROUPS);
    k.m = e_arg(e, GROUPED_M);
    k.n = e_arg(e, GROUPED_N);
    k.k = e_arg(e, GROUPED_K);
    k.frame = frame(&k);
    gemm_begin(&k.frame);
    k.frame.c_stride = e_muli(e, k.n, OUT_BYTES);
    k.tiles_m = tiles_along(&k, GROUPED_CUTS_ROWS, k.m, k.g.bm);
    k.tiles_n = tiles_along(&k, GROUPED_CUTS_COLUMNS, k.n, k.g.bn);
    const int has_slabs = k.layout->cuts == GROUPED_CUTS_K || k.layout->cuts == GROUPED_CUTS_NOTHING;
    k.slab = has_slabs ? e_workgroup(e, 2) : e_i32(e, 0);
    k.tile = e_workgroup(e, 0);
    const grouped_range r = choose_tile(&k);
    tile_part t = part_of(&k, &r);
    work(&k, &t);
}
