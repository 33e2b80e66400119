/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Data for a run: Q, KV and weights as models quantise them, windows by name, a poisoned output between guards. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/fp8.h"
#include "core/random.h"
#include "gen/mqa_logits/mqa_logits.h"

/* Buffers are in the order of the pointers of mqa_kernarg. */
enum { BUFFER_COUNT = MQA_LOGITS + 1, GUARD_BYTES = 1024 };
#define POISON 0x7fc0beefu /* a NaN that no arithmetic makes */
#define AMAX_MIN 1e-4f

static void normals(uint64_t seed, uint64_t stream, float *out, int64_t count) {
    uint64_t state = seed;
    state = random64(&state) ^ stream;
    for (int64_t i = 0; i < count; i += 2) {
        double radius, angle;
        random_polar(&state, &radius, &angle);
        out[i] = (float)(radius * cos(angle));
        if (i + 1 < count) out[i + 1] = (float)(radius * sin(angle));
    }
}

/* ---- quantisation ---- */

static float bf16_rounded(float x) { return f32_from_bf16(bf16_from_f32(x)); }

/* quantise_row: bytes and scale of one row by its largest magnitude. */
static float quantise_row(fp8_kind kind, const float *row, int64_t count, uint8_t *bytes_out) {
    float amax = AMAX_MIN;
    for (int64_t i = 0; i < count; i++) amax = fmaxf(amax, fabsf(row[i]));
    const float scale = amax / fp8_max(kind);
    for (int64_t i = 0; i < count; i++) bytes_out[i] = fp8_from_f32(kind, row[i] / scale);
    return scale;
}

/* make_keys: rows are quantised twice, as a cache that was written, read back as bf16 and written again. Their sizes
 * differ by a factor of up to 4, so that a scale taken from another column shows. */
static void make_keys(uint64_t seed, const mqa_shape *s, fp8_kind kind, float *row, uint8_t *kv, float *scales) {
    const int64_t stride = mqa_workload_strides(s).kv;
    for (int64_t n = 0; n < s->seq_kv; n++) {
        normals(seed, (uint64_t)(MQA_KV + n * BUFFER_COUNT), row, s->dim);
        const float size = 0.5f + 0.25f * (float)(n % 7);
        uint8_t *const out = kv + n * stride;
        for (int64_t d = 0; d < s->dim; d++) row[d] = bf16_rounded(row[d] * size);
        const float scale = quantise_row(kind, row, s->dim, out);
        for (int64_t d = 0; d < s->dim; d++) row[d] = bf16_rounded(f32_from_fp8(kind, out[d]) * scale);
        scales[n] = quantise_row(kind, row, s->dim, out);
    }
}

static void make_queries(uint64_t seed, const mqa_shape *s, fp8_kind kind, float *row, uint8_t *q) {
    const int64_t columns = s->heads * s->dim;
    const mqa_strides to = mqa_workload_strides(s);
    for (int64_t m = 0; m < s->seq; m++) {
        normals(seed, (uint64_t)(MQA_Q + m * BUFFER_COUNT), row, columns);
        for (int64_t i = 0; i < columns; i++)
            q[m * to.q + i / s->dim * to.q_head + i % s->dim] = fp8_from_f32(kind, bf16_rounded(row[i]));
    }
}

/* make_weights: rows of a stride get the numbers that contiguous ones get. */
static void make_weights(uint64_t seed, const mqa_shape *s, float *all, void *out) {
    const int64_t stride = mqa_workload_strides(s).weights;
    normals(seed, MQA_WEIGHTS, all, s->seq * s->heads);
    for (int64_t i = 0; i < s->seq * s->heads; i++) {
        const int64_t at = i / s->heads * stride + i % s->heads;
        if (s->weights == CDNAGEN_WEIGHTS_BF16)
            ((uint16_t *)out)[at] = bf16_from_f32(all[i]);
        else
            ((float *)out)[at] = all[i];
    }
}

