#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# symbols.sh BUILD: libcdnagen.so shows cdnagen_* and gen_kernel and nothing else, and libcdnagen.a defines no other
# global name; each shows every function of the public header.
set -euo pipefail
build=$1
header=$(dirname "$0")/../../include/cdnagen.h
public=$(sed -n 's/^CDNAGEN_API.*[ *]\([a-z_]*\)(.*/\1/p' "$header" | sort)
[[ $(wc -l <<<"$public") -ge 15 ]] || { echo "only found in the header: $public"; exit 1; }

version=$(sed -n 's/ {$//p' "$(dirname "$0")/../../cmake/exports.map") # abi.py holds it to the header's

bad=0
for kind in so a; do
    dynamic=()
    [[ $kind == so ]] && dynamic=(-D)
    shown=$(nm "${dynamic[@]}" -g --defined-only "$build/libcdnagen.$kind" | awk 'NF == 3 && $2 != "A" { sub(/@.*/, "", $3); print $3 }' |
        sort -u)
    extra=$(comm -13 <(echo "$public") <(echo "$shown"))
    missing=$(comm -23 <(echo "$public") <(echo "$shown"))
    [[ -z $extra ]] || { echo "libcdnagen.$kind shows more than the header: $(head -n 20 <<<"$extra")"; bad=1; }
    [[ $kind == a ]] || ! nm -D -g --defined-only "$build/libcdnagen.so" | grep -vF "@@$version" | grep -v ' A ' ||
        { echo "symbols without a version"; bad=1; }
    [[ -z $missing ]] || { echo "libcdnagen.$kind lacks: $missing"; bad=1; }
done
readelf -d "$build/libcdnagen.so" | grep -q 'SONAME.*\[libcdnagen.so.0\]' || { echo "wrong SONAME"; bad=1; }
! readelf -d "$build/libcdnagen.so" | grep -E 'NEEDED.*(LLVM|amdhip|jansson)' ||
    { echo "needs what it must not need"; bad=1; }
sim=$build/libamdhip64-sim.so
! nm -D -g --defined-only "$sim" | awk 'NF == 3 { print $3 }' | grep -v '^hip[A-Z]' ||
    { echo "$sim shows more than HIP's names"; bad=1; }
! readelf -d "$sim" | grep -E 'NEEDED.*(LLVM|amdhip|jansson)' || { echo "$sim needs what it must not need"; bad=1; }
exit $bad
