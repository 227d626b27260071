# SPDX-License-Identifier: Apache-2.0
"""The diffusion equation du/dt = D (d2u/dx2 + d2u/dy2) on NumPy arrays, by diffbench's backends.

    import diffbench
    u = diffbench.solve(u, 1000)                  # in the place of a loop over rolled copies of u
    diffbench.backends()                          # what there is, and what can run here
    diffbench.run(grid=640, iters=1000)           # the program's comparison, as a dict

A step is, in the dtype of u and to the last bit, what NumPy computes of

    lap = roll(u,+1,0) + roll(u,-1,0) + roll(u,+1,1) + roll(u,-1,1) - 4*u
    u   = u + (dt*D/h**2) * lap
"""
import os

# With OMP_PROC_BIND the library of OpenMP binds this thread for good, and with it all of Python.
_own_cpus = os.sched_getaffinity(0)
from ._core import Session, Unavailable, backends, solve

os.sched_setaffinity(0, _own_cpus)
from ._run import Interrupted, Result, RunError, run

__all__ = ["Interrupted", "Result", "RunError", "Session", "Unavailable", "backends", "run", "solve"]


def load_ipython_extension(ipython):
    """%load_ext diffbench: the cell magic %%diffbench_try."""
    from ._magic import diffbench_try

    ipython.register_magic_function(diffbench_try, "cell", "diffbench_try")
