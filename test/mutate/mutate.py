#!/usr/bin/env python3
"""Mutants of datapath units made by yosys, against the arithmetic of the host.

usage: mutate.py WORK_DIR GEN_DIR LIBRARY COUNT [UNIT...]

`yosys mutate` breaks the netlist of a unit in COUNT places (inverted, stuck or swapped bits of any port of any cell).
All mutants are in one netlist, which takes the number of the one that is active, so that a unit costs one Verilator
build; its bench (UNITS) runs every mutant until the first difference from its C oracle. What survives is compared
with the true unit by SAT, until the bar is reached (PROOFS=all: all of them): a mutant that provably does the same is no
fault and does not count. Ends in a table; exit 1 when fewer than 95 % of the faults of a unit are found, or when a bench
does not pass on the unit itself. What a unit gave is kept in WORK_DIR while nothing that it depends on changes.
"""
import glob, hashlib, json, os, re, resource, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
WANTED = 95          # percent
PROOF_SECONDS = 30   # of processor time, for one survivor
PROOF_BYTES = 2 << 30
BENCH_SECONDS = 600  # of processor time, for all mutants of a unit
SEL_BITS = 12
PACKAGES = ["hw/rtl/hd_bus_pkg.sv", "hw/rtl/hd_f32_pkg.sv"]  # beside those that are generated
PROOFS = os.environ.get("PROOFS", "bar")  # survivors: all, none, or until the bar is reached

# unit: (bench, files of hw/rtl, the unit first; sizes). Only the unit itself is broken, not what is inside it.
UNITS = {
    "from_int": ("f32", "hd_f32_from_int", "Lanes=1"),
    "mul": ("f32", "hd_f32_mul", "Lanes=1"),
    "add": ("f32", "hd_f32_add", "Lanes=1"),
    "to_int": ("f32", "hd_f32_to_int", "Lanes=1"),
    "mac2": ("mac2", "hd_mac2", ""),
    "mac_array": ("mac", "hd_mac_array hd_mac2 hd_ram", "N=2 WmWords=4"),
    "nest": ("nest", "hd_nest", "Loops=3 Streams=2 CountBits=16"),
    "window": ("window", "hd_vx_window hd_mac2", "N=1 SlotBits=5"),
    "result": ("result", "hd_vx_result hd_f32_to_int hd_vx_transpose", "N=4 VxLanes=4"),
    "transpose": ("transpose", "hd_vx_transpose", "N=4"),
    "lx_data": ("lx_data", "hd_lx_data hd_fifo", ""),
    "run_nest": ("run", "hd_run_nest", ""),
    "run_join": ("run", "hd_run_join", "Scales=16'h1fff"),
    "burst": ("burst", "hd_burst", ""),
    "mx": ("mx", "hd_mx hd_mac_array hd_mac2 hd_ram hd_nest", "N=2 XmBytes=512 AmWords=32 WmWords=16"),
    "fn": ("f32", "hd_vx_fn", "Lanes=1"),
    "fetch": ("fetch", "hd_fetch hd_fifo hd_skid", ""),
    "lanes": ("lanes", "hd_vx_lanes hd_vx_window hd_mac2 hd_vx_fn hd_f32_from_int hd_f32_mul hd_f32_add hd_f32_to_int hd_vx_result "
              "hd_vx_transpose", "N=4 VxLanes=4"),
}


def yosys(script, log, seconds=None):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (PROOF_BYTES, PROOF_BYTES))
    p = subprocess.run(["yosys", "-p", script], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       preexec_fn=limit if seconds else None)
    with open(log, "w") as f:
        f.write(p.stdout)
    return p.returncode, p.stdout


def need(result, what, log):
    if result[0]:
        raise RuntimeError(f"{what} failed, see {log}")
    return result[1]


def with_sizes(text, package, sizes):
    """Source of a unit and of hd_cfg_pkg with other sizes: parameters of the unit (-chparam of yosys 0.23 fails on
    some), else constants of the package. They may be smaller than any machine is."""
    for name, value in (p.split("=") for p in sizes.split()):
        text, n = re.subn(rf"(parameter\s+[\w\s\[\]:]*\b{name}\s*=)[^,\n)]*", rf"\g<1> {value}", text, count=1)
        if not n:
            package, n = re.subn(rf"(localparam int unsigned {name} =) \d+;", rf"\g<1> {value};", package, count=1)
        if not n:
            raise RuntimeError(f"neither the unit nor hd_cfg_pkg has {name}")
    return text, package.split("endpackage")[0] + "endpackage\n"


