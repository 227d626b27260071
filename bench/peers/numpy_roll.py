# SPDX-License-Identifier: Apache-2.0
"""The line that all of diffbench is measured against: whole-array NumPy, one thread, written as a
tutorial writes it.

Beyond the arithmetic its time is that of the C library's heap. With no other array of this size
alive, what a step frees lies at the end of the heap, glibc gives it back to the system, and the
next step pays a page fault for every page again: at 640x640 some 400 faults a step in float32, more
than half of its time. Whether one more array happens to be alive decides it. This script therefore
holds the field and nothing else, as the tutorial's does; the peer numpy_pooled is the same script
with a glibc that keeps what is freed (its settings are in bench/measure/peer.cpp).
"""
import numpy as np


def laplacian_periodic(u):
    return np.roll(u, +1, 0) + np.roll(u, -1, 0) + np.roll(u, +1, 1) + np.roll(u, -1, 1) - 4 * u


def laplacian_padded(u, **pad):
    p = np.pad(u, 1, **pad)
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u


class Peer:
    def __init__(self, start):
        self.initial = start["initial"]
        self.laplacian = laplacian_padded
        self.pad = {}
        if start["boundary"] == "dirichlet":
            self.pad = {"mode": "constant", "constant_values": start["boundary_value"]}
        elif start["boundary"] == "neumann":
            self.pad = {"mode": "edge"}
        else:
            self.laplacian = laplacian_periodic
        self.reset()
        self.factor = self.u.dtype.type(start["factor"])
        self.threads = 1
        self.versions = {"numpy": np.__version__}

    def evolve(self, u):
        return u + self.factor * self.laplacian(u, **self.pad)

    def load(self, path):
        self.initial = path

    def reset(self):
        self.u = None  # freed before the new one is made, or it would leave a gap in the heap
        self.u = np.load(self.initial)

    def advance(self, steps):
        for _ in range(steps):
            self.u = self.evolve(self.u)

    def field(self):
        return self.u
