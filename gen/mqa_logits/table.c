/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The grammars of mqa_logits: its tag fields and its shape words, one row each, and the family that holds them. */
#include "gen/mqa_logits/mqa_logits.h"

static const char *const atom_words[] = {"16x16x32", "32x32x16", "16x16x128", "32x32x64", NULL};
static const char *const head_acc_words[] = {"add", "fma", "fma2", NULL};
static const char *const fp8_words[] = {"native", "e4m3fn", "e4m3fnuz", NULL};
static const char *const weights_words[] = {"f32", "bf16", NULL};
static const char *const window_words[] = {"causal",   "cp",           "misaligned", "empty",
                                           "past_end", "batch_causal", "unsorted",   NULL};

/* Columns: name, kind, use, print, required, offset, min, max, standard, words, needs, help. */
#define TAG(member) offsetof(mqa_variant, member)
static const field tag_fields[] = {
    {"mfma", FIELD_TRIPLE, FIELD_KERNEL, PRINT_ALWAYS, 1, TAG(atom), 0, 0, 0, atom_words, NULL,
     "MFMA atom: heads x KV columns x head dimension"},
    {"bkv", FIELD_NUMBER, FIELD_KERNEL, PRINT_ALWAYS, 1, TAG(bkv), 16, 256, 0, NULL, NULL, "KV columns a tile"},
    {"r", FIELD_NUMBER, FIELD_KERNEL, PRINT_ALWAYS, 0, TAG(rows), 1, MQA_ROWS_MAX, 1, NULL, NULL,
     "query rows a workgroup; with lds, rows a wave"},
    {"w", FIELD_NUMBER, FIELD_KERNEL, PRINT_ALWAYS, 0, TAG(waves), 1, 16, 1, NULL, NULL, "waves a workgroup"},
    {"lds", FIELD_NUMBER, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(slots), 1, 16, 0, NULL, NULL,
     "slots of KV tiles staged in LDS; left out: fragments are loaded straight from memory"},
    {"pd", FIELD_NUMBER, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(prefetch), 1, 16, 2, NULL, "lds",
     "prefetch depth, tiles in flight"},
    {"swp", FIELD_FLAG, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(swp), 0, 1, 0, NULL, "lds",
     "software pipeline: MFMAs of the next n-tile before the head sum of this one"},
    {"rs", FIELD_FLAG, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(rs), 0, 1, 0, NULL, "lds",
     "reduce-scatter head sum: 64 columns leave in one contiguous store"},
    {"ls", FIELD_FLAG, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(ls), 0, 1, 0, NULL, "lds",
     "KV scales staged in LDS with their tile"},
    {"ts", FIELD_FLAG, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(ts), 0, 1, 0, NULL, "lds",
     "a wave skips tiles outside its rows' windows"},
    {"dg", FIELD_FLAG, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(dg), 0, 1, 0, NULL, "lds",
     "no prefetch past the last tile"},
    {"ct", FIELD_FLAG, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(ct), 0, 1, 0, NULL, "swp",
     "the software pipeline runs on from tile to tile"},
    {"h", FIELD_WORD, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(head_acc), 0, 0, 0, head_acc_words, NULL,
     "head sum in one fma chain or two packed ones; left out: multiply and add in any order"},
    {"wpe", FIELD_NUMBER, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, TAG(wpe), 1, 8, 0, NULL, NULL,
     "waves per execution unit (SIMD) asked of the compiler, neither more nor fewer; left out: 1 to 8"},
    {"ns", FIELD_NUMBER, FIELD_HOST, PRINT_NOT_DEFAULT, 0, TAG(splits), 1, MQA_SPLITS_MAX, 0, NULL, NULL,
     "parts that each window is cut into; left out: decided at launch"},
};

/* The short tags of MI300: its MFMA of 16 heads, on tiles of 128 columns. */
static const field_alias tag_aliases[] = {{"mfma", "mfma16x16x32_bkv128"}, {NULL, NULL}};

