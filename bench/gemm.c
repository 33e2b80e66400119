/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gemm_blockscale in the timing model, beside what was published of such kernels on hardware; and what compiling
 * costs. */
#include <cdnagen.h>
#include <stdio.h>
#include <string.h>

#include "bench/modelled.h"

#define ATOM "gemm_blockscale:mfma16x16x128_"
#define FOUR_WAVES ATOM "t64x256x128_4w_"
#define EIGHT_WAVES ATOM "t128x256x128_8w_"

/* comparison: how much longer `other` takes than `tag`; expected between least and most. */
typedef struct comparison {
    const char *lengths, *what, *tag, *other;
    double least, most;
    const char *published; /* of hardware, MI355X; source: AMD-AGI GEAK, expert card of this operator */
} comparison;

#define NOISE_LEAST 0.95
#define NOISE_MOST 1.05
#define DOWN "m=16384 n=7168 k=768"
#define QKV "m=4096 n=2048 k=7168"
#define Q_UP "m=4096 n=65536 k=1536"
static const comparison comparisons[] = {
    {DOWN, "8 waves over 4 waves", FOUR_WAVES "cs_async_wpe2", EIGHT_WAVES "cluster", 1, 9, "1.14"},
    {DOWN, "panel8 over no map", FOUR_WAVES "cs_async_wpe2", FOUR_WAVES "panel8_cs_async_wpe2", NOISE_LEAST, NOISE_MOST,
     "noise"},
    {DOWN, "fused over inline", FOUR_WAVES "cs_async_wpe2", FOUR_WAVES "fused_cs_async_wpe2", NOISE_LEAST, NOISE_MOST,
     "noise"},
    {QKV, "delayed over cluster", EIGHT_WAVES "cluster", EIGHT_WAVES "delayed", 1, 9, "1.03"},
    {QKV, "4 waves over delayed", EIGHT_WAVES "delayed", FOUR_WAVES "cs_async_wpe2", 1, 9, "1.19 over cluster"},
    {QKV, "panel8 over no map", EIGHT_WAVES "cluster", EIGHT_WAVES "cluster_panel8", NOISE_LEAST, NOISE_MOST, "no-op"},
    {QKV, "cluster over its twin", EIGHT_WAVES "cluster_xtwin", EIGHT_WAVES "cluster", 1.3, 1.44, "1.37"},
    {Q_UP, "no map over panel8", FOUR_WAVES "panel8_cs_async_wpe2", FOUR_WAVES "cs_async_wpe2", 1.1, 1.3, "1.2"},
    {Q_UP, "panel8 over its twin", FOUR_WAVES "panel8_cs_async_xtwin_wpe2", FOUR_WAVES "panel8_cs_async_wpe2", 0.98,
     1.02, "1.017"},
};
enum { COMPARISONS = sizeof comparisons / sizeof *comparisons };

/* launch_clk: of the launch in the model. */
static cdnagen_status launch_clk(cdnagen *ctx, const target *t, const char *tag, const char *lengths, double *clk) {
    char shape[128];
    snprintf(shape, sizeof shape, "%s b=preshuffled a_scales=kmajor", lengths);
    return modelled_clk(ctx, t, tag, shape, clk);
}

static cdnagen_status compare_all(cdnagen *ctx, const target *t, int *missed) {
    printf("| m x n x k | | clk modelled | ratio | expected | published | |\n|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < COMPARISONS; i++) {
        const comparison *const c = &comparisons[i];
        double clk = 0, other = 0;
        TRY(launch_clk(ctx, t, c->tag, c->lengths, &clk));
        TRY(launch_clk(ctx, t, c->other, c->lengths, &other));
        const double ratio = other / clk;
        const int miss = ratio < c->least || ratio > c->most;
        *missed += miss;
        char expected[32];
        if (c->most < 9)
            snprintf(expected, sizeof expected, "%.2f to %.2f", c->least, c->most);
        else
            snprintf(expected, sizeof expected, "over %.2f", c->least);
        printf("| %s | %s | %.0f, %.0f | %.3f | %s | %s | %s |\n", c->lengths, c->what, other, clk, ratio, expected,
               c->published, miss ? "MISSED" : "");
        fflush(stdout);
    }
    return CDNAGEN_OK;
}

/* ---- compiling ---- */

static cdnagen_status compile_all(const target *t, int *missed) {
    static const struct {
        const char *tag;
        double most; /* ms */
    } rows[] = {{FOUR_WAVES "cs_async_wpe2", 60},
                {FOUR_WAVES "panel8_cs_async_wpe2", 60},
                {FOUR_WAVES "fused_cs_async_wpe2", 60},
                {ATOM "t64x128x128_4w_cs", 60},
                {ATOM "t32x64x128_4w", 60},
                {EIGHT_WAVES "cluster", 120},
                {ATOM "t192x256x128_8w_cluster", 120}};
    const cdnagen_options options = {.size = sizeof options, .device = "none", .target = t->text, .no_cache = 1};
    cdnagen *ctx = NULL;
    TRY(cdnagen_create_context(&options, &ctx));
    cdnagen_status s = CDNAGEN_OK;
    printf("\n| tag | ms to compile, k=1024 | k=16384 | at most | |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !s; i++) {
        double shallow = 0, deep = 0;
        s = compile_ms(ctx, rows[i].tag, "n=4096 k=1024 b=preshuffled", &shallow, NULL);
        if (!s) s = compile_ms(ctx, rows[i].tag, "n=4096 k=16384 b=preshuffled", &deep, NULL);
        const int miss = shallow > rows[i].most || deep > rows[i].most;
        *missed += miss;
        if (!s)
            printf("| %s | %.1f | %.1f | %.0f | %s |\n", strchr(rows[i].tag, ':') + 1, shallow, deep, rows[i].most,
                   miss ? "MISSED" : "");
    }
    cdnagen_free_context(ctx);
    return s;
}

int main(void) {
    target t;
    cdnagen *ctx = NULL;
    int missed = 0;
    cdnagen_status s = target_parse("gfx950", &t);
    const cdnagen_options options = {.size = sizeof options, .device = "sim", .target = "gfx950"};
    if (!s) s = cdnagen_create_context(&options, &ctx);
    if (!s) s = compare_all(ctx, &t, &missed);
    cdnagen_free_context(ctx);
    if (!s) s = compile_all(&t, &missed);
    if (s) return fprintf(stderr, "bench_gemm: %s\n", cdnagen_error()), 1;
    printf("\n%d missed. Ratios are the timing model's (docs/timing.md), published ones are of hardware; compiling was "
           "measured.\n",
           missed);
    return 0;
}
