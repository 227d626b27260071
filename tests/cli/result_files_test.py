# SPDX-License-Identifier: Apache-2.0
"""The result files: JSON by the contract (schema 1, and Google Benchmark's), CSV, and what else is
on stdout beside them: nothing."""
import csv
import hashlib
import io
import math
import statistics
import struct
import unittest

from program import QUICK, CommandLineTest, parse_json, read_npy, row_of

NUMBER = (int, float)
PHASES = ["context", "alloc", "pin", "h2d", "launch", "compute", "sync", "d2h", "free"]


def or_null(kind):
    return (*(kind if isinstance(kind, tuple) else (kind,)), type(None))


PHASE_TIMES = {**{name: or_null(NUMBER) for name in PHASES}, "unexplained": NUMBER, "wall": NUMBER}

# Every field of the contract with its type, for a row that was verified and timed. A dict or a list
# of one describes what it holds; a field may be added without harm.
SCHEMA = {
    "context": {
        "date": str, "host_name": str, "executable": str, "num_cpus": int, "caches": list,
        "library_build_type": str, "json_schema_version": int, "diffbench_version": str,
        "git_sha": str, "compiler": str, "flags": str, "cpu_model": str},
    # What Google Benchmark's compare.py reads, and more of its format.
    "benchmarks": [{
        "name": str, "family_index": int, "per_family_instance_index": int, "run_name": str,
        "run_type": str, "repetitions": int, "threads": int,
        "iterations": int, "real_time": NUMBER, "cpu_time": NUMBER, "time_unit": str}],
    "diffbench": {
        "schema": int, "command": str, "interrupted": bool,
        "problem": {"nx": int, "ny": int, "spacing": NUMBER, "diffusivity": NUMBER, "dt": NUMBER,
                    "boundary": str, "dtype": str, "iterations": int, "init": str,
                    "bytes_per_step": int},
        "results": [{
            "backend": str, "device": str, "status": str, "reason": or_null(str),
            "provenance": {"threads": int},
            "verified": {"bitwise": bool, "reference": str, "max_abs_error": NUMBER,
                         "nonfinite": int, "steps": int},
            "seconds_per_iteration": NUMBER,
            "seconds_per_iteration_interval": {"low": NUMBER, "high": NUMBER, "confidence": NUMBER},
            "irregularities": list, "cells_per_second": NUMBER,
            "bytes_per_second": NUMBER, "samples_seconds": [NUMBER], "phases": PHASE_TIMES,
            "end_to_end": {"cold_seconds": NUMBER, "warm_seconds": NUMBER,
                           "cold_phases": PHASE_TIMES},
            "peak_host_bytes": or_null(int), "peak_device_bytes": or_null(int), "threads": int}],
        "field": {"sha256": str, "min": NUMBER, "max": NUMBER, "sum": NUMBER}}}


def violations(value, schema, place="result"):
    """What in `value` is not as `schema` says, one text each."""
    if isinstance(schema, dict):
        if not isinstance(value, dict):
            yield f"{place} is {value!r}, not an object"
            return
        for name, part in schema.items():
            if name in value:
                yield from violations(value[name], part, f"{place}.{name}")
            else:
                yield f"{place}.{name} is missing"
    elif isinstance(schema, list):
        if not isinstance(value, list) or not value:
            yield f"{place} is not a list with entries"
            return
        for index, entry in enumerate(value):
            yield from violations(entry, schema[0], f"{place}[{index}]")
    elif not isinstance(value, schema) or isinstance(value, bool) and schema is not bool:
        yield f"{place} is {value!r}"


