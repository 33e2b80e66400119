/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kernel's frame: arguments, which rows and columns a workgroup owns, and the -inf fill after the tile loop. */
#include "gen/mqa_logits/emit.h"

#include <math.h>

/* The lanes' silent bit and the wrap below a window both need byte offsets in a row to stay under 2^31. */
_Static_assert(MQA_SEQ_KV_MAX <= 1 << 29, "a row of logits must have less than 2^31 bytes");

static ptr input(mqa *m, int arg, type element) { return e_ptr(m->e, e_arg(m->e, arg), element, 1); }

/* Element `row * stride` of an argument, in 64 bits. */
static ptr row_of(mqa *m, ptr base, val row, val stride) {
    return e_ptr_add(m->e, base, e_mul(m->e, e_sext(m->e, row), stride));
}

typedef struct window {
    val row, exists, start, end;
} window;

/* A row past the end, or whose window is empty, becomes [seq_kv, 0): it must not widen the union of its neighbours. */
static window window_of(mqa *m, val row) {
    ir *const e = m->e;
    const val exists = e_less(e, row, m->seq);
    const val last = e_addi(e, m->seq, -1);
    const val at = e_min(e, row, last);
    const val start = e_max(e, e_load_uniform(e, input(m, MQA_CU_STARTS, I32), at), e_i32(e, 0));
    const val end = e_min(e, e_load_uniform(e, input(m, MQA_CU_ENDS, I32), at), m->seq_kv);
    const val live = e_and(e, exists, e_less(e, start, end));
    const val from = e_select(e, live, start, m->seq_kv), to = e_select(e, live, end, e_i32(e, 0));
    return (window){at, exists, from, to};
}

/* The workgroup's columns: the union of its rows' windows, aligned to tiles, of which split y takes its share. */
static void columns(mqa *m, val first_row) {
    ir *const e = m->e;
    const int64_t bkv = m->v->bkv;
    val low = m->seq_kv, high = e_i32(e, 0);
    for (int i = 0; i < m->g.workgroup_rows; i++) {
        const window w = window_of(m, e_addi(e, first_row, i));
        low = e_min(e, low, w.start);
        high = e_max(e, high, w.end);
    }
    low = e_align_down(e, low, bkv);
    high = e_max(e, high, low);
    const val share = e_muli(e, e_ceil_div(e, e_ceil_div(e, e_sub(e, high, low), e_i32(e, bkv)), m->splits), bkv);
    m->begin = e_uniform(e, e_add(e, low, e_mul(e, m->split, share)));
    const val end = e_min(e, e_add(e, m->begin, share), high);
    const val length = e_max(e, e_sub(e, end, m->begin), e_i32(e, 0));
    m->tiles = e_uniform(e, e_ceil_div(e, length, e_i32(e, bkv)));
}

/* By how much weights are larger than the caller's: e_twice_relu doubles, each FN operand that is read as FNUZ halves. */
static double weight_factor(const mqa *m) { return 0.5 * (m->g.q_from_fn ? 2 : 1) * (m->g.kv_from_fn ? 2 : 1); }

static void load_row(mqa *m, mqa_row *r) {
    ir *const e = m->e;
    const mqa_geometry *const g = &m->g;
    const int dim = (int)m->s->dim, heads = (int)m->s->heads;
    const buffer q = e_buffer(e, row_of(m, input(m, MQA_Q, I8), r->row, m->q_stride), e_i32(e, (int64_t)heads * dim));
    const val edge = e_and(e, m->lane, e_i32(e, g->m - 1));
    r->q = t_rows(e, m->atom, heads, dim);
    val nans = e_i32(e, 0);
    for (int i = 0; i < g->m_tiles; i++) {
        val words[TILE_VALUES_MAX];
        t_load(e, &r->q, m->lane, q, e_muli(e, edge, dim), e_i32(e, 0), i * g->m * dim, words);
        for (int w = 0; w < t_load_count(&r->q) && g->q_from_fn; w++) words[w] = e_fnuz_from_fn(e, words[w], &nans);
        t_set(e, &r->q, i, words);
    }
    const ptr base = row_of(m, input(m, MQA_WEIGHTS, F32), r->row, m->weights_stride);
    const buffer weights = e_buffer(e, base, e_i32(e, 4 * heads));
    const val own = e_muli(e, e_shr(e, m->lane, g->n == 32 ? 5 : 4), 4 * 4);
    /* The row is NaN if a byte of it was. Adding -0 changes no weight. */
    const val bad = g->q_from_fn ? e_any(e, e_saw_nan(e, nans)) : e_zero(e, I1);
    const val poison = e_select(e, bad, e_f32(e, NAN), e_f32(e, -0.0));
    for (int i = 0; i < g->m_tiles; i++)
        for (int a = 0; a < g->acc; a += 4) {
            const val four = e_buffer_load(e, weights, VEC(4, F32), own, 4 * t_sum_row(m->atom, i, a));
            for (int x = 0; x < 4; x++)
                r->weights[i * g->acc + a + x] = e_fma(e, e_element(e, four, x), e_f32(e, weight_factor(m)), poison);
        }
}

static void begin_row(mqa *m, mqa_row *r, val row) {
    ir *const e = m->e;
    const window w = window_of(m, row);
    *r = (mqa_row){.row = w.row, .exists = w.exists, .start = w.start, .end = w.end};
    r->logits = row_of(m, e_ptr(e, e_arg(e, MQA_LOGITS), F32, 0), r->row, m->logits_stride);
    const val length = e_max(e, e_sub(e, r->end, r->start), e_i32(e, 0));
    const ptr begin = e_ptr_add(e, r->logits, e_sext(e, r->start));
    r->window = e_buffer(e, begin, e_muli(e, length, 4));
    load_row(m, r);
}

