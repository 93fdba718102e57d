#!/usr/bin/env python3
"""Cycles of many networks on many machines, and what a change of the code does to them.

  cycles.py run HEDDLE OUT.csv [--work DIR] [--machines tiny,base,big] [--latencies 64,200]
                [--jobs N] FOLDER...
  cycles.py compare BEFORE.csv AFTER.csv [--all]
  cycles.py models HEDDLE [--work DIR] FOLDER...

`run` takes every network (a folder with model.onnx) below each FOLDER, quantises it first where
it has no integer layers (kept in --work, so that two runs measure the same network), and runs it
on the ISS. A line of the file: network, machine, latency, MACs, cycles, the compiler's estimate.
`compare` prints the geometric mean of after / before, and the networks that moved by 0.5 % or more.
`models` prints the models that `run` would measure, one a line.
"""
import argparse
import concurrent.futures as futures
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

FIELDS = ["network", "machine", "latency", "macs", "cycles", "estimate"]


def call(*args):
    try:
        p = subprocess.run(args, capture_output=True, text=True, timeout=900)
        return p.returncode, (p.stdout + p.stderr).strip().splitlines()[-1:]
    except subprocess.TimeoutExpired:
        return 124, ["more than 900 s"]


def facts(heddle, model, machine, latency):
    with tempfile.TemporaryDirectory() as d:
        at = os.path.join(d, "facts.json")
        code, text = call(heddle, "run", model, "--device", "iss", "--machine", machine,
                          "--mem-latency", str(latency), "--json", at)
        if code:
            return None, text
        with open(at) as f:
            return json.load(f), ""


def prepared(heddle, name, folder, work):
    """The model that is measured: as it is when the machine has something of it to do."""
    made = os.path.join(work, name.replace("/", "_") + ".onnx")
    mark = made + ".as_it_is"
    if os.path.exists(made):
        return made
    if os.path.exists(mark):
        return folder
    fact, _ = facts(heddle, folder, "base", 64)
    if fact and fact.get("macs"):
        open(mark, "w").close()
        return folder
    code, text = call(heddle, "quantize", folder, "-o", made)
    return made if code == 0 else None


def networks(folders):
    """Names and folders. A name that was there before has its top folder in front."""
    seen = set()
    for shared in folders:
        for top, below, files in os.walk(shared):
            below[:] = sorted(b for b in below if not b.startswith(("_", "test_data")))
            if "model.onnx" in files:
                name = os.path.relpath(top, shared)
                name = os.path.basename(os.path.abspath(top)) if name == "." else name
                if name in seen:
                    name = os.path.basename(os.path.abspath(shared)) + "/" + name
                seen.add(name)
                yield name, top


def measure(args):
    heddle, model, name, machine, latency = args
    fact, error = facts(heddle, model, machine, latency)
    if not fact:
        return [name, machine, latency, 0, 0, 0], error
    return [name, machine, latency, fact.get("macs") or 0, fact.get("cycles") or 0,
            fact.get("estimated_cycles") or 0], ""


def models(o, pool):
    """Names and models of all networks of which the machine does something."""
    os.makedirs(o.work, exist_ok=True)
    found = list(networks(o.folders))
    made = pool.map(lambda n: prepared(o.heddle, n[0], n[1], o.work), found)
    return [(name, model) for (name, _), model in zip(found, made) if model]


def list_models(o):
    with futures.ThreadPoolExecutor(o.jobs) as pool:
        for _, model in models(o, pool):
            print(model)


def run(o):
    with futures.ThreadPoolExecutor(o.jobs) as pool:
        jobs = [(o.heddle, model, name, m, int(l)) for name, model in models(o, pool)
                for m in o.machines.split(",") for l in o.latencies.split(",")]
        with open(o.out, "w", newline="") as f:
            out = csv.writer(f)
            out.writerow(FIELDS)
            for i, (row, error) in enumerate(pool.map(measure, jobs)):
                out.writerow(row)
                f.flush()
                if error:
                    print("%s on %s: %s" % (row[0], row[1], error), file=sys.stderr)
                if sys.stderr.isatty():
                    print("\r%d of %d" % (i + 1, len(jobs)), end="", file=sys.stderr)


def load(path):
    with open(path) as f:
        return {(r["network"], r["machine"], r["latency"]): r for r in csv.DictReader(f)}


def compare(o):
    before, after = load(o.before), load(o.after)
    ratios = []
    for key in before.keys() & after.keys():
        b, a = float(before[key]["cycles"]), float(after[key]["cycles"])
        if b > 0 and a > 0:
            ratios.append((a / b, key, b, a))
        elif b > 0:
            print("%s: no cycles now" % " ".join(key))
    if not ratios:
        sys.exit("cycles.py: the two files have no run in common")
    ratios.sort()
    for r, key, b, a in ratios:
        if o.all or abs(r - 1) >= 0.005:
            print("%-44s %-5s L=%-4s %10d %10d  %+6.2f %%" % (*key, b, a, 100 * (r - 1)))
    mean = math.exp(sum(math.log(r) for r, *_ in ratios) / len(ratios))
    print("%d runs: geometric mean %+.2f %%, worst %+.2f %%, best %+.2f %%" %
          (len(ratios), 100 * (mean - 1), 100 * (ratios[-1][0] - 1), 100 * (ratios[0][0] - 1)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    sub = p.add_subparsers(dest="command", required=True)
    r = sub.add_parser("run")
    m = sub.add_parser("models")
    for each in r, m:
        each.add_argument("heddle")
        if each is r:
            each.add_argument("out")
        each.add_argument("folders", nargs="+")
        each.add_argument("--work", default="build/cycles")
        each.add_argument("--jobs", type=int, default=os.cpu_count())
    r.add_argument("--machines", default="tiny,base,big")
    r.add_argument("--latencies", default="64,200")
    c = sub.add_parser("compare")
    c.add_argument("before")
    c.add_argument("after")
    c.add_argument("--all", action="store_true")
    o = p.parse_args()
    {"run": run, "models": list_models, "compare": compare}[o.command](o)


if __name__ == "__main__":
    main()
