/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tensors -> a checked shape and arguments, form by form. source: the operators f8f8bf16_rowwise_grouped_* and
 * f8f8bf16_groupwise_grouped_* of MSLK, https://github.com/meta-pytorch/MSLK */
#include "gen/gemm_grouped/forms.h"

#include <inttypes.h>
#include <stdio.h>

#include "gen/arguments.h"

enum { RANK_MAX = 3 };

/* form: a row of the table. Layouts of mm follow from the ranks. */
typedef struct form {
    const char *name, *extents; /* the argument that says where groups are */
    int extents_type;           /* cdnagen_type */
    int is_mm;
    grouped_layout layout; /* but mm */
    grouped_scale scale;
    gemm_b_layout b;
} form;

static const form forms[] = {
    [CDNAGEN_GROUPED_STACKED] = {"rowwise_grouped_stacked", "m_sizes", CDNAGEN_TYPE_I64, 0, GROUPED_SIZES,
                                 GROUPED_SCALE_ROW, GEMM_B_PLAIN},
    [CDNAGEN_GROUPED_STACKED_PRESHUFFLE] = {"rowwise_grouped_stacked_preshuffle", "m_sizes", CDNAGEN_TYPE_I64, 0,
                                            GROUPED_SIZES, GROUPED_SCALE_ROW, GEMM_B_PRESHUFFLED},
    [CDNAGEN_GROUPED_DYNAMIC] = {"rowwise_grouped_dynamic", "zero_start_index_m", CDNAGEN_TYPE_I64, 0, GROUPED_PADDED,
                                 GROUPED_SCALE_ROW, GEMM_B_PLAIN},
    [CDNAGEN_GROUPED_DYNAMIC_PRESHUFFLE] = {"rowwise_grouped_dynamic_preshuffle", "zero_start_index_m",
                                            CDNAGEN_TYPE_I64, 0, GROUPED_PADDED, GROUPED_SCALE_ROW, GEMM_B_PRESHUFFLED},
    [CDNAGEN_GROUPED_MM] = {"rowwise_grouped_mm", "offsets", CDNAGEN_TYPE_I32, 1, GROUPED_OFFSETS, GROUPED_SCALE_ROW,
                            GEMM_B_PLAIN},
    [CDNAGEN_GROUPED_MM_PRESHUFFLE] = {"rowwise_grouped_mm_preshuffle", "offsets", CDNAGEN_TYPE_I32, 1, GROUPED_OFFSETS,
                                       GROUPED_SCALE_ROW, GEMM_B_PRESHUFFLED},
    [CDNAGEN_GROUPED_GROUPWISE] = {"groupwise_grouped", "m_sizes", CDNAGEN_TYPE_I64, 0, GROUPED_SIZES,
                                   GROUPED_SCALE_BLOCK, GEMM_B_PLAIN},
    [CDNAGEN_GROUPED_GROUPWISE_PRESHUFFLE] = {"groupwise_grouped_preshuffle", "m_sizes", CDNAGEN_TYPE_I64, 0,
                                              GROUPED_SIZES, GROUPED_SCALE_BLOCK, GEMM_B_PRESHUFFLED},
};

/* types: in the order of cdnagen_type. */
static const struct {
    const char *name;
    int bytes;
} types[] = {[CDNAGEN_TYPE_F32] = {"f32", 4},          [CDNAGEN_TYPE_BF16] = {"bf16", 2},
             [CDNAGEN_TYPE_F16] = {"f16", 2},          [CDNAGEN_TYPE_E4M3FN] = {"e4m3fn", 1},
             [CDNAGEN_TYPE_I32] = {"i32", 4},          [CDNAGEN_TYPE_I64] = {"i64", 8},
             [CDNAGEN_TYPE_E4M3FNUZ] = {"e4m3fnuz", 1}};
enum { TYPES = sizeof types / sizeof types[0] };

static const char *type_name(int type) { return type > 0 && type < TYPES ? types[type].name : "no cdnagen_type"; }

