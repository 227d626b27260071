# SPDX-License-Identifier: Apache-2.0
"""How a kernel is launched, and what comes of it besides its results."""
from __future__ import annotations

from dataclasses import dataclass

LANES = 32  # of a warp
SECTOR = 32  # bytes


class LaunchFailure(Exception):
    """What a device reports of a kernel, or would hang of."""


@dataclass(frozen=True)
class Launch:
    """In threads and blocks, as a launch on a device is described. `cluster`: blocks, along x."""
    grid: tuple[int, int]
    block: tuple[int, int]
    shared_bytes: int = 0
    cluster: int = 1

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1]


@dataclass(frozen=True)
class Schedule:
    """`gangs` that the warps are dealt into, at most one a warp; `staleness`: of memory.py."""
    seed: int = 0
    gangs: int = 1
    staleness: float = 0.5


@dataclass
class Sectors:
    """Of an instruction: how often a warp executed it, the sectors of 32 bytes that it touched, and its bytes."""
    text: str
    warps: int = 0
    sectors: int = 0
    bytes: int = 0
