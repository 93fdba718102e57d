#!/usr/bin/env python3
"""The order in which heddle's energy puts runs, against how often signals of the RTL change in them.

usage: energy_order.py HEDDLE FST_TOGGLES FOLDER TAU MACHINE,.. MODEL...

MACHINE is NAME or NAME+k=16+..; FOLDER gets what is written on the way. Each network runs on each machine. The estimate
is that of work on the chip: no static power, no DRAM, which the RTL does not have. Toggles are changes of bits of all
signals but clocks, a signal with several names once. Prints both for each run, the part of each unit, and Kendall's tau;
exit 1 where tau over all runs is below TAU.
"""
import collections, itertools, json, os, re, shutil, subprocess, sys

HEDDLE, TOGGLES, FOLDER, TAU = sys.argv[1:4] + [float(sys.argv[4])]
MACHINES, NETS = sys.argv[5].split(","), sys.argv[6:]
UNITS = {"mx": r"u_mx\b|u_mac", "vx": r"u_vx\b", "memories": r"u_(xm|am|pm|wm)\b|\bu_ram", "moves": r"u_(lx|lw|st)\b|u_rd",
         "others": r""}
CHIP = "".join(f"{k} = 1e9\n" for k in ("lut", "ff", "dsp", "bram", "uram", "gbs")) + "dram_pj = 0\nlut_uw = 0\nbram_uw = 0\n"


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"energy_order.py: {' '.join(args)}: exit {p.returncode}\n{p.stdout}{p.stderr}")
    return p.stdout


def options(machine):
    name, *sets = machine.split("+")
    return ["--machine", name, *(a for s in sets for a in ("--set", s))]


def measure(machine, net):
    """Joules by the estimate, toggles by unit."""
    out, of = f"{FOLDER}/run", collections.Counter()
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    machine = options(machine)
    same = ["--set", "clock_mhz=250"]  # sweep wants one parameter at least
    run(HEDDLE, "sweep", net, *machine, *same, "--board", f"{FOLDER}/chip.board", "-o", out, "--json", f"{out}/sweep.json")
    joule = json.load(open(f"{out}/sweep.json"))["points"][0]["joule"]
    int8 = [f"{out}/{n}" for n in os.listdir(out) if n.endswith(".int8.onnx")]  # of a float network
    run(HEDDLE, "run", *(int8 or [net]), *machine, "--device", "rtl", "--wave", f"{out}/x.fst")
    for line in run(TOGGLES, f"{out}/x.fst").splitlines():
        n, path = line.split(" ", 1)
        of[next(u for u, text in UNITS.items() if re.search(text, path))] += int(n) / 1e6
    shutil.rmtree(out)
    return joule * 1e6, of


def tau(pairs):
    """Kendall's: pairs in the same order less those in the other, of all."""
    def sign(x):
        return (x > 0) - (x < 0)
    signs = [sign(a[0] - b[0]) * sign(a[1] - b[1]) for a, b in itertools.combinations(pairs, 2)]
    return sum(signs) / max(len(signs), 1)


def main():
    rows = []
    os.makedirs(FOLDER, exist_ok=True)
    with open(f"{FOLDER}/chip.board", "w") as f:
        f.write(CHIP)
    print(f"{'machine':<28} {'network':<28} {'uJ':>8} {'M toggles':>9} {'pJ each':>7}" + "".join(f"{u:>10}" for u in UNITS))
    for machine, net in itertools.product(MACHINES, NETS):
        uj, of = measure(machine, net)
        m = sum(of.values())
        rows.append((machine, net, uj, m))
        print(f"{machine:<28} {os.path.basename(net):<28} {uj:8.4g} {m:9.4g} {uj / m:7.3g}"
              + "".join(f"{100 * of[u] / m:8.0f} %" for u in UNITS), flush=True)
    for name, at, of in ("networks of a machine", 0, MACHINES), ("machines of a network", 1, NETS):
        each = [tau([r[2:] for r in rows if r[at] == x]) for x in of]
        print(f"Kendall's tau over {name}: {', '.join(f'{t:.2f}' for t in each)}")
    all_of = tau([r[2:] for r in rows])
    print(f"Kendall's tau over all {len(rows)} runs: {all_of:.3f}, at least {TAU}")
    sys.exit(all_of < TAU)


main()
