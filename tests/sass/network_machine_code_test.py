# SPDX-License-Identifier: Apache-2.0
"""ptxas' machine code of the persistent network's kernels gives the bits of NumPy's sums on each architecture, and does
not without what orders it.

network_machine_code_test.py [FOLDER], that of compile_kernels.py cubin; none where there is no nvcc."""
from __future__ import annotations

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "ptx"))

import network_test
from compile_kernels import CUBIN_ARCHITECTURES
from compiled import function_of
from launch import Schedule
from network_launches import Training
from network_test import ADAM, ALONE, DTYPES, FOLDER, NETS, PLENTY, SCHEDULES
from warps import check_instructions, kernels_in

NEWEST = CUBIN_ARCHITECTURES[-1]  # with clusters
KERNELS = ("persistent_steps", "persistent_forward")


@unittest.skipUnless(FOLDER, "no nvcc")
class NetworkMachineCode(unittest.TestCase):
    expect_numpys_bits = network_test.NetworkKernels.expect_numpys_bits
    expect_one_of = network_test.NetworkKernels.expect_one_of
    mutated_case = network_test.NetworkKernels.mutated_case
    is_wrong = staticmethod(network_test.NetworkKernels.is_wrong)

    @classmethod
    def setUpClass(cls) -> None:
        folder = pathlib.Path(FOLDER)
        cls.kernels = {each: kernels_in(folder, each, "mlp/cuda/kernels.cu") for each in CUBIN_ARCHITECTURES}
        functions = kernels_in(folder, NEWEST, "tests/ptx/functions.cu")
        cls.functions = {dtype: tuple(function_of(functions[name, dtype]) for name in ("exponential", "logarithm"))
                         for dtype in DTYPES}

    def test_all_instructions_are_known(self) -> None:
        for kernels in self.kernels.values():
            for (name, _), kernel in kernels.items():
                if name in KERNELS:
                    check_instructions(kernel)

    def test_they_give_numpys_bits(self) -> None:
        cases = [(each, *net) for each in CUBIN_ARCHITECTURES[:-1] for net in ALONE] + [(NEWEST, *net) for net in NETS]
        for number, (architecture, widths, batch, groups, optimizer) in enumerate(cases):
            # Of float64 a divided network and two of one block: they take ten times as long.
            for dtype in DTYPES if number % 4 == 3 else DTYPES[:1]:
                training = Training(widths, batch, optimizer, dtype)
                for room in (PLENTY, 0) if number % 2 else (PLENTY,):
                    with self.subTest(architecture=architecture, training=training, groups=groups, room=room):
                        self.expect_numpys_bits(architecture, training, groups, room, Schedule())

    def test_in_any_order_of_warps_and_lanes(self) -> None:
        self.expect_numpys_bits(NEWEST, Training((3, 40, 36, 4), 5, ADAM), (2, 2), 0, Schedule(1, gangs=5))

    def test_without_what_orders_them_they_do_not(self) -> None:
        kernel = self.kernels[NEWEST]["persistent_steps", "float32"]
        end = next(at for at, one in enumerate(kernel.instructions) if one.name == "ENDCOLLECTIVE")
        cases = [self.mutated_case(*each) for each in (((1, 1), 0), ((2, 2), 0), ((2, 2), PLENTY))]
        fences = [at for at, one in enumerate(kernel.instructions[:end]) if one.name == "MEMBAR"]
        barriers = [at for at, one in enumerate(kernel.instructions[:end]) if one.name == "BAR"]
        self.assertGreaterEqual(len(fences), 5)
        for at in fences[:1] + barriers[:3]:
            with self.subTest(line=kernel.instructions[at].text):
                self.assertTrue(any(self.is_wrong(kernel.without(at), *case, schedule)
                                    for case in cases for schedule in SCHEDULES))


if __name__ == "__main__":
    unittest.main()
