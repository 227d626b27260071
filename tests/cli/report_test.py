"""diffbench report: the page has the files' numbers, all of them and nothing that runs; what cannot be
drawn is refused."""
import json
import re
import unittest

import program
from program import QUICK

PART = re.compile(r'<script type="application/json" class="result">(.*?)</script>', re.DOTALL)


def parts_of(page):
    return [json.loads(part) for part in PART.findall(page)]


class ReportTest(program.CommandLineTest):
    def write(self, name, result):
        self.path(name).write_text(json.dumps(result), encoding="utf-8")
        return name

    def report(self, *files):
        self.run_ok("report", *files, "-o", "page.html")
        return self.path("page.html").read_text(encoding="utf-8")

    def test_holds_what_the_files_say(self):
        first, second = self.result(), self.result("--dtype", "float64")
        parts = parts_of(self.report(self.write("first.json", first),
                                     self.write("second,too.json", second)))
        self.assertEqual([part["file"] for part in parts], ["first.json", "second,too.json"])
        for part, result in zip(parts, (first, second)):
            self.assertEqual(part["diffbench"], result["diffbench"])
            self.assertEqual(part["context"], result["context"])

    def test_comparison_and_experiment_write_it_at_once(self):
        done = self.run_ok(*QUICK, "--json", "run.json", "--report", "run.html")
        self.assertIn("scalar", done.stdout)
        [part] = parts_of(self.path("run.html").read_text())
        self.assertEqual(part["diffbench"],
                         json.loads(self.path("run.json").read_text())["diffbench"])
        self.run_ok("scaling", *"--grid 32 --iters 5 --threads 1 --json s.json --report s.html".split())
        [part] = parts_of(self.path("s.html").read_text())
        self.assertEqual(part["diffbench"], json.loads(self.path("s.json").read_text())["diffbench"])

    def test_no_string_in_a_file_becomes_markup(self):
        result = self.result()
        harmless = self.report(self.write("a.json", result))
        result["diffbench"]["results"][0]["backend"] = "</script><script>alert(1)</script><!--"
        result["context"]["host_name"] = "<script src=https://example.org/x.js></script>"
        page = self.report(self.write("b.json", result))
        self.assertEqual(page.count("<script"), harmless.count("<script"))
        self.assertEqual(page.count("<!--"), harmless.count("<!--"))
        self.assertEqual(parts_of(page)[0]["diffbench"], result["diffbench"])

    def test_many_samples_become_an_overview(self):
        result = self.result()
        count = 200_000
        result["benchmarks"] *= 3000
        result["diffbench"]["results"][0]["samples_seconds"] = [i / count for i in range(count)]
        [part] = parts_of(self.report(self.write("large.json", result)))
        samples = part["diffbench"]["results"][0]["samples_seconds"]
        self.assertEqual((len(samples), samples[0], samples[-1]), (1000, 0, (count - 1) / count))
        self.assertEqual(part["diffbench"]["results"][1], result["diffbench"]["results"][1])
        self.assertNotIn("benchmarks", part)

    def test_refuses_what_it_cannot_draw(self):
        good = self.result()
        self.write("good.json", good)
        self.write("schema.json", {**good, "diffbench": {**good["diffbench"], "schema": 99}})
        self.write("other.json", {"context": {}, "benchmarks": []})
        self.write("empty.json", {**good, "diffbench": {**good["diffbench"], "results": []}})
        self.path("cut.json").write_bytes(self.path("good.json").read_bytes()[:2000])
        self.path("deep.json").write_text("[" * 200_000)
        for mention, *files in [("at least one",), ("no such file", "none.json"),
                                ("cut off", "good.json", "cut.json"), ("schema 99", "schema.json"),
                                ("another program", "other.json"), ("no results", "empty.json"),
                                ("deeper", "deep.json")]:
            self.assert_refused(2, [mention, *files[-1:]], "report", *files)
        self.assert_refused(2, "both", "report", "good.json", "-o", "good.json")
        self.assert_refused(1, "nowhere", "report", "good.json", "-o", "nowhere/page.html")
        self.assert_refused(1, "nowhere", *QUICK, "--report", "nowhere/page.html")


if __name__ == "__main__":
    unittest.main()
