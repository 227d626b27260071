# SPDX-License-Identifier: Apache-2.0
"""The NumPy line in PyTorch on the GPU through torch.compile, which makes one kernel or few of a
step."""
import os

# Triton contracts a*b+c to one rounding unless told not to; the field would not have NumPy's bits.
# Read when Triton is imported.
os.environ["TRITON_DEFAULT_FP_FUSION"] = "0"

import torch
import torch_cuda_roll


class Peer(torch_cuda_roll.Peer):
    def __init__(self, start):
        if not hasattr(torch, "compile"):
            raise RuntimeError(f"PyTorch {torch.__version__} has no torch.compile; it came with 2.0")
        super().__init__(start)
        self.step = torch.compile(self.step)
