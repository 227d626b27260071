# SPDX-License-Identifier: Apache-2.0
"""`diffbench mlp scaling`: its table, its result file, what it refuses."""
import unittest

from program import CommandLineTest, parse_json

SMALL = "mlp scaling --layers 784,16,10 --batch 20 --threads 1,2 --budget 2".split()


class MlpScaling(CommandLineTest):
    def test_result(self):
        done = self.run_ok(*SMALL, "--engine", "cpu", "--threads", "3",
                           "--json", "-")
        own = parse_json(done.stdout)["diffbench"]["mlp_scaling"]
        self.assertEqual([row["threads_asked"] for row in own["results"]], [1, 2, 3])
        for row in own["results"]:
            self.assertIs(row["verified"]["ok"], True)
            self.assertEqual(row["provenance"]["threads"], row["threads_asked"])
            self.assertGreater(row["efficiency"], 0)
            self.assertEqual(row["oversubscribed"], row["threads_asked"] > own["usable_cpus"])
        self.assertEqual(own["results"][0]["speedup"], 1)

    def test_table(self):
        """1 thread is always there."""
        text = self.run_ok(*SMALL[:-4], "--budget", "2", "--threads", "2").stdout
        self.assertRegex(text, r"(?m)^row +time .* peak memory +verified$")
        self.assertRegex(text, r"(?m)^cpu, 1 thread .* 1.00x +100 % .* yes$")
        self.assertRegex(text, r"(?m)^cpu, 2 threads.* yes$")
        self.assertIn("is not known", text)

    def test_refusals(self):
        for arguments, mention in [
                ("--layers 784", "--layers"),
                ("--batch 60001", "--batch 60001: there are 60000 rows"),
                ("--threads 0", "--threads 0"),
                ("--engine nosuch", "nosuch")]:
            with self.subTest(arguments):
                self.assert_refused(2, mention, "mlp", "scaling", *arguments.split())
        self.assert_refused(4, "--device 1000: ", "mlp", "scaling", "--device", "1000")


if __name__ == "__main__":
    unittest.main()
