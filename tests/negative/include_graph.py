#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom: include_graph.py ROOT [--self-test]

PARTS are the arrows of the project, as CONTRIBUTING.md draws them. An include is looked up as the
compiler would: beside the including file, then in the include directories.
"""
import re
import sys
import tempfile
from pathlib import Path

BASE = ["base/include"]
SOLVER = ["solver/include", *BASE]
CLUSTER = ["cluster/include", *SOLVER]
# The layers of bench, each with those that it builds on.
LAYERS = {"measure": [], "report": ["measure"]}
LAYERS["options"] = LAYERS["observe"] = LAYERS["model"] = ["measure", "report"]
LAYERS["study"] = ["measure", "report", "options", "observe", "model"]
BENCH = [*(f"bench/{layer}" for layer in LAYERS), "mlp/include", *CLUSTER]
# Experiments that build on another one.
EXPERIMENTS = {"lesson": ["pitfalls"], "mlp": ["scaling", "pitfalls"]}

# Headers from outside the project, as written in the include.
COMMAND_LINE = r"CLI/"
TEXT = r"nlohmann/|fmt/|toml\+\+/"
CUDA = r"cuda|cub/|nv|thrust/"
MODULES = r"mpi\.h"


def bench_parts(experiments):
    """Each layer sees those below it; an experiment those, what judges other people's code, and itself."""
    parts = {}
    for layer, lower_layers in LAYERS.items():
        below = [f"bench/{lower}" for lower in lower_layers]
        mlp = ["mlp/include"] if layer == "study" else []
        parts[f"bench/{layer}"] = [f"bench/{layer}", *below, *mlp, *CLUSTER]
    parts["judge"] = ["judge", *BENCH]
    for experiment in experiments:
        own = [f"lab/{e}" for e in (experiment, *EXPERIMENTS.get(experiment, []))]
        parts[f"lab/{experiment}"] = [*own, "judge", *BENCH]
    # What is measured of the CUDA runtime itself.
    parts["lab/transfer/gpu"] = ["lab/transfer", "gpu/include", *BENCH]
    return {part: (allowed, COMMAND_LINE) for part, allowed in parts.items()}


def all_parts(experiments):
    """Folder -> what it may include ("folder/*": only the files in it, not those below), and a pattern
    of foreign headers that it must not. A file belongs to the longest folder that holds it."""
    return {
        "base": (["base"], f"{COMMAND_LINE}|{TEXT}|{CUDA}"),
        # Backends are reached through the registry only, so nobody includes */backends/ or solver/simd/.
        "solver": (["solver", *BASE], f"{COMMAND_LINE}|{TEXT}|{CUDA}"),
        "gpu": (["gpu", *BASE], f"{COMMAND_LINE}|{TEXT}"),
        "emulation": (["emulation", *BASE], f"{COMMAND_LINE}|{TEXT}|thrust/"),
        "kernels": (["kernels", "gpu/include", *SOLVER], f"{COMMAND_LINE}|{TEXT}"),
        "mlp": (["mlp", "gpu/include", *BASE], r"CLI/|fmt/"),
        "cluster": (["cluster", *SOLVER], f"{COMMAND_LINE}|{TEXT}|{CUDA}"),
        # MPI is the module's alone: the library loads it.
        "cluster/include": (["cluster/include", *SOLVER],
                            f"{COMMAND_LINE}|{TEXT}|{CUDA}|{MODULES}"),
        "cluster/src": (["cluster/include", "cluster/src", *SOLVER],
                        f"{COMMAND_LINE}|{TEXT}|{CUDA}|{MODULES}"),
        **bench_parts(experiments),
        "app": (["app", "lab", "judge", *BENCH], r"(?!)"),
        "bench/suites": (["bench/suites", "lab", "gpu/include", *BENCH], r"(?!)"),
        "viz": ([], r"(?!)"),
    }


INCLUDE_DIRECTORIES = ["base/include", "solver/include", "gpu/include", "mlp/include",
                       "cluster/include", "solver", "kernels", "kernels/src", "mlp", "mlp/src", "bench",
                       *(f"bench/{layer}" for layer in LAYERS), "judge", "lab", "app"]
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh", ".h", ".in"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def included_file(root, includer, name):
    """The file of the project that the include names, relative to root; None for another's."""
    for directory in [includer.parent, *(root / d for d in INCLUDE_DIRECTORIES)]:
        candidate = (directory / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root)
    return None


