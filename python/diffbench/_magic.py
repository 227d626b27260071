# SPDX-License-Identifier: Apache-2.0
"""The cell magic of notebooks: %%diffbench_try KIND hands the cell to `diffbench try`."""
import shlex
import subprocess
import tempfile
from pathlib import Path

from ._process import exit_code_of, program

SUFFIXES = {"cuda": ".cu", "cpp": ".cpp", "c": ".c", "python": ".py"}


def diffbench_try(line, cell):
    """%%diffbench_try cuda|cpp|c|python [options of `diffbench try`]: is this kernel right, why not, and how fast?"""
    try:
        kind, *options = shlex.split(line) or [""]
    except ValueError as error:
        print(f"%%diffbench_try: {error}")
        return
    if kind not in SUFFIXES:
        print(f"%%diffbench_try: say what the cell is: {', '.join(SUFFIXES)}")
        return
    with tempfile.TemporaryDirectory(prefix="diffbench-") as folder:
        file, said = Path(folder, "cell" + SUFFIXES[kind]), Path(folder, "said")
        file.write_text(cell)
        try:
            with open(said, "w") as out:
                exit_code_of([program(), "try", str(file), *options], stdout=out, stderr=subprocess.STDOUT)
        finally:
            print(said.read_text().replace(f"{folder}/", ""), end="")
