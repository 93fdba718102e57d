#!/usr/bin/env python3
"""The table behind areas in an instant (compiler/area): LUT, FF, DSP, BRAM and URAM of modules, fitted to syntheses.

usage: area_model.py WORK_DIR GEN OUT.def FEATURES.def MODE [MACHINE...] -- RTL...
MODE   fit: synthesises the modules of the machines in DESIGNS, writes OUT.def.
       check: synthesises the modules of machines (`NAME` or `NAME:key=value,...`), compares with OUT.def.

A module's counts in a machine, all copies together, are a sum of a few features (FEATURES.def) with coefficients of 0
or more, chosen one by one. DSP, BRAM and URAM must come out exact. hd_ram is a table by depth, for 64 bits of width.
Counts are kept in WORK_DIR under the hash that `make synth` gives the netlist of a module, and netlists of `make synth`
are used where there are any. Modules that are missing of a machine are synthesised several at a time.
"""
import collections, json, math, os, re, subprocess, sys, time
import hashlib
import synth

# The named ones, whose netlists `make synth` leaves; four that move K, the port, banks and queues apart; six that are
# wide, or wide one way alone, as those that explore finds.
DESIGNS = ["tiny", "base", "nano", "lean", "tiny:queue_ops=4",
           "tiny:k=32,axi_bits=128,xm_banks=4,xm_bytes=65536,wm_bytes=262144,am_bytes=65536",
           "tiny:k=16,axi_bits=256,xm_banks=2,am_bytes=65536,queue_ops=8",
           "tiny:axi_bits=512,xm_banks=16,xm_bytes=262144,wm_bytes=131072,pm_bytes=32768",
           "base:k=64,n=8,axi_bits=64,vx_cycles=4,functions=0",
           "base:k=32,n=32,vx_cycles=2,axi_bits=512,functions=0,wm_bytes=262144,am_bytes=131072",
           "base:k=16,n=32,vx_cycles=1,axi_bits=256,functions=0,am_bytes=131072",
           "base:k=8,n=16,axi_bits=512,vx_cycles=2", "base:k=32,n=8,axi_bits=256,vx_cycles=1,xm_bytes=65536",
           "base:k=64,n=64,vx_cycles=4,functions=0,axi_bits=256,wm_bytes=524288,am_bytes=262144,pm_bytes=65536"]
DEPTHS = {8: [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072],
          32: [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768],
          64: [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]}
COLUMNS = synth.COLUMNS
OF_CFG = {"K": "K", "x_t": "K", "N": "N", "vec_t": "N", "sums_t": "N", "consts_t": "N", "VxLanes": "V", "lanes_t": "V",
          "VxCycles": "V", "Functions": "FNS", "AxiBits": "AXI",
          "AxiBytes": "AXI", "data_t": "AXI", "strobe_t": "AXI", "BurstBeats": "AXI", "XmBytes": "XM",
          "XmBanks": "BANKS", "XmRowBytes": "ROW", "WmWords": "WM", "WmBytes": "WM", "AmWords": "AM", "AmBytes": "AM",
          "PmWords": "PM", "PmBytes": "PM", "QueueOps": "QUEUE"}
MOST_TERMS = 5
BATCH = 8  # modules of a run of yosys
LIBRARIES = "read_verilog -lib +/xilinx/cells_sim.v\nread_verilog -lib +/xilinx/cells_xtra.v\n"


# ---- machines and features -------------------------------------------------------------------------------------

def features_of(path):
    text = open(path).read()
    rows = re.findall(r"^FEATURE\((\w+), (.*)\)$", text, re.M)
    return {n: e for n, e in rows}


def values(features, machine):
    k, n = machine["k"], machine["n"]
    axi = machine["axi_bits"] // 8
    env = {"K": k, "N": n, "V": n // machine["vx_cycles"], "AXI": axi, "ROW": max(k, n, axi), "BANKS": machine["xm_banks"], "XM": machine["xm_bytes"],
           "WM": machine["wm_bytes"], "AM": machine["am_bytes"], "PM": machine["pm_bytes"],
           "QUEUE": machine["queue_ops"], "FNS": machine["functions"], "LOG2": math.log2, "fmax": max, "fmin": min, "ceil": math.ceil,
           "MUX": lambda x: 0 if x < 2 else 1 if x <= 4 else x / 4}
    return {name: float(eval(e, {}, env)) for name, e in features.items()}


def package(gen, out, design):
    """Writes hd_cfg_pkg.sv of NAME:key=value,...; its parameters by the names of machine.def."""
    name, _, sets = design.partition(":")
    text = subprocess.run([gen, "cfg-sv", name, *filter(None, sets.split(","))], capture_output=True, text=True,
                          check=True).stdout
    with open(out, "w") as f:
        f.write(text)
    camel = dict(re.findall(r"localparam int unsigned (\w+)\s*= (\d+)", text))
    return {re.sub(r"(?<!^)([A-Z])", r"_\1", c).lower(): int(v) for c, v in camel.items()}


