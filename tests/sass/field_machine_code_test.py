# SPDX-License-Identifier: Apache-2.0
"""ptxas' machine code of the field's kernels gives NumPy's bits on each architecture, and does not without what orders
it.

field_machine_code_test.py [FOLDER], that of compile_kernels.py cubin; none where there is no nvcc."""
from __future__ import annotations

import itertools
import pathlib
import sys
import unittest
from typing import Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "ptx"))

from compile_kernels import CUBIN_ARCHITECTURES
from field_cases import CASES, DTYPES, MANY_NEIGHBOURS, MUTATED, STREAMED, Case, is_wrong, same_bits
from field_launches import BOUNDARIES, TilePlan
from launch import Schedule
from machine_code import Instruction, Kernel, SassError, instruction
from warps import check_instructions, kernels_in

FOLDER = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else ""
SOURCE = "kernels/src/kernels.cu"
# As many tiles as a launch of the main job has, each of a whole multiprocessor: two exchanges and a step.
MAIN_JOB = Case(640, 640, 25, "numbered", (TilePlan(32, 16, 12),))
MINUS_FOUR = {"FFMA": 0xc0800000, "DFMA": 0xc0100000}  # the upper word of float64
IMMEDIATE = 4  # of an instruction's forms: its second factor is a constant


def cases_of(dtype: str) -> list[Case]:
    return [case for case in CASES if case.method != "naive"] + STREAMED[dtype][::2]


def waits(kernel: Kernel) -> Iterator[int]:
    """Branches back to a load that others must have stored for."""
    code = kernel.instructions
    for at, one in enumerate(code):
        if one.name == "BRA" and kernel.target(at, one) <= at:
            names = [each.name for each in code[kernel.target(at, one):at]]
            if "LD" in names and not {"BAR", "BSYNC"} & set(names):
                yield at


def forgets(one: Instruction) -> bool:
    """What lies in caches: .IVALL."""
    return one.name == "CCTL" and one.bits(87, 91) == 4


def exchanges(kernel: Kernel) -> Iterator[tuple[int, str]]:
    """What orders accesses of different blocks: which instruction, and its name."""
    code = kernel.instructions
    barriers = [-1, *(at for at, one in enumerate(code) if one.name == "BAR"), len(code)]
    for before, at, after in zip(barriers, barriers[1:], barriers[2:]):
        if any(one.name == "MEMBAR" or forgets(one) for one in code[before + 1:after]):
            yield at, "BAR"
    yield from ((at, one.name) for at, one in enumerate(code) if one.name == "MEMBAR" or forgets(one))
    yield from ((at, "wait") for at in waits(kernel))


@unittest.skipUnless(FOLDER, "no nvcc")
class FieldMachineCode(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.kernels = {each: kernels_in(pathlib.Path(FOLDER), each, SOURCE) for each in CUBIN_ARCHITECTURES}

    def test_all_instructions_are_known(self) -> None:
        for kernels in self.kernels.values():
            for kernel in kernels.values():
                check_instructions(kernel)

    def test_what_is_not_known_stops_with_its_line(self) -> None:
        kernel = self.kernels["sm_90"]["blocked_steps", "float32"]
        at, one = next((at, one) for at, one in enumerate(kernel.instructions) if one.name == "FADD")
        for bit in (8, 77, 92):  # another opcode; .SAT, and one that nothing knows
            changed = list(kernel.instructions)
            changed[at] = instruction(one.word ^ 1 << bit, at, kernel.name)
            with self.subTest(bit=bit), self.assertRaisesRegex(SassError, f"{16 * at:#07x}.*not known"):
                check_instructions(kernel.with_instructions(changed))

    def test_only_products_with_minus_four_are_fused(self) -> None:
        for architecture, kernels in self.kernels.items():
            for (name, dtype), kernel in kernels.items():
                fused = [one for one in kernel.instructions if one.name in MINUS_FOUR]
                self.assertTrue(fused, name)
                for one in fused:
                    with self.subTest(architecture, kernel=name, dtype=dtype, line=one.text):
                        self.assertEqual((one.bits(9, 12), one.bits(32, 64)), (IMMEDIATE, MINUS_FOUR[one.name]))

    def expect_numpys_bits(self, architecture: str, case: Case, dtype: str, boundary: str, schedule: Schedule) -> None:
        with self.subTest(architecture, case=case, dtype=dtype, boundary=boundary, schedule=schedule):
            self.assertTrue(same_bits(*case.result(self.kernels[architecture], dtype, boundary, schedule)))

    def test_they_give_numpys_bits(self) -> None:
        for architecture, dtype, boundary in itertools.product(CUBIN_ARCHITECTURES, DTYPES, BOUNDARIES):
            for case in cases_of(dtype):
                self.expect_numpys_bits(architecture, case, dtype, boundary, Schedule())

    def test_at_the_main_jobs_shape(self) -> None:
        self.expect_numpys_bits("sm_90", MAIN_JOB, "float32", "periodic", Schedule())

    def test_in_any_order_of_warps_and_lanes(self) -> None:
        for seed, (architecture, boundary) in enumerate(zip(CUBIN_ARCHITECTURES, BOUNDARIES)):
            for case in MUTATED.values():
                self.expect_numpys_bits(architecture, case, DTYPES[seed % 2], boundary, Schedule(seed, gangs=4))

    def test_without_what_orders_them_they_do_not(self) -> None:
        kernels, left_out = self.kernels["sm_90"], []
        for name, case in MUTATED.items():
            kernel = kernels[name, "float32"]
            steps = [(at, "step") for at, one in enumerate(kernel.instructions) if one.name == "BAR"]
            for at, what in steps if name == "blocked_steps" else exchanges(kernel):
                mutated = {**kernels, (name, "float32"): kernel.without(at)}
                left_out.append((name, what))
                with self.subTest(line=kernel.instructions[at].text, what=what):
                    self.assertTrue(is_wrong(case, mutated) or (
                        name == "persistent_steps" and is_wrong(MANY_NEIGHBOURS, mutated)))
        for each in [("blocked_steps", "step"), ("numbered_steps", "wait"),
                     *(("persistent_steps", what) for what in ("BAR", "MEMBAR", "CCTL", "wait"))]:
            self.assertIn(each, left_out)


if __name__ == "__main__":
    unittest.main()
