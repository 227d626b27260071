"""docs/lesson.md can be taught: each of its commands runs, and leaves the file that it names."""
import pathlib
import re
import shlex
import unittest

from program import CommandLineTest, parse_json

LESSON = pathlib.Path(__file__).parents[2] / "docs/lesson.md"
# What makes a verb quick: the times mean nothing.
QUICK = {"calibrate": ["--largest", "256"]} | {verb: [] for verb in ("doctor", "advise", "report")}


def commands():
    blocks = re.findall(r"(?m)^```\n(.*?)^```$", LESSON.read_text(), re.S)
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]


class Lesson(CommandLineTest):
    def test_its_commands_run(self):
        """In their order, in one directory."""
        self.assertGreaterEqual(len(commands()), 9)
        own = {"XDG_CACHE_HOME": str(self.directory)}
        for arguments in commands():
            with self.subTest(" ".join(arguments)):
                quick = QUICK.get(arguments[0], ["--budget", "0.2"])
                done = self.run_program(*arguments, *quick, env=own)
                # A build without npm has no page, and says so; report_test.py looks at that.
                self.assertIn(done.returncode, [0, 4] if arguments[0] == "report" else [0], done.stderr)
                self.assertTrue(done.stdout + done.stderr)
                for option, name in zip(arguments, arguments[1:]):
                    if option == "--json":
                        self.assertEqual(parse_json(self.path(name).read_text())["diffbench"]["schema"], 1)

    def test_every_question_has_an_answer(self):
        text = LESSON.read_text()
        questions = re.findall(r"\*Question (\d+)\.\*", text)
        answers = re.findall(r"(?m)^(\d+)\. ", text.split("## Answers")[1])
        self.assertEqual(questions, answers)
        self.assertEqual(questions, [str(i + 1) for i in range(len(questions))])


if __name__ == "__main__":
    unittest.main()
