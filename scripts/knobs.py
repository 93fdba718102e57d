#!/usr/bin/env python3
"""What each knob of the plan search is worth: cycles with half and with twice its value.

  knobs.py HEDDLE [--work DIR] [--machine base] [--only NAME,...] FOLDER...

Runs every network (a folder with model.onnx) below each FOLDER on the ISS, as scripts/cycles.py
does. Prints for each knob of compiler/options/knobs.def the geometric mean of the change, and the
network that changes most: what stands in the column `effect` there.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import cycles


def run(heddle, model, machine, knob=None):
    with tempfile.TemporaryDirectory() as d:
        at = os.path.join(d, "facts.json")
        args = [heddle, "run", model, "--machine", machine, "--json", at]
        p = subprocess.run(args + (["--knob", knob] if knob else []), capture_output=True, text=True)
        if p.returncode:
            return None
        with open(at) as f:
            return json.load(f)["cycles"]


def effect(o, models, before, knob):
    ratios = []
    for name, model in models:
        now = run(o.heddle, model, o.machine, knob)
        if now is None:
            return "%s does not compile" % name
        ratios.append((now / before[name], name))
    mean = math.exp(sum(math.log(r) for r, _ in ratios) / len(ratios)) - 1
    most, name = max(ratios, key=lambda r: abs(r[0] - 1))
    if abs(most - 1) < 0.0005:
        return "0"
    return "%+.2f %% (%s %+.1f)" % (100 * mean, name, 100 * (most - 1))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("heddle")
    p.add_argument("folders", nargs="+")
    p.add_argument("--work", default="build/cycles")
    p.add_argument("--machine", default="base")
    p.add_argument("--only", default="")
    o = p.parse_args()
    os.makedirs(o.work, exist_ok=True)
    models = [(n, cycles.prepared(o.heddle, n, f, o.work)) for n, f in cycles.networks(o.folders)]
    before = {n: run(o.heddle, m, o.machine) for n, m in models if m}
    models = [(n, m) for n, m in models if before.get(n)]
    if not models:
        sys.exit("knobs.py: no network of %s has work for the machine" % " ".join(o.folders))
    listed = subprocess.run([o.heddle, "knobs", "--json", "-"], capture_output=True, check=True)
    for k in json.loads(listed.stdout)["knobs"]:
        if o.only and k["name"] not in o.only.split(","):
            continue
        text = []
        for v in (k["value"] // 2, k["value"] * 2):
            v = max(k["least"], min(k["most"], v))
            same = v == k["value"]
            text.append("at its limit" if same else
                        effect(o, models, before, "%s=%d" % (k["name"], v)))
        print("%-14s %s; %s" % (k["name"], *text), flush=True)


main()
