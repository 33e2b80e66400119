/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The numeric sweep of mqa_logits on one chip: every tag field, window kind, head count, head size, odd length, pair of
 * FP8 kinds, type of weights and layout, in both completion modes of the simulator, over poisoned outputs between
 * guards.
 *
 * sweep_mqa_logits CHIP PART/PARTS         the selection of CI; the same at every run
 * sweep_mqa_logits CHIP PART/PARTS --full  every tag with every head count, head size and clean
 *
 * What is paired with what is drawn from a hash of the case's place in the list; the last tests check that no value of
 * any dimension and no tag that auto takes was left out. */
#include <stdlib.h>

#include "tests/sweep/mqa_data.h"

static const char *const tags_of_gfx950[] = {
    /* direct */
    "mfma32x32x64_bkv32_r1_w1",
    "mfma32x32x64_bkv32_r1_w1_hfma",
    "mfma32x32x64_bkv64_r1_w2_hfma",
    "mfma32x32x64_bkv64_r1_w1_hfma2_wpe1",
    "mfma32x32x64_bkv128_r2_w4_hfma2",
    "mfma32x32x64_bkv128_r4_w1_hfma",
    "mfma32x32x64_bkv256_r1_w4_hfma_ns3",
    "mfma32x32x64_bkv256_r2_w2",
    "mfma16x16x128_bkv16_r1_w1_hfma",
    "mfma16x16x128_bkv32_r4_w2",
    "mfma16x16x128_bkv64_r2_w4_hfma2_ns7",
    "mfma16x16x128_bkv128_r1_w2_wpe2",
    "mfma16x16x128_bkv256_r2_w4_hfma",
    "mfma16x16x32_bkv128_r1_w4",
    "mfma16x16x32_bkv16_r1_w1",
    "mfma32x32x16_bkv128_r1_w4",
    "mfma32x32x16_bkv32_r1_w1",
    /* lds */
    "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma",
    "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma_wpe1",
    "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma_ns2",
    "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma2",
    "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs",
    "mfma32x32x64_bkv64_r1_w1_lds2_rs_hfma",
    "mfma32x32x64_bkv64_r1_w1_lds2_hfma",
    "mfma32x32x64_bkv64_r1_w1_lds1_pd1_rs",
    "mfma32x32x64_bkv64_r1_w1_lds4_pd1_swp_rs_hfma_wpe3",
    "mfma32x32x64_bkv64_r1_w1_lds4_pd3_swp_rs_hfma",
    "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs",
    "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_hfma",
    "mfma32x32x64_bkv64_r1_w2_lds3_pd3_hfma2",
    "mfma32x32x64_bkv64_r1_w4_lds2_swp_rs_hfma",
    "mfma32x32x64_bkv64_r2_w1_lds3_swp_hfma",
    "mfma32x32x64_bkv64_r2_w2_lds2_swp_rs_ns300",
    "mfma32x32x64_bkv64_r2_w4_lds3_swp_rs",
    "mfma32x32x64_bkv64_r2_w4_lds3_rs",
    "mfma32x32x64_bkv64_r4_w1_lds2_rs_hfma_wpe2",
    "mfma32x32x64_bkv64_r4_w4_lds5_pd3",
    "mfma32x32x64_bkv32_r1_w1_lds2_hfma",
    "mfma32x32x64_bkv32_r1_w1_lds5_pd3_hfma",
    "mfma32x32x64_bkv32_r2_w2_lds2_swp_hfma2",
    "mfma32x32x64_bkv32_r1_w4_lds3_pd1",
    "mfma32x32x64_bkv128_r1_w1_lds2_swp_rs_hfma",
    "mfma32x32x64_bkv128_r1_w4_lds2_swp_rs_hfma",
    "mfma32x32x64_bkv128_r2_w2_lds3_pd2_hfma2",
    "mfma32x32x64_bkv128_r1_w4_lds4_pd3_rs",
    "mfma32x32x64_bkv256_r1_w4_lds2_rs_hfma",
    "mfma32x32x64_bkv256_r1_w4_lds1_pd1_swp_hfma",
    "mfma16x16x128_bkv64_r1_w4_lds2_swp_rs_hfma",
    "mfma16x16x128_bkv64_r1_w1_lds2_swp_rs_hfma",
    "mfma16x16x128_bkv64_r1_w1_lds2_rs_hfma",
    "mfma16x16x128_bkv64_r2_w4_lds3_rs",
    "mfma16x16x128_bkv64_r1_w2_lds5_pd3_swp_hfma2_ns7",
    "mfma16x16x128_bkv64_r4_w2_lds4_pd1_rs_hfma",
    "mfma16x16x128_bkv32_r1_w1_lds3_pd3",
    "mfma16x16x128_bkv16_r1_w1_lds2_hfma",
    "mfma16x16x128_bkv16_r2_w1_lds2_hfma",
    "mfma16x16x128_bkv128_r1_w1_lds2_swp_rs_hfma2_wpe1",
    "mfma16x16x128_bkv128_r2_w4_lds3_pd3_swp",
    "mfma16x16x128_bkv256_r1_w4_lds2_rs",
    /* scales in LDS, skipped tiles, no prefetch past the end: alone, together, in rings that are full and that are
     * not */
    "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_ls_hfma",
    "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_ls",
    "mfma32x32x64_bkv32_r2_w2_lds4_pd3_ls_hfma2",
    "mfma16x16x128_bkv16_r1_w4_lds3_pd1_ls_hfma",
    "mfma32x32x64_bkv256_r1_w4_lds2_rs_ls",
    "mfma32x32x64_bkv64_r1_w4_lds2_swp_rs_ts_hfma",
    "mfma32x32x64_bkv32_r2_w2_lds4_pd3_ts",
    "mfma16x16x128_bkv64_r4_w1_lds3_pd1_rs_ts_hfma2",
    "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_dg_hfma",
    "mfma32x32x64_bkv32_r1_w2_lds4_pd4_swp_dg_hfma2",
    "mfma16x16x128_bkv64_r1_w4_lds4_pd3_rs_dg",
    "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_ls_ts_hfma",
    "mfma32x32x64_bkv64_r2_w4_lds3_rs_ts_dg_hfma_wpe2",
    "mfma32x32x64_bkv32_r1_w4_lds3_pd3_swp_ls_dg",
    "mfma16x16x128_bkv64_r1_w2_lds5_pd4_rs_ls_dg_hfma2",
    "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_ls_ts_dg_hfma",
    "mfma32x32x64_bkv64_r1_w4_lds3_pd3_swp_rs_ls_ts_dg_hfma",
    "mfma16x16x128_bkv32_r2_w4_lds4_pd3_ls_ts_dg",
    "mfma16x16x128_bkv128_r2_w2_lds1_pd1_swp_rs_ls_ts_dg_hfma2",
    /* pipelines that run on across tiles: of one n-tile and of several, with each other field */
    "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_ct_hfma",
    "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_ct_hfma",
    "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_ls_ct_hfma",
    "mfma32x32x64_bkv64_r1_w4_lds2_swp_rs_ct_hfma",
    "mfma32x32x64_bkv64_r2_w1_lds2_swp_rs_ct_hfma",
    "mfma32x32x64_bkv32_r1_w1_lds2_swp_ct",
    "mfma32x32x64_bkv32_r2_w2_lds4_pd3_swp_ls_ct_hfma2",
    "mfma32x32x64_bkv64_r1_w4_lds5_pd4_swp_rs_dg_ct",
    "mfma32x32x64_bkv128_r1_w4_lds2_swp_rs_ls_dg_ct_hfma",
    "mfma16x16x128_bkv16_r2_w1_lds3_pd3_swp_ls_dg_ct_hfma",
    "mfma32x32x64_bkv64_r2_w2_lds2_swp_ct_hfma",
    "mfma16x16x128_bkv64_r2_w1_lds3_swp_ls_ct",
    "mfma16x16x128_bkv64_r1_w4_lds3_pd3_swp_rs_ct_hfma",
    "mfma16x16x128_bkv128_r2_w2_lds4_swp_rs_dg_ct_hfma2",
};

