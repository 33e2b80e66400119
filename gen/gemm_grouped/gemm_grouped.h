/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* FP8 grouped GEMM: what table, plan, emit and reference share. */
#ifndef GEN_GEMM_GROUPED_H
#define GEN_GEMM_GROUPED_H

#include "core/field.h"
#include "gen/family.h"
#include "gen/gemm/gemm.h"
#include "gen/gemm/grade.h"
#include "gen/gemm/lengths.h"
#include "gen/gemm/pack.h"
#include "gen/gemm/tiling.h"

/* grouped_variant: the tag's fields, e.g. mfma16x16x128_t128x128x128_cs_async_wpe2. The core is gen/gemm's of 4
 * waves. */
typedef struct grouped_variant {
    int64_t atom;     /* TRIPLE(m, n, k) */
    int64_t tile;     /* TRIPLE(bm, bn, bk); bk is 128 or 256 */
    int64_t waves_m;  /* wm: waves along M; 0 = 1 */
    int64_t group;    /* group<G>: raster, G tile rows together; 0 = row after row */
    int64_t cshuffle; /* cs: stores through LDS */
    int64_t async;    /* A (and plain B) by LDS DMA */
    int64_t split_k;  /* sk<S>: parts of each group's K; 0 = 1 */
    int64_t unroll;   /* unroll<T>: K is exactly T tiles, straight-line code */
    int64_t ablation; /* x<word>: gemm_ablation */
    int64_t wpe;      /* waves_per_eu asked; 0 = none */
} grouped_variant;

typedef enum grouped_layout {
    GROUPED_SIZES,     /* groups own rows of A and C, given by their counts */
    GROUPED_OFFSETS,   /* the same, given by where each ends */
    GROUPED_PADDED,    /* every group has a slab of m rows, of which the first extents[g] take part */
    GROUPED_BATCHED,   /* every group has a slab, all rows of which take part */
    GROUPED_N_OFFSETS, /* slabs of A; groups own rows of B and columns of C, given by where each ends */
    GROUPED_K_OFFSETS, /* groups own a part of K, given by where it ends; slabs of C */
    GROUPED_LAYOUTS
} grouped_layout;

typedef enum grouped_cut { GROUPED_CUTS_NOTHING, GROUPED_CUTS_ROWS, GROUPED_CUTS_COLUMNS, GROUPED_CUTS_K } grouped_cut;

/* grouped_traits: a layout as a row of a table. */
typedef struct grouped_traits {
    const char *name;
    int a_slabs, b_slabs, c_slabs; /* 1: one matrix for each group, 0: one for all of them */
    grouped_cut cuts;              /* what the groups cut between them; its word (m, n, k) is the total */
    int extent_bytes;              /* of an entry: 4 or 8; of the 8 the kernel reads the low 4. 0: there are none */
} grouped_traits;
extern const grouped_traits grouped_layouts[GROUPED_LAYOUTS];

typedef enum grouped_scale { GROUPED_SCALE_ROW = 0, GROUPED_SCALE_BLOCK = 1 } grouped_scale;
typedef enum grouped_empty_k { GROUPED_EMPTY_K_ZERO = 0, GROUPED_EMPTY_K_LEAVE = 1 } grouped_empty_k;

/* grouped_data: what a run computes with. Whatever no group has is NaN. */
typedef enum grouped_data {
    GROUPED_RANDOM,   /* normal, over the whole range of the type; another scale for every row or block */
    GROUPED_EXACT,    /* small integers, scales that are powers of two: no sum is rounded */
    GROUPED_COHERENT, /* random, but in every second group all of A and B is 1: what is read past a group's end in any
                         direction adds up */
    GROUPED_BENCHMARK /* normal of width 0.1 (A) and 0.01 (B), each row quantised by its largest value; scale=row */
} grouped_data;

enum {
    GROUPED_GROUPS_MAX = 65535, /* workgroups of a launch along z */
    GROUPED_K_ALIGN = 16,       /* elements: K, and each group's part of it */
    GROUPED_N_ALIGN = 8,        /* elements: N, and each group's columns */
    GROUPED_QUAD = 4            /* columns of C that are stored at once, from the group's first on */
};

