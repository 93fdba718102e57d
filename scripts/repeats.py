#!/usr/bin/env python3
"""Text of hw/rtl that repeats but for names.

usage: repeats.py [--limit N] [--list] [FILE...]        default: hw/rtl/*.sv

A block is six lines in a row. Left out are comments, blank lines, and lines that hold nothing but `begin`, `end`,
`else` and brackets. Blocks are alike when they are the same once every name is `_`; words of the language and numbers
stay.
Where blocks that stand at the same places follow each other, they are one run, however long it is. Prints the number
of runs and, with --list or above N, each with its places; exit 1 above N.
"""
import argparse
import collections
import glob
import re
import sys

BLOCK = 6
KEYWORDS = set("""always_comb always_ff assign automatic begin bit break case default else end endcase endfunction
endmodule for function generate genvar if import initial inout input int integer localparam logic module negedge output
package parameter posedge return signed struct typedef unique unsigned""".split())


def bare(line):
    """The line without comment, names and spaces; '' when it does not count."""
    line = line.split("//")[0]
    if not re.search(r"[A-Za-z]", re.sub(r"\b(begin|end|else)\b", "", line)):
        return ""
    return re.sub(r"\s+", "", re.sub(r"[A-Za-z_]\w*", lambda m: m.group() if m.group() in KEYWORDS else "_", line))


def read(path):
    """[(line number, bare text)] of the lines that count."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), open(path).read(), flags=re.S)
    every = [(number, bare(line)) for number, line in enumerate(text.split("\n"), 1)]
    return [line for line in every if line[1]]


def runs(files):
    """Lists of places (file, first line, last line), one list a run, the longest first."""
    places = collections.defaultdict(list)
    for path, lines in files.items():
        for i in range(len(lines) - BLOCK + 1):
            places[tuple(text for _, text in lines[i:i + BLOCK])].append((path, i))
    places = {block: at for block, at in places.items() if len(at) > 1}
    block_at = {place: block for block, at in places.items() for place in at}

    def behind(block, step):
        """The block `step` behind this one, where both stand at the same places."""
        found = {block_at.get((path, i + step)) for path, i in places[block]}
        one = found.pop()
        return one if not found and one and len(places[one]) == len(places[block]) else None

    out = []
    for block, at in places.items():
        if behind(block, -1):
            continue
        n, last = BLOCK, block
        while behind(last, 1):
            n, last = n + 1, behind(last, 1)
        out.append([(path, files[path][i][0], files[path][i + n - 1][0]) for path, i in at])
    return sorted(out, key=lambda run: (-(run[0][2] - run[0][1]), run))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--limit", type=int)
    p.add_argument("--list", action="store_true")
    p.add_argument("file", nargs="*")
    a = p.parse_args()
    files = {path: read(path) for path in a.file or sorted(glob.glob("hw/rtl/*.sv"))}
    found = runs(files)
    above = a.limit is not None and len(found) > a.limit
    for run in found if a.list or above else ():
        print("; ".join(f"{path}:{first}-{last}" for path, first, last in run))
    limit = "" if a.limit is None else f", at most {a.limit}"
    print(f"repeats.py: {len(found)} runs of {BLOCK} lines or more that repeat but for names in {len(files)} files{limit}")
    return above


if __name__ == "__main__":
    sys.exit(main())
