# SPDX-License-Identifier: Apache-2.0
"""diffbench live: the page of report without results, with the word that makes it show the card alone."""
import unittest

import program


class LiveTest(program.CommandLineTest):
    def test_writes_the_page_alone(self):
        done = self.run_ok("live", "-o", "here.html")
        self.assertRegex(done.stdout, r"^here.html: 0\.\d MB; open it in a browser and press Measure\n$")
        self.assertEqual(done.stderr, "")
        page = self.path("here.html").read_text(encoding="utf-8")
        self.assertIn('<script type="application/json" class="live">{}</script>', page)
        self.assertNotIn('class="result">', page)
        self.run_ok("live")
        self.assertEqual(self.path("live.html").read_text(encoding="utf-8"), page)

    def test_refuses_what_it_cannot_write(self):
        self.assert_refused(1, "--out nowhere/live.html: the directory", "live", "-o", "nowhere/live.html")
        self.path("file").write_text("kept")
        self.assert_refused(1, "file/live.html", "live", "-o", "file/live.html")
        self.assert_refused(2, "run.json", "live", "run.json")


if __name__ == "__main__":
    unittest.main()
