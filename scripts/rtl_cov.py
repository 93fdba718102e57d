#!/usr/bin/env python3
"""Coverage of the RTL by module, from the files that models built with --coverage write.

usage: rtl_cov.py FOLDER [RULES]

A line point is a branch of the source, a toggle point one direction of one bit; a point of a module counts as hit
when some instance of it hit it in some run. RULES has two kinds of lines:

    floor MODULE LINES TOGGLES     percent; fewer is an error, and so is a module without a floor
    never FILE TEXT : REASON       a line with TEXT is not reached, for this reason

Ends in the table and the lines that nothing reached, with their reasons; exit 1 below a floor, and for a line without a reason. Bits that cannot move
(address bits above a memory, fields of one legal value) stay in the count: toggles are a place to look, not a target.
"""
import collections, glob, os, re, sys


def read_points(folder):
    points = collections.defaultdict(lambda: collections.defaultdict(int))
    files = glob.glob(folder + "/*.dat")
    if not files:
        sys.exit(f"rtl_cov.py: no coverage data in {folder}")
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
    return points


def read_rules(path):
    floors, never = {}, []
    for number, line in enumerate(open(path) if path else (), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        words = line.split()
        if words[0] == "floor" and len(words) == 4:
            floors[words[1]] = float(words[2]), float(words[3])
        elif words[0] == "never" and " : " in line:
            what, reason = line.split(" : ", 1)
            never.append((words[1], what.split(None, 2)[2], reason))
        else:
            sys.exit(f"{path}:{number}: want 'floor MODULE LINES TOGGLES' or 'never FILE TEXT : REASON'")
    return floors, never


def share(n, kind):
    return 100 * n[kind, "hit"] / n[kind] if n[kind] else 100.0


def main():
    points = read_points(sys.argv[1])
    rules = sys.argv[2] if len(sys.argv) > 2 else None
    floors, never = read_rules(rules)
    form = "{:<18} {:>7} {:>7} {:>8} {:>6} {:>9} {:>9} {:>8} {:>6}"
    print(form.format("module", "lines", "hit", "", "floor", "toggles", "hit", "", "floor"))
    total, missed, low = collections.Counter(), collections.Counter(), []
    for module in sorted(points):
        n = collections.Counter()
        for (kind, path, line, *_), count in points[module].items():
            kind = "toggle" if "toggle" in kind else "line"
            n[kind] += 1
            n[kind, "hit"] += count > 0
            if kind == "line" and not count:
                missed[path, int(line)] += 1
        total.update(n)
        floor = floors.pop(module, None)
        if rules and (not floor or share(n, "line") < floor[0] or share(n, "toggle") < floor[1]):
            low.append(module)
        print(row(form, module, n, floor or ("-", "-")))
    print(row(form, "total", total, ("", "")))
    unexplained = 0
    if missed:
        print("lines that nothing reached:")
    for path, line in sorted(missed):
        text = open(path).read().splitlines()[line - 1].strip() if os.path.exists(path) else "?"
        why = next((r for f, t, r in never if os.path.basename(path) == f and t in text), None)
        unexplained += why is None
        print(f"  {os.path.basename(path)}:{line}: {text[:70]}\n      {why or 'no reason known'}")
    print(f"coverage: {share(total, 'line'):.1f} % of lines, {share(total, 'toggle'):.1f} % of toggles, {len(missed)} lines "
          f"not reached, {unexplained} of them without a reason; {len(low)} modules below their floor{': ' if low else ''}"
          f"{', '.join(low)}")
    for module in floors:
        print(f"rtl_cov.py: {rules}: no module {module}")
    return 1 if low or floors or unexplained else 0


def row(form, name, n, floor):
    return form.format(name, n["line"], n["line", "hit"], f"{share(n, 'line'):.1f} %", floor[0], n["toggle"],
                       n["toggle", "hit"], f"{share(n, 'toggle'):.1f} %", floor[1])


if __name__ == "__main__":
    sys.exit(main())
