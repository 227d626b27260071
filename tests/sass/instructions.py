# SPDX-License-Identifier: Apache-2.0
"""What the instructions of machine code do with registers and memory, for threads in step as those of gang.py. An
instruction becomes a function, by the method that has its name and asks for each of its bits (machine_code.py)."""
from __future__ import annotations

import fractions
from typing import Any, Callable, Optional

import numpy as np

import arithmetic
from gang import Gang, Grid, exchanged
from lanes import Step
from launch import LANES, LaunchFailure
from machine_code import ALWAYS, Fields, Instruction, Kernel, SassError
from memory import LOCAL, POISON, SHARED
from opcodes import operation
from ptx_text import Block

Array = Any  # np.ndarray
Getter = Callable[[], Array]
Writer = Callable[[Array, Optional[Array]], None]

RZ, UR, URZ = 255, 256, 256 + 63  # of the rows of registers
UP = 8  # of those of predicates
AT_32 = (2, 3, 7)  # forms that have their third operand in the place of the second one
SPECIALS = {0x00: "%laneid", 0x21: "%tid.x", 0x22: "%tid.y", 0x23: "%tid.z", 0x25: "%ctaid.x", 0x26: "%ctaid.y",
            0x27: "%ctaid.z", 0x88: "%cluster_ctarank"}
UPPER_SHARED = 0x2f  # of these, the upper half of shared memory's generic addresses: 0
BYTES = (1, 1, 2, 2, 4, 8, 16)  # of an access, by its type
SCOPES = {0: "cta", 2: "gpu", 3: "sys"}
STRONG = {0x5: "cta", 0x7: "gpu", 0xa: "sys"}
AND, OR, XOR = np.logical_and, np.logical_or, np.logical_xor
INTEGER_COMPARISONS = {1: np.less, 2: np.equal, 3: np.less_equal, 4: np.greater, 5: np.not_equal, 6: np.greater_equal}
ROUNDINGS = ("rn", "rm", "rp", "rz")


def as_it_is(x: Array) -> Array:
    return x


def flushed(x: Array) -> Array:
    return np.where(np.abs(x) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), x), x)


def reciprocal_root(x: Array) -> Array:
    return 1 / np.sqrt(x)


def rounded(rounding: str, a: Array, b: Array, c: Array = np.float64(0)) -> Array:
    """a * b + c in float64, but not to nearest."""
    a, b, c = (np.ascontiguousarray(each) for each in np.broadcast_arrays(a, b, c))
    nearest = arithmetic.fma64(a, b, c)
    for i in np.flatnonzero(np.isfinite(nearest)):
        factor, other, term, near = (fractions.Fraction(each[i]) for each in (a, b, c, nearest))
        error = factor * other + term - near
        away = {"rp": error > 0, "rm": error < 0, "rz": error * near < 0}[rounding]
        if away:
            nearest[i] = np.nextafter(nearest[i], {"rp": np.inf, "rm": -np.inf, "rz": 0.0}[rounding])
    return nearest