/* ---- the family's workload ---- */

mqa_strides mqa_workload_strides(const mqa_shape *s) {
    if (!s->strided) return (mqa_strides){s->heads * s->dim, s->dim, s->dim, s->heads, mqa_logits_stride(s->seq_kv)};
    const int64_t q = s->dim + 48; /* [heads, seq, dim], with more between two heads than between two rows */
    return (mqa_strides){q, s->seq * q + 16, s->dim + 80, s->heads + 6, s->seq_kv + 37};
}

/* What there is from the first element to the last. */
static size_t spanned(int64_t rows, int64_t stride, int64_t columns) {
    return rows && columns ? (size_t)((rows - 1) * stride + columns) : 0;
}

/* Rows of logits are whole, so that what follows the last one's columns is looked at too. */
static size_t logits_bytes(const mqa_shape *s) {
    return (size_t)s->seq * (size_t)mqa_workload_strides(s).logits * sizeof(float);
}

static size_t weight_bytes(const mqa_shape *s) { return s->weights == CDNAGEN_WEIGHTS_BF16 ? 2 : 4; }

static void add_buffer(problem *p, const char *name, size_t size, int output) {
    /* An empty buffer still has an address. */
    p->buffers[p->buffer_count++] =
        (problem_buffer){.name = name, .bytes = size ? size : sizeof(uint32_t), .output = output};
}

static void add_buffers(problem *p, const mqa_shape *s) {
    const size_t seq = (size_t)s->seq, seq_kv = (size_t)s->seq_kv;
    const mqa_strides to = mqa_workload_strides(s);
    add_buffer(p, "q", spanned(s->seq, to.q, (int64_t)spanned(s->heads, to.q_head, s->dim)), 0);
    add_buffer(p, "kv", spanned(s->seq_kv, to.kv, s->dim), 0);
    add_buffer(p, "kv_scales", seq_kv * sizeof(float), 0);
    add_buffer(p, "weights", spanned(s->seq, to.weights, s->heads) * weight_bytes(s), 0);
    add_buffer(p, "cu_starts", seq * sizeof(int32_t), 0);
    add_buffer(p, "cu_ends", seq * sizeof(int32_t), 0);
    add_buffer(p, "logits", logits_bytes(s) + 2 * GUARD_BYTES, 1);
}

/* give_data: memory for the buffers first to last. */
static cdnagen_status give_data(problem *p, mqa_kernarg first, mqa_kernarg last) {
    for (int i = (int)first; i <= (int)last; i++)
        if (!(p->buffers[i].data = mem_alloc(p->buffers[i].bytes))) return fail_no_memory();
    return CDNAGEN_OK;
}

static void fill_windows(problem *data, const mqa_shape *s) {
    int32_t *const starts = data->buffers[MQA_CU_STARTS].data, *const ends = data->buffers[MQA_CU_ENDS].data;
    for (int64_t r = 0; r < s->seq; r++) mqa_window_row(s, r, &starts[r], &ends[r]);
}

static int nan_byte(fp8_kind kind) { return kind == CDNAGEN_FP8_E4M3FNUZ ? 0x80 : 0xff; }

