# SPDX-License-Identifier: Apache-2.0
"""What NumPy has no function for: fused multiply-add, rounded as asked, and the approximations of PTX.

A sum in float64 that is rounded to odd (to the neighbour with the odd last bit, unless it is exact) can be
rounded again, to float32 or as part of a longer sum, without an error (Boldo and Melquiond, "Emulation of FMA and
correctly rounded sums", IEEE Trans. Comput. 57(4), 2008).
"""
from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

Array = Any  # np.ndarray; NumPy 1.24's own types say nothing of the element


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """a + b rounded, and its error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """a * b rounded, and its error (Dekker)."""
    splitter = 134217729.0  # 2^27 + 1
    a_high = splitter * a - (splitter * a - a)
    b_high = splitter * b - (splitter * b - b)
    a_low, b_low = a - a_high, b - b_high
    product = a * b
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _odd_sum(a: Array, b: Array) -> Array:
    """a + b in float64, rounded to odd."""
    total, error = _two_sum(a, b)
    bits = total.view(np.int64)
    # The neighbour on the error's side, where the last bit is even: towards 0 or away from it.
    step = np.where((error > 0) == (total > 0), 1, -1)
    inexact = (error != 0) & np.isfinite(error) & (bits & 1 == 0)
    return np.where(inexact, bits + step, bits).view(np.float64)


def fma32(a: Array, b: Array, c: Array, rounding: str = "rn") -> Array:
    """float32. `rounding`: rn to nearest, rm down, rp up, rz towards 0."""
    a, b, c = np.broadcast_arrays(a, b, c)
    with np.errstate(all="ignore"):
        if rounding == "rn":
            # As of -4 * u: where the product is exact there is nothing to be fused.
            product = a * b
            exact = a.astype(np.float64) * b
            if np.array_equal(product, exact):
                return product + c
        else:
            exact = a.astype(np.float64) * b
        total = _odd_sum(exact, c.astype(np.float64))
        nearest = total.astype(np.float32)
        if rounding == "rn":
            return nearest
        up = np.nextafter(nearest, np.float32(np.inf))
        down = np.nextafter(nearest, np.float32(-np.inf))
        above, below = nearest > total, nearest < total
        return {"rm": np.where(above, down, nearest), "rp": np.where(below, up, nearest),
                "rz": np.where(above & (total > 0), down, np.where(below & (total < 0), up, nearest))}[rounding]


def _exact_fma(a: float, b: float, c: float) -> float:
    total = Fraction(a) * Fraction(b) + Fraction(c)
    if total == 0:
        return a * b + c  # for the sign
    try:
        return float(total)
    except OverflowError:
        return float("inf") if total > 0 else float("-inf")


def fma64(a: Array, b: Array, c: Array) -> Array:
    """float64, to nearest."""
    a, b, c = (np.ascontiguousarray(each) for each in np.broadcast_arrays(a, b, c))
    with np.errstate(all="ignore"):
        high, low = _two_product(a, b)
        size = np.abs(high)
        finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
        # Where the steps may over- or underflow: one by one.
        extreme = finite & (a != 0) & (b != 0) & (
            ~(size > 1e-250) | ~(size < 1e290) | (np.abs(a) > 1e290) | (np.abs(b) > 1e290) |
            (np.abs(c) > 1e290) | ((np.abs(c) < 1e-250) & (c != 0)))
        result = high + c
        if low.any():
            middle, rest = _two_sum(c, low)
            total, left = _two_sum(high, middle)
            result = np.where(finite & (low != 0), total + _odd_sum(rest, left), result)
        for i in np.flatnonzero(extreme):
            result.flat[i] = _exact_fma(float(a.flat[i]), float(b.flat[i]), float(c.flat[i]))
        return result


def _flush(x: Array) -> Array:
    """Denormal numbers of float32 to 0."""
    return np.where(np.abs(x) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), x), x)


def ex2_approx_ftz(x: Array) -> Array:
    """2^x rounded to float32: within the 2 ulp that PTX allows."""
    with np.errstate(all="ignore"):
        return _flush(np.exp2(_flush(x).astype(np.float64)).astype(np.float32))


def rcp_approx_ftz64(x: Array) -> Array:
    """1/x of float64 to 32 bits of it, as PTX says of rcp.approx.ftz.f64."""
    with np.errstate(all="ignore"):
        bits = (1.0 / x).view(np.uint64) & np.uint64(0xffffffff00000000)
        return bits.view(np.float64)