class JsonContract(CommandLineTest):
    @classmethod
    def setUpClass(cls):
        """One run for all tests that only read."""
        run = CommandLineTest()
        run.setUp()
        cls.addClassCleanup(run.doCleanups)
        done = run.run_ok(*QUICK, "--json", "out.json", "--csv", "out.csv")
        run.run_ok("run", "--grid", "24x16", "--iters", "20", "--save", "out.npy")
        cls.table = done.stdout
        cls.result = parse_json(run.path("out.json").read_text())
        cls.ours = cls.result["diffbench"]
        cls.csv_text = run.path("out.csv").read_text()
        cls.shape, cls.descr, cls.cells = read_npy(run.path("out.npy"))

    def test_has_every_field_with_its_type(self):
        self.assertEqual(list(violations(self.result, SCHEMA)), [])
        self.assertEqual(self.ours["schema"], 1)
        self.assertEqual(self.result["context"]["json_schema_version"], 1)

    def test_tells_the_problem(self):
        self.assertEqual(self.ours["problem"]["nx"], 24)
        self.assertEqual(self.ours["problem"]["ny"], 16)
        self.assertEqual(self.ours["problem"]["iterations"], 20)
        self.assertEqual(self.ours["problem"]["bytes_per_step"], 2 * 4 * 24 * 16)
        self.assertEqual(self.ours["command"].split()[:3], ["diffbench", "--grid", "24x16"])
        self.assertIs(self.ours["interrupted"], False)
        self.assertEqual([row["backend"] for row in self.ours["results"]], ["scalar", "fused"])

    def test_figures_follow_from_the_samples(self):
        for row in self.ours["results"]:
            self.assertEqual(row["status"], "ok")
            self.assertIsNone(row["reason"])
            self.assertIs(row["verified"]["bitwise"], True)
            each = [seconds / row["iterations_per_sample"] for seconds in row["samples_seconds"]]
            q1, median, q3 = statistics.quantiles(each, n=4, method="inclusive")
            self.close(row["seconds_per_iteration"], median)
            self.close(row["seconds_per_iteration_quartiles"]["q1"], q1)
            self.close(row["seconds_per_iteration_quartiles"]["q3"], q3)
            interval = row["seconds_per_iteration_interval"]
            self.assertIn(interval["low"], each)
            self.assertIn(interval["high"], each)
            self.assertTrue(interval["low"] <= median <= interval["high"], interval)
            self.assertGreaterEqual(interval["confidence"], 0.95)
            self.close(row["cells_per_second"], 24 * 16 / median)
            self.close(row["bytes_per_second"], self.ours["problem"]["bytes_per_step"] / median)
            copy = max(self.ours["copy"]["memcpy_bytes_per_second"],
                       self.ours["copy"]["streaming_bytes_per_second"])
            self.close(row["fraction_of_copy"], row["bytes_per_second"] / copy)
            baseline = row_of(self.result, "scalar")["seconds_per_iteration"]
            self.close(row["speedup_vs_baseline"], baseline / row["seconds_per_iteration"])
        self.assertIsNone(row_of(self.result, "scalar")["speedup_vs_baseline_interval"])
        ratio = row_of(self.result, "fused")["speedup_vs_baseline_interval"]
        self.assertTrue(0 < ratio["low"] <= ratio["high"], ratio)

    def test_phases_add_up_to_the_wall(self):
        for row in self.ours["results"]:
            for phases, wall in [(row["phases"], row["end_to_end"]["warm_seconds"]),
                                 (row["end_to_end"]["cold_phases"],
                                  row["end_to_end"]["cold_seconds"])]:
                parts = [phases[name] or 0 for name in (*PHASES, "unexplained")]
                self.assertEqual(phases["wall"], wall)
                self.assertAlmostEqual(sum(parts), wall, delta=1e-9)
                self.assertTrue(all(part >= -1e-9 for part in parts), phases)
                self.assertGreater(phases["compute"], 0)

    def test_the_field_is_the_one_that_was_saved(self):
        field = self.ours["field"]
        self.assertEqual((self.shape, self.descr), ((16, 24), "<f4"))
        self.assertEqual(field["sha256"], hashlib.sha256(self.cells).hexdigest())
        cells = [cell for cell, in struct.iter_unpack("<f", self.cells)]
        self.assertEqual(field["min"], min(cells))
        self.assertEqual(field["max"], max(cells))
        self.close(field["sum"], math.fsum(cells), 1e-6)

    def test_one_benchmark_entry_a_sample(self):
        for row in self.ours["results"]:
            name = f"stencil/{row['backend']}/float32/24x16"
            entries = [e for e in self.result["benchmarks"] if e["name"] == name]
            self.assertEqual([e["repetition_index"] for e in entries],
                             list(range(len(row["samples_seconds"]))))
            for entry, seconds in zip(entries, row["samples_seconds"]):
                self.assertEqual(entry["run_name"], name)
                self.assertEqual(entry["run_type"], "iteration")
                self.assertEqual(entry["time_unit"], "ns")
                self.close(entry["real_time"] * entry["iterations"], 1e9 * seconds)
                counters = set(entry) - set(SCHEMA["benchmarks"][0])
                self.assertTrue(all(isinstance(entry[c], NUMBER) for c in counters), entry)

    def test_aggregates_as_google_benchmark_has_them(self):
        for row in self.ours["results"]:
            name = f"stencil/{row['backend']}/float32/24x16"
            entries = [e for e in self.result["benchmarks"] if e["run_name"] == name]
            samples = [e for e in entries if e["run_type"] == "iteration"]
            aggregates = {e["aggregate_name"]: e for e in entries[len(samples):]}
            self.assertEqual([e["name"] for e in aggregates.values()],
                             [f"{name}_{each}" for each in ("mean", "median", "stddev", "cv")])
            for key in ("real_time", "cpu_time", "bytes_per_second"):
                values = [e[key] for e in samples]
                mean, deviation = statistics.mean(values), statistics.stdev(values)
                for each, value in [("mean", mean), ("median", statistics.median(values)), ("stddev", deviation),
                                    ("cv", deviation / mean)]:
                    self.close(aggregates[each][key], value, 1e-9)
            for each, entry in aggregates.items():
                self.assertEqual((entry["run_type"], entry["iterations"], entry["repetitions"], entry["aggregate_unit"]),
                                 ("aggregate", len(samples), len(samples), "percentage" if each == "cv" else "time"))
                self.assertNotIn("repetition_index", entry)
        self.assertRegex(self.result["context"]["date"], r"T\d\d:\d\d:\d\d[+-]\d\d:\d\d$")

    def test_csv_is_one_header_and_full_precision(self):
        self.assertEqual(self.csv_text.count("\n"), 3)
        rows = list(csv.DictReader(io.StringIO(self.csv_text), strict=True))
        self.assertEqual([row["backend"] for row in rows], ["scalar", "fused"])
        for row in rows:
            same = row_of(self.result, row["backend"])
            self.assertEqual((row["nx"], row["ny"], row["verified.bitwise"]), ("24", "16", "true"))
            self.assertNotIn(None, row)  # cells without a column
            for column, value in [
                    ("seconds_per_iteration", same["seconds_per_iteration"]),
                    ("cells_per_second", same["cells_per_second"]),
                    ("fraction_of_copy", same["fraction_of_copy"]),
                    ("end_to_end.cold_seconds", same["end_to_end"]["cold_seconds"]),
                    ("end_to_end.warm_seconds", same["end_to_end"]["warm_seconds"])]:
                self.assertEqual(float(row[column]), value, column)  # to the last bit
            self.assertEqual({column: float(value) for column, value in row.items()
                              if column.startswith("phases.") and value},
                             {f"phases.{name}": value for name, value in same["phases"].items()
                              if value is not None})

    def test_the_table_is_still_on_stdout(self):
        self.assertIn("time/iter", self.table)

    def close(self, value, expected, relative=1e-12):
        self.assertTrue(math.isclose(value, expected, rel_tol=relative), (value, expected))


