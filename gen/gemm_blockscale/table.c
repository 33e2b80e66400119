/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The grammars of gemm_blockscale: its tag fields and its shape words, one row each, and the family that holds them. */
#include "gen/gemm/ablation.h"
#include "gen/gemm_blockscale/gemm_blockscale.h"

#define TILES_OF(bm, bn) #bm "x" #bn "x128", #bm "x" #bn "x256"
#define TILES(bm) TILES_OF(bm, 64), TILES_OF(bm, 128), TILES_OF(bm, 256)

static const char *const atom_words[] = {"16x16x32", "32x32x16", "16x16x128", "32x32x64", NULL};
static const char *const tile_words[] = {TILES(16),  TILES(32),  TILES(64),  TILES(96),
                                         TILES(128), TILES(192), TILES(256), NULL};
static const char *const core_words[] = {"", [GEMM_4W] = "4w", [GEMM_8W] = "8w", NULL};
static const char *const sched_words[] = {
    [GEMM_INLINE] = "inline", [GEMM_DELAYED] = "delayed", [GEMM_CLUSTER] = "cluster", NULL};
static const char *const fp8_words[] = {"native", "e4m3fn", "e4m3fnuz", NULL};
static const char *const b_words[] = {[GEMM_B_PLAIN] = "plain", [GEMM_B_PRESHUFFLED] = "preshuffled", NULL};
static const char *const layout_words[] = {[GEMM_SCALES_ROW_MAJOR] = "row", [GEMM_SCALES_K_MAJOR] = "kmajor", NULL};
static const char *const scale_words[] = {[GEMM_SCALES_F32] = "f32", [GEMM_SCALES_UE8M0] = "ue8m0", NULL};
static const char *const out_words[] = {[GEMM_BF16] = "bf16", [GEMM_F16] = "f16", NULL};
static const char *const data_words[] = {[GEMM_RANDOM] = "random", [GEMM_EXACT] = "exact", NULL};

/* Columns: name, kind, use, print, required, offset, min, max, standard, words, needs, help. */
#define TAG(member) offsetof(blockscale_variant, member)
#define FLAG(name, member, help)                                                                                       \
    {name, FIELD_FLAG, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(member), 0, 1, 0, NULL, NULL, help}
#define NUMBER(name, member, min, max, help)                                                                           \
    {name, FIELD_NUMBER, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(member), min, max, 0, NULL, NULL, help}
static const field tag_fields[] = {
    {"mfma", FIELD_TRIPLE, FIELD_KERNEL, PRINT_ALWAYS, 1, TAG(atom), 0, 0, 0, atom_words, NULL,
     "MFMA atom: rows of A x columns of C x K"},
    {"t", FIELD_TRIPLE, FIELD_KERNEL, PRINT_ALWAYS, 1, TAG(tile), 0, 0, 0, tile_words, NULL,
     "tile of a workgroup: rows x columns x K"},
    {"", FIELD_WORD, FIELD_KERNEL, PRINT_ALWAYS, 1, TAG(core), 0, 0, 0, core_words, NULL,
     "core: 4 waves, preshuffled B straight to registers; or 8 waves in two groups that take turns"},
    NUMBER("wm", waves_m, 1, 8, "waves along the rows; left out: 1 of 4, 2 of 8"),
    {"", FIELD_WORD, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(sched), 0, 0, 0, sched_words, NULL,
     "when sums are scaled: after the next group of MFMAs, or all after the last; left out: after each group"},
    NUMBER("fold", fold, 1, 16, "sums are scaled after this many MFMAs"),
    FLAG("fused", fused, "an atom is scaled three MFMAs after its own"),
    NUMBER("group", group, 1, 64, "raster: tile rows that are walked together"),
    NUMBER("panel", panel, 2, 64,
           "raster: tile columns that are walked together; neither: down one column after another"),
    FLAG("xcd", xcd, "raster: consecutive tiles run on one XCD"),
    FLAG("cs", cshuffle, "C is stored through LDS"),
    FLAG("async", async, "A (and plain B) reach LDS by DMA"),
    NUMBER("sk", split_k, 2, 64, "parts that K is cut into"),
    FLAG("pers", persist, "workgroups stay and walk over tiles"),
    NUMBER("unroll", unroll, 1, 16, "K is exactly this many tiles, in straight-line code"),
    {"x", FIELD_WORD, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(ablation), 0, 0, 0, gemm_ablation_words, NULL,
     "left out on purpose, for diagnosis: results are wrong"},
    NUMBER("wpe", wpe, 1, 8, "waves per execution unit (SIMD) asked of the compiler, neither more nor fewer"),
};

#define SHAPE(member) offsetof(blockscale_shape, member)
#define LENGTH(name, member, help)                                                                                     \
    {name, FIELD_NUMBER, FIELD_HOST, PRINT_NOT_DEFAULT, 0, SHAPE(member), 0, GEMM_LENGTH_MAX, -1, NULL, NULL, help}
