# SPDX-License-Identifier: Apache-2.0
"""The cell magic of notebooks: %%diffbench_try KIND hands the cell to `diffbench try`."""
import subprocess
import tempfile
from pathlib import Path

from ._process import exit_code_of, program

SUFFIXES = {"cuda": ".cu", "cpp": ".cpp", "c": ".c", "python": ".py"}


def diffbench_try(line, cell):
    """%%diffbench_try cuda|cpp|c|python [options of `diffbench try`]: is this kernel right, why not, and how fast?"""
    kind, *options = line.split() or [""]
    if kind not in SUFFIXES:
        print(f"%%diffbench_try: say what the cell is: {', '.join(SUFFIXES)}")
        return
    with tempfile.TemporaryDirectory(prefix="diffbench-") as folder:
        Path(folder, "cell" + SUFFIXES[kind]).write_text(cell)
        said = Path(folder, "said")
        try:
            with open(said, "w") as out:
                exit_code_of([program(), "try", "cell" + SUFFIXES[kind], *options], cwd=folder, stdout=out, stderr=subprocess.STDOUT)
        finally:
            print(said.read_text(), end="")
