# SPDX-License-Identifier: Apache-2.0
"""Man pages as the build makes them, through groff without a warning, and completions through the shells that
they are for."""
import pathlib
import re
import shutil
import subprocess
import unittest

from program import PROGRAM, CommandLineTest

PACKAGING = pathlib.Path(__file__).resolve().parents[2] / "packaging"


def answer(*command, **options):
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, **options)


class Manual(CommandLineTest):
    @unittest.skipUnless(shutil.which("groff") and shutil.which("help2man"), "no groff or help2man here")
    def test_pages(self):
        """One for each verb, with every option that its help has, and nothing that groff warns of."""
        made = answer(PACKAGING / "man-pages", PROGRAM, self.path("man1"))
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        pages = sorted(self.path("man1").iterdir())
        verbs = [page.stem.split("-", 1)[1:] for page in pages]
        self.assertIn(["mlp-train"], verbs)
        self.assertIn([], verbs)
        helps = 0
        for page in pages:
            shown = answer("groff", "-man", "-ww", "-Tascii", "-P-cbou", str(page))
            self.assertEqual((shown.returncode, shown.stderr), (0, ""), page)
            words = page.stem.split("-")[1:]
            help_text = self.run_ok(*words, "--help").stdout
            for option in re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", help_text):
                self.assertRegex(shown.stdout, rf"(?m)^ +(-\w, ?)?{option}\b", page)
                helps += 1
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"):
                self.assertRegex(shown.stdout, rf"(?m)^{section}$", page)
        self.assertGreater(helps, 200)

    def completed(self, line):
        """What bash offers at the end of `line`."""
        words = line.split(" ")
        script = ('source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _diffbench; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = answer("bash", "-c", script, str(PACKAGING / "completion.bash"), PROGRAM, *words[1:])
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
                              ("diffbench --json ", ""),
                              ("diffbench --dtype = ", "float32 float64"),
                              ("diffbench --iters ", ""),
                              ("diffbench list --gr", "")]:
            with self.subTest(line):
                self.assertEqual(" ".join(self.completed(line)), offered)
        self.assertIn("doctor", self.completed("diffbench "))
        self.assertNotIn("doctor", self.completed("diffbench sweep "))

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_zsh(self):
        """With the names of its completion system standing in for it."""
        script = 'compadd() { print -l -- "$@" }; _files() { print files }; words=("$@"); CURRENT=$#words; source "$0"'
        for line, offered in [(["mlp", "train", "--data", "m"], "-- mnist"), (["--json", ""], "files")]:
            done = answer("zsh", "-f", "-c", script, str(PACKAGING / "completion.zsh"), PROGRAM, *line)
            self.assertEqual((" ".join(done.stdout.split()), done.stderr), (offered, ""))

    def test_every_choice_is_taken(self):
        """Only one that the parser takes may be offered."""
        choices = 0
        for verb in ["", "try", "mlp train"]:
            for option in self.completed(f"diffbench {verb} --".replace("  ", " ")):
                for choice in self.completed(f"diffbench {verb} {option} ".replace("  ", " ")):
                    if not choice.startswith("-") and option not in ("--help", "--quiet", "--wide"):
                        done = self.run_program(*verb.split(), option, choice, "--help")
                        self.assertNotIn("unknown", done.stderr, (verb, option, choice))
                        choices += 1
        self.assertGreater(choices, 20)


if __name__ == "__main__":
    unittest.main()
