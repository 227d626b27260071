# SPDX-License-Identifier: Apache-2.0
"""A checkout configures wherever it lies: any_folder_test.py SOURCE BUILD_TREE

Lists of sources and of tests are made by patterns, which must not see the folders above the checkout. A copy
of the tree lies below folders with the names of its own, and must come to what the build tree has."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, TREE = (pathlib.Path(a).resolve() for a in (sys.argv.pop(1), sys.argv.pop(1)))
LEFT_OUT = ("build", ".git", "node_modules", "dist", "__pycache__")
PATTERNS_OF_FILES = ["suites_test", "golden_test", "process_memory_test", "copy_loop", "thrust_host"]
SETTINGS = re.compile(r"(?m)^((?:DIFFBENCH_\w+|CMAKE_BUILD_TYPE|CMAKE_CXX_COMPILER):\w+=.*)$")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def compiled(source, tree):
    """Batches of sources, which CMake puts together, as what is in them."""
    files = set()
    for command in json.loads((tree / "compile_commands.json").read_text()):
        file = pathlib.Path(command["directory"], command["file"])
        is_batch = file.parent.name == "Unity"
        files.update(re.findall(r'#include "(/.*)"', file.read_text()) if is_batch else [str(file)])
    return {file.replace(f"{tree}/", "build tree: ").replace(f"{source}/", "") for file in files}


def tests_of(tree):
    return set(re.findall(r"(?m)^ *Test +#\d+: (.*)$", output_of("ctest", "--test-dir", tree, "-N")))


class AnyFolder(unittest.TestCase):
    def test_folders_above_are_not_seen(self):
        with tempfile.TemporaryDirectory(prefix="diffbench-folders-") as place:
            copy, build = pathlib.Path(place, "copy"), pathlib.Path(place, "build")
            shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
            names = {folder.name for folder in copy.rglob("*/")} | {"build"}
            self.assertTrue({"gpu", "pitfalls", "tests"} <= names)
            folder = pathlib.Path(place, *sorted(names), *PATTERNS_OF_FILES)
            folder.mkdir(parents=True)
            copy = copy.rename(folder / "diffbench")
            settings = SETTINGS.findall(output_of("cmake", "-N", "-LA", TREE))
            done = subprocess.run(["cmake", "-S", copy, "-B", build, "-G", "Ninja", *(f"-D{s}" for s in settings)],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(compiled(copy, build), compiled(SOURCE, TREE))
            self.assertEqual(tests_of(build), tests_of(TREE))


if __name__ == "__main__":
    unittest.main()
