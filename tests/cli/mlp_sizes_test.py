# SPDX-License-Identifier: Apache-2.0
"""`diffbench mlp depth` and `mlp width`: tables, result file, peers that are right, wrong, dead or
missing, refusals. The peers here are scripts of the test's own: PyTorch takes seconds to load."""
import os
import unittest

from program import SOME_TIMING, CommandLineTest, parse_json, samples_of
from toy_torch import STEPS as RIGHT

DEPTH = "mlp depth --last 4,16 --engine cpu --threads 1 --budget 2".split()

WRONG = RIGHT.replace("delta /= len(y)", "delta /= len(y) + 1")
SHORT = RIGHT.replace(".reshape(1, -1)\n", ".reshape(1, -1)[:, 1:]\n")
DIES = RIGHT.replace("self.step += 1", "__import__('os')._exit(3)")
FAILS = RIGHT.replace("self.step += 1", "raise MemoryError('no room')")


class Sizes(CommandLineTest):
    def rows(self, done, verb="depth"):
        own = parse_json(done.stdout)["diffbench"]
        self.assertEqual(own["experiment"], f"mlp_{verb}")
        return {(point["size"], row["row"]): row
                for point in own[f"mlp_{verb}"]["points"] for row in point["rows"]}

    def test_depth(self):
        done = self.run_ok(*DEPTH, "--json", "-")
        result = parse_json(done.stdout)
        points = result["diffbench"]["mlp_depth"]["points"]
        self.assertEqual([point["layers"] for point in points], [[2, 4, 2], [2, 4, 8, 16, 2]])
        self.assertEqual([point["parameters"] for point in points], [22, 230])
        for point in points:
            (row,) = point["rows"]
            self.assertEqual((row["row"], row["status"]), ("cpu, 1 thread", "ok"))
            self.assertIs(row["verified"]["ok"], True)
            self.assertAlmostEqual(row["seconds_100_epochs"], 1000 * row["seconds_per_step"])
        self.assertEqual(len(samples_of(result)),
                         sum(len(p["rows"][0]["samples"]) for p in points))
        self.assertEqual({b["name"] for b in samples_of(result)},
                         {"mlp/depth/2-4-2/cpu, 1 thread", "mlp/depth/2-4-8-16-2/cpu, 1 thread"})
        self.assertIn("cpu is the fastest at T = 4, 16; ", result["diffbench"]["sentence"])

    def test_width_table(self):
        text = self.run_ok(*"mlp width --hidden 20,10 --engine scalar,cpu --threads 1,2 --budget 2 "
                           "--optimizer adam".split()).stdout
        self.assertRegex(text, r"(?m)^N +parameters .* cpu, 1 thread +cpu, 2 threads ")
        self.assertRegex(text, r"(?m)^10 +162 .* (cpu|scalar)\b.*$")
        self.assertRegex(text, r"(?m)^20 +522 .* (cpu|scalar)\b.*$")
        self.assertIn("not measured: no row ran on one", text)
        self.assertRegex(text, r"(?m)^spread, N +scalar")

    def test_all_rows_run_with_the_same_threads(self):
        rows = self.rows(self.run_ok(*"mlp width --hidden 10 --budget 2 --peer torch".split(), "--json", "-",
                                     env=self.torch_by(RIGHT, "torch_mlp")), "width")
        threads = {}
        for (_, name), row in rows.items():
            if row["device"] == "cpu":
                threads.setdefault(name.split(", ")[0], set()).add(row["threads_asked"])
        self.assertEqual(set(threads), {"cpu", "cpu_xtensor", "peer:torch"})
        self.assertEqual(len(set(map(frozenset, threads.values()))), 1, threads)

    def test_peer_that_is_right(self):
        rows = self.rows(self.run_ok(*DEPTH, "--peer", "torch", "--json", "-",
                                     env=self.torch_by(RIGHT, "torch_mlp")))
        for size in (4, 16):
            peer = rows[size, "peer:torch, 1 thread"]
            self.assertIs(peer["verified"]["ok"], True)
            self.assertEqual(peer["provenance"]["toy"], "1")
            self.assertGreater(peer["seconds_per_step"], 0)

    def test_peer_that_is_wrong_has_no_time(self):
        done = self.run_program(*DEPTH, "--peer", "torch", "--json", "-", env=self.torch_by(WRONG, "torch_mlp"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("peer:torch, 1 thread", done.stderr)
        rows = self.rows(done)
        self.assertIs(rows[16, "peer:torch, 1 thread"]["verified"]["ok"], False)
        self.assertEqual(rows[16, "peer:torch, 1 thread"]["samples"], [])
        self.assertGreater(rows[16, "cpu, 1 thread"]["seconds_per_step"], 0)

    def test_peer_that_fails_loses_nothing_else(self):
        for script, words in ((SHORT, "another size"), (FAILS, "MemoryError: no room"),
                              (DIES, "status 3")):
            with self.subTest(words):
                done = self.run_program(*DEPTH, "--peer", "torch", "--json", "-",
                                        env=self.torch_by(script, "torch_mlp"))
                self.assertEqual(done.returncode, 1, done.stderr)
                rows = self.rows(done)
                failed = [r["reason"] for r in rows.values() if r["status"] == "failed"]
                self.assertTrue(all(words in reason for reason in failed) and failed, failed)
                self.assertGreater(rows[16, "cpu, 1 thread"]["seconds_per_step"], 0)

    def test_peer_that_cannot_run_is_refused(self):
        self.assert_refused(4, "python3-torch", *DEPTH, "--peer", "torch",
                            env={"DIFFBENCH_PYTHON": "/bin/false"})
        self.assert_refused(4, "DIFFBENCH_PEERS", *DEPTH, "--peer", "torch",
                            env={"DIFFBENCH_PEERS": os.devnull})

    def test_pytorch_itself(self):
        """With the network on this machine's PyTorch; and the GPU's script, with the CPU as device."""
        self.need_torch()
        done = self.run_ok(*DEPTH, "--peer", "torch,torch_cuda", "--quality", "--json", "-",
                           env={"DIFFBENCH_PEER_DEVICE": "cpu"})
        rows = self.rows(done)
        for name in ("peer:torch, 1 thread", "peer:torch_cuda, 1 thread"):
            self.assertIs(rows[16, name]["verified"]["ok"], True)
            # Equal quality from the same parameters. To the sample it is the figures' to show.
            self.assertLess(abs(rows[16, name]["train_errors"] - rows[16, "cpu, 1 thread"]["train_errors"]), 5)

    def test_ctrl_c_keeps_the_sizes_that_were_measured(self):
        done = self.run_interrupted(
            SOME_TIMING, *"mlp depth --last 256:2048:x2 --engine cpu --threads 1 --budget 600".split(),
            "--json", "out.json")
        self.assertEqual(done.returncode, 130, done.stderr)
        result = parse_json(self.path("out.json").read_text())["diffbench"]
        self.assertIs(result["interrupted"], True)
        self.assertGreaterEqual(len(result["mlp_depth"]["points"][0]["rows"][0]["samples"]), 1)

    def test_refusals(self):
        for arguments, mention in [
                ("depth --last 5", "--last: a doubling net ends in a power of two"),
                ("depth --last 4:16", "--last 4:16"),
                ("depth --last 0", "--last 0"),
                ("depth --last x", "--last x"),
                ("width --hidden 99999999", "--hidden 99999999"),
                ("width --hidden 1:9999:+1", "1000"),
                ("depth --batch 1001", "1000 rows"),
                ("depth --batch 0", "--batch 0"),
                ("depth --budget 0", "--budget 0"),
                ("depth --budget nan", "--budget nan"),
                ("depth --threads 0", "--threads 0"),
                ("depth --lr nan", "--lr nan"),
                ("depth --engine nosuch", "nosuch"),
                ("depth --peer numpy", "torch"),
                ("depth extra", "extra")]:
            with self.subTest(arguments):
                self.assert_refused(2, mention, "mlp", *arguments.split())
        self.assert_refused(4, "--device 1000: ", "mlp", "depth", "--last", "4", "--device", "1000")
        self.assert_refused(1, "nowhere", *DEPTH, "--json", "nowhere/out.json")
        self.assert_refused(1, "not finite", *DEPTH, "--lr", "1e30")


if __name__ == "__main__":
    unittest.main()
