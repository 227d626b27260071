# SPDX-License-Identifier: Apache-2.0
"""What a person sees: the tables, the verbs, help, and the progress line, on a terminal and without
one."""
import csv
import fcntl
import io
import os
import pathlib
import re
import signal
import struct
import subprocess
import termios
import time
import unittest

from program import (LONG, PROGRAM, QUICK, WITH_WRONG_BACKEND, CommandLineTest, open_terminal,
                     parse_json)

GOLDEN = pathlib.Path(__file__).parent / "golden"

# What is said first of LONG.
ABOUT_LONG = "diffbench: about 8 s: 1 row, --budget 8"


def masked(table):
    """The report with what differs between runs replaced: T for a time, N for another number, and
    the lines on machine, noise and verdict left out, whose words depend on it, too."""
    lines = [line for line in table.splitlines()
             if not line.startswith(("machine:", "note:"))
             and not re.search(r" fastest verified row| is verified and takes ", line)]
    title, rest = lines[0], "\n".join(lines[1:])
    number = r"\d+(\.\d+)?(e[+-]?\d+)?"
    rest = re.sub(rf"\b{number} (ns|us|ms|s)\b", "T", rest)
    rest = re.sub(rf"\b{number} ([KMG]i)?B\b", "M", rest)
    rest = re.sub(rf"(?<![\w.]){number}(?=x| %|\s\s|$)", "N", rest, flags=re.M)
    rest = re.sub(rf"by up to {number},", "by up to N,", rest)
    # Some sandboxes do not let the peak be measured.
    rest = re.sub(r"(?m)^(\w+ +T +T +[T-] +)-$", r"\1M", rest)
    return re.sub(r"-{5,}", "-----", re.sub(r" {2,}", "  ", "\n".join([title, rest]))) + "\n"


class Report(CommandLineTest):
    maxDiff = None

    def test_of_verified_rows(self):
        table = self.run_ok(*QUICK).stdout
        self.assertRegex(table, r"(?m)^machine: .+, \d+ usable CPUs, \w+, copy [\d.]+ GB/s$")
        self.assertRegex(table.splitlines()[-1],
                         r"^(scalar|fused) on 1 thread is the fastest "
                         r"verified row, .* an iteration, "
                         r".*of the copy bandwidth .*\.$")

    def test_of_a_wrong_row(self):
        table = self.run_program("--grid", "24x16", "--iters", "20", "--budget", "20", "--baseline",
                                 "scalar", program=WITH_WRONG_BACKEND).stdout
        golden = GOLDEN / "wrong_row.txt"
        if os.environ.get("DIFFBENCH_UPDATE_GOLDEN"):  # then look at what git says has changed
            golden.write_text(masked(table))
        self.assertEqual(masked(table), golden.read_text())

    def test_columns_are_aligned(self):
        table = self.run_ok(*QUICK).stdout.split("\n\n")[1].splitlines()
        header, rule, *rows = table[:-2]  # the last lines tell the baseline and what was proved
        self.assertEqual(set(rule), {"-"})
        self.assertEqual({len(header), len(rule), *map(len, rows)}, {len(rule)})

    def test_slow_rows_for_teaching_are_left_out_and_named(self):
        few = "--grid 24x16 --iters 4 --budget 0.02 --threads 1".split()
        row, note = r"(?m)^thrust_host_roll ", "left out, because it is slow and for teaching: thrust_host_roll"
        table = self.run_ok(*few).stdout
        self.assertNotRegex(table, row)
        self.assertIn(note, table)
        for asking in (["--all"], ["--backend", "thrust_host_roll"]):
            table = self.run_ok(*few, *asking).stdout
            self.assertRegex(table, row)
            self.assertNotIn(note, table)

    def test_an_absent_baseline_is_not_replaced(self):
        table = self.run_ok("--grid", "24x16", "--iters", "20", "--budget", "0.02", "--backend",
                            "scalar", "--baseline", "fused").stdout
        self.assertIn("fused is not in this run", table)


