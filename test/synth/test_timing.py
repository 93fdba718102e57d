#!/usr/bin/env python3
"""Timing of joined netlists (hw/synth/timing.py): small netlists whose longest path is known by hand.

The table of delays here has round numbers, so that each sum can be followed. Corners: least is half
of likely, most is twice it. The last test reads hw/synth/delays.txt itself.
"""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../hw/synth")
import fanout  # noqa: E402
from delays import Delays  # noqa: E402
from netlist import Machine, Module  # noqa: E402
from timing import Timing  # noqa: E402

ROWS = """out FDRE - C Q 100
setup FDRE - C D 50
setup FDRE - C CE 60
setup FDRE - C R 70
arc LUT[1-6] - I[0-5] O 100
arc INV - I O 0
arc MUXF7 - I[01] O 70
arc MUXF7 - S O 80
arc CARRY4 - CI CO 20
arc CARRY4 - CI O 40
arc CARRY4 - S >=CO 120
arc CARRY4 - S >=O 90
arc CARRY4 - DI >=CO 110
arc CARRY4 - DI >O 130
arc DSP48E2 AREG=0,MREG=0 A P 1800
setup DSP48E2 AREG=0,MREG=1 CLK A 900
out DSP48E2 MREG=1 CLK P 800
setup DSP48E2 AREG=1 CLK A 200
out RAMB36E2 DOA_REG=0 CLKARDCLK DOUTADOUT 1000
out RAMB36E2 DOA_REG=1 CLKARDCLK DOUTADOUT 220
setup RAMB36E2 - CLKARDCLK ADDRARDADDR 400
out URAM288 - CLK DOUT_A 1200
setup URAM288 - CLK ADDR_A 500
near FDRE - D LUT. 30
near MUXF7 - I[01] LUT. 20
near CARRY4 - S LUT. 10
fixed CARRY4 - CI CARRY4 6
fixed INV - I .* 0"""
OUTPUTS = {"Q", "O", "CO", "P", "DOUTADOUT", "DOUT_A"}
CLOCK = 2


def table(extra=""):
    lines = ["#   t     a test"]
    lines += [f"{r.rsplit(' ', 1)[0]} {{0}} t".format(corners(int(r.rsplit(' ', 1)[1])))
              for r in ROWS.splitlines() if r]
    lines += [f"wire {n} {corners(ps)} t" for n, ps in ((1, 200), (2, 300), (1000, 500))]
    lines += [f"port in {corners(100)} t", f"port out {corners(0)} t", f"clock {corners(0)} t", extra]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write("\n".join(lines) + "\n")
        f.flush()
        return Delays(f.name)


def corners(ps):
    return f"{ps // 2} {ps} {2 * ps}"


def cell(kind, parameters=None, **pins):
    """A cell of yosys' JSON; a pin is a net or a list of such."""
    bits = {p: b if isinstance(b, list) else [b] for p, b in pins.items()}
    return {"type": kind, "parameters": parameters or {}, "connections": bits,
            "port_directions": {p: "output" if p in OUTPUTS else "input" for p in bits}}


def module(cells, **ports):
    """ports: name=(direction, bits)"""
    return {"ports": {p: {"direction": d, "bits": b} for p, (d, b) in ports.items()},
            "cells": cells,
            "netnames": {p: {"bits": b, "hide_name": 0} for p, (_, b) in ports.items()}}


def ff(d, q, **more):
    return cell("FDRE", C=CLOCK, D=d, Q=q, **more)


def lut(i, o):
    return cell(f"LUT{len(i)}", O=o, **{f"I{n}": b for n, b in enumerate(i)})


def timed(modules, top="top", lanes=None, false=(), extra=""):
    delays, read = table(extra), {}

    def find(kind):
        if kind not in read:
            read[kind] = Module(kind, modules[kind], delays)
        return read[kind], (lanes or {}).get(kind, 1)
    return Timing(Machine(top, find), false)


def expect(name, got, want):
    if got != want:
        sys.exit(f"test_timing: {name}: got {got}, want {want}")


