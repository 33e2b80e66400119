#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# symbols.sh LIBRARY HIP_DEF: the library shows HIP's names and nothing else, among them all that the runtime calls.
set -euo pipefail
shown=$(nm -D -g --defined-only "$1" | awk 'NF == 3 { print $3 }' | sort -u)
called=$(sed -n 's/^HIP_FUNCTION([a-z_]*, \([A-Za-z]*\),.*/\1/p' "$2" | sort)
[[ $(wc -l <<<"$called") -ge 25 ]] || { echo "only found in $2: $called"; exit 1; }
bad=0
! grep -v '^hip[A-Z]' <<<"$shown" || { echo "shows more than HIP's names"; bad=1; }
missing=$(comm -23 <(echo "$called") <(echo "$shown"))
[[ -z $missing ]] || { echo "lacks: $missing"; bad=1; }
exit $bad
