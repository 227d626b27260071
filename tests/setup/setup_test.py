# SPDX-License-Identifier: Apache-2.0
"""scripts/setup for a user who is not root, with stand-ins of apt-get, dpkg and sudo: setup_test.py SETUP"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SETUP = pathlib.Path(sys.argv.pop(1))
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}

# Nothing is installed, and two packages are to be had.
STAND_INS = {
    "dpkg-query": "exit 1",
    "apt-get": 'echo "apt-get $*" >>log\n'
               'case "$*" in *" -s "*) printf "Inst a (1)\\nInst b (1)\\n" ;; *download*) touch a.deb b.deb ;; esac',
    "dpkg": '[ "$(basename "$2")" != "$BROKEN" ] && mkdir -p "$3/usr/lib/here" && touch "$3/$(basename "$2")"',
    "g++": "echo here", "make": "", "git": "",
}
REFUSED, ALLOWED = "exit 1", '[ "$1" != -n ] || shift\nexec "$@"'


@unittest.skipUnless(pathlib.Path("/etc/debian_version").exists(), "only there anything is installed")
class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/tmp")  # nobody may enter it
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("scripts", "bin"):
            (self.root / name).mkdir()
        shutil.copy(SETUP, self.root / "scripts/setup")
        for place in (self.root, self.root / "scripts", self.root / "bin"):
            place.chmod(0o777)

    def setup(self, sudo, broken=""):
        for name, script in {**STAND_INS, "sudo": sudo}.items():
            (self.root / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
            (self.root / "bin" / name).chmod(0o755)
        return subprocess.run(["scripts/setup", "demo"], cwd=self.root, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, env={"PATH": f"{self.root}/bin:/usr/bin:/bin", "BROKEN": broken}, **NOBODY)

    def test_who_may_not_use_sudo_gets_them_unpacked(self):
        done = self.setup(REFUSED)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("setup: without root: unpacking", done.stdout)
        for name in ("env", "a.deb", "b.deb"):
            self.assertTrue((self.root / "build/system" / name).exists(), name)
        # What `import diffbench` is built with.
        unpacked = {*(self.root / "build/system/packages").read_text().split()}
        self.assertLessEqual({"pybind11-dev", "python3-dev"}, unpacked)

    def test_one_that_cannot_be_unpacked_is_told(self):
        for broken in ("a.deb", "b.deb"):
            with self.subTest(broken=broken):
                done = self.setup(REFUSED, broken)
                self.assertEqual(done.returncode, 1)
                self.assertIn("could not unpack", done.stderr)
                self.assertFalse((self.root / "build/system/env").exists())

    def test_what_was_unpacked_stays_where_more_cannot_be(self):
        self.setup(REFUSED)
        packages = self.root / "build/system/packages"
        packages.write_text(packages.read_text().replace("pybind11-dev\n", ""))
        self.assertEqual(self.setup(REFUSED, "b.deb").returncode, 1)
        self.assertTrue((self.root / "build/system/env").exists())
        self.assertEqual(self.setup(REFUSED).returncode, 0)
        self.assertIn("pybind11-dev", packages.read_text())

    def test_who_may_use_sudo_gets_them_installed(self):
        done = self.setup(ALLOWED)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex((self.root / "log").read_text(), r"-y install .*pybind11-dev")
        self.assertFalse((self.root / "build/system").exists())


if __name__ == "__main__":
    unittest.main()
