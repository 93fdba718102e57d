#!/usr/bin/env python3
"""Area and clock of a machine: yosys synth_xilinx for UltraScale+, compared with stored budgets.

usage: synth.py WORK_DIR GEN_DIR MACHINE BUDGET_FILE CLOCK_FILE [--bless] [MODULE...] -- RTL...

--bless writes the machine's lines of BUDGET_FILE anew (LUT and FF as measured plus a tenth, ns plus
a twentieth, the others as measured), and its line of CLOCK_FILE. With MODULE only these are
synthesised, and their longest paths are printed, from ports and registers to such; no budget is
looked at.

Every module is synthesised by itself, with the modules in it as black boxes, JOBS (2) at a time; a
unit whose lanes are alike (LANES) is synthesised with one or two of them and counted as often as
there are such groups. Netlists are kept under the hash of what they are made from, so only what
changed is synthesised again. Counts are of all instances of a module, its submodules counted on
their own line. LUT: LUT1..6, inverters (one a net, and none for set and reset of flip-flops, which
have their own), and the LUTs of distributed memory.

ns: the netlists are joined, drivers of more loads than LOADS doubled (fanout.py; the copies count), and timed (timing.py)
by delays.txt; a module has the longest path that ends in it. Exit 1 when a line `MACHINE MODULE COLUMN MAX` of the budget is exceeded, when a module
without a line for its ns needs more than PERIOD_NS, when a net has more loads than LOADS, or when
the clock is not the one in CLOCK_FILE. A line of ns or loads is a debt, and is printed.
"""
import collections, hashlib, json, os, re, resource, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor

from delays import Delays
import fanout
from netlist import Machine, Module
from timing import Timing

COLUMNS = ["LUT", "FF", "DSP", "BRAM", "URAM"]  # BRAM in units of 36 Kbit
LUTS_OF = {"SRL16E": 1, "SRLC32E": 1, "RAM32X1D": 2, "RAM64X1D": 2, "RAM32M": 4, "RAM64M": 4,
           "RAM32M16": 8, "RAM64M8": 8, "RAM128X1D": 4, "RAM256X1D": 8, "RAM512X1S": 8}
# Units whose lanes are alike: lanes that are synthesised. Two of hd_vx_fn share the ports of a table.
LANES = {"hd_f32_from_int": 1, "hd_f32_mul": 1, "hd_f32_add": 1, "hd_f32_to_int": 1, "hd_vx_fn": 2}
CONTROL = ["hd_fetch", "hd_issue", "hd_sem", "hd_csr"]  # SEQ, decode, semaphores, registers
PERIOD_NS = 4  # of 250 MHz
LOADS = {"loads": 400, "enables": 4000}  # of a net: but resets and enables; in all
PATHS = 6      # longest paths that are printed
HERE = os.path.dirname(os.path.abspath(__file__))
SYNTH = "synth_xilinx -family xcup -uram -noiopad -noclkbuf -nowidelut"
# Its step map_luts, but every LUT counts one: there LUT2 to LUT6 cost 2 to 5, and what is counted here are LUTs.
MAP_LUTS = """opt_expr -mux_undef -noclkinv
abc -lut 6{}
clean
techmap -map +/xilinx/ff_map.v
xilinx_srl -fixed -minlen 3
techmap -map +/xilinx/lut_map.v -map +/xilinx/cells_map.v -D LUT_WIDTH=6
xilinx_dffopt
opt_lut_ins -tech xilinx
"""
# How abc maps modules of many like bits: for the fewest LUTs where paths are short enough, else for fewer; elsewhere
# it maps for the least depth.
SMALL = {**dict.fromkeys(["hd_f32_from_int", "hd_vx_lanes", "hd_vx_window", "hd_mac_array"], "if,-a;mfs2"),
         "hd_f32_to_int": "if;if,-D,3;mfs2"}
FEWER = " -script +strash;&get,-n;&fraig,-x;&put;scorr;dc2;dretime;strash;dch,-f;"
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


