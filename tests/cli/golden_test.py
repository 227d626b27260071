# SPDX-License-Identifier: Apache-2.0
"""What every verb says and answers, recorded: --help, text, the shape of its JSON, exit codes. What
moves code must pass with these files as they are. After a change that is meant: python3 -B
tests/cli/golden_test.py --record, with DIFFBENCH_PROGRAM as in program.py; then look at git diff.

What a run measured, and what its machine or build is, is masked: the files hold with and without
nvcc, and on two CPUs or more."""
import difflib
import os
import pathlib
import re
import shlex
import sys
import unittest

from every_verb import MEASURED, RUNS, EveryVerb
from program import parse_json

GOLDEN = pathlib.Path(__file__).parent / "golden"
RECORD = "--record" in sys.argv

# Columns that follow from what was asked for, as the first does, and those with words that follow
# from what was measured, or from the machine.
ASKED = {"threads", "grid", "iters", "iterations", "dtype", "device", "parameters", "MFLOP/step",
         "epochs", "calls", "trials", "support"}
MASKED = {"fastest", "effect", "from", "arrays in",
          "peak memory", "halo depth", "serial fraction", "B / A"}

CHANCE_NOTE = re.compile(r"note: .*(first sample|single samples|rise or fall|of two kinds|other program"
                         r"|budget was spent|gathered ahead|crosses 1 more|oversubscribed|quota)")
CHANCE_PATH = re.compile(r"(notes|irregularities)\[\]|\bworth_it$|pictures\[\]\.marks")

NUMBER = r"(?<![\w.])(?:\+-|[-+~])?\d[\d.]*(?:e[-+]?\d+)?"
UNITS = [(r" (?:ns|us|ms|s)\b", "T"), (r" (?:[KMGT]i?)?B(?!/)\b", "M"), (r"x\d+\b", "NxN"), (r"", "N")]


def mask_numbers(text):
    for unit, mask in UNITS:
        text = re.sub(NUMBER + unit, mask, text)
    return text


def mask_row(header, cells):
    """A cell keeps its words; "scalar, 1 thread" is a name."""
    number = re.compile(rf"{NUMBER}\S*( \S+)?")
    return [cell.replace(" (oversubscribed)", "") if i == 0 or name in ASKED
            else "*" if name in MASKED
            else mask_numbers(cell) if number.fullmatch(cell) else cell
            for i, (name, cell) in enumerate(zip(header, cells))]


def by_name(text):
    """The rows of a comparison are in the order of their times: here in that of their names."""
    table = re.compile(r"(?m)^((?:backend  (?:device  )?threads  time/iter|end to end)  .*\n-----\n)((?:.+  .+\n)+)")
    return table.sub(lambda found: found[1] + "".join(sorted(found[2].splitlines(True))), text)


def masked(text):
    """A report without what was measured. Its first line is the title, its last block the sentence."""
    lines = re.sub(" {2,}", "  ", re.sub(" +\n", "\n", text)).rpartition("\n\n")[0].split("\n")
    header, result = None, []
    for line, below in zip(lines, [*lines[1:], ""]):
        cells = line.split("  ")
        if re.fullmatch("-{5,}", below):
            header = cells
        elif re.fullmatch("-{5,}", line):
            line = "-----"
        elif header and len(cells) == len(header):
            line = "  ".join(mask_row(header, cells))
        elif result:
            header, line = None, mask_numbers(line)
        if not CHANCE_NOTE.match(line):
            result.append(line)
    text = by_name("\n".join(result))
    text = re.sub(r"[\d.]+x to [\d.]+x", "Nx to Nx", text)  # an assumed card against what was measured
    text = re.sub(r"(?m)^(machine: |skipped: [^:]*: |.*serial fraction by the law of \w+: ).*", r"\1...",
                  text)
    text = re.sub(r"(?m)^  (Nx too|unclear|no effect).*: .*", "  ...", text)  # of pitfalls
    text = re.sub(r"\n\nnot measured: .*", "", text)
    text = re.sub(r"(?<=samples of )\d+ to (?=\d+ steps)", "", text)  # beside other programs
    return text + "\n\n(the sentence)\n"


def without_plans(text):
    """What simd takes besides its fields follows from the caches and the instruction set."""
    return re.sub(r"(?m)^(simd .* )[\d.]+ MiB", r"\1M", text)


def without_gpu_rows(text):
    """A build without nvcc lacks them, and then columns may be narrower."""
    text = re.sub(r"(?m)^(cuda|thrust)\w* .*\n", "", text)
    text = without_plans(text)
    return re.sub(" {2,}", "  ", re.sub("-{5,}", "-----", text))


def without_machine(doctor):
    """Of the peers all, of the rest the labels."""
    doctor = re.sub(r"(?m)^  (backends|driver|devices) .*\n", "", doctor)  # of the GPU
    lines = [line if line.endswith("missing") or not line.startswith("  ") or "- peer" in line
             else line[:16].rstrip() for line in doctor.splitlines()]
    return "\n".join(line for line in lines if not re.match("  - (?!peer)", line)) + "\n"


# Verbs whose CSV has columns of its own names.
CSV_RECORDED = ("list", "doctor", "report", "advise-assumed")

# The little of the exact texts that is not.
EXCEPT = {"list": without_gpu_rows, "doctor": without_machine,
          **dict.fromkeys(("report", "live"), lambda text: re.sub(r"[\d.]+ MB", "M", text))}