def depends_on(gen, unit, count):
    """Hash of all that the result of a unit depends on."""
    bench, files, sizes = UNITS[unit]
    h = hashlib.sha256(f"{count} {PROOFS} {sizes}".encode())
    for tool in ("yosys", "verilator"):
        h.update(subprocess.run([tool, "--version"] if tool == "verilator" else [tool, "-V"], stdout=subprocess.PIPE).stdout)
    for name in ([__file__, f"{HERE}/mut_{bench}.cc", "hw/rtl/hd_assert.svh"] + [f"hw/rtl/{f}.sv" for f in files.split()] +
                 [f"{gen}/hd_isa_pkg.sv", f"{gen}/hd_reg_pkg.sv", f"{gen}/tiny/hd_cfg_pkg.sv"] + PACKAGES +
                 sorted(glob.glob(f"{HERE}/*.h") + glob.glob("test/rtl/*.h") + glob.glob("runtime/base/*.[ch]") +
                        glob.glob("isa/*.def"))):
        with open(name, "rb") as f:
            h.update(f.read())
    return h.hexdigest()


def clocked_reads(il):
    """For each memory of the unit: RD_CLK_ENABLE, a bit for each read port, port 0 last."""
    with open(il) as f:
        unit = f.read().split("\nmodule \\unit\n")[1].split("\nend\n")[0]
    return dict(re.findall(r"^  cell \$mem_v2 \\?(\S+)\n(?:    .*\n)*?    parameter \\RD_CLK_ENABLE \d+'([01]+)\n", unit, re.M))


def exists(line, reads):
    """False for clocks of memories, and for enable and resets of a read port without a clock: write_verilog stops at
    a port with a clock of its own, and at what is no part of the circuit and not constant."""
    if re.search(r" -port (?:RD|WR)_CLK ", line):
        return False
    m = re.search(r" -cell (\S+) -port RD_(?:EN|ARST|SRST) -portbit (\d+)", line)
    return not m or reads[m[1]][-1 - int(m[2])] == "1"


def make_netlists(work, gen, unit, count):
    """Writes the mutated netlist as Verilog; returns the list of mutations."""
    _, files, sizes = UNITS[unit]
    files = files.split()
    packages = f"{gen}/hd_isa_pkg.sv {gen}/hd_reg_pkg.sv {work}/{unit}_cfg_pkg.sv " + " ".join(PACKAGES)
    sources = " ".join([f"{work}/{unit}.sv"] + [f"hw/rtl/{f}.sv" for f in files[1:]])
    with open(f"hw/rtl/{files[0]}.sv") as f, open(f"{gen}/tiny/hd_cfg_pkg.sv") as g:
        text, package = with_sizes(f.read(), g.read(), sizes)
    with open(f"{work}/{unit}.sv", "w") as f, open(f"{work}/{unit}_cfg_pkg.sv", "w") as g:
        f.write(text)
        g.write(package)
    il, log = f"{work}/{unit}.il", f"{work}/{unit}.log"
    need(yosys(f"read_verilog -defer -sv -D SYNTHESIS -Ihw/rtl {packages} {sources}; hierarchy -top {files[0]}; "
               f"rename -top unit; proc; opt -full; memory -nomap; opt_clean -purge; write_rtlil {il}; "
               f"mutate -list {count} -seed 1 -none -o {work}/{unit}.list unit", log), "yosys", log)
    # `-none` puts the unit itself in front: number 0
    reads = clocked_reads(il)
    lines = [l.strip() for l in open(f"{work}/{unit}.list") if "-mode none" not in l and exists(l, reads)]
    script = "\n".join([f"read_rtlil {il}"] + [
        l.replace("mutate ", f"mutate -ctrl mutsel {SEL_BITS} {i} ", 1) for i, l in enumerate(lines, 1)] +
        # Verilator 5.006 takes a wire wrongly, parts of which a mutant drives: each part gets a name. For the proofs,
        # memories become a module of their own, and are cut off like those that are there.
        ["splitnets -driver unit", f"write_verilog -noattr {work}/{unit}.v", "setattr -set submod \"memories\" unit/t:$mem_v2",
         "submod unit", f"write_rtlil {work}/{unit}.mut.il"])
    with open(f"{work}/{unit}.ys", "w") as f:
        f.write(script + "\n")
    need(yosys(f"script {work}/{unit}.ys", log), "yosys mutate", log)
    return lines


