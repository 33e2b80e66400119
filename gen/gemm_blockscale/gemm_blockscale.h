/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* FP8 block-scale GEMM: what table, plan, emit and reference share. */
#ifndef GEN_GEMM_BLOCKSCALE_H
#define GEN_GEMM_BLOCKSCALE_H

#include "gen/family.h"
#include "gen/gemm/gemm.h"
#include "gen/gemm/grade.h"
#include "gen/gemm/lengths.h"
#include "gen/gemm/pack.h"
#include "gen/gemm/raster.h"
#include "gen/gemm/tiling.h"

/* blockscale_variant: the tag's fields, e.g. mfma16x16x128_t64x256x128_4w_panel8_cs_async_wpe2. */
typedef struct blockscale_variant {
    int64_t atom;     /* TRIPLE(m, n, k) */
    int64_t tile;     /* TRIPLE(bm, bn, bk); bk is a multiple of 128 */
    int64_t core;     /* gemm_core, spelled 4w, 8w */
    int64_t waves_m;  /* wm: waves along M; 0 = the core's own (4w: 1, 8w: 2); canonical text has other values only */
    int64_t sched;    /* gemm_sched, spelled inline (left out), delayed, cluster */
    int64_t fold;     /* fold<f>: promote after every f MFMA; 0 = not */
    int64_t fused;    /* promote each atom three MFMA after its own */
    int64_t group;    /* group<G>: raster, G tile rows together; 0 = not */
    int64_t panel;    /* panel<G>: raster, G tile columns together; 0 = not. Neither: raw */
    int64_t xcd;      /* XCD chunk: consecutive tiles on one XCD */
    int64_t cshuffle; /* cs: stores through LDS */
    int64_t async;    /* A (and plain B) by LDS DMA */
    int64_t split_k;  /* sk<S>: parts of K; 0 = 1 */
    int64_t persist;  /* pers: workgroups walk over tiles */
    int64_t unroll;   /* unroll<T>: K is exactly T tiles, straight-line code; for tests */
    int64_t ablation; /* x<word>: gemm_ablation */
    int64_t wpe;      /* waves_per_eu asked; 0 = the operator's default */
} blockscale_variant;

typedef enum gemm_data { GEMM_RANDOM = 0, GEMM_EXACT = 1 } gemm_data;

/* blockscale_shape: the shape's words. m, n, k are run-time; a kernel knows only the tail classes of n and k. */
typedef struct blockscale_shape {
    int64_t m, n, k;        /* -1 = not given */
    int64_t k_tail, n_tail; /* specialised: 1 = K (N) need not be a whole number of tiles; -1 = follows from k (n), 1 if
                               that is not given. A kernel of class 1 serves every length, of class 0 whole tiles */
    int64_t a_fp8, b_fp8;   /* cdnagen_fp8 */
    int64_t b;              /* gemm_b_layout */
    int64_t a_scales;       /* gemm_scale_layout of A's scales */
    int64_t scale_m, scale_n; /* rows of A (columns of B) that share a scale: 1 or 128 */
    int64_t scales;           /* gemm_scale_type of both */
    int64_t out;              /* gemm_out */
    int64_t data;             /* workload word, gemm_data */
    int64_t pad;              /* workload word: rows are further apart by so many times 16 elements */
} blockscale_shape;

gemm_tiling blockscale_tiling_of(const blockscale_variant *v, const blockscale_shape *s);
static inline gemm_geometry blockscale_geometry_of(const blockscale_variant *v, const blockscale_shape *s) {
    const gemm_tiling t = blockscale_tiling_of(v, s);
    return gemm_geometry_of(&t);
}

static inline gemm_class blockscale_class_of(const blockscale_variant *v, const blockscale_shape *s) {
    return (gemm_class){blockscale_geometry_of(v, s), s->n_tail, s->k_tail, v->unroll};
}

/* blockscale_promotes: sums of a scale block are scaled in software; else by the MFMA, whose sums run through all of
 * K. */
int blockscale_promotes(const blockscale_variant *v, const blockscale_shape *s);

/* Launch: workgroups (x, y). x: a tile by the raster map, of tiles_m * tiles_n; with pers fewer, each taking tiles x,
 * x + grid x, ... y: the part of K, K tiles [y * share, (y + 1) * share) with share = ceil(K tiles / split_k). */
