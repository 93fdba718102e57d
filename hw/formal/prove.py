#!/usr/bin/env python3
"""Proves the properties of RTL modules by temporal induction, with nothing but yosys.

usage: prove.py WORK_DIR GEN_DIR MACHINES MODULE... -- RTL...

hw/formal/hd_X.svh is placed before the endmodule of a copy of hd_X.sv and proved together with the
assertions that the module has. Lines of its header steer the proof:

    // assume: NAME...    assertions that are duties of the module's user
    // drop: NAME...      assertions that stay with simulation
    // cut: NAME...       signals that the proof leaves free, whatever drives them
    // mutant: s/A/B/     an edit of the module that the properties must refute, on the smallest parameters

Every module is proved for all parameters that it has in the machines. Ends in a table; exit 1 unless
everything is proved and every mutant refuted.
"""
import os, re, resource, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 300          # seconds of processor time for one proof
MAX_STEPS = 8        # induction depth of a proof
MUTANT_STEPS = 24    # cycles in which a mutant must fail
OPAQUE = "hd_compute"
BUFFER_BITS = 128    # a larger buffer is proved one bit wide: its control sees no data, its bits are alike


def yosys(script, log, limit=None):
    """Runs a script; returns exit status and output."""
    bound = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))) if limit else None
    p = subprocess.run(["yosys", "-p", script], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       preexec_fn=bound)
    rc, out = (124 if p.returncode < 0 else p.returncode), p.stdout
    with open(log, "w") as f:
        f.write(out)
    return rc, out


def packages(gen, machine):
    return f"{gen}/hd_isa_pkg.sv {gen}/hd_reg_pkg.sv {gen}/{machine}/hd_cfg_pkg.sv"


def parameter_sets(work, gen, machines, modules, rtl):
    """{module: {parameters: first machine that has them}}, from the elaborated design. The arithmetic (OPAQUE) is
    left out: none of the modules is in it, and it takes most of the time."""
    found = {m: {} for m in modules}
    stub = f"{work}/{OPAQUE}.sv"
    text = open(next(p for p in rtl if os.path.basename(p) == OPAQUE + ".sv")).read()
    with open(stub, "w") as f:
        f.write(text[:text.index("\n);") + 4] + "\nendmodule\n")
    rtl = [stub if os.path.basename(p) == OPAQUE + ".sv" else p for p in rtl]
    for machine in machines:
        rc, out = yosys(f"read_verilog -defer -sv -D SYNTHESIS -Ihw/rtl {packages(gen, machine)} {' '.join(rtl)}; "
                        "hierarchy -top hd_top", f"{work}/hierarchy-{machine}.log")
        if rc:
            sys.exit(f"prove.py: yosys does not read the design, see {work}/hierarchy-{machine}.log")
        for head, block in re.findall(r"pre-parsed AST for module `\\(\w+)'\.\n((?:Parameter .*\n)*)", out):
            if head in found and block:
                got = {n: int(v) for n, v in re.findall(r"Parameter \\(\w+) = (-?\d+)", block)}
                found[head].setdefault(tuple(sorted(got.items())), machine)
        for m in modules:  # without parameters
            if not found[m] and re.search(rf"\\{m}\b", out):
                found[m][()] = machine
    return found


def steering(module):
    """Properties of a module and the lines that steer its proof."""
    text = open(f"{HERE}/{module}.svh").read()
    names = lambda key: " ".join(re.findall(rf"^// {key}: (.*)$", text, re.M)).split()
    return text, names("assume"), names("drop"), names("cut"), re.findall(r"^// mutant: s/(.*)/(.*)/$", text, re.M)


def write_sources(folder, module, rtl, mutant=None):
    """Copies the RTL with the properties in place; returns the copies."""
    text, assume, drop, _, _ = steering(module)
    os.makedirs(folder, exist_ok=True)
    copies = []
    for path in rtl:
        code = open(path).read()
        name = os.path.basename(path)
        if name == module + ".sv":
            if mutant:
                changed = re.sub(sed_pattern(mutant[0]), lambda _: mutant[1].replace("\\&", "&"), code, 1)
                if changed == code:
                    sys.exit(f"prove.py: mutant of {module} matches nothing: {mutant[0]}")
                code = changed
            code = code.replace("\nendmodule", f"\n{text}endmodule")
        for n in assume:
            code = code.replace(f"`ASSERT({n},", f"`ASSUME({n},")
        for n in drop:
            code = code.replace(f"`ASSERT({n},", f"`ASSUME({n}, 1'b1 ||")
        copies.append(f"{folder}/{name}")
        with open(copies[-1], "w") as f:
            f.write(code)
    return copies


