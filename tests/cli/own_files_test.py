# SPDX-License-Identifier: Apache-2.0
"""The files of a run are its own: no output may go where another does or where the run reads, by whatever
path, and of two runs one writes a checkpoint."""
import os
import pathlib
import signal
import subprocess
import time
import unittest

from program import PROGRAM, CommandLineTest, parse_json

RUN = "run --grid 64 --iters 20".split()
CHECKPOINT = "--checkpoint c.state --checkpoint-every 10".split()
ENDLESS = "run --grid 256 --iters 1000000000000 --no-progress".split()


class OwnFiles(CommandLineTest):
    def assert_kept(self, *arguments):
        before = self.contents()
        self.assert_refused(2, "", *arguments)
        self.assertRegex(self.run_program(*arguments).stderr,
                         "cannot go to the same place|is also an input")
        self.assertEqual(self.contents(), before, arguments)

    def test_outputs_by_any_path(self):
        self.path("data.npy").write_bytes(b"It is read.")
        self.path("link.npy").symlink_to("data.npy")
        self.path("nothing_yet").symlink_to("x.json")
        self.path("folder").mkdir()
        for arguments in (
                "run --init data.npy --save data.npy",
                "--init data.npy --json link.npy",
                "run --init data.npy --save folder/../data.npy",
                f"--init data.npy --csv {self.path('data.npy')}",
                "--json x.json --csv nothing_yet",
                "--json x.json --export-markdown ./x.json",
                "--json x.json --report folder/../x.json",
                "--json x.json --trace x.json",
                "sweep --json x.json --csv x.json",
                "report data.npy --out link.npy",
                "compare data.npy data.npy --json link.npy"):
            self.assert_kept(*arguments.split())

    def test_those_of_a_checkpoint(self):
        self.path("c.state").write_bytes(b"It is a checkpoint.")
        self.path("c.state.previous").write_bytes(b"It is an older one.")
        self.path("link").symlink_to("c.state")
        for option in "--json", "--csv", "--report", "--export-markdown", "--save":
            for file in "c.state", "link", "c.state.previous", ".c.state.partial", ".c.state.lock":
                self.assert_kept(*RUN, *CHECKPOINT, option, file)
            self.assert_kept("run", "--iters", "20", "--restart", "c.state", option, "link")

    def test_of_two_runs_the_second_is_told_of_the_first(self):
        first = subprocess.Popen([PROGRAM, *ENDLESS, *CHECKPOINT, "--reference-time", "1"], cwd=self.directory,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(first.wait)
        self.addCleanup(first.kill)
        limit = time.monotonic() + 60
        while not self.path("c.state").exists():
            self.assertIsNone(first.poll())
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.01)
        second = self.run_program(*RUN, *CHECKPOINT)
        self.assertEqual(second.returncode, 1, second.stderr)
        self.assert_one_line(second.stderr, "c.state", f"process {first.pid} on ")
        self.assertIsNone(first.poll())
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        self.assertTrue(self.path(".c.state.lock").exists())
        self.path("c.state").unlink()
        self.run_ok(*RUN, *CHECKPOINT)  # what is left of the first locks nothing
        self.assertFalse(self.path(".c.state.lock").exists())
        self.run_ok("run", "--restart", "c.state", "--iters", "30", *CHECKPOINT)  # the same file, both ways

    def test_an_interrupted_reference_is_kept(self):
        """Its budget is long: it is interrupted before the backend has begun."""
        run = subprocess.Popen([PROGRAM, *ENDLESS, "--checkpoint", "c.state", "--checkpoint-every",
                                "1000000000", "--reference-time", "600", "--json", "out.json"],
                               cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(run.kill)
        time.sleep(1.5)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, err)
        self.assertIn(b"not yet", out)
        row, = parse_json(self.path("out.json").read_text())["diffbench"]["run"]["results"]
        self.assertIsNone(row["verified"]["bitwise"])
        self.assertGreater(row["last_step"], 0)
        self.assertTrue(self.path("c.state").exists())
        after = str(row["last_step"] + 10)
        whole, = parse_json(self.run_ok("run", "--grid", "256", "--iters", after, "--json", "-").stdout)["diffbench"]["run"]["results"]
        rest, = parse_json(self.run_ok("run", "--restart", "c.state", "--iters", after, "--json",
                                       "-").stdout)["diffbench"]["run"]["results"]
        self.assertEqual(rest["field"], whole["field"])

    def test_a_checkpoint_of_the_last_step_is_finished(self):
        self.run_ok("run", "--iters", "20", "--grid", "16", *CHECKPOINT)
        whole = self.run_ok("run", "--iters", "20", "--grid", "16", "--backend", "scalar", "--save", "a.npy")
        rest = self.run_ok("run", "--restart", "c.state", "--iters", "20", *CHECKPOINT, "--save", "b.npy", "--json", "b.json")
        self.assertIn("nothing was left", rest.stdout)
        self.assertIn("b.json", rest.stderr)
        self.assertEqual(self.path("a.npy").read_bytes(), self.path("b.npy").read_bytes(), whole.stdout)
        self.assert_refused(2, "give more --iters", "run", "--restart", "c.state", "--iters", "19")


if __name__ == "__main__":
    unittest.main()
