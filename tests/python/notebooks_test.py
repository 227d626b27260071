# SPDX-License-Identifier: Apache-2.0
"""The notebooks, executed cell by cell without Jupyter: notebooks_test.py FOLDER_OF_THE_PACKAGE PROGRAM ROOT [CLASS]

Cells are plain Python, and what a cell's last expression is, is what a notebook shows."""
import ast
import contextlib
import html
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER, PROGRAM, ROOT = sys.argv.pop(1), sys.argv.pop(1), Path(sys.argv.pop(1))
sys.path.insert(0, FOLDER)
os.environ["DIFFBENCH"] = PROGRAM

from diffbench import _run  # noqa: E402

SCREEN = (50, 120)  # lines, columns
NOTEBOOKS = ROOT / "docs/notebooks"


def shown_by(source, names):
    """What a cell prints and shows, as text."""
    *before, last = ast.parse(source).body
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(before, []), "cell", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            if value is not None:
                as_html = getattr(value, "_repr_html_", None)
                print(as_html().replace("</tr>", "\n") if as_html else repr(value))
        else:
            exec(compile(source, "cell", "exec"), names)
    return out.getvalue()


def screen_lines(text):
    """On a screen, on which longer ones are broken. Marks and entities are not seen, nor what is folded."""
    text = re.sub(r"(?s)</summary>.*?</details>", "", text)
    lines = html.unescape(re.sub("<[^>]*>", "", text)).splitlines()
    return sum(max(1, -(-len(line) // SCREEN[1])) for line in lines)


def cells_of(notebook):
    cells = json.loads(notebook.read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def commands_of(notebook):
    """The words of each diffbench.run(...), whose arguments are literals."""
    for node in ast.walk(ast.parse("\n".join(cells_of(notebook)))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "diffbench.run":
            options = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
            if options.get("peer") == "numpy":
                del options["peer"]  # the lesson adds it where python3 has NumPy, as that of a notebook has
            yield [*(ast.literal_eval(word) for word in node.args), *_run.words_of(options)]


class Written(unittest.TestCase):
    """What is seen without running them."""

    def test_lessons_have_the_commands_of_the_lessons(self):
        text = (ROOT / "docs/lesson.md").read_text()
        for number in range(1, 6):
            with self.subTest(lesson=number):
                part = re.search(rf"(?ms)^## Lesson {number}: .*?(?=^## )", text)[0]
                # A file to be mended is a cell with a magic, where a notebook has one.
                expected = [shlex.split(line)[1:] for line in re.findall(r"(?m)^\$ (diffbench (?!try ).*)$", part)]
                self.assertEqual([*commands_of(NOTEBOOKS / f"lesson-{number}.ipynb")], expected)

    def test_the_tour_of_a_card_says_what_was_not_built(self):
        """A `make` that builds nothing, the program, or both, for a Python in which nothing is installed."""
        cells = "\n".join(cells_of(NOTEBOOKS / "card.ipynb")[:2])
        program, module = "build/release/bin/diffbench", "build/release/python/diffbench/__init__.py"
        core = "build/release/python/diffbench/_core.so"
        for built, says, ends in (([], "program: was not built", "No module named 'diffbench'"),
                                  ([program], ": apt-get install pybind11-dev python3-dev", "No module named 'diffbench'"),
                                  ([program, module], "module: was not built for", None),
                                  ([program, module, core], f"{module}\n", None)):
            with self.subTest(built=built), tempfile.TemporaryDirectory() as folder:
                Path(folder, "CMakePresets.json").touch()
                touches = "\n".join(f'mkdir -p "$2/{Path(path).parent}"; touch "$2/{path}"' for path in built)
                Path(folder, "make").write_text(f"#!/bin/sh\necho 'make is called'\n{touches}\n")
                Path(folder, "make").chmod(0o755)
                environment = {name: value for name, value in os.environ.items() if name != "DIFFBENCH"}
                done = subprocess.run([sys.executable, "-I", "-S", "-c", cells], cwd=folder, capture_output=True,
                                      text=True, env={**environment, "PATH": f"{folder}:{os.environ['PATH']}"})
                self.assertIn("make is called", done.stdout)
                self.assertIn(says, done.stdout)
                self.assertEqual(done.returncode != 0, ends is not None)
                self.assertIn(ends or "", done.stderr)

    def test_the_tour_of_a_card_outside_of_a_checkout_says_what_it_needs(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-I", "-c", cells_of(NOTEBOOKS / "card.ipynb")[0]], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is in no checkout of diffbench: git clone it", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)

    @unittest.skipIf(sys.version_info < (3, 11), "no tomllib")
    def test_they_ask_and_answer_as_the_lessons_do(self):
        done = subprocess.run([sys.executable, ROOT / "scripts/notebook-answers", "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_no_outputs(self):
        for notebook in NOTEBOOKS.iterdir():
            for cell in json.loads(notebook.read_text())["cells"]:
                if cell["cell_type"] == "code":
                    made = (cell["outputs"], cell["execution_count"])
                    self.assertEqual(made, ([], None), f"{notebook}: commit it without outputs")


class Executed(unittest.TestCase):
    def test_cells_run_and_show_no_more_than_a_screen(self):
        notebooks = sorted(NOTEBOOKS.iterdir())
        self.assertEqual(len(notebooks), 6)
        self.addCleanup(os.chdir, os.getcwd())
        for notebook in notebooks:
            with self.subTest(notebook=notebook.name), tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                Path("CMakePresets.json").touch()  # what the tour of a card takes for a checkout
                names = {}
                for cell in cells_of(notebook):
                    shown = shown_by(cell, names)
                    self.assertLessEqual(screen_lines(shown), SCREEN[0], shown)
                if notebook.name == "card.ipynb":
                    self.assertTrue(Path("page.html").exists())


if __name__ == "__main__":
    unittest.main()
