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


def listed(script):
    """name -> version, of every node of the version script."""
    text = open(script, encoding="utf-8").read()
    return {name: version for version, body in re.findall(r"^(\w+) \{(.*?)^\};", text, flags=re.M | re.S)
            for name in re.findall(r"^\s+(hd_\w+);", body, flags=re.M)}


def main(library, script, headers):
    versions = listed(script)
    public = {name for name, version in versions.items() if version != "HEDDLE_PROGRAM"}
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                         text=True).stdout
    symbols = {line.split()[-1] for line in out.splitlines()} - set(versions.values())
    exported = {s.split("@")[0] for s in symbols}
    bad = [f"{s}: exported without its version of {script}" for s in symbols
           if s != f"{s.split('@')[0]}@@{versions.get(s.split('@')[0])}"]
    for what, a, b in (("declared by a header, not listed in " + script, declared(headers), public),
                       ("listed, not declared by a header", public, declared(headers)),
                       ("listed, not exported by " + library, versions.keys(), exported),
                       ("exported, not listed", exported, versions.keys())):
        bad += [f"{name}: {what}" for name in sorted(a - b)]
    print("\n".join(bad) if bad else f"  symbols: {library} exports the {len(public)} names of "
          f"{script}")
    return bool(bad)


sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
