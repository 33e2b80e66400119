/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The windows that runs and tests give each query row: what real models send, and what breaks kernels. */
#include <inttypes.h>

#include "core/integer.h"
#include "core/random.h"
#include "gen/mqa_logits/mqa_logits.h"

cdnagen_status mqa_window_check(const mqa_shape *s) {
    if (s->window != WINDOW_CP || s->seq == 0) return CDNAGEN_OK;
    if (s->seq % 2 == 0 && s->seq_kv % s->seq == 0) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_SHAPE,
                "mqa_logits: window=cp needs an even seq that divides seq_kv; seq=%" PRId64 " seq_kv=%" PRId64
                " does not fit",
                s->seq, s->seq_kv);
}

/* One rank's two chunks of a sequence that is spread over seq_kv / seq ranks, an early one and its late mirror. */
static int64_t cp_end(const mqa_shape *s, int64_t r) {
    const int64_t chunk = s->seq / 2, ranks = s->seq_kv / s->seq, rank = ranks / 3;
    return r < chunk ? rank * chunk + r : (2 * ranks - 1 - rank) * chunk + (r - chunk);
}

/* scattered: a number >= 0 that has nothing to do with its neighbours'. */
static int64_t scattered(int64_t i) { return (int64_t)(random_mix(((uint64_t)i + 1) * RANDOM_STEP) >> 1); }

void mqa_window_row(const mqa_shape *s, int64_t r, int32_t *start, int32_t *end) {
    const int64_t seq_kv = s->seq_kv;
    int64_t from = 0, to = 0;
    switch ((mqa_window)s->window) {
    case WINDOW_CAUSAL: /* the first rows are empty, with negative ends where seq_kv < seq */
        to = r + (seq_kv - s->seq);
        break;
    case WINDOW_CP: to = cp_end(s, r); break;
    case WINDOW_MISALIGNED:
        from = (53 * r + 100) % larger(1, seq_kv / 2);
        to = smaller(from + larger(1, seq_kv / 3), seq_kv);
        break;
    case WINDOW_EMPTY: /* two of three rows are empty: a negative end, an end before the start */
        if (r % 3 == 0) to = -1 - r % 7;
        if (r % 3 == 1) from = smaller(100, seq_kv);
        if (r % 3 == 2) to = smaller(r + 1, seq_kv);
        break;
    case WINDOW_PAST_END: /* every other row's window begins behind the last column */
        from = r % 2 ? 0 : seq_kv + 17;
        to = r % 2 ? smaller(r + 1, seq_kv) : seq_kv + 64;
        break;
    case WINDOW_BATCH_CAUSAL: { /* `batch` sequences one after the other, each with its own keys */
        const int64_t rows = ceil_div(s->seq, s->batch), keys = seq_kv / s->batch;
        from = r / rows * keys;
        to = from + (keys - rows) + r % rows + 1;
        break;
    }
    case WINDOW_UNSORTED: /* neighbours have nothing in common; bounds in any order, also before and behind the row */
        from = scattered(2 * r) % (seq_kv + 130) - 65;
        to = scattered(2 * r + 1) % (seq_kv + 130) - 65;
        break;
    }
    *start = (int32_t)smaller(from, INT32_MAX);
    *end = (int32_t)smaller(to, INT32_MAX);
}

int64_t mqa_window_columns(const mqa_shape *s) {
    int64_t columns = 0;
    for (int64_t r = 0; r < s->seq; r++) {
        int32_t start, end;
        mqa_window_row(s, r, &start, &end);
        const int64_t from = larger(start, 0), to = smaller(end, s->seq_kv);
        if (to > from) columns += to - from;
    }
    return columns;
}
