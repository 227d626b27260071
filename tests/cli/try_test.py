# SPDX-License-Identifier: Apache-2.0
"""diffbench try: submissions in all forms, classic mistakes, cheats, and what cannot be run. No time decides
a test; limits are far from what a busy machine needs."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from program import PROGRAM, CommandLineTest, parse_json

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "try"))
import corpus  # noqa: E402
import cuda_cases  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Threads that wait for one another do not spin: tests share their CPUs.
CALM = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "2"}

EVERY_CASE = "DIFFBENCH_EVERY_CASE" in os.environ


def some_of(cases, each=5):
    """Or with DIFFBENCH_EVERY_CASE all: each takes a second, or several."""
    return cases[::1 if EVERY_CASE else each]


# Of each what it says, and a part of the line that it names.
EXERCISES = {
    "01-boundary": (["the edges are copied"], None),
    "02-missing-barrier": (["race "], "tile[threadIdx.y][threadIdx.x] ="),
    "03-race": (["race "], "u[y * nx + x] = "),
    "04-copy-each-step": (["the same bits", "note: copies: 2 a step", "note: allocations: 2 a step"], None),
    "05-no-synchronization": (["early_read "], "memcpy(out, result"),
    "06-stale-buffer": (["after an even number of steps the wrong buffer"], None),
    "07-float64": (["right within rounding", "partly in float64"], None),
    "08-unchecked-error": (["launch_refused "], "<<<grid, block>>>"),
    "09-leak": (["the same bits", "leak ", "a stream"], "cudaMalloc(&next"),
    "10-partial-block": (["the last partial block of 16 x 16"], None),
    "11-managed-memory": (["the same bits", "note: managed memory: 4 times the field moves"], None),
    "12-pageable-async": (["the same bits", "note: asynchronous copies: 2 in a run"], None),
    "13-stopwatch": (["stopwatch", "what is timed is its launch"], "seconds = "),
}


class Try(CommandLineTest):
    def judge(self, name, source, *arguments, timeout="60"):
        """The exit code, stderr, and the judgements by dtype."""
        self.path(name).write_text(source)
        done = self.run_program("try", name, "--no-timing", "--timeout", timeout, "--seed", "7", *arguments,
                                "--json", "-", env=CALM)
        results = parse_json(done.stdout)["diffbench"]["try"]["results"] if done.stdout else []
        return done, {result["dtype"]: result for result in results}

    def written(self, name, source):
        self.path(name).write_text(source)
        return name

    def check(self, name, ending, source, verdict, detail):
        """Its judgements; what they say is asserted."""
        timeout = "2" if name == "endless" else "60"
        done, results = self.judge(f"{name}.{ending}", source, timeout=timeout)
        self.assertTrue(results, done.stderr)
        for result in results.values():
            self.assertEqual(result["verdict"], verdict, result)
            self.assertIs(result["right"], verdict != corpus.WRONG)
            if verdict != corpus.WRONG:
                self.assertEqual(result["complaints"], [])
                self.assertIsNone(result["mistake"]["id"])
                self.assertEqual(result["arithmetic"], detail or result["arithmetic"])
                self.assertEqual(done.returncode, 0, done.stderr)
            elif detail == "*":
                self.assertIn(done.returncode, (1, 3))
            elif detail and detail.startswith("says: "):
                self.assertIn(detail[6:], result["complaints"][0])
                self.assertIn(done.returncode, (1, 3))
            else:
                self.assertEqual(result["mistake"]["id"], detail)
                self.assertEqual(result["complaints"], [])
                self.assertEqual(done.returncode, 3)
                self.assertIn("#", result["wrong"]["map"])
        return results

    def check_all(self, submissions):
        for submission in submissions:
            with self.subTest(submission[0]):
                self.check(*submission)

    def test_right_ones_are_accused_of_nothing(self):
        self.check_all(some_of(corpus.RIGHT))

    def test_mistakes_are_named(self):
        planted = [entry for entry in corpus.MISTAKES if not (entry[4] or "").startswith("says: ")]
        self.check_all(some_of([entry for entry in corpus.MISTAKES if entry not in planted]))
        planted = some_of(planted)
        named, misnamed = 0, []
        for entry in planted:
            with self.subTest(entry[0]):
                done, results = self.judge(f"{entry[0]}.{entry[1]}", entry[2])
                self.assertEqual(done.returncode, 3, done.stderr)
                for result in results.values():
                    self.assertEqual((result["verdict"], result["complaints"]), (entry[3], []))
                    self.assertIn("#", result["wrong"]["map"])
                found = {result["mistake"]["id"] for result in results.values()}
                named += 1 if found == {entry[4]} != {None} else 0
                misnamed += [entry[0]] if found - {entry[4], None} else []
        print(f"named mistake is the planted one: {named} of {len(planted)} (at least 90 %), the rest not explained; "
              f"explained wrongly: {len(misnamed)} (none)", flush=True)
        self.assertEqual(misnamed, [])
        self.assertGreaterEqual(named, (0.9 if EVERY_CASE else 0.6) * len(planted))

    def test_races_are_seen_whatever_the_environment_says(self):
        for one in ({"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "2", "OMP_THREAD_LIMIT": "1"}):
            done = self.run_program("try", self.written("race.c", corpus.RACES[0][2]), "--no-timing", env=one)
            self.assertEqual(done.returncode, 3)
            self.assert_one_line(done.stderr, "its threads race")
        self.check_all(corpus.RACES)

    def test_all_kinds_of_numbers_and_guards_are_judged(self):
        self.check_all(some_of(corpus.NUMBERS + corpus.GUARDS, 2))
        source = next(entry[2] for entry in corpus.RIGHT if entry[0] == "by_axis")
        done, results = self.judge("quick.c", source, "--flags", "-Ofast -march=native")
        self.assertEqual((done.returncode, results["float32"]["verdict"]), (0, corpus.ROUNDING))

    def test_a_session_that_knows_one_boundary(self):
        """It is judged on that one, which the verdict names."""
        for kind, number, promised in (("NEUMANN", 4, 4), ("DIRICHLET", 2, 2), ("NEUMANN", 2, 4)):
            source = corpus.replaced(corpus.EDGES_C, ("1 << DIFFBENCH_PERIODIC | 1 << DIFFBENCH_DIRICHLET | 1 << DIFFBENCH_NEUMANN",
                                                      str(promised)),
                                     ("== DIFFBENCH_NEUMANN", "== DIFFBENCH_NEUMANN" if number == 4 else "== 9"))
            done, results = self.judge("session.c", source)
            if number == promised:
                self.assertEqual((done.returncode, results["float32"]["verdict"]), (0, corpus.SAME), done.stderr)
                self.assertEqual(results["float32"]["boundaries"], [kind.lower()])
            else:
                self.assert_one_line(done.stderr, "with neumann edges it computes periodic ones")

    def test_what_the_machine_lacks_is_not_decided(self):
        for text, says in (("import no_such_package\n", "No module named 'no_such_package'"),
                           ("def step(u, factor):\n    raise OSError('libNVVM cannot be found')\n", "libNVVM"),
                           ("import time\ndef step(u, factor):\n    time.sleep(60)\n", "1 s (--timeout)")):
            done, results = self.judge("mine.py", text + "\ndef solve(u, steps, factor):\n    return step(u, factor)\n",
                                       timeout="1")
            self.assertEqual((done.returncode, results["float32"]["verdict"]), (1, "not decided"), done.stderr)
            self.assert_one_line(done.stderr, "not decided: ", says)

    def test_python_that_prints_much_and_gives_other_arrays(self):
        source = corpus.replaced(corpus.PYTHON, ("    return u + factor * lap", """\
    assert isinstance(u, np.ndarray) and not u.flags.writeable
    print("x" * 200_000)
    return Own(u + factor * lap)


