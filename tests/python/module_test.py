# SPDX-License-Identifier: Apache-2.0
"""The Python module on what users give it: module_test.py FOLDER_OF_THE_PACKAGE PROGRAM"""
import ast
import contextlib
import doctest
import io
import json
import multiprocessing
import os
import re
import signal
import site
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
from pathlib import Path

FOLDER, PROGRAM = sys.argv.pop(1), sys.argv.pop(1)
sys.path.insert(0, FOLDER)
os.environ["DIFFBENCH"] = PROGRAM

import numpy  # noqa: E402

import diffbench  # noqa: E402


def processes_with(variable):
    """The numbers of those that have it in their environment; one that has been killed may take a moment to go."""
    for _ in range(100):
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if variable.encode() in (process / "environ").read_bytes().split(b"\0"):
                    found.append(process.name)
        if not found:
            break
        time.sleep(0.1)
    return found


def reference(u, steps, factor):
    """NumPy's own way; the factor is rounded to the dtype once."""
    factor = u.dtype.type(factor)
    for _ in range(steps):
        lap = numpy.roll(u, 1, 0) + numpy.roll(u, -1, 0) + numpy.roll(u, 1, 1) + numpy.roll(u, -1, 1) - 4 * u
        u = u + factor * lap
    return u


def field(ny, nx, dtype=numpy.float32):
    return numpy.random.default_rng(7).random((ny, nx)).astype(dtype)


def unaligned(u):
    copy = numpy.frombuffer(bytearray(1 + u.nbytes), u.dtype, offset=1).reshape(u.shape)
    copy[:] = u
    return copy


def child_of_fork(queue):
    try:
        u = field(16, 16)
        made_here = diffbench.solve(u, 3)
        queue.put(bool((made_here == reference(u, 3, 0.1)).all()))
        SESSION.advance(1)
        queue.put("no error")
    except RuntimeError as error:
        queue.put(str(error))


SESSION_OF_A_PROCESS = ("import sys; sys.path.insert(0, sys.argv[1]); import diffbench, numpy\n"
                        "s = diffbench.Session((512, 512), threads=1); s.upload(numpy.ones((512, 512), 'f4'))\n")


