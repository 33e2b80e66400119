/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* raster.c's maps, emitted. Uniform: quotients come from the vector unit and go back into scalar registers. */
#include "gen/gemm/emit_gemm.h"

/* raster_chunk, emitted. */
static val chunk(ir *e, val id, val count) {
    const val xcds = e_i32(e, e_target(e)->chip->xcds);
    const val share = e_udiv(e, count, xcds), turn = e_udiv(e, id, xcds);
    const val more = e_sub(e, count, e_mul(e, share, xcds)), xcd = e_sub(e, id, e_mul(e, turn, xcds));
    const val longer = e_min(e, xcd, more), before = e_add(e, e_mul(e, xcd, share), longer);
    return e_add(e, before, turn);
}

/* The walk along bands of `width` lines, emitted: *line and *at. */
static void along(ir *e, val id, int64_t width, val lines, val length, val *line, val *at) {
    const val band = e_muli(e, length, width), turn = e_uniform(e, e_udiv(e, id, band));
    const val first = e_muli(e, turn, width), inside = e_sub(e, id, e_mul(e, turn, band));
    if (width == 1) {
        *line = first;
        *at = inside;
        return;
    }
    const val here = e_min(e, e_sub(e, lines, first), e_i32(e, width));
    *at = e_uniform(e, e_udiv(e, inside, here));
    *line = e_add(e, first, e_sub(e, inside, e_mul(e, *at, here)));
}

gemm_place gemm_place_of(ir *e, const raster *r, val id, val tiles_m, val tiles_n) {
    const int chunked = r->chunked || r->group || r->panel;
    if (chunked) id = chunk(e, id, e_mul(e, tiles_m, tiles_n));
    gemm_place at;
    if (r->group)
        along(e, id, r->group, tiles_m, tiles_n, &at.m, &at.n);
    else
        along(e, id, r->panel ? r->panel : 1, tiles_n, tiles_m, &at.n, &at.m);
    return at;
}