def sed_pattern(basic):
    """A basic regular expression, as sed takes it, with only [ ] . * special when escaped: literal text."""
    return re.escape(basic.replace("\\[", "[").replace("\\]", "]"))


def script(module, params, machine, gen, copies, steps):
    cut = "".join(f"cutpoint {module}/w:{n}; " for n in steering(module)[3])
    chparam = "".join(f" -chparam {n} {v}" for n, v in params)
    return (f"read_verilog -defer -formal -sv -Ihw/rtl {packages(gen, machine)} {' '.join(copies)}; "
            f"hierarchy -top {module}{chparam}; rename -top {module}; proc; flatten; {cut}"
            "delete -port o:*; opt -full; async2sync; memory -nordff; opt -full; "
            "select -count t:$assert; "
            f"sat -tempinduct -prove-asserts -set-assumes -verify -seq 1 -set-at 1 rst_ni 0 -maxsteps {steps}")


def run(job):
    """Proves, or refutes a mutant. Returns the table row and whether it is as wanted."""
    work, gen, module, params, machine, copies, mutant = job
    label = " ".join(f"{n}={v}" for n, v in params) or "-"
    tag = f"{module}-{re.sub(r'[^A-Za-z0-9]+', '-', label)}" + (f"-m{mutant}" if mutant else "")
    t0 = time.time()
    rc, out = yosys(script(module, params, machine, gen, copies, MUTANT_STEPS if mutant else MAX_STEPS),
                    f"{work}/{tag}.log", LIMIT)
    seconds = time.time() - t0
    count = re.findall(r"^(\d+) objects\.", out, re.M)
    depth = re.findall(r"^\[(?:base case|induction step) (\d+)\]", out, re.M)
    base_fails = "model found for base case" in out
    if mutant:
        result, good = ("refuted", True) if base_fails else ("NOT REFUTED", False)
    elif rc == 0 and "Induction step proven: SUCCESS!" in out:
        result, good = "PROVED", True
    else:
        why = ("counterexample" if base_fails else "not inductive" if "maximum number" in out else
               "out of time" if rc == 124 else "yosys error")
        result, good = f"FAILED ({why}, {work}/{tag}.log)", False
    name = f"  mutant {mutant}" if mutant else module
    return [name, label, count[-1] if count else "?", depth[-1] if depth else "?", f"{seconds:.1f}", result], good


def narrow(params):
    """Parameters of the proof: see BUFFER_BITS."""
    d = dict(params)
    if d.get("Width", 0) * d.get("Depth", 2) > BUFFER_BITS:
        d["Width"] = 1
    return tuple(d.items())


def size(params):
    return sum(v for _, v in params)


def main():
    split = sys.argv.index("--")
    work, gen, machines, *modules = sys.argv[1:split]
    rtl = sys.argv[split + 1:]
    os.makedirs(work, exist_ok=True)
    t0 = time.time()
    sets = parameter_sets(work, gen, machines.split(","), modules, rtl)
    jobs = []
    for m in modules:
        ordered = sorted(sets[m].items(), key=lambda s: size(s[0]))
        if not ordered:
            sys.exit(f"prove.py: {m} is in no machine")
        copies = write_sources(f"{work}/{m}", m, rtl)
        seen = set()
        for params, machine in ordered:
            params = narrow(params)
            if params not in seen:
                jobs.append((work, gen, m, params, machine, copies, 0))
            seen.add(params)
        for i, mutant in enumerate(steering(m)[4], 1):
            copies = write_sources(f"{work}/{m}-m{i}", m, rtl, mutant)
            jobs.append((work, gen, m, *ordered[0], copies, i))

    head = ["module", "parameters", "asserts", "depth", "seconds", "result"]
    rows, bad = [], 0
    form = "{:<13} {:<18} {:>7} {:>6} {:>8}  {}"
    print(form.format(*head))
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for row, good in pool.map(run, jobs):
            print(form.format(*row), flush=True)
            rows.append(row)
            bad += not good
    n = [sum(r[5] == w for r in rows) for w in ("PROVED", "refuted")]
    print(f"{n[0]} proved, {n[1]} mutants refuted, {bad} failed, {time.time() - t0:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
