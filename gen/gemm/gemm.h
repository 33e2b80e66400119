/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The words that tags and shapes of the FP8 matrix products share. */
#ifndef GEN_GEMM_GEMM_H
#define GEN_GEMM_GEMM_H

#include <stdint.h>

typedef enum gemm_core {
    GEMM_4W = 1, /* B straight from preshuffled memory, A (and plain B) through LDS */
    GEMM_8W = 2  /* ping-pong, A and B through LDS */
} gemm_core;
typedef enum gemm_sched { GEMM_INLINE = 0, GEMM_DELAYED = 1, GEMM_CLUSTER = 2 } gemm_sched;

/* gemm_ablation: a kernel that leaves something out on purpose. Its numbers are wrong by design: it is launched by the
 * diagnosis only. */
typedef enum gemm_ablation {
    GEMM_WHOLE = 0,
    GEMM_TWIN,       /* xtwin: promote-free ceiling: MFMA chained over K, one scale in the epilogue */
    GEMM_NO_PROMOTE, /* xpromote: sums chained, scales loaded all the same */
    GEMM_NO_SCALES,  /* xscales: scales are constants */
    GEMM_NO_A,       /* xa: A of the first K tile for all of them */
    GEMM_NO_B,       /* xb */
    GEMM_NO_LDS,     /* xlds: fragments of the first K tile for all of them */
    GEMM_NO_STORE,   /* xstore: the stores stand behind a branch that is never taken */
    GEMM_PLAIN       /* xplain: neither scales nor promotion, the bare product */
} gemm_ablation;

typedef enum gemm_b_layout { GEMM_B_PLAIN = 0, GEMM_B_PRESHUFFLED = 1 } gemm_b_layout;
typedef enum gemm_scale_layout { GEMM_SCALES_ROW_MAJOR = 0, GEMM_SCALES_K_MAJOR = 1 } gemm_scale_layout;
typedef enum gemm_scale_type { GEMM_SCALES_F32 = 0, GEMM_SCALES_UE8M0 = 1 } gemm_scale_type;
typedef enum gemm_out { GEMM_BF16 = 0, GEMM_F16 = 1 } gemm_out;

enum {
    GEMM_SCALE_K = 128,                  /* elements of K that share a scale */
    GEMM_LENGTH_MAX = INT32_MAX - 65535, /* m, n, k: rounding up to tiles stays in 31 bits */
    GEMM_ROW_ALIGN = 16,                 /* bytes: rows of A and of plain B begin at multiples */
    GEMM_ROW_WORD = 4,                   /* bytes: rows of A and of plain B can be read up to the next multiple */
    GEMM_CS_COLUMNS = 4                  /* columns of C that cs stores at once */
};

#endif
