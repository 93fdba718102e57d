#!/usr/bin/env python3
"""Seeded mutants: breaks the code on purpose and demands that a check notices.

A mutant is a file test/mutants/NAME.mut of `key: value` lines:

    what:  one line for people
    file:  the source file to break
    old:   text that stands in it exactly once
    new:   what replaces it
    build: command that builds what the check needs     (optional; default: make heddle)
    check: command that passes on the true code and must fail on the mutant
    report: command that must say, on the mutant,             (optional)
    names:  this text: which operation is broken              (with report)
    fast:  yes                                           (optional; it runs in `make test`)

The work happens in a copy of the source files under build/mutants/tree. Its build starts as a copy of
this tree's and is kept between mutants, so each costs one incremental build. Prints a table; exit 1 if
a mutant survives. A check that does not end is no catch: a deadlock must be reported.

usage: mutants.py [--list] [--fast] [FILE...]      default: every test/mutants/*.mut
"""
import glob
import os
import shutil
import signal
import subprocess
import sys
import time

TREE = "build/mutants/tree"
SEED = "build/tools", "build/gen", "build/release", "build/rtl/tiny"
BUILD_SECONDS, CHECK_SECONDS = 900, 60


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


def sync_tree():
    """Copies the files that git knows or would add, where they differ; keeps TREE/build. A new copy
    keeps the times of its files, so that the objects that come with it count as made."""
    fresh = not os.path.exists(TREE)
    names = subprocess.check_output(["git", "ls-files", "-z", "--cached", "--others",
                                     "--exclude-standard"]).decode().split("\0")
    for name in filter(None, names):
        if not os.path.isfile(name):
            continue
        dst = os.path.join(TREE, name)
        if os.path.exists(dst) and open(dst, "rb").read() == open(name, "rb").read():
            continue
        os.makedirs(os.path.dirname(dst), exist_ok=True)
        (shutil.copy2 if fresh else shutil.copy)(name, dst)
    for made in SEED if fresh else ():
        if os.path.isdir(made):
            os.makedirs(os.path.dirname(os.path.join(TREE, made)), exist_ok=True)
            subprocess.run(["cp", "-a", made, os.path.join(TREE, made)], check=True)


def run(command, seconds):
    p = subprocess.Popen(command, shell=True, cwd=TREE, text=True, errors="replace",
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
        rc, out = run(m["check"], CHECK_SECONDS)
        if 0 < rc < 124 and "report" in m:
            said = run(m["report"], CHECK_SECONDS)[1]
            if m["names"] not in said:
                return f"caught, but the report does not name it ({m['names']}):\n{said[-2000:]}"
    finally:
        open(path, "w").write(text)
    return "caught" if 0 < rc < 124 else f"survived: exit {rc}\n{out[-1000:]}"


def main(argv):
    files = [a for a in argv if not a.startswith("--")] or sorted(glob.glob("test/mutants/*.mut"))
    mutants = [read_mutant(f) for f in files]
    if "--fast" in argv:
        mutants = [m for m in mutants if m.get("fast") == "yes"]
    if "--list" in argv:
        for m in mutants:
            print(f"{os.path.basename(m['path']):28} {m['file']:28} {m['what']}")
        return 0
    sync_tree()
    bad, true_ok = 0, {}
    for m in mutants:
        start = time.time()
        verdict = one(m, true_ok)
        bad += verdict != "caught"
        print(f"{os.path.basename(m['path']):28} {m['file']:28} {time.time() - start:5.0f} s  {verdict}",
              flush=True)
    print(f"mutants: {len(mutants) - bad} caught, {bad} not")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
