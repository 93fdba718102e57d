#!/usr/bin/env python3
"""Area of a machine: yosys synth_xilinx for UltraScale+, a table of modules, compared with stored budgets.

usage: synth.py WORK_DIR GEN_DIR MACHINE BUDGET_FILE [--bless] [MODULE...] -- RTL...

--bless writes the machine's lines of BUDGET_FILE anew: LUT and FF as measured plus a tenth, the others as measured.
With MODULE only these are synthesised, and their deepest paths are printed; no budget is looked at.

Every module is synthesised by itself, with the modules in it as black boxes, JOBS (2) at a time; a unit whose lanes
are alike (LANES) is synthesised with one or two of them and counted as often as there are such groups. Netlists are kept under the
hash of what they are made from, so only what changed is synthesised again. Counts are of all instances
of a module, its submodules counted on their own line. LUT: LUT1..6, inverters (one a net, and none for set and reset of
flip-flops, which have their own), and the LUTs of distributed memory.
Depth: LUTs on the longest path inside the module from an input or register to an output or register; a carry block
counts CARRY of a LUT, a multiplier DSP. Exit 1 when a line of the budget `MACHINE MODULE COLUMN MAX` is exceeded, or the
depth that 250 MHz allows (DEPTH) by a module without a line for its depth: such a line is a debt, and is printed.
"""
import collections, hashlib, json, os, re, resource, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor

COLUMNS = ["LUT", "FF", "DSP", "BRAM", "URAM"]  # BRAM in units of 36 Kbit
LUTS_OF = {"SRL16E": 1, "SRLC32E": 1, "RAM32X1D": 2, "RAM64X1D": 2, "RAM32M": 4, "RAM64M": 4,
           "RAM32M16": 8, "RAM64M8": 8, "RAM128X1D": 4, "RAM256X1D": 8, "RAM512X1S": 8}
# Units whose lanes are alike: lanes that are synthesised. Two of hd_vx_fn share the ports of a table.
LANES = {"hd_f32_from_int": 1, "hd_f32_mul": 1, "hd_f32_add": 1, "hd_f32_to_int": 1, "hd_vx_fn": 2}
CONTROL = ["hd_fetch", "hd_issue", "hd_sem", "hd_csr"]  # SEQ, decode, semaphores, registers
LEVEL_NS = 0.38      # a LUT6 (0.12) and the route to it (0.26), speed grade -2
CARRY = 0.1          # levels: about 0.04 ns
DSP = {"whole": 5, "in": 3, "out": 2}  # levels: a multiplier without registers, up to its M register, behind it
DEPTH = (1000 / 250 - 0.08 - 0.05 - 0.10) / LEVEL_NS  # 250 MHz less clock to output, setup, uncertainty: 9.9
SYNTH = "synth_xilinx -family xcup -uram -noiopad -noclkbuf"
READ = "read_verilog -defer -sv -D SYNTHESIS -D HD_DSP48E2 -Ihw/rtl "
VERSION = subprocess.run(["yosys", "-V"], capture_output=True, text=True).stdout.strip()


def yosys(script, log, ours=True):
    """Runs a script. With ours it wires the RTL, and a port that loses bits is an error; where yosys maps memories to
    primitives, it says so of these."""
    with open(log + ".ys", "w") as f:
        f.write(script)
    with open(log, "w") as f:
        if subprocess.run(["yosys", "-q", "-s", log + ".ys"], stdout=f, stderr=f).returncode:
            sys.exit(f"synth.py: yosys failed, see {log}")
    for line in open(log) if ours else ():  # a port lost bits, or its name is wrong
        if "Resizing cell port" in line or "implicitly declared" in line:
            sys.exit(f"synth.py: {line.strip()} (see {log})")


def base_name(name):
    """hd_fifo of $paramod\\hd_fifo\\Width=..., of $paramod$HASH\\hd_fifo and of \\hd_fifo."""
    return name.split("\\")[1]


def modules_of(path):
    """{module: lines of its RTLIL} of a file of yosys."""
    found, lines = {}, None
    for line in open(path):
        if line.startswith("module "):
            lines = found[line.split()[1]] = []
        elif line.startswith("end"):
            lines = None
        elif lines is not None:
            lines.append(line)
    return found


