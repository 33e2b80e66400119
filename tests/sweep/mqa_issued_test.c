/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a launch issues, counted by the timing model as its waves run: what ts leaves out and what dg does not bring.
 * Logits would be right without either. */
#include "sim/timing.h"
#include "tests/sweep/mqa_data.h"

static cdnagen *ctx;

/* issued: instructions of a kind in one launch, whose logits are right. */
static uint64_t issued(mqa_data *d, const char *tag, sim_kind kind) {
    cdnagen_kernel *const kernel = kernel_of(ctx, tag, "heads=64 dim=128");
    const sim_timing_options whole = {.instructions_most = UINT64_MAX};
    sim_timing timing;
    uint64_t count = 0;
    simulate("threads=1");
    if (sim_timing_next(d->plan.target.chip, &whole, &timing)) fail_msg("%s", cdnagen_error());
    const grade g = data_run(d, kernel, tag, 1, 1);
    if (!g.pass) fail_msg("%s: logits are wrong", tag);
    assert_true(timing.complete);
    assert_int_equal(timing.groups_detailed, timing.groups);
    for (size_t i = 0; i < timing.instruction_count; i++)
        if (timing.instructions[i].kind == kind) count += timing.instructions[i].issued;
    sim_timing_free(&timing);
    cdnagen_free_kernel(kernel);
    return count;
}

/* One row that sees `tiles` tiles of 64 columns; a tile of dim 128 is 8 DMAs of one wave, its scales are one. */
static void dg_brings_each_tile_once(void **state) {
    (void)state;
    static const struct {
        const char *tag;
        int tile, ahead; /* DMAs a tile; tiles past the end */
    } rows[] = {
        {"mfma32x32x64_bkv64_r1_w1_lds4_pd3_swp_rs_hfma", 8, 3},
        {"mfma32x32x64_bkv64_r1_w1_lds4_pd3_swp_rs_dg_hfma", 8, 0},
        {"mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_ls_ts_dg_hfma", 9, 0},
        {"mfma32x32x64_bkv64_r1_w1_lds3_swp_rs_ct_hfma", 8, 2},
        {"mfma32x32x64_bkv64_r1_w1_lds3_swp_rs_dg_ct_hfma", 8, 0},
        {"mfma32x32x64_bkv64_r1_w1_lds4_pd4_swp_rs_ls_dg_ct_hfma", 9, 0},
    };
    static const int tiles[] = {1, 2, 3, 7};
    mqa_data d;
    data_make(&d, ctx, "seq=1 seq_kv=640 heads=64 dim=128");
    data_upload(&d);
    for (size_t t = 0; t < COUNT(tiles); t++) {
        data_starts(&d)[0] = 64;
        data_ends(&d)[0] = 64 + 64 * tiles[t];
        data_windows(&d);
        for (size_t i = 0; i < COUNT(rows); i++) {
            const uint64_t want = (uint64_t)((tiles[t] + rows[i].ahead) * rows[i].tile);
            const uint64_t got = issued(&d, rows[i].tag, KIND_LDS_DMA);
            if (got != want) fail_msg("%s, %d tiles: %d DMAs, not %d", rows[i].tag, tiles[t], (int)got, (int)want);
        }
    }
    data_free(&d);
}

/* Two rows of one workgroup at either end of ten tiles, which see 2 and 3 of them; a tile is 8 matrix instructions. */
static void ts_computes_only_tiles_that_are_seen(void **state) {
    (void)state;
    static const struct {
        const char *tag;
        int tiles; /* computed, by both waves together */
    } rows[] = {
        {"mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_hfma", 20},
        {"mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_ts_hfma", 5},
        {"mfma32x32x64_bkv64_r1_w2_lds4_pd3_ls_ts_dg_hfma", 5},
    };
    mqa_data d;
    data_make(&d, ctx, "seq=2 seq_kv=640 heads=64 dim=128");
    data_upload(&d);
    data_starts(&d)[0] = 0, data_ends(&d)[0] = 100;
    data_starts(&d)[1] = 500, data_ends(&d)[1] = 640;
    data_windows(&d);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint64_t got = issued(&d, rows[i].tag, KIND_MFMA);
        if (got != (uint64_t)rows[i].tiles * 8)
            fail_msg("%s: %d matrix instructions, not %d", rows[i].tag, (int)got, 8 * rows[i].tiles);
    }
    data_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dg_brings_each_tile_once),
        cmocka_unit_test(ts_computes_only_tiles_that_are_seen),
    };
    ctx = sim_context();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cdnagen_free_context(ctx);
    return failed;
}
