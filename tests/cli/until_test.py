# SPDX-License-Identifier: Apache-2.0
"""diffbench --until decided: the order of the rows, how it is told, and what is refused. scalar and fused
differ by a factor, so no verdict hangs on a quiet machine."""
import unittest

from program import PLANTED_LOAD, CommandLineTest, parse_json

RUN = "--grid 64 --iters 40 --until decided --threads 1 --backend scalar --backend fused --baseline scalar".split()


class Until(CommandLineTest):
    def order(self, *arguments, **options):
        done = self.run_ok(*RUN, *arguments, "--json", "-", **options)
        return parse_json(done.stdout)["diffbench"]

    def test_the_order_is_decided_before_the_budget_ends(self):
        own = self.order("--budget", "60")
        (pair,) = own["order"]
        self.assertEqual((pair["faster"], pair["slower"], pair["verdict"]), ("fused", "scalar", "SLOWER"))
        self.assertGreater(pair["interval"]["low"], 1.02)
        self.assertAlmostEqual(pair["interval"]["confidence"], 0.99)
        self.assertGreaterEqual(pair["rounds"], 20)
        self.assertLess(pair["rounds"], 1000)
        self.assertEqual({len(row["samples_seconds"]) for row in own["results"]}, {pair["rounds"]})

    def test_the_text_has_a_table_of_the_order(self):
        text = self.run_ok(*RUN, "--budget", "60").stdout
        self.assertRegex(text, r"(?m)^order +next +takes +interval +the next is +rounds$")
        self.assertRegex(text, r"(?m)^fused +scalar .* SLOWER +\d+$")

    def test_without_it_there_is_no_order(self):
        done = self.run_ok("--grid", "16", "--iters", "2", "--backend", "fused", "--baseline", "fused", "--json", "-")
        self.assertIsNone(parse_json(done.stdout)["diffbench"]["order"])

    def test_other_programs_take_the_verdict_away(self):
        own = self.order("--budget", "60", env=PLANTED_LOAD)
        self.assertEqual(own["order"][0]["verdict"], "UNCLEAR")

    def test_one_row_has_no_order(self):
        done = self.run_ok("--grid", "16", "--iters", "2", "--until", "decided", "--backend", "fused", "--baseline",
                           "fused", "--json", "-")
        own = parse_json(done.stdout)["diffbench"]
        self.assertEqual(own["order"], [])
        self.assertGreaterEqual(len(own["results"][0]["samples_seconds"]), 20)

    def test_wrong_usage(self):
        self.assert_refused(2, "--until never: choose decided", "--until", "never")
        self.assert_refused(2, "give one", "--until", "decided", "--precision", "1%")


if __name__ == "__main__":
    unittest.main()
