# SPDX-License-Identifier: Apache-2.0
"""The recipes of CONTRIBUTING.md, all carried out on one copy of the tree, which is built once:
recipes_test.py SOURCE WORK COMPILER

What is added has to be found where a user looks for it: in lists, helps, tables, JSON, CSV. The build is
the cheapest that has it all: without optimization, with CUDA emulated, without the backends and engines
that take longest to compile."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

SOURCE, WORK, COMPILER = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3]
COPY = WORK / "tree"
BUILD = COPY / "build/release"
PROGRAM = BUILD / "bin/diffbench"
LEFT_OUT = ("xtensor", "xtensor_roll", "thrust_host", "thrust_host_roll", "cpu_xtensor")
RECIPES = ("A CPU backend", "A CUDA backend", "An engine of networks", "A peer", "A study", "An option",
           "A column of the comparison")

# A fault for each recipe's copy, and the name of its class before the recipe changed it: what is run must be the copy,
# even where a class was left as it was called.
FAULTS = {
    "solver/backends/mine.cpp": [("T{4} * centre[x]", "T{3} * centre[x]"), ("MineSession", "FusedSession")],
    "kernels/src/mine.cuh": [("cell_or_ghost(in, grid, x + 1, y)", "centre")],
    "kernels/backends/cuda_mine.cu": [("CudaMineSession", "CudaNaiveSession")],
    "mlp/engines/mine.cpp": [("db[o] += delta[o]", "db[o] -= delta[o]"), ("MineEngine", "ScalarEngine")],
    "bench/peers/numpy_mine.py": [("u += self.factor", "u -= self.factor")],
}


def blocks(text):
    """Of what stands before the recipes (""), and of each of them, the blocks: kind, file, text."""
    recipes = re.search(r"(?ms)^## Recipes\n(.*?)^## ", text)[1]
    parts = ["", *re.split(r"(?m)^### (.+)\n", recipes)]
    return {title: re.findall(r"(?ms)^```(\w+) ?([\w/.]*)\n(.*?)^```$", part)
            for title, part in zip(parts[::2], parts[1::2])}


def added(old, diff):
    """`old` with the lines of `diff` that begin with a plus, after those before them."""
    lines = diff.splitlines(True)
    before = "".join(line[1:] for line in lines if line[0] == " ")
    if not before or old.count(before) != 1:
        raise ValueError(f"these lines are there {old.count(before)} times:\n{before}")
    return old.replace(before, "".join(line[1:] for line in lines))


def carry_out(kind, name, text):
    file = COPY / name
    if kind == "sh":
        subprocess.run(["bash", "-ec", text], cwd=COPY, check=True)
    elif kind == "diff":
        file.write_text(added(file.read_text(), text))
    else:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)


def compile_copy():
    subprocess.run(["cmake", "--build", BUILD, "--target", "diffbench_program"], check=True)


def build():
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.copytree(SOURCE, COPY, ignore=shutil.ignore_patterns("build", ".git", "node_modules"))
    recipes = blocks((COPY / "CONTRIBUTING.md").read_text())
    for title in RECIPES:
        for block in recipes[title]:
            carry_out(*block)
    options = {"CMAKE_CXX_COMPILER": COMPILER, "CMAKE_BUILD_TYPE": "Recipes", "CMAKE_CXX_FLAGS": "-w",
               "DIFFBENCH_WERROR": "OFF", "DIFFBENCH_TESTS": "OFF", "DIFFBENCH_SUITES": "OFF",
               "DIFFBENCH_VIZ": "OFF", "DIFFBENCH_CUDA": "emulated",
               "MPI_CXX_COMPILER": "OFF", "DIFFBENCH_WITHOUT": ";".join(LEFT_OUT)}
    subprocess.run(["cmake", "-S", COPY, "-B", BUILD, "-G", "Ninja",
                    *(f"-D{name}={value}" for name, value in options.items())], check=True)
    compile_copy()


class Recipes(unittest.TestCase):
    def run_any(self, arguments):
        return subprocess.run([PROGRAM, *arguments.split()], cwd=WORK, capture_output=True, text=True,
                              timeout=120, env={**os.environ, "XDG_CACHE_HOME": str(WORK)})

    def run_program(self, arguments):
        done = self.run_any(arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def read(self, name):
        return json.loads((WORK / name).read_text())["diffbench"]

    def test_list(self):
        text = self.run_program("list")
        for line in ("mine .* yes ", "cuda_mine .* yes ", "mine +yes +--peer mine",
                     *(f"{name} .*(not compiled: |as above)" for name in LEFT_OUT[:-1])):
            self.assertRegex(text, f"(?m)^{line}")

    def test_backends_and_peer(self):
        self.run_program("--grid 24x16 --iters 5 --budget 0.5 --backend mine,cuda_mine --peer mine "
                         "--baseline mine --json row.json --csv row.csv")
        rows = {row["backend"]: row for row in self.read("row.json")["results"]}
        for name in ("mine", "cuda_mine", "peer:mine"):
            self.assertTrue(rows[name]["verified"]["bitwise"], name)
        self.assertEqual(rows["cuda_mine"]["device"], "emulated")

    def test_zz_faults_are_seen(self):
        """Last, by its name: it changes the copies."""
        for name, changes in FAULTS.items():
            text = (COPY / name).read_text()
            for old, new in changes:
                self.assertIn(old, text)
                text = text.replace(old, new)
            (COPY / name).write_text(text)
        compile_copy()
        for part in ("--backend mine", "--backend cuda_mine", "--peer mine --backend fused"):
            with self.subTest(part=part):
                done = self.run_any(f"--grid 24x16 --iters 5 --budget 0.5 {part} --json wrong.json")
                self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
                rows = {row["backend"]: row for row in self.read("wrong.json")["results"]}
                wrong = part.split()[1] if "--peer" not in part else "peer:mine"
                self.assertFalse(rows[wrong]["verified"]["bitwise"])
        done = self.run_any("mlp train --layers 2,4,2 --epochs 1 --engine mine --threads 1")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)

    def test_column(self):
        text = self.run_program("--grid 24x16 --iters 5 --budget 0.5 --backend mine --baseline mine "
                                "--json column.json --csv column.csv")
        self.assertRegex(text, r"(?m)^backend .*\bcount\b")
        row = self.read("column.json")["results"][0]
        header, line = (WORK / "column.csv").read_text().splitlines()
        cells = dict(zip(header.split(","), line.split(",")))
        self.assertEqual(cells["sample_count"], str(row["sample_count"]))
        self.assertEqual(cells["sample_count"], cells["samples"])

    def test_study_and_option(self):
        self.assertRegex(self.run_program("--help"), r"(?m)^  mine +sums of numbers$")
        self.assertRegex(self.run_program("mine --help"), r"(?m)^  --rounds N +samples of a row")
        self.assertRegex(self.run_program("mine --rounds 7 --json mine.json --csv mine.csv"),
                         r"(?m)^numbers +stride 1 +stride 16( +fastest)?$")
        own = self.read("mine.json")
        self.assertEqual([row["row"] for row in own["mine"]["results"]], 4 * ["stride 1", "stride 16"])
        self.assertEqual((own["pictures"][0]["kind"], own["pictures"][0]["x"]), ("lines", "numbers"))
        self.assertEqual((WORK / "mine.csv").read_text().count("\n"), 1 + 8)

    def test_engine(self):
        text = self.run_program("mlp train --layers 2,4,2 --epochs 1 --engine mine --threads 1")
        self.assertRegex(text, r"(?m)^mine ")

    def test_words_of_the_schema(self):
        schema = json.loads((COPY / "bench/report/result.schema.json").read_text())
        self.assertIn("mine", schema["definitions"]["Own"]["properties"])
        self.assertIn("sample_count", schema["definitions"]["Row"]["properties"])

    def test_recording(self):
        """Of the helps alone: to record what verbs print takes minutes."""
        (_, _, record), = blocks((COPY / "CONTRIBUTING.md").read_text())[""]
        helps = record.strip() + " Golden.test_help"
        check = helps.replace(" --record", "")
        self.assertNotEqual(self.run_shell(check).returncode, 0)
        done = self.run_shell(f"{helps} && {check}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((COPY / "tests/cli/golden/help/diffbench-mine.txt").exists())

    def run_shell(self, command):
        return subprocess.run(["bash", "-c", command], cwd=COPY, capture_output=True, text=True)


if __name__ == "__main__":
    build()
    unittest.main(argv=sys.argv[:1])