def refused(name, make, want):
    try:
        make()
    except SystemExit as e:
        if want not in str(e):
            sys.exit(f"test_timing: {name}: got \"{e}\", want \"{want}\"")
        return
    sys.exit(f"test_timing: {name}: not refused, want \"{want}\"")


def period(name, modules, ps, **more):
    t = timed(modules, **more)
    expect(name, [int(p) for p in t.period], [ps // 2, ps, 2 * ps])
    return t


def cells():
    """One module each: LUT and its wires, multiplexer, carry, DSP, memories."""
    # Q 100, wire of 1 load 200, LUT 100, wire within the slice 30, D 50
    t = period("ff lut ff", {"top": module({"a": ff("0", 3), "l": lut([3], 4), "b": ff(4, 5)})}, 480)
    expect("levels", t.levels(t.path(0)), 1)
    # the LUT has two loads: no slice holds both, 300
    period("two loads", {"top": module({"a": ff("0", 3), "l": lut([3], 4), "b": ff(4, 5), "c": ff(4, 6)})}, 750)
    # the later of two ways: 100 + 300 + 100 + 200 + 100 + 30 + 50
    period("two ways", {"top": module({"a": ff("0", 3), "l": lut([3], 4), "m": lut([3, 4], 5), "b": ff(5, 6)})},
           880)
    # 100 + 200 + 100 + 20 within the slice + 70 + wire 200 + 50
    period("multiplexer", {"top": module({"a": ff("0", 3), "l": lut([3], 4),
                                          "x": cell("MUXF7", I0=4, I1="0", S="0", O=5), "b": ff(5, 6)})}, 740)
    # 100 + 200 + 100 + 10 + S[3] to CO[3] 120 + 6 + CI to O 40 + 200 + 50; S[3] does not reach O[0]
    low = cell("CARRY4", CI="0", CYINIT="0", DI=["0"] * 4, S=["0", "0", "0", 4], CO=[5, 6, 7, 8], O=[9, 10, 11, 12])
    high = cell("CARRY4", CI=8, CYINIT="0", DI=["0"] * 4, S=["0"] * 4, CO=[13, 14, 15, 16], O=[17, 18, 19, 20])
    carry = {"a": ff("0", 3), "l": lut([3], 4), "x": low, "y": high}
    period("carry", {"top": module({**carry, "b": ff(17, 21)})}, 826)
    t = timed({"top": module({"a": ff("0", 3), "l": lut([3], 4), "x": low, "b": ff(9, 21)})})
    expect("no arc downwards", int(t.period[1]) < 0, True)
    low = cell("CARRY4", CI="0", CYINIT="0", DI=[3, "0", "0", "0"], S=["0"] * 4, CO=[5, 6, 7, 8], O=[9, 10, 11, 12])
    t = timed({"top": module({"a": ff("0", 3), "x": low, "b": ff(9, 21)})})
    expect("DI does not reach its own O", int(t.period[1]) < 0, True)
    dsp = {"AREG": "0", "MREG": "0", "BREG": "0"}
    # 100 + 200 + 1800 + 200 + 50; with M inside: 800 + 200 + 50 after it, 100 + 200 + 900 before it
    cells = {"a": ff("0", 3), "m": cell("DSP48E2", dsp, A=[3], P=[4]), "b": ff(4, 5)}
    period("multiplier", {"top": module(cells)}, 2350)
    # what is late by one slow cell, not by many: 100 + 500 + 1800 + 200 + 100 + 30 + 50
    slow = {"a": ff("0", 3), "m": cell("DSP48E2", dsp, A=[3], P=[4]), "k": lut([3], 5), "l": lut([5], 6),
            "n": lut([3, 6], 7), "o": lut([4, 7], 8), "b": ff(8, 9)}
    period("slow cell", {"top": module(slow)}, 2780)
    m = cell("DSP48E2", {**dsp, "MREG": "1"}, A=[3], P=[4], CLK=CLOCK)
    period("multiplier, M", {"top": module({**cells, "m": m})}, 1200)
    # 1000 + 200 + 100 + 30 + 50; address 100 + 200 + 400
    ram = cell("RAMB36E2", {"DOA_REG": "0"}, CLKARDCLK=CLOCK, ADDRARDADDR=[3], DOUTADOUT=[4])
    period("block RAM", {"top": module({"a": ff("0", 3), "r": ram, "l": lut([4], 5), "b": ff(5, 6)})}, 1380)
    ram = cell("RAMB36E2", {"DOA_REG": "1"}, CLKARDCLK=CLOCK, ADDRARDADDR=[3], DOUTADOUT=[4])
    period("block RAM, address", {"top": module({"a": ff("0", 3), "r": ram, "l": lut([4], 5), "b": ff(5, 6)})}, 700)
    uram = cell("URAM288", CLK=CLOCK, ADDR_A=[3], DOUT_A=[4])
    period("UltraRAM", {"top": module({"a": ff("0", 3), "r": uram, "b": ff(4, 5)})}, 1450)
    # an inverter costs nothing: as without it, D driven by INV is a wire of 1 load
    period("inverter", {"top": module({"a": ff("0", 3), "i": cell("INV", I=3, O=4), "b": ff(4, 5)})}, 350)
    # a constant has no time: 100 + 200 + CE 60
    period("constant", {"top": module({"a": ff("0", 3), "l": lut(["1"], 4), "b": ff(4, 5, CE=3)})}, 360)


def joined():
    """Paths through the borders of modules."""
    inner = module({"l": lut([2], 3)}, i=("input", [2]), o=("output", [3]))
    around = {"a": ff("0", 3), "b": ff(5, 6), "u": cell("hd_in", i=[3], o=[4]), "v": cell("hd_in", i=[4], o=[5])}
    # two instances: 100 + 200 + 100 + 200 + 100 + 30 + 50
    t = period("two modules", {"top": module(around), "hd_in": inner}, 780)
    expect("instances", [i[0] for i in t.m.instances], ["", "u.", "v."])
    expect("by module", t.by_module(), {"top": 780, "hd_in": 0})
    lines = []
    t.show(1, lines.append)
    expect("words of a path", [l.split() for l in lines[1:]], [
        ["ps", "cell", "loads", "net"], ["100", "start", "1", "u.i"], ["400", "LUT1", "1", "u.o"],
        ["700", "LUT1", "1", "v.o"], ["780", "FDRE", "D:", "setup,", "clock"]])
    # a port that is another port: the wire of both, 100 + 200 + 50
    through = module({}, i=("input", [2]), o=("output", [2]))
    period("through", {"top": module(around), "hd_in": through}, 350)
    # one lane stands for two; what both share is one net of two loads: 100 + 300 + 100 + 30 + 50
    lane = module({"l": lut([2, 3], 4)}, s=("input", [2]), i=("input", [3]), o=("output", [4]))
    cells = {"a": ff("0", 3), "b": ff(6, 8), "c": ff(7, 9), "u": cell("hd_lane", s=[3], i=["0", "1"], o=[6, 7])}
    t = period("lanes", {"top": module(cells), "hd_lane": lane}, 580, lanes={"hd_lane": 2})
    expect("loads", t.m.n_loads.max(), 2)
    # ports: register outside 100 + 200 + 100 + 200 + 0
    period("ports", {"top": inner}, 600)
    # wide nets: 5 loads, and 5 enables
    many = {f"b{i}": ff(3, 10 + i, CE=4) for i in range(5)}
    t = timed({"top": module({"a": ff("0", 3), "e": ff("0", 4), **many})})
    expect("wide", [(n, c) for n, c, _ in t.wide_nets(4, 5)], [(5, 0)])
    expect("wide enables", [(n, c) for n, c, _ in t.wide_nets(5, 4)], [(5, 5), (5, 0)])


def copies():
    """Drivers of many loads, doubled until none has more."""
    def limited(cells, most, **more):
        delays = table()
        m = Machine("top", lambda kind: (Module(kind, module(cells, **more), delays), 1))
        made = fanout.limit(m, most)
        return made, m, Timing(m)

    # seven loads of b: two copies more; a has three loads then
    flops = {"a": ff("0", 3), "b": ff(3, 4), **{f"c{i}": ff(4, 10 + i) for i in range(7)}}
    made, m, t = limited(flops, 3)
    expect("copies of flip-flops", dict(made), {("top", "FDRE"): 2})
    expect("loads of copies", sorted(m.n_loads[m.n_loads > 0].tolist()), [1, 3, 3, 3])
    expect("wide after copies", t.wide_nets(3, 99), [])
    expect("ends of copies", len(m.ends), 8)
    # LUTs, which keep their arcs; a cell that reads twice stays whole
    luts = {"a": ff("0", 3), "l": lut([3], 4), "m": lut([4, 4], 5), "n": lut([4], 6), "o": lut([4], 7),
            **{f"c{i}": ff(5 + i, 20 + i) for i in range(3)}}
    made, m, t = limited(luts, 2)
    expect("copies of LUTs", dict(made), {("top", "LUT1"): 1})
    expect("loads of LUTs", sorted(m.n_loads[m.n_loads > 0].tolist()), [1, 1, 1, 2, 2, 2])
    expect("period through copies", int(t.period[1]), 100 + 300 + 100 + 300 + 100 + 30 + 50)
    lines = []
    t.show(1, lines.append)
    expect("name of a copy", [l.split()[-1] for l in lines[2:]], ["1", "4", "5", "clock"])
    # enables stay; ports and multipliers cannot be doubled
    enables = {"e": ff("0", 4), **{f"c{i}": ff("0", 10 + i, CE=4) for i in range(5)}}
    expect("enables", dict(limited(enables, 2)[0]), {})
    given = {f"c{i}": ff(4, 10 + i) for i in range(5)}
    expect("a port", dict(limited(given, 2, x=("input", [4]))[0]), {})
    ram = cell("URAM288", CLK=CLOCK, ADDR_A=["0"], DOUT_A=[4])
    expect("a memory", dict(limited({"r": ram, **given}, 2)[0]), {})


def refusals():
    two = module({"a": ff("0", 3), "l": lut([3], 4), "b": ff(4, 5)})
    two["netnames"] = {"slow_q": {"bits": [3], "hide_name": 0}}
    t = timed({"top": two}, false=[("slow*", "a constant of the run")])
    expect("false path", int(t.period[1]) < 0, True)
    refused("false path", lambda: timed({"top": two}, false=[("fast", "")]), "no register is named fast")
    loop = {"a": ff("0", 3), "l": lut([3, 5], 4), "m": lut([4], 5), "b": ff(4, 6)}
    refused("loop", lambda: timed({"top": module(loop)}), "a loop without a register")
    refused("cell", lambda: timed({"top": module({"a": ff("0", 3), "x": cell("LUT7", I0=3, O=4)})}), "no row for a LUT7")
    refused("input", lambda: timed({"top": module({"a": ff("0", 3), "b": ff(3, 4, X=3)})}), "no row for the input X")
    bad = {"m": cell("DSP48E2", {"AREG": "0", "MREG": "0"}, A=[3], CARRYIN=[3], P=[4]), "a": ff("0", 3), "b": ff(4, 5)}
    refused("arc", lambda: timed({"top": module(bad)}), "no row for the input CARRYIN of a DSP48E2")
    refused("parameter", lambda: timed({"top": module({"m": cell("DSP48E2", A=[3], P=[4])})}), "without the parameter AREG")
    refused("driver", lambda: timed({"top": module({"a": ff("0", 3), "b": ff("0", 3)})}), "two drivers")
    refused("order", lambda: table("wire 9 3 2 1 t"), "not least, likely, most")
    refused("source", lambda: table("wire 9 1 2 3 x"), "the source x is not explained")


def main():
    cells()
    joined()
    copies()
    refusals()
    Delays(f"{HERE}/../../hw/synth/delays.txt")
    print("test_timing: ok")


if __name__ == "__main__":
    main()