static const char *const tags_of_gfx942[] = {
    "mfma_r1_w1",
    "mfma_r1_w2",
    "mfma_r1_w4",
    "mfma_r2_w1",
    "mfma_r2_w2",
    "mfma_r2_w4",
    "mfma_r4_w1",
    "mfma_r4_w2",
    "mfma_r4_w4",
    "mfma_r1_w2_hfma",
    "mfma_r1_w4_hfma",
    "mfma_r2_w4_hfma",
    "mfma_r1_w8_hfma",
    "mfma_r2_w4_hfma2",
    "mfma_r1_w4_hfma_wpe2",
    "mfma_r8_w4_wpe1",
    "mfma16x16x32_bkv16_r1_w1",
    "mfma16x16x32_bkv32_r3_w1_hfma",
    "mfma16x16x32_bkv64_r1_w1_hfma2_ns3",
    "mfma16x16x32_bkv96_r2_w2_hfma",
    "mfma16x16x32_bkv256_r1_w2",
    "mfma32x32x16_bkv32_r1_w1",
    "mfma32x32x16_bkv64_r2_w1_hfma",
    "mfma32x32x16_bkv96_r1_w1_hfma2_wpe3",
    "mfma32x32x16_bkv128_r1_w4",
    "mfma32x32x16_bkv128_r2_w2_hfma_ns7",
    "mfma32x32x16_bkv128_r4_w4_ns300",
    "mfma32x32x16_bkv256_r1_w4_hfma2_ns2",
};

