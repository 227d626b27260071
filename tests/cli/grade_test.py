# SPDX-License-Identifier: Apache-2.0
"""diffbench try DIR: a class of few, among them one that hangs, one that forks, one that eats memory and one
that is no program; rubrics; what is kept. No time decides a test."""
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import try_program_test as programs
from program import PROGRAM, CommandLineTest, parse_json

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "try"))
import corpus  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALM = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "2"}


def source(name):
    return next(entry[2] for entry in corpus.RIGHT + corpus.MISTAKES + corpus.CHEATS if entry[0] == name)


# Name, text, and what is said of it: whether it is right, the mistake's id, words of the reason.
CLASS = [
    ("<script>.c", corpus.STEP_C, True, None, None),
    ("copied.c", source("edges_copied"), False, "edges_copied", "the edges are copied"),
    ("eats.c", source("greedy"), False, None, "ended with status 4"),
    ("eve/port.c", corpus.SOLVE_C, True, None, None),
    ("forks.c", source("forks"), False, None, "ended with status 3"),
    ("hangs.c", source("endless"), False, None, "did not come back within 2 s"),
    ("shouts.c", "#include <stdio.h>\n" + corpus.replaced(corpus.STEP_C, (
        "/* first */", "for (int k = 0; k < 1 << 21; ++k) putchar('a'); fflush(stdout); abort();")),
     False, None, "it crashed"),
    ("typo.c", "void step(const float* u {}\n", False, None, "typo.c does not compile: typo.c:1:"),
]
RUBRIC = {"diffbench_rubric": 1, "not_decided": "none", "criteria": [
    {"criterion": "right", "points": 3}, {"criterion": "no_races", "points": 1},
    {"criterion": "faster_than", "row": "numpy", "factor": 2, "points": 1.5}]}


def descendants(pid):
    """Numbers of the processes that it has started, and so on."""
    parents = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parents.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
        except OSError:  # it has ended
            pass
    return [each for child in parents.get(pid, []) for each in [child, *descendants(child)]]


def works_long(pid):
    """A file that is tried, which has used three seconds."""
    try:
        name, _, rest = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")
        return "(diffbench_try" in name and int(rest.split()[11]) > 3 * os.sysconf("SC_CLK_TCK")
    except OSError:
        return False


