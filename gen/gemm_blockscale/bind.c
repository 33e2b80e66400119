/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Typed arguments -> a checked launch. */
#include <inttypes.h>
#include <string.h>

#include "core/integer.h"
#include "gen/arguments.h"
#include "gen/gemm/ablation.h"
#include "gen/gemm_blockscale/gemm_blockscale.h"

static const char op[] = "gemm_blockscale";

/* workgroups: tiles, or with pers as many as the device holds at once where that is less. */
static int64_t workgroups(const plan *p, const device_facts *facts, int64_t tiles) {
    const blockscale_variant *const v = (const blockscale_variant *)p->variant;
    if (!v->persist) return tiles;
    const int64_t cus = facts && facts->cus ? facts->cus : p->target.chip->cus;
    const int64_t at_once = cus * (facts && facts->workgroups_per_cu ? facts->workgroups_per_cu : 1);
    return smaller(tiles, at_once);
}

static void set_grid(const plan *p, const device_facts *facts, int64_t m, int64_t n, uint32_t grid[3]) {
    const blockscale_variant *const v = (const blockscale_variant *)p->variant;
    grid[0] = (uint32_t)workgroups(p, facts, blockscale_tiles_of(v, m, n).count);
    grid[1] = v->split_k ? (uint32_t)v->split_k : 1;
    grid[2] = 1;
}

void blockscale_grid(const plan *p, const device_facts *facts, uint32_t grid[3]) {
    const blockscale_shape *const s = (const blockscale_shape *)p->shape;
    memset(grid, 0, 3 * sizeof grid[0]);
    if (s->m <= 0 || s->n <= 0) return;
    const int64_t count = blockscale_tiles_of((const blockscale_variant *)p->variant, s->m, s->n).count;
    if (workgroups(p, facts, count) <= workgroups_most(p)) set_grid(p, facts, s->m, s->n, grid);
}

/* ---- refusals ---- */

/* check_class: a kernel made for whole tiles meets nothing else. */
static cdnagen_status check_class(const plan *p, const cdnagen_gemm_blockscale_args *a) {
    const blockscale_variant *const v = (const blockscale_variant *)p->variant;
    const blockscale_shape *const s = (const blockscale_shape *)p->shape;
    const gemm_class class = blockscale_class_of(v, s);
    TRY(gemm_check_launch(op, &class, a->n, a->k));
    if (s->b == GEMM_B_PRESHUFFLED && (a->k % GEMM_PACK_K || a->n % GEMM_PACK_N))
        return fail(CDNAGEN_BAD_ARGUMENT,
                    "%s: preshuffled B has n a multiple of %d and k of %d; n %" PRId64 " k %" PRId64
                    " need a kernel with b=plain",
                    op, GEMM_PACK_N, GEMM_PACK_K, a->n, a->k);
    return CDNAGEN_OK;
}

/* resolve_stride: 0 stands for rows that follow each other. */
static cdnagen_status resolve_stride(const char *name, int64_t row, int64_t rows, int64_t unit, int64_t *stride) {
    if (!*stride) *stride = row;
    if (*stride < row)
        return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s_stride %" PRId64 " is less than a row, %" PRId64 " elements", op,
                    name, *stride, row);
    if (rows > 1 && *stride % unit)
        return fail(CDNAGEN_BAD_ARGUMENT,
                    "%s: %s_stride %" PRId64 " is not a multiple of %" PRId64
                    ", as this kernel needs it: lay rows out %" PRId64 " apart",
                    op, name, *stride, unit, ceil_div(*stride, unit) * unit);
    return CDNAGEN_OK;
}

/* strides: of a launch, in elements, none of them 0 unless there is nothing to read. */
typedef struct strides {
    int64_t a, b, a_scales, b_scales, c;
} strides;

/* scale_rows: of A's or B's scales. */
static int64_t scale_rows(int64_t length, int64_t width) { return ceil_div(length, width); }

