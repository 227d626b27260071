# SPDX-License-Identifier: Apache-2.0
"""Where the second of two fields lies that a stencil reads and writes in turns: as this program's own
(base/include/diffbench/aligned_memory.hpp has the reason). Where NumPy's heap puts it, equal sessions of
numba_fused were up to 9 % apart at 256x256 for life; so placed 1 %."""
import numpy as np

PERIOD = 4096  # bytes: loads and stores that agree modulo this meet
LINE = 64


def middle_of_gap(row_bytes):
    """The place modulo PERIOD that is farthest from the streams of the stencil."""
    row = row_bytes % PERIOD
    taken = [0, min(row, PERIOD - row), max(row, PERIOD - row), PERIOD]
    gap, begin = max((after - before, -before) for before, after in zip(taken, taken[1:]))
    return (gap // 2 - begin) // LINE * LINE


def zeros_beside(first):
    """Zeros of the shape of `first`, its rows one after another."""
    memory = np.zeros(first.nbytes + PERIOD, np.uint8)
    wanted = address(first) + middle_of_gap(first.strides[0])
    begin = (wanted - address(memory)) % PERIOD
    return memory[begin:begin + first.nbytes].view(first.dtype).reshape(first.shape)


def address(array):
    return array.__array_interface__["data"][0]