#define SHAPE(member) offsetof(mqa_shape, member)
static const field shape_fields[] = {
    {"seq", FIELD_NUMBER, FIELD_HOST, PRINT_NOT_DEFAULT, 0, SHAPE(seq), 0, INT32_MAX, -1, NULL, NULL, "query rows"},
    {"seq_kv", FIELD_NUMBER, FIELD_HOST, PRINT_NOT_DEFAULT, 0, SHAPE(seq_kv), 0, MQA_SEQ_KV_MAX, -1, NULL, NULL,
     "key rows, which are the columns of the logits"},
    {"heads", FIELD_NUMBER, FIELD_KERNEL, PRINT_ALWAYS, 1, SHAPE(heads), 1, 128, 0, NULL, NULL, "query heads"},
    {"dim", FIELD_NUMBER, FIELD_KERNEL, PRINT_ALWAYS, 1, SHAPE(dim), 32, 512, 0, NULL, NULL,
     "head size, elements, a multiple of 16"},
    {"clean", FIELD_NUMBER, FIELD_KERNEL, PRINT_ALWAYS, 0, SHAPE(clean), 0, 1, 1, NULL, NULL,
     "1: -inf is written outside each row's window; 0: those places are left as they are"},
    {"q_fp8", FIELD_WORD, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, SHAPE(q_fp8), 0, 0, 0, fp8_words, NULL,
     "what Q's bytes mean; native: the chip's own kind"},
    {"kv_fp8", FIELD_WORD, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, SHAPE(kv_fp8), 0, 0, 0, fp8_words, NULL,
     "what KV's bytes mean; native: the chip's own kind"},
    {"weights", FIELD_WORD, FIELD_KERNEL, PRINT_NOT_DEFAULT, 0, SHAPE(weights), 0, 0, 0, weights_words, NULL,
     "type of the weights"},
    {"window", FIELD_WORD, FIELD_WORKLOAD, PRINT_NOT_DEFAULT, 0, SHAPE(window), 0, 0, 0, window_words, NULL,
     "which windows a run makes"},
    {"batch", FIELD_NUMBER, FIELD_WORKLOAD, PRINT_NOT_DEFAULT, 0, SHAPE(batch), 1, 4096, 2, NULL, NULL,
     "sequences that window=batch_causal packs"},
    {"strided", FIELD_NUMBER, FIELD_WORKLOAD, PRINT_NOT_DEFAULT, 0, SHAPE(strided), 0, 1, 0, NULL, NULL,
     "1: a run's operands lie in wider rows, heads before rows, between NaN"},
};

#define LENGTHS_OF(heads, dim)                                                                                         \
    "seq=1 seq_kv=4096 heads=" #heads " dim=" #dim, "seq=128 seq_kv=1024 heads=" #heads " dim=" #dim,                  \
        "seq=4096 seq_kv=4096 heads=" #heads " dim=" #dim
#define DIMS_OF(heads) LENGTHS_OF(heads, 64), LENGTHS_OF(heads, 128), LENGTHS_OF(heads, 256), LENGTHS_OF(heads, 512)
static const char *const examples[] = {DIMS_OF(16), DIMS_OF(32), DIMS_OF(64), DIMS_OF(128), NULL};
/* Lengths unknown, a few rows against a long context, and many rows: the classes of the route tables. */
#define FACTS "heads=16..128:16 dim=64..512:64 clean=0,1"
static const char *const route_shapes[] = {FACTS, "seq=64 seq_kv=8192 " FACTS, "seq=4096 seq_kv=4096 " FACTS, NULL};

const family mqa_logits_family = {
    .name = "mqa_logits",
    .summary = "FP8 multi-query-attention logits: kv_scales[n] * sum_h weights[m,h] * max(0, q[m,h,:] . kv[n,:])",
    .tag = {.operator_name = "mqa_logits",
            .what = "tag",
            .fields = tag_fields,
            .count = sizeof tag_fields / sizeof tag_fields[0],
            .struct_bytes = sizeof(mqa_variant),
            .aliases = tag_aliases},
    .shape = {.operator_name = "mqa_logits",
              .what = "shape",
              .fields = shape_fields,
              .count = sizeof shape_fields / sizeof shape_fields[0],
              .struct_bytes = sizeof(mqa_shape)},
    .args_bytes = sizeof(cdnagen_mqa_logits_args),
    .examples = examples,
    .check = mqa_check,
    .make_plan = mqa_make_plan,
    .route = mqa_route,
    .route_shapes = route_shapes,
    .grid = mqa_grid,
    .bind = mqa_bind,
    .shape_from_public = mqa_shape_from_public,
    .workload = &mqa_workload,
    .tuning = &mqa_tuning,
    .diagnosis = &mqa_diagnosis,
};