static cdnagen_status resolve_strides(const plan *p, const cdnagen_gemm_blockscale_args *a, strides *out) {
    const blockscale_variant *const v = (const blockscale_variant *)p->variant;
    const blockscale_shape *const s = (const blockscale_shape *)p->shape;
    const int64_t k_blocks = ceil_div(a->k, GEMM_SCALE_K), a_rows = scale_rows(a->m, s->scale_m);
    const int is_k_major = s->a_scales == GEMM_SCALES_K_MAJOR;
    strides t = {a->a_stride, a->b_stride, a->a_scales_stride, a->b_scales_stride, a->c_stride};
    TRY(resolve_stride("a", a->k, a->m, GEMM_ROW_ALIGN, &t.a));
    if (s->b == GEMM_B_PLAIN) TRY(resolve_stride("b", a->k, a->n, GEMM_ROW_ALIGN, &t.b));
    if (s->b == GEMM_B_PRESHUFFLED && t.b && t.b != a->k)
        return fail(CDNAGEN_BAD_ARGUMENT, "%s: preshuffled B has no rows: b_stride %" PRId64 " must be 0 or k", op,
                    t.b);
    TRY(resolve_stride("a_scales", is_k_major ? a_rows : k_blocks, is_k_major ? k_blocks : a_rows, 1, &t.a_scales));
    TRY(resolve_stride("b_scales", k_blocks, scale_rows(a->n, s->scale_n), 1, &t.b_scales));
    TRY(resolve_stride("c", a->n, a->m, v->cshuffle ? GEMM_CS_COLUMNS : 1, &t.c));
    if (s->b == GEMM_B_PRESHUFFLED) t.b = a->k;
    *out = t;
    return CDNAGEN_OK;
}

/* Rows of scales that `length` rows of a tile need, of `all`: a tile need not begin where a scale does. */
static int64_t scale_rows_of_tile(int64_t length, int64_t width, int64_t all) {
    return smaller(scale_rows(length, width) + (width > 1), all);
}

/* check_spans: what a workgroup addresses from its tile's first row on is 31 bits; bit 31 marks what is not
 * accessed. */
static cdnagen_status check_spans(const plan *p, const cdnagen_gemm_blockscale_args *a, const strides *t) {
    const blockscale_shape *const s = (const blockscale_shape *)p->shape;
    const gemm_geometry g = blockscale_geometry_of((const blockscale_variant *)p->variant, s);
    const int64_t a_rows = scale_rows(a->m, s->scale_m), b_rows = scale_rows(a->n, s->scale_n);
    const int64_t a_scales = s->a_scales == GEMM_SCALES_K_MAJOR ? ceil_div(a->k, GEMM_SCALE_K)
                                                                : scale_rows_of_tile(g.bm, s->scale_m, a_rows);
    const int64_t b_scales = scale_rows_of_tile(g.bn, s->scale_n, b_rows), scale = s->scales == GEMM_SCALES_F32 ? 4 : 1;
    const struct {
        const char *what;
        int64_t rows, stride, bytes;
        int one_has_no_next;
    } spans[] = {{"a_stride", g.bm, t->a, 1, 0},
                 {"b_stride", g.bn, t->b, 1, 0},
                 {"c_stride", g.bm, t->c, 2, 0},
                 {"a_scales_stride", a_scales, t->a_scales, scale, 1},
                 {"b_scales_stride", b_scales, t->b_scales, scale, 1}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        if (spans[i].rows < 1 + spans[i].one_has_no_next) continue;
        const int64_t most = INT32_MAX / (spans[i].rows * spans[i].bytes);
        if (spans[i].stride > most)
            return fail(CDNAGEN_LIMIT,
                        "%s: %s %" PRId64 " is more than %" PRId64 ": the %" PRId64 " rows that a tile reads of must "
                        "span less than 2 GiB",
                        op, spans[i].what, spans[i].stride, most, spans[i].rows);
    }
    return CDNAGEN_OK;
}

/* bind_buffers: in the order of the kernel's pointers. */
static cdnagen_status bind_buffers(const plan *p, const cdnagen_gemm_blockscale_args *a, const strides *t, launch *l) {
    const blockscale_variant *const v = (const blockscale_variant *)p->variant;
    const blockscale_shape *const s = (const blockscale_shape *)p->shape;
    const int64_t k_blocks = ceil_div(a->k, GEMM_SCALE_K), a_rows = scale_rows(a->m, s->scale_m);
    const int is_k_major = s->a_scales == GEMM_SCALES_K_MAJOR, scale = s->scales == GEMM_SCALES_F32 ? 4 : 1;
    const uint64_t a_scales = is_k_major ? argument_bytes(k_blocks, t->a_scales, a_rows, scale)
                                         : argument_bytes(a_rows, t->a_scales, k_blocks, scale);
    const uint64_t b_scales = argument_bytes(scale_rows(a->n, s->scale_n), t->b_scales, k_blocks, scale);
    /* The bounds of a buffer are checked a word at a time, so that the last row's last word is read whole. */
    const int64_t row = ceil_div(a->k, GEMM_ROW_WORD) * GEMM_ROW_WORD;
    const argument arguments[] = {
        {"a", a->a, argument_bytes(a->m, t->a, row, 1), 16, 0},
        {"b", a->b, argument_bytes(a->n, t->b, row, 1), 16, 0},
        {"a_scales", a->a_scales, a_scales, (unsigned)scale, 0},
        {"b_scales", a->b_scales, b_scales, (unsigned)scale, 0},
        {"c", a->c, argument_bytes(a->m, t->c, a->n, 2), v->cshuffle ? 2 * GEMM_CS_COLUMNS : 2, 1},
        {"workspace", a->workspace, blockscale_workspace_bytes(v, a->m, a->n), GEMM_WORKSPACE_ALIGN, 1},
    };
    enum { COUNT = sizeof arguments / sizeof arguments[0] };
    TRY(arguments_check(op, arguments, COUNT));
    arguments_put(l, p, arguments, COUNT);
    return CDNAGEN_OK;
}

