# SPDX-License-Identifier: Apache-2.0
"""Fields, how each is advanced, and what NumPy makes of it: for PTX and for machine code."""
from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np

from field_launches import FieldRun, Problem, TilePlan, reference
from launch import LaunchFailure, Schedule
from ptx_text import Kernel

DTYPES = ("float32", "float64")
# The first finds all that was ever left out, with this nvcc.
SCHEDULES = (Schedule(0, gangs=2), Schedule(1, gangs=6), Schedule(2, gangs=6))
Kernels = dict[tuple[str, str], Kernel]
Array = Any  # np.ndarray


@dataclasses.dataclass(frozen=True)
class Case:
    """A field, and how it is advanced: FieldRun's method and its further arguments."""
    nx: int
    ny: int
    steps: int
    method: str
    arguments: tuple[Any, ...] = ()

    def result(self, kernels: Kernels, dtype: str, boundary: str, schedule: Schedule) -> tuple[Array, Array]:
        """The field, and NumPy's. Throws LaunchFailure."""
        problem = Problem(self.nx, self.ny, dtype, boundary)
        run, start = FieldRun(problem, kernels, schedule), problem.random_field()
        run.cells()[:] = start
        getattr(run, self.method)(self.steps, *self.arguments)
        return np.ascontiguousarray(run.cells()), reference(problem, start, self.steps)


def same_bits(found: Array, expected: Array) -> bool:
    kind = np.uint32 if found.dtype == np.float32 else np.uint64
    return np.array_equal(found.view(kind), expected.view(kind))


# Several blocks, tiles and strips, the last ones not full. In tiles of depth 3 patches are accessed cell by cell, too.
CASES = [
    Case(37, 19, 2, "naive"),
    Case(33, 20, 1, "naive", (1,)),  # as many launches as blocks in y
    Case(150, 23, 2, "stream_rows", (1,)),
    Case(31, 37, 1, "stream_rows", (100, 3)),
    Case(53, 31, 6, "blocked", (TilePlan(8, 8, 4),)),
    Case(41, 27, 4, "blocked", (TilePlan(16, 4, 3),)),
    Case(5, 3, 2, "blocked", (TilePlan(8, 4, 2),)),
    Case(50, 20, 11, "persistent", (TilePlan(8, 4, 3),)),
    Case(36, 45, 9, "persistent", (TilePlan(8, 8, 4),)),
    Case(5, 4, 5, "persistent", (TilePlan(8, 4, 2),)),
    Case(48, 24, 11, "numbered", (TilePlan(8, 4, 4),)),
    Case(36, 44, 17, "in_launches", (TilePlan(8, 8, 4), 9)),
]
STREAMED = {dtype: [Case(width + 12, 21, 9, "streamed", (TilePlan(16, 8, 8, 13),)),
                    Case(width + 27, 29, 8, "streamed", (TilePlan(16, 8, 8, 7),)),
                    Case(width + 12, 21, 9, "swapped", (TilePlan(16, 8, 8, 13),)),
                    Case(width + 27, 29, 8, "swapped", (TilePlan(16, 8, 8, 7),))]
            for dtype, width in (("float32", 240), ("float64", 112))}  # and of a strip
# With two warps a tile, a last turn of an odd number of steps, and one exchange more than there are buffers.
MUTATED = {"blocked_steps": Case(40, 28, 4, "blocked", (TilePlan(8, 8, 3),)),
           "persistent_steps": Case(40, 36, 9, "persistent", (TilePlan(8, 8, 3),)),
           "numbered_steps": Case(40, 36, 15, "numbered", (TilePlan(8, 8, 4),))}
# Of tiles narrower than a halo: a block waits for more neighbours than it has threads.
MANY_NEIGHBOURS = Case(20, 20, 31, "persistent", (TilePlan(8, 8, 15),))


def is_wrong(case: Case, kernels: Kernels) -> bool:
    """Whether a run is. At edges of the grid a step has code of its own."""
    for schedule, boundary in itertools.product(SCHEDULES, ("periodic", "neumann")):
        try:
            if not same_bits(*case.result(kernels, "float32", boundary, schedule)):
                return True
        except LaunchFailure:
            return True
    return False