class InterruptBeforeAnySample(CommandLineTest):
    def test_is_one_line(self):
        """A table without a time would say nothing."""
        large = "--grid 4096 --iters 1000 --no-progress".split()
        for verb in ([], ["residency"], ["sweep"], ["scaling"], ["cluster", "strong"]):
            with self.subTest(" ".join(verb)):
                child = subprocess.Popen([PROGRAM, *verb, *large], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         cwd=self.directory)
                self.addCleanup(child.kill)
                time.sleep(1)
                child.send_signal(signal.SIGINT)
                out, err = child.communicate(timeout=60)
                self.assertEqual((child.returncode, out, err), (130, b"", b"diffbench: interrupted\n"))


class NarrowTerminal(CommandLineTest):
    def test_errors_are_broken_at_its_width(self):
        """And only there: a file has them in one line."""
        wrong = ["--backend", "scalr"]
        whole = self.run_program(*wrong).stderr
        leader, follower = open_terminal()
        self.addCleanup(os.close, leader)
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
        subprocess.run([PROGRAM, *wrong], stderr=follower, stdout=subprocess.DEVNULL, timeout=60,
                       env={**os.environ, "TERM": "xterm"})
        os.close(follower)
        lines = os.read(leader, 10_000).decode().splitlines()
        self.assertGreater(len(lines), 2)
        self.assertLessEqual(max(map(len, lines)), 40)
        self.assertEqual(" ".join(line.strip() for line in lines), whole.strip())


class Verbs(CommandLineTest):
    def test_list_has_the_backends_and_the_peers(self):
        done = self.run_ok("list")
        for name in ("scalar", "fused"):
            self.assertRegex(done.stdout, rf"(?m)^{name} +cpu +no +yes +\S")
        self.assertRegex(done.stdout, r"(?m)^numpy +yes +--peer numpy$")
        self.assertEqual(done.stderr, "")

    def test_list_says_how_to_get_a_peer(self):
        done = self.run_ok("list", env={"DIFFBENCH_PYTHON": "/bin/false"})
        self.assertRegex(done.stdout, r"(?m)^numpy +no .*apt-get install python3-numpy")

    def test_doctor(self):
        done = self.run_ok("doctor")
        for section in ("Program", "Processor", "Memory", "Backends", "CUDA", "Peers",
                        "What to fix"):
            self.assertRegex(done.stdout, rf"(?m)^{section}$")
        self.assertEqual(done.stderr, "")

    def test_files_of_list_and_doctor_say_what_the_text_says(self):
        """With - they are all there is on stdout."""
        env = {"DIFFBENCH_PYTHON": "/bin/false"}
        for verb in ("list", "doctor"):
            text = self.run_ok(verb, "--json", "rows.json", "--csv", "rows.csv", env=env).stdout
            rows = parse_json(self.path("rows.json").read_text())["diffbench"][verb]
            lines = list(csv.DictReader(io.StringIO(self.path("rows.csv").read_text()),
                                        strict=True))
            plain = {None: "", True: "true", False: "false"}
            versions = {line.pop("diffbench_version") for line in lines}
            self.assertEqual(len(versions), 1)
            self.assertEqual(lines, [{key: plain.get(value, value) for key, value in row.items()}
                                     for row in rows])
            for row in rows:
                facts = [row["name"], row["reason"] or row["description"] or row["how_to_use"]] \
                    if verb == "list" else [row["name"] or "  - ", row["value"]]
                if verb == "list" and re.search(rf"(?m)^{row['name']} .* as above$", text):
                    facts = [facts[1]]  # said of a row above
                if row.get("section") not in ("Memory", "Backends"):  # they change meanwhile
                    self.assertTrue([line for line in text.splitlines()
                                     if all(fact in line for fact in facts)], row)
            self.assertEqual(self.run_ok(verb, "--csv", "-", env=env).stdout.split("\n")[0],
                             ",".join([*rows[0], "diffbench_version"]))
            alone = parse_json(self.run_ok(verb, "--json", "-", env=env).stdout)["diffbench"]
            lasting = [[row for row in each if row.get("section") != "mend"] for each in (alone[verb], rows)]
            self.assertEqual(*map(len, lasting)) # a busy machine gets more advice
        self.assertEqual({row["section"] for row in rows if row["name"] is None}, {"mend"})

    def test_help_of_each_has_an_example(self):
        for verb, example in [([], "diffbench --grid 640 --iters 1000"), (["list"], "diffbench list"),
                              (["doctor"], "diffbench doctor")]:
            for flag in ("--help", "-h"):
                done = self.run_ok(*verb, flag)
                self.assertRegex(done.stdout, rf"(?m)^Example:\n  {example}")
                self.assertEqual(done.stderr, "")

    def test_help_lists_every_exit_code(self):
        text = self.run_ok("--help").stdout.split("Exit codes:")[1]
        self.assertEqual(re.findall(r"(?:^|  )(\d+) \w", text, re.M), ["0", "1", "2", "3", "4", "5", "130"])

    def test_version(self):
        self.assertRegex(self.run_ok("--version").stdout, r"^diffbench \d+\.\d+\.\d+ \(\S+\)\n$")


