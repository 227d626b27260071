# SPDX-License-Identifier: Apache-2.0
"""--telemetry: figures beside the times, or the reason why there are none; never a failure."""
import unittest

from program import QUICK, CommandLineTest


class Telemetry(CommandLineTest):
    def test_every_timed_row_has_it_and_every_source_says_where_from_or_why_not(self):
        result = self.result("--telemetry", env={"DIFFBENCH_NVML": "no_such_library.so"})
        own = result["diffbench"]
        for row in own["results"]:
            telemetry = row["telemetry"]
            self.assertEqual(telemetry["cell_updates"], 24 * 16 * row["iterations_per_sample"]
                             * len(row["samples_seconds"]))
            self.assertGreaterEqual(telemetry["seconds"], sum(row["samples_seconds"]) * (1 - 1e-9))
            self.assertIsNone(telemetry["gpu"])
        sources = {source["name"]: source for source in own["telemetry"]["sources"]}
        self.assertEqual(set(sources), {"CPU energy", "CPU clock", "GPU"})
        self.assertTrue(all(source["detail"] for source in sources.values()))
        self.assertIs(sources["GPU"]["available"], False)
        self.assertIn("no_such_library.so", sources["GPU"]["detail"])
        energy = own["results"][0]["telemetry"]["cpu"]["joules"]
        self.assertEqual(energy is not None, sources["CPU energy"]["available"])

    def test_a_library_that_is_none(self):
        self.path("broken.so").write_text("not a library")
        text = self.run_ok(*QUICK, "--telemetry",
                           env={"DIFFBENCH_NVML": str(self.path("broken.so"))}).stdout
        self.assertRegex(text, r"(?m)^telemetry +timed +readings")
        self.assertRegex(text, r"(?m)^GPU: not available: NVML: .*broken\.so")

    def test_without_the_option_there_is_none(self):
        result = self.result()
        self.assertIsNone(result["diffbench"]["telemetry"])
        self.assertIsNone(result["diffbench"]["results"][0]["telemetry"])
        self.assertNotIn("telemetry", self.run_ok(*QUICK).stdout)


if __name__ == "__main__":
    unittest.main()
