/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the operator's loop, surplus workgroups, registers and compiling may cost. */
#include <stdio.h>
#include <string.h>

#include "bench/grouped.h"
#include "gen/gemm_grouped/gemm_grouped.h"
#include "runtime/context.h"
#include "runtime/kernel.h"

static const char *mark(int miss, int *missed) {
    *missed += miss;
    return miss ? "MISSED" : "";
}

/* tag_of: a tile's tag as `auto` has it on the chip: with LDS DMA where there is one of 16 bytes. `rest` follows
 * "cs". */
typedef struct tag_text {
    char text[128];
} tag_text;
static tag_text tag_of(const chip *c, const char *tile, const char *rest) {
    tag_text t;
    const int takes_dma = gemm_has_dma(c) && strstr(tile, "_cs");
    const atom *const a = gemm_atom_of(c);
    snprintf(t.text, sizeof t.text, "gemm_grouped:mfma%dx%dx%d_%s%s%s", a->m, a->n, a->k, tile,
             takes_dma ? "_async" : "", rest);
    return t;
}

/* ---- the loop ---- */

/* clk_of: all launches of one tag together. */
static cdnagen_status clk_of(cdnagen *ctx, const target *t, const char *tag, int m, int k, const char *more,
                             double *clk) {
    enum { LAUNCHES = 16, STEP = 64 };
    *clk = 0;
    for (int i = 0; i < LAUNCHES; i++) {
        char words[128];
        double own;
        snprintf(words, sizeof words, "layout=sizes groups=8 m=%d n=7168 k=%d%s", m - i * m / STEP, k, more);
        TRY(modelled_clk(ctx, t, tag, words, &own));
        *clk += own;
    }
    return CDNAGEN_OK;
}

cdnagen_status grouped_rolled(cdnagen *ctx, const target *t, int *missed) {
    static const struct {
        const char *tag;
        int tiles, m, k;
        const char *words;
    } rows[] = {{"t128x128x128_wm2_cs", 16, 16384, 2048, ""},
                {"t128x128x128_cs", 16, 16384, 2048, " b=preshuffled"},
                {"t128x256x128_cs", 16, 16384, 2048, " b=preshuffled"},
                {"t64x256x128_cs", 16, 16384, 2048, " b=preshuffled"},
                {"t128x128x128_wm2_cs", 16, 16384, 2048, " scale=block"},
                {"t64x256x128_cs", 16, 16384, 2048, " scale=block b=preshuffled"},
                {"t64x64x256", 9, 1024, 2304, ""},
                {"t16x64x256", 8, 1024, 2048, " b=preshuffled"}};
    const double most = 1.03;
    printf(
        "\nK in a loop over K in straight-line code, n = 7168. How the workgroups of a CU fall in step moves a single "
        "launch by several percent: clk are of sixteen launches, with m, m - m / 64, ... m - 15 m / 64:\n\n"
        "| tag | m | k | clk modelled | ratio | at most | |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char rest[32];
        double rolled, unrolled;
        const char *const wpe = strstr(rows[i].tag, "_cs") ? "_wpe2" : "";
        snprintf(rest, sizeof rest, "_unroll%d%s", rows[i].tiles, wpe);
        const tag_text loop = tag_of(t->chip, rows[i].tag, wpe), straight = tag_of(t->chip, rows[i].tag, rest);
        TRY(clk_of(ctx, t, loop.text, rows[i].m, rows[i].k, rows[i].words, &rolled));
        TRY(clk_of(ctx, t, straight.text, rows[i].m, rows[i].k, rows[i].words, &unrolled));
        printf("| %s%s | %d | %d | %.0f, %.0f | %.3f | %.2f | %s |\n", strchr(loop.text, ':') + 1, rows[i].words,
               rows[i].m, rows[i].k, rolled, unrolled, rolled / unrolled, most, mark(rolled > most * unrolled, missed));
        fflush(stdout);
    }
    return CDNAGEN_OK;
}

/* ---- workgroups without a tile ---- */

/* split: a launch of layout=sizes whose groups have the same number of rows, or the first all of them. */
typedef struct split {
    int groups, m, n, k, first_has_all;
    double most; /* of the surplus; 0: told only */
} split;

/* bound: the launch's arguments in device memory. Operands have none of their own pages until something is written. */
typedef struct bound {
    void *device[PROBLEM_BUFFERS_MAX];
    _Alignas(16) unsigned char args[sizeof(cdnagen_gemm_grouped_args)];
    problem data;
} bound;

