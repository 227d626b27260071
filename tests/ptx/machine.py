"""Runs a grid of blocks on a kernel's PTX.

Warps are dealt into gangs by a seed. The threads of a gang run in step, as NumPy arrays: of those that can go on, the ones at the
earliest instruction do, up to the next branch. Which gang goes on, and for how long, the seed
chooses; one may fall far behind. In one gang of the whole grid a kernel is quick; in many, each order of warps that
barriers allow can come up.
"""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Callable, Optional

import numpy as np

from memory import GLOBAL, GUARD, LOCAL, PARAMETERS, SCOPES, SHARED, SHARED_WINDOW, Memory, MemoryFault, Place
from opcodes import DTYPES, Operation, operation
from ptx_text import (BYTES, Address, Immediate, Instruction, Kernel, Label, Operand, Pair, PtxError, Register,
                      Special, Symbol, Vector)

Array = Any  # np.ndarray
Step = Callable[[Optional[Array]], None]  # given the threads that take it; None: all of the gang

LANES = 32
SECTOR = 32
MOST_TURNS = 100_000  # of basic blocks: more is a thread that waits for ever

MOST_TURNS_BACK = 16  # of loops, before others may go on

READY, EXITED, AT_BARRIER, AT_CLUSTER_BARRIER = range(4)
MEETINGS = ("shfl", "vote")  # of the lanes of a warp that a mask names
BARRIERS = ("bar", "barrier")  # to which a warp comes as a whole: .aligned is what nvcc writes
ENDS = ("bra", "exit", "ret", "bar", "barrier", "shfl", "vote", "trap")


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


@dataclass
class Block:
    """A basic block: instructions of which the last may move threads. `end`: that one."""
    begin: int
    body: list[Instruction]
    end: Optional[Instruction]
    after: int


def blocks_of(kernel: Kernel) -> dict[int, Block]:
    """By their first instruction."""
    code = kernel.instructions
    begins = {0, *kernel.labels.values()}
    for at, instruction in enumerate(code):
        name = instruction.parts[0]
        if name in ENDS:
            begins.add(at + 1)
        if name in MEETINGS or instruction.opcode.startswith(("bar", "barrier")):
            begins.add(at)
    blocks, ordered = {}, sorted(at for at in begins if at < len(code))
    for begin, after in zip(ordered, [*ordered[1:], len(code)]):
        body = code[begin:after]
        end = body.pop() if body and body[-1].parts[0] in ENDS else None
        blocks[begin] = Block(begin, body, end, after)
    return blocks


@dataclass
class ClusterBarrier:
    """`clock`: what the threads that have arrived in this phase have released; `released`: in the phase before."""
    phase: int = 0
    arrived: int = 0
    clock: Optional[Array] = None
    released: Optional[Array] = None


