/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Diagnoses of kernels of which it is known what their time hangs on; twins that do the kernel's work; what is
 * refused. */
#include "tests/core/cmocka_tests.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/context.h"
#include "study/diagnose.h"

#define FOUR_WAVES "gemm_blockscale:mfma16x16x128_t64x256x128_4w_cs_async_wpe2"
#define EIGHT_WAVES "gemm_blockscale:mfma16x16x128_t128x256x128_8w_cluster"

static cdnagen *context_on(const char *chip_name) {
    const cdnagen_options options = {
        .size = sizeof options, .device = "sim", .target = chip_name, .sim_mode = "threads=1", .cache_dir = ""};
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    return ctx;
}
static cdnagen *context(void) { return context_on("gfx950"); }

static cdnagen_status run(cdnagen *ctx, const char *tag, const char *words, const diagnose_options *how,
                          diagnosis_report *out) {
    cdnagen_kernel *kernel = NULL;
    cdnagen_kernel_info info = {.size = sizeof info};
    plan p;
    target t;
    if (gen_kernel(ctx, tag, words, &kernel)) fail_msg("%s: %s", tag, cdnagen_error());
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    assert_int_equal(target_parse(info.target, &t), CDNAGEN_OK);
    assert_int_equal(plan_make(tag, words, &t, 0, &p), CDNAGEN_OK);
    const cdnagen_status status = diagnose(ctx, kernel, &info, &p, how, out);
    cdnagen_free_kernel(kernel);
    return status;
}

static int find(const diagnosis_report *r, const char *name) {
    for (size_t i = 1; i < r->count; i++)
        if (!strcmp(r->runs[i].name, name)) return (int)i;
    fail_msg("no change %s", name);
    return 0;
}

/* Of one K tile little but the stores is left. */
static void a_kernel_that_only_stores_is_store_bound(void **state) {
    (void)state;
    cdnagen *ctx = context();
    diagnosis_report r;
    const diagnose_options how = {0};
    if (run(ctx, FOUR_WAVES, "m=16384 n=4096 k=128 b=preshuffled", &how, &r)) fail_msg("%s", cdnagen_error());
    assert_true(r.verdict.most >= 0);
    assert_int_equal(r.trials[r.verdict.most].lever, LEVER_STORES);
    assert_true(r.verdict.holds);
    assert_false(r.verdict.done);
    assert_true(r.verdict.cannot & 1u << LEVER_LDS);
    assert_true(r.runs[0].clk_at_twice > 1.2 * r.runs[0].clk);
    diagnosis_report_free(&r);
    cdnagen_free_context(ctx);
}

static void write_parameters(char path[64], const char *lines) {
    snprintf(path, 64, "/tmp/cdnagen-diagnose-%ld", (long)getpid());
    FILE *const f = fopen(path, "w");
    assert_non_null(f);
    fputs(lines, f);
    fclose(f);
}

/* On a machine whose vector unit is slow promotion is what counts, and every kernel's twin does its work. */
static void a_kernel_that_promotes_slowly_is_promotion_bound(void **state) {
    (void)state;
    static const sim_kind same[] = {KIND_MFMA, KIND_VMEM_LOAD, KIND_LDS_DMA, KIND_LDS_READ, KIND_LDS_WRITE};
    static const char *const tags[] = {FOUR_WAVES, EIGHT_WAVES};
    char path[64];
    write_parameters(path, "valu_slots = 6\n");
    cdnagen *ctx = context();
    for (int i = 0; i < 2; i++) {
        diagnosis_report r;
        const diagnose_options how = {.parameters = path};
        if (run(ctx, tags[i], "m=512 n=512 k=2048 b=preshuffled", &how, &r)) fail_msg("%s", cdnagen_error());
        const int twin = find(&r, "twin without promotion");
        if (!r.trials[twin].valid) fail_msg("%s: %s", r.runs[twin].tag, r.runs[twin].lacking);
        for (size_t k = 0; k < sizeof same / sizeof *same; k++)
            assert_int_equal(r.runs[twin].counts[same[k]], r.runs[0].counts[same[k]]);
        assert_true(r.runs[twin].counts[KIND_VALU] < r.runs[0].counts[KIND_VALU]);
        assert_true(r.verdict.most >= 0);
        assert_int_equal(r.trials[r.verdict.most].lever, LEVER_ARITHMETIC);
        assert_true(r.verdict.holds);
        /* Nothing was removed besides what was meant, and the bare product has no scales to load. */
        for (size_t n = 1; n < r.count; n++)
            if (r.trials[n].kind == CHANGE_LEFT_OUT && !r.trials[n].valid)
                fail_msg("%s: %s", r.runs[n].tag, r.runs[n].lacking);
        const unsigned *const bare = r.runs[find(&r, "bare product")].counts;
        assert_true(bare[KIND_VMEM_LOAD] + bare[KIND_LDS_DMA] > 0 &&
                    bare[KIND_VMEM_LOAD] < r.runs[0].counts[KIND_VMEM_LOAD]);
        assert_int_equal(r.sweep.count, 5);
        assert_true(r.sweep.line.slope > 0 && r.sweep.bound_clk > 0 && r.sweep.bound_clk <= 1.1 * r.sweep.trip_clk);
        diagnosis_report_free(&r);
    }
    unlink(path);
    cdnagen_free_context(ctx);
}

