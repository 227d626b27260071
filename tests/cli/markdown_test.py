# SPDX-License-Identifier: Apache-2.0
"""--export-markdown: what is printed, as a block of code."""
import unittest

from program import QUICK, CommandLineTest


class Markdown(CommandLineTest):
    def test_it_is_what_is_printed(self):
        for verb in [QUICK, ["list"], ["doctor"]]:
            with self.subTest(verb):
                out = self.run_ok(*verb, "--export-markdown", "report.md").stdout
                first, fence, *lines, last = self.path("report.md").read_text().splitlines()
                self.assertTrue(first.startswith("<!--"), first)
                self.assertEqual((fence, last), ("````", "````"))
                self.assertEqual(lines, out.splitlines())

    def test_on_stdout_it_is_alone(self):
        self.assertEqual(self.run_ok(*QUICK, "--export-markdown", "-").stdout.splitlines()[1], "````")

    def test_refused(self):
        self.assert_refused(2, "same place", *QUICK, "--json", "-", "--export-markdown", "-")
        self.assert_refused(1, ["--export-markdown", "nowhere"], *QUICK, "--export-markdown", "nowhere/a.md")


if __name__ == "__main__":
    unittest.main()
