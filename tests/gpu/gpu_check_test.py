# SPDX-License-Identifier: Apache-2.0
"""scripts/gpu-check and scripts/gpu-figures with stand-ins for the kit's programs, the card and NVIDIA's
tools: what goes into a folder and an archive, what is skipped with which reason, what a failure, a limit
or a signal costs. gpu_check_test.py ROOT"""
import ast
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
STAND_IN = pathlib.Path(__file__).with_name("gpu_check_stand_in.py")
KIT = ["diffbench", "diffbench_conformance", "diffbench_conformance_slow", "diffbench_device_session",
       "diffbench_unit_mlp", "bench_suites", "device_copy", "tile_shapes"]


def load(script):
    """A script as a module."""
    loader = importlib.machinery.SourceFileLoader(script.replace("-", "_"), str(ROOT / "scripts" / script))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.path.insert(0, str(ROOT / "scripts"))
    loader.exec_module(module)
    return module


# Of the standard library, what came after Python 3.8: Ubuntu 22.04 has 3.10, a RHEL 8 or 9 less.
NEWER_CALLS = {"removeprefix", "removesuffix", "is_relative_to", "readlink", "with_stem", "pairwise", "cache", "lcm",
               "bit_count", "batched", "walk", "unparse", "randbytes", "nextafter"}
NEWER_ARGUMENTS = {"process_group", "strict", "user", "group", "umask", "pipesize", "newline", "delete_on_close"}


def newer_than_3_8(source):
    """What of a script Python 3.8 does not have: its syntax raises."""
    for node in ast.walk(ast.parse(source, feature_version=(3, 8))):
        if isinstance(node, ast.Attribute) and node.attr in NEWER_CALLS:
            yield f"{node.lineno}: {node.attr}"
        if isinstance(node, ast.Call):
            yield from (f"{node.lineno}: {k.arg}=" for k in node.keywords if k.arg in NEWER_ARGUMENTS)
        if (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
                and node.value.id in ("list", "dict", "tuple", "set", "type")):
            yield f"{node.lineno}: {node.value.id}[...]"


class KitsPython(unittest.TestCase):
    def test_scripts_of_the_kit_keep_to_3_8(self):
        for script in [ROOT / "scripts" / name for name in ("gpu-check", "gpu_steps.py", "gpu-figures")] + sorted(
                (ROOT / "bench/peers").glob("*.py")):
            with self.subTest(script.name):
                self.assertEqual(list(newer_than_3_8(script.read_text())), [])

    def test_what_came_later_is_seen(self):
        for source in ("f(process_group=0)", "text.removeprefix('a')", "def f(a: list[int]): pass"):
            self.assertTrue(list(newer_than_3_8(source)), source)
        for source in ("match a:\n    case 1: pass", "with (open(a) as b, open(c) as d): pass"):
            with self.assertRaises(SyntaxError):
                list(newer_than_3_8(source))


class GpuCheck(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="diffbench-gpu-check-")
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.kit = self.place / "kit"
        (self.kit / "bin").mkdir(parents=True)
        for script in ("gpu-check", "gpu_steps.py", "gpu-figures"):
            shutil.copy(ROOT / "scripts" / script, self.kit)
        shutil.copy(ROOT / "bench/results/public/predictions.json", self.kit)
        for program in KIT:
            self.stand_in(self.kit / "bin" / program)
        self.tools = self.place / "tools"
        self.tools.mkdir()
        for tool in ("nvidia-smi", "ncu", "compute-sanitizer"):
            self.stand_in(self.tools / tool)
        (self.tools / "python3").symlink_to(sys.executable)
        self.out = self.place / "out"

    def stand_in(self, path):
        shutil.copy(STAND_IN, path)
        path.chmod(0o755)

    def environment(self, *fake, **more):
        return {"PATH": f"{self.tools}:/usr/bin:/bin", "FAKE": " ".join(fake),
                "CUDA_PATH": str(self.place / "no-toolkit"), **more}

    def check(self, part, *fake, exit_code=0, **environment):
        """What a part says; its files are unpacked in self.files."""
        done = subprocess.run([self.kit / "gpu-check", part, self.out], cwd=self.place, timeout=100,
                              env=self.environment(*fake, **environment), capture_output=True, text=True)
        self.assertEqual(done.returncode, exit_code, done.stdout + done.stderr)
        self.unpack(part)
        return done.stdout

    def unpack(self, part):
        (archive,) = self.out.glob(f"*-{part}.tar.gz")
        self.assertRegex(archive.name, rf"^(h200|unknown-gpu)-\d\d\d\d-\d\d-\d\d-{part}\.tar\.gz$")
        with tarfile.open(archive) as tar:
            tar.extractall(self.place / "unpacked")
        (self.files,) = (self.place / "unpacked").iterdir()
        self.assertEqual(f"{self.files.name}-{part}.tar.gz", archive.name)
        steps = json.loads((self.files / f"steps-{part}.json").read_text())["steps"]
        self.results = {step["name"]: step["result"] for step in steps}

    def failed(self):
        return [name for name, result in self.results.items() if result.startswith("FAILED")]

    def backends_of(self, file):
        rows = json.loads((self.files / file).read_text())["diffbench"]["results"]
        return [row["backend"] for row in rows]


