# SPDX-License-Identifier: Apache-2.0
"""The field's kernels, launched as kernels/ does, and NumPy's own evaluation of what they compute.

What a launch is given follows kernels/backends/cuda_naive.cu and kernels/src: stream_rows.hpp, tile_session.cpp and
tile_plan.cpp; how structs lie, grid.hpp.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np

from launch import Launch, Schedule, Sectors
from machine import Device
from ptx_text import Kernel

Array = Any  # np.ndarray
Area = tuple[int, int, int, int]  # left, top, right, bottom

BOUNDARIES = ("periodic", "dirichlet", "neumann")  # as enum class Boundary numbers them
LANES = 32
STREAMED_DEPTH = 8
PATCH_HEIGHT = 4
MOST_TILE_THREADS = 512
TILE_SHARED_BYTES = 2 * 2 * 16 * MOST_TILE_THREADS
STRIP_QUADS = 2

AREA = np.dtype([(name, np.int32) for name in ("left", "top", "right", "bottom")])
TILE_SHAPE = np.dtype([(name, np.int32) for name in ("depth", "tile_width", "tile_height", "tiles_x")])
PACKET_BUFFERS = np.dtype([("packets", np.int64), ("patches_x", np.int32), ("patches", np.int32)])
PACKET_BYTES, PACKETS_OF_PATCH = 16, 6
STRIP_SHAPE = np.dtype([("strips_x", np.int32), ("rows", np.int32), ("wraps_columns", np.bool_)], align=True)


def grid_type(dtype: Any) -> np.dtype[Any]:
    return np.dtype([("nx", np.int32), ("ny", np.int32), ("pitch", np.int64), ("boundary", np.int32),
                     ("constant", dtype), ("factor", dtype)], align=True)


def blocks(extent: int, size: int) -> int:
    """Of `size` that cover `extent`."""
    return -(-extent // size)


@dataclass(frozen=True)
class Problem:
    nx: int
    ny: int
    dtype: str
    boundary: str = "periodic"
    constant: float = 0.75
    diffusion_number: float = 0.1

    @property
    def quad(self) -> int:
        return 16 // np.dtype(self.dtype).itemsize

    @property
    def pitch(self) -> int:
        return blocks(self.nx, 32) * 32

    def random_field(self, seed: int = 1) -> Array:
        return np.random.default_rng(seed).standard_normal((self.ny, self.nx)).astype(self.dtype)


def reference(problem: Problem, u: Array, steps: int) -> Array:
    """NumPy's, of a field with a ring of ghost cells."""
    kind = u.dtype.type
    factor = kind(problem.diffusion_number)
    rings: dict[str, Any] = {
        "periodic": {"mode": "wrap"}, "neumann": {"mode": "edge"},
        "dirichlet": {"mode": "constant", "constant_values": kind(problem.constant)}}
    for _ in range(steps):
        v = np.pad(u, 1, **rings[problem.boundary])
        lap = np.roll(v, +1, 0) + np.roll(v, -1, 0) + np.roll(v, +1, 1) + np.roll(v, -1, 1) - kind(4) * v
        u = u + factor * lap[1:-1, 1:-1]
    return u


@dataclass(frozen=True)
class TilePlan:
    """tile_plan.hpp; `rows` of a strip."""
    block_x: int
    block_y: int
    depth: int
    rows: int = 0

    def shape(self, problem: Problem, area: Area) -> tuple[Array, Launch]:
        width = self.block_x * problem.quad - 2 * self.depth
        height = self.block_y * PATCH_HEIGHT - 2 * self.depth
        tiles_x = blocks(area[2] - area[0], width)
        tiles = tiles_x * blocks(area[3] - area[1], height)
        return (np.array((self.depth, width, height, tiles_x), TILE_SHAPE),
                Launch((tiles, 1), (self.block_x, self.block_y), TILE_SHARED_BYTES))


def streamed_areas(problem: Problem) -> tuple[Optional[Area], bool, list[Area]]:
    """Of the strips, whether they wrap round, and of the tiles."""
    nx, ny, quad = problem.nx, problem.ny, problem.quad
    periodic = problem.boundary == "periodic"
    wraps = periodic and nx % quad == 0
    left, top, right, bottom = 0, 0, nx, ny
    if not wraps:
        left, right = STREAMED_DEPTH, (nx - STREAMED_DEPTH) // quad * quad
    if not periodic:
        top, bottom = STREAMED_DEPTH, ny - STREAMED_DEPTH
    if right <= left or bottom <= top:
        return None, wraps, [(0, 0, nx, ny)]
    around = [(0, 0, nx, top), (0, bottom, nx, ny), (0, top, left, bottom), (right, top, nx, bottom)]
    return (left, top, right, bottom), wraps, [area for area in around if area[2] > area[0] and area[3] > area[1]]


