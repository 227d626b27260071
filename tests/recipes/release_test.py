#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/release in a clone: versions, changelog, tag, archive; and what it refuses. release_test.py ROOT"""
import hashlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1))
GIT = ["git", "-c", "safe.directory=*", "-c", "user.name=a", "-c", "user.email=a@b"]


def git(clone, *words):
    return subprocess.run([*GIT, *words], cwd=clone, check=True, capture_output=True, text=True).stdout


class Release(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.clone = Path(self.folder.name, "clone")
        self.clone.mkdir()
        git(self.clone, "init", "-q")
        for key, value in (("user.name", "a"), ("user.email", "a@b")):
            git(self.clone, "config", key, value)
        for name in ("scripts/release", "CMakeLists.txt", "CITATION.cff", "viz/package.json", "CHANGELOG.md", ".gitignore"):
            (self.clone / name).parent.mkdir(exist_ok=True)
            (self.clone / name).write_bytes((ROOT / name).read_bytes())
        (self.clone / "scripts/release").chmod(0o755)
        git(self.clone, "add", "-A")
        git(self.clone, "commit", "-qm", "as it is")

    def release(self, *words):
        return subprocess.run(["scripts/release", *words], cwd=self.clone, capture_output=True, text=True)

    def test_writes_the_version_everywhere_and_tags_it(self):
        done = self.release("9.8.7", "--without-packages")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("project(diffbench VERSION 9.8.7 ", (self.clone / "CMakeLists.txt").read_text())
        self.assertIn("\nversion: 9.8.7\n", (self.clone / "CITATION.cff").read_text())
        self.assertIn('"version": "9.8.7"', (self.clone / "viz/package.json").read_text())
        self.assertRegex((self.clone / "CHANGELOG.md").read_text(), r"## Unreleased\n\n## 9\.8\.7 \(\d{4}-\d\d-\d\d\)\n")
        self.assertIn("### Added", git(self.clone, "tag", "-n99", "v9.8.7"))
        archive = self.clone / "build/release-9.8.7/diffbench-9.8.7.tar.gz"
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        self.assertEqual((archive.parent / "SHA256SUMS").read_text(), f"{digest}  {archive.name}\n")
        with tarfile.open(archive) as members:
            self.assertIn("diffbench-9.8.7/CMakeLists.txt", members.getnames())
        self.assertEqual(git(self.clone, "status", "--porcelain"), "")
        twice = self.release("9.8.7", "--without-packages")
        self.assertIn("the tag v9.8.7 exists", twice.stderr)
        empty = self.release("9.8.8", "--without-packages")
        self.assertIn("nothing under", empty.stderr)

    def test_refuses_a_bad_version_and_uncommitted_changes(self):
        self.assertEqual(self.release("1.2").returncode, 2)
        self.assertEqual(self.release().returncode, 2)
        (self.clone / "CHANGELOG.md").write_text("mine\n")
        dirty = self.release("9.8.7", "--without-packages")
        self.assertEqual(dirty.returncode, 1)
        self.assertIn("not committed", dirty.stderr)

    def test_a_failure_leaves_no_commit_and_no_tag(self):
        before = git(self.clone, "rev-parse", "HEAD")
        done = self.release("9.8.7")  # without a Makefile, `make package` fails
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(git(self.clone, "rev-parse", "HEAD"), before)
        self.assertEqual(git(self.clone, "tag"), "")


if __name__ == "__main__":
    unittest.main()
