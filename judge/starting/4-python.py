"""One step with NumPy: diffbench try FILE

u[y, x] is a cell, factor is dt D / h^2 in u's type, and np.roll makes the edges periodic.
"""
import numpy as np


def step(u, factor):
    lap = (np.roll(u, +1, 0) + np.roll(u, -1, 0)
           + np.roll(u, +1, 1) + np.roll(u, -1, 1) - 4 * u)
    return u + factor * lap
