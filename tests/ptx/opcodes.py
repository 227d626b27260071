# SPDX-License-Identifier: Apache-2.0
"""What the instructions compute: those that take registers to registers, lane by lane. Loads and stores are in
lanes.py, what moves a thread or lets threads meet in gang.py. An opcode, or a modifier, that is not known is an error
by name.

(NVIDIA, "Parallel Thread Execution ISA", chapter "Instruction Set".)
"""
from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

import arithmetic
from memory import SHARED, SHARED_WINDOW
from ptx_text import BYTES, MEETINGS, Instruction, PtxError

Array = Any  # np.ndarray

DTYPES = {"pred": np.bool_, "b8": np.uint8, "u8": np.uint8, "s8": np.int8, "b16": np.uint16, "u16": np.uint16,
          "s16": np.int16, "b32": np.uint32, "u32": np.uint32, "s32": np.int32, "f32": np.float32,
          "b64": np.uint64, "u64": np.uint64, "s64": np.int64, "f64": np.float64, "b128": np.dtype("V16"),
          "u128": np.dtype("V16")}


@dataclass(frozen=True)
class Operation:
    """`compute` takes an array of each source type, and gives one of the result's."""
    result: str
    sources: tuple[str, ...]
    compute: Callable[..., Array]


_Maker = Callable[[list[str], list[str]], Operation]
_makers: dict[str, tuple[frozenset[str], _Maker]] = {}


def _opcode(names: str, modifiers: str = "") -> Callable[[_Maker], _Maker]:
    """The function makes an operation from modifiers and types. `modifiers`: those that are known."""
    def register(make: _Maker) -> _Maker:
        for name in names.split():
            _makers[name] = frozenset(modifiers.split()), make
        return make
    return register


@functools.cache
def operation(opcode: str) -> Operation:
    """Throws PtxError for one that is not known."""
    name, *rest = opcode.split(".")
    known = _makers.get(name)
    modifiers = [part for part in rest if part not in DTYPES]
    if known is None or not known[0].issuperset(modifiers):
        raise PtxError(f"opcode not known: {opcode}")
    return known[1](modifiers, [part for part in rest if part in DTYPES])


# What moves threads, or lets them meet.
_ENDS = re.compile(r"bra(\.uni)?|ret(\.uni)?|exit|trap|bar(rier)?\.sync(\.aligned)?|"
                   r"shfl\.sync\.(up|down|bfly|idx)\.b32|vote\.sync\.(any|all)\.pred|"
                   r"barrier\.cluster\.(arrive(\.release|\.relaxed)?|wait(\.acquire)?)(\.aligned)?")


def check_end(one: Instruction) -> None:
    """Of a basic block. Throws PtxError for one that is not known."""
    counted = one.parts[0] == "bar" and len(one.operands) != 1
    if not _ENDS.fullmatch(one.opcode) or counted or (one.guard and one.parts[0] in MEETINGS):
        raise PtxError(f"opcode not known: {one.text}")


def is_float(dtype: str) -> bool:
    return dtype[0] == "f"


def wider(dtype: str) -> str:
    return dtype[0] + str(16 * BYTES[dtype])


def _same(count: int, compute: Callable[..., Array]) -> _Maker:
    return lambda modifiers, types: Operation(types[0], (types[0],) * count, compute)


for _name, _compute in {"add": np.add, "sub": np.subtract}.items():
    _opcode(_name, "rn")(_same(2, _compute))
_opcode("neg")(_same(1, np.negative))
_opcode("abs")(_same(1, np.abs))
_opcode("and")(_same(2, np.bitwise_and))
_opcode("or")(_same(2, np.bitwise_or))
_opcode("xor")(_same(2, np.bitwise_xor))
_opcode("not")(_same(1, np.invert))
_opcode("sqrt", "rn")(_same(1, np.sqrt))


def _extreme_of(of_numbers: Callable[..., Array], of_integers: Callable[..., Array]) -> _Maker:
    return lambda modifiers, types: Operation(
        types[0], (types[0],) * 2, of_numbers if is_float(types[0]) else of_integers)


_opcode("min")(_extreme_of(np.fmin, np.minimum))
_opcode("max")(_extreme_of(np.fmax, np.maximum))


