#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# install.sh PYTHON LIBRARY: pip makes a package of the folder without a compiler or a network, and it imports.
set -euo pipefail
python=$1
export CDNAGEN_LIBRARY=$2
root=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/python" "$work/source"
"$python" -m pip install --quiet --disable-pip-version-check --no-index --no-build-isolation --target "$work/site" \
    "$work/source"
diff -r -x __pycache__ "$root/python/cdnagen" "$work/site/cdnagen"
cd "$work"
PYTHONPATH=$work/site "$python" -c '
import os, cdnagen
assert cdnagen.__file__.startswith(os.environ["PYTHONPATH"]), cdnagen.__file__
print(cdnagen.version)'
