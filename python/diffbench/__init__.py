# SPDX-License-Identifier: Apache-2.0
"""The diffusion equation du/dt = D (d2u/dx2 + d2u/dy2) on NumPy arrays, by diffbench's backends.

    import diffbench
    u = diffbench.solve(u, 1000)                  # in the place of a loop over rolled copies of u
    u = diffbench.solve(u, 1000, ranks=4)         # on four ranks of MPI
    diffbench.backends()                          # what there is, and what can run here
    diffbench.run(grid=640, iters=1000)           # the program's comparison, as a dict

A step is, in the dtype of u and to the last bit, what NumPy computes of

    lap = roll(u,+1,0) + roll(u,-1,0) + roll(u,+1,1) + roll(u,-1,1) - 4*u
    u   = u + (dt*D/h**2) * lap
"""
import difflib
import functools
import os
import re

# With OMP_PROC_BIND the library of OpenMP binds this thread for good, and with it all of Python.
_own_cpus = os.sched_getaffinity(0)
from ._core import Session, Unavailable, backends, solve

os.sched_setaffinity(0, _own_cpus)
from ._run import Interrupted, Result, RunError, run

__all__ = ["Interrupted", "Result", "RunError", "Session", "Unavailable", "backends", "run", "solve"]


def _refusing_in_a_line(call, name):
    """`call`, without the signatures and arrays that pybind11 prints for arguments that do not fit."""

    @functools.wraps(call)
    def checked(*values, **keywords):
        try:
            return call(*values, **keywords)
        except TypeError as error:
            if "argument types are supported" not in str(error):
                raise
            signature = re.search(r"\(\w.*\)", str(error).splitlines()[1])[0]
        known = re.findall(r"(\w+): ", signature)
        for unknown in (keyword for keyword in keywords if keyword not in known):
            near = difflib.get_close_matches(unknown, known, 1)
            hint = f", did you mean '{near[0]}'?" if near else f"; it has {', '.join(known)}"
            raise TypeError(f"{name}() has no argument '{unknown}'{hint}")
        raise TypeError(f"the arguments do not fit {name}{signature}")

    return checked


_solve_here = _refusing_in_a_line(solve, "solve")


@functools.wraps(_solve_here)
def solve(*values, ranks=None, **keywords):
    if ranks is None:
        return _solve_here(*values, **keywords)
    from ._ranks import solve_on_ranks

    return solve_on_ranks(_solve_here, ranks, *values, **keywords)


solve.__doc__ = solve.__doc__.replace(") -> ", ", ranks: Optional[int] = None) -> ", 1) + """
ranks: processes of MPI (mpirun, or $DIFFBENCH_MPIRUN) that each take a band of the rows; None: this process alone.
   `threads` is then that of each rank. The first steps are compared with the oracle. Raises RunError where the program fails."""
for _name in ("__init__", "upload", "advance", "download"):
    setattr(Session, _name, _refusing_in_a_line(getattr(Session, _name), "Session" if _name == "__init__" else _name))


def load_ipython_extension(ipython):
    """%load_ext diffbench: the cell magic %%diffbench_try."""
    from ._magic import diffbench_try

    ipython.register_magic_function(diffbench_try, "cell", "diffbench_try")
