# SPDX-License-Identifier: Apache-2.0
"""The main job refuses every planted backend (tests/conformance/planted_session.hpp), at its own grid and
number of steps, and times the right one beside them."""
import unittest

from program import WITH_WRONG_BACKEND, CommandLineTest, parse_json

# The block's heat comes to no edge in 1000 steps, so its field can tell of these faults alone; of some only
# after certain numbers of steps, of which slow rows make fewer than were asked for.
SHOWN_AWAY_FROM_EDGES = {"short_sweep", "short_silent_sweep", "wrong_buffer", "flush", "flush_if_wide",
                         "contract", "other_order", "float_factor", "stale_band"}


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
                run, fields = row["verified"]["difference"], row["verified"]["fields"]
                self.assertFalse(run is None and fields["wrong"] is None)
                if row["backend"] not in SHOWN_AWAY_FROM_EDGES:
                    self.assertIsNone(run)
                self.assertIsNone(row["seconds_per_iteration"])
                self.assertEqual(row["samples_seconds"], [])
                self.assertRegex(done.stdout, rf"(?m)^{row['backend']} .* NO( after \d+ steps)?$")
                self.assertRegex(done.stdout, rf"(?m)^NOT VERIFIED: (.*, )?{row['backend']}[,:]")


if __name__ == "__main__":
    unittest.main()
