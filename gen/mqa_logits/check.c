/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What follows from a variant and a shape, and what they and the chip must satisfy together. */
#include "core/integer.h"
#include "gen/mqa_logits/mqa_logits.h"

/* ITEM_SUMS: results a lane that ct lets an item have. Two items are held, beside all of Q and the weights: with more,
 * 128 heads leave room for one wave a SIMD.
 * VMCNT_MAX: what s_waitcnt can wait for. source: AMD CDNA3 ISA guide, s_waitcnt */
enum { ITEM_SUMS = 32, VMCNT_MAX = 63, DMA_WAVE_BYTES = 16 * LANES, SCALE_COLUMNS_PER_DMA = 64 };

static int log2_floor(int64_t x) {
    int bits = 0;
    while (x > 1) {
        x >>= 1;
        bits++;
    }
    return bits;
}

/* dma_sources: after how many DMAs both the swizzle and the place in a row come round again. */
static int dma_sources(const mqa_variant *v, const mqa_geometry *g) {
    const int dma_bytes = DMA_WAVE_BYTES * (int)v->waves;
    int count = 1;
    while (count < g->kv_dmas && (count * dma_bytes % g->swizzle_period || count * dma_bytes % g->row_bytes)) count++;
    return count;
}

/* group_of: as many n-tiles of at most 64 columns as come out even. */
static int group_of(const mqa_variant *v, const mqa_geometry *g) {
    if (v->slots) return v->rs ? LANES / g->n : 1;
    const int owned = g->n_tiles / (int)v->waves;
    int group = LANES / g->n;
    while (owned % group) group /= 2;
    return group;
}

static int from_fn(int64_t operand, const chip *c) {
    return operand == CDNAGEN_FP8_E4M3FN && c->fp8 == CDNAGEN_FP8_E4M3FNUZ;
}

mqa_geometry mqa_geometry_of(const mqa_variant *v, const mqa_shape *s, const chip *c) {
    mqa_geometry g = {.m = TRIPLE_M(v->atom), .n = TRIPLE_N(v->atom), .k = TRIPLE_K(v->atom)};
    g.m_tiles = (int)ceil_div(s->heads, g.m);
    g.n_tiles = (int)v->bkv / g.n;
    g.k_steps = (int)ceil_div(s->dim, g.k);
    g.row_bytes = g.k_steps * g.k;
    g.acc = g.m * g.n / LANES;
    g.item_tiles = g.m_tiles;
    while (v->ct && g.item_tiles % 2 == 0 && g.item_tiles * g.acc > ITEM_SUMS) g.item_tiles /= 2;
    g.fragment_bytes = g.m * g.k / LANES;
    g.workgroup_rows = (int)(v->slots ? v->rows * v->waves : v->rows);
    g.slot_kv_bytes = (int)v->bkv * g.row_bytes;
    g.scale_dmas = v->ls ? (int)ceil_div(v->bkv, SCALE_COLUMNS_PER_DMA) : 0;
    g.slot_bytes = g.slot_kv_bytes + g.scale_dmas * SCALE_COLUMNS_PER_DMA * (int)sizeof(float);
    g.lds_bytes = (int)v->slots * g.slot_bytes;
    g.kv_dmas = v->slots ? g.slot_kv_bytes / (DMA_WAVE_BYTES * (int)v->waves) : 0;
    g.group = group_of(v, &g);
    g.q_from_fn = from_fn(s->q_fp8, c);
    g.kv_from_fn = from_fn(s->kv_fp8, c);
    /* A row is 2^bits chunks of 32 bytes; rows that meet in one line of banks get different chunks.
     * shift >= bits keeps source and target bits apart, which is what makes the map its own inverse. */
    g.swizzle_shift = (int)larger(larger(log2_floor(c->lds_read_banks * 4), log2_floor(g.row_bytes)) - 5, 0);
    g.swizzle_bits = (int)smaller(log2_floor(g.row_bytes / 32), g.swizzle_shift);
    g.swizzle_period = 1 << (5 + g.swizzle_bits + g.swizzle_shift);
    g.dma_sources = dma_sources(v, &g);
    return g;
}

cdnagen_status mqa_check_shape(const target *t, const mqa_shape *s) {
    TRY(chip_check_fp8("mqa_logits", t->chip, "q_fp8", s->q_fp8));
    TRY(chip_check_fp8("mqa_logits", t->chip, "kv_fp8", s->kv_fp8));
    /* Rows are read 16 bytes at a time, from places aligned to that. */
    if (s->dim % 16)
        return fail(CDNAGEN_LIMIT, "mqa_logits: dim=%d is not a multiple of 16; the nearest are %d and %d", (int)s->dim,
                    (int)s->dim / 16 * 16, (int)s->dim / 16 * 16 + 16);
    return CDNAGEN_OK;
}

