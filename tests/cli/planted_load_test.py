# SPDX-License-Identifier: Apache-2.0
"""No verb concludes anything from figures that other programs disturbed, in no form of its output. The load
is planted: the program is told that others had CPUs (DIFFBENCH_PLANTED_LOAD)."""
import csv
import json
import re
import unittest

from every_verb import EXACT, MEASURED, EveryVerb
from program import PLANTED_LOAD, parse_json

NO_CONCLUSION = "No conclusion: other programs were running, so these figures show nothing."

# Words that only a conclusion has. What a line of `pitfalls` says of its mistake in general is none.
CONCLUSIONS = re.compile(
    r"worth it|misleads?\b|(is|are) (the )?fastest|is faster than|\bbeats\b|does not beat|begins to beat|wins \(|\bpays\b"
    r"|times (as|what)|x too (slow|fast)|no effect|most of all|FASTER|SLOWER|UNCLEAR|\bwins\b|is the best|is overtaken"
    r"|law of|(?<!\()uncertain|best CPU row|does not pay|at every|\bbest\b(?! CPU)", re.I)

# What such a run needs besides.
ASSUMED = {"residency": " --assume laptop", "scaling": " --assume laptop"}


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
        self.assertIn(NO_CONCLUSION, text, name)
        self.assertIn("other programs were running", text)
        self.assert_no_conclusion(done.stdout, name)
        self.assert_no_conclusion(text, name)
        if not name.startswith("comparison"):
            self.assertEqual(result["sentence"], NO_CONCLUSION)
        self.assert_nothing_found(result, name)
        with open(self.path(f"{name}.csv"), newline="") as file:
            for line in csv.DictReader(file):
                for key in ("misleads", "explanation", "factor", "times_best_cpu"):
                    self.assertIn(line.get(key) or "", ("", NO_CONCLUSION), (name, key))

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

    def test_no_verb_concludes(self):
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

    def test_a_lesson_neither_answers_nor_grades(self):
        for line in self.path_of_guesses():
            self.assertTrue(line)
        done = self.run_program("lesson", "4", "--quick", "--out", "lesson", "--no-quiz", env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no answer: other programs were running", done.stdout)
        self.assert_no_grade()

    def path_of_guesses(self):
        """Somebody guessed, and the lesson is taken up again."""
        self.path("lesson").mkdir(exist_ok=True)
        lines = [f"4.{i} {guess}" for i, guess in ((1, "2"), (4, "2"), (5, "3"))]
        self.path("lesson/guesses.txt").write_text("\n".join(lines) + "\n")
        return lines

    def assert_no_grade(self):
        with open(self.path("lesson/sheet.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertTrue(rows)
        for row in rows:
            if row["source"] not in ("reasoned", "reported"):
                self.assertEqual((row["answer"], row["verdict"]), ("", ""), row)

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
