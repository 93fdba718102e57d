#!/usr/bin/env python3
"""Checks a trace of `heddle run --trace`: its form, and that its events add up to the counters.

usage: check_trace.py TRACE.json    prints one line; exit status 1 names what is wrong.
"""
import json, sys

UNITS = ["seq", "lx", "lw", "mx", "vx", "st"]


def fail(why):
    sys.exit(f"check_trace: {sys.argv[1]}: {why}")


def check_event(e, known):
    for key in ("name", "ph", "ts", "pid", "tid"):
        if key not in e:
            fail(f"an event without {key}: {e}")
    if not isinstance(e["name"], str) or not isinstance(e["ts"], int) or e["ts"] < 0:
        fail(f"bad name or ts: {e}")
    if e["ph"] not in "XCMsf":
        fail(f"unknown phase: {e}")
    if e["ph"] == "X" and (not isinstance(e.get("dur"), int) or e["dur"] < 0):
        fail(f"complete event without dur: {e}")
    if e["ph"] in "XC" and not isinstance(e.get("args"), dict):
        fail(f"event without args: {e}")
    if e["ph"] == "C" and not all(isinstance(v, int) for v in e["args"].values()):
        fail(f"counter that is no number: {e}")
    if e["ph"] == "s":
        known.add(e["id"])
    if e["ph"] == "f" and e["id"] not in known:
        fail(f"arrow that ends before it begins: {e}")


def check_layers(facts, work, complete):
    """Layers add up to the run; MX and VX of each, in the events, are what was counted."""
    total = sum(l["cycles"] for l in facts["layers"])
    if facts["layers"] and total != facts["cycles"]:
        fail(f"the layers have {total} cycles together, the run {facts['cycles']}")
    for l in facts["layers"] if complete else []:
        for unit in "mx", "vx":
            if work.get((unit, l["name"]), 0) != l[unit + "_busy"]:
                fail(f"{unit} worked {work.get((unit, l['name']), 0)} cycles for {l['name']} in the events, "
                     f"{l[unit + '_busy']} counted")


def main():
    trace = json.load(open(sys.argv[1]))
    facts, events = trace["otherData"], trace["traceEvents"]
    last, known, busy, stall, free = -1, set(), {}, {}, {}  # sums by unit
    mem, dram, bank, counters, work = {}, [0, 0], {}, 0, {}
    for e in events:
        check_event(e, known)
        if e["ph"] == "M":
            continue
        if e["ts"] < last and facts["level"] != "counters":
            fail(f"not in order of time: {e}")
        last = e["ts"]
        if e["ph"] == "C":
            counters += 1
            dram[0] += e["args"]["read"]
            dram[1] += e["args"]["write"]
        if e["ph"] != "X" or e["cat"] == "within":
            continue
        unit = UNITS[e["tid"]]
        if e["ts"] < free.get(unit, 0):
            fail(f"events of {unit} overlap at {e}")
        free[unit] = e["ts"] + e["dur"]
        args = e["args"]
        if e["cat"] == "op":
            if args.get("busy", 0) > e["dur"]:
                fail(f"busier than it is long: {e}")
            busy[unit] = busy.get(unit, 0) + args.get("busy", e["dur"])
            if "layer" in args:
                key = unit, args["layer"]
                work[key] = work.get(key, 0) + args.get("busy", e["dur"])
        if e["cat"] == "stall" or facts["level"] == "layer" and unit != "seq":
            stall[unit] = stall.get(unit, 0) + args.get("stall_semaphore", e["dur"])
        if e["cat"] == "op":
            mem[unit] = mem.get(unit, 0) + e["args"].get("stall_memory", 0)
            bank[unit] = bank.get(unit, 0) + e["args"].get("stall_bank", 0)
    if facts["level"] == "counters":
        for unit, want in facts["units"].items():
            if busy.get(unit, 0) != want["busy"] or stall.get(unit, 0) != want["stall_semaphore"]:
                fail(f"cycles of {unit} are not those counted")
        print(f"trace of {facts['device']}: counters only")
        return
    check_layers(facts, work, not facts["selected"] and facts["window_cycles"] is None and facts["from"] == 0
                 and not facts["dropped_operations"])
    if not facts["selected"] and facts["window_cycles"] is None and facts["from"] == 0 and not facts["dropped_operations"]:
        for unit, want in facts["units"].items():
            for what, got in (("busy", busy), ("stall_semaphore", stall), ("stall_memory", mem),
                              ("stall_bank", bank)):
                if got.get(unit, 0) != want[what]:
                    fail(f"{what} of {unit}: {got.get(unit, 0)} in the events, {want[what]} counted")
        if dram != [facts["dram_read_bytes"], facts["dram_write_bytes"]]:
            fail(f"DRAM bytes {dram} in the events, counted {facts['dram_read_bytes']}, "
                 f"{facts['dram_write_bytes']}")
        adds_up = ", adds up to the counters"
    else:
        adds_up = ", a window"
    what = f"{facts['events']} events" if facts["level"] == "layer" else f"{facts['operations']} operations"
    print(f"trace of {facts['device']}: {what}, {len(known)} arrows{adds_up}")


main()
