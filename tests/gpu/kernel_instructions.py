#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a thread of the kernels executes, counted in the machine code of sm_90.

kernel_instructions.py print COMMANDS SOURCE            compiles SOURCE; the figures as JSON
kernel_instructions.py check FILE COMMANDS SOURCE       fails where a kernel and FILE differ
kernel_instructions.py update FILE COMMANDS SOURCE      writes the figures into FILE, a header or JSON
kernel_instructions.py self-test

COMMANDS is the build tree's compile_commands.json: SOURCE is compiled as the program's is, but for sm_90.

Time steps are a loop, two of them a turn, found as the shortest one with four additions a cell. What is executed around it is
the shortest way through the branches on which a patch is loaded, or stored, 16 bytes at a time: the way of the
patches that lie inside, which are nearly all. A kernel that computes a cell otherwise than by four additions, a fused
multiply-add and a product, that has lost its wide accesses, or that executes more than before, shows
here and in no test of results. The streaming kernel is one loop over three rows of all levels, accesses included.

Of the network kernel it is the loops of its products that are counted: four terms, or rows for two accesses, of
a thread's tile, by their 128 multiply-adds and their accesses to shared memory.

Neither nvdisasm nor cuobjdump is needed: of an instruction of 16 bytes the low nine bits tell which it is (Jia et al.,
"Dissecting the NVIDIA Volta GPU architecture via microbenchmarking", 2018, appendix; the fields of branches and
the size of accesses found by comparing).
"""
import collections
import heapq
import json
import re
import shlex
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = {0x180: "LD", 0x185: "ST", 0x020: "FMUL", 0x021: "FADD", 0x023: "FFMA", 0x028: "DMUL", 0x029: "DADD", 0x02b: "DFMA",
         0x11d: "BAR", 0x147: "BRA", 0x14d: "EXIT", 0x181: "LDG", 0x184: "LDS", 0x186: "STG", 0x188: "STS",
         0x189: "SHFL"}
# What a turn of the loop consists of, for people.
KINDS = {"arithmetic": ["FADD", "FMUL", "FFMA", "DADD", "DMUL", "DFMA"], "shared": ["LDS", "STS"],
         "shuffles": ["SHFL"], "global": ["LDG", "STG"], "barriers": ["BAR"]}
WIDE = 6  # of an access's size: 16 bytes
ALWAYS = 7  # of an instruction's predicate
KERNELS = re.compile(r"kernels::(blocked|persistent|numbered|streamed)_steps<(float|double)(?:, (?:\(bool\))?(1|true))?")
# Two steps of a patch; of the streaming kernel a lane's part of three rows of eight levels.
CELLS = {"blocked": 2 * 64, "persistent": 2 * 64, "numbered": 2 * 64, "streamed": 3 * 8 * 32, "swapped": 3 * 8 * 32}
# In bytes, of a turn of the loop.
TURN = {"blocked": 2, "persistent": 2, "numbered": 2, "streamed": 3, "swapped": 3}  # steps, or rows, of a turn
# What an exchange loads and stores with: how, and how often.
EXCHANGES = {"persistent": ("LDG", "STG", 4), "numbered": ("LD", "ST", 6)}
COUNTS = re.compile(r"(InstructionCounts (\w+) = )\{(\d+), (\d+), (\d+)\}")

NETWORK = re.compile(r"mlp::cuda::persistent_steps<float>")
# Loads of a loop with 128 multiply-adds: 8 weights of a term by 4 bytes and 16 bytes of values, twice 16 bytes of weights
# and 16 of deltas, or 4 outputs and 4 inputs by 16 bytes.
NETWORK_LOOPS = {"forward": 4 * 9, "input gradient": 4 * 3, "weight gradient": 2 * 8}

Instruction = collections.namedtuple("Instruction", "name predicate target wide")


def decode(code):
    """The instructions of a kernel; `target` is the index that a branch goes to."""
    instructions = []
    for at in range(0, len(code), 16):
        low, high = struct.unpack_from("<QQ", code, at)
        word = low | high << 64
        name, target = NAMES.get(low & 0x1ff, "other"), None
        if name == "BRA":
            offset = word >> 34 & (1 << 48) - 1
            offset -= (offset >> 47) << 48
            target = at // 16 + 1 + (offset << 8 | word >> 16 & 0xff) // 4  # from units of 4 bytes
        instructions.append(Instruction(name, low >> 12 & 0xf, target, word >> 73 & 7 == WIDE))
    return instructions


def shortest(code, begin, ends, counted, wanted):
    """Instructions from `begin` to before one of `ends`, with `wanted` that are counted; None: no way."""
    seen, ways = set(), [(0, begin, 0)]
    while ways:
        length, at, done = heapq.heappop(ways)
        if at in ends and done == wanted and length > 0:
            return length
        if (at, done) in seen or not 0 <= at < len(code):
            continue
        seen.add((at, done))
        one = code[at]
        done += counted(one)
        if done > wanted:
            continue
        if one.name == "BRA":
            heapq.heappush(ways, (length + 1, one.target, done))
        if one.name not in ("BRA", "EXIT") or one.predicate != ALWAYS:
            heapq.heappush(ways, (length + 1, at + 1, done))
    return None


def wide(name):
    return lambda one: one.name == name and one.wide


def figures(code, kernel, dtype, cells=None):
    """`cells`: of a turn of the loop."""
    letter, bytes_a_cell = ("F", 4) if dtype == "float" else ("D", 8)
    cells = cells or CELLS[kernel] // bytes_a_cell
    loops = [(one.target, at) for at, one in enumerate(code)
             if one.target is not None and one.target < at]
    wanted = {letter + "ADD": 4 * cells, letter + "FMA": cells, letter + "MUL": cells}
    steps = []
    for begin, end in loops:
        counts = collections.Counter(one.name for one in code[begin:end + 1])
        if all(counts[name] == count for name, count in wanted.items()):
            steps.append((end + 1 - begin, begin, end))
    if not steps:
        raise SystemExit(f"{kernel}: no loop has {wanted}")
    exits = {at for at, one in enumerate(code) if one.name == "EXIT"}
    accesses = EXCHANGES[kernel][2] if kernel in EXCHANGES else -(-cells * bytes_a_cell // TURN[kernel] // 16)

    def around(begin, end):
        if kernel in ("streamed", "swapped"):
            return 0, 0
        if kernel == "blocked":
            return (shortest(code, 0, {begin}, wide("LDG"), accesses),
                    shortest(code, end + 1, exits, wide("STG"), accesses))
        # A warp with patches of both kinds takes both ways, which have most instructions in common.
        loads, stores, _ = EXCHANGES[kernel]
        load, store, neither = (shortest(code, end + 1, {begin}, counted, count) for counted, count in (
            (wide(loads), accesses), (wide(stores), accesses),
            (lambda one: one.wide and one.name in (loads, stores), 0)))
        return load, store and store - neither
    # Steps at the edge of the grid are in a longer loop, and the last ones of the persistent kernel in one
    # from which there is no way back.
    for step, begin, end in sorted(steps):
        load, store = around(begin, end)
        if load is not None and store is not None:
            counts = collections.Counter(one.name for one in code[begin:end + 1])
            kinds = {kind: round(sum(counts[name] for name in names) / cells, 3)
                     for kind, names in KINDS.items()}
            return {"step": -(-step // TURN[kernel]), "load": load, "store": store,
                    "a cell and step": {"all": round(step / cells, 2), **kinds}}
    raise SystemExit(f"{kernel}: no way round its steps has {accesses} accesses of 16 bytes")


def network_figures(code):
    """The longest loop of each kind: a product may have been compiled more than once."""
    found = dict.fromkeys(NETWORK_LOOPS, 0)
    for at, one in enumerate(code):
        if one.target is not None and one.target < at:
            counts = collections.Counter(each.name for each in code[one.target:at + 1])
            for what, loads in NETWORK_LOOPS.items():
                if counts["FFMA"] == 128 and counts["LDS"] == loads:
                    found[what] = max(found[what], at + 1 - one.target)
    if 0 in found.values():
        raise SystemExit(f"network: no loop of 128 multiply-adds has the loads of {NETWORK_LOOPS}: {found}")
    return found


def kernels_of(cubin):
    """(demangled name, code) of each kernel in an ELF file."""
    sections, = struct.unpack_from("<Q", cubin, 0x28)
    count, names = struct.unpack_from("<HH", cubin, 0x3c)
    headers = [struct.unpack_from("<IIQQQQ", cubin, sections + 64 * i) for i in range(count)]
    for header in headers:
        begin = headers[names][4] + header[0]
        name = cubin[begin:cubin.index(b"\0", begin)].decode()
        if name.startswith(".text."):
            plain = subprocess.run(["c++filt", name[6:]], check=True, text=True, capture_output=True)
            yield plain.stdout, cubin[header[4]:header[4] + header[5]]


def command_for(source, commands):
    """As CMake has it compiled, less its card, its output and -c."""
    found = [one for one in commands if Path(one["file"]) == Path(source)]
    if len(found) != 1:
        raise SystemExit(f"{source}: {len(found)} commands compile it")
    words = shlex.split(found[0]["command"])
    output = words.index("-o")
    del words[output:output + 2]
    return [word for word in words if word != "-c" and not word.startswith("--generate-code=")]


def all_figures(commands, source):
    command = command_for(source, json.loads(Path(commands).read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as directory:
        cubin = Path(directory, "kernels.cubin")
        subprocess.run([*command, "-cubin", "-arch=sm_90", "-o", cubin], check=True)
        found = {}
        for name, code in kernels_of(cubin.read_bytes()):
            if match := KERNELS.search(name):
                kernel, dtype, swapped = match.groups()
                kernel = "swapped" if swapped else kernel
                found[f"{kernel}_{dtype}"] = figures(decode(code), kernel, dtype)
            elif NETWORK.search(name):
                found["network_float"] = network_figures(decode(code))
        return found


def recorded_in(text):
    """Of JSON, or of a header."""
    if text.startswith("{"):
        return json.loads(text)
    return {match[2]: dict(zip(("step", "load", "store"), map(int, match.group(3, 4, 5))))
            for match in COUNTS.finditer(text)}


def complaints(found, recorded):
    """A twentieth more is allowed, for another nvcc, and a fifth less."""
    if found.keys() != recorded.keys():
        yield f"kernels {sorted(found)}, recorded {sorted(recorded)}"
    for kernel in sorted(found.keys() & recorded.keys()):
        for what, count in recorded[kernel].items():
            if not count * 4 // 5 <= found[kernel][what] <= count * 21 // 20:
                yield f"{kernel}: {what} takes {found[kernel][what]} instructions, recorded are {count}"


def updated(found, text):
    if text.startswith("{"):
        return json.dumps(found, indent=1) + "\n"
    return COUNTS.sub(lambda match: match[1] + "{{{step}, {load}, {store}}}".format(**found[match[2]]), text)


def self_test():
    def word(opcode, predicate=ALWAYS, jump=0, size=0):
        back = (jump * 4) & (1 << 56) - 1
        return struct.pack("<QQ", *divmod((opcode | predicate << 12 | (back & 0xff) << 16 |
                                           (back >> 8) << 34 | size << 73), 1 << 64)[::-1])
    arithmetic = [word(0x021)] * 4 + [word(0x023), word(0x020)]

    def kernel(size=WIDE, extra=()):  # a patch of one cell, with a way round the load
        body = [*arithmetic, *extra]
        return decode(b"".join([word(0x147, 0, 1), word(0x181, size=size), *body,
                                word(0x147, 0, -len(body) - 1), word(0x186, size=size), word(0x14d)]))
    good = kernel()
    assert [one.name for one in good] == ["BRA", "LDG", *["FADD"] * 4, "FFMA", "FMUL", "BRA", "STG", "EXIT"]
    assert (good[0].target, good[8].target, good[1].wide) == (2, 2, True)
    assert shortest(good, 0, {2}, wide("LDG"), 1) == 2
    assert shortest(good, 0, {2}, wide("LDG"), 0) == 1
    assert shortest(good, 0, {2}, wide("LDG"), 2) is None
    assert figures(good, "blocked", "float", 1) == {
        "step": 4, "load": 2, "store": 1,
        "a cell and step": {"all": 7, "arithmetic": 6, "shared": 0, "shuffles": 0, "global": 0, "barriers": 0}}
    assert figures(good, "streamed", "float", 1)["step"] == 3
    # An exchange: of four instructions that all execute, one with a store and one with a load.
    def turn(load, store, count):
        stores, loads = [word(store, size=WIDE)] * count, [word(load, size=WIDE)] * count
        return decode(b"".join([*arithmetic, word(0x147, 0, -7), word(0x147, 0, count), *stores, word(0x147, 0, count),
                                *loads, word(0x11d), word(0x147, jump=-11 - 2 * count)]))
    for kernel_name, code in (("persistent", turn(0x181, 0x186, 4)), ("numbered", turn(0x180, 0x185, 6))):
        found = figures(code, kernel_name, "float", 1)
        count = EXCHANGES[kernel_name][2]
        assert [found[what] for what in ("step", "load", "store")] == [4, 4 + count, count], found
    for bad in (kernel(size=4), kernel(extra=[word(0x021)])):  # narrow accesses; a fifth addition
        try:
            figures(bad, "blocked", "float", 1)
        except SystemExit:
            continue
        raise AssertionError(bad)
    loops = [word(0x184)] * 36 + [word(0x023)] * 128 + [word(0x147, 0, -165)]
    loops += [word(0x184)] * 12 + [word(0x023)] * 128 + [word(0x147, 0, -141)]
    network = decode(b"".join(loops + [word(0x184)] * 16 + [word(0x023)] * 128 + [word(0x147, 0, -145)]))
    assert network_figures(network) == {"forward": 165, "input gradient": 141, "weight gradient": 145}
    try:
        network_figures(decode(b"".join(loops)))
    except SystemExit:
        pass
    else:
        raise AssertionError("a missing loop")
    line = "nvcc -O3 --generate-code=arch=compute_80,code=[sm_80] -fmad=false -x cu -c /a/b.cu -o b.o"
    commands = [{"file": "/a/b.cu", "command": line}, {"file": "/a/c.cu", "command": "nvcc -c /a/c.cu -o c.o"}]
    assert command_for("/a/b.cu", commands) == ["nvcc", "-O3", "-fmad=false", "-x", "cu", "/a/b.cu"]
    assert command_for("/a/c.cu", commands) == ["nvcc", "/a/c.cu"]
    for none_or_two in ([], commands[:1] * 2):
        try:
            command_for("/a/b.cu", none_or_two)
        except SystemExit:
            continue
        raise AssertionError(none_or_two)
    header = "inline constexpr InstructionCounts a = {1, 1, 1};\n"
    found = {"a": {"step": 138, "load": 160, "store": 57, "a cell and step": {"all": 8.6}}}
    header = updated(found, header)
    assert header == "inline constexpr InstructionCounts a = {138, 160, 57};\n"
    assert not list(complaints(found, recorded_in(header)))
    network = {"a": {"forward": 187}}
    assert not list(complaints(network, recorded_in(updated(network, "{}"))))
    assert len(list(complaints({"a": {**found["a"], "step": 145}}, recorded_in(header)))) == 1
    assert len(list(complaints({"a": {**found["a"], "store": 44}}, recorded_in(header)))) == 1
    assert len(list(complaints({}, recorded_in(header)))) == 1


def main():
    match sys.argv[1:]:
        case ["print", commands, source]:
            print(json.dumps(all_figures(commands, source), indent=1))
        case ["check", file, commands, source]:
            found = all_figures(commands, source)
            wrong = list(complaints(found, recorded_in(Path(file).read_text(encoding="utf-8"))))
            print(*wrong, f"{len(found)} kernels, {len(wrong)} complaints", sep="\n")
            return 1 if wrong or not found else 0
        case ["update", file, commands, source]:
            text = Path(file).read_text(encoding="utf-8")
            Path(file).write_text(updated(all_figures(commands, source), text), encoding="utf-8")
        case ["self-test"]:
            self_test()
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
