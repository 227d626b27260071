# SPDX-License-Identifier: Apache-2.0
"""diffbench pitfalls: what it measures on any machine, its result file, and what it refuses. No time
decides a test."""
import re
import unittest

from program import CommandLineTest, parse_json, samples_of

ON_CPU = ["no-warm-up", "allocation-timed", "copies-timed", "clock-in-the-loop", "hot-cache",
          "dead-code", "lazy-expression", "one-sample", "mean-with-outlier", "slow-cpu-baseline",
          "float32-for-float64", "oversubscribed-threads", "denormals", "untouched-zeros"]
ON_GPU = ["context-timed", "no-synchronization", "synchronize-every-step", "event-pairs",
          "pageable-async"]


def has_gpu(test):
    return re.search(r"(?m)^cuda +cuda +\S+ +yes", test.run_ok("list").stdout)


class Pitfalls(CommandLineTest):
    def test_every_one_that_needs_no_gpu_is_measured(self):
        done = self.run_ok("pitfalls", "--grid", "24x16", "--budget", "0.3", "--json", "-")
        ours = parse_json(done.stdout)["diffbench"]  # and nothing else is on stdout
        self.assertEqual((ours["schema"], ours["experiment"]), (1, "pitfalls"))
        found = {entry["name"]: entry for entry in ours["pitfalls"]}
        self.assertEqual(list(found), ON_CPU + ON_GPU)
        for name in ON_CPU:
            with self.subTest(name):
                entry = found[name]
                self.assertEqual((entry["needs"], entry["status"], entry["reason"]),
                                 ("cpu", "ok", None))
                self.assertAlmostEqual(entry["factor"],
                                       entry["mistaken_seconds"] / entry["right_seconds"])
                self.assertGreaterEqual(len(entry["right_samples_seconds"]), 1)
                self.assertIn(entry["misleads"], (True, False, None))
                self.assertTrue(entry["explanation"] and entry["advice"])
        for name in ON_GPU:
            self.assertEqual(found[name]["needs"], "gpu")
            if found[name]["status"] != "ok":
                self.assertEqual(found[name]["status"], "skipped")
                self.assertTrue(found[name]["reason"])
                self.assertIsNone(found[name]["factor"])
        self.assertEqual(done.stderr, "")

    def test_the_samples_are_kept(self):
        self.run_ok("pitfalls", "--grid", "24", "--only", "lazy-expression", "--json", "out.json")
        result = parse_json(self.path("out.json").read_text())
        entry, = result["diffbench"]["pitfalls"]
        taken = [b["real_time"] * 1e-9 for b in samples_of(result)
                 if b["run_name"] == "pitfalls/lazy-expression/right/24x24"]
        self.assertEqual(len(taken), len(entry["right_samples_seconds"]))
        for ours, theirs in zip(entry["right_samples_seconds"], taken):
            self.assertAlmostEqual(ours, theirs)

    def test_the_table_says_what_was_chosen(self):
        done = self.run_ok("pitfalls", "--grid", "24", "--budget", "0.1",
                           "--only", "dead-code", "--only", "copies-timed")
        names = re.findall(r"(?m)^([a-z-]+) +[\d.]+ [num]?s +[\d.]+ [num]?s  ", done.stdout)
        self.assertEqual(names, ["copies-timed", "dead-code"])
        self.assertRegex(done.stdout.splitlines()[-1], r"^\d of 2 mistakes measured here mislead")

    def test_list_measures_nothing(self):
        done = self.run_ok("pitfalls", "--list")
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], ON_CPU + ON_GPU)
        self.assertRegex(done.stdout, r"(?m)^event-pairs +gpu  \S")

    def test_what_is_refused(self):
        for mentions, *arguments in [
                (["'nosuch'", "no-warm-up"], "--only", "nosuch"),
                (["'nosuch'"], "--only", "dead-code,nosuch"),
                (["'nosuch'"], "--list", "--only", "nosuch"),
                (["--list measures nothing"], "--list", "--json", "out.json"),
                (["--grid 0"], "--grid", "0"),
                (["--grid x"], "--grid", "x"),
                (["memory", "--grid"], "--grid", "1000000000"),
                (["--budget 0"], "--budget", "0"),
                (["--budget nan"], "--budget", "nan"),
                (["--iters"], "--iters", "3")]:
            with self.subTest(arguments):
                self.assert_refused(2, mentions, "pitfalls", *arguments)
        self.assert_refused(1, "nowhere", "pitfalls", "--json", "nowhere/out.json")

    def test_one_that_needs_a_gpu_is_not_replaced(self):
        if has_gpu(self):
            self.skipTest("this machine has a GPU")
        self.assert_refused(4, "event-pairs: ", "pitfalls", "--grid", "24", "--only", "event-pairs")


class Interrupted(CommandLineTest):
    def test_ctrl_c_keeps_what_was_measured(self):
        done = self.run_interrupted(r"\[=+ +\] +[1-9]\d* %", *"pitfalls --grid 2048 --budget 60".split(),
                                    "--json", "out.json")
        self.assertEqual(done.returncode, 130, done.stderr)
        result = parse_json(self.path("out.json").read_text())["diffbench"]
        self.assertIs(result["interrupted"], True)
        self.assertGreaterEqual(len(result["pitfalls"]), 1)
        self.assertLess(len(result["pitfalls"]), len(ON_CPU))
        self.assertIn("no-warm-up", done.stdout)


if __name__ == "__main__":
    unittest.main()
