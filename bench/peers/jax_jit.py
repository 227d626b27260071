# SPDX-License-Identifier: Apache-2.0
"""The NumPy line in JAX, compiled by jit, many steps a call.

XLA contracts a*b+c to one rounding on the GPU and has no switch against it (openxla/xla issue
41579). Where the product is exact that changes nothing: with a diffusion number that is a power of
two (--dt 0.125) and a field without denormal numbers (--init random) the bits are NumPy's. With
others they differ in the last place, and the row says so.
"""
import os

# JAX would take three quarters of the GPU's memory, which belongs to the other rows, too.
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

import jax
import jax.numpy as jnp
import numpy as np

STEPS_PER_CALL = 100


def laplacian_periodic(u):
    return jnp.roll(u, +1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, +1, 1) + jnp.roll(u, -1, 1) - 4 * u


def laplacian_padded(u, **pad):
    p = jnp.pad(u, 1, **pad)
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u


class Peer:
    def __init__(self, start):
        cells = np.load(start["initial"])
        jax.config.update("jax_enable_x64", cells.dtype == np.float64)
        # Another device is for tests of this script where there is no GPU.
        device = jax.devices(os.environ.get("DIFFBENCH_PEER_DEVICE", "cuda"))[0]
        self.versions = {"jax": jax.__version__, "numpy": np.__version__,
                         "device": device.device_kind}
        self.threads = 1
        self.put = lambda array: jax.device_put(array, device)
        self.initial = self.put(cells)
        self.laplacian = laplacian_padded
        self.pad = {}
        if start["boundary"] == "dirichlet":
            self.pad = {"mode": "constant", "constant_values": start["boundary_value"]}
        elif start["boundary"] == "neumann":
            self.pad = {"mode": "edge"}
        else:
            self.laplacian = laplacian_periodic
        self.factor = cells.dtype.type(start["factor"])
        self.one = jax.jit(self.step)
        # A loop of known length: with another, the host would read the counter in every step.
        self.many = jax.jit(lambda u: jax.lax.fori_loop(
            0, STEPS_PER_CALL, lambda _, v: self.step(v), u))
        self.many(self.initial).block_until_ready()
        self.reset()

    def step(self, u):
        return u + self.factor * self.laplacian(u, **self.pad)

    def load(self, path):
        self.initial = self.put(np.load(path))

    def reset(self):
        self.u = self.initial

    def advance(self, steps):
        u = self.u
        for _ in range(steps // STEPS_PER_CALL):
            u = self.many(u)
        for _ in range(steps % STEPS_PER_CALL):
            u = self.one(u)
        self.u = u.block_until_ready()

    def field(self):
        return np.asarray(self.u)
