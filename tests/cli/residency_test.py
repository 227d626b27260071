# SPDX-License-Identifier: Apache-2.0
"""diffbench residency: its ladder, its result file, and what it refuses."""
import unittest

from program import CommandLineTest, parse_json

SMALL = ("residency --grid 24x16 --iters 20 --budget 20 --threads 1 --roundtrip-every 1,10 "
         "--snapshot-every 5").split()


class Residency(CommandLineTest):
    def test_every_row_is_verified_and_only_real_ones_have_times(self):
        result = parse_json(self.run_ok(*SMALL, "--json", "-").stdout)
        own = result["diffbench"]["residency"]
        rows = {row["backend"]: row for row in own["results"]}
        for name in ("fused", "simd"):
            self.assertEqual(rows[name]["place"], "cpu")
        for row in rows.values():
            self.assertIs(row["verified"]["bitwise"], True, row["backend"])
            self.assertEqual(row["verified"]["steps"], 20)
            self.assertEqual(row["seconds_per_iteration"] is None, row["device"] == "emulated")
        gpus = {row["device"] for row in rows.values() if row["place"] == "gpu"}
        self.assertEqual(own["why_no_gpu"] is None, bool(gpus))
        if "cuda" not in gpus:
            trips = rows["simd, round trip every 10"]
            self.assertEqual(trips["place"], "stand_in")
            self.assertEqual(trips["roundtrip_every"], 10)
            self.assertGreater(trips["times_resident"], 0)
            self.assertEqual(rows["simd, snapshot every 5"]["snapshot_every"], 5)
            # Copies are copies in the ledger, and steps are steps.
            every_step = rows["simd, round trip every 1"]["phases"]
            once = rows["simd"]["phases"]
            self.assertGreater(every_step["h2d"], once["h2d"])
            self.assertGreater(every_step["d2h"], once["d2h"])
            self.assertIsNone(rows["simd, round trip every 1"]["busy"])

    def test_table(self):
        table = self.run_ok(*SMALL, "--assume", "laptop").stdout
        self.assertRegex(table, r"(?m)^cuda_stream, round trip every 1, pageable \(assumed laptop\) ")
        self.assertRegex(table.splitlines()[-1], r"^Assumed, not measured \(laptop\): .* they fit\.")
        self.assertRegex(table, r"(?m)^row +place +time/iter +spread ")
        self.assertRegex(table, r"(?m)^simd .* yes$")
        if " gpu " not in table:
            self.assertRegex(table, r"(?m)^simd, round trip every 1 +stand_in ")
            self.assertIn("memcpy stands for the copies", table)
            self.assertIn("not measured here", table.splitlines()[-2])

    def test_refusals(self):
        for arguments, mention in [
                ("--roundtrip-every 0", "--roundtrip-every 0"),
                ("--roundtrip-every 1,often", "--roundtrip-every often"),
                ("--snapshot-every -1", "--snapshot-every -1"),
                ("--iters 9 --roundtrip-every 1,10", "--roundtrip-every 10"),
                ("--iters 9 --snapshot-every 10", "--snapshot-every 10"),
                ("--threads 0", "--threads 0"),
                ("--grid 99999999", "99999999"),
                ("--backend simd", "--backend")]:
            with self.subTest(arguments):
                self.assert_refused(2, mention, "residency", *arguments.split())
        self.assert_refused(1, "nowhere", *SMALL, "--json", "nowhere/out.json")
        self.assert_refused(4, "--device 999: ", *SMALL, "--device", "999")


if __name__ == "__main__":
    unittest.main()
