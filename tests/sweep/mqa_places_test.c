/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Right values in the right places, beyond what grades can see: sums without rounding, windows of any content, memory
 * next to the operands, rows without padding, addresses beyond 32 bits, runs that repeat. */
#include <math.h>

#include "core/fp8.h"
#include "tests/sweep/mqa_data.h"

static cdnagen *ctx;
static const char late[] = "late poison threads=1";

enum { TAGS_MAX = 16, WIDE_MAX = 5 };
typedef struct chip_tags {
    const char *name;
    const char
        *tags[TAGS_MAX]; /* one of each builder, MFMA, head sum, reduction, and ways of sharing rows and columns */
    const char *wide[WIDE_MAX]; /* for heads=32 dim=512 */
    const char *tall;           /* for heads=128 dim=512 */
} chip_tags;
static const chip_tags chip_tables[] = {
    {"gfx950",
     {"mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", "mfma32x32x64_bkv64_r2_w4_lds3_swp_rs",
      "mfma32x32x64_bkv32_r1_w2_lds4_pd3_hfma2", "mfma32x32x64_bkv128_r2_w1_lds3_pd1_rs_hfma",
      "mfma16x16x128_bkv64_r1_w4_lds2_swp_rs_hfma", "mfma16x16x128_bkv32_r2_w2_lds2_pd1",
      "mfma32x32x64_bkv64_r2_w2_lds3_swp_rs_ls_ts_dg_hfma", "mfma32x32x64_bkv32_r1_w2_lds4_pd3_ls_ts_dg",
      "mfma32x32x64_bkv64_r2_w2_lds3_swp_rs_ls_ct_hfma", "mfma16x16x128_bkv32_r1_w4_lds4_pd3_swp_dg_ct",
      "mfma32x32x64_bkv64_r1_w1", "mfma32x32x64_bkv128_r2_w4_hfma", "mfma16x16x128_bkv64_r4_w2_hfma2",
      "mfma16x16x32_bkv64_r2_w2_hfma", "mfma32x32x16_bkv64_r1_w1"},
     {"mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", "mfma16x16x128_bkv64_r1_w4_lds2_rs", "mfma32x32x64_bkv64_r1_w2",
      "mfma16x16x128_bkv32_r2_w1_hfma"},
     "mfma32x32x64_bkv64_r2_w4_lds2_rs_hfma"},
    {"gfx942",
     {"mfma_r1_w4", "mfma_r2_w4_hfma", "mfma_r1_w1_hfma2", "mfma_r4_w2", "mfma16x16x32_bkv16_r2_w1",
      "mfma16x16x32_bkv96_r1_w2", "mfma32x32x16_bkv128_r1_w4_hfma", "mfma32x32x16_bkv64_r1_w1",
      "mfma32x32x16_bkv64_r2_w1_hfma2"},
     {"mfma_r1_w4", "mfma32x32x16_bkv64_r2_w1_hfma", "mfma_r2_w2"},
     "mfma_r1_w4"}};
static const chip_tags *on;

static uint64_t random_state;
static uint32_t random32(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}
static int between(int low, int high) { return low + (int)(random32() % (uint32_t)(high - low + 1)); }

static void causal(mqa_data *d) {
    mqa_shape s = *data_shape(d);
    s.window = WINDOW_CAUSAL;
    for (int r = 0; r < s.seq; r++) mqa_window_row(&s, r, &data_starts(d)[r], &data_ends(d)[r]);
    data_windows(d);
}

static void misaligned(mqa_data *d) {
    mqa_shape s = *data_shape(d);
    s.window = WINDOW_MISALIGNED;
    for (int r = 0; r < s.seq; r++) mqa_window_row(&s, r, &data_starts(d)[r], &data_ends(d)[r]);
    data_windows(d);
}

/* ---- sums without rounding ---- */

/* Operands -1, 0, 1; weights of both signs and scales, powers of two that change from head to head, row to row and
 * column to column: in any order of summation every partial sum is exact. */
