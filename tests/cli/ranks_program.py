# SPDX-License-Identifier: Apache-2.0
"""What the tests of many ranks share: the program under mpirun, which of its processes are left, and
what of stderr is the program's and not mpirun's."""
import concurrent.futures
import os
import pathlib
import re
import shlex
import signal
import subprocess
import tempfile
import time
import unittest

from program import PROGRAM, CommandLineTest, parse_json

MPIRUN = shlex.split(os.environ.get("DIFFBENCH_MPIRUN", ""))
MODULES = pathlib.Path(PROGRAM).resolve().parent.parent / "lib/diffbench"

# At a time. Most of what a run of some steps takes is mpirun's waiting.
SIDE_BY_SIDE = 4


RANK_SPEAKS_TO_FILES = ["sh", "-c", 'r="rank${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"; exec "$0" "$@" >"$r.stdout" 2>"$r.stderr"']


def each_its_own(*commands):
    """For mpirun: a command a rank. Its own way of saying so, a colon, crashes Open MPI 5.0.7's launcher."""
    cases = "".join(f"{rank}) exec {shlex.join(map(str, command))};; " for rank, command in enumerate(commands))
    return ["-n", str(len(commands)), "sh", "-c", f"case ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} in {cases}esac"]


def own_lines(text):
    """What the program itself complains of, on all ranks together; other lines are mpirun's."""
    return "".join(line for line in text.splitlines(True) if line.startswith("diffbench: ")
                   and not line.startswith(("diffbench: about ", "diffbench: wrote ")))


def state_and_parent(pid):
    """From /proc; X where the process has ended."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "X", 0
    state, parent = stat.rpartition(")")[2].split()[:2]
    return state, int(parent)


def cpu_seconds(pid):
    """That the process has used until now."""
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    ticks = stat.rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def is_alive(pid):
    return state_and_parent(pid)[0] not in "ZX"


def rank_of(pid):
    """By its environment; None until it is a rank."""
    try:
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    match = re.search(rb"(?:^|\0)OMPI_COMM_WORLD_RANK=(\d+)", environment)
    return match and int(match[1])


class RanksTest(CommandLineTest):
    @classmethod
    def setUpClass(cls):
        if not MPIRUN:
            raise unittest.SkipTest("no mpirun here")
        if not (MODULES / "mpi.so").exists():
            raise unittest.SkipTest("this build is without the module mpi")

    def run_ranks(self, ranks, *arguments, env=None, **options):
        """On so many ranks; 0: without mpirun."""
        if ranks == 0:
            return self.run_program(*arguments, env=env, **options)
        return self.run_mpi("-n", str(ranks), PROGRAM, *arguments, env=env, **options)

    def run_mpi(self, *arguments, env=None, **options):
        return self.run_program(*MPIRUN[1:], *arguments, program=MPIRUN[0],
                                env={**self.folder_of_its_own(), **(env or {})}, **options)

    def ranks_ok(self, ranks, *arguments, **options):
        done = self.run_ranks(ranks, *arguments, **options)
        self.assertEqual(done.returncode, 0, f"{ranks} ranks {arguments}: {done.stderr}")
        return done

    def ranks_result(self, ranks, *arguments):
        """`diffbench` of the result file."""
        return parse_json(self.ranks_ok(ranks, *arguments, "--json", "-").stdout)["diffbench"]

    def long_run(self, ranks, *arguments):
        """The row of a run with checkpoints, and the rest of what must be so."""
        row, = self.ranks_result(ranks, "run", *arguments)["run"]["results"]
        self.assertIs(row["verified"]["bitwise"], True)
        return row

    def folder_of_its_own(self):
        """For one mpirun: where several share theirs, Open MPI 4.1 fails when one makes it as another one does."""
        return {"TMPDIR": tempfile.mkdtemp(prefix="mpi-", dir=self.directory)}

    def side_by_side(self, call, cases):
        """What `call` returns for each of `cases`, some at a time. The first failure is raised."""
        with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            return list(pool.map(lambda case: call(*case), cases))

    def start_ranks(self, ranks, *arguments):
        """mpirun as it begins; start.ranks: the processes of the ranks, in order. What these say goes to
        files of their own: whether mpirun passes a line on when it ends is its affair."""
        return self.start_mpi(ranks, "-n", str(ranks), *RANK_SPEAKS_TO_FILES, PROGRAM, *arguments)

    def start_mpi(self, ranks, *arguments):
        """The same with mpirun's own arguments, which begin so many ranks."""
        for file in self.directory.glob("rank*.std*"):
            file.unlink()
        start = subprocess.Popen([*MPIRUN, *arguments], cwd=self.directory, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 env={**os.environ, **self.folder_of_its_own()})
        start.ranks = []
        self.addCleanup(self.end, start)
        self.wait_for(lambda: self.find_ranks(start) == ranks, start)
        return start

    def find_ranks(self, start):
        pids = [int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]
        found = {rank_of(pid): pid for pid in pids if state_and_parent(pid)[1] == start.pid}
        start.ranks = [found[rank] for rank in sorted(found.keys() - {None})]
        return len(start.ranks)

    def wait_for(self, condition, start, seconds=180):
        limit = time.monotonic() + seconds
        while not condition():
            if start.poll() is not None:
                self.fail(f"ended before its time: {self.said('stderr')}")
            self.assertLess(time.monotonic(), limit, "what was waited for has not come")
            time.sleep(0.001)

    def said(self, stream):
        return "".join(file.read_text(errors="replace") for file in sorted(self.directory.glob(f"rank*.{stream}")))

    def finish(self, start, seconds=60, stopped=None):
        """Waits, at most so long, until all ranks have ended, and then for mpirun; `took` is how long the
        ranks took. One that was stopped is killed when the others have ended, if it is still there; so is
        mpirun, which may stay for ever where ranks end amid MPI_Init (4.1: in PMIx_server_finalize)."""
        begin = time.monotonic()
        while left := [pid for pid in start.ranks if is_alive(pid) and pid != stopped]:
            start.poll()
            self.assertLess(time.monotonic() - begin, seconds, f"ranks are left: {left}; {self.said('stderr')}")
            time.sleep(0.01)
        took = time.monotonic() - begin
        if stopped and is_alive(stopped):
            os.kill(stopped, signal.SIGKILL)
        try:
            start.wait(timeout=20)
        except subprocess.TimeoutExpired:
            start.kill()
            start.wait()
        done = subprocess.CompletedProcess(start.args, start.returncode, self.said("stdout"), self.said("stderr"))
        done.took = took
        return done

    def end(self, start):
        for pid in [start.pid, *start.ranks]:
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)
        start.wait()

    def need_checkpoints(self):
        run = "run --grid 8 --iters 1 --checkpoint need.state --checkpoint-every 1"
        done = self.run_ranks(2, *run.split())
        if done.returncode == 4:
            self.skipTest(own_lines(done.stderr))
        self.assertEqual(done.returncode, 0, done.stderr)
