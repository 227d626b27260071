# SPDX-License-Identifier: Apache-2.0
"""Training of a network in PyTorch, eager, on the CPU with torch's own threads: the loop of its
tutorials, without what they waste (gradients are dropped, not filled with zeros; the rows of a batch
are views of one tensor, so nothing is gathered)."""
import numpy as np
import torch


def sequential(widths):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


class Network:
    """The network of a job, with the job's parameters."""
    device = torch.device("cpu")

    def __init__(self, start):
        torch.set_num_threads(start["threads"])
        self.threads = torch.get_num_threads()
        self.versions = {"torch": torch.__version__, "numpy": np.__version__}
        self.initial = torch.from_numpy(np.load(start["parameters"])[0])
        self.net = sequential(start["layers"]).to(self.device)
        self.load_parameters()

    def load_parameters(self):
        parameters = list(self.net.parameters())
        pieces = self.initial.split([p.numel() for p in parameters])
        with torch.no_grad():
            for parameter, piece in zip(parameters, pieces):
                parameter.copy_(piece.view_as(parameter))


class Peer(Network):
    def __init__(self, start):
        super().__init__(start)
        self.features = torch.from_numpy(np.load(start["features"])).to(self.device)
        self.labels = torch.from_numpy(np.load(start["labels"])[0]).long().to(self.device)
        self.batches = list(zip(self.features.split(start["batch"]), self.labels.split(start["batch"])))
        self.loss_of = torch.nn.CrossEntropyLoss()
        self.settings = start["optimizer"]
        self.reset()

    def make_optimizer(self):
        settings = dict(self.settings)
        kinds = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}
        return kinds[settings.pop("kind")](self.net.parameters(), **settings)

    def reset(self):
        self.load_parameters()
        self.optimizer = self.make_optimizer()
        self.step = 0

    def train_on(self, features, labels):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_of(self.net(features), labels)
        loss.backward()
        self.optimizer.step()

    def advance(self, steps):
        for step in range(self.step, self.step + steps):
            self.train_on(*self.batches[step % len(self.batches)])
        self.step += steps

    def field(self):
        parameters = [p.detach().reshape(-1) for p in self.net.parameters()]
        return torch.cat(parameters).reshape(1, -1).cpu().numpy()
