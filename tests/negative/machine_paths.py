#!/usr/bin/env python3
"""No file of the repository holds a path of the machine it was written on: machine_paths.py ROOT
[--self-test]. Recorded results and golden files pick such paths up easily."""
import re
import subprocess
import sys
from pathlib import Path

# A home directory of somebody, the work directory of a CI machine, a scratch build directory.
MACHINE_PATH = re.compile(rb"(?<![\w.}~-])/(?:home/\w|root/\w|work/\w|tmp/build)")


def repository_files(root):
    """What git tracks or would track; everything, where the sources came without git."""
    # A CI machine may have cloned as another user.
    git = ["git", "-c", "safe.directory=*", "-C", root,
           "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, capture_output=True)
    if listed.returncode == 0:
        return [root / name for name in listed.stdout.decode().split("\0") if name]
    return [f for f in root.rglob("*") if not {".git", "build", "node_modules", "dist"}.intersection(f.relative_to(root).parts)]


def main():
    if "--self-test" in sys.argv:
        caught = [b'"path": "/' + p for p in (b'home/ann/x"', b"root/x", b"work/x", b"tmp/build-1")]
        passed = [b"the /work directory", b"solver/work/x", b"/tmp/x", b"${dir}/home/x"]
        return 0 if all(map(MACHINE_PATH.search, caught)) and not any(
            map(MACHINE_PATH.search, passed)) else 1
    files = [f for f in repository_files(Path(sys.argv[1])) if f.is_file()]
    found = 0
    for file in files:
        for number, line in enumerate(file.read_bytes().split(b"\n"), 1):
            if match := MACHINE_PATH.search(line):
                found += 1
                print(f"{file}:{number}: a path of one machine: {match.group().decode()}...")
    print(f"{len(files)} files, {found} paths")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
