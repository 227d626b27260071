# SPDX-License-Identifier: Apache-2.0
"""--trace: a timeline that a viewer shows whole."""
import unittest

from program import QUICK, CommandLineTest, host_and_engine_events, parse_json

HOST = (1, 0)


class Trace(CommandLineTest):
    def test_holds_the_whole_run(self):
        result = self.result("--trace", "trace.json")
        text = self.path("trace.json").read_text()
        tracks = host_and_engine_events(text)
        self.assertEqual(set(tracks), {HOST})  # no device, no engines
        events = tracks[HOST]
        names = [event["name"] for event in events]
        for name in ("copy bandwidth", "reference", "verifying scalar", "timing", "end to end",
                     "scalar: cold run", "fused: warm run", "make", "free"):
            self.assertIn(name, names)
        for row in result["diffbench"]["results"]:
            own = [e for e in events if e.get("args", {}).get("row") == row["backend"]]
            timed = [e for e in own if e["cat"] == "timed"]
            self.assertEqual(len(timed), len(row["samples_seconds"]))
            for span, seconds in zip(timed, row["samples_seconds"]):
                self.assertGreaterEqual(span["dur"] * 1e-6, seconds - 2.5e-7)  # resolution of a span
            self.assertEqual({e["args"]["steps"] for e in timed}, {row["iterations_per_sample"]})
            moments = row["moments"]["warm"]
            self.assertEqual([each["phase"] for each in moments], ["h2d", "compute", "sync", "d2h"])
            self.assertEqual({each["lane"] for each in moments}, {"host"})
            for first, second in zip(moments, moments[1:]):
                self.assertLessEqual(first["begin"], first["end"])
                self.assertLessEqual(first["end"], second["begin"] + 1e-9)  # one tick of the clock
            self.assertIn("alloc", [each["phase"] for each in row["moments"]["cold"]])
        self.assertIn("--trace trace.json", parse_json(text)["otherData"]["command"])

    def test_calls_are_inside_of_runs_and_runs_inside_of_stages(self):
        self.result("--trace", "trace.json")
        events = host_and_engine_events(self.path("trace.json").read_text())[HOST]
        depth = {"stage": 0, "run": 1, "timed": 2, "call": 3}
        stack = []
        for event in events:  # in the order of their begins
            while stack and stack[-1]["ts"] + stack[-1]["dur"] <= event["ts"] and event["dur"] > 0:
                stack.pop()
            if stack and event["ts"] + event["dur"] <= stack[-1]["ts"] + stack[-1]["dur"]:
                self.assertGreaterEqual(depth[event["cat"]], depth[stack[-1]["cat"]], event)
            stack.append(event)
        self.assertEqual({event["cat"] for event in events}, set(depth))

    def test_names_are_escaped(self):
        name = 'a "quoted" \\ name.json'
        self.result("--trace", name)
        trace = parse_json(self.path(name).read_text())
        self.assertIn(name, trace["otherData"]["command"])

    def test_nothing_is_written_without_it(self):
        self.run_ok(*QUICK)
        self.assertEqual(self.contents(), {})

    def test_not_in_the_place_of_another_output(self):
        self.assert_refused(2, "same place", *QUICK, "--json", "out", "--trace", "out")


if __name__ == "__main__":
    unittest.main()