typedef struct blockscale_tiles {
    int64_t tiles_m, tiles_n, count; /* count = tiles_m * tiles_n */
} blockscale_tiles;
blockscale_tiles blockscale_tiles_of(const blockscale_variant *v, int64_t m, int64_t n);

/* blockscale_raster_grid: the grid of a launch, of one part of K, for the model of L2. */
raster_grid blockscale_raster_grid(const chip *c, const blockscale_variant *v, int64_t m, int64_t n, int64_t k);

/* Workspace of split-K: of gemm_workspace_bytes, a tile row-major in its row and column. */
uint64_t blockscale_workspace_bytes(const blockscale_variant *v, int64_t m, int64_t n);

/* Kernel arguments, in order. Strides: A, B, C in elements from row to row; scales in elements from row to row of the
 * matrix as it is stored (row-major [M, SK]: row to row; K-major [SK, M]: one K block to the next). */
typedef enum blockscale_kernarg {
    BLOCKSCALE_A,
    BLOCKSCALE_B,
    BLOCKSCALE_A_SCALES,
    BLOCKSCALE_B_SCALES,
    BLOCKSCALE_C,
    BLOCKSCALE_WORKSPACE, /* pointers, 0..40; workspace: split-K only */
    BLOCKSCALE_A_STRIDE,
    BLOCKSCALE_B_STRIDE, /* plain B only */
    BLOCKSCALE_A_SCALES_STRIDE,
    BLOCKSCALE_B_SCALES_STRIDE,
    BLOCKSCALE_C_STRIDE, /* i64, 48..80 */
    BLOCKSCALE_M,
    BLOCKSCALE_N,
    BLOCKSCALE_K,
    BLOCKSCALE_WORKGROUPS, /* i32, 88..100; workgroups: those of a row of the grid, pers only */
    BLOCKSCALE_KERNARG_COUNT
} blockscale_kernarg;

/* blockscale_complete: tail classes that the words leave out, from k and n.
 * blockscale_check: every limit of variant, shape and chip.
 * errors: BAD_TAG (fields that contradict each other), BAD_SHAPE, LIMIT with needed and allowed value */
void blockscale_complete(const void *variant, void *shape);
cdnagen_status blockscale_check(const target *t, const void *variant, const void *shape);

/* blockscale_route: the rank-th variant that `auto` means.
 * errors: BAD_SHAPE (m, n or k is missing), LIMIT, saying what each one left lacked */
cdnagen_status blockscale_route(const target *t, const void *shape, int rank, void *variant);

/* blockscale_make_plan, blockscale_grid, blockscale_bind, blockscale_shape_from_public: as the family's in
 * gen/family.h. */
cdnagen_status blockscale_make_plan(plan *p);
void blockscale_grid(const plan *p, const device_facts *facts, uint32_t grid[3]);
cdnagen_status blockscale_bind(const plan *p, const device_facts *facts, const void *args, launch *out);
cdnagen_status blockscale_shape_from_public(const void *public_shape, void *shape);

/* blockscale_operands: a whole problem in host memory. Strides in elements, as in the public arguments.
 * blockscale_reference: the operator in plain C: f32 sums of a scale block, then one f32 sum over the blocks.
 * shapes: c [m, n] f32, contiguous, not rounded to the type of C
 * errors: NO_MEMORY   source: README.md of this folder */
typedef struct blockscale_operands {
    int64_t m, n, k;
    fp8_kind a_fp8, b_fp8; /* FN or FNUZ */
    gemm_b_layout b_layout;
    gemm_scale_layout a_scale_layout;
    gemm_scale_type scale_type;
    int64_t scale_m, scale_n;
    const uint8_t *a, *b;
    const void *a_scales, *b_scales;
    int64_t a_stride, b_stride, a_scales_stride, b_scales_stride;
} blockscale_operands;
cdnagen_status blockscale_reference(const blockscale_operands *in, float *c);

/* blockscale_scale: scale of row `index` and K block `block`, as f32. `along_k` is how many elements one K block is
 * from the next, `along` one row from the next. */
float blockscale_scale(gemm_scale_type type, const void *scales, int64_t index, int64_t along, int64_t block,
                       int64_t along_k);

extern const workload blockscale_workload;
extern const tuning blockscale_tuning;
extern const diagnosis blockscale_diagnosis;
extern const family gemm_blockscale_family;

#endif
