#!/usr/bin/env python3
"""libheddle.so exports what its headers declare and its version script lists, and nothing else.

    check_symbols.py LIBRARY MAP HEADER...
"""
import re
import subprocess
import sys


def declared(headers):
    text = " ".join(open(h, encoding="utf-8").read() for h in headers)
    return set(re.findall(r"\bHD_API\s[^();]*?\b(hd_\w+)\(", text))


def main(library, script, headers):
    text = open(script, encoding="utf-8").read()
    listed = set(re.findall(r"^\s+(hd_\w+);", text, flags=re.M))
    version = re.search(r"^(\w+) \{", text, flags=re.M).group(1)
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                         text=True).stdout
    symbols = {line.split()[-1] for line in out.splitlines()} - {version}
    exported = {s.split("@")[0] for s in symbols}
    bad = [f"{s}: exported without version {version}" for s in symbols
           if not s.endswith("@@" + version)]
    for what, a, b in (("declared by a header, not listed in " + script, declared(headers), listed),
                       ("listed, not declared by a header", listed, declared(headers)),
                       ("listed, not exported by " + library, listed, exported),
                       ("exported, not listed", exported, listed)):
        bad += [f"{name}: {what}" for name in sorted(a - b)]
    print("\n".join(bad) if bad else f"  symbols: {library} exports the {len(listed)} names of "
          f"{script}")
    return bool(bad)


sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
