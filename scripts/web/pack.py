#!/usr/bin/env python3
"""One HTML file of the page's parts: pack.py SOURCES BUILD OUT

SOURCES has page.html, page.js and worker.js, BUILD what emcc made: heddle.js and heddle.wasm.
"""
import base64
import os
import re
import sys


def main(sources, build, out):
    def read(folder, name):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            return f.read()
    with open(os.path.join(build, "heddle.wasm"), "rb") as f:
        wasm = base64.b64encode(f.read()).decode("ascii")
    parts = {"STYLE": read("compiler/report/page", "page.css"), "ENGINE": read(build, "heddle.js"),
             "WORKER": read(sources, "worker.js"), "PAGE": read(sources, "page.js"), "WASM": wasm}
    for name in ("ENGINE", "WORKER", "PAGE"):
        if "</script" in parts[name].lower():
            sys.exit(f"pack: {name} holds </script, which would end its element")
    text = re.sub(r"@([A-Z]+)@", lambda m: parts[m[1]], read(sources, "page.html"))
    with open(out + ".tmp", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(out + ".tmp", out)


main(*sys.argv[1:])
