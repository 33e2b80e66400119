/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The mqa_logits plan, the launch that typed arguments become, and how windows are split. */
#include "tests/gen/mqa_testing.h"

#define DEFAULT_TAG "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma"

/* ---- plan ---- */

static void plan_of_the_lds_builder(void **state) {
    (void)state;
    const plan p = plan_of("mqa_logits:mfma32x32x64_bkv64_r2_w4_lds3_ns5", "seq=67 seq_kv=1500 heads=64 dim=128");
    assert_int_equal(p.block[0], 256);
    assert_int_equal(p.block[1], 1);
    assert_int_equal(p.grid[0], 9); /* 8 rows a workgroup */
    assert_int_equal(p.grid[1], 5);
    assert_int_equal(p.grid[2], 1);
    assert_int_equal(p.lds_bytes, 3 * 64 * 128);
    assert_string_equal(p.symbol, "mqa_logits_mfma32x32x64_bkv64_r2_w4_lds3_heads64_dim128_clean1");
}

static void plan_of_the_direct_builder(void **state) {
    (void)state;
    const plan p = plan_of("mqa_logits:mfma32x32x64_bkv128_r2_w4", "seq=67 seq_kv=1500 heads=64 dim=128 clean=0");
    assert_int_equal(p.block[0], 256);
    assert_int_equal(p.grid[0], 34); /* the waves share the rows */
    assert_int_equal(p.lds_bytes, 0);
}

static void plan_without_lengths_has_no_grid(void **state) {
    (void)state;
    static const char *const rows[] = {"heads=64 dim=128", "seq=4 heads=64 dim=128", "seq_kv=4 heads=64 dim=128",
                                       "seq=0 seq_kv=4 heads=64 dim=128", "seq=4 seq_kv=0 heads=64 dim=128"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const plan p = plan_of(DEFAULT_TAG, rows[i]);
        assert_int_equal(p.grid[0] | p.grid[1] | p.grid[2], 0);
        assert_int_equal(p.block[0], 64);
    }
}

static void waves_per_eu(void **state) {
    (void)state;
    static const struct {
        const char *tag, *words;
        uint32_t asked;
    } rows[] = {{"mqa_logits:mfma32x32x64_bkv64_lds2", "1,8", 0},
                {"mqa_logits:mfma32x32x64_bkv64_lds2_wpe1", "1,1", 1},
                {"mqa_logits:mfma32x32x64_bkv64_lds2_wpe3", "3,3", 3}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const plan p = plan_of(rows[i].tag, "heads=64 dim=128");
        assert_string_equal(p.waves_per_eu, rows[i].words);
        assert_int_equal(p.waves_per_eu_asked, rows[i].asked);
    }
}

static void kernel_arguments_follow_each_other(void **state) {
    (void)state;
    const plan p = plan_of(DEFAULT_TAG, "heads=64 dim=128");
    uint32_t offset = 0;
    assert_int_equal(p.kernarg_count, MQA_KERNARG_COUNT);
    for (size_t i = 0; i < p.kernarg_count; i++) {
        assert_int_equal(p.kernargs[i].offset, offset);
        offset += p.kernargs[i].kind == KERNARG_I32 ? 4 : 8;
    }
    assert_int_equal(offset, 108);
    assert_int_equal(p.kernarg_bytes, 108);
    assert_string_equal(p.kernargs[MQA_LOGITS_STRIDE].name, "logits_stride");
    assert_int_equal(p.kernargs[MQA_LOGITS_STRIDE].offset, 88);
}

/* ---- splits ---- */

