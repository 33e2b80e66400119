#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ./dev on a system without dpkg: it names what is missing and nothing that is there.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
ln -sf /usr/bin/* "$bin"
rm -f "$bin"/{dpkg*,apt*,sudo,ninja,git}
said=$(PATH=$bin ./dev build 2>&1) && { echo "./dev build went on without ninja and git"; exit 1; }
expected="missing packages: ninja-build git
There is no dpkg: these were looked for by their files.
These are Debian 12 names: install what your system calls them, or run as root or with sudo."
[[ $said == "$expected" ]] || { echo "$said"; exit 1; }
