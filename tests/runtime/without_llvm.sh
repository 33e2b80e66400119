#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# without_llvm.sh PROGRAM: the program, which holds the runtime and all below it, has nothing of LLVM but BLAKE3.
set -u
if nm "$1" | grep -E ' [A-Za-z] (LLVM[A-Z][a-z]|_ZNK?4llvm|_ZNK?3lld)'; then
    echo "$1 contains LLVM" >&2
    exit 1
fi
if ldd "$1" | grep libLLVM; then
    echo "$1 needs libLLVM" >&2
    exit 1
fi