static cdnagen_status bind_launch(cdnagen *ctx, const plan *p, const split *s, bound *b, launch *out) {
    const workload *const w = p->family->workload;
    TRY(w->make_modelled(p, &b->data));
    for (size_t i = 0; i < b->data.buffer_count; i++) TRY(cdnagen_alloc(ctx, b->data.buffers[i].bytes, &b->device[i]));
    w->arguments(p, &b->data, b->device, b->args);
    const cdnagen_gemm_grouped_args *const a = (const cdnagen_gemm_grouped_args *)b->args;
    for (int g = 0; g < s->groups; g++) {
        const int64_t rows = s->first_has_all ? (g ? 0 : s->m) : s->m / s->groups;
        TRY(cdnagen_copy_to_device(ctx, (int64_t *)a->extents.ptr + g, &rows, sizeof rows));
    }
    if (a->workspace.bytes)
        TRY(cdnagen_copy_to_device(ctx, b->device[GROUPED_WORKSPACE], b->data.buffers[GROUPED_WORKSPACE].data,
                                   b->data.buffers[GROUPED_WORKSPACE].bytes));
    static const device_facts facts;
    return p->family->bind(p, &facts, b->args, out);
}

static cdnagen_status launch_clk(cdnagen *ctx, const cdnagen_kernel *kernel, const launch *l, double *clk) {
    static const sim_timing_options how = {.only = 1};
    const prepared *const p = kernel->prepared;
    size_t size = l->kernarg_bytes;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, (void *)l->kernarg, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     HIP_LAUNCH_PARAM_END};
    sim_timing timing;
    TRY(sim_timing_next(p->plan.target.chip, &how, &timing));
    const hip_error error = ctx->device.hip->module_launch_kernel(
        p->loaded->function, l->grid[0], l->grid[1], l->grid[2], p->plan.block[0], 1, 1, 0, NULL, NULL, extra);
    *clk = timing.kernel_clk;
    sim_timing_free(&timing);
    if (error) return fail(CDNAGEN_HIP, "a modelled launch: error %d", (int)error);
    return cdnagen_synchronize(ctx, NULL);
}

/* surplus_of: the launch as it is, and without the workgroups behind the last tile. */
static cdnagen_status surplus_of(cdnagen *ctx, const cdnagen_kernel *kernel, const split *s, double clk[2],
                                 uint32_t grid[2]) {
    const plan *const p = &kernel->prepared->plan;
    const grouped_variant *const v = (const grouped_variant *)p->variant;
    const int bm = TRIPLE_M(v->tile), share = s->first_has_all ? s->m : s->m / s->groups;
    const int64_t tiles = (int64_t)(s->first_has_all ? 1 : s->groups) * ((share + bm - 1) / bm);
    const grouped_tiles all = grouped_tiles_of(v, (const grouped_shape *)p->shape, s->groups, s->m, s->n);
    bound b = {.data.buffer_count = 0};
    launch l = {.skip = 0};
    cdnagen_status status = bind_launch(ctx, p, s, &b, &l);
    for (int i = 0; i < 2 && !status; i++) {
        grid[i] = i ? (uint32_t)(tiles * all.columns) : l.grid[0];
        l.grid[0] = grid[i];
        status = launch_clk(ctx, kernel, &l, &clk[i]);
    }
    for (size_t i = 0; i < PROBLEM_BUFFERS_MAX; i++)
        if (b.device[i]) cdnagen_free_memory(ctx, b.device[i]);
    problem_release(&b.data);
    return status;
}

cdnagen_status grouped_surplus(cdnagen *ctx, int *missed) {
    /* Each CU has as many workgroups with a tile, and as many without, so that the model looks at one like the
     * others; few enough that it looks at all of a CU's. */
    static const split rows[] = {
        {8, 2048, 8192, 4096, 0, 0.02},   {16, 4096, 4096, 4096, 0, 0.02},  {32, 8192, 2048, 4096, 0, 0.02},
        {64, 16384, 1024, 4096, 0, 0.02}, {64, 16384, 1024, 4096, 1, 0.02}, {8, 4096, 8192, 4096, 0, 0.02},
        {8, 4096, 8192, 4096, 1, 0.02},   {8, 128, 2048, 4096, 0, 0.02},    {64, 1024, 1024, 4096, 0, 0.02},
        {256, 4096, 512, 4096, 0, 0},     {4096, 4096, 64, 4096, 0, 0},     {4096, 4096, 64, 1024, 0, 0}};
    printf("\nWorkgroups that have no tile (layout=sizes, preshuffled): the launch, and the launch without them:\n\n"
           "| groups | m x n x k | tag | workgroups | without | clk modelled | cost | at most | |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const split *const s = &rows[i];
        cdnagen_kernel *kernel = NULL;
        char words[128], most[16] = "";
        double clk[2];
        uint32_t grid[2];
        snprintf(words, sizeof words, "layout=sizes b=preshuffled groups=%d m=%d n=%d k=%d", s->groups, s->m, s->n,
                 s->k);
        TRY(gen_kernel(ctx, "gemm_grouped:auto", words, &kernel));
        const cdnagen_status status = surplus_of(ctx, kernel, s, clk, grid);
        const double cost = status ? 0 : clk[0] / clk[1] - 1;
        if (s->most > 0) snprintf(most, sizeof most, "%.0f %%", 100 * s->most);
        if (!status)
            printf("| %d%s | %d x %d x %d | %s | %u | %u | %.0f, %.0f | %.1f %% | %s | %s |\n", s->groups,
                   s->first_has_all ? ", the first has all rows" : "", s->m, s->n, s->k, kernel->prepared->plan.tag,
                   grid[0], grid[1], clk[0], clk[1], 100 * cost, most, mark(s->most > 0 && cost > s->most, missed));
        fflush(stdout);
        cdnagen_free_kernel(kernel);
        TRY(status);
    }
    return CDNAGEN_OK;
}