class Own:
    def __init__(self, cells):
        self.cells = cells

    def __dlpack__(self, **asked):
        return self.cells.__dlpack__()

    def __dlpack_device__(self):
        return self.cells.__dlpack_device__()"""))
        done, results = self.judge("mine.py", source)
        self.assertEqual((done.returncode, results["float32"]["verdict"]), (0, corpus.SAME), done.stderr)

    def test_names_and_flags_with_quotes(self):
        four = corpus.replaced(corpus.STEP_C, ("4 * u", "FOUR * u"))
        for name in ('a"b.c', "a\nb.c", "a 'b.cpp"):
            done, results = self.judge(name, four, "--flags", "'-DFOUR=(float) 4' -O2")
            self.assertEqual((done.returncode, results["float32"]["verdict"]), (0, corpus.SAME), done.stderr)

    def test_no_cheat_passes(self):
        self.check_all(corpus.CHEATS)

    def test_no_cheat_hides_what_the_emulated_device_finds(self):
        for name, source, says in corpus.CUDA_CHEATS:
            with self.subTest(name):
                done, results = self.judge(f"{name}.cu", source, "--schedules", "0")
                self.assertIn(done.returncode, (2, 3), done.stdout)
                self.assert_one_line(done.stderr, f"{name}.cu", says)
                if name in ("called_by_address", "begun_anew_by_a_thread", "overwritten"):
                    kinds = {finding["kind"] for finding in results["float32"]["findings"]}
                    self.assertEqual(kinds, {"race", "misuse"})

    def test_a_shared_library(self):
        self.path("own.c").write_text(corpus.STEP_C)
        subprocess.run(["cc", "-shared", "-fPIC", "-ffp-contract=off", "-o", "own.so", "own.c"],
                       cwd=self.directory, check=True)
        done = self.run_ok("try", "own.so", "--no-timing")
        self.assertIn("the same bits", done.stdout)

    def test_what_is_said_of_a_wrong_one(self):
        _, _, source, _, _ = next(entry for entry in corpus.MISTAKES if entry[0] == "edges_copied")
        self.path("mine.c").write_text(source)
        done = self.run_program("try", "mine.c", "--no-timing")
        self.assertEqual(done.returncode, 3)
        self.assert_one_line(done.stderr, "mine.c: wrong: the edges are copied, not wrapped")
        self.assertIn("7 x 5 cells, 1 step: 20 of 35 cells are wrong, at the edges\n", done.stdout)
        self.assertRegex(done.stdout, r"first at x=0 y=0: expected 0\.\d+, found 0\.\d+\n")
        self.assertIn("    #######\n    #.....#\n", done.stdout)

    def test_the_widest_form_is_taken_and_said(self):
        both = next(entry for entry in corpus.RIGHT if entry[0] == "solve_and_step")[2]
        self.path("both.c").write_text(both)
        done = self.run_ok("try", "both.c", "--no-timing")
        self.assertIn("both.c: C, form solve", done.stdout)
        self.assertIn("the file has the form step, too; --form step takes it", done.stdout)
        self.assertIn("form step", self.run_ok("try", "both.c", "--no-timing", "--form", "step").stdout)

    def test_a_right_one_is_timed_beside_others(self):
        self.path("mine.c").write_text(corpus.SOLVE_C)
        done = self.run_ok("try", "mine.c", "--grid", "64", "--iters", "50", "--budget", "1",
                           "--threads", "1", "--json", "-", env=CALM)
        timing = parse_json(done.stdout)["diffbench"]["try"]["timing"]
        rows = {row["backend"]: row for row in timing["rows"]}
        self.assertEqual(list(rows)[0], "mine.c")
        self.assertLessEqual({"xtensor", "fused", "simd"}, set(rows))
        for row in rows.values():
            self.assertEqual(row["status"], "ok", row["reason"])
            self.assertIs(row["verified"]["bitwise"], True)
            self.assertGreaterEqual(len(row["samples_seconds"]), 1)

    def timed(self, name, source):
        self.path(f"{name}.c").write_text(source)
        done = self.run_program("try", f"{name}.c", "--grid", "64", "--iters", "5", "--budget", "0.3", "--threads", "1",
                                "--json", "-", env=CALM)
        return done, parse_json(done.stdout)["diffbench"]["try"]["timing"]["rows"][0]

    def test_no_cheat_passes_where_it_is_timed(self):
        for name, source in corpus.TIMED_CHEATS:
            with self.subTest(name):
                done, row = self.timed(name, source)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertEqual(row["status"], "failed")
                self.assertIn("the result of a timed run is wrong", row["reason"])
                self.assert_one_line(done.stderr, f"{name}.c: ", "the result of a timed run is wrong")
        done, row = self.timed("stopped_clock", corpus.STOPPED_CLOCK)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(row["seconds_per_iteration"], 0.001)

    def test_every_starting_file_that_runs_here_is_right(self):
        for kind, name in (("cpp", "a.cpp"), ("python", "b.py"), ("cuda", "c.cu"), ("cuda-kernel", "d.cu")):
            with self.subTest(kind):
                done = self.run_ok("try", "--new", kind, name)
                self.assertIn(f"diffbench try {name}", done.stdout)
                self.assertIn("the same bits", self.run_ok("try", name, "--no-timing", env=CALM).stdout)
                self.assert_refused(2, "is there already", "try", "--new", kind, name)

    def test_cuda_runs_on_an_emulated_device(self):
        cuda = ROOT / "tests/try/cuda"
        for name in ("naive", "kernel", "session"):
            with self.subTest(name):
                done, results = self.judge("right.cu", (cuda / f"right/{name}.cu").read_text())
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(results["float32"]["verdict"], "the same bits")
                self.assertEqual(results["float32"]["findings"], [])
                self.assertGreater(sum(kernel["launches"] for kernel in results["float32"]["counts"]["kernels"]), 0)
        for name, kind, affects_result in (("no_barrier", "race", True), ("in_place", "race", True),
                                           ("no_guard", "out_of_bounds", True), ("leak", "leak", False),
                                           ("unchecked", "unchecked_error", False)):
            with self.subTest(name):
                source = (cuda / f"wrong/{name}.cu").read_text()
                line = next(n for n, text in enumerate(source.splitlines(), 1) if "// HERE" in text)
                done, results = self.judge("wrong.cu", source)
                found = next(f for f in results["float32"]["findings"] if f["kind"] == kind)
                self.assertIn(f"wrong.cu:{line}", (found["where"], found["other"]))
                self.assertIs(found["affects_result"], affects_result)
                if affects_result:
                    self.assertEqual(done.returncode, 3)
                    self.assertEqual(results["float32"]["verdict"], "wrong")
        # Its own wait fails, too: what the device found says why.
        done, results = self.judge("fails.cu", """\
