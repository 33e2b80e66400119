/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gemm_blockscale on the simulator: every core, schedule, raster and epilogue over tails, K tiles, layouts and scales,
 * with results that appear late and what is unwritten poisoned, graded by the operator's rules.
 * usage: sweep_gemm_blockscale PART/PARTS [--full] */
#include <stdlib.h>

#include "gen/gemm_blockscale/gemm_blockscale.h"
#include "study/check.h"
#include "tests/gen/testing.h"
#include "tests/sweep/runs.h"

enum { CASES_MAX = 8192, PARTS_MAX = 16, NAME_BYTES = 400 };
#define OP "gemm_blockscale:"

/* What a tag must have in its shape: preshuffled B where LDS has no room for plain B. */
typedef struct kernel_row {
    const char *chip, *tag;
    const char *words; /* "" or what the tag needs */
} kernel_row;

static const kernel_row kernels[] = {
    {"gfx950", "mfma16x16x128_t64x256x128_4w_panel8_cs_async_wpe2", "b=preshuffled"},
    {"gfx950", "mfma16x16x128_t64x256x128_4w_cs_async_wpe2", "b=preshuffled"},
    {"gfx950", "mfma16x16x128_t64x256x128_4w_fused", "b=preshuffled"},
    {"gfx950", "mfma16x16x128_t64x256x128_4w_fused_panel8_cs_async_wpe2", "b=preshuffled"},
    {"gfx950", "mfma32x32x64_t64x128x128_4w_fused_async", ""},
    {"gfx950", "mfma16x16x128_t64x128x128_4w_fused_cs_async", "scales=ue8m0"},
    {"gfx950", "mfma32x32x64_t64x128x256_4w", "scales=ue8m0 scale_n=1"},
    {"gfx950", "mfma16x16x32_t64x128x128_4w", "scales=ue8m0 scale_n=1"},
    {"gfx950", "mfma16x16x128_t64x256x128_4w_async", ""},
    {"gfx950", "mfma16x16x128_t64x128x128_4w_cs", ""},
    {"gfx950", "mfma16x16x128_t64x128x128_4w", ""},
    {"gfx950", "mfma16x16x128_t64x128x256_4w_cs", ""},
    {"gfx950", "mfma16x16x128_t32x64x128_4w", ""},
    {"gfx950", "mfma16x16x128_t32x128x256_4w_cs_async", ""},
    {"gfx950", "mfma16x16x128_t16x64x128_4w", ""},
    {"gfx950", "mfma16x16x128_t16x64x256_4w_sk4", ""},
    {"gfx950", "mfma16x16x128_t16x128x128_4w_sk3", ""},
    {"gfx950", "mfma16x16x128_t64x128x128_4w_xcd_sk2_wpe2", "b=preshuffled"},
    {"gfx950", "mfma16x16x128_t128x128x128_4w_wm2_group4", ""},
    {"gfx950", "mfma16x16x128_t64x64x128_4w_wm2_xcd_pers", ""},
    {"gfx950", "mfma16x16x128_t64x128x128_4w_group2_cs_pers", ""},
    {"gfx950", "mfma16x16x128_t64x128x128_4w_panel2_async", ""},
    {"gfx950", "mfma16x16x32_t64x128x128_4w_cs", ""},
    {"gfx950", "mfma16x16x128_t32x64x256_4w_sk2", ""},
    {"gfx950", "mfma16x16x128_t64x64x256_4w", ""},
    {"gfx950", "mfma16x16x128_t64x128x256_4w", ""},
    {"gfx950", "mfma16x16x128_t128x256x128_8w_cluster", ""},
    {"gfx950", "mfma16x16x128_t128x256x128_8w_delayed_panel2", ""},
    {"gfx950", "mfma16x16x128_t128x256x128_8w_cs_wpe2", ""},
    {"gfx950", "mfma16x16x128_t128x128x128_8w_fold4_panel2_sk2", ""},
    {"gfx950", "mfma16x16x128_t192x256x128_8w_cluster", ""},
    {"gfx950", "mfma16x16x128_t64x128x128_8w_group2_cs_pers", ""},
    {"gfx942", "mfma16x16x32_t64x256x128_4w_cs_wpe2", "b=preshuffled"},
    {"gfx942", "mfma16x16x32_t128x128x128_4w_wm2_group8_cs", ""},
    {"gfx942", "mfma16x16x32_t64x128x128_4w_cs", ""},
    {"gfx942", "mfma16x16x32_t64x64x256_4w", ""},
    {"gfx942", "mfma16x16x32_t32x64x256_4w_sk3", ""},
    {"gfx942", "mfma16x16x32_t16x64x256_4w_sk8", ""},
    {"gfx942", "mfma16x16x32_t16x64x128_4w", ""},
    {"gfx942", "mfma16x16x32_t64x128x128_4w_fused", "scales=ue8m0"},
    {"gfx942", "mfma16x16x32_t64x256x128_4w_fused_cs_wpe2", "b=preshuffled a_fp8=e4m3fn b_fp8=e4m3fn"},
    {"gfx942", "mfma32x32x16_t64x128x128_4w", "a_fp8=e4m3fn b_fp8=e4m3fn"},
};

