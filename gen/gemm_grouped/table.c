/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The grammars of gemm_grouped: its tag fields and its shape words, one row each, and the family that holds them. */
#include "gen/gemm/ablation.h"
#include "gen/gemm_grouped/gemm_grouped.h"

#define TILES_OF(bm, bn) #bm "x" #bn "x128", #bm "x" #bn "x256"
#define TILES(bm) TILES_OF(bm, 64), TILES_OF(bm, 128), TILES_OF(bm, 256)

static const char *const atom_words[] = {"16x16x32", "32x32x16", "16x16x128", "32x32x64", NULL};
static const char *const tile_words[] = {TILES(16), TILES(32), TILES(64), TILES(128), TILES(256), NULL};
static const char *const layout_words[] = {[GROUPED_SIZES] = "sizes",
                                           [GROUPED_OFFSETS] = "offsets",
                                           [GROUPED_PADDED] = "padded",
                                           [GROUPED_BATCHED] = "batched",
                                           [GROUPED_N_OFFSETS] = "n_offsets",
                                           [GROUPED_K_OFFSETS] = "k_offsets",
                                           NULL};
static const char *const fp8_words[] = {"native", "e4m3fn", "e4m3fnuz", NULL};
static const char *const b_words[] = {[GEMM_B_PLAIN] = "plain", [GEMM_B_PRESHUFFLED] = "preshuffled", NULL};
static const char *const scale_words[] = {[GROUPED_SCALE_ROW] = "row", [GROUPED_SCALE_BLOCK] = "block", NULL};
static const char *const empty_words[] = {[GROUPED_EMPTY_K_ZERO] = "zero", [GROUPED_EMPTY_K_LEAVE] = "leave", NULL};
static const char *const out_words[] = {[GEMM_BF16] = "bf16", [GEMM_F16] = "f16", NULL};
static const char *const data_words[] = {[GROUPED_RANDOM] = "random",
                                         [GROUPED_EXACT] = "exact",
                                         [GROUPED_COHERENT] = "coherent",
                                         [GROUPED_BENCHMARK] = "benchmark",
                                         NULL};

/* Columns: name, kind, use, print, required, offset, min, max, standard, words, needs, help. */
#define TAG(member) offsetof(grouped_variant, member)
#define FLAG(name, member, help)                                                                                       \
    {name, FIELD_FLAG, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(member), 0, 1, 0, NULL, NULL, help}
#define NUMBER(name, member, min, max, help)                                                                           \
    {name, FIELD_NUMBER, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(member), min, max, 0, NULL, NULL, help}
static const field tag_fields[] = {
    {"mfma", FIELD_TRIPLE, FIELD_KERNEL, PRINT_ALWAYS, 1, TAG(atom), 0, 0, 0, atom_words, NULL,
     "MFMA atom: rows of A x columns of C x K"},
    {"t", FIELD_TRIPLE, FIELD_KERNEL, PRINT_ALWAYS, 1, TAG(tile), 0, 0, 0, tile_words, NULL,
     "tile of a workgroup: rows x columns x K"},
    NUMBER("wm", waves_m, 2, 4, "waves along the rows, of 4; left out: 1"),
    NUMBER("group", group, 1, 64, "raster: tile rows that are walked together, on one XCD; left out: row after row"),
    FLAG("cs", cshuffle, "C is stored through LDS"),
    FLAG("async", async, "A (and plain B) reach LDS by DMA"),
    NUMBER("sk", split_k, 2, 64, "parts that each group's K is cut into"),
    NUMBER("unroll", unroll, 1, 16, "K is exactly this many tiles, in straight-line code"),
    {"x", FIELD_WORD, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(ablation), 0, 0, 0, gemm_ablation_words, NULL,
     "left out on purpose, for diagnosis: results are wrong"},
    NUMBER("wpe", wpe, 1, 8, "waves per execution unit (SIMD) asked of the compiler, neither more nor fewer"),
};

#define SHAPE(member) offsetof(grouped_shape, member)
#define LENGTH(name, member, most, help)                                                                               \
    {name, FIELD_NUMBER, FIELD_HOST, PRINT_NOT_DEFAULT, 0, SHAPE(member), 0, most, -1, NULL, NULL, help}
#define TAIL(name, member, help)                                                                                       \
    {name, FIELD_NUMBER, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, SHAPE(member), 0, 1, -1, NULL, NULL, help}
#define WORD(name, member, use, print, words, help)                                                                    \
    {name, FIELD_WORD, use, print, 0, SHAPE(member), 0, 0, 0, words, NULL, help}
