#!/usr/bin/env -S python3 -IS
# SPDX-License-Identifier: Apache-2.0
"""Stands for every program that scripts/gpu-check calls, by the name that it is called by: those of a
kit, nvidia-smi, ncu and compute-sanitizer. FAKE, words with blanks between, says what is to go wrong."""
import json
import os
import sys
import time

NAME = os.path.basename(sys.argv[0])
ARGUMENTS = sys.argv[1:]
FAKE = os.environ.get("FAKE", "").split()
GPU = ["thrust_roll", "cuda_naive", "cuda_stream", "cuda_graph", "cuda_blocked", "cuda_streamed",
       "cuda_persistent", "cuda"]


def values(option):
    """As in --backend a,b or --peer a --peer b or --backend=a."""
    words = " ".join(ARGUMENTS).replace("=", " ").split()
    found = [words[i + 1].split(",") for i, word in enumerate(words) if word == option]
    return [name for names in found for name in names]


def fail(status, text):
    print(f"diffbench: {text}", file=sys.stderr)
    sys.exit(status)


def row(backend, side):
    seconds = 0.3e-6 if side == 640 else side * side / 3e12
    return {"backend": backend, "device": "cpu" if backend == "simd" else "cuda", "status": "ok", "reason": "",
            "verified": {"bitwise": f"wrong:{backend}" not in FAKE}, "seconds_per_iteration": seconds,
            "bytes_per_second": 4e12, "busy": {"compute": 1000 * seconds},
            "phases": {"wall": 1.0, "unexplained": 0.01}}


def comparison():
    nx, _, ny = values("--grid")[0].partition("x")
    side = int(nx)
    rows = values("--backend") or ["simd", *GPU]
    return {"problem": {"nx": side, "ny": int(ny or nx), "iterations": int(values("--iters")[0])},
            "results": [row(b, side) for b in [*rows, *(f"peer:{p}" for p in values("--peer"))]],
            "transfers": {"bytes": 64e6, "chosen": {"h2d_seconds": 64e6 / 54e9, "d2h_seconds": 64e6 / 50e9}}}


def training():
    return {"mlp_train": {"train_rows": 1000, "batch": 100, "results": [
        {"engine": e, "seconds_per_epoch": 150e-6} for e in values("--engine")]}}


def diffbench():
    if ARGUMENTS == ["--version"]:
        return "diffbench 0.1.0 (0123456789abcdef)"
    if ARGUMENTS == ["list"]:
        gpu = "no  no driver was found" if "no-gpu" in FAKE else "yes  a kernel"
        return "backend device threads available description\nsimd cpu yes yes vectors\n" + "\n".join(
            f"{name} cuda no {gpu}" for name in GPU) + "\n\npeer available how to use\n"
    if ARGUMENTS == ["doctor"]:
        return "Program: a stand-in"
    for name in values("--peer"):
        if f"broken:{name}" in FAKE:
            fail(1, f"peer {name}: RuntimeError: out of memory")
    if "cuda" in values("--engine") and "no-cublaslt" in FAKE:
        fail(4, "engine 'cuda' is not available: libcublasLt.so.13: cannot open shared object file")
    file = (values("--json") or values("--out") or [None])[0]
    if f"hangs:{file}" in FAKE:
        print("begins", flush=True)
        try:
            time.sleep(100)
        except KeyboardInterrupt:
            pass  # and writes down what it has
    content = training() if "train" in ARGUMENTS else comparison() if values("--iters") and "advise" not in ARGUMENTS else {}
    if file:
        with open(file, "w", encoding="utf-8") as out:
            json.dump({"context": {"host_name": "secret"}, "diffbench": content}, out)
    return "a table\n\ncuda is the fastest verified row."


def tests():
    if f"skips:{NAME}" in FAKE:
        return "a_test.cpp:1: Skipped\nno such thing here\n[  PASSED  ] 1 test.\n[  SKIPPED ] 2 tests, listed below:"
    if f"fails:{NAME}" in FAKE:
        print("[  PASSED  ] 1 test.\n[  FAILED  ] 3 tests, listed below:")
        sys.exit(1)
    return "[  PASSED  ] 9 tests."