/* sizes_text: "[8, 512, 1024]". */
typedef struct sizes_text {
    char text[80];
} sizes_text;
static sizes_text text_of(const int64_t *size, int rank) {
    sizes_text t = {"["};
    size_t used = 1;
    for (int i = 0; i < rank && used < sizeof t.text; i++)
        used += (size_t)snprintf(t.text + used, sizeof t.text - used, "%s%" PRId64, i ? ", " : "", size[i]);
    if (used < sizeof t.text) snprintf(t.text + used, sizeof t.text - used, "]");
    return t;
}

/* ---- one tensor ---- */

static int64_t count_of(const cdnagen_tensor *t) {
    int64_t count = 1;
    for (int i = 0; i < t->rank; i++)
        if (__builtin_mul_overflow(count, t->size[i], &count)) return INT64_MAX;
    return count;
}

/* check_tensor: is there, has a rank, sizes and a type that are ones, and is contiguous. Strides of 0 say so; those of
 * a dimension of one element, or of a tensor without any, are not looked at. */
static cdnagen_status check_tensor(const char *op, const char *name, const cdnagen_tensor *t) {
    if (!t) return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s is NULL", op, name);
    if (t->rank < 1 || t->rank > RANK_MAX)
        return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s has rank %d; it must be 1 to %d", op, name, t->rank, RANK_MAX);
    if (t->type < 1 || t->type >= TYPES)
        return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s has type %d, which is no cdnagen_type", op, name, t->type);
    int given = 0;
    for (int i = 0; i < t->rank; i++) {
        if (t->size[i] < 0)
            return fail(CDNAGEN_BAD_ARGUMENT, "%s: size %d of %s is %" PRId64 "; it must not be negative", op, i, name,
                        t->size[i]);
        given |= t->stride[i] != 0;
    }
    int64_t dense = 1;
    for (int i = t->rank - 1; i >= 0 && given && count_of(t); i--) {
        if (t->size[i] > 1 && t->stride[i] != dense)
            return fail(CDNAGEN_BAD_ARGUMENT,
                        "%s: %s of sizes %s has stride %" PRId64 " in dimension %d and must be contiguous, %" PRId64
                        " there: copy it",
                        op, name, text_of(t->size, t->rank).text, t->stride[i], i, dense);
        if (__builtin_mul_overflow(dense, t->size[i], &dense)) dense = INT64_MAX;
    }
    return CDNAGEN_OK;
}

static cdnagen_status check_type(const char *op, const char *name, const cdnagen_tensor *t, int type) {
    if (t->type == type) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s is %s; it must be %s", op, name, type_name(t->type), type_name(type));
}

/* check_operand: FP8 of the kind that the chip reads: bytes of the other kind would be off by a factor of two. */
static cdnagen_status check_operand(const char *op, const char *name, const cdnagen_tensor *t, fp8_kind native) {
    const int type = native == CDNAGEN_FP8_E4M3FN ? CDNAGEN_TYPE_E4M3FN : CDNAGEN_TYPE_E4M3FNUZ;
    if (t->type == type) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s is %s; this chip's FP8 is %s: quantise to it", op, name,
                type_name(t->type), type_name(type));
}

static cdnagen_status check_count(const char *op, const char *name, const cdnagen_tensor *t, int64_t count,
                                  const char *what) {
    const int64_t has = count_of(t);
    if (has == count) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s has %" PRId64 " elements; it must have %" PRId64 ", %s", op, name, has,
                count, what);
}

/* ---- lengths ---- */