/* Words of the shape that make another kernel. */
static const char *const facts[] = {
    "",
    "b=preshuffled",
    "b=preshuffled a_scales=kmajor",
    "a_scales=kmajor out=f16",
    "scale_m=128",
    "scale_n=1",
    "b=preshuffled scale_m=128 a_scales=kmajor",
    "b=preshuffled scale_n=1 out=f16",
};

/* What a run's data are like. */
static const char *const data_words[] = {"", "data=exact", "pad=1", "data=exact pad=2"};

/* lengths: of a product; those that any layout takes (n a multiple of 16, k of 32), and ones that only plain B
 * takes. */
typedef struct lengths {
    int m, n, k;
} lengths;
static const lengths any_sizes[] = {
    {1, 16, 32},     {64, 256, 128},  {5, 256, 256},   {56, 272, 384},  {65, 128, 512},   {17, 144, 640},
    {130, 528, 128}, {16, 512, 256},  {300, 704, 128}, {48, 400, 160},  {129, 256, 1024}, {33, 112, 96},
    {2, 576, 736},   {200, 272, 256}, {15, 1040, 384}, {257, 640, 320}, {18, 208, 2304},
};
static const lengths plain_sizes[] = {
    {1, 1, 1},      {3, 17, 100},  {64, 257, 129}, {31, 130, 257}, {127, 3, 500},
    {20, 259, 383}, {66, 77, 641}, {5, 300, 127},  {129, 511, 16},
};

enum { SIZES = COUNT(any_sizes) + COUNT(plain_sizes), FACTS_OF_SOME = 2 };
static const lengths *size_of(int i) {
    return i < (int)COUNT(any_sizes) ? &any_sizes[i] : &plain_sizes[i - (int)COUNT(any_sizes)];
}

static const char *const modes[] = {"late poison check=all threads=1", "late threads=1", "poison threads=2"};

typedef struct sweep_case {
    const kernel_row *kernel;
    char shape[NAME_BYTES], name[2 * NAME_BYTES];
    int fact, size, data, mode;
    uint64_t seed;
} sweep_case;

static sweep_case *cases;
static int case_count;

static int is_packed(const kernel_row *k, int fact) {
    return strstr(k->words, "preshuffled") || strstr(facts[fact], "preshuffled");
}

/* gives_again: do both texts give one key? */
static int gives_again(const char *words, const char *others) {
    for (; *words; words += strcspn(words, " "), words += strspn(words, " ")) {
        const size_t key = strcspn(words, "=") + 1;
        for (const char *at = others; *at; at += strcspn(at, " "), at += strspn(at, " "))
            if (!strncmp(at, words, key)) return 1;
    }
    return 0;
}

