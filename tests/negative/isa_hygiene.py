#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code compiled for a larger instruction set must not leak out of its files.

isa_hygiene.py --compiler CXX --nm NM OBJECT... [--self-test]

An inline function is compiled into every object that uses it, as a weak symbol, and the linker keeps
any one of them: if that is the one compiled for AVX-512, the whole program dies with SIGILL on a
machine without it. So the objects row_kernel_avx*.cpp and layer_kernel_avx*.cpp may define no weak or
unique symbol, and nothing outside the namespaces diffbench::simd and diffbench::mlp.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ISA_OBJECT = re.compile(r"(row|layer)_kernel_avx\w+\.cpp\.")
NAMESPACE = re.compile(r"diffbench::(simd|mlp)::")
WEAK = set("VWvwu")
PLANTED = """
#include <cstddef>
namespace diffbench::simd {
inline int shared(int x) { int s = 0; for (int i = 0; i < x; ++i) s += i * x; return s; }
int (*use())(int) { return shared; }
}
namespace diffbench { int outside() { return 1; } }
"""


def violations(nm, file):
    listed = subprocess.run([nm, "--demangle", "--defined-only", "--format=posix", file],
                            check=True, capture_output=True, text=True).stdout
    count = 0
    for line in listed.splitlines():
        # NAME TYPE VALUE SIZE, where a demangled name holds blanks; local symbols are lower case.
        name, kind = re.match(r"(.+) ([A-Za-z?]) [0-9a-f]+", line).groups()
        count += 1
        if kind in WEAK:
            yield f"{file}: {name}: weak or unique ({kind})"
        elif kind.isupper() and not NAMESPACE.match(name):
            yield f"{file}: {name}: outside its namespace"
    if count == 0:
        yield f"{file}: no symbols at all; is it the right file?"


def self_test(options):
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory, "planted.cpp")
        source.write_text(PLANTED, encoding="utf-8")
        planted = source.with_suffix(".o")
        subprocess.run([options.compiler, "-std=c++20", "-O2", "-c", source, "-o", planted], check=True)
        found = list(violations(options.nm, planted))
    print(*found, sep="\n")
    return 0 if len(found) == 2 and "shared" in found[0] + found[1] else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--nm", required=True)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("objects", nargs="+")
    options = parser.parse_args()
    if options.self_test:
        return self_test(options)
    objects = [o for o in options.objects if ISA_OBJECT.search(o)]
    if not objects:
        sys.exit("no object of an instruction set among those given")
    found = [v for o in objects for v in violations(options.nm, o)]
    print(*found, f"{len(objects)} objects, {len(found)} violations", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
