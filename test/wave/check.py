#!/usr/bin/env python3
"""Runs a network with --wave and --trace and compares the two files: check.py HEDDLE FST_TEXT.

Every operation of the trace must stand in the waveforms, in the same cycles: unit, layer, name and
place. Registers of the RTL must say so, too. Then windows, selections and errors.
"""
import json, os, re, subprocess, sys, tempfile

HEDDLE, FST_TEXT = sys.argv[1:3]
NET = "test/models/digits"
UNITS = ["seq", "lx", "lw", "mx", "vx", "st"]


def fail(why):
    sys.exit("test-wave: " + why)


def heddle(*args, status=0):
    p = subprocess.run([HEDDLE, "run", NET, "--machine", "tiny", *args], capture_output=True, text=True)
    if p.returncode != status:
        fail(f"heddle run {' '.join(args)}: exit status {p.returncode}, want {status}\n{p.stderr}")
    return p.stderr


class Waves:
    """Signals by name: changes as (picosecond, value)."""

    def __init__(self, path):
        p = subprocess.run([FST_TEXT, path], capture_output=True, text=True)
        if p.returncode:
            fail(f"{path}: {p.stderr}")
        self.changes, scope, ids, now = {}, [], {}, 0
        for line in p.stdout.splitlines():
            w = line.split()
            if line.startswith("$scope"):
                scope.append(w[2])
            elif line.startswith("$upscope"):
                scope.pop()
            elif line.startswith("$var"):
                name = ".".join(scope + [w[4]])
                ids.setdefault(w[3], []).append(name)
                self.changes.setdefault(name, [])
            elif line.startswith("#"):
                now = int(line[1:])
            elif w and (line[0] in "bB" or line[0] in "01xz"):
                value, key = (w[0][1:], w[1]) if line[0] in "bB" else (line[0], line[1:])
                for name in ids.get(key, []):
                    self.changes[name].append((now, int(value, 2) if set(value) <= set("01") else None))
        self.end = now // 1000

    def cycles(self, name):
        """Value of a signal by cycle."""
        out, value, changes = [], None, iter(self.changes[name] + [(1 << 62, None)])
        when, nxt = next(changes)
        for c in range(self.end + 1):
            while when <= c * 1000:
                value = nxt
                when, nxt = next(changes)
            out.append(value)
        return out


def check_events(waves, trace):
    layers = {n: i for i, n in enumerate(l["name"] for l in trace["otherData"]["layers"])}
    seen, count = {u: {s: waves.cycles(f"heddle.{u}.{s}") for s in ("layer", "operation", "pc", "state")}
                   for u in UNITS[1:]}, 0
    for e in trace["traceEvents"]:
        if e["ph"] != "X" or e["cat"] != "op" or e["tid"] == 0 or e["name"].endswith("nop"):
            continue
        u, want = UNITS[e["tid"]], {"pc": e["args"]["pc"], "layer": layers[e["args"]["layer"]], "operation": 1}
        if e["name"].endswith("vx.dw"):
            want["operation"] = 2
        for c in range(e["ts"], e["ts"] + e["dur"]):
            for s, v in want.items():
                if seen[u][s][c] != v:
                    fail(f"{u}.{s} is {seen[u][s][c]} in cycle {c}, the trace says {v}: {e['name']}")
            if seen[u]["state"][c] == 0:
                fail(f"{u}.state is idle in cycle {c}, the trace says {e['name']}")
        count += 1
    if count < 50:
        fail(f"only {count} operations in the trace")
    return count


def check_rtl(waves, trace):
    """MX counts as busy as often as the trace says; its front's place is that of the operation."""
    busy = sum((v or 0) >> 3 & 1 for v in waves.cycles("TOP.hd_sim.hd_top.busy"))
    want = trace["otherData"]["units"]["mx"]["busy"]
    if busy != want:
        fail(f"hd_top.busy of MX is set in {busy} cycles, counted were {want}")
    states = waves.changes["TOP.hd_sim.hd_top.u_core.gen_front[3].u_front.state_q"]
    if len({v for _, v in states}) < 4:
        fail("the front of MX goes through less than four states")


