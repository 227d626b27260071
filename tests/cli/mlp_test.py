# SPDX-License-Identifier: Apache-2.0
"""`diffbench mlp train`: the report, the result file, models kept and read again, bad input."""
import unittest

from program import CommandLineTest, parse_json
from toy_torch import EPOCHS

TRAIN = "mlp train --data disc --layers 2,4,8,16,2 --epochs 30 --batch 50".split()

REFUSED = [
    ("mlp", "name a verb of diffbench mlp: train, depth"),
    ("mlp nosuch", "nosuch: there is no such verb"),
    ("mlp train --layers 3,4,2", "3 inputs"),
    ("mlp train --layers 2,4,1", "1 outputs"),
    ("mlp train --layers 2,x", "2,x"),
    ("mlp train --lr nan", "--lr nan"),
    ("mlp train --lr -1", "--lr -1"),
    ("mlp train --optimizer rmsprop", "rmsprop"),
    ("mlp train --optimizer adam --momentum 0.9", "--momentum"),
    ("mlp train --batch 1001", "1001 rows"),
    ("mlp train --epochs 0", "--epochs 0"),
    ("mlp train --transfer mapped", "pageable or pinned"),
    ("mlp train --transfer nosuch", "nosuch"),
    ("mlp train --engine nosuch", "nosuch"),
    ("mlp train --data nosuch", "nosuch"),
    ("mlp train --data mnist --data-dir nowhere", "by --data-dir"),
    ("--grid 64 mlp train", "--grid"),
]


class MlpTrain(CommandLineTest):
    def test_engines_train_alike(self):
        done = self.run_ok(*TRAIN, "--engine", "scalar,cpu", "--json", "-")
        own = parse_json(done.stdout)["diffbench"]
        self.assertEqual(own["experiment"], "mlp_train")
        scalar, cpu = own["mlp_train"]["results"]
        self.assertEqual((scalar["engine"], cpu["engine"]), ("scalar", "cpu"))
        for engine in (scalar, cpu):
            self.assertEqual(engine["status"], "ok")
            self.assertEqual(len(engine["losses"]), 30)
            self.assertLess(engine["losses"][-1], engine["losses"][0] / 2)
            self.assertGreater(engine["test"]["accuracy"], 0.8)
            self.assertEqual(engine["test"]["macro"]["support"], 1000)
            self.assertGreater(engine["seconds_per_epoch"], 0)
        self.assertAlmostEqual(scalar["losses"][0], cpu["losses"][0], places=5)

    def test_an_emulated_engine_trains_alike_and_has_no_times(self):
        arguments = "mlp train --layers 2,4,8,2 --epochs 1 --batch 50 --engine".split()
        done = self.run_program(*arguments, "cpu,cuda", "--json", "-")
        if done.returncode == 4:  # there is no GPU, and the build is not the emulated one
            self.assertIn("cuda", done.stderr)
            return
        own = parse_json(done.stdout)
        cpu, cuda = own["diffbench"]["mlp_train"]["results"]
        self.assertAlmostEqual(cpu["losses"][0], cuda["losses"][0], places=4)
        if cuda["device"] == "emulated":
            self.assertIsNone(cuda["seconds_per_epoch"])
            self.assertIsNone(cuda["phases"])
            self.assertFalse([row for row in own["benchmarks"] if "cuda" in row["name"]])
            self.assertIn("emulated", self.run_ok(*arguments, "cuda").stdout)

    def test_the_table_has_the_classification_report(self):
        text = self.run_ok(*TRAIN, "--engine", "cpu").stdout
        for words in ("time/epoch", "precision", "weighted average", "test rows"):
            self.assertIn(words, text)

    def test_pytorch_beside_it_is_judged_alike(self):
        # So few steps that another start or another order of the rows gives 16 errors and more.
        arguments = ("mlp train --layers 2,16,2 --epochs 2 --lr 0.5 --batch 10 --engine cpu "
                     "--threads 1 --peer torch").split()
        env = self.torch_by(EPOCHS, "torch_train")
        own = parse_json(self.run_ok(*arguments, "--json", "-", env=env).stdout)["diffbench"]
        cpu, peer = own["mlp_train"]["results"]
        self.assertEqual(peer["engine"], "peer:torch, 1 thread")
        self.assertEqual((peer["losses"], peer["phases"]), ([], None))
        self.assertGreater(peer["seconds_per_epoch"], 0)
        for rows in ("train", "test"):  # the same steps, but for rounding
            self.assertLess(cpu[rows]["errors"], 10)
            self.assertLessEqual(abs(peer[rows]["errors"] - cpu[rows]["errors"]), 2)
        text = self.run_ok(*arguments, env=env).stdout
        self.assertRegex(text, r"(?m)^cpu, test rows +precision")
        self.assertRegex(text, r"(?m)^peer:torch, 1 thread, test rows +precision")

    def test_pytorch_that_dies_loses_nothing_else(self):
        dies = EPOCHS.replace("self.step += 1\n\nPeer", "__import__('os')._exit(3)\n\nPeer")
        done = self.run_program(*TRAIN, *"--engine cpu --peer torch --threads 1 --json -".split(),
                                env=self.torch_by(dies, "torch_train"))
        self.assertEqual(done.returncode, 1, done.stderr)
        cpu, peer = parse_json(done.stdout)["diffbench"]["mlp_train"]["results"]
        self.assertEqual((cpu["status"], peer["status"]), ("ok", "failed"))
        self.assertIn("status 3", peer["reason"])

    def test_the_ledger_adds_up_to_the_wall_time(self):
        done = self.run_ok(*TRAIN, "--engine", "scalar,cpu", "--threads", "2", "--json", "-")
        for engine in parse_json(done.stdout)["diffbench"]["mlp_train"]["results"]:
            ledger = engine["ledger"]
            self.assertIsNone(ledger.pop("device"))
            wall = ledger.pop("wall")
            self.assertAlmostEqual(sum(ledger.values()) / wall, 1, places=9)
            self.assertGreater(min(ledger["forward"], ledger["backward"], ledger["data"]), 0)
            self.assertEqual(ledger["update"] > 0, engine["engine"] == "scalar")
        text = self.run_ok(*TRAIN, "--engine", "cpu").stdout
        self.assertIn("The update is within backward: cpu.", text)

    def test_batches_gathered_ahead_are_the_same(self):
        done = self.run_ok(*TRAIN, *"--engine cpu --async --transfer pinned --json -".split())
        own = parse_json(done.stdout)["diffbench"]
        in_turn, ahead = own["mlp_train"]["results"]
        self.assertEqual((in_turn["async"], ahead["async"]), (False, True))
        self.assertEqual(in_turn["losses"], ahead["losses"])
        self.assertEqual(in_turn["test"], ahead["test"])
        notes = " ".join(own["notes"])
        self.assertIn("--transfer has no effect", notes)
        self.assertIn("cpu: with its batches gathered ahead an epoch is", notes)

    def test_bad_input_is_refused_in_one_line(self):
        for arguments, named in REFUSED:
            with self.subTest(arguments):
                self.assert_refused(2, named, *arguments.split())

    def test_outputs_that_cannot_be_written_are_refused_first(self):
        self.assert_refused(1, "nowhere", *TRAIN, "--json", "nowhere/out.json")


if __name__ == "__main__":
    unittest.main()