static void make_exact(mqa_data *d) {
    const fp8_kind kind = data_kind(CDNAGEN_FP8_NATIVE);
    const uint8_t fp8[] = {fp8_from_f32(kind, -1), 0, fp8_from_f32(kind, 1)};
    const mqa_shape *const s = data_shape(d);
    uint8_t *const q = d->host.buffers[MQA_Q].data, *const kv = d->host.buffers[MQA_KV].data;
    float *const scales = d->host.buffers[MQA_KV_SCALES].data, *const weights = d->host.buffers[MQA_WEIGHTS].data;
    random_state = 7;
    for (int64_t i = 0; i < s->seq * s->heads * s->dim; i++) q[i] = fp8[between(0, 2)];
    for (int64_t i = 0; i < s->seq_kv * s->dim; i++) kv[i] = fp8[between(0, 2)];
    for (int64_t n = 0; n < s->seq_kv; n++) scales[n] = ldexpf(1, (int)(n * 3 % 11) - 5);
    for (int64_t i = 0; i < s->seq * s->heads; i++) weights[i] = ldexpf(between(0, 1) ? 1 : -1, between(0, 6));
}

static void exact_sums_come_out_bit_for_bit(void **state) {
    (void)state;
    static const char *const shapes[] = {"seq=7 seq_kv=333 heads=64 dim=128", "seq=7 seq_kv=333 heads=32 dim=256",
                                         "seq=7 seq_kv=333 heads=128 dim=512", "seq=7 seq_kv=333 heads=32 dim=64",
                                         "seq=7 seq_kv=333 heads=32 dim=192"};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        mqa_data d;
        data_make(&d, ctx, shapes[i]);
        make_exact(&d);
        data_upload(&d);
        misaligned(&d);
        const mqa_shape s = *data_shape(&d);
        for (size_t t = 0; t < TAGS_MAX && on->tags[t]; t++) {
            if (s.dim % 128 && strstr(on->tags[t], "x128_")) continue;
            if (s.dim == 512 && strstr(on->tags[t], "bkv128_r2_w1_lds3")) continue; /* 192 KiB of LDS */
            cdnagen_kernel *const kernel = kernel_of(ctx, on->tags[t], shapes[i]);
            simulate(late);
            const cdnagen_mqa_logits_args args = data_args(&d);
            data_launch(&d, kernel, on->tags[t], &args);
            for (int64_t m = 0; m < s.seq; m++)
                for (int64_t n = 0; n < s.seq_kv; n++) {
                    const float want = ((const float *)d.host.reference)[m * s.seq_kv + n];
                    const float got = data_logits(&d)[m * mqa_logits_stride(s.seq_kv) + n];
                    if (memcmp(&want, &got, sizeof got))
                        fail_msg("%s %s [%d, %d]: %a, not %a", on->tags[t], shapes[i], (int)m, (int)n, (double)got,
                                 (double)want);
                }
            cdnagen_free_kernel(kernel);
        }
        data_free(&d);
    }
}

/* ---- NaN ---- */

enum { NAN_ROW = 3, NAN_COLUMN = 40 };

/* Bits of each logit of one launch. */
static void launch_bits(mqa_data *d, const char *tag, uint32_t *bits) {
    cdnagen_kernel *const kernel = kernel_of(ctx, tag, "heads=64 dim=128");
    const cdnagen_mqa_logits_args args = data_args(d);
    const mqa_shape *const s = data_shape(d);
    data_launch(d, kernel, tag, &args);
    for (int64_t m = 0; m < s->seq; m++)
        memcpy(bits + m * s->seq_kv, data_logits(d) + m * mqa_logits_stride(s->seq_kv), 4 * (size_t)s->seq_kv);
    cdnagen_free_kernel(kernel);
}

