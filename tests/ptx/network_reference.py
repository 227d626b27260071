# SPDX-License-Identifier: Apache-2.0
"""What the kernels of networks compute, in NumPy and to the last bit: every sum in the order in which lanes, warps and
blocks make it.

nvcc contracts products and sums in the kernels of networks (mlp/ has no -fmad=false), and so does fma() here. The
exponential and the logarithm are CUDA's own, and given by the caller.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

import arithmetic
from network_launches import Training

Array = Any  # np.ndarray


def fma(a: Array, b: Array, c: Array) -> Array:
    kind = np.result_type(a, b, c)
    return (arithmetic.fma32 if kind == np.float32 else arithmetic.fma64)(
        *(np.asarray(each, kind) for each in (a, b, c)))


def chain(left: Array, right: Array) -> Array:
    """left [..., output, term] times right [..., term, row], term after term."""
    total = np.zeros((*left.shape[:-1], right.shape[-1]), left.dtype)
    for term in range(left.shape[-1]):
        total = fma(left[..., term, None], right[..., term, None, :], total)
    return total


def product(left: Array, right: Array) -> Array:
    """tile_products.cuh, multiply(): left [output][term], right [term][row]. Of many terms each lane sums up
    every so many-th, and the lanes' sums are folded."""
    outputs, terms = left.shape
    if terms <= 16:
        return chain(left, right)
    lanes = 32 if outputs <= 2 else 8
    turns = -(-terms // lanes)
    padded_left = np.zeros((outputs, turns * lanes), left.dtype)
    padded_right = np.zeros((turns * lanes, right.shape[1]), left.dtype)
    padded_left[:, :terms], padded_right[:terms] = left, right
    sums = chain(padded_left.reshape(outputs, turns, lanes).transpose(2, 0, 1),
                 padded_right.reshape(turns, lanes, -1).transpose(1, 0, 2))
    while len(sums) > 1:
        sums = sums[:len(sums) // 2] + sums[len(sums) // 2:]
    return sums[0]


def in_order(parts: list[Array]) -> Array:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def warp_sum(values: Array) -> Any:
    """Of up to 32 lanes, folded."""
    lanes = np.zeros(32, values.dtype)
    lanes[:len(values)] = values
    while len(lanes) > 1:
        lanes = lanes[:len(lanes) // 2] + lanes[len(lanes) // 2:]
    return lanes[0]


# Of Adam's moments, sums of two products, nvcc fuses one: of what is kept or of what is taken, as it likes.
FUSED = ("keep", "take")


def updated(training: Training, parameters: Array, gradient: Array, moments: list[Array], powers: list[float],
            fused: str) -> tuple[Array, list[float]]:
    """step_kernels.cuh, updated(): the parameters after a step, and the powers of Adam's betas; moments are changed."""
    optimizer, kind = training.optimizer, parameters.dtype.type
    factors = optimizer.constants(training.dtype)["factors"]
    f = {name: factors[name] for name in factors.dtype.names}
    gradient = fma(f["weight_decay"], parameters, gradient)
    if optimizer.adam:
        powers = [powers[0] * optimizer.beta1, powers[1] * optimizer.beta2]
        rate, correction = kind(optimizer.rate / (1 - powers[0])), kind(np.sqrt(1 - powers[1]))
        if fused == "take":
            moments[0] = fma(f["take1"], gradient, f["keep1"] * moments[0])
            moments[1] = fma(f["take2"] * gradient, gradient, f["keep2"] * moments[1])
        else:
            moments[0] = fma(f["keep1"], moments[0], f["take1"] * gradient)
            moments[1] = fma(f["keep2"], moments[1], f["take2"] * gradient * gradient)
        return parameters - rate * moments[0] / (np.sqrt(moments[1]) / correction + f["epsilon"]), powers
    if optimizer.momentum != 0:
        gradient = moments[0] = fma(f["momentum"], moments[0], gradient)
    return parameters - f["rate"] * gradient, powers


@dataclass
class NetworkReference:
    """A network, of which `net` says how blocks share it; a batch has 32 rows a row group at most."""
    training: Training
    net: Array
    parameters: Array
    exp: Callable[[Array], Array]
    log: Callable[[Array], Array]
    fused: str = "take"
    loss: float = 0.0
    powers: list[float] = field(default_factory=lambda: [1.0, 1.0])

    def __post_init__(self) -> None:
        self.kind = np.dtype(self.training.dtype).type
        self.parameters = self.parameters.copy()
        self.moments = [np.zeros_like(self.parameters), np.zeros_like(self.parameters)]

    def weights(self, layer: int, of: Array) -> Array:
        begin, end = self.training.weights_at(layer), self.training.biases_at(layer)
        return of[begin:end].reshape(self.training.widths[layer + 1], self.training.widths[layer])

    def biases(self, layer: int, of: Array) -> Array:
        begin = self.training.biases_at(layer)
        return of[begin:begin + self.training.widths[layer + 1]]

    def own(self, level: int) -> list[slice]:
        """The features of a level that each feature group has; all have those of one that is not divided."""
        width, own = int(self.net["widths"][level]), int(self.net["own"][level])
        if own >= width:
            return [slice(0, width)]
        return [slice(min(f * own, width), min((f + 1) * own, width)) for f in range(int(self.net["feature_groups"]))]

    def forward(self, rows: Array) -> list[Array]:
        """Of a row group: the values of all levels, [feature][row]."""
        values = [rows.T]
        for layer in range(self.training.layers):
            weights, biases = self.weights(layer, self.parameters), self.biases(layer, self.parameters)
            sums = np.concatenate([product(weights[own], values[-1]) for own in self.own(layer + 1)])
            sums = sums + biases[:, None]
            values.append(np.where(sums < 0, self.kind(0), sums) if layer + 1 < self.training.layers else sums)
        return values

    def outputs_gradient(self, outputs: Array, labels: Array, batch_rows: int) -> tuple[Array, float]:
        """Of a row group's rows: the gradient, and their loss."""
        share = self.kind(1) / self.kind(batch_rows)
        gradient = np.zeros_like(outputs)
        if len(labels) == 0:
            return gradient, 0.0
        there = outputs[:, :len(labels)]
        shifted = there - there.max(axis=0)
        powers = self.exp(shifted)
        total = in_order([np.zeros_like(powers[0]), *powers])
        columns = np.arange(len(labels))
        probability = powers * (share / total)
        gradient[:, :len(labels)] = probability
        gradient[labels, columns] = probability[labels, columns] - share
        losses = (self.log(total) - shifted[labels, columns]).astype(np.float64)
        return gradient, warp_sum(losses)

    def input_gradient(self, layer: int, delta: Array, values: Array) -> Array:
        """Of the values that go into a layer, before their ReLU."""
        weights = self.weights(layer, self.parameters)
        owners = self.own(layer + 1)
        if len(owners) == 1:
            sums = np.concatenate([product(weights[:, own].T, delta) for own in self.own(layer)])
        else:
            sums = in_order([product(weights[own].T, delta[own]) for own in owners])
        return np.where(values > 0, sums, self.kind(0))

    def step(self, features: Array, labels: Array) -> None:
        """On the rows of a batch."""
        groups, size = int(self.net["row_groups"]), int(self.net["rows"])
        padded = -(-size // self.training.chunk) * self.training.chunk
        gradients: list[Array] = []
        losses = []
        for group in range(groups):
            own = slice(group * size, (group + 1) * size)
            rows = np.zeros((padded, features.shape[1]), features.dtype)
            rows[:len(features[own])] = features[own]
            values = self.forward(rows)
            delta, loss = self.outputs_gradient(values[-1], labels[own], len(labels))
            losses.append(loss)
            gradient = np.zeros_like(self.parameters)
            for layer in reversed(range(self.training.layers)):
                self.weights(layer, gradient)[:] = chain(delta, values[layer].T)
                self.biases(layer, gradient)[:] = in_order([np.zeros_like(delta[:, 0]), *delta.T])
                if layer > 0:
                    delta = self.input_gradient(layer, delta, values[layer])
            gradients.append(gradient)
        self.loss += float(in_order([np.float64(0), *losses]))
        self.update(in_order(gradients))

    def update(self, gradient: Array) -> None:
        self.parameters, self.powers = updated(self.training, self.parameters, gradient, self.moments, self.powers,
                                               self.fused)
