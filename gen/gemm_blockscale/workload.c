/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Data for a run: operands between guards of NaN, scales no two neighbours of which agree, a poisoned output. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/fp8.h"
#include "core/integer.h"
#include "core/random.h"
#include "gen/gemm/buffers.h"
#include "gen/gemm/draw.h"
#include "gen/gemm_blockscale/gemm_blockscale.h"

/* Buffers are in the order of the pointers of blockscale_kernarg. */
enum { BUFFER_COUNT = BLOCKSCALE_WORKSPACE + 1, PAD_UNIT = 16 };

/* layout: where a problem's parts are. Bytes of a buffer are those between its guards. */
typedef struct layout {
    int64_t m, n, k, k_blocks;
    int64_t a_scale_rows, b_scale_rows; /* that share no scale */
    int64_t a_stride, b_stride, a_scales_stride, b_scales_stride, c_stride;
    int scale_bytes;
    size_t bytes[BUFFER_COUNT];
} layout;

static layout layout_of(const blockscale_variant *v, const blockscale_shape *s) {
    layout l = {.m = s->m, .n = s->n, .k = s->k, .k_blocks = ceil_div(s->k, GEMM_SCALE_K)};
    const int64_t pad = s->pad * PAD_UNIT;
    const int is_k_major = s->a_scales == GEMM_SCALES_K_MAJOR, is_packed = s->b == GEMM_B_PRESHUFFLED;
    l.a_scale_rows = ceil_div(s->m, s->scale_m);
    l.b_scale_rows = ceil_div(s->n, s->scale_n);
    l.a_stride = round_up(s->k, GEMM_ROW_ALIGN) + pad;
    l.b_stride = is_packed ? s->k : l.a_stride;
    l.a_scales_stride = (is_k_major ? l.a_scale_rows : l.k_blocks) + s->pad;
    l.b_scales_stride = l.k_blocks + s->pad;
    l.c_stride = (v->cshuffle ? round_up(s->n, GEMM_CS_COLUMNS) : s->n) + pad;
    l.scale_bytes = s->scales == GEMM_SCALES_F32 ? 4 : 1;
    const int64_t a_scale_lines = is_k_major ? l.k_blocks : l.a_scale_rows;
    l.bytes[BLOCKSCALE_A] = (size_t)(l.m * l.a_stride);
    l.bytes[BLOCKSCALE_B] = (size_t)(l.n * l.b_stride);
    l.bytes[BLOCKSCALE_A_SCALES] = (size_t)(a_scale_lines * l.a_scales_stride * l.scale_bytes);
    l.bytes[BLOCKSCALE_B_SCALES] = (size_t)(l.b_scale_rows * l.b_scales_stride * l.scale_bytes);
    l.bytes[BLOCKSCALE_C] = (size_t)(l.m * l.c_stride) * sizeof(uint16_t);
    l.bytes[BLOCKSCALE_WORKSPACE] = blockscale_workspace_bytes(v, s->m, s->n);
    return l;
}

static layout layout_of_plan(const plan *p) {
    return layout_of((const blockscale_variant *)p->variant, (const blockscale_shape *)p->shape);
}

static void *inside(const problem *p, blockscale_kernarg which) { return gemm_buffer_inside(p->buffers[which].data); }

static uint8_t nan_of(fp8_kind kind) { return fp8_from_f32(kind, NAN); }

/* make_rows: rows of k bytes; what lies between them is NaN. */
static void make_rows(const uint8_t draws[DRAWS], uint8_t nan, uint64_t seed, int64_t rows, int64_t k, int64_t stride,
                      uint8_t *out) {
    for (int64_t r = 0; r < rows; r++) {
        draw_row(draws, seed, r, k, out + r * stride);
        memset(out + r * stride + k, nan, (size_t)(stride - k));
    }
}

/* ---- scales ---- */

/* exact_exponent: 0 to 3, and another one for each neighbour in both directions. */
static int exact_exponent(int64_t row, int64_t block) { return (int)((row + row / 4 + 2 * block + block / 2) & 3); }

/* scale_at: of a row and K block. unit is what makes sums of k products about 1 large. */
static float scale_at(gemm_data data, gemm_scale_type type, uint64_t seed, float unit, int64_t row, int64_t block) {
    enum { EXACT_SHIFT = -8 }; /* so that sums stay within f16 */
    if (data == GEMM_EXACT) return ldexpf(1, exact_exponent(row, block) + EXACT_SHIFT);
    uint64_t state = seed ^ ((uint64_t)row << 32 | (uint64_t)block);
    const double size = 0.25 + 1.75 * random_uniform(&state);
    if (type == GEMM_SCALES_F32) return (float)size * unit;
    return ldexpf(1, (int)floor(log2(size * (double)unit)) + (int)((row + 2 * block) & 3) - 2);
}

