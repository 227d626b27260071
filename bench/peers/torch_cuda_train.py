# SPDX-License-Identifier: Apache-2.0
"""A whole training in PyTorch on the GPU, with all data there."""
import torch_cuda_mlp
import torch_train


class Peer(torch_cuda_mlp.Synchronized, torch_train.Peer):
    pass
