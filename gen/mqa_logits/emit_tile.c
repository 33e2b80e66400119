/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One KV tile against a wave's rows: products, ReLU and weighted head sum, reduction over lanes, store. */
#include "gen/mqa_logits/emit.h"

/* sum over the lane's own heads of the item of relu(product) * weight; the weights as load_weights left them are halved. */
static val head_sum(mqa *m, const mqa_item *item, const tile *sums) {
    ir *const e = m->e;
    const int acc = m->g.acc, count = m->g.item_tiles * acc;
    const val *const weights = &m->rows[item->row].weights[item->part * count];
    const mqa_head_acc kind = (mqa_head_acc)m->v->head_acc;
    if (kind == MQA_FMA2) { /* two chains of packed pairs */
        val chain[2] = {{0}, {0}};
        for (int i = 0; i < count; i += 2) {
            val pair[2];
            for (int half = 0; half < 2; half++)
                pair[half] = e_twice_relu(e, e_element(e, sums->v[i / acc], i % acc + half));
            const val x = e_vector(e, pair, 2), w = e_vector(e, &weights[i], 2);
            val *const sum = &chain[i / 2 % 2];
            *sum = sum->v ? e_fma(e, x, w, *sum) : e_fmul(e, x, w, 0);
        }
        const val both = e_fadd(e, chain[0], chain[1], 0);
        const val low = e_element(e, both, 0), high = e_element(e, both, 1);
        return e_fadd(e, low, high, 0);
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

/* The lanes of one column (lane / n differs) hold the sums of different heads. Of a group of n-tiles: lane l ends with the
 * total of column l, and where the group has fewer columns than the wave lanes, further lanes with the same again. */
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

void mqa_consume(mqa *m, const tile *sums, mqa_item item, val *group, const val *scales, val col) {
    ir *const e = m->e;
    const mqa_row *const r = &m->rows[item.row];
    const int place = item.n_tile % m->g.group, g = item.n_tile / m->g.group;
    const val sum = head_sum(m, &item, sums), part = item.poison.v ? e_fadd(e, sum, item.poison, 0) : sum;
    group[place] = item.part ? e_fadd(e, group[place], part, 0) : part;
    if (item.part < m->g.m_tiles / m->g.item_tiles - 1 || place < m->g.group - 1) return;
    const val logit = e_fmul(e, sum_group(m, group), scales[g], 0);
    store(m, r, logit, e_addi(e, col, (int64_t)g * m->g.group * m->g.n));
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

tile mqa_first_products(mqa *m, const tile *kv) { return t_mma(m->e, &m->rows[0].q, kv, 0); }

void mqa_tile(mqa *m, const tile *kv, const tile *first, const val *scales, val col) {
    ir *const e = m->e;
    const int items = m->row_count * kv->outer, ahead = m->v->swp ? 1 : 0;
    val group[MQA_GROUP_MAX] = {{0}};
    tile sums[2] = {*first};
    /* Depth-two pipeline (swp): the products of item i + 1 are issued before item i is consumed. */
    for (int i = 0; i < items + ahead; i++) {
        if (i > 0 && i < items) sums[i % 2] = t_mma(e, &m->rows[i / kv->outer].q, kv, i % kv->outer);
        const int done = i - ahead;
        if (done < 0) continue;
        mqa_consume(m, &sums[done % 2], (mqa_item){.row = done / kv->outer, .n_tile = done % kv->outer}, group, scales,
                    col);
        if (ahead && i < items) mqa_interleave(m);
    }
}
