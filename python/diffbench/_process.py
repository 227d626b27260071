# SPDX-License-Identifier: Apache-2.0
"""The program as a process of its own."""
import contextlib
import os
import shutil
import subprocess
from pathlib import Path

SUDDEN_END = 20  # seconds, in which it removes its files


def program():
    """The path of the program: $DIFFBENCH, that of the same build or installation, or the one in PATH."""
    if named := os.environ.get("DIFFBENCH"):
        if not os.access(named, os.X_OK):
            raise FileNotFoundError(f"DIFFBENCH={named}: there is no such program")
        return str(Path(named).resolve())
    # build/python/diffbench/, or lib/python3.N/dist-packages/diffbench/ below the prefix.
    above = Path(__file__).resolve().parents
    for path in (above[2] / "bin/diffbench", above[4] / "bin/diffbench", shutil.which("diffbench")):
        if path and os.access(path, os.X_OK):
            return str(path)
    raise FileNotFoundError("diffbench: no such program in PATH; set DIFFBENCH to where it lies")


def exit_code_of(command, **streams):
    """Runs it. What is raised meanwhile (KeyboardInterrupt) asks the program for the end at which it keeps what it
    measured and removes its files, and is raised when that is reached; a second Ctrl-C ends it at once."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, **streams)
    try:
        # Popen.wait() would go on for 0.25 s. The program may have had the SIGINT of a terminal, and takes two signals
        # for one only when they come at once.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        return child.wait()
    except BaseException:
        child.terminate()
        try:
            child.wait()
        except BaseException:
            child.terminate()  # it may still remove what it must
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(SUDDEN_END)
        raise
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