class MeasuringPart(GpuCheck):
    def test_measures_first_and_keeps_everything(self):
        said = self.check("a")
        self.assertEqual(next(iter(self.results)), "640-float32")
        self.assertEqual(set(self.results.values()), {"passed"})
        self.assertRegex(said, r"first result after \d")
        self.assertIn("diffbench 0.1.0 (0123456789abcdef), NVIDIA H200", said)
        for file in self.files.glob("*.json"):
            self.assertNotIn("secret", file.read_text())
        machine = (self.files / "machine.txt").read_text()
        self.assertIn("Driver Version", machine)
        self.assertNotIn("Serial", machine)

        # What comes back is few files.
        files = sorted(file.name for file in self.out.iterdir())
        self.assertLessEqual(len(files), 8, files)
        self.assertTrue({"summary-a.txt", "640-float32-pinned.json", "16384-float32.json"} <= set(files))

        # Far grids are for the kernels made for them.
        self.assertEqual(self.backends_of("16384-float32.json"), ["cuda_stream", "cuda_blocked", "cuda_streamed"])

    def test_a_small_card_has_two_sessions_of_16384_at_once(self):
        self.check("a", "small")
        self.assertEqual(self.backends_of("16384-float32.json"), ["cuda_stream", "cuda_streamed"])

    def test_figures_have_their_bars_and_predictions(self):
        said = self.check("a", "wrong:cuda_graph")
        for figure in (r"640x640x1000 float32, kernels: best +<= 0.35 ms +0.3 ms +ok",
                       r"16384x16384 float32: best +>= 2500 GCell/s +3000 GCell/s +ok",
                       r"64 MB pinned to the device / best copy +>= 95 % +98.2 % +ok",
                       r"64 MB pinned to the host / best copy +>= 95 % +90.9 % +BELOW",
                       r"640, persistent, depth 8 +0.36 us",
                       r"640, persistent, depth 12 +too many blocks",
                       r"disc net of 256, persistent +<= 20 us +15 us +ok",
                       r"640x640x1000 float32, kernels: cuda_graph +<= 2 ms +not measured .*not verified",
                       r"rows that are not bit-identical +<= 0 +\d+ +BELOW +.*cuda_graph",
                       r"sanitizer runs with findings +<= 0 +not measured +- +no steps-c.json",
                       r"640-float32, cuda +\S+ to \S+ +us a step +0.3 +in",
                       r"640-float32, cuda_stream +\S+ to \S+ +us a step +0.3 +OUT",
                       r"640-float32, cuda_graph +.* us a step +- +cuda_graph: not verified",
                       r"16384-float32, cuda_streamed +\S+ to \S+ +GCell/s +3000 +in",
                       r"transfer, pinned h2d 67108864 +\S+ to \S+ +GB/s +- +transfer: no pinned h2d",
                       r"mlp-256, cuda_persistent +19 to 23 +us a step +15 +OUT"):
            self.assertRegex(said, figure)
        self.assertEqual(said.count("640-float32, cuda_stream "), 1)  # predictions of this card alone

    def test_what_fails_fails_alone(self):
        self.check("a", "skips:diffbench_unit_mlp", "fails:diffbench_conformance", "fails:device_copy",
                   exit_code=1)
        self.assertEqual({name: self.results[name] for name in self.failed()}, {
            "conformance": "FAILED: 3 tests failed",
            "conformance, networks": "FAILED: 2 tests were skipped: no such thing here",
            "device_copy": "FAILED: status 1: cudaMalloc: out of memory"})

    def test_an_engine_that_is_not_there_costs_only_itself(self):
        self.check("a", "no-cublaslt")
        self.assertRegex(self.results["cuda"], "^skipped: libcublasLt")
        training = json.loads((self.files / "mlp-256.json").read_text())["diffbench"]["mlp_train"]
        self.assertEqual([r["engine"] for r in training["results"]], ["cpu", "cuda_persistent"])

    def test_without_a_gpu_the_reason_is_said_once(self):
        (self.tools / "nvidia-smi").unlink()
        self.check("a", "no-gpu", exit_code=1)
        self.assertEqual(self.results, {"640-float32": "passed",
                                        "what needs a GPU": "skipped: no driver was found"})
        self.assertTrue(self.files.name.startswith("unknown-gpu-"))

    def test_without_an_archive_the_folder_is_here(self):
        subprocess.run([self.kit / "gpu-check", "a"], cwd=self.place, env=self.environment(), check=True,
                       capture_output=True, timeout=100)
        (folder,) = self.place.glob("h200-*")
        self.assertTrue((folder / "16384-float32.json").exists())
        self.assertFalse(self.out.exists())