#define TAIL(name, member, help)                                                                                       \
    {name, FIELD_NUMBER, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, SHAPE(member), 0, 1, -1, NULL, NULL, help}
#define WORD(name, member, use, words, help)                                                                           \
    {name, FIELD_WORD, use, PRINT_NOT_DEFAULT, 0, SHAPE(member), 0, 0, 0, words, NULL, help}
static const field shape_fields[] = {
    LENGTH("m", m, "rows of A and C"),
    LENGTH("n", n, "columns of C, rows of B as stored"),
    LENGTH("k", k, "length of the dot products"),
    TAIL("k_tail", k_tail, "1: any k; 0: only multiples of the tile's K; left out: what k needs"),
    TAIL("n_tail", n_tail, "1: any n; 0: only multiples of the tile's columns; left out: what n needs"),
    WORD("a_fp8", a_fp8, FIELD_KERNEL, fp8_words, "what A's bytes mean; native: the chip's own kind"),
    WORD("b_fp8", b_fp8, FIELD_KERNEL, fp8_words, "what B's bytes mean; native: the chip's own kind"),
    WORD("b", b, FIELD_KERNEL, b_words, "B's layout: rows of k bytes, or as cdnagen_pack_b leaves it"),
    WORD("a_scales", a_scales, FIELD_KERNEL, layout_words, "A's scales: [m, k/128] or [k/128, m] in memory"),
    {"scale_m", FIELD_NUMBER, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, SHAPE(scale_m), 1, 128, 1, NULL, NULL,
     "rows of A that share a scale, 1 or 128"},
    {"scale_n", FIELD_NUMBER, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, SHAPE(scale_n), 1, 128, 128, NULL, NULL,
     "columns of C that share a scale of B, 1 or 128"},
    WORD("scales", scales, FIELD_KERNEL, scale_words, "type of both scales; ue8m0: bytes x that mean 2^(x-127)"),
    WORD("out", out, FIELD_KERNEL, out_words, "type of C"),
    WORD("data", data, FIELD_WORKLOAD, data_words,
         "what a run computes with; exact: small integers and scales that are powers of two"),
    {"pad", FIELD_NUMBER, FIELD_WORKLOAD, PRINT_NOT_DEFAULT, 0, SHAPE(pad), 0, 64, 0, NULL, NULL,
     "a run's rows are further apart by this many times 16 elements"},
};

#define PACKED(words) words " b=preshuffled"
static const char *const examples[] = {PACKED("m=1 n=7168 k=2048"),
                                       PACKED("m=64 n=4096 k=7168"),
                                       PACKED("m=256 n=7168 k=7168"),
                                       PACKED("m=4096 n=2048 k=7168"),
                                       PACKED("m=4096 n=7168 k=2048"),
                                       PACKED("m=16384 n=1536 k=7168"),
                                       PACKED("m=16384 n=7168 k=768"),
                                       PACKED("m=4096 n=2112 k=7168"),
                                       PACKED("m=4096 n=65536 k=1536"),
                                       PACKED("m=16384 n=7168 k=18432"),
                                       "m=64 n=4096 k=7168",
                                       "m=4096 n=2048 k=7168",
                                       "m=4096 n=7168 k=2048",
                                       NULL};

/* Rows from decoding to prefill, columns and depths of models' layers, with and without tails. */
static const char *const route_shapes[] = {
    "m=1,16,64,128,256,1024,4096,16384,65536 n=512..65536:pow2 k=256..16384:pow2 b=plain,preshuffled",
    "m=1,64,4096,16384 n=576,2112,7168,24576 k=576,1536,2048,7168,18432 b=plain,preshuffled", NULL};

const family gemm_blockscale_family = {
    .name = "gemm_blockscale",
    .summary =
        "FP8 matrix product with scales a block: sum_kb (sum_(k in kb) A[m,k] B[n,k]) a_scales[m,kb] b_scales[nb,kb]",
    .tag = {.operator_name = "gemm_blockscale",
            .what = "tag",
            .fields = tag_fields,
            .count = sizeof tag_fields / sizeof tag_fields[0],
            .struct_bytes = sizeof(blockscale_variant)},
    .shape = {.operator_name = "gemm_blockscale",
              .what = "shape",
              .fields = shape_fields,
              .count = sizeof shape_fields / sizeof shape_fields[0],
              .struct_bytes = sizeof(blockscale_shape)},
    .args_bytes = sizeof(cdnagen_gemm_blockscale_args),
    .examples = examples,
    .complete = blockscale_complete,
    .check = blockscale_check,
    .make_plan = blockscale_make_plan,
    .route = blockscale_route,
    .route_shapes = route_shapes,
    .grid = blockscale_grid,
    .bind = blockscale_bind,
    .shape_from_public = blockscale_shape_from_public,
    .workload = &blockscale_workload,
    .tuning = &blockscale_tuning,
    .diagnosis = &blockscale_diagnosis,
};
