/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Matrix instructions for SSE2, which every x86-64 has. It has no fused multiply-add: rows whose products are exact in
 * f32 need none. */
#include <xmmintrin.h>

#define PATH sim_mfma_baseline
#define VECTOR_NAME "baseline"
#define VECTOR_BYTES 16
#define TILE 8
#define SPLAT(x) _mm_set1_ps(x)
#define FUSED 0
#define FMA(a, b, c) ((a) * (b) + (c))
#include "sim/mfma_kernel.h"
