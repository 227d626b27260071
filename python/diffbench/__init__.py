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
from ._core import Session, Unavailable, backends
from ._run import Result, RunError, run

__all__ = ["Result", "RunError", "Session", "Unavailable", "backends", "run", "solve"]


def solve(u, steps, dt=0.1, diffusivity=1.0, spacing=1.0, boundary="periodic", backend="simd", threads=None, *,
          boundary_value=0.0, out=None, allow_unstable=False):
    """The field after `steps` time steps, as a new array (or in `out`).

    u: array (ny, nx), float32 or float64, at least 3 by 3; it is read where it lies when it is contiguous by rows, else
       copied once, and left as it is. Cells that are not finite spread as they do in NumPy.
    steps: 0 or more.
    dt, diffusivity, spacing: positive; dt*D/h**2 at most 1/4 unless allow_unstable.
    boundary: "periodic", "dirichlet" (cells outside hold boundary_value) or "neumann" (no flux).
    backend: a name of backends(). threads: its threads; None: it chooses.
    out: an array like the result, contiguous by rows; it may be u.

    Blocks until the result is there; other Python threads run meanwhile, and Ctrl-C ends it within half a second where a step takes
    less. Raises ValueError and TypeError for arguments that cannot be used, Unavailable for a backend that is not here,
    MemoryError, and RuntimeError for what goes wrong.
    """
    session = Session(u.shape, u.dtype, dt=dt, diffusivity=diffusivity, spacing=spacing, boundary=boundary,
                      boundary_value=boundary_value, backend=backend, threads=threads, allow_unstable=allow_unstable)
    session.upload(u)
    session.advance(steps)
    return session.download(out)


def load_ipython_extension(ipython):
    """%load_ext diffbench: the cell magic %%diffbench_try."""
    from ._magic import diffbench_try

    ipython.register_magic_function(diffbench_try, "cell", "diffbench_try")
