/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Typed arguments -> a checked launch. */
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "core/integer.h"
#include "gen/arguments.h"
#include "gen/mqa_logits/mqa_logits.h"

static const char op[] = "mqa_logits";

void mqa_grid(const plan *p, const device_facts *facts, uint32_t grid[3]) {
    const mqa_shape *const s = (const mqa_shape *)p->shape;
    memset(grid, 0, 3 * sizeof grid[0]);
    if (s->seq <= 0 || s->seq_kv <= 0) return;
    const mqa_geometry g = mqa_geometry_of((const mqa_variant *)p->variant, s, p->target.chip);
    const int64_t workgroups = ceil_div(s->seq, g.workgroup_rows);
    grid[0] = (uint32_t)workgroups;
    grid[1] = (uint32_t)mqa_splits(p, facts, 0, workgroups, s->seq_kv);
    grid[2] = 1;
}

/* check_reserved: the place of a later field, which programs of today leave 0. */
static cdnagen_status check_reserved(const char *name, int32_t reserved) {
    if (!reserved) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT, "mqa_logits: %s.reserved is %d; this version has no use for it: leave it 0", name,
                reserved);
}

/* stride: what the arguments say and what it must be. */
typedef struct stride {
    const char *name;
    int64_t given, contiguous; /* elements; 0 stands for contiguous */
    int64_t count;             /* rows or heads; with one of them no stride is looked at */
    int64_t least;             /* elements that must fit between two */
    int element_bytes, alignment;
    int64_t span; /* rows or heads that one descriptor spans, 0: it does not matter */
} stride;

static cdnagen_status check_stride(const stride *s, int64_t *out) {
    *out = s->given && s->count > 1 ? s->given : s->contiguous;
    if (s->count <= 1) return CDNAGEN_OK;
    if (*out < s->least)
        return fail(CDNAGEN_BAD_ARGUMENT, "mqa_logits: %s %" PRId64 " is less than the %" PRId64 " elements of %s",
                    s->name, *out, s->least, strstr(s->name, "head") ? "a head" : "a row");
    if (*out % (s->alignment / s->element_bytes))
        return fail(CDNAGEN_BAD_ARGUMENT,
                    "mqa_logits: %s %" PRId64 " is not a multiple of %d elements; each must be aligned to %d bytes",
                    s->name, *out, s->alignment / s->element_bytes, s->alignment);
    const int64_t most = s->span > 1 ? (MQA_EXTENT_MAX - s->least) / (s->span - 1) : INT64_MAX;
    if (*out > most)
        return fail(CDNAGEN_LIMIT,
                    "mqa_logits: %s %" PRId64 " puts the %" PRId64
                    " that this kernel addresses together more than 4 GiB apart; it may be %" PRId64,
                    s->name, *out, s->span, most / s->alignment * s->alignment);
    return CDNAGEN_OK;
}

/* check_inner: elements of a row must follow each other. */
static cdnagen_status check_inner(const char *name, int64_t inner) {
    if (inner == 0 || inner == 1) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT,
                "mqa_logits: %s_inner_stride %" PRId64
                ": a row's elements must follow each other, that is 1, or 0 which stands for it",
                name, inner);
}

static int weight_bytes(const mqa_shape *s) { return s->weights == CDNAGEN_WEIGHTS_BF16 ? 2 : 4; }
/* Pairs of bf16 are loaded as words where the head count is even. */
static int weight_alignment(const mqa_shape *s) { return s->heads % 2 ? weight_bytes(s) : 4; }

static cdnagen_status check_strides(const plan *p, const cdnagen_mqa_logits_args *a, mqa_strides *out) {
    const mqa_shape *const s = (const mqa_shape *)p->shape;
    const mqa_variant *const v = (const mqa_variant *)p->variant;
    TRY(check_inner("q", a->q_inner_stride));
    TRY(check_inner("kv", a->kv_inner_stride));
    TRY(check_inner("weights", a->weights_inner_stride));
    TRY(check_inner("logits", a->logits_inner_stride));
    const stride head = {"q_head_stride", a->q_head_stride, s->dim, s->heads, s->dim, 1, 16, TRIPLE_M(v->atom)};
    TRY(check_stride(&head, &out->q_head));
    const int64_t q_row = s->heads * out->q_head;
    /* Heads may lie further apart than rows: a row is then no longer than a head. */
    const int64_t q_least = out->q_head > a->q_stride && a->q_stride ? s->dim : (s->heads - 1) * out->q_head + s->dim;
    const stride q = {"q_stride", a->q_stride, q_row, a->seq, q_least, 1, 16, 0},
                 kv = {"kv_stride", a->kv_stride, s->dim, a->seq_kv, s->dim, 1, 16, v->bkv},
                 weights = {"weights_stride", a->weights_stride,   s->heads, a->seq, s->heads,
                            weight_bytes(s),  weight_alignment(s), 0},
                 logits = {"logits_stride", a->logits_stride, mqa_logits_stride(a->seq_kv), a->seq, a->seq_kv, 4, 4, 0};
    TRY(check_stride(&q, &out->q));
    TRY(check_stride(&kv, &out->kv));
    TRY(check_stride(&weights, &out->weights));
    return check_stride(&logits, &out->logits);
}

