# SPDX-License-Identifier: Apache-2.0
"""diffbench sweep through the program: its outputs and what it refuses."""
import unittest

from program import CommandLineTest, parse_json, samples_of

ROWS = ["--backend", "scalar,fused", "--baseline", "scalar", "--threads", "1"]
SMALL = ["sweep", "--grid", "8:32:x2", "--iters", "2,4", "--budget", "20", *ROWS]


class Sweep(CommandLineTest):
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

    def test_cross(self):
        self.refused("--cross scalar", "--cross", "scalar")
        self.refused("no row of this sweep is called simd", "--cross", "scalar,simd")
        self.refused("--cross scalar,scalar: give two different", "--cross", "scalar,scalar")


if __name__ == "__main__":
    unittest.main()
