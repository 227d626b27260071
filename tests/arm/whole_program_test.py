# SPDX-License-Identifier: Apache-2.0
"""The program on another processor, emulated: the comparison, networks, ranks, and users' code. Right or not is all
that is asked: an emulator's times say nothing."""
import os
import pathlib
import unittest

from program import CommandLineTest, parse_json

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Threads that wait for one another do not spin: there are more of them than CPUs.
CALM = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "2"}
COMPILER = ("--compiler", os.environ["DIFFBENCH_COMPILER"])
# As by default, but for -march=native, which a cross compiler does not know.
FLAGS = ("--flags", "-O3 -ffp-contract=off -fopenmp")


class WholeProgram(CommandLineTest):
    def run_data(self, *arguments, exit_code=0):
        done = self.run_program(*arguments, "--json", "-", env=CALM)
        self.assertEqual(done.returncode, exit_code, done.stderr)
        return parse_json(done.stdout)["diffbench"]

    def judge(self, file, *arguments, exit_code=0):
        return self.run_data("try", str(ROOT / file), "--no-timing", "--timeout", "60", "--schedules", "4",
                             *COMPILER, *arguments, exit_code=exit_code)["try"]["results"]

    def test_every_row_of_the_comparison_has_the_oracles_bits(self):
        rows = self.run_data("--grid", "24x16", "--iters", "2", "--budget", "2", "--threads", "1")["results"]
        names = {row["backend"] for row in rows}
        self.assertLessEqual({"scalar", "xtensor", "fused", "simd", "thrust_host", "cuda"}, names)
        for row in rows:
            self.assertIs(row["verified"]["bitwise"], True, row["backend"])

    def test_engines_train_alike(self):
        engines = self.run_data("mlp", "train", "--layers", "2,4,8,2", "--epochs", "1", "--batch", "50",
                                "--engine", "scalar,cpu,cpu_xtensor,cuda")["mlp_train"]["results"]
        self.assertEqual(len(engines), 4)
        for engine in engines:
            self.assertEqual(engine["status"], "ok", engine)
            self.assertAlmostEqual(engine["losses"][-1], engines[0]["losses"][-1], places=3)

    def test_ranks_have_the_same_bits(self):
        rows = self.run_data("cluster", "strong", "--grid", "48x40", "--iters", "20", "--budget", "5",
                             "--threads", "1", "--ranks", "1,2,3")["cluster"]["results"]
        self.assertEqual([row["ranks"] for row in rows], [0, 1, 2, 3])
        for row in rows:
            self.assertIs(row["verified"]["bitwise"], True, row)

    def test_a_users_file_is_right(self):
        for result in self.judge("judge/starting/3-cpp.cpp", *FLAGS):
            self.assertEqual(result["verdict"], "the same bits", result)

    def test_a_users_kernel_is_right_or_not(self):
        self.assertEqual(self.judge("judge/exercises/04-copy-each-step.cu")[0]["verdict"], "the same bits")
        wrong = self.judge("judge/exercises/02-missing-barrier.cu", exit_code=3)[0]
        self.assertIn("race", str(wrong))

    def test_the_doctor_knows_the_machine(self):
        text = self.run_ok("doctor", env=CALM).stdout
        self.assertRegex(text, "(?m)^ *model .")
        self.assertIn("baseline", text)


if __name__ == "__main__":
    unittest.main()