static void a_nan_byte_reaches_its_row_or_column_and_nothing_else(void **state) {
    (void)state;
    enum { SEQ = 7, SEQ_KV = 333 };
    static uint32_t without[SEQ * SEQ_KV], with[SEQ * SEQ_KV];
    mqa_data plain, poisoned;
    const uint8_t nan_byte = data_kind(CDNAGEN_FP8_NATIVE) == CDNAGEN_FP8_E4M3FN ? 0x7f : 0x80;
    data_make(&plain, ctx, "seq=7 seq_kv=333 heads=64 dim=128");
    data_make(&poisoned, ctx, "seq=7 seq_kv=333 heads=64 dim=128");
    ((uint8_t *)poisoned.host.buffers[MQA_Q].data)[(NAN_ROW * 64 + 5) * 128 + 17] = nan_byte;
    ((uint8_t *)poisoned.host.buffers[MQA_KV].data)[NAN_COLUMN * 128 + 99] = nan_byte;
    data_upload(&plain);
    data_upload(&poisoned);
    misaligned(&plain);
    misaligned(&poisoned);
    simulate(late);
    for (size_t t = 0; t < TAGS_MAX && on->tags[t]; t++) {
        launch_bits(&plain, on->tags[t], without);
        launch_bits(&poisoned, on->tags[t], with);
        int reached = 0;
        for (int m = 0; m < SEQ; m++)
            for (int n = 0; n < SEQ_KV; n++) {
                float got;
                memcpy(&got, &with[m * SEQ_KV + n], sizeof got);
                const int inside = n >= data_starts(&plain)[m] && n < data_ends(&plain)[m];
                const int meets = inside && (m == NAN_ROW || n == NAN_COLUMN);
                reached += meets;
                if (meets ? !isnan(got) : with[m * SEQ_KV + n] != without[m * SEQ_KV + n])
                    fail_msg("%s [%d, %d]: %a, %s", on->tags[t], m, n, (double)got,
                             meets ? "not NaN" : "not what it was");
            }
        assert_true(reached > 100);
    }
    data_free(&plain);
    data_free(&poisoned);
}

/* ---- windows of any content ---- */

static int32_t any_bound(int seq_kv) {
    const int32_t edges[] = {INT32_MIN,
                             INT32_MIN + 1,
                             -seq_kv,
                             -1,
                             0,
                             1,
                             31,
                             32,
                             63,
                             64,
                             65,
                             seq_kv / 2,
                             seq_kv - 65,
                             seq_kv - 1,
                             seq_kv,
                             seq_kv + 1,
                             seq_kv + 64,
                             1 << 29,
                             INT32_MAX - 1,
                             INT32_MAX};
    return between(0, 1) ? between(-20, seq_kv + 20) : edges[between(0, (int)COUNT(edges) - 1)];
}

static void windows_of_any_content_are_clamped(void **state) {
    (void)state;
    static const char *const shapes[] = {"seq=41 seq_kv=389 heads=32 dim=128 clean=1",
                                         "seq=41 seq_kv=389 heads=32 dim=128 clean=0"};
    static const int splits[] = {1, 0, 2, 3, 7, 500};
    enum { ROUNDS = 6 };
    mqa_data d;
    data_make(&d, ctx, shapes[0]);
    data_upload(&d);
    random_state = 11;
    for (int i = 0; i < 2; i++)
        for (size_t t = 0; t < TAGS_MAX && on->tags[t]; t++) {
            cdnagen_kernel *const kernel = kernel_of(ctx, on->tags[t], shapes[i]);
            for (int round = 0; round < ROUNDS; round++) {
                for (int r = 0; r < 41; r++) {
                    data_starts(&d)[r] = any_bound(389);
                    data_ends(&d)[r] = any_bound(389);
                }
                data_windows(&d);
                simulate(round % 2 ? late : "threads=1");
                const grade g = data_run(&d, kernel, on->tags[t], i == 0, splits[round]);
                if (!g.pass || !(grade_figure(&g, "max_rel") < 1e-5))
                    fail_msg("%s round %d: %s", on->tags[t], round, g.first);
            }
            cdnagen_free_kernel(kernel);
        }
    data_free(&d);
}

/* ---- memory next to the operands ---- */

enum { ALL_SEQ = 32, ALL_KV = 640, PART_SEQ = 19, PART_KV = 301 };

