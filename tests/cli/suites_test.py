# SPDX-License-Identifier: Apache-2.0
"""The Google Benchmark suites: names, samples and context of their JSON, what they say of benchmarks that
cannot run, exit codes, and that Google Benchmark's own compare.py reads them beside our files."""
import os
import unittest

from program import PROGRAM, CommandLineTest, parse_json

SUITES = os.environ["DIFFBENCH_SUITES"]
WRONG_STENCIL = os.environ["DIFFBENCH_WRONG_STENCIL"]

# Of a CPU, then of a GPU: available in the emulated tree only.
QUICK = {"stencil": ("stencil/(scalar|fused)/float32/64x64", "stencil/cuda_naive"),
         "transfer": ("transfer/host/(memcpy|streaming)/1024/", "transfer/h2d/pinned"),
         "sync": ("sync/cpu/(team_run|openmp_region)/", "sync/gpu/launch_and_wait"),
         "mlp": ("mlp/cpu/(step/2-4-8-2/100|forward/784-128-10/1)/", "mlp/cuda")}


class SuiteTest(CommandLineTest):
    def run_suites(self, *arguments, program=SUITES):
        return self.run_program(*arguments, program=program)

    def measure(self, pattern, *arguments, exit_code=0, program=SUITES):
        """The entries of a run, and its context."""
        done = self.run_suites(f"--benchmark_filter={pattern}", "--benchmark_out=out.json", *arguments,
                               program=program)
        self.assertEqual(done.returncode, exit_code, done.stderr)
        result = parse_json(self.path("out.json").read_text())
        return result["benchmarks"], result["context"]


class Entries(SuiteTest):
    def test_names_are_those_of_diffbench(self):
        names = {"stencil": {"stencil/scalar/float32/64x64", "stencil/fused/float32/64x64"},
                 "transfer": {"transfer/host/memcpy/1024", "transfer/host/streaming/1024"},
                 "sync": {"sync/cpu/team_run", "sync/cpu/openmp_region"},
                 "mlp": {"mlp/cpu/step/2-4-8-2/100", "mlp/cpu/forward/784-128-10/1"}}
        for suite, (on_cpu, _) in QUICK.items():
            samples, context = self.measure(on_cpu, "--benchmark_repetitions=2")
            samples = [s for s in samples if s["run_type"] == "iteration"]
            found = {s["name"] for s in samples}
            self.assertEqual({name.split("/threads:")[0] for name in found}, names[suite])
            self.assertEqual(len(samples), 2 * len(found))
            self.assertEqual(context["executable"], "bench_suites")
            for fact in ("diffbench_version", "git_sha", "compiler", "cpu_model", "usable_cpus"):
                self.assertIsInstance(context[fact], str)
            for sample in samples:
                self.assertGreater(sample["real_time"], 0)
                self.assertEqual(sample["time_unit"], "ns")
                self.assertFalse([v for v in sample.values() if isinstance(v, (dict, list))])

    def test_a_sample_is_of_many_steps_and_rates_follow_from_its_time(self):
        samples, _ = self.measure(QUICK["stencil"][0])
        samples = [s for s in samples if s["run_type"] == "iteration"]
        self.assertEqual([s["repetition_index"] for s in samples], 2 * list(range(9)))
        for sample in samples:
            self.assertEqual(sample["iterations"], 1000)
            rate = 64 * 64 / (sample["real_time"] * 1e-9)
            self.assertAlmostEqual(sample["cells_per_second"] / rate, 1, places=6)
            self.assertAlmostEqual(sample["bytes_per_second"] / rate, 8, places=5)
            self.assertTrue(sample["label"].startswith("threads 1"), sample)

    def test_what_cannot_run_is_there_once_with_the_reason_and_no_time(self):
        for suite, (on_cpu, on_gpu) in QUICK.items():
            entries, _ = self.measure(f"{on_cpu}|{on_gpu}", "--benchmark_repetitions=2")
            skipped = [e for e in entries if e.get("error_occurred")]
            self.assertTrue(skipped, suite)
            names = [e["name"] for e in skipped]
            self.assertEqual(len(names), len(set(names)))
            for entry in skipped:
                self.assertTrue(entry["name"].startswith(on_gpu), entry)
                self.assertRegex(entry["error_message"], "driver|not compiled|emulated")
                self.assertEqual((entry["real_time"], entry["iterations"]), (0, 0))

    def test_json_on_stdout_is_all_there_is(self):
        done = self.run_suites("--benchmark_filter=host/memcpy/1024/",
                               "--benchmark_repetitions=1", "--benchmark_format=json")
        entry, = parse_json(done.stdout)["benchmarks"]
        self.assertEqual(entry["name"], "transfer/host/memcpy/1024")


class ExitCodes(SuiteTest):
    def test_a_wrong_result_is_not_timed(self):
        entries, _ = self.measure("float32/64x64", exit_code=3, program=WRONG_STENCIL)
        wrong, = [e for e in entries if e["name"] == "stencil/wrong_corner/float32/64x64"]
        self.assertIn("not the reference's", wrong["error_message"])
        self.assertEqual(wrong["real_time"], 0)
        self.assertGreater(entries[0]["real_time"], 0)  # the others go on

    def test_a_failure_is_an_error(self):
        entries, _ = self.measure("float64/64x64", exit_code=1, program=WRONG_STENCIL)
        failed, = [e for e in entries if e["name"] == "stencil/wrong_corner/float64/64x64"]
        self.assertIn("failed: no session", failed["error_message"])

    def test_nothing_measured_is_an_error(self):
        done = self.run_suites("--benchmark_filter=no_such_name")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing was measured", done.stderr)

    def test_the_librarys_build_is_no_warning(self):
        said = self.run_suites("--benchmark_filter=stencil/fused/float32/64x64", "--benchmark_repetitions=1").stderr
        self.assertIn("build_type: ", said)
        self.assertNotIn("built as DEBUG", said)

    def test_wrong_options(self):
        for option in ("--grid=64", "--benchmark_out_format=csv"):
            done = self.run_suites(option)
            self.assertEqual(done.returncode, 2)
            self.assertIn(option.split("=")[0], done.stderr)
            self.assertEqual(done.stdout, "")

    def test_a_list_is_no_run(self):
        for option in ("--benchmark_list_tests", "--benchmark_list_tests=true"):
            done = self.run_suites(option)
            self.assertEqual(done.returncode, 0, done.stderr)
            for size in (1 << 10, 1 << 30):
                self.assertIn(f"transfer/host/memcpy/{size}/", done.stdout)


class ComparePy(SuiteTest):
    def test_reads_the_suites_files(self):
        for suite, patterns in QUICK.items():
            self.measure("|".join(patterns), "--benchmark_repetitions=2")
            table = self.compare_py("out.json", "out.json")
            self.assertIn("_pvalue", table, suite)

    def test_compares_a_suite_with_diffbench(self):
        self.measure("stencil/fused/float32/64x64")
        options = "--grid 64 --iters 100 --budget 20 --backend fused --baseline fused --json own.json"
        self.run_ok(*options.split(), program=PROGRAM)
        for old, new in (("out.json", "own.json"), ("own.json", "out.json")):
            self.assertIn("stencil/fused/float32/64x64_pvalue", self.compare_py(old, new))


if __name__ == "__main__":
    unittest.main()