/* add_case: unless the tag's words and the fact's give a key twice, or the kernel has no such launch. */
static void add_case(int kernel, int fact, int size, int data, int mode, uint64_t seed) {
    const kernel_row *const k = &kernels[kernel];
    const lengths *const s = size_of(size);
    if (gives_again(k->words, facts[fact])) return;
    sweep_case *const c = &cases[case_count];
    snprintf(c->shape, sizeof c->shape, "m=%d n=%d k=%d %s %s %s", s->m, s->n, s->k, k->words, facts[fact],
             data_words[data]);
    const target t = target_of(k->chip);
    char tag[NAME_BYTES];
    snprintf(tag, sizeof tag, OP "%s", k->tag);
    plan p;
    const cdnagen_status status = plan_make(tag, c->shape, &t, 0, &p);
    if (status == CDNAGEN_LIMIT) return; /* LDS of plain B, or more parts than K has tiles */
    c->kernel = k;
    c->fact = fact;
    c->size = size;
    c->data = data;
    c->mode = mode;
    c->seed = seed;
    snprintf(c->name, sizeof c->name, "%s %s %s seed %d, %s", k->chip, k->tag, c->shape, (int)seed, modes[mode]);
    if (++case_count == CASES_MAX) abort();
}

static void add_size(int kernel, int fact, int i) {
    if (i >= (int)COUNT(any_sizes) && is_packed(&kernels[kernel], fact)) return;
    add_case(kernel, fact, i, (kernel + fact + i) % (int)COUNT(data_words), (kernel + i) % (int)COUNT(modes),
             (uint64_t)(kernel + i) % 4);
}

/* Every tag with the first two facts that it can have, from one on that moves with the tag, and each size somewhere. */
static void select_some(void) {
    for (int k = 0; k < (int)COUNT(kernels); k++)
        for (int j = 0, taken = 0; j < (int)COUNT(facts) && taken < FACTS_OF_SOME; j++) {
            const int before = case_count, fact = (k + 3 * j) % (int)COUNT(facts);
            for (int i = (k + 2 * j) % 5; i < SIZES; i += 5) add_size(k, fact, i);
            taken += case_count > before;
        }
}

static void select_all(void) {
    for (int k = 0; k < (int)COUNT(kernels); k++)
        for (int fact = 0; fact < (int)COUNT(facts); fact++)
            for (int i = 0; i < SIZES; i++) add_size(k, fact, i);
}

/* ---- running them ---- */

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
    cdnagen *const ctx = runs_on(c->kernel->chip, modes[c->mode]);
    cdnagen_kernel *const kernel = kernel_of(ctx, c->kernel, c->shape, &p);
    cdnagen_kernel_info info = {.size = sizeof info};
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    /* A scale a column takes more registers than the larger tiles have left, which costs time and no result. */
    if (!strstr(c->shape, "scale_n=1") && (info.vgpr_spills || info.scratch_bytes || info.agpr))
        fail_msg("%u VGPRs spilled, %u bytes of scratch, %u AGPRs", info.vgpr_spills, info.scratch_bytes, info.agpr);
    const check_options how = {.seed = c->seed};
    check_report report;
    if (check_run(ctx, kernel, &p, &how, &report)) fail_msg("%s", cdnagen_error());
    if (!report.grade.pass) fail_msg("%s", report.grade.first);
    cdnagen_free_kernel(kernel);
}

/* ---- launches that are no case of the table ---- */

/* run_bits: one launch's C, in memory of the caller's. */
static uint16_t *run_bits(cdnagen *ctx, cdnagen_kernel *kernel, const plan *p, const problem *data, void *const *device,
                          size_t size) {
    const workload *const w = p->family->workload;
    cdnagen_gemm_blockscale_args args;
    w->arguments(p, data, device, &args);
    const problem_buffer *const c = &data->buffers[BLOCKSCALE_C];
    uint16_t *const bits = malloc(size);
    assert_non_null(bits);
    if (cdnagen_copy_to_device(ctx, device[BLOCKSCALE_C], c->data, c->bytes) ||
        cdnagen_launch_gemm_blockscale(kernel, &args, NULL) || cdnagen_synchronize(ctx, NULL) ||
        cdnagen_copy_to_host(ctx, bits, args.c.ptr, size))
        fail_msg("%s", cdnagen_error());
    return bits;
}

