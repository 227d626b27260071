# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of many ranks, through mpirun: a run goes on from them on another number of ranks with the
bits of a run that was never interrupted, also when it was killed, interrupted, or met a full disk.

DIFFBENCH_KILLS is how many runs are killed, DIFFBENCH_STOPS in how many a rank is stopped; a few unless it is set."""
import os
import random
import signal
import time
import unittest

from program import PROGRAM, parse_json
from ranks_program import RanksTest, cpu_seconds, each_its_own, own_lines

KILLS = int(os.environ.get("DIFFBENCH_KILLS", "3"))
STOPS = int(os.environ.get("DIFFBENCH_STOPS", "2"))

PROBLEM = "--grid 61x67 --dtype float64 --boundary neumann".split()


def every(steps, file="c.state"):
    return ["--checkpoint", file, "--checkpoint-every", str(steps)]


class Restart(RanksTest):
    def setUp(self):
        super().setUp()
        self.need_checkpoints()

    def field_of(self, row):
        return row["field"]["digest"], row["field"]["sha256"]

    def restart(self, ranks, iterations, file="c.state"):
        return self.long_run(ranks, "--restart", file, "--iters", str(iterations))

    def whole_run(self, iterations):
        row = self.long_run(0, *PROBLEM, "--iters", str(iterations),
                            *every(iterations, "whole.state"))
        return self.field_of(row)


class OnAnotherNumberOfRanks(Restart):
    def test_has_the_bits_of_the_whole_run(self):
        whole = self.whole_run(400)
        self.long_run(3, *PROBLEM, "--iters", "250", *every(100))
        self.long_run(0, *PROBLEM, "--iters", "150", *every(100, "alone.state"))
        cases = [(ranks, file, step) for file, step in
                 (("c.state", 250), ("c.state.previous", 200), ("alone.state", 150))
                 for ranks in (0, 2, 5)]
        for case, row in zip(cases, self.side_by_side(
                lambda ranks, file, _: self.restart(ranks, 400, file), cases)):
            self.assertEqual(row["first_step"], case[2], case)
            self.assertEqual(self.field_of(row), whole, case)
        self.assertFalse([path for path in self.directory.iterdir() if path.name[0] == "."])

    def test_is_refused_where_the_checkpoint_does_not_do(self):
        self.long_run(2, *PROBLEM, "--iters", "20", *every(10))
        whole = self.path("c.state").read_bytes()
        self.path("short.state").write_bytes(whole[:len(whole) // 2])
        self.path("foreign.state").write_text("It is no checkpoint.\n")
        self.path("empty.state").touch()
        self.path("lost.state.previous").write_bytes(whole)
        damaged = bytearray(whole)
        damaged[-1000] ^= 1  # of a cell
        self.path("damaged.state").write_bytes(damaged)
        self.path("old.state").write_bytes(whole[:whole.rindex(b"\ndiffbench seal")].replace(
            b"diffbench checkpoint 4", b"diffbench checkpoint 1"))
        before = self.contents()

        def check(mentions, *arguments):
            done = self.run_ranks(3, "run", "--restart", *arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            self.assert_one_line(own_lines(done.stderr), arguments[0], *mentions)
            self.assertEqual(done.stdout, "")

        self.side_by_side(check, [
            (("--grid", "61x66", "61x67"), "c.state", "--iters", "40", "--grid", "61x66"),
            (("--dtype",), "c.state", "--iters", "40", "--dtype", "float32"),
            (("--boundary",), "c.state", "--iters", "40", "--boundary", "periodic"),
            (("of step 20", "--iters"), "c.state", "--iters", "19"),
            ((), "short.state", "--iters", "40"),
            ((), "foreign.state", "--iters", "40"),
            ((), "empty.state", "--iters", "40"),
            (("no such file",), "missing.state", "--iters", "40"),
            (("lost.state.previous",), "lost.state", "--iters", "40"),
            (("digest", "damaged"), "damaged.state", "--iters", "40"),
            (("older version",), "old.state", "--iters", "40"),
        ])
        self.assertEqual(self.contents(), before)


class Killed(Restart):
    """kill -9 of one rank, at some moment of a run that mostly writes checkpoints."""

    ITERATIONS = 20000

    def test_goes_on_from_the_last_checkpoint(self):
        whole = self.whole_run(self.ITERATIONS)
        seed = random.randrange(10**6)
        chance = random.Random(seed)
        in_checkpoint, self.longest = 0, 0
        for kill in range(KILLS):
            ranks, after = chance.choice((2, 3, 4)), chance.choice((0, 1, 2, 3, 5))
            with self.subTest(seed=seed, kill=kill, ranks=ranks, after=after):
                in_checkpoint += self.kill(ranks, chance, amid_checkpoint=kill % 2 == 1)
                file = "c.state" if self.path("c.state").exists() else "c.state.previous"
                row = self.restart(after, self.ITERATIONS, file)
                self.assertGreater(row["first_step"], 0)
                self.assertEqual(self.field_of(row), whole)
        print(f"{KILLS} kills, {in_checkpoint} of them in a checkpoint; "
              f"all ranks had ended after {self.longest:.1f} s at most")

    def kill(self, ranks, chance, *, amid_checkpoint):
        """Returns whether a checkpoint was being written."""
        for file in self.directory.glob("*c.state*"):
            file.unlink()
        partial = self.path(".c.state.partial")
        start = self.start_ranks(ranks, "run", *PROBLEM, "--iters", str(self.ITERATIONS),
                                 *every(50))
        self.wait_for(self.path("c.state").exists, start)
        time.sleep(chance.uniform(0, 0.8))
        if amid_checkpoint:
            self.wait_for(partial.exists, start)
            time.sleep(chance.uniform(0, 0.01))
        os.kill(chance.choice(start.ranks), signal.SIGKILL)
        done = self.finish(start)
        self.longest = max(self.longest, done.took)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(own_lines(done.stderr), "")
        return partial.exists()


class Stopped(Restart):
    """SIGSTOP of one rank, whichever, at some moment of a run that mostly writes checkpoints."""

    def test_ends_all_within_the_limit(self):
        seed = random.randrange(10**6)
        chance = random.Random(seed)
        longest = 0
        for stop in range(STOPS):
            ranks = chance.choice((2, 3, 4))
            whom = stop % ranks
            with self.subTest(seed=seed, stop=stop, ranks=ranks, whom=whom):
                for file in self.directory.glob("*c.state*"):
                    file.unlink()
                start = self.start_ranks(ranks, "run", *PROBLEM, "--iters", "1000000000", *every(5),
                                         "--comm-timeout", "3")
                self.wait_for(self.path("c.state").exists, start)
                time.sleep(chance.uniform(0, 0.5))
                os.kill(start.ranks[whom], signal.SIGSTOP)
                done = self.finish(start, stopped=start.ranks[whom])
                longest = max(longest, done.took)
                self.assertNotEqual(done.returncode, 0)
                self.assertTrue(own_lines(done.stderr), done.stderr)
        print(f"{STOPS} stops: the other ranks had ended after {longest:.1f} s at most")


class FullDisk(Restart):
    """On one rank only: its files may not grow beyond 24 MiB (Open MPI's own has 16), and its rows lie beyond that."""

    LIMITED = ["sh", "-c", 'ulimit -f 49152; trap "" XFSZ; exec "$0" "$@"', PROGRAM]

    def assert_old_files_are_kept(self, mentions, *arguments):
        before = self.contents()
        run = ["run", "--grid", "2048x4098", "--iters", "4", *arguments]
        done = self.run_mpi(*each_its_own([PROGRAM, *run], [*self.LIMITED, *run]))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assert_one_line(own_lines(done.stderr), *mentions)
        self.assertTrue(self.contents() == before)

    def test_keeps_the_older_checkpoint(self):
        self.run_ok("run", "--grid", "8", "--iters", "1", *every(1))
        self.assert_old_files_are_kept(("cannot write checkpoint", "c.state", "rank 1"), *every(2))

    def test_keeps_the_older_field(self):
        self.run_ok("run", "--grid", "8", "--iters", "1", "--save", "field.npy")
        self.assert_old_files_are_kept(("cannot write", "free space"), "--save", "field.npy")


class Interrupted(Restart):
    """By a signal to one rank or to all, as a launcher sends it, and by Ctrl-C to mpirun. That one may kill its ranks
    before they have said all: then only what was kept before is sure, and what is there is whole."""

    def interrupt(self, ranks, whom, *arguments, ready):
        """`diffbench` of the result file; None where mpirun was too quick."""
        start = self.start_ranks(ranks, *arguments, "--json", "out.json")
        self.wait_for(lambda: ready(start), start)
        for pid in {"mpirun": [start.pid], "all": start.ranks}.get(whom) or [start.ranks[whom]]:
            os.kill(pid, signal.SIGINT if whom == "mpirun" else signal.SIGTERM)
        done = self.finish(start)
        out = self.path("out.json")
        if whom == "mpirun":
            self.assertNotEqual(done.returncode, 0)
            if not out.exists():
                return None
        else:
            self.assertEqual(done.returncode, 130, done.stderr)
            self.assert_one_line(own_lines(done.stderr), "interrupted; what was measured")
            self.assertNotEqual(done.stdout, "")
        result = parse_json(out.read_text())["diffbench"]
        self.assertIs(result["interrupted"], True)
        return result

    def test_a_run_with_checkpoints(self):
        """The state of the interruption is kept, also between two checkpoints: on most machines the reference has
        had its 5 s by then; if not, it is the reference's state."""
        between = every(10000000), lambda _: time.monotonic() > begin + 8
        often = every(50), lambda _: self.path("c.state").exists()
        for whom, (checkpoints, ready) in (("mpirun", often), (0, often), ("all", between), (2, between)):
            with self.subTest(whom=whom):
                begin = time.monotonic()
                for file in "c.state", "c.state.previous", "out.json":
                    self.path(file).unlink(missing_ok=True)
                result = self.interrupt(3, whom, "run", *PROBLEM, "--iters", "100000000", "--threads", "1", "--reference-time", "1",
                                        *checkpoints, ready=ready)
                row, = result["run"]["results"] if result else [None]
                if row and row["last_step"] == 0:  # a very busy machine: there was nothing to keep
                    self.assertFalse(self.path("c.state").exists())
                    continue
                after = self.restart(2, self.step_in("c.state") + 37)
                if row:
                    self.assertEqual(after["first_step"], row["last_step"])
                self.assertEqual(self.field_of(after), self.whole_run(after["last_step"]))

    def step_in(self, file):
        """Asked for fewer steps, the program says how many it has."""
        done = self.run_program("run", "--restart", file, "--iters", "1")
        self.assertEqual(done.returncode, 2, done.stderr)
        return int(done.stderr.partition("the checkpoint is of step ")[2].split()[0])

    def test_a_comparison(self):
        """What was measured is reported. It never gets as precise as that, and rank 1 works only while
        its row is timed."""
        for whom in ("mpirun", "all", 1):
            with self.subTest(whom=whom):
                self.path("out.json").unlink(missing_ok=True)
                result = self.interrupt(2, whom, *"--grid 1024 --iters 64 --halo-depth 64".split(),
                                        *"--backend simd --precision 0.0001% --budget 600".split(),
                                        ready=lambda start: cpu_seconds(start.ranks[1]) > 1)
                if result:
                    samples = {row["backend"]: len(row["samples_seconds"]) for row in result["results"]}
                    self.assertEqual(samples.keys(), {"simd", "simd, 2 ranks"})
                    self.assertGreater(min(samples.values()), 0)


if __name__ == "__main__":
    unittest.main()
