/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kernel's frame: which tile and which part of K a workgroup has, where the matrices begin for it, and its core. */
#include "gen/gemm_blockscale/emit.h"

static ptr input(blockscale *b, blockscale_kernarg arg, type element) {
    return e_ptr(b->e, e_arg(b->e, (int)arg), element, 1);
}

static ptr element_of(blockscale *b, ptr base, val row, val stride, val column) {
    ir *const e = b->e;
    const val far = e_sext(e, row);
    return gemm_element(e, base, far, stride, column);
}

/* part: rows [row, row + rows) of A or C, columns [column, column + columns) of B's rows or C's, elements [k, k +
 * length) of K. */
typedef struct part {
    val row, rows, column, columns, k, length;
} part;

/* Bounds are checked a word at a time: a row's end is that of its last word. */
static val words(blockscale *b, val length) {
    return b->s->k_tail ? e_align_down(b->e, e_addi(b->e, length, 3), 4) : length;
}

static gemm_operand a_operand(blockscale *b, const part *p) {
    ir *const e = b->e;
    const ptr begin = element_of(b, input(b, BLOCKSCALE_A, I8), p->row, b->a_stride, p->k);
    const val stride = e_trunc(e, b->a_stride);
    return (gemm_operand){.from = e_buffer_apart(e, begin, gemm_span(b->e, p->rows, stride, words(b, p->length))),
                          .stride = stride,
                          .rows = b->g.bm};
}

static gemm_operand b_operand(blockscale *b, const part *p) {
    ir *const e = b->e;
    const ptr base = input(b, BLOCKSCALE_B, I8);
    const val rows = e_min(e, p->columns, e_i32(e, b->g.bn));
    if (b->s->b == GEMM_B_PLAIN) {
        const ptr begin = element_of(b, base, p->column, b->b_stride, p->k);
        const val stride = e_trunc(e, b->b_stride);
        return (gemm_operand){.from = e_buffer_apart(e, begin, gemm_span(b->e, rows, stride, words(b, p->length))),
                              .stride = stride,
                              .rows = b->g.bn};
    }
    const val skipped = e_muli(e, p->k, GEMM_PACK_N);
    const ptr begin = element_of(b, base, p->column, e_sext(e, b->k), skipped);
    const val blocks = e_shr(e, rows, 4), stride = e_muli(e, b->k, GEMM_PACK_N);
    return (gemm_operand){
        .from = e_buffer_apart(e, begin, gemm_span(b->e, blocks, stride, e_muli(e, p->length, GEMM_PACK_N))),
        .stride = stride,
        .rows = b->g.bn,
        .preshuffled = 1};
}

/* Scales of `rows` rows (of A or B) from `row` on, `shared` of which have one; K blocks from p's first on. */
static gemm_scales scales(blockscale *b, blockscale_kernarg arg, const part *p) {
    enum { SCALE_BITS = 7 };
    ir *const e = b->e;
    const gemm_geometry *const g = &b->g;
    const int is_a = arg == BLOCKSCALE_A_SCALES, wave_rows = is_a ? g->bm / g->waves_m : g->bn / g->waves_n;
    const int shared = (int)(is_a ? b->s->scale_m : b->s->scale_n);
    const val row = is_a ? p->row : p->column, rows = is_a ? p->rows : e_min(e, p->columns, e_i32(e, g->bn));
    const int size = b->s->scales == GEMM_SCALES_F32 ? 4 : 1;
    const int is_k_major = is_a && b->s->a_scales == GEMM_SCALES_K_MAJOR;
    const val row_length = is_a ? b->a_scales_stride : b->b_scales_stride;
    const val stride = e_muli(e, e_trunc(e, row_length), size);
    gemm_scales s = {.rows = shared, .type = size == 4 ? GEMM_SCALES_F32 : GEMM_SCALES_UE8M0, .skipped = e_i32(e, 0)};
    val first = row, count = rows;
    if (shared > 1) {
        first = e_shr(e, row, SCALE_BITS);
        s.skipped = e_and(e, row, e_i32(e, shared - 1));
        count = e_shr(e, e_addi(e, e_add(e, s.skipped, rows), shared - 1), SCALE_BITS);
    }
    const val k_block = e_shr(e, p->k, SCALE_BITS);
    const val k_blocks = e_shr(e, e_addi(e, p->length, GEMM_SCALE_K - 1), SCALE_BITS);
    const ptr base = input(b, arg, size == 4 ? F32 : I8);
    ptr begin;
    val extent;
    if (is_k_major) {
        begin = element_of(b, base, k_block, row_length, first);
        extent = gemm_span(b->e, k_blocks, stride, e_muli(e, count, size));
    } else {
        begin = element_of(b, base, first, row_length, k_block);
        extent = gemm_span(b->e, count, stride, e_muli(e, k_blocks, size));
    }
    s.from = e_buffer_apart(e, begin, extent);
    s.uniform = shared > 1 && shared % wave_rows == 0;
    s.row_stride = is_k_major ? e_i32(e, size) : stride;
    s.k_stride = is_k_major ? stride : e_i32(e, size);
    return s;
}

