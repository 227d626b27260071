# SPDX-License-Identifier: Apache-2.0
"""What a configuration says of an nvcc that cannot serve, with stand-ins: nvcc_test.py ROOT"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE = pathlib.Path(sys.argv.pop(1)).resolve() / "cmake"
PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(nvcc CXX)
list(APPEND CMAKE_MODULE_PATH {CMAKE})
include(DiffbenchCuda)
message(STATUS "remedy: ${{how_to_get_cuda}}")
"""
INCOMPATIBLE = "echo '/usr/include/math.h(79): error: exception specification is incompatible' >&2; exit 2"


class Nvcc(unittest.TestCase):
    def configured(self, release, compiles="exit 0", *options):
        """The cache's DIFFBENCH_CUDA, None where it failed, and all that was said, in one line."""
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            (place / "CMakeLists.txt").write_text(PROJECT)
            (place / "nvcc").write_text(
                f'#!/bin/sh\n[ "$1" != --version ] || {{ echo "release {release}, V{release}.1"; exit; }}\n{compiles}\n')
            (place / "nvcc").chmod(0o755)
            done = subprocess.run(["cmake", "-S", place, "-B", place / "build", f"-DDIFFBENCH_NVCC={place}/nvcc", *options],
                                  capture_output=True, text=True)
            said = " ".join((done.stdout + done.stderr).split())
            cache = (place / "build/CMakeCache.txt").read_text()
            chosen = next(line[-1] for line in map(lambda l: l.split("="), cache.splitlines())
                          if line[0] == "DIFFBENCH_CUDA:STRING")
            return chosen if done.returncode == 0 else None, said

    def test_one_that_is_too_old_is_a_warning_with_the_remedy(self):
        for release in ("11.8", "12.2", "12.7"):
            chosen, said = self.configured(release)
            self.assertEqual(chosen, "off")
            self.assertIn(f"CMake Warning at {CMAKE}", said)
            self.assertIn(f"remedy: nvcc {release} is older than 12.8: install CUDA 13", said)

    def test_one_that_tells_no_release_is_named(self):
        chosen, said = self.configured("")
        self.assertEqual(chosen, "off")
        self.assertRegex(said, "/nvcc does not say which release it is: install CUDA 13")

    def test_one_that_does_not_compile_here_is_no_end(self):
        chosen, said = self.configured("12.9", INCOMPATIBLE)
        self.assertEqual(chosen, "off")
        self.assertIn("nvcc 12.9 does not compile with this system's headers (/usr/include/math.h(79): error: exception", said)

    def test_one_that_was_asked_for_is(self):
        chosen, said = self.configured("12.9", INCOMPATIBLE, "-DDIFFBENCH_CUDA=toolkit")
        self.assertIsNone(chosen)
        self.assertIn("does not compile with this system's headers", said)


if __name__ == "__main__":
    unittest.main()