/* Two scale blocks a K tile, K in parts, every layout of scales, both operators: the compiler removes nothing from a
 * twin, and no MFMA from what leaves something out. Scales of rows, and those that the MFMA takes, have no promotion
 * and no twin. */
static void what_is_left_out_is_no_more_than_was_meant(void **state) {
    (void)state;
    static const struct {
        const char *chip, *tag, *words;
        int twins, left_outs;
    } rows[] = {
        {"gfx950", "gemm_blockscale:mfma16x16x128_t16x64x256_4w_sk2", "m=16 n=64 k=1024", 1, 6},
        {"gfx950", "gemm_blockscale:mfma16x16x128_t64x128x256_4w", "m=64 n=128 k=1024 scale_m=128 a_scales=kmajor", 1,
         6},
        {"gfx950", "gemm_blockscale:mfma16x16x128_t64x128x128_4w_cs", "m=64 n=128 k=512 scale_n=1", 1, 6},
        {"gfx950", "gemm_blockscale:mfma16x16x128_t64x128x128_4w_cs", "m=64 n=128 k=512 scale_n=1 scales=ue8m0", 0, 5},
        {"gfx950", "gemm_blockscale:mfma16x16x128_t128x128x128_8w_fold4_sk2", "m=128 n=128 k=1024", 1, 6},
        {"gfx942", "gemm_blockscale:mfma16x16x32_t64x64x256_4w", "m=64 n=64 k=1024", 1, 6},
        {"gfx950", "gemm_grouped:mfma16x16x128_t64x128x256_sk2", "groups=2 m=64 n=128 k=1024 scale=block", 1, 6},
        {"gfx950", "gemm_grouped:mfma16x16x128_t128x128x128_wm2_cs_async_wpe2", "groups=2 m=64 n=128 k=512", 0, 5},
        {"gfx942", "gemm_grouped:mfma16x16x32_t64x128x128", "layout=k_offsets groups=2 m=64 n=128 k=1024", 0, 5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cdnagen *ctx = context_on(rows[i].chip);
        diagnosis_report r;
        const diagnose_options how = {0};
        int twins = 0, left_outs = 0;
        if (run(ctx, rows[i].tag, rows[i].words, &how, &r)) fail_msg("%s", cdnagen_error());
        for (size_t n = 1; n < r.count; n++) {
            const change_kind kind = r.trials[n].kind;
            if ((kind == CHANGE_TWIN || kind == CHANGE_LEFT_OUT) && !r.trials[n].valid)
                fail_msg("%s %s: %s", rows[i].chip, r.runs[n].tag, r.runs[n].lacking);
            twins += kind == CHANGE_TWIN;
            left_outs += kind == CHANGE_LEFT_OUT;
        }
        assert_int_equal(twins, rows[i].twins);
        assert_int_equal(left_outs, rows[i].left_outs);
        assert_true(r.verdict.ceiling > 0 && r.sweep.count == 5 && r.sweep.line.slope > 0);
        if (r.sweep.line.residual > 0.1) fail_msg("%s: off by %g", rows[i].tag, r.sweep.line.residual);
        diagnosis_report_free(&r);
        cdnagen_free_context(ctx);
    }
}

/* ---- an operator of this test's own ---- */

static const char *other_tile;
static int offer_other_tile(const plan *p, int index, change *out) {
    if (index) return 0;
    *out = (change){.name = "another tile", .kind = CHANGE_TWIN, .lever = LEVER_ARITHMETIC};
    assert_int_equal(tag_parse(&p->family->tag, other_tile, out->variant), CDNAGEN_OK);
    return 1;
}

static void a_twin_of_other_counts_or_without_a_kernel_is_not_compared(void **state) {
    (void)state;
    static const struct {
        const char *tag, *lacking;
    } rows[] = {{"mfma16x16x128_t64x128x128_4w_cs_async_wpe2", "mfma instructions and the kernel"},
                {"mfma16x16x128_t64x256x128_4w_cs_wpe2", "instructions and the kernel"},
                {"mfma16x16x128_t16x256x128_4w_async", "async needs 16 bytes of A a thread"}};
    cdnagen *ctx = context();
    family own = *family_find("gemm_blockscale", strlen("gemm_blockscale"));
    const diagnosis offers = {.change = offer_other_tile};
    own.diagnosis = &offers;
    static const char words[] = "m=64 n=256 k=256 b=preshuffled";
    cdnagen_kernel *kernel = NULL;
    cdnagen_kernel_info info = {.size = sizeof info};
    plan p;
    assert_int_equal(gen_kernel(ctx, FOUR_WAVES, words, &kernel), CDNAGEN_OK);
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    assert_int_equal(plan_make(FOUR_WAVES, words, &ctx->target, 0, &p), CDNAGEN_OK);
    p.family = &own;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        diagnosis_report r;
        const diagnose_options how = {0};
        other_tile = rows[i].tag;
        if (diagnose(ctx, kernel, &info, &p, &how, &r)) fail_msg("%s", cdnagen_error());
        assert_int_equal(r.count, 2);
        assert_false(r.trials[1].valid);
        if (!strstr(r.runs[1].lacking, rows[i].lacking)) fail_msg("%s: %s", rows[i].tag, r.runs[1].lacking);
        assert_true(r.verdict.ceiling < 0 && r.verdict.most < 0 && !r.verdict.done);
        assert_int_equal(r.sweep.count, 0);
        diagnosis_report_free(&r);
    }
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
}

