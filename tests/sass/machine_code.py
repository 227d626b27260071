# SPDX-License-Identifier: Apache-2.0
"""Kernels in a .cubin as ptxas writes it for sm_75 to sm_90: an ELF file with instructions of 16 bytes.

nvdisasm is not needed: of an instruction the low nine bits say which it is, the next three where its operands come
from. What the other bits mean is asked for one by one, and a bit that nothing has asked for must be 0: so an opcode or
a modifier that is not known stops with its line.

(Jia et al., "Dissecting the NVIDIA Volta GPU architecture via microbenchmarking", 2018; NAK, Mesa's compiler for
these cards; what both lack was found by comparing.)
"""
from __future__ import annotations

import dataclasses
import struct
from dataclasses import dataclass, field
from typing import Iterator, Optional

from ptx_text import Block

NAMES = {
    0x002: "MOV", 0x003: "P2R", 0x004: "R2P", 0x005: "CS2R", 0x006: "VOTE", 0x007: "SEL", 0x008: "FSEL", 0x00b: "FSETP",
    0x00c: "ISETP", 0x010: "IADD3", 0x011: "LEA", 0x012: "LOP3", 0x013: "IABS", 0x016: "PRMT", 0x017: "IMNMX",
    0x019: "SHF", 0x01c: "PLOP3", 0x020: "FMUL", 0x021: "FADD", 0x023: "FFMA", 0x024: "IMAD", 0x025: "IMAD.WIDE",
    0x027: "IMAD.HI", 0x028: "DMUL", 0x029: "DADD", 0x02a: "DSETP", 0x02b: "DFMA", 0x035: "HFMA2", 0x036: "VIADD",
    0x045: "I2FP", 0x046: "VIADDMNMX", 0x048: "VIMNMX", 0x082: "UMOV", 0x086: "VOTEU", 0x087: "USEL",
    0x08c: "UISETP", 0x090: "UIADD3",
    0x091: "ULEA", 0x092: "ULOP3", 0x099: "USHF", 0x0a4: "UIMAD", 0x0a5: "UIMAD.WIDE", 0x0b9: "ULDC", 0x0ca: "R2UR",
    0x102: "FCHK", 0x105: "F2I", 0x106: "I2F", 0x108: "MUFU", 0x110: "F2F", 0x112: "I2F.64",
    0x118: "NOP", 0x119: "S2R", 0x11b: "ENDCOLLECTIVE", 0x11d: "BAR",
    0x141: "BSYNC", 0x142: "BREAK", 0x144: "CALL", 0x145: "BSSY", 0x146: "YIELD", 0x147: "BRA", 0x148: "WARPSYNC",
    0x14d: "EXIT", 0x150: "RET", 0x155: "BMOV", 0x180: "LD", 0x181: "LDG", 0x182: "LDC", 0x183: "LDL", 0x184: "LDS",
    0x185: "ST", 0x186: "STG", 0x187: "STL", 0x188: "STS", 0x189: "SHFL", 0x18f: "CCTL", 0x192: "MEMBAR",
    0x1ab: "ERRBAR", 0x1c3: "S2UR"}
CLUSTER_BARRIER = 0x1c7, {4: "UCGABAR_ARV", 6: "UCGABAR_WAIT"}  # by form
# Of basic blocks; what gang.py calls a barrier, by its name in PTX.
ENDS = {"BRA": ("bra",), "EXIT": ("exit",), "RET": ("ret",), "CALL": ("call",), "BAR": ("bar",), "BSYNC": ("bsync",),
        "WARPSYNC": ("warpsync",), "UCGABAR_ARV": ("barrier", "cluster", "arrive", "relaxed"),
        "UCGABAR_WAIT": ("barrier", "cluster", "wait")}
BEFORE_SCHEDULING = (1 << 105) - 1
ALWAYS = 7  # of predicates: true
NOP = 0x7918
FORM = 9  # bits from here on


class SassError(Exception):
    """An instruction, or a part of one, that is not known."""


@dataclass(frozen=True)
class Instruction:
    word: int
    name: str
    text: str

    @property
    def parts(self) -> tuple[str, ...]:
        return ENDS.get(self.name, (self.name,))

    def bits(self, low: int, high: int) -> int:
        return self.word >> low & (1 << high - low) - 1


def instruction(word: int, at: int, kernel: str) -> Instruction:
    name = NAMES.get(word & 0x1ff, "?")
    if word & 0x1ff == CLUSTER_BARRIER[0]:
        name = CLUSTER_BARRIER[1].get(word >> FORM & 7, "?")
    return Instruction(word, name, f"{kernel} {16 * at:#07x}: {name} {word:#029x}")


