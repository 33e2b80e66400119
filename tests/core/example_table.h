/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A small grammar with every kind of field, for tests and fuzz targets of the tag and shape engine. */
#ifndef TESTS_CORE_EXAMPLE_TABLE_H
#define TESTS_CORE_EXAMPLE_TABLE_H

#include "core/field.h"

typedef struct example_variant {
    int64_t atom, tile, rows, slots, depth, pipeline, reduce, sum, splits;
} example_variant;

typedef struct example_shape {
    int64_t seq, heads, clean, kind, batch;
} example_shape;

static const char *const example_atoms[] = {"16x16x128", "32x32x64", NULL};
static const char *const example_sums[] = {"add", "fma", "fma2", NULL};
static const char *const example_kinds[] = {"causal", "empty", NULL};

#define AT(member) .offset = offsetof(example_variant, member)
static const field example_tag_fields[] = {
    {.name = "mfma", AT(atom), .kind = FIELD_TRIPLE, .required = 1, .words = example_atoms, .help = "atom"},
    {.name = "bkv", AT(tile), .kind = FIELD_NUMBER, .required = 1, .min = 16, .max = 1024, .help = "columns a tile"},
    {.name = "r", AT(rows), .kind = FIELD_NUMBER, .min = 1, .max = 8, .standard = 1, .help = "rows a wave"},
    {.name = "lds", AT(slots), .kind = FIELD_NUMBER, .print = PRINT_NOT_DEFAULT, .min = 2, .max = 8, .help = "slots"},
    {.name = "pd",
     AT(depth),
     .kind = FIELD_NUMBER,
     .print = PRINT_NOT_DEFAULT,
     .min = 1,
     .max = 8,
     .standard = 2,
     .needs = "lds",
     .help = "depth"},
    {.name = "swp", AT(pipeline), .kind = FIELD_FLAG, .print = PRINT_NOT_DEFAULT, .needs = "lds", .help = "pipeline"},
    {.name = "rs", AT(reduce), .kind = FIELD_FLAG, .print = PRINT_NOT_DEFAULT, .help = "reduce-scatter"},
    {.name = "h", AT(sum), .kind = FIELD_WORD, .print = PRINT_NOT_DEFAULT, .words = example_sums, .help = "sum"},
    {.name = "ns",
     AT(splits),
     .kind = FIELD_NUMBER,
     .use = FIELD_HOST,
     .print = PRINT_NOT_DEFAULT,
     .min = 1,
     .max = 64,
     .help = "splits"},
};
#undef AT

#define AT(member) .offset = offsetof(example_shape, member)
static const field example_shape_fields[] = {
    {.name = "seq",
     AT(seq),
     .kind = FIELD_NUMBER,
     .use = FIELD_HOST,
     .min = 0,
     .max = INT64_C(1) << 31,
     .standard = -1,
     .help = "query rows"},
    {.name = "heads", AT(heads), .kind = FIELD_NUMBER, .required = 1, .min = 1, .max = 256, .help = "query heads"},
    {.name = "clean", AT(clean), .kind = FIELD_FLAG, .standard = 1, .help = "1: fill"},
    {.name = "kind",
     AT(kind),
     .kind = FIELD_WORD,
     .use = FIELD_WORKLOAD,
     .print = PRINT_NOT_DEFAULT,
     .words = example_kinds,
     .help = "windows"},
    {.name = "batch",
     AT(batch),
     .kind = FIELD_NUMBER,
     .use = FIELD_WORKLOAD,
     .print = PRINT_NOT_DEFAULT,
     .min = 1,
     .max = 9,
     .standard = 1,
     .needs = "kind",
     .help = "sequences"},
};
#undef AT

#define COUNT(array) (sizeof(array) / sizeof *(array))
static const field_alias example_aliases[] = {{"wide", "mfma32x32x64_bkv64"}, {"two", "lds2_pd1"}, {NULL, NULL}};
static const field_table example_tag = {.operator_name = "example",
                                        .what = "tag",
                                        .fields = example_tag_fields,
                                        .count = COUNT(example_tag_fields),
                                        .struct_bytes = sizeof(example_variant),
                                        .aliases = example_aliases};
static const field_table example_shape_table = {.operator_name = "example",
                                                .what = "shape",
                                                .fields = example_shape_fields,
                                                .count = COUNT(example_shape_fields),
                                                .struct_bytes = sizeof(example_shape)};

#endif