/* Thirty launches, one after the other on one workspace, give the same bits. */
static void launches_repeat_to_the_bit(void **state) {
    (void)state;
    enum { LAUNCHES = 30 };
    static const struct {
        kernel_row kernel;
        const char *shape;
    } rows[] = {
        {{"gfx950", "mfma16x16x128_t64x128x128_4w_cs", ""}, "m=70 n=272 k=640"},
        {{"gfx950", "mfma16x16x128_t16x64x128_4w_sk4", ""}, "m=33 n=144 k=1024"},
        {{"gfx950", "mfma16x16x128_t64x64x128_4w_wm2_xcd_pers", ""}, "m=130 n=272 k=256"},
        {{"gfx950", "mfma16x16x128_t128x256x128_8w_cluster", ""}, "m=130 n=272 k=640"},
        {{"gfx942", "mfma16x16x32_t16x64x128_4w_sk4", ""}, "m=33 n=144 k=1024"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        plan p;
        cdnagen *const ctx = runs_on(rows[i].kernel.chip, "threads=2");
        cdnagen_kernel *const kernel = kernel_of(ctx, &rows[i].kernel, rows[i].shape, &p);
        problem data;
        void *device[PROBLEM_BUFFERS_MAX];
        if (p.family->workload->make(&p, 7, &data)) fail_msg("%s", cdnagen_error());
        for (size_t b = 0; b < data.buffer_count; b++)
            if (cdnagen_alloc(ctx, data.buffers[b].bytes, &device[b]) ||
                cdnagen_copy_to_device(ctx, device[b], data.buffers[b].data, data.buffers[b].bytes))
                fail_msg("%s", cdnagen_error());
        cdnagen_gemm_blockscale_args args;
        p.family->workload->arguments(&p, &data, device, &args);
        uint16_t *const first = run_bits(ctx, kernel, &p, &data, device, args.c.bytes);
        for (int l = 1; l < LAUNCHES; l++) {
            uint16_t *const again = run_bits(ctx, kernel, &p, &data, device, args.c.bytes);
            if (memcmp(first, again, args.c.bytes)) fail_msg("%s: launch %d differs", rows[i].kernel.tag, l);
            free(again);
        }
        free(first);
        for (size_t b = 0; b < data.buffer_count; b++) cdnagen_free_memory(ctx, device[b]);
        problem_release(&data);
        cdnagen_free_kernel(kernel);
    }
}

static void k_of_zero_writes_zeros(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT(kernels); k++) {
        char shape[NAME_BYTES];
        snprintf(shape, sizeof shape, "m=70 n=272 k=0 %s", kernels[k].words);
        plan p;
        cdnagen *const ctx = runs_on(kernels[k].chip, "late poison check=all threads=1");
        cdnagen_kernel *const kernel = kernel_of(ctx, &kernels[k], shape, &p);
        const check_options how = {.seed = 1};
        check_report report;
        if (check_run(ctx, kernel, &p, &how, &report)) fail_msg("%s: %s", kernels[k].tag, cdnagen_error());
        if (!report.grade.pass) fail_msg("%s: %s", kernels[k].tag, report.grade.first);
        cdnagen_free_kernel(kernel);
    }
}

/* The rows of each wave are those of two blocks of 128 that have a scale. Such a tile is too large for the
 * registers. */
static void a_wave_has_rows_of_two_scales(void **state) {
    (void)state;
    const kernel_row k = {"gfx950", "mfma16x16x128_t256x256x128_8w_wm1", ""};
    cdnagen *const ctx = runs_on(k.chip, "late threads=1");
    plan p;
    cdnagen_kernel *const kernel = kernel_of(ctx, &k, "m=256 n=64 k=256 scale_m=128", &p);
    const check_options how = {.seed = 1};
    check_report report;
    if (check_run(ctx, kernel, &p, &how, &report)) fail_msg("%s", cdnagen_error());
    if (!report.grade.pass) fail_msg("%s", report.grade.first);
    cdnagen_free_kernel(kernel);
}