def masked_message(line):
    """Without what a build without nvcc lacks, why a device is none, free memory, commits."""
    line = re.sub(r"\b(cuda|thrust)\w*, |, (cuda|thrust)\w*\b", "", line)
    line = re.sub(r"((backend|engine) '\w+' is not |--device \d+: (?!give)).*", r"\1...", line)
    return re.sub(r"[\d.]+ [KMGTPE]iB|\(git_sha .*\)|(?<=in this )(build|run)|(?<=this )(build|run)(?= has no CUDA)", "...", line)


def kinds(value, path="", found=None):
    """The types at each path below `value`, those of the elements of an array together."""
    found = {} if found is None else found
    names = {bool: "bool", int: "number", float: "number", str: "string", type(None): "null",
             list: "array", dict: "object"}
    found.setdefault(path, set()).add(names[type(value)])
    for key, part in value.items() if isinstance(value, dict) else ():
        kinds(part, f"{path}.{key}" if path else key, found)
    for part in value if isinstance(value, list) else ():
        kinds(part, f"{path}[]", found)
    return found


def shape(value):
    """As lines "path: type", with "?" where it may be null."""
    return "".join(f"{path}: {'|'.join(sorted(types - {'null'})) or 'null'}"
                   f"{'?' if 'null' in types and len(types) > 1 else ''}\n"
                   for path, types in sorted(kinds(value).items())
                   if path and not CHANCE_PATH.search(path))


def comparable(lines, other):
    """Without what depends on whether something is null on this machine."""
    nulls = {line.split(": ")[0] for line in [*lines, *other] if line.endswith(": null\n")}
    for line in lines:
        path, kind = line.rstrip("?\n").split(": ")
        if not any(path.startswith((f"{null}.", f"{null}[")) for null in nulls):
            yield f"{path}: {'null or more' if path in nulls else kind}\n"


class Golden(EveryVerb):
    def check(self, name, text, alike=lambda lines, _: lines):
        """That `text` is what the golden file holds, as far as `alike` says."""
        file = GOLDEN / name
        if RECORD:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        old = file.read_text().splitlines(True) if file.exists() else []
        new = text.splitlines(True)
        before, now = list(alike(old, new)), list(alike(new, old))
        with self.subTest(name):
            if before != now:
                self.fail("\n" + "".join(difflib.unified_diff(before, now, f"golden/{name}", "now")))

    def check_files(self, folder, names):
        """That no golden file is left of what is gone."""
        for file in (GOLDEN / folder).glob("*"):
            if RECORD and file.stem not in names:
                file.unlink()
        self.assertEqual(sorted(file.stem for file in (GOLDEN / folder).glob("*")), sorted(names))

    def verbs(self, *above):
        """With their helps, from the lists in the helps."""
        text = self.run_ok(*above, "--help").stdout
        below = re.findall(r"(?ms)^(?:Verbs|Start|Learn|Decide|Keep):\n(.*?\n)\n", text + "\n\n")
        found = {above: text}
        for verb in re.findall(r"(?m)^  ([\w-]+)", "".join(below)):
            found |= self.verbs(*above, verb)
        return found

    def test_help(self):
        helps = self.verbs()
        for verb, text in helps.items():
            self.check(f"help/{'-'.join(['diffbench', *verb])}.txt", text)
        self.check_files("help", ["-".join(["diffbench", *verb]) for verb in helps])
        runs = [" ".join(verb) for verb in helps if verb not in ((), ("mlp",))]
        self.assertEqual([run for run in runs if not any(
            f"{arguments} ".startswith(f"{run} ") for arguments in RUNS.values())],
            [], "no run of these is recorded")

    def check_shape(self, name, result):
        """The context is the same for all."""
        self.check("shape/context.txt", shape(result.pop("context")), comparable)
        self.check(f"shape/{name}.txt", shape(result), comparable)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "no law is fitted to one thread")
    def test_verbs(self):
        shapes = ["context"]
        for name, arguments in RUNS.items():
            done = self.run_verb(arguments)
            text = masked(done.stdout) if name in MEASURED else EXCEPT.get(name, str)(done.stdout)
            self.check(f"text/{name}.txt", f"$ diffbench {arguments}\n{text}"
                                           f"exit code {done.returncode}\n{done.stderr}")
            if "--json" in arguments:
                self.check_shape(name, parse_json(self.path(f"{name}.json").read_text()))
                shapes.append(name)
            if name in CSV_RECORDED:
                header = self.path(f"{name}.csv").read_text().split("\n")[0]
                self.check(f"shape/{name}-csv.txt", header.replace(",", "\n") + "\n")
                shapes.append(f"{name}-csv")
        self.check_files("text", RUNS)
        self.check_files("shape", shapes)

    def test_exit_codes(self):
        """The golden file holds the cases, too: a new one is a line "$ ARGUMENTS", then --record."""
        cases = re.findall(r"(?m)^\$ (.*)", (GOLDEN / "exit_codes.txt").read_text())
        answers = []
        for arguments in cases:
            done = self.run_program(*shlex.split(arguments), env=self.env)
            message = masked_message(done.stderr.split("\n")[0])
            answers.append(f"$ {arguments}\n{done.returncode} {message}".rstrip() + "\n")
        self.check("exit_codes.txt", "".join(answers))


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--record"])