/* grouped_shape: the shape's words. groups, m, n, k are run-time; a kernel knows only the tail classes of n and k. */
typedef struct grouped_shape {
    int64_t layout;         /* grouped_layout */
    int64_t groups;         /* -1 = not given, as are m, n, k */
    int64_t m;              /* all groups' rows (sizes, offsets), else rows of a slab */
    int64_t n;              /* columns of a group, but all groups' of n_offsets */
    int64_t k;              /* of a group, but all of K of k_offsets */
    int64_t k_tail, n_tail; /* specialised: 1 = K (N) need not be a whole number of tiles; -1 = follows from layout, b,
                                scale, k (n). A kernel of class 1 serves every length, of class 0 whole tiles only */
    int64_t scale;          /* grouped_scale */
    int64_t b;              /* gemm_b_layout */
    int64_t empty_k;        /* grouped_empty_k: C of a group without K; k_offsets only */
    int64_t a_fp8, b_fp8;   /* cdnagen_fp8 */
    int64_t out;            /* gemm_out */
    int64_t data;           /* workload word, grouped_data */
    int64_t extent_count;   /* workload word: the groups' rows, columns or K; 0 = made up */
    int32_t extents[FIELD_LIST_MAX];
} grouped_shape;

gemm_tiling grouped_tiling_of(const grouped_variant *v, const grouped_shape *s);
static inline gemm_geometry grouped_geometry_of(const grouped_variant *v, const grouped_shape *s) {
    const gemm_tiling t = grouped_tiling_of(v, s);
    return gemm_geometry_of(&t);
}

static inline gemm_class grouped_class_of(const grouped_variant *v, const grouped_shape *s) {
    return (gemm_class){grouped_geometry_of(v, s), s->n_tail, s->k_tail, v->unroll};
}

/* Launch: workgroups (x, y, z). x = tile_m * columns + tile_n: tiles of C, columns next to each other first. y: the
 * part of the group's K, its K tiles [y * share, (y + 1) * share) with share = ceil(K tiles of the group / split_k). z:
 * the group of layouts that cut neither rows nor columns between them, else 0.
 * Where groups cut rows, group after group takes ceil(rows / bm) of the tile rows, and where they cut columns likewise
 * of the tile columns: floor(total / tile) + groups of them are always enough, and what is left over has nothing to do.
 * So the host need not know what is on the device. */
typedef struct grouped_tiles {
    int64_t rows, columns; /* rows * columns is grid x */
    int64_t slabs;         /* grid z */
} grouped_tiles;
grouped_tiles grouped_tiles_of(const grouped_variant *v, const grouped_shape *s, int64_t groups, int64_t m, int64_t n);

/* What a workgroup does for its tile: with a group of rows, columns and K, their product, of which whole quads of
 * columns (GROUPED_QUAD) before the group's last column are written. Rows of a padded slab past the group's own: zeros
 * if the kernel's `zero` is 1, else nothing. A group of k_offsets without K: zeros, or nothing with empty_k=leave.
 * Without a group, nothing. */
/* grouped_workspace_bytes: of split-K, gemm_workspace_bytes of tile z * rows * columns + x; UINT64_MAX if too many. */
uint64_t grouped_workspace_bytes(const grouped_variant *v, const grouped_shape *s, int64_t groups, int64_t m,
                                 int64_t n);

/* Kernel arguments, in order. Every matrix is contiguous, so that strides follow from n and k. */
typedef enum grouped_kernarg {
    GROUPED_A,         /* [m, k], or [groups, m, k] */
    GROUPED_B,         /* [groups, n, k], or [n, k]; or preshuffled */
    GROUPED_A_SCALES,  /* row: one a row of A, k_offsets [groups, m]; block: grouped_part.a_scale */
    GROUPED_B_SCALES,  /* row: one a row of B, k_offsets [groups, n]; block: [groups, k / 128, n / 128] */
    GROUPED_C,         /* [m, n], or [groups, m, n] */
    GROUPED_EXTENTS,   /* [groups] i64 or i32; not read if batched */
    GROUPED_WORKSPACE, /* pointers, 0..48; workspace: split-K only */
    GROUPED_GROUPS,
    GROUPED_M,
    GROUPED_N,
    GROUPED_K,    /* as the shape's words */
    GROUPED_ZERO, /* i32, 56..72; zero: padded only, 1 = rows of the slab past the group's own become 0 */
    GROUPED_KERNARG_COUNT
} grouped_kernarg;

/* grouped_part: what one group multiplies. Whatever the device's extents say, it lies within m, n and k, begins where
 * the group before it ended and ends no earlier than it begins: a count c is taken as min(max(c, 0), what is left), an
 * end e as min(max(e, begin), total). */