def is_allowed(file, places):
    return any(file.parent.as_posix() == place[:-2] if place.endswith("/*")
               else file.is_relative_to(place) for place in places)


def violations(root):
    """All violations under root, and the number of files looked at."""
    root = root.resolve()
    lab = root / "lab"
    parts = all_parts(sorted(d.name for d in lab.iterdir() if d.is_dir()) if lab.is_dir() else [])
    found, count = [], 0
    for part in (p for p in parts if (root / p).is_dir()):
        for file in sorted(f for f in (root / part).rglob("*") if f.suffix in SUFFIXES):
            place = file.relative_to(root)
            if max((p for p in parts if place.is_relative_to(p)), key=len) != part:
                continue
            count += 1
            allowed, foreign = parts[part]
            if not allowed:
                found.append(f"{place}: {part}/ holds no C++")
            for name in INCLUDE.findall(file.read_text(encoding="utf-8")):
                inside = included_file(root, file, name)
                if inside is None and re.match(foreign, name):
                    found.append(f"{place}: includes {name}; {part}/ must not know it")
                if inside is not None and not is_allowed(inside, allowed):
                    found.append(f"{place}: includes {inside}; {part}/ may include only "
                                 f"{', '.join(allowed)}")
    return found, count


def self_test():
    """Plants an include of each part in each other: exactly the arrows that are not drawn are found."""
    experiments = ["mlp", "pitfalls", "scaling", "sweep"]
    parts = all_parts(experiments)
    public = {p: p if re.match("bench|judge|lab|app", p) else f"{p}/include" for p in parts if p != "viz"}
    files, expected = {"viz/a.cpp": ""}, {"viz/a.cpp"}
    for part, (allowed, _) in parts.items():
        for target, folder in public.items():
            name = target.replace("/", "_")
            files[f"{folder}/{name}.hpp"] = ""
            if part != "viz":
                planted = f"{part}/to_{name}.cpp"
                files[planted] = f'#  include "{"../" * planted.count("/")}{folder}/{name}.hpp"'
                if not is_allowed(Path(f"{folder}/{name}.hpp"), allowed):
                    expected.add(planted)
    arrows = {"bench/report/to_bench_measure.cpp": False, "bench/measure/to_bench_report.cpp": True,
              "mlp/to_solver.cpp": True, "solver/to_kernels.cpp": True, "base/to_solver.cpp": True,
              "cluster/src/to_kernels.cpp": True, "cluster/src/to_cluster.cpp": False,
              "mlp/to_gpu.cpp": False, "mlp/to_kernels.cpp": True, "gpu/to_solver.cpp": True,
              "bench/observe/to_bench_options.cpp": True, "bench/study/to_bench_model.cpp": False,
              "solver/to_cluster.cpp": True, "cluster/to_bench_measure.cpp": True,
              "lab/mlp/to_lab_scaling.cpp": False, "app/to_bench_suites.cpp": True,
              "lab/sweep/to_lab_mlp.cpp": True, "judge/to_lab_mlp.cpp": True,
              "lab/sweep/to_judge.cpp": False, "bench/study/to_judge.cpp": True, "lab/sweep/to_app.cpp": True}
    wrong = [a for a, is_violation in arrows.items() if (a in expected) != is_violation]
    for part, foreign in [("base", "fmt/format.h"), ("solver", "cuda_runtime.h"), ("mlp", "CLI/CLI.hpp"),
                          ("kernels", "nlohmann/json.hpp"), ("lab/mlp", "CLI/CLI.hpp"),
                          ("cluster/src", "mpi.h")]:
        files[f"{part}/foreign.cpp"] = f"#include <{foreign}>"
        expected.add(f"{part}/foreign.cpp")
    files["solver/backends/fused.hpp"] = "// #include <fmt/core.h>"
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory).resolve()
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        blamed = {v.split(":")[0] for v in violations(root)[0]}
    if blamed != expected or wrong:
        sys.exit(f"not found: {sorted(expected - blamed)}; found without cause: "
                 f"{sorted(blamed - expected)}; arrows drawn otherwise: {wrong}")


def main():
    if "--self-test" in sys.argv:
        return self_test()
    found, count = violations(Path(sys.argv[1]))
    print(*found, f"{count} files, {len(found)} violations", sep="\n")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
