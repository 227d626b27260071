# SPDX-License-Identifier: Apache-2.0
"""diffbench compare: verdicts, what is not compared and why, exit codes, files of Google Benchmark,
and files that are none."""
import copy
import json
import unittest

from program import QUICK, CommandLineTest, parse_json


class Compare(CommandLineTest):
    @classmethod
    def setUpClass(cls):
        """One real file; the others are made from it."""
        run = CommandLineTest()
        run.setUp()
        cls.addClassCleanup(run.doCleanups)
        run.run_ok(*QUICK, "--json", "old.json")
        cls.recorded = parse_json(run.path("old.json").read_text())
        for row in cls.recorded["diffbench"]["results"]:  # as on a quiet machine
            row["samples_seconds"] = [1e-3 * (1 + 1e-3 * (i % 3)) for i in range(20)]
        for entry in cls.recorded["benchmarks"]:
            entry["cpu_time"] = entry["real_time"]

    def old_and(self, change, old=None):
        """Writes old.json, and new.json, which is the same after `change`."""
        old = old or self.recorded
        new = copy.deepcopy(old)
        change(new)
        self.path("old.json").write_text(json.dumps(old))
        self.path("new.json").write_text(json.dumps(new))

    @staticmethod
    def slower(backend, factor):
        def change(result):
            for row in result["diffbench"]["results"]:
                if row["backend"] == backend:
                    row["samples_seconds"] = [factor * s for s in row["samples_seconds"]]
        return change

    def compare(self, *arguments, exit_code=0):
        done = self.run_program("compare", "old.json", "new.json", "--json", "-", *arguments)
        self.assertEqual(done.returncode, exit_code, done.stderr)
        result = parse_json(done.stdout)["diffbench"]["compare"]
        return {row["row"]: row for row in result["rows"]}, result, done.stderr

    def test_a_file_with_itself_is_unclear(self):
        self.old_and(lambda result: None)
        rows, result, _ = self.compare()
        self.assertEqual([row["verdict"] for row in rows.values()], ["UNCLEAR", "UNCLEAR"])
        self.assertEqual(result["differences"], [])

    def test_slower_and_faster(self):
        for factor, verdict in [(1.1, "SLOWER"), (1.5, "SLOWER"), (1 / 1.1, "FASTER"),
                                (1.03, "UNCLEAR")]:
            self.old_and(self.slower("fused", factor))
            rows, _, _ = self.compare()
            self.assertEqual(rows["fused"]["verdict"], verdict)
            self.assertAlmostEqual(rows["fused"]["ratio"], factor)
            interval = rows["fused"]["interval"]
            self.assertTrue(interval["low"] < factor < interval["high"], interval)
            self.assertEqual(rows["scalar"]["verdict"], "UNCLEAR")

    def test_fail_on_is_exit_code_5(self):
        self.old_and(self.slower("fused", 1.2))
        _, _, errors = self.compare("--fail-on", "slower=5%", exit_code=5)
        self.assert_one_line(errors, "fused", "5 %")
        self.compare("--fail-on", "slower=30%")
        self.old_and(self.slower("fused", 1 / 1.2))
        self.compare("--fail-on", "slower=5%")

    def test_what_could_not_have_been_seen_fails_where_that_is_asked_for(self):
        self.old_and(lambda result: None)
        rows, _, _ = self.compare("--fail-on", "unclear")  # 10 %, which quiet runs show
        self.assertAlmostEqual(rows["fused"]["smallest_visible"], 0.097, delta=0.002)
        self.compare("--fail-on", "slower=5%")
        _, _, errors = self.compare("--fail-on", "slower=5%", "--fail-on", "unclear", exit_code=5)
        self.assert_one_line(errors, "5 %", "scalar (9.7 %)", "fused (9.7 %)")
        text = self.run_ok("compare", "old.json", "new.json").stdout
        self.assertIn("note: the smallest slowdown that would have got a verdict: scalar 9.7 %", text)

    def test_differences_come_first(self):
        def change(result):
            result["context"]["compiler"] = "Other 1.0"
            result["context"]["cpu_model"] = "Other CPU"
            result["diffbench"]["results"][1]["provenance"]["threads"] = 7
        self.old_and(change)
        _, result, _ = self.compare()
        self.assertEqual([each["what"] for each in result["differences"]],
                         ["cpu_model", "compiler", "fused threads"])
        text = self.run_ok("compare", "old.json", "new.json").stdout
        self.assertLess(text.index("Other CPU"), text.index("verdict"))
        self.assertIn("note: the runs differ in 3 things", text)

    def test_another_problem_is_not_compared(self):
        def change(result):
            result["diffbench"]["problem"]["nx"] = 25
        self.old_and(change)
        rows, _, errors = self.compare(exit_code=1)
        self.assertIn("another problem: nx", rows["fused"]["reason"])
        self.assertIsNone(rows["fused"]["verdict"])
        self.assert_one_line(errors, "no row")

    def test_rows_of_one_run_only_and_without_time(self):
        def change(result):
            scalar, fused = result["diffbench"]["results"]
            scalar["backend"] = "another"
            fused["samples_seconds"] = []
            fused["reason"] = "device lost"
        self.old_and(change)
        rows, _, _ = self.compare(exit_code=1)
        self.assertIn("only in the old", rows["scalar"]["reason"])
        self.assertIn("only in the new", rows["another"]["reason"])
        self.assertIn("device lost", rows["fused"]["reason"])

    def test_other_programs_widen_the_interval(self):
        def change(result):
            self.slower("fused", 1.5)(result)
            for entry in result["benchmarks"]:
                entry["cpu_time"] = 0.5 * entry["real_time"]
        self.old_and(change)
        rows, _, _ = self.compare()
        self.assertEqual(rows["fused"]["verdict"], "UNCLEAR")
        self.assertIn("other programs", self.run_ok("compare", "old.json", "new.json").stdout)

    def test_files_of_google_benchmark(self):
        def entry(name, real_time, **more):
            return {"name": name, "run_name": name, "run_type": "iteration", "iterations": 10,
                    "real_time": real_time, "cpu_time": real_time, "time_unit": "us", **more}

        old = {"context": {"num_cpus": 2}, "benchmarks":
               [entry("BM_copy/8", 10.0 + 0.01 * i) for i in range(5)]
               + [entry("BM_once", 1.0),
                  entry("BM_broken", 1.0, error_occurred=True, error_message="no GPU")]
               + [entry("BM_copy/8", 99.0, run_type="aggregate", aggregate_name="mean")]}

        def change(result):
            for each in result["benchmarks"]:
                each["real_time"] *= 2e3
                each["time_unit"] = "ns"
        self.old_and(change, old)
        rows, _, _ = self.compare()
        self.assertEqual(rows["BM_copy/8"]["verdict"], "SLOWER")
        self.assertAlmostEqual(rows["BM_copy/8"]["ratio"], 2)
        self.assertAlmostEqual(rows["BM_copy/8"]["old_seconds"], 10.02e-6)
        self.assertEqual(rows["BM_once"]["verdict"], "UNCLEAR")
        self.assertIsNone(rows["BM_once"]["interval"])
        self.assertIn("no GPU", rows["BM_broken"]["reason"])

    def test_files_of_hyperfine(self):
        old = {"results": [{"command": "./prog 1", "mean": 0.1, "times": [0.1 + 0.0001 * i for i in range(10)]},
                           {"command": "./prog 2", "mean": 0.1, "times": [0.1]},
                           {"command": "./prog 3", "times": []}]}

        def change(result):
            result["results"][0]["times"] = [2 * time for time in result["results"][0]["times"]]
        self.old_and(change, old)
        rows, _, _ = self.compare()
        self.assertEqual(rows["./prog 1"]["verdict"], "SLOWER")
        self.assertAlmostEqual(rows["./prog 1"]["ratio"], 2)
        self.assertIsNone(rows["./prog 2"]["interval"])
        self.assertIn("no time", rows["./prog 3"]["reason"])
        self.assert_refused(2, "no result file", "report", "old.json", "-o", "page.html")

    def test_results_of_hyperfine_are_told_apart(self):
        def result(factor, command="./p", **parameters):
            return {"command": command, "times": [factor * (1 + 0.001 * i) for i in range(10)],
                    **({"parameters": parameters} if parameters else {})}

        for results, names in [
                ([result(1, branch="a"), result(2, branch="b")], ["./p (branch=a)", "./p (branch=b)"]),
                ([result(1, n="1", m="1"), result(2, n="1", m="2"), result(3, n="2", m="1")],
                 ["./p (n=1) (m=1)", "./p (n=1) (m=2)", "./p (n=2) (m=1)"]),
                ([result(1, "./p 10", n=1), result(2, "./p 10", n=10)], ["./p 10 (n=1)", "./p 10 (n=10)"]),
                ([result(1), result(2), result(3)], ["./p", "./p #2", "./p #3"]),
                ([result(1, n=""), result(2)], ["./p (n=)", "./p"])]:
            self.old_and(lambda new: new["results"][-1].update(times=[2 * t for t in new["results"][-1]["times"]]),
                         {"results": results})
            rows, _, _ = self.compare()
            self.assertEqual(list(rows), names)
            self.assertEqual([row["verdict"] for row in rows.values()], ["UNCLEAR"] * (len(names) - 1) + ["SLOWER"])
            self.assertEqual([round(row["ratio"], 9) for row in rows.values()], [1] * (len(names) - 1) + [2])
        # Another value is another row.
        self.old_and(lambda new: new["results"][0]["parameters"].update(n="2"), {"results": [result(1, n="1")]})
        rows, _, _ = self.compare(exit_code=1)
        self.assertEqual(list(rows), ["./p (n=1)", "./p (n=2)"])

    def test_two_machines_fail_no_code(self):
        machine = {"host_name": "a", "cpu_model": "A", "num_cpus": 4, "usable_cpus": "4", "mhz_per_cpu": 2400,
                   "gpu_name": "G", "compiler": "c", "flags": "-O2", "git_sha": "1", "kernel": "6"}
        for change, another in [
                ({}, ""), ({"compiler": "d", "flags": "-O3", "git_sha": "2", "kernel": "7"}, ""), ({"host_name": "b"}, ""),
                ({"mhz_per_cpu": 2600}, ""), ({"gpu_name": "none"}, ""), ({"cpu_model": "unknown"}, ""),
                ({"cpu_model": None}, ""),
                ({"cpu_model": "B"}, "cpu_model A and B"), ({"num_cpus": 2}, "num_cpus 4 and 2"),
                ({"usable_cpus": "2"}, "usable_cpus 4 and 2"), ({"gpu_name": "H"}, "gpu_name G and H"),
                ({"host_name": "b", "mhz_per_cpu": 3500}, "mhz_per_cpu 2400 and 3500"),
                ({"num_cpus": 2, "git_sha": "2"}, "num_cpus 4 and 2")]:
            old = {"context": machine, "benchmarks": [
                {"name": "BM", "run_type": "iteration", "real_time": 1 + 0.001 * i} for i in range(20)]}

            def changed(new, change=change):
                new["context"].update(change)
                for entry in new["benchmarks"]:
                    entry["real_time"] *= 1.5
            self.old_and(changed, old)
            with self.subTest(change):
                rows, _, errors = self.compare("--fail-on", "slower=5%", exit_code=0 if another else 5)
                self.assertEqual(rows["BM"]["verdict"], "SLOWER")
                if another:
                    self.assert_one_line(errors, another, "--across-machines")
                else:
                    self.assert_one_line(errors, "slower by more than 5 %: BM")
                self.compare("--fail-on", "slower=5%", "--across-machines", exit_code=5)
                _, _, errors = self.compare("--fail-on", "unclear", exit_code=5 if another else 0)
                self.assertEqual(another != "", "unclear: the runs are of two machines" in errors)
                self.assertEqual(self.compare()[2], "")

    def test_files_that_are_none(self):
        good = json.dumps(self.recorded)
        self.path("good.json").write_text(good)
        newer = copy.deepcopy(self.recorded)
        newer["diffbench"]["schema"] = 2
        for content, mention in [(good[:len(good) // 2], "cut off"), ("", "empty"),
                                 ("[1, 2]", "no result file"), (json.dumps(newer), "newer"),
                                 ('{"context": {}, "benchmarks": []}', "no row")]:
            self.path("bad.json").write_text(content)
            self.assert_refused(2, ["bad.json", mention], "compare", "good.json", "bad.json")
            self.assert_refused(2, ["bad.json", mention], "compare", "bad.json", "good.json")
        self.assert_refused(2, "missing.json", "compare", "good.json", "missing.json")

    def test_a_foreign_file_does_not_steer_the_terminal(self):
        def change(result):
            result["context"]["cpu_model"] = "\x1b[31m"
            result["diffbench"]["results"][0]["backend"] = "a\r\nb"
        self.old_and(change)
        text = self.run_ok("compare", "old.json", "new.json").stdout
        self.assertIn("?[31m", text)
        self.assertIn("not compared: a??b: only in the new run", text)
        self.assertFalse([c for c in text if c < " " and c != "\n"], text)

    def test_values_of_wrong_types_do_no_harm(self):
        """Every value of the file in turn is replaced; whatever comes of it, it is no crash."""
        def places(value, path=()):
            yield path
            items = (value.items() if isinstance(value, dict) else
                     enumerate(value[:1]) if isinstance(value, list) else ())
            for key, part in items:
                yield from places(part, (*path, key))

        small = copy.deepcopy(self.recorded)
        small["context"] = {"cpu_model": "x"}
        small["benchmarks"] = small["benchmarks"][:1]
        small["diffbench"] = {"schema": 1, "problem": {"nx": 1}, "results": [
            {key: small["diffbench"]["results"][0][key] for key in
             ("backend", "device", "reason", "provenance", "samples_seconds",
              "iterations_per_sample")}]}
        for index, path in enumerate(list(places(small))[1:]):
            broken = copy.deepcopy(small)
            place = broken
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = [7, "x", None, {}, [[]]][index % 5]
            self.path("old.json").write_text(json.dumps(small))
            self.path("new.json").write_text(json.dumps(broken))
            done = self.run_program("compare", "old.json", "new.json")
            self.assertIn(done.returncode, (0, 1, 2), (path, done.stderr))
            self.assertNotIn("json.exception", done.stderr, path)

    def test_wrong_usage(self):
        self.old_and(lambda result: None)
        for arguments, mention in [([], "two result files"), (["old.json"], "two result files")]:
            self.assert_refused(2, mention, "compare", *arguments)
        self.assert_refused(2, "is for --fail-on", "compare", "old.json", "new.json", "--across-machines")
        for option, value in [("--fail-on", "5%"), ("--fail-on", "slower=5"),
                              ("--fail-on", "slower=-5%"), ("--fail-on", "slower=nan%"),
                              ("--run-spread", "0%"), ("--run-spread", "x")]:
            self.assert_refused(2, f"{option} {value}: ", "compare", "old.json", "new.json", option,
                                value)
        for option in ("--json", "--csv", "--report"):
            for file in ("old.json", "./new.json"):
                self.assert_refused(2, f"{option} {file}: is also an input", "compare",
                                    "old.json", "new.json", option, file)


if __name__ == "__main__":
    unittest.main()
