/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gemm_grouped on the simulator: every layout with plain and preshuffled B, both kinds of scales and tails, with results
 * that appear late and what is unwritten poisoned, graded by the operator's rules; and launches whose metadata lie.
 * usage: sweep_gemm_grouped_layouts [--full] */
#include <stdlib.h>

#include "gen/gemm_grouped/gemm_grouped.h"
#include "sim/sim.h"
#include "study/check.h"
#include "tests/gen/testing.h"

enum { CASES_MAX = 2048, NAME_BYTES = 400 };
#define OP "gemm_grouped:"

typedef struct kernel_row {
    const char *chip, *tag;
} kernel_row;

static const kernel_row kernels[] = {
    {"gfx950", "mfma16x16x128_t64x128x128"},
    {"gfx950", "mfma16x16x128_t64x128x256_cs_async"},
    {"gfx950", "mfma16x16x128_t64x128x128_sk2"},
    {"gfx942", "mfma16x16x32_t64x128x128_cs"},
    {"gfx950", "mfma32x32x64_t64x128x128_async_wpe2"},
    {"gfx942", "mfma16x16x32_t32x128x256"},
    {"gfx950", "mfma16x16x128_t128x128x128_wm2_cs_async_wpe2"},
};

static const char *const shapes[] = {
    "layout=sizes groups=4 m=200 n=256 k=512",
    "layout=sizes groups=5 m=150 n=256 k=768 b=preshuffled out=f16",
    "layout=sizes groups=3 m=130 n=256 k=512 scale=block",
    "layout=sizes groups=4 m=90 n=256 k=1024 b=preshuffled scale=block",
    "layout=offsets groups=4 m=140 n=264 k=528 data=coherent",
    "layout=offsets groups=4 m=140 n=128 k=512 b=preshuffled data=exact",
    "layout=padded groups=3 m=100 n=200 k=272",
    "layout=padded groups=3 m=70 n=128 k=512 b=preshuffled",
    "layout=padded groups=3 m=70 n=256 k=384 scale=block",
    "layout=batched groups=2 m=100 n=136 k=144 data=coherent",
    "layout=batched groups=2 m=65 n=128 k=512 b=preshuffled scale=block",
    "layout=n_offsets groups=3 m=70 n=640 k=512 extents=8,504,128 data=coherent",
    "layout=n_offsets groups=4 m=40 n=400 k=272",
    "layout=k_offsets groups=4 m=70 n=136 k=1152 extents=288,288,288,288 data=coherent",
    "layout=k_offsets groups=4 m=70 n=128 k=1024 extents=0,256,256,512",
    "layout=k_offsets groups=4 m=40 n=128 k=1024 extents=16,512,0,496 empty_k=leave",
    "layout=sizes groups=130 m=300 n=64 k=256",
    "layout=n_offsets groups=70 m=20 n=1120 k=256",
    "layout=k_offsets groups=70 m=20 n=64 k=2240",
};

static const char *const modes[] = {"late poison check=all threads=1", "late threads=1", "poison threads=2"};

typedef struct sweep_case {
    const kernel_row *kernel;
    const char *shape, *mode;
    uint64_t seed;
    char name[NAME_BYTES];
} sweep_case;

static sweep_case *cases;
static int case_count;

/* Unless the kernel has no such launch. */
static void add_case(int kernel, int shape, int mode) {
    const kernel_row *const k = &kernels[kernel];
    const target t = target_of(k->chip);
    char tag[NAME_BYTES];
    snprintf(tag, sizeof tag, OP "%s", k->tag);
    plan p;
    const cdnagen_status status = plan_make(tag, shapes[shape], &t, 0, &p);
    if (status == CDNAGEN_LIMIT || status == CDNAGEN_BAD_SHAPE) return; /* LDS, parts of K, whole tiles of packed B */
    sweep_case *const c = &cases[case_count++];
    *c = (sweep_case){k, shapes[shape], modes[mode], (uint64_t)(kernel + shape) % 4, ""};
    snprintf(c->name, sizeof c->name, "%s %s %s seed %d, %s", k->chip, k->tag, c->shape, (int)c->seed, c->mode);
}

/* ---- running them ---- */

static cdnagen *contexts[CHIP_COUNT]; /* in the order of the chip table */

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

static cdnagen *simulate(const char *chip_name, const char *mode) {
    const target t = target_of(chip_name);
    const hip_table *table;
    if (sim_open(t.chip, mode, &table)) fail_msg("%s: %s", mode, cdnagen_error());
    return contexts[t.chip - chips];
}

static cdnagen_kernel *kernel_of(cdnagen *ctx, const kernel_row *k, const char *shape, plan *p) {
    char full[NAME_BYTES];
    cdnagen_kernel *kernel = NULL;
    const target t = target_of(k->chip);
    snprintf(full, sizeof full, OP "%s", k->tag);
    if (plan_make(full, shape, &t, 0, p) || gen_kernel(ctx, full, shape, &kernel))
        fail_msg("%s %s: %s", k->tag, shape, cdnagen_error());
    return kernel;
}

