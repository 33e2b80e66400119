#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""shards.py COMMAND: run the examples of docs/precompile.md for many machines, as each of those would, one shard after
another, and hold what they leave against what one machine makes. Folders and the number of kernels are the test's."""
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import types

import yaml

ROOT = os.path.dirname(os.path.abspath(__file__)) + "/../.."
JOBS = "mqa_logits:auto heads=32..34 dim=64\ngemm_blockscale:auto m=16 n=128..256:128 k=256\n"


def blocks(heading):
    """blocks: the fenced text that follows a line which begins with `heading`."""
    text = open(ROOT + "/docs/precompile.md").read()
    found = re.search(rf"^{re.escape(heading)}.*?\n\n```\w+\n(.*?)^```$", text, flags=re.S | re.M)
    assert found, f"docs/precompile.md has no example that begins with {heading}"
    return found.group(1)


def shell(script, folder="", **variables):
    """shell: run a script where /shared/kernels and /kernels are `folder`."""
    script = re.sub(r"(?<= )(/shared)?/kernels\b", folder, script)
    done = subprocess.run(["sh", "-euc", script], env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"


def slurm():
    script = blocks("Slurm")
    first, last = map(int, re.search(r"--array=(\d+)-(\d+)", script).groups())
    assert first == 0
    for task in range(last + 1):
        shell(script, "slurm", SLURM_ARRAY_TASK_ID=str(task), SLURM_ARRAY_TASK_COUNT=str(last + 1))
    return "slurm"


def kubernetes():
    job = yaml.safe_load(blocks("Kubernetes"))
    assert (job["apiVersion"], job["kind"], job["spec"]["completionMode"]) == ("batch/v1", "Job", "Indexed")
    pod = job["spec"]["template"]["spec"]
    (container,), (volume,) = pod["containers"], pod["volumes"]
    assert container["volumeMounts"] == [{"name": volume["name"], "mountPath": "/kernels"}]
    interpreter, option, script = container["command"]
    assert (interpreter, option) == ("sh", "-c")
    for index in range(job["spec"]["completions"]):
        shell(script.replace("--routes", "--jobs jobs.txt"), "kubernetes", JOB_COMPLETION_INDEX=str(index))
    return "kubernetes"


def ray():
    """On a cluster that runs each task when it is asked for."""
    def remote(**options):
        return lambda function: types.SimpleNamespace(remote=function)
    sys.modules["ray"] = types.SimpleNamespace(remote=remote, get=list)
    exec(compile(blocks("Ray").replace("/shared/kernels", "ray"), "docs/precompile.md", "exec"), {})
    return "ray"


def matrix():
    job = yaml.safe_load(blocks("A CI matrix"))["jobs"]["kernels"]
    for shard in job["strategy"]["matrix"]["shard"]:
        for script in [step["run"] for step in job["steps"] if "run" in step]:
            shell(script.replace("${{ matrix.shard }}", str(shard)))
    return "kernels"


def packed(folder):
    subprocess.run(["cdnagen", "pack", folder + ".pack", folder], check=True, stdout=subprocess.DEVNULL)
    return open(folder + ".pack", "rb").read()


def main():
    os.environ["PATH"] = os.path.dirname(os.path.abspath(sys.argv[1])) + ":" + os.environ["PATH"]
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        with open("jobs.txt", "w") as jobs:
            jobs.write(JOBS)
        for example, targets in ((slurm, "gfx942,gfx950"), (kubernetes, "gfx950"), (ray, "gfx950"), (matrix, "gfx950")):
            shell(f"cdnagen precompile --jobs jobs.txt --target {targets} --out {targets}")
            made = packed(example())
            assert made == packed(targets), f"{example.__name__}: other kernels than one machine makes"
            print(f"{example.__name__}: {len(made)} bytes, as of one machine", flush=True)


main()
