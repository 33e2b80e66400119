#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# rt.sh BUILD: libcdnagen-rt.so is small, shows the public header, has nothing of LLVM but BLAKE3, and runs what another
# process generated: from a directory and from a pack; a miss names its key.
set -euo pipefail
build=$(realpath "$1")
root=$(realpath "$(dirname "$0")/../..")
library=$build/libcdnagen-rt.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset "${!CDNAGEN_@}"
bad=0
complain() { echo "$*"; bad=1; }

strip -o "$work/stripped.so" "$library"
size=$(stat -c %s "$work/stripped.so")
echo "libcdnagen-rt.so, stripped: $((size / 1024)) KiB"
((size < 400 * 1024)) || complain "it is larger than 400 KiB"
sh "$root/tests/runtime/without_llvm.sh" "$library" || bad=1
! readelf -d "$library" | grep -E 'NEEDED.*(LLVM|stdc|amdhip|jansson)' || complain "it needs what it must not need"
readelf -d "$library" | grep -q 'SONAME.*\[libcdnagen-rt.so.0\]' || complain "wrong SONAME"
public=$(sed -n 's/^CDNAGEN_API.*[ *]\([a-z_]*\)(.*/\1/p' "$root/include/cdnagen.h" | sort)
shown=$(nm -D -g --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u)
[[ $public == "$shown" ]] || complain "it shows other names than the header: $(diff <(echo "$public") <(echo "$shown"))"
version=$(sed -n 's/ {$//p' "$root/cmake/exports.map")
! nm -D -g --defined-only "$library" | grep -vF "@@$version" | grep -v ' A ' || complain "it shows symbols without a version"

cc -o "$work/launch" -I"$root/include" "$root/examples/launch.c" -L"$build" -lcdnagen-rt -Wl,-rpath,"$build"
export CDNAGEN_HIP_LIBRARY=$build/libamdhip64-sim.so CDNAGEN_SIM_DEVICES=gfx950
run() { CDNAGEN_CACHE_DIR=$1 "$work/launch" 2>&1; }
mkdir "$work/cache" "$work/empty"
said=$(run "$work/empty") && complain "a miss is no error: $said"
[[ $said == *CDNAGEN_CACHE_MISS* && $said == *libcdnagen-rt* && $said == *"shape heads=32 dim=64"* ]] ||
    complain "a miss says: $said"
CDNAGEN_CACHE_DIR=$work/cache "$build/cdnagen" gen mqa_logits:auto seq=16 seq_kv=100 heads=32 dim=64 \
    clean=1 --target gfx950 >/dev/null
"$build/cdnagen" pack "$work/kernels.pack" "$work/cache" >/dev/null || complain "no pack was made"
for from in cache kernels.pack "empty:$work/kernels.pack"; do
    said=$(run "$work/$from") || complain "$from: $said"
    [[ $said == *"0 of 1600 logits are wrong"* ]] || complain "$from: $said"
done
said=$(CDNAGEN_HIP_LIBRARY=/nowhere.so run "$work/cache") && complain "no HIP library is no error: $said"
[[ $said == *"no simulator of gfx950 (libcdnagen-rt)"*libamdhip64-sim.so* ]] || complain "without a HIP library: $said"
exit $bad