# ---- counts of modules -----------------------------------------------------------------------------------------

def batch(work, boxes, todo, luts):
    """{key: counts} of modules by one run of yosys, mapped as `make synth` does. todo: {key: file of RTLIL}; luts: steps
    that map to LUTs."""
    keys = sorted(todo)
    with open(f"{work}/batch.il", "w") as f:
        for i, k in enumerate(keys):
            f.write(open(todo[k]).read().replace("\\the_module\n", f"\\the_module_{i}\n"))
        f.write("module \\the_batch\n" + "".join(
            f"  attribute \\keep 1\n  cell \\the_module_{i} \\u{i}\n  end\n" for i in range(len(keys))) + "end\n")
    synth.yosys(f"read_rtlil {boxes}\n{LIBRARIES}read_rtlil {work}/batch.il\nhierarchy -top the_batch\n"
                f"{synth.mapped(luts, 'the_batch')}select the_module_*\njson -o {work}/batch.json\n",
                f"{work}/batch.log", ours=False)
    modules = json.load(open(f"{work}/batch.json"))["modules"]
    return {k: synth.amounts(modules[f"the_module_{i}"]) for i, k in enumerate(keys)}


def counts_of(work, gen, sources, design):
    """(parameters, {module: {column: amount of all copies}}, {shape of hd_ram: copies}) of a machine."""
    at = f"{work}/{re.sub(r'[^a-z0-9]', '_', design)}"
    os.makedirs(at, exist_ok=True)
    os.makedirs(f"{work}/counts", exist_ok=True)
    params = package(gen, f"{at}/hd_cfg_pkg.sv", design)
    files = [f"{os.path.dirname(gen)}/../gen/hd_isa_pkg.sv", f"{os.path.dirname(gen)}/../gen/hd_reg_pkg.sv",
             f"{at}/hd_cfg_pkg.sv", *sources]
    machine, boxes, ports, inside = synth.elaborate(at, synth.READ + " ".join(files))
    by_name = {os.path.basename(f).removesuffix(".sv"): f for f in files}
    keys, todo, found = {}, collections.defaultdict(dict), {}  # todo: by the steps that map a module
    for name, (il, _, _) in machine.items():
        base = synth.base_name(name)
        if base == "hd_ram":
            continue
        keys[name] = key = synth.key_of(name, inside[name], ports, by_name)
        kept = f"{work}/counts/{key}.json"
        netlist = f"{work}/../netlists/{key}.json"
        if not os.path.exists(kept) and os.path.exists(netlist):
            found[key] = synth.amounts(json.load(open(netlist))["modules"]["the_module"])
        elif not os.path.exists(kept):
            todo[synth.mapping_of(base)][key] = il
    t0 = time.time()
    while any(todo.values()):
        luts, of = max(todo.items(), key=lambda t: len(t[1]))
        some = {k: of.pop(k) for k in sorted(of, key=lambda k: os.path.getsize(of[k]))[:BATCH]}
        found.update(batch(at, boxes, some, luts))
        left = sum(map(len, todo.values()))
        print(f"  AREA  {design}: {len(some)} modules, {left} more, {time.time() - t0:.0f} s", flush=True)
        for key, c in found.items():
            with open(f"{work}/counts/{key}.json", "w") as f:
                json.dump({k: v for k, v in c.items() if k}, f)
    for key, c in found.items():
        with open(f"{work}/counts/{key}.json", "w") as f:
            json.dump({k: v for k, v in c.items() if k}, f)
    rows = collections.defaultdict(collections.Counter)
    for name, key in keys.items():
        _, copies, lanes = machine[name]
        for column, amount in json.load(open(f"{work}/counts/{key}.json")).items():
            rows[synth.base_name(name)][column] += amount * copies * max(lanes, 1)
    rams = collections.Counter()
    for name, (_, copies, _) in machine.items():
        if synth.base_name(name) == "hd_ram":
            w, d, b = (int(next(re.finditer(rf"parameter \\{p} (\d+)", ports[name])).group(1))
                       for p in ("Width", "Depth", "BeBits"))
            rams[w, d, b] += copies
    return params, dict(rows), rams