/* ---- registers ---- */

cdnagen_status grouped_registers(int *missed) {
    static const struct {
        const char *target, *tile, *words;
    } rows[] = {{"gfx950", "t64x256x128_cs", "b=preshuffled"},
                {"gfx950", "t128x256x128_cs", "b=preshuffled"},
                {"gfx950", "t64x256x128_cs", "b=preshuffled scale=block"},
                {"gfx942", "t64x256x128_cs", "b=preshuffled"},
                {"gfx942", "t64x256x128_cs", "b=preshuffled scale=block"}};
    enum { VGPR_MOST = 256 };
    printf("\nTwo waves a SIMD asked of the widest preshuffled tile:\n\n"
           "| target | tag | VGPR | at most | spills | waves a SIMD | |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cdnagen_options options = {.size = sizeof options, .device = "none", .target = rows[i].target};
        cdnagen *ctx = NULL;
        cdnagen_kernel *kernel = NULL;
        cdnagen_kernel_info info = {.size = sizeof info};
        char words[96];
        target t;
        TRY(target_parse(rows[i].target, &t));
        const tag_text tag = tag_of(t.chip, rows[i].tile, "_wpe2");
        snprintf(words, sizeof words, "layout=sizes n=7168 k=2304 %s", rows[i].words);
        TRY(cdnagen_create_context(&options, &ctx));
        cdnagen_status s = gen_kernel(ctx, tag.text, words, &kernel);
        if (!s) s = cdnagen_get_kernel_info(kernel, &info);
        const uint32_t spills = info.vgpr_spills + info.sgpr_spills + info.scratch_bytes;
        if (!s)
            printf("| %s | %s %s | %u | %d | %u | %u | %s |\n", rows[i].target, info.tag, rows[i].words,
                   info.vgpr_allocated, VGPR_MOST, spills, info.waves_per_simd,
                   mark(info.vgpr_allocated > VGPR_MOST || spills, missed));
        cdnagen_free_kernel(kernel);
        cdnagen_free_context(ctx);
        TRY(s);
    }
    return CDNAGEN_OK;
}

/* ---- compiling ---- */

cdnagen_status grouped_compiling(const target *t, int *missed) {
    static const struct {
        const char *tile, *words;
    } rows[] = {{"t128x128x128_wm2_group8_cs", "layout=sizes n=4096"},
                {"t128x128x128_group8_cs", "layout=sizes n=4096 b=preshuffled"},
                {"t64x256x128_group16_cs", "layout=sizes n=4096 b=preshuffled"},
                {"t128x256x128_group8_cs", "layout=sizes n=4096 b=preshuffled"},
                {"t128x128x128_wm2_group8_cs", "layout=sizes n=4096 scale=block"},
                {"t64x256x128_group16_cs", "layout=sizes n=4096 scale=block b=preshuffled"},
                {"t128x128x128_wm2_cs", "layout=n_offsets n=4096"},
                {"t128x128x128_wm2_cs", "layout=k_offsets n=4096"},
                {"t16x64x256_sk8", "layout=sizes n=4096 b=preshuffled"}};
    const double most = 60;
    const cdnagen_options options = {.size = sizeof options, .device = "none", .target = t->text, .no_cache = 1};
    cdnagen *ctx = NULL;
    TRY(cdnagen_create_context(&options, &ctx));
    cdnagen_status s = CDNAGEN_OK;
    printf(
        "\nCompiling, warm, the median of seven; code of both lengths of K is as long:\n\n| tag | shape | ms, k=2048 | "
        "k=16384 | at most | bytes of code, k=2048 | k=16384 | |\n|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !s; i++) {
        static const int k[2] = {2048, 16384};
        char words[96];
        double ms[2];
        uint32_t size[2];
        const tag_text tag = tag_of(t->chip, rows[i].tile, strstr(rows[i].tile, "_cs") ? "_wpe2" : "");
        for (int j = 0; j < 2 && !s; j++) {
            snprintf(words, sizeof words, "%s k=%d", rows[i].words, k[j]);
            s = compile_ms(ctx, tag.text, words, &ms[j], &size[j]);
        }
        if (!s)
            printf("| %s | %s | %.1f | %.1f | %.0f | %u | %u | %s |\n", strchr(tag.text, ':') + 1, rows[i].words, ms[0],
                   ms[1], most, size[0], size[1], mark(ms[0] > most || ms[1] > most || size[0] != size[1], missed));
        fflush(stdout);
    }
    cdnagen_free_context(ctx);
    return s;
}
