# SPDX-License-Identifier: Apache-2.0
"""The NumPy line in PyTorch, eager, on the CPU with torch's own threads. Each operation is a kernel
of its own, so nothing is contracted and the bits are NumPy's."""
import numpy as np
import torch
from torch.nn.functional import pad


class Peer:
    def __init__(self, start):
        torch.set_grad_enabled(False)
        torch.set_num_threads(start["threads"])
        self.initial = torch.from_numpy(np.load(start["initial"]))
        self.u = self.initial
        self.factor = torch.tensor(start["factor"], dtype=self.initial.dtype)
        self.step = self.step_periodic
        if start["boundary"] == "dirichlet":
            self.step = self.step_padded
            self.pad = {"mode": "constant", "value": start["boundary_value"]}
        elif start["boundary"] == "neumann":
            self.step = self.step_padded
            self.pad = {"mode": "replicate"}
        self.threads = torch.get_num_threads()
        self.versions = {"torch": torch.__version__, "numpy": np.__version__}

    def step_periodic(self, u):
        lap = u.roll(+1, 0) + u.roll(-1, 0) + u.roll(+1, 1) + u.roll(-1, 1) - 4 * u
        return u + self.factor * lap

    def step_padded(self, u):
        # Padding by replication wants batch and channel dimensions.
        p = pad(u[None, None], (1, 1, 1, 1), **self.pad)[0, 0]
        lap = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u
        return u + self.factor * lap

    def load(self, path):
        self.initial.copy_(torch.from_numpy(np.load(path)))

    def reset(self):
        self.u = self.initial

    def advance(self, steps):
        u = self.u
        for _ in range(steps):
            u = self.step(u)
        self.u = u

    def field(self):
        return self.u.numpy()
