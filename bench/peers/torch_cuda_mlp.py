# SPDX-License-Identifier: Apache-2.0
"""Training of a network in PyTorch on the GPU, eager, as its tutorials write it, with all data there:
some sixty kernels a step for ten layers, issued one by one."""
import os

import torch
import torch_mlp


class OnGpu:
    """Mixed into a torch_mlp.Network: moves it to the GPU."""
    # Another device is for tests of this script where there is no GPU.
    device = torch.device(os.environ.get("DIFFBENCH_PEER_DEVICE", "cuda"))

    def __init__(self, start):
        on_gpu = self.device.type == "cuda"
        if on_gpu and not torch.cuda.is_available():
            raise RuntimeError(f"PyTorch {torch.__version__} sees no CUDA device; it needs a driver, "
                               "and a build of PyTorch with CUDA")
        super().__init__(start)
        self.threads = 1
        self.versions["device"] = torch.cuda.get_device_name() if on_gpu else str(self.device)


class Synchronized(OnGpu):
    """What it does is done when a call returns."""
    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def reset(self):
        super().reset()
        self.synchronize()

    def advance(self, steps):
        super().advance(steps)
        self.synchronize()


class Peer(Synchronized, torch_mlp.Peer):
    pass
