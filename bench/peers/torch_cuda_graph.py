# SPDX-License-Identifier: Apache-2.0
"""The NumPy line in PyTorch on the GPU, its kernels recorded in CUDA graphs: the same work as
torch_cuda_roll, without the cost of issuing it from Python."""
import torch
import torch_cuda_roll

STEPS_PER_GRAPH = 100


class Peer(torch_cuda_roll.Peer):
    def __init__(self, start):
        super().__init__(start)
        if self.device.type != "cuda":
            raise RuntimeError(f"CUDA graphs need a CUDA device, not {self.device}")
        self.u = self.initial.clone()
        # Before a capture the kernels must have run once, on a stream other than the default one
        # (PyTorch's notes on CUDA semantics).
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            self.step(self.u)
        torch.cuda.synchronize()
        self.many = self.capture(STEPS_PER_GRAPH)
        self.one = self.capture(1)
        self.many.replay()  # the first replay uploads the graph

    def capture(self, steps):
        """A graph reads and writes fixed addresses, so it ends with a copy back to self.u."""
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            u = self.u
            for _ in range(steps):
                u = self.step(u)
            self.u.copy_(u)
        return graph

    def reset(self):
        self.u.copy_(self.initial)
        self.synchronize()

    def advance(self, steps):
        for _ in range(steps // STEPS_PER_GRAPH):
            self.many.replay()
        for _ in range(steps % STEPS_PER_GRAPH):
            self.one.replay()
        self.synchronize()
