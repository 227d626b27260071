# SPDX-License-Identifier: Apache-2.0
"""What gates that look at one line after the other have in common."""
import sys
from pathlib import Path


def run(files_of, complaints, caught, passed, noun):
    """The exit code of `GATE ROOT` and of `GATE ROOT --self-test`. `files_of(root)` are looked at;
    `complaints(text)` yields a line's number, what is wrong with it, and the words; `caught` and `passed` are
    texts with and without any."""
    if "--self-test" in sys.argv:
        return 0 if all(any(complaints(c)) for c in caught) and not any(any(complaints(p)) for p in passed) else 1
    root = Path(sys.argv[1])
    files = files_of(root)
    found = 0
    for file in files:
        for number, what, words in complaints(file.read_bytes().decode("utf-8", "replace")):
            found += 1
            print(f"{file.relative_to(root)}:{number}: {what}: {words}")
    print(f"{len(files)} files, {found} {noun}")
    return 1 if found or not files else 0
