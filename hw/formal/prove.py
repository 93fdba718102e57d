#!/usr/bin/env python3
"""Proves the properties of RTL modules by temporal induction, with nothing but yosys.

usage: prove.py WORK_DIR GEN_DIR MODULE... -- RTL...

hw/formal/hd_X.svh is placed before the endmodule of a copy of hd_X.sv and proved together with the
assertions that the module has. Lines of its header steer the proof:

    // assume: NAME...    assertions that are duties of the module's user
    // drop: NAME...      assertions that stay with simulation
    // cut: NAME...       signals that the proof leaves free, whatever drives them
    // any: NAME...       parameters and constants of the package whose value the proof leaves free (any_NAME)
    // mutant: s/A/B/     an edit of the module that the properties must refute, on the smallest parameters
    // mutants: NAME=N    of which this one has that value
    // quick: CONDITION   the environment in which mutants are run: a failure there is one, and soon found

Every module is proved for all values of its parameters, and of the package's constants that it reads, in all machines
of `make sweep`: each K x N x AXI, and both ends of every other parameter. What is proved is kept under a hash of all
that yosys was given and yosys' version, and is not run again (FRESH=1: it is). JOBS at a time. Ends in a table; exit 1
unless everything is proved and every mutant refuted.
"""
import collections, hashlib, json, os, re, resource, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, "scripts")
import sweep

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 300          # seconds of processor time for one proof
MAX_STEPS = 8        # induction depth of a proof
MUTANT_STEPS = 24    # cycles in which a mutant must fail
OPAQUE = "hd_compute"
FRESH = bool(os.environ.get("FRESH"))
JOBS = int(os.environ.get("JOBS", os.cpu_count()))
VERSION = subprocess.run(["yosys", "-V"], text=True, stdout=subprocess.PIPE).stdout
WRONG = "Resizing cell port", "implicitly declared"  # warnings of yosys that are errors: a port lost bits, or its name
BUFFER_BITS = 128    # a larger buffer is proved one bit wide: its control sees no data, its bits are alike


def yosys(script, log, limit=None):
    """Runs a script; returns exit status and output."""
    bound = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))) if limit else None
    p = subprocess.run(["yosys", "-p", script], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       preexec_fn=bound)
    rc, out = (124 if p.returncode < 0 else p.returncode), p.stdout
    lost = [line for line in out.splitlines() if any(w in line for w in WRONG)]
    if lost and not rc:
        rc, out = 1, out + "\n" + lost[0]
    with open(log, "w") as f:
        f.write(out)
    return rc, out


def packages(gen, folder):
    return f"{gen}/hd_isa_pkg.sv {gen}/hd_reg_pkg.sv {folder}/hd_cfg_pkg.sv"


def read(path):
    with open(path) as f:
        return f.read()


def digest(*texts):
    h = hashlib.sha256(VERSION.encode())
    for t in texts:
        h.update(f"{len(t)} {t}".encode())
    return h.hexdigest()[:32]


def closure(module, texts):
    """Names of the modules that `module` is made of, itself last."""
    names, todo = [], [module]
    while todo:
        m = todo.pop()
        names.insert(0, m)
        todo += [n for n in set(re.findall(r"^ +(hd_\w+) (?:#\(|\w+ \()", texts[m], re.M)) - set(names) if n in texts]
    own = [n for n in sorted(texts) if n.endswith("_pkg") and any(f"{n}::" in texts[m] for m in names)]
    return own + sorted(set(names) - {module}) + [module]


def write_files(folder, names, texts):
    os.makedirs(folder, exist_ok=True)
    for name in names:
        with open(f"{folder}/{name}.sv", "w") as f:
            f.write(texts[name])
    return [f"{folder}/{name}.sv" for name in names]


def elaborate(work, gen, sets, rtl):
    """Text of the machine's package and yosys' log of its elaboration. The arithmetic (OPAQUE) is left out: none of
    the modules is in it, and it takes most of the time."""
    folder = f"{work}/machines/{re.sub(r'[ =]', '_', sets)}"
    os.makedirs(folder, exist_ok=True)
    rc, text = sweep.run(sweep.GEN, "cfg-sv", "base", *sets.split())
    if rc:
        sys.exit(f"prove.py: {sets}: {text}")
    with open(f"{folder}/hd_cfg_pkg.sv", "w") as f:
        f.write(text)
    files = packages(gen, folder).split() + rtl
    command = f"read_verilog -defer -sv -D SYNTHESIS -Ihw/rtl {' '.join(files)}; hierarchy -top hd_top"
    log = f"{folder}/{digest(command, *map(read, files))}.log"
    if os.path.exists(log) and not FRESH:
        return folder, text, read(log)
    rc, out = yosys(command, f"{folder}/log")
    if rc:
        sys.exit(f"prove.py: yosys does not read the design, see {folder}/log")
    os.rename(f"{folder}/log", log)
    return folder, text, out


