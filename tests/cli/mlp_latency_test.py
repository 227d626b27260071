# SPDX-License-Identifier: Apache-2.0
"""`diffbench mlp latency`: the report, the result file, bad input, what Ctrl-C leaves."""
import json
import math
import os
import signal
import subprocess
import time
import unittest

from program import PROGRAM, CommandLineTest, parse_json, samples_of

LATENCY = "mlp latency --layers 5,8,3".split()
MISTAKES = {"no warm-up", "one sample", "mean", "coarse clock", "hot cache", "throughput"}

# What PyTorch would do, in NumPy. A call takes 2 ms.
RIGHT = """
import contextlib, time
import numpy as np

class Peer:
    answering = contextlib.nullcontext

    def __init__(self, start):
        self.threads, self.versions = start["threads"], {"toy": "1"}
        self.batch, self.x = start["batch"], np.load(start["features"]).astype(float)
        p, self.layers = np.load(start["parameters"])[0].astype(float), []
        for i, o in zip(start["layers"], start["layers"][1:]):
            self.layers.append((p[:i * o].reshape(o, i).T, p[i * o:i * o + o]))
            p = p[i * o + o:]
        self.reset()

    def reset(self):
        self.made = 0

    def answer(self):
        begin = self.made * self.batch % len(self.x)
        y = self.x[begin:begin + self.batch]
        for w, b in self.layers[:-1]:
            y = np.maximum(y @ w + b, 0)
        w, b = self.layers[-1]
        self.y = (y @ w + b).astype(np.float32)
        self.made += 1
        time.sleep(0.002)

    def advance(self, steps):
        for _ in range(steps):
            self.answer()

    def field(self):
        return self.y
"""
WRONG = RIGHT.replace("@ w + b).a", "@ w - b).a")
NAN = RIGHT.replace("@ w + b).a", "@ w + b + float('nan')).a")
SHORT = RIGHT.replace("return self.y", "return self.y[:, 1:]")
DIES = RIGHT.replace("time.sleep(0.002)", "self.made < 20 or __import__('os')._exit(3)")

REFUSED = [
    ("--peer numpy", "torch"),
    ("--batch 0", "--batch 0"),
    ("--repetitions 1", "--repetitions 1"),
    ("--layers 5,x", "5,x"),
    ("--engine nosuch", "nosuch"),
    ("--isa sse", "sse"),
]


