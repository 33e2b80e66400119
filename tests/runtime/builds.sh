#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# builds.sh OWN OTHER: programs of two builds of the library share a cache: each compiles its kernel once, and never loads
# the other's.
set -euo pipefail
own=$1 other=$2
unset "${!CDNAGEN_@}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

expect() { # EXPECTED PROGRAM
    local said
    said=$("$2" "$dir/cache")
    [[ $said == "$1" ]] || { echo "$2: $said, and it should be: $1"; exit 1; }
}
expect compiled "$own"
expect compiled "$other"
expect disk "$own"
expect disk "$other"

rm -r "$dir/cache"
for i in {1..8}; do
    "$own" "$dir/cache" >"$dir/own.$i" &
    "$other" "$dir/cache" >"$dir/other.$i" &
done
wait
for build in own other; do
    compiled=$(cat "$dir/$build".* | grep -c '^compiled$')
    answers=$(cat "$dir/$build".* | grep -c '^compiled$\|^disk$')
    echo "$build: $answers processes, $compiled compiled"
    [[ $compiled == 1 && $answers == 8 ]] || exit 1
done
[[ $(find "$dir/cache" -type f | wc -l) == 2 ]]