/* Behind row PART_SEQ and column PART_KV every operand goes on with values that show wherever they get in. */
static void make_neighbours(mqa_data *d) {
    const mqa_shape *const s = data_shape(d);
    const int64_t q_row = s->heads * s->dim;
    memset((uint8_t *)d->host.buffers[MQA_Q].data + PART_SEQ * q_row, 0x7e, (size_t)((ALL_SEQ - PART_SEQ) * q_row));
    memset((uint8_t *)d->host.buffers[MQA_KV].data + PART_KV * s->dim, 0x7e, (size_t)((ALL_KV - PART_KV) * s->dim));
    float *const scales = d->host.buffers[MQA_KV_SCALES].data, *const weights = d->host.buffers[MQA_WEIGHTS].data;
    for (int64_t n = PART_KV; n < ALL_KV; n++) scales[n] = 1e20f;
    for (int64_t i = PART_SEQ * s->heads; i < ALL_SEQ * s->heads; i++) weights[i] = 1e10f;
}

/* A launch of PART_SEQ x PART_KV: nothing of the rest is read into a result or written. */
static void run_part(mqa_data *d, const char *tag, int clean, int64_t stride, int splits) {
    char shape[80];
    snprintf(shape, sizeof shape, "heads=32 dim=128 clean=%d", clean);
    cdnagen_kernel *const kernel = kernel_of(ctx, tag, shape);
    cdnagen_mqa_logits_args args = data_args(d);
    args.seq = PART_SEQ;
    args.seq_kv = PART_KV;
    args.logits_stride = stride;
    args.num_splits = splits;
    data_launch(d, kernel, tag, &args);
    cdnagen_free_kernel(kernel);

    static float reference[PART_SEQ * PART_KV];
    for (int m = 0; m < PART_SEQ; m++)
        memcpy(&reference[m * PART_KV], (const float *)d->host.reference + m * ALL_KV, PART_KV * sizeof(float));
    mqa_shape part = *data_shape(d);
    part.seq = PART_SEQ;
    part.seq_kv = PART_KV;
    part.clean = clean;
    const uint32_t poison = data_poison(d);
    grade g;
    mqa_grade_logits(&part, reference, data_logits(d), stride, poison, &g);
    if (!g.pass || !(grade_figure(&g, "max_rel") < 1e-5)) fail_msg("%s stride %d: %s", tag, (int)stride, g.first);

    const size_t words = d->host.buffers[MQA_LOGITS].bytes / sizeof poison;
    const uint32_t *const from = d->back, *const end = from + words;
    for (const uint32_t *at = from; at < (const uint32_t *)(const void *)data_logits(d); at++)
        assert_int_equal(*at, poison);
    for (const uint32_t *at = (const uint32_t *)(const void *)data_logits(d) + PART_SEQ * stride; at < end; at++)
        if (*at != poison) fail_msg("%s stride %d: written behind the last row", tag, (int)stride);
}

static void neighbours_in_memory_do_not_leak(void **state) {
    (void)state;
    static const int strides[] = {PART_KV, PART_KV + 1, ALL_KV};
    mqa_data d;
    data_make(&d, ctx, "seq=32 seq_kv=640 heads=32 dim=128");
    make_neighbours(&d);
    data_upload(&d);
    for (int r = 0; r < ALL_SEQ; r++) {
        data_starts(&d)[r] = r % 5 == 1 ? 40 * r : r % 5 == 2 ? ALL_KV + r : r;
        data_ends(&d)[r] = r % 3 ? INT32_MAX : PART_KV - r;
    }
    data_windows(&d);
    for (size_t t = 0; t < TAGS_MAX && on->tags[t]; t++)
        for (int i = 0; i < 6; i++) {
            simulate(i % 2 ? late : "threads=1");
            run_part(&d, on->tags[t], i % 2, strides[i / 2], 1 + i);
        }
    data_free(&d);
}

/* ---- runs that repeat ---- */

