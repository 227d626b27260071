# SPDX-License-Identifier: Apache-2.0
"""A small run of every verb, for the tests that look at what all of them say or write."""
import json
import os
import pathlib
import shutil
import sys
import tempfile

from program import CommandLineTest, parse_json

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "try"))
import corpus  # noqa: E402

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "bench/results"

# No GPU, and no Python with anything in it, wherever this runs.
BARE = {"CUDA_VISIBLE_DEVICES": "-1", "DIFFBENCH_PYTHON": "/bin/false"}

ROWS = "--backend scalar,fused --baseline scalar --threads 1"
NET = "--engine scalar,cpu --threads 1"

# The runs by their names, which golden files have, too. Budgets are far more than the samples need: a busy
# machine shall not cost a row its time.
MEASURED = {
    "comparison": f"--grid 24x16 --iters 20 --budget 20 {ROWS} --backend simd --peer numpy",
    "run": "run --grid 24x16 --iters 20 --threads 1 --snapshot-every 10",
    "residency": "residency --grid 24x16 --iters 20 --roundtrip-every 1,10 --snapshot-every 10 "
                 "--threads 1 --budget 20",
    "scaling": "scaling --grid 64 --iters 20 --threads 1,2 --budget 20",
    "scaling-weak": "scaling --weak --grid 64 --iters 20 --threads 1,2 --budget 20",
    "cluster-strong": "cluster strong --grid 48x40 --iters 20 --ranks 1,2 --threads 1 --halo-depth 5 "
                      "--budget 20",
    "cluster-weak": "cluster weak --grid 48x40 --iters 20 --ranks 1,2 --threads 1 --halo-depth 5 --budget 20",
    "cluster-depth": "cluster depth --grid 48x40 --iters 20 --threads 1 --network 50us,1GB/s --budget 20",
    "cluster-predict": "cluster predict --grid 4096 --rate 100 --network 3us,20GB/s --ranks 1,4",
    "sweep": f"sweep --grid 8,16 --iters 2,4 --budget 20 --cross scalar,fused {ROWS}",
    # The first size is measured however busy the machine is.
    "transfer": "transfer --max-size 1K --threads 2 --budget 5",
    "comparison-assumed": "--grid 24x16 --iters 20 --budget 20 --backend scalar --threads 1 --assume t4",
    "pitfalls-assumed": "pitfalls --grid 24x16 --budget 0.1 --assume h200 --only no-warm-up,context-timed,"
                        "no-synchronization,synchronize-every-step,pageable-async",
    "transfer-assumed": "transfer --max-size 1K --budget 5 --threads 1 --assume t4",
    # The second takes three times as long as the first, which gives their order.
    "advise": "advise --grid 100 --iters 1000 --backend fused,xtensor_roll --threads 1",
    "advise-assumed": "advise --grid 100 --iters 1000 --backend fused,xtensor_roll --threads 1 --budget 1 "
                      "--assume h200",
    "duel": "duel true true --blocks 3 --seed 1",
    "duel-steps": "duel class/ann.c class/ann.c --grid 16 --iters 5 --blocks 3 --seed 1",
    "selftest": "selftest --grid 24x16 --iters 20 --trials 1 --budget 2",
    "pitfalls": "pitfalls --grid 24x16 --budget 0.3",
    "mlp-train": f"mlp train --layers 2,4,8,2 --epochs 2 --async {NET}",
    "mlp-depth": f"mlp depth --last 4,16 --quality --budget 30 {NET},2",
    "mlp-width": f"mlp width --hidden 10,20 --optimizer adam --budget 30 {NET}",
    "mlp-scaling": "mlp scaling --layers 784,16,10 --batch 20 --engine cpu "
                   "--threads 1,2 --budget 20",
    "mlp-throughput": f"mlp throughput --layers 20,10,3 --first-batch 8 --most-batch 8 {NET}",
    "mlp-throughput-train": f"mlp throughput --train --layers 20,10,3 --most-batch 1 {NET}",
    "mlp-latency": f"mlp latency --layers 5,8,3 --batch 2 --repetitions 20 {NET}",
}

# What these print follows from files or from the source.
EXACT = {
    "list": "list --json list.json --csv list.csv",
    "doctor": "doctor --json doctor.json --csv doctor.csv",
    "compare": "compare old.json new.json --fail-on slower=10% --json compare.json --csv compare.csv",
    "advise-own": "advise --step 12ms --bytes-per-cell 40 --flops-per-cell 60 --cells 1e8 --copies-per-step 0.02 "
                  "--json advise-own.json --csv advise-own.csv",
    "pitfalls-list": "pitfalls --list",
    "try": "try --new cpp own.cpp",
    "try-exercise": "try --exercise",
    "grade": "try class --no-timing --json grade.json --csv grade.csv",
    "lesson": "lesson",
    "lesson-plan": "lesson 3 --list",
    "report": "report old.json copies.json -o page.html --csv report.csv",
    "live": "live -o live.html",
}


# All of them, with their files.
RUNS = {**{name: f"{arguments} --json {name}.json --csv {name}.csv"
           for name, arguments in MEASURED.items()}, **EXACT}


class EveryVerb(CommandLineTest):
    """One directory, and one run of each, for all tests of a process: nearly all that they take is these
    runs."""
    place = tempfile.TemporaryDirectory(prefix="diffbench-cli-")
    done = {}

    def setUp(self):
        self.directory = pathlib.Path(self.place.name)
        self.env = {**BARE, "XDG_CACHE_HOME": self.place.name}
        if self.path("old.json").exists():
            return
        shutil.copy(RESULTS / "epyc-2core-transfer.json", self.path("copies.json"))
        old = (RESULTS / "epyc-2core-640.json").read_text()
        new = parse_json(old)
        new["context"]["compiler"] = "Other 1.0"
        for row, factor in zip(new["diffbench"]["results"], (1, 1, 0.5, 1.5)):
            row["samples_seconds"] = [factor * s for s in row["samples_seconds"]]
        self.path("new.json").write_text(json.dumps(new))
        self.path("text").write_text("text\n")
        self.path("class").mkdir()
        self.path("class/ann.c").write_text(corpus.STEP_C)
        self.path("class/bob.c").write_text(corpus.STEP_C.replace("4 * u", "3 * u"))
        self.path("old.json").write_text(old)

    def run_verb(self, arguments):
        """With one CPU nothing runs on two threads."""
        if len(os.sched_getaffinity(0)) < 2:
            arguments = arguments.replace("--threads 1,2", "--threads 1")
        if arguments not in self.done:
            any_python = {"DIFFBENCH_PYTHON": ""} if "--peer" in arguments else {}
            self.done[arguments] = self.run_program(*arguments.split(), env={**self.env, **any_python})
        return self.done[arguments]
