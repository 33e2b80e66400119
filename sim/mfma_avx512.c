/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Matrix instructions for AVX-512F. */
#include <immintrin.h>

#define PATH sim_mfma_avx512
#define VECTOR_NAME "avx512"
#define VECTOR_BYTES 64
#define TILE 16
#define SPLAT(x) _mm512_set1_ps(x)
#define FUSED 1
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#include "sim/mfma_kernel.h"
