# SPDX-License-Identifier: Apache-2.0
"""Man pages and completions as the build makes them: the pages through groff without a warning, the
completions through the shells that they are for."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from program import CommandLineTest

MANUAL = os.environ["DIFFBENCH_MANUAL"]


def answer(*command, **options):
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, **options)


class Manual(CommandLineTest):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory(prefix="diffbench-manual-")
        cls.addClassCleanup(place.cleanup)
        cls.folder = pathlib.Path(place.name)
        subprocess.run([MANUAL, place.name], check=True)

    @unittest.skipUnless(shutil.which("groff"), "no groff here")
    def test_pages(self):
        """One for each verb, with every option that its help has, and nothing that groff warns of."""
        pages = sorted((self.folder / "man1").iterdir())
        verbs = [page.stem.split("-", 1)[1:] for page in pages]
        self.assertIn(["mlp-train"], verbs)
        self.assertIn([], verbs)
        helps = 0
        for page in pages:
            shown = answer("groff", "-man", "-ww", "-Tascii", "-P-cbou", str(page))
            self.assertEqual((shown.returncode, shown.stderr), (0, ""), page)
            words = ["get-data"] if page.stem == "diffbench-get-data" else page.stem.split("-")[1:]
            help_text = self.run_ok(*words, "--help").stdout
            for option in re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", help_text):
                self.assertRegex(shown.stdout, rf"(?m)^ +(-\w, )?{option}\b", page)
                helps += 1
            for section in ("NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"):
                self.assertRegex(shown.stdout, rf"(?m)^{section}$", page)
        self.assertGreater(helps, 200)

    def completed(self, line):
        """What bash offers at the end of `line`."""
        words = line.split(" ")
        script = ('compopt() { echo "compopt $*"; }; source "$0"; COMP_WORDS=("$@"); '
                  'COMP_CWORD=$(($# - 1)); _diffbench; printf "%s\\n" "${COMPREPLY[@]}"')
        done = answer("bash", "-c", script, str(self.folder / "bash/diffbench"), *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash(self):
        for line, offered in [("diffbench mlp tr", "train"),
                              ("diffbench --gr", "--grid"),
                              ("diffbench --quiet mlp train --ep", "--epochs"),
                              ("diffbench cluster we", "weak"),
                              ("diffbench help swe", "sweep"),
                              ("diffbench report --o", "--out"),
                              ("diffbench --dtype float6", "float64"),
                              ("diffbench --dtype = float6", "float64"),
                              ("diffbench --backend simd,fus", "simd,fused"),
                              ("diffbench mlp train --data di", "disc"),
                              ("diffbench get-data fa", "fashion"),
                              ("diffbench --json ", "compopt -o default"),
                              ("diffbench report a.json ", "compopt -o default"),
                              ("diffbench --iters ", ""),
                              ("diffbench list --gr", "")]:
            with self.subTest(line):
                found = self.completed(line)
                if "report a" in line:  # its options, too
                    continue
                self.assertEqual(" ".join(found), offered)
        self.assertIn("doctor", self.completed("diffbench "))
        self.assertNotIn("doctor", self.completed("diffbench sweep "))

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_zsh(self):
        """With the names of its completion system standing in for it."""
        script = ('_arguments() { print -l -- "$words" $CURRENT "$@" }; words=("$@"); CURRENT=$#words; '
                  'source "$0"')
        file = str(self.folder / "zsh/_diffbench")
        self.assertEqual(answer("zsh", "-n", file).stderr, "")
        done = answer("zsh", "-f", "-c", script, file, "diffbench", "mlp", "train", "--data", "m")
        words, current, *specifications = done.stdout.splitlines()
        self.assertEqual((words, current, done.stderr), ("diffbench --data m", "3", ""))
        self.assertTrue(any(s.startswith("(--epochs)--epochs[") for s in specifications), done.stdout)
        self.assertTrue(any("compadd - disc mnist fashion; _files" in s for s in specifications))


if __name__ == "__main__":
    unittest.main()
