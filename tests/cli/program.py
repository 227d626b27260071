# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command line share: the program under test in a directory of its own, and
.npy files made and read by hand, so that a fault of NumPy or of ours cannot hide in both."""
import ast
import importlib.util
import json
import os
import pathlib
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.environ["DIFFBENCH_PROGRAM"]

# No test depends on what else runs on its machine: one that wants a load plants it.
os.environ.setdefault("DIFFBENCH_PLANTED_LOAD", "0")
PLANTED_LOAD = {"DIFFBENCH_PLANTED_LOAD": "1.5"}
WITH_WRONG_BACKEND = os.environ.get("DIFFBENCH_WITH_WRONG_BACKEND", "")

PEERS = pathlib.Path(__file__).resolve().parent.parent.parent / "bench/peers"

# Google Benchmark's, in Debian's libbenchmark-tools. It needs SciPy, which Debian's python3 has.
COMPARE_PY = "/usr/share/benchmark/compare.py"
PYTHON_WITH_SCIPY = sys.executable if importlib.util.find_spec("scipy") else "/usr/bin/python3"

# A comparison of some hundred milliseconds: nearly all of it measures the copy bandwidth. The budget
# is far more than 20 samples of 20 steps need, so that a busy machine cannot cost a row its samples.
QUICK = ("--grid 24x16 --iters 20 --budget 20 --threads 1 "
         "--backend scalar --backend fused --baseline scalar").split()

# One that is busy for several seconds, and times its row for most of them. A sample is never more than
# these iterations: 20 of them have to fill the budget on a machine of 4 us a step, too, or the run is
# over before progress shows.
LONG = "--grid 256 --iters 20000 --budget 8 --threads 1 --backend fused --baseline fused".split()

# In a progress line: a part of the timing is done.
SOME_TIMING = r"timing \[[= ]+\] +[1-9]\d* %"


def open_terminal():
    """Two ends of a pseudo-terminal, ours and the program's. A container may have none to give."""
    try:
        return os.openpty()
    except OSError as error:
        raise unittest.SkipTest(f"no pseudo-terminal: {error}") from error


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="diffbench-cli-")
        self.addCleanup(place.cleanup)
        self.directory = pathlib.Path(place.name)

    def path(self, name):
        return self.directory / name

    def run_program(self, *arguments, program=PROGRAM, env=None, **options):
        """Runs in the test's directory. stdin is empty; stdout and stderr are captured as text
        unless `options` (those of subprocess.run) say otherwise."""
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        streams = {"stdin": subprocess.DEVNULL, **streams}
        return subprocess.run([program, *arguments], cwd=self.directory,
                              env={**os.environ, **(env or {})}, encoding="utf-8",
                              errors="surrogateescape", timeout=120, **{**streams, **options})

    def run_ok(self, *arguments, **options):
        done = self.run_program(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def run_interrupted(self, pattern, *arguments, env=None):
        """Presses Ctrl-C once `pattern` is in the progress line: so much has been done by then. What
        the terminal has shown is the stderr of what is returned."""
        ours, theirs = open_terminal()
        self.addCleanup(os.close, ours)
        child = subprocess.Popen([PROGRAM, *arguments], cwd=self.directory, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=theirs, encoding="utf-8",
                                 env={**os.environ, "TERM": "xterm", **(env or {})})
        os.close(theirs)
        self.addCleanup(child.kill)
        shown = self.read_terminal(ours, pattern)
        child.send_signal(signal.SIGINT)
        shown += self.read_terminal(ours, None)
        out, _ = child.communicate(timeout=60)
        return subprocess.CompletedProcess(child.args, child.returncode, out, shown.decode())

    def read_terminal(self, terminal, pattern):
        """What it shows until `pattern` appears in it, or, without one, to its end."""
        shown = b""
        limit = time.monotonic() + 100
        while pattern is None or not re.search(pattern, shown.decode(errors="replace")):
            left = limit - time.monotonic()
            self.assertTrue(left > 0 and select.select([terminal], [], [], left)[0], shown)
            try:
                part = os.read(terminal, 4096)
            except OSError:  # EIO: the other end is closed
                part = b""
            if not part:
                self.assertIsNone(pattern, shown)
                break
            shown += part
        return shown

    def result(self, *arguments, exit_code=0, **options):
        """The result of a quick run with `arguments`, through --json -."""
        done = self.run_program(*QUICK, *arguments, "--json", "-", **options)
        self.assertEqual(done.returncode, exit_code, done.stderr)
        return parse_json(done.stdout)

    def need_torch(self):
        python = os.environ.get("DIFFBENCH_PYTHON", "python3")
        if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode != 0:
            self.skipTest("no PyTorch here")

    def assert_one_line(self, text, *mentions):
        """One line by the program itself: no stack trace, no abort, no sanitizer report. Before it may stand
        how long the work would have taken."""
        text = re.sub(r"\Adiffbench: (about|up to) \d+ (s|min): .*\n", "", text)
        self.assertTrue(text.startswith("diffbench: "), text)
        self.assertTrue(text.endswith("\n"), text)
        self.assertEqual(text.count("\n"), 1, text)
        for word in mentions:
            self.assertIn(word, text)
        self.assertFalse([c for c in text[:-1] if c < " "], "control characters in a message")

    def assert_refused(self, exit_code, mentions, *arguments, **options):
        """Ends with `exit_code` and one line that has the word or words of `mentions`, prints nothing
        else and leaves the directory as it was."""
        before = self.contents()
        done = self.run_program(*arguments, **options)
        self.assertEqual(done.returncode, exit_code, done.stderr)
        self.assert_one_line(done.stderr, *([mentions] if isinstance(mentions, str) else mentions))
        self.assertEqual(done.stdout, "")
        self.assertEqual(self.contents(), before)

    def torch_by(self, script, module):
        """Variables with which `--peer torch` runs `script` in the place of its `module`."""
        peers = self.path("peers")
        peers.mkdir(exist_ok=True)
        shutil.copy(PEERS / "peer_protocol.py", peers)
        (peers / f"{module}.py").write_text(script)
        (peers / "torch.py").write_text("")  # so that there is a module of that name
        return {"DIFFBENCH_PEERS": str(peers), "PYTHONPATH": str(peers)}

    def compare_py(self, old, new):
        """What Google Benchmark's compare.py says of two result files."""
        done = self.run_program(COMPARE_PY, "--no-color", "benchmarks", old, new,
                                program=PYTHON_WITH_SCIPY)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def contents(self):
        """All files below the directory with what they hold. Links to devices are not opened."""
        return {path: path.read_bytes() if path.is_file() else None
                for path in self.directory.rglob("*")}


def parse_json(text):
    """Strictly: Python's reader would let NaN and Infinity through."""

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def host_and_engine_events(trace_text):
    """The events of a trace by (pid, tid), checked: durations are not negative, and on a track two
    events lie apart or one inside the other. Viewers drop what does not."""
    events = parse_json(trace_text)["traceEvents"]
    tracks = {}
    for event in events:
        if event["ph"] == "X":
            begin, duration = (round(1000 * event[key]) for key in ("ts", "dur"))  # nanoseconds
            assert begin >= 0 and duration >= 0, event
            tracks.setdefault((event["pid"], event["tid"]), []).append((begin, begin + duration, event))
        else:
            assert event["ph"] == "M", event
    for spans in tracks.values():
        enclosing = []
        for begin, end, event in sorted(spans, key=lambda span: (span[0], -span[1])):
            while enclosing and enclosing[-1] <= begin:
                enclosing.pop()
            assert not enclosing or end <= enclosing[-1], f"overlaps without nesting: {event}"
            enclosing.append(end)
    return {track: [event for _, _, event in spans] for track, spans in tracks.items()}


def samples_of(result):
    """The entries of Google Benchmark's format that are no aggregates."""
    return [entry for entry in result["benchmarks"] if entry["run_type"] != "aggregate"]


def row_of(result, backend):
    return next(row for row in result["diffbench"]["results"] if row["backend"] == backend)


# --- .npy files, after the format's description in NumPy's manual (numpy.lib.format) --------------

MAGIC = b"\x93NUMPY"


def npy_bytes(cells, shape, descr="<f4", *, fortran_order=False, version=(1, 0), header=None,
              header_size=None):
    """A .npy file of `cells` (packed bytes). The last two replace what is right by what is given."""
    if header is None:
        header = f"{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}"
    text = header.encode() + b"\n"
    size = len(text) if header_size is None else header_size
    return MAGIC + bytes(version) + struct.pack("<H" if version[0] == 1 else "<I", size) + text + cells


def floats(values, code="f"):
    return struct.pack(f"<{len(values)}{code}", *values)


def read_npy(path):
    """Shape, descr and the raw bytes of the cells."""
    content = pathlib.Path(path).read_bytes()
    assert content[:8] == MAGIC + b"\x01\x00", content[:8]
    end = 10 + struct.unpack("<H", content[8:10])[0]
    header = ast.literal_eval(content[10:end].decode())
    assert header["fortran_order"] is False
    return header["shape"], header["descr"], content[end:]
