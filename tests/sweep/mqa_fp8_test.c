/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every byte as Q and as KV, alone and beside random ones, in every pair of FP8 kinds that a chip reads: what comes out
 * is what the reference says of that byte, NaN as NaN. */
#include <math.h>

#include "core/fp8.h"
#include "tests/sweep/mqa_data.h"

enum { HEADS = 32, DIM = 64, BYTES = 256, FEW = 20 };

static cdnagen *ctx;

static const char *const tags[] = {
    "mfma16x16x32_bkv32_r1_w1",
    "mfma16x16x32_bkv64_r2_w2_hfma",
    "mfma32x32x16_bkv32_r1_w1_hfma2",
    "mfma32x32x16_bkv128_r2_w2",
};
static const char *const kinds[] = {"e4m3fn", "e4m3fnuz"};
static const char *const operands[] = {"Q", "KV"};

typedef void make_operands(mqa_data *d, int of_kv);

static fp8_kind kind_of(mqa_data *d, int of_kv) {
    return data_kind(of_kv ? data_shape(d)->kv_fp8 : data_shape(d)->q_fp8);
}

/* Weights that tell two heads, and so the two signs, apart; scales that tell columns apart. All sums are exact. */
static void make_weights(mqa_data *d) {
    const mqa_shape *const s = data_shape(d);
    float *const scales = d->host.buffers[MQA_KV_SCALES].data, *const weights = d->host.buffers[MQA_WEIGHTS].data;
    for (int64_t n = 0; n < s->seq_kv; n++) scales[n] = ldexpf(1, (int)(n % 3));
    for (int64_t i = 0; i < s->seq * s->heads; i++) weights[i] = i % 2 ? -3 : 1;
}

/* Of the operand named, row (or column) b is byte b at one place and 0 elsewhere; heads of the other one are 1 and -1
 * in turn, its rows too. */
static void one_byte_among_zeros(mqa_data *d, int of_kv) {
    uint8_t *const q = d->host.buffers[MQA_Q].data, *const kv = d->host.buffers[MQA_KV].data;
    const mqa_shape *const s = data_shape(d);
    const uint8_t one = fp8_from_f32(kind_of(d, !of_kv), 1), minus = fp8_from_f32(kind_of(d, !of_kv), -1);
    memset(of_kv ? kv : q, 0, (size_t)(of_kv ? s->seq_kv : s->seq * HEADS) * DIM);
    for (int b = 0; b < BYTES; b++)
        if (of_kv)
            kv[b * DIM + (b * 7 + b / 64) % DIM] = (uint8_t)b;
        else
            q[(b * HEADS + b * 5 % HEADS) * DIM + (b * 7 + b / 64) % DIM] = (uint8_t)b;
    if (of_kv)
        for (int64_t i = 0; i < s->seq * HEADS; i++) memset(q + i * DIM, (i + i / HEADS) % 2 ? minus : one, DIM);
    else
        for (int64_t n = 0; n < s->seq_kv; n++) memset(kv + n * DIM, n % 2 ? minus : one, DIM);
    make_weights(d);
}

/* Of the operand named, row (or column) b has byte b four times among its other bytes, which are powers of two, as all
 * of the other operand are. */
static void one_byte_among_others(mqa_data *d, int of_kv) {
    static const float values[] = {0, 1, -1, 2, -0.5f, 0, 0.25f, -2};
    const mqa_shape *const s = data_shape(d);
    for (int kv = 0; kv < 2; kv++) {
        uint8_t *const bytes_of = d->host.buffers[kv ? MQA_KV : MQA_Q].data;
        const int64_t count = (kv ? s->seq_kv : s->seq * HEADS) * DIM;
        uint32_t state = 3 + (uint32_t)kv;
        for (int64_t i = 0; i < count; i++) {
            state = state * 1664525u + 1013904223u;
            bytes_of[i] = fp8_from_f32(kind_of(d, kv), values[state >> 29]);
        }
        if (kv != of_kv) continue;
        for (int b = 0; b < BYTES; b++) {
            uint8_t *const row = bytes_of + (kv ? b : b * HEADS + b * 5 % HEADS) * DIM;
            for (int i = 0; i < 4; i++) row[(b * 7 + i * 21) % DIM] = (uint8_t)b;
        }
    }
    make_weights(d);
}

static void compare(mqa_data *d, const char *name, int *nans) {
    const mqa_shape *const s = data_shape(d);
    const int64_t stride = mqa_logits_stride(s->seq_kv);
    *nans = 0;
    for (int64_t m = 0; m < s->seq; m++)
        for (int64_t n = 0; n < s->seq_kv; n++) {
            const float want = d->whole[m * s->seq_kv + n], got = data_logits(d)[m * stride + n];
            *nans += isnan(want);
            if (isnan(want) ? !isnan(got) : got != want)
                fail_msg("%s [%d, %d]: %a, not %a", name, (int)m, (int)n, (double)got, (double)want);
        }
}

static void sweep(make_operands *make) {
    int pairs = 0;
    for (int pair = 0; pair < 4; pair++)
        for (int of_kv = 0; of_kv < 2; of_kv++) {
            char words[120], shape[160];
            snprintf(words, sizeof words, "heads=%d dim=%d clean=0 q_fp8=%s kv_fp8=%s", HEADS, DIM, kinds[pair & 1],
                     kinds[pair >> 1]);
            snprintf(shape, sizeof shape, "seq=%d seq_kv=%d %s", of_kv ? 3 : BYTES, of_kv ? BYTES : FEW, words);
            const target t = target_of(sweep_chip);
            const mqa_shape s = shape_of(shape);
            if (mqa_check_shape(&t, &s) == CDNAGEN_LIMIT) continue;
            pairs++;
            mqa_data d;
            data_make(&d, ctx, shape);
            make(&d, of_kv);
            for (int64_t m = 0; m < s.seq; m++) data_starts(&d)[m] = 0, data_ends(&d)[m] = (int32_t)s.seq_kv;
            data_upload(&d);
            for (size_t i = 0; i < COUNT(tags); i++) {
                char name[240];
                snprintf(name, sizeof name, "%s: every byte of %s, %s", tags[i], operands[of_kv], words);
                cdnagen_kernel *const kernel = kernel_of(ctx, tags[i], words);
                simulate("late poison threads=1");
                const cdnagen_mqa_logits_args args = data_args(&d);
                data_launch(&d, kernel, name, &args);
                int nans;
                compare(&d, name, &nans);
                /* 0x7f and 0xff, or 0x80: a row of logits each, or a column */
                assert_int_equal(nans, (kind_of(&d, of_kv) == CDNAGEN_FP8_E4M3FN ? 2 : 1) * (of_kv ? s.seq : s.seq_kv));
                cdnagen_free_kernel(kernel);
            }
            data_free(&d);
        }
    assert_int_equal(pairs, target_of(sweep_chip).chip->fp8 == CDNAGEN_FP8_E4M3FN ? 2 : 8);
}

static void every_byte_among_zeros_is_what_it_means(void **state) {
    (void)state;
    sweep(one_byte_among_zeros);
}

static void every_byte_among_others_is_what_it_means(void **state) {
    (void)state;
    sweep(one_byte_among_others);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_among_zeros_is_what_it_means),
        cmocka_unit_test(every_byte_among_others_is_what_it_means),
    };
    if (argc > 1) sweep_chip = argv[1];
    ctx = sim_context();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cdnagen_free_context(ctx);
    return failed;
}
