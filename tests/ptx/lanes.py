# SPDX-License-Identifier: Apache-2.0
"""Threads in step: their registers, each an array with a number a thread, and what an instruction does with them.

An instruction becomes a function, made when it is reached for the first time and given which of the threads take it.
"""
from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Callable, Optional

import numpy as np

from launch import LANES, Launch
from memory import LOCAL, PARAMETERS, SCOPES, SHARED, SHARED_WINDOW, Memory
from opcodes import DTYPES, Operation, check_end, operation
from ptx_text import (BYTES, Address, Block, Immediate, Instruction, Kernel, Operand, Pair, PtxError, Register, Special,
                      Symbol, Vector)

Array = Any  # np.ndarray
Step = Callable[[Optional[Array]], None]  # given the threads that take it; None: all


@dataclass(frozen=True)
class Access:
    """Of a load or a store. `strong`: None, "relaxed", "acquire" or "release"."""
    dtype: str
    count: int
    space: str
    strong: Optional[str]
    scope: str


@functools.cache
def access_of(opcode: str) -> Access:
    dtype, count, space, strong, scope = "", 1, "", None, "sys"
    for part in opcode.split(".")[1:]:
        if part in DTYPES and not dtype:
            dtype = part
        elif part in ("v2", "v4"):
            count = int(part[1])
        elif part in ("global", "local", "param", "shared", "shared::cta", "shared::cluster"):
            space = part.split("::")[0]
        elif part in ("relaxed", "acquire", "release"):
            strong = part
        elif part == "volatile":
            strong = "relaxed"
        elif part in SCOPES:
            scope = part
        elif part not in ("weak", "nc"):
            raise PtxError(f"opcode not known: {opcode}")
    return Access(dtype, count, space, strong, scope)


