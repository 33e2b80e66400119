/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How a workgroup cuts its tile into waves, atoms and LDS, and what a chip must have for it. */
#ifndef GEN_GEMM_TILING_H
#define GEN_GEMM_TILING_H

#include "gen/family.h"
#include "gen/gemm/gemm.h"

/* gemm_tiling: what a tag says of the tile, and where B lies. */
typedef struct gemm_tiling {
    int64_t atom, tile; /* TRIPLE */
    gemm_core core;
    int waves_m; /* along M; 0 = the core's own (4w: 1, 8w: 2) */
    int b_in_lds;
    int one_slot; /* LDS holds one K tile, which is replaced between two barriers; else two */
    int cshuffle, async;
    int wpe;     /* waves per SIMD asked; 0 = none */
    int split_k; /* 0 = 1 */
} gemm_tiling;

/* gemm_geometry: what follows from a tiling; one function computes it for check, plan, emit and tests. A wave owns
 * m_atoms x n_atoms atoms of each tile. */
typedef struct gemm_geometry {
    int m, n, k;    /* atom */
    int bm, bn, bk; /* tile */
    int waves, waves_m, waves_n, threads;
    int m_atoms, n_atoms;
    int k_steps;          /* atoms along one scale block: 128 / k */
    int k_blocks;         /* scale blocks of a K tile: bk / 128 */
    int acc;              /* f32 results a lane and atom: m*n/64 */
    int a_bytes, b_bytes; /* LDS of one K tile; B 0 where it goes straight to registers */
    int lds_bytes;        /* its K tiles, or C in bf16 or f16 where the epilogue shuffles it; never both at once */
    int split_k;          /* at least 1 */
} gemm_geometry;

gemm_geometry gemm_geometry_of(const gemm_tiling *t);

/* gemm_workspace_bytes: of split-K: a u32 arrival counter a tile (zero before and after each launch), rounded up to
 * GEMM_WORKSPACE_ALIGN bytes, then f32 sums [part][tile][bm * bn] of whole tiles; UINT64_MAX if 64 bits cannot hold
 * it. */
enum { GEMM_WORKSPACE_ALIGN = 256 };
uint64_t gemm_workspace_bytes(int64_t tile, int64_t split_k, uint64_t tiles);

/* gemm_check_tiling: the chip has the atom; every wave has whole atoms, every thread whole loads of A; LDS and
 * registers hold them.   errors: BAD_TAG, LIMIT, each with the needed and the allowed value */
cdnagen_status gemm_check_tiling(const char *op, const chip *c, const gemm_tiling *t);

/* gemm_has_dma: the chip's LDS DMA moves the 16 bytes a lane that async and 8w load by.
 * gemm_atom_of: the chip's fastest MFMA of 16 rows. */
static inline int gemm_has_dma(const chip *c) { return c->lds_dma_bytes >= 16; }
const atom *gemm_atom_of(const chip *c);

/* gemm_waves_per_eu: text of "amdgpu-waves-per-eu": wpe exactly, or without it as many as fit, at least those of one
 * workgroup. */
void gemm_waves_per_eu(const chip *c, const gemm_tiling *t, char *out, size_t room);

#endif
