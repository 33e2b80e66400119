/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kernel's frame: arguments, which rows and columns a workgroup owns, and the -inf fill after the tile loop. */
#include "gen/mqa_logits/emit.h"

#include <math.h>

/* The lanes' silent bit and the wrap below a window both need byte offsets in a row to stay under 2^31. */
_Static_assert(MQA_EXTENT_MAX <= BUFFER_BEYOND, "there must be offsets beyond an extent");
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

/* By how much weights are larger than the caller's: e_twice_relu doubles, each FN operand that is read as FNUZ
 * halves. */
static double weight_factor(const mqa *m) { return 0.5 * (m->g.q_from_fn ? 2 : 1) * (m->g.kv_from_fn ? 2 : 1); }

/* A lane past the last head is beyond the extent too: its rows of Q are 0. Returns whether a byte was a NaN that the
 * MFMA cannot see. */
static val load_q(mqa *m, mqa_row *r) {
    ir *const e = m->e;
    const mqa_geometry *const g = &m->g;
    const int heads = (int)m->s->heads, dim = (int)m->s->dim;
    const val stride = e_trunc(e, m->q_head_stride), zero = e_i32(e, 0);
    const val head = e_mul(e, e_and(e, m->lane, e_i32(e, g->m - 1)), stride);
    ptr q = row_of(m, input(m, MQA_Q, I8), r->row, m->q_stride);
    val nans = zero;
    r->q = t_rows(e, m->atom, g->m_tiles * g->m, g->row_bytes);
    for (int i = 0; i < g->m_tiles; i++) {
        const int left = heads - i * g->m, here = left < g->m ? left : g->m;
        const buffer from = e_buffer(e, q, e_addi(e, e_muli(e, stride, here - 1), dim));
        val words[TILE_VALUES_MAX];
        t_load(e, &r->q, m->lane, from, head, zero, dim, words);
        for (int w = 0; w < t_load_count(&r->q) && g->q_from_fn; w++) words[w] = e_fnuz_from_fn(e, words[w], &nans);
        t_set(e, &r->q, i, words);
        q = e_ptr_add(e, q, e_muli(e, m->q_head_stride, g->m));
    }
    return g->q_from_fn ? e_any(e, e_saw_nan(e, nans)) : e_zero(e, I1);
}

/* As f32, in the order of the sums tile; 0 past the last head. NaN where `bad`. */
static void load_weights(mqa *m, mqa_row *r, val bad) {
    ir *const e = m->e;
    const mqa_geometry *const g = &m->g;
    const int heads = (int)m->s->heads, bf16 = m->s->weights == CDNAGEN_WEIGHTS_BF16, size = bf16 ? 2 : 4;
    const type element = bf16 ? I16 : F32;
    /* No load reaches past the last head: whether hardware drops a part of one is not relied on. */
    const int together = heads % 4 == 0 ? 4 : heads % 2 == 0 ? 2 : 1;
    const ptr base = row_of(m, input(m, MQA_WEIGHTS, element), r->row, m->weights_stride);
    const buffer weights = e_buffer(e, base, e_i32(e, size * heads));
    const val own = e_muli(e, e_shr(e, m->lane, g->n == 32 ? 5 : 4), 4 * size);
    /* Adding -0 changes no weight. */
    const val poison = e_select(e, bad, e_f32(e, NAN), e_f32(e, -0.0)), factor = e_f32(e, weight_factor(m));
    for (int w = 0; w < g->m_tiles * g->acc; w += together) {
        const int head = t_sum_row(m->atom, w / g->acc, w % g->acc);
        const val some = e_buffer_load(e, weights, together > 1 ? VEC(together, element) : element, own, size * head);
        for (int i = 0; i < together; i++) {
            const val bits = together > 1 ? e_element(e, some, i) : some;
            const val weight = bf16 ? e_f32_from_bf16(e, bits) : bits;
            r->weights[w + i] = e_fma(e, weight, factor, poison);
        }
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
    load_weights(m, r, load_q(m, r));
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

ptr mqa_kv_from(mqa *m, val col) { return row_of(m, input(m, MQA_KV, I8), col, m->kv_stride); }

buffer mqa_kv_tile(mqa *m, ptr there, val col) {
    ir *const e = m->e;
    const val left = e_min(e, e_sub(e, m->seq_kv, col), e_i32(e, m->v->bkv));
    const val some = e_less(e, e_i32(e, 0), left);
    /* The last row ends with its dim; modulo 2^32, because as many whole rows may be 4 GiB. */
    const val stride = e_trunc(e, m->kv_stride), rows = e_mul(e, left, stride);
    const val extent = e_sub(e, rows, e_addi(e, stride, -m->s->dim));
    return e_buffer(e, there, e_select(e, some, extent, e_i32(e, 0)));
}

void mqa_logits_emit(ir *e, const plan *p) {
    mqa m = {.e = e, .v = (const mqa_variant *)p->variant, .s = (const mqa_shape *)p->shape};
    m.g = mqa_geometry_of(m.v, m.s, p->target.chip);
    m.atom = atom_find(m.g.m, m.g.n, m.g.k);
    m.row_count = (int)m.v->rows;
    m.thread = e_workitem(e);
    m.lane = m.v->waves == 1 ? m.thread : e_and(e, m.thread, e_i32(e, LANES - 1));
    m.wave = m.v->waves == 1 ? e_i32(e, 0) : e_uniform(e, e_shr(e, m.thread, 6));
    m.silent = e_select(e, e_less(e, m.lane, e_i32(e, (int64_t)m.g.group * m.g.n)), e_i32(e, 0), e_i32(e, INT32_MIN));
    m.q_stride = e_arg(e, MQA_Q_STRIDE);
    m.q_head_stride = e_arg(e, MQA_Q_HEAD_STRIDE);
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
    m.tile_step = e_muli(e, m.kv_stride, m.v->bkv);
    m.scales = e_buffer(e, input(&m, MQA_KV_SCALES, F32), e_muli(e, m.seq_kv, 4));
    const val own = m.v->slots ? e_add(e, first, e_muli(e, m.wave, m.row_count)) : first;
    for (int j = 0; j < m.row_count; j++) begin_row(&m, &m.rows[j], e_addi(e, own, j));
    if (m.v->slots)
        mqa_emit_lds(&m);
    else
        mqa_emit_direct(&m);
    if (m.s->clean) fill(&m);
}
