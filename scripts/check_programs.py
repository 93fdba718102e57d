#!/usr/bin/env python3
"""Every operation, in every mode, has a program written by hand.

usage: check_programs.py [--table]

A mode is a value of a field of up to 3 bits (isa/isa.def); those that test/cosim/cover.def excuses for random
programs as undefined or without effect are no modes. Programs are the files of test/golden/iss that run on iss
and rtl without an error. Exit 1 where a mode has none; --table prints which files have each.
"""
import collections, glob, re, sys


def read_table():
    text = open("isa/isa.def").read()
    ops = re.findall(r"^OP\((\w+), (\w+), (\d+)", text, re.M)
    fields = re.findall(r"^(?:FIELD|CHOICE)\((\w+), (\w+), (\d+), \d+, (\d+), (\w)", text, re.M)
    small, words = collections.defaultdict(dict), collections.defaultdict(lambda: collections.defaultdict(list))
    for unit, field, word, width, kind in fields:
        words[unit][word].append(field)
        if int(width) <= 3 and kind != "S":
            small[unit][field] = 1 << int(width)
    return [(u, o) for u, o, _ in ops], small, {u: {f: all for all in w.values() for f in all} for u, w in words.items()}


def no_modes():
    text = open("test/cosim/cover.def").read()
    never = set(re.findall(r"^NEVER\((\w+), (\w+), (\d),", text, re.M))
    return never, set(re.findall(r"^UNUSED\((\w+), (\w+),", text, re.M))


def programs():
    """{(operation, field, value): files} and {operation: files}, of what the programs run."""
    modes, ops = collections.defaultdict(set), collections.defaultdict(set)
    _, small, same_word = read_table()
    for path in sorted(glob.glob("test/golden/iss/*.t")):
        text = open(path).read()
        if "# EXIT:" in text or not re.search(r"^# RUN: heddle exec .*--devices iss,rtl", text, re.M):
            continue
        sticky = collections.defaultdict(int)
        for unit, op, rest in re.findall(r"^(?:\|\| *)?(\w+)\.(\w+)([^#\n]*)", text, re.M):
            given = dict(re.findall(r"(\w+)=(-?[\w.]+)", rest))
            for name in given:  # a word goes as a whole: its other fields are 0
                for other in same_word.get(unit, {}).get(name, ()):
                    sticky[unit, other] = 0
            for name in set(given) & set(small[unit]):
                sticky[unit, name] = int(given[name], 0)
            name = path.split("/")[-1][:-2]
            ops[unit, op].add(name)
            if op != "nop":
                for field in small[unit]:
                    modes[f"{unit}_{op}", field, sticky[unit, field]].add(name)
    return modes, ops


def main():
    (all_ops, small, _), (never, unused), (modes, ops) = read_table(), no_modes(), programs()
    missing, total = [], 0
    for unit, op in all_ops:
        name = f"{unit}_{op}"
        total += 1
        if not ops[unit, op]:
            missing.append(f"{unit}.{op}")
        for field, values in small[unit].items() if op != "nop" else ():
            for v in range(values):
                if (name, field) in unused or (name, field, str(v)) in never:
                    continue
                total += 1
                if not modes[name, field, v]:
                    missing.append(f"{unit}.{op} {field}={v}")
                elif "--table" in sys.argv:
                    print(f"{unit}.{op} {field}={v}: {' '.join(sorted(modes[name, field, v]))}")
    for m in missing:
        print(f"check_programs.py: {m}: no program of test/golden/iss runs it on iss and rtl")
    print(f"  programs by hand: {total - len(missing)} of {total} operations and modes")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
