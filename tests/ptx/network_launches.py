# SPDX-License-Identifier: Apache-2.0
"""The kernels of networks, launched as mlp/ does.

How a network lies in shared memory follows mlp/cuda/persistent_net.cpp; structs, its header, batch.hpp and
step_state.hpp; launches, mlp/engines/cuda_persistent.cpp.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from launch import Launch, Schedule
from machine import Device
from ptx_text import Kernel

Array = Any  # np.ndarray

MOST_LAYERS, MOST_BLOCKS, THREADS, NARROW, TILE_CHUNKS = 16, 16, 512, 32, 128

_LAYERS, _LEVELS = (MOST_LAYERS,), (MOST_LAYERS + 1,)
_DIVISOR = [("number", "i4"), ("reciprocal", "u4")]
NET = np.dtype([
    ("layers", "i4"), ("row_groups", "i4"), ("feature_groups", "i4"), ("batch", "i4"), ("rows", "i4"), ("pitch", "i4"),
    ("momentum", "?"), ("adam", "?"), ("moments_on_chip", "?"), ("widths", "i4", _LEVELS), ("own", "i4", _LEVELS),
    ("own_divisor", _DIVISOR, _LEVELS), ("row_chunks", _DIVISOR), ("weights_at", "i8", _LAYERS),
    ("biases_at", "i8", _LAYERS), ("rows_at", "i4", _LAYERS), ("weight_pitch", "i4", _LAYERS),
    ("slice_biases_at", "i4", _LAYERS), ("all_biases_at", "i4"), ("biases", "i4"), ("values_at", "i4", _LEVELS),
    ("deltas_at", "i4", _LEVELS), ("partials_at", "i4", (2,)), ("tiles_at", "i4", _LEVELS), ("memories_at", "i4"),
    ("table_at", "i4"), ("own_tiles", "i4"), ("portion", "i4"), ("gradients_at", "i4", (2,)),
    ("bias_gradients_at", "i4"), ("moments_at", "i4"), ("moments", "i4"), ("labels_at", "i4"), ("losses_at", "i4"),
    ("shared_size", "i4")], align=True)
WORK = np.dtype([(name, "i8") for name in ("features", "labels", "order", "count", "outputs", "parameters", "first",
                                           "second", "block_moments", "state")])


def factors_type(dtype: Any) -> np.dtype[Any]:
    return np.dtype([("adam", "?"), *((name, dtype) for name in (
        "rate", "weight_decay", "momentum", "keep1", "take1", "keep2", "take2", "root_correction", "epsilon"))],
                    align=True)


def constants_type(dtype: Any) -> np.dtype[Any]:
    return np.dtype([("factors", factors_type(dtype)), ("rate", "f8"), ("beta1", "f8"), ("beta2", "f8")], align=True)


def state_type(dtype: Any) -> np.dtype[Any]:
    return np.dtype([("loss", "f8"), ("steps", "i8"), ("broken", "i8"), ("next", "i8"), ("count", "i8"), ("rows", "i4"),
                     ("not_finite", "i4"), ("power1", "f8"), ("power2", "f8"), ("factors", factors_type(dtype))],
                    align=True)


@dataclass(frozen=True)
class Optimizer:
    """mlp/engine.hpp."""
    adam: bool = False
    rate: float = 0.05
    momentum: float = 0.0
    weight_decay: float = 0.0
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def constants(self, dtype: str) -> Array:
        """constants_of(): the factors of the second step."""
        kind = np.dtype(dtype)
        correction = 1 - self.beta1 ** 2.0 if self.adam else 1
        made = np.zeros((), constants_type(kind))
        made["factors"] = (self.adam, self.rate / correction, self.weight_decay, self.momentum, self.beta1,
                           1 - self.beta1, self.beta2, 1 - self.beta2, np.sqrt(1 - self.beta2 ** 2.0), self.epsilon)
        made["rate"], made["beta1"], made["beta2"] = self.rate, self.beta1, self.beta2
        return made


@dataclass(frozen=True)
class Training:
    widths: tuple[int, ...]
    batch: int
    optimizer: Optimizer = Optimizer()
    dtype: str = "float32"

    @property
    def layers(self) -> int:
        return len(self.widths) - 1

    @property
    def chunk(self) -> int:
        """Numbers in 16 bytes."""
        return 16 // np.dtype(self.dtype).itemsize

    def weights_at(self, layer: int) -> int:
        return sum((self.widths[i] + 1) * self.widths[i + 1] for i in range(layer))

    def biases_at(self, layer: int) -> int:
        return self.weights_at(layer) + self.widths[layer] * self.widths[layer + 1]

    @property
    def parameters(self) -> int:
        return self.weights_at(self.layers)


def up_to(count: int, multiple: int) -> int:
    return -(-count // multiple) * multiple


def odd_pitch(count: int, chunk: int) -> int:
    return up_to(count, chunk) + (0 if up_to(count, chunk) // chunk % 2 else chunk)


def divisor(number: int) -> tuple[int, int]:
    return number, (-(-(1 << 32) // number)) & 0xffffffff


def tile_shape(own_outputs: int, numbers: int) -> tuple[int, int]:
    """Outputs and inputs of a tile of gradients."""
    return (4, 32 * numbers) if own_outputs <= 4 else (16, 8 * numbers)


class _Layout:
    """persistent_net.cpp, class Layout."""

    def __init__(self, training: Training, row_groups: int, feature_groups: int) -> None:
        self.training, self.chunk, self.size = training, training.chunk, 0
        self.net = net = np.zeros((), NET)
        net["layers"], net["row_groups"], net["feature_groups"] = training.layers, row_groups, feature_groups
        net["batch"], net["rows"] = training.batch, -(-training.batch // row_groups)
        rows = int(net["rows"])
        net["row_chunks"] = divisor(up_to(rows, self.chunk) // self.chunk)
        net["pitch"] = odd_pitch(rows, self.chunk)
        net["adam"] = training.optimizer.adam
        net["momentum"] = training.optimizer.adam or training.optimizer.momentum != 0
        self.place_levels()
        self.place_parameters()
        self.place_small_things()

    def place(self, count: int) -> int:
        begin = self.size
        self.size += up_to(int(count), self.chunk)
        return begin

    def place_levels(self) -> None:
        net, groups, pitch = self.net, int(self.net["feature_groups"]), int(self.net["pitch"])
        for level in reversed(range(self.training.layers + 1)):
            width = self.training.widths[level]
            whole = level == 0 or width <= NARROW or groups == 1
            own = width if whole else up_to(-(-width // groups), 4)
            net["widths"][level], net["own"][level], net["own_divisor"][level] = width, own, divisor(own)
            net["values_at"][level] = self.place(width * pitch)
            net["deltas_at"][level] = 0 if level == 0 else self.place(own * pitch)
        partials, turn = [0, 0], 0
        for level in reversed(range(1, self.training.layers)):
            if net["own"][level + 1] < net["widths"][level + 1]:
                partials[turn] = max(partials[turn], groups * int(net["own"][level]) * pitch)
                turn = 1 - turn
        net["partials_at"] = self.place(partials[0]), self.place(partials[1])

    def place_parameters(self) -> None:
        net, row_groups = self.net, int(self.net["row_groups"])
        for layer in range(self.training.layers):
            own, width = int(net["own"][layer + 1]), int(net["widths"][layer])
            net["weights_at"][layer] = self.training.weights_at(layer)
            net["biases_at"][layer] = self.training.biases_at(layer)
            net["weight_pitch"][layer] = odd_pitch(width, self.chunk)
            net["rows_at"][layer] = self.place(own * int(net["weight_pitch"][layer]))
            net["slice_biases_at"][layer] = net["biases"]
            net["biases"] += own
            outputs, inputs = tile_shape(own, self.chunk)
            net["tiles_at"][layer + 1] = net["tiles_at"][layer] + -(-own // outputs) * -(-width // inputs)
        biases = int(net["biases"])
        net["own_tiles"] = -(-int(net["tiles_at"][self.training.layers]) // row_groups)
        net["all_biases_at"] = self.place(biases)
        net["bias_gradients_at"] = self.place(row_groups * biases)
        net["moments"] = up_to(int(net["own_tiles"]) * TILE_CHUNKS * self.chunk + biases, self.chunk)

    def place_small_things(self) -> None:
        net = self.net

        def numbers_in(size: int) -> int:
            return -(-size // 16) * self.chunk
        net["memories_at"] = self.place(numbers_in(MOST_BLOCKS * 8))
        net["table_at"] = self.place(numbers_in(int(net["own_tiles"]) * int(net["row_groups"]) * 16))
        net["labels_at"] = self.place(numbers_in(int(net["rows"]) * 4))
        net["losses_at"] = self.place(numbers_in((THREADS // 32 + int(net["row_groups"])) * 8))

    def divided(self, portions: int, places: int, moments_on_chip: bool) -> Array:
        net, used = self.net.copy(), self.size
        net["moments_on_chip"] = moments_on_chip and net["momentum"]
        net["moments_at"] = self.place((2 if net["adam"] else 1) * net["moments"] if net["moments_on_chip"] else 0)
        net["portion"] = -(-int(net["own_tiles"]) // portions)
        portion = int(net["row_groups"]) * int(net["portion"]) * TILE_CHUNKS * self.chunk
        first = self.place(portion)
        net["gradients_at"] = first, first if places == 1 else self.place(portion)
        net["shared_size"], self.size = self.size, used
        return net


def persistent_net(training: Training, row_groups: int, feature_groups: int, shared_bytes: int) -> Array:
    """The layout, with the gradients in as few portions as fit."""
    layout = _Layout(training, row_groups, feature_groups)
    size = np.dtype(training.dtype).itemsize

    def fits(net: Array) -> bool:
        return int(net["shared_size"]) * size <= shared_bytes
    net = layout.divided(1, 1, True)
    if not fits(net):
        net = layout.divided(3, 2, True)
    portions = 1
    while not fits(net) and portions <= net["own_tiles"]:
        net = layout.divided(portions, 1 if portions == 1 else 2, False)
        portions += 2 if portions == 1 else 1
    return net if fits(net) else layout.divided(int(net["own_tiles"]), 1, False)


@dataclass
class NetworkRun:
    """A network on a device, with its optimizer's state. What a run trains on lies there in its order."""
    training: Training
    net: Array
    kernels: dict[tuple[str, str], Kernel]
    features: Array
    labels: Array
    parameters: Array
    schedule: Schedule = Schedule()
    device: Device = field(default_factory=Device)

    def __post_init__(self) -> None:
        device, kind = self.device, np.dtype(self.training.dtype)
        self.blocks = int(self.net["row_groups"]) * int(self.net["feature_groups"])
        count = self.training.parameters
        state = np.zeros((), state_type(kind))
        state["power1"] = state["power2"] = 1
        self.at = {"features": device.put(self.features), "labels": device.put(self.labels.astype(np.int32)),
                   "parameters": device.put(self.parameters), "first": device.put(np.zeros(count, kind)),
                   "second": device.put(np.zeros(count, kind)),
                   "block_moments": device.put(np.zeros(2 * self.blocks * int(self.net["moments"]), kind)),
                   "outputs": device.put(np.zeros(self.training.batch * self.training.widths[-1], kind)),
                   "state": device.put(state)}

    def work(self, count: int, order: int = 0) -> Array:
        return np.array(tuple({"order": order, "count": count, **self.at}[name] for name in WORK.names), WORK)

    def launch(self, name: str, *arguments: Any) -> None:
        size = int(self.net["shared_size"]) * np.dtype(self.training.dtype).itemsize
        self.device.launch(self.kernels[name, self.training.dtype],
                           Launch((self.blocks, 1), (THREADS, 1), size, self.blocks), [self.net, *arguments],
                           self.schedule)

    def train(self, order: Array) -> None:
        at = self.device.put(order.astype(np.int32))
        self.launch("persistent_steps", self.work(len(order), at),
                    self.training.optimizer.constants(self.training.dtype))

    def forward(self, count: int) -> Array:
        """The outputs of the first rows: [row][class]."""
        self.launch("persistent_forward", self.work(count))
        return self.get("outputs").reshape(-1, self.training.widths[-1])[:count]

    def get(self, name: str) -> Array:
        return self.device.get(self.at[name], state_type(np.dtype(self.training.dtype)) if name == "state"
                               else self.training.dtype)