/* ---- which tile ---- */

static gemm_place place_of(blockscale *b, val id) {
    const blockscale_variant *const v = b->v;
    const raster order = {.group = v->group, .panel = v->panel, .chunked = (int)v->xcd};
    return gemm_place_of(b->e, &order, id, b->tiles_m, b->tiles_n);
}

/* ---- the kernel ---- */

static part part_of(blockscale *b, gemm_place at) {
    ir *const e = b->e;
    part p = {.k = e_i32(e, 0), .length = b->k};
    p.row = e_muli(e, at.m, b->g.bm);
    p.column = e_muli(e, at.n, b->g.bn);
    p.rows = e_min(e, e_sub(e, b->m, p.row), e_i32(e, b->g.bm));
    p.columns = e_sub(e, b->n, p.column);
    if (b->g.split_k == 1) return p;
    const val k_tiles = e_ceil_div(e, b->k, e_i32(e, b->g.bk));
    const val share = e_muli(e, e_ceil_div(e, k_tiles, e_i32(e, b->g.split_k)), b->g.bk);
    p.k = e_mul(e, share, b->split);
    p.length = e_max(e, e_min(e, e_sub(e, b->k, p.k), share), e_i32(e, 0));
    return p;
}

static void compute(blockscale *b, gemm *g, gemm_place at) {
    ir *const e = b->e;
    const part p = part_of(b, at);
    g->a = a_operand(b, &p);
    g->b = b_operand(b, &p);
    const int reads_fnuz = b->chip->fp8 == CDNAGEN_FP8_E4M3FNUZ;
    g->a.from_fn = reads_fnuz && b->s->a_fp8 == CDNAGEN_FP8_E4M3FN;
    g->b.from_fn = reads_fnuz && b->s->b_fp8 == CDNAGEN_FP8_E4M3FN;
    g->a_scales = scales(b, BLOCKSCALE_A_SCALES, &p);
    g->b_scales = scales(b, BLOCKSCALE_B_SCALES, &p);
    g->k = p.length;
    g->k_tiles = e_max(e, e_udiv(e, e_addi(e, g->k, b->g.bk - 1), e_i32(e, b->g.bk)), e_i32(e, 1));
    const ptr c = element_of(b, e_ptr(e, e_arg(e, BLOCKSCALE_C), I16, 0), p.row, b->c_stride, p.column);
    g->c_stride = e_muli(e, e_trunc(e, b->c_stride), 2);
    g->c = e_buffer(e, c, gemm_span(b->e, p.rows, g->c_stride, e_muli(e, p.columns, 2)));
    g->columns = p.columns;
    const gemm_sums sums = b->v->core == GEMM_8W ? gemm_8w(g) : gemm_4w(g);
    if (b->g.split_k == 1) {
        gemm_store(g, &sums);
        return;
    }
    const val workspace = e_arg(e, BLOCKSCALE_WORKSPACE);
    gemm_split of = {.workspace = workspace, .part = b->split, .parts = b->g.split_k};
    of.tile = e_add(e, e_mul(e, at.m, b->tiles_n), at.n);
    const val rows = e_sext(e, b->tiles_m);
    of.tiles = e_mul(e, rows, e_sext(e, b->tiles_n));
    gemm_reduce(g, &of, &sums);
}