/* ---- bind ---- */

cdnagen_status blockscale_bind(const plan *p, const device_facts *facts, const void *args, launch *out) {
    const blockscale_variant *const v = (const blockscale_variant *)p->variant;
    const cdnagen_gemm_blockscale_args *const a = args;
    if (!a) return fail(CDNAGEN_BAD_ARGUMENT, "%s: args is NULL", op);
    TRY(gemm_check_whole(p, v->ablation, facts));
    TRY(argument_length(op, "m", a->m, GEMM_LENGTH_MAX));
    TRY(argument_length(op, "n", a->n, GEMM_LENGTH_MAX));
    TRY(argument_length(op, "k", a->k, GEMM_LENGTH_MAX));
    launch l = {.kernarg_bytes = p->kernarg_bytes};
    if (a->m == 0 || a->n == 0) {
        l.skip = 1;
        *out = l;
        return CDNAGEN_OK;
    }
    TRY(check_class(p, a));
    strides t = {0};
    TRY(resolve_strides(p, a, &t));
    TRY(bind_buffers(p, a, &t, &l));
    TRY(check_spans(p, a, &t));
    enum { TILES_MAX = INT32_MAX / 64 /* tiles of a band, which the kernel counts in 31 bits */ };
    const int64_t tiles = blockscale_tiles_of(v, a->m, a->n).count, groups = workgroups(p, facts, tiles);
    TRY(check_workgroups(op, p, groups, "take a tag with a larger tile"));
    if (tiles > TILES_MAX)
        return fail(CDNAGEN_LIMIT,
                    "%s: this launch has %" PRId64 " tiles, a kernel can count %d: take a tag with a larger tile, or "
                    "launch fewer rows at once",
                    op, tiles, TILES_MAX);
    set_grid(p, facts, a->m, a->n, l.grid);

    argument_put(&l, p, BLOCKSCALE_A_STRIDE, t.a);
    argument_put(&l, p, BLOCKSCALE_B_STRIDE, t.b);
    argument_put(&l, p, BLOCKSCALE_A_SCALES_STRIDE, t.a_scales);
    argument_put(&l, p, BLOCKSCALE_B_SCALES_STRIDE, t.b_scales);
    argument_put(&l, p, BLOCKSCALE_C_STRIDE, t.c);
    argument_put(&l, p, BLOCKSCALE_M, a->m);
    argument_put(&l, p, BLOCKSCALE_N, a->n);
    argument_put(&l, p, BLOCKSCALE_K, a->k);
    argument_put(&l, p, BLOCKSCALE_WORKGROUPS, l.grid[0]);
    *out = l;
    return CDNAGEN_OK;
}

cdnagen_status blockscale_shape_from_public(const void *public_shape, void *shape) {
    const cdnagen_gemm_blockscale_shape *const p = public_shape;
    if (!p) return fail(CDNAGEN_BAD_ARGUMENT, "%s: shape is NULL", op);
    if (p->m < 0 || p->n < 0 || p->k < 0)
        return fail(CDNAGEN_BAD_SHAPE,
                    "%s shape: m=%" PRId64 " n=%" PRId64 " k=%" PRId64
                    " must not be negative; 0 stands for not known yet",
                    op, p->m, p->n, p->k);
    int64_t n_tail, k_tail;
    TRY(gemm_tail_from_public(op, "k_tail", p->k_tail, &k_tail));
    TRY(gemm_tail_from_public(op, "n_tail", p->n_tail, &n_tail));
    const blockscale_shape s = {.m = p->m ? p->m : -1,
                                .n = p->n ? p->n : -1,
                                .k = p->k ? p->k : -1,
                                .k_tail = k_tail,
                                .n_tail = n_tail,
                                .a_fp8 = p->a_fp8,
                                .b_fp8 = p->b_fp8,
                                .b = p->b_layout,
                                .a_scales = p->a_scale_layout,
                                .scale_m = p->scale_m ? p->scale_m : 1,
                                .scale_n = p->scale_n ? p->scale_n : GEMM_SCALE_K,
                                .scales = p->scale_type,
                                .out = p->c_type};
    TRY(fields_check(&gemm_blockscale_family.shape, &s));
    memcpy(shape, &s, sizeof s);
    return CDNAGEN_OK;
}