static cdnagen_status fill(const plan *p, problem *data, const mqa_shape *s) {
    const int64_t most = larger(s->dim, s->seq); /* a row of Q, or all weights */
    float *const row = mem_alloc((size_t)(s->heads * most) * sizeof(float));
    if (!row) return fail_no_memory();
    for (int i = MQA_Q; i <= MQA_LOGITS; i++) assert(data->buffers[i].data);
    /* NaN, so that whatever is read from between rows shows. */
    memset(data->buffers[MQA_Q].data, nan_byte(chip_fp8(p->target.chip, s->q_fp8)), data->buffers[MQA_Q].bytes);
    memset(data->buffers[MQA_KV].data, nan_byte(chip_fp8(p->target.chip, s->kv_fp8)), data->buffers[MQA_KV].bytes);
    memset(data->buffers[MQA_WEIGHTS].data, 0xff, data->buffers[MQA_WEIGHTS].bytes);
    make_queries(data->seed, s, chip_fp8(p->target.chip, s->q_fp8), row, data->buffers[MQA_Q].data);
    make_keys(data->seed, s, chip_fp8(p->target.chip, s->kv_fp8), row, data->buffers[MQA_KV].data,
              data->buffers[MQA_KV_SCALES].data);
    make_weights(data->seed, s, row, data->buffers[MQA_WEIGHTS].data);
    mem_free(row);
    fill_windows(data, s);
    uint32_t *const logits = data->buffers[MQA_LOGITS].data;
    for (size_t i = 0; i < data->buffers[MQA_LOGITS].bytes / sizeof *logits; i++) logits[i] = POISON;
    return CDNAGEN_OK;
}

/* start: buffers of the plan's shape, without data. */
static cdnagen_status start(const plan *p, uint64_t seed, problem *out, mqa_shape *s) {
    memcpy(s, p->shape, sizeof *s);
    if (s->seq < 0 || s->seq_kv < 0)
        return fail(CDNAGEN_BAD_SHAPE, "mqa_logits: a run needs %s in its shape, as in seq=128 seq_kv=1024",
                    s->seq < 0 ? "seq" : "seq_kv");
    TRY(mqa_window_check(s));
    *out = (problem){.seed = seed};
    memcpy(out->shape, s, sizeof *s);
    add_buffers(out, s);
    return CDNAGEN_OK;
}

static cdnagen_status make(const plan *p, uint64_t seed, problem *out) {
    mqa_shape s;
    problem data = {0};
    TRY(start(p, seed, &data, &s));
    cdnagen_status status = give_data(&data, MQA_Q, MQA_LOGITS);
    if (!status) status = fill(p, &data, &s);
    if (status)
        problem_release(&data);
    else
        *out = data;
    return status;
}

/* Windows are all that decides where a kernel goes. */
static cdnagen_status make_modelled(const plan *p, problem *out) {
    mqa_shape s;
    problem data = {0};
    TRY(start(p, 0, &data, &s));
    const cdnagen_status status = give_data(&data, MQA_CU_STARTS, MQA_CU_ENDS);
    if (status) return problem_release(&data), status;
    fill_windows(&data, &s);
    *out = data;
    return CDNAGEN_OK;
}

/* reduce: rows that fit, in windows cut as the whole launch cuts them. */
static cdnagen_status reduce(const plan *p, const uint32_t grid[3], int64_t bytes_most, plan *out, int *reduced) {
    mqa_shape s;
    mqa_variant v;
    memcpy(&s, p->shape, sizeof s);
    memcpy(&v, p->variant, sizeof v);
    const int64_t row_bytes = s.heads * s.dim + s.heads * (int64_t)weight_bytes(&s) +
                              mqa_workload_strides(&s).logits * (int64_t)sizeof(float);
    const int64_t rows = bytes_most / row_bytes;
    *out = *p;
    *reduced = 0;
    if (s.seq <= rows) return CDNAGEN_OK;
    s.seq = rows > MQA_ROWS_MAX ? rows / MQA_ROWS_MAX * MQA_ROWS_MAX : MQA_ROWS_MAX;
    v.splits = grid[1];
    *reduced = 1;
    return plan_from_structs(p->family, &v, &s, &p->target, out);
}

