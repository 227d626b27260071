# SPDX-License-Identifier: Apache-2.0
"""`diffbench cluster`: ranks as threads, an emulated network, and the model."""
import math
import os
import unittest

from program import CommandLineTest, parse_json

QUICK = "--grid 48x40 --iters 20 --budget 20".split()
NOTCHES = [1, 2, 4, 8, 16, 32, 64]


class Cluster(CommandLineTest):
    def cluster(self, *arguments):
        """Text, and the experiment's data."""
        done = self.run_ok("cluster", *arguments, "--no-progress", "--json", "cluster.json")
        self.assertEqual([line for line in done.stderr.splitlines() if "--threads 8: this process may" not in line],
                         ["diffbench: wrote cluster.json"])
        result = parse_json(self.path("cluster.json").read_text())["diffbench"]
        self.assertEqual(result["experiment"], "cluster")
        return done.stdout, result["cluster"]

    def assert_verified(self, data):
        for row in data["results"]:
            self.assertIs(row["verified"]["bitwise"], True, row)

    def test_strong(self):
        text, data = self.cluster("strong", *QUICK, "--threads", "1", "--ranks", "1,2")
        self.assertEqual([row["ranks"] for row in data["results"]], [0, 1, 2])
        self.assert_verified(data)
        self.assertEqual([len(row["profile"]) for row in data["results"]], [0, 1, 2])
        one = data["results"][1]
        self.assertGreater(one["seconds_per_step"], 0)
        self.assertEqual(one["wait_seconds"], 0)
        self.assertRegex(text, r"(?m)^without +1 ")
        self.assertRegex(text, r"(?m)^2 +1 +\d+ ")

    def test_weak_grows_the_grid(self):
        _, data = self.cluster("weak", *QUICK, "--threads", "1", "--ranks", "1,2", "--halo-depth", "5")
        self.assertEqual([(row["ranks"], row["ny"]) for row in data["results"]],
                         [(0, 40), (1, 40), (2, 80)])
        self.assertEqual(data["results"][2]["halo_depth"], 5)
        self.assert_verified(data)

    def test_oversubscribed_ranks_have_no_time(self):
        text, data = self.cluster("strong", "--grid", "8x128", "--iters", "10", "--budget", "20",
                                  "--ranks", "64", "--threads", "8")
        row = data["results"][1]
        self.assertIs(row["oversubscribed"], True)
        self.assertIsNone(row["seconds_per_step"])
        self.assertIsNone(row["efficiency"])
        self.assert_verified(data)
        self.assertIn("oversubscribed: correctness only", text)

    def test_depth_beside_the_model(self):
        text, data = self.cluster("depth", *QUICK, "--threads", "1", "--network", "50us,1GB/s",
                                  "--boundary", "neumann")
        ranked = [row for row in data["results"] if row["ranks"] == 2]
        self.assertEqual([row["halo_depth"] for row in ranked], [d for d in NOTCHES if d <= 20])
        self.assert_verified(data)
        self.assertIn("emulated network 50us,1GB/s", data["transport"])
        exchange, row_bytes = data["exchange"], 48 * 4
        for row in ranked:
            depth, pace = row["halo_depth"], max(rank["pace_seconds"] for rank in row["profile"])
            self.assertGreater(pace, 0)
            self.assertTrue(math.isclose(
                row["modelled_seconds"],
                pace + exchange["seconds"] / depth + exchange["seconds_per_byte"] * row_bytes, rel_tol=1e-9), row)
        self.assertRegex(text, r"Halos of \d+ rows are the best, .* The model, .* says \d+, and")

    def test_predictions_are_the_formula(self):
        for weak in (False, True):
            text, data = self.cluster("predict", "--grid", "4096x2048", "--dtype", "float64", "--rate", "100",
                                      "--network", "3us,20GB/s", "--ranks", "1,4,128", *["--weak"] * weak)
            self.assertIs(data["assumed"], True)
            for row in data["results"]:
                ranks, rows = row["ranks"], 2048 if weak else 2048 / row["ranks"]
                self.assertEqual(row["ny"], 2048 * ranks if weak else 2048)
                seconds = {1: rows * 4096 / 100e9} if ranks == 1 else {
                    depth: (rows + 2 * depth) * 4096 / 100e9 + 2 * (3e-6 / depth + 4096 * 8 / 20e9)
                    for depth in NOTCHES if depth <= rows}
                best = min(seconds, key=seconds.get)
                self.assertTrue(math.isclose(row["seconds_per_step"], seconds[best], rel_tol=1e-12))
                self.assertEqual(row["halo_depth"], best if ranks > 1 else None)
                self.assertIsNone(row["measured_seconds"])
            self.assertIn("assumed: 100 GCell/s a rank, network 3us,20GB/s", text)
            self.assertIn("if what is assumed holds", text)

    def test_ranks_double(self):
        _, data = self.cluster("predict", "--grid", "4096", "--rate", "100", "--network", "3us,20GB/s",
                               "--ranks", "1:1000:x2")
        self.assertEqual([row["ranks"] for row in data["results"]], [2 ** i for i in range(10)])

    def test_predictions_stand_beside_measurements(self):
        """Where so many ranks have a CPU each."""
        text, data = self.cluster("predict", *QUICK, "--ranks", "1,2,16")
        self.assertIs(data["assumed"], False)
        self.assertIn("measured here", text)
        one, two, many = data["results"]
        self.assertIsNone(one["measured_seconds"])
        cpus = len(os.sched_getaffinity(0))
        for row in (two, many):
            if row["ranks"] <= cpus:
                error = row["seconds_per_step"] / row["measured_seconds"] - 1
                self.assertTrue(math.isclose(row["error"], error, rel_tol=1e-9))
            else:
                self.assertIsNone(row["measured_seconds"])
                self.assertIsNone(row["error"])

    def test_refusals(self):
        for mentions, arguments in [
                ("--network", ["depth", "--network", "10us"]),
                ("--network", ["depth", "--network", "10us,0GB/s"]),
                ("give one number", ["depth", "--ranks", "2,4"]),
                ("--ranks", ["strong", "--ranks", "0"]),
                ("--ranks", ["strong", "--ranks", "two"]),
                ("--ranks 512: give a whole number from 1 to 256", ["strong", "--ranks", "512"]),
                ("too many for 40 rows", ["strong", *QUICK, "--ranks", "21"]),
                ("too many for 40 rows", ["predict", *QUICK, "--ranks", "1,64"]),
                ("deeper than the smallest rank", ["strong", *QUICK, "--ranks", "2", "--halo-depth", "21"]),
                ("--rate needs --network", ["predict", "--rate", "10"]),
                ("--rate", ["predict", "--rate", "0", "--network", "1us,1GB/s"]),
                ("--rate", ["predict", "--rate", "nan", "--network", "1us,1GB/s"])]:
            with self.subTest(" ".join(arguments)):
                self.assert_refused(2, mentions, "cluster", *arguments)


if __name__ == "__main__":
    unittest.main()