def of_process(code):
    """A Python of its own, which would hang where it is wrong: exit code, stdout, stderr."""
    done = subprocess.run([sys.executable, "-c", code, FOLDER], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


class Solve(unittest.TestCase):
    def test_has_numpys_bits_for_every_layout(self):
        for dtype in (numpy.float32, numpy.float64):
            whole = field(46, 74, dtype)
            read_only = whole.copy()
            read_only.flags.writeable = False
            for u in (whole, unaligned(whole), whole.T, whole[::2, 1::3], whole[::-1], numpy.asfortranarray(whole),
                      read_only):
                for steps in (0, 1, 17):
                    before = u.copy()
                    result = diffbench.solve(u, steps)
                    self.assertEqual((result.dtype, result.shape), (u.dtype, u.shape))
                    self.assertTrue(numpy.array_equal(result, reference(u, steps, 0.1)))
                    self.assertTrue(numpy.array_equal(u, before))
                    self.assertFalse(numpy.shares_memory(result, u))

    def test_every_backend_that_runs_here(self):
        u = field(33, 47)
        expected = reference(u, 5, 0.05 * 2 / 0.9**2)
        for backend in diffbench.backends():
            if backend["available"]:
                result = diffbench.solve(u, 5, dt=0.05, diffusivity=2, spacing=0.9, backend=backend["name"])
                self.assertTrue(numpy.array_equal(result, expected), backend["name"])

    def test_boundaries(self):
        u = numpy.zeros((5, 6))
        self.assertEqual(diffbench.solve(u, 1, boundary="dirichlet", boundary_value=1.0)[0, 0], 0.2)
        self.assertEqual(diffbench.solve(u + 1, 1, boundary="neumann").min(), 1)

    def test_out(self):
        u = field(20, 30)
        expected = reference(u, 4, 0.1)
        self.assertIs(diffbench.solve(u, 4, out=u), u)
        self.assertTrue(numpy.array_equal(u, expected))

    @unittest.skipUnless(os.environ.get("DIFFBENCH_MPIRUN"), "no mpirun here")
    def test_ranks_have_the_same_bits(self):
        for dtype, options in ((numpy.float32, {}), (numpy.float64, {"boundary": "dirichlet", "boundary_value": 0.1 + 0.2, "dt": 0.07})):
            u = field(33, 20, dtype).T
            result = diffbench.solve(u, 40, ranks=4, threads=1, **options)
            self.assertTrue(numpy.array_equal(result, diffbench.solve(u, 40, **options)))
        self.assertIs(diffbench.solve(u, 0, ranks=2, out=u), u)
        with self.assertRaisesRegex(ValueError, "unstable"):
            diffbench.solve(u, 1, 1.0, ranks=2)
        with self.assertRaisesRegex(diffbench.RunError, "diffbench: .*rank"):
            diffbench.solve(field(4, 4), 1, ranks=4)  # two rows each at least

    def test_cells_that_are_not_finite_spread_as_in_numpy(self):
        u = field(9, 9)
        u[4, 4] = numpy.nan
        self.assertTrue(numpy.array_equal(diffbench.solve(u, 2), reference(u, 2, 0.1), equal_nan=True))

    def test_says_what_is_wrong(self):
        u = field(8, 8)
        read_only = u.copy()
        read_only.flags.writeable = False
        for error, words, call in (
                (TypeError, "int64", lambda: diffbench.solve(numpy.zeros((8, 8), int), 1)),
                (TypeError, "float16", lambda: diffbench.solve(u.astype(numpy.float16), 1)),
                (TypeError, ">f4", lambda: diffbench.solve(u.astype(">f4"), 1)),
                (TypeError, "complex", lambda: diffbench.solve(u.astype(complex), 1)),
                (ValueError, "ny = 2", lambda: diffbench.solve(u[:2], 1)),
                (ValueError, "steps=-1", lambda: diffbench.solve(u, -1)),
                (TypeError, "steps is of type float", lambda: diffbench.solve(u, 1.5)),
                (ValueError, "steps: from 0 to 2**63 - 1", lambda: diffbench.solve(u, 2**70)),
                (ValueError, "steps: from 0 to 2**63 - 1", lambda: diffbench.solve(u, -10**5000)),
                (ValueError, "steps: from 0 to 2**63 - 1", lambda: diffbench.solve(u, 2**63)),
                (TypeError, "has no argument 'bakend', did you mean 'backend'?", lambda: diffbench.solve(u, 1, bakend="simd")),
                (TypeError, "has no argument 'grid_x'; it has u, steps, dt, ", lambda: diffbench.solve(u, 1, grid_x=1)),
                (TypeError, "'spacin', did you mean 'spacing'?", lambda: diffbench.Session((8, 8), spacin=1)),
                (TypeError, "fit solve(u: object, steps: object, ", lambda: diffbench.solve(u)),
                (TypeError, "fit solve(u: object, steps: object, ", lambda: diffbench.solve(u, 1, dt="small")),
                (TypeError, "fit Session(shape: ", lambda: diffbench.Session(8)),
                (TypeError, "fit advance(self: ", lambda: diffbench.Session((8, 8)).advance()),
                (TypeError, "'step', did you mean 'steps'?", lambda: diffbench.Session((8, 8)).advance(step=1)),
                (TypeError, "u is a list", lambda: diffbench.solve(u.tolist(), 1)),
                (ValueError, "1 dimensions", lambda: diffbench.solve(u[0], 1)),
                (ValueError, "(8, 8)", lambda: diffbench.solve(u, 10**15, out=field(8, 9))),  # before any work
                (TypeError, "out is a str", lambda: diffbench.solve(u, 10**15, out="here")),
                (ValueError, "nan", lambda: diffbench.solve(u, 1, dt=float("nan"))),
                (ValueError, "allow_unstable=True", lambda: diffbench.solve(u, 1, dt=1)),
                (ValueError, "periodic", lambda: diffbench.solve(u, 1, boundary="open")),
                (ValueError, "simd", lambda: diffbench.solve(u, 1, backend="simt")),
                (ValueError, "threads=0", lambda: diffbench.solve(u, 1, threads=0)),
                (ValueError, "threads=100000", lambda: diffbench.solve(u, 1, threads=100000)),
                (ValueError, "(8, 8)", lambda: diffbench.solve(u, 1, out=field(8, 9))),
                (TypeError, "float64", lambda: diffbench.solve(u, 1, out=field(8, 8, float))),
                (ValueError, "contiguous", lambda: diffbench.solve(u, 1, out=field(8, 8).T)),
                (ValueError, "aligned", lambda: diffbench.solve(u, 1, out=unaligned(u))),
                (TypeError, "u is a MaskedArray", lambda: diffbench.solve(numpy.ma.masked_less(u, 0.5), 1)),
                (TypeError, "out is a MaskedArray", lambda: diffbench.solve(u, 1, out=numpy.ma.array(u))),
                (ValueError, "written", lambda: diffbench.solve(u, 1, out=read_only)),
                (ValueError, "upload", lambda: diffbench.Session((8, 8)).advance(1)),
                (ValueError, "3 dimensions", lambda: diffbench.Session((8, 8)).upload(numpy.zeros((8, 8, 8), "f4"))),
                (MemoryError, "available", lambda: diffbench.Session((10**6, 10**6))),
        ):
            with self.subTest(words=words):
                with self.assertRaises(error) as raised:
                    call()
                self.assertIn(words, str(raised.exception))
                self.assertNotIn("\n", str(raised.exception))

    def test_more_threads_than_cpus(self):
        u = field(64, 64)
        threads = 2 * (os.cpu_count() or 1)
        self.assertTrue(numpy.array_equal(diffbench.solve(u, 9, threads=threads), reference(u, 9, 0.1)))


class Sessions(unittest.TestCase):
    def test_goes_on_from_where_it_is(self):
        u = field(21, 34)
        session = diffbench.Session(u.shape)
        session.upload(u)
        for steps in (3, 0, 8):
            session.advance(steps)
        self.assertEqual((session.steps, session.shape, session.dtype), (11, (21, 34), "float32"))
        self.assertTrue(numpy.array_equal(session.download(), reference(u, 11, 0.1)))
        self.assertGreaterEqual(session.provenance()["threads"], 1)

    def test_others_run_meanwhile(self):
        """A call that kept the GIL would let the other one in for one sleep where it is cut: never 10,000 times within a minute."""
        code = ("import os, signal, threading, time\n"
                "def count():\n"
                "    for _ in range(10_000): time.sleep(0)\n"
                "    os.kill(os.getpid(), signal.SIGINT)\n"
                "threading.Thread(target=count, daemon=True).start()\n"
                "try:\n    s.advance(10**12)\nexcept KeyboardInterrupt:\n    print('ran meanwhile')\n")
        self.assertEqual(of_process(SESSION_OF_A_PROCESS + code), (0, "ran meanwhile\n", ""))

    def test_two_threads_take_turns(self):
        u = field(256, 256)
        session = diffbench.Session(u.shape)
        session.upload(u)
        threads = [threading.Thread(target=session.advance, args=(40,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(numpy.array_equal(session.download(), reference(u, 80, 0.1)))

    def test_a_forked_child_makes_its_own(self):
        global SESSION
        SESSION = diffbench.Session((16, 16))
        SESSION.upload(field(16, 16))
        context = multiprocessing.get_context("fork")
        queue = context.SimpleQueue()
        child = context.Process(target=child_of_fork, args=(queue,))
        child.start()
        child.join(60)
        self.assertEqual(child.exitcode, 0)
        self.assertIs(queue.get(), True)
        self.assertIn("fork", queue.get())

    def test_ctrl_c_ends_a_long_call(self):
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import diffbench, numpy\n"
                "s = diffbench.Session((512, 512)); s.upload(numpy.ones((512, 512), 'f4'))\n"
                "print('ready', flush=True)\n"
                "try:\n    s.advance(10**12)\nexcept KeyboardInterrupt:\n    print('interrupted', s.steps > 0)\n")
        with subprocess.Popen([sys.executable, "-c", code, FOLDER], stdout=subprocess.PIPE, text=True) as child:
            self.assertEqual(child.stdout.readline(), "ready\n")
            time.sleep(0.5)
            child.send_signal(signal.SIGINT)
            try:
                said = child.communicate(timeout=60)[0]
            finally:
                child.kill()
        self.assertEqual((said, child.returncode), ("interrupted True\n", 0))


    def test_a_signal_handler_may_use_the_session(self):
        code = ("import signal\n"
                "def save(*_):\n"
                "    print(s.download().shape, s.steps > 0, s.provenance()['threads'] > 0); raise SystemExit\n"
                "signal.signal(signal.SIGALRM, save); signal.setitimer(signal.ITIMER_REAL, 0.3)\n"
                "s.advance(10**12)\n")
        self.assertEqual(of_process(SESSION_OF_A_PROCESS + code), (0, "(512, 512) True True\n", ""))

    def test_others_are_let_in_and_the_interpreter_ends_while_a_daemon_computes(self):
        """The end of it takes longer than a call of the backend, after which the daemon wants the GIL."""
        code = ("import threading, time\n"
                "class Slow:\n    def __del__(self, sleep=time.sleep): sleep(1.5)\n"
                "keep = Slow()\n"
                "threading.Thread(target=s.advance, args=(10**12,), daemon=True).start(); time.sleep(0.5)\n"
                "for _ in range(3): s.download()\n"
                "print('let in', s.steps > 0, flush=True)\n")
        self.assertEqual(of_process(SESSION_OF_A_PROCESS + code), (0, "let in True\n", ""))


def said_of(signature):
    return ast.parse(f"def {signature}: ...").body[0]


def typed(annotation):
    """Without what pybind11 cannot say: what is in a list or dict, which words are allowed."""
    text = ast.unparse(annotation).lower().replace("boundary", "str")
    return re.sub(r"^(list|dict)\[.*", r"\1", text)


class Interface(unittest.TestCase):
    def test_types_are_those_of_the_module(self):
        """The stub has the names of the module, and of each function what its docstring by pybind11 says."""
        stub = ast.parse(Path(diffbench.__file__).with_name("_core.pyi").read_text())
        session = next(node for node in stub.body if isinstance(node, ast.ClassDef) and node.name == "Session")
        for owner, scope in ((diffbench._core, stub), (diffbench.Session, session)):
            defined = [node for node in scope.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
            special = {node.name for node in defined if node.name.startswith("__")}
            self.assertLessEqual(special, set(dir(owner)))
            defined = [node for node in defined if node.name not in special]
            self.assertEqual(sorted(node.name for node in defined),
                             [name for name in dir(owner) if not name.startswith("_")])
            for function in (node for node in defined if isinstance(node, ast.FunctionDef)):
                member = getattr(owner, function.name)
                with self.subTest(function=function.name):
                    if isinstance(member, property):
                        said = said_of(function.name + re.search(r"\(.*", member.fget.__doc__)[0])
                        self.assertEqual(typed(function.returns), typed(said.returns))
                    else:
                        self.compare(function, said_of(member.__doc__.splitlines()[0]))

    def compare(self, function, said):
        self.assertEqual(typed(function.returns), typed(said.returns))
        for kind in ("args", "kwonlyargs"):
            ours, theirs = getattr(function.args, kind), getattr(said.args, kind)
            self.assertEqual([argument.arg for argument in ours], [argument.arg for argument in theirs])
            for ours, theirs in zip(ours, theirs):
                if ours.arg != "self" and typed(theirs.annotation) != "object":  # which is any
                    self.assertEqual(typed(ours.annotation), typed(theirs.annotation), ours.arg)
        for kind in ("defaults", "kw_defaults"):
            self.assertEqual([default and ast.unparse(default) for default in getattr(function.args, kind)],
                             [default and ast.unparse(default) for default in getattr(said.args, kind)])

    def test_a_session_ends_with_its_block(self):
        with diffbench.Session((8, 8), backend="scalar") as session:
            session.upload(numpy.ones((8, 8), "f4"))
            session.advance(1)
        with self.assertRaisesRegex(ValueError, "closed"):
            session.advance(1)

    def test_what_may_overflow_is_refused(self):
        for dtype in (numpy.float32, numpy.float64):
            u = numpy.zeros((4, 5), dtype)
            u[2, 3] = numpy.finfo(dtype).max / 4
            with self.assertRaises(ValueError):
                diffbench.solve(u, 1)
            u[2, 3] /= 4
            diffbench.solve(u, 1)

    def test_everything_has_a_docstring(self):
        for name in diffbench.__all__:
            self.assertGreater(len(getattr(diffbench, name).__doc__), 30, name)

    def test_every_backend_has_every_key(self):
        keys = {"name", "description", "device", "threaded", "available", "reason"}
        for backend in diffbench.backends():
            self.assertEqual(set(backend), keys, backend)

    def test_is_found_where_it_is_installed(self):
        """By the Python of the build, below the prefix of the build."""
        cache = Path(FOLDER).parent.joinpath("CMakeCache.txt").read_text()
        prefix_of_build = re.search(r"^CMAKE_INSTALL_PREFIX:PATH=(.*)$", cache, re.M)[1]
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run(["cmake", "--install", str(Path(FOLDER).parent), "--component", "python", "--prefix", prefix],
                           check=True, capture_output=True)
            (module,) = Path(prefix).rglob("diffbench/__init__.py")
            folder = module.parents[1].relative_to(prefix)
            # Elsewhere, and in a virtual environment, it is for the user to tell.
            if prefix_of_build in ("/usr", "/usr/local") and sys.prefix == sys.base_prefix == "/usr":
                self.assertIn(f"{prefix_of_build}/{folder}", site.getsitepackages())
            done = subprocess.run([sys.executable, "-c", "import diffbench; print('simd' in [row['name'] for row in diffbench.backends()])"],
                                  env={**os.environ, "PYTHONPATH": f"{prefix}/{folder}"}, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, "True\n"), done.stderr)


class Run(unittest.TestCase):
    def test_is_the_programs_result(self):
        result = diffbench.run(grid=32, iters=10, backend=["simd", "fused"], budget=1)
        self.assertEqual([row["backend"] for row in result.rows], ["fused", "simd"])
        self.assertIn("<td>simd</td>", result._repr_html_())
        sweep = diffbench.run("sweep", grid="16,32", iters=4, backend="fused", budget=1)
        self.assertIn("fused", sweep.text)
        self.assertIn("<pre>", sweep._repr_html_())

    def test_what_was_measured_is_there_beside_an_error(self):
        with self.assertRaises(diffbench.RunError) as raised:  # it diverges, so no row is right
            diffbench.run(grid=32, iters=3000, dt=0.9, allow_unstable=True, backend=["fused"], budget=1)
        self.assertEqual(raised.exception.exit_code, 3)
        self.assertEqual(raised.exception.result.rows[0]["verified"]["nonfinite"], 1024)

    def test_rows_and_frame_of_other_verbs(self):
        size = {"grid": 32, "iters": 10, "budget": 1, "threads": 1}
        pandas = type("pandas", (), {"json_normalize": staticmethod(lambda rows: ("a frame of", rows))})
        for verb, options, key in ((["list"], {}, "name"), (["residency"], size, "backend"),
                                   (["sweep"], {**size, "backend": "fused"}, "values"),
                                   (["mlp", "width"], {"hidden": 10, "engine": "cpu", "budget": 1}, "size"),
                                   (["advise"], {**size, "backend": "fused"}, "backend")):
            with self.subTest(verb=verb), unittest.mock.patch.dict(sys.modules, {"pandas": pandas}):
                result = diffbench.run(*verb, **options)
                self.assertIn(key, result.rows[0])
                self.assertEqual(result.frame(), ("a frame of", result.rows))
        with self.assertRaisesRegex(ValueError, "transfer has no rows"):
            diffbench.run("transfer", max_size="4K", budget=1).rows

    def test_ctrl_c_keeps_what_was_measured_and_leaves_nothing(self):
        """Sent to the group, as a terminal does, and to Python only. The peer is a process of the program."""
        code = ("import diffbench\n"
                "try:\n    diffbench.run(grid=64, iters=100, backend='fused', peer='numpy', precision='0.0001%', budget=100)\n"
                "except diffbench.Interrupted as error:\n"
                "    print(isinstance(error, KeyboardInterrupt), error.result and len(error.result.rows))\n")
        for to_group in (True, False):
            for seconds in (4, 12, 36):  # until there is a sample, on a machine that is busy
                with tempfile.TemporaryDirectory() as folder:
                    child = subprocess.Popen([sys.executable, "-c", SESSION_OF_A_PROCESS + code, FOLDER],
                                             start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                             env={**os.environ, "TMPDIR": folder}, text=True)
                    time.sleep(seconds)
                    os.killpg(child.pid, signal.SIGINT) if to_group else child.send_signal(signal.SIGINT)
                    try:
                        said, complaint = child.communicate(timeout=60)
                        self.assertEqual(processes_with(f"TMPDIR={folder}"), [])
                    finally:
                        with contextlib.suppress(ProcessLookupError):
                            os.killpg(child.pid, signal.SIGKILL)
                    self.assertEqual(os.listdir(folder), [])
                if said != "True None\n":
                    break
            with self.subTest(to_group=to_group):
                self.assertEqual((said, child.returncode), ("True 2\n", 0), complaint)

    def test_a_program_that_is_named_is_not_replaced(self):
        os.environ["DIFFBENCH"] = "/nowhere/diffbench"
        try:
            with self.assertRaises(FileNotFoundError) as raised:
                diffbench.run(grid=32)
        finally:
            os.environ["DIFFBENCH"] = PROGRAM
        self.assertIn("/nowhere/diffbench", str(raised.exception))

    def test_says_what_the_program_says(self):
        with self.assertRaises(diffbench.RunError) as raised:
            diffbench.run(grid=0)
        self.assertEqual(raised.exception.exit_code, 2)
        self.assertIn("--grid", str(raised.exception))

    def test_a_cell_goes_to_try(self):
        registered = {}

        class Notebook:
            def register_magic_function(self, function, kind, name):
                registered[kind, name] = function

        diffbench.load_ipython_extension(Notebook())
        magic = registered["cell", "diffbench_try"]
        step = ("void step(const float *u, float *out, int nx, int ny, float factor) {\n"
                "  for (int i = 0; i < ny; ++i) for (int j = 0; j < nx; ++j) {\n"
                "    int up = (i + ny - 1) % ny * nx + j, down = (i + 1) % ny * nx + j;\n"
                "    int left = i * nx + (j + nx - 1) % nx, right = i * nx + (j + 1) % nx;\n"
                "    float lap = u[up] + u[down] + u[left] + u[right] - 4 * u[i * nx + j];\n"
                "    out[i * nx + j] = u[i * nx + j] + factor * lap; } }\n")
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(os.chdir, os.getcwd())
            os.chdir(folder)
            for line, cell, words in (
                    ("c --no-timing --json 'a file.json' --flags '-O2 -fno-fast-math'", step, "cell.c is right."),
                    ("c --no-timing", "int x;\n", "step"), ("c --flags '-O2", step, "No closing quotation"),
                    ("", "", "cuda, cpp, c, python")):
                said = io.StringIO()
                with self.subTest(line=line), contextlib.redirect_stdout(said):
                    magic(line, cell)
                    self.assertIn(words, said.getvalue())
                    self.assertNotIn(tempfile.gettempdir(), said.getvalue())
            self.assertEqual(json.loads(Path("a file.json").read_text())["diffbench"]["experiment"], "try")

    def test_words_of_options(self):
        options = {"pinned": numpy.True_, "live": numpy.False_, "check": True, "grid": numpy.int64(64), "seed": None,
                   "backend": ["simd", "fused"]}
        self.assertEqual([*diffbench._run.words_of(options)],
                         ["--pinned", "--check", "--grid", "64", "--backend", "simd", "--backend", "fused"])

    def test_examples(self):
        place = Path(__file__).resolve().parents[2] / "docs/python.md"
        text = place.read_text().replace("```", "")
        examples = doctest.DocTestParser().get_doctest(text, {}, place.name, str(place), 0)
        found = doctest.DocTestRunner().run(examples)
        self.assertGreater(found.attempted, 9)
        self.assertEqual(found.failed, 0)


if __name__ == "__main__":
    unittest.main()
