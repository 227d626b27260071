# SPDX-License-Identifier: Apache-2.0
"""The NumPy line in PyTorch on the GPU, eager, as a tutorial writes it: about twelve kernels a step,
issued one by one. No operation is contracted with another, so the bits are NumPy's."""
import os

import torch
import torch_roll


class Peer(torch_roll.Peer):
    def __init__(self, start):
        super().__init__(start)
        # Another device is for tests of this script where there is no GPU.
        self.device = torch.device(os.environ.get("DIFFBENCH_PEER_DEVICE", "cuda"))
        if self.device.type == "cuda" and not torch.cuda.is_available():
            raise RuntimeError(f"PyTorch {torch.__version__} sees no CUDA device; it needs a driver, "
                               "and a build of PyTorch with CUDA")
        self.u = self.initial = self.initial.to(self.device)
        # A number, already rounded to the field's dtype: it goes to the kernel as an argument, not
        # through the device's memory.
        self.factor = self.factor.item()
        self.threads = 1
        on_gpu = self.device.type == "cuda"
        self.versions["device"] = torch.cuda.get_device_name() if on_gpu else str(self.device)

    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def reset(self):
        super().reset()
        self.synchronize()

    def advance(self, steps):
        super().advance(steps)
        self.synchronize()

    def field(self):
        return self.u.cpu().numpy()