class Grade(CommandLineTest):
    def make_class(self, names=None):
        for name, text, *_ in CLASS:
            if names is None or name in names:
                path = self.path("class") / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)

    def grade(self, *arguments, exit_code=0, timeout="2"):
        """The results by name, and what was printed."""
        done = self.run_program("try", "class", "--no-timing", "--timeout", timeout, *arguments, "--json",
                                "grade.json", env=CALM)
        self.assertEqual(done.returncode, exit_code, done.stderr)
        results = parse_json(self.path("grade.json").read_text())["diffbench"]["grade"]["results"]
        return {result["name"]: result for result in results}, done

    def test_a_class(self):
        self.make_class()
        (self.path("class") / "notes.txt").write_text("")
        (self.path("class/tom")).mkdir()
        for name in ("a.c", "b.py"):
            (self.path("class/tom") / name).write_text("")
        first, done = self.grade("--csv", "grades.csv")
        self.assertEqual(sorted(first), sorted([name for name, *_ in CLASS] + ["tom"]))
        for name, _, right, mistake, reason in CLASS:
            with self.subTest(name):
                result = first[name]
                self.assertIs(result["right"], right, result)
                self.assertEqual(result["mistake"], mistake)
                self.assertIn(reason or "", result["reason"] or "")
                self.assertLess(len(result["said"]), 110_000)
                self.assertEqual((result["points"], result["of"]), (5 if right else 0, 5))
        self.assertIn("2 files that could be tried: a.c, b.py", first["tom"]["reason"])
        self.assertIn("2 of 9 submissions right.", done.stdout)
        self.assertIn("left out: notes.txt", done.stdout)
        self.check_csv()
        self.assertEqual(self.grade()[0], first)  # equal input, equal grades

    def check_csv(self):
        with self.path("grades.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(rows[0]), [
            "name", "language", "form", "fate", "verdict", "right", "mistake", "reason", "faults", "races", "leaks", "stopwatch",
            "copies_per_step", "times_numpy", "times_best", "points", "of", "marks", "diffbench_version"])
        self.assertEqual(rows[0]["name"], "<script>.c")
        self.assertEqual(rows[0]["marks"], "right: met 5/5; no_races: not judged 0/2; no_leaks: not judged 0/1; "
                         "resident: not judged 0/2; more than 1 times as fast as numpy: not judged 0/2")

    def test_what_a_submission_includes(self):
        """Its own files and the class's headers; not those of others, which are somebody else's work."""
        cell = corpus.replaced(corpus.STEP_C, ("4 * u[y * nx + x];", "CENTRE;"))
        kernel = corpus.replaced(corpus.RACE, ("4 * u[y * nx + x]", "CENTRE"), ("note();", ""))
        header = "#define CENTRE 4 * u[y * nx + x]\n"
        for name, text in (("common.h", header), ("ann/port.c", corpus.STEP_C), ("ann/inc/more.h", header),
                           ("bob/port.c", '#include "../ann/port.c"\n'),
                           ("cas/port.cu", '#include "../ann/inc/more.h"\n' + kernel),
                           ("dan/port.c", '#include "its inc/deep/own.h"\n' + cell), ("dan/its inc/deep/own.h", header),
                           ("eve/port.c", '#include "../common.h"\n' + cell),
                           ("fay.cu", '#include "common.h"\n' + kernel)):
            (self.path("class") / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path("class") / name).write_text(text)
        self.path("class/gil").mkdir()
        self.path("class/gil/port.c").symlink_to("../ann/port.c")
        results, _ = self.grade("--schedules", "0", timeout="20")
        for name in ("ann/port.c", "dan/port.c", "eve/port.c", "fay.cu"):
            self.assertIs(results[name]["right"], True, results[name])
        for name, says in (("bob/port.c", "port.c includes "), ("cas/port.cu", "port.cu includes "),
                           ("gil", "port.c is a link to a file outside")):
            self.assertIs(results[name]["right"], False)
            self.assertIn(says, results[name]["reason"])

    def test_an_interrupt_keeps_what_was_graded(self):
        self.make_class(["copied.c", "hangs.c", "typo.c"])
        child = subprocess.Popen([PROGRAM, "try", "class", "--no-timing", "--timeout", "100", "--csv", "grades.csv"],
                                 cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                                 env={**os.environ, **CALM})
        self.addCleanup(child.kill)
        limit = time.monotonic() + 100
        while not any(works_long(each) for each in descendants(child.pid)):  # but for compilers, only one that hangs does
            self.assertIsNone(child.poll())
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        out, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130, errors)
        self.assertIn("copied.c", out)
        self.assertNotIn("typo.c", out)
        self.assertEqual(len(self.path("grades.csv").read_text().splitlines()), 2)

    def test_what_took_too_long_is_not_decided(self):
        """18 runs of 0.2 s, where all may take 3.6 s; one that is wrong is so by the runs that were made."""
        slow = corpus.replaced("#include <unistd.h>\n" + corpus.SOLVE_C, ("const size_t bytes", "usleep(200000);\n"
                               "  const size_t bytes"))
        self.path("class").mkdir()
        self.path("class/slow.c").write_text(slow)
        self.path("class/wrong.c").write_text(corpus.replaced(slow, ("+ factor * lap", "- factor * lap")))
        results, done = self.grade(timeout="0.6")
        self.assertEqual((results["slow.c"]["fate"], results["slow.c"]["points"]), ("not decided", None))
        self.assertIn("its runs together take more than 3.6 s", results["slow.c"]["reason"])
        self.assertIn("note: 1 submission not decided", done.stdout)
        self.assertEqual((results["wrong.c"]["verdict"], results["wrong.c"]["mistake"]), ("wrong", "sign"))
        done = self.run_program("try", "class/slow.c", "--no-timing", "--timeout", "0.6", env=CALM)
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr, "slow.c: not decided: its runs together take more than 3.6 s")

    def test_links_touch_nobody_else(self):
        """To itself in a student's folder, and at the top to what another one has written."""
        self.make_class(["eve/port.c"])
        self.path("class/eve/itself").symlink_to("itself")
        self.path("class/bob.c").symlink_to("eve/port.c")
        self.path("class/deep").mkdir()
        self.path("class/deep/folder").mkdir()
        self.path("class/deep/folder/itself").symlink_to("itself")
        results, _ = self.grade()
        self.assertTrue(results["eve/port.c"]["right"])
        self.assertIn("is a link", results["bob.c"]["reason"])
        self.assertIn("the folder has no", results["deep"]["reason"])

    def test_marks_of_kernels(self):
        """All are right. One launches a kernel that does nothing, one reaches for the host's memory, and of one the
        pages of managed memory move in each step."""
        self.path("class").mkdir()
        right = ROOT / "tests/try/cuda/right"
        for file in (right / "empty_launch.cu", right / "mapped.cu", right / "managed_groups.cu",
                     ROOT / "judge/exercises/11-managed-memory.cu"):
            self.path(f"class/{file.name}").write_text(file.read_text())
        results, _ = self.grade(timeout="60")
        self.assertEqual({name: "".join("+" if each["mark"] == "met" else "-" for each in result["criteria"][:4])
                          for name, result in results.items()},
                         {"empty_launch.cu": "+---", "mapped.cu": "+++-", "managed_groups.cu": "++++",
                          "11-managed-memory.cu": "+++-"})

    def test_whole_programs(self):
        """By what is found in them; of several files, too, and without anybody's stdin or somebody else's work."""
        helper = "int factor() { return 3; }\n"
        parts = programs.host("k<<<1, 256>>>(a, factor());", 'int factor();\n__global__ void k(int* a, int f) '
                              "{ a[threadIdx.x] = f; }")
        reads = programs.host("int n = 7; if (std::scanf(\"%d\", &n) == 1) return 9; k<<<1, 1>>>(a);",
                              "__global__ void k(int* a) { a[0] = 1; }")
        crashes = programs.host("k<<<1, 1>>>(a); return 5;", "__global__ void k(int* a) { a[0] = 1; }")
        for name, text in (("ann/prog.cu", programs.HEAT), ("bob/prog.cu", programs.FAULTS["race"]),
                           ("cas/main.cu", parts), ("cas/helper.cpp", helper), ("dan.cu", programs.REMARKS["leak"]),
                           ("eve.cu", programs.REMARKS["stopwatch"]), ("fay/prog.cu", crashes), ("gil.cu", reads),
                           ("hal/a.cu", programs.HEAT), ("hal/b.cu", programs.HEAT),
                           ("ida/prog.cu", '#include "../ann/prog.cu"\n' + crashes),
                           ("jon.cu", programs.host("int x = nothing;")), ("kim.c", corpus.STEP_C)):
            (self.path("class") / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path("class") / name).write_text(text)
        criteria = ("right", "no_faults", "no_races", "no_leaks", "stopwatch", "resident")
        self.path("rubric.json").write_text(json.dumps({"diffbench_rubric": 1, "criteria": [
            {"criterion": name, "points": 1} for name in criteria]}))
        results, done = self.grade("--rubric", "rubric.json", "--csv", "grades.csv", timeout="20")
        marks = {name: "".join({"met": "+", "not met": "-", "not judged": "o"}[each["mark"]]
                               for each in result["criteria"]) for name, result in results.items()}
        self.assertEqual(marks, {
            "ann/prog.cu": "+++++o", "bob/prog.cu": "---++o", "cas/main.cu": "+++++o", "dan.cu": "+++-+o",
            "eve.cu": "++++-o", "fay/prog.cu": "-----o", "gil.cu": "+++++o", "hal": "-ooooo", "ida/prog.cu": "-----o",
            "jon.cu": "-----o", "kim.c": "+ooooo"}, [(r["name"], r["reason"]) for r in results.values()])
        self.assertEqual((results["bob/prog.cu"]["form"], results["bob/prog.cu"]["verdict"], results["bob/prog.cu"]["faults"],
                          results["bob/prog.cu"]["reason"]), ("program", "faults", 2, "race at prog.cu:7"))
        self.assertIn("race: race on", results["bob/prog.cu"]["said"])
        self.assertEqual((results["fay/prog.cu"]["verdict"], results["fay/prog.cu"]["faults"]), ("not decided", None))
        self.assertIn("files that could be tried: a.cu, b.cu", results["hal"]["reason"])
        self.assertIn("includes ", results["ida/prog.cu"]["reason"])
        self.assertIn("6 of 11 submissions right.", done.stdout)
        again, _ = self.grade("--rubric", "rubric.json", timeout="20")
        self.assertEqual(again, results)

    def test_a_time_is_judged_only_where_it_is_decided(self):
        """A factor that nobody reaches, and one that everybody does."""
        self.make_class(["eve/port.c"])
        self.path("rubric.json").write_text(json.dumps({"diffbench_rubric": 1, "criteria": [
            {"criterion": "faster_than", "row": "best", "factor": factor, "points": 4}
            for factor in (1e-6, 1e6)]}))
        for load, marks, points in (("0", ["met", "not met"], 4), ("1.5", ["not decided"] * 2, 4)):
            done = self.run_ok("try", "class", "--rubric", "rubric.json", "--grid", "64", "--iters", "50",
                               "--budget", "1", "--threads", "1", "--json", "-",
                               env={**CALM, "DIFFBENCH_PLANTED_LOAD": load})
            result = parse_json(done.stdout)["diffbench"]["grade"]["results"][0]
            self.assertEqual([each["mark"] for each in result["criteria"]], marks, result)
            self.assertNotIn("of copy", result["said"])  # the bandwidth is the machine's
            self.assertEqual((result["points"], result["of"]), (points, 8))

    def test_rubrics_that_make_no_sense(self):
        self.make_class(["typo.c"])
        printed = self.run_ok("try", "--print-rubric").stdout
        self.path("rubric.json").write_text(printed)
        self.run_ok("try", "class", "--no-timing", "--rubric", "rubric.json")

        def changed(**first):
            return {**RUBRIC, "criteria": [{**RUBRIC["criteria"][0], **first}]}

        time_criterion = RUBRIC["criteria"][2]
        for mentions, rubric in [
                (["criteria[0].criterion", "'no_race'", "'no_races'"], changed(criterion="no_race")),
                (["criteria[0].points", "from 0"], changed(points=-1)),
                (["criteria[0].points", "a number"], changed(points="3")),
                (["criteria[0].points", "a number"], changed(points=True)),
                (["criteria[0].weight", "is not known"], changed(weight=2)),
                (["criteria[0].row"], changed(row="numpy")),
                (["criteria[0].criterion", "a text"], changed(criterion=3)),
                (["not_decided", "'hal'", "'half'"], {**RUBRIC, "not_decided": "hal"}),
                (["diffbench_rubric"], {"criteria": RUBRIC["criteria"]}),
                (["criteria"], {**RUBRIC, "criteria": []}),
                (["criteria[0]", "object"], {**RUBRIC, "criteria": [1]}),
                (["criterias", "did you mean 'criteria'"], {**RUBRIC, "criterias": []}),
                (["criteria[1]", "second time"], {**RUBRIC, "criteria": RUBRIC["criteria"][:1] * 2}),
                (["criteria[0].row", "'nunpy'", "'numpy'"],
                 {**RUBRIC, "criteria": [{**time_criterion, "row": "nunpy"}]}),
                (["criteria[0].factor", "above 0"], {**RUBRIC, "criteria": [{**time_criterion, "factor": 0}]}),
                (["the file", "object"], [])]:
            with self.subTest(mentions):
                self.path("rubric.json").write_text(json.dumps(rubric))
                self.assert_refused(2, ["rubric.json", *mentions], "try", "class", "--rubric", "rubric.json")
        self.path("rubric.json").write_text("{")
        self.assert_refused(2, ["rubric.json", "no JSON"], "try", "class", "--rubric", "rubric.json")
        self.assert_refused(2, ["absent.json", "--print-rubric"], "try", "class", "--rubric", "absent.json")

    def test_what_is_refused(self):
        self.make_class(["typo.c"])
        self.path("empty").mkdir()
        self.assert_refused(2, "grade", "grade", "class")
        self.assert_refused(2, "--rubric: has no effect without a folder", "try", "class/typo.c", "--rubric", "r.json")
        self.assert_refused(2, "--report: has no effect without a file", "try", "class", "--report", "class.html")
        self.assert_refused(2, "--assume: has no effect without a .cu file", "try", "class", "--assume", "t4")
        os.mkfifo(self.path("pipe"))
        for place in ("pipe", "/dev/zero"):
            self.assert_refused(2, f"--rubric {place}: is not a regular file", "try", "class", "--rubric", place)
        self.assert_refused(2, "no submission", "try", "empty")
        done = self.run_program("try", "class", "--compiler", "nocc", "--no-timing")
        self.assertEqual(done.returncode, 4)
        self.assert_one_line(done.stderr, "typo.c", "nocc")


if __name__ == "__main__":
    unittest.main()