/* A launch's K may have fewer tiles than its kernel has parts: those without any add zeros. */
static void more_parts_than_k_has_tiles(void **state) {
    (void)state;
    static const struct {
        kernel_row split;
        const char *whole;
    } rows[] = {
        {{"gfx950", "mfma16x16x128_t16x64x256_4w_sk8", ""}, "mfma16x16x128_t16x64x256_4w"},
        {{"gfx950", "mfma16x16x128_t128x128x128_8w_cluster_xcd_sk5", ""}, "mfma16x16x128_t128x128x128_8w_cluster"},
        {{"gfx942", "mfma16x16x32_t32x64x128_4w_sk8", ""}, "mfma16x16x32_t32x64x128_4w"}};
    static const int lengths_of_k[] = {1, 128, 300, 513};
    for (size_t i = 0; i < COUNT(rows) * COUNT(lengths_of_k); i++) {
        const kernel_row *const split = &rows[i / COUNT(lengths_of_k)].split;
        const kernel_row whole = {split->chip, rows[i / COUNT(lengths_of_k)].whole, ""};
        cdnagen *const ctx = runs_on(split->chip, "late poison check=all threads=1");
        char shape[NAME_BYTES];
        plan of_kernel, p;
        snprintf(shape, sizeof shape, "m=33 n=80 k=%d data=exact", lengths_of_k[i % COUNT(lengths_of_k)]);
        cdnagen_kernel *const kernel = kernel_of(ctx, split, "m=33 n=80 k=2049", &of_kernel);
        cdnagen_free_kernel(kernel_of(ctx, &whole, shape, &p));
        problem data;
        void *device[PROBLEM_BUFFERS_MAX] = {NULL}, *workspace;
        const size_t size = blockscale_workspace_bytes((const blockscale_variant *)of_kernel.variant, 33, 80);
        void *const zeros = calloc(1, size);
        assert_non_null(zeros);
        if (p.family->workload->make(&p, 3, &data) || p.family->workload->reference(&p, &data) ||
            cdnagen_alloc(ctx, size, &workspace) || cdnagen_copy_to_device(ctx, workspace, zeros, size))
            fail_msg("%s", cdnagen_error());
        for (size_t b = 0; b < data.buffer_count; b++)
            if (cdnagen_alloc(ctx, data.buffers[b].bytes, &device[b]) ||
                cdnagen_copy_to_device(ctx, device[b], data.buffers[b].data, data.buffers[b].bytes))
                fail_msg("%s", cdnagen_error());
        cdnagen_gemm_blockscale_args args;
        uint16_t c[33 * 80];
        p.family->workload->arguments(&p, &data, device, &args);
        args.workspace = (cdnagen_buffer){workspace, size};
        if (cdnagen_launch_gemm_blockscale(kernel, &args, NULL) || cdnagen_synchronize(ctx, NULL) ||
            cdnagen_copy_to_host(ctx, c, args.c.ptr, sizeof c))
            fail_msg("%s %s: %s", split->tag, shape, cdnagen_error());
        for (size_t x = 0; x < COUNT(c); x++)
            if (c[x] != gemm_out_bits(GEMM_BF16, ((const float *)data.reference)[x]))
                fail_msg("%s %s: [%zu, %zu] is 0x%04x", split->tag, shape, x / 80, x % 80, c[x]);
        for (size_t b = 0; b < data.buffer_count; b++) cdnagen_free_memory(ctx, device[b]);
        cdnagen_free_memory(ctx, workspace);
        problem_release(&data);
        cdnagen_free_kernel(kernel);
        free(zeros);
    }
}