static void modes_threads_and_splits_do_not_change_a_bit(void **state) {
    (void)state;
    static const struct {
        const char *mode;
        int splits;
    } runs[] = {{"threads=1", 1}, {"threads=1", 1}, {"threads=2", 1}, {"late threads=2", 1},
                {"poison", 3},    {late, 2},        {late, 7},        {"", 1000}};
    mqa_data d;
    data_make(&d, ctx, "seq=23 seq_kv=401 heads=64 dim=128");
    data_upload(&d);
    causal(&d);
    void *const first = mem_alloc(d.host.buffers[MQA_LOGITS].bytes);
    assert_non_null(first);
    for (size_t t = 0; t < TAGS_MAX && on->tags[t]; t++) {
        cdnagen_kernel *const kernel = kernel_of(ctx, on->tags[t], "heads=64 dim=128");
        for (size_t i = 0; i < COUNT(runs); i++) {
            simulate(runs[i].mode);
            assert_true(data_run(&d, kernel, on->tags[t], 1, runs[i].splits).pass);
            if (i == 0)
                memcpy(first, d.back, d.host.buffers[MQA_LOGITS].bytes);
            else if (memcmp(first, d.back, d.host.buffers[MQA_LOGITS].bytes))
                fail_msg("%s: \"%s\" in %d parts gives other bits", on->tags[t], runs[i].mode, runs[i].splits);
        }
        cdnagen_free_kernel(kernel);
    }
    mem_free(first);
    data_free(&d);
}

/* ---- addresses beyond 32 bits: pages that nobody touches cost nothing ---- */

static void *sparse(size_t size) {
    void *p = NULL;
    if (cdnagen_alloc(ctx, size, &p)) fail_msg("%zu bytes: %s", size, cdnagen_error());
    return p;
}

static void copy_in(void *to, const void *from, size_t size) {
    if (cdnagen_copy_to_device(ctx, to, from, size)) fail_msg("%s", cdnagen_error());
}

/* Rows of logits 2 GiB apart and more: what is written is what a compact output gets, and nothing around it. */
static void logits_beyond_4_gib(void **state) {
    (void)state;
    enum { SEQ = 5, SEQ_KV = 301, AROUND = 256, SEEN = AROUND + SEQ_KV + AROUND };
    static const int64_t strides[] = {(1LL << 29) + 64, (1LL << 28) + 77, (1LL << 31) + 5};
    mqa_data d;
    data_make(&d, ctx, "seq=5 seq_kv=301 heads=32 dim=128");
    data_upload(&d);
    misaligned(&d);
    uint32_t seen[SEEN];
    for (size_t both = 0; both < 2 * TAGS_MAX && on->tags[both / 2]; both++) {
        const size_t t = both / 2;
        const int clean = both % 2;
        const int64_t stride = strides[t % COUNT(strides)];
        const size_t size = (size_t)((SEQ - 1) * stride + AROUND + SEEN) * sizeof(float);
        char *const place = sparse(size);
        for (int i = 0; i < SEEN; i++) seen[i] = data_poison(&d);
        for (int64_t m = 0; m < SEQ; m++) copy_in(place + m * stride * 4, seen, sizeof seen);
        cdnagen_kernel *const kernel =
            kernel_of(ctx, on->tags[t], clean ? "heads=32 dim=128 clean=1" : "heads=32 dim=128 clean=0");
        cdnagen_mqa_logits_args args = data_args(&d);
        args.logits = (cdnagen_buffer){place + AROUND * 4, size - AROUND * 4};
        args.logits_stride = stride;
        args.num_splits = 2;
        simulate(late);
        if (cdnagen_launch_mqa_logits(kernel, &args, NULL)) fail_msg("%s: %s", on->tags[t], cdnagen_error());
        if (cdnagen_synchronize(ctx, NULL)) fail_msg("%s: %s", on->tags[t], cdnagen_error());
        for (int64_t m = 0; m < SEQ; m++) {
            assert_int_equal(cdnagen_copy_to_host(ctx, seen, place + m * stride * 4, sizeof seen), CDNAGEN_OK);
            for (int n = -AROUND; n < SEQ_KV + AROUND; n++) {
                const float *const reference = (const float *)d.host.reference + m * SEQ_KV;
                float got;
                memcpy(&got, &seen[AROUND + n], sizeof got);
                const int inside = n >= 0 && n < SEQ_KV, seen_by_row = inside && reference[n] != -INFINITY;
                const int right = seen_by_row       ? fabsf(got - reference[n]) < 1e-3f
                                  : inside && clean ? got == -INFINITY
                                                    : seen[AROUND + n] == data_poison(&d);
                if (!right)
                    fail_msg("%s clean=%d stride %lld: [%d, %d] is %g", on->tags[t], clean, (long long)stride, (int)m,
                             n, (double)got);
            }
        }
        cdnagen_free_kernel(kernel);
        cdnagen_free_memory(ctx, place);
    }
    data_free(&d);
}

