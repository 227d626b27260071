# SPDX-License-Identifier: Apache-2.0
"""Outputs that cannot be written: exit code 1, one line with the path and the reason; as early as it
can be known, and never with a part of a file left behind."""
import os
import resource
import subprocess
import unittest

from program import PROGRAM, QUICK, CommandLineTest, parse_json

ENDLESS = "--grid 2048 --iters 1000000000 --budget 600 --backend scalar --baseline scalar".split()
LONG = "run --grid 2048 --iters 1000000000 --backend scalar".split()
SHORT = "run --grid 24x16 --iters 20".split()
FILE_OPTIONS = [(ENDLESS, QUICK, "--json"), (ENDLESS, QUICK, "--csv"), (ENDLESS, QUICK, "--trace"), (LONG, SHORT, "--save")]


def limit_file_size():
    """In the child: a file ends at 100 bytes, as on a disk that fills up while it is written."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


class RefusedBeforeAnyWork(CommandLineTest):
    """Or the run would still be busy when the test gives up."""

    def refuse(self, path, *words):
        for run, _, option in FILE_OPTIONS:
            with self.subTest(option):
                self.assert_refused(1, [option, path, *words], *run, option, path)

    def test_no_such_directory(self):
        self.refuse("nowhere/out", "does not exist")

    def test_a_directory(self):
        self.path("here").mkdir()
        self.refuse("here", "directory")

    def test_below_a_file(self):
        self.path("file").write_text("kept")
        self.refuse("file/out", "file")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_directory_without_permission(self):
        self.path("locked").mkdir(mode=0o555)
        self.refuse("locked/out", "Permission denied")

    def test_verbs_that_measure_nothing(self):
        for verb in ("list", "doctor"):
            for option in ("--json", "--csv"):
                self.assert_refused(1, f"{option} nowhere/out: the directory", verb, option,
                                    "nowhere/out")
            self.assert_refused(2, "./out: two outputs", verb, "--json", "out", "--csv", "./out")
            self.assert_refused(2, "-: two outputs", verb, "--json", "-", "--csv", "-")

    def test_snapshots(self):
        self.path("file").write_text("kept")
        for directory in ("nowhere/snapshots", "file"):
            self.assert_refused(1, ["--snapshot-dir", directory], *LONG, "--snapshot-every", "10",
                                "--snapshot-dir", directory)


class ReplacesOnlyWhatIsItsOwn(CommandLineTest):
    """Exit code 2 before any work, and what is there stays."""

    def refuse(self, kept, *arguments):
        before = self.path(kept).read_bytes()
        with self.subTest(arguments):
            done = self.run_program(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assert_one_line(done.stderr)
            self.assertEqual(self.path(kept).read_bytes(), before)
            return done.stderr

    def write(self, **texts):
        for name, text in texts.items():
            self.path(name).write_bytes(text if isinstance(text, bytes) else text.encode())

    def test_an_input(self):
        self.write(mine="int step;", other="int step;", texts="")
        os.link(self.path("mine"), self.path("hard"))
        self.path("soft").symlink_to("mine")
        for output in ("mine", "./mine", "hard", "soft"):
            for option in ("--json", "--csv", "--report"):
                self.assertIn("input", self.refuse("mine", "try", "mine", option, output))
            for command in ("cat mine", "cat 'mine'"):
                self.refuse("mine", "duel", command, "cat other", "--json", output)
        first = self.run_program("list", "--json", "a.json", "--csv", "a.csv")
        self.assertEqual(first.returncode, 0)
        self.refuse("a.json", "report", "a.json", "-o", "a.html", "--csv", "a.json")
        self.refuse("a.json", "compare", "a.json", "a.json", "--json", "a.json")

    def test_a_file_of_somebody_else(self):
        self.write(notes="notes", table="x,y,label\n1,2,0\n", package='{"name": "diffbench"}', empty="",
                   page="<!doctype html><title>mine</title>", photo=b"\x89PNG\r\n\x1a\nPLTE")
        for kept in ("notes", "table", "package", "page", "photo"):
            for run, _, option in (*FILE_OPTIONS, (ENDLESS, QUICK, "--report"), (ENDLESS, QUICK, "--export-markdown")):
                self.assertIn("remove it", self.refuse(kept, *run, option, kept))
        for verb in ("list", "doctor"):
            self.refuse("table", verb, "--csv", "table")
        self.refuse("page", "live", "-o", "page")
        self.refuse("notes", "sweep", "--grid", "16,32", "--json", "notes")
        for name in ("notes", "new"):
            self.write(**{"new.previous": "notes"})
            self.refuse("new.previous" if name == "new" else name, *LONG, "--checkpoint",
                        name, "--checkpoint-every", "1")
        self.path("class").mkdir()
        self.path("class/ann.c").write_text("void step(void);")
        self.refuse("class/ann.c", "try", "class", "--csv", "class/ann.c")
        for name in ("page.html", "guesses.txt"):
            folder = self.path(name + "-folder")
            folder.mkdir()
            (folder / name).write_text("my notes")
            self.refuse(f"{name}-folder/{name}", "lesson", "1", "--out", folder.name)

    def test_a_write_protected_one(self):
        self.assertEqual(self.run_program("list", "--json", "a", "--csv", "b").returncode, 0)
        for option, name in (("--json", "a"), ("--csv", "b")):
            self.path(name).chmod(0o444)
            self.assertIn("write-protected", self.refuse(name, "list", option, name))

    def test_its_own_and_empty_ones(self):
        outputs = [word for option in (*(each[2] for each in FILE_OPTIONS[:3]), "--export-markdown") for word in (option, "out" + option)]
        self.write(**{name: "" for name in outputs[1::2]})
        for _ in range(3):
            done = self.run_program(*QUICK, *outputs)
            self.assertEqual(done.returncode, 0, done.stderr)
        for device in ("/dev/null", "/dev/stdout"):
            self.assertEqual(self.run_program("list", "--csv", device).returncode, 0)
            page = self.run_program("live", "-o", device)
            self.assertEqual(page.returncode, 0, page.stderr)
            self.assertEqual(page.stdout.startswith("<!doctype html>"), device == "/dev/stdout")


class FullDisk(CommandLineTest):
    def setUp(self):
        super().setUp()
        # Through a link, so that a program that replaces its target does not replace the device.
        self.path("full").symlink_to("/dev/full")

    def test_a_full_device(self):
        for _, quick, option in FILE_OPTIONS:
            with self.subTest(option):
                done = self.run_program(*quick, option, "full")
                self.assertEqual(done.returncode, 1)
                self.assert_one_line(done.stderr, "full", "no space" if option == "--save" else "No space left")
                self.assertIn("time/iter", done.stdout)  # what was measured is not lost
                self.assertTrue(self.path("full").is_symlink())
                self.assertEqual(len(self.contents()), 1)

    def test_one_full_file_does_not_keep_the_others_from_being_written(self):
        done = self.run_program(*QUICK, "--json", "full", "--csv", "out.csv")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.path("out.csv").read_text().count("\n"), 3)

    def test_stdout(self):
        for arguments in (QUICK, [*QUICK, "--json", "-"], ["list"], ["doctor", "--csv", "-"],
                          ["--help"]):
            with self.subTest(arguments), open("/dev/full", "w") as full:
                done = self.run_program(*arguments, stdout=full)
                self.assertEqual(done.returncode, 1)
                self.assert_one_line(done.stderr, "stdout", "No space left")

    def test_a_disk_that_fills_up_while_it_is_written(self):
        self.path("full").unlink()
        for _, quick, option in FILE_OPTIONS:
            for again in (False, True):
                with self.subTest(option, again=again):
                    if again:  # the result of yesterday
                        self.assertEqual(self.run_program(*quick, option, "out").returncode, 0)
                    before = self.path("out").read_bytes() if again else None
                    done = self.run_program(*quick, option, "out", preexec_fn=limit_file_size)
                    self.assertEqual(done.returncode, 1)
                    self.assert_one_line(done.stderr, "out", "no space" if option == "--save" else "File too large")
                    left = {path.name: content for path, content in self.contents().items()}
                    self.assertEqual(left, {"out": before} if before else {})
            self.path("out").unlink()


class StdoutClosedEarly(CommandLineTest):
    """A pipe into head: no message, no signal; what goes into files is written."""

    def test_ends_quietly(self):
        for arguments in (QUICK, [*QUICK, "--json", "-"], ["list"], ["list", "--json", "-"],
                          ["doctor"], ["--help"]):
            with self.subTest(arguments):
                done = self.run_into_closed_pipe(*arguments)
                self.assertEqual((done.returncode, done.stderr), (1, ""))

    def test_files_are_written(self):
        done = self.run_into_closed_pipe(*QUICK, "--json", "out.json")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        parse_json(self.path("out.json").read_text())

    def test_by_head(self):
        done = subprocess.run(f"'{PROGRAM}' --help | head -n 1", shell=True, capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.stdout.count("\n"), 1)
        self.assertEqual(done.stderr, "")

    def run_into_closed_pipe(self, *arguments):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            return self.run_program(*arguments, stdout=writer)
        finally:
            os.close(writer)


if __name__ == "__main__":
    unittest.main()
