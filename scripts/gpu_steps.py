# SPDX-License-Identifier: Apache-2.0
"""What scripts/gpu-check is made of: a part, whose steps are programs, each with a limit, and what
is kept of them."""
import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PART_SECONDS = float(os.environ.get("GPU_CHECK_SECONDS", 540))  # the variable is for tests
GRACE = 10  # seconds that a program gets to write down what it has, when its time is over
PACKING = 5  # seconds kept back for the end


class Stopped(Exception):
    """By a signal."""


STOPS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def stop(number, _frame):
    for each in STOPS:  # what was measured is packed in peace
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(signal.Signals(number).name)


def heed_signals():
    """A handler of Python's own, so that a part is packed in any case."""
    for number in STOPS:
        signal.signal(number, stop)


def output_of(*command):
    """Nothing where it fails, or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def ended_well(status, text):
    if status == 0:
        return None
    lines = [line for line in text.splitlines() if line.strip()] or ["it said nothing"]
    complaints = [line for line in lines if line.startswith("diffbench: ")]
    if complaints:
        return complaints[-1].replace("diffbench: ", "", 1)
    return f"status {status}: {lines[-1].strip()}"


class Part:
    """Runs steps one after another, and keeps what came of them in files, at any time."""

    def __init__(self, letter, card, folder, out, main_files):
        """`main_files` are laid beside the archive in `out`, which may be None."""
        self.letter, self.card, self.folder, self.out = letter, card, folder, out
        self.main_files = main_files
        self.begin = time.monotonic()
        self.steps, self.figures, self.first_result = [], "", None
        self.scratch = tempfile.TemporaryDirectory(prefix="gpu-check-")
        # Kernel shapes are chosen on this card and now, not read from an earlier run.
        os.environ["XDG_CACHE_HOME"] = self.scratch.name
        os.environ["DIFFBENCH_TORCH_GOLDEN"] = str(HERE / "share/diffbench/torch_golden.json")
        self.version = output_of(HERE / "bin/diffbench", "--version")  # with the commit
        folder.mkdir(parents=True, exist_ok=True)
        self.log = open(folder / f"log-{letter}.txt", "w", encoding="utf-8")
        print(f"part {letter}: {self.version}, {card or 'no card'}", flush=True)
        listed = output_of(HERE / "bin/diffbench", "list")
        (folder / f"list-{letter}.txt").write_text(listed + "\n")
        rows = [line.split(maxsplit=4) for line in listed.split("\n\n")[0].splitlines()[1:]]
        # Columns: backend, device, threads, available, and why it is not or what it is.
        on_gpu = [row for row in rows if len(row) == 5 and row[1] == "cuda"]
        self.gpu = [row[0] for row in on_gpu if row[3] == "yes"]
        self.no_gpu = None if self.gpu else on_gpu[0][4] if on_gpu else f"no list: {listed[:200]}"

    def seconds(self):
        return time.monotonic() - self.begin

    def run(self, command, limit, libraries=()):
        """Status (None when its time was over) and output."""
        environment = dict(os.environ)
        if libraries:
            environment["LD_LIBRARY_PATH"] = ":".join(
                [*libraries, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            child = subprocess.Popen(
                command, cwd=self.folder, env=environment, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
            try:
                status = child.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
                os.killpg(child.pid, signal.SIGINT)
                try:
                    child.wait(GRACE)
                except subprocess.TimeoutExpired:
                    pass
            finally:
                kill_group(child)
            output.seek(0)
            return status, output.read()

    def lacks(self, what, reason):
        """Said once, and not for each step."""
        if reason:
            self.note(f"what needs {what}", f"skipped: {reason}")
        return bool(reason)

    def note(self, name, result, seconds=0.0, last_line=""):
        self.steps.append({"name": name, "seconds": round(seconds, 1), "result": result})
        print(f"{name:<28} {seconds:6.1f} s  {result}", flush=True)
        if last_line:
            print(f"    {last_line}", flush=True)
        self.save()

    def step(self, name, limit, command, file=None, keep=None, judge=ended_well, libraries=()):
        """One program; whether it did well. `file` is what it writes, by a relative path, since its
        command line is in it; what it says goes to `keep`."""
        for earlier in filter(None, (file, keep)):
            (self.folder / earlier).unlink(missing_ok=True)
        limit = min(limit, PART_SECONDS - GRACE - PACKING - self.seconds())
        if limit <= 0:
            self.note(name, "FAILED: no time was left")
            return False
        begin = time.monotonic()
        self.steps.append({"name": name, "seconds": 0, "result": "FAILED: it did not end"})
        try:
            status, text = self.run(command, limit, libraries)
        except OSError as error:
            status, text = 1, f"diffbench: {error}"
        self.steps.pop()
        why = judge(status, text) if status is not None else f"not done in {limit:.0f} s"
        said = f"== {name}: {' '.join(map(str, command))}\n{text[-1000000:]}\n"
        self.log.write(said.replace(f"{HERE}/", ""))  # where the kit lies is nobody's business
        self.log.flush()
        if keep and not why:
            (self.folder / keep).write_text(text)
        if file and not why and not (self.folder / file).exists():
            why = f"no {file}"
        if file and not why:
            self.first_result = self.first_result or self.seconds()
        lines = text.strip().splitlines() or [""]
        result = "passed" if not why else why if why.startswith("skipped: ") else f"FAILED: {why}"
        self.note(name, result, time.monotonic() - begin, lines[-1] if file and not why else "")
        return not why

    def diffbench(self, file, limit, arguments, **options):
        command = [HERE / "bin/diffbench", *arguments.split(), "--no-progress", "--json", file]
        return self.step(file[:-len(".json")], limit, command, file, **options)

    def race(self, file, limit, arguments, option, names, **options):
        """All of `names` in one run. One that the program says cannot run, or that fails, is left
        out of the next try, so that it costs only itself."""
        while names:
            chosen = " ".join(f"{option} {name}" for name in names)
            before = len(self.steps)
            if self.diffbench(file, limit, f"{arguments} {chosen}", **options):
                return
            result = self.steps[-1]["result"]
            blamed = re.match(rf"FAILED: .*?\b({'|'.join(names)})\b'?[^:]*: (.*)", result)
            if not blamed:
                return
            absent = re.search("is not available|cannot import|needs an NVIDIA GPU", result)
            self.steps[before:] = []
            self.note(blamed[1], f"{'skipped' if absent else 'FAILED'}: {blamed[2]}")
            names = [name for name in names if name != blamed[1]]

    def save(self):
        for file in self.folder.glob("*.json"):
            text = file.read_text(errors="replace")
            if (nameless := re.sub(r'"host_name": "[^"]+"', '"host_name": ""', text)) != text:
                file.write_text(nameless)
        failed = [s for s in self.steps if s["result"].startswith("FAILED")]
        facts = {"part": self.letter, "version": self.version, "card": self.card,
                 "seconds": round(self.seconds(), 1), "seconds_to_first_result":
                 self.first_result and round(self.first_result, 1), "steps": self.steps}
        (self.folder / f"steps-{self.letter}.json").write_text(json.dumps(facts, indent=1) + "\n")
        summary = [f"part {self.letter}: {self.version}, {self.card or 'no card'}", ""]
        summary += [f"{s['name']:<28} {s['seconds']:6.1f} s  {s['result']}" for s in self.steps]
        end = "FAILED: no GPU" if self.no_gpu else "FAILED" if failed else "passed"
        summary += [f"{'all':<28} {self.seconds():6.1f} s  {end}", ""]
        summary += [f"first result after {self.first_result:.1f} s"] if self.first_result else []
        summary += ["", self.figures] if self.figures else []
        (self.folder / f"summary-{self.letter}.txt").write_text("\n".join(summary) + "\n")
        if self.out:
            self.pack()
        return not failed and not self.no_gpu

    def pack(self):
        self.out.mkdir(parents=True, exist_ok=True)
        archive = self.out / f"{self.folder.name}-{self.letter}.tar.gz"
        with tarfile.open(f"{archive}.part", "w:gz") as tar:
            tar.add(self.folder, self.folder.name)
        os.replace(f"{archive}.part", archive)
        for name in [f"summary-{self.letter}.txt", *self.main_files]:
            if (self.folder / name).exists():
                shutil.copy(self.folder / name, self.out)


def kill_group(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
