#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source says its license near its top: license_lines.py ROOT [--self-test | --add]. What users hand in or get to
start from (submissions, starting files, exercises) is theirs. --add writes the line where it is missing."""
import re
import sys
from pathlib import Path

import line_gate
import machine_paths

LINE = "SPDX-License-Identifier: Apache-2.0"
SUFFIXES = {".cpp": "//", ".hpp": "//", ".cu": "//", ".cuh": "//", ".h": "//", ".c": "//", ".ts": "//",
            ".py": "#", ".pyi": "#", ".cmake": "#", ".css": "/*"}
USERS_OWN = re.compile(r"(^|/)(tests/try/.*\.(cu|c|cpp|h)|judge/(exercises|starting)/.*|tests/fuzz/corpus/.*)$")


def comment_mark(file):
    """What begins a comment in a source, None for what is none."""
    if file.name in ("CMakeLists.txt", "Makefile"):
        return "#"
    if file.suffix == ".in":
        return SUFFIXES.get(Path(file.stem).suffix)
    if not file.suffix and file.parent.name in ("scripts", ".ci"):
        return "#"
    return SUFFIXES.get(file.suffix)


def sources(root):
    return [f for f in machine_paths.repository_files(root)
            if comment_mark(f) and not USERS_OWN.search(f.relative_to(root).as_posix())]


def complaints(text):
    if not any(LINE in line for line in text.split("\n")[:3]):
        yield 1, "no license", f"expected '{LINE}' in the first three lines (python3 {Path(__file__).name} ROOT --add)"


def add(file):
    lines = file.read_bytes().decode().split("\n")
    mark = comment_mark(file)
    lines.insert(lines[0].startswith("#!"), f"{mark} {LINE}" + (" */" if mark == "/*" else ""))
    file.write_bytes("\n".join(lines).encode())


if __name__ == "__main__":
    if "--add" in sys.argv:
        for source in sources(Path(sys.argv[1])):
            if any(complaints(source.read_bytes().decode())):
                add(source)
    sys.exit(line_gate.run(sources, complaints, ["int x;", "\n\n\n// " + LINE], ["// " + LINE + "\nint x;", "#!/bin/sh\n# " + LINE],
                           "without a license"))
