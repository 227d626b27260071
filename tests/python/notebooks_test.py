# SPDX-License-Identifier: Apache-2.0
"""The notebooks, executed cell by cell without Jupyter: notebooks_test.py FOLDER_OF_THE_PACKAGE PROGRAM ROOT Commands|Executed

Cells are plain Python, and what a cell's last expression is, is what a notebook shows."""
import ast
import contextlib
import io
import json
import os
import re
import shlex
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER, PROGRAM, ROOT = sys.argv.pop(1), sys.argv.pop(1), Path(sys.argv.pop(1))
sys.path.insert(0, FOLDER)
os.environ["DIFFBENCH"] = PROGRAM

import diffbench  # noqa: E402
from diffbench import _run  # noqa: E402

SCREEN = 60  # lines


def shown_by(source, names):
    """What a cell prints and shows, as text."""
    *before, last = ast.parse(source).body
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(before, []), "cell", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            if value is not None:
                html = getattr(value, "_repr_html_", None)
                print(html().replace("</tr>", "\n") if html else repr(value))
        else:
            exec(compile(source, "cell", "exec"), names)
    return out.getvalue()


def cells_of(notebook):
    """Its cells of code, as they are committed: without outputs."""
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None), f"{notebook}: commit it without outputs"
            yield "".join(cell["source"])


class Commands(unittest.TestCase):
    """Takes a second: nothing is measured."""

    def test_are_those_of_the_lessons(self):
        text = (ROOT / "docs/lesson.md").read_text()
        commands = []
        self.addCleanup(setattr, diffbench, "run", diffbench.run)
        diffbench.run = lambda *verb, **options: commands.append([*verb, *_run.words_of(options)])
        for number in range(1, 6):
            part = re.search(rf"(?ms)^## Lesson {number}: .*?(?=^## )", text)[0]
            # A file to be mended is a cell with a magic, where a notebook has one.
            expected = [shlex.split(line)[1:] for line in re.findall(r"(?m)^\$ (diffbench (?!try ).*)$", part)]
            commands.clear()
            names = {}
            for source in cells_of(ROOT / f"docs/notebooks/lesson-{number}.ipynb"):
                shown_by(source, names)
            self.assertEqual(commands, expected)


class Executed(unittest.TestCase):
    """No cell fails, and none shows more than a screen."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def execute(self, notebook):
        names = {}
        for source in cells_of(notebook):
            shown = shown_by(source, names)
            self.assertLessEqual(shown.count("\n"), SCREEN, shown)

    def test_lessons(self):
        for number in range(1, 6):
            with self.subTest(lesson=number):
                self.execute(ROOT / f"docs/notebooks/lesson-{number}.ipynb")

    def test_the_tour_of_a_card(self):
        Path("CMakePresets.json").touch()  # what it takes for a checkout
        self.execute(ROOT / "docs/notebooks/card.ipynb")
        self.assertTrue(Path("page.html").exists())


if __name__ == "__main__":
    unittest.main()
