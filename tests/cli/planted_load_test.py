# SPDX-License-Identifier: Apache-2.0
"""What is measured beside other programs is said with the width of its times, and by verbs that look for less
than that width not at all, in no form of their output. The load is planted: the program is told that others
had CPUs (DIFFBENCH_PLANTED_LOAD)."""
import csv
import json
import re
import unittest

from every_verb import EXACT, MEASURED, EveryVerb
from program import PLANTED_LOAD, parse_json

WIDTH = "That was measured beside other programs: without them, each time would be "
NO_CONCLUSION = "No conclusion: other programs were running, so these figures show nothing."

# Words that only a conclusion has. What a line of `pitfalls` says of its mistake in general is none.
CONCLUSIONS = re.compile(
    r"worth it|misleads?\b|(is|are) (the )?fastest|is faster than|\bbeats\b|does not beat|begins to beat|wins \(|\bpays\b"
    r"|times (as|what)|x too (slow|fast)|no effect|most of all|FASTER|SLOWER|UNCLEAR|\bwins\b|is the best|is overtaken"
    r"|law of|(?<!\()uncertain|best CPU row|does not pay|at every|\bbest\b(?! CPU)", re.I)

# What such a run needs besides.
ASSUMED = {"residency": " --assume laptop", "scaling": " --assume laptop"}


# They look for a few percent.
NARROW = ("duel", "duel-steps", "selftest")


class PlantedLoad(EveryVerb):
    def setUp(self):
        super().setUp()
        self.env = {**self.env, **PLANTED_LOAD}

    def assert_no_conclusion(self, text, name):
        for line in text.splitlines():
            about = line.startswith(("note: ", "  ")) or line == NO_CONCLUSION
            if not about:
                self.assertIsNone(CONCLUSIONS.search(line), (name, line))

    def check(self, name, arguments):
        done = self.run_verb(f"{arguments}{ASSUMED.get(name, '')} --json {name}.json --csv {name}.csv "
                             f"--export-markdown {name}.md")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = parse_json(self.path(f"{name}.json").read_text())["diffbench"]
        text = self.path(f"{name}.md").read_text()
        if name in ("cluster-predict", "run"):  # they measure no contest
            return
        self.assertIs(result["disturbed"], True, name)
        self.assertEqual(text.count("other programs were running"),
                         2 if name in (*NARROW, "scaling-weak", "cluster-weak") else 1, name)  # of two grids
        if name not in NARROW:
            self.assertLess(result["width"]["low"], 0.9, name)
            self.assertGreater(result["width"]["high"], 1.1, name)
            self.assertEqual(text.count(WIDTH), 1, (name, text))
            self.assertNotIn(NO_CONCLUSION, text, name)
            return
        self.assertIsNone(result["width"], name)
        self.assertIn(NO_CONCLUSION, text, name)
        self.assert_no_conclusion(done.stdout, name)
        self.assert_no_conclusion(text, name)
        self.assertEqual(result["sentence"], NO_CONCLUSION)
        self.assert_nothing_found(result, name)

    def assert_nothing_found(self, value, name, path=""):
        """What concludes is empty wherever it is in a result."""
        if isinstance(value, dict):
            for key, each in value.items():
                if key in ("misleads", "worth_it", "crossovers", "recommended_threads", "fit", "gpu",
                           "gpu_pays_from", "best_batch", "enough_batch", "misreadings",
                           "times_best_cpu", "times_as_fast"):
                    self.assertIn(each, (None, []), f"{name}: {path}.{key}")
                self.assert_nothing_found(each, name, f"{path}.{key}")
        elif isinstance(value, list):
            for each in value:
                self.assert_nothing_found(each, name, path + "[]")

    def test_every_verb_says_how_wide_its_times_are(self):
        for name, arguments in MEASURED.items():
            with self.subTest(name):
                self.check(name, arguments)

    def test_the_same_verbs_conclude_without_it(self):
        """Or the test above would look for words that nobody says."""
        self.env = {**self.env, "DIFFBENCH_PLANTED_LOAD": "0"}
        for name in ("comparison", "pitfalls", "scaling", "mlp-train"):
            done = self.run_verb(MEASURED[name] + " --json quiet.json")
            self.assertNotIn(NO_CONCLUSION, done.stdout)
            self.assertRegex(done.stdout, CONCLUSIONS, name)

    def lesson(self, *guesses):
        """The rows of its sheet."""
        self.path("lesson").mkdir(exist_ok=True)
        self.path("lesson/guesses.txt").write_text("".join(f"4.{i} {guess}\n" for i, guess in guesses))
        done = self.run_program("lesson", "4", "--quick", "--out", "lesson", "--no-quiz", env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("lesson/sheet.csv"), newline="") as file:
            return list(csv.DictReader(file))

    def test_a_lesson_answers_and_grades_by_intervals(self):
        rows = self.lesson((1, "1000"))
        self.assertTrue(all(row["answer"] for row in rows if row["source"] == "measured"), rows)
        if not rows[0]["answer"]:
            self.assertEqual(rows[0]["source"], "measured beside other programs")
            self.skipTest("others keep these rows from the CPUs so long that nothing is known")
        low, high = map(float, rows[0]["answer"].split(" to "))
        self.assertGreater(high, 1.4 * low)
        self.assertIn("times too high", rows[0]["verdict"])
        rows = self.lesson((1, f"{0.9 * high}"))  # of what was measured before
        self.assertEqual(float(rows[0]["answer"].split(" to ")[1]), high)
        self.assertEqual(rows[0]["verdict"], "right", rows[0])

    def test_files_of_disturbed_runs_get_no_verdict(self):
        arguments = EXACT["compare"].replace("old.json", "disturbed.json")
        old = parse_json(self.path("old.json").read_text())
        old["diffbench"]["disturbed"] = True
        self.path("disturbed.json").write_text(json.dumps(old))
        done = self.run_program(*arguments.split(), env={**self.env, "DIFFBENCH_PLANTED_LOAD": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotRegex(done.stdout, "FASTER|SLOWER")
        self.assertIn("no row has a verdict", done.stdout)


if __name__ == "__main__":
    unittest.main()
