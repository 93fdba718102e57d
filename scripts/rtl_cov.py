#!/usr/bin/env python3
"""Coverage of the RTL by module, from the files that models built with --coverage write.

usage: rtl_cov.py FOLDER

A line point is a branch of the source, a toggle point one direction of one bit; a point of a module counts as hit
when some instance of it hit it in some run. Bits that cannot move (address bits above a memory, fields of one
legal value) stay in the count: toggles are a place to look, not a target.
"""
import collections, glob, re, sys


def main():
    points = collections.defaultdict(lambda: collections.defaultdict(int))
    files = glob.glob(sys.argv[1] + "/*.dat")
    if not files:
        sys.exit(f"rtl_cov.py: no coverage data in {sys.argv[1]}")
    for path in files:
        for line in open(path, errors="replace"):
            if not line.startswith("C '"):
                continue
            body, count = line[3:].rsplit("' ", 1)
            keys = dict(k.split("\x02", 1) for k in body.split("\x01") if "\x02" in k)
            kind, _, module = keys.get("page", "").partition("/")
            module = re.sub(r"__.*", "", module)
            if module.startswith("hd_"):
                points[module][kind, keys.get("f"), keys.get("l"), keys.get("n"), keys.get("o")] += int(count)
    form = "{:<18} {:>7} {:>7} {:>8} {:>9} {:>9} {:>8}"
    print(form.format("module", "lines", "hit", "", "toggles", "hit", ""))
    total = collections.Counter()
    for module in sorted(points):
        n = collections.Counter()
        for (kind, *_), count in points[module].items():
            kind = "toggle" if "toggle" in kind else "line"
            n[kind] += 1
            n[kind, "hit"] += count > 0
        print_row(form, module, n)
        total.update(n)
    print_row(form, "total", total)


def print_row(form, name, n):
    share = lambda k: f"{100 * n[k, 'hit'] / n[k]:.1f} %" if n[k] else "-"
    print(form.format(name, n["line"], n["line", "hit"], share("line"), n["toggle"], n["toggle", "hit"],
                      share("toggle")))


if __name__ == "__main__":
    main()
