#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the figures the project promises, each by the program's own rows, and prints them beside
their bars. The bars were set on 2 cores with AVX-512; on another machine they are information, so a
figure below its bar does not change the exit code. A run that fails or is not verified does (1).

    bench/figures.py [PROGRAM] [--quick]
"""
import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


class RunFailed(Exception):
    pass


class NotAvailable(RunFailed):
    """Something that the run asks for by name is not on this machine."""


def lower_quartile(values):
    return statistics.quantiles(values, n=4)[0]


class Run:
    """One run of the program: its result, its wall time, and the memory it took."""

    def __init__(self, program, options, result_file=None):
        self.command = "diffbench " + options
        arguments = [program, *shlex.split(options)]
        if result_file:
            arguments += ["--json", result_file]
        with tempfile.TemporaryFile("w+") as errors:
            begin = time.perf_counter()
            child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=errors)
            self.peak_bytes = self.wait(child)
            self.seconds = time.perf_counter() - begin
            if child.returncode != 0:
                errors.seek(0)
                last = (errors.read().splitlines() or [""])[-1]
                failure = NotAvailable if child.returncode == 4 else RunFailed
                raise failure(f"{self.command}: exit code {child.returncode}: {last}")
        self.rows = {}
        if result_file:
            with open(result_file) as file:
                self.result = json.load(file)["diffbench"]
            self.rows = {row["backend"]: row for row in self.result.get("results", [])}

    @staticmethod
    def wait(child):
        """Waits, and returns the largest resident size. The program resets the kernel's high-water
        mark (and with it ru_maxrss) between its rows, so the size is also sampled meanwhile."""
        peak = 0
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                child.returncode = os.waitstatus_to_exitcode(status)
                return max(peak, usage.ru_maxrss * 1024)
            try:
                with open(f"/proc/{child.pid}/statm") as statm:
                    peak = max(peak, int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE"))
            except (OSError, IndexError):
                pass  # it has just ended
            time.sleep(0.002)

    def row(self, name):
        row = self.rows.get(name)
        if row is None or row["status"] != "ok":
            reason = row["reason"] if row else "no such row"
            raise RunFailed(f"{self.command}: {name}: {reason}")
        if not row["verified"] or row["verified"]["bitwise"] is not True:
            raise RunFailed(f"{self.command}: {name} is not verified")
        return row

    def time_of(self, name):
        return self.row(name)["seconds_per_iteration"]

    def speedup(self, name, against):
        return self.time_of(against) / self.time_of(name)


class Figures:
    def __init__(self, program, scale):
        self.program = program
        self.scale = scale
        self.lines = []
        self.commands = []  # those that the lines refer to, by number from 1
        self.failures = []
        self.notes = []  # what this machine cannot show
        self.directory = tempfile.TemporaryDirectory()

    def add(self, figure, bar, measured, unit, command, at_least, pooled=""):
        ok = measured >= bar if at_least else measured <= bar  # accept form: NaN is below
        verdict = "-" if not self.scale["judge"] else "ok" if ok else "BELOW"
        sign = ">=" if at_least else "<="
        if command not in self.commands:
            self.commands.append(command)
        self.lines.append((figure, f"{sign} {bar:g}{unit}", f"{measured:.3g}{unit}", verdict,
                           pooled, f"[{self.commands.index(command) + 1}]"))

    def at_least(self, figure, bar, measured, unit, command, pooled=""):
        self.add(figure, bar, measured, unit, command, True, pooled)

    def at_most(self, figure, bar, measured, unit, command):
        self.add(figure, bar, measured, unit, command, False)

    def run(self, options):
        print(f"running: diffbench {options}", file=sys.stderr)
        return Run(self.program, options, os.path.join(self.directory.name, "result.json"))

    def faster_than_numpy(self, figure, name, bar, run):
        """The bar is against NumPy as a tutorial writes it. Against the same script with a C library
        that keeps freed memory (docs/measuring.md) the ratio is information."""
        self.at_least(figure, bar, run.speedup(name, "peer:numpy"), "x", run.command,
                      f"{run.speedup(name, 'peer:numpy_pooled'):.3g}x")

    def against_numpy(self, dtype, threads, simd_bar, xtensor_bar):
        run = self.run(f"--grid {self.scale['small']} --iters {self.scale['iterations']} "
                       f"--dtype {dtype} --threads {threads} --backend xtensor --backend fused "
                       f"--backend simd --baseline fused --peer numpy --peer numpy_pooled "
                       f"{self.scale['budget']}")
        if simd_bar:
            self.faster_than_numpy(f"simd / numpy, {dtype}, threads {threads}", "simd", simd_bar,
                                   run)
        if xtensor_bar:
            self.faster_than_numpy(f"xtensor / numpy, {dtype}", "xtensor", xtensor_bar, run)
            self.at_most(f"xtensor time / fused time, {dtype}", 1.8,
                         run.speedup("fused", "xtensor"), "x", run.command)

    def thrust_on_the_host(self):
        run = self.run(f"--grid {self.scale['small']} --iters {self.scale['iterations']} --threads 1 "
                       f"--backend fused --backend thrust_host --baseline fused "
                       f"{self.scale['budget']}")
        self.at_most("thrust_host time / fused time, float32, threads 1", 2.5,
                     run.speedup("fused", "thrust_host"), "x", run.command)

    def beyond_cache(self):
        grid = self.scale["large"]
        run = self.run(f"--grid {grid} --iters 100 --threads 2 --backend simd --baseline simd "
                       f"{self.scale['budget']}")
        # Cells a second against copy bandwidth / 8 bytes, the roof of one sweep a step.
        copy = run.result["copy"]
        best = max(copy["memcpy_bytes_per_second"], copy["streaming_bytes_per_second"])
        self.at_least(f"simd / copy roof, {grid}x{grid}", 2.4,
                      run.row("simd")["cells_per_second"] / (best / 8), "x", run.command)
        self.at_most(f"peak memory of simd, {grid}x{grid}", 2.2, run.peak_bytes / (4 * grid * grid),
                     " fields", run.command)

    def cost_per_cell(self):
        costs, commands = [], []
        for grid in (self.scale["medium"], self.scale["huge"]):
            run = self.run(f"--grid {grid} --iters 100 --threads 2 --backend simd "
                           f"--baseline simd {self.scale['budget']}")
            costs.append(run.time_of("simd") / grid**2)
            commands.append(run.command)
        self.at_most(f"cost per cell of simd, {self.scale['huge']} / {self.scale['medium']}", 1.3,
                     costs[1] / costs[0], "x", " ; ".join(commands))

    def observer_effect(self):
        """The same run with and without --telemetry in turns; and of the runs without, what a step
        takes under the ledger (a warm run's compute and sync) against what it takes in a sample. Of
        each the lower quartile: a virtual machine's step may take a quarter longer for seconds."""
        steps = self.scale["iterations"]
        options = (f"--grid {self.scale['small']} --iters {steps} --threads 1 --backend simd "
                   f"--baseline simd --budget {self.scale['observed_budget']}")
        plain, observed, ledger = [], [], []
        for _ in range(self.scale["pairs"]):
            run = self.run(options)
            plain.append(run.time_of("simd"))
            phases = run.row("simd")["phases"]
            ledger.append((phases["compute"] + phases["sync"]) / steps)
            observed.append(self.run(options + " --telemetry").time_of("simd"))
        reference = lower_quartile(plain)
        self.at_most("observer effect of telemetry", 1.02,
                     lower_quartile(observed) / reference, "x", run.command + " [--telemetry]")
        self.at_most("observer effect of the ledger", 1.02,
                     lower_quartile(ledger) / reference, "x", run.command)

    def memcpy_curve(self):
        """What transfer reports of memcpy against Google Benchmark's plain loop round the same call:
        in turns, of each size the highest rate: what disturbs a copy slows it, a virtual machine has
        two speeds for seconds at a time, and each rate is a median already."""
        suites = self.program.with_name("bench_suites")
        if not suites.is_file():
            raise NotAvailable("bench_suites: build it with make bench")
        options = f"transfer --step 4 {self.scale['copies']}"
        pattern = self.scale["copied"]
        reported, looped = {}, {}
        for _ in range(self.scale["copy_rounds"]):
            run = self.run(options)
            curve = next(curve for curve in run.result["transfer"]["host"]["curves"]
                         if curve["way"] == "memcpy" and curve["threads"] == 1)
            for point in curve["points"]:
                reported.setdefault(point["bytes"], []).append(point["bytes_per_second"])
            for bytes_, rate in self.plain_copies(suites, pattern):
                looped.setdefault(bytes_, []).append(rate)
        ratios = {size: max(reported[size]) / max(rates)
                  for size, rates in looped.items()}
        furthest = max(ratios, key=lambda size: abs(ratios[size] - 1))
        self.at_most(f"memcpy by transfer and by a plain loop, apart by (furthest of {len(ratios)} "
                     f"sizes: {furthest} bytes)", 10, 100 * abs(ratios[furthest] - 1), " %",
                     f"{run.command} ; bench_suites --benchmark_filter={pattern}")

    @staticmethod
    def plain_copies(suites, pattern):
        """Size and median rate of each copy of bench_suites that the pattern names."""
        child = subprocess.run([suites, f"--benchmark_filter={pattern}", "--benchmark_format=json"],
                               capture_output=True, text=True, check=False)
        if child.returncode != 0:
            raise RunFailed(f"bench_suites: exit code {child.returncode}: {child.stderr[-200:]}")
        return [(int(line["run_name"].split("/")[3]), line["bytes_per_second"])
                for line in json.loads(child.stdout)["benchmarks"]
                if line.get("aggregate_name") == "median"]

    def latency(self):
        """The result file of an experiment has its rows in another place than a comparison's."""
        run = self.run(f"mlp latency --engine cpu --repetitions {self.scale['repetitions']}")
        row, = run.result["mlp_latency"]["results"]
        if row["status"] != "ok":
            raise RunFailed(f"{run.command}: {row['reason']}")
        self.at_most("cpu, 784-128-10, answer to one row", 10, row["seconds"]["median"] * 1e6, " us",
                     run.command)

    def training_sizes(self, verb, option, sizes):
        """The rows of `mlp depth` or `mlp width`, by size and name; PyTorch in the same run."""
        run = self.run(f"mlp {verb} {option} {sizes} --engine cpu --threads 1,2 --peer torch "
                       f"{self.scale['training']}")
        points = {point["size"]: {row["row"]: row for row in point["rows"]}
                  for point in run.result[f"mlp_{verb}"]["points"]}
        for rows in points.values():
            for name, row in rows.items():
                if row["status"] != "ok" or not (row["verified"] or {"ok": True})["ok"]:
                    raise RunFailed(f"{run.command}: {name}: {row['reason'] or 'not verified'}")
        return run, points

    def against_torch(self, run, rows, figure, bar, names):
        """`cpu` at the best of `names`, against PyTorch at its best number of threads, both named."""
        def time_of(name):
            return rows[name]["seconds_per_step"]

        own = min(names, key=time_of)
        peer = min((name for name in rows if name.startswith("peer:")), key=time_of)
        self.at_least(f"{figure}: {own} / {peer}", bar, time_of(peer) / time_of(own), "x",
                      run.command)

    def training_by_depth(self):
        one, two = "cpu, 1 thread", "cpu, 2 threads"
        run, points = self.training_sizes("depth", "--last", self.scale["last"])
        for size, bar in ((8, 20), (64, 6), (256, 2)):
            if size in points:
                self.against_torch(run, points[size], f"training, T = {size}", bar, (one, two))
        size = max(points)
        rows = points[size]
        self.against_torch(run, rows, f"training, T = {size}", 0.95, (one,))
        self.against_torch(run, rows, f"training, T = {size}", 1.6, (two,))

    def training_by_width(self):
        run, points = self.training_sizes("width", "--hidden", self.scale["hidden"])
        for size, bar in ((100, 4), (1000, 1.2), (2000, 1.2)):
            if size in points:
                self.against_torch(run, points[size], f"training, N = {size}", bar,
                                   ("cpu, 1 thread", "cpu, 2 threads"))

    def training_quality(self):
        """Errors in the 1000 training rows after 100 epochs, from the same parameters."""
        run = self.run("mlp depth --last 8,16 --engine cpu --threads 1 --peer torch --quality --budget 1")
        for point in run.result["mlp_depth"]["points"]:
            errors = {row["row"]: row["train_errors"] for row in point["rows"]}
            peer = next(value for name, value in errors.items() if name.startswith("peer:"))
            self.at_most(f"100 epochs, T = {point['size']}: errors of {errors['cpu, 1 thread']}, PyTorch's "
                         f"{peer}, apart", 0, abs(errors["cpu, 1 thread"] - peer), "", run.command)

    def help_time(self):
        seconds = statistics.median(Run(self.program, "--help").seconds for _ in range(9))
        self.at_most("--help", 50, seconds * 1e3, " ms", "diffbench --help")

    def main_job(self):
        run = self.run(self.scale["main_job"])
        self.at_most("main job", 45, run.seconds, " s", run.command)

    def measure(self):
        parts = [self.help_time, self.main_job,
                 lambda: self.against_numpy("float32", 2, 30, None),
                 lambda: self.against_numpy("float32", 1, 16, 4.5),
                 lambda: self.against_numpy("float64", 2, 45, None),
                 lambda: self.against_numpy("float64", 1, None, 7),
                 self.thrust_on_the_host, self.beyond_cache, self.cost_per_cell,
                 self.observer_effect, self.memcpy_curve, self.latency,
                 self.training_by_depth, self.training_by_width, self.training_quality]
        for part in parts:
            try:
                part()
            except NotAvailable as missing:
                self.notes.append(str(missing))
            except RunFailed as failure:
                self.failures.append(str(failure))

    def print(self):
        header = ("figure", "bar", "measured", "", "numpy_pooled", "command")
        widths = [max(map(len, column)) for column in zip(header, *self.lines)]
        for line in (header, *self.lines):
            print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        print()
        for number, command in enumerate(self.commands, 1):
            print(f"[{number}] {command}")
        for note in self.notes:
            print(f"not measured: {note}")
        for failure in self.failures:
            print(f"FAILED: {failure}")


FULL = {"small": 640, "iterations": 1000, "medium": 2048, "large": 8192, "huge": 16384,
        "budget": "--budget 10", "observed_budget": 2, "pairs": 9,
        "copies": "", "copied": "transfer/host/memcpy/", "copy_rounds": 9,
        "repetitions": 300, "last": "8,64,256,1024", "hidden": "100,1000,2000", "training": "--budget 40",
        "main_job": "--grid 640 --iters 1000 --pinned", "judge": True}
QUICK = {"small": 64, "iterations": 100, "medium": 128, "large": 512, "huge": 256,
         "budget": "--budget 10", "observed_budget": 10, "pairs": 2,
         "copies": "--max-size 4K --budget 5", "copied": "transfer/host/memcpy/(1024|4096)/",
         "copy_rounds": 2,
         "repetitions": 10, "last": "8,16", "hidden": "100", "training": "--budget 0.2",
         "main_job": "--grid 64 --iters 100 --pinned --budget 10",
         "judge": False}


def main():
    parser = argparse.ArgumentParser(description="Measure the promised figures.")
    parser.add_argument("program", nargs="?", default=ROOT / "build/release/bin/diffbench",
                        type=pathlib.Path, help="default: %(default)s")
    parser.add_argument("--quick", action="store_true",
                        help="small sizes, to see that it works; the figures then mean nothing")
    options = parser.parse_args()
    if not options.program.is_file():
        sys.exit(f"{options.program}: no such program; build it first: make demo")
    figures = Figures(options.program.resolve(), QUICK if options.quick else FULL)
    figures.measure()
    figures.print()
    return 1 if figures.failures else 0


if __name__ == "__main__":
    sys.exit(main())
