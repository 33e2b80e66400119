/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* B in and out of the preshuffled layout, 16 bytes at a time. */
#include "gen/gemm/pack.h"

#include <string.h>

enum { CHUNK = 16 /* bytes of a row that stay together */ };

void gemm_pack(const uint8_t *rows, int64_t stride, int64_t n, int64_t k, uint8_t *packed) {
    for (int64_t row = 0; row < n; row++)
        for (int64_t column = 0; column < k; column += CHUNK)
            memcpy(packed + gemm_pack_offset(row, column, k), rows + row * stride + column, CHUNK);
}

void gemm_unpack(const uint8_t *packed, int64_t n, int64_t k, uint8_t *rows, int64_t stride) {
    for (int64_t row = 0; row < n; row++)
        for (int64_t column = 0; column < k; column += CHUNK)
            memcpy(rows + row * stride + column, packed + gemm_pack_offset(row, column, k), CHUNK);
}