/* When sums of a K block are promoted, and for 8w who multiplies when. */
static void set_schedule(const blockscale *b, gemm *g) {
    enum { FOLD_AHEAD = 4, FUSED_AHEAD = 3 }; /* MFMA that hide the latency of what is promoted behind them */
    const blockscale_variant *const v = b->v;
    const int sums = b->g.m_atoms * b->g.n_atoms;
    g->promote_every = v->fused ? 1 : sums;
    g->promote_delay = v->fused ? FUSED_AHEAD : 0;
    if (v->core != GEMM_8W) return;
    g->promote_every = v->fold ? (int)v->fold : sums / 4;
    g->promote_delay = v->fold && v->fold < FOLD_AHEAD ? FOLD_AHEAD / (int)v->fold : v->fold || v->sched != GEMM_INLINE;
    g->turn = v->fold ? 0 : v->sched == GEMM_CLUSTER ? 2 : 1;
}

static gemm_scaling scaling_of(const blockscale *b) {
    const int64_t left_out = b->v->ablation;
    if (left_out == GEMM_TWIN || left_out == GEMM_NO_PROMOTE || left_out == GEMM_PLAIN) return GEMM_CHAIN;
    return blockscale_promotes(b->v, b->s) ? GEMM_PROMOTE : GEMM_MFMA;
}

static gemm frame(const blockscale *b) {
    const blockscale_variant *const v = b->v;
    gemm f = gemm_frame(b->e, &b->g);
    f.k_tail = (int)b->s->k_tail;
    f.n_tail = (int)b->s->n_tail;
    f.unroll = (int)v->unroll;
    f.cshuffle = (int)v->cshuffle;
    f.async = (int)v->async;
    f.scaling = scaling_of(b);
    f.ablation = (gemm_ablation)v->ablation;
    f.out = (gemm_out)b->s->out;
    return f;
}

void gemm_blockscale_emit(ir *e, const plan *p) {
    blockscale b = {.e = e,
                    .v = (const blockscale_variant *)p->variant,
                    .s = (const blockscale_shape *)p->shape,
                    .chip = p->target.chip};
    b.g = blockscale_geometry_of(b.v, b.s);
    b.m = e_arg(e, BLOCKSCALE_M);
    b.n = e_arg(e, BLOCKSCALE_N);
    b.k = e_arg(e, BLOCKSCALE_K);
    b.a_stride = e_arg(e, BLOCKSCALE_A_STRIDE);
    b.b_stride = e_arg(e, BLOCKSCALE_B_STRIDE);
    b.a_scales_stride = e_arg(e, BLOCKSCALE_A_SCALES_STRIDE);
    b.b_scales_stride = e_arg(e, BLOCKSCALE_B_SCALES_STRIDE);
    b.c_stride = e_arg(e, BLOCKSCALE_C_STRIDE);
    b.tiles_m = e_ceil_div(e, b.m, e_i32(e, b.g.bm));
    b.tiles_n = e_ceil_div(e, b.n, e_i32(e, b.g.bn));
    gemm g = frame(&b);
    set_schedule(&b, &g);
    gemm_begin(&g);
    if (b.g.split_k > 1) b.split = e_workgroup(e, 1);
    const val first = e_workgroup(e, 0);
    if (!b.v->persist) {
        compute(&b, &g, place_of(&b, first));
    } else {
        E_FOR0(id, e, first, e_mul(e, b.tiles_m, b.tiles_n), e_arg(e, BLOCKSCALE_WORKGROUPS)) {
            e_barrier(e); /* LDS of the tile before is done with */
            compute(&b, &g, place_of(&b, id));
        }
    }
}