static void a_case(void **state) {
    const sweep_case *const c = *state;
    plan p;
    cdnagen *const ctx = simulate(c->kernel->chip, c->mode);
    cdnagen_kernel *const kernel = kernel_of(ctx, c->kernel, c->shape, &p);
    cdnagen_kernel_info info = {.size = sizeof info};
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    if (info.vgpr_spills || info.scratch_bytes || info.agpr)
        fail_msg("%u VGPRs spilled, %u bytes of scratch, %u AGPRs", info.vgpr_spills, info.scratch_bytes, info.agpr);
    const check_options how = {.seed = c->seed};
    check_report report;
    if (check_run(ctx, kernel, &p, &how, &report)) fail_msg("%s", cdnagen_error());
    if (!report.grade.pass) fail_msg("%s", report.grade.first);
    cdnagen_free_kernel(kernel);
}

/* result: one launch on data of the test's choice. */
typedef struct result {
    problem data;
    void *back[PROBLEM_BUFFERS_MAX];
    grade grade;
} result;

/* run: `extents` in place of the workload's, if not NULL. */
static void run(const kernel_row *k, const char *shape, const void *extents, size_t extent_bytes, result *out) {
    plan p;
    cdnagen *const ctx = simulate(k->chip, modes[0]);
    cdnagen_kernel *const kernel = kernel_of(ctx, k, shape, &p);
    const workload *const w = p.family->workload;
    problem *const data = &out->data;
    void *device[PROBLEM_BUFFERS_MAX];
    cdnagen_gemm_grouped_args args;
    if (w->make(&p, 3, data)) fail_msg("%s", cdnagen_error());
    for (size_t i = 0; i < data->buffer_count; i++) {
        out->back[i] = malloc(data->buffers[i].bytes);
        assert_non_null(out->back[i]);
        if (cdnagen_alloc(ctx, data->buffers[i].bytes, &device[i])) fail_msg("%s", cdnagen_error());
    }
    w->arguments(&p, data, device, &args);
    const size_t margin = (size_t)((char *)args.extents.ptr - (char *)device[GROUPED_EXTENTS]);
    if (extents) memcpy((char *)data->buffers[GROUPED_EXTENTS].data + margin, extents, extent_bytes);
    if (w->reference(&p, data)) fail_msg("%s", cdnagen_error());
    for (size_t i = 0; i < data->buffer_count; i++)
        if (cdnagen_copy_to_device(ctx, device[i], data->buffers[i].data, data->buffers[i].bytes))
            fail_msg("%s", cdnagen_error());
    if (cdnagen_launch_gemm_grouped(kernel, &args, NULL) || cdnagen_synchronize(ctx, NULL))
        fail_msg("%s: %s", shape, cdnagen_error());
    void *outputs[PROBLEM_BUFFERS_MAX] = {NULL};
    for (size_t i = 0; i < data->buffer_count; i++) {
        if (data->buffers[i].output) outputs[i] = out->back[i];
        if (cdnagen_copy_to_host(ctx, out->back[i], device[i], data->buffers[i].bytes) ||
            cdnagen_free_memory(ctx, device[i]))
            fail_msg("%s", cdnagen_error());
    }
    if (w->grade_outputs(&p, data, outputs, &out->grade)) fail_msg("%s", cdnagen_error());
    if (!out->grade.pass) fail_msg("%s %s: %s", k->tag, shape, out->grade.first);
    cdnagen_free_kernel(kernel);
}

static void let_go(result *r) {
    for (size_t i = 0; i < r->data.buffer_count; i++) free(r->back[i]);
    gemm_grouped_family.workload->release(&r->data);
}

static void assert_same_c(result *a, result *b, const char *what) {
    if (memcmp(a->back[GROUPED_C], b->back[GROUPED_C], a->data.buffers[GROUPED_C].bytes)) fail_msg("%s differ", what);
    let_go(a);
    let_go(b);
}

/* ---- launches that are no case of the table ---- */

static void unrolled_kernels_give_the_bits_of_rolled_ones(void **state) {
    (void)state;
    static const char *const words[] = {"", "b=preshuffled"};
    for (int tiles = 1; tiles <= 8; tiles++) {
        char shape[NAME_BYTES], tag[NAME_BYTES];
        snprintf(shape, sizeof shape, "groups=2 m=40 n=128 k=%d %s", 128 * tiles, words[tiles % 2]);
        snprintf(tag, sizeof tag, "mfma16x16x128_t32x128x128_unroll%d", tiles);
        result rolled, unrolled;
        run(&(kernel_row){"gfx950", "mfma16x16x128_t32x128x128"}, shape, NULL, 0, &rolled);
        run(&(kernel_row){"gfx950", tag}, shape, NULL, 0, &unrolled);
        assert_same_c(&rolled, &unrolled, tag);
    }
}

static void wpe_changes_no_bit(void **state) {
    (void)state;
    static const char shape[] = "groups=3 m=100 n=128 k=384 b=preshuffled";
    result none, two;
    run(&(kernel_row){"gfx950", "mfma16x16x128_t64x128x128"}, shape, NULL, 0, &none);
    run(&(kernel_row){"gfx950", "mfma16x16x128_t64x128x128_wpe2"}, shape, NULL, 0, &two);
    assert_same_c(&none, &two, "wpe2 and none");
}

