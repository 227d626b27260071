# SPDX-License-Identifier: Apache-2.0
"""The kernels as compile_kernels.py left them."""
from __future__ import annotations

import gc
import pathlib
import re
from typing import Any, Callable

import numpy as np

from compile_kernels import target_of
from launch import Launch, Schedule
from machine import Device
from ptx_text import Kernel, Module

Array = Any  # np.ndarray

DTYPES = {"If": "float32", "Id": "float64"}
# What the variants of a template are called in kernels/src/kernels.hpp.
VARIANTS = {("streamed_steps", "Lb0E"): "streamed_steps", ("streamed_steps", "Lb1E"): "swapped_steps"}


class Compiled:
    """PTX for an architecture, from a folder; `kernels` of sources by name and type."""

    def __init__(self, directory: str, architecture: str) -> None:
        self.directory, self.architecture = pathlib.Path(directory), architecture

    def texts(self, sources: str) -> list[str]:
        """Of sources by a pattern."""
        paths = sorted(self.directory.glob(str(target_of(pathlib.Path(), self.architecture, sources))))
        return [path.read_text(encoding="utf-8") for path in paths]

    def module(self, source: str) -> Module:
        text, = self.texts(source)
        return Module(text)

    def kernels(self, *sources: str) -> dict[tuple[str, str], Kernel]:
        found = {}
        for module in (Module(text) for each in sources for text in self.texts(each)):
            for name in module.kernel_names:
                found[kernel_name(name)] = module.kernel(name)
        # The garbage collector need not look through a hundred thousand instructions again and again.
        gc.collect()
        gc.freeze()
        return found

    def function(self, name: str, dtype: str) -> Callable[[Array], Array]:
        """CUDA's own exponential or logarithm (functions.cu)."""
        return function_of(self.kernels("tests/ptx/functions.cu")[name, dtype])


def function_of(kernel: Any) -> Callable[[Array], Array]:
    """Of a kernel that computes one, thread by thread."""
    def compute(x: Array) -> Array:
        flat = np.ones(-(-x.size // 32) * 32, x.dtype)
        flat[:x.size] = x.ravel()
        device = Device()
        given, made = device.put(flat), device.put(flat)
        device.launch(kernel, Launch((len(flat) // 32, 1), (32, 1)), [np.int64(given), np.int64(made)], Schedule())
        return device.get(made, x.dtype)[:x.size].reshape(x.shape).copy()
    return compute


def kernel_name(mangled: str) -> tuple[str, str]:
    """("naive_step", "float32"): of names and their lengths the last one, and the argument of a template, or ""."""
    at, name = len("_ZN") if mangled.startswith("_ZN") else len("_Z"), ""
    while match := re.match(r"\d+", mangled[at:]):
        begin = at + match.end()
        at = begin + int(match[0])
        name = mangled[begin:at]
    return VARIANTS.get((name, mangled[at + 2:at + 6]), name), DTYPES.get(mangled[at:at + 2], "")
