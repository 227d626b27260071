#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file of the repository holds a path of the machine it was written on: machine_paths.py ROOT
[--self-test]. Recorded results and golden files pick such paths up easily."""
import re
import subprocess
import sys

import line_gate

# A home directory of somebody, the work directory of a CI machine, a scratch build directory.
MACHINE_PATH = re.compile(r"(?<![\w.}~-])/(?:home/\w|root/\w|work/\w|tmp/build)")


def repository_files(root):
    """What git tracks or would track; everything, where the sources came without git."""
    # A CI machine may have cloned as another user.
    git = ["git", "-c", "safe.directory=*", "-C", root,
           "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, capture_output=True)
    files = ([root / name for name in listed.stdout.decode().split("\0") if name] if listed.returncode == 0 else
             [f for f in root.rglob("*")
              if not {".git", "build", "node_modules", "dist"}.intersection(f.relative_to(root).parts)])
    return [f for f in files if f.is_file()]


def complaints(text):
    for number, line in enumerate(text.split("\n"), 1):
        if match := MACHINE_PATH.search(line):
            yield number, "a path of one machine", match.group() + "..."


CAUGHT = ['"path": "/' + p for p in ('home/ann/x"', "root/x", "work/x", "tmp/build-1")]
PASSED = ["the /work directory", "solver/work/x", "/tmp/x", "${dir}/home/x"]

if __name__ == "__main__":
    sys.exit(line_gate.run(repository_files, complaints, CAUGHT, PASSED, "paths"))