class Fields:
    """The bits of an instruction, each of which must be asked for."""

    def __init__(self, one: Instruction) -> None:
        self.one, self.left, self.complements = one, one.word & BEFORE_SCHEDULING, 0
        self(0, FORM)
        self.form, self.guard = self(FORM, 12), self(12, 16)

    def __call__(self, low: int, high: Optional[int] = None) -> int:
        high = low + 1 if high is None else high
        self.left &= ~((1 << high) - (1 << low))
        return self.one.bits(low, high)

    def signed(self, low: int, high: int) -> int:
        value = self(low, high)
        return value - (value >> high - low - 1 << high - low)

    def expect(self, low: int, high: int, *values: int) -> int:
        """One of the values that are known."""
        value = self(low, high)
        if value not in values:
            raise SassError(f"{self.one.text}: not known: bits {low} to {high - 1}: {value}")
        return value

    def end(self) -> None:
        if self.left:
            raise SassError(f"{self.one.text}: not known: {self.left:#x}")


@dataclass
class Kernel:
    """What machine.py runs. `local_bytes`: of a thread's stack."""
    name: str
    architecture: int
    instructions: list[Instruction]
    constants: dict[int, bytes]
    parameters: list[tuple[int, int]]
    shared_bytes: int
    local_bytes: int
    gang: Optional[type] = None  # what executes it
    blocks: dict[int, Block] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parameter_bytes = max((offset + size for offset, size in self.parameters), default=0)
        self.blocks = self._blocks()

    @property
    def shared_base(self) -> int:
        """Below it lies what the system needs."""
        return 0x400 if self.architecture >= 90 else 0

    def target(self, at: int, one: Instruction) -> int:
        """The instruction that a branch or a call, the `at`-th, goes to; of a return, what is added to its register."""
        words = one.bits(34, 82) - (one.bits(81, 82) << 48)
        if self.architecture >= 90:
            words = words << 8 | one.bits(16, 24)
        return at + 1 + words // 4

    def _blocks(self) -> dict[int, Block]:
        code = self.instructions
        begins = {0}
        for at, one in enumerate(code):
            if one.name in ENDS:
                begins.add(at + 1)
            if one.name in ("BRA", "CALL"):
                begins.add(self.target(at, one))
        found = {}
        order = sorted(begin for begin in begins if begin < len(code))
        for begin, after in zip(order, [*order[1:], len(code)]):
            has_end = code[after - 1].name in ENDS
            found[begin] = Block(code[begin:after - has_end], code[after - 1] if has_end else None, after)
        return found

    def without(self, at: int) -> Kernel:
        """The same with nothing in the place of an instruction."""
        changed = list(self.instructions)
        changed[at] = instruction(NOP, at, self.name)
        return self.with_instructions(changed)

    def with_instructions(self, instructions: list[Instruction]) -> Kernel:
        return dataclasses.replace(self, instructions=instructions)


def _sections(cubin: bytes) -> Iterator[tuple[str, bytes, int]]:
    """Name, bytes and size of each."""
    headers_at, = struct.unpack_from("<Q", cubin, 0x28)
    count, names = struct.unpack_from("<HH", cubin, 0x3c)
    headers = [struct.unpack_from("<IIQQQQ", cubin, headers_at + 64 * i) for i in range(count)]
    for name, kind, _, _, begin, size in headers:
        at = headers[names][4] + name
        yield cubin[at:cubin.index(b"\0", at)].decode(), b"" if kind == 8 else cubin[begin:begin + size], size


def _attributes(info: bytes) -> Iterator[tuple[int, bytes]]:
    """Of a section .nv.info."""
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == 4:
            yield attribute, info[at:at + size]
            at += size


STACK, PARAMETER = 0x12, 0x17  # attributes


def kernels_of(cubin: bytes, architecture: int) -> Iterator[Kernel]:
    """Their names are mangled."""
    sections = {name: (data, size) for name, data, size in _sections(cubin)}
    for relocations, (data, _) in sections.items():
        if relocations.startswith((".rel.text", ".rela.text")) and data:
            raise SassError(f"{relocations}: not known")
    stacks = [struct.unpack_from("<II", data)[1] for kind, data in _attributes(sections[".nv.info"][0])
              if kind == STACK]
    for section, (code, _) in sections.items():
        if not section.startswith(".text."):
            continue
        name = section.removeprefix(".text.")
        given = [struct.unpack_from("<IHHI", data)[1:] for kind, data in _attributes(sections[f".nv.info.{name}"][0])
                 if kind == PARAMETER]
        constants = {bank: sections[f".nv.constant{bank}.{name}"][0] for bank in range(6)
                     if f".nv.constant{bank}.{name}" in sections}
        words = [low | high << 64 for low, high in struct.iter_unpack("<QQ", code)]
        kernel = Kernel(name, architecture, [instruction(word, at, name) for at, word in enumerate(words)], constants,
                        [(offset, size >> 18) for _, offset, size in sorted(given)], 0, max(stacks, default=0))
        kernel.shared_bytes = max(sections.get(f".nv.shared.{name}", (b"", 0))[1] - kernel.shared_base, 0)
        yield kernel
