# SPDX-License-Identifier: Apache-2.0
"""The PTX of all kernels, or the machine code of some, by nvcc with the options that CMake compiles them with.

compile_kernels.py ptx|cubin ROOT TO NVCC OPTION... writes TO/sm_80/kernels_src_kernels.ptx and so on. What is there and
newer than all that it is made of stays. Without NVCC it says that it is skipped.
"""
from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Iterator

# kernels/ contracts nothing (cmake/DiffbenchCuda.cmake, diffbench_cuda_options), gpu/ and mlp/ leave it to nvcc.
SOURCES = {"kernels/src/kernels.cu": ["-fmad=false"], "kernels/backends/*.cu": ["-fmad=false"],
           "gpu/src/*.cu": [], "mlp/cuda/*.cu": [], "tests/ptx/*.cu": []}
INCLUDES = ["base/include", "solver/include", "gpu/include", "kernels/src", "mlp/include", "mlp", "mlp/src"]
ARCHITECTURES = ["sm_80", "sm_90"]
# Of machine code, which each has of its own.
CUBIN_ARCHITECTURES = ["sm_75", "sm_86", "sm_90"]
CUBIN_SOURCES = ["kernels/src/kernels.cu", "mlp/cuda/*.cu", "tests/ptx/*.cu"]


def target_of(directory: pathlib.Path, architecture: str, source: str, suffix: str = ".ptx") -> pathlib.Path:
    """kernels/src/kernels.cu is kernels_src_kernels.ptx."""
    return directory / architecture / (source.removesuffix(".cu").replace("/", "_") + suffix)


def sources_in(root: pathlib.Path, patterns: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each with its options."""
    for pattern, options in SOURCES.items():
        if pattern not in patterns:
            continue
        for path in sorted(root.glob(pattern)):
            yield str(path.relative_to(root)), options


def is_newer(target: pathlib.Path, listed: pathlib.Path) -> bool:
    """`listed`: what it is made of, as a rule of make."""
    if not target.exists() or not listed.exists():
        return False
    files = listed.read_text(encoding="utf-8").partition(":")[2].replace("\\\n", " ").split()
    made = target.stat().st_mtime
    return all(pathlib.Path(name).exists() and pathlib.Path(name).stat().st_mtime < made for name in files)


def main() -> int:
    kind, root, directory, nvcc = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4:]
    if not nvcc:
        print("skipped: no nvcc")
        return 0
    architectures, patterns = (ARCHITECTURES, list(SOURCES)) if kind == "ptx" else (CUBIN_ARCHITECTURES, CUBIN_SOURCES)
    for architecture in architectures:
        for source, options in sources_in(root, patterns):
            target = target_of(directory, architecture, source, f".{kind}")
            target.parent.mkdir(parents=True, exist_ok=True)
            listed = target.with_suffix(".d")
            if is_newer(target, listed):
                continue
            command = [*nvcc, "-std=c++20", "-O3", *options, *(f"-I{root / folder}" for folder in INCLUDES),
                       f"-arch={architecture}", "-x", "cu", root / source]
            # Not at once: what is half written must not look new.
            subprocess.run([*command, "-MM", "-MF", listed, "-MT", kind], check=True)
            subprocess.run([*command, f"-{kind}", "-o", target.with_suffix(".new")], check=True)
            target.with_suffix(".new").replace(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
