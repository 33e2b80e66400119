/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* FP8 MQA logits: what table, plan, emit and reference share. */
#ifndef GEN_MQA_LOGITS_H
#define GEN_MQA_LOGITS_H

#include "core/integer.h"
#include "gen/family.h"

/* mqa_variant: the tag's fields. All int64_t: core/field.h fills them. */
typedef struct mqa_variant {
    int64_t atom;     /* TRIPLE(m, n, k): m heads, n KV columns, k of the head dimension */
    int64_t bkv;      /* KV columns a tile */
    int64_t rows;     /* r: query rows a workgroup (direct) or a wave (lds) */
    int64_t waves;    /* w: waves a workgroup */
    int64_t slots;    /* lds: LDS slots; 0 = direct loads */
    int64_t prefetch; /* pd: tiles in flight */
    int64_t swp, rs, ls, ts, dg;
    int64_t ct;       /* the software pipeline runs on from tile to tile */
    int64_t head_acc; /* h: 0 add, 1 fma, 2 fma2 */
    int64_t wpe;      /* waves_per_eu asked; 0 = the operator's default */
    int64_t splits;   /* ns: host field; 0 = the host's policy */
} mqa_variant;

typedef enum mqa_head_acc { MQA_ADD = 0, MQA_FMA = 1, MQA_FMA2 = 2 } mqa_head_acc;
typedef enum mqa_window {
    WINDOW_CAUSAL,
    WINDOW_CP,
    WINDOW_MISALIGNED,
    WINDOW_EMPTY,
    WINDOW_PAST_END,
    WINDOW_BATCH_CAUSAL,
    WINDOW_UNSORTED
} mqa_window;

/* mqa_shape: the shape's words. */
typedef struct mqa_shape {
    int64_t seq, seq_kv; /* run-time; -1 = not given */
    int64_t heads, dim, clean;
    int64_t q_fp8, kv_fp8; /* cdnagen_fp8 */
    int64_t weights;       /* cdnagen_weights */
    int64_t window;        /* workload word, mqa_window */
    int64_t batch;         /* workload word: sequences packed into a batch_causal problem */
    int64_t strided;       /* workload word: operands lie in wider rows, in the order heads, rows */
} mqa_shape;

/* mqa_geometry: what follows from a variant and a shape; one function computes it for check, plan, emit and tests. */
typedef struct mqa_geometry {
    int m, n, k;                   /* atom */
    int m_tiles, n_tiles, k_steps; /* heads and dim rounded up to whole MFMAs */
    int item_tiles;                /* m-tiles whose products wait in registers for their head sum; divides m_tiles */
    int row_bytes;                 /* k_steps * k: a row of Q or KV with its zeros */
    int acc;                       /* f32 results a lane and atom: m*n/64 */
    int fragment_bytes;            /* per lane and operand of one atom */
    int workgroup_rows;            /* query rows a workgroup: r (direct), r*w (lds) */
    int slot_kv_bytes;             /* bkv * row_bytes */
    int slot_bytes;                /* plus staged scales */
    int lds_bytes;                 /* slots * slot_bytes */
    int kv_dmas, scale_dmas;       /* LDS DMA instructions a wave issues a tile */
    int dma_sources;               /* of kv_dmas, those with a source address that is not another's plus whole rows */
    int group;                     /* n-tiles reduced together: 64/n with rs, direct as many of those as a wave owns */
    int q_from_fn, kv_from_fn;     /* operands are E4M3FN, the chip's matrix unit reads E4M3FNUZ */
    int swizzle_bits, swizzle_shift; /* phys = p ^ (((p >> (5+shift)) & ((1<<bits)-1)) << 5) */
    int swizzle_period;              /* bytes */
} mqa_geometry;
mqa_geometry mqa_geometry_of(const mqa_variant *v, const mqa_shape *s, const chip *c);

/* mqa_swizzle: physical byte in the slot of logical byte p; its own inverse. */
static inline uint32_t mqa_swizzle(const mqa_geometry *g, uint32_t p) {
    return p ^ (((p >> (5 + g->swizzle_shift)) & ((1u << g->swizzle_bits) - 1)) << 5);
}

/* Kernel arguments, in order; offsets in bytes. Strides are elements from one row to the next. */
typedef enum mqa_kernarg {
    MQA_Q,
    MQA_KV,
    MQA_KV_SCALES,
    MQA_WEIGHTS,
    MQA_CU_STARTS,
    MQA_CU_ENDS,
    MQA_LOGITS, /* pointers, 0..48 */
    MQA_Q_STRIDE,
    MQA_Q_HEAD_STRIDE,
    MQA_KV_STRIDE,
    MQA_WEIGHTS_STRIDE,
    MQA_LOGITS_STRIDE, /* i64, 56..88 */
    MQA_SEQ,
    MQA_SEQ_KV,
    MQA_NUM_SPLITS, /* i32, 96..104 */
    MQA_KERNARG_COUNT
} mqa_kernarg;

