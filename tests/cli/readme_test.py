# SPDX-License-Identifier: Apache-2.0
"""README: its commands have verbs and options that there are, its counts are right, its picture is there and small."""
import pathlib
import re
import unittest

from program import CommandLineTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve thirteen".split()


def commands():
    """The words of each, without what stands behind it."""
    for block in re.findall(r"(?ms)^```\w*\n(.*?)^```", README):
        for line in re.findall(r"(?m)^(?:\$ |build/release/bin/|docker run .*)?(?<![\w-])diffbench (.*)$", block):
            yield re.split(r"   +|  #", line)[0].split()


class Readme(CommandLineTest):
    def help_of(self, *verb):
        return self.run_program(*verb, "--help")

    def test_commands_are_there(self):
        found = list(commands())
        self.assertGreater(len(found), 10)
        for words in found:
            verb = []
            for word in words:
                if not re.fullmatch(r"[a-z]+", word) or self.help_of(*verb, word).returncode != 0:
                    break
                verb.append(word)
            with self.subTest(words=words):
                self.assertTrue(verb or words[0].startswith("-"), "no such verb")
                known = self.help_of(*verb).stdout
                for option in (word for word in words if word.startswith("--")):
                    self.assertRegex(known, rf"{option}\b")

    def count_said(self, what):
        return NUMBERS.index(re.search(rf"(\w+)\s+{what}", README)[1])

    def test_counts(self):
        for what, file in (("steps, ", "first-ten-minutes.md"), ("steps to begin", "first-ten-minutes.md"), ("lessons", "lesson.md")):
            heads = re.findall(r"(?m)^## (?:\d\.|Lesson \d:)", (ROOT / "docs" / file).read_text())
            self.assertEqual(self.count_said(what), len(heads), what)
        listed = self.run_program("try", "--exercise").stdout
        self.assertEqual(self.count_said("broken ports"), len(re.findall(r"(?m)^ *\d+ ", listed)), listed)

    def test_picture(self):
        before, words, file = re.search(r"(?s)(.*?)!\[(.*?)\]\((.*?)\)", README).groups()
        self.assertLess(len(before.splitlines()), 10)
        self.assertGreater(len(words), 40)
        self.assertLessEqual((ROOT / file).stat().st_size, 200_000)


if __name__ == "__main__":
    unittest.main()