/* KV of 4 GiB and more with windows at its end and around 2 GiB; Q of 4 GiB and more with windows in its last rows.
 * What is read there is what a small problem holds; a place that 32 bits would reach holds zeros. */
enum { DIM = 512, HEADS = 32, FEW = 96 };

static void kv_beyond_4_gib(void **state) {
    (void)state;
    static const int64_t firsts[] = {(1LL << 31) / DIM - FEW / 2, (1LL << 32) / DIM - FEW / 2,
                                     (1LL << 32) / DIM + 1000};
    mqa_data d;
    data_make(&d, ctx, "seq=2 seq_kv=96 heads=32 dim=512");
    data_upload(&d);
    for (size_t i = 0; i < COUNT(firsts); i++) {
        const int64_t first = firsts[i], seq_kv = first + FEW;
        cdnagen_mqa_logits_args args = data_args(&d);
        args.seq_kv = seq_kv;
        args.kv = (cdnagen_buffer){sparse((size_t)seq_kv * DIM), (size_t)seq_kv * DIM};
        args.kv_scales = (cdnagen_buffer){sparse((size_t)seq_kv * 4), (size_t)seq_kv * 4};
        const size_t row = (size_t)mqa_logits_stride(seq_kv) * sizeof(float);
        args.logits = (cdnagen_buffer){sparse(2 * row), 2 * row};
        copy_in((char *)args.kv.ptr + first * DIM, d.host.buffers[MQA_KV].data, FEW * DIM);
        copy_in((char *)args.kv_scales.ptr + first * 4, d.host.buffers[MQA_KV_SCALES].data, FEW * sizeof(float));
        const int32_t starts[] = {(int32_t)first + 3, (int32_t)first}, ends[] = {(int32_t)seq_kv, (int32_t)seq_kv - 9};
        copy_in(args.cu_starts.ptr, starts, sizeof starts);
        copy_in(args.cu_ends.ptr, ends, sizeof ends);
        for (size_t t = 0; t < WIDE_MAX && on->wide[t]; t++) {
            cdnagen_kernel *const kernel = kernel_of(ctx, on->wide[t], "heads=32 dim=512 clean=0");
            simulate(late);
            args.num_splits = 1 + (int)t % 2;
            if (cdnagen_launch_mqa_logits(kernel, &args, NULL)) fail_msg("%s: %s", on->wide[t], cdnagen_error());
            if (cdnagen_synchronize(ctx, NULL)) fail_msg("%s: %s", on->wide[t], cdnagen_error());
            for (int m = 0; m < 2; m++) {
                static const float zeros[FEW];
                float got[FEW];
                char *const place = (char *)args.logits.ptr + (size_t)m * row + first * 4;
                assert_int_equal(cdnagen_copy_to_host(ctx, got, place, sizeof got), CDNAGEN_OK);
                for (int n = 0; n < FEW; n++) {
                    const int inside = first + n >= starts[m] && first + n < ends[m];
                    const float want = inside ? d.whole[m * FEW + n] : 0;
                    if (!(fabsf(got[n] - want) < 1e-2f))
                        fail_msg("%s: [%d, %lld] is %g, not %g", on->wide[t], m, (long long)first + n, (double)got[n],
                                 (double)want);
                }
                copy_in(place, zeros, sizeof zeros);
            }
            cdnagen_free_kernel(kernel);
        }
        cdnagen_free_memory(ctx, args.kv.ptr);
        cdnagen_free_memory(ctx, args.kv_scales.ptr);
        cdnagen_free_memory(ctx, args.logits.ptr);
    }
    data_free(&d);
}

