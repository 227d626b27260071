# SPDX-License-Identifier: Apache-2.0
"""The program's comparison from Python: its result file as a dict."""
import html
import json
import os
import tempfile
from pathlib import Path

from ._process import exit_code_of, program


LISTS_OF_ROWS = ("results", "points", "ways", "rows")  # in a verb's own part of the file


class RunError(RuntimeError):
    """The program ended with an error; `exit_code` is its own (2: an option, 3: a wrong result, 4: not available).
    `result` is what it measured all the same, None without any."""

    def __init__(self, message, exit_code, result=None):
        super().__init__(message)
        self.exit_code = exit_code
        self.result = result


class Interrupted(KeyboardInterrupt):
    """Ctrl-C; `result` is what the program had measured, None without any."""

    def __init__(self, result=None):
        super().__init__("interrupted")
        self.result = result


class Result(dict):
    """A result file (docs/report.md has its schema). `text` is what the program printed, which a notebook shows; above it
    are bars of the first picture of the report page."""

    def __init__(self, file, text=""):
        super().__init__(file)
        self.text = text

    @property
    def rows(self):
        """The rows as dicts, in the order of the table; `seconds_per_iteration` is None for those that did not run.
        Of other verbs what they have a list of: points of a sweep, mistakes, backends. Raises ValueError without one."""
        file = self["diffbench"]
        part = file if "results" in file else file.get(file["experiment"])
        for rows in (part, *(part.get(name) for name in LISTS_OF_ROWS if isinstance(part, dict))):
            if isinstance(rows, list):
                return rows
        raise ValueError(f"{file['experiment']} has no rows: look into result['diffbench']")

    def frame(self):
        """The rows as a pandas.DataFrame. Raises ImportError without pandas."""
        import pandas

        return pandas.json_normalize(self.rows)

    def save(self, path):
        """Writes the file that `diffbench report` reads."""
        Path(path).write_text(json.dumps(self, indent=1) + "\n")

    def __repr__(self):
        words = self.text.strip().splitlines()
        return f"<diffbench.Result: {words[-1] if words else ', '.join(self)}>"

    def _repr_html_(self):
        bars = bars_of(self["diffbench"])
        longest = max((value for _, value in bars), default=1)
        lines = "".join(f"<tr><td>{html.escape(name)}</td><td>{value:.3g}</td><td><div style='background:#2a6fb0;"
                        f"height:0.8em;width:{max(1, round(300 * value / longest))}px'></div></td></tr>"
                        for name, value in bars)
        caption = f"<caption>{html.escape(self['diffbench']['pictures'][0]['y'][0])}</caption>" if bars else ""
        text = f"<pre>{html.escape(self.text)}</pre>"
        folded = f"<details><summary>All that the program says</summary>{text}</details>"
        return f"<table>{caption}{lines}</table>{folded}" if bars else text


def at_path(value, path):
    """The values at "host.curves.points", of each element where there is a list on the way."""
    values = [value]
    for name in filter(None, path.split(".")):
        values = [item[name] for value in values for item in (value if isinstance(value, list) else [value])
                  if isinstance(item, dict) and item.get(name) is not None]
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


def bars_of(file):
    """Names and values of what the file says of its first picture: a bar a row; of lines a bar for the last point of each."""
    picture = next(iter(file.get("pictures", [])), {"kind": "none"})
    if picture["kind"] not in ("bars", "lines"):
        return []
    part = file.get(file.get("experiment"), file)
    bars = {}
    for row in at_path(part, picture["rows"]) or at_path(file, picture["rows"]):
        name = ", ".join(str(row[key]) for key in picture["by"] if row.get(key) is not None)
        if picture["kind"] == "bars" or not name:
            name = str(row.get(picture["x"]))
        else:
            name += f" ({picture['x']} {row.get(picture['x'])})"
        group = name if picture["kind"] == "bars" else tuple(str(row.get(key)) for key in picture["by"])
        for value in at_path(row, picture["y"][0]):
            if isinstance(value, (int, float)):
                bars[group] = name, value
    return list(bars.values())


def words_of(options):
    """{"grid": 640, "backend": ["simd", "fused"], "pinned": True} as words of a command line."""
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(one, bool) or getattr(one, "dtype", None) == bool:  # numpy.True_
                yield from [option] if one else []
            elif one is not None:
                yield from (option, str(one))


def run(*verb, **options):
    """A verb of the program, without one the comparison: all available backends, verified and timed in turns. Options are
    those of the program: run(grid=640, iters=1000, pinned=True, backend=["simd", "fused"]), run("mlp", "width", hidden=[100, 1000]).
    A list of several values is the option several times. Blocks for about `budget` seconds. Raises RunError with the program's
    own words where it fails, and after Ctrl-C Interrupted."""
    with tempfile.TemporaryDirectory(prefix="diffbench-") as folder:
        file, printed, said = (Path(folder, name) for name in ("result.json", "stdout", "stderr"))
        command = [program(), *verb, *words_of(options), "--json", str(file)]

        def result():
            return Result(json.loads(file.read_text()), printed.read_text()) if file.exists() else None

        try:
            with open(printed, "w") as out, open(said, "w") as err:
                code = exit_code_of(command, stdout=out, stderr=err, env={**os.environ, "NO_COLOR": "1"})
        except KeyboardInterrupt as interrupt:
            raise Interrupted(result()) from interrupt
        if code != 0:
            lines = [line for line in said.read_text().splitlines() if line.strip()]
            raise RunError(lines[-1] if lines else f"diffbench ended with {code}", code, result())
        return result()
