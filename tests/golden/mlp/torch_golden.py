#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes torch_golden.json: what PyTorch itself makes of a small network, for engines_test.cpp.

    torch_golden.py > torch_golden.json

A 2-4-8-16-2 net, batches of 20 of 200 fixed points, 1 and 100 steps of SGD (plain, and with momentum
and weight decay) and of Adam, from one set of weights; in float32 and float64, so that a test can
compare our rounding errors with PyTorch's own. One thread.
"""
import json
import sys

import torch

WIDTHS = [2, 4, 8, 16, 2]
POINTS, BATCH = 200, 20
STEPS = [1, 100]
OPTIMIZERS = {
    "sgd": ({"kind": "sgd", "rate": 0.1}, lambda p: torch.optim.SGD(p, lr=0.1)),
    "momentum": ({"kind": "sgd", "rate": 0.05, "momentum": 0.9, "weight_decay": 0.01},
                 lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01)),
    "adam": ({"kind": "adam", "rate": 0.01, "weight_decay": 0.001},
             lambda p: torch.optim.Adam(p, lr=0.01, weight_decay=0.001)),
}


def network(dtype):
    layers = []
    for inputs, outputs in zip(WIDTHS, WIDTHS[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1]).to(dtype)


def flat(net):
    return torch.cat([p.detach().reshape(-1) for p in net.parameters()]).tolist()


def train(start, points, labels, dtype, make_optimizer):
    """The parameters and the mean loss of the last step, after each of STEPS."""
    net = network(dtype)
    net.load_state_dict({name: value.to(dtype) for name, value in start.items()})
    optimizer = make_optimizer(net.parameters())
    loss_of = torch.nn.CrossEntropyLoss()
    results = []
    for step in range(1, max(STEPS) + 1):
        begin = (step - 1) * BATCH % POINTS
        rows = slice(begin, begin + BATCH)
        optimizer.zero_grad()
        loss = loss_of(net(points[rows].to(dtype)), labels[rows])
        loss.backward()
        optimizer.step()
        if step in STEPS:
            results.append({"steps": step, "loss": loss.item(), "parameters": flat(net)})
    outputs = net(points[:BATCH].to(dtype)).detach().reshape(-1).tolist()
    return {"after": results, "outputs": outputs}


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    start = network(torch.float32).state_dict()
    points = torch.rand(POINTS, 2)
    labels = (points.square().sum(1) <= 1 / (2 * torch.pi)).long()
    points = (points - points.mean()) / points.std()
    golden = {"made_by": f"PyTorch {torch.__version__}", "widths": WIDTHS, "batch": BATCH,
              "start": torch.cat([p.reshape(-1) for p in start.values()]).tolist(),
              "points": points.reshape(-1).tolist(), "labels": labels.tolist(), "runs": {}}
    for name, (settings, make_optimizer) in OPTIMIZERS.items():
        golden["runs"][name] = {
            "optimizer": settings,
            "float32": train(start, points, labels, torch.float32, make_optimizer),
            "float64": train(start, points, labels, torch.float64, make_optimizer)}
    json.dump(golden, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
