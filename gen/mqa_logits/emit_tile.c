/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One KV tile against a wave's rows: products, ReLU and weighted head sum, reduction over lanes, store. */
#include "gen/mqa_logits/emit.h"

enum { PAIRS_MAX = 8 };

/* chains: a head sum in two chains of packed pairs. */
typedef struct chains {
    val sum[2];
} chains;

static void relu_pairs(mqa *m, val sums, val *pairs) {
    ir *const e = m->e;
    for (int i = 0; i < m->g.acc; i += 2) {
        val pair[2];
        for (int half = 0; half < 2; half++) pair[half] = e_twice_relu(e, e_element(e, sums, i + half));
        pairs[i / 2] = e_vector(e, pair, 2);
    }
}

static void add_pairs(mqa *m, chains *c, const val *pairs, const val *weights) {
    ir *const e = m->e;
    for (int i = 0; i < m->g.acc; i += 2) {
        const val x = pairs[i / 2], w = e_vector(e, &weights[i], 2);
        val *const sum = &c->sum[i / 2 % 2];
        *sum = sum->v ? e_fma(e, x, w, *sum) : e_fmul(e, x, w, 0);
    }
}

static val close_chains(mqa *m, const chains *c) {
    ir *const e = m->e;
    const val both = e_fadd(e, c->sum[0], c->sum[1], 0);
    const val low = e_element(e, both, 0), high = e_element(e, both, 1);
    return e_fadd(e, low, high, 0);
}

static const val *weights_of(const mqa *m, const mqa_item *item) {
    return &m->rows[item->row].weights[item->part * m->g.item_tiles * m->g.acc];
}

/* sum over the lane's own heads of the item of relu(product) * weight; the weights as load_weights left them are
 * halved. */
static val head_sum(mqa *m, const mqa_item *item, const tile *sums) {
    ir *const e = m->e;
    const int acc = m->g.acc, count = m->g.item_tiles * acc;
    const val *const weights = weights_of(m, item);
    const mqa_head_acc kind = (mqa_head_acc)m->v->head_acc;
    if (kind == MQA_FMA2) {
        chains c = {{{0}, {0}}};
        val pairs[PAIRS_MAX];
        for (int i = 0; i < m->g.item_tiles; i++) {
            relu_pairs(m, sums->v[i], pairs);
            add_pairs(m, &c, pairs, &weights[i * acc]);
        }
        return close_chains(m, &c);
    }
    val sum = {0};
    for (int i = 0; i < count; i++) {
        const val x = e_twice_relu(e, e_element(e, sums->v[i / acc], i % acc)), w = weights[i];
        if (!sum.v)
            sum = e_fmul(e, x, w, kind == MQA_ADD);
        else if (kind == MQA_ADD)
            sum = e_fadd(e, sum, e_fmul(e, x, w, 1), 1);
        else
            sum = e_fma(e, x, w, sum);
    }
    return sum;
}

/* The lanes of one column (lane / n differs) hold the sums of different heads. Of a group of n-tiles: lane l ends with
 * the total of column l, and where the group has fewer columns than the wave lanes, further lanes with the same
 * again. */
static val sum_group(mqa *m, const val *part) {
    ir *const e = m->e;
    const int fast = m->v->head_acc == MQA_ADD, count = m->g.group;
    if (m->g.n == 32) return e_sum_swap32(e, part[0], part[count - 1], fast);
    const val low = e_sum_swap16(e, part[0], part[count > 1], fast);
    return e_sum_swap32(e, low, count == 4 ? e_sum_swap16(e, part[2], part[3], fast) : low, fast);
}

/* Columns before the row's window wrap to offsets beyond its extent, so that one bounds check drops both sides. */
static void store(mqa *m, const mqa_row *r, val logit, val col) {
    ir *const e = m->e;
    /* e_uniform also keeps the sum in the lane's own offset: an instruction offset may not carry past a wrap. */
    const val from = e_uniform(e, e_muli(e, e_sub(e, col, r->start), 4));
    const val at = e_add(e, e_muli(e, m->lane, 4), from);
    e_buffer_store(e, r->window, logit, m->g.group * m->g.n == LANES ? at : e_or(e, at, m->silent), 0);
}

