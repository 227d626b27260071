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
        self.assertRegex(err, r"\A(diffbench: about \d+ (s|min): .*\n)?diffbench: interrupted\n\Z")

    def test_what_is_no_profile(self):
        self.path("text").write_text("hello")
        self.assert_refused(2, "text: ", "advise", "--profile", "text")
        self.path("other.json").write_text(
            '{"context": {}, "benchmarks": [], "diffbench": {"schema": 1}}')
        self.assert_refused(2, "not a profile", "advise", "--profile", "other.json")
        self.assert_refused(2, ["none.json", "diffbench calibrate"], "advise", "--profile",
                            "none.json")

    def test_an_impossible_profile_is_one_clear_line(self):
        recorded = pathlib.Path(RECORDED[-1]).read_text()
        for change, named in ((lambda way: way["grids"][0].update(threads=-5), "threads is -5"),
                              (lambda way: way["grids"][0].update(threads=1000000), "threads is 1000000"),
                              (lambda way: way["grids"][-1].update(side=2 ** 62), f"side is {2 ** 62}"),
                              (lambda way: way["grids"][-1].update(side=2 ** 64 - 1), f"side is {2 ** 64 - 1}"),
                              (lambda way: way["grids"][0].update(side=64.5), "side is 64.5"),
                              (lambda way: way["grids"][0]["calls"][-1].update(steps=10 ** 15), "steps is"),
                              (lambda way: way["grids"][0]["calls"][0].update(seconds=0), "1 steps take no time"),
                              (lambda way: way["grids"][0].update(setup_seconds=-1), "setup_seconds is -1"),
                              (lambda way: way.update(device="emulated"), "the device is emulated, and what is emulated")):
            profile = json.loads(recorded)
            way = profile["diffbench"]["calibrate"]["ways"][0]
            change(way)
            self.path("p.json").write_text(json.dumps(profile))
            with self.subTest(named):
                self.assert_refused(2, ["p.json: ", f"{way['backend']} in {way['dtype']}: {named}",
                                        "diffbench calibrate"], "advise", "--profile", "p.json")
        profile = json.loads(recorded)
        ways = profile["diffbench"]["calibrate"]["ways"]
        ways.append(ways[0])
        self.path("p.json").write_text(json.dumps(profile))
        self.assert_refused(2, ["p.json: ", "is there twice", "diffbench calibrate"], "advise", "--profile", "p.json")

    def test_no_option_is_dropped_without_a_word(self):
        for other in ("--grid 640", "--check", "--json out.json", "--assume t4", "--profile p.json"):
            self.assert_refused(2, f"--print-card and {other.split()[0]}", "advise", "--print-card", "t4",
                                *other.split())
        self.assertIn('"reported_as"', self.run_ok("advise", "--print-card", "t4", "--no-progress").stdout)
        self.assert_refused(2, "--check and --check-grid", "advise", "--check", "--check-grid")

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
                                      r"times\. Its time is ruled by .*\. The GPU would pay .*\. It pays as long as ")
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

    def test_our_own_figures_as_those_of_another_code_give_the_same_answers(self):
        """simd at 640x640: its warm time by the profile, 8 bytes and 7 operations a cell, 8 steps a launch."""
        ours = [*RECORDED, "--grid", "640", "--assume", "h200", "--json", "-"]
        recorded = parse_json(self.run_ok(*ours).stdout)["diffbench"]["advise"]
        simd = next(way for way in recorded["ways"] if way["backend"] == "simd")
        step = f"{simd['warm_seconds'] / 1000!r}s"
        code = ["--bytes-per-cell", "8", "--flops-per-cell", "7", "--cells", "409600", "--steps-per-launch", "8"]
        own = parse_json(self.run_ok("advise", "--step", step, *code, "--json", "-").stdout)["diffbench"]["advise"]
        self.assertEqual(own["assumed"]["rows"], recorded["assumed"]["rows"])
        left, right = own["assumed"]["answers"], recorded["assumed"]["answers"]
        for member in ("worth_it", "ruled_by", "parts"):
            self.assertEqual(left[member], right[member], member)
        for end in ("low", "high"):
            self.assertAlmostEqual(left["times_as_fast"][end] / right["times_as_fast"][end], 1, 6)

        # From when on it pays follows from the CPU's time at other sizes, too: of a profile whose times
        # grow with cells and steps, as those of the other code are taken to, all is equal.
        profile = json.loads(pathlib.Path(RECORDED[-1]).read_text())
        way = next(w for w in profile["diffbench"]["calibrate"]["ways"]
                   if w["backend"] == "simd" and w["dtype"] == "float32")
        grid = dict(way["grids"][0], threads=2, setup_seconds=0, copy_in_seconds=0, copy_out_seconds=0)
        way["grids"] = [dict(grid, side=side, calls=[{"steps": n, "seconds": n * 4e-11 * side * side}
                                                     for n in (1, 1024)])
                        for side in (2 ** power for power in range(4, 17))]
        profile["diffbench"]["calibrate"]["ways"] = [way]
        self.path("even.json").write_text(json.dumps(profile))
        even = self.run_ok("advise", "--profile", "even.json", *ours[3:]).stdout
        even = parse_json(even)["diffbench"]["advise"]["assumed"]
        own = self.run_ok("advise", "--step", f"{4e-11 * 409600!r}s", *code, "--json", "-").stdout
        own = parse_json(own)["diffbench"]["advise"]["assumed"]
        self.assertEqual(own["rows"], even["rows"])
        for member in ("worth_it", "ruled_by", "parts", "gpu_pays_from"):
            self.assertEqual(own["answers"][member], even["answers"][member], member)
        for end in ("low", "high"):
            # Between grids a copy of a profile takes a nanosecond at least.
            self.assertAlmostEqual(own["answers"]["times_as_fast"][end] / even["answers"]["times_as_fast"][end], 1, 6)

    OWN = {"step": "12ms", "bytes_per_cell": 40, "flops_per_cell": 60, "cells": 1e8, "copies_per_step": 0.02}

    def test_a_code_from_a_file_is_that_of_the_options(self):
        options = [word for name, value in self.OWN.items()
                   for word in (f"--{name.replace('_', '-')}", str(value))]
        self.path("code.json").write_text(json.dumps(self.OWN))
        from_file = self.run_ok("advise", "--kernel", "code.json", "--assume", "t4")
        self.assertEqual(from_file.stdout, self.run_ok("advise", *options, "--assume", "t4").stdout)
        self.assertIn("like cuda_graph (assumed t4)", from_file.stdout)
        self.assertIn("40 bytes a cell take 3.73 GiB of its 14.5 to 14.6 GiB: they fit", from_file.stdout)
        # Without a card's name it is an H200; the file's schema takes what the program takes.
        self.assertIn("(assumed h200)", self.run_ok("advise", "--kernel", "code.json").stdout)

    def test_nonsense_of_a_code_is_refused_by_name(self):
        self.path("code.json").write_text(json.dumps(self.OWN))
        whole = "--step 12ms --bytes-per-cell 40 --flops-per-cell 60 --cells 1e8"
        for arguments, named in ((whole.replace("12ms", "0ms"), "--step 0ms"),
                                 (whole.replace("12ms", "12"), "--step 12: give the time"),
                                 (whole.replace("12ms", "-1ms"), "--step -1ms"),
                                 (whole.replace("40", "0"), "--bytes-per-cell 0"),
                                 (whole.replace("60", "-1"), "--flops-per-cell -1"),
                                 (whole.replace("1e8", "0"), "--cells 0"),
                                 (whole.replace("1e8", "nan"), "--cells nan"),
                                 (whole + " --copies-per-step -1", "--copies-per-step -1"),
                                 (whole + " --steps-per-launch 21", "--steps-per-launch 21"),
                                 (whole + " --grid 640", "--grid and --step"),
                                 (whole + " --profile p.json", "--profile and --step"),
                                 (whole + " --check", "--check and --step"),
                                 (whole + " --print-card t4", "--print-card and --step"),
                                 ("--cells 1e8", "--cells needs --step, --bytes-per-cell, --flops-per-cell"),
                                 ("--kernel code.json --cells 1e8", "--kernel and --cells"),
                                 ("--kernel none.json", "--kernel none.json")):
            with self.subTest(arguments):
                self.assert_refused(2, named, "advise", *arguments.split())
        for change, named in (({"cells": 0}, "cells 0"), ({"cells": "many"}, 'cells "many"'),
                              ({"step": "0ms"}, "step 0ms"), ({"step": 0.012}, "step 0.012"),
                              ({"steps_per_launch": 1.5}, "steps_per_launch 1.5"), ({"name": 3}, "name"),
                              ({"byte_per_cell": 4}, "did you mean 'bytes_per_cell'?"),
                              ({"flops_per_cell": None}, "flops_per_cell null")):
            with self.subTest(change):
                self.path("bad.json").write_text(json.dumps(self.OWN | change))
                self.assert_refused(2, ["--kernel bad.json", named], "advise", "--kernel", "bad.json")
        for text, named in (("{", "is not JSON"), ("[]", "must be an object"), ("{}", "lacks the member step")):
            self.path("bad.json").write_text(text)
            self.assert_refused(2, ["--kernel bad.json", named], "advise", "--kernel", "bad.json")

    def test_bad_options(self):
        self.assert_refused(2, "--largest", "calibrate", "--largest", "8")
        self.assert_refused(2, "--dtype", "calibrate", "--dtype", "float16")
        self.assert_refused(1, "nowhere", *CALIBRATE, "--out", "nowhere/p.json")
        self.assert_refused(2, "--snapshot-every", "advise", "--snapshot-every", "0")


if __name__ == "__main__":
    unittest.main()
