#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# build_id.sh TOOL FILE...: what TOOL hashes is closed under #include, holds the compiler's steps, and changes the id
# when any of it changes.
set -euo pipefail
tool=$1
shift
cd "$(dirname "$0")/../.."
bad=0
complain() { echo "$*"; bad=1; }

hashed=" $* "
[[ $hashed == *" runtime/compile.c "* && $hashed == *" runtime/pipeline.c "* ]] || complain "the steps are not in the build id"
for file in "$@"; do
    [[ $file == runtime/pipeline.c ]] && continue # of it, only the order of the steps reaches the bytes
    while read -r header; do
        [[ -f include/$header ]] && header=include/$header
        [[ ! -f $header || $hashed == *" $header "* ]] || complain "$file includes $header, which is not in the build id"
    done < <(sed -n 's/^ *# *include [<"]\([^">]*\)[">].*/\1/p' "$file")
done

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp --parents "$@" "$copy"
cd "$copy"
id() { "$tool" id.h "$@" && cat id.h; }
before=$(id "$@")
[[ $before =~ ^"#define CDNAGEN_BUILD_ID \""[0-9a-f]{32}\"$ ]] || complain "no build id: $before"
for file in include/cdnagen.h runtime/compile.c runtime/pipeline.c core/chip.c; do
    echo '/* changed */' >>"$file"
    after=$(id "$@")
    [[ $after != "$before" ]] || complain "$file was changed, the build id was not"
    before=$after
done
touch core/chip.c
[[ $(id "$@") == "$before" ]] || complain "the build id depends on more than names and bytes"
rm core/chip.c
! id "$@" 2>/dev/null || complain "a missing source is no error"
exit $bad