def _product(modifiers: list[str], dtype: str) -> tuple[str, Callable[..., Array]]:
    """Its type, and how it is made."""
    if is_float(dtype) or "lo" in modifiers:
        return dtype, np.multiply
    if "wide" in modifiers:
        wide = DTYPES[wider(dtype)]
        return wider(dtype), lambda a, b: np.multiply(a, b, dtype=wide)
    raise PtxError(f"opcode not known: mul.{'.'.join(modifiers)}.{dtype}")


@_opcode("mul", "lo wide rn")
def _mul(modifiers: list[str], types: list[str]) -> Operation:
    result, compute = _product(modifiers, types[0])
    return Operation(result, (types[0], types[0]), compute)


@_opcode("mad", "lo wide")
def _mad(modifiers: list[str], types: list[str]) -> Operation:
    result, compute = _product(modifiers, types[0])
    kind = DTYPES[result]
    return Operation(result, (types[0], types[0], result),
                     lambda a, b, c: np.asarray(compute(a, b)).astype(kind) + c)


@_opcode("fma", "rn rm rp rz sat")
def _fma(modifiers: list[str], types: list[str]) -> Operation:
    rounding = next((part for part in modifiers if part != "sat"), "rn")
    if types[0] == "f64":
        if modifiers != ["rn"]:
            raise PtxError(f"opcode not known: fma.{'.'.join(modifiers)}.f64")
        return Operation("f64", ("f64",) * 3, arithmetic.fma64)

    def compute(a: Array, b: Array, c: Array) -> Array:
        result = arithmetic.fma32(a, b, c, rounding)
        return _saturated(result) if "sat" in modifiers else result
    return Operation("f32", ("f32",) * 3, compute)


def _saturated(x: Array) -> Array:
    """To [0, 1]; a NaN is 0."""
    return np.fmin(np.fmax(x, x.dtype.type(0)), x.dtype.type(1))


def _quotient(a: Array, b: Array) -> Array:
    """Towards 0, as C does; of a division by 0 anything."""
    safe = np.where(b == 0, np.ones_like(b), b)
    floor = np.floor_divide(a, safe)
    return floor + ((a - floor * safe != 0) & ((a < 0) != (safe < 0)))


@_opcode("div", "rn")
def _div(modifiers: list[str], types: list[str]) -> Operation:
    return Operation(types[0], (types[0],) * 2, np.divide if is_float(types[0]) else _quotient)


_opcode("rem")(_same(2, lambda a, b: a - _quotient(a, b) * b))


@_opcode("rcp", "rn approx ftz")
def _rcp(modifiers: list[str], types: list[str]) -> Operation:
    if modifiers == ["approx", "ftz"] and types == ["f64"]:
        return Operation("f64", ("f64",), arithmetic.rcp_approx_ftz64)
    if modifiers == ["rn"]:
        return Operation(types[0], (types[0],), np.reciprocal)
    raise PtxError(f"opcode not known: rcp.{'.'.join(modifiers + types)}")


@_opcode("ex2", "approx ftz")
def _ex2(modifiers: list[str], types: list[str]) -> Operation:
    if modifiers != ["approx", "ftz"]:
        raise PtxError(f"opcode not known: ex2.{'.'.join(modifiers + types)}")
    return Operation("f32", ("f32",), arithmetic.ex2_approx_ftz)


def _shift(left: bool, dtype: str) -> Callable[..., Array]:
    bits, kind = 8 * BYTES[dtype], DTYPES[dtype]

    def compute(a: Array, count: Array) -> Array:
        near = np.minimum(count, np.uint32(bits - 1)).astype(kind)
        shifted = np.left_shift(a, near) if left else np.right_shift(a, near)
        # Farther than the register is wide: 0, or the sign all over.
        return shifted if dtype[0] == "s" else np.where(count >= bits, kind(0), shifted)
    return compute


_opcode("shl")(lambda modifiers, types: Operation(types[0], (types[0], "u32"), _shift(True, types[0])))
_opcode("shr")(lambda modifiers, types: Operation(types[0], (types[0], "u32"), _shift(False, types[0])))


_COMPARISONS: dict[str, Callable[..., Array]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal}
_UNORDERED = {"equ": "eq", "neu": "ne", "ltu": "lt", "leu": "le", "gtu": "gt", "geu": "ge"}