@dataclass
class FieldRun:
    """A field on a device. Each method advances it by steps; `sectors`: of the last launch."""
    problem: Problem
    kernels: dict[tuple[str, str], Kernel]
    schedule: Schedule = Schedule()
    counts_sectors: bool = False
    sectors: list[Sectors] = field(default_factory=list)

    def __post_init__(self) -> None:
        problem, self.device = self.problem, Device()
        kind = np.dtype(problem.dtype)
        # Whatever no upload writes: NaN.
        fresh = np.full((problem.ny, problem.pitch * kind.itemsize), 0xff, np.uint8).view(kind)
        self.now, self.next = self.device.put(fresh), self.device.put(fresh)
        self.packets, self.exchanges = 0, 0  # of numbered(): where, and how many there were
        self.grid = np.array((problem.nx, problem.ny, problem.pitch, BOUNDARIES.index(problem.boundary),
                              problem.constant, problem.diffusion_number), grid_type(kind))

    def cells(self) -> Array:
        """The field as it is, to read and write."""
        shape = (self.problem.ny, self.problem.pitch)
        return self.device.get(self.now, self.problem.dtype, shape)[:, :self.problem.nx]

    def launch(self, name: str, launch: Launch, *arguments: Any) -> None:
        self.sectors = self.device.launch(self.kernels[name, self.problem.dtype], launch, [self.grid, *arguments],
                                          self.schedule, self.counts_sectors)

    def swap(self) -> None:
        self.now, self.next = self.next, self.now

    def fields(self) -> tuple[np.int64, np.int64]:
        return np.int64(self.now), np.int64(self.next)

    def naive(self, steps: int, most_blocks_y: int = 65535) -> None:
        problem = self.problem
        for _ in range(steps):
            for first in range(0, problem.ny, 8 * most_blocks_y):
                rows = min(problem.ny - first, 8 * most_blocks_y)
                self.launch("naive_step", Launch((blocks(problem.nx, 32), blocks(rows, 8)), (32, 8)),
                            np.int32(first), *self.fields())
            self.swap()

    def stream_rows(self, steps: int, multiprocessors: int, most_blocks_y: int = 65535) -> None:
        problem = self.problem
        row_blocks = blocks(problem.nx, LANES * problem.quad)
        few = min(max(problem.ny * row_blocks // max(1, 16 * multiprocessors), 1), 16)
        rows = max(few, blocks(problem.ny, 4 * most_blocks_y))
        for _ in range(steps):
            self.launch("stream_rows_step", Launch((row_blocks, blocks(problem.ny, 4 * rows)), (LANES, 4)),
                        np.int32(rows), *self.fields())
            self.swap()

    def tiles(self, plan: TilePlan, area: Area, steps: int) -> None:
        shape, launch = plan.shape(self.problem, area)
        self.launch("blocked_steps", launch, np.array(area, AREA), shape, np.int32(steps), *self.fields())

    def blocked(self, steps: int, plan: TilePlan) -> None:
        while steps > 0:
            self.tiles(plan, (0, 0, self.problem.nx, self.problem.ny), min(steps, plan.depth))
            self.swap()
            steps -= plan.depth

    def persistent(self, steps: int, plan: TilePlan) -> None:
        shape, launch = plan.shape(self.problem, (0, 0, self.problem.nx, self.problem.ny))
        flags = self.device.put(np.zeros(launch.blocks, np.uint32))
        self.launch("persistent_steps", launch, shape, np.int64(steps), *self.fields(), np.int64(flags))
        if (blocks(steps, plan.depth) - 1) % 2 == 0:
            self.swap()

    def numbered(self, steps: int, plan: TilePlan) -> None:
        problem = self.problem
        across = blocks(problem.nx, problem.quad)
        patches = across * blocks(problem.ny, PATCH_HEIGHT)
        self.packets = self.packets or self.device.put(
            np.zeros(2 * PACKETS_OF_PATCH * patches * PACKET_BYTES, np.uint8))
        shape, launch = plan.shape(problem, (0, 0, problem.nx, problem.ny))
        self.launch("numbered_steps", launch, shape, np.int64(steps), *self.fields(),
                    np.array((self.packets, across, patches), PACKET_BUFFERS), np.uint32(self.exchanges + 1))
        self.exchanges += blocks(steps, plan.depth) - 1
        self.swap()

    def in_launches(self, steps: int, plan: TilePlan, most_steps: int) -> None:
        """numbered(), so many steps at once at most."""
        for at in range(0, steps, most_steps):
            self.numbered(min(most_steps, steps - at), plan)

    def strips(self, plan: TilePlan, kernel: str = "streamed_steps") -> None:
        """Of streamed(), the launch over the strips."""
        strips, wraps, _ = streamed_areas(self.problem)
        if strips is None:
            return
        halo = blocks(STREAMED_DEPTH, self.problem.quad) * self.problem.quad
        across = blocks(strips[2] - strips[0], LANES * STRIP_QUADS * self.problem.quad - 2 * halo)
        self.launch(kernel, Launch((across * blocks(strips[3] - strips[1], plan.rows), 1), (LANES, 1)),
                    np.array(strips, AREA), np.array((across, plan.rows, wraps), STRIP_SHAPE), *self.fields())

    def swapped(self, steps: int, plan: TilePlan) -> None:
        self.streamed(steps, plan, "swapped_steps")

    def streamed(self, steps: int, plan: TilePlan, kernel: str = "streamed_steps") -> None:
        while steps > 0:
            if steps < STREAMED_DEPTH:
                self.tiles(plan, (0, 0, self.problem.nx, self.problem.ny), steps)
            else:
                self.strips(plan, kernel)
                for area in streamed_areas(self.problem)[2]:
                    self.tiles(plan, area, STREAMED_DEPTH)
            self.swap()
            steps -= STREAMED_DEPTH
