# SPDX-License-Identifier: Apache-2.0
"""The program on many ranks, through mpirun: the bits are those of one process, and what cannot be is
refused in one line, whereupon all ranks end."""
import os
import re
import shutil
import signal
import unittest

from program import PROGRAM
from ranks_program import RANK_SPEAKS_TO_FILES, RanksTest, cpu_seconds, each_its_own, own_lines

# Odd sizes, so that ranks have different numbers of rows, and at least two for each of seven.
PROBLEMS = {
    "periodic": "--grid 33x29 --iters 37",
    "neumann": "--grid 21x23 --iters 37 --boundary neumann",
    "dirichlet": "--grid 19x31 --iters 37 --boundary dirichlet --boundary-value 0.25",
    "float64": "--grid 27x17 --iters 37 --dtype float64",
}
RANKS = (1, 2, 3, 4, 5, 7)

SIMD = "--backend simd --budget 0.02 --no-progress".split()

# What is to be refused is not begun: it would take for ever.
ENDLESS = "run --iters 1000000000 --reference-time 1".split()


class SameBits(RanksTest):
    def test_of_the_comparison(self):
        """6 numbers of ranks and 4 problems: 24 cases."""
        def check(name, ranks):
            result = self.ranks_result(ranks, *PROBLEMS[name].split(), *SIMD)
            rows = {row["backend"]: row["verified"]["bitwise"] for row in result["results"]}
            names = ["simd", f"simd, {ranks} ranks"] if ranks > 1 else ["simd"]
            self.assertEqual(rows, dict.fromkeys(names, True), (name, ranks))
            return name, result["field"]["sha256"]

        cases = [(name, ranks) for name in PROBLEMS for ranks in (0, *RANKS)]
        self.assertEqual(len(set(self.side_by_side(check, cases))), len(PROBLEMS))

    def test_of_a_distributed_field(self):
        """Saved by all ranks together, whatever the depth of the halo."""
        def check(name, ranks, depth):
            file = f"{name}-{ranks}.npy"
            how = ["--halo-depth", depth] if ranks > 0 else []
            self.ranks_ok(ranks, "run", *PROBLEMS[name].split(), *how, "--save", file)
            return name, self.path(file).read_bytes()

        cases = [(name, ranks, depth) for name in PROBLEMS
                 for ranks, depth in ((0, None), (2, "auto"), (3, "5"), (7, "2"))]
        self.assertEqual(len(set(self.side_by_side(check, cases))), len(PROBLEMS))

    def test_the_halo_is_as_deep_as_was_asked_for(self):
        for asked, runs in (("3", (3,)), ("auto", (1, 2, 4))):  # the notches within 5 rows
            row, = self.ranks_result(4, "run", "--grid", "17x23", "--iters", "20", "--halo-depth", asked)["run"]["results"]
            self.assertIn(row["halo_depth"], runs)