/* layout_of: for mm: by the ranks of its operands. */
static cdnagen_status layout_of(const form *f, const cdnagen_tensor *xq, const cdnagen_tensor *wq,
                                grouped_layout *out) {
    *out = f->layout;
    if (!f->is_mm) return CDNAGEN_OK;
    static const grouped_layout by_rank[2][2] = {{GROUPED_K_OFFSETS, GROUPED_OFFSETS},
                                                 {GROUPED_N_OFFSETS, GROUPED_BATCHED}};
    const struct {
        const char *name;
        const cdnagen_tensor *t;
    } operands[] = {{"xq", xq}, {"wq", wq}};
    for (int i = 0; i < 2; i++)
        if (operands[i].t->rank != 2 && operands[i].t->rank != 3)
            return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s has rank %d; it must be 2 or 3", f->name, operands[i].name,
                        operands[i].t->rank);
    *out = by_rank[xq->rank == 3][wq->rank == 3];
    if (f->b == GEMM_B_PRESHUFFLED && (*out == GROUPED_N_OFFSETS || *out == GROUPED_K_OFFSETS))
        return fail(CDNAGEN_BAD_ARGUMENT,
                    "%s: preshuffled wq needs groups that own whole [N, K] matrices; %s: pass plain wq to "
                    "rowwise_grouped_mm",
                    f->name, *out == GROUPED_N_OFFSETS ? "3D-2D groups along N" : "2D-2D groups along K");
    return CDNAGEN_OK;
}

/* find_groups: every tensor that has a dimension of groups has the same. */
static cdnagen_status find_groups(const form *f, const grouped_traits *t, const cdnagen_tensor *xq,
                                  const cdnagen_tensor *wq, const cdnagen_tensor *extents, int64_t *groups) {
    const struct {
        const char *name;
        const cdnagen_tensor *t;
        int has;
    } all[] = {{"wq", wq, t->b_slabs}, {"xq", xq, t->a_slabs}, {f->extents, extents, t->extent_bytes != 0}};
    const char *first = NULL;
    for (int i = 0; i < 3; i++) {
        if (!all[i].has) continue;
        if (first && all[i].t->size[0] != *groups)
            return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s has %" PRId64 " groups, %s has %" PRId64 ": they must agree",
                        f->name, all[i].name, all[i].t->size[0], first, *groups);
        if (!first) first = all[i].name;
        *groups = all[i].t->size[0];
    }
    return CDNAGEN_OK;
}

static cdnagen_status check_rank(const form *f, const char *name, const cdnagen_tensor *t, int rank, const char *what) {
    if (t->rank == rank) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s has rank %d; it must be %d, %s", f->name, name, t->rank, rank, what);
}

/* find_lengths: of a call, from its operands and extents. */
static cdnagen_status find_lengths(const form *f, const cdnagen_tensor *xq, const cdnagen_tensor *wq,
                                   const cdnagen_tensor *extents, grouped_problem *out) {
    TRY(check_tensor(f->name, "xq", xq));
    TRY(check_tensor(f->name, "wq", wq));
    grouped_problem p = {.scale = f->scale};
    TRY(layout_of(f, xq, wq, &p.layout));
    const grouped_traits *const t = &grouped_layouts[p.layout];
    TRY(check_rank(f, "xq", xq, t->a_slabs ? 3 : 2, t->a_slabs ? "[groups, m, k]" : "[m, k]"));
    TRY(check_rank(f, "wq", wq, t->b_slabs ? 3 : 2, t->b_slabs ? "[groups, n, k]" : "[n, k]"));
    if (t->extent_bytes) {
        TRY(check_tensor(f->name, f->extents, extents));
        TRY(check_type(f->name, f->extents, extents, f->extents_type));
        TRY(check_rank(f, f->extents, extents, 1, "[groups]"));
    } else if (extents) {
        return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s must be NULL where xq and wq both have groups of their own (3D-3D)",
                    f->name, f->extents);
    }
    TRY(find_groups(f, t, xq, wq, extents, &p.groups));
    p.m = xq->size[xq->rank - 2];
    p.n = wq->size[wq->rank - 2];
    p.k = xq->size[xq->rank - 1];
    const int64_t other = wq->size[wq->rank - 1];
    if (other != p.k)
        return fail(CDNAGEN_BAD_ARGUMENT, "%s: wq has K %" PRId64 ", xq has %" PRId64 ": they must agree", f->name,
                    other, p.k);
    const struct {
        const char *name;
        int64_t value, most;
    } limits[] = {{"groups", p.groups, GROUPED_GROUPS_MAX},
                  {"m", p.m, GEMM_LENGTH_MAX},
                  {"n", p.n, GEMM_LENGTH_MAX},
                  {"k", p.k, GEMM_LENGTH_MAX}};
    for (int i = 0; i < 4; i++)
        if (limits[i].value > limits[i].most)
            return fail(CDNAGEN_LIMIT, "%s: %s %" PRId64 " is more than the %" PRId64 " that a kernel can address",
                        f->name, limits[i].name, limits[i].value, limits[i].most);
    *out = p;
    return CDNAGEN_OK;
}

