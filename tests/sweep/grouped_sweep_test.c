/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gemm_grouped on the simulator: the families of groups that its public predecessors are tested with, at sizes that a
 * simulator takes, on both chips, graded by the operator's rules; and every form that takes tensors, end to end.
 * usage: sweep_gemm_grouped */
#include <stdlib.h>

#include "gen/gemm_grouped/gemm_grouped.h"
#include "sim/sim.h"
#include "study/check.h"
#include "tests/gen/testing.h"

enum { GUARD = 1024 };
#define OP "gemm_grouped:"

/* run_case: `tag` is without its mfma, which is the chip's; "auto" as it is. */
typedef struct run_case {
    const char *name, *tag, *words;
} run_case;

#define T128 "t128x128x128_cs_wpe2"
#define T64 "t64x128x128_cs"
static const run_case cases[] = {
    /* groups of rows: multiples of 64, one group, many, none */
    {"stacked, 1 group", "auto", "groups=1 m=128 n=128 k=128 extents=128"},
    {"stacked, 16 groups", T128, "groups=16 m=512 n=128 k=256"},
    {"stacked, 64 groups", T64, "groups=64 m=256 n=64 k=128"},
    {"stacked, no rows", "auto", "groups=1 m=0 n=128 k=128"},
    {"2D-3D, 16 groups", T128, "layout=offsets groups=16 m=512 n=128 k=256"},
    {"2D-3D, multiples of 64", T64, "layout=offsets groups=4 m=512 n=128 k=256 extents=64,128,192,128"},
    {"2D-3D, benchmark data", T128, "layout=offsets groups=4 m=200 n=128 k=512 data=benchmark"},
    /* groups of columns */
    {"3D-2D, 4 groups", T128, "layout=n_offsets groups=4 m=64 n=512 k=256 extents=64,192,128,128"},
    {"3D-2D, 264 twice", T128, "layout=n_offsets groups=2 m=128 n=528 k=256 extents=264,264 data=coherent"},
    {"3D-2D, 8 504 128", T64, "layout=n_offsets groups=3 m=128 n=640 k=256 extents=8,504,128 data=coherent"},
    {"3D-2D, 1024 264 8", T128, "layout=n_offsets groups=3 m=128 n=1296 k=256 extents=1024,264,8 data=coherent"},
    /* groups of K */
    {"2D-2D, equal", T128, "layout=k_offsets groups=4 m=128 n=128 k=512 extents=128,128,128,128"},
    {"2D-2D, 288 four times", T128,
     "layout=k_offsets groups=4 m=128 n=256 k=1152 extents=288,288,288,288 data=coherent"},
    {"2D-2D, 192 320", T64, "layout=k_offsets groups=2 m=128 n=256 k=512 extents=192,320 data=coherent"},
    {"2D-2D, 16 512 128 368", T128,
     "layout=k_offsets groups=4 m=128 n=256 k=1024 extents=16,512,128,368 data=coherent"},
    {"2D-2D, 0 256 256 512", T128, "layout=k_offsets groups=4 m=128 n=256 k=1024 extents=0,256,256,512 data=coherent"},
    {"2D-2D, an empty group left", T128,
     "layout=k_offsets groups=4 m=128 n=256 k=1024 extents=256,0,256,512 data=coherent empty_k=leave"},
    /* slabs */
    {"3D-3D", T64, "layout=batched groups=2 m=256 n=128 k=256"},
    {"3D-3D, slabs of 1", T128, "layout=batched groups=4 m=1 n=256 k=256"},
    {"3D-3D, slabs of 64", T128, "layout=batched groups=4 m=64 n=256 k=256"},
    {"3D-3D, slabs of 100", T128, "layout=batched groups=4 m=100 n=256 k=256 data=coherent"},
    {"3D-3D, slabs of 192", T128, "layout=batched groups=4 m=192 n=256 k=256 data=coherent"},
    {"3D-3D, slabs of 255", T128, "layout=batched groups=4 m=255 n=256 k=256 data=coherent"},
    {"dynamic, 16 groups", T128, "layout=padded groups=16 m=64 n=128 k=256"},
    {"dynamic, coherent", T64, "layout=padded groups=4 m=100 n=128 k=256 data=coherent"},
    /* preshuffled */
    {"stacked preshuffled", T128, "groups=4 m=284 n=256 k=256 b=preshuffled extents=64,128,32,60"},
    {"2D-3D preshuffled", T64, "layout=offsets groups=4 m=284 n=256 k=256 b=preshuffled data=exact"},
    {"3D-3D preshuffled", T128, "layout=batched groups=4 m=128 n=256 k=256 b=preshuffled"},
    {"dynamic preshuffled", T128, "layout=padded groups=4 m=128 n=256 k=256 b=preshuffled"},
    /* scales of blocks */
    {"groupwise, 128 64", T64, "groups=2 m=192 n=128 k=256 scale=block extents=128,64"},
    {"groupwise, 512 256 128", T128, "groups=3 m=896 n=256 k=512 scale=block extents=512,256,128"},
    {"groupwise, 1 128 256", T64, "groups=3 m=385 n=128 k=256 scale=block extents=1,128,256"},
    {"groupwise preshuffled, 1 128 256", "t128x128x128_wm2_cs_wpe2",
     "groups=3 m=385 n=128 k=256 scale=block b=preshuffled extents=1,128,256"},
    {"groupwise preshuffled, exact", T64, "groups=3 m=385 n=256 k=384 scale=block b=preshuffled data=exact"},
    /* tails of K and N, odd groups, what no group has */
    {"K and N with tails", T128, "groups=3 m=150 n=200 k=272"},
    {"K and N with tails, exact", T64, "groups=3 m=150 n=1000 k=528 data=exact"},
    {"groups of one row", T64, "groups=5 m=5 n=128 k=256 extents=1,1,1,1,1 data=coherent"},
    {"more groups than rows", T64, "groups=40 m=7 n=64 k=128"},
    {"all rows in the last group", T64, "groups=4 m=100 n=128 k=256 extents=0,0,0,100"},
    {"rows that no group has", T64, "groups=3 m=200 n=128 k=256 extents=70,0,60"},
    {"f16", T64, "layout=offsets groups=3 m=150 n=200 k=272 out=f16 data=exact"},
    /* starved launches */
    {"total M of 1", "auto", "groups=8 m=1 n=512 k=1024 extents=0,0,0,1,0,0,0,0"},
    {"few rows, deep K", "auto", "groups=4 m=24 n=128 k=2048"},
    /* nothing to multiply */
    {"K of 0", "auto", "groups=3 m=20 n=64 k=0"},
    {"K of 0, padded", "auto", "layout=padded groups=3 m=20 n=64 k=0"},
    {"K of 0, no group has any", "auto", "layout=k_offsets groups=3 m=20 n=64 k=0 empty_k=leave"},
};