class Terminal(CommandLineTest):
    def test_stdout_has_no_escapes(self):
        for env in ({"TERM": "xterm"}, {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}):
            with self.subTest(env):
                self.assertNotIn("\x1b", self.on_terminal("stdout", *QUICK, env=env))

    def test_list_fits_the_terminal(self):
        shown = self.on_terminal("stdout", "list", env={"TERM": "xterm"})
        self.assertRegex(shown, r"(?m)^backend +device +threads +available\r$")
        self.assertRegex(shown, r"(?m)^backend +description\r$")

    def test_long_work_shows_progress_where_the_line_can_be_redrawn(self):
        """That it does otherwise is tested with Ctrl-C (exit_codes_test.py), too. All at once, since
        each takes seconds."""
        runs = {"shown": ([], {"TERM": "xterm"}), "dumb": ([], {"TERM": "dumb"}),
                "refused": (["--no-progress"], {"TERM": "xterm"})}
        started = {name: self.start_on_terminal("stderr", *LONG, *arguments, env=env)
                   for name, (arguments, env) in runs.items()}
        seen = {name: self.finish(*run) for name, run in started.items()}
        expected, progress = seen["shown"].split("\r\n", 1)
        self.assertEqual(expected, ABOUT_LONG)
        self.assertRegex(progress, r"\r\x1b\[K\w[\w ]* \[=* *\] +\d+ %")
        self.assertTrue(progress.endswith("\r\x1b[K"), "the line is left behind")
        self.assertNotIn("\n", progress)
        self.assertEqual((seen["dumb"], seen["refused"]), (ABOUT_LONG + "\r\n", ""))

    def test_without_a_terminal_there_is_no_progress(self):
        self.assertEqual(self.run_ok(*LONG, env={"TERM": "xterm"}).stderr, ABOUT_LONG + "\n")

    def on_terminal(self, stream, *arguments, env):
        return self.finish(*self.start_on_terminal(stream, *arguments, env=env))

    def start_on_terminal(self, stream, *arguments, env):
        """Starts the program with one stream on a pseudo-terminal and the other one discarded."""
        ours, theirs = open_terminal()
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs}
        child = subprocess.Popen([PROGRAM, *arguments], cwd=self.directory,
                                 stdin=subprocess.DEVNULL, env={**os.environ, **env}, **streams)
        os.close(theirs)
        return child, ours

    def finish(self, child, terminal):
        """What the terminal showed."""
        shown = b""
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # EIO: the program has ended
                break
            shown += part
        os.close(terminal)
        self.assertEqual(child.wait(timeout=120), 0, shown)
        return shown.decode()


if __name__ == "__main__":
    unittest.main()