/* find_form: NULL, with the error that says why, for what is none. */
static const form *find_form(cdnagen_grouped_form which) {
    if ((int)which >= 0 && (size_t)which < sizeof forms / sizeof forms[0]) return &forms[which];
    fail(CDNAGEN_BAD_ARGUMENT, "form %d is not a cdnagen_grouped_form", (int)which);
    return NULL;
}

static cdnagen_tensor output_of(const grouped_problem *p) {
    cdnagen_tensor t = {.type = CDNAGEN_TYPE_BF16};
    if (grouped_layouts[p->layout].c_slabs) t.size[t.rank++] = p->groups;
    t.size[t.rank++] = p->m;
    t.size[t.rank++] = p->n;
    int64_t dense = 1;
    for (int i = t.rank - 1; i >= 0; i--) {
        t.stride[i] = dense;
        if (__builtin_mul_overflow(dense, t.size[i], &dense)) dense = INT64_MAX;
    }
    return t;
}

cdnagen_status grouped_form_output(cdnagen_grouped_form which, const cdnagen_tensor *xq, const cdnagen_tensor *wq,
                                   const cdnagen_tensor *extents, cdnagen_tensor *out) {
    const form *const f = find_form(which);
    if (!f) return CDNAGEN_BAD_ARGUMENT;
    grouped_problem p = {0};
    TRY(find_lengths(f, xq, wq, extents, &p));
    *out = output_of(&p);
    return CDNAGEN_OK;
}

/* ---- a call ---- */

static cdnagen_status check_output(const form *f, const grouped_problem *p, const cdnagen_tensor *out) {
    const cdnagen_tensor right = output_of(p);
    TRY(check_tensor(f->name, "out", out));
    TRY(check_type(f->name, "out", out, CDNAGEN_TYPE_BF16));
    int equal = out->rank == right.rank;
    for (int i = 0; i < right.rank && equal; i++) equal = out->size[i] == right.size[i];
    if (equal) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT, "%s: out has sizes %s; it must have %s", f->name,
                text_of(out->size, out->rank).text, text_of(right.size, right.rank).text);
}

static cdnagen_status check_scales(const form *f, const grouped_problem *p, const cdnagen_tensor *x_scale,
                                   const cdnagen_tensor *w_scale) {
    int64_t elements[GROUPED_WORKSPACE];
    grouped_lengths(p, elements);
    const int is_block = f->scale == GROUPED_SCALE_BLOCK;
    const struct {
        const char *name, *what;
        const cdnagen_tensor *t;
        int64_t count;
    } scales[] = {{"x_scale", is_block ? "one for 128 of K of a row" : "one a row of xq of each group", x_scale,
                   elements[GROUPED_A_SCALES]},
                  {"w_scale", is_block ? "[groups, k / 128, n / 128]" : "one a row of wq of each group", w_scale,
                   elements[GROUPED_B_SCALES]}};
    for (int i = 0; i < 2; i++) {
        TRY(check_tensor(f->name, scales[i].name, scales[i].t));
        TRY(check_type(f->name, scales[i].name, scales[i].t, CDNAGEN_TYPE_F32));
        TRY(check_count(f->name, scales[i].name, scales[i].t, scales[i].count, scales[i].what));
    }
    return CDNAGEN_OK;
}