def parameter_sets(work, gen, copies, texts):
    """{module: {(parameters, constants of the package that it reads): folder of the first machine's package}}, from the
    elaborated design."""
    found, texts = {m: {} for m in copies}, dict(texts)
    texts[OPAQUE] = texts[OPAQUE][:texts[OPAQUE].index("\n);") + 4] + "\nendmodule\n"
    rtl = write_files(f"{work}/design", closure("hd_top", texts), texts)
    reads = {m: set(re.findall(r"hd_cfg_pkg::(\w+)", "".join(map(read, c)))) for m, c in copies.items()}
    with ThreadPoolExecutor(JOBS) as pool:
        machines = list(pool.map(lambda s: elaborate(work, gen, s, rtl), sweep.legal() + sweep.ends()))
    for folder, package, out in machines:
        value = dict(re.findall(r"localparam .*?(\w+) = (.*);", package))
        types = {t: re.findall(r"[A-Z]\w*", width) for width, t in re.findall(r"typedef logic \[(.*)-1:0\] (\w+);", package)}
        for m in copies:
            blocks = re.findall(rf"pre-parsed AST for module `\\{m}'\.\n((?:Parameter .*\n)*)", out)
            for block in blocks or ([""] if re.search(rf"\\{m}\b", out) else []):
                got = {n: int(v) for n, v in re.findall(r"Parameter \\(\w+) = (-?\d+)", block)}
                params = tuple(sorted((n, v) for n, v in got.items() if n not in steering(m)["any"]))
                names = {c for n in reads[m] for c in types.get(n, [n])}  # a type is read for its width
                constants = tuple((n, value[n]) for n in sorted(names) if n not in got)
                found[m].setdefault((params, constants), folder)
    return found


def steering(module):
    """Properties of a module and the lines that steer its proof."""
    text = open(f"{HERE}/{module}.svh").read()
    lines = {k: " ".join(re.findall(rf"^// {k}: (.*)$", text, re.M)).split() for k in ("assume", "drop", "cut", "any")}
    return {"text": text, "mutants": re.findall(r"^// mutant: s/(.*)/(.*)/$", text, re.M),
            "quick": re.findall(r"^// quick: (.*)$", text, re.M),
            "with": [(n, int(v)) for n, v in re.findall(r"^// mutants: (\w+)=(\d+)$", text, re.M)], **lines}


def leave_free(code, names):
    """The module's text with the values of these parameters and constants left open."""
    head, body = code.split("\n);\n", 1)
    for n in names:
        head = re.sub(rf"(parameter [\w ]*\b{n} *=)[^,\n]*", r"\1 1", head)
        body = re.sub(rf"^ *localparam [^;]*\b{n} *=[^;]*;", "", body, flags=re.M)
        body = re.sub(rf"(?:hd_cfg_pkg::|\b){n}\b", f"any_{n}", body)
    return head + "\n);\n" + "".join(f"  (* anyconst *) logic [31:0] any_{n};\n" for n in names) + body


def write_sources(folder, module, texts, mutant=None):
    """Copies what the module is made of, with the properties in place; returns the copies."""
    s, names, texts = steering(module), closure(module, texts), dict(texts)
    if mutant:
        changed = re.sub(sed_pattern(mutant[0]), lambda _: mutant[1].replace("\\&", "&"), texts[module], 1)
        if changed == texts[module]:
            sys.exit(f"prove.py: mutant of {module} matches nothing: {mutant[0]}")
        texts[module] = changed
        s["text"] += "".join(f"  `DUTY(Quick{i}, {c})\n" for i, c in enumerate(s["quick"]))
    texts[module] = leave_free(texts[module].replace("\nendmodule", f"\n{s['text']}endmodule"), s["any"])
    for name in names:
        for n in s["assume"]:
            texts[name] = texts[name].replace(f"`ASSERT({n},", f"`ASSUME({n},")
            texts[name] = texts[name].replace(f"`ASSERT_INIT({n},", f"`DUTY({n},")
        for n in s["drop"]:
            texts[name] = texts[name].replace(f"`ASSERT({n},", f"`ASSUME({n}, 1'b1 ||")
    return write_files(folder, names, texts)


