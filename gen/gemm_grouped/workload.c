/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Data for a run: uneven groups, operands between guards of NaN, NaN in whatever no group has, a poisoned output. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/fp8.h"
#include "core/integer.h"
#include "core/random.h"
#include "gen/gemm/buffers.h"
#include "gen/gemm/draw.h"
#include "gen/gemm_grouped/gemm_grouped.h"

/* Buffers are in the order of the pointers of grouped_kernarg. */
enum { BUFFER_COUNT = GROUPED_WORKSPACE + 1 };

static const grouped_shape *shape_of(const plan *p) { return (const grouped_shape *)p->shape; }

static grouped_problem problem_of(const plan *p) {
    const grouped_shape *const s = shape_of(p);
    return (grouped_problem){(grouped_layout)s->layout, (grouped_scale)s->scale, s->groups, s->m, s->n, s->k};
}

/* sizes_of: bytes of the buffers between their guards; UINT64_MAX where they are beyond it. */
static void sizes_of(const plan *p, uint64_t sizes[BUFFER_COUNT]) {
    const grouped_problem lengths = problem_of(p);
    const int units[GROUPED_WORKSPACE] = {1, 1, 4, 4, 2, grouped_layouts[lengths.layout].extent_bytes};
    int64_t elements[GROUPED_WORKSPACE];
    grouped_lengths(&lengths, elements);
    for (int i = 0; i < GROUPED_WORKSPACE; i++)
        if (__builtin_mul_overflow(elements[i], units[i], &sizes[i])) sizes[i] = UINT64_MAX;
    sizes[GROUPED_WORKSPACE] =
        grouped_workspace_bytes((const grouped_variant *)p->variant, shape_of(p), lengths.groups, lengths.m, lengths.n);
}

static void *inside(const problem *p, grouped_kernarg which) { return gemm_buffer_inside(p->buffers[which].data); }

/* ---- groups ---- */

static int unit_of(grouped_cut cuts) {
    return cuts == GROUPED_CUTS_K ? GROUPED_K_ALIGN : cuts == GROUPED_CUTS_COLUMNS ? GROUPED_N_ALIGN : 1;
}

/* share: of `units`, what group g has, made up. Slabs: any part, the first empty, the last full. Else a random part of
 * what is left, about an even one, one group of them empty; a 16th of all is left to none. */
static int64_t share(const grouped_problem *p, int64_t g, int64_t units, int64_t left, uint64_t *state) {
    const uint64_t random = random64(state);
    if (p->layout == GROUPED_PADDED && p->groups > 1)
        return g == 0 ? 0 : g == p->groups - 1 ? units : (int64_t)(random % (uint64_t)(units + 1));
    if (p->groups == 1) return units - units / 16;
    if (g == p->groups / 2) return 0;
    const int64_t most = larger(2 * (units - units / 16) / (p->groups - 1), 1);
    const int64_t mine = (int64_t)(random % (uint64_t)(most + 1));
    return smaller(mine, left);
}

void grouped_make_extents(const grouped_problem *p, const int32_t *given, uint64_t seed, void *out) {
    const grouped_traits *const t = &grouped_layouts[p->layout];
    if (!t->extent_bytes) return;
    const int64_t total = t->cuts == GROUPED_CUTS_K ? p->k : t->cuts == GROUPED_CUTS_COLUMNS ? p->n : p->m;
    const int unit = unit_of(t->cuts);
    const int64_t units = total / unit;
    int64_t left = units - units / 16, end = 0;
    for (int64_t g = 0; g < p->groups; g++) {
        const int64_t extent = given ? given[g] : share(p, g, units, left, &seed) * unit;
        left -= extent / unit;
        end += extent;
        const int64_t entry = p->layout == GROUPED_SIZES || p->layout == GROUPED_PADDED ? extent : end;
        memcpy((char *)out + g * t->extent_bytes, &entry, (size_t)t->extent_bytes); /* little-endian */
    }
}

/* ---- operands ---- */

/* side: A or B of one problem. */
typedef struct side {
    uint8_t *bytes; /* rows of k, as if plain */
    float *scales;
    fp8_kind kind;
    uint64_t seed;
    uint8_t draws[DRAWS];
    double width;       /* of benchmark data */
    int64_t block_rows; /* in blocks: rows that share a scale, and from one K block's scales to the next: */
} side;

/* region: the rows and elements of K of one side that a group has, and its scales. */
typedef struct region {
    int64_t row, rows, k, length, scale, scale_stride;
    int coherent;
} region;

