#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs users' .cu files without a GPU: corpus_test.py PROGRAM [NAME...]

right/*.cu are right, and accused of nothing under any schedule. wrong/*.cu have one mistake each: the line with
`// HERE kind` is where a finding of that kind must be, and `// REFUSED text` is a line that must be refused, with
that text.
"""
import collections
import json
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
RIGHT_SCHEDULES = "20"
WRONG_SCHEDULES = "40"


def run(program, path, schedules, *kind):
    return subprocess.run([program, str(path), schedules, *kind], capture_output=True, text=True, timeout=300)


def marked(path, word):
    """(line, what follows the word) of the line that has the mark."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if found := re.search(rf"// {word} (.+)", line):
            return number, found[1].strip()
    return None


def complaint_of_right(program, path):
    done = run(program, path, RIGHT_SCHEDULES)
    if done.returncode != 0:
        return f"refused: {done.stderr}"
    said = json.loads(done.stdout)
    if said["findings"]:
        return f"accused: {said['findings']}"
    if said["ended"] != 0 or not said["right"]:
        return f"wrong: {done.stdout} {done.stderr}"
    return None


def complaint_of_wrong(program, path):
    line, kind = marked(path, "HERE") or (0, "")
    done = run(program, path, WRONG_SCHEDULES, *[kind] * bool(kind))
    if refused := marked(path, "REFUSED"):
        line, text = refused
        expected = f"{path.name}:{line}"
        if done.returncode == 0 or expected not in done.stderr or text not in done.stderr:
            return f"not refused with {expected} and {text!r}: {done.stdout} {done.stderr}"
        return None
    if done.returncode != 0:
        return f"refused: {done.stderr}"
    findings = json.loads(done.stdout)["findings"]
    if not any(f["kind"] == kind and line in (f.get("line"), f.get("other_line")) for f in findings):
        return f"no {kind} in line {line}: {done.stdout} {done.stderr}"
    return None


def kind_of(folder, path):
    here = marked(path, "HERE")
    return folder if folder == "right" else here[1] if here else "refusal"


def main():
    program, *names = sys.argv[1:]
    complaints = []
    tried = 0
    found, planted = collections.Counter(), collections.Counter()
    for folder, complaint_of in (("right", complaint_of_right), ("wrong", complaint_of_wrong)):
        for path in sorted((FOLDER / folder).glob("*.cu")):
            if not names or path.stem in names:
                tried += 1
                complaint = complaint_of(program, path)
                print(f"{folder}/{path.name}: {complaint or 'ok'}", flush=True)
                complaints += [complaint] if complaint else []
                planted[kind := kind_of(folder, path)] += 1
                found[kind] += 0 if complaint else 1
    if not tried:
        sys.exit("no file was tried")
    print("right ones accused of nothing, and planted mistakes found with the right line: "
          + ", ".join(f"{kind} {found[kind]} of {count}" for kind, count in sorted(planted.items())))
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
