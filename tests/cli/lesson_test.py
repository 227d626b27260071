# SPDX-License-Identifier: Apache-2.0
"""diffbench lesson: each can be taken from a script on a machine without a GPU, ends early and goes on,
and docs/lesson.md can be taught: it has every command and question, and its other commands run."""
import csv
import math
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import tomllib
import unittest

from program import PROGRAM, CommandLineTest, parse_json

DOCS = pathlib.Path(__file__).parents[2] / "docs"
LESSON = DOCS / "lesson.md"
TEXTS = DOCS.parent / "lab/lesson/texts"
FIRST = DOCS / "first-ten-minutes.md"
NUMBERS = ("1", "2", "3", "4", "5")
# No GPU, and no Python with anything in it, wherever this runs.
BARE = {"CUDA_VISIBLE_DEVICES": "-1", "DIFFBENCH_PYTHON": "/bin/false"}
LONGEST = 250  # lines of a lesson
# Words that nobody need know before, with the text that explains them; none: they are not in a lesson.
EXPLAINED = {"pinned": "Page-locked (pinned) memory stays where it is", "registered": None, "denormal": None,
             "paid for after": None}
# Verbs that measure nothing: others get a budget with which their times mean nothing.
TOLD = ("doctor", "lesson", "report")


def blocks(page):
    return re.findall(r"(?m)^```\n(.*?)^```$", page.read_text(), re.S)


def commands(page):
    """Those that its reader types; what a lesson runs itself stands behind a $. The lessons are taken
    below."""
    lines = [line for block in blocks(page) for line in block.splitlines()]
    return [shlex.split(line)[1:] for line in lines
            if line.startswith("diffbench") and not re.fullmatch(r"diffbench lesson \d", line)]


class Documents(CommandLineTest):
    def check_commands(self, page, least):
        """In their order, in one directory."""
        self.assertGreaterEqual(len(commands(page)), least)
        for arguments in commands(page):
            with self.subTest(" ".join(arguments)):
                measures = arguments[0] not in TOLD and "--rate" not in arguments
                quick = ["--budget", "0.2"] if measures else []
                done = self.run_program(*arguments, *quick,
                                        env={**BARE, "XDG_CACHE_HOME": str(self.directory)})
                # A build without npm has no page, and says so; report_test.py looks at that.
                self.assertIn(done.returncode, [0, 4] if arguments[0] == "report" else [0], done.stderr)
                self.assertTrue(done.stdout + done.stderr)
                for option, name in zip(arguments, arguments[1:]):
                    if option == "--json":
                        self.assertEqual(parse_json(self.path(name).read_text())["diffbench"]["schema"], 1)

    def test_the_commands_for_teachers_run(self):
        self.path("sheets").mkdir()
        self.path("sheets/ada.csv").write_text(
            "name,host,date,lesson,question,text,guess,answer,unit,source,verdict,command\n"
            "Ada,pc,2026-11-25T10:00:00+0100,1,1,How many?,2,2.00,times,measured,right,diffbench x\n")
        self.check_commands(LESSON, 7)

    def test_the_first_ten_minutes_run(self):
        self.check_commands(FIRST, 6)

    def test_every_command_and_question_of_the_lessons_is_there(self):
        page = " ".join(re.sub(r"\*+", "", LESSON.read_text()).split())
        for number in NUMBERS:
            plan = self.run_ok("lesson", number, "--list", env=BARE).stdout
            parts = re.findall(r"(?m)^  \$ (.*)$|^(\d\.\d+  (?:.+\n)+)", plan)
            self.assertGreater(len(parts), 5)
            for command, question in parts:
                words = " ".join((command or question.split("\n     a) ")[0]).split())
                self.assertIn(words, page)

    def test_every_question_about_clusters_has_an_answer(self):
        text = LESSON.read_text()
        questions = re.findall(r"\*Question (\d+)\.\*", text)
        answers = re.findall(r"(?m)^(\d+)\. ", text.split("### Answers")[1])
        self.assertEqual(questions, answers)
        self.assertEqual(questions, [str(i + 1) for i in range(len(questions))])


