# SPDX-License-Identifier: Apache-2.0
"""One kernel a step, written with CuPy's ElementwiseKernel. The compiler contracts a*b+c to one
rounding by default; told not to, it gives NumPy's bits."""
import cupy as cp
import numpy as np
from cupy_roll import device_name

# What lies outside the field: above, below, left and right of the cell i.
OUTSIDE = {
    "periodic": ("u[i + (ny - 1) * nx]", "u[i - (ny - 1) * nx]", "u[i + nx - 1]", "u[i - nx + 1]"),
    "dirichlet": ("outside",) * 4,
    "neumann": ("u[i]",) * 4,
}


def step_kernel(boundary):
    above, below, left, right = OUTSIDE[boundary]
    return cp.ElementwiseKernel(
        "raw T u, int64 nx, int64 ny, T factor, T outside", "T next",
        f"""
        const long long x = i % nx;
        const long long y = i / nx;
        const T above = y > 0 ? u[i - nx] : {above};
        const T below = y < ny - 1 ? u[i + nx] : {below};
        const T left = x > 0 ? u[i - 1] : {left};
        const T right = x < nx - 1 ? u[i + 1] : {right};
        next = u[i] + factor * (above + below + left + right - T(4) * u[i]);
        """, f"diffusion_step_{boundary}", options=("--fmad=false",))


class Peer:
    def __init__(self, start):
        self.versions = {"cupy": cp.__version__, "numpy": np.__version__, "device": device_name()}
        self.threads = 1
        self.initial = cp.asarray(np.load(start["initial"]))
        scalar = self.initial.dtype.type
        rows, columns = self.initial.shape
        self.constants = (columns, rows, scalar(start["factor"]), scalar(start["boundary_value"]))
        self.step = step_kernel(start["boundary"])
        self.now, self.after = self.initial.copy(), cp.empty_like(self.initial)

    def load(self, path):
        self.initial[...] = cp.asarray(np.load(path))

    def reset(self):
        self.now[...] = self.initial
        cp.cuda.Device().synchronize()

    def advance(self, steps):
        for _ in range(steps):
            self.step(self.now, *self.constants, self.after)
            self.now, self.after = self.after, self.now
        cp.cuda.Device().synchronize()

    def field(self):
        return cp.asnumpy(self.now)
