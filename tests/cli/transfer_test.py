"""diffbench transfer: what it writes and shows, and that --replay shows a recorded result and nothing
else."""
import json
import unittest

from program import CommandLineTest, parse_json

# A few hundred milliseconds.
QUICK = "transfer --max-size 64K --step 4 --threads 2 --budget 0.05".split()


class Measuring(CommandLineTest):
    @classmethod
    def setUpClass(cls):
        run = CommandLineTest()
        run.setUp()
        cls.addClassCleanup(run.doCleanups)
        done = run.run_ok(*QUICK, "--json", "out.json")
        cls.table = done.stdout
        cls.result = parse_json(run.path("out.json").read_text())
        cls.transfer = cls.result["diffbench"]["transfer"]

    def test_every_way_at_every_size(self):
        curves = {(c["way"], c["threads"]): c for c in self.transfer["host"]["curves"]}
        self.assertEqual(set(curves), {("loop", 1), ("memcpy", 1), ("streaming", 1),
                                       ("memcpy", 2), ("streaming", 2)})
        for curve in curves.values():
            self.assertEqual([p["bytes"] for p in curve["points"]], [1024, 4096, 16384, 65536])
            for point in curve["points"]:
                self.assertIs(point["verified"], True)
                self.assertGreaterEqual(len(point["samples_seconds"]), 3)
                self.assertTrue(all(seconds > 0 for seconds in point["samples_seconds"]))

    def test_every_sample_is_an_entry(self):
        entries = [e for e in self.result["benchmarks"]
                   if e["name"] == "transfer/host/memcpy/4096"]
        point = next(c for c in self.transfer["host"]["curves"]
                     if (c["way"], c["threads"]) == ("memcpy", 1))["points"][1]
        self.assertEqual(len(entries), len(point["samples_seconds"]))
        for entry, seconds in zip(entries, point["samples_seconds"]):
            self.assertAlmostEqual(entry["real_time"] * entry["iterations"], 1e9 * seconds, delta=1)

    def test_the_table_shows_the_host_and_why_a_gpu_has_no_times(self):
        self.assertIn("copies within the host's memory", self.table)
        self.assertIn("memcpy against the loop", self.table)
        self.assertTrue("skipped: copies to and from a GPU: " in self.table
                        or "is an emulation" in self.table, self.table)

    def test_json_on_stdout_is_all_there_is(self):
        done = self.run_ok(*QUICK, "--json", "-")
        self.assertEqual(parse_json(done.stdout)["diffbench"]["experiment"], "transfer")
        self.assertEqual(done.stderr, "")

    def test_ctrl_c_keeps_what_was_measured(self):
        done = self.run_interrupted(r"host copies \[[= ]+\] +[1-9]\d* %",
                                    *"transfer --max-size 1M --budget 20".split(), "--json", "out.json")
        self.assertEqual(done.returncode, 130, done.stderr)
        self.assertIn("interrupted", done.stderr)
        result = parse_json(self.path("out.json").read_text())["diffbench"]
        self.assertIs(result["interrupted"], True)
        self.assertGreater(len(result["transfer"]["host"]["curves"][0]["points"]), 0)

    def test_bad_options(self):
        for mentions, *options in [
                ("--max-size 5Q", "--max-size", "5Q"), ("--max-size", "--max-size", "K"),
                ("--max-size 1", "--max-size", "1"), ("--max-size", "--max-size", "-4K"),
                ("--max-size 9999G", "--max-size", "9999G"), ("memory", "--max-size", "1024G"),
                ("--step 1", "--step", "1"), ("--threads 0", "--threads", "0"),
                ("--budget 0", "--budget", "0"), ("--budget nan", "--budget", "nan"),
                ("--device -1", "--device", "-1")]:
            with self.subTest(options=options):
                self.assert_refused(2, mentions, "transfer", *options)
        self.assert_refused(4, "--device 1000", "transfer", "--device", "1000")
        self.assert_refused(1, "nowhere", *QUICK, "--json", "nowhere/out.json")


class Replaying(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.run_ok(*QUICK, "--json", "recorded.json")
        self.good = parse_json(self.path("recorded.json").read_text())

    def test_shows_the_same_under_a_stamp(self):
        context = self.good["context"]
        context["cpu_model"] = "A recorded CPU"
        self.path("recorded.json").write_text(json.dumps(self.good))
        done = self.run_ok("transfer", "--replay", "recorded.json")
        first = done.stdout.split("\n")[0]
        self.assertEqual(first, "RECORDED, not measured here: recorded.json")
        for fact in ("A recorded CPU", context["date"], context["host_name"], "--max-size 64K",
                     "copies within the host's memory", self.good["diffbench"]["sentence"]):
            self.assertIn(fact, done.stdout)

    def test_a_host_without_a_name(self):
        self.good["context"]["host_name"] = ""
        self.path("recorded.json").write_text(json.dumps(self.good))
        self.assertIn("host unknown", self.run_ok("transfer", "--replay", "recorded.json").stdout)

    def test_an_interrupted_record_says_so(self):
        for value, says_so in (False, False), (True, True), ("true", False):
            self.good["diffbench"]["interrupted"] = value
            self.path("recorded.json").write_text(json.dumps(self.good))
            self.assertEqual("\n  INTERRUPTED: not all of it\n" in
                             self.run_ok("transfer", "--replay", "recorded.json").stdout, says_so)

    def test_goes_with_no_other_option(self):
        for option in (["--json", "-"], ["--budget", "1"], ["--device", "0"], ["--max-size", "1M"]):
            self.assert_refused(2, "--replay", "transfer", "--replay", "recorded.json", *option)

    def test_what_is_no_recorded_transfer_is_refused(self):
        text = self.path("recorded.json").read_text()
        newer = json.loads(text)
        newer["diffbench"]["schema"] = 2
        other = json.loads(text)
        del other["diffbench"]["transfer"]
        foreign = json.loads(text)
        del foreign["diffbench"]
        spoilt = json.loads(text)
        spoilt["diffbench"]["transfer"]["host"]["curves"][0]["points"][0]["bytes"] = "many"
        for name, content, mentions in [
                ("missing", None, "no such file"), ("empty", "", "empty"),
                ("words", "hello", "not JSON"), ("half", text[:len(text) // 2], "cut off"),
                ("list", "[]", "no result file"), ("newer", json.dumps(newer), "schema 2"),
                ("other", json.dumps(other), "diffbench transfer"),
                ("foreign", json.dumps(foreign), "another program"),
                ("spoilt", json.dumps(spoilt), "many")]:
            with self.subTest(name):
                if content is not None:
                    self.path(name).write_text(content)
                self.assert_refused(2, [name, mentions], "transfer", "--replay", name)


if __name__ == "__main__":
    unittest.main()
