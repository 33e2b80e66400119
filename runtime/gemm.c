/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a caller of gemm_blockscale needs beside its kernel: packed weights and the size of the workspace. */
#include <inttypes.h>
#include <string.h>

#include "gen/gemm_blockscale/gemm_blockscale.h"
#include "runtime/kernel.h"

cdnagen_status cdnagen_gemm_blockscale_workspace(const cdnagen_kernel *kernel, int64_t m, int64_t n, size_t *size) {
    if (!kernel || !size) return fail(CDNAGEN_BAD_ARGUMENT, "%s is NULL", kernel ? "bytes" : "kernel");
    const plan *const p = &kernel->prepared->plan;
    if (p->family != &gemm_blockscale_family)
        return fail(CDNAGEN_BAD_ARGUMENT, "the kernel is %s, not of gemm_blockscale", p->symbol);
    if (m < 0 || n < 0 || m > GEMM_LENGTH_MAX || n > GEMM_LENGTH_MAX)
        return fail(CDNAGEN_BAD_ARGUMENT, "m %" PRId64 " and n %" PRId64 " must be 0 to %d", m, n, GEMM_LENGTH_MAX);
    *size = blockscale_workspace_bytes((const blockscale_variant *)p->variant, m, n);
    return CDNAGEN_OK;
}

cdnagen_status cdnagen_pack_b(const void *rows, int64_t stride, int64_t n, int64_t k, void *packed) {
    if (n < 0 || n % GEMM_PACK_N)
        return fail(CDNAGEN_BAD_ARGUMENT, "cdnagen_pack_b: n %" PRId64 " must be a multiple of %d", n, GEMM_PACK_N);
    if (k < 0 || k % GEMM_PACK_K)
        return fail(CDNAGEN_BAD_ARGUMENT, "cdnagen_pack_b: k %" PRId64 " must be a multiple of %d", k, GEMM_PACK_K);
    if (stride && stride < k)
        return fail(CDNAGEN_BAD_ARGUMENT, "cdnagen_pack_b: stride %" PRId64 " must be 0, or k %" PRId64 " or more",
                    stride, k);
    if (!n || !k) return CDNAGEN_OK;
    if (!rows || !packed || rows == packed)
        return fail(CDNAGEN_BAD_ARGUMENT, "cdnagen_pack_b: %s",
                    !rows     ? "rows is NULL"
                    : !packed ? "packed is NULL"
                              : "rows and packed are the same memory; it does not work in place");
    gemm_pack(rows, stride ? stride : k, n, k, packed);
    return CDNAGEN_OK;
}
