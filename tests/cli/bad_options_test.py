# SPDX-License-Identifier: Apache-2.0
"""Options that make no sense: exit code 2 and one line that names the option or its value, before
any work."""
import os
import pathlib
import re
import subprocess
import unittest

from program import PROGRAM, CommandLineTest

# Arguments, and what the message must name.
REFUSED = [
    ("--grid 0", "--grid 0"),
    ("--grid -5", "--grid -5"),
    ("--grid 2x2", "--grid 2x2"),
    ("--grid 640x", "--grid 640x"),
    ("--grid 10xfoo", "--grid 10xfoo"),
    ("--grid 1e3", "--grid 1e3"),
    ("--grid 99999999", "99999999"),  # in range; the memory is missing
    ("--grid 999999999999", "--grid 999999999999"),
    ("--grid 99999999999999999999", "--grid 99999999999999999999"),
    ("--grid 10 --grid 12", "--grid: is given more than once (see diffbench --help)"),
    ("--grid", "--grid"),
    ("--json --no-progress", "--json: the value is missing before --no-progress"),
    ("--backend --csv x", "--backend: the value is missing before --csv"),
    ("--iters -1", "--iters -1"),
    ("--iters 0", "--iters 0"),
    ("--iters 1.5", "--iters 1.5"),
    ("--dt nan", "--dt nan"),
    ("--dt inf", "--dt inf"),
    ("--dt 0.1s", "--dt 0.1s"),
    ("--dt 0", "dt"),
    ("--dt -0.1", "dt"),
    ("--dt 0.3", "0.25"),  # unstable: says the limit
    ("--dt 0.2 --spacing 0.5", "0.0625"),
    ("--diffusivity -1", "diffusivity"),
    ("--spacing 0", "spacing"),
    ("--boundary-value nan", "--boundary-value nan"),
    ("--boundary reflecting", "reflecting"),
    ("--dtype float16", "float16"),
    ("--init checkerboard", "checkerboard"),
    ("--seed -1", "--seed -1"),
    ("--backend nosuch", "nosuch"),
    ("--backend scalar --backend nosuch", "nosuch"),
    ("--baseline nosuch", "nosuch"),
    ("--peer nosuch", "nosuch"),
    ("--isa avx1024", "avx1024"),
    ("--threads 0", "--threads 0"),
    ("--precision 5", "--precision 5"), ("--precision 0%", "--precision 0%"),
    ("--threads -1", "--threads -1"),
    ("--threads 100000", "--threads 100000"),
    ("--budget 0", "--budget 0"),
    ("--budget nan", "--budget nan"),
    ("run --snapshot-every 0", "--snapshot-every 0"),
    ("run --snapshot-dir here", "--snapshot-every"),
    ("--json - --csv -", "-"),
    ("run --save same --json same", "same"),
    ("run --backend simd,fused", "one --backend"),
    *((option, "diffbench run") for option in (
        "--checkpoint c.state --checkpoint-every 10", "--restart c.state", "--reference-time 5", "--save u.npy",
        "--snapshot-every 5")),
    ("sweep --checkpoint c.state", "there is no such option"),
    ("--nosuch", "--nosuch"),
    ("nosuch", "nosuch"),
    ("list --nosuch", "--nosuch: there is no such option (see diffbench list --help)"),
    ("mlp latency --batch 1 --batch 2", "(see diffbench mlp latency --help)"),
    ("list nosuch", "nosuch"),
    ("doctor list", "list"),
    ("--grid 64 list", "--grid is an option of the comparison"),
    ("--pinned doctor", "--pinned is an option of the comparison"),
]

