/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `auto` means: for each class of heads, dim and lengths on a chip the tags to try, best first. What the tuner
 * timed for a shape's heads comes before what is only known to pad them little. */
#include <string.h>

#include "gen/mqa_logits/mqa_logits.h"

typedef struct route {
    const char *chip;
    int64_t heads_max, dim_max, seq_max, seq_kv_max; /* of the class, inclusive */
    const char *tag;
} route;

/* Rows that hold a shape are tried in order, so that a later, wider class is what is left where the first tag of its
 * own does not fit. `cdnagen tune mqa_logits --out gen/mqa_logits` writes these files. */
#define ANY INT64_MAX
#define ROUTE(chip, heads_max, dim_max, seq_max, seq_kv_max, tag) {chip, heads_max, dim_max, seq_max, seq_kv_max, tag},
static const route routes[] = {
#include "gen/mqa_logits/routes_gfx942.inc"
#include "gen/mqa_logits/routes_gfx950.inc"
};
#undef ROUTE

/* Tried after the class's own: a tile for four waves, few registers, then the other MFMA, then no LDS at all, which any
 * head size fits. */
static const route fallbacks[] = {
    {"gfx942", ANY, ANY, ANY, ANY, "mfma16x16x32_bkv128_r2_w4"},
    {"gfx942", ANY, ANY, ANY, ANY, "mfma16x16x32_bkv128_r1_w4"},
    {"gfx942", ANY, ANY, ANY, ANY, "mfma16x16x32_bkv128_r1_w2"},
    {"gfx942", ANY, ANY, ANY, ANY, "mfma16x16x32_bkv16_r1_w1"},
    {"gfx942", ANY, ANY, ANY, ANY, "mfma32x32x16_bkv128_r1_w4"},
    {"gfx942", ANY, ANY, ANY, ANY, "mfma32x32x16_bkv32_r1_w1"},
    {"gfx950", ANY, ANY, ANY, ANY, "mfma32x32x64_bkv64_r1_w4_lds2_swp_rs_ct_hfma"},
    {"gfx950", ANY, ANY, ANY, ANY, "mfma16x16x128_bkv64_r1_w4_lds2_swp_rs_ct_hfma"},
    {"gfx950", ANY, ANY, ANY, ANY, "mfma32x32x64_bkv64_r1_w1_lds2_rs_hfma"},
    {"gfx950", ANY, ANY, ANY, ANY, "mfma32x32x64_bkv32_r1_w1_lds2_hfma"},
    {"gfx950", ANY, ANY, ANY, ANY, "mfma16x16x128_bkv64_r1_w1_lds2_swp_rs_hfma"},
    {"gfx950", ANY, ANY, ANY, ANY, "mfma16x16x128_bkv64_r1_w1_lds2_rs_hfma"},
    {"gfx950", ANY, ANY, ANY, ANY, "mfma16x16x128_bkv16_r1_w1_lds2_hfma"},
    {"gfx950", ANY, ANY, ANY, ANY, "mfma32x32x64_bkv32_r1_w1_hfma"},
    {"gfx950", ANY, ANY, ANY, ANY, "mfma16x16x128_bkv16_r1_w1_hfma"},
    {"gfx950", ANY, ANY, ANY, ANY, "mfma16x16x32_bkv128_r1_w4"},
    {"gfx950", ANY, ANY, ANY, ANY, "mfma16x16x32_bkv16_r1_w1"},
    {"gfx950", ANY, ANY, ANY, ANY, "mfma32x32x16_bkv128_r1_w4"},
    {"gfx950", ANY, ANY, ANY, ANY, "mfma32x32x16_bkv32_r1_w1"},
};
enum { ROUTES = sizeof routes / sizeof *routes, FALLBACKS = sizeof fallbacks / sizeof *fallbacks };

/* search: what one request for a rank has met so far. */
typedef struct search {
    const target *target;
    const mqa_shape *shape;
    int choices;                           /* found so far */
    mqa_variant found[ROUTES + FALLBACKS]; /* in the order of their costs, else of the tables; each once */
    int64_t costs[ROUTES + FALLBACKS];
    text lacking; /* tags passed over, and why */
} search;

