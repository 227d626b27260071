"""The main job refuses every planted backend (tests/conformance/planted_session.hpp), at its own grid and
number of steps, and times the right one beside them."""
import re
import unittest

from program import WITH_WRONG_BACKEND, CommandLineTest, parse_json

# The block's heat comes to no edge in 1000 steps, so of these faults alone its field tells.
TOLD_BY_THE_RUN = {"short_sweep", "short_silent_sweep", "wrong_buffer", "flush", "contract", "other_order",
                   "float_factor", "stale_band"}


class PlantedBackends(CommandLineTest):
    def test_the_main_job_refuses_all(self):
        done = self.run_program("planted", "--grid", "640", "--iters", "1000", "--budget", "1", "--baseline",
                                "scalar", "--json", "out.json", program=WITH_WRONG_BACKEND)
        self.assertEqual(done.returncode, 3, done.stderr)
        right, *planted = parse_json(self.path("out.json").read_text())["diffbench"]["results"]
        self.assertIs(right["verified"]["bitwise"], True)
        self.assertGreater(right["seconds_per_iteration"], 0)
        self.assertEqual(len(planted), 26)
        for row in planted:
            with self.subTest(row["backend"]):
                self.assertIs(row["verified"]["bitwise"], False)
                self.assertIsNone(row["verified"]["within_ulps"])
                self.assertIsNotNone(row["verified"]["fields"]["wrong"])
                self.assertIsNone(row["seconds_per_iteration"])
                self.assertEqual(row["samples_seconds"], [])
                self.assertRegex(done.stdout, rf"(?m)^{row['backend']} .* NO( after \d+ steps)?$")
        told = {row["backend"] for row in planted if row["verified"]["difference"] is not None}
        self.assertEqual(told, TOLD_BY_THE_RUN)
        self.assertEqual(len(re.findall(r"(?m)^NOT VERIFIED: ", done.stdout)), 26)


if __name__ == "__main__":
    unittest.main()