/* Rows of C so far apart that the last ones are beyond 4 GiB; every row is right, and its neighbourhood untouched. */
static void c_spans_more_than_four_gib(void **state) {
    (void)state;
    enum { M = 130, N = 80, STRIDE = 16777212, MARGIN = 16 };
    static const char *const tags[] = {"mfma16x16x128_t64x128x128_4w", "mfma16x16x128_t64x128x128_4w_cs",
                                       "mfma16x16x128_t64x128x128_4w_sk2", "mfma16x16x128_t64x128x128_8w_cluster"};
    const size_t bytes_of_c = ((size_t)(M - 1) * STRIDE + N + MARGIN) * sizeof(uint16_t);
    assert_true(bytes_of_c > (size_t)4 << 30);
    for (size_t i = 0; i < COUNT(tags); i++) {
        const kernel_row k = {"gfx950", tags[i], ""};
        cdnagen *const ctx = runs_on(k.chip, "late threads=1");
        plan p;
        cdnagen_kernel *const kernel = kernel_of(ctx, &k, "m=130 n=80 k=256 data=exact", &p);
        problem data;
        void *device[PROBLEM_BUFFERS_MAX], *c;
        if (p.family->workload->make(&p, 3, &data) || p.family->workload->reference(&p, &data) ||
            cdnagen_alloc(ctx, bytes_of_c, &c))
            fail_msg("%s", cdnagen_error());
        for (size_t b = 0; b < data.buffer_count; b++)
            if (cdnagen_alloc(ctx, data.buffers[b].bytes, &device[b]) ||
                cdnagen_copy_to_device(ctx, device[b], data.buffers[b].data, data.buffers[b].bytes))
                fail_msg("%s", cdnagen_error());
        uint16_t row[N + MARGIN];
        memset(row, 0xee, sizeof row);
        for (size_t m = 0; m < M; m++)
            assert_int_equal(cdnagen_copy_to_device(ctx, (uint16_t *)c + m * STRIDE, row, sizeof row), CDNAGEN_OK);
        cdnagen_gemm_blockscale_args args;
        p.family->workload->arguments(&p, &data, device, &args);
        args.c = (cdnagen_buffer){c, bytes_of_c};
        args.c_stride = STRIDE;
        if (cdnagen_launch_gemm_blockscale(kernel, &args, NULL) || cdnagen_synchronize(ctx, NULL))
            fail_msg("%s: %s", tags[i], cdnagen_error());
        for (size_t m = 0; m < M; m++) {
            assert_int_equal(cdnagen_copy_to_host(ctx, row, (uint16_t *)c + m * STRIDE, sizeof row), CDNAGEN_OK);
            for (size_t n = 0; n < N + MARGIN; n++) {
                const uint16_t right =
                    n < N ? gemm_out_bits(GEMM_BF16, ((const float *)data.reference)[m * N + n]) : 0xeeee;
                if (row[n] != right) fail_msg("%s: [%zu, %zu] is 0x%04x, not 0x%04x", tags[i], m, n, row[n], right);
            }
        }
        for (size_t b = 0; b < data.buffer_count; b++) cdnagen_free_memory(ctx, device[b]);
        cdnagen_free_memory(ctx, c);
        problem_release(&data);
        cdnagen_free_kernel(kernel);
    }
}

/* One kernel serves every length of its classes. */
static void lengths_make_no_kernel(void **state) {
    (void)state;
    static const char *const rows[] = {"m=1 n=128 k=128", "m=500 n=1280 k=4096", "m=77 n=65536 k=256"};
    cdnagen_kernel_info info = {.size = sizeof info};
    char key[80] = "";
    for (size_t i = 0; i < COUNT(rows); i++) {
        plan p;
        const kernel_row k = {"gfx950", "mfma16x16x128_t64x128x128_4w_cs", ""};
        cdnagen_kernel *const kernel = kernel_of(runs_on(k.chip, "threads=1"), &k, rows[i], &p);
        assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
        if (i) assert_string_equal(info.key, key);
        snprintf(key, sizeof key, "%s", info.key);
        cdnagen_free_kernel(kernel);
    }
}

/* without_order: what a kernel computes does not depend on the order of its tiles, nor on how many parts K has. */
static blockscale_variant without_order(blockscale_variant v) {
    v.group = v.panel = v.xcd = 0;
    v.split_k = v.split_k != 0;
    return v;
}