static cdnagen *contexts[CHIP_COUNT];

static void open_contexts(void) {
    for (int i = 0; i < CHIP_COUNT; i++) {
        const cdnagen_options options = {.size = sizeof options,
                                         .device = "sim",
                                         .target = chips[i].name,
                                         .sim_mode = "",
                                         .cache_dir = "",
                                         .log = no_log};
        const char *name;
        if (cdnagen_create_context(&options, &contexts[i]) || cdnagen_device_name(contexts[i], &name))
            fail_msg("%s", cdnagen_error());
    }
}

/* simulate: the context of the chip, which the simulator now is. */
static cdnagen *simulate(int which, const char *mode) {
    const hip_table *table;
    if (sim_open(&chips[which], mode, &table)) fail_msg("%s: %s", mode, cdnagen_error());
    return contexts[which];
}

static void a_case(void **state) {
    static const char *const modes[] = {"late poison check=all threads=1", "late threads=1", "poison threads=2"};
    const run_case *const c = *state;
    for (int which = 0; which < CHIP_COUNT; which++) {
        char tag[160];
        const char *const prefix = chips[which].lds_dma_bytes >= 16 ? "mfma16x16x128_" : "mfma16x16x32_";
        snprintf(tag, sizeof tag, OP "%s%s", strcmp(c->tag, "auto") ? prefix : "", c->tag);
        cdnagen *const ctx = simulate(which, modes[(size_t)(c - cases + which) % COUNT(modes)]);
        const target t = target_of(chips[which].name);
        cdnagen_kernel *kernel = NULL;
        plan p;
        if (plan_make(tag, c->words, &t, 0, &p) || gen_kernel(ctx, tag, c->words, &kernel))
            fail_msg("%s: %s", tag, cdnagen_error());
        cdnagen_kernel_info info = {.size = sizeof info};
        assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
        if (info.vgpr_spills || info.scratch_bytes || info.agpr) fail_msg("%s %s spills", tag, c->words);
        const check_options how = {.seed = (uint64_t)(c - cases)};
        check_report report;
        if (check_run(ctx, kernel, &p, &how, &report)) fail_msg("%s: %s", tag, cdnagen_error());
        if (!report.grade.pass) fail_msg("%s %s: %s", tag, c->words, report.grade.first);
        cdnagen_free_kernel(kernel);
    }
}

