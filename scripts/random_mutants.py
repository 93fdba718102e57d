"""Random mutants of hw/rtl, for scripts/mutants.py --random: draws them, builds one model with all, runs the checks of
`make test` on each until one fails, and lets yosys prove that a survivor does what the true module does.

A proof is of one module at its own parameters: equal registers, inputs and answers of the modules inside give equal
outputs and equal next registers. What is so proved is no fault. At least WANTED percent of the rest must be caught.
"""
import glob
import os
import re
import resource
import subprocess
import time

import mutants
import rtl_mutations

WANTED = 90
PROOF_SECONDS = 60
LEFT_OUT = "hd_gate.sv", "hd_time_check.sv"  # wiring, and checks
PACKAGES = "build/gen/hd_isa_pkg.sv build/gen/hd_reg_pkg.sv build/gen/tiny/hd_cfg_pkg.sv hw/rtl/hd_bus_pkg.sv hw/rtl/hd_f32_pkg.sv"
BENCHES = [f"build/release/test/rtl/tiny/tb_{n}" for n in ("hd_fifo", "hd_skid", "hd_mac2", "hd_f32", "hd_compute", "hd_sim")]
PROGRAMS = ["build/release/test/chip/test_chip", "build/release/test/chip/hostile", "build/release/test/cosim/cosim",
            "build/release/test/cosim/random_vx"]
CHECKS = [PROGRAMS[0], "build/release/test/cosim/cosim --count 30",
          "build/release/heddle compare test/models/digits --devices iss,rtl --machine tiny",
          "python3 scripts/golden.py build/release " + " ".join(sorted(glob.glob("test/golden/iss/*.t"))),
          PROGRAMS[1] + " --count 50", PROGRAMS[3] + " --machine tiny --count 50", PROGRAMS[2] + " --count 100",
          PROGRAMS[2] + " --bad --count 100"] + BENCHES
BUILD = ["make -s heddle rtl-tiny RTL_OPT=-O1 " + " ".join(PROGRAMS), "make -s " + " ".join(BENCHES)]


def first_to_notice(number):
    """The check that fails on a mutant; None = no one does. One that does not end is no catch."""
    for check in CHECKS:
        rc, _ = mutants.run(check, mutants.CHECK_SECONDS, number)
        if 0 < rc < 124 or rc in (mutants.ABORTED, -6):
            return check
    return None


def inside(module, found):
    """The modules inside a module, and inside those."""
    with open(f"hw/rtl/{module}.sv") as f:
        text = f.read()
    for name in sorted(set(re.findall(r"^\s*(hd_\w+)\s+(?:#\(|u_)", text, re.M))):
        if name not in found and os.path.exists(f"hw/rtl/{name}.sv"):
            found.append(name)
            inside(name, found)
    return found


def prepared(name, path, module):
    """Script that reads a module, cuts off its registers, memories and the modules inside, and stashes it."""
    others = " ".join(f"hw/rtl/{m}.sv" for m in inside(module, []))
    return (f"read_verilog -defer -sv -D SYNTHESIS -Ihw/rtl {PACKAGES} {path} {others}; hierarchy -top {module}; "
            f"rename -top unit; proc; opt -full; memory -nomap; opt_clean -purge; splitnets -driver unit; "
            f"setattr -set submod \"memories\" unit/t:$mem_v2; submod unit; rename unit {name}; hierarchy -top {name}; "
            f"setattr -unset init; "
            f"opt_expr; opt_clean; dffunmap; splitnets -ports; expose -evert -evert-dff -dff {name}; opt_clean; "
            f"design -stash {name}; ")


def proved_equal(mutation, work):
    """True when SAT proves that the mutation changes nothing."""
    module = os.path.basename(mutation.file)[:-3]
    path = f"{work}/{module}.sv"
    with open(path, "w") as f:
        f.write(rtl_mutations.alone(mutation))
    script = (prepared("gold", mutation.file, module) + prepared("gate", path, module) +
              "design -copy-from gold -as gold gold; design -copy-from gate -as gate gate; miter -equiv -flatten gold gate miter; "
              "hierarchy -top miter; opt -full; opt_merge -share_all; opt -full; dffunmap; "
              "sat -verify -prove trigger 0 -set-def-inputs miter")
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (PROOF_SECONDS, PROOF_SECONDS))
    p = subprocess.run(["yosys", "-p", script], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit)
    with open(f"{work}/{module}.log", "w") as f:
        f.write(p.stdout)
    return p.returncode == 0 and "SAT proof finished - no model found: SUCCESS!" in p.stdout


def main(count, seed):
    begin, work = time.time(), "build/mutants/random"
    os.makedirs(work, exist_ok=True)
    files = [f for f in sorted(glob.glob("hw/rtl/*.sv")) if not f.endswith("_pkg.sv") and os.path.basename(f) not in LEFT_OUT]
    texts, drawn = rtl_mutations.draw(files, count, seed)
    texts[mutants.RTL_FIRST] = mutants.SELECTOR + texts[mutants.RTL_FIRST]
    mutants.sync_tree(texts)
    for command in BUILD:
        rc, out = mutants.run(command, mutants.BUILD_SECONDS)
        if rc:
            print(f"{command}:\n{out[-3000:]}")
            return 1
    print(f"{len(drawn)} random mutants of hw/rtl, seed {seed}, built in {time.time() - begin:.0f} s", flush=True)
    for check in CHECKS:
        rc, out = mutants.run(check, mutants.BUILD_SECONDS)
        if rc:
            print(f"{check} fails on the true code:\n{out[-2000:]}")
            return 1
    caught, equal, missed = {}, [], []
    for number, m in enumerate(drawn, 1):
        who = first_to_notice(number)
        if who:
            caught[who] = caught.get(who, 0) + 1
            continue
        same = proved_equal(m, work)
        (equal if same else missed).append(m)
        old, new = " ".join(m.old.split()), " ".join(m.new.split())
        print(f"{m.file}:{m.line}: {m.what}{' (proved equivalent)' if same else ''}\n  {old}\n  {new}", flush=True)
    faults = len(drawn) - len(equal)
    n = sum(caught.values())
    share = 100 * n / max(faults, 1)
    for check in CHECKS:
        print(f"{caught.get(check, 0):6}  first noticed by {check[:90]}")
    print(f"random mutants, seed {seed}: {len(drawn)}, {len(equal)} proved equivalent; {n} of {faults} caught ({share:.1f} %, "
          f"at least {WANTED}), {time.time() - begin:.0f} s")
    return share < WANTED