/* The item's head sums are `sum`. */
static void leave(mqa *m, mqa_item item, val sum, val *group, const val *scales, val col) {
    ir *const e = m->e;
    const int place = item.n_tile % m->g.group, g = item.n_tile / m->g.group;
    const val part = item.poison.v ? e_fadd(e, sum, item.poison, 0) : sum;
    group[place] = item.part ? e_fadd(e, group[place], part, 0) : part;
    if (item.part < m->g.m_tiles / m->g.item_tiles - 1 || place < m->g.group - 1) return;
    const val logit = e_fmul(e, sum_group(m, group), scales[g], 0);
    store(m, &m->rows[item.row], logit, e_addi(e, col, (int64_t)g * m->g.group * m->g.n));
}

void mqa_consume(mqa *m, const tile *sums, mqa_item item, val *group, const val *scales, val col) {
    leave(m, item, head_sum(m, &item, sums), group, scales, col);
}

/* The order that swp asks of the scheduler: the products of the next item one by one, between equal parts of the
 * arithmetic on the item before. Closed by a fence: the solver's time is not linear in what it may order. */
void mqa_interleave(mqa *m) {
    const int products = m->g.item_tiles * m->g.k_steps, arithmetic = 2 * m->g.item_tiles * m->g.acc / products;
    for (int p = 0; p < products; p++) {
        e_sched_group(m->e, SCHED_MFMA, 1);
        e_sched_group(m->e, SCHED_VALU, arithmetic);
    }
    e_sched_fence(m->e);
}

/* An m-tile's products of an item. */
static val products_of(mqa *m, mqa_item item, int i, const tile *kv) {
    const val none = t_no_sums(m->e, m->atom);
    return t_mma_atom(m->e, &m->rows[item.row].q, item.part * m->g.item_tiles + i, kv, item.n_tile, none);
}

/* Packed arithmetic waits until an MFMA is done, plain does not: so first what is plain, beside the MFMA, then the
 * packed. */
static tile step_packed(mqa *m, mqa_item next, const tile *kv, const tile *sums, mqa_item done, val *sum) {
    ir *const e = m->e;
    tile products = {.outer = m->g.item_tiles};
    chains c = {{{0}, {0}}};
    for (int i = 0; i < products.outer; i++) {
        val pairs[PAIRS_MAX];
        products.v[i] = products_of(m, next, i, kv);
        relu_pairs(m, sums->v[i], pairs);
        for (int s = 0; s < m->g.k_steps; s++) {
            e_sched_group(e, SCHED_MFMA, 1);
            e_sched_group(e, SCHED_VALU, m->g.acc / m->g.k_steps);
        }
        e_sched_fence(e);
        add_pairs(m, &c, pairs, &weights_of(m, &done)[i * m->g.acc]);
        e_sched_fence(e);
    }
    *sum = close_chains(m, &c);
    return products;
}

tile mqa_products(mqa *m, mqa_item item, const tile *kv) {
    tile products = {.outer = m->g.item_tiles};
    for (int i = 0; i < products.outer; i++) products.v[i] = products_of(m, item, i, kv);
    return products;
}

tile mqa_step(mqa *m, mqa_item next, const tile *kv, const tile *sums, mqa_item done, val *group, const val *scales,
              val col) {
    if (m->v->head_acc == MQA_FMA2) {
        val sum;
        const tile products = step_packed(m, next, kv, sums, done, &sum);
        leave(m, done, sum, group, scales, col);
        return products;
    }
    const tile products = mqa_products(m, next, kv);
    mqa_consume(m, sums, done, group, scales, col);
    mqa_interleave(m);
    return products;
}

void mqa_tile(mqa *m, const tile *kv, const tile *first, const val *scales, val col) {
    const int items = m->row_count * kv->outer;
    val group[MQA_GROUP_MAX] = {{0}};
    tile sums = *first;
    mqa_item done = {0};
    for (int i = 1; i < items; i++) {
        const mqa_item next = {.row = i / kv->outer, .n_tile = i % kv->outer};
        if (m->v->swp) {
            sums = mqa_step(m, next, kv, &sums, done, group, scales, col);
        } else {
            mqa_consume(m, &sums, done, group, scales, col);
            sums = mqa_products(m, next, kv);
        }
        done = next;
    }
    mqa_consume(m, &sums, done, group, scales, col);
}
