#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# readme.sh BUILD PYTHON: run every command of README.md's ```sh blocks, compile and run its ```c block, and run its ```python
# block.
set -euo pipefail
build=$(realpath "$1")
root=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export PATH=$build:$PATH CDNAGEN_CACHE_DIR=$work/cache LD_LIBRARY_PATH=$build

block() { awk -v kind='```'"$1" '$0 == kind { on = 1; next } $0 == "```" { on = 0 } on' "$root/README.md"; }
commands=0
while read -r line; do
    [[ -n $line ]] || continue
    echo "\$ $line"
    bash -euc "$line" >output 2>&1 </dev/null || { cat output; exit 1; }
    commands=$((commands + 1))
done < <(block sh)
block c >example.c
cc -std=c11 -Wall -Werror -I"$root/include" example.c -o example -L"$build" -lcdnagen
./example
[[ $commands -ge 5 ]] || { echo "only $commands commands were found"; exit 1; }
block python >example.py
grep -q import example.py || { echo "no Python program was found"; exit 1; }
PYTHONPATH=$root/python "$2" -B example.py
echo "$commands commands, one C and one Python program"