/* exact_exponent: 0 to 3, and another one for each neighbour in both directions. */
static int exact_exponent(int64_t row, int64_t block) { return (int)((row + row / 4 + 2 * block + block / 2) & 3); }

/* scale_at: of a row (or row of blocks) and K block of a region; products of values times scales are about 1. */
static float scale_at(grouped_data data, const side *s, const region *r, int64_t row, int64_t block) {
    enum { EXACT_SHIFT = -8 }; /* so that sums stay within f16 */
    if (data == GROUPED_EXACT) return ldexpf(1, exact_exponent(r->scale + row, block) + EXACT_SHIFT);
    if (r->coherent) return 1;
    uint64_t state = s->seed ^ ((uint64_t)(r->scale + row) << 32 | (uint64_t)block);
    return (float)(0.25 + 1.75 * random_uniform(&state)) * (4 / fp8_max(s->kind));
}

/* quantise_row: normal values of the side's width, by the row's largest one. */
static float quantise_row(const side *s, uint64_t state, int64_t count, uint8_t *out) {
    double largest = 1e-12;
    uint64_t again = state;
    for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(s->width * random_normal(&again)));
    const double scale = largest / (double)fp8_max(s->kind);
    for (int64_t i = 0; i < count; i++)
        out[i] = fp8_from_f32(s->kind, (float)(s->width * random_normal(&state) / scale));
    return (float)scale;
}

static void fill_region(const grouped_problem *p, grouped_data data, const side *s, const region *r) {
    const int is_block = p->scale == GROUPED_SCALE_BLOCK;
    for (int64_t i = 0; i < r->rows; i++) {
        uint8_t *const out = s->bytes + (r->row + i) * p->k + r->k;
        const uint64_t row = (uint64_t)(r->scale + i);
        if (data == GROUPED_BENCHMARK) {
            s->scales[r->scale + i] = quantise_row(s, s->seed + row * 0xd1342543de82ef95u, r->length, out);
            continue;
        }
        if (r->coherent)
            memset(out, fp8_from_f32(s->kind, 1), (size_t)r->length);
        else
            draw_row(s->draws, s->seed, r->scale + i, r->length, out);
        if (!is_block) s->scales[r->scale + i] = scale_at(data, s, r, i, 0);
    }
    const int64_t scale_rows = is_block ? ceil_div(r->rows, s->block_rows) : 0;
    for (int64_t block = 0; block < r->length / GEMM_SCALE_K && is_block; block++)
        for (int64_t i = 0; i < scale_rows; i++)
            s->scales[r->scale + block * r->scale_stride + i] = scale_at(data, s, r, i, block);
}

static cdnagen_status fill_operands(const plan *p, problem *data, const grouped_part *parts) {
    const grouped_shape *const s = shape_of(p);
    const grouped_problem lengths = problem_of(p);
    uint64_t sizes[BUFFER_COUNT];
    sizes_of(p, sizes);
    const int is_packed = s->b == GEMM_B_PRESHUFFLED;
    uint64_t state = data->seed;
    side *const sides = mem_alloc(2 * sizeof *sides);
    uint8_t *const plain = mem_alloc(sizes[GROUPED_B] + 1);
    if (!sides || !plain) {
        mem_free(sides);
        mem_free(plain);
        return fail_no_memory();
    }
    uint8_t *const b = is_packed ? plain : inside(data, GROUPED_B);
    sides[0] = (side){.bytes = inside(data, GROUPED_A),
                      .scales = inside(data, GROUPED_A_SCALES),
                      .kind = chip_fp8(p->target.chip, s->a_fp8),
                      .width = 0.1,
                      .block_rows = 1};
    sides[1] = (side){.bytes = b,
                      .scales = inside(data, GROUPED_B_SCALES),
                      .kind = chip_fp8(p->target.chip, s->b_fp8),
                      .width = 0.01,
                      .block_rows = GEMM_SCALE_K};
    for (int i = 0; i < 2; i++) {
        sides[i].seed = random64(&state);
        draw_bytes(s->data == GROUPED_EXACT, sides[i].kind, random64(&state), sides[i].draws);
        memset(sides[i].bytes, fp8_from_f32(sides[i].kind, NAN), sizes[i ? GROUPED_B : GROUPED_A]);
        memset(sides[i].scales, 0xff, sizes[i ? GROUPED_B_SCALES : GROUPED_A_SCALES]);
    }
    for (int64_t g = 0; g < lengths.groups; g++) {
        const grouped_part *const part = &parts[g];
        const int coherent = s->data == GROUPED_COHERENT && g % 2;
        const region of_a = {part->a_row, part->rows, part->k, part->length, part->a_scale, part->scale_rows, coherent};
        const region of_b = {part->b_row, part->columns, part->k, part->length, part->b_scale, lengths.n / GEMM_SCALE_K,
                             coherent};
        fill_region(&lengths, (grouped_data)s->data, &sides[0], &of_a);
        fill_region(&lengths, (grouped_data)s->data, &sides[1], &of_b);
    }
    if (is_packed) gemm_pack(plain, lengths.k, lengths.groups * lengths.n, lengths.k, inside(data, GROUPED_B));
    mem_free(sides);
    mem_free(plain);
    return CDNAGEN_OK;
}