__global__ void step(const float* u, float* out, int nx, int ny, float factor) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  out[x] = u[nx * ny + x];
}
""")
        self.assertEqual(done.returncode, 3)
        self.assert_one_line(done.stderr, "fails.cu: wrong: out_of_bounds in fails.cu:3")
        self.path("bad.cu").write_text("__global__ void step(const float* u) { int 3x; }\n")
        self.assert_refused(2, ["bad.cu:1"], "try", "bad.cu")
        self.assert_refused(2, ["--flags"], "try", "bad.cu", "--flags", "-O1")
        self.assert_refused(4, ["nocc"], "try", "bad.cu", "--compiler", "nocc")

    def check_cuda(self, name, expected, source):
        done, results = self.judge(f"{name}.cu", source, "--schedules", "2", "--grid", "2048")
        kind, _, detail = expected.partition(":")
        if kind == "says" and not results:
            self.assert_one_line(done.stderr, detail.strip())
            return
        result = results["float64" if "double* u" in source else "float32"]
        findings = {finding["kind"] for finding in result["findings"] if finding["affects_result"]}
        self.assertIs(result["right"], kind in ("right", "copies"), result)
        if kind == "right":
            self.assertEqual((done.returncode, findings), (0, set()))
        elif kind == "kind":
            self.assertIn(f"{detail} in {name}.cu:", result["complaints"][0])
        elif kind == "only":
            self.assertEqual([finding["kind"] for finding in result["findings"]], [detail])
            self.assertNotIn("Volta", result["findings"][0]["message"])
        elif kind == "mistake":
            self.assertEqual((result["complaints"], result["mistake"]["id"]), ([], detail))
        elif kind == "copies":
            self.assertEqual(result["costs"]["copies"], float(detail))
        elif kind == "says":
            self.assertIn(detail.strip(), " ".join(finding["message"] for finding in result["findings"]))

    def test_cuda_at_the_edges_of_what_is_said(self):
        cases = list(cuda_cases.CASES.items())
        for name, (expected, source) in some_of(cases, 9):
            with self.subTest(name):
                self.check_cuda(name, expected, source)

    def test_atomics_on_one_address_are_named(self):
        """Not those in shared memory, of which each block has its own."""
        for name, named in (("max", True), ("shared", False)):
            done, results = self.judge(f"{name}.cu", cuda_cases.CASES[name][1], "--schedules", "1")
            self.assertTrue(results["float64"]["right"], done.stderr)
            notes = parse_json(done.stdout)["diffbench"]["notes"]
            self.assertIs(any(note.startswith("atomics: ") for note in notes), named, notes)

    def test_cuda_that_depends_on_the_order_of_blocks(self):
        """Without a race: the numbers are taken by an atomic operation."""
        done, results = self.judge("order.cu", """\
