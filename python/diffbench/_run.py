"""The program's comparison from Python: its result file as a dict."""
import html
import json
import os
import shutil
import subprocess
from pathlib import Path


class RunError(RuntimeError):
    """The program ended with an error; `exit_code` is its own (2: an option, 3: a wrong result, 4: not available)."""

    def __init__(self, message, exit_code):
        super().__init__(message)
        self.exit_code = exit_code


class Result(dict):
    """A result file (docs/report.md has its schema); a notebook shows it as a table with bars."""

    @property
    def rows(self):
        """The rows as dicts, in the order of the table; `seconds_per_iteration` is None for those that did not run."""
        return self["diffbench"]["results"]

    def frame(self):
        """The rows as a pandas.DataFrame. Raises ImportError without pandas."""
        import pandas

        return pandas.json_normalize(self.rows)

    def save(self, path):
        """Writes the file that `diffbench report` reads."""
        Path(path).write_text(json.dumps(self, indent=1) + "\n")

    def _repr_html_(self):
        ran = [row for row in self.rows if row.get("seconds_per_iteration")]
        slowest = max((row["seconds_per_iteration"] for row in ran), default=1)
        lines = ["<table><tr><th>backend</th><th>time a step</th><th></th><th>verified</th></tr>"]
        for row in ran:
            seconds = row["seconds_per_iteration"]
            verified = "yes" if (row.get("verified") or {}).get("bitwise") else "no"
            lines.append(f"<tr><td>{html.escape(row['backend'])}</td><td>{seconds * 1e6:.3g} us</td><td><div style='background:"
                         f"#2a6fb0;height:0.8em;width:{max(1, round(200 * seconds / slowest))}px'></div></td>"
                         f"<td>{verified}</td></tr>")
        skipped = [row for row in self.rows if row.get("status") != "ok"]
        lines.append("</table>")
        if skipped:
            lines.append("<p>not run: " + html.escape(", ".join(
                f"{row['backend']} ({row.get('reason', '')})" for row in skipped)) + "</p>")
        return "".join(lines)


def program():
    """The path of the program: $DIFFBENCH, the one of the same build, or that in PATH."""
    here = Path(__file__).resolve()
    for path in (os.environ.get("DIFFBENCH"), here.parents[2] / "bin/diffbench", shutil.which("diffbench")):
        if path and os.access(path, os.X_OK):
            return str(path)
    raise FileNotFoundError("diffbench: no such program in PATH; set DIFFBENCH to where it lies")


def words_of(options):
    """{"grid": 640, "backend": ["simd", "fused"], "pinned": True} as words of a command line."""
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                yield option
            elif one is not False and one is not None:
                yield from (option, str(one))


def run(**options):
    """The comparison: all available backends, verified and timed in turns. Options are those of the program:
    run(grid=640, iters=1000, pinned=True, backend=["simd", "fused"]). Blocks for about `budget` seconds. Raises
    RunError with the program's own words where it fails."""
    command = [program(), *words_of(options), "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise RunError(said[-1] if said else f"diffbench ended with {done.returncode}", done.returncode)
    return Result(json.loads(done.stdout))
