/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `auto` means: for each class of heads and dim the tags to try, best first. */
#include "gen/mqa_logits/mqa_logits.h"

enum { CHOICES_MAX = 4 };

typedef struct route {
    int heads_max, dim_max; /* of the class, inclusive */
    const char *tags[CHOICES_MAX];
} route;

/* The first row whose class holds the shape is taken. */
static const route routes[] = {
    {32, 64, {"mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", "mfma32x32x64_bkv64_r2_w4_lds3_swp_rs"}},
    {32, 512, {"mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", "mfma32x32x64_bkv64_r2_w4_lds3_swp_rs"}},
    {127, 64, {"mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs"}},
    {127, 512, {"mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs"}},
    {128, 512, {"mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs"}},
};

/* Tried after the class's own: fewer registers, then other atoms, then no LDS at all. */
static const char *const fallbacks[] = {
    "mfma32x32x64_bkv64_r1_w1_lds2_rs_hfma",
    "mfma32x32x64_bkv32_r1_w1_lds2_hfma",
    "mfma16x16x128_bkv64_r1_w1_lds2_swp_rs_hfma",
    "mfma16x16x128_bkv64_r1_w1_lds2_rs_hfma",
    "mfma16x16x128_bkv16_r1_w1_lds2_hfma",
    "mfma32x32x64_bkv32_r1_w1_hfma",
    "mfma16x16x128_bkv16_r1_w1_hfma",
};

/* take: parse a tag of the tables; 1 if it serves the shape and is the rank-th that does. */
static cdnagen_status take(const target *t, const void *shape, const char *tag, int *rank, mqa_variant *out,
                           int *taken) {
    mqa_variant v;
    TRY(tag_parse(&mqa_logits_family.tag, tag, &v));
    if (mqa_check(t, &v, shape) != CDNAGEN_OK || (*rank)-- > 0) return CDNAGEN_OK;
    *out = v;
    *taken = 1;
    return CDNAGEN_OK;
}

cdnagen_status mqa_route(const target *t, const void *shape, int rank, void *variant) {
    const mqa_shape *const s = shape;
    int left = rank, taken = 0;
    const route *r = routes;
    while (s->heads > r->heads_max || s->dim > r->dim_max) r++;
    for (int i = 0; i < CHOICES_MAX && r->tags[i] && !taken; i++)
        TRY(take(t, shape, r->tags[i], &left, variant, &taken));
    for (size_t i = 0; i < sizeof fallbacks / sizeof fallbacks[0] && !taken; i++)
        TRY(take(t, shape, fallbacks[i], &left, variant, &taken));
    if (taken) return CDNAGEN_OK;
    return fail(CDNAGEN_LIMIT, "mqa_logits: auto has no choice %d for heads=%d dim=%d on %s", rank, (int)s->heads,
                (int)s->dim, t->chip->name);
}