/* The tags that auto takes, with the most heads and dim of their class. */
static const struct {
    const char *chip;
    int heads, dim;
    const char *tag;
} routes[] = {
#define ROUTE(chip, heads_max, dim_max, seq_max, seq_kv_max, tag) {chip, heads_max, dim_max, tag},
#include "gen/mqa_logits/routes_gfx942.inc"
#include "gen/mqa_logits/routes_gfx950.inc"
#undef ROUTE
};

/* What sweeps of one chip must have met, beside what all must. */
typedef struct chip_sweep {
    const char *name, *const *tags;
    int tag_count, kernels_a_tag; /* of CI's selection */
    const char *words[40];
} chip_sweep;

static const int head_counts[] = {16, 32, 64, 128};
static const int dims[] = {64, 128, 192, 256, 320, 384, 448, 512};
/* What no MFMA divides. */
static const struct {
    int heads, dim;
} padded[] = {{1, 112}, {7, 80}, {12, 96}, {24, 32}, {40, 144}, {48, 48}, {80, 208}, {96, 96}};
static const char *const windows[] = {"causal",   "cp",           "misaligned",           "empty",
                                      "past_end", "batch_causal", "batch_causal batch=3", "unsorted"};
static const int splits[] = {0, 1, 2, 3, 7, 100};
static const char *const modes[] = {"threads=1", "late threads=1", "poison threads=1", "late poison threads=1"};

typedef struct lengths {
    int seq, seq_kv;
} lengths;
/* cp takes those where seq is even and divides seq_kv. The first ones have many trips of any tile. */
static const lengths sizes[] = {{67, 1500}, {5, 1500}, {9, 1111}, {6, 1302}, {1, 1},    {1, 16},   {1, 113},  {17, 76},
                                {61, 113},  {128, 64}, {5, 191},  {3, 128},  {16, 512}, {26, 390}, {34, 340}, {3, 640}};
enum { LONG_SIZES = 4 };

static const char *const fp8_words[] = {"", " q_fp8=e4m3fn", " kv_fp8=e4m3fn", " q_fp8=e4m3fn kv_fp8=e4m3fn"};
static const char *const operand_words[] = {"", "", "", " weights=bf16", " strided=1", " weights=bf16 strided=1"};