def sanitizer():
    with open("sanitized.txt", "a", encoding="utf-8") as out:
        out.write(" ".join(ARGUMENTS) + "\n")
    tool = values("--tool")[0]
    if "device-not-supported" in FAKE:
        print("========= Error: Device not supported. Please refer to the documentation")
        sys.exit(1)
    if "tests-nothing" in FAKE:
        return "[==========] Running 0 tests\n========= ERROR SUMMARY: 0 errors\n[  PASSED  ] 0 tests."
    if "checks-nothing" in FAKE:
        return "========= COMPUTE-SANITIZER"
    if "warns" in FAKE:
        return "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)"
    if f"finds:{tool}" in FAKE:
        print("========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)")
        sys.exit(9)
    return "========= LEAK SUMMARY: 0 bytes leaked in 0 allocations\n========= ERROR SUMMARY: 0 errors"


def ncu():
    if "no-permission" in FAKE:
        print("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access counters")
        sys.exit(1)
    if "no-library" in FAKE:
        print("==ERROR== LibraryNotLoaded")
        sys.exit(1)
    if "no-kernel" in FAKE and not any(name in ARGUMENTS for name in ("naive_step", "stream_rows_step")):
        return "==WARNING== No kernels were profiled."
    metrics = values("--metrics")
    stall = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
    names = ["ID", "Kernel Name", *metrics, *map(stall.format, ("barrier", "wait", "long_scoreboard"))]
    numbers = ["0", values("--kernel-name")[0], "12,500", "1,900,000,000", "2,000,000", "88", "61", "4", "16", "9000",
               "32000", "1,000,000", "77.5", "33", "1.5", "2", "0.5"]
    lines = [names, ["" for _ in names], numbers]
    return "==PROF== Connected\n" + "\n".join(",".join(f'"{cell}"' for cell in line) for line in lines)


def stencil():
    """As EBISU, PERKS and AN5D speak."""
    if "--check" in ARGUMENTS or "-c" in ARGUMENTS:
        if f"fails:{NAME}" in FAKE:
            return "unsupport setting"
        error = "nan" if f"wrong:{NAME}" in FAKE else "1.5e-06"
        return f"Max Error: {error}\nRMS Error: 1e-09" if NAME == "an5d" else f"[Test] RMS Error : {error}"
    return {"ebisu": "[FORMA] Performance (ms) : 60.1 \n[FORMA] Performance (GCells/s) : 1500.5 \n[FORMA] Finish",
            "perks": "800\t1\t0\t768\t640\t1000\t256\t<3,44>\t1\t10.1\t0.8\t600.5\t12\t3\t768\t640\t8\t",
            "an5d": "      0: 7000 GFLOPS, 2 ms\nAverage:  8000.0 GFLOPS,  200.1 ms"}[NAME]


def write_to(file, content):
    with open(file, "w", encoding="utf-8") as out:
        json.dump(content, out)
    return "done"


if NAME == "diffbench":
    print(diffbench())
elif NAME == "nvidia-smi":
    facts = {"--query-gpu=name": "NVIDIA H200", "--query-gpu=memory.total": "8188" if "small" in FAKE else "143771"}
    print(facts.get(ARGUMENTS[0], "Driver Version : 1\n  Serial : 2"))
elif NAME == "ncu":
    print(ncu())
elif NAME == "compute-sanitizer":
    print(sanitizer())
elif NAME in ("ebisu", "perks", "an5d"):
    print(stencil())
elif f"fails:{NAME}" in FAKE and NAME == "device_copy":
    sys.exit("cudaMalloc: out of memory")
elif NAME == "device_copy":
    print(write_to(ARGUMENTS[0], {"device_bytes_per_second": 4.2e12, "pinned_h2d_bytes_per_second": 55e9,
                                  "pinned_d2h_bytes_per_second": 55e9}))
elif NAME == "tile_shapes":
    print(write_to(ARGUMENTS[0], {"unit": "seconds of a step", "640, persistent, depth 8": 0.36e-6,
                                  "640, persistent, depth 12": "too many blocks in cooperative launch"}))
elif NAME == "bench_suites":
    print(write_to(values("--benchmark_out")[0], {"context": {}, "benchmarks": []}))
else:
    print(tests())
