# SPDX-License-Identifier: Apache-2.0
"""nvcc's PTX of the networks' kernels gives the bits of NumPy's sums, and does not without each thing that orders it;
and the kernel that copies copies.

network_test.py [FOLDER], that of compile_kernels.py; none where there is no nvcc."""
from __future__ import annotations

import sys
import unittest
from typing import Any, Union

import numpy as np

from compile_kernels import ARCHITECTURES
from compiled import Compiled, kernel_name
from launch import Launch, LaunchFailure, Schedule
from machine import Device, check_opcodes
from mutants import mutants
from network_launches import NetworkRun, Optimizer, Training, persistent_net
from network_reference import FUSED, NetworkReference
from plain_launches import PlainReference, PlainRun
from ptx_text import Kernel

FOLDER = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else ""
SOURCE = "mlp/cuda/kernels.cu"
DTYPES = ("float32", "float64")
# The first finds all that was ever left out, with this nvcc.
SCHEDULES = (Schedule(0, gangs=2), Schedule(1, gangs=6), Schedule(2, gangs=6))
Array = Any  # np.ndarray

SGD = Optimizer(weight_decay=0.01)
MOMENTUM = Optimizer(momentum=0.9, weight_decay=0.01)
ADAM = Optimizer(adam=True, rate=0.01, weight_decay=0.01)
PLENTY = 227 << 10

# Layers, rows of a batch, how blocks share them: products of few and many terms, of two and more outputs; layers that
# are divided and not.
NETS = [((3, 40, 50, 4), 9, (2, 2), ADAM), ((5, 70, 20, 65, 40), 7, (2, 4), SGD), ((64, 64, 64), 3, (1, 2), MOMENTUM),
        ((4, 80, 34, 2), 5, (4, 1), MOMENTUM), ((33, 33), 4, (2, 2), ADAM), ((2, 3), 1, (1, 1), SGD)]
# Of one block: cards before sm_90 have no clusters.
ALONE = [((3, 40, 50, 4), 9, (1, 1), MOMENTUM), ((18, 2), 3, (1, 1), ADAM)]


def bits(values: Array) -> Array:
    return np.ascontiguousarray(values).view(np.uint32 if values.dtype == np.float32 else np.uint64)


class Data:
    """Rows for two batches, the last one not full, in an order, and parameters to begin with."""

    def __init__(self, training: Training) -> None:
        random = np.random.default_rng(3)
        self.training = training
        count = 2 * training.batch - training.batch // 3
        self.features = random.standard_normal((count, training.widths[0])).astype(training.dtype)
        self.labels = random.integers(0, training.widths[-1], count)
        self.parameters = random.uniform(-0.5, 0.5, training.parameters).astype(training.dtype)
        self.order = random.permutation(count)

    def batches(self) -> list[Array]:
        size = self.training.batch
        return [self.order[at:at + size] for at in range(0, len(self.order), size)]