static const chip_sweep chip_sweeps[] = {
    {"gfx950",
     tags_of_gfx950,
     COUNT(tags_of_gfx950),
     3,
     {"mfma32x32x64_", "mfma16x16x128_", "mfma16x16x32_", "mfma32x32x16_", "_lds1", "_lds2", "_lds3", "_lds4", "_lds5",
      "_pd1", "_pd3", "_pd4", "_swp", "_rs", "_ls", "_ts", "_dg", "_ct"}},
    {"gfx942",
     tags_of_gfx942,
     COUNT(tags_of_gfx942),
     3,
     {"mfma_", "mfma16x16x32_", "mfma32x32x16_", "_r3_", "_r8_", "_w8", "_bkv96_",
      "clean=1 window=causal q_fp8=e4m3fn splits", " kv_fp8=e4m3fn splits", "q_fp8=e4m3fn kv_fp8=e4m3fn"}},
};
static const chip_sweep *on;

/* The chip's own list, then what only auto takes. */
static const char *tags[256];
static int tag_count;

enum { NAME_MAX_BYTES = 256, KERNELS_MAX = 16384, CASES_MAX = 1 << 18, PARTS_MAX = 16 };
#define COMPILE_WORK 2e8 /* a case's share of a compilation, as multiplications of the reference */

typedef struct kernel {
    const char *tag;
    int heads, dim, clean;
    char words[80];         /* one of fp8_words and one of operand_words */
    cdnagen_kernel *handle; /* generated when first run */
} kernel;

typedef struct sweep_case {
    int kernel;
    lengths size;
    const char *window, *mode;
    int splits, trips;
    char *name;
} sweep_case;

static kernel kernels[KERNELS_MAX];
static sweep_case cases[CASES_MAX];
static int kernel_count, case_count;

/* ---- which cases ---- */

/* draw: 0..count-1 from a hash of a case's number and of what is drawn. */
static int draw(int number, int what, size_t count) {
    uint64_t z = (uint64_t)number * 0x9e3779b97f4a7c15u + (uint64_t)what * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (int)((z ^ (z >> 31)) % count);
}

/* Outside of tests cmocka's asserts end the process without a word. */
_Noreturn static void stop(const char *what, const char *why) {
    fprintf(stderr, "sweep_mqa_logits: %s: %s\n", what, why);
    exit(1);
}

static void add_case(lengths size, const char *window, int split_count, const char *mode) {
    const kernel *const k = &kernels[kernel_count - 1];
    char shape[NAME_MAX_BYTES], name[2 * NAME_MAX_BYTES];
    snprintf(shape, sizeof shape, "seq=%d seq_kv=%d heads=%d dim=%d clean=%d window=%s%s", size.seq, size.seq_kv,
             k->heads, k->dim, k->clean, window, k->words);
    const mqa_shape s = shape_of(shape);
    if (mqa_window_check(&s)) return;
    snprintf(name, sizeof name, "%s %s splits=%d %s", k->tag, shape, split_count, mode);
    const mqa_variant v = variant_of(k->tag);
    const int tiles = (int)((size.seq_kv + v.bkv - 1) / v.bkv), parts = split_count ? split_count : (int)v.splits;
    if (case_count == CASES_MAX) stop(name, "more cases than CASES_MAX");
    cases[case_count++] = (sweep_case){
        kernel_count - 1, size, window, mode, split_count, parts ? (tiles + parts - 1) / parts : 0, mem_strdup(name)};
}

/* add_drawn: a case with everything but the kernel drawn; a window kind that the lengths do not allow is drawn
 * again. */
static void add_drawn(int number) {
    const int before = case_count;
    for (int again = 0; case_count == before; again += 16)
        add_case(sizes[draw(number, again, COUNT(sizes))], windows[draw(number, again + 1, COUNT(windows))],
                 splits[draw(number, again + 2, COUNT(splits))], modes[draw(number, again + 3, COUNT(modes))]);
}