mqa_operands mqa_workload_operands(const plan *p, const problem *data) {
    mqa_shape s;
    memcpy(&s, data->shape, sizeof s);
    return (mqa_operands){.seq = s.seq,
                          .seq_kv = s.seq_kv,
                          .heads = s.heads,
                          .dim = s.dim,
                          .q_fp8 = chip_fp8(p->target.chip, s.q_fp8),
                          .kv_fp8 = chip_fp8(p->target.chip, s.kv_fp8),
                          .weights_type = (cdnagen_weights)s.weights,
                          .strides = mqa_workload_strides(&s),
                          .q = data->buffers[MQA_Q].data,
                          .kv = data->buffers[MQA_KV].data,
                          .kv_scales = data->buffers[MQA_KV_SCALES].data,
                          .weights = data->buffers[MQA_WEIGHTS].data,
                          .cu_starts = data->buffers[MQA_CU_STARTS].data,
                          .cu_ends = data->buffers[MQA_CU_ENDS].data};
}

static cdnagen_status reference(const plan *p, problem *data) {
    mqa_shape s;
    memcpy(&s, data->shape, sizeof s);
    const mqa_operands in = mqa_workload_operands(p, data);
    mem_free(data->reference);
    data->reference = mem_alloc((size_t)s.seq * (size_t)s.seq_kv * sizeof(float) + sizeof(float));
    return data->reference ? mqa_reference_logits(&in, data->reference) : fail_no_memory();
}

static void arguments(const plan *p, const problem *data, void *const *device, void *args) {
    (void)p;
    mqa_shape s;
    memcpy(&s, data->shape, sizeof s);
    cdnagen_buffer b[BUFFER_COUNT];
    for (int i = 0; i < BUFFER_COUNT; i++) b[i] = (cdnagen_buffer){device[i], data->buffers[i].bytes};
    b[MQA_LOGITS] = (cdnagen_buffer){(char *)device[MQA_LOGITS] + GUARD_BYTES, logits_bytes(&s)};
    cdnagen_mqa_logits_args a = {.size = sizeof a,
                                 .q = b[MQA_Q],
                                 .kv = b[MQA_KV],
                                 .kv_scales = b[MQA_KV_SCALES],
                                 .weights = b[MQA_WEIGHTS],
                                 .cu_starts = b[MQA_CU_STARTS],
                                 .cu_ends = b[MQA_CU_ENDS],
                                 .logits = b[MQA_LOGITS],
                                 .seq = s.seq,
                                 .seq_kv = s.seq_kv};
    if (s.strided) {
        const mqa_strides to = mqa_workload_strides(&s);
        a.q_stride = to.q, a.q_head_stride = to.q_head, a.kv_stride = to.kv;
        a.weights_stride = to.weights, a.logits_stride = to.logits;
    }
    memcpy(args, &a, sizeof a);
}

/* guard_intact: GUARD_BYTES of poison at `at`. */
static int guard_intact(const char *at) {
    const uint32_t poison = POISON;
    for (size_t i = 0; i < GUARD_BYTES; i += sizeof poison)
        if (memcmp(at + i, &poison, sizeof poison)) return 0;
    return 1;
}

static cdnagen_status grade_outputs(const plan *p, const problem *data, void *const *back, grade *out) {
    (void)p;
    mqa_shape s;
    memcpy(&s, data->shape, sizeof s);
    const char *const logits = back[MQA_LOGITS];
    if (!data->reference || !logits)
        return fail(CDNAGEN_BAD_ARGUMENT, "mqa_logits: grading needs the reference and the logits buffer");
    grade g;
    mqa_grade_logits(&s, data->reference, (const float *)(logits + GUARD_BYTES), mqa_workload_strides(&s).logits,
                     POISON, &g);
    const int before = guard_intact(logits), after = guard_intact(logits + GUARD_BYTES + logits_bytes(&s));
    if (!before || !after) {
        g.guards_intact = g.pass = 0;
        snprintf(g.first, sizeof g.first, "%s the logits: %d guard bytes must not be written",
                 before ? "behind" : "before", GUARD_BYTES);
    }
    *out = g;
    return CDNAGEN_OK;
}

const workload mqa_workload = {.make = make,
                               .reference = reference,
                               .arguments = arguments,
                               .grade_outputs = grade_outputs,
                               .make_modelled = make_modelled,
                               .reduce = reduce};
