"""What a plain run loads: neither MPI nor HDF5 nor BLAS, which would cost each start a tenth of a second or more.
The dynamic loader itself says so (LD_DEBUG, ld.so(8))."""
import pathlib
import re
import resource
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
        heavy = [name for name in self.libraries(*arguments) if re.search("mpi|hdf5|pmix|blas", name)]
        self.assertEqual(heavy, [])

    def test_a_plain_run_loads_no_module(self):
        self.assert_plain("--help")
        self.assert_plain("list")
        self.assert_plain(*QUICK)

    def test_a_limit_of_the_address_space(self):
        """OpenBLAS spins where it gets none."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (150 << 20, 150 << 20))
        if self.run_program("--version", preexec_fn=limit).returncode != 0:
            self.skipTest("a sanitizer needs more")
        self.run_ok("list", preexec_fn=limit)
        done = self.run_program(*"mlp train --engine cpu_xtensor --epochs 1".split(), preexec_fn=limit)
        self.assertEqual(done.returncode, 4)
        self.assert_one_line(done.stderr, "OpenBLAS needs")

    def test_a_checkpoint_loads_one(self):
        if not (MODULES / "hdf5.so").exists():
            self.skipTest("this build is without the module hdf5")
        found = self.libraries(*"--grid 8 --iters 1 --checkpoint c.h5 --checkpoint-every 1".split())
        self.assertIn("hdf5.so", found)
        self.assertTrue([name for name in found if name.startswith("libhdf5")])


if __name__ == "__main__":
    unittest.main()
