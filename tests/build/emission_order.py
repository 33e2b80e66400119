#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No call and no brace list of what emits IR has more than one part that emits.

C leaves the order of such parts to the compiler, so that two builds of one source could emit different code under one
key. What emits: LLVMBuild*, and every function of these files that calls something that emits.
"""
import pathlib
import re
import sys

KEEP_LINES = re.compile(r"[^\n]")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
DEFINITION = re.compile(r"^(?:[A-Za-z_]\w*[\s*]+)+(\w+)\(([^;{}]*)\)\s*\{", re.M)
CALL = re.compile(r"\b(\w+)\(")
CLOSING = {"(": ")", "{": "}"}


def without_comments_and_strings(source):
    source = COMMENT.sub(lambda m: KEEP_LINES.sub(" ", m.group()), source)
    return STRING.sub(lambda m: '"' + " " * (len(m.group()) - 2) + '"', source)


def end_of(source, start):
    """Behind what closes the bracket before `start`."""
    opening, depth = source[start - 1], 1
    while depth and start < len(source):
        depth += (source[start] == opening) - (source[start] == CLOSING[opening])
        start += 1
    return start


def parts_of(inner):
    parts, depth = [""], 0
    for c in inner:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def emits(text, emitting):
    return any(name.startswith("LLVMBuild") or name in emitting for name in CALL.findall(text))


def emitting_functions(sources):
    bodies = {}
    for source in sources.values():
        for m in DEFINITION.finditer(source):
            bodies[m[1]] = bodies.get(m[1], "") + source[m.end() : end_of(source, m.end())]
    emitting, before = set(), None
    while before != len(emitting):
        before = len(emitting)
        emitting |= {name for name, body in bodies.items() if emits(body, emitting)}
    return emitting


def main():
    root = pathlib.Path(__file__).parents[2]
    files = sorted([*root.glob("gen/**/emit*.c"), *root.glob("ir/*.c")])
    sources = {f: without_comments_and_strings(f.read_text()) for f in files}
    emitting, bad = emitting_functions(sources), 0
    for f, source in sources.items():
        for m in re.finditer(r"[({]", source):
            inner = source[m.end() : end_of(source, m.end()) - 1]
            if ";" in inner or sum(emits(part, emitting) for part in parts_of(inner)) < 2:
                continue
            bad += 1
            line = source.count("\n", 0, m.start()) + 1
            print(f"{f.relative_to(root)}:{line}: more than one part emits: {' '.join(inner.split())}")
    if len(emitting) < 100:
        print(f"only {len(emitting)} functions that emit were found")
        bad += 1
    return bad != 0


sys.exit(main())