def elaborate(work, read):
    """{module: (file of its RTLIL, instances in the machine, groups of lanes of which it has one, or 0)}, the file of
    all as black boxes, {module: its ports}, {module: modules in it}."""
    all_il, lanes_of = f"{work}/elaborated.il", {}
    yosys(f"{read}\nhierarchy -top hd_top\nwrite_rtlil {all_il}\n", f"{work}/elaborate.log")
    modules = modules_of(all_il)
    inside = {n: collections.Counter(l.split()[1] for l in ls if l.startswith("  cell ") and l.split()[1] in modules)
              for n, ls in modules.items()}
    counts = collections.Counter()

    def walk(n, k):
        counts[n] += k
        for t, m in inside[n].items():
            walk(t, k * m)

    walk("\\hd_top", 1)
    found, script = {}, f"{read}\ndesign -save all\n"
    for i, n in enumerate(sorted(counts)):
        base, il = base_name(n), f"{work}/{base_name(n)}-{i}.il"
        if base in LANES:
            lanes = int(next(l for l in modules[n] if re.match(r"  parameter \\Lanes ", l)).split()[2])
            script += (f"design -load all\nhierarchy -top {base} -chparam Lanes {LANES[base]}\n"
                       f"rename -top the_module\nselect the_module\nwrite_rtlil -selected {il}\n")
            lanes_of[n] = lanes // LANES[base]
        else:
            with open(il, "w") as f:
                f.writelines([next(l for l in open(all_il) if l.startswith("autoidx ")),
                              "module \\the_module\n", *modules[n], "end\n"])
        found[n] = (il, counts[n], lanes_of.get(n, 0))
    if lanes_of:
        yosys(script, f"{work}/lanes.log")
    ports = {n: "".join(l for l in modules[n] if re.match(r"  (wire .*(input|output) |parameter )", l)) for n in counts}
    with open(f"{work}/boxes.il", "w") as f:
        f.writelines(f"attribute \\blackbox 1\nmodule {n}\n{p}end\n" for n, p in ports.items())
    return found, f"{work}/boxes.il", ports, inside


def text_of(path):
    """A source without comments and space."""
    return re.sub(r"\s+", " ", re.sub(r"//.*", "", open(path).read()))


def key_of(name, inside, ports, files):
    """Hash of what a netlist is made from: the module's source, the packages that it names, its parameters and ports,
    those of the modules in it, and the tool. (RTLIL would not do: the order of its lines depends on the numbers in
    names, and these on other modules.)"""
    base = base_name(name)
    text = text_of(files.get(base, files["hd_cfg_pkg"]))
    text += "".join(text_of(path) for package, path in sorted(files.items()) if f"{package}::" in text)
    lanes = [f"Lanes {LANES[base]}"] if base in LANES else [ports[name]]
    return hashlib.sha256("\n".join([base, text, *lanes, *(n + ports[n] for n in sorted(inside)), SYNTH,
                                     VERSION]).encode()).hexdigest()[:24]


def synthesise(work, cache, boxes, name, il, key):
    """Netlist of a module from the file of its RTLIL; prints the time that it took."""
    script = (f"read_rtlil {boxes}\nread_verilog -lib +/xilinx/cells_sim.v\nread_verilog -lib +/xilinx/cells_xtra.v\n"
              f"read_rtlil {il}\nhierarchy -check -top the_module\n{SYNTH} -run prepare: -top the_module\n"
              f"select the_module\njson -o {cache}/{key}.tmp\n")
    t0 = time.time()
    yosys(script, f"{il[:-3]}.log", ours=False)
    os.rename(f"{cache}/{key}.tmp", f"{cache}/{key}.json")
    print(f"  SYNTH {name:<16} {time.time() - t0:.0f} s", flush=True)


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