/* ---- as on a GPU: the simulator's table under the times of this test ---- */

static const hip_table *real;
static int samples;
/* Sides take turns, hot and cold in each: changes take half the kernel's time. */
static hip_error elapsed(float *ms, hip_event start, hip_event stop) {
    const hip_error e = real->event_elapsed_time(ms, start, stop);
    *ms = samples++ / 2 % 2 ? 1 : 2;
    return e;
}

static void on_a_gpu_each_change_is_measured_beside_the_kernel(void **state) {
    (void)state;
    static const measure_counts counts = {.turns = 1, .samples = 1, .replays = 1, .flush_bytes = 4096};
    cdnagen *ctx = context(), *gpu = context();
    assert_int_equal(context_ready(gpu), CDNAGEN_OK);
    real = gpu->device.hip;
    hip_table named = *real;
    named.event_elapsed_time = elapsed;
    gpu->device.hip = &named;
    diagnosis_report r;
    const diagnose_options how = {.gpu = gpu, .counts = &counts};
    if (run(ctx, FOUR_WAVES, "m=64 n=256 k=256 b=preshuffled", &how, &r)) fail_msg("%s", cdnagen_error());
    assert_true(r.measured);
    int measured = 0;
    for (size_t i = 1; i < r.count; i++) {
        if (!r.trials[i].valid) continue;
        assert_true(r.runs[i].us_beside > 1999 && r.runs[i].us_beside < 2001);
        assert_true(r.trials[i].gain > 0.999 && r.trials[i].gain < 1.001);
        measured++;
    }
    assert_int_equal(samples, 4 * measured);
    assert_true(measured >= 10);
    assert_int_equal(gpu->diagnosis, 0);
    diagnosis_report_free(&r);
    cdnagen_free_context(gpu);
    cdnagen_free_context(ctx);
}

static void kernels_for_diagnosis_are_not_diagnosed(void **state) {
    (void)state;
    cdnagen *ctx = context();
    diagnosis_report r;
    const diagnose_options how = {0};
    assert_int_equal(run(ctx, "gemm_blockscale:mfma16x16x128_t64x256x128_4w_xtwin", "m=64 n=256 k=256", &how, &r),
                     CDNAGEN_BAD_ARGUMENT);
    assert_non_null(strstr(cdnagen_error(), "itself a kernel for diagnosis"));
    diagnosis_report_free(&r);
    cdnagen_free_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_only_stores_is_store_bound),
        cmocka_unit_test(a_kernel_that_promotes_slowly_is_promotion_bound),
        cmocka_unit_test(what_is_left_out_is_no_more_than_was_meant),
        cmocka_unit_test(a_twin_of_other_counts_or_without_a_kernel_is_not_compared),
        cmocka_unit_test(on_a_gpu_each_change_is_measured_beside_the_kernel),
        cmocka_unit_test(kernels_for_diagnosis_are_not_diagnosed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