__device__ unsigned int tickets;
__global__ void step(const float* u, float* out, int nx, int ny, float factor) {
  __shared__ unsigned int ticket;
  if (threadIdx.x == 0 && threadIdx.y == 0) ticket = atomicAdd(&tickets, 1u);
  __syncthreads();
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) out[y * nx + x] = u[y * nx + x] + ticket % (gridDim.x * gridDim.y);
}
""")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(results["float32"]["schedules"], 4)
        self.assertEqual(results["float32"]["findings"], [])
        self.assertEqual(results["float32"]["complaints"],
                         ["its result changes with the order of blocks and threads"])

    def test_cuda_that_eats_memory(self):
        """Of address space it has --memory, and 8192 MiB for the device; the device has a part of these already."""
        eats = corpus.replaced(corpus.RACE, ("note();", ""), ("/* last */", "for (int k = 0; k < 9; ++k)"
                               " if (!malloc(1ul << 30)) exit(4);"))
        done, _ = self.judge("eats.cu", eats, "--memory", "64", "--schedules", "0")
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr, "eats.cu: ", "ended with status 4")

    def test_cuda_that_crashes_keeps_its_findings(self):
        done, results = self.judge("crash.cu", """\
void solve(const float* in, float* out, int nx, int ny, int steps, float factor) {
  float* a;
  cudaMalloc(&a, 4 * nx * ny);
  a[0] = 1;
}
""")
        self.assertEqual(done.returncode, 3)
        self.assert_one_line(done.stderr, "crash.cu: wrong: host_touches_device in crash.cu:4")
        self.assertEqual(results["float32"]["findings"][0]["where"], "crash.cu:4")
        done, results = self.judge("assert.cu", """\