class Gang:
    """Some warps, whole ones. Threads are numbered within it, lane after lane."""

    def __init__(self, machine: "Machine", warps: Array) -> None:
        self.machine = machine
        launch, kernel = machine.launch, machine.kernel
        self.thread = (warps[:, None] * LANES + np.arange(LANES)).ravel()  # in the grid
        self.size = len(self.thread)
        self.warp = self.thread // LANES
        self.block = self.thread // launch.threads
        self.first_block = self.block // launch.cluster * launch.cluster
        self.pc = np.zeros(self.size, np.int64)
        self.state = np.full(self.size, READY, np.int8)
        self.phase = np.zeros(self.size, np.int64)  # of the cluster's barrier that a thread has arrived at
        self.registers: dict[str, Array] = {}
        self.bound: dict[int, tuple[list[Step], Block]] = {}
        self.together: Optional[int] = 0  # where all threads are, if they are
        # Threads in a loop, perhaps until others have done something: these come first for a while.
        self.waits = np.zeros(self.size, bool)
        self.kernel = kernel
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
            block = self.machine.blocks[begin]
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
        if name == "prefetch":
            return lambda mask: None
        return self.bind_operation(one, self.machine.operation(one.opcode))

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
        known = (["membar", one.parts[-1]], ["fence", "acq_rel", scope], ["fence", "sc", scope])
        if scope not in SCOPES or one.parts not in known:
            raise PtxError(f"opcode not known: {one.opcode}")

        def fence(mask: Optional[Array]) -> None:
            warps = self.warp if mask is None else self.warp[mask]
            self.machine.memory.fence(set(warps.tolist()), scope)
        return fence

    def bind_access(self, one: Instruction) -> Step:
        access = self.machine.access(one.opcode)
        is_load = one.parts[0] == "ld"
        place, held = one.operands if not is_load else one.operands[::-1]
        assert isinstance(place, Address)
        items = held.items if isinstance(held, Vector) else (held,)
        if len(items) != access.count:
            raise PtxError(f"operands of: {one.text}")
        space = place.base.space if isinstance(place.base, Symbol) else access.space
        wide = not isinstance(place.base, Register) or BYTES[self.kernel.registers[place.base.name]] == 8
        base = self.source(place.base, "u64" if wide else "u32")
        memory, size = self.machine.memory, BYTES[access.dtype]
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
                self.machine.count(one, warp, offset, size * access.count)
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
            self.machine.count(one, warp, offset, size * access.count)
            if narrow:
                memory.store_narrow(warp, offset, values.view(np.uint8))
            elif access.strong is not None:
                memory.store_strong(warp, offset, values.view(np.uint32), access.scope, access.strong == "release")
            else:
                memory.store(warp, offset, values.view(np.uint32))
        return store

    # Running.

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
        for at in np.unique(self.pc[eager]).tolist():
            mask = eager & (self.pc == at)
            end = self.machine.blocks[at].end
            if end is not None and end.parts[0] in MEETINGS + BARRIERS:
                mask = self.complete(end, mask)
                if not mask.any():
                    continue
            return at, mask
        if self.waits.any():
            self.waits[:] = False
            return self.ready_at()
        return None

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
                self.machine.exited(self, taken)
            elif name in BARRIERS:
                self.machine.barrier(self, one, taken, block.after)
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
        if one.guard is not None:
            raise PtxError(f"a guard before: {one.text}")
        named = self.named_lanes(one)
        if not named[:, np.arange(LANES), np.arange(LANES)].ravel()[there].all():
            raise LaunchFailure(f"{one.text}: by a lane that it does not name")
        if one.parts[0] == "vote":
            self.vote(one, there, named)
        else:
            self.shuffle(one, there)

    def vote(self, one: Instruction, there: Array, named: Array) -> None:
        if one.parts[1:] not in (["sync", "any", "pred"], ["sync", "all", "pred"], ["sync", "ballot", "b32"]):
            raise PtxError(f"opcode not known: {one.opcode}")
        values = np.broadcast_to(self.source(one.operands[1], "pred")(), (self.size,)).reshape(-1, 1, LANES)
        counted = named & there.reshape(-1, 1, LANES)
        if one.parts[2] == "ballot":
            bits = ((counted & values) * (np.uint64(1) << np.arange(LANES, dtype=np.uint64))).sum(axis=2)
            self.writer(one.operands[0], "b32")(bits.ravel(), there)
            return
        result = (counted & values).any(axis=2) if one.parts[2] == "any" else ~(counted & ~values).any(axis=2)
        self.writer(one.operands[0], "pred")(result.ravel(), there)

    def shuffle(self, one: Instruction, there: Array) -> None:
        if one.parts[1] != "sync" or one.parts[3:] != ["b32"]:
            raise PtxError(f"opcode not known: {one.opcode}")
        result, of, by, control, _ = one.operands
        values, distance, clamp = (
            np.broadcast_to(self.source(each, "u32")(), (self.size,)).astype(np.int64).reshape(-1, LANES)
            for each in (of, by, control))
        lane = np.arange(LANES)
        segment, distance, clamp = clamp >> 8 & 31, distance & 31, clamp & 31
        last = lane & segment | clamp & ~segment
        source, inside = {
            "up": lambda: (lane - distance, lane - distance >= last),
            "down": lambda: (lane + distance, lane + distance <= last),
            "bfly": lambda: (lane ^ distance, lane ^ distance <= last),
            "idx": lambda: (lane & segment | distance & ~segment, (lane & segment | distance & ~segment) <= last),
        }[one.parts[2]]()
        source = np.where(inside, source, lane)
        # A lane that is not there has nothing to give.
        given = np.where(there.reshape(-1, LANES), values, 0xffffffff)
        taken = np.take_along_axis(given, source, axis=1).ravel()
        first = result.first if isinstance(result, Pair) else result
        if first is not None:
            self.writer(first, "b32")(taken, there)
        if isinstance(result, Pair) and result.second is not None:
            self.writer(result.second, "pred")(inside.ravel(), there)


@dataclass(frozen=True)
class Access:
    """Of a load or a store. `strong`: None, "relaxed", "acquire" or "release"."""
    dtype: str
    count: int
    space: str
    strong: Optional[str]
    scope: str


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


class Machine:
    """A launch of a kernel. `arrays`: bytes by address, in global memory."""

    def __init__(self, kernel: Kernel, launch: Launch, parameters: bytes, arrays: dict[int, Array],
                 schedule: Schedule, counts_sectors: bool = False) -> None:
        if launch.threads % LANES or launch.blocks % launch.cluster:
            raise LaunchFailure(f"{kernel.name}: {launch}")
        self.kernel, self.launch, self.schedule = kernel, launch, schedule
        self.blocks = blocks_of(kernel)
        self.operations: dict[str, Operation] = {}
        self.accesses: dict[str, Access] = {}
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
        self.gangs = [Gang(self, np.sort(part)) for part in np.array_split(order, gangs)]

    def operation(self, opcode: str) -> Operation:
        if opcode not in self.operations:
            self.operations[opcode] = operation(opcode)
        return self.operations[opcode]

    def access(self, opcode: str) -> Access:
        if opcode not in self.accesses:
            self.accesses[opcode] = access_of(opcode)
        return self.accesses[opcode]

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
        if parts not in (["bar", "sync"], ["barrier", "sync"]) or len(one.operands) != 1:
            raise PtxError(f"opcode not known: {one.text}")
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
        if parts not in (["arrive"], ["arrive", "release"], ["arrive", "relaxed"], ["wait"], ["wait", "acquire"]):
            raise PtxError(f"opcode not known: barrier.cluster.{'.'.join(parts)}")
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
            if releases:
                clock = self.memory.clocks.snapshot(warp)
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
        """`arguments`: NumPy scalars, of a struct those of a structured type. Gives the sectors of each access to global memory, in the
        order of the code. Throws LaunchFailure, PtxError."""
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
