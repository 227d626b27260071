# SPDX-License-Identifier: Apache-2.0
"""The kernels of a network's steps one by one, as mlp/cuda/device_net.cpp launches them where cuBLASLt has no product,
and the same in NumPy."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

from launch import Launch, Schedule
from machine import Device
from network_launches import Training, state_type
from network_reference import chain, fma, in_order, updated, warp_sum
from ptx_text import Kernel

Array = Any  # np.ndarray

SHAPE = np.dtype([(name, "i8") for name in ("rows", "inputs", "outputs")])
ROWS = np.dtype([(name, "i8") for name in ("features", "labels", "order")])
BATCH = np.dtype([(name, "i8") for name in ("features", "labels", "rows", "inputs", "capacity")])
MOMENTS = np.dtype([("first", "i8"), ("second", "i8")])
ALIGNMENT = 64  # parameters, parameter_layout.hpp


def threads_for(count: int, block: int = 256) -> Launch:
    """launch_shape.hpp"""
    return Launch((max(1, -(-count // block)), 1), (block, 1))


def spread(training: Training, parameters: Array) -> tuple[Array, list[int], list[int]]:
    """Parameters as parameter_layout.hpp has them, and where the weights and biases of the layers begin."""
    size, places = 0, []
    counts = [training.widths[i] * training.widths[i + 1] for i in range(training.layers)]
    for count in (*counts, *training.widths[1:]):
        places.append(size)
        size += -(-count // ALIGNMENT) * ALIGNMENT
    here = np.zeros(size, parameters.dtype)
    weights, biases = places[:training.layers], places[training.layers:]
    for layer in range(training.layers):
        begin, middle, end = training.weights_at(layer), training.biases_at(layer), training.weights_at(layer + 1)
        here[weights[layer]:weights[layer] + middle - begin] = parameters[begin:middle]
        here[biases[layer]:biases[layer] + end - middle] = parameters[middle:end]
    return here, weights, biases


@dataclass
class PlainRun:
    """A network on a device."""
    training: Training
    kernels: dict[tuple[str, str], Kernel]
    features: Array
    labels: Array
    parameters: Array
    schedule: Schedule = Schedule()
    device: Device = field(default_factory=Device)

    def __post_init__(self) -> None:
        training, device = self.training, self.device
        kind = np.dtype(training.dtype)
        self.size, batch = kind.itemsize, training.batch
        here, self.weights_at, self.biases_at = spread(training, self.parameters)
        self.count = len(here)
        state = np.zeros((), state_type(kind))
        state["power1"] = state["power2"] = 1
        fresh = np.full(batch * max(training.widths), np.nan, kind)
        self.at = {"features": device.put(self.features), "labels": device.put(self.labels.astype(np.int32)),
                   "parameters": device.put(here), "gradient": device.put(0 * here), "first": device.put(0 * here),
                   "second": device.put(0 * here), "state": device.put(state), "losses": device.put(np.zeros(batch)),
                   "batch_features": device.put(fresh), "batch_labels": device.put(np.zeros(batch, np.int32)),
                   "batch_rows": device.put(np.zeros(1, np.int32))}
        self.values = [self.at["batch_features"], *(device.put(fresh) for _ in range(training.layers))]
        self.deltas = [device.put(fresh) for _ in range(training.layers + 1)]

    def launch(self, name: str, launch: Launch, *arguments: Any) -> None:
        self.device.launch(self.kernels[name, self.training.dtype], launch,
                           [np.int64(each) if isinstance(each, int) else each for each in arguments], self.schedule)

    def weights(self, layer: int, of: str = "parameters") -> int:
        return self.at[of] + self.weights_at[layer] * self.size

    def biases(self, layer: int, of: str = "parameters") -> int:
        return self.at[of] + self.biases_at[layer] * self.size

    def batch(self) -> Array:
        return np.array((self.at["batch_features"], self.at["batch_labels"], self.at["batch_rows"],
                         self.training.widths[0], self.training.batch), BATCH)

    def begin(self, order: Array) -> None:
        """Resident rows, in this order."""
        self.order = self.device.put(order.astype(np.int32))
        self.launch("begin_order", threads_for(1), self.at["state"], len(order))

    def gather(self) -> None:
        training = self.training
        self.launch("gather_batch", threads_for(training.batch * training.widths[0]),
                    np.array((self.at["features"], self.at["labels"], self.order), ROWS), self.batch(),
                    training.optimizer.constants(training.dtype), self.at["state"])

    def take(self, features: Array, labels: Array) -> None:
        """Rows that the host has sent."""
        training, device = self.training, self.device
        sent = device.arrays[self.at["batch_features"]]
        sent[:features.nbytes] = np.ascontiguousarray(features).view(np.uint8).ravel()
        device.arrays[self.at["batch_labels"]][:4 * len(labels)] = labels.astype(np.int32).view(np.uint8)
        device.get(self.at["batch_rows"], np.int32)[0] = len(labels)
        self.launch("take_batch", threads_for(training.batch * training.widths[0]), self.batch(),
                    training.optimizer.constants(training.dtype), self.at["state"])

    def step(self) -> None:
        training, batch = self.training, self.training.batch
        shapes = [np.array((batch, *training.widths[layer:layer + 2]), SHAPE) for layer in range(training.layers)]
        last = training.layers - 1
        for layer, shape in enumerate(shapes):
            self.launch("plain_forward", threads_for(batch * training.widths[layer + 1]), shape, self.values[layer],
                        self.weights(layer), self.biases(layer), np.bool_(layer < last), self.values[layer + 1])
        self.launch("softmax_loss", threads_for(batch, 128), self.values[-1], self.at["batch_labels"], batch,
                    training.widths[-1], self.deltas[-1], self.at["losses"], self.at["state"])
        factors = training.optimizer.constants(training.dtype)["factors"]
        kind = np.dtype(training.dtype).type
        at_once = self.updates_in_product
        alpha, beta = kind(1), kind(0)
        if at_once:
            alpha, beta = -factors["rate"], kind(1) - factors["rate"] * factors["weight_decay"]
        # Input gradients first: products may update the weights.
        for layer in reversed(range(1, training.layers)):
            self.launch("plain_input_gradient", threads_for(batch * training.widths[layer]), shapes[layer],
                        self.deltas[layer + 1], self.weights(layer), self.values[layer], self.deltas[layer])
        for layer, shape in enumerate(shapes):
            self.launch("plain_weight_gradient", threads_for(training.widths[layer] * training.widths[layer + 1]),
                        shape, self.deltas[layer + 1], self.values[layer], alpha, beta,
                        self.weights(layer, "parameters" if at_once else "gradient"))
            self.launch("plain_bias_gradient", threads_for(training.widths[layer + 1]), shape, self.deltas[layer + 1],
                        self.biases(layer, "gradient"))
        self.update()

    @property
    def updates_in_product(self) -> bool:
        optimizer = self.training.optimizer
        return not optimizer.adam and optimizer.momentum == 0

    def update(self) -> None:
        begin = self.biases_at[0] if self.updates_in_product else 0
        optimizer = self.training.optimizer
        moments = np.array((0 if self.updates_in_product else self.at["first"],
                            self.at["second"] if optimizer.adam else 0), MOMENTS)
        self.launch("update_parameters", threads_for(self.count - begin), self.at["parameters"] + begin * self.size,
                    self.at["gradient"] + begin * self.size, moments, self.count - begin, self.at["losses"],
                    self.at["state"])

    def get(self, name: str) -> Array:
        kind = np.dtype(self.training.dtype)
        return self.device.get(self.at[name], state_type(kind) if name == "state" else kind)


@dataclass
class PlainReference:
    """The same in NumPy."""
    training: Training
    parameters: Array
    exp: Callable[[Array], Array]
    log: Callable[[Array], Array]
    fused: str = "keep"
    loss: float = 0.0

    def __post_init__(self) -> None:
        self.here, self.weights_at, self.biases_at = spread(self.training, self.parameters)
        self.moments = [np.zeros_like(self.here), np.zeros_like(self.here)]
        self.powers = [1.0, 1.0]

    def weights(self, layer: int, of: Array) -> Array:
        inputs, outputs = self.training.widths[layer:layer + 2]
        return of[self.weights_at[layer]:self.weights_at[layer] + inputs * outputs].reshape(outputs, inputs)

    def biases(self, layer: int, of: Array) -> Array:
        return of[self.biases_at[layer]:self.biases_at[layer] + self.training.widths[layer + 1]]

    def step(self, features: Array, labels: Array) -> None:
        training, kind = self.training, np.dtype(self.training.dtype).type
        rows = np.zeros((training.batch, training.widths[0]), kind)
        rows[:len(features)] = features
        values = [rows.T]
        for layer in range(training.layers):
            sums = chain(self.weights(layer, self.here), values[-1]) + self.biases(layer, self.here)[:, None]
            values.append(np.where(sums < 0, kind(0), sums) if layer + 1 < training.layers else sums)
        count = len(labels)
        shifted = (values[-1] - values[-1].max(axis=0))[:, :count]
        powers = self.exp(shifted)
        total = in_order([np.zeros_like(powers[0]), *powers])
        share = kind(1) / kind(count)
        delta = np.zeros_like(values[-1])
        delta[:, :count] = powers * (share / total)
        delta[labels, np.arange(count)] -= share
        losses = (self.log(total) - shifted[labels, np.arange(count)]).astype(np.float64)
        self.loss += warp_sum(losses)
        gradient = np.zeros_like(self.here)
        for layer in reversed(range(training.layers)):
            self.weights(layer, gradient)[:] = chain(delta, values[layer].T)
            self.biases(layer, gradient)[:] = in_order([np.zeros_like(delta[:, 0]), *delta.T])
            sums = chain(self.weights(layer, self.here).T, delta)
            delta = np.where(values[layer] > 0, sums, kind(0))
        self.update(gradient)

    def update(self, gradient: Array) -> None:
        optimizer = self.training.optimizer
        after, self.powers = updated(self.training, self.here, gradient, self.moments, self.powers, self.fused)
        if not optimizer.adam and optimizer.momentum == 0:
            factors = optimizer.constants(self.training.dtype)["factors"]
            beta = factors["rate"].dtype.type(1) - factors["rate"] * factors["weight_decay"]
            weights = slice(0, self.biases_at[0])
            after[weights] = fma(-factors["rate"], gradient[weights], beta * self.here[weights])
        self.here = after