/* ---- the family's workload ---- */

/* start: buffers of the plan's shape, without data. */
static cdnagen_status start(const plan *p, uint64_t seed, problem *out) {
    static const char *const names[BUFFER_COUNT] = {"a", "b", "a_scales", "b_scales", "c", "extents", "workspace"};
    /* 2^24 holds a sum of products of 4, in blocks each times 2^6 at most. */
    enum { EXACT_ROW_MAX = (1 << 24) / 4, EXACT_BLOCK_MAX = (1 << 24) / (4 << 6) };
    const grouped_shape *const s = shape_of(p);
    if (s->groups < 0 || s->m < 0 || s->n < 0 || s->k < 0)
        return fail(CDNAGEN_BAD_SHAPE, "gemm_grouped: a run needs %s in its shape, as in groups=4 m=64 n=512 k=1024",
                    s->groups < 0 ? "groups"
                    : s->m < 0    ? "m"
                    : s->n < 0    ? "n"
                                  : "k");
    const int64_t exact = s->scale == GROUPED_SCALE_BLOCK ? EXACT_BLOCK_MAX : EXACT_ROW_MAX;
    if (s->data == GROUPED_EXACT && s->k > exact)
        return fail(CDNAGEN_BAD_SHAPE, "gemm_grouped: data=exact holds for k up to %lld, not %lld", (long long)exact,
                    (long long)s->k);
    if (s->data == GROUPED_BENCHMARK && s->scale == GROUPED_SCALE_BLOCK)
        return fail(CDNAGEN_BAD_SHAPE, "gemm_grouped: data=benchmark quantises rows: take scale=row");
    if (s->extent_count && s->extent_count != s->groups)
        return fail(CDNAGEN_BAD_SHAPE, "gemm_grouped: extents has %d numbers for groups=%d", (int)s->extent_count,
                    (int)s->groups);
    uint64_t sizes[BUFFER_COUNT];
    sizes_of(p, sizes);
    *out = (problem){.seed = seed, .buffer_count = BUFFER_COUNT};
    memcpy(out->shape, s, sizeof *s);
    for (int i = 0; i < BUFFER_COUNT; i++)
        TRY(gemm_buffer(names[i], sizes[i], i == GROUPED_C || i == GROUPED_WORKSPACE, &out->buffers[i]));
    return CDNAGEN_OK;
}

static void fill_extents(const plan *p, problem *data) {
    const grouped_shape *const s = shape_of(p);
    const grouped_problem lengths = problem_of(p);
    grouped_make_extents(&lengths, s->extent_count ? s->extents : NULL, data->seed, inside(data, GROUPED_EXTENTS));
}

static cdnagen_status fill(const plan *p, problem *data) {
    const grouped_problem lengths = problem_of(p);
    fill_extents(p, data);
    gemm_buffer_poison(&data->buffers[GROUPED_C]);
    grouped_part *const parts = mem_alloc((size_t)(lengths.groups + 1) * sizeof *parts);
    if (!parts) return fail_no_memory();
    grouped_parts(&lengths, inside(data, GROUPED_EXTENTS), parts);
    const cdnagen_status status = fill_operands(p, data, parts);
    mem_free(parts);
    return status;
}

static cdnagen_status make(const plan *p, uint64_t seed, problem *out) {
    problem data = {0};
    TRY(start(p, seed, &data));
    cdnagen_status status = CDNAGEN_OK;
    for (int i = 0; i < BUFFER_COUNT && !status; i++) status = gemm_buffer_allocate(&data.buffers[i]);
    if (!status) status = fill(p, &data);
    if (status)
        problem_release(&data);
    else
        *out = data;
    return status;
}

