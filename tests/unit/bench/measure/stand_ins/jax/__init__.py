# SPDX-License-Identifier: Apache-2.0
"""What the peer jax_jit uses of JAX, by NumPy: its own lines run where no JAX is."""
import types

import numpy as np

__version__ = "stand-in"


class Array(np.ndarray):
    def block_until_ready(self):
        return self


def device_put(array, _device):
    return np.array(array).view(Array)


def devices(_kind):
    return [types.SimpleNamespace(device_kind="a stand-in")]


def jit(function):
    return function


config = types.SimpleNamespace(update=lambda _name, _value: None)


class lax:  # noqa: N801
    @staticmethod
    def fori_loop(begin, end, body, value):
        for i in range(begin, end):
            value = body(i, value)
        return value