static void q_beyond_4_gib(void **state) {
    (void)state;
    enum { Q_ROW = 128 * 512, ROWS = 3 };
    const int64_t seq = (1LL << 32) / Q_ROW + 40, first = seq - ROWS;
    mqa_data d;
    data_make(&d, ctx, "seq=3 seq_kv=96 heads=128 dim=512");
    data_upload(&d);
    cdnagen_mqa_logits_args args = data_args(&d);
    const size_t logits_bytes = (size_t)(seq * mqa_logits_stride(FEW)) * sizeof(float);
    args.seq = seq;
    args.q = (cdnagen_buffer){sparse((size_t)(seq * Q_ROW)), (size_t)(seq * Q_ROW)};
    args.weights = (cdnagen_buffer){sparse((size_t)seq * 128 * 4), (size_t)seq * 128 * 4};
    args.cu_starts = (cdnagen_buffer){sparse((size_t)seq * 4), (size_t)seq * 4};
    args.cu_ends = (cdnagen_buffer){sparse((size_t)seq * 4), (size_t)seq * 4};
    args.logits = (cdnagen_buffer){sparse(logits_bytes), logits_bytes};
    args.num_splits = 1;
    const int32_t ends[ROWS] = {FEW, FEW, FEW}; /* all other windows are empty: [0, 0) */
    copy_in((char *)args.q.ptr + first * Q_ROW, d.host.buffers[MQA_Q].data, ROWS * Q_ROW);
    copy_in((char *)args.weights.ptr + first * 128 * 4, d.host.buffers[MQA_WEIGHTS].data, (size_t)ROWS * 128 * 4);
    copy_in((char *)args.cu_ends.ptr + first * 4, ends, sizeof ends);
    cdnagen_kernel *const kernel = kernel_of(ctx, on->tall, "heads=128 dim=512 clean=0");
    simulate("");
    if (cdnagen_launch_mqa_logits(kernel, &args, NULL)) fail_msg("%s", cdnagen_error());
    if (cdnagen_synchronize(ctx, NULL)) fail_msg("%s", cdnagen_error());
    for (int m = 0; m < ROWS; m++) {
        float got[FEW];
        const char *const place = (const char *)args.logits.ptr + (first + m) * mqa_logits_stride(FEW) * 4;
        assert_int_equal(cdnagen_copy_to_host(ctx, got, place, sizeof got), CDNAGEN_OK);
        for (int n = 0; n < FEW; n++)
            if (!(fabsf(got[n] - d.whole[m * FEW + n]) < 1e-2f))
                fail_msg("[%lld, %d] is %g, not %g", (long long)first + m, n, (double)got[n],
                         (double)d.whole[m * FEW + n]);
    }
    cdnagen_free_kernel(kernel);
    void *const all[] = {args.q.ptr, args.weights.ptr, args.cu_starts.ptr, args.cu_ends.ptr, args.logits.ptr};
    for (size_t i = 0; i < COUNT(all); i++) cdnagen_free_memory(ctx, all[i]);
    data_free(&d);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_sums_come_out_bit_for_bit),
        cmocka_unit_test(a_nan_byte_reaches_its_row_or_column_and_nothing_else),
        cmocka_unit_test(windows_of_any_content_are_clamped),
        cmocka_unit_test(neighbours_in_memory_do_not_leak),
        cmocka_unit_test(modes_threads_and_splits_do_not_change_a_bit),
        cmocka_unit_test(logits_beyond_4_gib),
        cmocka_unit_test(kv_beyond_4_gib),
        cmocka_unit_test(q_beyond_4_gib),
    };
    if (argc > 1) sweep_chip = argv[1];
    for (on = chip_tables; strcmp(on->name, sweep_chip);)
        if (++on == chip_tables + COUNT(chip_tables)) return 2;
    ctx = sim_context();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cdnagen_free_context(ctx);
    return failed;
}