/* make_scales: of A or B; NaN where no scale belongs. */
static void make_scales(const layout *l, const blockscale_shape *s, problem *data, blockscale_kernarg which,
                        uint64_t seed, float unit) {
    const int is_a = which == BLOCKSCALE_A_SCALES, is_k_major = is_a && s->a_scales == GEMM_SCALES_K_MAJOR;
    const int64_t rows = is_a ? l->a_scale_rows : l->b_scale_rows;
    const int64_t stride = is_a ? l->a_scales_stride : l->b_scales_stride;
    void *const out = inside(data, which);
    memset(out, 0xff, l->bytes[which]);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t block = 0; block < l->k_blocks; block++) {
            const float scale = scale_at((gemm_data)s->data, (gemm_scale_type)s->scales, seed, unit, row, block);
            const int64_t at = is_k_major ? block * stride + row : row * stride + block;
            if (s->scales == GEMM_SCALES_F32)
                ((float *)out)[at] = scale;
            else
                ((uint8_t *)out)[at] = (uint8_t)(ilogbf(scale) + 127);
        }
}

/* ---- the family's workload ---- */

/* start: buffers of the plan's shape, without data. */
static cdnagen_status start(const plan *p, uint64_t seed, problem *out) {
    static const char *const names[BUFFER_COUNT] = {"a", "b", "a_scales", "b_scales", "c", "workspace"};
    const blockscale_shape *const s = (const blockscale_shape *)p->shape;
    if (s->m < 0 || s->n < 0 || s->k < 0)
        return fail(CDNAGEN_BAD_SHAPE, "gemm_blockscale: a run needs %s in its shape, as in m=64 n=512 k=1024",
                    s->m < 0   ? "m"
                    : s->n < 0 ? "n"
                               : "k");
    /* 2^24 holds a sum of blocks of 128 products of 4, each times 2^6. */
    enum { EXACT_BLOCKS_MAX = (1 << 24) / (GEMM_SCALE_K * 4 << 6) };
    const layout l = layout_of_plan(p);
    if (s->data == GEMM_EXACT && l.k_blocks > EXACT_BLOCKS_MAX)
        return fail(CDNAGEN_BAD_SHAPE, "gemm_blockscale: data=exact holds for k up to %d, not %lld",
                    EXACT_BLOCKS_MAX * GEMM_SCALE_K, (long long)s->k);
    *out = (problem){.seed = seed, .buffer_count = BUFFER_COUNT};
    memcpy(out->shape, s, sizeof *s);
    for (int i = 0; i < BUFFER_COUNT; i++) TRY(gemm_buffer(names[i], l.bytes[i], i >= BLOCKSCALE_C, &out->buffers[i]));
    return CDNAGEN_OK;
}