def amounts(module):
    """{column: amount} of a netlist."""
    found, inverted, needed = collections.Counter(), {}, set()
    for c in module["cells"].values():
        column, amount = cost(c["type"])
        found[column] += amount
        if c["type"] == "INV":
            inverted[c["connections"]["O"][0]] = c["connections"]["I"][0]
        flip_flop = re.fullmatch(r"FD[RSCP]E(_1)?", c["type"])
        needed.update(b for p, bits in c["connections"].items() for b in bits
                      if c["port_directions"][p] == "input" and not (flip_flop and p in ("R", "S", "CLR", "PRE")))
    needed.update(b for p in module["ports"].values() if p["direction"] == "output" for b in p["bits"])
    found["LUT"] += len({i for o, i in inverted.items() if o in needed})
    return found


def deepest(module):
    """Longest path between registers, inputs and outputs of a module: LUTs on it, and its cells with their levels."""
    made, gates = {}, {}
    for name, c in module["cells"].items():
        if re.fullmatch(r"LUT[1-6]|INV|CARRY[48]|MUXF[789]", c["type"]):
            ins = [b for p, bs in c["connections"].items() if c["port_directions"][p] == "input" for b in bs]
            outs = [b for p, bs in c["connections"].items() if c["port_directions"][p] == "output" for b in bs]
            kind = c["type"]
            gates[name] = (ins, 1 if kind.startswith("LUT") else CARRY if kind.startswith("CARRY") else 0)
            made.update((b, name) for b in outs)
        elif c["type"] == "DSP48E2":
            reg = {r: re.search("1", str(c["parameters"].get(f"{r}REG", "0"))) is not None for r in "ABCDMP"}
            ins = [b for p, bs in c["connections"].items() if p in "ABCD" and not reg[p] for b in bs]
            split = reg["M"] or reg["P"]
            gates[name] = ([] if split else ins, 0 if reg["P"] else DSP["out" if reg["M"] else "whole"])
            made.update((b, name) for b in c["connections"].get("P", []))
            if split:
                gates[name + " in"] = (ins, DSP["in" if reg["M"] else "whole"])
    level, longest = {}, {}
    for start in gates:
        stack = [start]
        while stack:
            g = stack[-1]
            if g in level and level[g] is not None:
                stack.pop()
                continue
            before = {made[b] for b in gates[g][0] if b in made and made[b] != g}
            waiting = [b for b in before if b not in level]
            if g not in level:
                level[g] = None
            if waiting:
                stack += waiting
            else:
                longest[g] = max(before, key=lambda b: level[b] or 0, default=None)
                level[g] = gates[g][1] + max([level[b] or 0 for b in before], default=0)
                stack.pop()
    end = at = max(level, key=lambda g: level[g], default=None)
    path = []
    while at:
        cell = module["cells"][at.removesuffix(" in")]
        out = [b for p, bs in cell["connections"].items() if cell["port_directions"][p] == "output" for b in bs]
        path.insert(0, (level[at], cell["type"], out))
        at = longest[at]
    return level[end] if end else 0, path


def show(name, module):
    """Prints the deepest path of a module by the names of its wires."""
    nets = {}
    for n, w in module["netnames"].items():
        for i, b in enumerate(w["bits"]):
            if not w.get("hide_name") or b not in nets:
                nets[b] = f"{n}[{i}]" if len(w["bits"]) > 1 else n
    depth, path = deepest(module)
    print(f"{name}: {depth:.1f} levels")
    for level, kind, out in path:
        print(f"  {level:5.1f} {kind:<8} {next((nets[b] for b in out if b in nets), '')[-90:]}")


def table(work, cache, sources, only):
    """{module: {column: amount}}; modules that differ only in parameters share a line."""
    machine, boxes, ports, inside = elaborate(work, READ + " ".join(sources))
    files = {os.path.basename(f).removesuffix(".sv"): f for f in sources}
    machine = {n: m for n, m in machine.items() if not only or base_name(n) in only}
    rows = collections.defaultdict(lambda: dict.fromkeys(["copies", *COLUMNS, "depth"], 0))
    keys = {n: key_of(n, inside[n], ports, files) for n in machine}
    todo = {keys[n]: (n, il) for n, (il, _, _) in machine.items() if not os.path.exists(f"{cache}/{keys[n]}.json")}
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for f in [pool.submit(synthesise, work, cache, boxes, base_name(n), il, key)
                  for key, (n, il) in sorted(todo.items(), key=lambda t: -os.path.getsize(t[1][1]))]:
            f.result()
    for name, (_, copies, lanes) in machine.items():
        module = json.load(open(f"{cache}/{keys[name]}.json"))["modules"]["the_module"]
        row = rows[base_name(name)]
        row["copies"] += copies
        row["depth"] = max(row["depth"], deepest(module)[0])
        for column, amount in amounts(module).items():
            if column:
                row[column] += amount * copies * max(lanes, 1)
        if only:
            show(base_name(name), module)
    return rows, len(machine), len(todo)


