# SPDX-License-Identifier: Apache-2.0
"""diffbench report: the page has the files' numbers, all of them and nothing that runs; what cannot be
drawn is refused."""
import csv
import io
import json
import re
import unittest

import program
from program import QUICK

def parts_of(page):
    element = '<script type="application/json" class="result">(.*?)</script>'
    return [json.loads(part) for part in re.findall(element, page, re.DOTALL)]


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

    def test_is_read_without_javascript(self):
        """Sentences and tables are HTML, before any script; no name of a row is markup there."""
        result = self.result()
        rows = result["diffbench"]["results"]
        rows[0]["backend"] = "a<b>&"
        rows.extend(dict(rows[1], backend=f"row {i}") for i in range(120))
        page = self.report(self.write("a.json", result))
        text = page[page.index("<main>"):page.index("<script type=\"application/json\"")]
        self.assertIn(f"<p>{result['diffbench']['sentence']}</p>", text)
        for note in result["diffbench"]["notes"]:
            self.assertIn(note, text)
        heads = re.findall("<th>(.*?)</th>", text)
        self.assertEqual(heads, [column["name"] for column in result["diffbench"]["columns"]])
        lines = [re.findall("<td>(.*?)</td>", line) for line in text.split("<tr>")[2:]]
        self.assertEqual(len(lines), 100)
        self.assertIn(f"<p>and {len(rows) - 100} more rows</p>", text)
        self.assertEqual(lines[0][0], "a&lt;b>&amp;")
        for line, row in zip(lines, rows):
            self.assertEqual(len(line), len(heads))
            time = line[heads.index("time/iter")]
            self.assertRegex(time, r"^[\d.]+ (ns|us|ms|s)$" if row["seconds_per_iteration"] else "^-$")
        assumed = self.run_ok(*QUICK, "--assume", "t4", "--json", "-")
        page = self.report(self.write("b.json", json.loads(assumed.stdout)))
        self.assertRegex(page, r"<td>[\d.]+ [num]?s to [\d.]+ [num]?s</td>")

    def test_no_sheet_of_a_folder_is_lost_without_a_word(self):
        """As spreadsheets save them and as classes hand them in: each is read, or named with the reason."""
        header = "name,host,date,lesson,question,text,guess,answer,unit,source,verdict,command"
        line = "%s,pc,2026-11-25T10:10:00+0100,1,1,Wie gro\u00df? \U0001f600,40,10,times,measured,too high,diffbench x"
        sheet = lambda name: f"{header}\n{line % name}\n"
        files = {
            "utf8.csv": sheet("a").encode(), "marked.csv": sheet("b").encode("utf-8-sig"),
            "UPPER.CSV": sheet("f").encode(),
            "semicolon.csv": sheet("g").replace(",", ";").encode(), "ann/sheet.csv": sheet("h").encode(),
            "bob/lesson/sheet.csv": sheet("i").encode(), "crlf.csv": sheet("j").replace("\n", "\r\n").encode(),
        }
        bad = {
            "missing.csv": sheet("k").replace(",verdict", "").encode(), "empty.csv": b"", "garbage.csv": bytes(range(256)),
            "other.csv": b"a,b\n1,2\n", "book.xlsx": b"PK\x03\x04 zip", "header.csv": (header + "\n").encode(),
            "little.csv": sheet("c").encode("utf-16"), "big.csv": b"\xfe\xff" + sheet("d").encode("utf-16-be"),
            "unicode.txt": sheet("e").replace(",", "\t").encode("utf-16"), "bare16.csv": sheet("l").encode("utf-16-le"), "eve/short.csv": f"{header}\nm,pc\n".encode(),
        }
        for name, content in {**files, **bad, "notes.txt": b"hello"}.items():
            self.path("class/" + name).parent.mkdir(parents=True, exist_ok=True)
            self.path("class/" + name).write_bytes(content)
        done = self.run_ok("report", "class", "-o", "class.html", "--csv", "class.csv")
        lines = list(csv.DictReader(io.StringIO(self.path("class.csv").read_text())))
        self.assertEqual("".join(sorted(each["name"] for each in lines)), "abfghij")
        self.assertEqual({each["text"] for each in lines}, {"Wie gro\u00df? \U0001f600"})
        self.assertEqual(set(re.findall(r"left out: class/(\S+): ", done.stderr)), set(bad))

    def test_many_samples_become_an_overview(self):
        result = self.result()
        count = 50_000
        result["benchmarks"] *= 750
        result["diffbench"]["results"][0]["samples_seconds"] = [i / count for i in range(count)]
        [part] = parts_of(self.report(self.write("large.json", result)))
        samples = part["diffbench"]["results"][0]["samples_seconds"]
        self.assertEqual((len(samples), samples[0], samples[-1]), (1000, 0, (count - 1) / count))
        self.assertEqual(part["diffbench"]["results"][1], result["diffbench"]["results"][1])
        self.assertNotIn("benchmarks", part)

    def test_csv_has_the_results_of_all_files(self):
        first, second = self.result(), self.result("--dtype", "float64")
        self.write("a.json", first)
        self.write("b,too.json", second)
        self.run_ok("list", "--json", "list.json")
        files = ["a.json", "list.json", "b,too.json"]
        done = self.run_ok("report", *files, "-o", "page.html", "--csv", "rows.csv")
        self.assertRegex(done.stdout, r"^page.html: 3 result files, [\d.]+ MB; open it in a browser\n$")
        text = self.path("rows.csv").read_text()
        lines = list(csv.DictReader(io.StringIO(text), strict=True))
        self.assertEqual(list(dict.fromkeys(line["file"] for line in lines)), files)
        listed = [line for line in lines if line["experiment"] == "list"]
        self.assertIn(("scalar", ""), [(line["name"], line["backend"]) for line in listed])
        for file, result in zip(["a.json", "b,too.json"], (first, second)):
            own = [line for line in lines if line["file"] == file]
            self.assertEqual(
                [(line["experiment"], line["command"], line["backend"], line["problem.dtype"],
                  float(line["seconds_per_iteration"]), line["name"]) for line in own],
                [("comparison", result["diffbench"]["command"], row["backend"],
                  result["diffbench"]["problem"]["dtype"], row["seconds_per_iteration"], "")
                 for row in result["diffbench"]["results"]])
        page = self.path("page.html").read_bytes()
        self.path("page.html").unlink()
        done = self.run_ok("report", *files, "-o", "page.html", "--csv", "-")
        self.assertEqual(done.stdout, text)
        self.assertIn("open it in a browser", done.stderr)
        self.assertEqual(self.path("page.html").read_bytes(), page)

    def test_refuses_to_write_the_csv_elsewhere_than_in_a_file_of_its_own(self):
        self.write("good.json", self.result())
        self.path("link.csv").symlink_to("good.json")
        for code, mention, *paths in [
                (1, "--csv nowhere/rows.csv: the directory", "--csv", "nowhere/rows.csv"),
                (2, "--csv link.csv: is also an input", "--csv", "link.csv"),
                (2, "--csv ./good.json: is also an input", "--csv", "./good.json"),
                (2, "page.html: two outputs", "-o", "page.html", "--csv", "./page.html")]:
            self.assert_refused(code, mention, "report", "good.json", *paths)
            # Before any file is read.
            self.assert_refused(code, mention, "report", "good.json", "none.json", *paths)

    def test_takes_a_folder_and_leaves_files_of_google_benchmark_out(self):
        result = self.result()
        for folder in "runs", "runs/deeper.json", "foreign", "bare":
            self.path(folder).mkdir()
        foreign = {"context": {}, "benchmarks": [{"name": "BM_copy"}]}
        for name, content in [("b", result), ("a", result), ("other", foreign)]:
            self.write(f"runs/{name}.json", content)
        self.path("runs/notes.txt").write_text("not JSON")
        self.write("runs/deeper.json/c.json", result)
        self.write("foreign/other.json", foreign)
        self.write("foreign/another.json", foreign)
        done = self.run_ok("report", "runs", "-o", "page.html")
        self.assertEqual([part["file"] for part in parts_of(self.path("page.html").read_text())],
                         ["a.json", "b.json"])
        self.assertIn("page.html: 2 result files", done.stdout)
        self.assertEqual(done.stderr, "diffbench: left out: runs/other.json: another program wrote it\n")
        # As *.json of a shell names them.
        done = self.run_ok("report", "runs/a.json", "runs/other.json", "-o", "page.html")
        self.assertIn("page.html: 1 result file,", done.stdout)
        self.assertIn("left out: runs/other.json", done.stderr)
        self.assert_refused(2, "runs/other.json: was written by another program", "report", "runs/other.json")
        self.assert_refused(2, ["bare", "neither a .json file nor a class sheet"], "report", "bare")
        self.assert_refused(2, ["none of 2 files", "The first: foreign/another.json: another program"],
                            "report", "foreign")
        self.assert_refused(2, "--csv runs/a.json: ", "report", "runs", "--csv", "runs/a.json")

    def test_leaves_bad_files_of_a_folder_out_and_says_why(self):
        good = self.result()
        self.path("runs").mkdir()
        self.write("runs/good.json", good)
        self.write("runs/newer.json", {**good, "diffbench": {**good["diffbench"], "schema": 99}})
        self.write("runs/nothing.json", {**good, "diffbench": {**good["diffbench"], "results": []}})
        self.path("runs/cut.json").write_bytes(self.path("runs/good.json").read_bytes()[:2000])
        self.path("runs/empty.json").touch()
        done = self.run_ok("report", "runs", "-o", "page.html")
        [part] = parts_of(self.path("page.html").read_text())
        self.assertEqual(part["file"], "good.json")
        for line, mentions in zip(done.stderr.splitlines(), (
                ("cut.json", "cut off"), ("empty.json", "is empty"), ("newer.json", "schema 99"),
                ("nothing.json", "no results")), strict=True):
            self.assertTrue(line.startswith(f"diffbench: left out: runs/{mentions[0]}: "), line)
            self.assertIn(mentions[1], line)
        # Named, it is an error.
        self.assert_refused(2, ["runs/cut.json", "cut off"], "report", "runs", "runs/cut.json")

    def sheet(self, name, student, *, lesson=1, host="pc", date="2026-11-25T10:00:00+0100", guess="20", answer="5.00",
              verdict="4.0 times too high", separator=","):
        """Of one question."""
        header = "name,host,date,lesson,question,text,guess,answer,unit,source,verdict,command"
        line = f'"{student}",{host},{date},{lesson},1,How many?,{guess},{answer},times,measured,{verdict},diffbench x'
        self.path(name).write_text(f"{header}\n{line}\n".replace(",", separator))

    def test_draws_the_sheets_of_a_class(self):
        self.path("class").mkdir()
        self.sheet("class/a.csv", "=Ada </script><b>")
        self.sheet("class/b.csv", "Bob", guess="4", answer="3.00 to 8.00", verdict="right")
        self.sheet("class/b-later.csv", "Bob", guess="2", answer="4.00", verdict="right", date="2026-11-25T11:00:00+0100")
        self.sheet("class/c.csv", "Cem", guess="", verdict="", separator=";")
        self.sheet("class/two.csv", "Dee", lesson=2)
        self.sheet("class/long.csv", "E" * 3000)
        self.sheet("class/lesson-x.csv", "Fay", lesson="x")
        self.path("class/old.csv").write_text("lesson,question,text,guess,answer,unit,source,verdict,command\n")
        self.path("class/cut.csv").write_bytes(self.path("class/a.csv").read_bytes()[:-30])
        self.path("class/quote.csv").write_text('name,host,date,lesson,question\n"never closed')
        self.path("class/wide.csv").write_text(self.path("class/a.csv").read_text(), encoding="utf-16")
        self.path("class/b-later.csv").rename(self.path("class/b-later.CSV"))
        self.path("class/rows.csv").write_text("file,experiment\n")  # of --csv: no sheet
        done = self.run_ok("report", "class", "-o", "page.html", "--csv", "all.csv")
        self.assertIn("page.html: 5 class sheets, ", done.stdout)
        *left_out, last = done.stderr.splitlines()
        self.assertEqual(last, "diffbench: wrote all.csv")
        for line, mentions in zip(sorted(left_out), (
                "cut.csv: a line has 11 fields", "lesson-x.csv: lesson 'x'", "long.csv: name has more than 2000",
                "old.csv: is no class sheet of this version", "quote.csv: line 2: a quote is never closed",
                "rows.csv: is no class sheet: ", "wide.csv: is UTF-16"), strict=True):
            self.assertTrue(line.startswith(f"diffbench: left out: class/{mentions}"), line)
        first, second = parts_of(self.path("page.html").read_text())
        self.assertEqual([first["file"], second["file"]], ["lesson 1, 3 students", "lesson 2, 1 student"])
        own = first["diffbench"]
        self.assertEqual(own["sentence"], "Of the guesses of 3 students, 1 of 2 are right (50 %); furthest off is question "
                         "1.1: half of its guesses are 1.4 times too high or more.")
        self.assertEqual(own["notes"], ["Bob on pc has 2 sheets: the newest counts"])
        self.assertEqual([(row["name"], row["ratio"]) for row in own["lesson"]["results"]],
                         [("=Ada </script><b>", 4), ("Bob", 0.5), ("Cem", None)])
        lines = list(csv.DictReader(io.StringIO(self.path("all.csv").read_text())))
        self.assertEqual([(line["name"], line["guess"]) for line in lines],
                         [("'=Ada </script><b>", "20"), ("Bob", "2"), ("Cem", ""), ("Dee", "20")])
        # Within a span every guess is right; a second run does not take what the first one wrote for sheets.
        self.path("class/b-later.CSV").unlink()
        self.run_ok("report", "class", "-o", "page.html", "--csv", "class/all.csv")
        self.run_ok("report", "class", "-o", "page.html")
        first, _ = parts_of(self.path("page.html").read_text())
        self.assertAlmostEqual(first["diffbench"]["lesson"]["questions"][0]["median_ratio"], 2)
        self.assert_refused(2, ["none of 1 file", "no class sheet of this version"], "report", "class/old.csv")

    def test_leaves_what_a_live_card_saved_out(self):
        self.write("good.json", self.result())
        self.write("live.json", {"diffbench_live": {"schema": 1}})
        done = self.run_ok("report", "good.json", "live.json", "-o", "page.html")
        self.assertTrue(done.stderr.startswith("diffbench: left out: live.json: was saved by the live card"))
        [part] = parts_of(self.path("page.html").read_text())
        self.assertEqual(part["file"], "good.json")
        for command in ["report"], ["compare", "good.json"]:
            self.assert_refused(2, "live.json: was saved by the live card", *command, "live.json")

    def test_leaves_a_trace_out(self):
        self.write("good.json", self.result())
        self.write("trace.json", {"traceEvents": [], "displayTimeUnit": "ms"})
        done = self.run_ok("report", "good.json", "trace.json", "-o", "page.html")
        self.assertTrue(done.stderr.startswith("diffbench: left out: trace.json: is a trace (--trace), not a result"))
        self.assertEqual([part["file"] for part in parts_of(self.path("page.html").read_text())], ["good.json"])
        for command in ["report"], ["compare", "good.json"]:
            self.assert_refused(2, "trace.json: is a trace (--trace)", *command, "trace.json")

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
        self.assert_refused(2, "--out good.json: is also an input", "report", "good.json", "-o",
                            "good.json")
        self.assert_refused(1, "nowhere", "report", "good.json", "-o", "nowhere/page.html")
        self.assert_refused(1, "nowhere", *QUICK, "--report", "nowhere/page.html")


if __name__ == "__main__":
    unittest.main()
