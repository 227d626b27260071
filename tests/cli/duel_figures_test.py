# SPDX-License-Identifier: Apache-2.0
"""scripts/duel-figures with a stand-in for the program, whose duels end as they are told to."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "duel-figures"
STAND_IN = """#!/usr/bin/env python3
import json, os, sys
if sys.argv[1:] == ["--version"]:
    print(os.environ.get("STAND_IN_VERSION", "stand-in 1"))
else:
    row = json.loads(os.environ["STAND_IN_ROW"])
    print(json.dumps({"diffbench": {"duel": {"results": [row]}}}))
"""


class DuelFigures(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.program = self.place / "stand-in"
        self.program.write_text(STAND_IN)
        self.program.chmod(0o755)

    def figures(self, *arguments, verdict="SLOWER", blocks=12, version="stand-in 1"):
        row = {"verdict": verdict, "blocks": blocks}
        return subprocess.run([SCRIPT, self.program, *arguments], capture_output=True, text=True, check=False,
                              env={**os.environ, "STAND_IN_ROW": json.dumps(row), "STAND_IN_VERSION": version})

    def planted(self, *arguments, **how):
        return self.figures("planted", "--seconds", "0.001", "--duels", "3", *arguments, **how)

    def test_the_median_of_the_blocks_has_a_bar_that_can_be_missed(self):
        for blocks, code in [(15, 0), (16, 1)]:
            done = self.planted(blocks=blocks)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(f"+5 %, blocks: median {blocks} of 3", done.stdout)
            self.assertIn("bar at most 15", done.stdout)
        self.assertEqual(self.planted(verdict="UNCLEAR").returncode, 1)

    def test_parts_are_added_with_their_blocks_where_version_and_question_are_the_same(self):
        keep = ["--keep", str(self.place / "parts.jsonl")]
        self.assertIn("median 10 of 3 ", self.planted(*keep, blocks=10).stdout)
        done = self.planted(*keep, blocks=40)
        self.assertIn("SLOWER: 6 of 6 ", done.stdout)
        self.assertIn("median 25 of 6 (95 % interval 10 to 40; ", done.stdout)
        self.assertEqual(done.returncode, 1)
        self.assertIn("median 10 of 3 ", self.planted(*keep, blocks=10, version="stand-in 2").stdout)
        self.assertIn("median 10 of 3 ", self.planted(*keep, "--slowdown", "9", blocks=10).stdout)

    def test_what_has_no_bar_prints_none(self):
        done = self.figures("same", "--seconds", "0.001", "--duels", "2", verdict="SAME")
        self.assertEqual(done.returncode, 0, done.stderr)
        (line,) = [line for line in done.stdout.splitlines() if "blocks" in line]
        self.assertNotIn("bar", line)

    def test_options_without_effect_are_refused(self):
        for figure, option in [("planted", "--blocks 5"), ("planted", "--kind files"), ("same", "--slowdown 5"),
                               ("equal", "--slowdown 5"), ("start", "--seconds 1"), ("start", "--blocks 3"),
                               ("equal --kind files", "--seconds 1")]:
            done = self.figures(*figure.split(), *option.split(), "--duels", "1")
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(f"{option.split()[0]} would have no effect", done.stderr)


if __name__ == "__main__":
    unittest.main()
