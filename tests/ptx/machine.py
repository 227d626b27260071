# SPDX-License-Identifier: Apache-2.0
"""Runs a grid of blocks on a kernel's PTX.

Warps are dealt into gangs by a seed. Which gang goes on, and for how long, the seed chooses; one may fall far behind.
In one gang of the whole grid a kernel is quick; in many, each order of warps that barriers allow can come up.
"""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from gang import AT_BARRIER, AT_CLUSTER_BARRIER, EXITED, READY, Gang
from launch import LANES, SECTOR, Launch, LaunchFailure, Schedule, Sectors
from memory import GLOBAL, GUARD, Memory, Place
from ptx_text import Instruction, Kernel

Array = Any  # np.ndarray

MOST_TURNS = 100_000  # of basic blocks: more is a thread that waits for ever


@dataclass
class ClusterBarrier:
    """`clock`: what the threads that have arrived in this phase have released; `released`: in the phase before."""
    phase: int = 0
    arrived: int = 0
    clock: Optional[Array] = None
    released: Optional[Array] = None


class Machine:
    """A launch of a kernel. `arrays`: bytes by address, in global memory."""

    def __init__(self, kernel: Kernel, launch: Launch, parameters: bytes, arrays: dict[int, Array],
                 schedule: Schedule, counts_sectors: bool = False) -> None:
        if launch.threads % LANES or launch.blocks % launch.cluster:
            raise LaunchFailure(f"{kernel.name}: {launch}")
        self.kernel, self.launch, self.schedule, self.parameters = kernel, launch, schedule, parameters
        self.random = np.random.default_rng(schedule.seed)
        warps = launch.blocks * launch.threads // LANES
        self.block_of_warp = np.arange(warps) // (launch.threads // LANES)
        place = Place(self.block_of_warp, self.block_of_warp // launch.cluster)
        self.memory = Memory(parameters, arrays, (launch.blocks, kernel.shared_bytes + launch.shared_bytes),
                             (warps * LANES, kernel.local_bytes), place, schedule.staleness, self.random)
        self.arrived: Counter[int] = Counter()  # threads at the barrier of a block
        self.left: Counter[int] = Counter({block: launch.threads for block in range(launch.blocks)})
        self.clusters = [ClusterBarrier() for _ in range(launch.blocks // launch.cluster)]
        self.sectors: Optional[dict[int, Sectors]] = {} if counts_sectors else None
        order = np.arange(warps)
        gangs = min(schedule.gangs, warps)
        if gangs > 1:
            order = self.random.permutation(warps)
        self.gangs = [(kernel.gang or Gang)(self, np.sort(part)) for part in np.array_split(order, gangs)]

    def run(self) -> dict[int, Array]:
        """The arrays as the kernel leaves them. Throws LaunchFailure, PtxError."""
        weights = self.random.random(len(self.gangs)) + 0.1
        if self.random.random() < 0.5:
            weights[self.random.integers(len(weights))] = 1e-3
        turns, looping = 0, set[int]()  # gangs that come after the others
        with np.errstate(all="ignore"):
            while any((gang.state != EXITED).any() for gang in self.gangs):
                order = np.argsort(self.random.exponential(size=len(weights)) / weights).tolist()
                quantum = int(self.random.integers(1, 40)) if len(self.gangs) > 1 else 1000
                for i in sorted(order, key=lambda i: i in looping):
                    done = self.gangs[i].run(quantum)
                    if done:
                        break
                else:
                    raise LaunchFailure(f"{self.kernel.name}: threads wait for others that do not come")
                if self.gangs[i].waits.any():
                    looping.add(i)
                else:
                    looping.clear()
                turns += done
                if turns > MOST_TURNS:
                    raise LaunchFailure(f"{self.kernel.name}: does not end")
        return self.memory.results()

    def count(self, one: Instruction, warp: Array, offset: Array, size: int) -> None:
        """The sectors of an access to global memory."""
        if self.sectors is None or offset.max() >= self.memory.parameters_at:
            return
        entry = self.sectors.setdefault(id(one), Sectors(one.text))
        first = offset // SECTOR
        touched = np.unique(np.concatenate([warp << 32 | first, warp << 32 | (offset + size - 1) // SECTOR]))
        entry.warps += len(np.unique(warp))
        entry.sectors += len(touched)
        entry.bytes += size * len(offset)

    # Barriers.

    def exited(self, gang: Gang, mask: Optional[Array]) -> None:
        gone = gang.block if mask is None else gang.block[mask]
        for block, count in Counter(gone.tolist()).items():
            self.left[block] -= count
            self.open_barrier(block)

    def barrier(self, gang: Gang, one: Instruction, mask: Optional[Array], after: int) -> None:
        parts = [part for part in one.parts if part != "aligned"]
        if parts[:2] == ["barrier", "cluster"]:
            self.cluster_barrier(gang, parts[2:], mask, after)
            return
        chosen = np.ones(gang.size, bool) if mask is None else mask
        gang.part()
        gang.state[chosen] = AT_BARRIER
        gang.pc[chosen] = after
        for block, count in Counter(gang.block[chosen].tolist()).items():
            self.arrived[block] += count
            self.open_barrier(block)

    def open_barrier(self, block: int) -> None:
        if not 0 < self.left[block] <= self.arrived[block]:
            return
        self.arrived[block] = 0
        self.memory.clocks.meet(np.flatnonzero(self.block_of_warp == block))
        for gang in self.gangs:
            self.wake(gang, (gang.block == block) & (gang.state == AT_BARRIER))

    @staticmethod
    def wake(gang: Gang, mask: Array) -> None:
        gang.state[mask] = READY
        for at in np.unique(gang.pc[mask]).tolist():
            gang.move(mask & (gang.pc == at), at)

    def cluster_barrier(self, gang: Gang, parts: list[str], mask: Optional[Array], after: int) -> None:
        chosen = np.ones(gang.size, bool) if mask is None else mask
        gang.part()
        if parts[0] == "arrive":
            gang.phase[chosen] += 1
            gang.move(chosen, after)
            self.arrive(gang, chosen, releases=parts[1:] != ["relaxed"])
            return
        gang.state[chosen] = AT_CLUSTER_BARRIER
        gang.pc[chosen] = after
        for cluster in set((gang.first_block[chosen] // self.launch.cluster).tolist()):
            self.open_cluster_barrier(cluster)

    def arrive(self, gang: Gang, chosen: Array, releases: bool) -> None:
        for warp in set(gang.warp[chosen].tolist()):
            cluster = int(self.block_of_warp[warp]) // self.launch.cluster
            barrier = self.clusters[cluster]
            clocks = self.memory.clocks
            # Relaxed, after a fence: what that one has seen.
            clock = clocks.snapshot(warp) if releases else clocks.fenced.get(warp, ("", None))[1]
            if clock is not None:
                barrier.clock = clock if barrier.clock is None else np.maximum(barrier.clock, clock)
            barrier.arrived += int((gang.warp[chosen] == warp).sum())
            first = cluster * self.launch.cluster
            if barrier.arrived == sum(self.left[block] for block in range(first, first + self.launch.cluster)):
                barrier.phase, barrier.arrived = barrier.phase + 1, 0
                barrier.released, barrier.clock = barrier.clock, None
                self.open_cluster_barrier(cluster)

    def open_cluster_barrier(self, cluster: int) -> None:
        barrier = self.clusters[cluster]
        for gang in self.gangs:
            mask = (gang.first_block == cluster * self.launch.cluster) & (gang.state == AT_CLUSTER_BARRIER) & \
                (gang.phase <= barrier.phase)
            for warp in set(gang.warp[mask].tolist()):
                if barrier.released is not None:
                    self.memory.clocks.join(warp, barrier.released)
            self.wake(gang, mask)


def check_opcodes(kernel: Kernel) -> None:
    """All of them, executed or not. Throws PtxError for one that is not known."""
    machine = Machine(kernel, Launch((1, 1), (LANES, 1)), bytes(kernel.parameter_bytes), {}, Schedule())
    for begin in kernel.blocks:
        machine.gangs[0].steps_at(begin)


class Device:
    """Arrays in global memory, from one launch to the next."""

    def __init__(self) -> None:
        self.arrays: dict[int, Array] = {}
        self.end = GLOBAL + GUARD

    def put(self, values: Array) -> int:
        """The address of a copy."""
        data = np.ascontiguousarray(values).view(np.uint8).ravel().copy()
        at = self.end
        self.arrays[at] = data
        self.end = at + -(-(len(data) + GUARD) // 256) * 256
        return at

    def get(self, at: int, dtype: Any, shape: Any = -1) -> Array:
        return self.arrays[at].view(dtype).reshape(shape)

    def launch(self, kernel: Kernel, launch: Launch, arguments: list[Any], schedule: Schedule,
               counts_sectors: bool = False) -> list[Sectors]:
        """`arguments`: NumPy scalars, of a struct those of a structured type. Gives the sectors of each access to
        global memory, in the order of the code. Throws LaunchFailure, PtxError."""
        given = [np.asarray(argument).tobytes() for argument in arguments]
        sizes = [size for _, size in kernel.parameters]
        if [len(argument) for argument in given] != sizes:
            raise LaunchFailure(f"{kernel.name}: arguments of {[len(a) for a in given]} bytes for {sizes}")
        parameters = bytearray(kernel.parameter_bytes)
        for (offset, size), argument in zip(kernel.parameters, given):
            parameters[offset:offset + size] = argument
        machine = Machine(kernel, launch, bytes(parameters), self.arrays, schedule, counts_sectors)
        self.arrays = machine.run()
        order = {id(one): at for at, one in enumerate(kernel.instructions)}
        return [found for _, found in sorted((machine.sectors or {}).items(), key=lambda item: order[item[0]])]
