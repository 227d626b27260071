# SPDX-License-Identifier: Apache-2.0
"""diffbench transfer: what it writes and shows."""
import json
import unittest

from program import CommandLineTest, parse_json, samples_of

# A few hundred milliseconds.
QUICK = "transfer --max-size 64K --step 4 --threads 2 --budget 6".split()


class Measuring(CommandLineTest):
    @classmethod
    def setUpClass(cls):
        run = CommandLineTest()
        run.setUp()
        cls.addClassCleanup(run.doCleanups)
        done = run.run_ok(*QUICK, "--json", "out.json")
        cls.table = done.stdout
        cls.result = parse_json(run.path("out.json").read_text())
        cls.transfer = cls.result["diffbench"]["transfer"]

    def test_every_way_at_every_size(self):
        curves = {(c["way"], c["threads"]): c for c in self.transfer["host"]["curves"]}
        self.assertEqual(set(curves), {("loop", 1), ("memcpy", 1), ("streaming", 1),
                                       ("memcpy", 2), ("streaming", 2)})
        for curve in curves.values():
            self.assertEqual([p["bytes"] for p in curve["points"]], [1024, 4096, 16384, 65536])
            for point in curve["points"]:
                self.assertIs(point["verified"], True)
                self.assertGreaterEqual(len(point["samples_seconds"]), 3)
                self.assertTrue(all(seconds > 0 for seconds in point["samples_seconds"]))

    def test_every_sample_is_an_entry(self):
        entries = [e for e in samples_of(self.result)
                   if e["name"] == "transfer/host/memcpy/4096"]
        point = next(c for c in self.transfer["host"]["curves"]
                     if (c["way"], c["threads"]) == ("memcpy", 1))["points"][1]
        self.assertEqual(len(entries), len(point["samples_seconds"]))
        for entry, seconds in zip(entries, point["samples_seconds"]):
            self.assertAlmostEqual(entry["real_time"] * entry["iterations"], 1e9 * seconds, delta=1)

    def test_the_table_shows_the_host_and_why_a_gpu_has_no_times(self):
        self.assertIn("copies within the host's memory", self.table)
        self.assertIn("memcpy against the loop", self.table)
        self.assertTrue("skipped: copies to and from a GPU: " in self.table
                        or "is an emulation" in self.table, self.table)

    def test_json_on_stdout_is_all_there_is(self):
        done = self.run_ok(*QUICK, "--no-progress", "--json", "-")
        self.assertEqual(parse_json(done.stdout)["diffbench"]["experiment"], "transfer")
        self.assertEqual(done.stderr, "")

    def test_ctrl_c_keeps_what_was_measured(self):
        done = self.run_interrupted(r"host copies \[[= ]+\] +[1-9]\d* %",
                                    *"transfer --max-size 1M --budget 20".split(), "--json", "out.json")
        self.assertEqual(done.returncode, 130, done.stderr)
        self.assertIn("interrupted", done.stderr)
        result = parse_json(self.path("out.json").read_text())["diffbench"]
        self.assertIs(result["interrupted"], True)
        self.assertGreater(len(result["transfer"]["host"]["curves"][0]["points"]), 0)

    def test_bad_options(self):
        for mentions, *options in [
                ("--max-size 5Q", "--max-size", "5Q"), ("--max-size", "--max-size", "K"),
                ("--max-size 1", "--max-size", "1"), ("--max-size", "--max-size", "-4K"),
                ("--max-size 9999G", "--max-size", "9999G"), ("memory", "--max-size", "1024G"),
                ("--step 1", "--step", "1"), ("--threads 0", "--threads", "0"),
                ("--budget 0", "--budget", "0"), ("--budget nan", "--budget", "nan"),
                ("--device -1", "--device", "-1")]:
            with self.subTest(options=options):
                self.assert_refused(2, mentions, "transfer", *options)
        self.assert_refused(4, "--device 1000", "transfer", "--device", "1000")
        self.assert_refused(1, "nowhere", *QUICK, "--json", "nowhere/out.json")


if __name__ == "__main__":
    unittest.main()