def budgets(path, machine):
    rows = [l.split() for l in open(path) if l.strip() and not l.startswith("#")]
    return {(r[1], r[2]): float(r[3]) for r in rows if r[0] == machine}


def bless(path, machine, rows):
    """Writes the machine's budgets anew: of what counts, and of all."""
    kept = [l for l in open(path) if not l.startswith(machine + " ")]
    for name, r in sorted(rows.items(), key=lambda t: (t[0] == "total", t[0])):
        for c in COLUMNS:
            tenth = c in ("LUT", "FF")
            if c in r and (name == "total" or r[c] >= (500 if tenth else 0.5)):
                most = -(-r[c] * 11 // 500) * 50 if tenth else r[c]
                kept.append(f"{machine} {name:<16} {c:<4} {most:g}\n" if not tenth else
                            f"{machine} {name:<16} {c:<4} {int(most)}\n")
        if name != "total" and r.get("depth", 0) > DEPTH:
            kept.append(f"{machine} {name:<16} depth {-(-r['depth'] // 0.1) / 10:.1f}\n")
    with open(path, "w") as f:
        f.writelines(kept)


def main():
    split = sys.argv.index("--")
    work, gen, machine, budget_file, *only = [a for a in sys.argv[1:split] if a != "--bless"]
    cache = f"{work}/netlists"
    work += f"/{machine}"
    for d in work, cache:
        os.makedirs(d, exist_ok=True)
    t0 = time.time()
    packages = [f"{gen}/hd_isa_pkg.sv", f"{gen}/hd_reg_pkg.sv", f"{gen}/{machine}/hd_cfg_pkg.sv"]
    rows, n, made = table(work, cache, packages + sys.argv[split + 1:], only)
    total = {c: sum(r[c] for r in rows.values()) for c in ["copies", *COLUMNS]}
    total["depth"] = max(r["depth"] for r in rows.values())
    form = "{:<16} {:>6} {:>7} {:>7} {:>5} {:>6} {:>5} {:>6}"
    print(form.format("module", "copies", *COLUMNS, "depth"))
    for name, r in sorted(rows.items()) + [("total", total)]:
        print(form.format(name, r["copies"], *(f"{r[c]:g}" for c in COLUMNS), f"{r['depth']:.1f}"))
    if only:
        return 0
    if "--bless" in sys.argv:
        bless(budget_file, machine, {**rows, "total": total})
    control = sum(rows[m]["LUT"] for m in CONTROL if m in rows)
    rows["total"] = total
    rows["control"] = {"percent": 100 * control / total["LUT"]}
    print(f"control ({', '.join(CONTROL)}): {control} LUT, {rows['control']['percent']:.1f} % of all")
    limits, bad = budgets(budget_file, machine), 0
    for name, r in sorted(rows.items()):
        if name == "total" or r.get("depth", 0) <= DEPTH:
            continue
        accepted = (name, "depth") in limits
        print(f"synth: {machine} {name}: {r['depth']:.1f} levels, 250 MHz allow {DEPTH:.1f}"
              + (f", known ({budget_file})" if accepted else ": pipeline it"), file=sys.stderr)
        bad += not accepted
    for (name, column), most in limits.items():
        got = rows[name][column] if name in rows else 0
        if got > most:
            print(f"synth: {machine} {name}: {column} {got:g} exceeds the budget of {most:g} ({budget_file})",
                  file=sys.stderr)
            bad += 1
    print(f"machine {machine}, {VERSION.split(' (')[0]} {SYNTH}, {n} modules, {made} synthesised, {time.time() - t0:.0f} s, "
          f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime:.0f} s of processor time: "
          + (f"{len(limits)} budgets, {bad} exceeded" if limits else f"no budgets in {budget_file}"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
