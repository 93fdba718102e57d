#!/usr/bin/env python3
"""Folders include and call only what test/layers.txt allows.

    check_layers.py LAYERS PAGE BUILD SOURCE...

LAYERS has a line for each folder, from below: `folder: folders that it may use`. `name = folder
folder` makes one layer of folders that use each other; the layer has a line as a folder has. Errors:
- an #include, or a symbol of an object file that another one defines, that points elsewhere;
- a folder without a line, a line that uses one behind it (so there is no circle), a permission that
  nothing needs (unless nothing of the folder is built here);
- in the back end a file outside compiler/kind that asks which kind a layer is: it uses the row of a
  kind (hd_kind_NAME) or hd_layer.own, or names an operation that machine_ops.def gives to a kind;
- PAGE says otherwise: it has an item "- `folder`: what it does. Uses `folder`, `folder`." for each
  line, and a picture (its first indented block) with the names of all folders.
"""
import os
import re
import subprocess
import sys


class Layers:
    def __init__(self, path):
        self.path, self.uses, self.group = path, {}, {}
        for line in open(path, encoding="utf-8"):
            line = line.split("#")[0].strip()
            m = re.match(r"(\S+)\s*(=|:)\s*(.*)", line)
            if m and m.group(2) == "=":
                self.group.update({folder: m.group(1) for folder in m.group(3).split()})
            elif m:
                self.uses[m.group(1)] = m.group(3).split()

    def of(self, path):
        """The layer of a file: its folder, or the one above that has a line."""
        folder = os.path.dirname(path)
        while folder:
            if folder in self.group:
                return self.group[folder]
            if folder in self.uses:
                return folder
            if folder.startswith("compiler/") and folder.count("/") == 1:
                return None  # each folder of the compiler is a layer of its own
            folder = os.path.dirname(folder)
        return None

    def allows(self, a, b):
        return a == b or b in self.uses[a] or "*" in self.uses[a]

    def errors(self):
        seen = set()
        for layer, uses in self.uses.items():
            for used in uses:
                if used not in self.uses and used != "*":
                    yield f"{self.path}: {layer}: there is no layer '{used}'"
                elif used not in seen and used != "*":
                    yield f"{self.path}: {layer} uses {used}, which comes after it: a circle"
            seen.add(layer)


def includes(layers, paths):
    """(place, layer, layer, what) of each #include."""
    for path in paths:
        for i, line in enumerate(open(path, encoding="utf-8"), 1):
            m = re.match(r'\s*#\s*include "([^"]+)"', line)
            if m and layers.of(m.group(1)):
                yield f"{path}:{i}", layers.of(path), layers.of(m.group(1)), "include " + m.group(1)


def calls(layers, build, paths):
    """The same of each symbol that one object lacks and one of another layer defines."""
    objects = [os.path.join(build, p[:-2] + ".o") for p in paths if p.endswith(".c")]
    objects = [o for o in objects if os.path.exists(o)]
    out = subprocess.run(["nm", "-A", "-P", *objects], check=True, capture_output=True, text=True)
    defined, lacking = {}, []
    for line in out.stdout.splitlines():
        path, symbol, kind = re.match(r"(.*?): (\S+) (\S)", line).groups()
        path = os.path.relpath(path, build)[:-2] + ".c"
        if kind == "U":
            lacking.append((path, symbol))
        elif kind in "TDBRCVW" and not path.startswith("test/"):  # tests may bring their own main
            defined[symbol] = path
    for path, symbol in lacking:
        if symbol in defined:
            owner = defined[symbol]
            yield path, layers.of(path), layers.of(owner), f"use {symbol} of {owner}"


def not_built(layers, build, paths):
    """Layers with sources but no object: what they call is not known."""
    sources = [p for p in paths if p.endswith(".c")]
    built = {layers.of(p) for p in sources if os.path.exists(os.path.join(build, p[:-2] + ".o"))}
    return {layers.of(p) for p in sources} - built


KIND, OPERATIONS = "compiler/kind", "compiler/kind/machine_ops.def"


def asks_kind(layers, paths):
    """Uses, outside the folder of kinds, of what only a kind's own file may ask."""
    computed = re.findall(r"^COMPUTES\((\w+),", open(OPERATIONS, encoding="utf-8").read(), flags=re.M)
    names = re.compile(r"\bHD_IR_(?:%s)\b|&\s*hd_kind_\w+|->own\b" % "|".join(computed))
    back = {a for a, uses in layers.uses.items() if "compiler/layer" in uses} | {"compiler/layer", "compiler/cost"}
    for path in paths:
        if layers.of(path) in back - {KIND}:
            for i, line in enumerate(open(path, encoding="utf-8"), 1):
                for m in names.finditer(line):
                    yield f"{path}:{i}: asks for {m.group(0)}: ask for a property of struct hd_kind"


def page(layers, path):
    text = open(path, encoding="utf-8").read()
    picture = "\n".join(line for line in text.splitlines() if line.startswith("    "))
    rows = {}
    for name, rest in re.findall(r"^- `([^`]+)`:(.*(?:\n  .*)*)", text, flags=re.M):
        uses = re.search(r"Uses\s(.*)\.$", rest, flags=re.S)
        rows[name] = re.findall(r"`([^`]+)`", uses.group(1)) if uses else None
    for layer, uses in layers.uses.items():
        want = [] if uses == ["*"] else uses
        if rows.get(layer) is None:
            yield f"{path}: no item of {layer} that ends in 'Uses ...'"
        elif sorted(rows[layer]) != sorted(want):
            yield f"{path}: {layer}: says {' '.join(rows[layer])}, {layers.path} {' '.join(want)}"
    for row in rows.keys() - layers.uses.keys():
        yield f"{path}: {row} has no line in {layers.path}"
    for name in [f for f in layers.uses if f not in layers.group.values()] + list(layers.group):
        if not re.search(r"\b%s\b" % name.removeprefix("compiler/"), picture):
            yield f"{path}: the picture lacks {name}"


def main(layers, page_path, build, paths):
    layers = Layers(layers)
    found = list(layers.errors())
    found += [f"{p}: its folder has no line in {layers.path}" for p in paths if not layers.of(p)]
    paths = [p for p in paths if layers.of(p)]
    used = set()
    for place, a, b, what in [*includes(layers, paths), *calls(layers, build, paths)]:
        used.add((a, b))
        if not layers.allows(a, b):
            found.append(f"{place}: {a} must not {what}")
    unknown = not_built(layers, build, paths)
    for a, uses in layers.uses.items():
        found += [] if a in unknown else [f"{layers.path}: {a} does not use {b}, remove it" for b in uses
                  if b != "*" and (a, b) not in used]
    found += asks_kind(layers, paths)
    found += page(layers, page_path)
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