class Texts(unittest.TestCase):
    """The program reads its own texts as they are; a name that it does not know would be passed over."""
    STEP = {"name", "text", "command", "exercise", "peer", "assumes", "gpu_pitfalls", "table", "question"}
    QUESTION = {"text", "unit", "choices", "measured", "assumed", "reasoned", "reported", "clear", "choose", "why",
                "tolerance"}

    def test_have_names_and_braces_that_are_read(self):
        for path in TEXTS.glob("*.toml"):
            text = path.read_text()
            for braces in re.findall(r"[{}][^{}]*[{}]?", re.sub(r"(?m)^choose = {.*}$", "", text)):
                self.assertRegex(braces, r"^\{[^{}|]*\|[^{}]*\}$", path)
            lesson = tomllib.loads(text)
            self.assertLessEqual(set(lesson), {"number", "title", "teaches", "takes", "step"})
            for step in lesson["step"]:
                self.assertLessEqual(set(step), self.STEP)
                for table in step.get("table", []):
                    self.assertEqual(set(table), {"rows", "columns"})
                    self.assertTrue(all(len(column) in (2, 3) for column in table["columns"]))
                for question in step["question"]:
                    self.assertLessEqual(set(question), self.QUESTION)
                    self.assertTrue(set(question.get("choose", {})) <= set("abcdef"))