/* mqa_check_shape: dim is a multiple of 16, and the chip can read the operands.   errors: LIMIT
 * mqa_check: that, and every limit of variant, shape and chip.
 * errors: BAD_TAG (fields that contradict each other), LIMIT with needed and allowed value */
cdnagen_status mqa_check_shape(const target *t, const mqa_shape *s);
cdnagen_status mqa_check(const target *t, const void *variant, const void *shape);

/* mqa_route: the rank-th variant that `auto` means.   errors: LIMIT, saying what each one left lacked */
cdnagen_status mqa_route(const target *t, const void *shape, int rank, void *variant);

/* mqa_make_plan, mqa_bind, mqa_shape_from_public: as the family's in gen/family.h. */
cdnagen_status mqa_make_plan(plan *p);
cdnagen_status mqa_bind(const plan *p, const device_facts *facts, const void *args, launch *out);
cdnagen_status mqa_shape_from_public(const void *public_shape, void *shape);

enum {
    MQA_ROWS_MAX = 8,         /* query rows that a wave holds */
    MQA_SEQ_KV_MAX = 1 << 29, /* byte offsets within a row of logits are 32 bits */
    MQA_SPLITS_MAX = 65535,   /* grid.y of a launch */
    MQA_LOGITS_PADDING = 256  /* columns that a default row stride is rounded up to */
};

/* Bytes that a descriptor of KV's tile or of some heads of Q may span: short of 2^32, so that there are offsets
 * beyond. */
#define MQA_EXTENT_MAX 0xfffff000u

/* mqa_split_count: parts that each window is cut into where neither the tag nor the caller says.
 * shapes: grid_x workgroups of rows, seq_kv columns in tiles of bkv
 * units:  cus of the device; workgroups_per_cu that fit, 0 = unknown
 * source: README.md of this folder, "Splits" */
int mqa_split_count(const chip *c, int64_t grid_x, int64_t seq_kv, int64_t bkv, int cus, uint32_t workgroups_per_cu);

/* mqa_splits: what the caller asks for, else the tag, else mqa_split_count for the device; facts may be NULL.
 * mqa_splits_are_guessed: 1 if the last, without knowing the occupancy. */
int mqa_splits(const plan *p, const device_facts *facts, int asked, int64_t grid_x, int64_t seq_kv);
int mqa_splits_are_guessed(const plan *p, const device_facts *facts, int asked);

/* mqa_grid: workgroups of a launch of the plan's own seq and seq_kv; zeros where there is nothing to do. */
void mqa_grid(const plan *p, const device_facts *facts, uint32_t grid[3]);

/* mqa_logits_stride: columns from one row of logits to the next where the caller does not say. */
static inline int64_t mqa_logits_stride(int64_t seq_kv) { return round_up(seq_kv, MQA_LOGITS_PADDING); }

/* mqa_window_check, mqa_window_row: the workload's windows; row r sees columns [*start, *end) of [0, seq_kv).
 * errors: BAD_SHAPE where this window kind is not defined for the lengths */
cdnagen_status mqa_window_check(const mqa_shape *s);
void mqa_window_row(const mqa_shape *s, int64_t r, int32_t *start, int32_t *end);
/* mqa_window_columns: of all rows, those that exist. */
int64_t mqa_window_columns(const mqa_shape *s);

/* mqa_strides: elements from one row, or head of Q, to the next. */
typedef struct mqa_strides {
    int64_t q, q_head, kv, weights, logits;
} mqa_strides;

/* mqa_reference_logits: the operator in plain C, f32 sums, -inf outside the windows.
 * shapes: q [seq, heads, dim] and kv [seq_kv, dim] bytes of the kinds given (FN or FNUZ), kv_scales [seq_kv],
 *         weights [seq, heads] f32 or bf16, cu_starts and cu_ends [seq]; logits [seq, seq_kv] contiguous
 * errors: NO_MEMORY   source: README.md of this folder */
typedef struct mqa_operands {
    int64_t seq, seq_kv, heads, dim;
    fp8_kind q_fp8, kv_fp8;
    cdnagen_weights weights_type;
    mqa_strides strides; /* of q, kv and weights */
    const uint8_t *q, *kv;
    const float *kv_scales;
    const void *weights;
    const int32_t *cu_starts, *cu_ends;
} mqa_operands;
cdnagen_status mqa_reference_logits(const mqa_operands *in, float *logits);

/* mqa_grade_logits: the three grading rules. clean 0: places outside a window must still hold `poison`.
 * shapes: reference [seq, seq_kv] contiguous; out rows `stride` apart, columns [seq_kv, stride) must hold poison */
void mqa_grade_logits(const mqa_shape *s, const float *reference, const float *out, int64_t stride, uint32_t poison,
                      grade *result);

extern const workload mqa_workload;
extern const tuning mqa_tuning;
extern const diagnosis mqa_diagnosis;

/* mqa_workload_operands: what a problem of the workload holds; mqa_workload_strides: how it lies in its buffers.
 * owner: the problem's */
mqa_operands mqa_workload_operands(const plan *p, const problem *data);
mqa_strides mqa_workload_strides(const mqa_shape *s);
extern const family mqa_logits_family;

#endif
