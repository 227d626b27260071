# SPDX-License-Identifier: Apache-2.0
"""On a terminal of 80 columns no verb writes a longer line: the terminal would break it anywhere."""
import fcntl
import os
import re
import struct
import subprocess
import termios
import unittest

from every_verb import EXACT, MEASURED, EveryVerb
from program import PROGRAM, open_terminal

HELPS = ["--help", "sweep --help", "mlp train --help", "mlp --help"]


class Width(EveryVerb):
    def shown(self, arguments, columns):
        ours, theirs = open_terminal()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        any_python = {"DIFFBENCH_PYTHON": ""} if "--peer" in arguments else {}
        child = subprocess.Popen([PROGRAM, *arguments.split()], cwd=self.directory, stdout=theirs,
                                 stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 env={**os.environ, **self.env, **any_python, "TERM": "xterm"})
        os.close(theirs)
        self.addCleanup(os.close, ours)
        shown = self.read_terminal(ours, None)
        self.assertIn(child.wait(timeout=120), (0, 3, 4, 5), shown)
        return re.sub(r"\r\n|\x1b\[[0-9;?]*[A-Za-z]", lambda found: "\n" if found[0] == "\r\n" else "",
                      shown.decode())

    def test_no_line_is_longer_than_the_terminal(self):
        for arguments in [*MEASURED.values(), *EXACT.values(), *HELPS]:
            with self.subTest(arguments):
                lines = self.shown(arguments, 80).split("\n")
                self.assertGreater(len(lines), 1)
                # A name of a file is not cut.
                self.assertEqual([line for line in lines if len(line) > 80 and " " in line.strip()], [])

    def test_a_wide_terminal_has_all_columns(self):
        quick = "--grid 24x16 --iters 20 --budget 0.1 --threads 1 --backend scalar --baseline scalar"
        narrow, wide, asked = (self.shown(quick + option, columns)
                               for option, columns in (("", 80), ("", 200), (" --wide", 80)))
        self.assertIn("(more with --wide: samples, GCell/s, GB/s, vs best CPU)", narrow)
        for column in ("samples", "GB/s", "vs best CPU"):
            self.assertNotRegex(narrow, rf"(?m)^backend .*{column}")
            self.assertRegex(wide, rf"(?m)^backend .*{column}")
            self.assertRegex(asked, rf"(?m)^backend .*{column}")


if __name__ == "__main__":
    unittest.main()
