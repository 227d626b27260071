#!/usr/bin/env python3
"""Checks who includes whom: include_graph.py ROOT [--self-test]

The rules are ALLOWED and FORBIDDEN_OUTSIDE below; docs/decisions.md has the reasons. An include is
looked up as the compiler would: beside the including file, then in the include directories.
"""
import re
import sys
import tempfile
from pathlib import Path

# Part of the project -> the places whose files it may include.
ALLOWED = {
    "solver": ["solver/"],
    "kernels": ["kernels/", "solver/include/"],
    # Of the solver only what is not the solver: errors, the machine, threads, files, and the options and
    # provenance of whatever runs.
    "mlp": ["mlp/", "kernels/include/",
            *(f"solver/include/diffbench/{name}.hpp"
              for name in ("atomic_file", "backend", "errors", "machine", "workers"))],
    # Backends are reached through the registry only, so neither */backends/ nor solver/simd/.
    "bench": ["bench/", "solver/include/", "kernels/include/", "mlp/include/"],
}
# Headers from outside the project, as written in the include.
COMMAND_LINE = r"CLI/|nlohmann/|fmt/"
CUDA = r"cuda|cub/|nv|thrust/"
FORBIDDEN_OUTSIDE = {"solver": f"{COMMAND_LINE}|{CUDA}", "kernels": COMMAND_LINE, "mlp": r"CLI/|fmt/"}
INCLUDE_DIRECTORIES = ["solver/include", "kernels/include", "mlp/include",
                       "solver", "kernels", "mlp", "mlp/src", "bench", "bench/src", "bench/lab",
                       "bench/observe", "bench/report"]
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh", ".h", ".in"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def included_file(root, includer, name):
    """The file of the project that the include names, relative to root; None for another's."""
    for directory in [includer.parent, *(root / d for d in INCLUDE_DIRECTORIES)]:
        candidate = (directory / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return None


def violations_of(root, part, file):
    for name in INCLUDE.findall(file.read_text(encoding="utf-8")):
        place = f"{file.relative_to(root)}: includes {name}"
        inside = included_file(root, file, name)
        if inside is None:
            if re.match(FORBIDDEN_OUTSIDE.get(part, r"(?!)"), name):
                yield f"{place}; {part}/ must not know it"
        elif not inside.startswith(tuple(ALLOWED[part])):
            yield f"{place}; {part}/ may include only {', '.join(ALLOWED[part])}"


def violations(root):
    """All violations under root, and the number of files looked at."""
    root = root.resolve()
    found, count = [], 0
    for part in ALLOWED:
        for file in sorted(f for f in (root / part).rglob("*") if f.suffix in SUFFIXES):
            count += 1
            found += violations_of(root, part, file)
    found += [f"{f.relative_to(root)}: viz/ holds no C++"
              for f in (root / "viz").rglob("*") if f.suffix in SUFFIXES]
    return found, count


def self_test():
    """Each planted file but the last ones breaks one rule."""
    planted = {
        "solver/src/a.cpp": '#include <CLI/CLI.hpp>',
        "solver/src/b.cpp": '#  include <cuda_runtime.h>',
        "solver/src/c.cpp": '#include "gpu/stream.hpp"',
        "kernels/src/a.cu": '#include "simd/row.hpp"',
        "mlp/src/a.cpp": '#include "diffbench/problem.hpp"',
        "bench/src/a.cpp": '#include "../../solver/backends/fused.hpp"',
        "bench/src/b.cpp": '#include "simd/row.hpp"',
        "viz/a.cpp": '',
    }
    harmless = {
        "solver/simd/row.hpp": '#include "diffbench/problem.hpp"',
        "solver/include/diffbench/problem.hpp": '#include <cstdint>',
        "solver/backends/fused.hpp": '// #include <fmt/core.h>',
        "kernels/include/gpu/stream.hpp": '#include "diffbench/problem.hpp"',
    }
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory).resolve()
        for name, text in {**planted, **harmless}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        blamed = sorted(v.split(":")[0] for v in violations(root)[0])
    if blamed != sorted(planted):
        sys.exit(f"planted violations in {sorted(planted)}, found {blamed}")


def main():
    if "--self-test" in sys.argv:
        return self_test()
    found, count = violations(Path(sys.argv[1]))
    print(*found, f"{count} files, {len(found)} violations", sep="\n")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
