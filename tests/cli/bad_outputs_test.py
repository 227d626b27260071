# SPDX-License-Identifier: Apache-2.0
"""Outputs that cannot be written: exit code 1, one line with the path and the reason; as early as it
can be known, and never with a part of a file left behind."""
import os
import resource
import subprocess
import unittest

from program import PROGRAM, QUICK, CommandLineTest, parse_json

ENDLESS = "--grid 2048 --iters 1000000000 --budget 600 --backend scalar --baseline scalar".split()
FILE_OPTIONS = ["--json", "--csv", "--trace", "--save", "--png"]


def limit_file_size():
    """In the child: a file ends at 100 bytes, as on a disk that fills up while it is written."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


class RefusedBeforeAnyWork(CommandLineTest):
    """Or the run would still be busy when the test gives up."""

    def refuse(self, path, *words):
        for option in FILE_OPTIONS:
            with self.subTest(option):
                self.assert_refused(1, [option, path, *words], *ENDLESS, option, path)

    def test_no_such_directory(self):
        self.refuse("nowhere/out", "does not exist")

    def test_a_directory(self):
        self.path("here").mkdir()
        self.refuse("here", "directory")

    def test_a_file_of_somebody_else(self):
        self.path("out").write_text("int main(void) { return 0; }\n")
        self.path("protected").write_text("")
        self.path("protected").chmod(0o444)
        self.path("link").symlink_to("out")
        for option in FILE_OPTIONS:
            for name in ("out", "link", "protected"):
                with self.subTest(option, name=name):
                    self.assert_refused(2, [option, name], *ENDLESS, option, name)
        self.assertEqual(self.path("out").read_text(), "int main(void) { return 0; }\n")

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
            self.assert_refused(1, ["--snapshot-dir", directory], *ENDLESS, "--snapshot-every", "10",
                                "--snapshot-dir", directory)


class FullDisk(CommandLineTest):
    def setUp(self):
        super().setUp()
        # Through a link, so that a program that replaces its target does not replace the device.
        self.path("full").symlink_to("/dev/full")

    def test_a_full_device(self):
        for option in FILE_OPTIONS:
            with self.subTest(option):
                done = self.run_program(*QUICK, option, "full")
                self.assertEqual(done.returncode, 1)
                self.assert_one_line(done.stderr, "full", "No space left")
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
        for option in FILE_OPTIONS:
            for before in (None, b""):
                with self.subTest(option, before=before):
                    if before is not None:
                        self.path("out").write_bytes(before)
                    done = self.run_program(*QUICK, option, "out", preexec_fn=limit_file_size)
                    self.assertEqual(done.returncode, 1)
                    self.assert_one_line(done.stderr, "out", "File too large")
                    left = {path.name: content for path, content in self.contents().items()}
                    self.assertEqual(left, {} if before is None else {"out": before})
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
