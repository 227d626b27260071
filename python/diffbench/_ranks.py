# SPDX-License-Identifier: Apache-2.0
"""solve() on many ranks: the program under mpirun, and files for the field."""
import operator
import os
import shlex
import shutil
import tempfile
from pathlib import Path

import numpy

from ._process import exit_code_of, program
from ._run import RunError, words_of

PLACES = ("dt", "diffusivity", "spacing", "boundary", "backend", "threads")  # of what may be given without its name


def launcher():
    """$DIFFBENCH_MPIRUN (a command with its options), or the mpirun in PATH."""
    words = shlex.split(os.environ.get("DIFFBENCH_MPIRUN", "mpirun"))
    if not words or not shutil.which(words[0]):
        raise FileNotFoundError("ranks: there is no mpirun in PATH (apt-get install openmpi-bin); set DIFFBENCH_MPIRUN to yours")
    return words


def solve_on_ranks(solve_here, ranks, u, steps, *values, out=None, **options):
    """The arguments are those of solve(), which looks at them first: it takes no step."""
    ranks, steps = operator.index(ranks), operator.index(steps)
    if ranks < 1 or steps < 0:
        raise ValueError(f"ranks={ranks}, steps={steps}: ranks from 1 on, steps from 0 on")
    field = solve_here(u, 0, *values, **options)
    if out is not None:
        solve_here(u, 0, *values, **options, out=out if out is not u else None)
    if steps > 0:
        options = {**dict(zip(PLACES, values)), **options}
        field = _run(ranks, field, steps, options)
    if out is None:
        return field
    out[...] = field
    return out


def _run(ranks, field, steps, options):
    with tempfile.TemporaryDirectory(prefix="diffbench-") as folder:
        before, after, said = (Path(folder, name) for name in ("before.npy", "after.npy", "said"))
        numpy.save(before, field)
        command = [*launcher(), "-n", str(ranks), program(), "run", "--init", str(before), "--save", str(after),
                   "--dtype", str(field.dtype), "--grid", f"{field.shape[1]}x{field.shape[0]}", "--iters", str(steps),
                   *words_of(options)]
        with open(said, "w") as file:
            code = exit_code_of(command, stdout=file, stderr=file, env={**os.environ, "NO_COLOR": "1"})
        if code != 0:
            lines = [line for line in said.read_text().splitlines() if line.strip()]
            own = [line for line in lines if line.startswith("diffbench: ")]
            raise RunError((own or lines or [f"mpirun ended with {code}"])[-1], code)
        return numpy.load(after)