/* Split y's share of columns [from, to) of a row becomes -inf. `threads` of the workgroup take part. */
static void fill_range(mqa *m, const mqa_row *r, val from, val to, int threads, val thread) {
    enum { UNROLL = 4 };
    ir *const e = m->e;
    const val length = e_sub(e, to, from);
    const val share = e_uniform(e, e_ceil_div(e, length, m->splits));
    const val low = e_min(e, e_mul(e, share, m->split), length);
    const val count = e_min(e, share, e_sub(e, length, low));
    const ptr begin = e_ptr_add(e, r->logits, e_sext(e, e_add(e, from, low)));
    const buffer place = e_buffer(e, begin, e_muli(e, count, 4));
    const val lane_byte = e_muli(e, thread, 4), step = e_i32(e, UNROLL * threads);
    E_FOR0(i, e, e_i32(e, 0), count, step) {
        const val at = e_add(e, lane_byte, e_muli(e, i, 4));
        for (int u = 0; u < UNROLL; u++) e_buffer_store(e, place, e_f32(e, -INFINITY), at, u * threads * 4);
    }
}

/* Everything of an existing row outside its window, all of it where there is none: [seq_kv, 0). */
static void fill(mqa *m) {
    ir *const e = m->e;
    const int threads = m->v->slots ? LANES : (int)m->v->waves * LANES;
    const val thread = m->v->slots ? m->lane : m->thread;
    const val zero = e_i32(e, 0);
    for (int j = 0; j < m->row_count; j++) {
        const mqa_row *const r = &m->rows[j];
        const val end = e_max(e, r->end, r->start);
        fill_range(m, r, zero, e_select(e, r->exists, r->start, zero), threads, thread);
        fill_range(m, r, end, m->seq_kv, threads, thread);
    }
}

buffer mqa_kv_tile(mqa *m, val col) {
    ir *const e = m->e;
    const val left = e_min(e, e_sub(e, m->seq_kv, col), e_i32(e, m->v->bkv));
    const val some = e_less(e, e_i32(e, 0), left);
    const val before_last = e_addi(e, left, -1), stride = e_trunc(e, m->kv_stride);
    const val extent = e_addi(e, e_mul(e, before_last, stride), m->s->dim);
    const ptr begin = row_of(m, input(m, MQA_KV, I8), col, m->kv_stride);
    return e_buffer(e, begin, e_select(e, some, extent, e_i32(e, 0)));
}

buffer mqa_scale_tile(mqa *m, val col) {
    ir *const e = m->e;
    const val left = e_max(e, e_sub(e, m->seq_kv, col), e_i32(e, 0));
    const ptr scales = input(m, MQA_KV_SCALES, F32), begin = e_ptr_add(e, scales, e_sext(e, col));
    return e_buffer(e, begin, e_muli(e, left, 4));
}

static void begin_kernel(ir *e, const plan *p) {
    e_kernel k = {.symbol = p->symbol,
                  .threads = (int)p->block[0],
                  .waves_per_eu = p->waves_per_eu,
                  .arg_count = (int)p->kernarg_count};
    for (size_t i = 0; i < p->kernarg_count; i++) {
        static const type types[] = {[KERNARG_POINTER] = VOID, [KERNARG_I32] = I32, [KERNARG_I64] = I64};
        k.arg_names[i] = p->kernargs[i].name;
        k.args[i] = types[p->kernargs[i].kind];
    }
    e_kernel_begin(e, &k);
}

void mqa_logits_emit(ir *e, const plan *p) {
    mqa m = {.e = e, .v = (const mqa_variant *)p->variant, .s = (const mqa_shape *)p->shape};
    m.g = mqa_geometry_of(m.v, m.s, p->target.chip);
    m.atom = atom_find(m.g.m, m.g.n, m.g.k);
    m.row_count = (int)m.v->rows;
    begin_kernel(e, p);
    m.thread = e_workitem(e);
    m.lane = m.v->waves == 1 ? m.thread : e_and(e, m.thread, e_i32(e, LANES - 1));
    m.wave = m.v->waves == 1 ? e_i32(e, 0) : e_uniform(e, e_shr(e, m.thread, 6));
    m.silent = e_select(e, e_less(e, m.lane, e_i32(e, (int64_t)m.g.group * m.g.n)), e_i32(e, 0), e_i32(e, INT32_MIN));
    m.q_stride = e_arg(e, MQA_Q_STRIDE);
    m.kv_stride = e_arg(e, MQA_KV_STRIDE);
    m.weights_stride = e_arg(e, MQA_WEIGHTS_STRIDE);
    m.logits_stride = e_arg(e, MQA_LOGITS_STRIDE);
    m.seq = e_arg(e, MQA_SEQ);
    m.seq_kv = e_arg(e, MQA_SEQ_KV);
    m.splits = e_arg(e, MQA_NUM_SPLITS);
    m.split = e_workgroup(e, 1);
    /* Rows are handed out from the last one on: under a causal mask those are the long ones. */
    const val blocks = e_udiv(e, e_addi(e, m.seq, m.g.workgroup_rows - 1), e_i32(e, m.g.workgroup_rows));
    const val block = e_addi(e, e_sub(e, blocks, e_workgroup(e, 0)), -1);
    const val first = e_muli(e, block, m.g.workgroup_rows);
    columns(&m, first);
    const val own = m.v->slots ? e_add(e, first, e_muli(e, m.wave, m.row_count)) : first;
    for (int j = 0; j < m.row_count; j++) begin_row(&m, &m.rows[j], e_addi(e, own, j));
    if (m.v->slots)
        mqa_emit_lds(&m);
    else
        mqa_emit_direct(&m);
    if (m.s->clean) fill(&m);
    e_kernel_end(e);
}