typedef struct grouped_part {
    int64_t a_row, rows;     /* rows of A as stored */
    int64_t b_row, columns;  /* rows of B as stored */
    int64_t k, length;       /* of A's and B's rows */
    int64_t c_row, c_column; /* of C as stored, rows of n */
    /* First scales. Row r has a_scale + r, column c b_scale + c; in blocks, of K block kb, a_scale + kb * scale_rows +
     * r and b_scale + kb * (n / 128) + c / 128. */
    int64_t a_scale, b_scale;
    int64_t scale_rows; /* from one K block of A's scales to the next: the group's rows, the slab's where it has one */
    int64_t padding;    /* rows of C past the group's that are its slab's */
} grouped_part;

/* grouped_problem: lengths of one launch. grouped_parts: `parts` [groups]; extents as the kernel gets them, in host
 * memory. */
typedef struct grouped_problem {
    grouped_layout layout;
    grouped_scale scale;
    int64_t groups, m, n, k;
} grouped_problem;
void grouped_parts(const grouped_problem *p, const void *extents, grouped_part *parts);

/* grouped_lengths: elements of each buffer but the workspace, in the order of the kernel's pointers; INT64_MAX if 63
 * bits cannot hold them. Scales of sizes and offsets in blocks are as many as m rows have. */
void grouped_lengths(const grouped_problem *p, int64_t elements[GROUPED_WORKSPACE]);

/* grouped_complete: tail classes that the words leave out.
 * grouped_check: every limit of variant, shape and chip.
 * errors: BAD_TAG (fields that contradict each other), BAD_SHAPE, LIMIT with needed and allowed value */
void grouped_complete(const void *variant, void *shape);
cdnagen_status grouped_check(const target *t, const void *variant, const void *shape);

/* grouped_check_lengths: the contracts on n and k; `what` is "gemm_grouped" or an entry's name. tile: of the kernel;
 * NULL: only what holds for every tile.   errors: BAD_SHAPE, naming value and rule */
cdnagen_status grouped_check_lengths(const char *what, const grouped_shape *s, const gemm_geometry *tile, int64_t n,
                                     int64_t k);

/* grouped_route: the rank-th variant that `auto` means.
 * errors: BAD_SHAPE (a length is missing), LIMIT, saying what each one left lacked */
cdnagen_status grouped_route(const target *t, const void *shape, int rank, void *variant);
/* grouped_band: rows of such tiles that are walked together, as `auto` has it; 0: row after row. */
int64_t grouped_band(const grouped_shape *s, int64_t tile);

/* grouped_make_plan, grouped_grid, grouped_bind, grouped_shape_from_public: as the family's in gen/family.h. */
cdnagen_status grouped_make_plan(plan *p);
void grouped_grid(const plan *p, const device_facts *facts, uint32_t grid[3]);
cdnagen_status grouped_bind(const plan *p, const device_facts *facts, const void *args, launch *out);
cdnagen_status grouped_shape_from_public(const void *public_shape, void *shape);

/* grouped_operands: a whole problem in host memory.
 * grouped_reference: the operator in plain C, a group at a time: f32 sums; in blocks, an f32 sum over the blocks.
 * shapes: c as stored, f32, not rounded to the type of C; only what the kernel writes is written
 * errors: NO_MEMORY   source: README.md of this folder */
typedef struct grouped_operands {
    grouped_problem lengths;
    gemm_b_layout b_layout;
    grouped_empty_k empty_k;
    int zero_padding;
    fp8_kind a_fp8, b_fp8; /* FN or FNUZ */
    const uint8_t *a, *b;
    const float *a_scales, *b_scales;
    const void *extents;
} grouped_operands;
cdnagen_status grouped_reference(const grouped_operands *in, float *c);

/* grouped_grade: c against what it should be, both as stored, `count` elements. Places whose reference is NaN must hold
 * `poison` still.   source: README.md of this folder, "Grading" */
typedef struct grouped_result {
    int64_t count, n; /* n: columns of c, to say where */
    gemm_out type;
    grouped_data data;
    const float *reference;
    const uint16_t *c;
    uint16_t poison;
} grouped_result;
void grouped_grade(const grouped_result *r, grade *out);

/* grouped_make_extents: of p->groups groups, uneven, some without anything, some of what is cut left to none. `given`:
 * of the workload word, NULL if there are none. out: as the kernel gets them. */
void grouped_make_extents(const grouped_problem *p, const int32_t *given, uint64_t seed, void *out);

extern const workload grouped_workload;
extern const tuning grouped_tuning;
extern const diagnosis grouped_diagnosis;
extern const family gemm_grouped_family;

#endif
