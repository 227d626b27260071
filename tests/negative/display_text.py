#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Text that is shown is never compared or parsed inside the program: display_text.py ROOT [--self-test].

What the program decides by is a field, an enumeration or a name; a reason, a label, a sentence, a detail of
provenance is for people, and may be worded anew at any time."""
import re
import sys

import line_gate

SHOWN = r"(?:reason|label|sentence|title|description|note|message|complaint|in_core|what|row_name|explanation)(?:\(\))?\)?"
FORBIDDEN = {
    "a shown text is searched": re.compile(
        rf"(?<![\w:]){SHOWN}\.(?:find|rfind|starts_with|ends_with|contains|compare)\(|"
        rf"(?:[.>]){SHOWN}\.(?:find|rfind|starts_with|ends_with|contains|compare)\("),
    "a shown text is compared": re.compile(rf"(?<!\w){SHOWN}\s*[=!]=\s*\"[^\"]"),
    "a detail is looked up by its name": re.compile(r"[.>]first\s*[=!]=\s*\"|\bfind\w*\([^;]*\bdetails\b"),
    "a figure is parsed out of a shown text": re.compile(r"\bsto(?:i|l|ll|d|f|ul|ull)\("),
    "a peer is known by how its row begins": re.compile(r"starts_with\(\"peer:"),
}
FOLDERS = ("base", "solver", "gpu", "kernels", "emulation", "mlp", "cluster", "bench", "judge", "lab", "app", "python")
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh"}


def complaints(text):
    """Of the whole text without its comments: a comparison may go over two lines."""
    code = re.sub(r"//.*", "", text)
    for what, pattern in FORBIDDEN.items():
        for found in pattern.finditer(code):
            number = code.count("\n", 0, found.start()) + 1
            yield number, what, text.splitlines()[number - 1].strip()


def program_files(root):
    return [f for folder in FOLDERS for f in sorted((root / folder).rglob("*")) if f.suffix in SUFFIXES]


CAUGHT = ['if (probe.reason.find("driver") != npos) {', 'return reason == "no GPU";',
          'if (detail.first == "depth") {', "depth = std::stoll(value);", 'if (label.starts_with("cuda")) {',
          'return name.starts_with("peer:");', "error.what() == \"late\"",
          "std::ranges::find_if(row.details, is_depth);", 'return reason ==\n       "no GPU";']
PASSED = ['reason = "no GPU";', "if (reason.empty()) {", "names.find(name)", 'row.find("misleads")',
          'labels.find("x")', "// reason == \"x\" is forbidden", "details.emplace_back(name, value);"]

if __name__ == "__main__":
    sys.exit(line_gate.run(program_files, complaints, CAUGHT, PASSED, "complaints"))