/* ---- forms ---- */

typedef struct tensors {
    cdnagen_tensor xq, wq, x_scale, w_scale, extents, out;
} tensors;

typedef cdnagen_status form_call(cdnagen *ctx, const tensors *t);
static cdnagen_status stacked(cdnagen *ctx, const tensors *t) {
    return cdnagen_rowwise_grouped_stacked(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale, &t->extents, &t->out, NULL);
}
static cdnagen_status stacked_preshuffle(cdnagen *ctx, const tensors *t) {
    return cdnagen_rowwise_grouped_stacked_preshuffle(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale, &t->extents,
                                                      &t->out, NULL);
}
static cdnagen_status dynamic(cdnagen *ctx, const tensors *t) {
    return cdnagen_rowwise_grouped_dynamic(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale, &t->extents, 1, &t->out,
                                           NULL);
}
static cdnagen_status dynamic_preshuffle(cdnagen *ctx, const tensors *t) {
    return cdnagen_rowwise_grouped_dynamic_preshuffle(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale, &t->extents, 1,
                                                      &t->out, NULL);
}
static cdnagen_status mm(cdnagen *ctx, const tensors *t) {
    return cdnagen_rowwise_grouped_mm(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale,
                                      t->extents.rank ? &t->extents : NULL, &t->out, NULL);
}
static cdnagen_status mm_preshuffle(cdnagen *ctx, const tensors *t) {
    return cdnagen_rowwise_grouped_mm_preshuffle(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale,
                                                 t->extents.rank ? &t->extents : NULL, &t->out, NULL);
}
static cdnagen_status groupwise(cdnagen *ctx, const tensors *t) {
    return cdnagen_groupwise_grouped(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale, &t->extents, &t->out, NULL);
}
static cdnagen_status groupwise_preshuffle(cdnagen *ctx, const tensors *t) {
    return cdnagen_groupwise_grouped_preshuffle(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale, &t->extents, &t->out,
                                                NULL);
}

static const struct {
    form_call *call;
    cdnagen_grouped_form form;
    const char *words;
} forms[] = {
    {stacked, CDNAGEN_GROUPED_STACKED, "layout=sizes"},
    {stacked_preshuffle, CDNAGEN_GROUPED_STACKED_PRESHUFFLE, "layout=sizes b=preshuffled"},
    {dynamic, CDNAGEN_GROUPED_DYNAMIC, "layout=padded"},
    {dynamic_preshuffle, CDNAGEN_GROUPED_DYNAMIC_PRESHUFFLE, "layout=padded b=preshuffled"},
    {mm, CDNAGEN_GROUPED_MM, "layout=offsets"},
    {mm, CDNAGEN_GROUPED_MM, "layout=batched"},
    {mm, CDNAGEN_GROUPED_MM, "layout=n_offsets"},
    {mm, CDNAGEN_GROUPED_MM, "layout=k_offsets empty_k=leave"},
    {mm_preshuffle, CDNAGEN_GROUPED_MM_PRESHUFFLE, "layout=offsets b=preshuffled"},
    {mm_preshuffle, CDNAGEN_GROUPED_MM_PRESHUFFLE, "layout=batched b=preshuffled"},
    {groupwise, CDNAGEN_GROUPED_GROUPWISE, "layout=sizes scale=block"},
    {groupwise_preshuffle, CDNAGEN_GROUPED_GROUPWISE_PRESHUFFLE, "layout=sizes scale=block b=preshuffled"},
};

static cdnagen_tensor matrix(void *ptr, int type, int slabs, int64_t groups, int64_t rows, int64_t columns) {
    cdnagen_tensor t = {.ptr = ptr, .type = type};
    if (slabs) t.size[t.rank++] = groups;
    t.size[t.rank++] = rows;
    t.size[t.rank++] = columns;
    return t;
}

static cdnagen_tensor vector(void *ptr, int type, int64_t count) {
    return (cdnagen_tensor){.ptr = ptr, .type = type, .rank = count ? 1 : 0, .size = {count}};
}