enum { DIVIDED = (int)(COUNT(head_counts) * COUNT(dims)), FACTS = DIVIDED + (int)COUNT(padded) };

static int heads_of(int fact) { return fact < DIVIDED ? head_counts[fact % 4] : padded[fact - DIVIDED].heads; }
static int dim_of(int fact) { return fact < DIVIDED ? dims[fact / 4] : padded[fact - DIVIDED].dim; }

/* The FP8 kinds are drawn where there is a choice. */
static int add_kernel(const char *tag, int fact, int clean) {
    char full[NAME_MAX_BYTES], shape[NAME_MAX_BYTES];
    const int heads = heads_of(fact), dim = dim_of(fact);
    const int has_choice = target_of(sweep_chip).chip->fp8 == CDNAGEN_FP8_E4M3FNUZ;
    kernel k = {.tag = tag, .heads = heads, .dim = dim, .clean = clean};
    snprintf(k.words, sizeof k.words, "%s%s", has_choice ? fp8_words[draw(kernel_count, 20, COUNT(fp8_words))] : "",
             operand_words[draw(kernel_count, 21, COUNT(operand_words))]);
    snprintf(full, sizeof full, "mqa_logits:%s", tag);
    snprintf(shape, sizeof shape, "heads=%d dim=%d clean=%d%s", heads, dim, clean, k.words);
    const target t = target_of(sweep_chip);
    plan p;
    /* rows that no register file holds: nothing but spills, and minutes to compile */
    if (variant_of(tag).rows * heads * dim / 256 > 512) return 0;
    const cdnagen_status status = plan_make(full, shape, &t, 0, &p);
    if (status == CDNAGEN_LIMIT) return 0;
    if (status) stop(full, cdnagen_error());
    if (kernel_count == KERNELS_MAX) stop(full, "more kernels than KERNELS_MAX");
    kernels[kernel_count++] = k;
    return 1;
}

enum { DRAWN_A_KERNEL = 6, DRAWN_IN_CI = 4 };

/* What every kernel runs in late mode, where a wait or barrier that is missing shows: so many trips of its loop, the
 * last one with columns past the end. */
static void add_trips(int trips) {
    const mqa_variant v = variant_of(kernels[kernel_count - 1].tag);
    add_case((lengths){5, trips * (int)v.bkv - 3}, "causal", 1, "late poison threads=1");
}

static int same_variant(const char *tag, const mqa_variant *v) {
    const mqa_variant parsed = variant_of(tag);
    return !memcmp(&parsed, v, sizeof parsed);
}

static int is_listed(const mqa_variant *v) {
    for (int t = 0; t < tag_count; t++)
        if (same_variant(tags[t], v)) return 1;
    return 0;
}

static void collect_tags(void) {
    for (int t = 0; t < on->tag_count; t++) tags[tag_count++] = on->tags[t];
    for (size_t i = 0; i < COUNT(routes); i++) {
        const mqa_variant v = variant_of(routes[i].tag);
        if (strcmp(routes[i].chip, on->name) || is_listed(&v)) continue;
        if (tag_count == (int)COUNT(tags)) stop(routes[i].tag, "more tags than there is room for");
        tags[tag_count++] = routes[i].tag;
    }
}

/* Each route where it is taken. */
static void select_routes(void) {
    for (size_t i = 0; i < COUNT(routes); i++) {
        int fact = 0;
        while (fact < DIVIDED && (heads_of(fact) != routes[i].heads || dim_of(fact) != routes[i].dim)) fact++;
        if (strcmp(routes[i].chip, on->name)) continue;
        if (fact == DIVIDED) stop(routes[i].tag, "no head count and head size are those of its class");
        if (!add_kernel(routes[i].tag, fact, (int)(i % 2))) stop(routes[i].tag, "it cannot serve its own class");
        add_trips(1 + (int)i % 3);
        for (int j = 0; j < 2; j++) add_drawn(kernel_count * DRAWN_A_KERNEL + j);
    }
}