def parameters_of(lines):
    """{parameter: its value} of a module's RTLIL or ports."""
    return dict(re.findall(r"^  parameter \\(\w+) (\S+)", "".join(lines), re.M))


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
            given = parameters_of(modules[n])
            lanes = int(given["Lanes"])
            script += (f"design -load all\nhierarchy -top {base} "
                       + " ".join(f"-chparam {p} {v}" for p, v in {**given, "Lanes": LANES[base]}.items()) + "\n"
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


def used_lines(package, text):
    """Lines of a package that define names which a text uses, and those that such lines use."""
    lines = {re.search(r"(\w+)\s*(=[^=]|;)", l).group(1): l for l in package.split("\n") if re.search(r"\w\s*(=[^=]|;)", l)}
    todo, found = set(re.findall(r"hd_cfg_pkg::(\w+)", text)), set()
    while todo:
        found |= todo
        todo = {n for f in found for n in re.findall(r"\w+", lines.get(f, "")) if n in lines} - found
    return "\n".join(lines[n] for n in sorted(found) if n in lines)


def mapping_of(base):
    """Steps that map a module to LUTs."""
    return MAP_LUTS.format(FEWER + SMALL[base] if base in SMALL else "")


def mapped(luts, top):
    """All steps that map `top` to primitives, by the steps `luts` that map to LUTs."""
    return f"{SYNTH} -run prepare:map_luts -top {top}\n{luts}{SYNTH} -run finalize: -top {top}\n"


def key_of(name, inside, ports, files):
    """Hash of what a netlist is made from: the module's source, the packages that it names (of the machine's parameters
    those alone), its parameters and ports, those of the modules in it, and the tool. (RTLIL would not do: the order of
    its lines depends on the numbers in names, and these on other modules.)"""
    base = base_name(name)
    text = text_of(files.get(base, files["hd_cfg_pkg"]))
    parameters = used_lines(open(files["hd_cfg_pkg"]).read(), text)
    text += "".join(text_of(path) for package, path in sorted(files.items())
                    if f"{package}::" in text and package != "hd_cfg_pkg") + parameters
    lanes = ([f"{p} {v}" for p, v in parameters_of([ports[name]]).items() if p != "Lanes"] + [f"Lanes {LANES[base]}"]
             if base in LANES else [ports[name]])
    return hashlib.sha256("\n".join([base, text, *lanes, *(n + ports[n] for n in sorted(inside)), SYNTH, mapping_of(base),
                                     VERSION]).encode()).hexdigest()[:24]


def synthesise(work, cache, boxes, name, il, key):
    """Netlist of a module from the file of its RTLIL; prints the time that it took."""
    script = (f"read_rtlil {boxes}\nread_verilog -lib +/xilinx/cells_sim.v\nread_verilog -lib +/xilinx/cells_xtra.v\n"
              f"read_rtlil {il}\nhierarchy -check -top the_module\n"
              f"{mapped(mapping_of(name), 'the_module')}select the_module\njson -o {cache}/{key}.tmp\n")
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


def netlists(cache, keys, lanes, delays):
    """A function that gives the netlist of a type of cells, and how often it stands there."""
    read = {}

    def find(kind):
        name = kind if kind.startswith("$") else "\\" + kind
        name = name if name in keys else next(n for n in sorted(keys) if base_name(n) == kind)
        key = keys[name]
        if key not in read:
            text = json.load(open(f"{cache}/{key}.json"))["modules"]["the_module"]
            read[key] = Module(base_name(name), text, delays)
        return read[key], max(lanes.get(name, 1), 1)
    return find


def false_paths(path):
    """[(registers, reason)]"""
    rows = [l.split(None, 1) for l in open(path) if l.strip() and not l.startswith("#")]
    for r in rows:
        if len(r) != 2:
            sys.exit(f"synth.py: {path}: {r[0]} has no reason")
    return rows


def timed(top, find):
    """The machine under a module, joined and timed; {module: longest path that ends in it, in ns}, or
    the ns of a module that is timed alone; {(module, kind of cell): copies for the limit of loads}."""
    whole = top == "hd_top"
    false = false_paths(f"{HERE}/false_paths.txt") if whole else ()
    machine = Machine(top, find)
    copies = fanout.limit(machine, LOADS["loads"])
    t = Timing(machine, false)
    by_module = {name: ps / 1000 for name, ps in t.by_module().items()}
    return t, by_module if whole else t.period[1] / 1000, copies


def add_copies(rows, copies):
    """Counts the cells that the limit of loads doubles; prints how many."""
    for (module, kind), n in copies.items():
        column = "LUT" if kind == "INV" else cost(kind)[0]
        rows[module][column] += n
    flops = sum(n for (_, kind), n in copies.items() if kind.startswith("FD"))
    print(f"copies of drivers of more than {LOADS['loads']} loads: {flops} FF, {sum(copies.values()) - flops} LUT")


def table(work, cache, sources, only):
    """{module: {column: amount}}; modules that differ only in parameters share a line. (modules, those
    made anew). What gives netlists for timing. With `only` these modules and all in them."""
    machine, boxes, ports, inside = elaborate(work, READ + " ".join(sources))
    files = {os.path.basename(f).removesuffix(".sv"): f for f in sources}
    if only:
        wanted = [n for n in machine if base_name(n) in only]
        for n in wanted:
            wanted += [m for m in inside[n] if m not in wanted]
        machine = {n: machine[n] for n in wanted}
    rows = collections.defaultdict(lambda: dict.fromkeys(["copies", *COLUMNS, "ns"], 0))
    keys = {n: key_of(n, inside[n], ports, files) for n in machine}
    todo = {keys[n]: (n, il) for n, (il, _, _) in machine.items()
            if not os.path.exists(f"{cache}/{keys[n]}.json")}
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for f in [pool.submit(synthesise, work, cache, boxes, base_name(n), il, key)
                  for key, (n, il) in sorted(todo.items(), key=lambda t: -os.path.getsize(t[1][1]))]:
            f.result()
    for name, (_, copies, lanes) in machine.items():
        module = json.load(open(f"{cache}/{keys[name]}.json"))["modules"]["the_module"]
        row = rows[base_name(name)]
        row["copies"] += copies
        for column, amount in amounts(module).items():
            if column:
                row[column] += amount * copies * max(lanes, 1)
    lanes = {n: lanes for n, (_, _, lanes) in machine.items()}
    find = netlists(cache, keys, lanes, Delays(f"{HERE}/delays.txt"))
    return rows, (len(machine), len(todo)), find


def budgets(path, machine):
    rows = [l.split() for l in open(path) if l.strip() and not l.startswith("#")]
    return {(r[1], r[2]): float(r[3]) for r in rows if r[0] == machine}


def bless(path, machine, rows):
    """Writes the machine's budgets anew: of what counts, and of all; debts of ns and loads."""
    kept = [l for l in open(path) if not l.startswith(machine + " ")]
    for name, r in sorted(rows.items(), key=lambda t: (t[0] == "total", t[0])):
        for c in COLUMNS:
            tenth = c in ("LUT", "FF")
            if c in r and (name == "total" or r[c] >= (500 if tenth else 0.5)):
                most = int(-(-r[c] * 11 // 500) * 50) if tenth else r[c]
                kept.append(f"{machine} {name:<16} {c:<4} {most:g}\n" if not tenth else
                            f"{machine} {name:<16} {c:<4} {most}\n")
        if r["ns"] > PERIOD_NS:
            kept.append(f"{machine} {name:<16} ns   {-(-r['ns'] * 1.05 // 0.1) / 10:.1f}\n")
        kept += [f"{machine} {name:<16} {c:<4} {r[c]}\n" for c, n in LOADS.items() if r.get(c, 0) > n]
    with open(path, "w") as f:
        f.writelines(kept)


def clock_line(machine, mhz):
    """A machine's line of CLOCK_FILE."""
    return f"CLOCK({machine}, {mhz['least']}, {mhz['likely']}, {mhz['most']})\n"


def bless_clock(path, machine, line):
    kept = [l for l in open(path) if not l.startswith(f"CLOCK({machine},")]
    at = next((i for i, l in enumerate(kept) if l.startswith("#undef")), len(kept))
    with open(path, "w") as f:
        f.writelines([*kept[:at], line, *kept[at:]])


def show(timing, rows, machine):
    """Prints longest paths and widest nets; puts those of the machine into its total."""
    timing.show(PATHS, print)
    wide = timing.wide_nets(*LOADS.values())
    for n, control, name in wide:
        print(f"{n} loads, {control} of them resets and enables: {name}")
    rows["total"].update(ns=timing.period[1] / 1000, loads=max([n - c for n, c, _ in wide], default=0),
                         enables=max([n for n, _, _ in wide], default=0))
    mhz = timing.mhz()
    print(f"clock of {machine}: {mhz['least']} to {mhz['most']} MHz, likely {mhz['likely']}: register to "
          f"register, by the least and most delays of hw/synth/delays.txt")


def exceeded(rows, limits, machine, budget_file):
    """Number of budgets that are exceeded, printed. A debt is printed, too."""
    bad = 0
    for name, r in sorted(rows.items()):
        for column, most in {"ns": PERIOD_NS, **LOADS}.items():
            if r.get(column, 0) > most:
                known = (name, column) in limits
                bad += not known
                print(f"synth: {machine} {name}: {column} {r[column]:g}, {most} allowed"
                      + (f", known ({budget_file})" if known else ""), file=sys.stderr)
    for (name, column), most in limits.items():
        got = rows[name].get(column, 0) if name in rows else 0
        if got > most:
            print(f"synth: {machine} {name}: {column} {got:g} exceeds the budget of {most:g} ({budget_file})",
                  file=sys.stderr)
            bad += 1
    return bad


def print_table(rows, names):
    form = "{:<16} {:>6} {:>7} {:>7} {:>5} {:>6} {:>5} {:>6}"
    print(form.format("module", "copies", *COLUMNS, "ns"))
    for name in names:
        r = rows[name]
        print(form.format(name, r["copies"], *(f"{r[c]:g}" for c in COLUMNS), f"{r['ns']:.2f}"))


def main():
    split = sys.argv.index("--")
    args = [a for a in sys.argv[1:split] if a != "--bless"]
    work, gen, machine, budget_file, clock_file, *only = args
    cache = f"{work}/netlists"
    work += f"/{machine}"
    for d in work, cache:
        os.makedirs(d, exist_ok=True)
    t0 = time.time()
    packages = [f"{gen}/hd_isa_pkg.sv", f"{gen}/hd_reg_pkg.sv", f"{gen}/{machine}/hd_cfg_pkg.sv"]
    rows, (n, made), find = table(work, cache, packages + sys.argv[split + 1:], only)
    if only:
        for name in only:
            timing, rows[name]["ns"], _ = timed(name, find)
            timing.show(PATHS, print)
        print_table(rows, only)
        return 0
    timing, by_module, copies = timed("hd_top", find)
    add_copies(rows, copies)
    for name, ns in by_module.items():
        rows[name]["ns"] = ns
    rows["total"] = {c: sum(r[c] for r in rows.values()) for c in ["copies", *COLUMNS]}
    show(timing, rows, machine)
    print_table(rows, [*sorted(set(rows) - {"total"}), "total"])
    control = sum(rows[m]["LUT"] for m in CONTROL if m in rows)
    print(f"control ({', '.join(CONTROL)}): {control} LUT, {100 * control / rows['total']['LUT']:.1f} % of all")
    line = clock_line(machine, timing.mhz())
    if "--bless" in sys.argv:
        bless(budget_file, machine, rows)
        bless_clock(clock_file, machine, line)
    limits = budgets(budget_file, machine)
    bad = exceeded(rows, limits, machine, budget_file)
    if line not in open(clock_file):
        bad += 1
        print(f"synth: {machine}: {clock_file} lacks the line {line.strip()}: make synth BLESS=1 writes it",
              file=sys.stderr)
    print(f"machine {machine}, {VERSION.split(' (')[0]} {SYNTH}, {n} modules, {made} synthesised, "
          f"{time.time() - t0:.0f} s, "
          f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime:.0f} s of processor time in yosys: "
          + (f"{len(limits)} budgets, {bad} exceeded" if limits else f"no budgets in {budget_file}"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
