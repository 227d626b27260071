# SPDX-License-Identifier: Apache-2.0
"""PTX as nvcc writes it, read into kernels: each a flat list of instructions.

A function that is called is put in the place of the call, with registers and labels of its own: ours do not recurse.
What a call passes (.param) lies in the local memory of the thread, as a variable of the kernel does.
Nothing here knows what an instruction computes.
"""
from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from typing import Optional, Union

BYTES = {"pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "b32": 4, "u32": 4,
         "s32": 4, "f32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16, "u128": 16}


MEETINGS = ("shfl", "vote")  # of the lanes of a warp that a mask names
BARRIERS = ("bar", "barrier")  # to which a warp comes as a whole: .aligned is what nvcc writes
ENDS = ("bra", "exit", "ret", "trap", *MEETINGS, *BARRIERS)  # of basic blocks


class PtxError(Exception):
    """Text that is not understood, or an instruction that is not known."""


@dataclass(frozen=True)
class Register:
    name: str
    negated: bool = False  # of predicates only


@dataclass(frozen=True)
class Immediate:
    """`kind`: "int", or the type that the bits are: "f32", "f64"."""
    bits: int
    kind: str


@dataclass(frozen=True)
class Symbol:
    """A variable: where it begins in its space ("param", "shared", "local", "global")."""
    space: str
    offset: int


@dataclass(frozen=True)
class Special:
    """A register that the machine sets: %tid.x."""
    name: str


@dataclass(frozen=True)
class Address:
    base: Union[Register, Symbol, Immediate]
    offset: int


@dataclass(frozen=True)
class Vector:
    items: tuple[Optional["Operand"], ...]


@dataclass(frozen=True)
class Pair:
    """Two results, `first|second`; None: not wanted."""
    first: Optional[Register]
    second: Optional[Register]


@dataclass(frozen=True)
class Label:
    name: str


Operand = Union[Register, Immediate, Symbol, Special, Address, Vector, Pair, Label]


@dataclass(frozen=True)
class Instruction:
    opcode: str  # with all that follows it: "ld.global.v4.f32"
    parts: tuple[str, ...]  # of the opcode
    operands: tuple[Operand, ...]
    guard: Optional[Register]
    text: str


@dataclass(frozen=True)
class Block:
    """A basic block: `end` is the instruction that moves threads or lets them meet, none where only another block
    begins, at `after`."""
    body: list[Instruction]
    end: Optional[Instruction]
    after: int


@dataclass
class Variables:
    """Variables of a space, one behind the other."""
    offsets: dict[str, int] = field(default_factory=dict)
    size: int = 0

    def place(self, name: str, size: int, alignment: int) -> int:
        self.offsets[name] = -(-self.size // alignment) * alignment
        self.size = self.offsets[name] + size
        return self.offsets[name]


@dataclass
class Kernel:
    """`parameters`: (offset, size) of each in the block that a launch fills. Dynamic shared memory lies behind
    shared_bytes of static one."""
    name: str
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    blocks: dict[int, Block] = field(default_factory=dict)  # by their first instruction
    registers: dict[str, str] = field(default_factory=dict)  # name: type
    parameters: list[tuple[int, int]] = field(default_factory=list)
    parameter_bytes: int = 0
    shared_bytes: int = 0
    local_bytes: int = 0
    target: str = ""
    gang: Optional[type] = None  # what executes it: None is gang.py's


@dataclass
class _Function:
    name: str
    is_entry: bool
    results: list[str]
    parameters: list[str]
    body: str


_HEADER = re.compile(r"\.(entry|func)\s*(?:\(([^)]*)\))?\s*([\w$]+)\s*(?:\(([^)]*)\))?[^{};]*([{;])")
_VARIABLE = re.compile(r"(?:\.align\s+(\d+)\s+)?\.(\w+)\s+(?:\.ptr\s+(?:\.\w+\s+)?(?:\.align\s+\d+\s+)?)?"
                       r"([\w$]+)(?:\[(\d*)\])?")
_REGISTERS = re.compile(r"\.reg\s+\.(\w+)\s+(.*)", re.S)
_CALL = re.compile(r"call(?:\.uni)?\s*(?:\(([^)]*)\)\s*,)?\s*([\w$]+)\s*(?:,\s*\(([^)]*)\))?\s*$", re.S)
_STATEMENT = re.compile(r"(?:@(!?)\s*([%\w$]+)\s+)?([a-z][\w.:]*)\s*(.*)", re.S)
_LABEL = re.compile(r"\s*([\w$]+)\s*:(?!:)")
_SPECIAL = re.compile(r"%(?:n?tid|n?ctaid|laneid|warpid|clusterid|nclusterid|cluster_n?cta(?:id|rank))\b")


def _without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", " ", re.sub(r"//[^\n]*", "", text), flags=re.S)


def _matching_brace(text: str, at: int) -> int:
    """The index behind the brace that closes the one at `at`."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, at):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    raise PtxError("a brace is not closed")


def _split(text: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter in "[{(") - (letter in ")}]")
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [*parts, part.strip()] if part.strip() or parts else []


def _statements(body: str):
    """("{", ""), ("}", ""), ("label", name) and ("statement", text) of a function's body."""
    at = 0
    while True:
        while at < len(body) and (body[at].isspace() or body[at] == ";"):
            at += 1
        if at == len(body):
            return
        if body[at] in "{}":
            yield body[at], ""
            at += 1
        elif match := _LABEL.match(body, at):
            yield "label", match[1]
            at = match.end()
        else:
            end = body.find(";", at)
            if end < 0:
                raise PtxError(f"no semicolon after: {body[at:at + 80]}")
            yield "statement", body[at:end].strip()
            at = end + 1


def _size_of(match: re.Match[str]) -> tuple[int, int]:
    """Bytes and alignment of a declared variable."""
    element = BYTES[match[2]]
    count = int(match[4] or 0) if match[4] is not None else 1
    return element * count, int(match[1] or element)


class Module:
    """The kernels of a PTX text. Throws PtxError."""

    def __init__(self, text: str) -> None:
        text = _without_comments(text)
        target = re.search(r"\.target\s+(\w+)", text)
        self.target = target[1] if target else ""
        self.functions: dict[str, _Function] = {}
        self.shared = Variables()
        self.constants: dict[str, str] = {}  # declarations in global memory
        outside, at = [], 0
        for match in iter(lambda: _HEADER.search(text, at), None):
            outside.append(text[at:match.start()])
            at = match.end()
            if match[5] == "{":
                at = _matching_brace(text, match.end() - 1)
                self.functions[match[3]] = _Function(
                    match[3], match[1] == "entry", self._names(match[2]), self._declared(match[4]),
                    text[match.end():at - 1])
        outside.append(text[at:])
        self._declare(" ".join(outside))

    @staticmethod
    def _names(text: Optional[str]) -> list[str]:
        return [re.split(r"\s+", part)[-1].split("[")[0] for part in _split(text or "")]

    @staticmethod
    def _declared(text: Optional[str]) -> list[str]:
        return [part.replace(".param", "", 1).strip() for part in _split(text or "")]

    def _declare(self, text: str) -> None:
        for statement in text.split(";"):
            if match := re.search(r"\.shared\s+(.*)", statement, re.S):
                variable = _VARIABLE.search(match[1])
                assert variable
                size, alignment = _size_of(variable)
                self.shared.place(variable[3], size, alignment)
            elif match := re.search(r"\.(?:global|const)\s+(.*)", statement, re.S):
                variable = _VARIABLE.search(match[1])
                assert variable
                self.constants[variable[3]] = match[1]

    def with_functions(self, functions: dict[str, _Function]) -> "Module":
        """The same with others in the place of its functions."""
        changed = copy.copy(self)
        changed.functions = functions
        return changed

    @property
    def kernel_names(self) -> list[str]:
        return [name for name, function in self.functions.items() if function.is_entry]

    def kernel(self, name: str) -> Kernel:
        """By its mangled name."""
        return _Flattening(self, self.functions[name]).kernel


class _Flattening:
    def __init__(self, module: Module, entry: _Function) -> None:
        self.module = module
        self.kernel = Kernel(entry.name, target=module.target)
        self.local = Variables()
        self.shared = Variables(dict(module.shared.offsets), module.shared.size)
        self.calls = 0
        parameters = Variables()
        symbols: dict[str, Symbol] = {}
        for declared in entry.parameters:
            variable = _VARIABLE.match(declared)
            if not variable:
                raise PtxError(f"parameter: {declared}")
            size, alignment = _size_of(variable)
            offset = parameters.place(variable[3], size, alignment)
            symbols[variable[3]] = Symbol("param", offset)
            self.kernel.parameters.append((offset, size))
        self.kernel.parameter_bytes = parameters.size
        self._expand(entry, "", symbols, None)
        self._divide()
        self.kernel.shared_bytes = self.shared.size
        self.kernel.local_bytes = -(-self.local.size // 16) * 16

    def _expand(self, function: _Function, prefix: str, symbols: dict[str, Symbol],
                end: Optional[str]) -> None:
        """`end`: the label behind the call; none for the kernel itself."""
        symbols = {**{name: Symbol("shared", at) for name, at in self.shared.offsets.items()}, **symbols}
        scopes: list[dict[str, str]] = [{}]
        kernel = self.kernel
        for kind, text in _statements(function.body):
            if kind == "{":
                scopes.append({})
            elif kind == "}":
                scopes.pop()
            elif kind == "label":
                kernel.labels[prefix + text] = len(kernel.instructions)
            elif match := _REGISTERS.match(text):
                self._declare_registers(match, prefix, scopes)
            elif match := re.match(r"\.(local|param|shared)\s+(.*)", text, re.S):
                variable = _VARIABLE.match(match[2])
                if not variable:
                    raise PtxError(f"declaration: {text}")
                space = "shared" if match[1] == "shared" else "local"
                variables = self.shared if space == "shared" else self.local
                symbols[variable[3]] = Symbol(space, variables.place(prefix + variable[3], *_size_of(variable)))
            elif text.startswith("."):
                continue  # .pragma
            elif text.startswith("call"):
                self._call(text, prefix, symbols)
            else:
                kernel.instructions.append(self._instruction(text, prefix, symbols, scopes, end))
        if end is not None:
            kernel.labels[end] = len(kernel.instructions)

    def _divide(self) -> None:
        """Into basic blocks. What lets threads meet has one of its own."""
        code = self.kernel.instructions
        begins = {0, len(code), *self.kernel.labels.values()}
        for at, instruction in enumerate(code):
            if instruction.parts[0] in ENDS:
                begins.add(at + 1)
            if instruction.parts[0] in MEETINGS + BARRIERS:
                begins.add(at)
        ordered = sorted(begins)
        for begin, after in zip(ordered, ordered[1:]):
            body = code[begin:after]
            end = body.pop() if body[-1].parts[0] in ENDS else None
            self.kernel.blocks[begin] = Block(body, end, after)

    def _declare_registers(self, match: re.Match[str], prefix: str, scopes: list[dict[str, str]]) -> None:
        for name in _split(match[2]):
            counted = re.match(r"(.*)<(\d+)>", name)
            names = [f"{counted[1]}{i}" for i in range(int(counted[2]))] if counted else [name]
            for each in names:
                unique = prefix + each
                while unique in self.kernel.registers:
                    unique += "'"
                self.kernel.registers[unique] = match[1]
                scopes[-1][each] = unique

    def _call(self, text: str, prefix: str, symbols: dict[str, Symbol]) -> None:
        match = _CALL.match(text)
        if not match or match[2] not in self.module.functions:
            raise PtxError(f"call: {' '.join(text.split())}")
        function = self.module.functions[match[2]]
        self.calls += 1
        names = [_VARIABLE.match(declared)[3] for declared in function.parameters]  # type: ignore[index]
        given = dict(zip(names, _split(match[3] or "")))
        given.update(zip(function.results, _split(match[1] or "")))
        inner = {formal: symbols[actual] for formal, actual in given.items()}
        self._expand(function, f"{prefix}{self.calls}:", inner, f"{prefix}{self.calls}:end")

    def _instruction(self, text: str, prefix: str, symbols: dict[str, Symbol],
                     scopes: list[dict[str, str]], end: Optional[str]) -> Instruction:
        match = _STATEMENT.match(text)
        if not match:
            raise PtxError(f"statement: {text}")

        def operand(word: str) -> Optional[Operand]:
            return self._operand(word, prefix, symbols, scopes)
        guard = None
        if match[2]:
            named = operand(match[2])
            assert isinstance(named, Register)
            guard = Register(named.name, match[1] == "!")
        opcode, operands = match[3], [operand(word) for word in _split(match[4])]
        if opcode in ("ret", "ret.uni") and end is not None:
            opcode, operands = "bra", [Label(end)]
        return Instruction(opcode, tuple(opcode.split(".")), tuple(operands), guard,  # type: ignore[arg-type]
                           " ".join(text.split()))

    def _operand(self, word: str, prefix: str, symbols: dict[str, Symbol],
                 scopes: list[dict[str, str]]) -> Optional[Operand]:
        def inner(part: str) -> Optional[Operand]:
            return self._operand(part.strip(), prefix, symbols, scopes)
        if word == "_":
            return None
        if word[0] == "{":
            return Vector(tuple(inner(part) for part in _split(word[1:-1])))
        if word[0] == "[":
            base, offset = word[1:-1].strip(), 0
            if match := re.match(r"(.*?)\s*\+\s*(-?\w+)$", base):
                base, offset = match[1], int(match[2], 0)
            return Address(inner(base), offset)  # type: ignore[arg-type]
        if "|" in word:
            return Pair(*(inner(part) for part in word.split("|")))  # type: ignore[arg-type]
        if word[0] == "!":
            named = inner(word[1:])
            assert isinstance(named, Register)
            return Register(named.name, negated=True)
        if match := re.fullmatch(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})", word):
            return Immediate(int(match[1] or match[2], 16), "f32" if match[1] else "f64")
        if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", word):
            return Immediate(int(word.rstrip("U"), 0), "int")
        for scope in reversed(scopes):
            if word in scope:
                return Register(scope[word])
        if _SPECIAL.match(word):
            return Special(word)
        if match := re.match(r"([\w$]+)(?:\+(\d+))?$", word):
            if match[1] in symbols:
                symbol = symbols[match[1]]
                return Symbol(symbol.space, symbol.offset + int(match[2] or 0))
            return Label(prefix + word)
        raise PtxError(f"operand: {word}")
