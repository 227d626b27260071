# SPDX-License-Identifier: Apache-2.0
"""The fused loop compiled by Numba, one thread, without fastmath: two fields with a ring of ghost
cells. Numba does not contract a*b+c unless asked to, so the bits are NumPy's. numba_parallel.py has
it on all threads."""
import numba
import numpy as np
from placement import zeros_beside


@numba.njit
def sweep_row(above, centre, below, out, factor, four):
    """A function of its own, of 1D arrays: only so does LLVM vectorise the loop, which makes it
    8 times as fast as the same loop over 2D indices."""
    for x in range(1, len(centre) - 1):
        u = centre[x]
        lap = above[x] + below[x] + centre[x - 1] + centre[x + 1] - four * u
        out[x] = u + factor * lap


def advance(now, after, steps, boundary, value, factor, four):
    for _ in range(steps):
        fill_ghosts(now, boundary, value)
        for y in numba.prange(now.shape[0] - 2):
            sweep_row(now[y], now[y + 1], now[y + 2], after[y + 1], factor, four)
        now, after = after, now
    return now, after


@numba.njit
def fill_ghosts(u, boundary, value):
    if boundary == "periodic":
        u[0], u[-1] = u[-2], u[1]
        u[:, 0], u[:, -1] = u[:, -2], u[:, 1]
    elif boundary == "dirichlet":
        u[0], u[-1] = value, value
        u[:, 0], u[:, -1] = value, value
    else:
        u[0], u[-1] = u[1], u[-2]
        u[:, 0], u[:, -1] = u[:, 1], u[:, -2]


class Peer:
    parallel = False  # prange is then range

    def __init__(self, start):
        self.initial = np.load(start["initial"])
        # Scalars of the field's dtype: with Python's, Numba would compute in float64.
        scalar = self.initial.dtype.type
        self.constants = (start["boundary"], scalar(start["boundary_value"]),
                          scalar(start["factor"]), scalar(4))
        numba.set_num_threads(start["threads"] if self.parallel else 1)
        self.threads = numba.get_num_threads()
        self.compiled = numba.njit(advance, parallel=self.parallel)
        self.versions = {"numba": numba.__version__, "numpy": np.__version__}
        shape = tuple(extent + 2 for extent in self.initial.shape)
        self.now = np.zeros(shape, scalar)
        self.after = zeros_beside(self.now)
        self.reset()

    def load(self, path):
        self.initial[...] = np.load(path)

    def reset(self):
        self.now[1:-1, 1:-1] = self.initial

    def advance(self, steps):
        self.now, self.after = self.compiled(self.now, self.after, steps, *self.constants)

    def field(self):
        return np.ascontiguousarray(self.now[1:-1, 1:-1])