#include <cassert>
__global__ void step(const float* u, float* out, int nx, int ny, float factor) {
  assert(threadIdx.x != 2);
}
""")
        found = results["float32"]["findings"][0]
        self.assertEqual((found["kind"], found["where"]), ("kernel_fault", "assert.cu:3"))
        self.assertTrue(found["thread"].startswith("2,"), found)

    def assumed(self, source, card="h200", grid="640"):
        done, _ = self.judge("port.cu", source, "--schedules", "0", "--assume", card, "--grid", grid)
        return parse_json(done.stdout)["diffbench"]["try"]["assumed"]

    def test_what_a_port_would_cost_on_a_card(self):
        """What was counted of a file, priced, is what residency assumes of our own rows of that kind."""
        cuda = ROOT / "tests/try/cuda/right"
        trip = (cuda / "round_trip.cu").read_text()
        pinned = corpus.replaced(trip, ("float* h = (float*)malloc(bytes);", "float* h;\n  cudaMallocHost(&h, bytes);"),
                                 ("free(h);", "cudaFreeHost(h);"))
        residency = self.run_ok("residency", "--assume", "h200", "--grid", "640", "--iters", "1000", "--budget", "0.1",
                                "--json", "-", env=CALM)
        rows = {row["backend"]: row for row in parse_json(residency.stdout)["diffbench"]["residency"]["assumed"]["rows"]}
        for row, source in (("cuda_stream, round trip every 1, pageable", trip),
                            ("cuda_stream, round trip every 1", pinned),
                            ("cuda_stream", (cuda / "naive.cu").read_text())):
            with self.subTest(row):
                ours = self.assumed(source)["seconds_per_step"]
                theirs = rows[f"{row} (assumed h200)"]["seconds_per_step"] if f"{row} (assumed h200)" in rows \
                    else rows[row]["seconds_per_step"]
                for end in ("low", "high"):
                    self.assertLess(abs(ours[end] / theirs[end] - 1), 0.1, (ours, theirs))
        asked = self.assumed(trip)
        self.assertEqual({part["part"]: (part["calls_per_step"], part["bytes_per_step"]) for part in asked["parts"]},
                         {"copies up, pageable": (1, 4 * 640 * 640), "copies down, pageable": (1, 4 * 640 * 640),
                          "launches": (1, 0), "waits": (0, 0)})  # longer than their kernels
        self.assertIn("1000 copies up and down: 9", asked["sentence"])
        self.assertIn("with the field left on the card", asked["sentence"])
        self.assertIn("First: leave the field on the card", asked["sentence"])

    def test_kernels_that_reach_for_the_hosts_memory(self):
        """They are priced at the link's rate, and a note says so; grade_test.py has their mark."""
        source = (ROOT / "tests/try/cuda/right/mapped.cu").read_text()
        done, results = self.judge("port.cu", source, "--schedules", "0", "--assume", "h200", "--grid", "640")
        asked = parse_json(done.stdout)["diffbench"]["try"]["assumed"]
        kernel = next(part for part in asked["parts"] if part["part"] == "kernel step, host's memory")
        self.assertEqual((kernel["calls_per_step"], kernel["bytes_per_step"]), (1, 8 * 640 * 640))
        self.assertGreater(kernel["seconds"]["low"], 1000 * 4 * 640 * 640 / 64e9)  # PCIe 5.0
        self.assertIn("What kernels read and write of the host's memory: 9", asked["sentence"])
        self.assertIn("First: leave the field on the card", asked["sentence"])
        self.assertEqual(results["float32"]["costs"]["mapped"], 6)  # five cells and one of the result
        self.assertIn("note: page-locked memory: kernels read and write 6 times the field in a step",
                      self.run_ok("try", "port.cu", "--schedules", "0").stdout)

    def test_copies_up_and_down_that_differ(self):
        """The result goes down row by row: 640 calls a step."""
        trip = (ROOT / "tests/try/cuda/right/round_trip.cu").read_text()
        down = re.search(r"cudaMemcpy\((\w+), (\w+), bytes, cudaMemcpyDeviceToHost\);", trip)
        rows = corpus.replaced(trip, (down[0], f"for (int y = 0; y < ny; ++y) cudaMemcpy({down[1]} + y * nx, "
                                      f"{down[2]} + y * nx, sizeof(float) * nx, cudaMemcpyDeviceToHost);"))
        self.assertIn("1000 copies up and 640000 down: ", self.assumed(rows)["sentence"])

    def test_what_is_to_be_changed_first(self):
        kernel = (ROOT / "tests/try/cuda/right/kernel.cu").read_text()
        columns = corpus.replaced(kernel, ("int x = blockIdx.x * blockDim.x + threadIdx.x", "int x = blockIdx.x *"
                                           " blockDim.x + threadIdx.y"),
                                  ("int y = blockIdx.y * blockDim.y + threadIdx.y", "int y = blockIdx.y *"
                                   " blockDim.y + threadIdx.x"))
        self.assertIn("First: several steps a launch, or a graph", self.assumed(kernel)["sentence"])
        self.assertIn("let neighbouring threads take neighbouring cells",
                      self.assumed(columns, "t4", "4096")["sentence"])
        self.path("mine.c").write_text(corpus.STEP_C)
        self.assert_refused(2, ["--assume", ".cu"], "try", "mine.c", "--assume", "h200")
        self.assert_refused(2, ["--assume", "h300"], "try", "port.cu", "--assume", "h300")
        self.assert_refused(2, ["--schedules"], "try", "port.cu", "--schedules", "-1")

    def test_exercises_and_their_mended_forms(self):
        """Of each what it says, with the line; those that only cost time are right, and it says what they cost. Of
        mended ones there is nothing to say."""
        listed = self.run_ok("try", "--exercise").stdout
        self.assertEqual(len(re.findall(r"(?m)^ *\d+  \w", listed)), len(EXERCISES))
        mended = ROOT / "tests/try/exercises"
        self.path("class").mkdir()
        seen = set()
        for number, name in enumerate(EXERCISES, 1):
            self.assertIn(f"next: diffbench try class/{name}.cu",
                          self.run_ok("try", "--exercise", str(number), f"class/{name}.cu").stdout)
            text = (mended / f"{name}.cu").read_text().split("\n", 1)[1]
            if text not in seen:  # several are mended by the same text
                seen.add(text)
                self.path(f"class/mended-{name}.cu").write_text(text)
        done = self.run_ok("try", "class", "--no-timing", "--json", "-", "--timeout", "60")
        for result in parse_json(done.stdout)["diffbench"]["grade"]["results"]:
            with self.subTest(result["name"]):
                if result["name"].startswith("mended-"):
                    self.assertIn(result["verdict"], ("the same bits", "no fault found"), result["said"])
                    for note in re.findall("(?m)^note: .*", result["said"]):
                        self.assertRegex(note, "GPU was emulated|not kept from|the form step, too")
                    self.assertNotIn("on an emulated device", result["said"])
                else:
                    words, code = EXERCISES[result["name"].removesuffix(".cu")]
                    for word in words:
                        self.assertIn(word, result["said"])
                    if code:
                        lines = self.path(f"class/{result['name']}").read_text().splitlines()
                        at = [n for n, line in enumerate(lines, 1) if code in line]
                        self.assertTrue(any(re.search(rf"{result['name']}:{n}[ :]", result["said"]) for n in at), result["said"])

    def test_what_is_refused(self):
        for name, text in (("bad.c", "void step(const float* u) {\n  int 3x;\n}\n"),
                           ("none.c", "int main(void) { return 0; }\n"),
                           ("near.c", "void stepp(void) {}\n"),
                           ("type.c", "void step(int nx) {}\n"),
                           ("bad.py", "def step(u, factor:\n"), ("none.py", "x = 1\n"),
                           ("text.so", "no library\n"), ("my.txt", "")):
            self.path(name).write_text(text)
        self.path("latin.py").write_bytes(b"word = '\xe4'\ndef step(u, factor): pass\n")
        for mentions, *arguments in [
                (["bad.c:2", "error"], "bad.c"), (["none.c", "void step(const float*"], "none.c"),
                (["stepp", "void step("], "near.c"), (["type.c", "void step("], "type.c"),
                (["bad.py is no Python", "line 1"], "bad.py"), (["none.py", "def step("], "none.py"),
                (["latin.py is no Python"], "latin.py"), (["text.so"], "text.so"),
                (["my.txt", ".c, .cpp"], "my.txt"), (["there is no file"], "absent.c"),
                (["which file?"],), (["'rust'", "cuda"], "--new", "rust", "a.rs"),
                (["--form", "'loop'"], "bad.c", "--form", "loop"),
                (["--memory"], "bad.c", "--memory", "1"),
                (["--exercise 14", "1 to 13"], "--exercise", "14"),
                (["--exercise my.cu", "1 to 13"], "--exercise", "my.cu"),
                (["a.c", ".cu file"], "--exercise", "1", "a.c"), (["end with .cpp"], "--new", "cpp", "new.c"),
                (["end with .py"], "--new", "numba", "new.cpp"), (["does not end"], "bad.c", "--flags", "'-O2"),
                (["choose one"], "--exercise", "1", "--new", "cpp", "a.cu"), (["--grid"], "bad.c", "--grid", "1")]:
            with self.subTest(arguments):
                self.assert_refused(2, mentions, "try", *arguments)
        self.assert_refused(4, ["nocc"], "try", "bad.c", "--compiler", "nocc")

    def test_a_library_that_is_not_there(self):
        self.path("lost.c").write_text(corpus.replaced(
            corpus.STEP_C, ("void step", "void not_anywhere(void);\nvoid step"),
            ("/* first */", "not_anywhere();")))
        done = self.run_program("try", "lost.c", "--no-timing")
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr, "cannot be loaded", "not_anywhere")

    def test_it_leaves_nothing_behind(self):
        temporary = self.path("tmp")
        temporary.mkdir()
        for name, source in (("a.c", corpus.STEP_C),
                             ("b.c", corpus.replaced(corpus.STEP_C, ("/* first */", "abort();")))):
            self.path(name).write_text(source)
            self.run_program("try", name, "--no-timing", env={"TMPDIR": str(temporary)})
            self.assertEqual(list(temporary.iterdir()), [])

    @unittest.skipUnless(shutil.which("bwrap"), "bwrap is not installed")
    def test_without_bwrap_the_limits_hold_as_well(self):
        """A PATH that has all but bwrap."""
        place = self.path("bin")
        place.mkdir()
        for program in ("cc", "c++", "gcc", "g++", "sh", "python3", "env", "as", "ld"):
            if shutil.which(program):
                (place / program).symlink_to(shutil.which(program))
        same_user = {"user": 65534} if os.geteuid() == 0 else {}  # it is nobody, if we are root
        with subprocess.Popen(["sleep", "600"], cwd="/", **same_user) as victim:
            self.addCleanup(victim.kill)
            for name, status in (("forks", 3), ("deletes", 3), ("network", 3), ("looks_into", 3), ("kills_parent", 3),
                                 ("disturbs_others", 3), ("reads_memory", 3), ("reads_file", 9)):
                with self.subTest(name):
                    source = next(entry for entry in corpus.CHEATS if entry[0] == name)[2]
                    self.path(f"{name}.c").write_text(f"#define VICTIM {victim.pid}\n"
                                                      f'#define SECRET "/etc/passwd"\n{source}')
                    done = self.run_program("try", f"{name}.c", "--no-timing", "--json", "-", env={"PATH": str(place)})
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(f"ended with status {status}", done.stderr)
                    result = parse_json(done.stdout)["diffbench"]["try"]["results"][0]
                    self.assertRegex(result["unprotected"], "it can read what (you|every user) can read, since bwrap is"
                                     " not installed")
            victim.kill()

    def test_a_compiler_that_the_machine_stops(self):
        """That is nothing about the file."""
        self.path("a.c").write_text(corpus.STEP_C)
        compiler = self.path("full-cc")
        for says, code in (("fatal error: error writing to a.s: No space left on device", 4),
                           ("fatal error: Killed signal terminated program cc1", 4),
                           ("cc1: out of memory allocating 65536 bytes", 4),
                           ("collect2: fatal error: ld terminated with signal 25 [File size limit exceeded]", 4),
                           ("cc: internal compiler error: Aborted signal terminated program cc1", 4),
                           ("collect2: error: ld returned 1 exit status", 4),
                           ("", 4),
                           ("a.c:1:2: error: #error No space left on device", 2),
                           ("a.c:1:2: warning: #warning No space left on device\na.c:2:1: error: x", 2),
                           ("a.c: undefined reference to f\ncollect2: error: ld returned 1 exit status", 2),
                           ("cc: error: unrecognized command-line option ‘-O9x’", 2),
                           ("a.c:1:1: error: y\n    1 | \"out of memory\"", 2)):
            with self.subTest(says):
                compiler.write_text(f"#!/bin/sh\ntest \"$1\" = --version || {{ echo '{says}' >&2; exit 1; }}\n")
                compiler.chmod(0o755)
                done = self.run_program("try", "a.c", "--no-timing", "--compiler", str(compiler))
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertRegex(done.stderr, "cannot be compiled here: |nothing can be tried here: " if code == 4
                                 else "a.c does not compile")
                if code == 4:
                    self.assertIn("TMPDIR", done.stderr)

    def test_a_call_that_the_machine_refuses(self):
        """Once, or whenever it comes that often: the file is right, or it is not told."""
        if shutil.which("strace") is None or subprocess.run(["strace", "-o", "/dev/null", "true"],
                                                            capture_output=True).returncode:
            self.skipTest("no strace here")
        self.path("a.c").write_text(corpus.STEP_C)
        self.path("a.py").write_text(corpus.PYTHON)
        subprocess.run(["cc", "-shared", "-fPIC", "-ffp-contract=off", "-o", "a.so", "a.c"], cwd=self.directory, check=True)
        injected = 0  # where a call comes less often on another machine, nothing is
        for name, call, error in (("a.c", "sendto", "ENOMEM:when=6"), ("a.c", "lseek", "EIO:when=4+"),
                                  ("a.so", "write", "EIO:when=2"), ("a.so", "write", "ENOSPC:when=1"),
                                  ("a.py", "execve", "EACCES:when=17")):
            with self.subTest(name, call=call):
                done = subprocess.run(["strace", "-f", "-qq", "-o", "calls.txt", "-e", f"trace={call}", "-e",
                                       f"inject={call}:error={error}", PROGRAM, "try", name, "--no-timing"],
                                      cwd=self.directory, capture_output=True, text=True, timeout=120)
                injected += "(INJECTED)" in self.path("calls.txt").read_text()
                self.assertIn(done.returncode, (0, 1, 4), done.stderr)
                self.assertNotIn("wrong", done.stdout + done.stderr)
        self.assertGreater(injected, 0)

    def test_a_compiler_that_fails_once(self):
        self.path("a.c").write_text(corpus.STEP_C)
        compiler = self.path("moody-cc")
        compiler.write_text("#!/bin/sh\nfor word; do test \"$word\" != -shared || "
                            "{ test -e \"$TMPDIR/once\" || { : > \"$TMPDIR/once\"; exit 1; }; }; done; exec cc \"$@\"\n")
        compiler.chmod(0o755)
        done = self.run_program("try", "a.c", "--no-timing", "--compiler", str(compiler))
        self.assertEqual(done.returncode, 4, done.stderr)  # in each folder once, so also the right file
        self.assertIn("nothing can be tried here", done.stderr)
        self.path("class").mkdir()
        self.path("class/a.c").write_text(corpus.STEP_C)
        done = self.run_program("try", "class", "--no-timing", "--compiler", str(compiler))
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("nothing can be tried here", done.stderr)

    def test_a_folder_from_which_nothing_can_be_loaded(self):
        """Is the machine's fault: no verdict, and no points."""
        self.path("noexec").mkdir()
        self.path("class").mkdir()
        inside = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o noexec tmpfs noexec && exec "$@"', "sh"]
        if subprocess.run([*inside, "true"], cwd=self.directory, capture_output=True).returncode:
            self.skipTest("no mounts without privileges here")
        self.path("class/a.c").write_text(corpus.STEP_C)
        for what in ("class/a.c", "class"):
            done = subprocess.run([*inside, PROGRAM, "try", what], cwd=self.directory, capture_output=True,
                                  text=True, env={**os.environ, "TMPDIR": str(self.path("noexec"))})
            said = " ".join((done.stdout + done.stderr).split())
            self.assertIn("mounted noexec: set TMPDIR", said)
            self.assertNotIn("wrong", said)
            self.assertEqual(done.returncode, 4, said)

    def test_what_the_compiler_reads(self):
        """Nothing but the file's own folder and the system's: its name may be put together by the assembler."""
        self.path("secret.txt").write_text("#define SECRET\n")
        self.path("own").mkdir()
        self.path("own/.hidden").write_text("hidden")
        self.path("own/link.txt").symlink_to("../secret.txt")
        self.path("own/own.h").write_text("static int own_number;\n")
        secret = self.path("secret.txt")
        for text in (f'.incbin \\"{secret}\\"', f'.include \\"{secret}\\"', '.incbin \\"/proc/self/environ\\"',
                     '.incbin \\"/etc/passwd\\"', '.incbin \\"link.txt\\"', f'.incbin \\"{self.path("own")}/.hidden\\"',
                     '.macro m a b\\n.inc\\\\a \\"/etc\\\\b\\"\\n.endm\\nm bin /passwd', '.inc" "bin \\"../secret" ".txt\\"'):
            with self.subTest(text):
                self.path("own/a.c").write_text(f'{corpus.STEP_C}\n__asm__(".section .rodata\\n{text}\\n.text\\n");\n')
                done = self.run_program("try", "own/a.c", "--no-timing")
                if "no Landlock" in done.stdout:
                    self.skipTest("this kernel confines no files")
                self.assertEqual(done.returncode, 2, done.stdout)
        for first, status in (('#include "own.h"', 0), ('#include "../secret.txt"', 2), (f'#define P <{secret}>\n#include P', 2)):
            with self.subTest(first):
                self.path("own/a.c").write_text(f"{first}\n{corpus.STEP_C}")
                self.assertEqual(self.run_program("try", "own/a.c", "--no-timing").returncode, status)


if __name__ == "__main__":
    unittest.main()