static cdnagen_buffer buffer_of(const cdnagen_tensor *t) {
    if (!t) return (cdnagen_buffer){NULL, 0};
    uint64_t size;
    if (__builtin_mul_overflow((uint64_t)count_of(t), (uint64_t)types[t->type].bytes, &size)) size = UINT64_MAX;
    return (cdnagen_buffer){t->ptr, size};
}

/* memory_of: of a tensor that may be left out. */
static argument memory_of(const char *name, const cdnagen_tensor *t, int alignment, int is_written) {
    const cdnagen_buffer b = buffer_of(t);
    return (argument){name, b, b.bytes, (unsigned)alignment, is_written};
}

/* check_memory: what the launch would refuse under the kernel's names. Without anything to multiply only `out` is
 * touched. */
static cdnagen_status check_memory(const form *f, const grouped_problem *p, const grouped_call *call) {
    const argument all[] = {memory_of("out", call->out, 2 * GROUPED_QUAD, 1),
                            memory_of("xq", call->xq, GEMM_ROW_ALIGN, 0),
                            memory_of("wq", call->wq, GEMM_ROW_ALIGN, 0),
                            memory_of("x_scale", call->x_scale, 4, 0),
                            memory_of("w_scale", call->w_scale, 4, 0),
                            memory_of(f->extents, call->extents, types[f->extents_type].bytes, 0)};
    const int multiplies = p->groups && p->m && p->n && p->k;
    return arguments_check(f->name, all, multiplies ? sizeof all / sizeof all[0] : 1);
}

cdnagen_status grouped_form_bind(const grouped_call *call, fp8_kind native, grouped_shape *shape,
                                 cdnagen_gemm_grouped_args *args) {
    const form *const f = find_form(call->form);
    if (!f) return CDNAGEN_BAD_ARGUMENT;
    grouped_problem p = {0};
    TRY(find_lengths(f, call->xq, call->wq, call->extents, &p));
    TRY(check_operand(f->name, "xq", call->xq, native));
    TRY(check_operand(f->name, "wq", call->wq, native));
    grouped_shape s;
    TRY(shape_parse(&gemm_grouped_family.shape, "", &s));
    s.layout = p.layout;
    s.groups = p.groups;
    s.m = p.m;
    s.n = p.n;
    s.k = p.k;
    s.scale = f->scale;
    s.b = f->b;
    if (p.layout == GROUPED_K_OFFSETS) s.empty_k = GROUPED_EMPTY_K_LEAVE;
    if (grouped_check_lengths(f->name, &s, NULL, p.n, p.k)) return fail(CDNAGEN_BAD_ARGUMENT, "%s", cdnagen_error());
    if (s.b == GEMM_B_PRESHUFFLED && (p.n % 64 || p.k % GEMM_SCALE_K))
        return fail(CDNAGEN_BAD_ARGUMENT,
                    "%s: preshuffled wq has n a multiple of 64 and k of %d, the least tile's, not n %" PRId64
                    " k %" PRId64 ": pass plain wq",
                    f->name, GEMM_SCALE_K, p.n, p.k);
    TRY(check_scales(f, &p, call->x_scale, call->w_scale));
    TRY(check_output(f, &p, call->out));
    TRY(check_memory(f, &p, call));
    *shape = s;
    *args = (cdnagen_gemm_grouped_args){.size = sizeof *args,
                                        .a = buffer_of(call->xq),
                                        .b = buffer_of(call->wq),
                                        .a_scales = buffer_of(call->x_scale),
                                        .b_scales = buffer_of(call->w_scale),
                                        .c = buffer_of(call->out),
                                        .extents = buffer_of(call->extents),
                                        .groups = p.groups,
                                        .m = p.m,
                                        .n = p.n,
                                        .k = p.k,
                                        .keep_padding = call->keep_padding};
    return CDNAGEN_OK;
}

cdnagen_status grouped_form_route(const target *t, const grouped_shape *shape, grouped_variant *variant) {
    int rank = 0;
    do TRY(grouped_route(t, shape, rank++, variant));
    while (variant->split_k);
    return CDNAGEN_OK;
}
