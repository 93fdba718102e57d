#!/usr/bin/env python3
"""The dumps in docs/compiler.md, section "One convolution", are what heddle prints.

  stages.py HEDDLE           compares, exit 1 when they differ
  stages.py HEDDLE --write   writes them into the page
"""
import re
import subprocess
import sys

PAGE = "docs/compiler.md"
STAGES = ["import", "legalize", "plan", "program"]


def dump(heddle, stage):
    text = subprocess.run([heddle, "compile", "test/models/digits", "--dump", stage, "--select", "#res_a"],
                          capture_output=True, text=True, check=True).stdout
    lines = [l for l in text.splitlines() if l and not l.startswith("# machine")]  # a fingerprint
    out = []
    for line in lines:  # 100 columns with the indentation
        while len(line) > 96:
            at = line.rindex(" ", 0, 96)
            out.append("    " + line[:at])
            line = "      " + line[at + 1:]
        out.append("    " + line)
    return "\n".join(out)


def main():
    heddle, write = sys.argv[1], sys.argv[2:] == ["--write"]
    with open(PAGE) as f:
        page = f.read()
    wrong = []
    for stage in STAGES:
        block = re.compile(r"(<!-- stage %s -->\n)(?:(?!<!-- end).)*(<!-- end -->)" % stage, re.S)
        found = block.search(page)
        now = found.group(1) + dump(heddle, stage) + "\n" + found.group(2)
        if found.group(0) != now:
            wrong.append(stage)
            page = page.replace(found.group(0), now)
    if write:
        with open(PAGE, "w") as f:
            f.write(page)
    elif wrong:
        print("%s: the dumps of %s are not what heddle prints; python3 scripts/stages.py %s --write"
              % (PAGE, ", ".join(wrong), heddle))
        sys.exit(1)


main()