def _comparison(name: str, dtype: str) -> Callable[..., Array]:
    if name == "nan":
        return lambda a, b: np.isnan(a) | np.isnan(b)
    if name == "num":
        return lambda a, b: ~(np.isnan(a) | np.isnan(b))
    if name in _UNORDERED:
        ordered = _COMPARISONS[_UNORDERED[name]]
        return lambda a, b: ordered(a, b) | np.isnan(a) | np.isnan(b)
    if name == "ne" and is_float(dtype):
        return lambda a, b: (a != b) & ~(np.isnan(a) | np.isnan(b))
    return _COMPARISONS[name]


@_opcode("setp", " ".join([*_COMPARISONS, *_UNORDERED, "nan", "num"]))
def _setp(modifiers: list[str], types: list[str]) -> Operation:
    return Operation("pred", (types[0],) * 2, _comparison(modifiers[0], types[0]))


@_opcode("selp")
def _selp(modifiers: list[str], types: list[str]) -> Operation:
    return Operation(types[0], (types[0], types[0], "pred"), lambda a, b, p: np.where(p, a, b))


def _to_integer(round_it: Callable[..., Array], dtype: str) -> Callable[..., Array]:
    kind = DTYPES[dtype]
    limits = np.iinfo(kind)

    def compute(a: Array) -> Array:
        rounded = round_it(a.astype(np.float64))
        inside = (rounded >= float(limits.min)) & (rounded < float(limits.max))
        result = np.where(inside, rounded, 0).astype(kind)
        return np.where(inside | np.isnan(rounded), result, np.where(rounded < 0, kind(limits.min), kind(limits.max)))
    return compute


_INTEGRAL = {"rzi": np.trunc, "rni": np.rint, "rmi": np.floor, "rpi": np.ceil}


@_opcode("cvt", "rn rz rzi rni rmi rpi sat")
def _cvt(modifiers: list[str], types: list[str]) -> Operation:
    to, of = types
    kind = DTYPES[to]
    integral = next((_INTEGRAL[part] for part in modifiers if part in _INTEGRAL), None)
    if integral is not None:
        return Operation(to, (of,), integral if is_float(to) else _to_integer(integral, to))
    if modifiers == ["sat"] and to == of:
        return Operation(to, (of,), _saturated)
    if modifiers not in ([], ["rn"]) or (is_float(of) and not is_float(to)):
        raise PtxError(f"opcode not known: cvt.{'.'.join(modifiers + types)}")
    return Operation(to, (of,), lambda a: a.astype(kind))


# One window holds all spaces (memory.py), so an address of one is a generic one.
@_opcode("cvta", "to global shared local param const")
def _cvta(modifiers: list[str], types: list[str]) -> Operation:
    return Operation(types[0], (types[0],), lambda a: a)


@_opcode("bfi")
def _bfi(modifiers: list[str], types: list[str]) -> Operation:
    """The low bits of the first, so many, into the second, from a bit on."""
    kind = DTYPES[types[0].replace("b", "u")]

    def compute(a: Array, b: Array, at: Array, count: Array) -> Array:
        ones = _ones(np.asarray(count), kind) << np.asarray(at).astype(kind)
        return (a << np.asarray(at).astype(kind)) & ones | b & ~ones
    return Operation(types[0], (types[0], types[0], "u32", "u32"), compute)


def _ones(count: Array, kind: Any) -> Array:
    """As many, from the lowest bit on."""
    return np.where(count == 0, kind(0), ~kind(0) >> (8 * kind(0).itemsize - count).astype(kind))


@_opcode("prmt")
def _prmt(modifiers: list[str], types: list[str]) -> Operation:
    def compute(a: Array, b: Array, selector: Array) -> Array:
        both = (np.asarray(b).astype(np.uint64) << np.uint64(32)) | a
        result = np.zeros(np.shape(both), np.uint64)
        for i in range(4):
            pick = (np.asarray(selector).astype(np.uint64) >> np.uint64(4 * i)) & np.uint64(15)
            byte = (both >> ((pick & np.uint64(7)) << np.uint64(3))) & np.uint64(255)
            sign = np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0))
            result |= np.where(pick & np.uint64(8), sign, byte) << np.uint64(8 * i)
        return result
    return Operation("b32", ("b32",) * 3, compute)


@_opcode("mapa", "shared::cluster")
def _mapa(modifiers: list[str], types: list[str]) -> Operation:
    def compute(address: Array, rank: Array) -> Array:
        return address % address.dtype.type(SHARED_WINDOW) + address.dtype.type(SHARED) + \
            rank.astype(address.dtype) * address.dtype.type(SHARED_WINDOW)
    return Operation(types[0], (types[0], "u32"), compute)
