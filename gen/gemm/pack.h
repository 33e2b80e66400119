/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The preshuffled layout of B: blocks of 16 rows, in which a wave's 64 loads of 16 bytes are 1 KiB in a row. */
#ifndef GEN_GEMM_PACK_H
#define GEN_GEMM_PACK_H

#include <stdint.h>

enum { GEMM_PACK_N = 16, GEMM_PACK_K = 32 /* n and k are multiples of these */ };

/* gemm_pack_offset: byte of element (row, column) of a packed [n, k] matrix of bytes.
 * source: gen/gemm_blockscale/README.md, "Preshuffled B" */
static inline int64_t gemm_pack_offset(int64_t row, int64_t column, int64_t k) {
    return (row >> 4) * 16 * k + (column >> 4) * 256 + (row & 15) * 16 + (column & 15);
}

/* gemm_pack: rows of k bytes, `stride` bytes apart -> n * k packed bytes. gemm_unpack: its inverse. Not in place.
 * shapes: n a multiple of GEMM_PACK_N, k of GEMM_PACK_K */
void gemm_pack(const uint8_t *rows, int64_t stride, int64_t n, int64_t k, uint8_t *packed);
void gemm_unpack(const uint8_t *packed, int64_t n, int64_t k, uint8_t *rows, int64_t stride);

#endif
