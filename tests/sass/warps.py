# SPDX-License-Identifier: Apache-2.0
"""Warps that execute machine code: how threads part, and meet where BSSY, BSYNC and WARPSYNC say so."""
from __future__ import annotations

import pathlib
from typing import Any, Optional

import numpy as np

from compile_kernels import target_of
from compiled import kernel_name
from gang import EXITED
from instructions import UR, Instructions
from launch import LANES, Launch, Schedule
from machine import Machine
from machine_code import ALWAYS, Fields, Instruction, Kernel, SassError, kernels_of
from memory import POISON
from ptx_text import Block

Array = Any  # np.ndarray

BARRIERS = ("BAR", "UCGABAR_ARV", "UCGABAR_WAIT")


class Warps(Instructions):
    def order(self, places: Array) -> list[int]:
        """Threads that have parted go on in any order."""
        seeded = self.grid.schedule.gangs > 1
        return list(self.grid.random.permutation(places) if seeded else places)

    def meets(self, end: Optional[Instruction]) -> bool:  # type: ignore[override]
        return end is not None and end.name in (*BARRIERS, "BSYNC", "WARPSYNC")

    def named_lanes(self, one: Instruction) -> Array:  # type: ignore[override]
        f = Fields(one)
        if one.name == "BSYNC":
            masks = self.waited_for[f(16, 20)]
        elif f.form == 1:
            masks = self.r[f(24, 32) if self.collective(one) else f(32, 40)]
        else:
            masks = np.full(self.size, f(32, 64) or POISON, np.uint32)
        return (masks.reshape(-1, LANES)[:, :, None] >> np.arange(LANES, dtype=np.uint32)) & np.uint32(1) != 0

    @staticmethod
    def collective(one: Instruction) -> bool:
        return bool(one.bits(86, 87))

    def complete(self, one: Instruction, mask: Array) -> Array:  # type: ignore[override]
        there, exited = mask.reshape(-1, LANES), (self.state == EXITED).reshape(-1, LANES)
        if one.name in BARRIERS:
            return mask & (there | exited).all(axis=1).repeat(LANES)
        return mask & ~(self.named_lanes(one) & ~(there | exited)[:, None, :]).any(axis=2).ravel()

    def finish(self, block: Block, mask: Optional[Array]) -> None:
        one, at = block.end, block.after - 1
        if one is None:
            self.move(mask, block.after)
            return
        f = Fields(one)
        guard = self.guard(f)
        taken, rest = mask, None
        if guard is not None:
            taken = guard().copy() if mask is None else mask & guard()
            rest = ~guard() if mask is None else mask & ~guard()
        if one.name == "BRA":
            taken, rest = self.branches(f, mask, taken, rest)
        self.check_end(f)
        if rest is not None and rest.any():
            if taken is not None and not taken.any():
                self.move(mask, block.after)
                return
            self.part()
            self.move(rest, block.after)
        elif rest is not None:
            taken = mask
        if one.name in ("BRA", "CALL"):
            self.move(taken, self.kernel.target(at, one))
        elif one.name == "RET":
            back = self.r[f(24, 32)] // np.uint32(16)
            there = np.ones(self.size, bool) if taken is None else taken
            self.part()
            for to in np.unique(back[there]).tolist():
                self.move(there & (back == to), self.kernel.target(at, one) + to)
        elif one.name == "EXIT":
            self.part()
            self.state[slice(None) if taken is None else taken] = EXITED
            self.grid.exited(self, taken)
        elif one.name in BARRIERS:
            self.grid.barrier(self, one, taken, block.after)
        else:
            self.move(taken, block.after)

    def branches(self, f: Fields, mask: Optional[Array], taken: Optional[Array],
                 rest: Optional[Array]) -> tuple[Optional[Array], Optional[Array]]:
        """Those that do, and those that do not."""
        way, lanes = f.expect(32, 34, 0, 1, 2, 3), f(24, 32)
        further, on_uniform = self.predicate(f, 87), f(91)
        if way < 2 and not on_uniform and f.one.bits(87, 91) == ALWAYS:
            return taken, rest
        there = np.ones(self.size, bool) if mask is None else mask
        goes = further() & (there if taken is None else taken)
        if way > 1:
            # Where not all lanes that a mask names are there, or where they are.
            named = self.r[UR + (lanes & 0x3f)] ^ np.uint32(POISON if lanes & 0x40 else 0)
            missing = named & ~self.ballot(there | (self.state == EXITED)).repeat(LANES)
            goes = goes & ((missing != 0) if way == 2 else missing == 0)
        elif on_uniform:
            raise SassError(f"{f.one.text}: not known")
        return goes, there & ~goes

    def check_end(self, f: Fields) -> None:
        name = f.one.name
        if name in ("BRA", "CALL", "RET"):
            f(34, 82)
            if self.kernel.architecture >= 90:
                f(16, 24)
        if name in ("CALL", "RET"):
            f.expect(86, 87, 1)
        if name == "RET":
            f(24, 32)
        if name == "BAR":
            f.expect(80, 81, 0, 1)
            if f.form == 1:  # in a register: 0, which is all of the block at its first barrier
                f(32, 40)
        elif name in BARRIERS:
            f.expect(91, 92, 1)
        elif name == "BSYNC":
            f(16, 20)
        elif name == "WARPSYNC":
            f(16, 40) if f.one.bits(86, 87) or f.form == 1 else f(32, 64)
            f(86)
        if name != "BRA" and name not in BARRIERS:
            f.expect(87, 91, ALWAYS)
        f.end()


def kernels_in(folder: pathlib.Path, architecture: str, *sources: str) -> dict[tuple[str, str], Kernel]:
    """By name and type, of files that compile_kernels.py has left."""
    found = {}
    for source in sources:
        cubin = target_of(folder, architecture, source, ".cubin").read_bytes()
        for kernel in kernels_of(cubin, int(architecture.removeprefix("sm_"))):
            kernel.gang = Warps
            found[kernel_name(kernel.name)] = kernel
    return found


def check_instructions(kernel: Kernel) -> None:
    """All of them, executed or not. Throws SassError for one that is not known."""
    launch = Launch((1, 1), (LANES, 1))
    warp, = Machine(kernel, launch, bytes(kernel.parameter_bytes), {}, Schedule()).gangs
    for begin, block in kernel.blocks.items():
        warp.steps_at(begin)
        if block.end is not None:
            fields = Fields(block.end)
            if block.end.name == "BRA":
                warp.branches(fields, None, None, None)
            warp.check_end(fields)
