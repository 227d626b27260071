"""The line that all of diffbench is measured against: whole-array NumPy, one thread."""
import numpy as np


class Peer:
    def __init__(self, start):
        self.initial = np.load(start["initial"])
        self.u = self.initial
        self.factor = self.initial.dtype.type(start["factor"])
        self.step = self.step_periodic
        if start["boundary"] == "dirichlet":
            self.step = self.step_padded
            self.pad = {"mode": "constant", "constant_values": start["boundary_value"]}
        elif start["boundary"] == "neumann":
            self.step = self.step_padded
            self.pad = {"mode": "edge"}
        self.threads = 1
        self.versions = {"numpy": np.__version__}

    def step_periodic(self, u):
        lap = np.roll(u, +1, 0) + np.roll(u, -1, 0) + np.roll(u, +1, 1) + np.roll(u, -1, 1) - 4 * u
        return u + self.factor * lap

    def step_padded(self, u):
        p = np.pad(u, 1, **self.pad)
        lap = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u
        return u + self.factor * lap

    def reset(self):
        self.u = self.initial

    def advance(self, steps):
        u = self.u
        for _ in range(steps):
            u = self.step(u)
        self.u = u

    def field(self):
        return self.u
