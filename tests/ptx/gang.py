# SPDX-License-Identifier: Apache-2.0
"""A gang: warps whose threads run in step. Of those that can go on, the ones at the earliest instruction do, up to the
next branch, so that threads that have parted meet again."""
from __future__ import annotations

from typing import Any, Optional, Protocol

import numpy as np

from lanes import Lanes, Step
from launch import LANES, Launch, LaunchFailure
from memory import Memory, MemoryFault
from ptx_text import BARRIERS, MEETINGS, Block, Instruction, Kernel, Label, Pair

Array = Any  # np.ndarray

MOST_TURNS_BACK = 16  # of loops, before others may go on

READY, EXITED, AT_BARRIER, AT_CLUSTER_BARRIER = range(4)


class Grid(Protocol):
    """What a gang is part of."""
    kernel: Kernel
    launch: Launch
    memory: Memory

    def count(self, one: Instruction, warp: Array, offset: Array, size: int) -> None: ...

    def barrier(self, gang: "Gang", one: Instruction, mask: Optional[Array], after: int) -> None: ...

    def exited(self, gang: "Gang", mask: Optional[Array]) -> None: ...


class Gang(Lanes):
    def __init__(self, grid: Grid, warps: Array) -> None:
        super().__init__(grid.kernel, grid.launch, grid.memory, grid.count, warps)
        self.grid = grid
        self.pc = np.zeros(self.size, np.int64)
        self.state = np.full(self.size, READY, np.int8)
        self.phase = np.zeros(self.size, np.int64)  # of the cluster's barrier that a thread has arrived at
        self.together: Optional[int] = 0  # where all threads are, if they are
        # Threads in a loop, perhaps until others have done something: these come first for a while.
        self.waits = np.zeros(self.size, bool)

    def ready_at(self) -> Optional[tuple[int, Optional[Array]]]:
        """The basic block that is next, and the threads that take it; None: none can go on."""
        if self.together is not None:
            return self.together, None
        ready = self.state == READY
        eager = ready & ~self.waits
        if not eager.any():
            self.waits[:] = False
            eager = ready
            if not ready.any():
                return None
        for at in self.order(np.unique(self.pc[eager])):
            mask = eager & (self.pc == at)
            end = self.kernel.blocks[at].end
            if self.meets(end):
                mask = self.complete(end, mask)
                if not mask.any():
                    continue
            return at, mask
        if self.waits.any():
            self.waits[:] = False
            return self.ready_at()
        return None

    def order(self, places: Array) -> list[int]:
        """Which of the places where threads are comes first."""
        return list(places)

    def meets(self, end: Optional[Instruction]) -> bool:
        """Whether the end of a basic block may have to wait for other lanes."""
        return end is not None and end.parts[0] in MEETINGS + BARRIERS

    def complete(self, one: Instruction, mask: Array) -> Array:
        """Of the threads in `mask`, those whose warp has all lanes there that the instruction needs."""
        there, exited = mask.reshape(-1, LANES), (self.state == EXITED).reshape(-1, LANES)
        if one.parts[0] in BARRIERS:
            return mask & (there | exited).all(axis=1).repeat(LANES)
        named = self.named_lanes(one)
        if (named & exited[:, None, :] & there[:, :, None]).any():
            raise LaunchFailure(f"{self.kernel.name}: a lane has exited that is named by {one.text}")
        return mask & ~(named & ~there[:, None, :]).any(axis=2).ravel()

    def named_lanes(self, one: Instruction) -> Array:
        """[warp][lane][lane that it names]"""
        masks = np.broadcast_to(self.source(one.operands[-1], "u32")(), (self.size,)).reshape(-1, LANES)
        return (masks[:, :, None] >> np.arange(LANES, dtype=np.uint32)) & np.uint32(1) != 0

    def run(self, turns: int) -> int:
        """Up to so many basic blocks, fewer in a loop; gives how many, 0 when no thread can go on."""
        last, back = -1, 0
        for turn in range(turns):
            found = self.ready_at()
            if found is None:
                return turn
            at, mask = found
            back += at <= last
            last = at
            if back > MOST_TURNS_BACK:
                self.waits |= True if mask is None else mask
                return turn
            steps, block = self.steps_at(at)
            try:
                for step in steps:
                    step(mask)
            except MemoryFault as fault:
                raise LaunchFailure(f"{self.kernel.name}: {fault} ({self.culprit(steps, step, block)})") from fault
            self.finish(block, mask)
        return turns

    @staticmethod
    def culprit(steps: list[Step], step: Step, block: Block) -> str:
        return block.body[steps.index(step)].text

    def move(self, mask: Optional[Array], to: int) -> None:
        if mask is None:
            self.together = to
            return
        self.pc[mask] = to
        first = self.pc[0]
        if (self.state == READY).all() and (self.pc == first).all():
            self.together = int(first)

    def part(self) -> None:
        """From now on threads are told apart."""
        if self.together is not None:
            self.pc[:] = self.together
            self.together = None

    def finish(self, block: Block, mask: Optional[Array]) -> None:
        """The end of a basic block."""
        one = block.end
        if one is None:
            self.move(mask, block.after)
            return
        name = one.parts[0]
        if name in MEETINGS:
            self.meet(one, mask)
            self.move(mask, block.after)
        elif name == "bra":
            self.branch(one, mask, block.after)
        else:
            taken = mask
            if one.guard is not None:
                guard = self.source(one.guard, "pred")()
                taken = guard.copy() if mask is None else mask & guard
                rest = ~guard if mask is None else mask & ~guard
                if rest.any():
                    self.part()
                    self.move(rest, block.after)
                if not taken.any():
                    return
            if name in ("exit", "ret"):
                self.part()
                self.state[slice(None) if taken is None else taken] = EXITED
                self.grid.exited(self, taken)
            elif name in BARRIERS:
                self.grid.barrier(self, one, taken, block.after)
            else:
                raise LaunchFailure(f"{self.kernel.name}: {one.text}")

    def branch(self, one: Instruction, mask: Optional[Array], after: int) -> None:
        label = one.operands[0]
        assert isinstance(label, Label)
        to = self.kernel.labels[label.name]
        if one.guard is None:
            self.move(mask, to)
            return
        guard = self.source(one.guard, "pred")()
        taken = guard if mask is None else mask & guard
        if not taken.any():
            self.move(mask, after)
        elif mask is None and guard.all():
            self.move(mask, to)
        else:
            rest = ~guard if mask is None else mask & ~guard
            taken = taken.copy()
            self.part()
            self.pc[taken] = to
            self.move(rest, after)

    def meet(self, one: Instruction, mask: Optional[Array]) -> None:
        """A shuffle or a vote."""
        there = np.ones(self.size, bool) if mask is None else mask
        named = self.named_lanes(one)
        if not named[:, np.arange(LANES), np.arange(LANES)].ravel()[there].all():
            raise LaunchFailure(f"{one.text}: by a lane that it does not name")
        if one.parts[0] == "vote":
            self.vote(one, there, named)
        else:
            self.shuffle(one, there)

    def vote(self, one: Instruction, there: Array, named: Array) -> None:
        values = np.broadcast_to(self.source(one.operands[1], "pred")(), (self.size,)).reshape(-1, 1, LANES)
        counted = named & there.reshape(-1, 1, LANES)
        result = (counted & values).any(axis=2) if one.parts[2] == "any" else ~(counted & ~values).any(axis=2)
        self.writer(one.operands[0], "pred")(result.ravel(), there)

    def shuffle(self, one: Instruction, there: Array) -> None:
        result, of, by, control, _ = one.operands
        values, distance, clamp = (np.broadcast_to(self.source(each, "u32")(), (self.size,))
                                   for each in (of, by, control))
        taken, inside = exchanged(one.parts[2], values, distance, clamp, there)
        first = result.first if isinstance(result, Pair) else result
        if first is not None:
            self.writer(first, "b32")(taken, there)
        if isinstance(result, Pair) and result.second is not None:
            self.writer(result.second, "pred")(inside, there)


def exchanged(how: str, values: Array, distance: Array, control: Array, there: Array) -> tuple[Array, Array]:
    """What each lane gets of a shuffle, and whether from within its segment."""
    values, distance, control = (each.astype(np.int64).reshape(-1, LANES) for each in (values, distance, control))
    lane = np.arange(LANES)
    segment, distance, clamp = control >> 8 & 31, distance & 31, control & 31
    last = lane & segment | clamp & ~segment
    source, inside = {
        "up": lambda: (lane - distance, lane - distance >= last),
        "down": lambda: (lane + distance, lane + distance <= last),
        "bfly": lambda: (lane ^ distance, lane ^ distance <= last),
        "idx": lambda: (lane & segment | distance & ~segment, (lane & segment | distance & ~segment) <= last),
    }[how]()
    source = np.where(inside, source, lane)
    # A lane that is not there has nothing to give.
    given = np.where(there.reshape(-1, LANES), values, 0xffffffff)
    return np.take_along_axis(given, source, axis=1).ravel(), inside.ravel()
