#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Who may include whom. A line is `files: folders`; the first line whose pattern fits a file holds. Every file may
# include its own folder, core, the public header and the C library.
set -euo pipefail
cd "$(dirname "$0")/../.."

rules='
gen/*/emit*:        gen ir
gen/*:
cache/*:            llvm-c/blake3.h
runtime/compile.c:  gen cache ir
runtime/no_compiler.c: gen ir/pipeline.h llvm/Config/
runtime/*:          gen cache sim/sim.h
sim/*:              llvm-c/Disassembler llvm-c/Target
ir/*:               llvm lld
study/*:            gen cache runtime sim jansson.h sqlite3.h
core/*:
'
bad=0
while read -r file; do
    allowed=
    while IFS=: read -r pattern folders; do
        # shellcheck disable=SC2053
        [[ -n $pattern && $file == $pattern ]] && { allowed=$folders; break; }
    done <<<"$rules"
    while read -r header; do
        ok=
        for prefix in "${file%%/*}/" core/ cdnagen $allowed; do [[ $header == "$prefix"* ]] && ok=1; done
        [[ $ok ]] || { echo "$file may not include \"$header\""; bad=1; }
    done < <(sed -n 's/^ *#include "\([^"]*\)".*/\1/p; s/^ *#include <\(\(llvm\|lld\|jansson\|sqlite3\)[^>]*\)>.*/\1/p' "$file")
done < <(git ls-files {core,ir,gen,cache,runtime,sim,study}/'*.[ch]*')
exit $bad