class Refused(RanksTest):
    def assert_refused_by_all(self, exit_code, mentions, *arguments, env=None):
        """`arguments` are mpirun's; no rank prints anything but the one line."""
        done = self.run_mpi(*arguments, env=env)
        self.assertEqual(done.returncode, exit_code, (arguments, done.stderr))
        self.assert_one_line(own_lines(done.stderr), *mentions)
        self.assertEqual(done.stdout, "")

    def test_what_the_ranks_cannot_do(self):
        """Some at a time: mpirun takes seconds to end when a rank's exit code is not 0."""
        def ranks(count, arguments):
            return ["-n", str(count), PROGRAM, *arguments.split()]

        other_build = self.path("other_build")
        shutil.copy(PROGRAM, other_build)
        with open(other_build, "ab") as program:
            program.write(b"another build")
        modules = {"DIFFBENCH_MODULES": os.path.join(os.path.dirname(PROGRAM), "../lib/diffbench")}
        endless = " ".join(ENDLESS)
        small = f"{endless} --grid 17x23"
        program = [PROGRAM, *small.split()]
        self.side_by_side(self.assert_refused_by_all_of, [
            (2, ("4 ranks", "7 rows", "at most 3"), ranks(4, f"{endless} --grid 17x7")),
            (2, ("4 ranks", "7 rows"), ranks(4, "--grid 17x7")),
            (2, ("halo of 6", "--halo-depth 5"), ranks(4, f"{small} --halo-depth 6")),
            (2, ("halo of 6", "--halo-depth 5"), ranks(4, "--grid 17x23 --halo-depth 6")),
            (2, ("--nosuch",), ranks(3, "--nosuch")),
            (2, ("--backend",), ranks(3, f"{small} --backend simd --backend fused")),
            (4, ("'/nowhere/mpi.so'", "libopenmpi-dev"), ranks(3, small),
             {"DIFFBENCH_MODULES": "/nowhere"}),
            (2, ("1 of 3 ranks differ", "rank 2", "arguments", "--grid 17x24"),
             each_its_own(*2 * [program], [PROGRAM, *f"{endless} --grid 17x24".split()])),
            (2, ("1 of 3 ranks differ", "rank 1", "build"),
             each_its_own(program, [other_build, *small.split()], program), modules),
        ])

    def assert_refused_by_all_of(self, exit_code, mentions, arguments, env=None):
        self.assert_refused_by_all(exit_code, mentions, *arguments, env=env)

    def test_a_module_that_one_rank_lacks(self):
        """The others wait for that rank; so it speaks, and names itself."""
        self.assert_refused_by_all(
            4, ("rank 1: ", "'/nowhere/mpi.so'"), *each_its_own(
                [PROGRAM, *ENDLESS], ["env", "DIFFBENCH_MODULES=/nowhere", PROGRAM, *ENDLESS]))

    def test_a_launcher_of_another_mpi(self):
        """Each of its programs would be one of one: the first says so, and all end."""
        for size, rank in (("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
                           ("PMI_SIZE", "PMI_RANK"), ("SLURM_NTASKS", "SLURM_PROCID")):
            for first in ({}, {rank: "0"}):
                self.assert_refused(4, (size, "4 ranks"), *ENDLESS, env={size: "4", **first})
            done = self.run_program(*ENDLESS, env={size: "4", rank: "3"})
            self.assertEqual((done.returncode, done.stdout, done.stderr), (4, "", ""))


class Silent(RanksTest):
    """A rank that is stopped, as a machine that hangs would be."""

    def stop(self, start, whom):
        """What the others say as they end."""
        os.kill(start.ranks[whom], signal.SIGSTOP)
        done = self.finish(start, stopped=start.ranks[whom])
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn(f"diffbench: rank {whom}: ", done.stderr)
        return done.stderr

    def test_ends_all_after_the_time_limit(self):
        """Both others are its neighbours and miss it; whoever is late itself may be missed, too. A rank that
        was stopped between two calls is missed by a gathering instead: then once more."""
        waits = r"diffbench: rank (\d): step \d+, exchange of halos: rank \1: "
        what = "(?:no message from|its message was not taken by)"
        side = r"rank \d \((?:upper|lower)\)"
        in_exchange = rf"{waits}{what} {side}(?: and {side})? for 5 s"
        in_gathering = r"diffbench: rank (\d): rank \2: other ranks have not gathered for 8\.5 s"
        for _ in range(5):
            start = self.start_ranks(3, *ENDLESS, "--grid", "33x29", "--comm-timeout", "5")
            self.wait_for(lambda: all(cpu_seconds(pid) > 1 for pid in start.ranks), start)
            said = own_lines(self.stop(start, 2))
            for line in said.splitlines():
                self.assertRegex(line, f"^(?:{in_exchange}|{in_gathering})$")
            if re.search(f"(?m)^{waits}.*rank 2 ", said):
                return
        self.fail("no exchange missed rank 2")

    def test_ends_a_comparison(self):
        """Where the others do not know how long rank 0 works on its own, they hear that it lives."""
        for whom, grid, busy in ((0, 4096, 0), (1, 512, 1)):
            with self.subTest(whom=whom):
                start = self.start_ranks(2, *f"--grid {grid} --iters 64 --backend simd --budget 600".split(),
                                         *"--precision 0.0001% --comm-timeout 4".split())
                self.wait_for(lambda: cpu_seconds(start.ranks[busy]) > 1, start)
                said = own_lines(self.stop(start, whom))
                self.assertRegex(said, rf"^diffbench: rank {1 - whom}: .* for [47] s\n$")

    def test_ends_the_start(self):
        """One never comes to MPI; stopped, or it would end with an error."""
        start = self.start_mpi(2, *each_its_own(
            [*RANK_SPEAKS_TO_FILES, PROGRAM, *ENDLESS, "--comm-timeout=1"],
            ["sh", "-c", "kill -STOP $$"]))
        done = self.finish(start, stopped=start.ranks[1])
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(own_lines(done.stderr), "diffbench: the start of MPI on all ranks has taken more than "
                                                 "2.5 s (--comm-timeout)\n")


if __name__ == "__main__":
    unittest.main()