/* Extents decide addresses and branches, and so do the counters of the workspace. */
static cdnagen_status make_modelled(const plan *p, problem *out) {
    problem data = {0};
    TRY(start(p, 0, &data));
    cdnagen_status status = gemm_buffer_allocate(&data.buffers[GROUPED_EXTENTS]);
    if (!status) status = gemm_buffer_allocate(&data.buffers[GROUPED_WORKSPACE]);
    if (status) return problem_release(&data), status;
    fill_extents(p, &data);
    *out = data;
    return CDNAGEN_OK;
}

static cdnagen_status reference(const plan *p, problem *data) {
    const grouped_shape *const s = shape_of(p);
    const grouped_operands in = {.lengths = problem_of(p),
                                 .b_layout = (gemm_b_layout)s->b,
                                 .empty_k = (grouped_empty_k)s->empty_k,
                                 .zero_padding = 1,
                                 .a_fp8 = chip_fp8(p->target.chip, s->a_fp8),
                                 .b_fp8 = chip_fp8(p->target.chip, s->b_fp8),
                                 .a = inside(data, GROUPED_A),
                                 .b = inside(data, GROUPED_B),
                                 .a_scales = inside(data, GROUPED_A_SCALES),
                                 .b_scales = inside(data, GROUPED_B_SCALES),
                                 .extents = inside(data, GROUPED_EXTENTS)};
    uint64_t sizes[BUFFER_COUNT];
    sizes_of(p, sizes);
    const size_t places = sizes[GROUPED_C] / sizeof(uint16_t);
    mem_free(data->reference);
    float *const c = data->reference = mem_alloc((places + 1) * sizeof *c);
    if (!c) return fail_no_memory();
    for (size_t i = 0; i < places; i++) c[i] = NAN; /* what is not written */
    return grouped_reference(&in, c);
}

static void arguments(const plan *p, const problem *data, void *const *device, void *args) {
    const grouped_shape *const s = shape_of(p);
    uint64_t sizes[BUFFER_COUNT];
    sizes_of(p, sizes);
    (void)data;
    cdnagen_buffer b[BUFFER_COUNT];
    for (int i = 0; i < BUFFER_COUNT; i++) b[i] = (cdnagen_buffer){gemm_buffer_inside(device[i]), sizes[i]};
    const cdnagen_gemm_grouped_args a = {.size = sizeof a,
                                         .a = b[GROUPED_A],
                                         .b = b[GROUPED_B],
                                         .a_scales = b[GROUPED_A_SCALES],
                                         .b_scales = b[GROUPED_B_SCALES],
                                         .c = b[GROUPED_C],
                                         .extents = b[GROUPED_EXTENTS],
                                         .workspace = b[GROUPED_WORKSPACE],
                                         .groups = s->groups,
                                         .m = s->m,
                                         .n = s->n,
                                         .k = s->k};
    memcpy(args, &a, sizeof a);
}

/* ---- grading ---- */

/* counters_of: with which the workspace begins. */
static uint64_t counters_of(const plan *p) {
    const grouped_variant *const v = (const grouped_variant *)p->variant;
    const grouped_shape *const s = shape_of(p);
    const grouped_tiles t = grouped_tiles_of(v, s, s->groups, s->m, s->n);
    return v->split_k ? (uint64_t)(t.rows * t.columns * t.slabs) : 0;
}

static cdnagen_status grade_outputs(const plan *p, const problem *data, void *const *back, grade *out) {
    const grouped_shape *const s = shape_of(p);
    void *const c = back[GROUPED_C], *const workspace = back[GROUPED_WORKSPACE];
    if (!data->reference || !c || !workspace)
        return fail(CDNAGEN_BAD_ARGUMENT, "gemm_grouped: grading needs the reference, c and the workspace");
    uint64_t sizes[BUFFER_COUNT];
    sizes_of(p, sizes);
    const grouped_result r = {.count = (int64_t)(sizes[GROUPED_C] / sizeof(uint16_t)),
                              .n = s->n,
                              .type = (gemm_out)s->out,
                              .data = (grouped_data)s->data,
                              .reference = data->reference,
                              .c = gemm_buffer_inside(c),
                              .poison = GEMM_POISON};
    grade g;
    grouped_grade(&r, &g);
    gemm_grade_rest(&data->buffers[GROUPED_C], c, &data->buffers[GROUPED_WORKSPACE], workspace, counters_of(p), &g);
    *out = g;
    return CDNAGEN_OK;
}

const workload grouped_workload = {.make = make,
                                   .reference = reference,
                                   .arguments = arguments,
                                   .grade_outputs = grade_outputs,
                                   .make_modelled = make_modelled};
