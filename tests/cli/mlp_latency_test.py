"""`diffbench mlp latency`: the report, the result file, bad input, what Ctrl-C leaves."""
import json
import math
import signal
import subprocess
import time
import unittest

from program import PROGRAM, CommandLineTest, parse_json

LATENCY = "mlp latency --layers 5,8,3".split()
MISTAKES = {"no warm-up", "one sample", "mean", "coarse clock", "hot cache", "throughput"}

REFUSED = [
    ("--batch 0", "--batch 0"),
    ("--repetitions 1", "--repetitions 1"),
    ("--layers 5,x", "5,x"),
    ("--layers 5,3 --model m.safetensors", "--model"),
    ("--model nosuch.safetensors", "nosuch.safetensors"),
    ("--engine nosuch", "nosuch"),
    ("--isa sse", "sse"),
]


class MlpLatency(CommandLineTest):
    def test_the_result_file_has_all_samples_and_the_mistakes(self):
        done = self.run_ok(*LATENCY, *"--engine cpu --batch 2 --repetitions 40 --json -".split())
        result = parse_json(done.stdout)
        own = result["diffbench"]
        self.assertEqual(own["experiment"], "mlp_latency")
        data = own["mlp_latency"]
        self.assertEqual((data["layers"], data["batch"], data["repetitions"]), ([5, 8, 3], 2, 40))
        row, = data["results"]
        self.assertEqual((row["engine"], row["status"]), ("cpu", "ok"))
        self.assertLessEqual(row["verified"]["error"], row["verified"]["most_error"])
        samples = [e["real_time"] for e in result["benchmarks"]]
        self.assertEqual([e["name"] for e in result["benchmarks"]], ["mlp/latency/5-8-3/2/cpu"] * 40)
        seconds = row["seconds"]
        self.assertTrue(math.isclose(seconds["max"], max(samples) * 1e-9, rel_tol=1e-6))
        self.assertTrue(math.isclose(seconds["mean"], sum(samples) / 40 * 1e-9, rel_tol=1e-6))
        self.assertTrue(0 < seconds["min"] <= seconds["median"] <= seconds["p99"] <= seconds["max"])
        self.assertEqual(sum(row["histogram"]["counts"]), 40)
        self.assertEqual({m["name"] for m in row["misreadings"]}, MISTAKES)
        for mistake in row["misreadings"]:
            self.assertTrue(math.isclose(mistake["factor"] * mistake["right_seconds"],
                                         mistake["mistaken_seconds"], rel_tol=1e-9))

    def test_the_table(self):
        text = self.run_ok(*LATENCY, "--repetitions", "10", "--engine", "cpu").stdout
        for words in ("median", "p99", "no warm-up", "answers one row in"):
            self.assertIn(words, text)

    def test_a_model_of_ones_own(self):
        self.run_ok(*"mlp train --layers 2,4,2 --epochs 1 --engine cpu --save m.safetensors".split())
        done = self.run_ok(*"mlp latency --model m.safetensors --repetitions 2 --engine scalar".split(),
                           "--json", "-")
        self.assertEqual(parse_json(done.stdout)["diffbench"]["mlp_latency"]["layers"], [2, 4, 2])

    def test_bad_input_is_refused_in_one_line(self):
        for arguments, named in REFUSED:
            with self.subTest(arguments):
                self.assert_refused(2, named, "mlp", "latency", *arguments.split())

    @staticmethod
    def catches_interrupts(pid):
        with open(f"/proc/{pid}/status") as status:
            caught = next(line.split()[1] for line in status if line.startswith("SigCgt:"))
        return int(caught, 16) >> (signal.SIGINT - 1) & 1

    def test_ctrl_c_keeps_what_was_measured(self):
        slow = "mlp latency --layers 784,1000,1000,10 --repetitions 100000 --engine scalar".split()
        child = subprocess.Popen([PROGRAM, *slow, "--json", "out.json"], cwd=self.directory,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not self.catches_interrupts(child.pid):
            time.sleep(0.01)
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130, errors)
        result = json.loads(self.path("out.json").read_text())
        self.assertTrue(result["diffbench"]["interrupted"])
        self.assertEqual(len(result["diffbench"]["mlp_latency"]["results"]), 1)


if __name__ == "__main__":
    unittest.main()
