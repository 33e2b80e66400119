#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# kernels.sh CDNAGEN: the kernels of mqa_logits of both chips under every check: direct and LDS-pipelined, one to four
# waves, prefetch 1 to 3, with and without software pipelining (within tiles and across), row stores, scales in LDS, skipped
# tiles and guarded prefetch, operands of the other FP8 kind; and those in which LLVM leaves 19 slots where 20 must be
# (ir/wait_states.c). A finding is exit code 4.
set -euo pipefail
cdnagen=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CDNAGEN_CACHE_DIR=$work
unset CDNAGEN_SIM CDNAGEN_DEVICE CDNAGEN_TARGET

while read -r chip tag heads dim clean fp8; do
    # shellcheck disable=SC2086 # fp8 is words
    "$cdnagen" run "mqa_logits:$tag" seq=5 seq_kv=325 heads="$heads" dim="$dim" clean="$clean" $fp8 window=causal \
        --target "$chip" --sim=threads=1 --sim-check all --check >"$work/out" 2>&1 || { cat "$work/out"; echo "$tag"; exit 1; }
done <<'END'
gfx950 mfma32x32x64_bkv32_r1_w1 64 128 1
gfx950 mfma16x16x128_bkv64_r2_w4_hfma2_ns7 64 128 1
gfx950 mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma 64 128 1
gfx950 mfma32x32x64_bkv64_r1_w1_lds2_hfma 64 128 1
gfx950 mfma32x32x64_bkv64_r1_w1_lds1_pd1_rs 64 128 1
gfx950 mfma32x32x64_bkv64_r1_w2_lds3_pd3_hfma2 64 128 1
gfx950 mfma32x32x64_bkv64_r1_w4_lds2_swp_rs_hfma 64 128 1
gfx950 mfma32x32x64_bkv64_r4_w4_lds5_pd3 64 128 1
gfx950 mfma32x32x64_bkv256_r1_w4_lds1_pd1_swp_hfma 64 128 1
gfx950 mfma16x16x128_bkv64_r4_w2_lds4_pd1_rs_hfma 64 128 1
gfx950 mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_ls 64 128 1
gfx950 mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_ls_ts_dg_hfma 64 128 1
gfx950 mfma32x32x64_bkv32_r2_w2_lds4_pd3_ls_ts_dg 64 128 1
gfx950 mfma16x16x128_bkv64_r1_w4_lds2_rs_ls_ts_dg_hfma 64 128 1
gfx950 mfma32x32x64_bkv64_r1_w4_lds3_pd3_swp_ts_dg 64 128 1
gfx950 mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_ct_hfma 64 128 1
gfx950 mfma32x32x64_bkv64_r2_w1_lds2_swp_rs_ls_dg_ct_hfma 64 128 1
gfx950 mfma32x32x64_bkv32_r1_w2_lds4_pd3_swp_dg_ct 64 128 1
gfx950 mfma32x32x64_bkv64_r1_w2_lds3_pd3_swp_rs_ct_hfma 128 128 1
gfx950 mfma16x16x128_bkv64_r1_w4_lds3_pd3_swp_rs_ct_hfma 64 128 1
gfx950 mfma32x32x64_bkv64_r1_w1 64 128 0
gfx950 mfma32x32x64_bkv128_r4_w1_hfma 128 64 1
gfx950 mfma32x32x64_bkv64_r4_w4_lds5_pd3 128 64 1
gfx950 mfma32x32x64_bkv64_r4_w1_lds2_rs_hfma_wpe2 128 128 1
gfx950 mfma_r2_w4_hfma 64 128 1
gfx942 mfma_r1_w4 64 128 1
gfx942 mfma_r2_w4_hfma 64 128 0 q_fp8=e4m3fn
gfx942 mfma_r4_w2 64 128 1
gfx942 mfma_r1_w1_hfma2 32 64 1 kv_fp8=e4m3fn
gfx942 mfma_r2_w2 128 128 1 q_fp8=e4m3fn kv_fp8=e4m3fn
gfx942 mfma16x16x32_bkv16_r1_w1 16 96 1
gfx942 mfma32x32x16_bkv128_r1_w4_hfma 64 128 1
gfx942 mfma32x32x16_bkv64_r2_w1 32 80 1 kv_fp8=e4m3fn
gfx942 mfma32x32x16_bkv64_r1_w2_hfma2 128 512 0
END
