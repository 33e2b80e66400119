/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Matrix instructions for AVX2 and FMA. */
#include <immintrin.h>

#define PATH sim_mfma_avx2
#define VECTOR_NAME "avx2"
#define VECTOR_BYTES 32
#define TILE 8
#define SPLAT(x) _mm256_set1_ps(x)
#define FUSED 1
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#include "sim/mfma_kernel.h"
