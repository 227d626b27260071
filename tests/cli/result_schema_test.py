# SPDX-License-Identifier: Apache-2.0
"""bench/report/result.schema.json against what the program writes. The report page takes its types
from there, so a word that changes on one side alone fails here or in the page's tests."""
import copy
import json
import pathlib
import unittest

import jsonschema  # Debian: python3-jsonschema

import try_program_test as programs
from every_verb import RESULTS, RUNS, EveryVerb
from program import WITH_WRONG_BACKEND, parse_json, row_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = parse_json((ROOT / "bench/report/result.schema.json").read_text())
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)

# Beside what the golden files hold: rows that are skipped, the moments of a trace, and a crossing nowhere.
MORE = {
    "skipped": "--grid 16 --iters 4 --budget 0.1 --trace trace.json",
    "skipped-engines": "mlp throughput --layers 2,4,2 --budget 0.05 --most-batch 1",
    "lost": "sweep --grid 16,32 --iters 20,40 --budget 20 --cross fused,xtensor_roll --threads 1 "
            "--backend fused,xtensor_roll",
}


def mistakes(result):
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:300]}"
            for error in VALIDATOR.iter_errors(result)]


def words(value):
    """All strings in what was written."""
    if isinstance(value, str):
        return {value}
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*map(words, parts))


def enums(schema):
    if isinstance(schema, dict):
        yield from schema.get("enum", ())
    for part in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(part, (dict, list)):
            yield from enums(part)


class ResultSchema(EveryVerb):
    def check(self, name, result):
        with self.subTest(name):
            self.assertEqual(mistakes(result), [])
            own = result["diffbench"]
            experiment = own.get("experiment", "comparison")
            self.assertIn("results" if experiment == "comparison" else experiment, own)

    def test_it_is_a_schema(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)

    def test_what_the_program_writes(self):
        runs = {name: arguments for name, arguments in RUNS.items() if "--json" in arguments}
        runs |= {name: f"{arguments} --json {name}.json" for name, arguments in MORE.items()}
        seen = set()
        for name, arguments in runs.items():
            done = self.run_verb(arguments)
            self.assertTrue(self.path(f"{name}.json").exists(), f"{name}: {done.stderr}")
            result = parse_json(self.path(f"{name}.json").read_text())
            self.check(name, result)
            seen |= words(result)
        # What only a GPU or chance brings about is at least a word of the sources.
        sources = "".join(file.read_text() for folder in ("base", "bench", "judge", "lab", "solver")
                          for file in (ROOT / folder).rglob("*.?pp"))
        self.assertEqual([word for word in enums(SCHEMA)
                          if word is not None and word not in seen and f'"{word}"' not in sources], [])

    def test_the_default_rubric(self):
        schema = parse_json((ROOT / "judge/grade/rubric.schema.json").read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        rubric = parse_json(self.run_ok("try", "--print-rubric").stdout)
        validator = jsonschema.Draft7Validator(schema)
        self.assertEqual([error.message for error in validator.iter_errors(rubric)], [])
        for key, value in (("criterion", "fast"), ("points", -1), ("row", "numpy")):
            rubric["criteria"][0] = {"criterion": "right", "points": 1, key: value}
            self.assertFalse(validator.is_valid(rubric), key)

    def test_a_program(self):
        for name, source in (("right", programs.HEAT), ("faults", programs.FAULTS["race"]), ("none", programs.host(""))):
            self.path("prog.cu").write_text(source)
            done = self.run_program("try", "prog.cu", "--json", "-", env=self.env)
            self.check(name, parse_json(done.stdout))
        self.path("programs").mkdir()
        self.path("programs/bob.cu").write_text(programs.FAULTS["race"])
        self.check("a class", parse_json(self.run_program("try", "programs", "--json", "-", env=self.env).stdout))

    def test_a_wrong_row(self):
        arguments = "--grid 16 --iters 4 --budget 0.1 --baseline scalar --json wrong.json"
        self.run_program(*arguments.split(), program=WITH_WRONG_BACKEND)
        wrong = parse_json(self.path("wrong.json").read_text())
        self.assertFalse(row_of(wrong, "wrong_corner")["verified"]["bitwise"])
        self.check("wrong", wrong)

    def test_recorded_files(self):
        for file in RESULTS.glob("*.json"):
            result = parse_json(file.read_text())
            if "diffbench" in result:  # the others are Google Benchmark's
                # As readers take a comparison of before it was an experiment.
                result["diffbench"] = {"experiment": "comparison", "sentence": "", **result["diffbench"]}
                self.check(file.name, result)

    def test_other_words_are_refused(self):
        self.run_verb(RUNS["sweep"])
        result = parse_json(self.path("sweep.json").read_text())
        sweep = result["diffbench"]["sweep"]
        crossing, row = sweep["crossovers"][0], sweep["points"][0]["result"]["results"][0]
        for part, name, word in ((crossing, "measure", "warm"), (crossing, "along", "iterations"),
                                 (crossing, "wins", "always"), (row, "device", "gpu"),
                                 (row, "status", "fine"), (row["phases"], "copy", 0)):
            with self.subTest(name):
                before = copy.copy(part)
                part[name] = word
                self.assertEqual(len(mistakes(result)), 1)
                part.clear()
                part.update(before)


if __name__ == "__main__":
    unittest.main()