def build(work, library, unit):
    log = f"{work}/{unit}.build.log"
    cmd = ["verilator", "--cc", "--exe", "--build", "-O3", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--prefix", "Vunit", "--Mdir",
           f"{work}/{unit}.dir", "--top-module", "unit", "-CFLAGS",
           f"-O1 -I{os.getcwd()} -std=c++17 -ffp-contract=off -DUNIT_{unit} -DMACHINE=tiny", "-LDFLAGS", "-lm", "-o",
           f"{os.getcwd()}/{work}/{unit}", f"{work}/{unit}.v", f"{HERE}/mut_{UNITS[unit][0]}.cc", os.path.abspath(library)]
    with open(log, "w") as f:
        if subprocess.run(cmd, stdout=f, stderr=f).returncode:
            raise RuntimeError(f"verilator failed, see {log}")


def same_as_unit(work, unit, number):
    """True when SAT proves that mutant `number` does what the unit does: equal registers and inputs give equal outputs
    and equal next registers (so they stay equal); what is not in the way of the mutation is shared, not solved."""
    one = lambda name, n: (f"read_rtlil {work}/{unit}.mut.il; cd unit; connect -set mutsel {SEL_BITS}'d{n}; cd ..; "
                           f"rename unit {name}; hierarchy -top {name}; "
                           f"setattr -unset init; delete -input w:mutsel; opt_expr; opt_clean; "
                           f"dffunmap; splitnets -ports; expose -evert -evert-dff -dff {name}; opt_clean; design -stash {name}; ")
    script = (one("gold", 0) + one("gate", number) +
              "design -copy-from gold -as gold gold; design -copy-from gate -as gate gate; miter -equiv -flatten gold gate miter; "
              "hierarchy -top miter; opt -full; opt_merge -share_all; opt -full; dffunmap; sat -verify -prove trigger 0 -set-def-inputs miter")
    rc, out = yosys(script, f"{work}/{unit}-{number}.log", PROOF_SECONDS)
    return rc == 0 and "SAT proof finished - no model found: SUCCESS!" in out


def one_unit(job):
    work, gen, _, unit, count = job
    kept, key = f"{work}/{unit}.json", depends_on(gen, unit, count)
    if os.path.exists(kept):
        with open(kept) as f:
            old = json.load(f)
        if old["key"] == key:
            return old["text"] + "  (kept)", True, old["faults"], old["killed"]
    text, good, faults, killed = run_unit(job)
    if good:
        with open(kept, "w") as f:
            json.dump({"key": key, "text": text, "faults": faults, "killed": killed}, f)
    return text, good, faults, killed


def run_unit(job):
    work, gen, library, unit, count = job
    t0 = time.time()
    try:
        lines = make_netlists(work, gen, unit, count)
        build(work, library, unit)
        p = subprocess.run([f"{work}/{unit}", str(len(lines))], text=True, stdout=subprocess.PIPE,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (BENCH_SECONDS, BENCH_SECONDS)))
        if p.returncode:
            raise RuntimeError("the bench fails on the unit itself" if p.returncode == 1 else "the bench did not end")
    except RuntimeError as e:
        return f"{unit:<10} {e}", False, 0, 0
    alive = [int(n) for n in re.findall(r"^survived (\d+)$", p.stdout, re.M)]
    killed, equal = len(lines) - len(alive), []
    for n in alive if PROOFS != "none" else []:
        if PROOFS != "all" and 100 * killed >= WANTED * (len(lines) - len(equal)):
            break
        if same_as_unit(work, unit, n):
            equal.append(n)
    faults = len(lines) - len(equal)
    share = 100 * killed / faults if faults else 0
    text = (f"{unit:<10} {len(lines):>7} {len(equal):>10} {faults:>7} {killed:>7} {share:>7.1f} %"
            f" {time.time() - t0:>6.0f} s")
    with open(f"{work}/{unit}.survivors", "w") as f:
        f.writelines(f"{n}: {lines[n - 1]}\n" for n in alive if n not in equal)
    if share < WANTED:
        text += f"   see {work}/{unit}.survivors"
    return text, share >= WANTED, faults, killed


def main():
    work, gen, library, count, *units = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    print(f"{'unit':<10} {'mutants':>7} {'equivalent':>10} {'faults':>7} {'killed':>7} {'':>9} {'time':>8}")
    good = faults = killed = 0
    jobs = [(work, gen, library, u, int(count)) for u in units or UNITS]
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for text, ok, f, k in pool.map(one_unit, jobs):
            print(text, flush=True)
            good, faults, killed = good + ok, faults + f, killed + k
    print(f"yosys mutate: {killed} of {faults} faults killed ({100 * killed / max(faults, 1):.1f} %); "
          f"{good} of {len(jobs)} units have at least {WANTED} %")
    return 0 if good == len(jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