static tensors tensors_of(const plan *p, void *const *device) {
    const grouped_shape *const s = (const grouped_shape *)p->shape;
    const grouped_traits *const t = &grouped_layouts[s->layout];
    const grouped_problem lengths = {(grouped_layout)s->layout, (grouped_scale)s->scale, s->groups, s->m, s->n, s->k};
    const int fp8 = p->target.chip->fp8 == CDNAGEN_FP8_E4M3FN ? CDNAGEN_TYPE_E4M3FN : CDNAGEN_TYPE_E4M3FNUZ;
    int64_t elements[GROUPED_WORKSPACE];
    char *at[GROUPED_WORKSPACE];
    grouped_lengths(&lengths, elements);
    for (int i = 0; i < GROUPED_WORKSPACE; i++) at[i] = (char *)device[i] + GUARD;
    return (tensors){matrix(at[GROUPED_A], fp8, t->a_slabs, s->groups, s->m, s->k),
                     matrix(at[GROUPED_B], fp8, t->b_slabs, s->groups, s->n, s->k),
                     vector(at[GROUPED_A_SCALES], CDNAGEN_TYPE_F32, elements[GROUPED_A_SCALES]),
                     vector(at[GROUPED_B_SCALES], CDNAGEN_TYPE_F32, elements[GROUPED_B_SCALES]),
                     vector(at[GROUPED_EXTENTS], t->extent_bytes == 8 ? CDNAGEN_TYPE_I64 : CDNAGEN_TYPE_I32,
                            elements[GROUPED_EXTENTS]),
                     matrix(at[GROUPED_C], CDNAGEN_TYPE_BF16, t->c_slabs, s->groups, s->m, s->n)};
}

static void run_form(int which, size_t row) {
    char words[160];
    snprintf(words, sizeof words, "%s groups=3 m=70 n=256 k=256", forms[row].words);
    const plan p = plan_on(chips[which].name, OP "auto", words);
    const workload *const w = p.family->workload;
    cdnagen *const ctx = simulate(which, "late poison check=all threads=1");
    problem data;
    void *device[PROBLEM_BUFFERS_MAX], *back[PROBLEM_BUFFERS_MAX] = {NULL};
    if (w->make(&p, row, &data) || w->reference(&p, &data)) fail_msg("%s: %s", words, cdnagen_error());
    for (size_t b = 0; b < data.buffer_count; b++)
        if (cdnagen_alloc(ctx, data.buffers[b].bytes, &device[b]) ||
            cdnagen_copy_to_device(ctx, device[b], data.buffers[b].data, data.buffers[b].bytes))
            fail_msg("%s", cdnagen_error());
    const tensors t = tensors_of(&p, device);
    cdnagen_tensor out;
    if (cdnagen_grouped_output(forms[row].form, &t.xq, &t.wq, t.extents.rank ? &t.extents : NULL, &out) ||
        forms[row].call(ctx, &t) || cdnagen_synchronize(ctx, NULL))
        fail_msg("%s: %s", words, cdnagen_error());
    assert_true(out.rank == t.out.rank && !memcmp(out.size, t.out.size, sizeof out.size));
    for (size_t b = 0; b < data.buffer_count; b++) {
        back[b] = malloc(data.buffers[b].bytes);
        assert_non_null(back[b]);
        if (cdnagen_copy_to_host(ctx, back[b], device[b], data.buffers[b].bytes)) fail_msg("%s", cdnagen_error());
        cdnagen_free_memory(ctx, device[b]);
    }
    grade g;
    assert_int_equal(w->grade_outputs(&p, &data, back, &g), CDNAGEN_OK);
    if (!g.pass) fail_msg("%s on %s: %s", words, chips[which].name, g.first);
    for (size_t b = 0; b < data.buffer_count; b++) free(back[b]);
    w->release(&data);
}

static void forms_end_to_end(void **state) {
    (void)state;
    for (int which = 0; which < CHIP_COUNT; which++)
        for (size_t row = 0; row < COUNT(forms); row++) run_form(which, row);
}

int main(void) {
    struct CMUnitTest tests[COUNT(cases) + 1];
    for (size_t i = 0; i < COUNT(cases); i++)
        tests[i] = (struct CMUnitTest){cases[i].name, a_case, NULL, NULL, (void *)(uintptr_t)&cases[i]};
    tests[COUNT(cases)] = (struct CMUnitTest)cmocka_unit_test(forms_end_to_end);
    open_contexts();
    const int failed = _cmocka_run_group_tests("gemm_grouped", tests, COUNT(tests), NULL, NULL);
    for (int i = 0; i < CHIP_COUNT; i++) cdnagen_free_context(contexts[i]);
    return failed != 0;
}
