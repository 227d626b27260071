# SPDX-License-Identifier: Apache-2.0
"""The field itself in files: --save, snapshots, and --init from what was saved."""
import struct
import unittest

from program import CommandLineTest, floats, npy_bytes, read_npy

RUN = "run --backend scalar".split()


class FieldFiles(CommandLineTest):
    def run_field(self, grid, steps, *arguments):
        return self.run_ok(*RUN, "--grid", grid, "--iters", str(steps), *arguments)

    def test_saved_cells_are_those_of_the_formula(self):
        """One step of the formula, in numbers that are exact: NX counts columns, and boundaries
        are periodic."""
        cells = [0.0] * 12
        cells[0] = 1.0
        self.path("u.npy").write_bytes(npy_bytes(floats(cells), (3, 4)))
        self.run_field("4x3", 1, "--dt", "0.125", "--init", "u.npy", "--save", "v.npy")
        shape, descr, saved = read_npy(self.path("v.npy"))
        self.assertEqual((shape, descr), ((3, 4), "<f4"))
        self.assertEqual(struct.unpack("<12f", saved), (0.5, 0.125, 0, 0.125,
                                                        0.125, 0, 0, 0,
                                                        0.125, 0, 0, 0))

    def test_going_on_from_a_saved_field_equals_the_longer_run(self):
        for dtype in ("float32", "float64"):
            common = ["--dtype", dtype, "--boundary", "neumann"]
            with self.subTest(dtype):
                self.run_field("17x13", 50, *common, "--init", "random", "--save", "all.npy")
                self.run_field("17x13", 20, *common, "--init", "random", "--save", "part.npy")
                self.run_field("17x13", 30, *common, "--init", "part.npy", "--save", "rest.npy")
                self.assertEqual(self.path("rest.npy").read_bytes(),
                                 self.path("all.npy").read_bytes())
                self.assertNotEqual(self.path("part.npy").read_bytes(),
                                    self.path("all.npy").read_bytes())

    def test_the_seed_makes_the_random_field(self):
        fields = []
        for seed in ("1", "1", "2"):
            self.run_field("5x5", 1, "--init", "random", "--seed", seed, "--save", "u.npy")
            fields.append(self.path("u.npy").read_bytes())
        self.assertEqual(fields[0], fields[1])
        self.assertNotEqual(fields[0], fields[2])

    def test_snapshots_are_numbered_and_end_with_the_result(self):
        self.run_field("9x7", 25, "--snapshot-every", "10", "--snapshot-dir", "kept", "--save",
                       "u.npy")
        names = sorted(path.name for path in self.path("kept").iterdir())
        self.assertEqual(names, [f"step_{step:09}.npy" for step in (0, 10, 20, 25)])
        self.assertEqual(self.path("kept/step_000000025.npy").read_bytes(),
                         self.path("u.npy").read_bytes())
        self.run_field("9x7", 10, "--save", "ten.npy")
        self.assertEqual(self.path("kept/step_000000010.npy").read_bytes(),
                         self.path("ten.npy").read_bytes())


if __name__ == "__main__":
    unittest.main()
