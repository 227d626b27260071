# SPDX-License-Identifier: Apache-2.0
"""diffbench advise through the program."""
import csv
import json
import pathlib
import unittest

from program import PLANTED_LOAD, CommandLineTest, parse_json

REPORT = pathlib.Path(__file__).resolve().parents[2] / "bench/report"
MEASURED = "advise --grid 64 --iters 1000000 --backend scalar,fused --budget 0.2".split()
OWN_CODE = "advise --step 12ms --bytes-per-cell 40 --flops-per-cell 60 --cells 1e8".split()


class Advise(CommandLineTest):
    def test_a_long_run_is_foretold_from_few_of_its_steps(self):
        done = self.run_ok(*MEASURED, "--json", "advise.json", env={"DIFFBENCH_PLANTED_LOAD": "0"})
        self.assertRegex(done.stdout, r"(?m)^predicted: 64x64 float32, 1000000 iterations, from \d+ that were measured$")
        self.assertRegex(done.stdout, r"(?m)^(scalar|fused) would be the fastest here: ")
        own = parse_json(self.path("advise.json").read_text())["diffbench"]["advise"]
        self.assertLess(own["measured_iterations"], 100000)
        self.assertEqual({way["backend"] for way in own["ways"]}, {"scalar", "fused"})
        for way in own["ways"]:
            self.assertAlmostEqual(way["warm_seconds"] / way["seconds_per_step"] / 1e6, 1, 1)

    def test_a_card_is_held_against_the_fastest_here(self):
        done = self.run_ok(*MEASURED, "--assume", "t4", "--json", "t4.json", "--csv", "t4.csv",
                           env={"DIFFBENCH_PLANTED_LOAD": "0"})
        self.assertRegex(done.stdout, r"(?m)^ASSUMED, NOT MEASURED: NVIDIA T4")
        for backend in ("cuda_stream", "cuda_graph", "cuda"):
            self.assertRegex(done.stdout, rf"(?m)^{backend} \(assumed t4\) .* to .*x$")
        self.assertRegex(done.stdout, r"(?m)^Assumed, not measured \(t4\): .* they fit\. .* by the rule of 10 "
                                      r"times\. .* of a warm run\. The GPU would pay .*\. (It pays|Even a field) ")
        own = parse_json(self.path("t4.json").read_text())["diffbench"]["advise"]
        self.assertEqual({way["device"] for way in own["ways"]}, {"cpu"})
        self.assertEqual({row["assumed"] for row in own["assumed"]["rows"]}, {"t4"})
        with self.path("t4.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({(row["backend"].startswith("cuda"), row["assumed"], row["warm_seconds"] == "")
                          for row in rows}, {(True, "t4", True), (False, "", False)})

    def test_beside_others_it_says_how_wide_its_times_are(self):
        done = self.run_ok(*MEASURED, "--assume", "t4", "--json", "t4.json", env=PLANTED_LOAD)
        self.assertRegex(done.stdout, r"(?m)^That was measured beside other programs: without them, each time would be 0\.\d+ to 1\.\d+ ")
        own = parse_json(self.path("t4.json").read_text())["diffbench"]
        rival = min(way["warm_seconds"] for way in own["advise"]["ways"])
        run = own["advise"]["assumed"]["rows"][0]
        self.assertLess(run["times_best_cpu"]["low"], 0.9 * rival / run["warm_seconds"]["high"])
        self.assertGreater(run["times_best_cpu"]["high"], 1.1 * rival / run["warm_seconds"]["low"])

    def test_where_it_does_not_fit(self):
        cells = ["--cells" if word == "--cells" else "1e12" if word == "1e8" else word for word in OWN_CODE]
        self.assertIn("they do not fit", self.run_ok(*cells, "--assume", "t4").stdout)

    def test_no_option_is_dropped_without_a_word(self):
        for other in ("--grid 640", "--json out.json", "--assume t4"):
            self.assert_refused(2, f"--print-card and {other.split()[0]}", "advise", "--print-card", "t4",
                                *other.split())
        self.assertIn('"reported_as"', self.run_ok("advise", "--print-card", "t4", "--no-progress").stdout)

    def card(self, change):
        """A file with the program's T4, changed."""
        card = json.loads((REPORT.parent / "model/assumed_cards.json").read_text())["t4"]
        change(card["figures"])
        self.path("card.json").write_text(json.dumps(card))
        return self.path("card.json")

    def test_a_file_is_a_card(self):
        card = self.card(lambda figures: None)
        self.assertIn(f"like cuda_graph (assumed {card})",
                      self.run_ok(*OWN_CODE, "--assume", str(card)).stdout)

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
                self.assert_refused(2, ["--assume", "card.json", mention], *OWN_CODE, "--assume", str(card))
        self.assert_refused(2, ["--assume", "h200, a100, t4, laptop"], *OWN_CODE, "--assume", "voodoo")
        self.assert_refused(2, "--weak", "scaling", "--weak", "--assume", "t4")

    def test_the_card_of_a_code_is_an_h200_or_another(self):
        self.assertIn("(assumed h200)", self.run_ok(*OWN_CODE).stdout)
        text = self.run_ok(*OWN_CODE, "--copies-per-step", "0.02", "--assume", "t4").stdout
        self.assertIn("like cuda_graph (assumed t4)", text)
        self.assertIn("40 bytes a cell take 3.73 GiB of its 14.5 to 14.6 GiB: they fit", text)

    def test_the_stencil_as_a_code_of_ones_own_is_the_stencil(self):
        code = ("advise --step 1ms --bytes-per-cell 8 --flops-per-cell 7 --cells 409600 --steps-per-launch 8 "
                "--json -").split()
        own = parse_json(self.run_ok(*code).stdout)["diffbench"]["advise"]["assumed"]["rows"]
        ours = parse_json(self.run_ok("--grid", "640", "--iters", "1000", "--backend", "fused", "--budget", "0.1",
                                      "--assume", "h200", "--json", "-").stdout)["diffbench"]["assumed"]["rows"]
        for row in own:
            same = next(each for each in ours if f"like {each['backend']}" == row["backend"])
            for member in ("warm_seconds", "cold_seconds", "parts"):
                self.assertEqual(row[member], same[member], member)

    def test_nonsense_of_a_code_is_refused_by_name(self):
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
                                 (whole + " --backend fused", "--backend and --step"),
                                 (whole + " --print-card t4", "--print-card and --"),
                                 ("--cells 1e8", "--cells needs --step, --bytes-per-cell, --flops-per-cell")):
            with self.subTest(arguments):
                self.assert_refused(2, named, "advise", *arguments.split())

    def test_what_is_gone(self):
        self.assert_refused(2, "calibrate", "calibrate")
        self.assert_refused(2, "--profile", "advise", "--profile", "p.json")


if __name__ == "__main__":
    unittest.main()
