# SPDX-License-Identifier: Apache-2.0
"""diffbench calibrate and advise through the program."""
import csv
import json
import os
import pathlib
import signal
import subprocess
import unittest

from program import PLANTED_LOAD, PROGRAM, CommandLineTest, parse_json

REPORT = pathlib.Path(__file__).resolve().parents[2] / "bench/report"
RECORDED = ["advise", "--profile",
            str(REPORT.parent / "results/epyc-2core-profile.json")]

# 64x64 only, two backends: some 100 ms.
CALIBRATE = ["calibrate", "--largest", "64", "--dtype", "float32", "--backend", "scalar,fused"]


class Advise(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.env = {"XDG_CACHE_HOME": str(self.directory)}

    def profile(self):
        return self.path("diffbench") / "profile.json"

    def test_calibrated_and_checked(self):
        done = self.run_ok(*CALIBRATE, env=self.env)
        self.assertRegex(done.stdout, r"(?m)^fused +float32 +1 +[\d.]+ [num]?s ")
        profile = parse_json(self.profile().read_text())
        self.assertEqual([way["backend"] for way in profile["diffbench"]["calibrate"]["ways"]],
                         ["scalar", "fused"])

        text = self.run_ok("advise", "--grid", "64", "--iters", "10", env=self.env).stdout
        self.assertIn("predicted: 64x64 float32, 10 iterations", text)
        self.assertRegex(text.splitlines()[-1], r"^(fused|scalar) is predicted to be the fastest")
        self.assertNotIn("RECORDED", text)

        result = parse_json(self.run_ok("advise", "--grid", "64", "--iters", "10", "--check",
                                        "--snapshot-every", "5", "--json", "-", env=self.env).stdout)
        check = result["diffbench"]["advise"]["check"]
        self.assertEqual({(one["backend"], one["run"]) for one in check["predictions"]},
                         {(b, r) for b in ("scalar", "fused") for r in ("warm", "cold")})
        self.assertEqual(check["warm"]["count"], 2)
        for one in check["predictions"]:
            self.assertAlmostEqual(one["error"],
                                   one["predicted_seconds"] / one["measured_seconds"] - 1)

        done = self.run_program("advise", "--grid", "100", "--dtype", "float64", env=self.env)
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done.stderr, "--dtype float64", "diffbench calibrate")

        # Another build's or machine's is taken only by name, and says so.
        profile["context"]["cpu_model"] = "Z80"
        self.profile().write_text(json.dumps(profile))
        self.assert_refused(2, ["cpu_model is Z80", "diffbench calibrate"], "advise", env=self.env)
        recorded = ["advise", "--profile", str(self.profile())]
        text = self.run_ok(*recorded).stdout
        self.assertTrue(text.startswith("RECORDED PROFILE"), text)
        result = parse_json(self.run_ok(*recorded, "--json", "-").stdout)
        self.assertIs(result["diffbench"]["advise"]["profile"]["recorded_elsewhere"], True)
        self.assert_refused(2, "--check", *recorded, "--check")

    def test_a_disturbed_minute_is_marked_and_replaces_no_quiet_one(self):
        calibrate = [*CALIBRATE, "--out", "p.json"]
        done = self.run_ok(*calibrate, env=PLANTED_LOAD)
        self.assertIn("note: other programs were running: they used 1.5 of ", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^2 ways to run are calibrated")
        profile = parse_json(self.path("p.json").read_text())
        self.assertIs(profile["diffbench"]["disturbed"], True)
        done = self.run_ok("advise", "--profile", "p.json", "--grid", "64")
        self.assertIn("calibrate again when nothing else runs", done.stdout)
        self.assertIn("No conclusion: ", done.stdout)

        profile["diffbench"]["disturbed"] = False
        quiet = json.dumps(profile)
        self.path("p.json").write_text(quiet)
        done = self.run_program(*calibrate, env=PLANTED_LOAD)
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr.splitlines(True)[-1], "quiet", "calibrate again")
        self.assertEqual(self.path("p.json").read_text(), quiet)

    def test_ctrl_c_keeps_the_passes_that_were_whole(self):
        longer = ["1024" if word == "64" else word for word in CALIBRATE] + ["--out", "p.json"]
        done = self.run_interrupted("2 of 3, about", *longer)
        self.assertEqual(done.returncode, 130)
        profile = parse_json(self.path("p.json").read_text())["diffbench"]
        self.assertIs(profile["interrupted"], True)
        self.assertRegex(" ".join(profile["notes"]), "each grid was measured 1 of 3 times")
        done = self.run_ok("advise", "--profile", "p.json", "--grid", "64")
        self.assertIn("was interrupted, so its profile lacks", done.stdout)
        self.run_ok(*CALIBRATE, "--out", "p.json")
        whole = self.path("p.json").read_text()
        self.run_interrupted("1 of 3", *longer)
        self.assertEqual(self.path("p.json").read_text(), whole)

    def test_calibrate_says_first_what_it_takes(self):
        err = self.run_ok(*CALIBRATE, "--out", "p.json").stderr
        self.assertRegex(err, r"^diffbench: about \d+ s: 2 backends, grids up to 64x64, 3 times; Ctrl-C keeps")

    def test_out_is_where_the_profile_goes(self):
        self.run_ok(*CALIBRATE, "--out", "p.json", env=self.env)
        self.assertFalse(self.profile().exists())
        self.run_ok("advise", "--profile", "p.json")

    def test_what_can_never_fit_is_not_recommended(self):
        self.run_ok(*CALIBRATE, env=self.env)
        text = self.run_ok("advise", "--grid", "1000000000", "--iters", "1", env=self.env).stdout
        self.assertRegex(text, r"(?m)^scalar .* NO$")
        self.assertIn("None of the ways fits", text)
        text = self.run_ok("advise", "--grid", "8", env=self.env).stdout
        self.assertIn("smaller than what was calibrated", text)

    def test_no_file_is_overwritten_by_another(self):
        self.run_ok(*CALIBRATE, "--out", "p.json", env=self.env)
        before = self.path("p.json").read_text()
        self.assert_refused(2, "p.json", "advise", "--profile", "p.json", "--json", "p.json")
        self.assert_refused(2, "p.json", *CALIBRATE, "--out", "p.json", "--json", "./p.json")
        self.assertEqual(self.path("p.json").read_text(), before)
        self.run_ok(*CALIBRATE, env=self.env)
        self.assert_refused(2, "profile.json", "advise", "--json", str(self.profile()), env=self.env)

    def test_a_profile_that_cannot_be_written_is_known_before_any_work(self):
        self.path("file").write_text("")
        self.assert_refused(1, "profile", *CALIBRATE, "--json", "out.json",
                            env={"XDG_CACHE_HOME": str(self.path("file"))})
        self.assertFalse(self.path("out.json").exists())

    def test_a_profile_that_cannot_be_written_loses_itself_only(self):
        done = self.run_program(*CALIBRATE, "--out", "/dev/full", "--json", "out.json")
        self.assertEqual(done.returncode, 1)
        _, written, complaint = done.stderr.splitlines(keepends=True)  # the first: what it takes
        self.assertEqual(written, "diffbench: wrote out.json\n")
        self.assert_one_line(complaint, "/dev/full")
        self.assertIn("No profile was written.", done.stdout)
        self.assertTrue(parse_json(self.path("out.json").read_text())["diffbench"]["calibrate"]["ways"])

    def test_a_check_runs_on_as_many_threads_as_the_calibration(self):
        self.run_ok("calibrate", "--largest", "64", "--dtype", "float32", "--backend", "thrust_host",
                    "--threads", "1", env=self.env)
        result = parse_json(self.run_ok("advise", "--grid", "64", "--check", "--json", "-",
                                        env=self.env).stdout)["diffbench"]["advise"]
        self.assertEqual([way["threads"] for way in result["ways"]], [1])

    def test_without_calibration_it_begins_with_one(self):
        child = subprocess.Popen([PROGRAM, "advise", "--grid", "640"], cwd=self.directory,
                                 env={**os.environ, **self.env}, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(child.kill)
        self.assertIn("calibrating it first", child.stderr.readline())
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        self.assertEqual((child.returncode, out), (130, ""))
        self.assertRegex(err, r"\A(diffbench: about \d+ min: .*\n)?diffbench: interrupted\n\Z")

    def test_what_is_no_profile(self):
        self.path("text").write_text("hello")
        self.assert_refused(2, "text: ", "advise", "--profile", "text")
        self.path("other.json").write_text(
            '{"context": {}, "benchmarks": [], "diffbench": {"schema": 1}}')
        self.assert_refused(2, "not a profile", "advise", "--profile", "other.json")
        self.assert_refused(2, ["none.json", "diffbench calibrate"], "advise", "--profile",
                            "none.json")

    def card(self, change):
        """A file with the program's T4, changed."""
        card = json.loads((REPORT.parent / "model/assumed_cards.json").read_text())["t4"]
        change(card["figures"])
        self.path("card.json").write_text(json.dumps(card))
        return self.path("card.json")

    def test_an_assumed_card_is_marked_in_every_line(self):
        done = self.run_ok(*RECORDED, "--assume", "t4", "--json", "t4.json", "--csv", "t4.csv")
        self.assertRegex(done.stdout, r"(?m)^ASSUMED, NOT MEASURED: NVIDIA T4")
        for backend in ("cuda_stream", "cuda_graph", "cuda"):
            self.assertRegex(done.stdout, rf"(?m)^{backend} \(assumed t4\) .* to .* yes$")
        self.assertRegex(done.stdout, r"(?m)^Assumed, not measured \(t4\): .* they fit\. .* by the rule of 10 "
                                      r"times\. The GPU would pay ")
        own = parse_json(self.path("t4.json").read_text())["diffbench"]["advise"]
        self.assertEqual({way["device"] for way in own["ways"]}, {"cpu"})
        self.assertEqual({row["assumed"] for row in own["assumed"]["rows"]}, {"t4"})
        with self.path("t4.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({(row["backend"].startswith("cuda"), row["assumed"], row["warm_seconds"] == "")
                          for row in rows}, {(True, "t4", True), (False, "", False)})
        done = self.run_ok(*RECORDED, "--assume", "t4", "--grid", "100000")
        self.assertIn("they do not fit", done.stdout)

    def test_a_file_is_a_card(self):
        card = self.card(lambda figures: None)
        self.assertIn(f"cuda (assumed {card})",
                      self.run_ok(*RECORDED, "--assume", str(card)).stdout)

    def test_a_bad_card_is_one_clear_line(self):
        def rename(figures):
            figures["context_s"] = figures.pop("context_ms")

        def swap(figures):
            figures["context_ms"]["low"] = 1e6
        for mention, change in (("lacks the figure barrier_us", lambda f: f.pop("barrier_us")),
                                ("context_s: another unit than that of context_ms", rename),
                                ("context_ms: low, 1000000, is more than high", swap),
                                ("NaN", lambda f: f["launch_us"].update(low=float("nan")))):
            with self.subTest(mention):
                card = self.card(change)
                self.assert_refused(2, ["--assume", "card.json", mention], *RECORDED, "--assume", str(card))
        self.assert_refused(2, ["--assume", "h200, a100, t4, laptop"], *RECORDED, "--assume", "voodoo")
        self.assert_refused(2, "--weak", "scaling", "--weak", "--assume", "t4")

    def test_bad_options(self):
        self.assert_refused(2, "--largest", "calibrate", "--largest", "8")
        self.assert_refused(2, "--dtype", "calibrate", "--dtype", "float16")
        self.assert_refused(1, "nowhere", *CALIBRATE, "--out", "nowhere/p.json")
        self.assert_refused(2, "--snapshot-every", "advise", "--snapshot-every", "0")


if __name__ == "__main__":
    unittest.main()