class LimitsAndSignals(GpuCheck):
    def test_at_the_limit_a_run_keeps_what_it_has_and_the_rest_is_left_out(self):
        self.check("a", "hangs:640-float64.json", exit_code=1, GPU_CHECK_SECONDS="25")
        self.assertRegex(self.results["640-float64"], "not done in [0-9]+ s")
        self.assertTrue((self.files / "640-float64.json").exists())
        self.assertEqual(self.results["advise"], "FAILED: no time was left")
        self.assertEqual(self.results["conformance"], "passed")

    def test_a_signal_packs_what_there_is(self):
        child = subprocess.Popen([self.kit / "gpu-check", "a", self.out], cwd=self.place, text=True,
                                 env=self.environment("hangs:640-float64.json"), stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
        self.addCleanup(child.kill)
        while child.stdout.readline().split(maxsplit=1)[0] != "640-float32-pinned":
            self.assertIsNone(child.poll())
        time.sleep(0.5)
        child.send_signal(signal.SIGTERM)
        said, _ = child.communicate(timeout=30)
        self.assertEqual(child.returncode, 1, said)
        self.unpack("a")
        self.assertEqual(self.failed(), ["640-float64", "stopped by SIGTERM"])
        self.assertTrue((self.files / "640-float32-pinned.json").exists())
        self.assertIn("640x640x1000 float32, kernels: best", (self.out / "summary-a.txt").read_text())
        self.assertEqual(list(self.out.glob("*.part")), [])


class CountingPart(GpuCheck):
    def test_counts_are_a_table(self):
        said = self.check("b")
        self.assertEqual(len(list(self.files.glob("ncu-*.csv"))), 5)
        self.assertRegex(said, r"blocked +12500 +1900000000 +2000000 +88 +61 +4 +16 +9000 +32000 +1000000 +77.5 +33 +wait 2, barrier 1.5, long_scoreboard 0.5")

    def test_without_ncu_the_reason_is_said(self):
        (self.tools / "ncu").unlink()
        if shutil.which("ncu", path="/usr/bin:/bin"):
            self.skipTest("there is an ncu in /usr/bin")
        self.check("b")
        self.assertEqual(self.results, {"what needs ncu": "skipped: it is not here"})

    def test_counters_may_be_forbidden(self):
        for fake, word in (("no-permission", "ERR_NVGPUCTRPERM"), ("no-library", "LibraryNotLoaded")):
            self.check("b", fake)
            self.assertEqual(list(self.results), ["ncu"])
            self.assertRegex(self.results["ncu"], f"^skipped: .*{word}")

    def test_a_kernel_that_ncu_does_not_see_is_a_failure(self):
        self.check("b", "no-kernel", exit_code=1)
        self.assertIn("blocked, counted", self.failed())


class SanitizingPart(GpuCheck):
    def test_clean(self):
        said = self.check("c")
        self.assertEqual(len(self.results), 12)
        self.assertEqual(set(self.results.values()), {"passed"})
        self.assertRegex(said, r"sanitizer runs with findings +<= 0 +0 +ok")
        calls = (self.files / "sanitized.txt").read_text().splitlines()
        for call in calls:
            filtered = "--kernel-name-exclude regex=cublas" in call
            self.assertEqual(filtered, "diffbench_unit_mlp" in call, call)

    def test_findings_fail_their_steps(self):
        said = self.check("c", "finds:racecheck", exit_code=1)
        self.assertEqual(self.failed(), ["racecheck, sessions", "racecheck, program", "racecheck, engines"])
        self.assertRegex(said, r"sanitizer runs with findings +<= 0 +3 +BELOW")

    def test_warnings_are_findings(self):
        self.check("c", "warns", exit_code=1)
        self.assertEqual(set(self.results.values()),
                         {"FAILED: RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)"})

    def test_one_that_checks_nothing_is_not_clean(self):
        self.check("c", "checks-nothing", exit_code=1)
        self.assertEqual(set(self.results.values()), {"FAILED: it checked nothing"})

    def test_tests_that_did_not_run_are_not_clean(self):
        self.check("c", "tests-nothing", exit_code=1)
        self.assertEqual(len(self.failed()), 12)

    def test_a_device_that_it_does_not_support_is_skipped(self):
        said = self.check("c", "device-not-supported")
        self.assertEqual(self.failed(), [])
        self.assertRegex(said, r"sanitizer runs with findings +<= 0 +not measured")


class PeersPart(GpuCheck):
    def test_all_are_in_one_run(self):
        said = self.check("d")
        self.assertEqual(self.backends_of("peers-640-float32.json")[0], "cuda")
        self.assertEqual(len(self.backends_of("peers-640-float32.json")), 7)
        self.assertRegex(said, r"peer:jax +0.3 us +1x")
        self.assertTrue(all(f"bench_{s}" in self.results for s in ("sync", "transfer", "stencil", "mlp")))

    def test_one_that_fails_costs_only_itself(self):
        self.check("d", "broken:cupy", "broken:jax", exit_code=1)
        self.assertEqual(self.failed(), ["cupy", "jax"])
        self.assertIn("out of memory", self.results["cupy"])
        self.assertEqual(self.backends_of("peers-640-float32.json"), [
            "cuda", "peer:torch_cuda", "peer:torch_cuda_compile", "peer:torch_cuda_graph", "peer:cupy_kernel"])


class StencilsPart(GpuCheck):
    def setUp(self):
        super().setUp()
        (self.kit / "stencils").mkdir()
        for program in ("ebisu", "perks", "an5d"):
            self.stand_in(self.kit / "stencils" / program)

    def test_each_is_checked_timed_and_compared(self):
        said = self.check("d")
        self.assertEqual(set(self.results.values()), {"passed"})
        for line in (r"ebisu +10472x10472 +15\d\d +3000 +2x", r"perks +768x640 +600 +\d+ +\d", r"an5d +16384x16384 +800 +3000 +3.75x"):
            self.assertRegex(said, line)

    def test_one_that_is_wrong_or_checks_nothing_is_not_timed(self):
        said = self.check("d", "wrong:an5d", "fails:perks", exit_code=1)
        self.assertEqual({name: self.results[name] for name in self.failed()}, {
            "an5d, checked": "FAILED: wrong by nan", "perks, checked": "FAILED: status 1: unsupport setting"})
        self.assertNotIn("stencil-an5d.json", {file.name for file in self.files.iterdir()})
        self.assertNotRegex(said, "an5d +16384")

    def test_without_them_it_says_how_to_get_them(self):
        shutil.rmtree(self.kit / "stencils")
        self.check("d")
        self.assertRegex(self.results["what needs stencil programs of others"], "^skipped: .*scripts/gpu-peers")


class GpuPeers(unittest.TestCase):
    def test_what_it_lacks_is_said(self):
        with tempfile.TemporaryDirectory(prefix="diffbench-gpu-peers-") as place:
            for arguments, complaint in (([], "give the folder of a kit"), ([place], "is not a kit"),
                                         ([place, "--arch", "x"], "--arch needs a number")):
                done = subprocess.run([ROOT / "scripts/gpu-peers", *arguments], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, f"^gpu-peers: .*{complaint}.*\n$")


class Limits(unittest.TestCase):
    """What the last steps of a part measure is lost when the limits of those before add up to more than its time."""
    def test_all_steps_of_a_part_have_their_time(self):
        check = load("gpu-check")
        steps = load("gpu_steps.py")
        limits = []

        class Sum:
            gpu, no_gpu, folder = ["cuda"], None, pathlib.Path(os.devnull)

            def lacks(self, _what, _reason):
                return False  # nothing: all steps

            def step(self, _name, limit, *_arguments, **_options):
                limits.append(limit)
                return True
            diffbench = race = step
        check.describe_machine = lambda part: None
        for letter, run in check.PARTS.items():
            limits.clear()
            run(Sum())
            self.assertGreater(len(limits), 4)
            self.assertLessEqual(sum(limits), steps.PART_SECONDS - steps.GRACE - steps.PACKING, letter)


class Usage(GpuCheck):
    def test_unknown_parts_are_refused(self):
        done = subprocess.run([self.kit / "gpu-check", "e"], env=self.environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("gpu-check [a|b|c|d [OUT]]", done.stderr)

    def test_all_parts_meet_in_one_folder(self):
        done = subprocess.run([self.kit / "gpu-check"], cwd=self.place, env=self.environment(),
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (folder,) = self.place.glob("h200-*")
        table = subprocess.run([self.kit / "gpu-figures", folder], env=self.environment(),
                               capture_output=True, text=True).stdout
        self.assertNotIn("not measured", table)
        self.assertRegex(table, r"rows that are not bit-identical +<= 0 +0 +ok")
        self.assertFalse(re.search("Traceback", table))


if __name__ == "__main__":
    unittest.main()