/* A few kernels a tag of the chip's own list. */
static void select_some(void) {
    for (int t = 0; t < on->tag_count; t++)
        for (int j = 0; j < on->kernels_a_tag; j++) {
            int fact = draw(t, 4 + j, FACTS);
            while (!add_kernel(on->tags[t], fact, (t + j) % 2)) fact = (fact + 7) % FACTS;
            /* The longest problem takes as long as all others of a kernel: only where rows are small. */
            const int first = heads_of(fact) * dim_of(fact) > 16384;
            add_trips(1 + j % 3);
            add_case(sizes[first + kernel_count % (LONG_SIZES - first)], "causal", 1 + t % 3, "late poison threads=1");
            for (int i = 0; i < DRAWN_IN_CI; i++) add_drawn(kernel_count * DRAWN_A_KERNEL + i);
        }
    select_routes();
}

static void select_all(void) {
    for (int t = 0; t < tag_count; t++)
        for (int fact = 0; fact < 2 * FACTS; fact++) {
            if (!add_kernel(tags[t], fact / 2, fact % 2)) continue;
            for (int trips = 1; trips <= 3; trips++) add_trips(trips);
            add_case(sizes[0], "causal", 0, "late poison threads=1");
            add_case(sizes[0], "past_end", 1, "late threads=1");
            for (int i = 0; i < DRAWN_A_KERNEL; i++) add_drawn(kernel_count * DRAWN_A_KERNEL + i);
        }
}