def ram_table(work, source):
    """{(grain, depth): counts} of 64 bits of width (256 where an enable has 32, as hd_am has)."""
    shapes = [(256 if b == 32 else 64, d, b) for b, depths in DEPTHS.items() for d in depths]
    text = "module the_top;\n" + "".join(
        f"(* keep *) hd_ram #(.Width({w}), .Depth({d}), .BeBits({b})) r{i} ();\n"
        for i, (w, d, b) in enumerate(shapes)) + "endmodule\n"
    how = synth.mapped(synth.mapping_of("hd_ram"), "the_top")
    key = hashlib.sha256((text + synth.text_of(source) + how + synth.VERSION).encode()).hexdigest()[:24]
    kept = f"{work}/counts/{key}.json"
    if not os.path.exists(kept):
        with open(f"{work}/rams.sv", "w") as f:
            f.write(text)
        synth.yosys(f"{LIBRARIES}read_verilog -sv -D SYNTHESIS {source} {work}/rams.sv\nhierarchy -top the_top\n"
                    f"{how}json -o {work}/rams.json\n", f"{work}/rams.log", ours=False)
        modules = json.load(open(f"{work}/rams.json"))["modules"]
        cells = modules["the_top"]["cells"]
        counts = [synth.amounts(modules[cells[f"r{i}"]["type"]]) for i in range(len(shapes))]
        with open(kept, "w") as f:
            json.dump([{k: v * 64 / w for k, v in c.items() if k} for c, (w, _, _) in zip(counts, shapes)], f)
    return {(b, d): c for (w, d, b), c in zip(shapes, json.load(open(kept)))}


# ---- fit -------------------------------------------------------------------------------------------------------

def solve(a, b):
    """Solution of a small symmetric system; None when it is singular."""
    n = len(b)
    m = [row[:] + [b[i]] for i, row in enumerate(a)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(m[r][i]))
        if abs(m[p][i]) < 1e-12:
            return None
        m[i], m[p] = m[p], m[i]
        for r in range(n):
            if r != i:
                f = m[r][i] / m[i][i]
                m[r] = [x - f * y for x, y in zip(m[r], m[i])]
    return [m[i][n] / m[i][i] for i in range(n)]


def fitted(terms, samples, weight):
    """Least squares of the weighted samples; None where a coefficient but that of `one` is below 0."""
    rows = [[v[t] * w for t in terms] for (v, _), w in zip(samples, weight)]
    goal = [y * w for (_, y), w in zip(samples, weight)]
    scale = [max(abs(r[i]) for r in rows) or 1 for i in range(len(terms))]
    rows = [[x / s for x, s in zip(r, scale)] for r in rows]
    a = [[sum(r[i] * r[j] for r in rows) for j in range(len(terms))] for i in range(len(terms))]
    c = solve(a, [sum(r[i] * g for r, g in zip(rows, goal)) for i in range(len(terms))])
    if c is None or any(x < 0 and t != "one" for x, t in zip(c, terms)):
        return None
    error = math.sqrt(sum((sum(x * y for x, y in zip(r, c)) - g) ** 2 for r, g in zip(rows, goal)) / len(goal))
    return error, dict(zip(terms, (x / s for x, s in zip(c, scale))))


def choose(samples, allowed):
    """Features and coefficients, added while each lowers the error by a fifth."""
    weight = [1 / max(y, 20) for _, y in samples]
    if all(y == 0 for _, y in samples):
        return 0.0, {}
    best = (1.0, {})
    for first in (["one"], *([t] for t in allowed)):
        got = fitted(first, samples, weight)
        if got and got[0] < best[0] - 1e-5:
            best = got
    while best[0] > 0.002 and len(best[1]) < min(MOST_TERMS, max(2, len(samples) - 2)):
        # Two together where one is not enough: the best of one need not be one of them.
        bases = [best[1]] if len(best[1]) > 1 else [["one"], *([t] for t in allowed)]
        tries = [fitted([*base, t], samples, weight) for base in bases for t in allowed if t not in base]
        better = min((t for t in tries if t), default=None, key=lambda t: round(t[0], 5))
        if not better or better[0] > best[0] * 0.8:
            break
        best = better
    return best


def named(expression):
    return set(re.findall(r"\b[A-Z]+\b", expression)) - {"MUX"}


def allowed_for(base, sources, features):
    """Features of which the module's text names every parameter; of a module that names none, all."""
    path = next((s for s in sources if os.path.basename(s) == base + ".sv"), None)
    text = synth.text_of(path) if path else ""
    names = {OF_CFG[n] for n in re.findall(r"hd_cfg_pkg::(\w+)", text) if n in OF_CFG}
    if base in synth.LANES or re.search(r"parameter int unsigned Lanes", text):
        names |= {"V", "FNS"}
    if base == "hd_fifo":
        names |= {"AXI", "QUEUE"}
    return [f for f, e in features.items() if f != "one" and (not names or named(e) - {"LOG"} <= names)]


def fit(counts, sources, features):
    """{module: {column: (error, {feature: coefficient})}}"""
    fits = {}
    for base in sorted({b for _, rows, _ in counts.values() for b in rows}):
        allowed = allowed_for(base, sources, features)
        fits[base] = {c: choose([(values(features, p), rows.get(base, {}).get(c, 0))
                                 for p, rows, _ in counts.values()], allowed) for c in COLUMNS}
    return fits