def sed_pattern(basic):
    """A basic regular expression, as sed takes it, with only [ ] . * special when escaped: literal text."""
    return re.escape(basic.replace("\\[", "[").replace("\\]", "]"))


def script(module, cut, params, how):
    """What follows the sources. The outputs go: properties see what drives them."""
    cut = "".join(f"cutpoint {module}/w:{n}; " for n in cut)
    chparam = "".join(f" -chparam {n} {v}" for n, v in params)
    return (f"hierarchy -top {module}{chparam}; rename -top {module}; proc; flatten; {cut}"
            "delete -port o:*; opt -full; async2sync; memory -nordff; opt -full; "
            "select -count t:$assert; "
            f"sat -prove-asserts -set-assumes -verify -seq 1 -set-at 1 rst_ni 0 {how}")


def run(job):
    """Proves, or refutes a mutant. Returns the table row, whether it is as wanted, and whether it was kept."""
    work, gen, module, (params, constants), folder, copies, cut, mutant = job
    label = " ".join(f"{n}={v}" for n, v in params + constants) or "-"
    tag = f"{module}-{re.sub(r'[^A-Za-z0-9]+', '-', label)}" + (f"-m{mutant}" if mutant else "")
    files = packages(gen, folder).split() + copies
    how = f"-tempinduct-baseonly -maxsteps {MUTANT_STEPS}" if mutant else f"-tempinduct -maxsteps {MAX_STEPS}"
    commands = script(module, cut, params, how)
    kept = f"{work}/kept/{digest(tag, commands, read('hw/rtl/hd_assert.svh'), *map(read, files))}"
    if os.path.exists(kept) and not FRESH:
        return json.loads(read(kept)), True, True
    t0 = time.time()
    reading = f"read_verilog -defer -formal -sv -Ihw/rtl {' '.join(files)}"
    rc, out = yosys(f"{reading}; {commands}", f"{work}/{tag}.log", LIMIT)
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
    row = [name, label, count[-1] if count else "?", depth[-1] if depth else "?", f"{seconds:.1f}", result]
    if good:
        with open(kept, "w") as f:
            json.dump(row, f)
    return row, good, False


def narrow(params):
    """Parameters of the proof: see BUFFER_BITS."""
    d = dict(params)
    if d.get("Width", 0) * d.get("Depth", 2) > BUFFER_BITS:
        d["Width"] = 1
    return tuple(d.items())


def size(key):
    return sum(int(v) for part in key for _, v in part)


def all_jobs(work, gen, modules, rtl):
    texts = {os.path.basename(p)[:-3]: read(p) for p in rtl}
    copies = {m: write_sources(f"{work}/{m}", m, texts) for m in modules}
    sets, jobs = parameter_sets(work, gen, copies, texts), []
    for m in modules:
        s, ordered = steering(m), sorted(sets[m].items(), key=lambda entry: size(entry[0]))
        if not ordered:
            sys.exit(f"prove.py: {m} is in no machine")
        seen = set()
        for (params, constants), folder in ordered:
            key = narrow(params), constants
            if key not in seen:
                jobs.append((work, gen, m, key, folder, copies[m], s["cut"], 0))
            seen.add(key)
        key, folder = next(entry for entry in ordered if set(s["with"]) <= set(entry[0][0]))
        for i, mutant in enumerate(s["mutants"], 1):
            changed = write_sources(f"{work}/{m}-m{i}", m, texts, mutant)
            jobs.append((work, gen, m, key, folder, changed, s["cut"], i))
    return jobs


def main():
    split = sys.argv.index("--")
    work, gen, *modules = sys.argv[1:split]
    os.makedirs(f"{work}/kept", exist_ok=True)
    t0 = time.time()
    jobs = all_jobs(work, gen, modules, sys.argv[split + 1:])
    results, bad, n_kept = collections.Counter(), 0, 0
    form = "{:<13} {:<26} {:>7} {:>6} {:>8}  {}"
    print(form.format("module", "parameters", "asserts", "depth", "seconds", "result"))
    with ThreadPoolExecutor(JOBS) as pool:
        for row, good, kept in pool.map(run, jobs):
            print(form.format(*row) + (", kept" if kept else ""), flush=True)
            results[row[5]] += 1
            bad += not good
            n_kept += kept
    print(f"{results['PROVED']} proved, {results['refuted']} mutants refuted, {bad} failed; {n_kept} of them kept from "
          f"an earlier run with the same sources; {time.time() - t0:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