/* By data, so that each problem is made once. */
static int compare_cases(const void *a, const void *b) {
    const sweep_case *const x = a, *const y = b;
    const kernel *const k = &kernels[x->kernel], *const l = &kernels[y->kernel];
    const int by[][2] = {{k->heads * k->dim, l->heads * l->dim}, {k->heads, l->heads},
                         {strcmp(k->words, l->words), 0},        {x->size.seq, y->size.seq},
                         {x->size.seq_kv, y->size.seq_kv},       {x->kernel, y->kernel}};
    for (size_t i = 0; i < COUNT(by); i++)
        if (by[i][0] != by[i][1]) return by[i][0] < by[i][1] ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* part_of: which part case i is in. Called for each in their order: those of one head count and size stay together, and
 * go to the part that has the least to do so far. */
static int part_of(int i, int parts) {
    static double work[PARTS_MAX];
    static int part, heads, dim;
    const kernel *const k = &kernels[cases[i].kernel];
    if (k->heads != heads || k->dim != dim)
        for (int p = part = 0; p < parts; p++)
            if (work[p] < work[part]) part = p;
    heads = k->heads;
    dim = k->dim;
    work[part] += (double)heads * dim * cases[i].size.seq * cases[i].size.seq_kv + COMPILE_WORK;
    return part;
}

/* ---- running them ---- */

static cdnagen *ctx;
static mqa_data data;
static lengths data_size;
static int data_heads, data_dim;
static const char *data_words = "";

static void free_kernels(void) {
    for (int i = 0; i < kernel_count; i++) {
        cdnagen_free_kernel(kernels[i].handle);
        kernels[i].handle = NULL;
    }
}

static void take_data(const sweep_case *c, const kernel *k) {
    const int same_facts = data_heads == k->heads && data_dim == k->dim && !strcmp(data_words, k->words);
    if (same_facts && data_size.seq == c->size.seq && data_size.seq_kv == c->size.seq_kv) return;
    if (!same_facts) free_kernels();
    data_free(&data);
    char shape[NAME_MAX_BYTES];
    snprintf(shape, sizeof shape, "seq=%d seq_kv=%d heads=%d dim=%d%s", c->size.seq, c->size.seq_kv, k->heads, k->dim,
             k->words);
    data_make(&data, ctx, shape);
    data_upload(&data);
    data_size = c->size;
    data_heads = k->heads;
    data_dim = k->dim;
    data_words = k->words;
}

static void take_windows(const sweep_case *c) {
    char shape[NAME_MAX_BYTES];
    snprintf(shape, sizeof shape, "seq=%d seq_kv=%d heads=%d dim=%d window=%s", c->size.seq, c->size.seq_kv, data_heads,
             data_dim, c->window);
    const mqa_shape s = shape_of(shape);
    for (int r = 0; r < c->size.seq; r++) mqa_window_row(&s, r, &data_starts(&data)[r], &data_ends(&data)[r]);
    data_windows(&data);
}

/* The rules of the specification allow 1e-3; f32 sums in another order stay far below these, but for a few logits
 * alone: their heads may cancel, and there is no larger one to measure by. */
#define SAME_CALC_DIFF 1e-10
#define SAME_MAX_REL 1e-5
enum { FEW_LOGITS = 16 };

static void a_case(void **state) {
    const sweep_case *const c = *state;
    kernel *const k = &kernels[c->kernel];
    take_data(c, k);
    take_windows(c);
    if (!k->handle) {
        char shape[NAME_MAX_BYTES];
        snprintf(shape, sizeof shape, "heads=%d dim=%d clean=%d%s", k->heads, k->dim, k->clean, k->words);
        k->handle = kernel_of(ctx, k->tag, shape);
    }
    simulate(c->mode);
    const grade g = data_run(&data, k->handle, c->name, k->clean, c->splits);
    const int few = (int64_t)c->size.seq * c->size.seq_kv < FEW_LOGITS;
    if (!g.pass ||
        (!few && (!(grade_figure(&g, "calc_diff") < SAME_CALC_DIFF) || !(grade_figure(&g, "max_rel") < SAME_MAX_REL))))
        fail_msg("calc_diff %g, max_rel %g, %s", grade_figure(&g, "calc_diff"), grade_figure(&g, "max_rel"), g.first);
}

/* ---- nothing was left out ---- */

static void assert_covered(const char *word) {
    int found = 0;
    for (int c = 0; c < case_count && !found; c++) found = strstr(cases[c].name, word) != NULL;
    if (!found) fail_msg("no case has %s", word);
}

static void every_value_is_covered(void **state) {
    (void)state;
    static const char *const words[] = {"_bkv16_",
                                        "_bkv32_",
                                        "_bkv64_",
                                        "_bkv128_",
                                        "_bkv256_",
                                        "_r1_",
                                        "_r2_",
                                        "_r4_",
                                        "_w1",
                                        "_w2",
                                        "_w4",
                                        "_hfma ",
                                        "_hfma2",
                                        "_wpe1",
                                        "_wpe2",
                                        "_wpe3",
                                        "_ns2",
                                        "_ns3",
                                        "_ns7",
                                        "_ns300",
                                        "heads=16 ",
                                        "heads=32 ",
                                        "heads=64 ",
                                        "heads=128 ",
                                        "weights=bf16 splits",
                                        "strided=1 splits",
                                        "weights=bf16 strided=1",
                                        "clean=0",
                                        "clean=1",
                                        "splits=0 ",
                                        "splits=1 ",
                                        "splits=2 ",
                                        "splits=3 ",
                                        "splits=7 ",
                                        "splits=100 ",
                                        " threads=1",
                                        " late thr",
                                        " late poison",
                                        " poison thr"};
    for (size_t i = 0; i < COUNT(words); i++) assert_covered(words[i]);
    for (size_t i = 0; i < COUNT(on->words) && on->words[i]; i++) assert_covered(on->words[i]);
    int dim_found[COUNT(dims)] = {0}, padded_found[COUNT(padded)] = {0}, size_found[COUNT(sizes)] = {0},
        window_found[COUNT(windows)] = {0};
    int trips_found[2][5] = {{0}};
    for (int c = 0; c < case_count; c++) {
        for (size_t i = 0; i < COUNT(dims); i++) dim_found[i] |= kernels[cases[c].kernel].dim == dims[i];
        for (size_t i = 0; i < COUNT(padded); i++)
            padded_found[i] |=
                kernels[cases[c].kernel].heads == padded[i].heads && kernels[cases[c].kernel].dim == padded[i].dim;
        for (size_t i = 0; i < COUNT(sizes); i++) size_found[i] |= !memcmp(&cases[c].size, &sizes[i], sizeof sizes[i]);
        for (size_t i = 0; i < COUNT(windows); i++) window_found[i] |= cases[c].window == windows[i];
        if (strcmp(cases[c].window, "causal") || cases[c].splits != 1) continue;
        trips_found[strstr(cases[c].name, "_lds") != NULL][cases[c].trips < 4 ? cases[c].trips : 4] = 1;
    }
    for (size_t i = 0; i < COUNT(dims); i++) assert_true(dim_found[i]);
    for (size_t i = 0; i < COUNT(padded); i++) assert_true(padded_found[i]);
    for (size_t i = 0; i < COUNT(sizes); i++) assert_true(size_found[i]);
    for (size_t i = 0; i < COUNT(windows); i++) assert_true(window_found[i]);
    const int has_lds = variant_of(on->tags[on->tag_count - 1]).slots > 0;
    for (int i = 1; i < 5; i++) assert_true(trips_found[0][i] && (!has_lds || trips_found[1][i]));
}

static int is_swept(const mqa_variant *v) {
    for (int k = 0; k < kernel_count; k++)
        if (same_variant(kernels[k].tag, v)) return 1;
    return 0;
}

static void every_tag_that_auto_takes_is_swept(void **state) {
    (void)state;
    static const int lengths_of_rows[] = {1, 256, 257, 1 << 20};
    const target t = target_of(sweep_chip);
    for (int i = 0; i < FACTS * (int)COUNT(lengths_of_rows); i++) {
        char words[NAME_MAX_BYTES];
        snprintf(words, sizeof words, "seq=%d heads=%d dim=%d", lengths_of_rows[i / FACTS], heads_of(i % FACTS),
                 dim_of(i % FACTS));
        const mqa_shape s = shape_of(words);
        mqa_variant v;
        for (int rank = 0; mqa_route(&t, &s, rank, &v) == CDNAGEN_OK; rank++)
            if (!is_swept(&v)) fail_msg("%s: choice %d of auto is no kernel of the sweep", words, rank);
    }
}

int main(int argc, char **argv) {
    int part = 1, parts = 1;
    for (size_t i = 0; i < COUNT(chip_sweeps) && argc > 1; i++)
        if (!strcmp(chip_sweeps[i].name, argv[1])) on = &chip_sweeps[i];
    if (!on ||
        (argc > 2 && (sscanf(argv[2], "%d/%d", &part, &parts) != 2 || part < 1 || part > parts || parts > PARTS_MAX))) {
        fprintf(stderr, "usage: %s CHIP [PART/PARTS [--full]], as in gfx942 1/2; at most %d parts\n", argv[0],
                PARTS_MAX);
        return 2;
    }
    sweep_chip = on->name;
    collect_tags();
    if (argc > 3 && !strcmp(argv[3], "--full"))
        select_all();
    else
        select_some();
    qsort(cases, (size_t)case_count, sizeof cases[0], compare_cases);
    struct CMUnitTest *const tests = mem_alloc((size_t)(case_count + 2) * sizeof *tests);
    if (!tests) return 1;
    size_t count = 0;
    for (int i = 0; i < case_count; i++)
        if (part_of(i, parts) == part - 1)
            tests[count++] = (struct CMUnitTest){cases[i].name, a_case, NULL, NULL, &cases[i]};
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(every_value_is_covered);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(every_tag_that_auto_takes_is_swept);
    ctx = sim_context();
    const int failed = _cmocka_run_group_tests("mqa_logits", tests, count, NULL, NULL);
    data_free(&data);
    free_kernels();
    cdnagen_free_context(ctx);
    for (int i = 0; i < case_count; i++) mem_free(cases[i].name);
    mem_free(tests);
    return failed != 0;
}