static cdnagen_status fill(const plan *p, problem *data) {
    const blockscale_shape *const s = (const blockscale_shape *)p->shape;
    const layout l = layout_of_plan(p);
    const fp8_kind a_kind = chip_fp8(p->target.chip, s->a_fp8), b_kind = chip_fp8(p->target.chip, s->b_fp8);
    uint64_t state = data->seed;
    uint64_t seeds[BUFFER_COUNT];
    for (int i = 0; i < BUFFER_COUNT; i++) seeds[i] = random64(&state);
    uint8_t draws[DRAWS];
    draw_bytes(s->data == GEMM_EXACT, a_kind, seeds[BLOCKSCALE_C], draws);
    make_rows(draws, nan_of(a_kind), seeds[BLOCKSCALE_A], l.m, l.k, l.a_stride, inside(data, BLOCKSCALE_A));
    draw_bytes(s->data == GEMM_EXACT, b_kind, seeds[BLOCKSCALE_WORKSPACE], draws);
    if (s->b == GEMM_B_PLAIN) {
        make_rows(draws, nan_of(b_kind), seeds[BLOCKSCALE_B], l.n, l.k, l.b_stride, inside(data, BLOCKSCALE_B));
    } else {
        uint8_t *const rows = mem_alloc((size_t)(l.n * l.k) + 1);
        if (!rows) return fail_no_memory();
        make_rows(draws, nan_of(b_kind), seeds[BLOCKSCALE_B], l.n, l.k, l.k, rows);
        gemm_pack(rows, l.k, l.n, l.k, inside(data, BLOCKSCALE_B));
        mem_free(rows);
    }
    /* Products are as large as the squares of the widths that the draws have. */
    const float a_unit = 4 / fp8_max(a_kind), b_unit = 4 / fp8_max(b_kind);
    make_scales(&l, s, data, BLOCKSCALE_A_SCALES, seeds[BLOCKSCALE_A_SCALES], a_unit);
    make_scales(&l, s, data, BLOCKSCALE_B_SCALES, seeds[BLOCKSCALE_B_SCALES], b_unit);
    gemm_buffer_poison(&data->buffers[BLOCKSCALE_C]);
    return CDNAGEN_OK;
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

/* No value decides an address or a branch but the counters of the workspace. */
static cdnagen_status make_modelled(const plan *p, problem *out) {
    problem data = {0};
    TRY(start(p, 0, &data));
    const cdnagen_status status = gemm_buffer_allocate(&data.buffers[BLOCKSCALE_WORKSPACE]);
    if (status) return problem_release(&data), status;
    *out = data;
    return CDNAGEN_OK;
}

static cdnagen_status reference(const plan *p, problem *data) {
    const blockscale_shape *const s = (const blockscale_shape *)p->shape;
    const layout l = layout_of_plan(p);
    const blockscale_operands in = {.m = l.m,
                                    .n = l.n,
                                    .k = l.k,
                                    .a_fp8 = chip_fp8(p->target.chip, s->a_fp8),
                                    .b_fp8 = chip_fp8(p->target.chip, s->b_fp8),
                                    .b_layout = (gemm_b_layout)s->b,
                                    .a_scale_layout = (gemm_scale_layout)s->a_scales,
                                    .scale_type = (gemm_scale_type)s->scales,
                                    .scale_m = s->scale_m,
                                    .scale_n = s->scale_n,
                                    .a = inside(data, BLOCKSCALE_A),
                                    .b = inside(data, BLOCKSCALE_B),
                                    .a_scales = inside(data, BLOCKSCALE_A_SCALES),
                                    .b_scales = inside(data, BLOCKSCALE_B_SCALES),
                                    .a_stride = l.a_stride,
                                    .b_stride = l.b_stride,
                                    .a_scales_stride = l.a_scales_stride,
                                    .b_scales_stride = l.b_scales_stride};
    mem_free(data->reference);
    data->reference = mem_alloc((size_t)(l.m * l.n + 1) * sizeof(float));
    return data->reference ? blockscale_reference(&in, data->reference) : fail_no_memory();
}

static void arguments(const plan *p, const problem *data, void *const *device, void *args) {
    const layout l = layout_of_plan(p);
    (void)data;
    cdnagen_buffer b[BUFFER_COUNT];
    for (int i = 0; i < BUFFER_COUNT; i++) b[i] = (cdnagen_buffer){gemm_buffer_inside(device[i]), l.bytes[i]};
    const cdnagen_gemm_blockscale_args a = {.size = sizeof a,
                                            .a = b[BLOCKSCALE_A],
                                            .b = b[BLOCKSCALE_B],
                                            .a_scales = b[BLOCKSCALE_A_SCALES],
                                            .b_scales = b[BLOCKSCALE_B_SCALES],
                                            .c = b[BLOCKSCALE_C],
                                            .workspace = b[BLOCKSCALE_WORKSPACE],
                                            .m = l.m,
                                            .n = l.n,
                                            .k = l.k,
                                            .a_stride = l.a_stride,
                                            .b_stride = l.b_stride,
                                            .a_scales_stride = l.a_scales_stride,
                                            .b_scales_stride = l.b_scales_stride,
                                            .c_stride = l.c_stride};
    memcpy(args, &a, sizeof a);
}

/* ---- grading ---- */

/* counters_of: with which the workspace begins. */
static uint64_t counters_of(const plan *p) {
    const blockscale_variant *const v = (const blockscale_variant *)p->variant;
    const blockscale_shape *const s = (const blockscale_shape *)p->shape;
    return v->split_k ? (uint64_t)blockscale_tiles_of(v, s->m, s->n).count : 0;
}

static cdnagen_status grade_outputs(const plan *p, const problem *data, void *const *back, grade *out) {
    const blockscale_shape *const s = (const blockscale_shape *)p->shape;
    const layout l = layout_of_plan(p);
    void *const c = back[BLOCKSCALE_C], *const workspace = back[BLOCKSCALE_WORKSPACE];
    if (!data->reference || !c || !workspace)
        return fail(CDNAGEN_BAD_ARGUMENT, "gemm_blockscale: grading needs the reference, c and the workspace");
    const gemm_result r = {.m = l.m,
                           .n = l.n,
                           .stride = l.c_stride,
                           .type = (gemm_out)s->out,
                           .reference = data->reference,
                           .c = gemm_buffer_inside(c),
                           .exact = s->data == GEMM_EXACT,
                           .poison = GEMM_POISON};
    grade g;
    gemm_grade(&r, &g);
    gemm_grade_rest(&data->buffers[BLOCKSCALE_C], c, &data->buffers[BLOCKSCALE_WORKSPACE], workspace, counters_of(p),
                    &g);
    *out = g;
    return CDNAGEN_OK;
}

const workload blockscale_workload = {.make = make,
                                      .reference = reference,
                                      .arguments = arguments,
                                      .grade_outputs = grade_outputs,
                                      .make_modelled = make_modelled};
