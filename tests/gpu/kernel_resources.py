#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ptxas gives each kernel: registers, static shared memory, spilled bytes, by architecture.

kernel_resources.py compile -- NVCC ...     runs nvcc and leaves ptxas's figures in OBJECT.ptxas
kernel_resources.py print OBJECT...         a table of the figures
kernel_resources.py budget OBJECT...        a budget that they fit, as JSON
kernel_resources.py check BUDGET OBJECT...  fails where a kernel exceeds its budget or has none, or
                                            where two objects have it
kernel_resources.py self-test

A kernel that grows by a few registers may lose a third of its resident warps, and one that spills
slows down silently; no test of results sees either. A kernel template that two objects have is two
kernels, with attributes of their own (kernels/src/kernels.hpp). `compile` is the launcher of the CUDA compiler
(cmake/DiffbenchCuda.cmake), so the figures are those of the very code that was linked.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ENTRY = re.compile(r"Compiling entry function '(\w+)' for '(sm_\w+)'")
SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?")
OURS = re.compile(r"diffbench::(kernels|gpu|mlp::cuda)::")
FIELDS = ("registers", "shared", "spilled")


def compile_and_keep(command):
    """ptxas's figures go to a file, everything else nvcc says to stderr."""
    run = subprocess.run([*command, "-Xptxas=-v"], stderr=subprocess.PIPE, text=True)
    figures = [line for line in run.stderr.splitlines()
               if line.startswith("ptxas info") or SPILLS.search(line)]
    for line in run.stderr.splitlines():
        if line not in figures:
            print(line, file=sys.stderr)
    if run.returncode == 0 and "-o" in command:
        target = Path(command[command.index("-o") + 1] + ".ptxas")
        target.write_text("\n".join(figures) + "\n", encoding="utf-8")
    return run.returncode


def short_name(demangled):
    """'kernels::naive_step<float>' of 'void diffbench::kernels::naive_step<float>(...)'; None for the kernels
    of libraries, which name our types at most in their arguments."""
    name = demangled.removeprefix("void ")
    if not OURS.match(name):
        return None
    name = name.removeprefix("diffbench::")
    depth = 0
    for i, letter in enumerate(name):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and depth == 0:
            return name[:i]
    return name


def parse(text):
    """{mangled name: {architecture: figures}}"""
    found = {}
    figures = None
    for line in text.splitlines():
        if match := ENTRY.search(line):
            figures = found.setdefault(match[1], {}).setdefault(match[2], dict.fromkeys(FIELDS, 0))
        elif match := SPILLS.search(line):
            figures["spilled"] = int(match[1]) + int(match[2])
        elif match := USED.search(line):
            figures["registers"] = int(match[1])
            figures["shared"] = int(match[2] or 0)
    return found


def kernels_of(path):
    """{kernel: {architecture: figures}} of an object's own kernels."""
    parsed = parse(Path(path + ".ptxas").read_text(encoding="utf-8"))
    names = subprocess.run(["c++filt"], input="\n".join(parsed), check=True, text=True,
                           capture_output=True).stdout.splitlines()
    return {name: figures for name, figures in zip(map(short_name, names), parsed.values()) if name}


def resources_of(objects):
    """The same of all objects, and the complaints about kernels that several have."""
    kernels, owner, found = {}, {}, []
    for path in objects:
        for name, by_architecture in kernels_of(path).items():
            if name in owner:
                found.append(f"{name}: compiled in {Path(owner[name]).name} and in {Path(path).name}")
            owner[name] = path
            kernels[name] = by_architecture
    return kernels, found


def complaints(kernels, budget):
    for name in sorted(budget.keys() - kernels.keys()):
        yield f"{name}: has a budget, but was not compiled"
    # A tree may be for another card besides.
    architectures = {a for by_architecture in budget.values() for a in by_architecture}
    for name, by_architecture in sorted(kernels.items()):
        for architecture in sorted(architectures - by_architecture.keys()):
            yield f"{name}: was not compiled for {architecture}"
        for architecture, used in sorted(by_architecture.items()):
            allowed = budget.get(name, {}).get(architecture)
            if allowed is None:
                if architecture in architectures or name not in budget:
                    yield f"{name}: no budget for {architecture}; it uses {used}"
                continue
            for field in FIELDS:
                if not used[field] <= allowed[field]:
                    yield (f"{name}: {used[field]} {field} on {architecture}, "
                           f"{allowed[field]} allowed")


def budget_for(kernels):
    """Registers are handed out in eights to a thread, so rounding up costs nothing and lets another
    nvcc differ a little."""
    return {name: {architecture: {**used, "registers": -(-used["registers"] // 8) * 8}
                   for architecture, used in sorted(by_architecture.items())}
            for name, by_architecture in sorted(kernels.items())}


def self_test():
    text = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN9diffbench7kernels4stepIfEEvi' for 'sm_90'
ptxas info    : Function properties for _ZN9diffbench7kernels4stepIfEEvi
    8 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 30 registers, used 1 barriers, 8 bytes stack, 128 bytes smem, 400 bytes cmem[0]
"""
    parsed = parse(text)["_ZN9diffbench7kernels4stepIfEEvi"]["sm_90"]
    assert parsed == {"registers": 30, "shared": 128, "spilled": 12}, parsed
    assert short_name("void diffbench::kernels::step<float, (int)4>(int)") == "kernels::step<float, (int)4>"
    assert short_name("void diffbench::mlp::cuda::step<float>(int)") == "mlp::cuda::step<float>"
    assert short_name("void cub::run<diffbench::kernels::NextCell<float>>(int)") is None
    kernels = {"step": {"sm_90": parsed}}
    fits = budget_for(kernels)
    assert not list(complaints(kernels, fits))
    for field in FIELDS:
        tight = {"step": {"sm_90": {**fits["step"]["sm_90"], field: parsed[field] - 1}}}
        assert len(list(complaints(kernels, tight))) == 1, field
    assert len(list(complaints(kernels, {}))) == 1
    assert len(list(complaints({}, fits))) == 1
    both = {"step": {"sm_89": parsed, "sm_90": parsed}}
    assert not list(complaints(both, fits))
    assert len(list(complaints(kernels, budget_for(both)))) == 1
    with tempfile.TemporaryDirectory() as directory:
        objects = [str(Path(directory, name)) for name in ("a.o", "b.o")]
        for path in objects:
            Path(path + ".ptxas").write_text(text, encoding="utf-8")
        assert resources_of(objects[:1])[1] == []
        assert resources_of(objects)[1] == ["kernels::step<float>: compiled in a.o and in b.o"]


def main():
    match sys.argv[1:]:
        case ["compile", "--", *command]:
            return compile_and_keep(command)
        case ["print", *objects]:
            for name, by_architecture in sorted(resources_of(objects)[0].items()):
                for architecture, used in sorted(by_architecture.items()):
                    print(f"{name:50} {architecture:8}", *(f"{used[f]:5} {f}" for f in FIELDS))
        case ["budget", *objects]:
            print(json.dumps(budget_for(resources_of(objects)[0]), indent=1))
        case ["check", budget, *objects]:
            kernels, found = resources_of(objects)
            found += complaints(kernels, json.loads(Path(budget).read_text(encoding="utf-8")))
            print(*found, f"{len(kernels)} kernels, {len(found)} complaints", sep="\n")
            return 1 if found or not kernels else 0
        case ["self-test"]:
            self_test()
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