def check_names(path, text):
    for word in ("conv1", "gemm", "semaphore", "Offer"):
        if word not in text:
            fail(f"{path}: no value has the name {word}")


def check_save(fst, save, waves):
    lines = open(save).read().splitlines()
    if lines[0] != f'[dumpfile] "{os.path.basename(fst)}"':
        fail(f"{save}: {lines[0]}")
    known = {re.sub(r"\[\d+:\d+\]$", "", n) for n in waves.changes}
    shown = [l for l in lines[1:] if l[0] not in "@-"]
    for l in shown:
        if re.sub(r"\[\d+:\d+\]$", "", l) not in known:
            fail(f"{save}: shows {l}, which the waveforms do not have")
    for u in UNITS:
        for s in ("operation", "state"):
            if not any(l.startswith(f"heddle.{u}.{s}") for l in shown):
                fail(f"{save}: does not show {s} of {u}")
    begins, ends = sum(l in ("@800200", "@c00200") for l in lines), sum(l in ("@1000200", "@1401200") for l in lines)
    if begins != ends or begins < 2 * len(UNITS):
        fail(f"{save}: {begins} groups begin, {ends} end")


def check_window(folder, trace):
    fst = folder + "/w.fst"
    heddle("--device", "rtl", "--wave", fst, "--wave-from", "1000", "--wave-cycles", "200")
    on = Waves(fst).changes["heddle.recording"]
    if on != [(1000000, 1), (1200000, 0)]:
        fail(f"window 1000..1200: recording changes at {on}")
    heddle("--device", "rtl", "--wave", fst, "--select", "#pool")
    w = Waves(fst)
    pool = [l["name"] for l in trace["otherData"]["layers"]].index("pool")
    tags = [w.cycles(f"heddle.{u}.layer") for u in UNITS[1:]]
    states = [w.cycles(f"heddle.{u}.state") for u in UNITS[1:]]
    on = w.cycles("heddle.recording")
    if not any(on) or on.count(1) > trace["otherData"]["cycles"] // 2:
        fail(f"--select of one layer records {on.count(1)} cycles")
    for c in range(len(on)):
        if on[c] == 1 and not any(t[c] == pool and s[c] for t, s in zip(tags, states)):
            fail(f"cycle {c} is recorded, no unit works on pool in it")


def check_errors(folder):
    for args, status, text in (
            (("--device", "rtl", "--wave", "/no/such/x.fst"), 1, "cannot write"),
            (("--device", "iss", "--wave", folder + "/e.fst"), 2, "want --device rtl"),
            (("--device", "rtl", "--wave", folder + "/e.fst", "--select", "#no_such"), 1, "means no layer"),
            (("--device", "rtl", "--wave", folder + "/e.fst", "--wave-from", "99999999"), 1, "no cycle of the run"),
            (("--device", "rtl", "--wave", "/dev/null"), 1, "is no file"),
            (("--device", "rtl", "--wave-from", "3"), 2, "want --wave")):
        err = heddle(*args, status=status)
        if text not in err:
            fail(f"heddle run {' '.join(args)}: says {err!r}, want {text!r}")
    left = [f for f in os.listdir(folder) if f.startswith("e.")]
    if left:
        fail(f"errors leave {left}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        fst, js = folder + "/x.fst", folder + "/t.json"
        heddle("--device", "rtl", "--wave", fst, "--trace", js)
        waves, trace = Waves(fst), json.load(open(js))
        n = check_events(waves, trace)
        check_rtl(waves, trace)
        check_names(fst, subprocess.run([FST_TEXT, fst], capture_output=True, text=True).stdout)
        check_save(fst, folder + "/x.gtkw", waves)
        check_window(folder, trace)
        check_errors(folder)
        print(f"  OK    waveforms: {n} operations and {len(waves.changes)} signals as the trace says")


main()