class Instructions(Gang):
    kernel: Kernel  # type: ignore[assignment]

    def __init__(self, grid: Grid, warps: Array) -> None:
        super().__init__(grid, warps)
        self.r = np.full((URZ + 1, self.size), POISON, np.uint32)
        self.r[RZ] = self.r[URZ] = 0
        self.p = np.zeros((16, self.size), bool)
        self.p[ALWAYS] = self.p[UP + ALWAYS] = True
        self.waited_for = np.zeros((16, self.size), np.uint32)  # the lanes that BSYNC waits for
        constants = bytearray(self.kernel.constants[0])
        launch = self.launch = grid.launch
        constants[:0x18] = np.array([*launch.block, 1, *launch.grid, 1], np.uint32).tobytes()
        constants[0x20:0x2c] = np.array([LOCAL, 0, self.kernel.local_bytes], np.uint32).tobytes()
        if self.kernel.architecture >= 90:
            constants[0x140] = launch.cluster > 1  # whether there are clusters
        constants[len(constants) - len(grid.parameters):] = grid.parameters
        self.constants = {bank: np.frombuffer(data + bytes(-len(data) % 4), np.uint32)
                          for bank, data in {**self.kernel.constants, 0: bytes(constants)}.items()}

    # Operands.

    def row(self, row: int, wide: bool = False) -> Getter:
        """Of registers; `wide`: two of them."""
        if not wide:
            values = self.r[row]
            return lambda: values
        if row in (RZ, URZ):
            return lambda: np.uint64(0)
        both = self.r[row:row + 2]
        return lambda: np.ascontiguousarray(both.T).view(np.uint64)[:, 0]

    def at_32(self, f: Fields, wide: bool, uniform: bool) -> Getter:
        """The operand that may be something else than a register."""
        if f.form in (2, 4):
            value = np.uint64(f(32, 64) << 32) if wide else np.uint32(f(32, 64))
            return lambda: value
        if f.form in (3, 5):
            return self.constant(f, wide)
        return self.row(f(32, 40) + UR * (uniform or f.form in (6, 7)), wide)

    def constant(self, f: Fields, wide: bool) -> Getter:
        at, bank = f(38, 54), f(54, 59)
        values = self.constants[bank][at // 4:at // 4 + 1 + wide]
        value = values.view(np.uint64)[0] if wide else values[0]
        return lambda: value

    def source(self, f: Fields, which: str, kind: str = "u4", signs: str = "") -> Getter:
        """`which`: a, b, c, or what lies at bit 32. `signs`: of "-", "|" and "~", which a bit can ask for."""
        wide, uniform = kind[1] == "8", 0x80 <= f.one.word & 0x1ff < 0x100
        if f.form in (6, 7) or uniform:
            f.expect(91, 92, 1)
        swapped = f.form in AT_32
        if which == "a":
            get, negative, absolute = self.row(f(24, 32) + UR * uniform, wide), 72, 73
        elif which == "32" or (which == "c") == swapped:
            get, negative, absolute = self.at_32(f, wide, uniform), 63, 62
            if f.form in (2, 4):
                signs = ""
        else:
            get, negative, absolute = self.row(f(64, 72) + UR * uniform, wide), 75, 74
        if kind not in ("u4", "u8"):
            raw, dtype = get, np.dtype(kind)
            get = lambda: raw().view(dtype)
        if "|" in signs and f(absolute):
            signed = get
            get = lambda: np.abs(signed())
        if ("-" in signs or "~" in signs) and f(negative):
            positive, change = get, np.invert if "~" in signs else np.negative
            f.complements += "~" in signs
            return lambda: change(positive())
        return get

    def writer(self, f: Fields, wide: bool = False, uniform: bool = False) -> Writer:
        return self.writer_of(f(16, 24) + UR * (uniform or 0x80 <= f.one.word & 0x1ff < 0x100), wide)

    def writer_of(self, row: int, wide: bool = False) -> Writer:
        if row in (RZ, URZ):
            return lambda values, mask: None
        rows = self.r[row:row + 1 + wide]

        def write(values: Array, mask: Optional[Array]) -> None:
            where = True if mask is None else mask
            if not wide:
                np.copyto(rows[0], np.asarray(values).view(np.uint32), where=where)
                return
            bits = np.asarray(values).view(np.uint64)
            np.copyto(rows[0], bits.astype(np.uint32), where=where)
            np.copyto(rows[1], (bits >> np.uint64(32)).astype(np.uint32), where=where)
        return write

    def predicate(self, f: Fields, low: int, uniform: bool = False) -> Getter:
        """Three bits, and one that negates it."""
        return self.predicate_of(f(low, low + 3) + UP * uniform, f(low + 3))

    def predicate_of(self, row: int, negated: int) -> Getter:
        values = self.p[row]
        return (lambda: ~values) if negated else lambda: values

    def predicate_writer(self, f: Fields, low: int, uniform: bool = False) -> Writer:
        number = f(low, low + 3)
        if number == ALWAYS:
            return lambda values, mask: None
        target = self.p[number + UP * uniform]
        return lambda values, mask: np.copyto(target, values, where=True if mask is None else mask)

    # Instructions.

    def steps_at(self, begin: int) -> tuple[list[Step], Block]:
        if begin not in self.bound:
            block = self.kernel.blocks[begin]
            self.bound[begin] = [self.bind(one) for one in block.body], block
        return self.bound[begin]

    def bind(self, one: Instruction) -> Step:  # type: ignore[override]
        make = getattr(self, "bind_" + one.name.lower().replace(".", "_"), None)
        if make is None:
            raise SassError(f"{one.text}: not known")
        f = Fields(one)
        step = make(f)
        guard = self.guard(f)
        f.end()
        if guard is None:
            return step

        def guarded(mask: Optional[Array]) -> None:
            taken = guard() if mask is None else mask & guard()
            if taken.any():
                step(taken)
        return guarded

    def guard(self, f: Fields) -> Optional[Getter]:
        uniform = 0x80 <= f.one.word & 0x1ff < 0x100 and f.one.name not in ("R2UR", "VOTEU")
        return None if f.guard == ALWAYS else self.predicate_of((f.guard & 7) + UP * uniform, f.guard >> 3)

    def simple(self, f: Fields, compute: Callable[..., Array], *sources: Getter, wide: bool = False) -> Step:
        write = self.writer(f, wide)
        return lambda mask: write(compute(*[source() for source in sources]), mask)

    def bind_nop(self, f: Fields) -> Step:
        f(87, 91)
        return lambda mask: None

    bind_yield = bind_endcollective = bind_nop

    def bind_errbar(self, f: Fields) -> Step:
        return lambda mask: None

    def bind_bmov(self, f: Fields) -> Step:
        f.expect(16, 24, RZ)
        f(24, 28)
        f.expect(84, 85, 1)
        return lambda mask: None

    def bind_mov(self, f: Fields) -> Step:
        f.expect(72, 76, 15)
        return self.simple(f, lambda b: b, self.source(f, "b"))

    def bind_umov(self, f: Fields) -> Step:
        f(91)
        return self.simple(f, lambda b: b, self.at_32(f, False, True))

    def bind_p2r(self, f: Fields) -> Step:
        def compute(a: Array, mask: Array) -> Array:
            held = sum(self.p[i].astype(np.uint32) << np.uint32(i) for i in range(ALWAYS))
            return a & ~mask | held & mask
        return self.simple(f, compute, self.source(f, "a"), self.source(f, "b"))

    def bind_r2p(self, f: Fields) -> Step:
        f.expect(16, 24, 0)
        values, chosen = self.source(f, "a"), f(32, 64)

        def step(mask: Optional[Array]) -> None:
            held = values().copy()
            for i in range(ALWAYS):
                if chosen >> i & 1:
                    np.copyto(self.p[i], held >> np.uint32(i) & np.uint32(1) != 0, where=True if mask is None else mask)
        return step

    def bind_cs2r(self, f: Fields) -> Step:
        f.expect(72, 80, 0xff)
        return self.simple(f, lambda: np.uint64(0), wide=True) if f(80) else self.simple(f, lambda: np.uint32(0))

    def bind_s2r(self, f: Fields) -> Step:
        number = f.expect(72, 80, UPPER_SHARED, *SPECIALS)
        values = (np.zeros(self.size) if number == UPPER_SHARED else self.specials[SPECIALS[number]]).astype(np.uint32)
        write = self.writer(f, uniform=f.one.name == "S2UR")
        return lambda mask: write(values, mask)

    bind_s2ur = bind_s2r

    def bind_r2ur(self, f: Fields) -> Step:
        f.expect(81, 84, ALWAYS)
        values, write = self.row(f(24, 32)), self.writer(f)

        def step(mask: Optional[Array]) -> None:
            by_warp = values().reshape(-1, LANES)
            there = np.ones_like(by_warp, bool) if mask is None else mask.reshape(-1, LANES)
            least, most = np.where(there, by_warp, POISON).min(1), np.where(there, by_warp, 0).max(1)
            if ((least != most) & there.any(1)).any():
                raise LaunchFailure(f"{f.one.text}: lanes have different values")
            write(values(), mask)
        return step

    def bind_vote(self, f: Fields) -> Step:
        how, uniform = f.expect(72, 74, 0, 1), f.one.name == "VOTEU"
        write, write_vote, given = self.writer(f), self.predicate_writer(f, 81, uniform), self.predicate(f, 87)
        if uniform:
            f.expect(91, 92, 0, 1)

        def step(mask: Optional[Array]) -> None:
            there = np.ones(self.size, bool) if mask is None else mask
            said, unsaid = (self.ballot(there & each) for each in (given(), ~given()))
            write(said.repeat(LANES), mask)
            write_vote((said != 0 if how else unsaid == 0).repeat(LANES), mask)
        return step

    bind_voteu = bind_vote

    @staticmethod
    def ballot(lanes: Array) -> Array:
        """Of each warp."""
        return np.packbits(lanes.reshape(-1, LANES), axis=1, bitorder="little").view(np.uint32)[:, 0]

    def bind_sel(self, f: Fields) -> Step:
        signs = "-|" if f.one.name == "FSEL" else ""
        kind = "f4" if signs else "u4"
        return self.simple(f, np.where, self.predicate(f, 87, f.one.name == "USEL"), self.source(f, "a", kind, signs),
                           self.source(f, "b", kind, signs))

    bind_fsel = bind_usel = bind_sel

    def bind_isetp(self, f: Fields) -> Step:
        uniform = f.one.name == "UISETP"
        below, extended = self.predicate(f, 68, uniform), f(72)
        kind = "i4" if f(73) else "u4"
        ordered = INTEGER_COMPARISONS[f.expect(76, 79, *INTEGER_COMPARISONS)]
        if not extended:
            return self.set_predicates(f, ordered, kind, "b", uniform)
        return self.set_predicates(f, lambda a, b: np.where(a == b, below(), ordered(a, b)), kind, "b", uniform)

    bind_uisetp = bind_isetp

    def bind_fsetp(self, f: Fields) -> Step:
        number, double = f(76, 80), f.one.name == "DSETP"
        flush = self.flush(f) if not double else as_it_is

        def compare(a: Array, b: Array) -> Array:
            a, b = flush(a), flush(b)
            unordered = np.isnan(a) | np.isnan(b)
            if number in (7, 8):
                return unordered == (number == 8)
            result = INTEGER_COMPARISONS[number & 7](a, b)
            return result | unordered if number & 8 else result & ~unordered
        f.expect(76, 80, *(i for i in range(16) if i & 7 or i == 8))
        if double and f.form == 1:
            f(64, 72)
        return self.set_predicates(f, compare, "f8" if double else "f4", "32", False, "-|")

    bind_dsetp = bind_fsetp

    def set_predicates(self, f: Fields, compare: Callable[..., Array], kind: str, second: str, uniform: bool,
                       signs: str = "") -> Step:
        a, b = self.source(f, "a", kind, signs), self.source(f, second, kind, signs)
        join = (AND, OR, XOR)[f.expect(74, 76, 0, 1, 2)]
        write, write_other = self.predicate_writer(f, 81, uniform), self.predicate_writer(f, 84, uniform)
        further = self.predicate(f, 87, uniform)

        def step(mask: Optional[Array]) -> None:
            compared, joined = compare(a(), b()), further().copy()
            write(join(compared, joined), mask)
            write_other(join(~compared, joined), mask)
        return step

    def bind_plop3(self, f: Fields) -> Step:
        sources = [self.predicate(f, 87), self.predicate(f, 77), self.predicate(f, 68, bool(f(67)))]
        tables = f(64, 67) | f(72, 77) << 3, f(16, 24)
        writers = self.predicate_writer(f, 81), self.predicate_writer(f, 84)

        def step(mask: Optional[Array]) -> None:
            a, b, c = (source().astype(np.uint8) for source in sources)
            for table, write in zip(tables, writers):
                write(table >> (a << 2 | b << 1 | c) & 1 != 0, mask)
        return step

    def bind_lop3(self, f: Fields) -> Step:
        table, sources = f(72, 80), [self.source(f, which) for which in "abc"]
        uniform = f.one.name == "ULOP3"
        f.expect(80, 81, 0)
        write, write_predicate = self.writer(f), self.predicate_writer(f, 81, uniform)
        further = self.predicate(f, 87, uniform)
        terms = [i for i in range(8) if table >> i & 1]

        def step(mask: Optional[Array]) -> None:
            operands = [source() for source in sources]
            result = np.zeros(self.size, np.uint32)
            for term in terms:
                a, b, c = (x if term >> 2 - i & 1 else ~x for i, x in enumerate(operands))
                result |= a & b & c
            write_predicate((result != 0) | further(), mask)
            write(result, mask)
        return step

    bind_ulop3 = bind_lop3

    def bind_iadd3(self, f: Fields) -> Step:
        """What is negated is complemented, and 1 is added for it unless that is the carry of what lies below."""
        extended, uniform = f(74), f.one.name == "UIADD3"
        sources = [self.source(f, which, "u4", "~") for which in "abc"]
        ones = 0 if extended else f.complements
        carries = [self.predicate(f, 87, uniform), self.predicate(f, 77, uniform)]
        writers = self.predicate_writer(f, 81, uniform), self.predicate_writer(f, 84, uniform)
        write = self.writer(f)

        def step(mask: Optional[Array]) -> None:
            total = np.full(self.size, ones, np.uint64)
            for term in (*sources, *carries):
                total += term()
            for i, write_carry in enumerate(writers):
                write_carry(total >> np.uint64(32) > i, mask)
            write(total.astype(np.uint32), mask)
        return step

    bind_uiadd3 = bind_iadd3

    def bind_viadd(self, f: Fields) -> Step:
        return self.simple(f, np.add, self.source(f, "a", "u4", "-"), self.source(f, "b", "u4", "-"))

    def bind_imnmx(self, f: Fields) -> Step:
        kind = "i4" if f(73) else "u4"
        return self.least_or_most(f, self.source(f, "a", kind), self.source(f, "b", kind))

    def bind_vimnmx(self, f: Fields) -> Step:
        kind = "i4" if f(72) else "u4"
        f.expect(81, 87, 0x3f)
        f(64, 72)
        return self.least_or_most(f, self.row_as(f, 24, kind), self.source(f, "b", kind))

    def bind_viaddmnmx(self, f: Fields) -> Step:
        kind = "i4" if f(72) else "u4"
        a, b, c = self.row_as(f, 24, kind), self.source(f, "b", kind, "-"), self.source(f, "c", kind)
        return self.least_or_most(f, lambda: a() + b(), c)

    def row_as(self, f: Fields, low: int, kind: str) -> Getter:
        values = self.r[f(low, low + 8)].view(kind)
        return lambda: values

    def least_or_most(self, f: Fields, a: Getter, b: Getter) -> Step:
        least = self.predicate(f, 87)
        return self.simple(f, lambda p, x, y: np.where(p, np.minimum(x, y), np.maximum(x, y)), least, a, b)

    def bind_iabs(self, f: Fields) -> Step:
        return self.simple(f, np.abs, self.source(f, "b", "i4"))

    def bind_lea(self, f: Fields) -> Step:
        """The first operand, shifted, and the second; .HI: what the shift moves out of the low word."""
        uniform, signed, extended, shift, high = f.one.name == "ULEA", f(73), f(74), f(75, 80), f(80)
        negated = np.uint64(0xffffffff * f(72))  # of what is shifted
        a, b, c = self.source(f, "a"), self.source(f, "b", "u4", "~"), self.source(f, "c")
        ones = 0 if extended else f.complements + (negated != 0)
        carry, write_carry = self.predicate(f, 87, uniform), self.predicate_writer(f, 81, uniform)
        write = self.writer(f)

        def step(mask: Optional[Array]) -> None:
            low = a()
            upper = low.view(np.int32) >> 31 if signed else c()
            both = np.asarray(upper).astype(np.uint32).astype(np.uint64) << np.uint64(32) | low
            both = both << np.uint64(shift) >> np.uint64(32 * high) & np.uint64(0xffffffff)
            total = (both ^ negated) + b() + carry() + np.uint64(ones)
            write_carry(total >> np.uint64(32) != 0, mask)
            write(total.astype(np.uint32), mask)
        return step

    bind_ulea = bind_lea

    def bind_prmt(self, f: Fields) -> Step:
        f.expect(72, 75, 0)
        return self.simple(f, lambda a, b, c: operation("prmt.b32").compute(a, c, b).astype(np.uint32),
                           *[self.source(f, which) for which in "abc"])

    def bind_shf(self, f: Fields) -> Step:
        """Of a double word, the third operand above the first."""
        kind, wraps, right, high = f(73, 75), f(75), f(76), f(80)
        signed, bits = kind in (0, 2), 32 if kind > 1 else 64

        def compute(low: Array, count: Array, upper: Array) -> Array:
            both = np.asarray(upper).astype(np.uint64) << np.uint64(32) | low
            by = count & np.uint32(bits - 1) if wraps else np.minimum(count, np.uint32(bits))
            far = np.asarray(by).astype(np.uint64)
            if right and signed:
                shifted = (both.view(np.int64) >> np.minimum(far, np.uint64(63)).astype(np.int64)).view(np.uint64)
            else:
                near = np.minimum(far, np.uint64(63))
                shifted = both >> near if right else both << near
                shifted = np.where(far > near, np.uint64(0), shifted)
            return (shifted >> np.uint64(32 * high)).astype(np.uint32)
        return self.simple(f, compute, *[self.source(f, which) for which in "abc"])

    bind_ushf = bind_shf

    def bind_imad(self, f: Fields) -> Step:
        """The low word; .WIDE: both, .HI: the upper one, of which the third operand has both, too."""
        name = f.one.name
        whole, uniform = not name.endswith("IMAD"), name[0] == "U"
        signed, extended = f(73), f(74) if not whole else 0
        dtype = np.int64 if signed else np.uint64
        kind = "i4" if signed else "u4"
        a, b = self.source(f, "a", kind), self.source(f, "b", kind, "" if whole else "-")
        c = self.source(f, "c", "u8" if whole else "u4", "~")
        ones = 0 if extended else f.complements
        write_carry, carry = self.predicate_writer(f, 81, uniform), self.predicate(f, 87, uniform)
        write = self.writer(f, name.endswith("WIDE"))

        def step(mask: Optional[Array]) -> None:
            product = (np.asarray(a()).astype(dtype) * b()).view(np.uint64)
            if not whole:
                product = product & np.uint64(0xffffffff)
            total = product + c() + np.uint64(ones) + carry()
            if whole:
                write_carry(total < product, mask)
                write((total >> np.uint64(32)).astype(np.uint32) if name.endswith("HI") else total, mask)
            else:
                write_carry(total >> np.uint64(32) != 0, mask)
                write(total.astype(np.uint32), mask)
        return step

    bind_imad_wide = bind_imad_hi = bind_uimad = bind_uimad_wide = bind_imad

    # Numbers.

    @staticmethod
    def flush(f: Fields) -> Callable[[Array], Array]:
        """Of .FTZ: denormal numbers are 0."""
        return flushed if f(80) else as_it_is

    def of_floats(self, f: Fields, compute: Callable[..., Array], *sources: Getter) -> Step:
        f.expect(78, 80, 0)
        flush = self.flush(f)
        return self.simple(f, lambda *given: flush(compute(*[flush(each) for each in given])), *sources)

    def of_doubles(self, f: Fields, compute: Callable[..., Array], *sources: Getter) -> Step:
        rounding = ROUNDINGS[f(78, 80)]
        if rounding == "rn":
            return self.simple(f, compute, *sources, wide=True)
        # A product, or one and a sum: exact numbers, one by one.
        write = self.writer(f, wide=True)

        def step(mask: Optional[Array]) -> None:
            given = [np.broadcast_to(source(), (self.size,)) for source in sources]
            taken = np.arange(self.size) if mask is None else np.flatnonzero(mask)
            result = np.zeros(self.size)
            result[taken] = rounded(rounding, *[each[taken] for each in given])
            write(result, mask)
        return step

    def bind_fmul(self, f: Fields) -> Step:
        f.expect(84, 87, 0, 4)
        f(64, 72)
        return self.of_floats(f, np.multiply, self.source(f, "a", "f4", "-|"), self.source(f, "b", "f4", "-|"))

    def bind_fadd(self, f: Fields) -> Step:
        f(64, 72)
        return self.of_floats(f, np.add, self.source(f, "a", "f4", "-|"), self.source(f, "32", "f4", "-|"))

    def bind_ffma(self, f: Fields) -> Step:
        rounding, saturated = ROUNDINGS[f(78, 80)], f(77)

        def compute(a: Array, b: Array, c: Array) -> Array:
            result = arithmetic.fma32(a, b, c, rounding)
            return np.fmin(np.fmax(result, np.float32(0)), np.float32(1)) if saturated else result
        return self.simple(f, compute, *[self.source(f, which, "f4", "-") for which in "abc"])

    def bind_dmul(self, f: Fields) -> Step:
        f(64, 72)
        return self.of_doubles(f, np.multiply, self.source(f, "a", "f8", "-|"), self.source(f, "b", "f8", "-|"))

    def bind_dadd(self, f: Fields) -> Step:
        a, c = self.source(f, "a", "f8", "-|"), self.source(f, "c", "f8", "-|")
        f(32, 40)
        return self.of_doubles(f, np.add, a, c)

    def bind_dfma(self, f: Fields) -> Step:
        return self.of_doubles(f, arithmetic.fma64, *[self.source(f, which, "f8", "-|") for which in "abc"])

    def bind_hfma2(self, f: Fields) -> Step:
        """Where it is a move of a constant: -0 * 0 + that."""
        if f.form != 2:
            raise SassError(f"{f.one.text}: not known")
        for low in (24, 64):
            f.expect(low, low + 8, RZ)
        f.expect(72, 73, 1)
        value = np.uint32(f(32, 64))
        return self.simple(f, lambda: value)

    def bind_f2i(self, f: Fields) -> Step:
        to = "s32" if f(72) else "u32"
        f.expect(75, 81, 0b111110, 0b011110)
        f.expect(84, 86, 2)
        f(77)
        return self.simple(f, operation(f"cvt.rzi.{to}.f32").compute, self.source(f, "b", "f4", "-|"))

    def bind_i2f(self, f: Fields) -> Step:
        kind, wide = "i4" if f(74) else "u4", f.expect(75, 77, 2, 3) == 3
        f.expect(84, 86, 2)
        rounding = ROUNDINGS[f(78, 80)]

        def compute(b: Array) -> Array:
            if wide:
                return b.astype(np.float64)
            # fma32 rounds a sum: of the upper and the lower part, each exact.
            low = b & b.dtype.type(0xffff)
            return arithmetic.fma32((b - low).astype(np.float32), np.float32(1), low.astype(np.float32), rounding)
        return self.simple(f, compute, self.source(f, "b", kind), wide=wide)

    bind_i2f_64 = bind_i2fp = bind_i2f

    def bind_f2f(self, f: Fields) -> Step:
        """Between float32 and float64."""
        to, of = f.expect(75, 77, 2, 3), f.expect(84, 86, 2, 3)
        f.expect(78, 80, 0)
        return self.simple(f, lambda b: b.astype(f"f{2 ** to}"), self.source(f, "b", f"f{2 ** of}", "-|"), wide=to == 3)

    def bind_fchk(self, f: Fields) -> Step:
        """Whether a quotient needs another way than reciprocal and remainder: those say so themselves, elsewhere."""
        a, b, write = self.source(f, "a", "f4", "-|"), self.source(f, "b", "f4", "-|"), self.predicate_writer(f, 81)
        f(16, 24)

        def step(mask: Optional[Array]) -> None:
            easy = np.ones(self.size, bool)
            for each in (a(), b(), a() / b()):
                easy &= (np.abs(each) > np.float32(1e-25)) & (np.abs(each) < np.float32(1e25))
            write(~easy, mask)
        return step

    def bind_mufu(self, f: Fields) -> Step:
        """An approximation by name; of float64 the upper words."""
        function = {2: np.exp2, 4: np.reciprocal, 5: reciprocal_root, 6: np.reciprocal, 7: reciprocal_root}
        which = f.expect(74, 80, *function)
        compute, upper = function[which], which in (6, 7)

        def of_upper(b: Array) -> Array:
            values = compute((np.asarray(b).astype(np.uint64) << np.uint64(32)).view(np.float64))
            return (values.view(np.uint64) >> np.uint64(32)).astype(np.uint32)
        if upper:
            return self.simple(f, of_upper, self.source(f, "b"))
        return self.simple(f, lambda b: compute(b.astype(np.float64)).astype(np.float32),
                           self.source(f, "b", "f4", "-|"))

    # Memory.

    def bind_ldc(self, f: Fields) -> Step:
        kind = {0: "u1", 4: "u4", 5: "u8"}[f.expect(73, 76, 0, 4, 5)]
        f.expect(91, 92, 0)
        bank, at = self.constants[f(54, 59)].view(np.uint8), f.signed(38, 54)
        index = self.row(f(24, 32)) if f.one.name == "LDC" else lambda: np.zeros(1, np.uint32)
        wide = kind == "u8"

        def compute(offset: Array) -> Array:
            size = np.dtype(kind).itemsize
            # Lanes that do not take it may have any offset.
            first = np.clip(offset.view(np.int32).astype(np.int64) + at, 0, len(bank) - size)
            return bank[first[:, None] + np.arange(size)].view(kind)[:, 0].astype("u8" if wide else "u4")
        return self.simple(f, compute, index, wide=wide)

    bind_uldc = bind_ldc

    def address(self, f: Fields, space: str) -> Getter:
        """Of an access, in the numbers of memory.py."""
        # Where nothing lies before it, an offset has 32 bits.
        low = 32 if self.kernel.architecture < 80 and space == "" else 40
        base, offset = self.row(f(24, 32), bool(f(72)) if space in ("", "global") else False), f.signed(low, 64)
        further: Getter = lambda: np.uint32(0)
        if f(91):
            low = 32 if f.one.name[0] == "L" else 64
            number = f(low, low + 8)
            if space in ("", "global"):
                f.expect(90, 91, 1)
                if not f(76):  # else it is a descriptor
                    further = self.row(UR + number, True)
            else:
                further = self.row(UR + number)
        else:
            f.expect(76, 77, 0, 1)
        scale = np.uint32((1, 4, 8, 16)[f(78, 80)] if space == "shared" else 1)
        start = {"local": LOCAL, "shared": SHARED - self.kernel.shared_base}.get(space, 0)
        below = np.int64(SHARED - self.kernel.shared_base)
        own = self.shared_base - SHARED if space == "shared" and self.kernel.architecture < 90 else 0

        def address() -> Array:
            sum_of_all = np.broadcast_to(base() * scale, (self.size,)).astype(np.int64) + further().astype(np.int64) + (
                start + own + offset)
            return np.where(sum_of_all < LOCAL, sum_of_all + below, sum_of_all) if space == "" else sum_of_all
        return address

    def strength(self, f: Fields) -> Optional[str]:
        """The scope of a strong access."""
        if self.kernel.architecture >= 80:
            return STRONG.get(f.expect(77, 81, 0, *STRONG))
        scope = SCOPES[f(77, 79)]
        return scope if f.expect(79, 81, 1, 2) == 2 else None

    def bind_access(self, f: Fields) -> Step:
        one, memory = f.one, self.memory
        is_load = one.name[0] == "L"
        space = {"G": "global", "S": "shared", "L": "local", "": ""}[one.name[2:]]
        size = BYTES[f.expect(73, 76, *range(7))]
        signed = f.one.bits(73, 76) in (1, 3)
        address, strong = self.address(f, space), None
        if space in ("", "global"):
            strong = self.strength(f)
            f.expect(84, 87, 1)
            if is_load:
                f.expect(81, 84, ALWAYS, 0)
        elif space == "local":
            f.expect(77, 81, 0)
            f.expect(84, 87, 1)
        else:
            f.expect(77, 78, 0)
            f.expect(80, 81, 0)
        words = max(size // 4, 1)
        register = f(16, 24) if is_load else f(64, 72) if f.form == 1 and not space else f(32, 40)
        rows = None if register == RZ else self.r[register:register + words]

        def located(mask: Optional[Array]) -> tuple[Array, Array, Array]:
            chosen = slice(None) if mask is None else np.flatnonzero(mask)
            offset = memory.offsets(address()[chosen], space, self.first_block[chosen], self.thread[chosen])
            self.count(one, self.warp[chosen], offset, size)
            return chosen, offset, self.warp[chosen]  # type: ignore[return-value]

        def load(mask: Optional[Array]) -> None:
            chosen, offset, warp = located(mask)
            if size < 4:
                word = memory.load(warp, offset & ~3, 1)[:, 0] >> ((offset & 3) * 8).astype(np.uint32)
                part = word.astype(f"{'i' if signed else 'u'}{size}")
                values = part.astype("i4" if signed else "u4").view(np.uint32)[:, None]
            elif strong is None:
                values = memory.load(warp, offset, words)
            else:
                values = memory.load_strong(warp, offset, words, strong, False)
            if rows is not None:
                rows[:, chosen] = values.T

        def store(mask: Optional[Array]) -> None:
            chosen, offset, warp = located(mask)
            held = np.zeros((words, self.size), np.uint32) if rows is None else rows
            values = np.ascontiguousarray(held[:, chosen].T)
            if size < 4:
                memory.store_narrow(warp, offset, values.view(np.uint8)[:, :size])
            elif strong is None:
                memory.store(warp, offset, values)
            else:
                memory.store_strong(warp, offset, values, strong, False)
        return load if is_load else store

    bind_ld = bind_ldg = bind_lds = bind_ldl = bind_st = bind_stg = bind_sts = bind_stl = bind_access

    def bind_membar(self, f: Fields) -> Step:
        scope = SCOPES[f.expect(76, 79, *SCOPES)]
        f.expect(79, 81, 1)
        return lambda mask: self.memory.fence(self.warps_of(mask), scope)

    def bind_cctl(self, f: Fields) -> Step:
        f(24, 32)
        f.expect(72, 73, 0, 1)
        if f.expect(87, 91, 1, 4) == 1:  # a prefetch
            f(32, 64)
            return lambda mask: None

        def forget(mask: Optional[Array]) -> None:
            """What lies in the caches: later loads get what strong ones before them have shown to be there."""
            clocks = self.memory.clocks
            for warp in self.warps_of(mask):
                if warp in clocks.read:
                    clocks.join(warp, clocks.read.pop(warp))
        return forget

    def warps_of(self, mask: Optional[Array]) -> set[int]:
        return set((self.warp if mask is None else self.warp[mask]).tolist())

    # Lanes that part and meet.

    def bind_shfl(self, f: Fields) -> Step:
        """Of the lanes that are there; the others have nothing to give."""
        how = ("idx", "up", "down", "bfly")[f(58, 60)]
        lane_fixed, control_fixed = f.one.bits(9, 12) in (4, 7), f.one.bits(9, 12) in (2, 7)
        values, write, write_inside = self.row(f(24, 32)), self.writer(f), self.predicate_writer(f, 81)
        lane = self.fixed(f(53, 58)) if lane_fixed else self.row(f(32, 40))
        control = self.fixed(f(40, 53)) if control_fixed else self.row(f(64, 72))

        def step(mask: Optional[Array]) -> None:
            there = np.ones(self.size, bool) if mask is None else mask
            taken, inside = exchanged(how, *(np.broadcast_to(each(), (self.size,)) for each in (values, lane, control)),
                                      there)
            write(taken.astype(np.uint32), mask)
            write_inside(inside, mask)
        return step

    @staticmethod
    def fixed(value: int) -> Getter:
        return lambda: np.uint32(value)

    def bind_bssy(self, f: Fields) -> Step:
        waited_for = self.waited_for[f(16, 20)]
        f(20, 64)
        f.expect(87, 91, ALWAYS)

        def step(mask: Optional[Array]) -> None:
            there = np.ones(self.size, bool) if mask is None else mask
            np.copyto(waited_for, self.ballot(there).repeat(LANES), where=there)
        return step

    def bind_break(self, f: Fields) -> Step:
        waited_for, leaves = self.waited_for[f(16, 20)], self.predicate(f, 87)

        def step(mask: Optional[Array]) -> None:
            left = leaves() if mask is None else mask & leaves()
            np.bitwise_and(waited_for, ~self.ballot(left).repeat(LANES), out=waited_for)
        return step
