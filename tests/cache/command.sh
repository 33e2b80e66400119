#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# command.sh CDNAGEN SHIM: calls on the cache's directory fail under the command: it says so at most once, and gives the
# same kernel.
set -euo pipefail
command=$1 shim=$2
errors=(28 5 30 122 116 37) # ENOSPC EIO EROFS EDQUOT ESTALE ENOLCK
calls=(1 2 3 5 8 13 21)
kernel=(mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma heads=64 dim=128 --target gfx950)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset "${!CDNAGEN_@}"
"$command" gen -o "$dir/right.co" "${kernel[@]}" --no-cache >/dev/null

export CDNAGEN_CACHE_DIR=$dir/cache
trials=0 warned=0
for error in "${errors[@]}"; do
    for at in "${calls[@]}"; do
        rm -rf "$dir/cache" "$dir/out.co"
        for lasting in 0 1; do # cold, then with what that left
            LD_PRELOAD=$shim CDNAGEN_SHIM="$dir/cache any $at $lasting $error" \
                "$command" gen -o "$dir/out.co" "${kernel[@]}" >/dev/null 2>"$dir/said" ||
                { echo "errno $error at call $at: exit code $?"; cat "$dir/said"; exit 1; }
            cmp "$dir/out.co" "$dir/right.co"
            said=$(grep -c . "$dir/said" || true)
            ((said <= 1)) || { echo "errno $error at call $at is told more than once:"; cat "$dir/said"; exit 1; }
            warned=$((warned + said)) trials=$((trials + 1))
        done
        "$command" cache verify >/dev/null
    done
done
echo "$trials runs, $warned with a warning, 0 other kernels"
((warned > 0))