class Lanes:
    """Whole warps. Threads are numbered within them, lane after lane. `count` is told of each access: the
    instruction, of each thread its warp and where it accesses, and how many bytes."""

    def __init__(self, kernel: Kernel, launch: Launch, memory: Memory,
                 count: Callable[[Instruction, Array, Array, int], None], warps: Array) -> None:
        self.kernel, self.memory, self.count = kernel, memory, count
        self.thread = (warps[:, None] * LANES + np.arange(LANES)).ravel()  # in the grid
        self.size = len(self.thread)
        self.warp = self.thread // LANES
        self.block = self.thread // launch.threads
        self.first_block = self.block // launch.cluster * launch.cluster
        self.registers: dict[str, Array] = {}
        self.bound: dict[int, tuple[list[Step], Block]] = {}
        within = self.thread % launch.threads
        x, y = self.block % launch.grid[0], self.block // launch.grid[0]
        self.specials = {
            "%tid.x": within % launch.block[0], "%tid.y": within // launch.block[0], "%tid.z": 0 * x,
            "%ntid.x": 0 * x + launch.block[0], "%ntid.y": 0 * x + launch.block[1], "%ntid.z": 0 * x + 1,
            "%ctaid.x": x, "%ctaid.y": y, "%ctaid.z": 0 * x, "%nctaid.x": 0 * x + launch.grid[0],
            "%nctaid.y": 0 * x + launch.grid[1], "%nctaid.z": 0 * x + 1, "%laneid": self.thread % LANES,
            "%cluster_ctarank": self.block - self.first_block, "%cluster_ctaid.x": self.block - self.first_block,
            "%cluster_nctarank": 0 * x + launch.cluster, "%cluster_nctaid.x": 0 * x + launch.cluster}
        self.shared_base = SHARED + (self.block - self.first_block) * SHARED_WINDOW

    # Operands.

    def register(self, name: str) -> Array:
        if name not in self.registers:
            kind = self.kernel.registers[name]
            unsigned = "pred" if kind == "pred" else f"u{8 * BYTES[kind]}"
            self.registers[name] = np.zeros(self.size, DTYPES[unsigned])
        return self.registers[name]

    def typed(self, name: str, dtype: str) -> Array:
        """A register as an array of a type; of a narrower one, as wide as the register is."""
        register = self.register(name)
        if dtype == "pred":
            return register
        size = register.itemsize
        if size == BYTES[dtype]:
            return register.view(DTYPES[dtype])
        if size < BYTES[dtype] or dtype[0] == "f":
            raise PtxError(f"register {name} of {size} bytes as {dtype}")
        return register.view(DTYPES[("s" if dtype[0] == "s" else "u") + str(8 * size)])

    def source(self, operand: Operand, dtype: str) -> Callable[[], Array]:
        kind = DTYPES[dtype]
        if isinstance(operand, Register):
            values = self.typed(operand.name, dtype)
            if operand.negated:
                return lambda: ~values
            if values.dtype != kind:
                return lambda: values.astype(kind)
            return lambda: values
        constant = self.constant(operand, dtype)
        return lambda: constant

    def constant(self, operand: Operand, dtype: str) -> Array:
        kind = DTYPES[dtype]
        if isinstance(operand, Immediate):
            if dtype == "pred":
                return np.bool_(operand.bits)
            size = BYTES[dtype]
            if operand.kind != "int" and operand.kind != f"f{8 * size}":
                raise PtxError(f"a constant of {operand.kind} as {dtype}")
            return np.frombuffer((operand.bits & ((1 << 8 * size) - 1)).to_bytes(size, "little"), kind)[0]
        if isinstance(operand, Special):
            if operand.name not in self.specials:
                raise PtxError(f"register not known: {operand.name}")
            return self.specials[operand.name].astype(kind)
        if isinstance(operand, Symbol):
            base = {"shared": self.shared_base, "local": LOCAL, "param": PARAMETERS}[operand.space]
            return np.broadcast_to(np.asarray(base + operand.offset).astype(kind), (self.size,))
        raise PtxError(f"not a value: {operand}")

    def writer(self, operand: Optional[Operand], dtype: str) -> Callable[[Array, Optional[Array]], None]:
        if not isinstance(operand, Register):
            raise PtxError(f"not a register: {operand}")
        target = self.typed(operand.name, dtype)

        def write(values: Array, mask: Optional[Array]) -> None:
            if mask is None:
                np.copyto(target, values, casting="unsafe")
            else:
                np.copyto(target, values, where=mask, casting="unsafe")
        return write

    # Instructions.

    def steps_at(self, begin: int) -> tuple[list[Step], Block]:
        if begin not in self.bound:
            block = self.kernel.blocks[begin]
            if block.end is not None:
                check_end(block.end)
            self.bound[begin] = [self.bind(one) for one in block.body], block
        return self.bound[begin]

    def bind(self, one: Instruction) -> Step:
        step = self.bind_unguarded(one)
        if one.guard is None:
            return step
        guard = self.source(one.guard, "pred")

        def guarded(mask: Optional[Array]) -> None:
            taken = guard() if mask is None else mask & guard()
            if taken.any():
                step(taken)
        return guarded

    def bind_unguarded(self, one: Instruction) -> Step:
        name = one.parts[0]
        if name == "mov":
            return self.bind_move(one)
        if name in ("ld", "st"):
            return self.bind_access(one)
        if name in ("fence", "membar"):
            return self.bind_fence(one)
        if one.opcode == "prefetch.global.L2":
            return lambda mask: None
        return self.bind_operation(one, operation(one.opcode))

    def bind_operation(self, one: Instruction, op: Operation) -> Step:
        result, *operands = one.operands
        if len(operands) != len(op.sources):
            raise PtxError(f"operands of: {one.text}")
        sources = [self.source(each, dtype) for each, dtype in zip(operands, op.sources)]
        compute = op.compute
        if isinstance(result, Pair):
            raise PtxError(f"opcode not known: {one.text}")
        # A ufunc writes where it is told to.
        if isinstance(compute, np.ufunc) and isinstance(result, Register):
            target = self.typed(result.name, op.result)
            if target.dtype == DTYPES[op.result]:
                def direct(mask: Optional[Array]) -> None:
                    if mask is None:
                        compute(*[source() for source in sources], out=target)
                    else:
                        compute(*[source() for source in sources], out=target, where=mask)
                return direct
        write = self.writer(result, op.result)
        return lambda mask: write(compute(*[source() for source in sources]), mask)

    def bind_move(self, one: Instruction) -> Step:
        dtype = one.parts[-1]
        to, of = one.operands
        if len(one.parts) != 2 or dtype not in DTYPES:
            raise PtxError(f"opcode not known: {one.opcode}")
        if isinstance(to, Vector):
            part = f"b{8 * BYTES[dtype] // len(to.items)}"
            source = self.source(of, f"b{8 * BYTES[dtype]}")
            writers = [(i, self.writer(item, part)) for i, item in enumerate(to.items) if item is not None]

            def unpack(mask: Optional[Array]) -> None:
                parts = np.ascontiguousarray(source()).view(DTYPES[part]).reshape(-1, len(to.items))
                for i, write in writers:
                    write(parts[:, i], mask)
            return unpack
        if isinstance(of, Vector):
            part = f"b{8 * BYTES[dtype] // len(of.items)}"
            sources = [self.source(item, part) for item in of.items if item is not None]
            write_all = self.writer(to, f"b{8 * BYTES[dtype]}")

            def pack(mask: Optional[Array]) -> None:
                parts = np.empty((self.size, len(sources)), DTYPES[part])
                for i, source in enumerate(sources):
                    parts[:, i] = source()
                write_all(parts.view(DTYPES[f"b{8 * BYTES[dtype]}"])[:, 0], mask)
            return pack
        bits = dtype if dtype == "pred" else f"u{8 * BYTES[dtype]}"
        source_of, write_one = self.source(of, bits), self.writer(to, bits)
        return lambda mask: write_one(source_of(), mask)

    def bind_fence(self, one: Instruction) -> Step:
        scope = {"gl": "gpu", "sys": "sys", "cta": "cta"}.get(one.parts[-1], one.parts[-1])
        known = (("membar", one.parts[-1]), ("fence", "acq_rel", scope), ("fence", "sc", scope))
        if scope not in SCOPES or one.parts not in known:
            raise PtxError(f"opcode not known: {one.opcode}")

        def fence(mask: Optional[Array]) -> None:
            warps = self.warp if mask is None else self.warp[mask]
            self.memory.fence(set(warps.tolist()), scope)
        return fence

    def bind_access(self, one: Instruction) -> Step:
        access = access_of(one.opcode)
        is_load = one.parts[0] == "ld"
        place, held = one.operands if not is_load else one.operands[::-1]
        assert isinstance(place, Address)
        items = held.items if isinstance(held, Vector) else (held,)
        if len(items) != access.count:
            raise PtxError(f"operands of: {one.text}")
        space = place.base.space if isinstance(place.base, Symbol) else access.space
        wide = not isinstance(place.base, Register) or BYTES[self.kernel.registers[place.base.name]] == 8
        base = self.source(place.base, "u64" if wide else "u32")
        memory, size = self.memory, BYTES[access.dtype]
        narrow = size * access.count < 4
        words = size * access.count // 4
        unsigned = DTYPES[f"u{8 * size}"]

        def located(mask: Optional[Array]) -> tuple[Array, Array]:
            chosen = slice(None) if mask is None else np.flatnonzero(mask)
            address = np.broadcast_to(base(), (self.size,))[chosen].astype(np.int64) + place.offset
            return chosen, memory.offsets(address, space, self.first_block[chosen], self.thread[chosen])
        if is_load:
            signed = access.dtype[0] == "s"
            held_as = f"{'s' if signed else 'u'}{8 * size}"
            writers = [self.typed(item.name, held_as) if isinstance(item, Register) else None for item in items]

            def load(mask: Optional[Array]) -> None:
                chosen, offset = located(mask)
                warp = self.warp[chosen]
                if narrow:
                    word = memory.load(warp, offset & ~3, 1)[:, 0]
                    values = (word >> ((offset & 3) * 8).astype(np.uint32)).astype(unsigned)[:, None]
                elif access.strong is not None:
                    values = memory.load_strong(warp, offset, words, access.scope, access.strong == "acquire")
                else:
                    values = memory.load(warp, offset, words)
                if not narrow:
                    values = values.view(unsigned)
                if signed:
                    values = values.view(DTYPES[f"s{8 * size}"])
                self.count(one, warp, offset, size * access.count)
                for i, target in enumerate(writers):
                    if target is not None:
                        target[chosen] = values[:, i]
            return load
        sources = [self.source(item, f"u{8 * size}") for item in items if item is not None]

        def store(mask: Optional[Array]) -> None:
            chosen, offset = located(mask)
            warp = self.warp[chosen]
            values = np.empty((len(offset), access.count), unsigned)
            for i, source in enumerate(sources):
                values[:, i] = np.broadcast_to(source(), (self.size,))[chosen]
            self.count(one, warp, offset, size * access.count)
            if narrow:
                memory.store_narrow(warp, offset, values.view(np.uint8))
            elif access.strong is not None:
                memory.store_strong(warp, offset, values.view(np.uint32), access.scope, access.strong == "release")
            else:
                memory.store(warp, offset, values.view(np.uint32))
        return store
