# SPDX-License-Identifier: Apache-2.0
"""--export-markdown: what is printed, with tables that a Markdown reader takes for tables."""
import re
import unittest

from every_verb import BARE
from program import QUICK, CommandLineTest

# A comparison, and verbs with tables of figures, of words, and with lines of columns.
VERBS = [QUICK, ["list"], ["doctor"], "transfer --max-size 4K --threads 1 --budget 5".split(),
         "advise --step 12ms --bytes-per-cell 40 --flops-per-cell 60 --cells 1e8".split()]


class Markdown(CommandLineTest):
    def tables(self, text):
        """The rows of each, checked: a header, the alignment of its columns, as many cells in each."""
        tables = []
        for block in text.split("\n\n"):
            if block.startswith("|"):
                rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in block.strip().split("\n")]
                self.assertTrue(all(re.fullmatch(" (:--|--:) ", cell) for cell in rows[1]), text)
                self.assertEqual({len(row) for row in rows}, {len(rows[0])}, text)
                tables.append(rows)
        return tables

    def test_verbs(self):
        for verb in VERBS:
            with self.subTest(verb):
                out = self.run_ok(*verb, "--export-markdown", "report.md",
                                  env={**BARE, "XDG_CACHE_HOME": str(self.directory)}).stdout
                text = self.path("report.md").read_text()
                self.assertNotRegex(text, r"(?m)^-{5,}$", "a table that was not found again")
                # Those of words have no rule.
                self.assertGreaterEqual(len(self.tables(text)), len(re.findall(r"(?m)^-{5,}$", out)), text)
                self.assertTrue(verb == ["doctor"] or self.tables(text), text)
                self.assertIn(out.split()[0], text)
                self.assertIn(out.split()[-1], text)

    def test_on_stdout_it_is_alone(self):
        done = self.run_ok(*QUICK, "--export-markdown", "-")
        self.assertNotRegex(done.stdout, r"(?m)^-{5,}$")
        self.assertEqual(self.tables(done.stdout)[0][2][0].strip(), "scalar")

    def test_refused(self):
        self.assert_refused(2, "same place", *QUICK, "--json", "-", "--export-markdown", "-")
        self.assert_refused(1, ["--export-markdown", "nowhere"], *QUICK, "--export-markdown", "nowhere/a.md")


if __name__ == "__main__":
    unittest.main()
