/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `auto` means: for each class of heads and dim the tags to try, best first. */
#include <string.h>

#include "gen/mqa_logits/mqa_logits.h"

enum { CHOICES_MAX = 4 };

typedef struct route {
    int heads_max, dim_max; /* of the class, inclusive */
    const char *tags[CHOICES_MAX];
} route;

/* The first row whose class holds the shape is taken. Beyond dim 128 four waves share a tile: with one each, LDS would
 * hold fewer workgroups than a compute unit has SIMDs. */
static const route routes[] = {
    {32, 128, {"mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", "mfma32x32x64_bkv64_r2_w4_lds3_swp_rs"}},
    {128, 128, {"mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs"}},
    {128, 512, {"mfma32x32x64_bkv64_r1_w4_lds2_swp_rs_hfma", "mfma16x16x128_bkv64_r1_w4_lds2_swp_rs_hfma"}},
};

/* Tried after the class's own: fewer registers, then the other MFMA, then no LDS at all. */
static const char *const fallbacks[] = {
    "mfma32x32x64_bkv64_r1_w1_lds2_rs_hfma",
    "mfma32x32x64_bkv32_r1_w1_lds2_hfma",
    "mfma16x16x128_bkv64_r1_w1_lds2_swp_rs_hfma",
    "mfma16x16x128_bkv64_r1_w1_lds2_rs_hfma",
    "mfma16x16x128_bkv16_r1_w1_lds2_hfma",
    "mfma32x32x64_bkv32_r1_w1_hfma",
    "mfma16x16x128_bkv16_r1_w1_hfma",
};

/* search: what one request for a rank has met so far. */
typedef struct search {
    const target *target;
    const mqa_shape *shape;
    int rank, choices; /* asked for; found so far */
    mqa_variant found;
    int unlike;   /* tags passed over for anything but a kernel that cannot be generated yet */
    text lacking; /* tags passed over, and why */
} search;

/* consider: one tag of the tables. */
static cdnagen_status consider(search *s, const char *tag) {
    mqa_variant v;
    TRY(tag_parse(&mqa_logits_family.tag, tag, &v));
    const cdnagen_status status = mqa_check(s->target, &v, s->shape);
    if (status != CDNAGEN_OK) {
        s->unlike += status != CDNAGEN_NOT_YET;
        text_add(&s->lacking, "; %s: %s", tag, cdnagen_error());
    } else if (s->choices++ == s->rank) {
        s->found = v;
    }
    return CDNAGEN_OK;
}

cdnagen_status mqa_route(const target *t, const void *shape, int rank, void *variant) {
    search s = {.target = t, .shape = shape, .rank = rank};
    TRY(mqa_check_shape(t, s.shape));
    const route *r = routes;
    while (s.shape->heads > r->heads_max || s.shape->dim > r->dim_max) r++;
    cdnagen_status status = CDNAGEN_OK;
    for (int i = 0; i < CHOICES_MAX && r->tags[i] && !status; i++) status = consider(&s, r->tags[i]);
    for (size_t i = 0; i < sizeof fallbacks / sizeof fallbacks[0] && !status; i++) status = consider(&s, fallbacks[i]);
    if (!status && rank < s.choices)
        memcpy(variant, &s.found, sizeof s.found);
    else if (!status && !s.choices && !s.unlike)
        status = CDNAGEN_NOT_YET; /* as the last check said, for this and every other tag */
    else if (!status)
        status = fail(CDNAGEN_LIMIT, "mqa_logits: auto has %d choices for heads=%d dim=%d on %s, all passed over%s",
                      s.choices, (int)s.shape->heads, (int)s.shape->dim, t->chip->name,
                      s.lacking.data ? s.lacking.data : "");
    text_free(&s.lacking);
    return status;
}
