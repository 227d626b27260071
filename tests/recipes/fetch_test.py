# SPDX-License-Identifier: Apache-2.0
"""-DDIFFBENCH_FETCH=ON without a network: fetch_test.py SOURCE COMPILER

Each library lies in a folder of its own, as its archive would be unpacked. What is compiled must find all of its
headers there, although the same libraries are installed."""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, COMPILER = pathlib.Path(sys.argv.pop(1)).resolve(), sys.argv.pop(1)
HEADERS = {
    "xtl": "xtl/xsequence.hpp", "xsimd": "xsimd/xsimd.hpp", "xtensor": "xtensor/xtensor.hpp", "CLI11": "CLI/CLI.hpp",
    "nlohmann_json": "nlohmann/json.hpp", "tomlplusplus": "toml++/toml.h", "fmt": "fmt/format.h",
}
# Targets that use all of them between them.
TARGETS = ("solver/CMakeFiles/diffbench_solver.dir/backends/xtensor.cpp", "CMakeFiles/diffbench_lab_lesson.dir",
           "CMakeFiles/diffbench_app.dir")


def headers_of(command, **options):
    """What a preprocessor reads."""
    command = [*command, "-M", "-MF", "-", "-MT", "x"]
    made = subprocess.run(command, check=True, capture_output=True, text=True, **options)
    return made.stdout.replace("\\\n", " ").split()[1:]


class Fetch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="diffbench-fetch-")
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        self.installed = {}
        for name, header in HEADERS.items():
            found = headers_of([COMPILER, "-std=c++20", "-x", "c++", "-E", "-"], input=f"#include <{header}>\n")
            path = next(file for file in found if file.endswith(f"/{header}"))
            self.installed[name] = pathlib.Path(path).parent
            shutil.copytree(self.installed[name], self.place / name / "include" / self.installed[name].name)

    def configure(self, *more):
        return subprocess.run(
            ["cmake", "-S", SOURCE, "-B", self.place / "tree", "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={COMPILER}",
             "-DDIFFBENCH_FETCH=ON", "-DDIFFBENCH_TESTS=OFF", "-DDIFFBENCH_SUITES=OFF", "-DDIFFBENCH_CUDA=off",
             *(f"-DFETCHCONTENT_SOURCE_DIR_{name.upper()}={self.place / name}" for name in HEADERS), *more],
            capture_output=True, text=True)

    def test_headers_are_those_of_the_folders(self):
        done = self.configure()
        self.assertEqual(done.returncode, 0, done.stderr)
        used = set()
        for command in json.loads((self.place / "tree/compile_commands.json").read_text()):
            if any(target in command["command"] for target in TARGETS):
                # Without its own output and list of headers.
                words = re.sub(r" -(o|MF|MT) \S+| -MD| -c ", " ", command["command"])
                used.update(headers_of(shlex.split(words), cwd=command["directory"]))
        for name, header in HEADERS.items():
            with self.subTest(library=name):
                folder = f"{self.place / name}/include/"
                self.assertTrue(any(file.startswith(folder) for file in used), f"nothing of {name} is used")
                self.assertEqual([file for file in used if file.startswith(f"{self.installed[name]}/")], [])

    def test_a_folder_without_the_library(self):
        (self.place / "empty").mkdir()
        done = self.configure(f"-DFETCHCONTENT_SOURCE_DIR_FMT={self.place / 'empty'}")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("fmt: no fmt/format.h in", done.stderr)


if __name__ == "__main__":
    unittest.main()