/* What a launch says when it cannot know how many of its workgroups a compute unit holds. */
static const char guessed[] =
    "mqa_logits: the occupancy is not known: windows are cut for 4 workgroups a compute unit, whatever suits them";

cdnagen_status mqa_bind(const plan *p, const device_facts *facts, const void *args, launch *out) {
    const mqa_shape *const s = (const mqa_shape *)p->shape;
    const cdnagen_mqa_logits_args *const a = args;
    if (!a) return fail(CDNAGEN_BAD_ARGUMENT, "mqa_logits: args is NULL");
    TRY(check_reserved("args", a->reserved));
    TRY(argument_length(op, "seq", a->seq, INT32_MAX));
    TRY(argument_length(op, "seq_kv", a->seq_kv, MQA_SEQ_KV_MAX));
    if (a->num_splits < 0 || a->num_splits > MQA_SPLITS_MAX)
        return fail(CDNAGEN_BAD_ARGUMENT, "mqa_logits: num_splits %d must be 0 (decided here) to %d", a->num_splits,
                    MQA_SPLITS_MAX);
    launch l = {.kernarg_bytes = p->kernarg_bytes};
    if (a->seq == 0 || a->seq_kv == 0) {
        l.skip = 1;
        *out = l;
        return CDNAGEN_OK;
    }

    mqa_strides to;
    TRY(check_strides(p, a, &to));
    /* 64 bits hold it: check_strides has kept the heads of an MFMA within 4 GiB. */
    const int64_t q_row = (int64_t)argument_bytes(s->heads, to.q_head, s->dim, 1);
    const argument arguments[] = {
        {"q", a->q, argument_bytes(a->seq, to.q, q_row, 1), 16, 0},
        {"kv", a->kv, argument_bytes(a->seq_kv, to.kv, s->dim, 1), 16, 0},
        {"kv_scales", a->kv_scales, argument_bytes(1, 0, a->seq_kv, 4), 4, 0},
        {"weights", a->weights, argument_bytes(a->seq, to.weights, s->heads, weight_bytes(s)),
         (unsigned)weight_alignment(s), 0},
        {"cu_starts", a->cu_starts, argument_bytes(1, 0, a->seq, 4), 4, 0},
        {"cu_ends", a->cu_ends, argument_bytes(1, 0, a->seq, 4), 4, 0},
        {"logits", a->logits, argument_bytes(a->seq, to.logits, a->seq_kv, 4), 4, 1},
    };
    TRY(arguments_check(op, arguments, MQA_LOGITS + 1));
    arguments_put(&l, p, arguments, MQA_LOGITS + 1);

    const mqa_geometry g = mqa_geometry_of((const mqa_variant *)p->variant, s, p->target.chip);
    const int64_t workgroups = ceil_div(a->seq, g.workgroup_rows);
    TRY(check_workgroups(op, p, workgroups, "take a tag with more rows a workgroup"));
    const int splits = mqa_splits(p, facts, a->num_splits, workgroups, a->seq_kv);
    if (mqa_splits_are_guessed(p, facts, a->num_splits)) l.note = guessed;
    memcpy(l.grid, (const uint32_t[]){(uint32_t)workgroups, (uint32_t)splits, 1}, sizeof l.grid);

    argument_put(&l, p, MQA_Q_STRIDE, to.q);
    argument_put(&l, p, MQA_Q_HEAD_STRIDE, to.q_head);
    argument_put(&l, p, MQA_KV_STRIDE, to.kv);
    argument_put(&l, p, MQA_WEIGHTS_STRIDE, to.weights);
    argument_put(&l, p, MQA_LOGITS_STRIDE, to.logits);
    argument_put(&l, p, MQA_SEQ, (int32_t)a->seq);
    argument_put(&l, p, MQA_SEQ_KV, (int32_t)a->seq_kv);
    argument_put(&l, p, MQA_NUM_SPLITS, splits);
    *out = l;
    return CDNAGEN_OK;
}

cdnagen_status mqa_shape_from_public(const void *public_shape, void *shape) {
    const cdnagen_mqa_logits_shape *const p = public_shape;
    if (!p) return fail(CDNAGEN_BAD_ARGUMENT, "mqa_logits: shape is NULL");
    if (p->seq < 0 || p->seq_kv < 0)
        return fail(CDNAGEN_BAD_SHAPE,
                    "mqa_logits shape: seq=%" PRId64 " seq_kv=%" PRId64
                    " must not be negative; 0 stands for not known yet",
                    p->seq, p->seq_kv);
    const mqa_shape s = {.seq = p->seq ? p->seq : -1,
                         .seq_kv = p->seq_kv ? p->seq_kv : -1,
                         .heads = p->heads,
                         .dim = p->dim,
                         .clean = p->clean,
                         .q_fp8 = p->q_fp8,
                         .kv_fp8 = p->kv_fp8,
                         .weights = p->weights,
                         .batch = 2};
    TRY(fields_check(&mqa_logits_family.shape, &s));
    memcpy(shape, &s, sizeof s);
    return CDNAGEN_OK;
}
