# SPDX-License-Identifier: Apache-2.0
"""diffbench selftest: what it reports and refuses. With fields this small and so little time the
rates mean nothing; that verdicts are right is a matter of the unit tests of ratios."""
import pathlib
import time
import unittest

from program import CommandLineTest, parse_json

SMALL = "selftest --grid 16 --iters 10 --budget 2 --threads 1".split()


def read(file):
    try:
        return file.read_bytes()
    except OSError:  # not ours, or gone
        return b""


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
        self.assertLessEqual(result["iterations_per_sample"][1], 10)

    def test_the_table_says_what_was_found(self):
        text = self.run_ok(*SMALL, "--trials", "2", "--backend", "simd").stdout
        for words in ["simd with itself", "10 % slower", "Of [12] comparisons of identical code"]:
            self.assertRegex(text, words)

    def test_a_load_of_its_own_ends_with_it(self):
        for load in ("loop", "loops", "bursts", "copies"):
            done = self.run_ok(*SMALL, "--trials", "1", "--beside", load, "--json", "beside.json", env={"LOAD_MARK": load})
            self.assertRegex(done.stdout, r"note: beside (.*); (the interval of a ratio|no ratio) of equal rows")
            self.assertIn("twice as long", done.stdout)
            self.assertEqual(parse_json(self.path("beside.json").read_text())["diffbench"]["selftest"]
                             ["kinds"][1]["planted_slowdown"], 1)
            for _ in range(100):  # a burst that has begun ends by itself
                running = [process.parent.name for process in pathlib.Path("/proc").glob("[0-9]*/environ")
                           if f"LOAD_MARK={load}\0".encode() in read(process)]
                if not running:
                    break
                time.sleep(0.1)
            self.assertEqual(running, [], "its load runs on")

    def test_wrong_usage(self):
        for option, value in [("--trials", "0"), ("--budget", "0"), ("--budget", "nan"),
                              ("--threads", "x"), ("--grid", "0")]:
            self.assert_refused(2, option, "selftest", option, value)
        self.assert_refused(2, "nothing", "selftest", "--backend", "nothing")
        self.assert_refused(2, "nothing", "selftest", "--beside", "nothing")
        self.assert_refused(2, "there is no such option", "selftest", "--engine", "cpu")


if __name__ == "__main__":
    unittest.main()
