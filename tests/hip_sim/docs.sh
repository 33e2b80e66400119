#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# docs.sh BUILD: run the commands of two sections of docs/simulator.md; the first prints what the section shows.
set -euo pipefail
build=$(realpath "$1")
docs=$(realpath "$(dirname "$0")/../../docs/simulator.md")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export PATH=$build:$PATH LD_LIBRARY_PATH=$build
unset CDNAGEN_DEVICE CDNAGEN_TARGET CDNAGEN_SIM

# block SECTION KIND: the section's blocks of that kind.
block() {
    awk -v section="## $1" -v kind='```'"$2" '
        /^## / { inside = $0 == section }
        inside && $0 == kind { on = 1; next }
        $0 == "```" { on = 0 }
        on' "$docs"
}
block "Run any code object" c >saxpy.cl
block "Run any code object" json >saxpy.json
block "Run any code object" sh >commands
[[ -s saxpy.cl && -s saxpy.json && $(wc -l <commands) -ge 4 ]]
bash -euo pipefail commands >output
diff <(block "Run any code object" text) <(tail -n 2 output)
block "HIP programs" sh >commands
[[ -s commands ]]
bash -euo pipefail commands >output
grep -q 'device       gfx942 simulator (gfx942)' output