@unittest.skipUnless(FOLDER, "no nvcc")
class NetworkKernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.compiled = {each: Compiled(FOLDER, each) for each in ARCHITECTURES}
        cls.kernels = {each: compiled.kernels(SOURCE) for each, compiled in cls.compiled.items()}
        newest = cls.compiled[ARCHITECTURES[-1]]
        cls.functions = {dtype: (newest.function("exponential", dtype), newest.function("logarithm", dtype))
                         for dtype in DTYPES}

    def test_all_opcodes_are_known(self) -> None:
        for kernel in [kernel for kernels in self.kernels.values() for kernel in kernels.values()]:
            check_opcodes(kernel)

    def test_exponential_and_logarithm_are_numpys_but_for_two_units(self) -> None:
        x = np.linspace(-30, 5, 256)
        for dtype in DTYPES:
            for function, numpys, arguments in zip(self.functions[dtype], (np.exp, np.log), (x, np.exp(x / 4))):
                given = arguments.astype(dtype)
                expected = numpys(given.astype(np.longdouble))
                error = np.abs(function(given) - expected) / np.spacing(np.abs(expected).astype(dtype))
                self.assertLessEqual(error.max(), 2, (numpys, dtype))

    def expect_numpys_bits(self, architecture: str, training: Training, groups: tuple[int, int], room: int,
                           schedule: Schedule) -> None:
        data, net = Data(training), persistent_net(training, *groups, room)
        run = NetworkRun(training, net, self.kernels[architecture], data.features, data.labels, data.parameters,
                         schedule)
        expected = [NetworkReference(training, net, data.parameters, *self.functions[training.dtype], fused)
                    for fused in FUSED[:2 if training.optimizer.adam else 1]]
        answered, size = max(1, training.batch - 1), int(net["rows"])
        outputs = [expected[0].forward(data.features[at:min(at + size, answered)])[-1].T
                   for at in range(0, answered, size)]
        self.assertTrue(np.array_equal(bits(run.forward(answered)), bits(np.concatenate(outputs))), "outputs")
        run.train(data.order)
        for rows in data.batches():
            for each in expected:
                each.step(data.features[rows], data.labels[rows])
        self.expect_one_of(run, [(each.parameters, each.loss) for each in expected])

    def expect_one_of(self, run: Union[NetworkRun, PlainRun], expected: list[tuple[Array, float]]) -> None:
        """Parameters and loss after two steps."""
        state = run.get("state")
        self.assertEqual((state["steps"][0], state["broken"][0]), (2, 0))
        found, loss = bits(run.get("parameters")), float(state["loss"][0])
        self.assertTrue(any(np.array_equal(found, bits(parameters)) and loss == its for parameters, its in expected))

    def test_the_persistent_kernels_give_numpys_bits(self) -> None:
        for architecture, nets in ((ARCHITECTURES[-1], NETS), (ARCHITECTURES[0], ALONE)):
            for number, (widths, batch, groups, optimizer) in enumerate(nets):
                for dtype in DTYPES:
                    training = Training(widths, batch, optimizer, dtype)
                    # With the gradients in one portion, and in as many as there can be, in one place.
                    for room in (PLENTY, 0) if (number + len(dtype)) % 2 else (PLENTY,):
                        with self.subTest(architecture=architecture, training=training, groups=groups, room=room):
                            self.expect_numpys_bits(architecture, training, groups, room, Schedule())

    def test_in_two_places(self) -> None:
        training = Training((3, 40, 36, 4), 5, SGD)
        smallest = persistent_net(training, 2, 2, 0)
        room = 4 * int(smallest["shared_size"]) + 2 * int(smallest["portion"]) * 128 * 16
        net = persistent_net(training, 2, 2, room)
        self.assertNotEqual(*net["gradients_at"])
        self.expect_numpys_bits(ARCHITECTURES[-1], training, (2, 2), room, Schedule())

    def test_in_any_order_of_warps(self) -> None:
        for seed, groups in enumerate([(2, 2), (1, 1)]):
            self.expect_numpys_bits(ARCHITECTURES[-1], Training((3, 40, 36, 4), 5, ADAM), groups, 0,
                                    Schedule(seed, gangs=5))

    def test_the_plain_kernels_give_numpys_bits(self) -> None:
        for architecture in ARCHITECTURES:
            for dtype in DTYPES:
                for optimizer in (SGD, MOMENTUM, ADAM):
                    for resident in (True, False):
                        training = Training((3, 20, 7, 4), 9, optimizer, dtype)
                        with self.subTest(architecture=architecture, training=training, resident=resident):
                            self.expect_plain_bits(architecture, training, resident)

    def expect_plain_bits(self, architecture: str, training: Training, resident: bool) -> None:
        data = Data(training)
        run = PlainRun(training, self.kernels[architecture], data.features, data.labels, data.parameters)
        expected = [PlainReference(training, data.parameters, *self.functions[training.dtype], fused)
                    for fused in FUSED[:2 if training.optimizer.adam else 1]]
        if resident:
            run.begin(data.order)
        for rows in data.batches():
            if resident:
                run.gather()
            else:
                run.take(data.features[rows], data.labels[rows])
            run.step()
            for each in expected:
                each.step(data.features[rows], data.labels[rows])
        self.expect_one_of(run, [(each.here, each.loss) for each in expected])

    def test_every_kernel_was_run(self) -> None:
        run = {"persistent_steps", "persistent_forward", "plain_forward", "plain_input_gradient",
               "plain_weight_gradient", "plain_bias_gradient", "softmax_loss", "update_parameters",
               "begin_order", "gather_batch", "take_batch"}
        for kernels in self.kernels.values():
            self.assertEqual({name for name, _ in kernels}, run)

    def test_without_what_orders_them_they_do_not(self) -> None:
        compiled = self.compiled[ARCHITECTURES[-1]]
        module = compiled.module(SOURCE)
        names = {kernel_name(name): name for name in module.kernel_names}
        alone, in_portions, at_once = (
            self.mutated_case(groups, room) for groups, room in (((1, 1), 0), ((2, 2), 0), ((2, 2), PLENTY)))
        count = 0
        for change, kernel in mutants(module, names["persistent_steps", "float32"]):
            count += 1
            cases = [*([] if "cluster" in change else [alone]), in_portions, at_once]
            with self.subTest(change):
                self.assertTrue(any(self.is_wrong(kernel, *case, schedule)
                                    for schedule in SCHEDULES for case in cases))
        self.assertGreaterEqual(count, 16)

    def mutated_case(self, groups: tuple[int, int], room: int) -> tuple[NetworkRun, Array, Array, float]:
        """A network before it is trained, the order, and what must come of it."""
        training = Training((2, 36, 35, 3), 5, ADAM)
        data, net = Data(training), persistent_net(training, *groups, room)
        run = NetworkRun(training, net, self.kernels["sm_90"], data.features, data.labels, data.parameters)
        arrays = dict(run.device.arrays)
        run.train(data.order)
        expected = run.get("parameters").copy(), float(run.get("state")["loss"][0])
        run.device.arrays = arrays
        return run, data.order, *expected

    @staticmethod
    def is_wrong(kernel: Kernel, run: NetworkRun, order: Array, parameters: Array, loss: float,
                 schedule: Schedule) -> bool:
        mutated = NetworkRun(run.training, run.net, {**run.kernels, ("persistent_steps", "float32"): kernel},
                             run.features, run.labels, run.parameters, schedule)
        try:
            mutated.train(order)
        except LaunchFailure:
            return True
        return not np.array_equal(mutated.get("parameters"), parameters) or mutated.get("state")["loss"][0] != loss


@unittest.skipUnless(FOLDER, "no nvcc")
class CopyKernel(unittest.TestCase):
    def test_it_copies(self) -> None:
        for architecture in ARCHITECTURES:
            kernel = Compiled(FOLDER, architecture).kernels("gpu/src/copy_kernel.cu")["copy_words", ""]
            for words in (1, 255, 1025):
                given = np.random.default_rng(1).integers(0, 1 << 32, 4 * words, np.uint32)
                for blocks in {-(-words // 256), 2}:
                    device = Device()
                    of, to = device.put(given), device.put(np.zeros_like(given))
                    device.launch(kernel, Launch((blocks, 1), (256, 1)), [np.int64(of), np.int64(to), np.int64(words)],
                                  Schedule())
                    self.assertTrue(np.array_equal(device.get(to, np.uint32), given))


if __name__ == "__main__":
    unittest.main()
