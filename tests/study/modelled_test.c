/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Launches that are only modelled: their cycles do not hang on data that were left out, and no code is faster than the
 * bound that its own loops set. */
#include "tests/core/cmocka_tests.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study/check.h"
#include "study/explain.h"

typedef struct modelled {
    plan plan;
    double clk, bound, loop_clk; /* loop_clk: a matrix instruction of the hot loop, by its bounds */
} modelled;

static cdnagen *context(const char *id) {
    const cdnagen_options options = {
        .size = sizeof options, .device = "sim", .target = id, .sim_mode = "threads=1", .cache_dir = ""};
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    return ctx;
}

static void look(cdnagen *ctx, const char *tag, const char *words, int with_data, modelled *out) {
    cdnagen_kernel *kernel = NULL;
    cdnagen_kernel_info info = {.size = sizeof info};
    target t;
    sim_timing timing;
    check_report report;
    double each = 0;
    if (gen_kernel(ctx, tag, words, &kernel)) fail_msg("%s: %s", tag, cdnagen_error());
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    assert_int_equal(target_parse(info.target, &t), CDNAGEN_OK);
    assert_int_equal(plan_make(tag, words, &t, 0, &out->plan), CDNAGEN_OK);
    const sim_timing_options how = {.only = 1};
    const check_options run = {.seed = 1, .run_only = 1, .modelled = !with_data};
    assert_int_equal(sim_timing_next(t.chip, &how, &timing), CDNAGEN_OK);
    if (check_run(ctx, kernel, &out->plan, &run, &report)) fail_msg("%s", cdnagen_error());
    assert_int_equal(sim_bound(info.object, info.object_bytes, &each), CDNAGEN_OK);
    out->clk = timing.kernel_clk;
    out->bound = each * out->plan.family->tuning->mfmas(&out->plan) / ((double)t.chip->cus * t.chip->simds);
    out->loop_clk = 0;
    for (size_t i = 0; i < timing.loop_count; i++) {
        const sim_loop *l = &timing.loops[i];
        if (!l->inner || l->mix[KIND_MFMA] <= 0) continue;
        const double clk = (l->mfma_bound > l->issue_bound ? l->mfma_bound : l->issue_bound) / l->mix[KIND_MFMA];
        if (out->loop_clk <= 0 || clk < out->loop_clk) out->loop_clk = clk;
    }
    if (out->loop_clk > 0 && (each > out->loop_clk * 1.001))
        fail_msg("%s: bound %f of a loop of %f", tag, each, out->loop_clk);
    sim_timing_free(&timing);
    cdnagen_free_kernel(kernel);
}

static const char *const tags[] = {
    "mqa_logits:mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", "mqa_logits:mfma32x32x64_bkv64_r2_w2_lds3_ls_ts_dg",
    "mqa_logits:mfma16x16x128_bkv64_r1_w4_lds2_swp_rs_hfma", "mqa_logits:mfma32x32x64_bkv128_r2_w4"};
static const char *const shapes[] = {"seq=64 seq_kv=2048 heads=64 dim=128 clean=0",
                                     "seq=300 seq_kv=1500 heads=64 dim=128 window=misaligned",
                                     "seq=65 seq_kv=777 heads=32 dim=128 window=past_end"};
enum { TAGS = sizeof tags / sizeof *tags, SHAPES = sizeof shapes / sizeof *shapes };

/* clk_in_child: in a process of its own, since the places of buffers decide which lines share a set of a cache. */
static double clk_in_child(int shape, int with_data) {
    int ends[2], status;
    double clk = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        modelled m;
        look(context("gfx950"), tags[shape], shapes[shape], with_data, &m);
        _exit(write(ends[1], &m.clk, sizeof m.clk) != sizeof m.clk);
    }
    assert_int_equal(read(ends[0], &clk, sizeof clk), sizeof clk);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(ends[0]);
    close(ends[1]);
    return clk;
}

static void data_that_are_left_out_change_no_cycle(void **state) {
    (void)state;
    for (int s = 0; s < SHAPES; s++) {
        const double with = clk_in_child(s, 1), without = clk_in_child(s, 0);
        if (with != without) fail_msg("%s: %f with data, %f without", shapes[s], with, without);
    }
}

static void nothing_is_faster_than_its_bound(void **state) {
    (void)state;
    cdnagen *ctx = context("gfx950");
    for (int t = 0; t < TAGS; t++)
        for (int s = 0; s < SHAPES; s++) {
            modelled m;
            look(ctx, tags[t], shapes[s], 0, &m);
            if (m.bound <= 0 || m.bound > m.clk)
                fail_msg("%s %s: %f clk, bound %f", tags[t], shapes[s], m.clk, m.bound);
        }
    cdnagen_free_context(ctx);
}

static void a_bound_is_the_loops_own(void **state) {
    (void)state;
    cdnagen *ctx = context("gfx950");
    cdnagen_kernel *kernel = NULL;
    cdnagen_kernel_info info = {.size = sizeof info};
    modelled m;
    double each = 0;
    look(ctx, tags[0], shapes[0], 0, &m);
    assert_int_equal(gen_kernel(ctx, tags[0], shapes[0], &kernel), CDNAGEN_OK);
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    assert_int_equal(sim_bound(info.object, info.object_bytes, &each), CDNAGEN_OK);
    assert_true(each >= 64); /* the pipe's time of one 32x32x64 */
    assert_true(each <= m.loop_clk * 1.001 && each >= m.loop_clk * 0.98);
    assert_int_equal(sim_bound(info.object, 100, &each), CDNAGEN_BAD_OBJECT);
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
}

static void launches_with_too_much_data_lose_rows_and_keep_their_parts(void **state) {
    (void)state;
    target t;
    plan p, small;
    int reduced;
    assert_int_equal(target_parse("gfx950", &t), CDNAGEN_OK);
    assert_int_equal(plan_make(tags[0], "seq=4096 seq_kv=65536 heads=64 dim=128", &t, 0, &p), CDNAGEN_OK);
    const uint32_t grid[3] = {4096, 5, 1};
    const workload *w = p.family->workload;
    assert_int_equal(w->reduce(&p, grid, 4ll << 30, &small, &reduced), CDNAGEN_OK);
    assert_false(reduced);
    assert_string_equal(small.shape_text, p.shape_text);
    assert_int_equal(w->reduce(&p, grid, 64ll << 20, &small, &reduced), CDNAGEN_OK);
    assert_true(reduced);
    assert_string_equal(small.shape_text, "seq=248 seq_kv=65536 heads=64 dim=128 clean=1");
    assert_non_null(strstr(small.tag, "_ns5"));
    assert_string_equal(small.kernel_tag, p.kernel_tag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_that_are_left_out_change_no_cycle),
        cmocka_unit_test(nothing_is_faster_than_its_bound),
        cmocka_unit_test(a_bound_is_the_loops_own),
        cmocka_unit_test(launches_with_too_much_data_lose_rows_and_keep_their_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
