# SPDX-License-Identifier: Apache-2.0
"""A kernel with one thing that orders its accesses left out or made weaker."""
from __future__ import annotations

import dataclasses
import re
from typing import Iterator

from ptx_text import Kernel, Module

# What is looked for in a statement, and what it becomes; None: nothing. The first that matches counts.
CHANGES = [
    (re.compile(r"bar(?:rier)?\.sync\b.*", re.S), None),
    (re.compile(r"barrier\.cluster\.(arrive|wait)\b.*", re.S), None),
    (re.compile(r"(?:fence|membar)\..*", re.S), None),
    (re.compile(r"\.(?:acquire|release)\b"), ".relaxed"),
    (re.compile(r"\.relaxed\.gpu\b"), ""),
]
SCOPE = re.compile(r"\.gpu\b")
ORDERING = re.compile(r"[^;{}:\n]*\b(?:bar\.sync|barrier\.|fence\.|membar\.|acquire|release|relaxed)[^;]*;")


def mutants(module: Module, name: str) -> Iterator[tuple[str, Kernel]]:
    """Of the kernel `name`: what was done, and the kernel. The two halves of a cluster's barrier go together, so that
    no thread waits in vain."""
    function = module.functions[name]
    body = function.body
    number = 0
    sites = list(ORDERING.finditer(body))
    waits = [site for site in sites if "barrier.cluster.wait" in site[0]]
    for site in sites:
        statement, number = site[0], number + 1
        if "barrier.cluster.wait" in statement:
            continue
        for kind, changed in changes_of(statement):
            pieces = [(site, changed)]
            if "barrier.cluster.arrive" in statement and changed == "":
                pieces.append((next(wait for wait in waits if wait.start() > site.start()), ""))
            text = body
            for piece, becomes in sorted(pieces, key=lambda each: -each[0].start()):
                text = text[:piece.start()] + becomes + text[piece.end():]
            mutated = dict(module.functions)
            mutated[name] = dataclasses.replace(function, body=text)
            yield f"{number}: {' '.join(statement.split())} {kind}", module.with_functions(mutated).kernel(name)


def changes_of(statement: str) -> Iterator[tuple[str, str]]:
    """How, and the statement that is left."""
    for pattern, becomes in CHANGES:
        if pattern.search(statement):
            yield ("left out", "") if becomes is None else (f"as {becomes or 'a plain one'}",
                                                            pattern.sub(becomes, statement))
            break
    if SCOPE.search(statement):
        yield "of the block", SCOPE.sub(".cta", statement)