class MlpLatency(CommandLineTest):
    def test_the_result_file_has_all_samples_and_the_mistakes(self):
        done = self.run_ok(*LATENCY, *"--engine cpu --batch 2 --repetitions 140 --json -".split())
        result = parse_json(done.stdout)
        own = result["diffbench"]
        self.assertEqual(own["experiment"], "mlp_latency")
        data = own["mlp_latency"]
        self.assertEqual((data["layers"], data["batch"], data["repetitions"]), ([5, 8, 3], 2, 140))
        row, = data["results"]
        self.assertEqual((row["engine"], row["status"]), ("cpu", "ok"))
        self.assertLessEqual(row["verified"]["error"], row["verified"]["most_error"])
        samples = [e["real_time"] for e in samples_of(result)]
        self.assertEqual([e["name"] for e in samples_of(result)], ["mlp/latency/5-8-3/2/cpu"] * 140)
        seconds = row["seconds"]
        self.assertTrue(math.isclose(seconds["max"], max(samples) * 1e-9, rel_tol=1e-6))
        self.assertTrue(math.isclose(seconds["mean"], sum(samples) / 140 * 1e-9, rel_tol=1e-6))
        self.assertTrue(0 < seconds["min"] <= seconds["median"] <= seconds["p99"] <= seconds["max"])
        self.assertEqual(sum(row["histogram"]["counts"]), 140)
        self.assertEqual({m["name"] for m in row["misreadings"]}, MISTAKES)
        for mistake in row["misreadings"]:
            self.assertTrue(math.isclose(mistake["factor"] * mistake["right_seconds"],
                                         mistake["mistaken_seconds"], rel_tol=1e-9))

    def test_the_table(self):
        text = self.run_ok(*LATENCY, "--repetitions", "10", "--engine", "cpu").stdout
        for words in ("median", "p99", "no warm-up", "answers one row in"):
            self.assertIn(words, text)
        self.assertNotIn("99 of 100", text)
        self.assertIn("99 of 100", self.run_ok(*LATENCY, "--engine", "cpu").stdout)

    def test_bad_input_is_refused_in_one_line(self):
        for arguments, named in REFUSED:
            with self.subTest(arguments):
                self.assert_refused(2, named, "mlp", "latency", *arguments.split())

    def with_peer(self, script, *arguments, exit_code=0):
        """What it wrote to stderr, the results by engine, and the times by engine."""
        done = self.run_program(*LATENCY, *"--engine cpu --repetitions 30 --peer torch".split(),
                                *"--threads 1 --json -".split(), *arguments, env=self.torch_by(script, "torch_answers"))
        self.assertEqual(done.returncode, exit_code, done.stderr)
        result = parse_json(done.stdout)
        times = {}
        for sample in samples_of(result):
            times.setdefault(sample["name"].split("/")[-1], []).append(1e-9 * sample["real_time"])
        rows = result["diffbench"]["mlp_latency"]["results"]
        return done.stderr, {row["engine"]: row for row in rows}, times

    def test_a_peer_answers_as_many_calls_timed_by_itself(self):
        _, rows, times = self.with_peer(RIGHT, "--batch", "2")
        row = rows["peer:torch, 1 thread"]
        self.assertEqual((row["status"], row["threads"], row["provenance"]["toy"]), ("ok", 1, "1"))
        self.assertLessEqual(row["verified"]["error"], 1e-6)
        mine = times["peer:torch, 1 thread"]
        self.assertEqual((len(mine), len(times["cpu"])), (30, 30))
        self.assertGreaterEqual(min(mine), 0.002)  # a call, and not a share of many
        self.assertTrue(math.isclose(row["seconds"]["mean"], sum(mine) / 30, rel_tol=1e-6))
        self.assertTrue(0 < row["clock_cost"] < 0.002)
        self.assertGreater(row["seconds"]["deviation"], 0)

    def test_a_peer_runs_with_one_thread_and_with_all(self):
        text = self.run_ok(*LATENCY, *"--engine cpu --repetitions 2 --peer torch".split(),
                           env=self.torch_by(RIGHT, "torch_answers")).stdout
        self.assertRegex(text, r"(?m)^peer:torch, 1 thread +1 +2 ")
        self.assertRegex(text, r"; peer:torch, \d+ threads? takes ")
        if len(os.sched_getaffinity(0)) > 1:
            self.assertRegex(text, r"(?m)^peer:torch, \d+ threads +")

    def test_a_peer_that_is_wrong_has_no_times(self):
        for script in (WRONG, NAN):
            errors, rows, times = self.with_peer(script, exit_code=3)
            self.assertIn("peer:torch, 1 thread: its outputs are wrong", errors)
            self.assertEqual(rows["peer:torch, 1 thread"]["status"], "failed")
            self.assertEqual(set(times), {"cpu"})

    def test_a_peer_that_fails_loses_nothing_else(self):
        for script, words in ((SHORT, "another shape"), (DIES, "status 3")):
            errors, rows, times = self.with_peer(script, exit_code=1)
            self.assertIn(words, errors)
            self.assertIn(words, rows["peer:torch, 1 thread"]["reason"])
            self.assertEqual({name: len(each) for name, each in times.items()}, {"cpu": 30})

    def test_a_peer_that_cannot_run_is_refused(self):
        self.assert_refused(4, "python3-torch", *LATENCY, "--peer", "torch",
                            env={"DIFFBENCH_PYTHON": "/bin/false"})
        self.assert_refused(4, "DIFFBENCH_PEERS", *LATENCY, "--peer", "torch",
                            env={"DIFFBENCH_PEERS": os.devnull})

    def test_pytorch_itself(self):
        """And the GPU's script, with the CPU as device."""
        self.need_torch()
        done = self.run_ok(*LATENCY, *"--engine cpu --peer torch,torch_cuda --threads 1".split(),
                           *"--repetitions 5 --json -".split(), env={"DIFFBENCH_PEER_DEVICE": "cpu"})
        rows = parse_json(done.stdout)["diffbench"]["mlp_latency"]["results"]
        self.assertEqual([row["engine"] for row in rows],
                         ["cpu", "peer:torch, 1 thread", "peer:torch_cuda, 1 thread"])
        for row in rows:
            self.assertLessEqual(row["verified"]["error"], row["verified"]["most_error"])
            self.assertEqual(sum(row["histogram"]["counts"]), 5)

    @staticmethod
    def catches_interrupts(pid):
        with open(f"/proc/{pid}/status") as status:
            caught = next(line.split()[1] for line in status if line.startswith("SigCgt:"))
        return int(caught, 16) >> (signal.SIGINT - 1) & 1

    @staticmethod
    def processor_seconds(pid):
        with open(f"/proc/{pid}/stat") as stat:
            user, system = stat.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def test_ctrl_c_keeps_what_was_measured(self):
        slow = "mlp latency --layers 784,300,10 --repetitions 100000 --engine scalar".split()
        child = subprocess.Popen([PROGRAM, *slow, "--json", "out.json"], cwd=self.directory,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not self.catches_interrupts(child.pid) or self.processor_seconds(child.pid) < 0.5:
            self.assertIsNone(child.poll())
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130, errors)
        result = json.loads(self.path("out.json").read_text())
        self.assertTrue(result["diffbench"]["interrupted"])
        self.assertEqual(len(result["diffbench"]["mlp_latency"]["results"]), 1)

    def test_ctrl_c_keeps_what_a_peer_answered_before(self):
        """A request takes a second at most, and is what is lost."""
        done = self.path("done")
        told = RIGHT.replace("self.made += 1", "self.made += 1; self.tell()") + f"""
    def tell(self):
        if self.made == 700:  # beyond the first request
            open({str(done)!r}, "w").close()
"""
        child = subprocess.Popen(
            [PROGRAM, *LATENCY, *"--engine cpu --repetitions 3000 --peer torch --threads 1".split(),
             "--json", "out.json"], cwd=self.directory, env={**os.environ, **self.torch_by(told, "torch_answers")},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not done.exists() and child.poll() is None:
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130, errors)
        _, peer = json.loads(self.path("out.json").read_text())["diffbench"]["mlp_latency"]["results"]
        self.assertEqual(peer["status"], "ok")
        self.assertTrue(0 < sum(peer["histogram"]["counts"]) < 3000)


if __name__ == "__main__":
    unittest.main()
