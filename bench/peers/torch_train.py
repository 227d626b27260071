# SPDX-License-Identifier: Apache-2.0
"""A whole training in PyTorch: what is a step of torch_mlp is an epoch here, on rows that are gathered
batch by batch in the order that diffbench drew, so that all see the same batches."""
import numpy as np
import torch
import torch_mlp


class Peer(torch_mlp.Peer):
    def __init__(self, start):
        self.rows = start["batch"]
        self.order = torch.from_numpy(np.load(start["order"])).long().to(self.device)  # an epoch a row
        super().__init__(start)

    def advance(self, epochs):
        for epoch in range(self.step, self.step + epochs):
            for rows in self.order[epoch % len(self.order)].split(self.rows):
                self.train_on(self.features[rows], self.labels[rows])
        self.step += epochs
