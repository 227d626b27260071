#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a file has for itself stays its own.

local_names.py --compiler CXX --nm NM OBJECT... [--self-test]

GCC emits an instance for a *template* out of an anonymous namespace as a weak symbol. Two files with classes of one
name, as a copied backend has, both define it, and the linker keeps one: a row then runs another file's code. So no
weak symbol may hold an anonymous namespace. (nvcc names such a namespace after its file: that one may.)
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LEAK = re.compile(r"^(\S+): (\S*12_GLOBAL__N_1\S*) [VWu] ", re.MULTILINE)
PLANTED = """
struct Base { virtual ~Base() = default; };
template <template <typename> typename Part, typename T> Base* construct() { return new Part<T>; }
namespace { template <typename T> struct Session : Base { T x; }; }
Base* (*made)() = construct<Session, float>;
"""


def violations(nm, files):
    listed = subprocess.run([nm, "--defined-only", "--format=posix", "--print-file-name", *files],
                            check=True, capture_output=True, text=True).stdout
    if listed.count("\n") < len(files):
        sys.exit("hardly any symbols: are these the right files?")
    return [f"{file}:{name}: weak, and of one file" for file, name in LEAK.findall(listed)]


def self_test(options):
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory, "planted.cpp")
        source.write_text(PLANTED, encoding="utf-8")
        planted = source.with_suffix(".o")
        subprocess.run([options.compiler, "-std=c++20", "-O0", "-c", source, "-o", planted], check=True)
        found = violations(options.nm, [planted])
    print(*found, sep="\n")
    return 0 if any("construct" in line for line in found) else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--nm", required=True)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("objects", nargs="+")
    options = parser.parse_args()
    if options.self_test:
        return self_test(options)
    found = violations(options.nm, options.objects)
    print(*found, f"{len(options.objects)} objects, {len(found)} violations", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
