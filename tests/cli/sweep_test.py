# SPDX-License-Identifier: Apache-2.0
"""diffbench sweep through the program: its outputs, Ctrl-C and --resume, and what it refuses."""
import json
import signal
import subprocess
import time
import unittest

from program import PROGRAM, CommandLineTest, parse_json, samples_of

ROWS = ["--backend", "scalar,fused", "--baseline", "scalar", "--threads", "1"]
SMALL = ["sweep", "--grid", "8:32:x2", "--iters", "2,4", "--budget", "20", *ROWS]
# A hundred combinations of some 10 ms each.
HUNDRED = ["sweep", "--grid", "31:40:+1", "--iters", "1000:1009:+1", "--budget", "1",
           "--backend", "scalar", "--out", "sweep.jsonl"]
OTHER = ["2" if word == "1" else word for word in HUNDRED]


class Sweep(CommandLineTest):
    def lines(self):
        return [json.loads(line) for line in self.path("sweep.jsonl").read_text().splitlines()]

    def test_table_and_crossover_of_two_rows(self):
        text = self.run_ok(*SMALL, "--cross", "scalar,fused").stdout
        self.assertIn("sweep of 6 combinations: 3 grid x 2 iters", text)
        self.assertRegex(text, r"(?m)^32 +4 +[\d.]+ [nu]s +[\d.]+ [nu]s +(scalar|fused)$")
        self.assertIn("from where fused wins", text)
        self.assertRegex(text.splitlines()[-1], r"^fused is (not )?faster than scalar ")

    def test_without_a_gpu_it_says_that_there_is_no_crossover(self):
        self.assertIn("No GPU row has a time", self.run_ok(*SMALL).stdout)

    def test_it_names_the_slow_rows_that_it_leaves_out(self):
        some = "sweep --grid 8 --iters 2 --budget 0.5".split()
        words = "note: left out, because it is slow and for teaching"
        text = self.run_ok(*some, "--baseline", "scalar").stdout
        self.assertIn(words, text)
        self.assertNotIn("\nthrust_host_roll", text)
        self.assertNotIn(words, self.run_ok(*some, "--all").stdout)

    def test_json(self):
        result = parse_json(self.run_ok(*SMALL, "--dtype", "float32,float64", "--json", "-").stdout)
        sweep = result["diffbench"]["sweep"]
        self.assertEqual(sweep["axes"], {"grid": ["8", "16", "32"], "iters": ["2", "4"],
                                         "dtype": ["float32", "float64"]})
        self.assertEqual(len(sweep["points"]), 12)
        for point in sweep["points"]:
            for row in point["result"]["results"]:
                self.assertIs(row["verified"]["bitwise"], True)
        names = {entry["name"] for entry in samples_of(result)}
        self.assertEqual(len(names), 24)

    def test_interrupted_and_resumed_measures_nothing_twice_and_loses_nothing(self):
        child = subprocess.Popen([PROGRAM, *HUNDRED], cwd=self.directory, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        limit = time.monotonic() + 60
        file = self.path("sweep.jsonl")
        while not file.exists() or file.read_bytes().count(b"\n") < 20:
            self.assertLess(time.monotonic(), limit)
            self.assertIsNone(child.poll(), "it ended before it could be interrupted")
            time.sleep(0.005)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130, err)
        written, last = err.splitlines(keepends=True)
        self.assertEqual(written, "diffbench: wrote sweep.jsonl\n")
        self.assert_one_line(last, "interrupted")
        self.assertIn("--resume goes on", out)
        kept = file.read_bytes()
        self.assertLess(len(self.lines()), 101)

        # A kill may cut a line off.
        file.write_bytes(kept + b'{"values":["40","10')
        done = self.run_ok(*HUNDRED, "--resume", "--json", "out.json")
        self.assertIn("sweep of 100 combinations", done.stdout)
        self.assertTrue(file.read_bytes().startswith(kept), "what was measured was written again")
        values = [tuple(line["values"]) for line in self.lines()[1:]]
        self.assertEqual(len(values), 100)
        self.assertEqual(set(values), {(str(grid), str(iters)) for grid in range(31, 41)
                                       for iters in range(1000, 1010)})
        result = parse_json(self.path("out.json").read_text())
        self.assertEqual(len(result["diffbench"]["sweep"]["points"]), 100)

        self.assert_refused(2, ["sweep.jsonl", "--resume --json"], "compare", "sweep.jsonl", "out.json")

        # Nothing is left to do, and other options are another sweep.
        self.run_ok(*HUNDRED, "--resume")
        self.assert_refused(2, ["--budget", "1", "2"], *OTHER, "--resume")
        self.assert_refused(2, "--resume", *HUNDRED)


class BadInput(CommandLineTest):
    def refused(self, mentions, *arguments):
        self.assert_refused(2, mentions, "sweep", *ROWS, *arguments)

    def test_ranges(self):
        self.refused("backwards", "--grid", "256:64:x2")
        self.refused("LO:HI:xFACTOR", "--grid", "64:256")
        self.refused("no end", "--iters", "1:10:+0")
        self.refused("empty", "--iters", "1,,10")
        self.refused("1000000000 combinations", "--iters", "1:1000000000:+1")
        self.refused("more than 10^15 combinations", "--dt", "0.1:1e300:+1e-300")
        self.refused("20000 combinations", "--grid", "64:163:+1", "--iters", "1:200:+1")

    def test_values(self):
        self.refused("--grid 2: ", "--grid", "64,2")
        self.refused("--dtype", "--dtype", "float32,float16")
        self.refused("memory", "--grid", "64,999999999")

    def test_files(self):
        self.refused("--out", "--resume")
        self.refused("there is no", "--resume", "--out", "none.jsonl")
        self.assert_refused(1, "nowhere", "sweep", *ROWS, "--out", "nowhere/s.jsonl", "--grid", "8")
        for device in ("/dev/full", "/dev/null"):  # the first has no end
            self.refused("not a regular file", "--out", device, "--grid", "8")
        self.path("other.jsonl").write_text('{"diffbench_sweep":{"schema":1}}\n')
        self.refused("another sweep", "--resume", "--out", "other.jsonl")
        self.path("text").write_text("not JSON\n")
        self.refused("has not written it", "--resume", "--out", "text")
        self.path("text").write_text('{"diffbench_sweep" no JSON\n')
        self.refused("line 1", "--resume", "--out", "text")

    def test_cross(self):
        self.refused("--cross scalar", "--cross", "scalar")
        self.refused("no row of this sweep is called simd", "--cross", "scalar,simd")
        self.refused("--cross scalar,scalar: give two different", "--cross", "scalar,scalar")


if __name__ == "__main__":
    unittest.main()
