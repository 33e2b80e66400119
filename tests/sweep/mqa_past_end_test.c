/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows whose windows lie past the end cost modelled time of their own only: they do not widen what their neighbours
 * read. */
#include "sim/timing.h"
#include "tests/sweep/mqa_data.h"

enum { SEQ = 2048, SEQ_KV = 131072, DIM = 128, HEADS_MAX = 128 };
#define SHAPE "seq=2048 seq_kv=131072 window=past_end dim=128 clean=0"

static cdnagen *ctx;
static cdnagen_mqa_logits_args args;
static int32_t starts[SEQ], ends[SEQ];

static cdnagen_buffer untouched(size_t size) {
    cdnagen_buffer b = {NULL, size};
    if (cdnagen_alloc(ctx, size, &b.ptr)) fail_msg("%zu bytes: %s", size, cdnagen_error());
    return b;
}

/* What a launch reads and writes; but for the windows its content takes no part in the time. */
static int allocate(void **state) {
    (void)state;
    args = (cdnagen_mqa_logits_args){.size = sizeof args, .seq = SEQ, .seq_kv = SEQ_KV};
    args.q = untouched((size_t)SEQ * HEADS_MAX * DIM);
    args.kv = untouched((size_t)SEQ_KV * DIM);
    args.kv_scales = untouched((size_t)SEQ_KV * sizeof(float));
    args.weights = untouched((size_t)SEQ * HEADS_MAX * sizeof(float));
    args.cu_starts = untouched(sizeof starts);
    args.cu_ends = untouched(sizeof ends);
    args.logits = untouched((size_t)SEQ * SEQ_KV * sizeof(float));
    return 0;
}

static int release(void **state) {
    (void)state;
    void *const all[] = {args.q.ptr,         args.kv.ptr,      args.kv_scales.ptr, args.weights.ptr,
                         args.cu_starts.ptr, args.cu_ends.ptr, args.logits.ptr};
    for (size_t i = 0; i < COUNT(all); i++) cdnagen_free_memory(ctx, all[i]);
    return 0;
}

/* modelled: clk of a launch with the windows as they are now. */
static double modelled(cdnagen_kernel *kernel, const char *name) {
    const sim_timing_options options = {.only = 1, .instructions_most = 300000};
    sim_timing timing;
    if (cdnagen_copy_to_device(ctx, args.cu_starts.ptr, starts, sizeof starts) ||
        cdnagen_copy_to_device(ctx, args.cu_ends.ptr, ends, sizeof ends) ||
        sim_timing_next(target_of(sweep_chip).chip, &options, &timing) ||
        cdnagen_launch_mqa_logits(kernel, &args, NULL) || cdnagen_synchronize(ctx, NULL))
        fail_msg("%s: %s", name, cdnagen_error());
    const double clk = timing.kernel_clk;
    sim_timing_free(&timing);
    assert_true(clk > 0);
    return clk;
}

/* Dead rows cost no more than if they saw [0, 0), nor than if they saw what the live rows next to them see. */
static void compare(const char *tag, int heads) {
    char shape[120], name[160];
    snprintf(shape, sizeof shape, SHAPE " heads=%d", heads);
    snprintf(name, sizeof name, "%s heads=%d", tag, heads);
    const mqa_shape s = shape_of(shape);
    cdnagen_kernel *const kernel = kernel_of(ctx, tag, shape);
    int dead = 0;
    for (int r = 0; r < SEQ; r++) {
        mqa_window_row(&s, r, &starts[r], &ends[r]);
        dead += starts[r] >= SEQ_KV;
    }
    assert_int_equal(dead, SEQ / 2);
    const double past_end = modelled(kernel, name);
    for (int r = 0; r < SEQ; r += 2) starts[r] = ends[r] = 0;
    const double live = modelled(kernel, name);
    for (int r = 0; r < SEQ; r++) starts[r] = 0, ends[r] = r + 1;
    const double all = modelled(kernel, name);
    cdnagen_free_kernel(kernel);
    print_message("%s: %.0f clk, live rows alone %.0f, all rows alive %.0f\n", name, past_end, live, all);
    if (!(past_end <= 1.5 * live && past_end <= 1.5 * all))
        fail_msg("%s: %.0f clk; 1.5 times %.0f and %.0f are allowed", name, past_end, live, all);
}

static void rows_past_the_end_widen_no_block(void **state) {
    (void)state;
    static const struct {
        const char *chip, *tag;
        int heads;
    } rows[] = {
        {"gfx950", "auto", 32},
        {"gfx950", "auto", 64},
        {"gfx950", "auto", 128},
        {"gfx950", "mfma32x32x64_bkv64_r2_w4_lds3_swp_rs", 32},
        {"gfx950", "mfma32x32x64_bkv64_r1_w4_lds2_swp_rs_ls_ts_dg_hfma", 64},
        {"gfx950", "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_ls_ct_hfma", 64},
        {"gfx950", "mfma32x32x64_bkv128_r2_w4_hfma", 64},
        {"gfx942", "auto", 32},
        {"gfx942", "auto", 64},
        {"gfx942", "auto", 128},
        {"gfx942", "mfma16x16x32_bkv128_r2_w4_hfma", 64},
        {"gfx942", "mfma32x32x16_bkv128_r4_w4", 32},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!strcmp(rows[i].chip, sweep_chip)) compare(rows[i].tag, rows[i].heads);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_past_the_end_widen_no_block)};
    if (argc > 1) sweep_chip = argv[1];
    ctx = sim_context();
    simulate("threads=1");
    const int failed = cmocka_run_group_tests(tests, allocate, release);
    cdnagen_free_context(ctx);
    return failed;
}
