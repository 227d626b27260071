# SPDX-License-Identifier: Apache-2.0
"""A kit, made as a user makes it, runs where there is nothing but the C library, GCC's own, Python 3, a shell and the base tools:
no package manager, no compiler, none of the libraries that the programs are linked with. In an empty root, as an
unprivileged user may have one in a namespace of his own; where that is not allowed the test is skipped.
bare_machine_test.py ROOT"""
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import unittest
import zlib

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
TOOLS = ["sh", "env", "uname", "cat", "ls"]

# The arguments are the new root, what to show in it (with the kernel's own folders), and the command.
ENTER = """
root=$1; shift
mount -t tmpfs none "$root"
mkdir "$root/tmp"
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir -p "$root$1"; else mkdir -p "$root${1%/*}"; touch "$root$1"; fi
  mount --rbind "$1" "$root$1"
  shift
done
shift
exec chroot "$root" "$@"
"""


def needed_by(*programs):
    """Of the C library alone, and what Python itself is linked with."""
    listed = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"(/\S+) \(0x", listed)))


class BareMachine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory(prefix="diffbench-bare-")
        cls.addClassCleanup(place.cleanup)
        cls.place = pathlib.Path(place.name)
        cls.root, cls.kit = cls.place / "root", cls.place / "kit"
        cls.root.mkdir()
        cls.made = subprocess.run([ROOT / "scripts/gpu-kit", cls.kit], capture_output=True, text=True)
        if cls.made.returncode != 0:
            raise AssertionError(cls.made.stdout + cls.made.stderr)
        cls.python = os.path.realpath(sys.executable)
        tools = [f"/bin/{tool}" for tool in TOOLS]
        # Python needs zlib to pack, as a module or in itself.
        libraries = needed_by(cls.python, *tools, *filter(None, [getattr(zlib, "__file__", None)]))
        of_gcc = re.compile(r"(/\S+/(?:libstdc\+\+|libgcc_s)\.so\S*) \(0x")
        libraries += of_gcc.findall(subprocess.run(["ldd", cls.kit / "bin/bench_suites"], capture_output=True, text=True).stdout)
        cls.shown = [cls.python, sysconfig.get_path("stdlib"), *tools, *libraries, "/proc", "/sys", "/dev"]
        tried = cls.enter("sh", "-c", "exit 7")
        if tried.returncode != 7:
            raise unittest.SkipTest(f"no namespace of its own here: {tried.stderr.strip()}")

    @classmethod
    def enter(cls, *command, **options):
        shown = [*cls.shown, *([str(cls.kit)] if cls.kit.exists() else [])]
        (cls.place / "out").mkdir(exist_ok=True)
        shown.append(str(cls.place / "out"))
        inside = ["env", "-i", "PATH=/bin:/usr/bin", "HOME=/tmp", "OMP_WAIT_POLICY=passive", *command]
        return subprocess.run(["unshare", "-rm", "sh", "-ec", ENTER, "enter", cls.root, *shown, "--", *inside],
                              capture_output=True, text=True, timeout=200, **options)

    def test_the_kit_is_made(self):
        self.assertRegex(self.made.stdout, r"^diffbench \S+ \(\S+\): \S+, \d+ MB, for glibc 2\.\d+ and later, "
                         r"drivers from \d+ on, compute capability \d+ and later\n$")

    def test_nothing_needs_a_newer_c_library_than_ubuntu_2204_and_a_rhel_9_have(self):
        for file in [*(self.kit / "bin").iterdir(), *(self.kit / "lib").iterdir()]:
            with self.subTest(file=file.name):
                said = subprocess.run(["objdump", "-T", file], capture_output=True, text=True, check=True).stdout
                newest = max((int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", said)), default=0)
                self.assertLessEqual(newest, 34)
                if file.name != "bench_suites" and "benchmark" not in file.name:
                    self.assertNotIn("GLIBCXX", said)

    def test_the_root_has_none_of_the_kits_libraries_but_what_python_needs(self):
        there = self.enter("ls", *{str(pathlib.Path(f).parent) for f in self.shown if ".so" in f}).stdout
        for library in ("libfmt", "libgomp", "libcrypto", "libbenchmark"):
            self.assertNotIn(library, there)

    def test_every_program_starts(self):
        for program in sorted((self.kit / "bin").iterdir()):
            option = {"diffbench": "--version"}.get(program.name, "--help")
            done = self.enter(program, option, cwd=self.place)
            self.assertNotIn("error while loading", done.stderr)
            # These have no help: two would begin, and without a driver say so; one is started by diffbench alone.
            without_help = {"device_copy": 1, "tile_shapes": 1, "diffbench_try_child": 2}
            self.assertEqual(done.returncode, without_help.get(program.name, 0), f"{program.name}: {done.stderr}")

    def test_a_part_runs_without_a_card(self):
        out = self.place / "out"
        done = self.enter(self.python, self.kit / "gpu-check", "a", out)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("no GPU", done.stdout, done.stderr)
        (archive,) = out.glob("unknown-gpu-*-a.tar.gz")
        with tarfile.open(archive) as tar:
            tar.extractall(self.place / "unpacked")
        (folder,) = (self.place / "unpacked").iterdir()
        steps = json.loads((folder / "steps-a.json").read_text())
        self.assertEqual(steps["steps"][0]["result"], "passed", steps)
        self.assertLess(steps["seconds_to_first_result"], 60)
        rows = json.loads((folder / "640-float32.json").read_text())["diffbench"]["results"]
        simd = next(row for row in rows if row["backend"] == "simd")
        self.assertTrue(simd["verified"]["bitwise"])


if __name__ == "__main__":
    unittest.main()