/* check_tiles: the tag's fields against each other, whatever the shape and the chip. */
static cdnagen_status check_tiles(const mqa_variant *v, const mqa_geometry *g) {
    const int bkv = (int)v->bkv, waves = (int)v->waves, slots = (int)v->slots, prefetch = (int)v->prefetch;
    if (bkv % g->n)
        return fail(CDNAGEN_BAD_TAG, "mqa_logits: bkv%d is not a multiple of %d, the columns of mfma%dx%dx%d", bkv,
                    g->n, g->m, g->n, g->k);
    if (!slots) {
        if (g->n_tiles % waves)
            return fail(CDNAGEN_BAD_TAG,
                        "mqa_logits: w%d does not divide the %d n-tiles of bkv%d; without lds each wave owns an equal "
                        "share of them",
                        waves, g->n_tiles, bkv);
        return CDNAGEN_OK;
    }
    if (g->fragment_bytes != 32)
        return fail(CDNAGEN_BAD_TAG,
                    "mqa_logits: lds%d needs an MFMA with 32-byte fragments (32x32x64 or 16x16x128); %dx%dx%d has %d",
                    slots, g->m, g->n, g->k, g->fragment_bytes);
    if (slots < prefetch)
        return fail(CDNAGEN_BAD_TAG,
                    "mqa_logits: pd%d%s keeps %d tiles in flight but lds%d holds %d: pd may be 1 to %d", prefetch,
                    prefetch == 2 ? " (the default)" : "", prefetch, slots, slots, slots);
    if (v->ct && prefetch < 2)
        return fail(
            CDNAGEN_BAD_TAG,
            "mqa_logits: ct reads a tile's first columns while the tile before is in work: pd must be 2 or more");
    if (v->ct && v->ts)
        return fail(CDNAGEN_BAD_TAG, "mqa_logits: ts cannot skip a tile whose arithmetic ct does beside another's");
    if (g->n_tiles % g->group)
        return fail(CDNAGEN_BAD_TAG,
                    "mqa_logits: rs reduces %d n-tiles of %d columns together; bkv%d has %d, which %d does not divide: "
                    "bkv must be a multiple of %d",
                    g->group, g->n, bkv, g->n_tiles, g->group, LANES);
    return CDNAGEN_OK;
}

/* check_dma: the tile's LDS DMA and swizzle. */
static cdnagen_status check_dma(const mqa_variant *v, const mqa_geometry *g, const mqa_shape *s) {
    const int waves = (int)v->waves, in_flight = ((int)v->prefetch - 1) * (g->kv_dmas + g->scale_dmas);
    if (g->slot_kv_bytes % (DMA_WAVE_BYTES * waves))
        return fail(CDNAGEN_LIMIT,
                    "mqa_logits: a tile of bkv%d dim=%d has %d bytes; w%d loads multiples of %d (16 bytes a lane)",
                    (int)v->bkv, (int)s->dim, g->slot_kv_bytes, waves, DMA_WAVE_BYTES * waves);
    if (in_flight > VMCNT_MAX)
        return fail(
            CDNAGEN_LIMIT,
            "mqa_logits: pd%d leaves %d loads in flight (%d a tile and wave), a wait can count %d: lower pd, or "
            "raise w",
            (int)v->prefetch, in_flight, g->kv_dmas + g->scale_dmas, VMCNT_MAX);
    if (g->n * g->row_bytes % g->swizzle_period)
        return fail(
            CDNAGEN_LIMIT,
            "mqa_logits: an n-tile of %d columns and dim=%d has %d bytes, not a multiple of the swizzle's period "
            "of %d",
            g->n, (int)s->dim, g->n * g->row_bytes, g->swizzle_period);
    return CDNAGEN_OK;
}

/* fits: the LDS rules without their messages. */
static int fits(const chip *c, const mqa_variant *v, const mqa_shape *s) {
    const mqa_geometry g = mqa_geometry_of(v, s, c);
    return g.lds_bytes <= c->lds_bytes && check_tiles(v, &g) == CDNAGEN_OK && check_dma(v, &g, s) == CDNAGEN_OK;
}

/* nearest: the variant with the most LDS below v's that fits: less prefetch, then fewer slots, then a smaller
 * tile. 0 if none. */
static int nearest(const chip *c, const mqa_shape *s, mqa_variant *v) {
    const int64_t slots = v->slots, prefetch = v->prefetch;
    for (; v->bkv >= TRIPLE_N(v->atom); v->bkv /= 2)
        for (v->slots = slots; v->slots >= 1; v->slots--)
            for (v->prefetch = smaller(v->slots, prefetch); v->prefetch >= 1; v->prefetch--)
                if (fits(c, v, s)) return 1;
    return 0;
}

static cdnagen_status check_lds(const chip *c, const mqa_variant *v, const mqa_geometry *g, const mqa_shape *s) {
    if (g->lds_bytes <= c->lds_bytes) return CDNAGEN_OK;
    mqa_variant near = *v;
    text tag = {0};
    if (nearest(c, s, &near)) tag_print(&mqa_logits_family.tag, &near, 1u << FIELD_KERNEL | 1u << FIELD_HOST, &tag);
    const cdnagen_status status =
        fail(CDNAGEN_LIMIT, "mqa_logits: lds%d of bkv%d dim=%d needs %d bytes of LDS, a workgroup on %s has %d%s%s",
             (int)v->slots, (int)v->bkv, (int)s->dim, g->lds_bytes, c->name, c->lds_bytes,
             tag.data ? "; the nearest tag that fits is " : "", tag.data ? tag.data : "");
    text_free(&tag);
    return status;
}

static cdnagen_status check_limits(const target *t, const mqa_variant *v, const mqa_shape *s) {
    const chip *const c = t->chip;
    const mqa_geometry g = mqa_geometry_of(v, s, c);
    TRY(chip_check_atom("mqa_logits", c, g.m, g.n, g.k));
    TRY(check_tiles(v, &g));
    if (!v->slots) return CDNAGEN_OK;
    TRY(check_lds(c, v, &g, s));
    return check_dma(v, &g, s);
}

cdnagen_status mqa_check(const target *t, const void *variant, const void *shape) {
    const mqa_variant *const v = variant;
    const mqa_shape *const s = shape;
    TRY(mqa_check_shape(t, s));
    return check_limits(t, v, s);
}
