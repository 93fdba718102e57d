#!/usr/bin/env python3
"""Seeded mutants: breaks the code on purpose and demands that a check notices.

A mutant is a file test/mutants/NAME.mut of `key: value` lines:

    what:  one line for people
    file:  the source file to break
    old:   text that stands in it exactly once; in hw/rtl an expression or a
           statement of a process, with its semicolon
    new:   what replaces it
    build: command that builds what the check needs     (optional; default: make heddle)
    check: command that passes on the true code and must fail on the mutant
    report: command that must say, on the mutant,             (optional)
    names:  this text: which operation is broken              (with report)
    fast:  yes                                           (optional; it runs in `make test`)

The work happens in a copy of the source files under build/mutants/tree. Its build starts as a copy of
this tree's and is kept between mutants, so each costs one incremental build. All mutants of hw/rtl are in one
model of tiny, `active ? new : old` at their places, and the environment (HEDDLE_MUTANT) says which is active: one
build for all of them. Prints a table; exit 1 if a mutant survives. A check that does not end is no catch: a
deadlock, also a result that is lost, must be reported by the machine or the tools.

usage: mutants.py [--list] [--fast] [FILE...]      default: every test/mutants/*.mut
       mutants.py --random N [--seed S]            N random mutants of hw/rtl (scripts/random_mutants.py)
"""
import collections
import glob
import os
import shutil
import signal
import subprocess
import sys
import time

TREE = "build/mutants/tree"
SEED = "build/tools", "build/gen", "build/release"
BUILD_SECONDS, CHECK_SECONDS = 1800, 120
ABORTED = 134  # an assertion of C or of the RTL stopped the check
RTL_BUILD = "make -s heddle build/release/test/cosim/cosim build/release/test/chip/test_chip build/release/test/chip/hostile rtl-tiny RTL_OPT=-O1"
RTL_FIRST = "hw/rtl/hd_skid.sv"  # read before all others
SELECTOR = """package hd_mutant_pkg;
  int number = $c32("atoi(getenv(\\"HEDDLE_MUTANT\\"))");
endpackage
"""


def read_mutant(path):
    m = {"path": path, "build": "make -s heddle"}
    for line in open(path):
        if line.startswith("#") or not line.strip():
            continue
        key, _, value = line.partition(":")
        m[key.strip()] = value.strip()
    missing = {"what", "file", "old", "new", "check"} - m.keys()
    if missing:
        sys.exit(f"{path}: missing {', '.join(sorted(missing))}")
    return m


def with_all(mutants):
    """Sources of hw/rtl in which every mutant stands beside the true text: {name: text}. Numbers begin at 1."""
    texts = {RTL_FIRST: SELECTOR + open(RTL_FIRST).read()}
    for number, m in enumerate(mutants, 1):
        m["number"] = number
        text = texts[m["file"]] if m["file"] in texts else open(m["file"]).read()
        if text.count(m["old"]) != 1:
            m["gone"] = f"'{m['old']}' stands {text.count(m['old'])} times in {m['file']}, want once"
            continue
        active = f"hd_mutant_pkg::number == {number}"
        both = (f"if ({active}) begin {m['new']} end else begin {m['old']} end" if m["old"].endswith(";") else
                f"({active} ? ({m['new']}) : ({m['old']}))")
        texts[m["file"]] = text.replace(m["old"], both)
    return texts


def sync_tree(texts):
    """Copies the files that git knows or would add, where they differ, some with another text; keeps TREE/build. A new
    copy keeps the times of its files, so that the objects that come with it count as made."""
    fresh = not os.path.exists(TREE)
    names = subprocess.check_output(["git", "ls-files", "-z", "--cached", "--others",
                                     "--exclude-standard"]).decode().split("\0")
    for name in filter(None, names):
        if not os.path.isfile(name):
            continue
        dst = os.path.join(TREE, name)
        data = texts[name].encode() if name in texts else open(name, "rb").read()
        if os.path.exists(dst) and open(dst, "rb").read() == data:
            continue
        os.makedirs(os.path.dirname(dst), exist_ok=True)
        (shutil.copy2 if fresh else shutil.copy)(name, dst)
        if name in texts:
            open(dst, "wb").write(data)
    for made in SEED if fresh else ():
        if os.path.isdir(made):
            os.makedirs(os.path.dirname(os.path.join(TREE, made)), exist_ok=True)
            subprocess.run(["cp", "-a", made, os.path.join(TREE, made)], check=True)


