#!/usr/bin/env python3
"""Every network of a folder on the simulated machine: `make networks`.

  networks.py BUILD SHARED [--rtl MACS] [NAME...]

A network that has no integer layers is quantised first (heddle quantize, its data sets calibrate). Then golden and
iss are compared, value by value; below MACS multiply-accumulates rtl, too. The table says what stays on the host and
why. Exit 1 when anything differs.
"""
import json
import os
import subprocess
import sys


def run(*args):
    try:
        p = subprocess.run(args, capture_output=True, text=True, timeout=600)
        return p.returncode, p.stdout + p.stderr
    except subprocess.TimeoutExpired:
        return 124, "more than 600 s"


def last(text):
    lines = [l for l in text.strip().splitlines() if l]
    return lines[-1] if lines else ""


def facts(heddle, model, device, at):
    code, text = run(heddle, "run", model, "--device", device, "--json", at)
    if code:
        return None, last(text)
    with open(at) as f:
        return json.load(f), ""


def host(fact):
    """Share of the host in the time at the machine's clock, and its operations by reason."""
    us = sum(h["host_us"] for h in fact["host_ops"])
    machine = fact.get("cycles", 0) / fact["machine"]["clock_mhz"]
    why = {}
    for h in fact["host_ops"]:
        why.setdefault(h["reason"], []).append(h["op"])
    texts = []
    for reason, ops in why.items():
        counts = ["%s%s" % (o, " x%d" % ops.count(o) if ops.count(o) > 1 else "") for o in sorted(set(ops))]
        texts.append("%s: %s" % (reason, ", ".join(counts)))
    return us / (us + machine) if us + machine else 0, texts


def network(build, folder, name, rtl_macs):
    heddle, work = build + "/heddle", os.path.join(build, "networks", name)
    os.makedirs(work, exist_ok=True)
    model, form, at = folder, "as it is", os.path.join(work, "facts.json")
    fact, error = facts(heddle, model, "iss", at)
    if not fact:
        return [name, form, error], True
    if not fact.get("macs"):
        made = os.path.join(work, "model.onnx")
        code, text = run(heddle, "quantize", folder, "-o", made)
        if code:
            return [name, "heddle quantize", last(text)], True
        model, form = made, "quantised"
        fact, error = facts(heddle, model, "iss", at)
        if not fact:
            return [name, form, error], True
    devices = "golden,iss"
    if 0 < fact["macs"] < rtl_macs:
        devices += ",rtl"
    code, text = run(heddle, "compare", model, "--devices", devices)
    share, why = host(fact)
    row = [name, form, devices if code == 0 else last(text), "%.1f M" % (fact["macs"] / 1e6), str(fact.get("cycles", 0)),
           "%.0f %%" % (100 * fact["efficiency"]), "%.0f %%" % (100 * share), "; ".join(why)]
    return row, code == 0


def main():
    build, shared, *rest = sys.argv[1:]
    rtl_macs = float(rest[1]) if rest[:1] == ["--rtl"] else 0
    only = rest[2:] if rtl_macs else rest
    names = []
    for top, folders, files in os.walk(shared):
        folders[:] = [f for f in folders if not f.startswith(("_", "test_data"))]
        if "model.onnx" in files:
            names.append(os.path.relpath(top, shared))
    good = True
    print("| network | form | bit-equal on | MACs on it | cycles | of its roofline | host, of the time | on the host |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in sorted(only or names):
        row, ok = network(build, os.path.join(shared, name), name, rtl_macs)
        good = good and ok
        print("| %s |" % " | ".join(row), flush=True)
    sys.exit(0 if good else 1)


main()
