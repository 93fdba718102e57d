#!/usr/bin/env python3
"""Area of a machine: yosys synth_xilinx for UltraScale+, a table of modules, compared with stored budgets.

usage: synth.py WORK_DIR GEN_DIR MACHINE BUDGET_FILE -- RTL...

Counts are of all instances of a module, its submodules counted on their own line. LUT: LUT1..6, inverters,
and the LUTs of distributed memory. Depth: LUTs and carry blocks on the longest path inside the module from
an input or register to an output or register. Exit 1 when a line of the budget `MACHINE MODULE COLUMN MAX`
is exceeded.
"""
import collections, json, os, re, subprocess, sys, time

COLUMNS = ["LUT", "FF", "DSP", "BRAM", "URAM"]  # BRAM in units of 36 Kbit
LUTS_OF = {"INV": 1, "SRL16E": 1, "SRLC32E": 1, "RAM32X1D": 2, "RAM64X1D": 2, "RAM32M": 4, "RAM64M": 4,
           "RAM32M16": 8, "RAM64M8": 8, "RAM128X1D": 4, "RAM256X1D": 8, "RAM512X1S": 8}


def synthesise(work, gen, machine, rtl):
    """Runs yosys; returns its netlist."""
    out = f"{work}/{machine}.json"
    packages = f"{gen}/hd_isa_pkg.sv {gen}/hd_reg_pkg.sv {gen}/{machine}/hd_cfg_pkg.sv"
    script = (f"read_verilog -defer -sv -D SYNTHESIS -Ihw/rtl {packages} {' '.join(rtl)}; hierarchy -top hd_top; "
              f"synth_xilinx -family xcup -uram -noiopad -noclkbuf -top hd_top; write_json {out}.tmp")
    with open(f"{work}/{machine}.log", "w") as log:
        if subprocess.run(["yosys", "-q", "-p", script], stdout=log, stderr=log).returncode:
            sys.exit(f"synth.py: yosys failed, see {work}/{machine}.log")
    os.rename(f"{out}.tmp", out)
    return out


def is_box(module):
    return "blackbox" in module["attributes"] or "whitebox" in module["attributes"]


def cost(kind):
    """Column and amount of a primitive."""
    if re.fullmatch(r"LUT[1-6]", kind):
        return "LUT", 1
    if kind in LUTS_OF:
        return "LUT", LUTS_OF[kind]
    if re.fullmatch(r"FD[RSCP]E(_1)?", kind):
        return "FF", 1
    if kind == "DSP48E2":
        return "DSP", 1
    if kind.startswith("RAMB"):
        return "BRAM", 0.5 if kind.startswith("RAMB18") else 1
    return ("URAM", 1) if kind.startswith("URAM") else (None, 0)


def depth(module):
    """LUTs and carry blocks on the longest path between registers, inputs and outputs of a module."""
    made, gates = {}, {}
    for name, c in module["cells"].items():
        if re.fullmatch(r"LUT[1-6]|INV|CARRY4|MUXF[789]", c["type"]):
            ins = [b for p, bs in c["connections"].items() if c["port_directions"][p] == "input" for b in bs]
            outs = [b for p, bs in c["connections"].items() if c["port_directions"][p] == "output" for b in bs]
            gates[name] = (ins, 0 if c["type"].startswith("MUXF") or c["type"] == "INV" else 1)
            made.update((b, name) for b in outs)
    level = {}
    for start in gates:
        stack = [start]
        while stack:
            g = stack[-1]
            if g in level and level[g] is not None:
                stack.pop()
                continue
            before = {made[b] for b in gates[g][0] if b in made and made[b] != g}
            todo = [b for b in before if b not in level]
            if g not in level:
                level[g] = None
            if todo:
                stack += todo
            else:
                level[g] = gates[g][1] + max([level[b] or 0 for b in before], default=0)
                stack.pop()
    return max(level.values(), default=0)


def base_name(name):
    """hd_fifo of $paramod\\hd_fifo\\Width=... and of $paramod$HASH\\hd_fifo."""
    return name.split("\\")[1] if name.startswith("$paramod") else name


def table(netlist):
    """{module: {column: amount}}; modules that differ only in parameters share a line."""
    modules = {n: m for n, m in json.load(open(netlist))["modules"].items() if not is_box(m)}
    counts = collections.Counter()

    def walk(n, k):
        counts[n] += k
        for t, m in collections.Counter(c["type"] for c in modules[n]["cells"].values()).items():
            if t in modules:
                walk(t, k * m)

    walk("hd_top", 1)
    rows = collections.defaultdict(lambda: dict.fromkeys(["count", *COLUMNS, "depth"], 0))
    for n, k in counts.items():
        row = rows[base_name(n)]
        row["count"] += k
        row["depth"] = max(row["depth"], depth(modules[n]))
        for c in modules[n]["cells"].values():
            column, amount = cost(c["type"])
            if column:
                row[column] += amount * k
    return rows


def budgets(path, machine):
    rows = [l.split() for l in open(path) if l.strip() and not l.startswith("#")]
    return {(r[1], r[2]): float(r[3]) for r in rows if r[0] == machine}


def main():
    split = sys.argv.index("--")
    work, gen, machine, budget_file = sys.argv[1:split]
    os.makedirs(work, exist_ok=True)
    t0 = time.time()
    rows = table(synthesise(work, gen, machine, sys.argv[split + 1:]))
    total = {c: sum(r[c] for r in rows.values()) for c in ["count", *COLUMNS]}
    total["depth"] = max(r["depth"] for r in rows.values())
    form = "{:<16} {:>6} {:>7} {:>7} {:>5} {:>6} {:>5} {:>6}"
    print(f"machine {machine}, yosys synth_xilinx -family xcup, {time.time() - t0:.0f} s")
    print(form.format("module", "copies", *COLUMNS, "depth"))
    for name, r in sorted(rows.items()) + [("total", total)]:
        print(form.format(name, r["count"], *(f"{r[c]:g}" for c in COLUMNS), r["depth"]))
    rows["total"] = total
    limits, bad = budgets(budget_file, machine), 0
    for (name, column), most in limits.items():
        got = rows[name][column] if name in rows else 0
        if got > most:
            print(f"synth: {machine} {name}: {column} {got:g} exceeds the budget of {most:g} ({budget_file})",
                  file=sys.stderr)
            bad += 1
    print(f"{len(limits)} budgets, {bad} exceeded" if limits else f"no budgets for {machine} in {budget_file}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
