"""diffbench selftest: what it reports and refuses. With fields this small and so little time the
rates mean nothing; that verdicts are right is a matter of the unit tests of ratios."""
import unittest

from program import CommandLineTest, parse_json

SMALL = "selftest --grid 16 --iters 10 --budget 0.1 --threads 1".split()


class Selftest(CommandLineTest):
    def test_every_trial_is_counted_once(self):
        done = self.run_ok(*SMALL, "--trials", "3", "--json", "-")
        result = parse_json(done.stdout)["diffbench"]["selftest"]
        self.assertEqual([kind["planted_slowdown"] for kind in result["kinds"]], [0, 0.05, 0.10])
        for kind in result["kinds"]:
            self.assertEqual(kind["trials"], 3)
            self.assertEqual(kind["faster"] + kind["slower"] + kind["unclear"], 3)
            self.assertEqual(len(kind["ratios"]), 3)
            self.assertTrue(all(each["ratio"] > 0 for each in kind["ratios"]), kind)
        self.assertEqual(result["backend"], "fused")
        fewest, most = result["iterations_per_sample"]
        self.assertTrue(1 <= fewest <= most <= 10)

    def test_the_table_says_what_was_found(self):
        text = self.run_ok(*SMALL, "--trials", "2", "--backend", "simd").stdout
        for words in ["simd with itself", "10 % slower", "Of 2 comparisons of identical code"]:
            self.assertIn(words, text)

    def test_wrong_usage(self):
        for option, value in [("--trials", "0"), ("--budget", "0"), ("--budget", "nan"),
                              ("--threads", "x"), ("--grid", "0")]:
            self.assert_refused(2, option, "selftest", option, value)
        self.assert_refused(2, "nothing", "selftest", "--backend", "nothing")


if __name__ == "__main__":
    unittest.main()
