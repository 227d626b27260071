# SPDX-License-Identifier: Apache-2.0
"""Every exit code of docs and --help: 0, 1, 2, 3, 4, 130. What is refused as bad input has tests of
its own (bad_*_test.py)."""
import re
import unittest

from program import (LONG, QUICK, SOME_TIMING, WITH_WRONG_BACKEND, CommandLineTest,
                     host_and_engine_events, parse_json, row_of, samples_of)


class ExitCodes(CommandLineTest):
    def test_0_when_all_rows_are_verified(self):
        self.run_ok(*QUICK)

    def test_0_with_a_hint_when_pinned_has_no_effect(self):
        if re.search(r"^\S+ +cuda ", self.run_ok("list").stdout, re.M):
            self.skipTest("this build has a CUDA backend")
        done = self.run_ok(*QUICK, "--pinned")
        self.assert_one_line(done.stderr, "--pinned")

    def test_1_on_an_error_and_2_on_wrong_usage(self):
        self.assert_refused(1, "nowhere", *QUICK, "--json", "nowhere/out.json")
        self.assert_refused(2, "--nosuch", "--nosuch")

    def test_4_when_a_device_is_not_there(self):
        """No machine has 1000 GPUs; without one, the driver's own words say so."""
        self.assert_refused(4, "--device 999: ", "--grid", "24x16", "--device", "999")

    def test_0_when_no_named_backend_needs_the_device(self):
        self.run_ok(*QUICK, "--device", "999")

    def test_4_when_a_peer_cannot_run(self):
        self.assert_refused(4, "python3-numpy", *QUICK, "--peer", "numpy",
                            env={"DIFFBENCH_PYTHON": "/bin/false"})

    def test_4_when_a_peer_has_no_script(self):
        self.assert_refused(4, "DIFFBENCH_PEERS", *QUICK, "--peer", "numpy",
                            env={"DIFFBENCH_PEERS": str(self.directory)})

    def test_4_when_a_backend_is_not_compiled(self):
        missing = re.findall(r"^(\S+) .* not compiled: ", self.run_ok("list").stdout, re.M)
        for name in missing:
            self.assert_refused(4, name, "--backend", name)
            # ... and never replaced by another one.
            self.assert_refused(4, name, "--backend", "scalar", "--backend", name)


class NotVerified(CommandLineTest):
    """Exit code 3."""

    def test_a_wrong_backend(self):
        done = self.run_program("--grid", "24x16", "--iters", "20", "--budget", "20", "--baseline",
                                "scalar", "--json", "out.json", program=WITH_WRONG_BACKEND)
        self.assertEqual(done.returncode, 3)
        written, complaint = done.stderr.splitlines(keepends=True)
        self.assertEqual(written, "diffbench: wrote out.json\n")
        self.assert_one_line(complaint, "differs from the reference")
        self.assertRegex(done.stdout, r"NOT VERIFIED: wrong_corner: differs .* after 20 steps .*"
                         r"in 1 of 1273 cells in a corner, first at x=66 y=18; as little as rounding does, but")
        self.assertRegex(done.stdout, r"(?m)^wrong_corner .* NO$")

        # The file is written all the same; the wrong row has an error and no time, the right one
        # beside it has its time.
        result = parse_json(self.path("out.json").read_text())
        wrong, right = row_of(result, "wrong_corner"), row_of(result, "scalar")
        self.assertIs(wrong["verified"]["bitwise"], False)
        self.assertGreater(wrong["verified"]["max_abs_error"], 0)
        self.assertLess(wrong["verified"]["max_abs_error"], 1e-6)
        self.assertEqual(wrong["samples_seconds"], [])
        self.assertIsNone(wrong["seconds_per_iteration"])
        self.assertIs(right["verified"]["bitwise"], True)
        self.assertGreater(right["seconds_per_iteration"], 0)
        self.assertEqual({entry["run_name"] for entry in result["benchmarks"]},
                         {"stencil/scalar/float32/24x16"})

    def test_0_within_the_tolerance_and_3_beyond_it(self):
        run = ("--grid", "24x16", "--iters", "20", "--budget", "20", "--baseline", "scalar",
               "--json", "out.json", "--tolerance")
        done = self.run_program(*run, "1000", program=WITH_WRONG_BACKEND)
        self.assertEqual(done.returncode, 0, done.stderr)
        row = row_of(parse_json(self.path("out.json").read_text()), "wrong_corner")
        ulps = row["verified"]["within_ulps"]
        self.assertGreater(ulps, 1)
        self.assertIs(row["verified"]["bitwise"], False)
        self.assertGreater(row["seconds_per_iteration"], 0)
        self.assertRegex(done.stdout, rf"(?m)^wrong_corner .* within {ulps} ulp$")
        self.assertRegex(done.stdout, r"(?m)^note: wrong_corner is not verified: ")
        done = self.run_program(*run, "1", program=WITH_WRONG_BACKEND)
        self.assertEqual(done.returncode, 3)

    def test_a_diverged_field(self):
        """All backends agree on it, to the bit; it still proves nothing."""
        result = self.result("--allow-unstable", "--dt", "1000", exit_code=3)
        for row in result["diffbench"]["results"]:
            self.assertIs(row["verified"]["bitwise"], False)
            self.assertGreater(row["verified"]["nonfinite"], 0)
        self.assertGreater(result["diffbench"]["field"]["nonfinite"], 0)


class Interrupted(CommandLineTest):
    """Exit code 130: Ctrl-C keeps what was measured. The progress line shows when that is something,
    so stderr is a terminal."""

    def test_ctrl_c_while_a_row_is_timed(self):
        done = self.run_interrupted(SOME_TIMING, *LONG, "--json", "out.json", "--trace", "trace.json")
        self.assertEqual(done.returncode, 130, done.stderr)

        result = parse_json(self.path("out.json").read_text())
        self.assertIs(result["diffbench"]["interrupted"], True)
        row = row_of(result, "fused")
        self.assertEqual(row["status"], "ok")
        self.assertGreaterEqual(len(row["samples_seconds"]), 1)
        self.assertEqual(len(samples_of(result)), len(row["samples_seconds"]))
        self.assertIn("fused", done.stdout)

        events = host_and_engine_events(self.path("trace.json").read_text())[1, 0]
        samples = [event for event in events if event["name"] == "fused: sample"]
        # The one that was cut off is in the trace only.
        self.assertIn(len(samples) - len(row["samples_seconds"]), (0, 1))

        # Progress was on stderr only, and the line is wiped before anything else is said.
        self.assertNotIn("\x1b", done.stdout)
        self.assertIn("diffbench: finishing this step; Ctrl-C again ends at once", done.stderr)
        end = done.stderr.rsplit("\x1b[K", 1)[1]
        written, last = end.replace("\r\n", "\n").splitlines(keepends=True)
        self.assertEqual(written, "diffbench: wrote trace.json, out.json\n")
        self.assert_one_line(last, "interrupted")


if __name__ == "__main__":
    unittest.main()
