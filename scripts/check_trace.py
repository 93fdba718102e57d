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


def main():
    trace = json.load(open(sys.argv[1]))
    facts, events = trace["otherData"], trace["traceEvents"]
    last, known, busy, stall, free = -1, set(), {}, {}, {}
    mem, dram, bank, counters = {}, [0, 0], {}, 0
    for e in events:
        check_event(e, known)
        if e["ph"] == "M":
            continue
        if e["ts"] < last:
            fail(f"not in order of time: {e}")
        last = e["ts"]
        if e["ph"] == "C":
            counters += 1
            dram[0] += e["args"]["read"]
            dram[1] += e["args"]["write"]
        if e["ph"] != "X":
            continue
        unit = UNITS[e["tid"]]
        if e["ts"] < free.get(unit, 0):
            fail(f"events of {unit} overlap at {e}")
        free[unit] = e["ts"] + e["dur"]
        total = busy if e["cat"] == "op" else stall
        total[unit] = total.get(unit, 0) + e["dur"]
        if e["cat"] == "op":
            mem[unit] = mem.get(unit, 0) + e["args"]["stall_memory"]
            bank[unit] = bank.get(unit, 0) + e["args"]["stall_bank"]
    if facts["window_cycles"] is None and facts["from"] == 0 and not facts["dropped_operations"]:
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
    arrows = len(known)
    print(f"trace of {facts['device']}: {facts['operations']} operations, {arrows} arrows{adds_up}")


main()