def write(out, rams, fits):
    with open(out, "w") as f:
        f.write("/* compiler/area/area.def -- written by `make area-model` from syntheses; do not edit.\n *\n"
                " *   RAM(grain, depth, lut, ff, bram, uram)   of 64 bits of width\n"
                " *   AREA(module, column, coefficient, feature)\n */\n#ifndef RAM\n#define RAM(...)\n#endif\n"
                "#ifndef AREA\n#define AREA(...)\n#endif\n/* clang-format off */\n")
        for (grain, depth), c in sorted(rams.items()):
            f.write(f"RAM({grain}, {depth}, " + ", ".join(f"{c.get(k, 0):g}" for k in ("LUT", "FF", "BRAM", "URAM")) + ")\n")
        for base, columns in sorted(fits.items()):
            for column, (_, terms) in columns.items():
                f.writelines(f"AREA({base}, {column.lower()}, {c:.6g}, {t})\n" for t, c in terms.items())
        f.write("/* clang-format on */\n#undef RAM\n#undef AREA\n")


def read(path):
    text = open(path).read()
    rams = {(int(g), int(d)): dict(zip(("LUT", "FF", "BRAM", "URAM"), map(float, r.split(", "))))
            for g, d, r in re.findall(r"^RAM\((\d+), (\d+), (.*)\)$", text, re.M)}
    fits = collections.defaultdict(lambda: collections.defaultdict(dict))
    for base, column, c, t in re.findall(r"^AREA\((\w+), (\w+), (\S+), (\w+)\)$", text, re.M):
        fits[base][column.upper()][t] = float(c)
    return rams, fits


def of_rams(rams, table):
    total = collections.Counter()
    for (w, d, b), copies in rams.items():
        row = table.get((b if b in (8, 32) else 64, d))
        if row is None:
            sys.exit(f"area_model.py: no row of RAM for {d} words and enables of {b} bits: add it to DEPTHS")
        for c, v in row.items():
            total[c] += -(-v * w // 64 * 2) / 2 * copies if c == "BRAM" else v * w / 64 * copies
    return total


def compare(designs, counts, features, table, fits):
    """Prints fit beside synthesis; the largest error of LUT, and whether DSP, BRAM, URAM are exact."""
    worst, exact = 0, True
    print(f"{'machine':<60} {'LUT':>8} {'fit':>8} {'error':>8}  DSP BRAM URAM (fit)")
    for design in designs:
        params, rows, rams = counts[design]
        v = values(features, params)
        mem = of_rams(rams, table)
        real, fit = collections.Counter(mem), collections.Counter(mem)
        for base in set(rows) | set(fits):
            for c in COLUMNS:
                real[c] += rows.get(base, {}).get(c, 0)
                got = max(0, sum(k * v[t] for t, k in fits.get(base, {}).get(c, {}).items()))
                fit[c] += got if c in ("LUT", "FF") else round(got * 2) / 2
        error = fit["LUT"] / real["LUT"] - 1
        worst = max(worst, abs(error))
        exact &= all(real[c] == fit[c] for c in ("DSP", "BRAM", "URAM"))
        print(f"{design:<60} {real['LUT']:8.0f} {fit['LUT']:8.0f} {100 * error:+7.2f} %  "
              + " ".join(f"{real[c]:g} ({fit[c]:g})" for c in ("DSP", "BRAM", "URAM")), flush=True)
    return worst, exact


def main():
    split = sys.argv.index("--")
    work, gen, out, feature_file, mode, *machines = sys.argv[1:split]
    sources = sys.argv[split + 1:]
    work += "/area"
    os.makedirs(f"{work}/counts", exist_ok=True)
    features = features_of(feature_file)
    designs = machines or DESIGNS
    counts = {d: counts_of(work, gen, sources, d) for d in designs}
    if mode == "fit":
        table = ram_table(work, next(s for s in sources if s.endswith("/hd_ram.sv")))
        write(out, table, fit(counts, sources, features))
        print("of each machine, by the others:")
        for d in designs if len(designs) > 2 else ():
            others = fit({o: c for o, c in counts.items() if o != d}, sources, features)
            compare([d], counts, features, table, {b: {c: t for c, (_, t) in cs.items()} for b, cs in others.items()})
        print("of all:")
    table, fits = read(out)
    worst, exact = compare(designs, counts, features, table, fits)
    print(f"area model: {len(designs)} machines, LUT within {100 * worst:.2f} %, DSP, BRAM and URAM "
          + ("exact" if exact else "NOT exact"))
    return 0 if mode == "fit" or (worst <= 0.05 and exact) else 1


if __name__ == "__main__":
    sys.exit(main())
