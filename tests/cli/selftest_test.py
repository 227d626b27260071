# SPDX-License-Identifier: Apache-2.0
"""diffbench selftest: what it reports and refuses. With fields this small and so little time the
rates mean nothing; that verdicts are right is a matter of the unit tests of ratios."""
import unittest

from program import CommandLineTest, parse_json

SMALL = "selftest --grid 16 --iters 10 --budget 2 --threads 1".split()
ENGINE = "selftest --engine cpu --layers 8,6,3 --batch 4 --budget 0.75 --threads 1".split()


class Selftest(CommandLineTest):
    def trials(self, *arguments):
        """What three trials found, each counted once; a slow machine has time for fewer."""
        done = self.run_ok(*arguments, "--trials", "3", "--json", "-")
        result = parse_json(done.stdout)["diffbench"]["selftest"]
        self.assertEqual([kind["planted_slowdown"] for kind in result["kinds"]], [0, 0.05, 0.10])
        for kind in result["kinds"]:
            self.assertIn(kind["trials"], (1, 2, 3))
            self.assertEqual(sum(kind[name] for name in ("faster", "slower", "same", "unclear")), kind["trials"])
            self.assertEqual(len(kind["ratios"]), kind["trials"])
            self.assertTrue(all(each["ratio"] > 0 for each in kind["ratios"]), kind)
        fewest, most = result["iterations_per_sample"]
        self.assertTrue(1 <= fewest <= most)
        return result

    def test_trials_of_a_backend(self):
        result = self.trials(*SMALL)
        self.assertEqual(result["backend"], "fused")
        self.assertNotIn("engine", result)
        self.assertLessEqual(result["iterations_per_sample"][1], 10)

    def test_trials_of_an_engine(self):
        result = self.trials(*ENGINE)
        self.assertEqual([result[name] for name in ("engine", "layers", "batch", "trial_seconds")],
                         ["cpu", [8, 6, 3], 4, 0.25])
        self.assertNotIn("backend", result)

    def test_trials_of_duels(self):
        for kind in ["backends", "rows"]:
            done = self.run_ok("selftest", "--duel", kind, "--trials", "1", "--budget", "1", "--json", "-")
            result = parse_json(done.stdout)["diffbench"]["selftest"]
            self.assertEqual(result["duel"], kind)
            self.assertEqual([row["planted_slowdown"] for row in result["kinds"]], [0, 0.01, 0.02, 0.05, 0.1])
            self.assertEqual(len(result["median_blocks"]), 5)
            self.assertTrue(all(row["trials"] == 1 for row in result["kinds"]))
        self.assert_refused(2, "--duel: unknown kind of duel 'nothing'", "selftest", "--duel", "nothing")
        self.assert_refused(2, "--grid: has no effect on --duel", "selftest", "--duel", "rows", "--grid", "8")

    def test_a_planted_slowdown_reaches_the_times_of_each_kind(self):
        for kind in ["commands", "files", "backends", "rows"]:
            # One trial may have met another program: what never reaches the times does so in none of several.
            found = []
            while len(found) < 5 and (not found or not found[-1][0] < 1.5 < found[-1][1]):
                done = self.run_ok("selftest", "--duel", kind, "--slowdown", "300%", "--trials", "1", "--budget", "2",
                                   "--json", "-")
                kinds = parse_json(done.stdout)["diffbench"]["selftest"]["kinds"]
                self.assertEqual([row["planted_slowdown"] for row in kinds], [0, 3])
                found.append([row["ratios"][0]["ratio"] for row in kinds])
            self.assertTrue(found[-1][0] < 1.5 < found[-1][1], f"{kind}: {found}")

    def test_duels_have_the_output_that_all_have(self):
        self.run_ok("selftest", "--duel", "rows", "--slowdown", "300%", "--trials", "1", "--budget", "1",
                    "--export-markdown", "a.md")
        self.assertIn("duels of rows", self.path("a.md").read_text())
        self.assert_refused(2, "--slowdown: is for --duel", "selftest", "--slowdown", "5%")
        for option in ["--backend fused", "--threads 1", "--layers 8,3"]:
            self.assert_refused(2, f"{option.split()[0]}: has no effect on --duel" if "layers" not in option
                                else "--layers: ", "selftest", "--duel", "rows", *option.split())

    def test_the_table_says_what_was_found(self):
        text = self.run_ok(*SMALL, "--trials", "2", "--backend", "simd").stdout
        for words in ["simd with itself", "10 % slower", "Of [12] comparisons of identical code"]:
            self.assertRegex(text, words)
        text = self.run_ok(*ENGINE, "--trials", "2").stdout
        for words in ["cpu with itself, 8-6-3, batches of 4", "10 % slower",
                      "Of [12] comparisons of identical code"]:
            self.assertRegex(text, words)

    def test_wrong_usage(self):
        for option, value in [("--trials", "0"), ("--budget", "0"), ("--budget", "nan"),
                              ("--threads", "x"), ("--grid", "0")]:
            self.assert_refused(2, option, "selftest", option, value)
        self.assert_refused(2, "nothing", "selftest", "--backend", "nothing")
        self.assert_refused(2, "nothing", "selftest", "--engine", "nothing")

    def test_what_would_have_no_effect_is_refused(self):
        self.assert_refused(2, "--backend and --engine", *ENGINE, "--backend", "fused")
        problem = ["--grid 8", "--iters 5", "--dt 9", "--diffusivity 1", "--spacing 1",
                   "--boundary dirichlet", "--boundary-value 1", "--init sine", "--seed 2",
                   "--dtype float64", "--allow-unstable"]
        for option in problem:
            self.assert_refused(2, f"{option.split()[0]}: is for backends", *ENGINE, *option.split())
        for option in ["--layers 8,3", "--batch 4"]:
            self.assert_refused(2, f"{option.split()[0]}: is for engines", *SMALL, *option.split())


if __name__ == "__main__":
    unittest.main()
