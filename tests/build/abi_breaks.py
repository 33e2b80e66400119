#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""abi.py on headers that are changed: what a program built before would meet is refused, --write or not, what it would
not meet wants --write, and all is allowed to a new version."""
import os
import shutil
import subprocess
import sys
import tempfile

root = os.path.dirname(os.path.abspath(__file__)) + "/../.."
FILES = ["include/cdnagen.h", "tests/build/abi.py", "tests/build/abi.txt", "cmake/exports.map"]
REFUSED, WANTS_WRITE, SAME = "the binary interface changed", "is not what the header says", "facts"
NEW_VERSION = [("include/cdnagen.h", "CDNAGEN_VERSION_MINOR 1", "CDNAGEN_VERSION_MINOR 2"),
               ("cmake/exports.map", "CDNAGEN_0.1", "CDNAGEN_0.2")]

# what is said, header's text before, and after
CASES = [
    (SAME, "int64_t m, n, k;", "int64_t m, n, k; /* in elements */"),
    (SAME, "const void *rows, int64_t stride,", "const void *b, int64_t row_stride,"),
    (REFUSED, "CDNAGEN_BAD_SHAPE = 3,", "CDNAGEN_BAD_SHAPE = 9,"),
    (REFUSED, "    const char *target;    /*", "    const char *vendor;\n    const char *target;    /*"),
    (REFUSED, "    cdnagen_buffer kv;        /*", "    cdnagen_buffer kv2;       /*"),
    (REFUSED, "    int32_t heads;  /*", "    int64_t heads;  /*"),
    (REFUSED, "    int64_t stride[3]; /*", "    int64_t stride[3], more; /*"),
    (REFUSED, "const void *rows, int64_t stride,", "const void *rows, int32_t stride,"),
    (REFUSED, "CDNAGEN_API void cdnagen_free_kernel(", "CDNAGEN_API int cdnagen_free_kernel("),
    (REFUSED, "CDNAGEN_API const char *cdnagen_version(void);", ""),
    (WANTS_WRITE, "} cdnagen_options;", "    int more;\n    int reserved2;\n} cdnagen_options;"),
    (WANTS_WRITE, "CDNAGEN_TIER_STORE = 3", "CDNAGEN_TIER_NET = 4, CDNAGEN_TIER_STORE = 3"),
    (WANTS_WRITE, "CDNAGEN_API const char *cdnagen_version(void);",
     "CDNAGEN_API const char *cdnagen_version(void);\nCDNAGEN_API int cdnagen_more(int x);"),
]


def change(folder, file, before, after):
    text = open(f"{folder}/{file}").read()
    if text.count(before) < 1:
        sys.exit(f"{file} has no {before!r} to change")
    open(f"{folder}/{file}", "w").write(text.replace(before, after, 1))


def said(folder, *arguments):
    done = subprocess.run([f"{folder}/tests/build/abi.py", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check(folder, what, expected, *arguments):
    code, words = said(folder, *arguments)
    if expected not in words or (code == 0) != (expected == SAME):
        sys.exit(f"{what}: expected {expected!r}, got {code}: {words}")


for number, (expected, before, after) in enumerate(CASES):
    with tempfile.TemporaryDirectory() as folder:
        for file in FILES:
            os.makedirs(os.path.dirname(f"{folder}/{file}"), exist_ok=True)
            shutil.copy(f"{root}/{file}", f"{folder}/{file}")
        change(folder, FILES[0], before, after)
        check(folder, f"case {number}", expected)
        if expected == REFUSED:
            check(folder, f"case {number} with --write", REFUSED, "--write")
            change(folder, *NEW_VERSION[0])
            check(folder, f"case {number} with the old symbol version", "gives symbols the version")
            change(folder, *NEW_VERSION[1])
        check(folder, f"case {number} written", SAME, "--write")
        check(folder, f"case {number} once written", SAME)
print(f"{len(CASES)} changes")