static void every_tag_that_auto_takes_is_swept(void **state) {
    (void)state;
    for (int c = 0; c < CHIP_COUNT; c++)
        for (const char *const *words = gemm_blockscale_family.examples; *words; words++) {
            const target t = target_of(chips[c].name);
            blockscale_shape s;
            blockscale_variant v, swept;
            assert_int_equal(shape_parse(&gemm_blockscale_family.shape, *words, &s), CDNAGEN_OK);
            if (blockscale_route(&t, &s, 0, &v)) fail_msg("%s: %s", *words, cdnagen_error());
            v = without_order(v);
            size_t i = 0;
            for (; i < COUNT(kernels); i++) {
                assert_int_equal(tag_parse(&gemm_blockscale_family.tag, kernels[i].tag, &swept), CDNAGEN_OK);
                swept = without_order(swept);
                if (!strcmp(kernels[i].chip, chips[c].name) && !memcmp(&swept, &v, sizeof v)) break;
            }
            if (i == COUNT(kernels)) fail_msg("%s on %s: no row has what auto takes", *words, chips[c].name);
        }
}

/* What a kernel refuses is no case: nothing may be refused everywhere. */
static void every_value_is_covered(void **state) {
    (void)state;
    int of_kernel[COUNT(kernels)][COUNT(facts)] = {{0}}, fact_found[COUNT(facts)] = {0}, size_found[SIZES] = {0};
    int data_found[COUNT(data_words)] = {0}, mode_found[COUNT(modes)] = {0};
    for (int i = 0; i < case_count; i++) {
        const sweep_case *const c = &cases[i];
        if (!strstr(c->shape, c->kernel->words) || !strstr(c->shape, facts[c->fact]))
            fail_msg("%s: not both '%s' and '%s'", c->name, c->kernel->words, facts[c->fact]);
        of_kernel[c->kernel - kernels][c->fact] = fact_found[c->fact] = size_found[c->size] = 1;
        data_found[c->data] = mode_found[c->mode] = 1;
    }
    for (size_t k = 0; k < COUNT(kernels); k++) {
        int count = 0;
        for (size_t f = 0; f < COUNT(facts); f++) count += of_kernel[k][f];
        if (count < FACTS_OF_SOME) fail_msg("%s %s: cases of %d facts", kernels[k].chip, kernels[k].tag, count);
    }
    for (size_t f = 0; f < COUNT(facts); f++)
        if (!fact_found[f]) fail_msg("no case has '%s'", facts[f]);
    for (int i = 0; i < SIZES; i++)
        if (!size_found[i]) fail_msg("no case has m=%d n=%d k=%d", size_of(i)->m, size_of(i)->n, size_of(i)->k);
    for (size_t i = 0; i < COUNT(data_words); i++)
        if (!data_found[i]) fail_msg("no case has '%s'", data_words[i]);
    for (size_t i = 0; i < COUNT(modes); i++)
        if (!mode_found[i]) fail_msg("no case has '%s'", modes[i]);
}

int main(int argc, char **argv) {
    int part = 1, parts = 1;
    if (argc > 1 && (sscanf(argv[1], "%d/%d", &part, &parts) != 2 || part < 1 || part > parts || parts > PARTS_MAX)) {
        fprintf(stderr, "%s: PART/PARTS, as in 1/2, at most %d parts; not %s\n", argv[0], PARTS_MAX, argv[1]);
        return 2;
    }
    cases = calloc(CASES_MAX, sizeof *cases);
    struct CMUnitTest *const tests = calloc(CASES_MAX + 8, sizeof *tests);
    if (!cases || !tests) return 1;
    if (argc > 2 && !strcmp(argv[2], "--full"))
        select_all();
    else
        select_some();
    size_t count = 0;
    for (int i = 0; i < case_count; i++)
        if (i % parts == part - 1) tests[count++] = (struct CMUnitTest){cases[i].name, a_case, NULL, NULL, &cases[i]};
    if (part == 1) {
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(launches_repeat_to_the_bit);
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(k_of_zero_writes_zeros);
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(a_wave_has_rows_of_two_scales);
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(more_parts_than_k_has_tiles);
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(c_spans_more_than_four_gib);
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(lengths_make_no_kernel);
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(every_tag_that_auto_takes_is_swept);
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(every_value_is_covered);
    }
    runs_open();
    const int failed = _cmocka_run_group_tests("gemm_blockscale", tests, count, NULL, NULL);
    runs_close();
    free(tests);
    free(cases);
    return failed != 0;
}