class Lesson(CommandLineTest):
    def lesson(self, number, *arguments, guesses="", out="lesson", exit_code=0, env=None):
        done = subprocess.run([PROGRAM, "lesson", number, "--out", out, *arguments], cwd=self.directory,
                              input=guesses, capture_output=True, encoding="utf-8", timeout=120,
                              env={**os.environ, **BARE, **(env or {})})
        self.assertEqual(done.returncode, exit_code, done.stderr)
        return done

    def sheet(self, name="lesson/sheet.csv"):
        with self.path(name).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def check_handout(self, text):
        """A lesson is read, on a screen of 80 columns: no table is wider or cut, and no word comes before the
        text that explains it."""
        lines = text.splitlines()
        self.assertEqual([line for line in lines if len(line) > 80 and not line.startswith("  $ ")], [])
        self.assertLessEqual(sum(max(1, math.ceil(len(line) / 80)) for line in lines), LONGEST, text)
        self.assertLessEqual(max([0] + [len(table.splitlines()) for table in re.findall(
            r"(?ms)^assumed, not measured .*?\n---+\n(.*?)\n\n", text)]), 6)
        for word, explained in EXPLAINED.items():
            at = text.find(word)
            self.assertTrue(at < 0 or explained and at >= text.index(explained), f"{word}: {text[at - 200:at + 99]}")

    def test_every_question_is_answered_without_a_gpu(self):
        for number in NUMBERS:
            with self.subTest(number):
                done = self.lesson(number, "--quick", "--name", "Ada, too", out=number, guesses="a\n3\n" * 20)
                rows = self.sheet(f"{number}/sheet.csv")
                self.assertEqual([row["question"] for row in rows],
                                 [str(i + 1) for i in range(len(rows))])
                self.assertGreater(len(rows), 5)
                for row in rows:
                    self.assertTrue(row["answer"], row)
                    self.assertNotEqual(row["source"], "not measurable here", row)
                    graded = bool(row["guess"]) and not row["source"].endswith("unclear in this noise")
                    self.assertEqual(graded, bool(row["verdict"]), row)
                    self.assertIn(f"$ {row['command']}\n", done.stdout)
                self.check_handout(done.stdout)
                # The figure comes after the guess: the table is between the two.
                said = [line for line in done.stdout.splitlines() if line.startswith(f"{number}.1  ")]
                self.assertEqual(len(said), 2)
        for word in ("mistake:", "reason:"):
            self.assertIn(word, done.stdout)
        self.assertEqual({(row["name"], row["host"]) for row in rows}, {("Ada, too", socket.gethostname())})
        self.run_ok("report", "1", "2", "-o", "class.html", "--csv", "class.csv")
        with self.path("class.csv").open(newline="") as file:
            again = [line for line in csv.DictReader(file) if line["experiment"] == "lesson"]
        self.assertEqual({(line["name"], line["lesson"]) for line in again}, {("Ada, too", "1"), ("Ada, too", "2")})
        # Without a compiler an exercise is left out, and the lesson ends as others do.
        rows = self.sheet("1/sheet.csv")
        self.path("1/6-port.json").unlink()
        done = self.lesson("1", "--quick", "--name", "Ada, too", out="1", env={"PATH": str(self.path("1"))})
        self.assertIn("Left out: it cannot run here, as said above.", done.stdout)
        again = self.sheet("1/sheet.csv")
        self.assertEqual([{**row, "date": ""} for row in again], [{**row, "date": ""} for row in rows[:-2]])

    def test_is_taken_up_where_it_was(self):
        left = self.lesson("3", "--quick", guesses="about 230 parameters\nq\n")
        self.assert_one_line(left.stderr, "left", "the same command goes on")
        self.assertFalse(self.path("lesson/1-nets.json").exists())
        self.lesson("3", "--quick")
        first = self.path("lesson/1-nets.json").read_bytes()
        self.path("lesson/2-quality.json").unlink()
        done = self.lesson("3", "--quick", guesses="b\n")
        self.assertIn("Measured before, in lesson/1-nets.json", done.stdout)
        self.assertEqual(self.path("lesson/1-nets.json").read_bytes(), first)
        # The first step's guesses are those of before, and the new line is for the second one.
        self.assertEqual([row["guess"] for row in self.sheet()], ["230", "", "", "", "", "b"])
        self.assertEqual(self.sheet()[0]["verdict"], "right")
        again = self.lesson("3", "--quick", "--again", guesses="7\n" * 9)
        self.assertNotIn("Measured before", again.stdout)
        self.assertNotEqual(self.path("lesson/1-nets.json").read_bytes(), first)
        self.assertEqual([row["guess"] for row in self.sheet()], ["230", "", "", "", "", "b"])

    def read_until(self, child, beginning):
        """A line that begins so: a child that ends before is a failure, and no endless wait."""
        self.assertTrue(any(line.startswith(beginning) for line in iter(child.stdout.readline, "")),
                        f"it ended before {beginning}")

    def test_an_interrupt_while_it_asks_loses_nothing(self):
        child = subprocess.Popen([PROGRAM, "lesson", "3", "--quick", "--out", "lesson"],
                                 cwd=self.directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, encoding="utf-8", env={**os.environ, **BARE})
        self.addCleanup(child.kill)
        child.stdin.write("230\n")
        child.stdin.flush()
        self.read_until(child, "3.2 ")
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130)
        self.assert_one_line(errors, "interrupted", "the same command goes on")
        self.lesson("3", "--quick")
        self.assertEqual(self.sheet()[0]["guess"], "230")

    def test_an_interrupt_is_passed_on_to_the_command(self):
        self.path("sheet.csv").write_text("It is older,diffbench_version\n")
        # Without --quick its first command takes ten seconds, long enough for a busy test to see it.
        child = subprocess.Popen([PROGRAM, "lesson", "3", "--no-quiz", "--out", "lesson", "--sheet", "sheet.csv"],
                                 cwd=self.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, encoding="utf-8", env={**os.environ, **BARE})
        self.addCleanup(child.kill)
        self.read_until(child, "3.5 ")
        child.send_signal(signal.SIGTERM)
        out, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130, errors)
        self.assertIn("diffbench: interrupted; finished steps and guesses are kept", errors)
        self.assertNotIn("step 2 of 2", out)
        self.assertFalse(self.path("lesson/1-nets.json").exists())
        self.assertEqual(self.path("sheet.csv").read_text(), "It is older,diffbench_version\n")

    def test_what_cannot_be_written_is_refused_before_any_work(self):
        self.path("file").write_text("kept")
        self.assert_refused(1, ["--sheet nowhere/s.csv", "does not exist"], "lesson", "1", "--sheet",
                            "nowhere/s.csv")
        self.assert_refused(1, "--out file", "lesson", "1", "--out", "file")
        self.assert_refused(2, "--sheet -", "lesson", "1", "--sheet", "-")
        self.assert_refused(2, "choose 1, 2, 3, 4, 5", "lesson", "6")
        self.assert_refused(2, "1 to 99", "lesson", "0")
        self.assert_refused(2, "nocard", "lesson", "1", "--assume", "nocard")

    def test_a_damaged_folder_is_refused_in_one_line(self):
        self.lesson("3", "--quick", "--no-quiz")
        self.assert_refused(2, ["1-nets.json", "--out"], "lesson", "3", "--out", "lesson", env=BARE)
        self.path("lesson/1-nets.json").write_text("{")
        self.assert_refused(2, ["1-nets.json", "remove it"], "lesson", "3", "--quick", "--out", "lesson",
                            env=BARE)


if __name__ == "__main__":
    unittest.main()
