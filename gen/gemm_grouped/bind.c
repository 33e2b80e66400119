/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Typed arguments -> a checked launch. */
#include <inttypes.h>
#include <string.h>

#include "gen/arguments.h"
#include "gen/gemm/ablation.h"
#include "gen/gemm_grouped/gemm_grouped.h"

static const char op[] = "gemm_grouped";

/* The words of the public structs are the shape's own numbers. */
_Static_assert((int)CDNAGEN_GROUPED_K_OFFSETS == (int)GROUPED_K_OFFSETS &&
                   (int)CDNAGEN_GROUPED_PADDED == (int)GROUPED_PADDED,
               "layouts");
_Static_assert((int)CDNAGEN_GROUPED_SCALE_BLOCK == (int)GROUPED_SCALE_BLOCK, "scales");

static grouped_tiles tiles_of(const plan *p, int64_t groups, int64_t m, int64_t n) {
    return grouped_tiles_of((const grouped_variant *)p->variant, (const grouped_shape *)p->shape, groups, m, n);
}

static void set_grid(const plan *p, const grouped_tiles *t, uint32_t grid[3]) {
    const grouped_variant *const v = (const grouped_variant *)p->variant;
    grid[0] = (uint32_t)(t->rows * t->columns);
    grid[1] = v->split_k ? (uint32_t)v->split_k : 1;
    grid[2] = (uint32_t)t->slabs;
}

void grouped_grid(const plan *p, const device_facts *facts, uint32_t grid[3]) {
    const grouped_shape *const s = (const grouped_shape *)p->shape;
    (void)facts;
    memset(grid, 0, 3 * sizeof grid[0]);
    if (s->groups <= 0 || s->m <= 0 || s->n <= 0 || s->k <= 0) return;
    const grouped_tiles t = tiles_of(p, s->groups, s->m, s->n);
    if (t.rows * t.columns <= workgroups_most(p)) set_grid(p, &t, grid);
}

/* ---- refusals ---- */

/* check_class: a kernel made for whole tiles meets nothing else. */
static cdnagen_status check_class(const plan *p, const cdnagen_gemm_grouped_args *a) {
    const grouped_shape *const s = (const grouped_shape *)p->shape;
    const gemm_class class = grouped_class_of((const grouped_variant *)p->variant, s);
    if (grouped_check_lengths(op, s, &class.tile, a->n, a->k)) return fail(CDNAGEN_BAD_ARGUMENT, "%s", cdnagen_error());
    return gemm_check_launch(op, &class, a->n, a->k);
}

/* check_spans: what a workgroup addresses from its tile's first row on is 31 bits; bit 31 marks what is not
 * accessed. */
static cdnagen_status check_spans(const plan *p, const cdnagen_gemm_grouped_args *a) {
    const grouped_shape *const s = (const grouped_shape *)p->shape;
    const gemm_geometry g = grouped_geometry_of((const grouped_variant *)p->variant, s);
    const int is_block = s->scale == GROUPED_SCALE_BLOCK;
    const struct {
        const char *what, *name;
        int64_t length, rows;
        int bytes;
    } spans[] = {{"rows of a that a tile has", "k", a->k, g.bm, 1},
                 {"rows of b that a tile has", "k", a->k, g.bn, 1},
                 {"rows of c that a tile has", "n", a->n, g.bm, 2},
                 {"scales of a that a group has", "m", a->m, is_block ? a->k / GEMM_SCALE_K : 0, 4}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        if (!spans[i].rows) continue;
        const int64_t most = INT32_MAX / (spans[i].rows * spans[i].bytes);
        if (spans[i].length > most)
            return fail(CDNAGEN_LIMIT, "%s: %s %" PRId64 " is more than %" PRId64 ": the %s must span less than 2 GiB",
                        op, spans[i].name, spans[i].length, most, spans[i].what);
    }
    return CDNAGEN_OK;
}

/* problem_of: the lengths of a launch. */
static grouped_problem problem_of(const plan *p, const cdnagen_gemm_grouped_args *a) {
    const grouped_shape *const s = (const grouped_shape *)p->shape;
    return (grouped_problem){(grouped_layout)s->layout, (grouped_scale)s->scale, a->groups, a->m, a->n, a->k};
}

enum { ARGUMENTS = GROUPED_WORKSPACE + 1 };

/* The buffers in the order of the kernel's pointers. */
static void list_arguments(const plan *p, const cdnagen_gemm_grouped_args *a, argument out[ARGUMENTS]) {
    const grouped_problem lengths = problem_of(p, a);
    const int extent = grouped_layouts[lengths.layout].extent_bytes;
    const struct {
        const char *name;
        cdnagen_buffer buffer;
        int bytes;
        unsigned alignment;
    } rows[GROUPED_WORKSPACE] = {
        {"a", a->a, 1, GEMM_ROW_ALIGN},   {"b", a->b, 1, GEMM_ROW_ALIGN},
        {"a_scales", a->a_scales, 4, 4},  {"b_scales", a->b_scales, 4, 4},
        {"c", a->c, 2, 2 * GROUPED_QUAD}, {"extents", a->extents, extent, extent ? (unsigned)extent : 1}};
    int64_t elements[GROUPED_WORKSPACE];
    grouped_lengths(&lengths, elements);
    for (int i = 0; i < GROUPED_WORKSPACE; i++)
        out[i] = (argument){rows[i].name, rows[i].buffer, argument_bytes(1, 0, elements[i], rows[i].bytes),
                            rows[i].alignment, i == GROUPED_C};
    const uint64_t workspace = grouped_workspace_bytes((const grouped_variant *)p->variant,
                                                       (const grouped_shape *)p->shape, a->groups, a->m, a->n);
    out[GROUPED_WORKSPACE] = (argument){"workspace", a->workspace, workspace, GEMM_WORKSPACE_ALIGN, 1};
}

