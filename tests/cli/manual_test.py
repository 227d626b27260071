# SPDX-License-Identifier: Apache-2.0
"""Man pages as the build makes them, through groff without a warning."""
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
        self.assertIn(["cluster-weak"], verbs)
        self.assertIn(["doctor"], verbs)
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


if __name__ == "__main__":
    unittest.main()
