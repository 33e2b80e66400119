/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Direct-load builder: every wave reads its own n-tiles of each KV tile from memory into registers; no LDS, no barrier.
 *
 * An item is one n-tile against one row. The products of an item are issued before the head sum of the item before it,
 * from tile to tile too, and an n-tile's registers are loaded anew for the next tile as soon as the products of its
 * last row are issued: loads have nearly a tile's time to return, and no register is held twice. */
#include <math.h>

#include "gen/mqa_logits/emit.h"

enum { OWNED_MAX = 16, WORDS_MAX = TILE_VALUES_MAX };

/* stream: a wave's own n-tiles of the KV tiles, one after the other. */
typedef struct stream {
    int owned, words, groups; /* n-tiles; values that each is loaded as; groups of n-tiles that share a scale */
    val first;                /* the wave's first column in a tile, uniform */
    val lane_row, lane_scale; /* bytes to the lane's column in an n-tile, and to its scale in a group */
    tile kv;                  /* one n-tile */
    val loaded[WORDS_MAX];    /* [owned][words]: n-tile i of the tile whose products of it come next, or came last */
    val poison[OWNED_MAX];
    val scales[OWNED_MAX];
    tile products; /* of the item that is consumed next */
    ptr next;      /* KV of the tile after the one in work */
} stream;

static val column_of(mqa *m, val t) { return e_add(m->e, m->begin, e_muli(m->e, t, m->v->bkv)); }

/* KV of tile t is `there`. */
static void load_n_tile(mqa *m, stream *s, int i, ptr there, val t) {
    ir *const e = m->e;
    const buffer from = mqa_kv_tile(m, there, column_of(m, t));
    const val stride = e_trunc(e, m->kv_stride);
    const val row = e_mul(e, e_addi(e, s->first, (int64_t)i * m->g.n), stride);
    t_load(e, &s->kv, m->lane, from, s->lane_row, row, (int)m->s->dim, &s->loaded[i * s->words]);
}

static void load_scale(mqa *m, stream *s, int group, val t) {
    ir *const e = m->e;
    const val first = e_addi(e, e_add(e, column_of(m, t), s->first), (int64_t)group * m->g.group * m->g.n);
    s->scales[group] = e_buffer_load_at(e, m->scales, F32, s->lane_scale, e_muli(e, first, 4), 0);
}

/* Products of n-tile i of tile t with a row; KV of tile t + 1 is `next`. The first row's find E4M3FN bytes as they were
 * loaded; after the last row's the registers are free. */
static tile products_of(mqa *m, stream *s, int i, int row, val t, ptr next) {
    ir *const e = m->e;
    val *const words = &s->loaded[i * s->words];
    if (row == 0 && m->g.kv_from_fn) {
        val nans = e_i32(e, 0);
        for (int w = 0; w < s->words; w++) words[w] = e_fnuz_from_fn(e, words[w], &nans);
        s->poison[i] = e_select(e, e_saw_nan(e, nans), e_f32(e, NAN), e_f32(e, 0));
    }
    t_set(e, &s->kv, 0, words);
    const tile products = t_mma(e, &m->rows[row].q, &s->kv, 0);
    if (row == m->row_count - 1) load_n_tile(m, s, i, next, e_addi(e, t, 1));
    return products;
}

static void begin(mqa *m, stream *s) {
    ir *const e = m->e;
    const mqa_geometry *const g = &m->g;
    const val edge = e_and(e, m->lane, e_i32(e, g->n - 1)), zero = e_i32(e, 0);
    const int stored = g->group * g->n;
    s->owned = g->n_tiles / (int)m->v->waves;
    s->groups = s->owned / g->group;
    s->first = e_muli(e, m->wave, s->owned * g->n);
    s->lane_row = e_mul(e, edge, e_trunc(e, m->kv_stride));
    s->lane_scale = e_muli(e, e_and(e, m->lane, e_i32(e, stored - 1)), 4);
    s->kv = t_cols(e, m->atom, g->row_bytes, g->n);
    s->words = t_load_count(&s->kv);
    const ptr first = mqa_kv_from(m, m->begin);
    s->next = e_ptr_add(e, first, m->tile_step);
    for (int i = 0; i < s->owned; i++) {
        load_n_tile(m, s, i, first, zero);
        s->poison[i] = e_f32(e, 0);
    }
    for (int i = 0; i < s->groups; i++) load_scale(m, s, i, zero);
    s->products = products_of(m, s, 0, 0, zero, s->next);
}

/* One tile: each step issues the products of an item and sums the item before it; the last one's are the next
 * tile's. */
static void steps(mqa *m, stream *s, val t) {
    ir *const e = m->e;
    const int rows = m->row_count, items = s->owned * rows;
    val group[MQA_ROWS_MAX][MQA_GROUP_MAX] = {{{0}}};
    const val col = e_add(e, column_of(m, t), s->first);
    const ptr behind = e_ptr_add(e, s->next, m->tile_step);
    for (int done = 0; done < items; done++) {
        const int i = done / rows, row = done % rows, next = done + 1, is_last = next == items;
        const val poison = m->g.kv_from_fn ? s->poison[i] : (val){0};
        const val next_tile = is_last ? e_addi(e, t, 1) : t;
        const tile products =
            products_of(m, s, next / rows % s->owned, next % rows, next_tile, is_last ? behind : s->next);
        mqa_consume(m, &s->products, (mqa_item){.row = row, .n_tile = i, .poison = poison}, group[row], s->scales, col);
        if (row == rows - 1 && (i + 1) % m->g.group == 0) load_scale(m, s, i / m->g.group, e_addi(e, t, 1));
        s->products = products;
        mqa_interleave(m);
    }
    s->next = behind;
}

void mqa_emit_direct(mqa *m) {
    ir *const e = m->e;
    const val zero = e_i32(e, 0);
    E_IF(e, e_less(e, zero, m->tiles)) {
        stream s = {0};
        begin(m, &s);
        carried_values carried = {0};
        e_carry(e, &carried, s.loaded, s.owned * s.words);
        e_carry(e, &carried, s.poison, s.owned);
        e_carry(e, &carried, s.scales, s.groups);
        e_carry(e, &carried, s.products.v, s.products.outer);
        e_carry(e, &carried, &s.next.address, 1);
        E_FOR_ALL(t, e, zero, m->tiles, e_i32(e, 1), carried) steps(m, &s, t);
    }
}