static const field shape_fields[] = {
    WORD("layout", layout, FIELD_KERNEL, PRINT_ALWAYS, layout_words,
         "rows of each group by counts or ends; slabs, partly or wholly filled; columns or parts of K by ends"),
    LENGTH("groups", groups, GROUPED_GROUPS_MAX, "groups"),
    LENGTH("m", m, GEMM_LENGTH_MAX, "rows: of all groups (sizes, offsets), else of a slab"),
    LENGTH("n", n, GEMM_LENGTH_MAX, "columns: of each group, but n_offsets: of all"),
    LENGTH("k", k, GEMM_LENGTH_MAX, "length of the dot products, but k_offsets: of all groups'"),
    WORD("scale", scale, FIELD_KERNEL, PRINT_ALWAYS, scale_words,
         "a scale for each row of A and of B, or for blocks of 1x128 and 128x128"),
    WORD("b", b, FIELD_KERNEL, PRINT_NOT_DEFAULT, b_words,
         "B's layout: rows of k bytes, or as cdnagen_pack_b leaves each group's"),
    WORD("empty_k", empty_k, FIELD_KERNEL, PRINT_NOT_DEFAULT, empty_words, "k_offsets: C of a group that has no K"),
    WORD("out", out, FIELD_KERNEL, PRINT_NOT_DEFAULT, out_words, "type of C"),
    WORD("a_fp8", a_fp8, FIELD_KERNEL, PRINT_NOT_DEFAULT, fp8_words,
         "what A's bytes mean; native: the chip's own kind"),
    WORD("b_fp8", b_fp8, FIELD_KERNEL, PRINT_NOT_DEFAULT, fp8_words,
         "what B's bytes mean; native: the chip's own kind"),
    TAIL("k_tail", k_tail, "1: any k; 0: only multiples of the tile's K; left out: what k needs"),
    TAIL("n_tail", n_tail, "1: any n; 0: only multiples of the tile's columns; left out: what n needs"),
    WORD("data", data, FIELD_WORKLOAD, PRINT_NOT_DEFAULT, data_words,
         "what a run computes with; exact: small integers, scales powers of two; coherent: every second group is 1 "
         "everywhere; benchmark: normal, as models are measured with"),
    {"extents", FIELD_LIST, FIELD_WORKLOAD, PRINT_NOT_DEFAULT, 0, SHAPE(extent_count), 0, GEMM_LENGTH_MAX, 0, NULL,
     NULL, "a run's groups: rows, columns or K of each; left out: uneven ones, one empty"},
};

static const char *const examples[] = {"groups=8 m=1 n=8192 k=1024",
                                       "groups=8 m=32 n=1280 k=8192",
                                       "groups=8 m=128 n=1280 k=8192 b=preshuffled",
                                       "groups=8 m=1024 n=2048 k=7168 b=preshuffled",
                                       "groups=8 m=16384 n=7168 k=2304 b=preshuffled",
                                       "groups=8 m=16384 n=7168 k=2304 b=preshuffled scale=block",
                                       "layout=offsets groups=8 m=4096 n=13312 k=16384",
                                       "layout=padded groups=8 m=512 n=8192 k=1024",
                                       "layout=batched groups=8 m=512 n=8192 k=1024 b=preshuffled",
                                       "layout=n_offsets groups=8 m=512 n=16384 k=7168",
                                       "layout=k_offsets groups=8 m=2048 n=7168 k=16384",
                                       NULL};

/* Rows a launch from decoding to prefill, layers of models, every layout. */
static const char *const route_shapes[] = {
    "layout=sizes,offsets groups=8,64 m=1,32,128,1024 n=1280,2048,7168,8192 k=1024,2304,7168,8192 b=plain,preshuffled",
    "layout=sizes,offsets groups=8,64 m=4096,16384 n=1280,2048,7168,8192 k=1024,2304,7168,8192 b=plain,preshuffled",
    "groups=8,64 m=1,32,128,1024,16384 n=1280,2048,7168,8192 k=1024,2304,7168,8192 b=plain,preshuffled scale=block",
    "layout=padded,batched groups=8,64 m=128,512 n=1280,2048,7168,8192 k=1024,2304,7168,8192 b=plain,preshuffled",
    "layout=n_offsets groups=8 m=128,512 n=10240,16384,57344 k=1024,7168,8192",
    "layout=k_offsets groups=8 m=1280,2048,7168 n=2304,7168,8192 k=1024,4096,16384",
    NULL};

const family gemm_grouped_family = {
    .name = "gemm_grouped",
    .summary = "FP8 matrix products of groups: C_g[m,n] = sum_k A_g[m,k] B_g[n,k] a_scales[m] b_scales[n], or with "
               "scales a block",
    .tag = {.operator_name = "gemm_grouped",
            .what = "tag",
            .fields = tag_fields,
            .count = sizeof tag_fields / sizeof tag_fields[0],
            .struct_bytes = sizeof(grouped_variant)},
    .shape = {.operator_name = "gemm_grouped",
              .what = "shape",
              .fields = shape_fields,
              .count = sizeof shape_fields / sizeof shape_fields[0],
              .struct_bytes = sizeof(grouped_shape)},
    .args_bytes = sizeof(cdnagen_gemm_grouped_args),
    .examples = examples,
    .complete = grouped_complete,
    .check = grouped_check,
    .make_plan = grouped_make_plan,
    .route = grouped_route,
    .route_shapes = route_shapes,
    .grid = grouped_grid,
    .bind = grouped_bind,
    .shape_from_public = grouped_shape_from_public,
    .workload = &grouped_workload,
    .tuning = &grouped_tuning,
    .diagnosis = &grouped_diagnosis,
};