NO_EFFECT = [  # the command, what it needs
    ("--boundary-value 2", "--boundary dirichlet"),
    ("--boundary neumann --boundary-value 2", "--boundary dirichlet"),
    ("--seed 3", "--init random"),
    ("cluster depth --seed 3 --init sine", "--init random"),
    ("--isa baseline --backend fused", "such as simd"),
    ("--threads 2 --backend fused", "such as simd"),
    ("cluster strong --threads 2 --backend fused", "such as simd"),
    ("selftest --threads 2", "such as simd"),
    ("sweep --isa baseline --backend fused,scalar", "such as simd"),
    ("sweep --grid 16,24 --boundary-value 1", "--boundary dirichlet"),
    ("residency --boundary-value 1", "--boundary dirichlet"),
    ("cluster predict --rate 10 --network 1us,1GB/s --budget 5", "leave --rate out"),
    ("mlp train --engine scalar --threads 2", "such as cpu"),
    ("mlp width --engine scalar --threads 2", "such as cpu"),
    ("mlp throughput --engine scalar --isa baseline", "such as cpu"),
    ("mlp train --data-dir .", "--data mnist or fashion"),
    ("pitfalls --list --budget 5", "leave --list out"),
    ("lesson 1 --list --name me", "a lesson that is taken"),
    ("lesson --sheet a.csv", "a lesson that is taken"),
    ("try a.c --no-timing --budget 5", "leave --no-timing out"),
]
HAVE_EFFECT = [
    "--boundary dirichlet --boundary-value 2", "--init random --seed 3",
    "--backend fused --baseline fused --threads 1", "--backend fused,simd --isa baseline --threads 2",
    "sweep --boundary periodic,dirichlet --boundary-value 1", "mlp train --engine scalar --epochs 1 --threads 1",
]

HELPS = pathlib.Path(__file__).parent / "golden/help"


class BadOptions(CommandLineTest):
    def test_the_help_says_the_limits_of_every_number(self):
        """And what lies outside them is refused, by name and value."""
        limits = re.compile(r"\((\d+|above 0,|--[\w-]+)(?: up)? to (?:(\d+)|10\^(\d+)|2\^64-1|--iters)[;)]")
        verbs = sorted(file.stem.split("-")[1:] for file in HELPS.glob("*.txt"))
        self.assertGreater(len(verbs), 15)
        for verb in verbs:
            text = self.run_ok(*verb, "--help").stdout
            for name, line in re.findall(r"(?m)^  (--[\w-]+) (?:N|K|SECONDS|LIST) (.*)", text):
                with self.subTest(" ".join([*verb, name])):
                    self.assertRegex(line, limits)
                    low, high, exponent = limits.search(line).groups()
                    low = int(low) - 1 if low.isdigit() else 0
                    high = int(high or (10 ** int(exponent) if exponent else 2 ** 64 - 1)) + 1
                    for value in (low, high):
                        self.assert_refused(2, f"{name} {value}: ", *verb, name, str(value))

    def test_a_budget_is_the_whole_wait_with_every_verb(self):
        meanings = {" ".join(meaning.split()) for page in HELPS.glob("*.txt")
                    for meaning in re.findall(r"--budget SECONDS +(.*?)[;,(]", page.read_text(), re.S)}
        self.assertEqual(meanings, {"time for the whole run"})

    def test_each_is_refused_in_one_line(self):
        for arguments, named in REFUSED:
            with self.subTest(arguments):
                self.assert_refused(2, named, *arguments.split())

    def test_without_effect_an_option_is_refused_with_what_it_needs(self):
        for arguments, needed in NO_EFFECT:
            with self.subTest(arguments):
                self.assert_refused(2, "has no effect without ", *arguments.split())
                self.assert_refused(2, needed, *arguments.split())
        for name in ("--halo-depth 4", "--gpu-aware on", "--comm-timeout 4"):
            with self.subTest(name):
                self.assert_refused(2, "mpirun", *name.split())
        for arguments in HAVE_EFFECT:
            with self.subTest(arguments):
                small = [] if arguments.startswith("mlp") else "--grid 24x16 --iters 20 --budget 0.5".split()
                self.run_ok(*arguments.split(), *small)

    def test_the_message_says_what_is_valid(self):
        for arguments, valid in [("--backend nosuch", "scalar"), ("--boundary x", "neumann"),
                                 ("--dtype x", "float64"), ("--init x", ".npy"),
                                 ("--peer x", "numpy"), ("--isa x", "avx2"),
                                 ("--threads 0", "from 1 to"), ("--nosuch", "diffbench --help")]:
            with self.subTest(arguments):
                self.assert_refused(2, valid, *arguments.split())

    def test_an_empty_value_is_no_default(self):
        self.assert_refused(2, "--json", "--json", "")
        self.assert_refused(2, "empty", "")

    def test_any_bytes_make_one_line(self):
        """File names may hold anything but NUL and a slash."""
        for name in (b"a\nb\x1b[31m.npy", b"\xff\xfe.npy"):
            with self.subTest(name):
                done = subprocess.run([os.fsencode(PROGRAM), b"--init", name], cwd=self.directory,
                                      capture_output=True, timeout=120)
                self.assertEqual(done.returncode, 2)
                self.assert_one_line(done.stderr.decode(errors="replace"), "no such file")


if __name__ == "__main__":
    unittest.main()
