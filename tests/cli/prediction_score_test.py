# SPDX-License-Identifier: Apache-2.0
"""The program's predictions for GPUs against what others measured (bench/results/public)."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("prediction_score", str(ROOT / "scripts/prediction-score"))
SCORE = importlib.util.module_from_spec(importlib.util.spec_from_loader(LOADER.name, LOADER))
LOADER.exec_module(SCORE)


class PredictionScore(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        measurements = json.loads((SCORE.PUBLIC / "measurements.json").read_text())["measurements"]
        cls.scored = list(SCORE.score(os.environ["DIFFBENCH_PROGRAM"], measurements))

    def test_each_prediction_is_as_recorded(self):
        for measurement, span, _ in self.scored:
            self.assertEqual(span, measurement["predicted"], f"{measurement['ran']}; scripts/prediction-score --record")

    def test_nine_of_ten_are_inside_spans_of_a_factor_of_two(self):
        inside, count, width = SCORE.summary(self.scored)
        self.assertGreaterEqual(count, 30)
        self.assertGreaterEqual(inside, 0.9 * count)
        self.assertLessEqual(width, 2)

    def test_each_measurement_says_what_ran_where_and_when(self):
        for measurement, _, _ in self.scored:
            for key in ("card", "ran", "figure", "unit", "ask", "row", "quantity"):
                self.assertTrue(measurement[key], measurement)
            self.assertRegex(measurement["address"], "^https://")
            self.assertRegex(measurement["date"], r"^20\d\d(-\d\d){0,2}$")

    def test_predictions_of_this_program_are_those_of_the_document(self):
        predictions = json.loads((SCORE.PUBLIC / "predictions.json").read_text())
        page = (ROOT / "docs/predictions.md").read_text()
        self.assertIn(predictions["date"], page)
        for one in predictions["predictions"]:
            line = next(line for line in page.splitlines() if line.startswith(f"| {one['run']} | {one['row']} |"))
            self.assertIn(f"| {one['low']:g} to {one['high']:g} |", line)


if __name__ == "__main__":
    unittest.main()
