# SPDX-License-Identifier: Apache-2.0
"""diffbench duel: what it says, keeps and refuses. Commands that differ by a factor, or
by nothing but the coin, so that no verdict here hangs on a quiet machine."""
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from program import PLANTED_LOAD, PROGRAM, CommandLineTest, parse_json

FAST, SLOW = "sleep 0.01", "sleep 0.05"


class Duel(CommandLineTest):
    def duel(self, *arguments, exit_code=0, **options):
        done = self.run_program("duel", *arguments, "--json", "-", **options)
        self.assertEqual(done.returncode, exit_code, done.stderr)
        return parse_json(done.stdout)["diffbench"]

    def test_a_slower_command_is_found_in_the_fewest_blocks(self):
        for a, b, verdict in [(FAST, SLOW, "SLOWER"), (SLOW, FAST, "FASTER")]:
            own = self.duel(a, b, "--seed", "5")
            result = own["duel"]
            self.assertEqual((result["a"], result["b"], result["seed"]), (a, b, 5))
            (row,) = result["results"]
            self.assertEqual(row["verdict"], verdict)
            self.assertGreaterEqual(row["blocks"], 10)  # the fewest that decide; more beside other programs
            self.assertLess(row["interval"]["low"], row["ratio"])
            self.assertEqual(len(row["a"]["samples_seconds"]), row["blocks"])
            self.assertEqual(len(row["b_first"]), row["blocks"])
            self.assertIn(f"{verdict}: B takes", own["sentence"])
            self.assertIn("with a probability of 1 % at most", own["sentence"])

    def test_the_text_says_what_ran_and_what_came_of_it(self):
        text = self.run_ok("duel", FAST, SLOW, "--seed", "7").stdout
        for words in [f"A: {FAST}\n", f"B: {SLOW}\n", "4 pairs a block, seed of the order: 7", "99 % interval",
                      "SLOWER", "context switches", "page faults"]:
            self.assertIn(words, text)

    def test_one_seed_is_one_order(self):
        def order(seed):
            own = self.duel("true", "true", "--blocks", "20", "--margin", "0.001%", "--seed", seed)
            return own["duel"]["results"][0]["b_first"]
        self.assertEqual(order("1"), order("1"))
        self.assertNotEqual(order("1"), order("2"))

    def test_what_is_not_decided_says_what_would(self):
        own = self.duel("true", "true", "--blocks", "5")
        (row,) = own["duel"]["results"]
        self.assertEqual((row["verdict"], row["interval"]), ("UNCLEAR", None))
        self.assertIn("UNCLEAR: 5 blocks are too few for an interval; --blocks 5 ended it; ", own["sentence"])
        self.assertEqual(row["ended_by"], "blocks")

        self.assertIn("1 block is too few", self.duel("true", "true", "--blocks", "1")["sentence"])

    def test_warm_ups_are_within_the_budget(self):
        own = self.duel("sleep 0.02", "sleep 0.02", "--warmup", "1000", "--budget", "1", "--blocks", "1")
        self.assertRegex(" ".join(own["notes"]), r"\b\d\d? of 1000 warm-ups: half of the budget was gone")

    def test_a_block_has_as_many_pairs_as_are_asked_for(self):
        (row,) = self.duel("true", "true", "--blocks", "3", "--pairs", "2")["duel"]["results"]
        self.assertEqual(row["pairs"], 2)
        self.assertEqual([len(each) for each in row["a"]["process_samples_seconds"]], [2, 2, 2])
        self.assertEqual(len(row["a"]["samples_seconds"]), 3)
        self.assertIsNone(row["warming"])
        (row,) = self.duel("true", "true", "--blocks", "1", "--warmup", "0")["duel"]["results"]
        self.assertEqual(row["pairs"], 1)

    def test_exit_codes_for_ci(self):
        self.duel(FAST, SLOW, "--fail-on", "slower=2%", exit_code=5)
        self.duel(SLOW, FAST, "--fail-on", "slower=2%")
        self.duel("true", "true", "--blocks", "3")
        self.duel("true", "true", "--blocks", "3", "--fail-on", "unclear", exit_code=5)
        own = self.duel(FAST, SLOW, "--fail-on", "slower=1000%", exit_code=0)
        self.assertEqual(own["duel"]["margin"], 10)
        self.assertEqual(own["duel"]["results"][0]["verdict"], "SAME")

    def test_a_command_that_fails(self):
        self.assert_refused(1, "warm-up 1: B: ended with exit code 1", "duel", "true", "false")
        self.assert_refused(1, ["A: ended with exit code 3: no such thing"], "duel", "--shell", "sh",
                            "echo no such thing >&2; exit 3", "true")
        self.assert_refused(1, "B: ended with exit code 255", "duel", "true", "sh -c 'exit 255'")
        self.assert_refused(1, "B: was ended by signal 15", "duel", "true", "sh -c 'kill $$'")
        own = self.duel("true", "false || true", "--shell", "sh", "--blocks", "3", "--pairs", "1")
        self.assertEqual(own["duel"]["results"][0]["b"]["failed_runs"], 0)

    def test_a_command_that_fails_only_sometimes(self):
        self.path("count").write_text("0\n")
        script = "read n < count; echo $((n+1)) > count; test $n -lt 5"
        done = self.run_program("duel", "--shell", "sh", script, "true")
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr, "A: ended with exit code 1")
        # Where, and what it says then, or that it did not fail again.
        for bound, words in [("-lt 4", "block 2, pair 1: A: ended with exit code 1: gone"),
                             ("-ne 4", "block 2, pair 1: A: ended with exit code 1: not when it ran again")]:
            self.path("count").write_text("0\n")
            script = f"read n < count; echo $((n+1)) > count; test $n {bound} || {{ echo gone >&2; exit 1; }}"
            done = self.run_program("duel", "--shell", "sh", script, "true", "--pairs", "2", "--warmup", "2")
            self.assertEqual(done.returncode, 1)
            self.assert_one_line(done.stderr, words)

    def test_a_command_that_hangs(self):
        sleeps = "sh -c 'sleep 60 & echo $$ $! > pids; wait'"
        done = self.run_program("duel", "true", sleeps, "--timeout", "2")
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr, "B: did not end within 2 s")
        self.assert_gone("pids")
        self.assert_refused(1, ["A: did not end within 1 s"], "duel", "cat /dev/zero", "true",
                            "--timeout", "1")

    def test_a_command_that_wants_a_terminal_or_input(self):
        self.assert_refused(1, "A: ended with exit code", "duel", "--shell", "sh", "read x < /dev/tty", "true")
        self.path("in").write_text("a\nb\n")
        self.duel("grep -q b < in", "grep -q b < in", "--shell", "sh", "--blocks", "2")
        self.assert_refused(1, "A: ended with exit code 1", "duel", "grep -q b", "true")

    def test_commands_that_write_something_else(self):
        self.duel("echo x", "printf x\\\\n", "--same-output", "--blocks", "2")
        for b, mention in [("echo xy", "A wrote 2 bytes, B 3"), ("echo y", "2 bytes of each")]:
            done = self.run_program("duel", "echo x", b, "--same-output")
            self.assertEqual(done.returncode, 3)
            self.assert_one_line(done.stderr, "the outputs differ", mention)

    def test_prepare_runs_before_each_run(self):
        self.duel("true", "true", "--prepare", "sh -c 'echo x >> prepared'", "--blocks", "3", "--warmup", "2",
                  "--pairs", "1")
        self.assertEqual(self.path("prepared").read_text(), "x\n" * (2 * 2 + 2 * 3))
        self.assert_refused(1, "--prepare: ended with exit code 1", "duel", "true", "true", "--prepare",
                            "false")

    def test_its_commands_have_the_cpus_that_it_was_started_with(self):
        """Though OpenMP's library binds the first thread, and though the parent ignores SIGCHLD."""
        self.path("cpus.py").write_text("import os; open('cpus', 'w').write(str(os.sched_getaffinity(0)))")
        for env in ({"OMP_PROC_BIND": "true"}, {"OMP_PLACES": "threads"}):
            done = self.run_program("duel", "--blocks", "1", "python3 cpus.py", "python3 cpus.py", env=env,
                                    preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.path("cpus").read_text(), str(os.sched_getaffinity(0)))

    def test_two_files_are_judged_and_timed_in_steps(self):
        for name, kind in [("a.cpp", "cpp"), ("b.cpp", "cpp")]:
            self.run_ok("try", "--new", kind, name)
        text = self.path("b.cpp").read_text()
        slow = "for (volatile int i = 0; i < 300; ++i) {}\n    const T lap"
        self.path("slow.cpp").write_text(text.replace("const T lap", slow))
        # No verdict hangs on the machine: OpenMP's threads wait for each other on a busy one.
        one_thread = {"OMP_NUM_THREADS": "1"}
        own = self.duel("a.cpp", "slow.cpp", "--grid", "32", "--iters", "10", env=one_thread)
        (row,) = own["duel"]["results"]
        self.assertEqual(row["verdict"], "SLOWER")
        self.assertGreater(row["ratio"], 2)
        self.assertIsNone(row["a"]["user_seconds"])
        self.assertEqual({len(each) for each in row["b"]["process_samples_seconds"]}, {9})
        self.assertIsNotNone(row["warming"])
        wrong = text.replace("4 * row[x]", "5 * row[x]")
        self.path("wrong.cpp").write_text(wrong)
        done = self.run_program("duel", "a.cpp", "wrong.cpp", "--grid", "32")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assert_one_line(done.stderr, "B: its result is wrong", "diffbench try says more")
        self.path("tmp").mkdir()
        self.path("tmp").parent.chmod(0o711)  # root's child is nobody, and must get there
        self.path("broken.cpp").write_text("void step(\n")
        self.path("hangs.cpp").write_text(text.replace("step_of(u,", "for (;;) {} step_of(u,"))
        self.path("none.cpp").write_text("int f() { return 1; }\n")
        for b, code, mention in [("broken.cpp", 2, "B: broken.cpp does not compile"),
                                 ("missing.so", 2, "B: there is no file missing.so"),
                                 ("none.cpp", 2, "B: none.cpp cannot be tried"),
                                 ("hangs.cpp", 1, "B: it did not come back within 2 s")]:
            done = self.run_program("duel", "a.cpp", b, "--grid", "32", "--timeout", "2",
                                    env={"TMPDIR": str(self.path("tmp")), **one_thread})
            self.assertEqual(done.returncode, code, done.stderr)
            self.assert_one_line(done.stderr, mention)
        self.assertEqual(list(self.path("tmp").iterdir()), [])

    def test_one_side_rests_while_the_other_is_timed(self):
        for name in ("a.cpp", "b.cpp"):
            self.run_ok("try", "--new", "cpp", name)
        child = subprocess.Popen([PROGRAM, "duel", "a.cpp", "b.cpp", "--grid", "512", "--iters", "500", "--blocks", "3"],
                                 cwd=self.directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        stopped = False
        while not stopped and child.poll() is None:
            for name in subprocess.run(["pgrep", "-P", str(child.pid)], capture_output=True, text=True,
                                       check=False).stdout.split():
                try:
                    with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                        stopped = stopped or file.read().rsplit(") ", 1)[1][0] == "T"
                except OSError:  # it has ended
                    pass
            time.sleep(0.005)
        self.assertTrue(stopped)

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main", *arguments],
                       cwd=self.directory, check=True, capture_output=True)

    def test_the_workflow_of_the_documents_does_what_it_says(self):
        lines = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "duel.yml").read_text().splitlines()
        begin = lines.index("      - name: duel") + 2
        script = "\n".join(itertools.takewhile(lambda line: line.startswith(" " * 10), lines[begin:]))
        self.assertIn("diffbench duel --shell sh", script)
        self.git("init")
        self.path("bin").mkdir()
        self.path("bin/diffbench").symlink_to(PROGRAM)
        env = {**os.environ, "PATH": f"{self.path('bin')}:{os.environ['PATH']}", "HOME": str(self.directory),
               "BUILD": "true", "RUN": "sh prog.sh", "FAIL_ON": "slower=2%"}
        for seconds, code, verdict in [("0.01", None, None), ("0.05", 5, "SLOWER"), ("0.01", 0, "FASTER")]:
            self.path("prog.sh").write_text(f"sleep {seconds}\n")
            self.git("add", "prog.sh")
            self.git("commit", "-m", seconds)
            if code is not None:
                done = subprocess.run(["sh", "-e", "-c", script], cwd=self.directory, env={**env, "BASE": "HEAD^"},
                                      check=False, capture_output=True, encoding="utf-8", timeout=120)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertRegex(self.path("duel.md").read_text(), rf"(?m) {verdict}$")

    def processes_of(self, name):
        """The numbers that a command has written to a file, once they are there."""
        limit = time.monotonic() + 60
        while not (self.path(name).exists() and self.path(name).read_text().endswith("\n")):
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.01)
        return self.path(name).read_text().split()

    def assert_gone(self, name):
        for process in self.processes_of(name):
            try:
                stat = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
            except OSError:
                continue
            self.assertIn(stat.rsplit(") ", 1)[1][0], "ZX", name)

    def test_commands_that_write_much_or_move(self):
        own = self.duel("head -c 100000000 /dev/zero", "head -c 100000000 /dev/zero", "--same-output", "--blocks", "1")
        self.assertEqual(own["duel"]["results"][0]["blocks"], 1)
        self.path("there").write_text("#!/bin/sh\ncd /\n")
        self.path("there").chmod(0o755)
        self.duel("./there", "./there", "--blocks", "3")

    def test_wrong_usage(self):
        for arguments, mention in [
                (["a.so", "b.so", "--shell", "sh"], "--shell: is for commands"),
                (["a.so", "b.so", "--grid", "0"], "--grid 0"),
                (["true", "true", "--grid", "64"], "--grid: is for two files"),
                (["a.so", "true"], "give two of a kind"), (["true", "a.py"], "give two of a kind"),
                (["a.so", "b.so", "--prepare", "true"], "--prepare: is for commands"),
                (["a.cu", "b.cu"], "there is no"),
                ([], "give two commands"), (["true"], "give two commands"),
                (["no-such-program", "true"], "A: no-such-program: there is no such program"),
                (["true", "./nothing"], "B: ./nothing: there is no such file"),
                (["true | true", "true"], "A: '|' in 'true | true' is for a shell: give --shell sh"),
                (["true 'x", "true"], "does not end"),
                (["true", "true", "--alpha", "50%"], "less than 50%"),
                (["true", "true", "--alpha", "0%"], "--alpha 0%"),
                (["true", "true", "--margin", "-1%"], "--margin -1%"),
                (["true", "true", "--margin", "1%", "--fail-on", "slower=2%"], "give one"),
                (["true", "true", "--fail-on", "slower"], "--fail-on slower: "),
                (["true", "true", "--budget", "0"], "--budget 0"),
                (["true", "true", "--shell", "fish"], "fish"),
                (["true", "true", "--history", "h.jsonl"], "--history"),
                (["true", "true", "--seed", "-1"], "--seed -1")]:
            self.assert_refused(2, mention, "duel", *arguments)

    def test_other_programs_take_the_verdict_away(self):
        own = self.duel(FAST, SLOW, env=PLANTED_LOAD)
        self.assertTrue(own["disturbed"])
        self.assertEqual(own["duel"]["results"][0]["verdict"], "UNCLEAR")
        self.duel(FAST, SLOW, "--fail-on", "slower=2%", env=PLANTED_LOAD)
        self.duel(FAST, SLOW, "--fail-on", "unclear", env=PLANTED_LOAD, exit_code=5)
        own = self.duel(FAST, SLOW, "--beside-load", "--fail-on", "slower=2%", env=PLANTED_LOAD, exit_code=5)
        self.assertEqual(own["duel"]["results"][0]["verdict"], "SLOWER")
        self.assertIn("other programs were running", " ".join(own["notes"]))

    def test_ctrl_c_keeps_what_was_measured_and_kills_what_runs(self):
        self.path("log").write_text("")
        sleeps = "echo x >> log; test $(wc -l < log) -lt 6 || { sleep 60 & echo $$ $! > pids; wait; }"
        child = subprocess.Popen([PROGRAM, "duel", f"sh -c '{sleeps}'", "sleep 0.05", "--margin",
                                  "0.001%", "--pairs", "1", "--json", "-"],
                                 cwd=self.directory, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(child.kill)
        self.processes_of("pids")
        child.send_signal(signal.SIGINT)
        out, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130, errors)
        own = parse_json(out)["diffbench"]
        self.assertTrue(own["interrupted"])
        self.assertGreaterEqual(own["duel"]["results"][0]["blocks"], 3)
        self.assert_gone("pids")


if __name__ == "__main__":
    unittest.main()
