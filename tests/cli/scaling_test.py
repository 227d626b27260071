# SPDX-License-Identifier: Apache-2.0
"""diffbench scaling: its table, its result file, what it refuses, and Ctrl-C."""
import unittest

from program import SOME_TIMING, CommandLineTest, parse_json, samples_of

SMALL = "scaling --grid 24x16 --iters 20 --budget 20 --threads 1,2".split()


class Scaling(CommandLineTest):
    def test_strong(self):
        done = self.run_ok(*SMALL, "--json", "-", "--threads", "3", "--assume", "a100")  # the list goes on
        result = parse_json(done.stdout)
        own = result["diffbench"]["scaling"]
        self.assertEqual([(row["backend"], row["assumed"]) for row in own["assumed"]["rows"]],
                         [("cuda", "a100")])
        self.assertIn("Assumed, not measured (a100): ", result["diffbench"]["sentence"])
        self.assertEqual(own["mode"], "strong")
        self.assertEqual([row["threads_asked"] for row in own["results"]], [1, 2, 3])
        for row in own["results"]:
            self.assertIs(row["verified"]["bitwise"], True)
            self.assertEqual(row["threads"], row["threads_asked"])
            self.assertGreater(row["efficiency"], 0)
            self.assertEqual(row["oversubscribed"], row["threads"] > own["usable_cpus"])
        self.assertEqual(own["results"][0]["speedup"], 1)
        self.assertIn(own["recommended_threads"], [1, 2, 3])
        self.assertEqual(len(samples_of(result)),
                         sum(len(row["samples_seconds"]) for row in own["results"]))
        self.assertEqual({b["name"] for b in samples_of(result)},
                         {f"scaling/simd, {n}/float32/24x16"
                          for n in ("1 thread", "2 threads", "3 threads")})

    def test_weak_table(self):
        table = self.run_ok(*SMALL, "--weak").stdout
        self.assertRegex(table, r"(?m)^row +grid +time .* speed-up ")
        self.assertRegex(table, r"(?m)^simd, 1 thread +24x16 .* yes$")
        self.assertRegex(table, r"(?m)^simd, 2 threads.* 24x32 .* yes$")
        self.assertRegex(table.splitlines()[-1], r"^simd is fastest on \d threads?")

    def test_weak_passes_have_samples_of_one_length(self):
        result = parse_json(self.run_ok(*"scaling --grid 128 --iters 20000 --weak".split(),
                                        *"--budget 2 --threads 1,2 --json -".split()).stdout)
        for row in result["diffbench"]["scaling"]["results"]:
            own = [b for b in samples_of(result) if f", {row['threads_asked']} t" in b["name"]]
            self.assertEqual(len(own), len(row["samples_seconds"]))
            self.assertEqual({b["iterations"] for b in own}, {row["iterations_per_sample"]})
            self.assertLess(row["iterations_per_sample"], 20000)  # or all samples are whole runs

    def test_refusals(self):
        for arguments, mention in [
                ("--threads 0", "--threads 0"),
                ("--threads 1,two", "--threads two"),
                ("--threads 1:4", "--threads 1:4"),
                ("--backend fused", "choose one of"),
                ("--backend nosuch", "nosuch"),
                ("--weak --init field.npy", "--init field.npy"),
                ("--weak --device 0", "--device"),
                ("--grid 99999999", "99999999"),
                ("--budget 0", "--budget 0"),
                ("extra", "extra")]:
            with self.subTest(arguments):
                self.assert_refused(2, mention, "scaling", *arguments.split())
        self.assert_refused(1, "nowhere", *SMALL, "--json", "nowhere/out.json")
        self.assert_refused(4, "--device 999: ", *SMALL, "--device", "999")

    def test_ctrl_c_keeps_what_was_measured(self):
        done = self.run_interrupted(
            SOME_TIMING, *"scaling --grid 256 --iters 30000 --budget 4 --threads 1".split(),
            "--json", "out.json")
        self.assertEqual(done.returncode, 130, done.stderr)
        result = parse_json(self.path("out.json").read_text())["diffbench"]
        self.assertIs(result["interrupted"], True)
        self.assertGreaterEqual(len(result["scaling"]["results"][0]["samples_seconds"]), 1)
        self.assertRegex(done.stdout, r"(?m)^simd, 1 thread .* yes( after \d+ steps)?$")


if __name__ == "__main__":
    unittest.main()
