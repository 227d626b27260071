# SPDX-License-Identifier: Apache-2.0
"""How the program starts. A plain run loads neither MPI nor BLAS, which would cost each start a tenth of
a second or more: the dynamic loader itself says so (LD_DEBUG, ld.so(8)). What it says where the system gives it too
little memory or too few threads."""
import json
import pathlib
import re
import resource
import sys
import tempfile
import unittest

from program import PROGRAM, QUICK, CommandLineTest

MODULES = pathlib.Path(PROGRAM).resolve().parent.parent / "lib/diffbench"


class Startup(CommandLineTest):
    def libraries(self, *arguments):
        """The names of all that are loaded, at the start or later."""
        done = self.run_ok(*arguments, env={"LD_DEBUG": "libs"})
        found = re.findall(r"calling init: \S*/([^/\s]+)$", done.stderr, re.M)
        self.assertIn("libc.so.6", found)
        return found

    def assert_plain(self, *arguments):
        heavy = [name for name in self.libraries(*arguments) if re.search("mpi|pmix|blas", name)]
        self.assertEqual(heavy, [])

    def test_a_plain_run_loads_no_module(self):
        self.assert_plain("--help")
        self.assert_plain("list")
        self.assert_plain(*QUICK)
        self.assert_plain(*"run --grid 8 --iters 1 --checkpoint c.state --checkpoint-every 1".split())

    def test_list_starts_each_python_twice_and_imports_nothing(self):
        """One start asks for all modules, one for the driver. A module whose import takes seconds is found, not read."""
        with tempfile.TemporaryDirectory() as directory:
            starts = pathlib.Path(directory) / "starts"
            python = pathlib.Path(directory) / "python"
            python.write_text(f'#!/bin/sh\necho >> {starts}\nexec {sys.executable} "$@"\n')
            python.chmod(0o755)
            for module in ("numpy", "torch", "numba", "halide", "cupy", "jax", "triton"):
                (pathlib.Path(directory) / f"{module}.py").write_text("raise SystemExit('imported')")
            done = self.run_ok("list", "--json", "-", env={"DIFFBENCH_PYTHON": str(python), "PYTHONPATH": directory})
            self.assertLessEqual(len(starts.read_text().splitlines()), 2)
            found = {row["name"]: row["available"] for row in json.loads(done.stdout)["diffbench"]["list"]
                     if row["kind"] == "peer"}
            self.assertTrue(found["torch"] and found["numba"] and found["halide"], found)

    def need(self, limit):
        if self.run_program("--version", preexec_fn=limit).returncode != 0:
            self.skipTest("a sanitizer needs more")

    def test_limits_of_memory(self):
        """OpenBLAS spins where it gets none."""
        for which, name in ((resource.RLIMIT_AS, "-v"), (resource.RLIMIT_DATA, "-d")):
            def limit():
                resource.setrlimit(which, (150 << 20, 150 << 20))
            with self.subTest(name):
                self.need(limit)
                self.run_ok("list", preexec_fn=limit)
                done = self.run_program(*"mlp train --engine cpu_xtensor --epochs 1".split(), preexec_fn=limit)
                self.assertEqual(done.returncode, 4)
                self.assert_one_line(done.stderr, f" MiB of memory, and ulimit {name} leaves ")

    def test_threads_that_cannot_be_made(self):
        """Stacks for eight do not fit. The threads that were made wait for nobody."""
        def limit():
            hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
            resource.setrlimit(resource.RLIMIT_STACK, (500 << 20, hard))
            resource.setrlimit(resource.RLIMIT_AS, (2000 << 20, 2000 << 20))
        self.need(limit)
        for verb in ("--grid 64 --iters 10 --backend simd", "scaling --grid 64 --iters 10",
                     "transfer --max-size 1M", "mlp train --engine cpu --epochs 1"):
            with self.subTest(verb):
                done = self.run_program(*verb.split(), "--threads", "8", "--no-progress",
                                        preexec_fn=limit)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr.splitlines()[-1],
                                 "the system gives [1-7] of 8 threads: choose fewer --threads")


if __name__ == "__main__":
    unittest.main()