class Streams(CommandLineTest):
    def test_json_on_stdout_is_all_there_is(self):
        done = self.run_ok(*QUICK, "--json", "-")
        self.assertEqual(list(violations(parse_json(done.stdout), SCHEMA)), [])
        self.assertEqual(done.stderr, "")

    def test_csv_on_stdout_is_all_there_is(self):
        done = self.run_ok(*QUICK, "--csv", "-", "--json", "out.json", "--pinned")
        rows = list(csv.reader(io.StringIO(done.stdout), strict=True))
        backend = rows[0].index("backend")
        self.assertEqual([row[backend] for row in rows], ["backend", "scalar", "fused"])
        self.assertEqual(len({len(row) for row in rows}), 1)
        parse_json(self.path("out.json").read_text())

    def test_a_file_is_replaced_as_a_whole(self):
        self.path("out.json").write_text('{"executable": "diffbench"}' + "x" * 1_000_000)
        self.run_ok(*QUICK, "--json", "out.json")
        parse_json(self.path("out.json").read_text())
        self.assertEqual([path.name for path in self.directory.iterdir()], ["out.json"])

    def test_rows_of_peers(self):
        result = self.result("--peer", "numpy", "--peer", "numpy_pooled")
        self.assertEqual(list(violations(result, SCHEMA)), [])
        for name in ("peer:numpy", "peer:numpy_pooled"):
            row = row_of(result, name)
            self.assertEqual((row["status"], row["verified"]["bitwise"]), ("ok", True))
            self.assertGreaterEqual(float(row["provenance"]["page_faults_per_step"]), 0)

    def test_float64(self):
        done = self.run_ok(*"run --grid 24x16 --iters 20 --dtype float64 --json - --save out.npy".split())
        shape, descr, cells = read_npy(self.path("out.npy"))
        self.assertEqual((shape, descr), ((16, 24), "<f8"))
        field = parse_json(done.stdout)["diffbench"]["run"]["results"][0]["field"]
        self.assertEqual(field["sha256"], hashlib.sha256(cells).hexdigest())

    def test_google_benchmarks_compare_reads_it(self):
        self.run_ok(*QUICK, "--json", "out.json")
        self.assertIn("stencil/fused/float32/24x16_pvalue",
                      self.compare_py("out.json", "out.json"))


if __name__ == "__main__":
    unittest.main()