static void splits_by_hand(void **state) {
    (void)state;
    static const struct {
        int64_t grid_x, seq_kv, bkv;
        int cus;
        uint32_t workgroups_per_cu;
        int splits;
        const char *chip;
    } rows[] = {
        /* Occupancy known: the fewest passes times the longest part, 8 tiles added.
         * 16 tiles, at most 8 parts; all of 1024 workgroups fit at once: 2 tiles + 8. */
        {128, 1024, 64, 256, 8, 8, "gfx950"},
        /* 128 tiles. 1 part: 136; 2 parts need a second pass: 144. */
        {2048, 8192, 64, 256, 8, 1, "gfx950"},
        /* 1 part: 2 passes of 136 = 272; 2: 4 of 72 = 288; 3: 6 of 51 = 306. */
        {1000, 8192, 64, 256, 2, 1, "gfx950"},
        /* 1 part: 136; 2: 2 of 72 = 144; 3: 2 of 51 = 102; 5: 3 of 34 = 102, and the smaller one wins. */
        {300, 8192, 64, 256, 2, 3, "gfx950"},
        /* One row, 16384 tiles: the search ends at 64. */
        {1, 1048576, 64, 256, 8, 64, "gfx950"},
        /* A part has at least two tiles. */
        {1, 128, 64, 256, 8, 1, "gfx950"},
        {1, 256, 64, 256, 8, 2, "gfx950"},
        {1, 17, 64, 256, 8, 1, "gfx950"},
        /* Occupancy unknown: four workgroups a CU, 1024. */
        {1024, 65536, 64, 256, 0, 1, "gfx950"},
        {1000, 65536, 64, 256, 0, 2, "gfx950"},
        {128, 65536, 64, 256, 0, 8, "gfx950"},
        {1, 65536, 64, 256, 0, 512, "gfx950"},
        {1, 64, 64, 256, 0, 1, "gfx950"},
        {1, INT32_MAX, 16, 100000, 0, 65535, "gfx950"},
        /* Nothing to do. */
        {0, 1024, 64, 256, 8, 1, "gfx950"},
        {128, 0, 64, 256, 8, 1, "gfx950"},
        {-1, -1, 64, 256, 0, 1, "gfx950"},
        /* No overflow at the far end. */
        {INT32_MAX, INT32_MAX, 16, 256, 1, 1, "gfx950"},
        /* gfx942 cuts nothing below 4096 columns, and no part has fewer than 8 tiles. */
        {1, 4095, 128, 304, 8, 1, "gfx942"},
        {1, 4096, 128, 304, 8, 4, "gfx942"},
        {1, 4096, 128, 304, 0, 4, "gfx942"},
        {1, 4095, 128, 304, 0, 1, "gfx942"},
        {1, 1920, 128, 304, 8, 1, "gfx942"},
        {1, 1920, 128, 304, 8, 5, "gfx950"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const chip *const c = chip_find(rows[i].chip, 6);
        const int splits =
            mqa_split_count(c, rows[i].grid_x, rows[i].seq_kv, rows[i].bkv, rows[i].cus, rows[i].workgroups_per_cu);
        if (splits != rows[i].splits) fail_msg("row %zu: %d splits, expected %d", i, splits, rows[i].splits);
    }
}

/* ---- bind ---- */

/* Arguments of a launch that is in order, for seq=67 seq_kv=1500 heads=64 dim=128. */
enum { SEQ = 67, SEQ_KV = 1500, HEADS = 64, DIM = 128, STRIDE = 1536 };
static cdnagen_mqa_logits_args good_args(void) {
    char *const base = (char *)0x10000000;
    return (cdnagen_mqa_logits_args){.size = sizeof(cdnagen_mqa_logits_args),
                                     .q = {base, SEQ * HEADS * DIM},
                                     .kv = {base + 0x1000000, SEQ_KV * DIM},
                                     .kv_scales = {base + 0x2000004, SEQ_KV * 4},
                                     .weights = {base + 0x3000000, SEQ * HEADS * 4},
                                     .cu_starts = {base + 0x4000000, SEQ * 4},
                                     .cu_ends = {base + 0x5000000, SEQ * 4},
                                     .logits = {base + 0x6000000, ((SEQ - 1) * STRIDE + SEQ_KV) * 4},
                                     .seq = SEQ,
                                     .seq_kv = SEQ_KV};
}

static cdnagen_status bind(const cdnagen_mqa_logits_args *a, const char *tag, launch *l) {
    const plan p = plan_of(tag, "heads=64 dim=128");
    const device_facts facts = {.cus = 256, .workgroups_per_cu = 8};
    return mqa_logits_family.bind(&p, &facts, a, l);
}

static int64_t at64(const launch *l, size_t offset) {
    int64_t v;
    memcpy(&v, l->kernarg + offset, sizeof v);
    return v;
}
static int32_t at32(const launch *l, size_t offset) {
    int32_t v;
    memcpy(&v, l->kernarg + offset, sizeof v);
    return v;
}

static void arguments_land_in_their_places(void **state) {
    (void)state;
    const cdnagen_mqa_logits_args a = good_args();
    launch l;
    assert_int_equal(bind(&a, DEFAULT_TAG, &l), CDNAGEN_OK);
    const void *const pointers[] = {a.q.ptr,         a.kv.ptr,      a.kv_scales.ptr, a.weights.ptr,
                                    a.cu_starts.ptr, a.cu_ends.ptr, a.logits.ptr};
    for (size_t i = 0; i < COUNT(pointers); i++) assert_int_equal(at64(&l, i * 8), (int64_t)pointers[i]);
    assert_int_equal(at64(&l, 56), HEADS * DIM);
    assert_int_equal(at64(&l, 64), DIM);
    assert_int_equal(at64(&l, 72), DIM);
    assert_int_equal(at64(&l, 80), HEADS);
    assert_int_equal(at64(&l, 88), STRIDE);
    assert_int_equal(at32(&l, 96), SEQ);
    assert_int_equal(at32(&l, 100), SEQ_KV);
    assert_int_equal(at32(&l, 104), 8); /* 23 tiles and everything fits at once: parts of 3, as few as do it */
    assert_int_equal(l.kernarg_bytes, 108);
    assert_int_equal(l.grid[0], SEQ);
    assert_int_equal(l.grid[1], 8);
    assert_int_equal(l.grid[2], 1);
    assert_false(l.skip);
}

static void splits_are_the_callers_then_the_tags_then_ours(void **state) {
    (void)state;
    cdnagen_mqa_logits_args a = good_args();
    launch l;
    assert_int_equal(bind(&a, DEFAULT_TAG "_ns6", &l), CDNAGEN_OK);
    assert_int_equal(l.grid[1], 6);
    a.num_splits = 3;
    assert_int_equal(bind(&a, DEFAULT_TAG "_ns6", &l), CDNAGEN_OK);
    assert_int_equal(l.grid[1], 3);
    assert_int_equal(at32(&l, 104), 3);
    const plan p = plan_of(DEFAULT_TAG, "heads=64 dim=128");
    a.num_splits = 0;
    assert_int_equal(mqa_logits_family.bind(&p, NULL, &a, &l), CDNAGEN_OK);
    assert_int_equal(l.grid[1], 11);
}

static void a_launch_says_where_the_occupancy_is_not_known(void **state) {
    (void)state;
    static const struct {
        const char *tag;
        int asked;
        uint32_t workgroups_per_cu;
        int told;
    } rows[] = {{DEFAULT_TAG, 0, 0, 1}, {DEFAULT_TAG, 0, 8, 0}, {DEFAULT_TAG, 3, 0, 0}, {DEFAULT_TAG "_ns6", 0, 0, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const plan p = plan_of(rows[i].tag, "heads=64 dim=128");
        const device_facts facts = {.cus = 256, .workgroups_per_cu = rows[i].workgroups_per_cu};
        cdnagen_mqa_logits_args a = good_args();
        a.num_splits = rows[i].asked;
        launch l = {0};
        assert_int_equal(mqa_logits_family.bind(&p, &facts, &a, &l), CDNAGEN_OK);
        assert_int_equal(l.note != NULL, rows[i].told);
        if (l.note) assert_non_null(strstr(l.note, "4 workgroups a compute unit"));
    }
}

static void strides_given_as_they_are_are_taken(void **state) {
    (void)state;
    cdnagen_mqa_logits_args a = good_args();
    launch l;
    a.q_stride = HEADS * DIM, a.kv_stride = DIM, a.weights_stride = HEADS, a.logits_stride = SEQ_KV;
    a.q_head_stride = DIM;
    a.q_inner_stride = a.kv_inner_stride = a.weights_inner_stride = a.logits_inner_stride = 1;
    a.logits.bytes = SEQ * SEQ_KV * 4;
    assert_int_equal(bind(&a, DEFAULT_TAG, &l), CDNAGEN_OK);
    assert_int_equal(at64(&l, 88), SEQ_KV);
}

/* Each operand in rows of its own stride, in exactly the bytes from its first element to its last. */
static void strides_go_to_the_kernel(void **state) {
    (void)state;
    static const struct {
        int64_t q, q_head, kv, weights, logits;
        int64_t q_row, q_bytes; /* the row stride that comes of it; first byte of Q to last */
    } rows[] = {
        {HEADS * DIM + 16, 0, DIM + 16, HEADS + 1, SEQ_KV + 3, HEADS * DIM + 16,
         (SEQ - 1) * (HEADS * DIM + 16) + HEADS * DIM},
        {0, DIM + 32, DIM, HEADS, SEQ_KV, HEADS * (DIM + 32),
         (SEQ - 1) * HEADS * (DIM + 32) + (HEADS - 1) * (DIM + 32) + DIM},
        /* [heads, seq, dim]: heads further apart than rows */
        {DIM, SEQ * DIM, DIM, HEADS, SEQ_KV, DIM, SEQ * DIM * HEADS},
        {1 << 20, 1 << 26, 1 << 25, 1 << 20, 1 << 20, 1 << 20, 66 * (1LL << 20) + 63 * (1LL << 26) + DIM},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        cdnagen_mqa_logits_args a = good_args();
        launch l;
        a.q_stride = rows[i].q, a.q_head_stride = rows[i].q_head, a.kv_stride = rows[i].kv;
        a.weights_stride = rows[i].weights, a.logits_stride = rows[i].logits;
        char *const base = (char *)((uintptr_t)1 << 44);
        a.q = (cdnagen_buffer){base, (size_t)rows[i].q_bytes};
        a.kv = (cdnagen_buffer){base + (1LL << 40), (size_t)((SEQ_KV - 1) * rows[i].kv + DIM)};
        a.weights = (cdnagen_buffer){base + (2LL << 40), (size_t)((SEQ - 1) * rows[i].weights + HEADS) * 4};
        a.logits = (cdnagen_buffer){base + (3LL << 40), (size_t)((SEQ - 1) * rows[i].logits + SEQ_KV) * 4};
        if (bind(&a, DEFAULT_TAG, &l)) fail_msg("row %zu: %s", i, cdnagen_error());
        assert_int_equal(at64(&l, 56), rows[i].q_row);
        assert_int_equal(at64(&l, 64), rows[i].q_head ? rows[i].q_head : DIM);
        assert_int_equal(at64(&l, 72), rows[i].kv);
        assert_int_equal(at64(&l, 80), rows[i].weights);
        assert_int_equal(at64(&l, 88), rows[i].logits);
        cdnagen_buffer *const sized[] = {&a.q, &a.kv, &a.weights, &a.logits};
        for (size_t b = 0; b < COUNT(sized); b++) {
            sized[b]->bytes--;
            assert_int_equal(bind(&a, DEFAULT_TAG, &l), CDNAGEN_BAD_ARGUMENT);
            sized[b]->bytes++;
        }
    }
}

/* What lies between one row and the next does not matter where there is one. */
static void the_stride_of_a_single_row_is_not_looked_at(void **state) {
    (void)state;
    const plan p = plan_of(DEFAULT_TAG, "heads=1 dim=128");
    cdnagen_mqa_logits_args a = good_args();
    launch l;
    a.seq = a.seq_kv = 1;
    a.q_stride = -7, a.q_head_stride = 3, a.kv_stride = 1, a.weights_stride = -1, a.logits_stride = INT64_MIN;
    if (mqa_logits_family.bind(&p, NULL, &a, &l)) fail_msg("%s", cdnagen_error());
    assert_int_equal(at64(&l, 56), DIM);
    assert_int_equal(at64(&l, 64), DIM);
    assert_int_equal(at64(&l, 72), DIM);
    assert_int_equal(at64(&l, 80), 1);
}

/* bf16 is loaded in pairs where the head count is even. */
static void bf16_weights_have_their_own_size_and_alignment(void **state) {
    (void)state;
    static const struct {
        const char *shape;
        int64_t heads, offset, stride;
        const char *error;
    } rows[] = {
        {"heads=64 dim=128 weights=bf16", 64, 0, 0, NULL},
        {"heads=64 dim=128 weights=bf16", 64, 4, 66, NULL},
        {"heads=64 dim=128 weights=bf16", 64, 2, 0, "aligned to 4 bytes"},
        {"heads=64 dim=128 weights=bf16", 64, 0, 65, "weights_stride 65 is not a multiple of 2 elements"},
        {"heads=7 dim=128 weights=bf16", 7, 2, 0, NULL},
        {"heads=7 dim=128 weights=bf16", 7, 0, 9, NULL},
        {"heads=7 dim=128 weights=bf16", 7, 1, 0, "aligned to 2 bytes"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const plan p = plan_of(DEFAULT_TAG, rows[i].shape);
        cdnagen_mqa_logits_args a = good_args();
        launch l;
        a.weights.ptr = (char *)a.weights.ptr + rows[i].offset;
        a.weights_stride = rows[i].stride;
        const int64_t stride = rows[i].stride ? rows[i].stride : rows[i].heads;
        a.weights.bytes = (size_t)((SEQ - 1) * stride + rows[i].heads) * 2;
        const cdnagen_status status = mqa_logits_family.bind(&p, NULL, &a, &l);
        if (!rows[i].error ? status != CDNAGEN_OK
                           : status != CDNAGEN_BAD_ARGUMENT || !strstr(cdnagen_error(), rows[i].error))
            fail_msg("row %zu: %s", i, cdnagen_error());
        a.weights.bytes--;
        assert_int_equal(mqa_logits_family.bind(&p, NULL, &a, &l), CDNAGEN_BAD_ARGUMENT);
    }
}

static void nothing_to_do_is_no_launch(void **state) {
    (void)state;
    launch l = {0};
    cdnagen_mqa_logits_args a = {.size = sizeof a, .seq = 0, .seq_kv = 1500};
    assert_int_equal(bind(&a, DEFAULT_TAG, &l), CDNAGEN_OK);
    assert_true(l.skip);
    a.seq = 67, a.seq_kv = 0, l.skip = 0;
    assert_int_equal(bind(&a, DEFAULT_TAG, &l), CDNAGEN_OK);
    assert_true(l.skip);
}

/* One field of good_args() changed, and what is said about it. */
typedef struct refusal {
    size_t offset, bytes;
    int64_t value;
    cdnagen_status status;
    const char *parts[5];
} refusal;
#define CHANGED(member, value)                                                                                         \
    offsetof(cdnagen_mqa_logits_args, member), sizeof((cdnagen_mqa_logits_args){0}.member), (value)

static void bad_arguments(void **state) {
    (void)state;
    static const refusal rows[] = {
        {CHANGED(q.ptr, 0), CDNAGEN_BAD_ARGUMENT, {"q.ptr", "NULL"}},
        {CHANGED(kv.ptr, 0), CDNAGEN_BAD_ARGUMENT, {"kv.ptr", "NULL"}},
        {CHANGED(kv_scales.ptr, 0), CDNAGEN_BAD_ARGUMENT, {"kv_scales.ptr", "NULL"}},
        {CHANGED(weights.ptr, 0), CDNAGEN_BAD_ARGUMENT, {"weights.ptr", "NULL"}},
        {CHANGED(cu_starts.ptr, 0), CDNAGEN_BAD_ARGUMENT, {"cu_starts.ptr", "NULL"}},
        {CHANGED(cu_ends.ptr, 0), CDNAGEN_BAD_ARGUMENT, {"cu_ends.ptr", "NULL"}},
        {CHANGED(logits.ptr, 0), CDNAGEN_BAD_ARGUMENT, {"logits.ptr", "NULL"}},
        {CHANGED(q.ptr, 0x1008), CDNAGEN_BAD_ARGUMENT, {"q.ptr", "0x1008", "16 bytes"}},
        {CHANGED(kv.ptr, 0x1008), CDNAGEN_BAD_ARGUMENT, {"kv.ptr", "16 bytes"}},
        {CHANGED(kv_scales.ptr, 0x1002), CDNAGEN_BAD_ARGUMENT, {"kv_scales.ptr", "4 bytes"}},
        {CHANGED(weights.ptr, 0x1002), CDNAGEN_BAD_ARGUMENT, {"weights.ptr", "4 bytes"}},
        {CHANGED(cu_starts.ptr, 0x1002), CDNAGEN_BAD_ARGUMENT, {"cu_starts.ptr", "4 bytes"}},
        {CHANGED(cu_ends.ptr, 0x1002), CDNAGEN_BAD_ARGUMENT, {"cu_ends.ptr", "4 bytes"}},
        {CHANGED(logits.ptr, 0x1002), CDNAGEN_BAD_ARGUMENT, {"logits.ptr", "4 bytes"}},
        {CHANGED(q.bytes, SEQ * HEADS * DIM - 1), CDNAGEN_BAD_ARGUMENT, {"q has 548863", "548864"}},
        {CHANGED(kv.bytes, SEQ_KV * DIM - 1), CDNAGEN_BAD_ARGUMENT, {"kv has 191999", "192000"}},
        {CHANGED(kv_scales.bytes, SEQ_KV * 4 - 1), CDNAGEN_BAD_ARGUMENT, {"kv_scales has 5999", "6000"}},
        {CHANGED(weights.bytes, SEQ * HEADS * 4 - 1), CDNAGEN_BAD_ARGUMENT, {"weights has 17151", "17152"}},
        {CHANGED(cu_starts.bytes, SEQ * 4 - 1), CDNAGEN_BAD_ARGUMENT, {"cu_starts has 267", "268"}},
        {CHANGED(cu_ends.bytes, SEQ * 4 - 1), CDNAGEN_BAD_ARGUMENT, {"cu_ends has 267", "268"}},
        {CHANGED(logits.bytes, ((SEQ - 1) * STRIDE + SEQ_KV) * 4 - 1),
         CDNAGEN_BAD_ARGUMENT,
         {"logits has 411503", "411504"}},
        {CHANGED(q_stride, HEADS * DIM + 16), CDNAGEN_BAD_ARGUMENT, {"q has", "549920"}},
        {CHANGED(q_stride, HEADS * DIM + 8), CDNAGEN_BAD_ARGUMENT, {"q_stride 8200", "multiple of 16", "16 bytes"}},
        {CHANGED(q_head_stride, DIM - 16), CDNAGEN_BAD_ARGUMENT, {"q_head_stride 112", "128 elements of a head"}},
        {CHANGED(q_head_stride, DIM + 8), CDNAGEN_BAD_ARGUMENT, {"q_head_stride 136", "multiple of 16"}},
        {CHANGED(q_head_stride, -DIM), CDNAGEN_BAD_ARGUMENT, {"q_head_stride -128"}},
        {CHANGED(q_head_stride, 1 << 28), CDNAGEN_LIMIT, {"q_head_stride 268435456", "32", "4 GiB", "138547184"}},
        {CHANGED(q_inner_stride, 2), CDNAGEN_BAD_ARGUMENT, {"q_inner_stride 2", "follow each other"}},
        {CHANGED(kv_inner_stride, -1), CDNAGEN_BAD_ARGUMENT, {"kv_inner_stride -1"}},
        {CHANGED(weights_inner_stride, SEQ), CDNAGEN_BAD_ARGUMENT, {"weights_inner_stride 67"}},
        {CHANGED(logits_inner_stride, SEQ), CDNAGEN_BAD_ARGUMENT, {"logits_inner_stride 67"}},
        {CHANGED(q_stride, HEADS * DIM - 16), CDNAGEN_BAD_ARGUMENT, {"q_stride 8176", "8192"}},
        {CHANGED(q_stride, -1), CDNAGEN_BAD_ARGUMENT, {"q_stride -1"}},
        {CHANGED(kv_stride, 132), CDNAGEN_BAD_ARGUMENT, {"kv_stride 132", "multiple of 16"}},
        {CHANGED(kv_stride, 112), CDNAGEN_BAD_ARGUMENT, {"kv_stride 112", "128 elements of a row"}},
        {CHANGED(kv_stride, 144), CDNAGEN_BAD_ARGUMENT, {"kv has 192000", "215984"}},
        {CHANGED(kv_stride, INT64_MAX - 15), CDNAGEN_LIMIT, {"kv_stride", "64", "4 GiB", "68174016"}},
        {CHANGED(weights_stride, 65), CDNAGEN_BAD_ARGUMENT, {"weights has 17152", "17416"}},
        {CHANGED(weights_stride, 63), CDNAGEN_BAD_ARGUMENT, {"weights_stride 63", "64 elements"}},
        {CHANGED(weights_stride, INT64_MAX), CDNAGEN_BAD_ARGUMENT, {"weights has", "18446744073709551615"}},
        {CHANGED(logits_stride, SEQ_KV - 1), CDNAGEN_BAD_ARGUMENT, {"logits_stride 1499", "1500"}},
        {CHANGED(logits_stride, -4096), CDNAGEN_BAD_ARGUMENT, {"logits_stride -4096"}},
        {CHANGED(logits_stride, INT64_MAX), CDNAGEN_BAD_ARGUMENT, {"logits has", "18446744073709551615"}},
        {CHANGED(seq, -1), CDNAGEN_BAD_ARGUMENT, {"seq -1", "2147483647"}},
        {CHANGED(seq, (int64_t)1 << 31), CDNAGEN_LIMIT, {"seq 2147483648", "2147483647"}},
        {CHANGED(seq_kv, -1), CDNAGEN_BAD_ARGUMENT, {"seq_kv -1"}},
        {CHANGED(seq_kv, (1 << 29) + 1), CDNAGEN_LIMIT, {"seq_kv 536870913", "536870912"}},
        {CHANGED(seq, INT32_MAX), CDNAGEN_BAD_ARGUMENT, {"q has", "17592186036224"}},
        {CHANGED(logits.ptr, 0x10000000), CDNAGEN_BAD_ARGUMENT, {"logits at 0x10000000", "overlaps q"}},
        {CHANGED(logits.ptr, 0x10000000 + SEQ * HEADS * DIM - 4), CDNAGEN_BAD_ARGUMENT, {"overlaps q"}},
        {CHANGED(kv_scales.ptr, 0x16000000 + ((SEQ - 1) * STRIDE + SEQ_KV) * 4 - 4),
         CDNAGEN_BAD_ARGUMENT,
         {"overlaps kv_scales"}},
        {CHANGED(cu_ends.ptr, 0x16000000), CDNAGEN_BAD_ARGUMENT, {"overlaps cu_ends", "memory of its own"}},
        {CHANGED(num_splits, -1), CDNAGEN_BAD_ARGUMENT, {"num_splits -1", "65535"}},
        {CHANGED(num_splits, 65536), CDNAGEN_BAD_ARGUMENT, {"num_splits 65536", "65535"}},
        {CHANGED(reserved, 1), CDNAGEN_BAD_ARGUMENT, {"args.reserved is 1", "leave it 0"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        cdnagen_mqa_logits_args a = good_args();
        launch l;
        memcpy((char *)&a + rows[i].offset, &rows[i].value, rows[i].bytes);
        expect_error(rows[i].parts[0], bind(&a, DEFAULT_TAG, &l), rows[i].status, rows[i].parts);
    }
    launch l;
    expect_error("args", bind(NULL, DEFAULT_TAG, &l), CDNAGEN_BAD_ARGUMENT,
                 (const char *const[]){"args is NULL", NULL});
}

static void neighbours_do_not_overlap(void **state) {
    (void)state;
    cdnagen_mqa_logits_args a = good_args();
    launch l;
    a.logits.ptr = (char *)a.q.ptr + SEQ * HEADS * DIM;
    assert_int_equal(bind(&a, DEFAULT_TAG, &l), CDNAGEN_OK);
    a.weights.ptr = (char *)a.logits.ptr + ((SEQ - 1) * STRIDE + SEQ_KV) * 4;
    assert_int_equal(bind(&a, DEFAULT_TAG, &l), CDNAGEN_OK);
}

static void a_grid_beyond_hip_is_refused(void **state) {
    (void)state;
    cdnagen_mqa_logits_args a = good_args();
    launch l;
    a.seq = 1 << 26; /* rows of 64 work items: one workgroup too many */
    a.logits.ptr = (char *)((uintptr_t)1 << 44);
    a.q.bytes = a.weights.bytes = a.cu_starts.bytes = a.cu_ends.bytes = a.logits.bytes = SIZE_MAX;
    expect_error("grid", bind(&a, DEFAULT_TAG, &l), CDNAGEN_LIMIT,
                 (const char *const[]){"67108864 workgroups", "67108863", NULL});
    a.seq--;
    assert_int_equal(bind(&a, DEFAULT_TAG, &l), CDNAGEN_OK);
    a.seq = 1 << 26;
    assert_int_equal(bind(&a, "mqa_logits:mfma32x32x64_bkv64_r2_lds2", &l), CDNAGEN_OK);
}

/* ---- public shape ---- */

static void public_shapes(void **state) {
    (void)state;
    mqa_shape s;
    cdnagen_mqa_logits_shape given = {.size = sizeof given, .seq_kv = 1024, .heads = 64, .dim = 128, .clean = 1};
    assert_int_equal(mqa_logits_family.shape_from_public(&given, &s), CDNAGEN_OK);
    const mqa_shape same = shape_of("seq_kv=1024 heads=64 dim=128");
    assert_memory_equal(&s, &same, sizeof s);
    given.kv_fp8 = CDNAGEN_FP8_E4M3FNUZ;
    assert_int_equal(mqa_logits_family.shape_from_public(&given, &s), CDNAGEN_OK);
    assert_int_equal(s.kv_fp8, shape_of("heads=64 dim=128 kv_fp8=e4m3fnuz").kv_fp8);
    given.weights = CDNAGEN_WEIGHTS_BF16;
    assert_int_equal(mqa_logits_family.shape_from_public(&given, &s), CDNAGEN_OK);
    assert_int_equal(s.weights, shape_of("heads=64 dim=128 weights=bf16").weights);
    given.heads = 129;
    expect_error("heads", mqa_logits_family.shape_from_public(&given, &s), CDNAGEN_BAD_SHAPE,
                 (const char *const[]){"heads", "129", "1..128", NULL});
    given.heads = 64, given.seq = -5;
    expect_error("seq", mqa_logits_family.shape_from_public(&given, &s), CDNAGEN_BAD_SHAPE,
                 (const char *const[]){"seq", "-5", NULL});
    given.seq = 128, given.seq_kv = -1;
    expect_error("seq_kv", mqa_logits_family.shape_from_public(&given, &s), CDNAGEN_BAD_SHAPE,
                 (const char *const[]){"seq_kv=-1", "0 stands for not known yet", NULL});
    given.seq_kv = 0, given.weights = 2;
    expect_error("weights", mqa_logits_family.shape_from_public(&given, &s), CDNAGEN_BAD_SHAPE,
                 (const char *const[]){"weights", "f32|bf16", NULL});
    given.weights = 0;
    given.seq = 0, given.q_fp8 = 3;
    expect_error("q_fp8", mqa_logits_family.shape_from_public(&given, &s), CDNAGEN_BAD_SHAPE,
                 (const char *const[]){"q_fp8", "native|e4m3fn|e4m3fnuz", NULL});
    expect_error("NULL", mqa_logits_family.shape_from_public(NULL, &s), CDNAGEN_BAD_ARGUMENT,
                 (const char *const[]){"NULL", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_of_the_lds_builder),
        cmocka_unit_test(plan_of_the_direct_builder),
        cmocka_unit_test(plan_without_lengths_has_no_grid),
        cmocka_unit_test(waves_per_eu),
        cmocka_unit_test(kernel_arguments_follow_each_other),
        cmocka_unit_test(splits_by_hand),
        cmocka_unit_test(arguments_land_in_their_places),
        cmocka_unit_test(splits_are_the_callers_then_the_tags_then_ours),
        cmocka_unit_test(a_launch_says_where_the_occupancy_is_not_known),
        cmocka_unit_test(strides_given_as_they_are_are_taken),
        cmocka_unit_test(strides_go_to_the_kernel),
        cmocka_unit_test(the_stride_of_a_single_row_is_not_looked_at),
        cmocka_unit_test(bf16_weights_have_their_own_size_and_alignment),
        cmocka_unit_test(nothing_to_do_is_no_launch),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(neighbours_do_not_overlap),
        cmocka_unit_test(a_grid_beyond_hip_is_refused),
        cmocka_unit_test(public_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
