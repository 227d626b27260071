# SPDX-License-Identifier: Apache-2.0
"""`diffbench mlp throughput`: its curve, its result file, what it refuses. What ends the search, out
of memory too, is in the unit tests."""
import unittest

from program import CommandLineTest, parse_json, samples_of

SMALL = "mlp throughput --layers 20,10,3 --most-batch 8 --engine cpu --budget 60".split()


class MlpThroughput(CommandLineTest):
    def test_result(self):
        for mode in ("forward", "train"):
            flags = ["--train"] if mode == "train" else []
            result = parse_json(self.run_ok(*SMALL, *flags, "--json", "-").stdout)
            own = result["diffbench"]["mlp_throughput"]
            self.assertEqual(own["mode"], mode)
            (row,) = own["results"]
            self.assertIs(row["verified"]["ok"], True)
            self.assertEqual(row["verified_to"], 8)
            batches = [point["batch"] for point in row["curve"]]
            self.assertEqual(batches, sorted(set(batches)))
            self.assertTrue({1, 2, 4, 8} <= set(batches))
            best = max(row["curve"], key=lambda point: point["rows_per_second"])
            self.assertEqual(row["best_batch"], best["batch"])
            if row["enough_batch"] is not None:  # the samples may leave it open
                self.assertLessEqual(row["enough_batch"], best["batch"])
            self.assertEqual(len(samples_of(result)),
                             sum(len(point["samples"]) for point in row["curve"]))

    def test_table(self):
        text = self.run_ok(*SMALL, "--first-batch", "4").stdout
        self.assertRegex(text, r"(?m)^batch +cpu +fastest$")
        self.assertRegex(text, r"(?m)^8 +[\d.]+")
        self.assertNotRegex(text, r"(?m)^2 ")
        self.assertIn("ended by the largest batch that was asked for", text)

    def test_refusals(self):
        for arguments, mention in [
                ("--layers 784", "--layers"),
                ("--most-batch 0", "--most-batch 0"),
                ("--first-batch 9 --most-batch 8", "--most-batch 8"),
                ("--threads 0", "--threads 0"),
                ("--budget -1", "--budget -1"),
                ("--engine nosuch", "nosuch")]:
            with self.subTest(arguments):
                self.assert_refused(2, mention, "mlp", "throughput", *arguments.split())
        self.assert_refused(4, "--device 1000: ", "mlp", "throughput", "--device", "1000")


if __name__ == "__main__":
    unittest.main()