def one_rtl(m, true_ok):
    """As `one`, in the model that has them all."""
    if m["check"] not in true_ok:
        rc, out = run(m["check"], CHECK_SECONDS)
        true_ok[m["check"]] = None if rc == 0 else f"fails on the true code:\n{out[-2000:]}"
    if true_ok[m["check"]]:
        return true_ok[m["check"]]
    return verdict(m, *run(m["check"], CHECK_SECONDS, m["number"]))


def verdict(m, rc, out):
    """'caught', or what went wrong."""
    noticed = 0 < rc < 124 or rc in (ABORTED, -signal.SIGABRT)
    if noticed and "report" in m:
        said = run(m["report"], CHECK_SECONDS, m.get("number", 0))[1]
        if m["names"] not in said:
            return f"caught, but the report does not name it ({m['names']}):\n{said[-2000:]}"
    return "caught" if noticed else f"survived: exit {rc}\n{out[-1000:]}"


def run(command, seconds, number=0):
    env = dict(os.environ, HEDDLE_MUTANT=str(number), HEDDLE_RTL_DIR="build/rtl")
    p = subprocess.Popen(command, shell=True, cwd=TREE, text=True, errors="replace", env=env,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        out, _ = p.communicate(timeout=seconds)
        return p.returncode, out
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        return 124, p.communicate()[0] + "\ntimed out"


def one(m, true_ok):
    """'caught', or what went wrong."""
    if m["check"] not in true_ok:
        rc, out = run(m["build"], BUILD_SECONDS)
        if rc == 0:
            rc, out = run(m["check"], CHECK_SECONDS)
        true_ok[m["check"]] = None if rc == 0 else f"fails on the true code:\n{out[-2000:]}"
    if true_ok[m["check"]]:
        return true_ok[m["check"]]
    path = os.path.join(TREE, m["file"])
    text = open(path).read()
    if text.count(m["old"]) != 1:
        return f"'{m['old']}' stands {text.count(m['old'])} times in {m['file']}, want once"
    try:
        open(path, "w").write(text.replace(m["old"], m["new"]))
        rc, out = run(m["build"], BUILD_SECONDS)
        if rc != 0:
            return f"does not build:\n{out[-2000:]}"
        return verdict(m, *run(m["check"], CHECK_SECONDS))
    finally:
        open(path, "w").write(text)


def number_behind(argv, option, default):
    if option not in argv:
        return default
    at = argv.index(option) + 1
    if at == len(argv) or not argv[at].isdigit():
        sys.exit(f"mutants.py: {option} takes a number")
    return int(argv[at])


def main(argv):
    if "--help" in argv or "-h" in argv:
        print(__doc__)
        return 0
    if "--random" in argv:
        import random_mutants
        return random_mutants.main(number_behind(argv, "--random", 0), number_behind(argv, "--seed", 1))
    files = [a for a in argv if not a.startswith("--")] or sorted(glob.glob("test/mutants/*.mut"))
    mutants = [read_mutant(f) for f in files]
    if "--fast" in argv:
        mutants = [m for m in mutants if m.get("fast") == "yes"]
    if "--list" in argv:
        for m in mutants:
            print(f"{os.path.basename(m['path']):28} {m['file']:28} {m['what']}")
        return 0
    every = [read_mutant(f) for f in sorted(glob.glob("test/mutants/rtl_*.mut"))]
    sync_tree(with_all(every))
    numbered = {m["path"]: m for m in every}
    begin, bad, true_ok = time.time(), 0, {}
    rc, out = run(RTL_BUILD, BUILD_SECONDS)
    print(f"{'the model with all RTL mutants':57} {time.time() - begin:5.0f} s  {'does not build' if rc else 'built'}", flush=True)
    if rc:
        print("\n".join([line for line in out.splitlines() if not line.startswith("  ")][-20:]))
        return 1
    # RTL first: a C mutant leaves its programs behind.
    for m in sorted(mutants, key=lambda m: m["path"] not in numbered):
        start = time.time()
        m = numbered.get(m["path"], m)
        said = m.get("gone") or (one_rtl if "number" in m else one)(m, true_ok)
        bad += said != "caught"
        print(f"{os.path.basename(m['path']):28} {m['file']:28} {time.time() - start:5.0f} s  {said}", flush=True)
    kinds = collections.Counter(os.path.basename(m["path"]).split("_")[0] for m in mutants)
    print(f"mutants: {len(mutants) - bad} of {len(mutants)} caught ({', '.join(f'{n} {k}' for k, n in kinds.items())}), "
          f"{time.time() - begin:.0f} s")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
