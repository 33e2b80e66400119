/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which group a workgroup works for, and where that group's rows, columns or K lie: from the metadata on the device. A
 * wave looks at as many groups at once as it has lanes. */
#include "gen/gemm_grouped/emit.h"

static val clamped(grouped *k, val x, val most) {
    ir *const e = k->e;
    return e_min(e, e_max(e, x, e_i32(e, 0)), most);
}

static buffer metadata(grouped *k) {
    ir *const e = k->e;
    const ptr base = e_ptr(e, e_arg(e, GROUPED_EXTENTS), I8, 1);
    return e_buffer(e, base, e_muli(e, k->groups, k->layout->extent_bytes));
}

/* The metadata of group first + lane, 0 past the last group; of an I64 the low half. */
static val load_entries(grouped *k, val first) {
    ir *const e = k->e;
    const val at = e_muli(e, e_add(e, first, k->frame.lane), k->layout->extent_bytes);
    return e_buffer_load(e, metadata(k), I32, at, 0);
}

/* The same of the first groups, by scalar loads: in the queue of vector memory a workgroup waits for what those beside
 * it have stored, also one that will turn out to have no tile. The ISA guide does not say of scalar loads of several
 * words that each is checked for itself: what lies past the last group is cleared here. */
val grouped_first_entries(grouped *k) {
    enum { AT_ONCE = 32, WORDS = 16 /* of a scalar load */, LOADS_MAX = 4 };
    ir *const e = k->e;
    const int size = k->layout->extent_bytes, words = size / 4;
    const buffer all = metadata(k);
    val entries = e_i32(e, 0);
    E_FOR(first, e, e_i32(e, 0), e_min(e, k->groups, e_i32(e, LANES)), e_i32(e, AT_ONCE), &entries) {
        const val at = e_muli(e, first, size);
        val loaded[LOADS_MAX] = {{0}};
        for (int x = 0; x < AT_ONCE * words / WORDS; x++)
            loaded[x] = e_scalar_load(e, all, e_addi(e, at, (int64_t)x * WORDS * 4));
        for (int i = 0; i < AT_ONCE; i++) {
            const val own = e_element(e, loaded[i * words / WORDS], i * words % WORDS);
            entries = e_with_lane(e, entries, e_addi(e, first, i), own);
        }
    }
    return e_select(e, e_less(e, k->frame.lane, k->groups), entries, e_i32(e, 0));
}

/* a + b, or total if that is less: a and b are within it. */
static val add_within(grouped *k, val a, val b, val total) {
    ir *const e = k->e;
    return e_add(e, a, e_min(e, b, e_sub(e, total, a)));
}

/* Where each lane's group ends, from where the group before lane 0's does. */
static val ends_of(grouped *k, val entries, val before, val total) {
    ir *const e = k->e;
    const int is_count = k->s->layout == GROUPED_SIZES;
    val end = clamped(k, entries, total);
    for (int step = 0; step < SCAN_STEPS; step++) {
        const val below = e_scan_step(e, end, step, e_i32(e, 0));
        end = is_count ? add_within(k, below, end, total) : e_max(e, below, end);
    }
    return is_count ? add_within(k, before, end, total) : e_max(e, before, end);
}

grouped_range grouped_range_at(grouped *k, val entries, val tile_index, val total, int tile_bits) {
    ir *const e = k->e;
    const val zero = e_i32(e, 0), last_lane = e_i32(e, LANES - 1);
    grouped_range r = {.index = zero, .begin = zero, .end = zero, .first_tile = zero, .tiles = zero};
    val lane = e_i32(e, LANES), rows_before = zero;
    E_FOR(first, e, zero, k->groups, e_i32(e, LANES), &entries, &lane, &rows_before, &r.tiles, &r.index, &r.begin,
          &r.end, &r.first_tile) {
        const val end = ends_of(k, entries, rows_before, total);
        /* One trip or none: with no more groups a wave would wait for the load before the next round, or its end. */
        const val next = e_addi(e, first, LANES);
        E_FOR(more, e, next, k->groups, k->groups, &entries) entries = load_entries(k, more);
        const val begin = e_lane_below(e, end, rows_before), length = e_sub(e, end, begin);
        const val own = e_shr(e, e_addi(e, length, (1 << tile_bits) - 1), tile_bits);
        val tiles = own;
        for (int step = 0; step < SCAN_STEPS; step++) tiles = e_add(e, tiles, e_scan_step(e, tiles, step, zero));
        tiles = e_add(e, tiles, r.tiles);
        lane = e_first_lane(e, e_less(e, tile_index, tiles));
        e_loop_stop(&first_loop, e_less(e, lane, e_i32(e, LANES)));
        const val which = e_min(e, lane, last_lane);
        r.index = e_add(e, first, which);
        r.begin = e_from_lane(e, begin, which);
        r.end = e_from_lane(e, end, which);
        r.first_tile = e_from_lane(e, e_sub(e, tiles, own), which);
        rows_before = e_from_lane(e, end, last_lane);
        r.tiles = e_from_lane(e, tiles, last_lane);
    }
    r.exists = e_less(e, lane, e_i32(e, LANES));
    return r;
}

grouped_range grouped_range_of(grouped *k, val index, val total) {
    ir *const e = k->e;
    const val zero = e_i32(e, 0);
    val before = zero;
    E_FOR(first, e, zero, index, e_i32(e, LANES), &before) {
        const val ends = ends_of(k, load_entries(k, first), before, total);
        const val left = e_addi(e, e_sub(e, index, first), -1);
        before = e_from_lane(e, ends, e_min(e, left, e_i32(e, LANES - 1)));
    }
    const val own = e_load_uniform(e, e_ptr(e, e_arg(e, GROUPED_EXTENTS), I32, 1), index);
    const val end = e_max(e, before, clamped(k, own, total));
    return (grouped_range){.index = index, .begin = before, .end = end, .exists = e_less(e, before, end)};
}

grouped_range grouped_range_of_slab(grouped *k, val index, val rows) {
    ir *const e = k->e;
    grouped_range r = {.index = index, .begin = e_i32(e, 0), .end = rows};
    if (k->s->layout == GROUPED_PADDED) {
        const ptr counts = e_ptr(e, e_arg(e, GROUPED_EXTENTS), I32, 1);
        r.end = clamped(k, e_load_uniform(e, counts, e_muli(e, index, 2)), rows);
    }
    return r;
}
