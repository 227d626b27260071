#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who calls whom: link_graph.py --nm NM FOLDER=OBJECT[,OBJECT...]... [--self-test]

An arrow can be drawn without an include of its owner: a function that a lower header declares and a
higher folder defines. The linker sees it: an undefined symbol of one folder's objects that another
folder's define. The arrows are those of include_graph.py.
"""
import subprocess
import sys

from include_graph import all_parts


def symbols(nm, objects):
    """What the objects need from elsewhere, and what they define for others."""
    listed = subprocess.run([nm, "--format=posix", "--extern-only", *objects], check=True,
                            capture_output=True, text=True).stdout
    needed, defined = set(), set()
    for line in listed.splitlines():
        name, kind, *_ = [*line.split(), "", ""]
        if kind == "U":
            needed.add(name)
        elif kind in "TDBR":  # weak ones, of inline functions and templates, are whose they are
            defined.add(name)
    return needed - defined, defined


def may_use(parts, folders, user, owner):
    """What the folder may include, or a part of it that is not linked by itself."""
    mine = [p for p in parts if p == user or p.startswith(f"{user}/") and p not in folders]
    return user == owner or any(
        place in (owner, f"{owner}/*", f"{owner}/include") or owner.startswith(f"{place}/")
        for part in mine for place in parts[part][0])


def violations(parts, folders):
    """folders: name -> (needed, defined)."""
    owner_of = {symbol: name for name, (_, defined) in folders.items() for symbol in defined}
    found = {(user, owner_of[symbol]): symbol for user, (needed, _) in folders.items()
             for symbol in sorted(needed, reverse=True) if symbol in owner_of}
    return [f"{user} needs {symbol}, which {owner} defines; {user}/ must not know {owner}/"
            for (user, owner), symbol in sorted(found.items()) if not may_use(parts, folders, user, owner)]


def self_test(parts, folders):
    """A symbol of each folder in each other one: found exactly where no arrow is drawn."""
    for user in folders:
        for owner in folders:
            planted = {name: (set(), {f"of_{name}"}) for name in folders}
            planted[user] = ({f"of_{owner}"}, set() if user != owner else {f"of_{owner}"})
            if bool(violations(parts, planted)) == may_use(parts, folders, user, owner):
                sys.exit(f"{user} -> {owner}: drawn otherwise")
    upward = [("base", "solver"), ("bench/measure", "bench/study"), ("bench/study", "judge"), ("judge", "lab/mlp"),
              ("lab/compare", "lab/mlp"), ("mlp", "solver")]
    if any(may_use(parts, folders, *arrow) for arrow in upward):
        sys.exit(f"one of {upward} is allowed")


def main():
    arguments = sys.argv[1:]
    nm = arguments[arguments.index("--nm") + 1]
    objects = dict(a.split("=", 1) for a in arguments if "=" in a)
    parts = all_parts([name.rsplit("/", 1)[1] for name in objects if name.startswith("lab/")])
    folders = {name: symbols(nm, files.split(",")) for name, files in objects.items()}
    if "--self-test" in arguments:
        return self_test(parts, folders)
    found = violations(parts, folders)
    print(*found, f"{len(folders)} folders, {len(found)} violations", sep="\n")
    return 1 if found or not all(defined for _, defined in folders.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