/* Whatever the device holds, groups lie one after the other within the operands. */
static void metadata_that_lie_reach_no_other_group(void **state) {
    (void)state;
    static const kernel_row k = {"gfx950", "mfma16x16x128_t32x64x128"};
    static const int64_t counts[] = {-5, 40, INT32_MAX, 7}, too_many[] = {0, INT32_MAX, INT32_MAX, 3};
    static const int32_t ends[] = {64, 32, 90, INT32_MAX}, negative[] = {-8, 70, -1, 80};
    static const int32_t k_ends[] = {64, 32, 96, INT32_MAX};
    static const struct {
        const char *shape;
        const void *extents;
        size_t bytes;
    } rows[] = {
        {"layout=sizes groups=4 m=100 n=64 k=128 extents=25,25,25,25", counts, sizeof counts},
        {"layout=sizes groups=4 m=100 n=64 k=128 extents=25,25,25,25", too_many, sizeof too_many},
        {"layout=offsets groups=4 m=100 n=64 k=128 extents=25,25,25,25", ends, sizeof ends},
        {"layout=offsets groups=4 m=100 n=64 k=128 extents=25,25,25,25", negative, sizeof negative},
        {"layout=padded groups=4 m=48 n=64 k=128 extents=48,48,48,48", counts, sizeof counts},
        {"layout=n_offsets groups=4 m=20 n=96 k=128 extents=24,24,24,24", ends, sizeof ends},
        {"layout=k_offsets groups=4 m=20 n=64 k=128 extents=32,32,32,32", k_ends, sizeof k_ends},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        result r;
        run(&k, rows[i].shape, rows[i].extents, rows[i].bytes, &r);
        let_go(&r);
    }
}

/* Columns of a group that fill no quad stay as they were, and the next group's are its own: twice the same. */
static void columns_that_fill_no_quad_are_left(void **state) {
    (void)state;
    static const char shape[] = "layout=n_offsets groups=4 m=20 n=96 k=128 extents=24,24,24,24";
    static const int32_t ends[] = {10, 31, 60, 96};
    static const char *const tags[] = {"mfma16x16x128_t32x64x128", "mfma16x16x128_t32x64x128_cs"};
    for (size_t i = 0; i < COUNT(tags); i++) {
        const kernel_row k = {"gfx950", tags[i]};
        result first, second;
        run(&k, shape, ends, sizeof ends, &first);
        run(&k, shape, ends, sizeof ends, &second);
        assert_same_c(&first, &second, tags[i]);
    }
}

static void lengths_and_groups_make_no_kernel(void **state) {
    (void)state;
    static const char *const rows[] = {"groups=1 m=1 n=128 k=128", "groups=64 m=500 n=1280 k=4096",
                                       "groups=4096 m=77 n=65536 k=256"};
    cdnagen_kernel_info info = {.size = sizeof info};
    char key[80] = "";
    for (size_t i = 0; i < COUNT(rows); i++) {
        plan p;
        cdnagen_kernel *const kernel = kernel_of(simulate("gfx950", "threads=1"), &kernels[0], rows[i], &p);
        assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
        if (i) assert_string_equal(info.key, key);
        snprintf(key, sizeof key, "%s", info.key);
        cdnagen_free_kernel(kernel);
    }
}

int main(int argc, char **argv) {
    enum { OTHERS = 5 };
    const int is_full = argc > 1 && !strcmp(argv[1], "--full");
    if (argc > 1 && !is_full) {
        fprintf(stderr, "usage: %s [--full]\n", argv[0]);
        return 2;
    }
    cases = calloc(CASES_MAX, sizeof *cases);
    struct CMUnitTest *const tests = calloc(CASES_MAX + OTHERS, sizeof *tests);
    if (!cases || !tests) return 1;
    const int kernel_count = (int)COUNT(kernels), modes_count = (int)COUNT(modes);
    for (int k = 0; k < kernel_count; k++)
        for (int s = 0; s < (int)COUNT(shapes); s++)
            if (is_full || s % kernel_count == k || (s + 3) % kernel_count == k) add_case(k, s, (k + s) % modes_count);
    size_t count = 0;
    for (; count < (size_t)case_count; count++)
        tests[count] = (struct CMUnitTest){cases[count].name, a_case, NULL, NULL, &cases[count]};
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(unrolled_kernels_give_the_bits_of_rolled_ones);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(wpe_changes_no_bit);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(metadata_that_lie_reach_no_other_group);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(columns_that_fill_no_quad_are_left);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(lengths_and_groups_make_no_kernel);
    open_contexts();
    const int failed = _cmocka_run_group_tests("gemm_grouped", tests, count, NULL, NULL);
    for (int i = 0; i < CHIP_COUNT; i++) cdnagen_free_context(contexts[i]);
    free(tests);
    free(cases);
    return failed != 0;
}
