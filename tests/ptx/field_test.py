# SPDX-License-Identifier: Apache-2.0
"""nvcc's PTX of the field's kernels gives NumPy's bits, and does not without each thing that orders it.

field_test.py [FOLDER], that of compile_kernels.py; none where there is no nvcc."""
from __future__ import annotations

import sys
import unittest

import numpy as np

from compile_kernels import ARCHITECTURES
from compiled import Compiled, kernel_name
from field_cases import CASES, DTYPES, MANY_NEIGHBOURS, MUTATED, STREAMED, Case, is_wrong, same_bits
from field_launches import BOUNDARIES, FieldRun, Problem, TilePlan, reference
from launch import SECTOR, Schedule
from machine import check_opcodes
from mutants import mutants

FOLDER = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else ""
SOURCES = ("kernels/src/kernels.cu", "kernels/backends/*.cu")
# A single step after pairs of them, at the grid's edges and elsewhere: depths of numbered halos are even.
NOT_REACHED = {("numbered_steps", 3), ("numbered_steps", 6)}


@unittest.skipUnless(FOLDER, "no nvcc")
class FieldKernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.compiled = Compiled(FOLDER, ARCHITECTURES[-1])
        cls.kernels = cls.compiled.kernels(*SOURCES)

    def test_all_architectures_have_the_same_code(self) -> None:
        """So one of them is run."""
        for source in SOURCES:
            texts = {"".join(Compiled(FOLDER, each).texts(source)).replace(each, "") for each in ARCHITECTURES}
            self.assertEqual(len(texts), 1, source)

    def test_all_opcodes_are_known(self) -> None:
        for kernel in self.kernels.values():
            check_opcodes(kernel)

    def expect_numpys_bits(self, case: Case, dtype: str, boundary: str, schedule: Schedule) -> None:
        with self.subTest(case=case, dtype=dtype, boundary=boundary, schedule=schedule):
            self.assertTrue(same_bits(*case.result(self.kernels, dtype, boundary, schedule)))

    def test_they_give_numpys_bits(self) -> None:
        for dtype in DTYPES:
            for boundary in BOUNDARIES:
                for case in CASES + STREAMED[dtype]:
                    self.expect_numpys_bits(case, dtype, boundary, Schedule())

    def test_in_any_order_of_warps(self) -> None:
        for seed, boundary in enumerate(BOUNDARIES):
            for case in (*MUTATED.values(), CASES[2]):
                self.expect_numpys_bits(case, DTYPES[seed % 2], boundary, Schedule(seed, gangs=4))

    def test_every_kernel_was_run(self) -> None:
        run = {case.method for case in CASES + STREAMED["float32"]} - {"in_launches"}
        self.assertEqual({name for name, _ in self.kernels}, {
            {"naive": "naive_step", "stream_rows": "stream_rows_step"}.get(each, f"{each}_steps") for each in run})

    def test_without_what_orders_them_they_do_not(self) -> None:
        module = self.compiled.module(SOURCES[0])
        names = {kernel_name(name): name for name in module.kernel_names}
        count = 0
        for name, case in MUTATED.items():
            for change, kernel in mutants(module, names[name, "float32"]):
                count += 1
                if (name, int(change.partition(":")[0])) in NOT_REACHED:
                    continue
                kernels = {**self.kernels, (name, "float32"): kernel}
                with self.subTest(kernel=name, change=change):
                    self.assertTrue(is_wrong(case, kernels) or (
                        "acquire" in change and is_wrong(MANY_NEIGHBOURS, kernels)))
        self.assertGreaterEqual(count, 6 + 14 + 4)

    def test_one_buffer_is_not_enough(self) -> None:
        class OneBuffer(FieldRun):
            def fields(self) -> tuple[np.int64, np.int64]:
                return np.int64(self.now), np.int64(self.now)

            def swap(self) -> None:
                pass
        for name in ("blocked_steps", "persistent_steps"):
            case, right = MUTATED[name], []
            for seed in range(4):
                problem = Problem(case.nx, case.ny, "float32")
                run, start = OneBuffer(problem, self.kernels, Schedule(seed, gangs=4)), problem.random_field()
                run.cells()[:] = start
                getattr(run, case.method)(case.steps, *case.arguments)
                right.append(same_bits(np.ascontiguousarray(run.cells()), reference(problem, start, case.steps)))
            self.assertFalse(all(right), name)

    def test_sectors_of_the_stores_of_streamed(self) -> None:
        """A lane stores 32 bytes with two instructions, 16 with each: so a row of a warp touches each of its sectors
        twice, a half each time. Where lanes swap halves, once."""
        for dtype, nx, kernel, times in (("float32", 240, "streamed_steps", 2), ("float64", 112, "streamed_steps", 2),
                                         ("float32", 240, "swapped_steps", 1), ("float64", 112, "swapped_steps", 1)):
            run = FieldRun(Problem(nx, 16, dtype), self.kernels, counts_sectors=True)
            run.cells()[:] = run.problem.random_field()
            run.strips(TilePlan(16, 8, 8, 16), kernel)
            stores = [each for each in run.sectors if each.text.partition("st.")[1]]
            row_bytes = nx * np.dtype(dtype).itemsize
            self.assertEqual(sum(each.warps for each in stores), 2 * 16)
            self.assertEqual(sum(each.bytes for each in stores), 16 * row_bytes)
            self.assertEqual(sum(each.sectors for each in stores) / 16, times * row_bytes / SECTOR)


if __name__ == "__main__":
    unittest.main()
