/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Direct-load builder: every wave reads its own n-tiles of each KV tile from memory into registers; no LDS, no barrier. */
#include "gen/mqa_logits/emit.h"

enum { SCALES_MAX = 16 };

void mqa_emit_direct(mqa *m) {
    ir *const e = m->e;
    const mqa_geometry *const g = &m->g;
    const int owned = g->n_tiles / (int)m->v->waves, dim = (int)m->s->dim;
    const val edge = e_and(e, m->lane, e_i32(e, g->n - 1)), stride = e_trunc(e, m->kv_stride);
    const val first = e_muli(e, m->wave, owned * g->n); /* the wave's first column in a tile, uniform */
    E_FOR0(t, e, e_i32(e, 0), m->tiles, e_i32(e, 1)) {
        const val col = e_add(e, m->begin, e_muli(e, t, m->v->bkv));
        const buffer kv_tile = mqa_kv_tile(m, col), scale_tile = mqa_scale_tile(m, col);
        tile kv = t_cols(e, m->atom, dim, owned * g->n);
        val scales[SCALES_MAX];
        for (int i = 0; i < owned; i++) {
            const val column = e_addi(e, first, i * g->n);
            const val row = e_mul(e, edge, stride), in_row = t_fragment_byte(e, &kv, 0, m->lane);
            const val lane_byte = e_add(e, row, in_row);
            for (int s = 0; s < g->k_steps; s++)
                kv.v[i * g->k_steps + s] =
                    e_buffer_load_at(e, kv_tile, VEC(8, I32), lane_byte, e_mul(e, column, stride), s * g->k);
            const val lane_scale = e_muli(e, edge, 4), first_scale = e_muli(e, column, 4);
            scales[i] = e_buffer_load_at(e, scale_tile, F32, lane_scale, first_scale, 0);
        }
        const tile products = mqa_first_products(m, &kv);
        mqa_tile(m, &kv, &products, scales, e_add(e, col, first));
    }
}
