#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Precompile what a service will need, on any machine: DIR becomes a root of a cache, and DIR.pack the same in one file.
# usage: precompile.sh DIR, with the command on PATH or its file in CDNAGEN
set -eu
out=${1:?usage: precompile.sh DIR}
jobs=$(mktemp)
trap 'rm -f "$jobs"' EXIT
cat >"$jobs" <<'JOBS'
# one kernel a line: op:tag, then the shape's words
mqa_logits:auto heads=32..128:pow2 dim=128
mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma heads=64 dim=128 clean=0
JOBS
"${CDNAGEN:-cdnagen}" precompile --jobs "$jobs" --out "$out" --target gfx950
"${CDNAGEN:-cdnagen}" pack "$out.pack" "$out"
"${CDNAGEN:-cdnagen}" verify "$out.pack"