static cdnagen_status check_numbers(const plan *p, const cdnagen_gemm_grouped_args *a) {
    const grouped_shape *const s = (const grouped_shape *)p->shape;
    TRY(argument_length(op, "groups", a->groups, GROUPED_GROUPS_MAX));
    TRY(argument_length(op, "m", a->m, GEMM_LENGTH_MAX));
    TRY(argument_length(op, "n", a->n, GEMM_LENGTH_MAX));
    TRY(argument_length(op, "k", a->k, GEMM_LENGTH_MAX));
    if (a->keep_padding != 0 && a->keep_padding != 1)
        return fail(CDNAGEN_BAD_ARGUMENT, "%s: keep_padding is %d; it must be 0 or 1", op, a->keep_padding);
    if (a->keep_padding && s->layout != GROUPED_PADDED)
        return fail(CDNAGEN_BAD_ARGUMENT,
                    "%s: keep_padding is 1, and only layout=padded has padding, not layout=%s: leave it 0", op,
                    grouped_layouts[s->layout].name);
    if (a->reserved)
        return fail(CDNAGEN_BAD_ARGUMENT, "%s: args.reserved is %d; this version has no use for it: leave it 0", op,
                    a->reserved);
    return check_class(p, a);
}

/* ---- bind ---- */

/* bind_nothing: without any product the whole of c is zeros, whatever the layout. */
static cdnagen_status bind_nothing(const plan *p, const cdnagen_gemm_grouped_args *a, launch *out) {
    argument arguments[ARGUMENTS];
    list_arguments(p, a, arguments);
    const argument *const c = &arguments[GROUPED_C];
    TRY(argument_check(op, c));
    *out = (launch){.skip = 1, .zero = c->buffer.ptr, .zero_bytes = c->needed};
    return CDNAGEN_OK;
}

cdnagen_status grouped_bind(const plan *p, const device_facts *facts, const void *args, launch *out) {
    const cdnagen_gemm_grouped_args *const a = args;
    if (!a) return fail(CDNAGEN_BAD_ARGUMENT, "%s: args is NULL", op);
    TRY(gemm_check_whole(p, ((const grouped_variant *)p->variant)->ablation, facts));
    TRY(check_numbers(p, a));
    if (!a->groups || !a->m || !a->n || !a->k) return bind_nothing(p, a, out);
    TRY(check_spans(p, a));
    argument arguments[ARGUMENTS];
    list_arguments(p, a, arguments);
    TRY(arguments_check(op, arguments, ARGUMENTS));
    const grouped_tiles t = tiles_of(p, a->groups, a->m, a->n);
    TRY(check_workgroups(op, p, t.rows * t.columns, "take a tag with a larger tile"));
    launch l = {.kernarg_bytes = p->kernarg_bytes};
    set_grid(p, &t, l.grid);
    arguments_put(&l, p, arguments, ARGUMENTS);
    argument_put(&l, p, GROUPED_GROUPS, a->groups);
    argument_put(&l, p, GROUPED_M, a->m);
    argument_put(&l, p, GROUPED_N, a->n);
    argument_put(&l, p, GROUPED_K, a->k);
    argument_put(&l, p, GROUPED_ZERO, !a->keep_padding);
    *out = l;
    return CDNAGEN_OK;
}

/* ---- shape ---- */

cdnagen_status grouped_shape_from_public(const void *public_shape, void *shape) {
    const cdnagen_gemm_grouped_shape *const p = public_shape;
    if (!p) return fail(CDNAGEN_BAD_ARGUMENT, "%s: shape is NULL", op);
    if (p->groups < 0 || p->m < 0 || p->n < 0 || p->k < 0)
        return fail(CDNAGEN_BAD_SHAPE,
                    "%s shape: groups=%" PRId64 " m=%" PRId64 " n=%" PRId64 " k=%" PRId64
                    " must not be negative; 0 stands for not known yet",
                    op, p->groups, p->m, p->n, p->k);
    if (p->reserved)
        return fail(CDNAGEN_BAD_ARGUMENT, "%s: shape.reserved is %d; this version has no use for it: leave it 0", op,
                    p->reserved);
    int64_t n_tail, k_tail;
    TRY(gemm_tail_from_public(op, "k_tail", p->k_tail, &k_tail));
    TRY(gemm_tail_from_public(op, "n_tail", p->n_tail, &n_tail));
    const grouped_shape s = {.layout = p->layout,
                             .groups = p->groups ? p->groups : -1,
                             .m = p->m ? p->m : -1,
                             .n = p->n ? p->n : -1,
                             .k = p->k ? p->k : -1,
                             .k_tail = k_tail,
                             .n_tail = n_tail,
                             .scale = p->scale,
                             .b = p->b_layout,
                             .empty_k = p->leave_empty_k,
                             .a_fp8 = p->a_fp8,
                             .b_fp8 = p->b_fp8,
                             .out = p->c_type};
    TRY(fields_check(&gemm_grouped_family.shape, &s));
    memcpy(shape, &s, sizeof s);
    return CDNAGEN_OK;
}
