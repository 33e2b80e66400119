#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The binary interface as text: sizes and offsets of public structs, values of enums, types of functions.

abi.py          compare abi.txt with what the compiler makes of include/cdnagen.h
abi.py --write  write abi.txt anew; only for a version of the library that it does not hold yet, unless fields were only
                added at the end of structs, or enum values and functions were only added
"""
import os
import re
import subprocess
import sys
import tempfile

root = os.path.dirname(os.path.abspath(__file__)) + "/../.."
golden = root + "/tests/build/abi.txt"


def unnamed(parameter):
    """const void *rows -> const void *"""
    words = " ".join(parameter.split())
    return re.sub(r"(?<=[ *])\w+$", "", words).strip()


def measure():
    text = open(root + "/include/cdnagen.h").read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    body = ['printf("version %d.%d\\n", CDNAGEN_VERSION_MAJOR, CDNAGEN_VERSION_MINOR);']
    for kind, inside, name in re.findall(r"typedef (struct|enum) \w+ \{(.*?)\} (\w+);", text, flags=re.S):
        body.append(f'printf("{kind} {name} %zu\\n", sizeof({name}));')
        for member in re.split(r";" if kind == "struct" else r",", inside):
            if not member.strip():
                continue
            if kind == "enum":
                word = member.split()[0]
                body.append(f'printf("{name} {word} %d\\n", (int){word});')
                continue
            pointer = re.search(r"\(\*(\w+)\)", member)
            for part in [member] if pointer else member.split(","):
                word = pointer.group(1) if pointer else re.findall(r"(\w+)(?:\[\w+\])?\s*$", part)[0]
                body.append(
                    f'printf("{name} {word} %zu + %zu\\n", offsetof({name}, {word}), sizeof((({name} *)0)->{word}));')
    for result, name, parameters in re.findall(r"^CDNAGEN_API\s+(.*?)(\w+)\((.*?)\);", text, flags=re.M | re.S):
        types = ", ".join(unnamed(parameter) for parameter in parameters.split(","))
        body.append(f'printf("function {name} {result.strip()} ({types})\\n");')
    with tempfile.TemporaryDirectory() as folder:
        source = folder + "/abi.c"
        open(source, "w").write("#include <cdnagen.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(body) + "}\n")
        subprocess.run(["cc", "-I" + root + "/include", source, "-o", folder + "/abi"], check=True)
        return subprocess.run([folder + "/abi"], check=True, capture_output=True, text=True).stdout.splitlines()


def broken(old, new):
    """What of the old interface a program could meet changed. A struct that tells its size may grow at its end."""
    kept = set(new)
    grows = {line.split()[0] for line in old if re.match(r"\w+ size 0 \+ 8", line)}
    return [line for line in old
            if line not in kept and line.split()[1] != "reserved" and not (line.startswith("struct ") and line.split()[1] in grows)]


now = measure()
node = re.match(r"(\S+) \{", open(root + "/cmake/exports.map").read()).group(1)
if node != now[0].replace("version ", "CDNAGEN_"):
    sys.exit(f"cmake/exports.map gives symbols the version {node}, the header is {now[0]}")
old = open(golden).read().splitlines() if os.path.exists(golden) else []
lost = broken(old, now) if old and old[0] == now[0] else []
if len(now) < 150:
    sys.exit(f"only {len(now)} facts were found in the header")
if lost:
    sys.exit("the binary interface changed and CDNAGEN_VERSION_MINOR did not: a program built before meets\n  "
             + "\n  ".join(lost) + "\nin another place. Add at the end of structs, or raise the version.")
if "--write" in sys.argv:
    open(golden, "w").write("\n".join(now) + "\n")
elif now != old:
    changed = sorted(set(now) ^ set(old))
    sys.exit("tests/build/abi.txt is not what the header says: abi.py --write, and python/cdnagen/abi.py likewise\n  " + "\n  ".join(changed[:20]))
print(f"{len(now)} facts")
