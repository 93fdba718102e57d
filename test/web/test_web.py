#!/usr/bin/env python3
"""The page of `make web` in headless Chromium: test_web.py PAGE HEDDLE [MODEL...]

Cycles are those of `heddle run`, also on a machine that was edited. Messages are those of the library. MODELs: from
file to cycles within the seconds and bytes of BARS. Nothing is said to the console, and the page asks for nothing.
"""
import json
import os
import re
import subprocess
import sys

import browser

BARS = {"mlperf_ic_resnet8_int8_qdq": 3, "mobilenet_v2_qdq_int8": 30}
BYTES = 1 << 30
DIGITS = "test/models/digits"


def fail(why):
    sys.exit(f"  FAIL  web: {why}")


def cycles(heddle, model, *options):
    out = subprocess.run([heddle, "run", model, "--json", "-", *options], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)["cycles"]


def drop(page, path):
    runs = int(page.value("document.body.dataset.runs") or 0)
    page.choose("#file", path)
    page.until(f"+document.body.dataset.runs > {runs}", 300)
    return page.value("({...document.body.dataset})")


def look(page, heddle, model, *options):
    """One network: its cycles, and the report beside them."""
    seen = drop(page, os.path.join(model, "model.onnx"))
    name, want = os.path.basename(model), cycles(heddle, model, *options)
    if seen["error"]:
        fail(f"{name}: {seen['error']}")
    if int(seen["cycles"]) != want:
        fail(f"{name}: {seen['cycles']} cycles, heddle run says {want}")
    report = page.value("document.querySelector('iframe').srcdoc")
    for part in ('"ops":{', '"places":[{', '"roofline_cycles"'):
        if part not in report:
            fail(f"{name}: no {part} in the report")
    seconds, used = int(seen["ms"]) / 1000, int(seen["bytes"])
    if seconds > BARS.get(name, 60) or used > BYTES:
        fail(f"{name}: {seconds} s and {used} bytes, at most {BARS.get(name, 60)} s and {BYTES}")
    print(f"  ok    web: {name}: {want} cycles, {seconds:.2f} s, {used >> 20} MiB", flush=True)


def main(path, heddle, *models):
    outside = re.findall(r"""(?:src|href)\s*=\s*["'](?!data:|#)[^"'@]*""", open(path, encoding="utf-8").read())
    if outside:
        fail(f"{path} reaches out of itself: {outside[0]}")
    page = browser.Browser()
    try:
        page.ask("Page.navigate", url="file://" + os.path.abspath(path))
        page.until("document.body && document.body.dataset.ready", 120)
        look(page, heddle, DIGITS)
        page.value("document.getElementById('name').value = 'tiny';"
                   "document.getElementById('name').dispatchEvent(new Event('change'))")
        page.until("document.getElementById('set-k').value === '8'", 10)
        page.value("document.getElementById('set-queue_ops').value = 8")
        look(page, heddle, DIGITS, "--machine", "tiny", "--set", "queue_ops=8")
        bad = drop(page, "README.md")
        if "README.md" not in bad["error"]:
            fail(f"README.md as a network: {bad}")
        print(f"  ok    web: README.md: {bad['error'][:70]}")
        page.value("document.getElementById('name').value = 'base';"
                   "document.getElementById('name').dispatchEvent(new Event('change'))")
        page.until("document.getElementById('set-k').value === '16'", 10)
        for model in models:
            look(page, heddle, model)
        if page.said:
            fail(f"the console says {page.said[0]}")
    finally:
        page.close()


if browser.PROGRAM:
    main(*sys.argv[1:])
else:
    print("  SKIP  web: there is no chromium; scripts/deps.sh web installs it")
