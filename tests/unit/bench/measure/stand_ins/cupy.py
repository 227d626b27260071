# SPDX-License-Identifier: Apache-2.0
"""What the peers cupy_roll and cupy_kernel use of CuPy, by NumPy: their own lines run where no GPU is."""
import numpy
from numpy import asarray, empty_like, pad, roll  # noqa: F401

__version__ = "stand-in"


def asnumpy(array):
    return numpy.array(array)


class ElementwiseKernel:
    """The step, whatever the text says; it is the GPU's to compile that."""

    def __init__(self, _inputs, _output, _text, name, options=()):
        assert "--fmad=false" in options
        self.boundary = name.removeprefix("diffusion_step_")

    def __call__(self, u, nx, ny, factor, outside, after):
        assert u.shape == (ny, nx)
        how = {"periodic": {"mode": "wrap"}, "neumann": {"mode": "edge"},
               "dirichlet": {"mode": "constant", "constant_values": outside}}[self.boundary]
        p = pad(u, 1, **how)
        after[...] = u + factor * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u)


class cuda:  # noqa: N801
    class Device:
        id = 0

        def synchronize(self):
            pass

    class runtime:  # noqa: N801
        @staticmethod
        def getDeviceProperties(_device):  # noqa: N802
            return {"name": b"a stand-in"}
