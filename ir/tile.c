/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tiles: matrices in a wave's registers, in the lane layouts of the MFMA atoms, and their product.
 * source: AMD matrix instruction calculator (layouts of CDNA3; the f8f6f4 result layout is the same) */
#include "ir/context.h"

static tile make(ir *e, const atom *a, tile_layout layout, type dtype, int rows, int cols, int outer, int steps) {
    if (outer * steps > TILE_VALUES_MAX || outer * steps == 0)
        e_fail(e, "tile %dx%d of atom %dx%dx%d: %d fragments, 1 to %d are possible", rows, cols, a->m, a->n, a->k,
               outer * steps, TILE_VALUES_MAX);
    return (tile){
        .atom = a, .layout = layout, .dtype = dtype, .rows = rows, .cols = cols, .outer = outer, .steps = steps};
}

tile t_rows(ir *e, const atom *a, int rows, int k) {
    expect(e, rows % a->m == 0 && k % a->k == 0, "t_rows", "rows and k must be multiples of the atom's");
    return make(e, a, TILE_ROWS, I8, rows, k, rows / a->m, k / a->k);
}

tile t_cols(ir *e, const atom *a, int k, int cols) {
    expect(e, cols % a->n == 0 && k % a->k == 0, "t_cols", "columns and k must be multiples of the atom's");
    return make(e, a, TILE_COLS, I8, k, cols, cols / a->n, k / a->k);
}

/* k inside an atom may be in any order that both operands share, so a lane takes consecutive bytes. */
val t_fragment_byte(ir *e, const tile *t, int s, val lane) {
    const int edge = t->layout == TILE_ROWS ? t->atom->m : t->atom->n;
    const val part = e_shr(e, lane, edge == 32 ? 5 : 4);
    return e_addi(e, e_muli(e, part, t->atom->fragment_bytes), (int64_t)s * t->atom->k);
}

int t_load_count(const tile *t) { return t->atom->fragment_bytes == 8 ? (t->steps + 1) / 2 : t->steps; }

/* Two steps of 8 bytes are one load of 16: the lane takes neighbouring bytes for both, as all lanes of both operands
 * do. */
void t_load(ir *e, const tile *t, val lane, buffer from, val row, val uniform, int length, val *words) {
    const int edge = t->layout == TILE_ROWS ? t->atom->m : t->atom->n;
    const val part = e_shr(e, lane, edge == 32 ? 5 : 4);
    const int fragment = t->atom->fragment_bytes;
    for (int s = 0, i = 0; s < t->steps; i++) {
        const int steps = fragment == 8 && s + 1 < t->steps ? 2 : 1, size = steps * fragment, first = s * t->atom->k;
        const val in_row = e_muli(e, part, size), at = e_add(e, row, in_row);
        s += steps;
        if (s * t->atom->k <= length) {
            words[i] = e_buffer_load_at(e, from, VEC(size / 4, I32), at, uniform, first);
            continue;
        }
        /* The row ends within these steps: between two lanes' bytes, or between the halves of one's. */
        const int piece = length % size ? size / 2 : size;
        expect(e, length % piece == 0, "t_load", "the length must be a multiple of what a lane loads at once");
        val pieces[2] = {{0}};
        for (int p = 0; p * piece < size; p++) {
            const int fixed = first + p * piece;
            const val inside = e_less(e, in_row, e_i32(e, length - fixed));
            const val place = e_select(e, inside, at, e_i32(e, (int32_t)BUFFER_BEYOND));
            pieces[p] = e_buffer_load_at(e, from, VEC(piece / 4, I32), place, uniform, fixed);
        }
        words[i] = piece < size ? e_join(e, pieces[0], pieces[1]) : pieces[0];
    }
}

void t_set(ir *e, tile *t, int i, const val *words) {
    val *const fragments = &t->v[i * t->steps];
    for (int s = 0; s < t->steps; s++) {
        if (t->atom->fragment_bytes != 8) {
            fragments[s] = words[s];
            continue;
        }
        const val of = words[s / 2];
        const int is_pair = TYPE_LENGTH(e_type(e, of)) == 4;
        fragments[s] = is_pair ? e_element(e, e_bitcast(e, of, VEC(2, I64)), s % 2) : e_bitcast(e, of, I64);
    }
}

static type sums_type(const atom *a) { return VEC(a->m * a->n / LANES, F32); }

val t_no_sums(ir *e, const atom *a) { return e_zero(e, sums_type(a)); }

static int can_multiply(ir *e, const tile *a, int row, const tile *b, int col, val sum) {
    return expect(e, a->layout == TILE_ROWS && b->layout == TILE_COLS, "t_mma", "operands must be rows and columns") &&
           expect(e, a->atom == b->atom, "t_mma", "both operands must be laid out for one atom") &&
           expect(e, a->cols == b->rows, "t_mma", "the inner extents differ") &&
           expect(e, row >= 0 && row < a->outer, "t_mma", "no such fragment row") &&
           expect(e, col >= 0 && col < b->outer, "t_mma", "no such fragment column") &&
           expect(e, e_type(e, sum) == sums_type(a->atom), "t_mma", "the sum is no value of the atom's sums");
}

val t_mma_atom(ir *e, const tile *a, int row, const tile *b, int col, val sum) {
    if (!can_multiply(e, a, row, b, col, sum)) return e_poison(e, sums_type(a->atom));
    for (int s = 0; s < a->steps; s++) {
        const val args[] = {a->v[row * a->steps + s], b->v[col * b->steps + s], sum};
        sum = e_op(e, a->atom->intrinsic, args, 3);
    }
    return sum;
}

val t_mma_scaled(ir *e, const tile *a, int row, const tile *b, int col, val sum, val row_scale, val col_scale) {
    if (!can_multiply(e, a, row, b, col, sum)) return e_poison(e, sums_type(a->atom));
    if (!expect(e, a->atom->scaled != NULL, "t_mma_scaled", "the atom has no form that takes scales"))
        return e_poison(e, sums_type(a->atom));
    const val e4m3 = e_i32(e, 0), low_byte = e_i32(e, 0);
    for (int s = 0; s < a->steps; s++) {
        const val args[] = {a->v[row * a->steps + s],
                            b->v[col * b->steps + s],
                            sum,
                            e4m3,
                            e4m3,
                            low_byte,
                            row_scale,
                            low_byte,
                            col_scale};
        sum = e_op(e, a->atom->scaled, args, 9);
    }
    return sum;
}

tile t_mma(ir *e, const tile *a, const tile *b, int col) {
    tile sums = make(e, a->atom, TILE_SUMS, F32, a->rows, a->atom->n, a->outer, 1);
    for (int i = 0; i < sums.outer && i < TILE_VALUES_MAX; i++)
        sums.v[i] = t_mma_atom(e, a, i, b, col, t_no_sums(e, a->atom));
    return sums;
}

int t_sum_row(const atom *a, int i, int r) { return i * a->m + r / 4 * (4 * LANES / a->n) + r % 4; }