/* holds: a length that is not known yet may turn out to be any. */
static int holds(const route *r, const target *t, const mqa_shape *s) {
    const int64_t seq = s->seq < 0 ? ANY : s->seq, seq_kv = s->seq_kv < 0 ? ANY : s->seq_kv;
    return !strcmp(r->chip, t->chip->name) && s->heads <= r->heads_max && s->dim <= r->dim_max && seq <= r->seq_max &&
           seq_kv <= r->seq_kv_max;
}

static int is_new(const search *s, const mqa_variant *v) {
    for (int i = 0; i < s->choices; i++)
        if (!memcmp(&s->found[i], v, sizeof *v)) return 0;
    return 1;
}

/* padded: the work that a tag makes of a shape, zeros included: products, weighed by the MFMA's rate, and the head sum,
 * which costs what the fastest products with some 128 elements of dim do. */
static int64_t padded(const search *s, const mqa_variant *v) {
    enum { HEAD_SUM = 128 };
    const mqa_geometry g = mqa_geometry_of(v, s->shape, s->target->chip);
    const int times_slower = ATOM_PRODUCTS_MAX / atom_products(atom_find(g.m, g.n, g.k));
    return (int64_t)g.m_tiles * g.m * (g.row_bytes * times_slower + HEAD_SUM);
}

/* was_timed: what the row's tag pads of this shape the tuner has weighed: nothing, or what it pads of its class's
 * own. */
static int was_timed(const search *s, const route *r, const mqa_variant *v) {
    const mqa_geometry g = mqa_geometry_of(v, s->shape, s->target->chip);
    const int64_t heads = s->shape->heads, dim = s->shape->dim;
    return r->heads_max != ANY && (g.m_tiles * g.m == heads || heads == r->heads_max) &&
           (g.row_bytes == dim || dim == r->dim_max);
}

static void add(search *s, const route *r, const mqa_variant *v) {
    const int64_t cost = was_timed(s, r, v) ? 0 : padded(s, v);
    int at = s->choices++;
    for (; at > 0 && s->costs[at - 1] > cost; at--) {
        s->found[at] = s->found[at - 1];
        s->costs[at] = s->costs[at - 1];
    }
    s->found[at] = *v;
    s->costs[at] = cost;
}

/* consider: one row of the tables. */
static cdnagen_status consider(search *s, const route *r) {
    mqa_variant v;
    if (!holds(r, s->target, s->shape)) return CDNAGEN_OK;
    TRY(tag_parse(&mqa_logits_family.tag, r->tag, &v));
    const cdnagen_status status = mqa_check(s->target, &v, s->shape);
    if (status != CDNAGEN_OK) {
        text_add(&s->lacking, "; %s: %s", r->tag, cdnagen_error());
    } else if (is_new(s, &v)) {
        add(s, r, &v);
    }
    return CDNAGEN_OK;
}

cdnagen_status mqa_route(const target *t, const void *shape, int rank, void *variant) {
    search s = {.target = t, .shape = shape};
    TRY(mqa_check_shape(t, s.shape));
    cdnagen_status status = CDNAGEN_OK;
    for (int i = 0; i < ROUTES && !status; i++) status = consider(&s, &routes[i]);
    for (int i = 0; i < FALLBACKS && !status; i++) status = consider(&s, &fallbacks[i]);
    if (!status && rank < s.choices)
        memcpy(variant, &s.found[rank], sizeof s.found[rank]);
    else if (!status)
        status = fail(CDNAGEN_LIMIT, "mqa_logits: auto has %d choices for heads=%d dim=%d on %s, all passed over%s",
                      s.choices, (int)s.shape->heads, (int)s.shape->dim, t->chip->name,
                      s.lacking.data ? s.lacking.data : "");
    text_free(&s.lacking);
    return status;
}
