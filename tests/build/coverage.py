#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""coverage.py BUILD: lines of each folder that the profiles of BUILD ran, and the files with the most lines that nothing
ran. BUILD was compiled with -fprofile-instr-generate -fcoverage-mapping and holds all.profdata."""
import collections
import json
import os
import subprocess
import sys

WORST = 25
root = os.path.realpath(os.path.dirname(os.path.abspath(__file__)) + "/../..")
build = os.path.realpath(sys.argv[1])


def is_program(path):
    if not (os.path.isfile(path) and not os.path.islink(path) and os.access(path, os.X_OK)):
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


programs = [f"{folder}/{name}" for folder, _, names in os.walk(build) for name in names
            if "CMakeFiles" not in folder and is_program(f"{folder}/{name}")]
command = ["llvm-cov-22", "export", "-summary-only", f"-instr-profile={build}/all.profdata",
           f"-ignore-filename-regex={root}/(tests|bench|build|examples)/"]
command += [programs[0]] + [f"-object={program}" for program in programs[1:]]
done = subprocess.run(command, capture_output=True, text=True)
if done.returncode:
    sys.exit(done.stderr)
files = [(os.path.relpath(f["filename"], root), f["summary"]["lines"]) for f in json.loads(done.stdout)["data"][0]["files"]]
files = [(name, lines) for name, lines in files if not name.startswith("..")]
folders = collections.defaultdict(lambda: [0, 0])
for name, lines in files:
    for folder in (os.path.dirname(name), "all"):
        folders[folder][0] += lines["covered"]
        folders[folder][1] += lines["count"]
print(f"{len(programs)} programs\n{'folder':24} {'lines':>7} {'run':>7} {'%':>6}")
for folder, (covered, count) in sorted(folders.items(), key=lambda item: (item[0] == "all", item[0])):
    print(f"{folder:24} {count:7} {covered:7} {100 * covered / max(count, 1):6.1f}")
print("\nfiles with the most lines that nothing ran")
for name, lines in sorted(files, key=lambda f: f[1]["covered"] - f[1]["count"])[:WORST]:
    print(f"{name:40} {lines['count'] - lines['covered']:5} of {lines['count']}")
