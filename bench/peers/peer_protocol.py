# SPDX-License-Identifier: Apache-2.0
"""The child's end of a peer: answers the requests of diffbench (bench/measure/peer.cpp).

    python3 peer_protocol.py MODULE

Each request and each answer is one JSON object on a line. MODULE is one of the files beside this
one; its class Peer(start) holds the field, or the network, and offers reset(), advance(steps),
field() -> ndarray (row-major, nx columns; of a network all parameters in one row), and the attributes
`threads` and `versions`. Where another field of the same shape costs no more than a copy, it also has
load(path), which makes that .npy file what reset() returns to: it is then proved on other fields. A second start replaces the first. A peer whose answers are timed one by one
has also answer(), whose outputs field() then returns, and answering(), the context that it runs in.
"""
import importlib
import json
import os
import platform
import resource
import sys
import time
import traceback


def allocator_settings():
    """What this process was told about its heap: whoever compares must know, it changes the times."""
    names = [name for name in os.environ
             if name.startswith("MALLOC_") or name in ("GLIBC_TUNABLES", "LD_PRELOAD")]
    return " ".join(f"{name}={os.environ[name]}" for name in sorted(names))


def show_only_device(device):
    """Libraries then see one GPU, that of --device: the one of that index among the visible ones."""
    visible = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    if visible and device >= len(visible):
        raise RuntimeError(f"there is no CUDA device {device}: CUDA_VISIBLE_DEVICES names "
                           f"{len(visible)}")
    if device > 0 or len(visible) > 1:
        os.environ["CUDA_VISIBLE_DEVICES"] = visible[device] if visible else str(device)


class Server:
    def __init__(self, module):
        self.module = module
        self.peer = None

    def start(self, request):
        """Imports the library and makes everything ready to be timed."""
        if self.peer is None:
            # Read by the thread pools when they are loaded, so before the import.
            for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "HL_NUM_THREADS"):
                os.environ[variable] = str(request["threads"])
            show_only_device(request["device"])
        self.peer = None  # the memory of an earlier one is free before the next takes its own
        self.peer = importlib.import_module(self.module).Peer(request)
        self.peer.advance(1)  # compiles, starts threads, touches all memory
        self.peer.reset()
        details = {**self.peer.versions, "python": platform.python_version()}
        if allocator_settings():
            details["allocator"] = allocator_settings()
        device = details.pop("device", "cpu")
        return {"threads": self.peer.threads, "device": "" if device == "cpu" else device,
                "details": list(details.items()), "loads": hasattr(self.peer, "load")}

    def load(self, request):
        self.peer.load(request["path"])
        return {}

    def reset(self, _request):
        self.peer.reset()
        return {}

    def advance(self, request):
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        begin = time.perf_counter()
        self.peer.advance(request["steps"])
        seconds = time.perf_counter() - begin
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
        return {"seconds": seconds, "page_faults": faults}

    def answer(self, request):
        """After some that warm up the time of each of `count` answers, or of fewer in `most_seconds`."""
        clock, answer = time.perf_counter_ns, self.peer.answer
        seconds = []
        with self.peer.answering():
            begin, made = clock(), 0
            while made < request["warm_calls"] or clock() - begin < 1e9 * request["warm_seconds"]:
                answer()
                made += 1
            end, last = 0, clock() + 1e9 * request["most_seconds"]
            while len(seconds) < request["count"] and end < last:
                begin = clock()
                answer()
                end = clock()
                seconds.append(1e-9 * (end - begin))
        readings = [clock() for _ in range(1000)]
        clock_cost = 1e-9 * min(later - one for one, later in zip(readings, readings[1:]))
        return {"seconds": seconds, "clock_cost": clock_cost}

    def save(self, request):
        import numpy

        with open(request["path"], "wb") as file:  # numpy.save(path) might append a suffix
            numpy.save(file, self.peer.field())
        return {}


def main():
    # What libraries print must not end up among the answers: fd 1 becomes stderr.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = Server(sys.argv[1])
    operations = {"start": server.start, "reset": server.reset, "load": server.load,
                  "advance": server.advance, "answer": server.answer, "save": server.save}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = operations[request["do"]](request)
        except Exception as failure:
            traceback.print_exc()
            answer = {"error": f"{type(failure).__name__}: {failure}".splitlines()[0]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
