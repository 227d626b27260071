# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for what PyTorch does as a peer: it takes seconds to load, and is not everywhere."""

# The network in NumPy: what PyTorch would do, one line for each of its operations.
STEPS = """
import numpy as np

class Peer:
    def __init__(self, start):
        self.threads, self.versions = start["threads"], {"toy": "1"}
        self.widths, self.batch = start["layers"], start["batch"]
        self.rate = start["optimizer"]["lr"]
        self.initial = np.load(start["parameters"])[0].astype(float)
        self.x = np.load(start["features"])
        self.y = np.load(start["labels"])[0].astype(int)
        self.reset()

    def reset(self):
        self.step, self.layers, at = 0, [], 0
        for i, o in zip(self.widths, self.widths[1:]):
            w = self.initial[at:at + i * o].reshape(o, i).copy()
            b = self.initial[at + i * o:at + i * o + o].copy()
            self.layers.append([w, b])
            at += i * o + o

    def advance(self, steps):
        for _ in range(steps):
            begin = self.step * self.batch % len(self.y)
            self.train(self.x[begin:begin + self.batch], self.y[begin:begin + self.batch])
            self.step += 1

    def train(self, x, y):
        inputs = [x]
        for w, b in self.layers:
            x = inputs[-1] @ w.T + b
            inputs.append(np.maximum(x, 0))
        delta = np.exp(x - x.max(1, keepdims=True))
        delta /= delta.sum(1, keepdims=True)
        delta[np.arange(len(y)), y] -= 1
        delta /= len(y)
        for (w, b), x in zip(reversed(self.layers), reversed(inputs[:-1])):
            below = (delta @ w) * (x > 0)
            w -= self.rate * delta.T @ x
            b -= self.rate * delta.sum(0)
            delta = below

    def field(self):
        flat = [p.reshape(-1) for layer in self.layers for p in layer]
        return np.concatenate(flat).astype(np.float32).reshape(1, -1)
"""

# The same, where a step is an epoch of rows in the order that diffbench drew.
EPOCHS = STEPS + """

class Epochs(Peer):
    def __init__(self, start):
        self.order = np.load(start["order"]).astype(int)
        super().__init__(start)

    def advance(self, epochs):
        for _ in range(epochs):
            order = self.order[self.step % len(self.order)]
            for at in range(0, len(order), self.batch):
                rows = order[at:at + self.batch]
                self.train(self.x[rows], self.y[rows])
            self.step += 1

Peer = Epochs
"""
